"""The first screen: what to do next, the state with its reasons, and the counts."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.shift_findings import shift_finding

from credence.evaluation.verdict import BAD, CARE, OPEN
from credence.findings import Findings, ProteinList, VerifyClass
from credence.report import blocks as page
from credence.report.sections import first
from credence.report.sections.first import MOST_REASONS, checks, reasons_of, section
from credence.report.sections.lookup import Lookup
from credence.report.sections.measuring import truth_in_words
from credence.report.verdict import StatedVerdict, stated_verdict
from small_findings import with_proteins


def screen(findings: Findings) -> page.FirstScreen:
    (block,) = section(findings).blocks
    assert isinstance(block, page.FirstScreen)
    return block


def steps(findings: Findings) -> list[tuple[str, list[str]]]:
    """Return what is to be done, and where its links lead."""
    return [(step.text, [link.target for link in step.links]) for step in screen(findings).steps]


ACCEPTED = "#proteins&decision=accept"


def test_the_accepted_predictions_come_first_with_their_list_and_their_rows(
    small: Findings,
) -> None:
    assert steps(with_proteins(small)) == [
        (
            "Work from the 3 accepted predictions of sea water (5 % FDR): fewer than one is "
            "wrong.",
            [ACCEPTED, "sea%20water/list_0.05.tsv"],
        ),
        ("Do not interpret Collar: too few known families (1 of 1 prediction).", ["#classes"]),
    ]


def listed(findings: Findings, **changed: object) -> Findings:
    (lists,) = findings.lists
    accepted: ProteinList = replace(lists.lists[0], **changed)  # type: ignore[arg-type]
    return replace(findings, lists=(replace(lists, lists=(accepted,), background=()),))


def test_the_wrong_ones_of_a_list_are_counted_and_one_is_not_several(small: Findings) -> None:
    for right, words in ((271.2, "about 14 are wrong"), (284.1, "about 1 is wrong")):
        (text, _), *_ = steps(listed(small, n=285, right=right))
        assert text == (f"Work from the 285 accepted predictions of sea water (5 % FDR): {words}.")


def test_what_to_verify_comes_last_and_there_are_never_more_than_three(small: Findings) -> None:
    (lists,) = small.lists
    advice = tuple(
        VerifyClass(class_name=name, n=n, width=0.4, width_after=0.2)
        for name, n in (("Portal", 4), ("Collar", 16))
    )
    asked = replace(lists, n_verify=20, verify=advice)
    *_, (text, links) = steps(replace(small, lists=(asked,)))
    assert text == (
        "Verify 20 proteins of sea water to change that: 16 Collar and 4 Portal. credence plan "
        "names them."
    )
    assert links == ["#lists"]
    soil = replace(small.queries[0], name="soil")
    two = replace(
        small, queries=(*small.queries, soil), lists=(asked, replace(asked, name="soil"))
    )
    assert len(steps(two)) == 3
    assert steps(two)[0][0] == (
        "Work from the accepted predictions: 3 of sea water (fewer than one is wrong) and 3 of "
        "soil (fewer than one is wrong)."
    )


def test_where_nothing_is_accepted_the_page_says_what_to_look_at(
    small: Findings, monkeypatch: pytest.MonkeyPatch
) -> None:
    care = stated_verdict(small)
    assert care.state == CARE
    nothing = listed(with_proteins(small), n=0, right=0.0)
    (query_set,) = nothing.queries
    monkeypatch.setattr(first, "stated_verdict", lambda findings: care)
    classes = tuple(replace(entry, n_accept=0) for entry in query_set.classes)
    to_check = replace(nothing, queries=(replace(query_set, classes=classes),))
    assert steps(to_check)[0] == (
        "No prediction is accepted. Look first at those to check that have the highest "
        "confidence: 1.",
        ["#proteins&decision=check"],
    )
    classes = tuple(replace(entry, n_accept=0, n_check=0) for entry in query_set.classes)
    lacking = replace(nothing, queries=(replace(query_set, classes=classes),))
    assert steps(lacking)[0] == (
        "Use no prediction: none is accepted, and for all of them the data are insufficient.",
        ["#proteins&decision=insufficient%20data"],
    )
    assert steps(with_proteins(replace(small, lists=())))[0] == (
        "Read the interval of a confidence before you act on it: no list was asked for.",
        ["#proteins"],
    )


def test_without_a_query_set_the_page_says_how_to_get_confidences(small: Findings) -> None:
    bare = replace(small, queries=(), lists=(), files=("calibration.json",))
    assert steps(bare) == [
        (
            "Give credence the scores of your proteins: credence annotate TABLE --calibration "
            "calibration.json.",
            ["calibration.json"],
        )
    ]


def test_what_is_not_to_be_used_is_not_to_be_worked_from(
    small: Findings, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = stated_verdict(small)
    worst = replace(given.checks[0], state=BAD, headline="Relatives are in two groups")
    bad = StatedVerdict(state=BAD, checks=(worst, *given.checks[1:]))
    monkeypatch.setattr(first, "stated_verdict", lambda findings: bad)
    assert screen(small).title == "Not to be used"
    assert steps(small) == [
        (
            "Do not act on these confidences. Settle this first: Relatives are in two groups.",
            ["#checks"],
        )
    ]


def test_the_state_has_at_most_four_reasons_and_all_checks_stand_in_the_appendix(
    small: Findings, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = stated_verdict(small)
    many = tuple(
        replace(given.checks[0], state=CARE, headline=f"reason {k}", text="x") for k in range(6)
    )
    care = StatedVerdict(state=CARE, checks=many)
    monkeypatch.setattr(first, "stated_verdict", lambda findings: care)
    assert [entry.headline for entry in screen(small).reasons] == [
        f"reason {k}" for k in range(MOST_REASONS)
    ]
    assert screen(small).checks == page.Link(text="All 6 checks", target="#checks")
    (table,) = checks(small).blocks
    assert isinstance(table, page.TableBlock)
    assert [row[:2] for row in table.rows] == [("care", f"reason {k}") for k in range(6)]


def test_the_counts_lead_to_their_rows(small: Findings) -> None:
    anchors = [answer.anchor for answer in screen(with_proteins(small)).answers]
    assert anchors == [
        "",
        "proteins&decision=accept",
        "proteins&decision=check",
        "proteins&decision=insufficient%20data",
    ]


def test_numbers_of_the_sample_are_those_of_its_lists_and_counts(small: Findings) -> None:
    answers = [(one.number, one.text) for one in screen(small).answers]
    assert answers[0] == ("82 %", "of your 4 predictions should be right: about 4")
    assert answers[1:] == [
        ("3", "accepted at 5 % FDR (none of them Tail fiber)"),
        ("1", "to check"),
        ("1", "insufficient data"),
    ]


def test_without_a_sample_the_known_proteins_are_counted(small: Findings) -> None:
    (answer,) = screen(replace(small, queries=(), lists=())).answers
    assert answer.number == "75 %"
    assert "120 predictions of known class" in answer.text


def test_several_samples_are_named_and_curves_are_not_corrected(small: Findings) -> None:
    soil = replace(small.queries[0], name="soil")
    many = replace(small, queries=(*small.queries, soil), shifts=(shift_finding(),), lists=())
    texts = [one.text for one in screen(many).answers]
    assert texts == ["to check", "insufficient data"] * 2
    assert Lookup(many).corrected is None


def test_where_the_truth_is_known_it_stands_beside_the_promise(small: Findings) -> None:
    first, *others = small.queries[0].classes

    def known(n_first: int) -> Findings:
        classes = (replace(first, n_right=n_first), *(replace(one, n_right=0) for one in others))
        return replace(small, queries=(replace(small.queries[0], classes=classes),))

    held, missed = (truth_in_words(known(n)) for n in (4, 1))  # promised: 4.1, from 3.2 to 4.9
    assert "4 of 5 predictions are right, 4 (3–5) were expected" in held
    assert held.endswith("The intervals held the true number in 1 of 1 class.")
    assert missed.endswith(
        "The intervals held the true number in 0 of 1 class, but not in Portal."
    )
    assert not truth_in_words(small)


def test_an_interval_of_nearly_all_numbers_is_not_praised_for_holding_the_truth(
    small: Findings,
) -> None:
    (lists,), (query_set,) = small.lists, small.queries
    narrow = replace(lists.every[1], n=100, right=60.0, right_lower=50.0, right_upper=70.0)
    wide = replace(narrow, class_name="Tail fiber", right_lower=0.0, right_upper=97.0)
    classes = tuple(
        replace(entry, n_right=n) for entry, n in zip(query_set.classes, (55, 3), strict=False)
    )
    found = replace(
        small,
        queries=(replace(query_set, classes=classes),),
        lists=(replace(lists, every=(lists.every[0], narrow, wide)),),
    )
    assert truth_in_words(found).endswith(
        "The intervals held the true number in 2 of 2 classes (1 of them so wide that they could "
        "hardly miss)."
    )


def test_checks_that_are_alike_in_several_samples_are_named_once(small: Findings) -> None:
    soil = replace(small.queries[0], name="soil")
    many = replace(small, queries=(*small.queries, soil), lists=())
    verdict = stated_verdict(many)
    states = {check.state for check in verdict.checks}
    headlines = [entry.headline for entry in reasons_of(many, verdict, *states)]
    whole = "sea water and soil: Class proportions were not estimated"
    assert headlines.count(whole) == 1
    assert len(headlines) == len(set(headlines))


def test_numbers_of_a_large_sample_are_shares_with_their_interval(small: Findings) -> None:
    (lists,), (query_set,) = small.lists, small.queries
    whole = replace(lists.every[0], n=200, right=170.4, right_lower=150.0, right_upper=181.0)
    kinds = (replace(lists.lists[2], n=7), replace(lists.lists[1], n=8), lists.lists[0])
    large = replace(lists, every=(whole, *lists.every[1:]), lists=kinds)
    classes = tuple(
        replace(one, n=n, n_accept=n - 5 * bool(n), n_check=0)
        for one, n in zip(query_set.classes, (140, 70, 0), strict=True)
    )
    found = replace(
        small, lists=(large,), queries=(replace(query_set, n=210, n_unknown=10, classes=classes),)
    )
    answers = [(one.number, one.range, one.text) for one in screen(found).answers]
    assert answers == [
        ("85 %", "(75 to 90)", "of your 200 predictions should be right: about 170"),
        ("200", "", "accepted at 5 % FDR (none of them Tail fiber)"),
        ("0", "", "to check"),
        ("10", "", "insufficient data"),
    ]


def test_a_truth_at_the_rounded_ends_of_its_interval_is_inside(small: Findings) -> None:
    first, *others = small.queries[0].classes
    for n, n_held in ((2, 0), (3, 1), (5, 1), (6, 0)):  # 3.2 to 4.9
        classes = (replace(first, n_right=n), *(replace(one, n_right=0) for one in others))
        found = replace(small, queries=(replace(small.queries[0], classes=classes),))
        assert f"held the true number in {n_held} of 1 class" in truth_in_words(found)


def test_where_nothing_speaks_against_use_what_was_not_checked_is_the_reason(
    small: Findings, monkeypatch: pytest.MonkeyPatch
) -> None:
    verdict = stated_verdict(small)
    unchecked = tuple(check for check in verdict.checks if check.state == OPEN)
    assert unchecked
    monkeypatch.setattr(
        first, "stated_verdict", lambda _: replace(verdict, state=CARE, checks=unchecked)
    )
    shown = screen(small)
    assert shown.title == "Use with care"
    assert [reason.headline for reason in shown.reasons] == [
        check.headline for check in unchecked[:MOST_REASONS]
    ]
