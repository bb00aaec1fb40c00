from __future__ import annotations

import json
import re
from dataclasses import replace

from credence.calibrators.all_methods import METHODS
from credence.composition.estimators import ESTIMATORS
from credence.events.forecasters import FORECASTERS
from credence.findings import Findings, SkippedCandidate, StackFinding, StackMember
from credence.records import from_record, to_record
from credence.report.blocks import Paragraph, TableBlock
from credence.report.page_data import report_record
from credence.report.sections import overview, publish
from credence.report.sections.methods import stacks


def stack_of(findings: Findings) -> StackFinding:
    return StackFinding(
        method="auto",
        n=412,
        n_clusters=120,
        held_out_nll=0.29,
        members=(
            StackMember(method="class_only", held_out_nll=0.5, weight=0.0),
            StackMember(method="kernel", held_out_nll=0.31, weight=0.25),
            StackMember(method="trees", held_out_nll=0.3, weight=0.75),
        ),
        score_only={"kernel": 1.0},
        skipped=(SkippedCandidate(method="tswa", reason="needs the score of every class"),),
    )


def test_the_page_has_no_section_of_stacks_where_there_is_none(small: Findings) -> None:
    assert stacks(replace(small, stacks=())) is None


def test_the_page_shows_what_auto_rests_on(small: Findings) -> None:
    section = stacks(replace(small, stacks=(stack_of(small),)))
    assert section is not None
    lead, members, curves, skipped = section.blocks
    assert isinstance(lead, Paragraph) and "its own NLL there, 0.290, is a little too good" in str(
        lead
    )
    assert isinstance(members, TableBlock)
    assert members.rows == (
        ("class_only", "0.500", "0.00"),
        ("kernel", "0.310", "0.25"),
        ("trees", "0.300", "0.75"),
    )
    assert "that see nothing but class and score: kernel 1.00." in str(curves)
    assert skipped == Paragraph(text="Not tried: tswa: needs the score of every class.")


def test_stacks_go_to_json_and_back(small: Findings) -> None:
    found = replace(small, stacks=(stack_of(small),))
    again = from_record(Findings, to_record(found)).stacks
    assert to_record(again) == to_record(found.stacks)


def chosen(small: Findings, *members: str) -> Findings:
    """Return findings whose chosen method is a mean, of members that count."""
    own = stack_of(small)
    kept = tuple(one for one in own.members if one.method in members)
    curves = tuple(replace(one, method="auto") for one in small.results.curves)
    return replace(
        small,
        chosen="auto",
        methods=(replace(small.methods[0], name="auto"),),
        results=replace(small.results, curves=curves),
        stacks=(replace(own, members=kept),),
    )


def test_no_text_calls_a_mean_of_methods_a_curve_of_class_and_score(small: Findings) -> None:
    found = chosen(small, "kernel", "trees")
    answers = dict(answer[1:] for answer in publish.checklist(found))
    assert answers["Features"] == "The scores of all classes: no selection."
    assert "a curve per class" not in answers["Interpretability"]
    page = json.dumps(report_record(found), ensure_ascii=False)
    assert "shown is the confidence from class and top score only" in page
    methods = " ".join(publish.methods_text(found))
    assert "weights over all classes: kernel 0.25, trees 0.75." in methods
    assert "They rest on fits to halves of the calibration set" in methods


def test_a_mean_of_methods_that_see_the_score_is_a_curve(small: Findings) -> None:
    found = chosen(small, "kernel")
    answers = dict(answer[1:] for answer in publish.checklist(found))
    assert "a curve per class" in answers["Interpretability"]
    assert "confidence from class and top score only" not in json.dumps(report_record(found))


def test_draws_over_families_are_not_named_as_what_gives_every_interval(small: Findings) -> None:
    first = str(overview.section(chosen(small, "kernel", "trees")).blocks)
    assert "('Intervals', '95 %, pointwise')" in first
    assert "5 folds of whole families; 200 bootstrap resamples of whole families" in first


def test_every_reference_of_a_method_names_a_work() -> None:
    entries = (*METHODS, *ESTIMATORS, *FORECASTERS)
    parts = [part for entry in entries for part in entry.reference.split("; ") if part]
    assert [part for part in parts if not re.search(r"\b(19|20)\d\d, \w", part)] == []
