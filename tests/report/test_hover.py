"""What a point says of itself: the numbers that were drawn, in words."""

from __future__ import annotations

from dataclasses import replace

from credence.findings import Findings
from credence.report.html import MOST_ON_CURVE, points_of
from credence.report.plots import (
    ComparisonPlot,
    ConfidencePlot,
    DistancePlot,
    HistogramPlot,
    NearestPlot,
    ReliabilityPlot,
)


def confidence_plot(findings: Findings) -> ConfidencePlot:
    results, entry = findings.results, findings.results.classes[0]
    curve = next(c for c in results.curves if (c.method, c.class_name) == ("kernel", "Portal"))
    return ConfidencePlot(
        curves=(curve,),
        histogram=results.histograms[0],
        share=entry.share,
        score_min=entry.score_min,
        score_max=entry.score_max,
        scale=10.0,
    )


def test_a_curve_tells_confidence_interval_and_the_proteins_of_the_bin(small: Findings) -> None:
    points = points_of(confidence_plot(small))
    assert points[0] == (
        2.5,
        0.3,
        "Score 2.5: 0.30 (0.22–0.34). 0 proteins with scores of 0 to 2.5.",
    )
    at_seven = next(point for point in points if point[0] == 7.0)
    # kernel at 7: 0.1 + 0.08 · 7 = 0.66, minus 0.08, plus 0.04; the bin from 5 to 7.5
    assert at_seven == (
        7.0,
        0.66,
        "Score 7: 0.66 (0.58–0.70). 20 proteins with scores of 5 to 7.5, 14 right.",
    )
    assert max(x for x, _, _ in points) == 10.0


def test_a_fine_curve_has_no_more_points_than_a_pointer_can_tell_apart(small: Findings) -> None:
    plot = confidence_plot(small)
    n = 1000
    fine = replace(
        plot.curves[0],
        score=tuple(10.0 * k / n for k in range(n)),
        **dict.fromkeys(("value", "lower", "upper", "support"), (0.5,) * n),
    )
    assert 50 < len(points_of(replace(plot, curves=(fine,)))) <= MOST_ON_CURVE


def test_bins_tell_proteins_and_families_and_empty_ones_are_silent(small: Findings) -> None:
    bins = small.results.reliability[0].bins
    points = points_of(ReliabilityPlot(names=("held out", "in-sample"), bins=(bins, bins)))
    assert len(points) == 6
    assert points[0][2] == (
        "held out, confidence 0.38: right 0.40 (0.15–0.70), 10 proteins in 5 families."
    )


def test_comparisons_and_histograms_tell_their_numbers() -> None:
    nan = float("nan")
    plot = ComparisonPlot(
        axis="NLL",
        rows=("all", "A"),
        methods=("m", "n"),
        value=((0.2, 0.3), (nan, 0.4)),
        lower=((nan,) * 2,) * 2,
        upper=((nan,) * 2,) * 2,
    )
    assert [text for _, _, text in points_of(plot)] == [
        "all, m: 0.200.",
        "A, m: 0.300.",
        "A, n: 0.400.",
    ]
    bars = points_of(HistogramPlot(axis="confidence", edges=(0.0, 0.5, 1.0), counts=(3, 1)))
    assert bars == (
        (0.25, 3.0, "confidence 0.00 to 0.50: 3 proteins."),
        (0.75, 1.0, "confidence 0.50 to 1.00: 1 protein."),
    )


def test_histograms_of_distances_and_identities_tell_their_numbers() -> None:
    distances = DistancePlot(
        names=("known", "mine"), edges=(0.0, 0.5, 1.0), counts=((3, 1), (0, 2)), flag=0.9
    )
    assert points_of(distances) == (
        (0.25, 0.75, "known, distance 0.00 to 0.50: 3 proteins."),
        (0.75, 0.25, "known, distance 0.50 to 1.00: 1 protein."),
        (0.75, 1.0, "mine, distance 0.50 to 1.00: 2 proteins."),
    )
    nearest = NearestPlot(
        names=("1", "2"), edges=(0.0, 0.5, 1.0), counts=((4, 0), (0, 5)), n_alone=(0, 0),
        threshold=0.4,
    )  # fmt: skip
    # The last group has the lowest row.
    assert points_of(nearest) == (
        (0.75, 0.0, "2, identity 0.50 to 1.00: 5 proteins."),
        (0.25, 1.0, "1, identity 0.00 to 0.50: 4 proteins."),
    )
