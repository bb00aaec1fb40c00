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


def test_every_event_has_a_row_with_its_n_and_other_forecasters(small: Findings) -> None:
    table = tables(built(small))[0]
    assert table.rows[0] == (
        *("two_best", "the true class is among the 2 best", "0.61"),
        *("0.100 (0.090 to 0.110)", "0.1000", "0.1000", "decision tree 0.120", "–"),
    )
    assert table.caption.startswith(
        "The events asked for, as the tables carry them, judged in cross-validation over families "
        "(n = 90, 30 families)."
    )
    assert table.rows[1][-1] == "too few"


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
    assert texts(built(small))[1] == (
        "A group is never less probable than a class in it. The predicted class keeps its "
        "confidence. The curves hold for the calibration set's class proportions. Where those of "
        "a sample were estimated, event_… is corrected for them as if they were known: it is too "
        "certain where they are rough."
    )


def test_figures_say_their_n(small: Findings) -> None:
    rows = [block for block in inside(built(small)) if isinstance(block, FigureRow)]
    figures: list[Figure] = [figure for row in rows for figure in row.figures]
    assert [figure.name for figure in figures] == ["event-1-two-best-reliability"]
    assert "(n = 90)" in figures[0].caption


def test_a_name_cannot_do_harm(small: Findings) -> None:
    hostile = "<script>alert(1)</script>"
    page = render(replace(small, events=finding(events=(event(hostile),))))
    assert "<script>alert" not in page
    rows = [b for b in built(small, events=(event(hostile),)).blocks if isinstance(b, FigureRow)]
    assert rows[0].figures[0].name == "event-1-script-alert-1-script-reliability"
