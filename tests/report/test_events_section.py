"""The section on events, sentence by sentence."""

from __future__ import annotations

from dataclasses import replace

import pytest

from credence.findings import Findings
from credence.report.blocks import Figure, FigureRow, Folded, Paragraph, Section, TableBlock
from credence.report.html import render
from credence.report.sections.events import section
from small_events import difference, event, finding


def built(small: Findings, **more: object) -> Section:
    found = section(replace(small, events=finding(**more)))
    assert found is not None
    return found


def texts(found: Section) -> list[str]:
    return [block.text for block in found.blocks if isinstance(block, Paragraph)]


def inside(found: Section) -> list[object]:
    """Return every block, those folded too."""
    parts = [block.blocks if isinstance(block, Folded) else (block,) for block in found.blocks]
    return [block for part in parts for block in part]


def tables(found: Section) -> list[TableBlock]:
    return [block for block in inside(found) if isinstance(block, TableBlock)]


def test_without_events_there_is_no_section(small: Findings) -> None:
    assert section(small) is None


def test_it_names_the_columns_of_the_confidences(small: Findings) -> None:
    assert texts(built(small))[0] == (
        "A class may be in doubt where its group is not. The table of confidences has the "
        "probabilities in the columns event_two_best, event_rare."
    )


def test_every_event_has_a_row_with_its_n_and_only_learnt_ones_lead_on(small: Findings) -> None:
    table = tables(built(small))[0]
    assert table.rows[0] == (
        *("two_best", "the true class is among the 2 best", "0.61"),
        *("0.100 (0.090 to 0.110)", "0.1000", "0.1000", "–"),
    )
    assert table.caption.startswith(
        "The events asked for, as the tables carry them, judged in cross-validation over families "
        "(n = 90, 30 families)."
    )
    assert table.rows[1][-1] == "too few"
    assert table.anchors == ("event-1-two-best", "")


def test_agreement_is_told_with_what_it_cost(small: Findings) -> None:
    assert texts(built(small))[1].endswith(
        "The predicted class keeps its confidence, and the others are moved around it. Of 180 "
        "forecasts in cross-validation over families, 7 moved by more than 0.001; their mean NLL "
        "was 0.1234 before and is 0.1229 after."
    )


@pytest.mark.parametrize(
    ("value", "verdict"),
    [
        (0.01, "it is worse"),
        (-0.01, "it is better"),
        (0.0, "this set cannot tell which is better"),
    ],
)
def test_what_other_evidence_says_of_the_predicted_class_is_no_more_than_its_interval(
    small: Findings, value: float, verdict: str
) -> None:
    own = event("predicted_class", differences=(difference("logistic", "nll", value),))
    found = texts(built(small, events=(own,)))[2]
    assert found.startswith("event_predicted_class is the confidence itself, by kernel. Logistic ")
    assert found.endswith(f"n = 90): {verdict}.")


def test_what_is_not_known_of_one_probability_is_said(small: Findings) -> None:
    assert texts(built(small))[2] == (
        "Of proteins with this probability that share came true, as the curves show; a single "
        "probability has no interval. The curves hold for the calibration set's class "
        "proportions, as does uncorrected_event_…. Where a sample's class proportions were "
        "estimated, event_… is corrected for them as if they were known: it is too certain where "
        "they are rough."
    )


def test_pooling_is_warned_of_with_both_numbers(small: Findings) -> None:
    assert texts(built(small))[3] == (
        "Judge events one by one: put together, errors of one can hide those of another. The "
        "calibration error is 0.00010 with all events in the same bins and 0.00050 on average of "
        "each by itself (180 probabilities)."
    )


def test_forecasters_are_compared_in_pairs(small: Findings) -> None:
    _, compared, features = tables(built(small))
    assert [row[:2] + row[3:4] for row in compared.rows] == [
        ("in the tables", "–", "–"),
        ("logistic regression", "strength of the ridge 10", "+0.0100 (+0.0080 to +0.0120)"),
        ("decision tree", "–", "−0.0100 (−0.0120 to −0.0080)"),
    ]
    assert [row[-1] for row in features.rows] == ["yes", "needs what novelty wrote"]


def test_figures_say_their_n(small: Findings) -> None:
    rows = [block for block in inside(built(small)) if isinstance(block, FigureRow)]
    figures: list[Figure] = [figure for row in rows for figure in row.figures]
    assert [figure.name for figure in figures] == [
        "event-1-two-best-reliability",
        "event-1-two-best-learning",
    ]
    assert "(n = 90)" in figures[0].caption
    assert "from 0.250 with 36 proteins to 0.200 with 72" in figures[1].alternative


def test_a_name_cannot_do_harm(small: Findings) -> None:
    hostile = "<script>alert(1)</script>"
    page = render(replace(small, events=finding(events=(event(hostile),))))
    assert "<script>alert" not in page
    folded = [b for b in built(small, events=(event(hostile),)).blocks if isinstance(b, Folded)]
    assert folded[0].anchor == "event-1-script-alert-1-script"
