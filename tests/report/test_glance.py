"""Classes at a glance: what is drawn and numbered is what was found."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from tests.shift_findings import shift_finding

from credence.findings import Findings
from credence.report import blocks as page
from credence.report.sections.by_class import (
    COLOUR_BANDS,
    INSUFFICIENT_BAND,
    glance,
    section,
    sentence,
)
from credence.report.sections.lookup import Lookup
from credence.report.wording import DASH
from small_findings import with_proteins


def strip(findings: Findings, name: str = "Portal") -> page.Strip:
    return next(entry for entry in glance(Lookup(findings)).strips if entry.name == name)


def grey(strip: page.Strip) -> list[tuple[float, float]]:
    """Return start and width of what is insufficient data."""
    bands = (band for band in strip.bands if band.kind == INSUFFICIENT_BAND)
    return [(band.start, band.width) for band in bands]


def colour_at(strip: page.Strip, place: float) -> int | None:
    at = (band.kind for band in strip.bands if band.start <= place < band.start + band.width)
    return next(at, None)


@pytest.mark.parametrize("score", [2.8, 4.2, 6.3, 7.7, 8.9, 9.8])
def test_colours_are_those_of_the_curve_read_at_each_score(small: Findings, score: float) -> None:
    lookup = Lookup(small)
    low, high = lookup.axis or (math.nan, math.nan)
    curve = lookup.curves["kernel", "Portal"]
    value = float(np.interp(score, curve.score, curve.value))
    wanted = sum(value >= edge for edge in COLOUR_BANDS)
    assert colour_at(strip(small), 100 * (score - low) / (high - low)) == wanted


def test_nothing_is_drawn_beyond_the_scores_that_were_seen(small: Findings) -> None:
    lookup = Lookup(small)
    low, high = lookup.axis or (math.nan, math.nan)
    found = strip(small, "Tail fiber")  # seen from 3.0 to 9.5
    start, end = found.bands[0].start, found.bands[-1].start + found.bands[-1].width
    assert start == pytest.approx(100 * (3.0 - low) / (high - low), abs=0.02)
    assert end == pytest.approx(100 * (9.5 - low) / (high - low), abs=0.02)


def test_a_class_whose_predictions_all_lack_data_is_grey_whatever_its_curve(
    small: Findings,
) -> None:
    assert not grey(strip(small))
    first, *others = small.results.classes
    for n_families, is_grey in ((9, True), (10, False)):
        classes = (replace(first, n_clusters=n_families), *others)
        found = replace(small, results=replace(small.results, classes=classes))
        assert bool(grey(strip(found))) is is_grey
        assert strip(found).label.endswith("; insufficient data") is is_grey


def test_marks_are_the_thresholds_cross_validated_by_family(small: Findings) -> None:
    found = strip(small)
    assert found.cells[-1] == "7.5"
    low, high = Lookup(small).axis or (math.nan, math.nan)
    assert found.estimate == pytest.approx(100 * (7.5 - low) / (high - low), abs=0.01)
    assert found.sure == pytest.approx(100 * (8.75 - low) / (high - low), abs=0.01)


def test_of_a_corrected_sample_marks_and_colours_are_of_the_corrected_curve(
    small: Findings,
) -> None:
    shift = shift_finding()
    curve = replace(
        shift.curves[0],
        score=(2.5, 6.0, 8.0, 10.0),
        **{
            name: (0.1, 0.5, 0.9, value) for name, value in (("after", 0.96), ("after_upper", 1.0))
        },
        after_lower=(0.0, 0.3, 0.7, 0.94),
    )
    found = replace(small, shifts=(replace(shift, curves=(curve,)),))
    portal = strip(found)
    assert portal.cells[-1] == DASH  # whatever the curve reaches: no threshold was found
    assert portal.estimate is None
    # The panel of the class says the same: 0.5 + 0.4 · (7 − 6) / 2 at score 7.
    text = sentence(Lookup(found), found.results.classes[0])
    assert text.startswith("In sea water, a prediction of Portal with score 7 is right with prob")
    assert "0.70 (0.50–" in text
    # The figures below are of another mix; one page let them stand under "in the query".
    assert text.endswith(
        "The figures are for the class proportions of the calibration set, where it is "
        "0.66 (0.58–0.70)."
    )


def test_a_class_never_predicted_has_a_row_and_no_picture(small: Findings) -> None:
    found = strip(small, "Collar")
    assert not found.bands
    assert "never predicted" in found.label


def test_a_tool_without_scores_has_one_colour_a_class(small: Findings) -> None:
    results = replace(small.results, curves=(), histograms=())
    found = glance(Lookup(replace(small, results=results, thresholds=None)))
    assert not found.ticks
    (band,) = found.strips[0].bands  # a precision of 0.75
    assert (band.kind, band.start, band.width) == (1, 0.0, 100.0)
    assert band.text == "any score: confidence 0.50–0.80"


def test_a_threshold_below_all_scores_seen_is_any_score(small: Findings) -> None:
    assert small.thresholds is not None
    rows = tuple(replace(row, threshold=0.0, sure=1.0) for row in small.thresholds.rows)
    found = strip(replace(small, thresholds=replace(small.thresholds, rows=rows)))
    assert found.cells[-1] == "any"
    assert found.estimate == found.sure == found.bands[0].start


def test_marks_are_thresholds_and_nothing_else(small: Findings) -> None:
    entry, thresholds = small.results.classes[0], small.thresholds
    assert thresholds is not None
    assert Lookup(small).marks(entry) == (7.5, 8.75)
    # Whatever the curve is: without thresholds there is no mark, nor of another precision.
    assert Lookup(replace(small, thresholds=None)).marks(entry) == (None, None)
    rows = tuple(replace(row, precision=0.8) for row in thresholds.rows)
    other = replace(small, thresholds=replace(thresholds, rows=rows))
    assert Lookup(other).marks(entry) == (None, None)
    sure = tuple(replace(row, sure=math.nan) for row in thresholds.rows)
    unsure = replace(small, thresholds=replace(thresholds, rows=sure))
    assert Lookup(unsure).marks(entry) == (7.5, None)


def test_the_estimate_is_for_the_proportions_of_the_sample_and_the_guarantee_for_calibrations(
    small: Findings,
) -> None:
    entry, thresholds = small.results.classes[0], small.thresholds
    assert thresholds is not None
    moved = tuple(replace(row, threshold=9.5, sure=math.nan) for row in thresholds.rows)
    shift = replace(shift_finding(), thresholds=moved)
    found = replace(small, shifts=(shift,))
    assert Lookup(found).corrected is not None
    assert Lookup(found).marks(entry) == (9.5, 8.75)
    assert glance(Lookup(found)).basis.startswith(
        "▽: at or above this score, at least 90 % of the predictions of the class are right, by "
        f"the estimate for the class proportions of {shift.name}; ▼: the same, guaranteed with "
        "95 % certainty for the class proportions of the calibration set."
    )
    assert Lookup(replace(small, shifts=(shift_finding(),))).marks(entry) == (None, 8.75)


def test_a_class_without_a_threshold_for_nine_tenths_has_a_dash(small: Findings) -> None:
    assert small.thresholds is not None
    rows = tuple(replace(row, threshold=math.nan, sure=math.nan) for row in small.thresholds.rows)
    found = strip(replace(small, thresholds=replace(small.thresholds, rows=rows)))
    assert (found.cells[-1], found.estimate, found.sure) == (DASH, None, None)
    assert found.label == "Portal: no threshold for 90 % precision"
    assert strip(small).label == "Portal: 90 % precision from 7.5"


def test_one_confidence_is_one_stretch(small: Findings) -> None:
    results = replace(small.results, curves=(), histograms=())
    found = strip(replace(small, results=results, thresholds=None))
    assert [(band.start, band.width) for band in found.bands] == [(0.0, 100.0)]
    assert found.label == "Portal: one confidence, whatever the score"


def test_a_class_of_one_score_is_a_line_that_can_be_seen(small: Findings) -> None:
    first, *others = small.results.classes
    for at in (5.0, 10.0):  # seen up to 10
        classes = (replace(first, score_min=at, score_max=at), *others)
        found = replace(small, results=replace(small.results, classes=classes))
        low, high = Lookup(found).axis or (math.nan, math.nan)
        bands, place = strip(found).bands, 100 * (at - low) / (high - low)
        assert bands[0].start == pytest.approx(place - 0.5, abs=0.01)
        end = bands[-1].start + bands[-1].width
        assert end == pytest.approx(min(place + 0.5, 100.0), abs=0.02)


def test_a_row_has_the_numbers_of_the_query_set_and_the_background_comes_last(
    small: Findings,
) -> None:
    found = glance(Lookup(small))
    assert found.columns == (
        *("predicted", "accepted", "expected precision", "families known"),
        "90\u00a0% precision from score",
    )
    cells = {entry.name: entry.cells for entry in found.strips}
    # Of 5 predictions 4.1 are expected to be right, from 3.2 to 4.9.
    assert cells["Portal"] == ("3", "3", "82 % (64–98)", "25", "7.5")
    assert [entry.name for entry in found.strips] == ["Portal", "Collar", "Tail fiber"]
    classes = tuple(
        replace(entry, n=100, n_accept=n)
        for entry, n in zip(small.queries[0].classes, (5, 0, 60), strict=True)
    )
    many = replace(small, queries=(replace(small.queries[0], n=300, classes=classes),))
    names = [entry.name for entry in glance(Lookup(many)).strips]
    assert names == ["Collar", "Portal", "Tail fiber"]  # accepted first, background last


def test_without_a_query_set_the_precision_is_that_of_calibration(small: Findings) -> None:
    found = glance(Lookup(replace(small, queries=(), lists=())))
    assert found.columns[0] == "precision in calibration"
    assert found.strips[0].cells[0] == "75 % (62–86)"


def test_each_stretch_says_what_it_means(small: Findings) -> None:
    assert strip(small).bands[0].text == "score 2.5 to 5: confidence under 0.50"


def test_a_class_shows_its_surest_predictions_accepted_ones_first(small: Findings) -> None:
    built = section(with_proteins(small))
    assert built is not None
    panel = next(block for block in built.blocks if isinstance(block, page.Panel))
    table = next(block for block in panel.blocks if isinstance(block, page.TableBlock))
    assert table.caption == "3 of 4 in sea water"
    assert [row[0] for row in table.rows] == ["p9", "p6", "p3"]
    assert table.anchors[0] == "proteins&set=sea%20water&id=p9"
    kinds = [type(figure.plot).__name__ for figure in figures_of(panel)]
    assert kinds == ["ReliabilityPlot", "ConfidencePlot", "LinesPlot"]


def figures_of(panel: page.Panel) -> tuple[page.Figure, ...]:
    return next(block.figures for block in panel.blocks if isinstance(block, page.FigureRow))
