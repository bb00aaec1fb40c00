"""Drawings of plots, the same for the same numbers."""

from __future__ import annotations

from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from credence.report import style
from credence.report.change_figure import draw_change
from credence.report.nearest_figure import draw_nearest
from credence.report.novelty_figure import draw_distances, draw_map
from credence.report.painting import paint_confidence, paint_counts, paint_lines, paint_reliability
from credence.report.plots import (
    ChangePlot,
    ComparisonPlot,
    ConfidencePlot,
    DistancePlot,
    HistogramPlot,
    LinesPlot,
    MapPlot,
    NearestPlot,
    Plot,
    ReliabilityPlot,
)
from credence.report.wording import printable, shortened

Floats = NDArray[np.float64]

INCHES_PER_ROW = 0.24
# Margins in inches, so that they stay the same whatever a figure's height.
LEFT, RIGHT, BOTTOM, TOP, LEGEND = 0.55, 0.12, 0.48, 0.1, 0.24
INCHES_PER_CHARACTER = 0.072
MOST_TIMES_BEST = 3.0  # numbers further out than this, of the worst row, are drawn as arrows


def draw(plot: Plot) -> Figure:
    """Return the drawing of a plot."""
    with mpl.rc_context(style.SETTINGS):
        if isinstance(plot, ConfidencePlot):
            return _draw_confidence(plot)
        if isinstance(plot, ReliabilityPlot):
            return _draw_reliability(plot)
        if isinstance(plot, ComparisonPlot):
            return _draw_comparison(plot)
        if isinstance(plot, LinesPlot):
            return _draw_lines(plot)
        if isinstance(plot, ChangePlot):
            return draw_change(plot)
        if isinstance(plot, NearestPlot):
            return draw_nearest(plot)
        if isinstance(plot, MapPlot):
            return draw_map(plot)
        if isinstance(plot, DistancePlot):
            return draw_distances(plot)
        return _draw_histogram(plot)


def _new(height_in: float, left: float = LEFT, legend: float = LEGEND) -> tuple[Figure, Any]:
    figure = Figure(figsize=(style.WIDTH_IN, height_in))
    axes = figure.add_axes(_box(height_in, left, BOTTOM, height_in - BOTTOM - TOP - legend))
    return figure, axes


def _box(
    height_in: float, left: float, bottom: float, tall: float
) -> tuple[float, float, float, float]:
    return (
        left / style.WIDTH_IN,
        bottom / height_in,
        (style.WIDTH_IN - left - RIGHT) / style.WIDTH_IN,
        tall / height_in,
    )


def _legend(figure: Figure, axes: Any, n_columns: int = 3) -> None:
    figure.legend(
        *axes.get_legend_handles_labels(),
        loc="upper center",
        ncols=n_columns,
        borderaxespad=0.1,
        columnspacing=1.2,
        handlelength=1.6,
        handletextpad=0.5,
    )


def _draw_confidence(plot: ConfidencePlot) -> Figure:
    height, below = 3.9, 0.72
    is_many = len(plot.curves) > 1
    names = [curve.method for curve in plot.curves]
    n_columns = _columns_of(names) if is_many else 3
    legend = LEGEND * (-(-len(names) // n_columns) if is_many else 1)
    figure = Figure(figsize=(style.WIDTH_IN, height))
    gap = 0.1
    bottom = BOTTOM + below + gap
    axes = figure.add_axes(_box(height, LEFT, bottom, height - bottom - TOP - legend))
    counts = figure.add_axes(_box(height, LEFT, BOTTOM, below), sharex=axes)
    paint_confidence(axes, plot)
    axes.set_ylabel("confidence")
    axes.tick_params(labelbottom=False)
    paint_counts(counts, plot)
    counts.set_xlabel("score of the predicted class")
    _legend(figure, axes, n_columns)
    return figure


def _draw_reliability(plot: ReliabilityPlot) -> Figure:
    figure, axes = _reliability_axes(plot)
    paint_reliability(axes, plot)
    axes.set_ylabel(plot.upright)
    figure.axes[-1].set_xlabel(plot.axis)
    _legend(figure, axes, 4 if len(plot.names) == 1 else 3)
    return figure


def _reliability_axes(plot: ReliabilityPlot) -> tuple[Figure, Any]:
    """Return a square to draw in; where they are known, above how many have which confidence."""
    lines = LEGEND * (1 if len(plot.names) == 1 else 2)
    if not plot.counts:
        return _new(3.9, legend=lines)
    height, below, gap = 3.9, 0.42, 0.1
    bottom = BOTTOM + below + gap
    figure = Figure(figsize=(style.WIDTH_IN, height))
    axes = figure.add_axes(_box(height, LEFT, bottom, height - bottom - TOP - lines))
    counts = figure.add_axes(_box(height, LEFT, BOTTOM, below), sharex=axes)
    edges = np.linspace(0.0, 1.0, len(plot.counts) + 1)
    counts.stairs(plot.counts, edges, fill=True, color=style.MUTED, alpha=0.55, linewidth=0)
    counts.set_ylim(0, max(plot.counts) * 1.05 or 1.0)
    counts.set_yticks([])
    counts.spines["left"].set_visible(False)
    axes.tick_params(labelbottom=False)
    return figure, axes


def _draw_lines(plot: LinesPlot) -> Figure:
    figure, axes = _new(2.9)
    paint_lines(axes, plot)
    axes.set_xlabel(plot.axis)
    axes.set_ylabel(plot.upright)
    _legend(figure, axes)
    return figure


def _columns_of(names: list[str]) -> int:
    """Return how many names fit side by side."""
    longest = max(len(name) for name in names) + 6
    wide = style.WIDTH_IN - RIGHT - LEFT / 2
    return max(1, min(len(names), int(wide / (longest * INCHES_PER_CHARACTER))))


def _end_of_axis(value: Floats, upper: Floats) -> float:
    """Return where the axis ends, so that one bad number does not squeeze the rest."""
    best = [np.nanmin(row) for row in value.T if not np.isnan(row).all()]
    bounds = np.where(np.isnan(upper), value, upper)
    return float(min(np.nanmax(bounds) * 1.03, MOST_TIMES_BEST * max(best)))


def _draw_series(axes: Any, plot: ComparisonPlot, number: int, place: Floats, end: float) -> None:
    """Draw one method; numbers beyond the axis as arrows that name them."""
    value, lower, upper = (
        np.array(numbers[number]) for numbers in (plot.value, plot.lower, plot.upper)
    )
    colour = style.colour_of(number)
    height = place + (number - (len(plot.methods) - 1) / 2) * 0.8 / len(plot.methods)
    drawn = value <= end
    axes.errorbar(
        value[drawn],
        height[drawn],
        xerr=np.nan_to_num(np.stack([value - lower, upper - value])[:, drawn]),
        fmt=style.marker_of(number),
        color=colour,
        markersize=4,
        elinewidth=1.0,
        label=shortened(printable(plot.methods[number])),
    )
    for row in np.flatnonzero(value > end):
        axes.plot(end * 0.985, height[row], marker=">", color=colour, markersize=4)
        axes.text(
            end * 0.96,
            height[row],
            f"{value[row]:.2f}",
            ha="right",
            va="center",
            fontsize=style.SMALL - 1,
        )


def _draw_comparison(plot: ComparisonPlot) -> Figure:
    rows = [shortened(printable(row)) for row in plot.rows]
    left = 0.2 + INCHES_PER_CHARACTER * max(len(row) for row in rows)
    n_columns = _columns_of([shortened(name) for name in plot.methods])
    legend = LEGEND * (-(-len(plot.methods) // n_columns))
    per_row = max(INCHES_PER_ROW, 0.075 * len(plot.methods) + 0.06)
    height = BOTTOM + TOP + legend + per_row * len(rows)
    figure, axes = _new(height, left, legend)
    place = np.arange(len(rows), dtype=np.float64)
    end = _end_of_axis(np.array(plot.value), np.array(plot.upper))
    for number in range(len(plot.methods)):
        _draw_series(axes, plot, number, place, end)
    for boundary in place[:-1] + 0.5:
        axes.axhline(boundary, color=style.GRID, linewidth=0.6)
    axes.set_yticks(place, rows)
    axes.tick_params(axis="y", length=0)
    axes.grid(visible=False, axis="y")
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_xlim(0.0, end)
    axes.set_xlabel(plot.axis)
    _legend(figure, axes, n_columns)
    return figure


def _draw_histogram(plot: HistogramPlot) -> Figure:
    figure, axes = _new(2.6, left=0.7, legend=0.0)
    axes.stairs(plot.counts, plot.edges, fill=True, color=style.RIGHT, alpha=0.7)
    axes.set_xlim(plot.edges[0], plot.edges[-1])
    axes.set_ylim(bottom=0)
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    axes.yaxis.get_major_locator().set_params(integer=True)
    axes.set_xlabel(plot.axis)
    axes.set_ylabel("proteins")
    return figure
