"""What a figure says of each of its points, for those who point at it."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from credence.findings import Bins, CurveFinding
from credence.report.plots import (
    ChangePlot,
    ComparisonPlot,
    ConfidencePlot,
    HistogramPlot,
    LinesPlot,
    NearestPlot,
    Plot,
    ReliabilityPlot,
)
from credence.report.wording import count, loss, of, score, share, with_interval

DECIMALS = 5  # of places
MOST_POINTS = 101  # per curve; a pointer is not finer

Point = tuple[float, float, str]


def points_of(plot: Plot) -> tuple[Point, ...]:
    """Return place and words of each point, in the units of the axes.

    Parameters
    ----------
    plot : Plot
        The numbers drawn.
    """
    return tuple((round(x, DECIMALS), round(y, DECIMALS), text) for x, y, text in _points(plot))


def _points(plot: Plot) -> Sequence[Point]:
    if isinstance(plot, ConfidencePlot):
        return _on_curve(plot)
    if isinstance(plot, ReliabilityPlot):
        return tuple(
            point
            for name, bins in zip(plot.names, plot.bins, strict=True)
            for point in _on_bins(bins, name if len(plot.names) > 1 else "")
        )
    if isinstance(plot, ComparisonPlot):
        return _on_comparison(plot)
    if isinstance(plot, LinesPlot):
        return _on_lines(plot)
    if isinstance(plot, ChangePlot):
        return _on_change(plot)
    if isinstance(plot, NearestPlot):
        return _on_nearest(plot)
    return _on_histogram(plot) if isinstance(plot, HistogramPlot) else ()


def _on_curve(plot: ConfidencePlot) -> tuple[Point, ...]:
    """Return the first curve's confidence, interval and evidence at each score seen."""
    curve, shares = plot.curves[0], plot.histogram.shares
    seen = [k for k, at in enumerate(curve.score) if plot.score_min <= at <= plot.score_max]
    step = max(1, -(-len(seen) // MOST_POINTS))
    points = []
    for k in seen[::step]:
        at, value = curve.score[k], curve.value[k]
        if math.isnan(value):
            continue
        bin_ = min(max(int(np.searchsorted(shares.edges, at)) - 1, 0), len(shares.n) - 1)
        points.append((at, value, _curve_words(plot, curve, k, bin_)))
    return tuple(points)


def _on_change(plot: ChangePlot) -> tuple[Point, ...]:
    """Return what both curves say at each score that the newer release has seen."""
    low, high = plot.range_after
    seen = [k for k, at in enumerate(plot.score) if low <= at <= high]
    step = max(1, -(-len(seen) // MOST_POINTS))
    points = []
    for k in seen[::step]:
        if math.isnan(plot.after[k]):
            continue
        before = with_interval(plot.before[k], plot.before_lower[k], plot.before_upper[k])
        after = with_interval(plot.after[k], plot.after_lower[k], plot.after_upper[k])
        text = f"Score {score(plot.score[k], plot.scale)}: {before} before, {after} now."
        if plot.fixed:
            text += f" At the old shares of the classes: {share(plot.fixed[k])}."
        points.append((plot.score[k], plot.after[k], text))
    return tuple(points)


def _curve_words(plot: ConfidencePlot, curve: CurveFinding, k: int, bin_: int) -> str:
    shares = plot.histogram.shares
    edges = (
        f"{score(shares.edges[bin_], plot.scale)} to {score(shares.edges[bin_ + 1], plot.scale)}"
    )
    near = f"{of(shares.n[bin_], 'protein')} with scores of {edges}"
    if shares.n[bin_]:
        near += f", {count(shares.n_correct[bin_])} right"
    said = with_interval(curve.value[k], curve.lower[k], curve.upper[k])
    return f"Score {score(curve.score[k], plot.scale)}: {said}. {near}."


def _on_bins(bins: Bins, name: str) -> list[Point]:
    begin = f"{name}, " if name else ""
    return [
        (
            bins.mean[k],
            bins.share[k],
            f"{begin}confidence {share(bins.mean[k])}: right "
            f"{with_interval(bins.share[k], bins.lower[k], bins.upper[k])}, "
            f"{of(n, 'protein')} in {of(bins.n_clusters[k], 'family', 'families')}.",
        )
        for k, n in enumerate(bins.n)
        if n > 0
    ]


def _on_comparison(plot: ComparisonPlot) -> tuple[Point, ...]:
    points = []
    n_methods = len(plot.methods)
    for number, method in enumerate(plot.methods):
        offset = (number - (n_methods - 1) / 2) * 0.8 / n_methods
        for row, name in enumerate(plot.rows):
            value = plot.value[number][row]
            if not math.isnan(value):
                said = loss(value, plot.lower[number][row], plot.upper[number][row])
                points.append((value, row + offset, f"{name}, {method}: {said}."))
    return tuple(points)


def _on_lines(plot: LinesPlot) -> tuple[Point, ...]:
    step = max(1, -(-len(plot.x) // MOST_POINTS))
    return tuple(
        (plot.x[k], values[k], f"{name}, at {plot.x[k]:.3g}: {share(values[k])}.")
        for name, values in zip(plot.names, plot.series, strict=True)
        for k in range(0, len(plot.x), step)
        if not math.isnan(values[k])
    )


def _on_histogram(plot: HistogramPlot) -> tuple[Point, ...]:
    return tuple(
        (
            (low + high) / 2,
            float(number),
            f"{plot.axis} {low:.2f} to {high:.2f}: {of(number, 'protein')}.",
        )
        for low, high, number in zip(plot.edges[:-1], plot.edges[1:], plot.counts, strict=True)
    )


def _on_nearest(plot: NearestPlot) -> tuple[Point, ...]:
    bins = list(zip(plot.edges[:-1], plot.edges[1:], strict=True))
    return tuple(
        (
            (low + high) / 2,
            float(len(plot.names) - 1 - row),
            f"Group {name}: {of(number, 'protein')} whose nearest elsewhere is "
            f"{low:.1f} to {high:.1f} identical.",
        )
        for row, (name, counts) in enumerate(zip(plot.names, plot.counts, strict=True))
        for (low, high), number in zip(bins, counts, strict=True)
        if number
    )
