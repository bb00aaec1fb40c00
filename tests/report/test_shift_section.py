"""The section on use-sets of another composition, sentence by sentence."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest

from credence.findings import Findings
from credence.report import render, report_record
from credence.report.blocks import (
    Figure,
    FigureRow,
    Folded,
    Heading,
    NoticeList,
    Section,
    TableBlock,
    Widget,
)
from credence.report.plots import ComparisonPlot
from credence.report.sections.shift import data_of, expected, fit, lead, section
from shift_findings import NAMES, NAN, shift_class, shift_finding


def built(findings: Findings) -> Section:
    found = section(findings)
    assert found is not None
    return found


def blocks_of(findings: Findings, kind: type) -> list:  # type: ignore[type-arg]
    return [block for block in built(findings).blocks if isinstance(block, kind)]


def test_without_compositions_and_densities_there_is_no_section(small: Findings) -> None:
    assert section(replace(small, shifts=(), what_if=None)) is None


def test_the_sentence_names_the_classes_that_surely_differ_and_no_others() -> None:
    assert lead(shift_finding()) == (
        "From the scores of 5 proteins in sea water, its classes are mixed otherwise than in "
        "calibration. Portal makes up 0.20 (0.15–0.26) of it, 0.50 there; "
        "Tail fiber makes up 0.70 (0.60–0.80) of it, 0.40 there."
    )


def test_a_shift_that_is_more_than_chance_is_never_called_no_shift() -> None:
    # Every interval holds calibration's share, and the test rejects: one page said both.
    alike = shift_class("Portal", calibration_share=0.2)
    assert lead(shift_finding(classes=(alike,))) == (
        "From the scores of 5 proteins in sea water, its classes are mixed otherwise than in "
        "calibration. Which of them is more or less common is not known."
    )


def test_what_may_be_chance_is_not_called_a_difference() -> None:
    assert lead(shift_finding(part_applied=0.0)).endswith(
        "its classes are not known to be mixed otherwise than in calibration."
    )


def test_a_stated_composition_is_called_stated_and_has_no_interval() -> None:
    stated = shift_finding(estimator="stated", classes=(shift_class("Portal"),))
    assert lead(stated) == (
        "For sea water you stated the composition; it is taken as known. "
        "Portal makes up 0.20 of it, 0.50 there."
    )


def test_without_a_correction_nothing_is_said_to_be_corrected(mixed: Findings) -> None:
    found = shift_finding(estimator="none")
    assert lead(found) == (
        "For sea water no composition was asked for: its corrected confidences are the same as "
        "the others."
    )
    assert expected(replace(mixed, lists=()), found) == ""


def test_how_many_are_right_is_what_proteins_held_out_show_and_no_sum(mixed: Findings) -> None:
    lists = tuple(replace(one, name=shift_finding().name) for one in mixed.lists)
    assert expected(replace(mixed, lists=lists), shift_finding()) == (
        "Of its 5 predictions, about 4 (3–5) are expected to be right."
    )


@pytest.mark.parametrize(
    ("p_no_shift", "p_label_shift", "stated_there"),
    [
        (
            0.005,
            0.41,
            "That classes are predicted more or less often than in calibration is more than "
            "chance (p = 0.005). The scores fit this mix: the test for proteins of another "
            "kind finds none (p = 0.41), which is no proof.",
        ),
        (
            0.3,
            0.01,
            "That classes are predicted more or less often than in calibration may be chance "
            "(p = 0.3). The mix does not explain the scores of this set to the last (p = 0.01): "
            "at the worst place they differ by 0.03 of the set.",
        ),
        (NAN, NAN, ""),
    ],
)
def test_the_tests_are_told_for_what_they_are(
    p_no_shift: float, p_label_shift: float, stated_there: str
) -> None:
    assert fit(shift_finding(p_no_shift=p_no_shift, p_label_shift=p_label_shift)) == stated_there


def test_diagnostics_stand_as_warnings(mixed: Findings) -> None:
    (notices,) = blocks_of(mixed, NoticeList)
    assert [(notice.kind, notice.text, notice.is_warning) for notice in notices.notices] == [
        ("composition of sea water", "The classifier takes some classes for others.", True),
        ("composition of sea water", "90 % of the estimated difference is corrected for.", False),
    ]


def test_tables_give_both_confidences_and_what_they_rest_on(mixed: Findings) -> None:
    shares, changes = blocks_of(mixed, TableBlock)
    assert shares.rows[1] == ("Tail fiber", "0.40", "0.70 (0.60–0.80)", "0.23", "1.75", "30", "32")
    assert changes.rows[0] == (
        *("Portal", "6.8", "0.75 → 0.50", "8.05 → –", "60 → 41"),
        *("4 (3–5)", "2.2 (0.5–6.0)"),
    )
    assert changes.rows[2][1:4] == ("–", "–", "–")


def test_a_class_that_calibration_lacks_has_no_ratio(mixed: Findings) -> None:
    lacking = shift_class("Collar", calibration_share=0.0, share=0.0, weight=NAN)
    found = shift_finding(classes=(lacking,), curves=())
    shares, _ = blocks_of(replace(mixed, shifts=(found,)), TableBlock)
    assert shares.rows[0][4] == "–"


def test_the_figure_sets_both_compositions_side_by_side(mixed: Findings) -> None:
    (row,) = blocks_of(mixed, FigureRow)
    (figure,) = row.figures
    assert isinstance(figure.plot, ComparisonPlot)
    assert figure.plot.methods == ("calibration set", "sea water")
    assert figure.plot.value == ((0.5, 0.4, 0.1), (0.2, 0.7, 0.1))
    assert figure.plot.lower[1] == (0.15, 0.6, 0.05)
    assert figure.caption == (
        "sea water: share of each class, in the calibration set and here, 95 % interval."
    )


def test_curves_before_and_after_are_drawn_unless_they_would_be_too_many(mixed: Findings) -> None:
    def drawn(findings: Findings) -> list[Figure]:
        folded = blocks_of(findings, Folded)
        rows = [inner for block in folded for inner in block.blocks]
        return [figure for row in rows if isinstance(row, FigureRow) for figure in row.figures]

    (figure,) = drawn(mixed)
    assert figure.alternative == "At score 6.8: 0.75 as calibrated, 0.50 corrected."
    many = tuple(shift_finding(name=f"sample {number}") for number in range(61))
    assert drawn(replace(mixed, shifts=many)) == []


def test_each_use_set_has_its_own_part(mixed: Findings) -> None:
    two = replace(mixed, shifts=(shift_finding(), shift_finding(name="soil")))
    names = [block.text for block in built(two).blocks if isinstance(block, Heading)]
    assert names == ["sea water", "soil"]
    last = built(two).blocks[-1]
    assert isinstance(last, Folded) and last.summary == "What if the mix were another?"
    ids = re.findall(r' id="([^"]+)"', render(two))
    assert len(ids) == len(set(ids))


def test_sliders_start_from_every_composition_that_is_known(mixed: Findings) -> None:
    *_, widget = blocks_of(mixed, Folded)[-1].blocks
    assert isinstance(widget, Widget)
    assert widget.script == "what-if"
    assert widget.data["presets"] == [{"name": "sea water (estimated)", "share": [0.2, 0.7, 0.1]}]
    assert widget.data["classes"] == list(NAMES)
    assert sum(widget.data["share"]) == pytest.approx(1.0)


def test_densities_on_the_page_are_those_found_to_nine_digits(mixed: Findings) -> None:
    assert mixed.what_if is not None
    data = data_of(mixed, mixed.what_if)
    for part, shown in zip(mixed.what_if.parts, data["parts"], strict=True):
        assert shown[:2] == [part.predicted, part.true]
        assert shown[5] == pytest.approx(list(part.density), rel=1e-8)


@pytest.mark.parametrize(
    ("method", "chosen", "stated_there"),
    [
        ("kernel", "kernel", "The curves are those of kernel fitted anew to re-weighted"),
        ("kernel", "tswa", "These are curves of kernel: tswa looks at more than a class"),
        ("platt", "platt", "platt is no ratio of sums: its curves are moved by Bayes' rule"),
    ],
)
def test_whose_curves_they_are_is_said(
    mixed: Findings, method: str, chosen: str, stated_there: str
) -> None:
    assert mixed.what_if is not None
    changed = replace(mixed.what_if, method=method, is_exact=method == "kernel")
    text = json.dumps(report_record(replace(mixed, what_if=changed, chosen=chosen)))
    assert stated_there in text


def test_hostile_names_stay_text(hostile: Findings, mixed: Findings) -> None:
    attack = "</script><script>alert(1)</script>"
    shift = shift_finding(name=attack, sentences=(attack,), curves=())
    page = render(replace(hostile, shifts=(shift,), what_if=mixed.what_if))
    assert "<script>alert" not in page
