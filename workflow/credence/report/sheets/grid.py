"""Drawing of small multiples: a panel per class, on as many parts as a page asks for."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from credence.report import style
from credence.report.change_figure import paint_change, paint_change_counts
from credence.report.figures import MOST_TIMES_BEST
from credence.report.painting import (
    paint_confidence,
    paint_counts,
    paint_lines,
    paint_reliability,
)
from credence.report.plots import ChangePlot, ConfidencePlot, LinesPlot, ReliabilityPlot
from credence.report.sheets import measures
from credence.report.sheets.measures import FONT, LINE, MM_PER_INCH, POINTS_PER_MM, SMALL
from credence.report.sheets.record import Grid, Panel, RankPlot

# All in millimetres.
LEFT, RIGHT, BOTTOM, TOP, GAP = 11.0, 3.0, 10.0, 1.5, 3.0
RANK_GAP, RANK_ROW, TICKS = 5.0, 2.5, 4.5
BELOW = 1.0  # between a panel and the counts under it
SHAPE, COUNTS = 0.72, 0.24  # heights, as parts of a panel's width
LEAST_COUNTS, LEAST_CHANGE = 7.0, 5.5  # so that their text is beside the bars
# Panels side by side, by how many there are: up to the first number as many as the second.
SIDE_BY_SIDE: dict[int, tuple[tuple[float, int], ...]] = {
    85: ((1, 1), (8, 2), (math.inf, 3)),
    174: ((2, 2), (9, 3), (16, 4), (30, 5), (math.inf, 6)),
}
MOST_RANKS = {85: 2, 174: 4}
LONGEST_ENTRY = 44  # characters of a legend's text
STEPS = [1, 2, 5, 10]  # ticks at round numbers only
HEADROOM = 2.0  # above counts, for their text


class Layout:
    """Where panels are, in millimetres.

    Parameters
    ----------
    grid : Grid
        What is drawn.
    width : int
        Of the figure.
    """

    def __init__(self, grid: Grid, width: int) -> None:
        first = grid.panels[0].plot
        self.width = float(width)
        self.is_rank = isinstance(first, RankPlot)
        n = len(grid.panels)
        self.n_columns = min(n, next(k for most, k in SIDE_BY_SIDE[width] if n <= most))
        self.left, self.gap = LEFT, GAP
        self.names: tuple[str, ...] = ()
        if isinstance(first, RankPlot):
            self.n_columns = min(self.n_columns, MOST_RANKS[width])
            self.names = measures.labels(first.methods)
            self.left = 2.0 + max(
                measures.width_mm(name, measures.TINY + 0.5) for name in self.names
            )
            self.gap = RANK_GAP
        wide = self.width - self.left - RIGHT - self.gap * (self.n_columns - 1)
        self.panel = wide / max(self.n_columns, 1 if n == 1 else 2)
        self.below = _heights_below(first, self.panel, grid.has_counts)
        self.main = self.panel * SHAPE
        if isinstance(first, RankPlot):
            self.main = RANK_ROW * (len(first.methods) + 0.6)
        self.titles = [measures.wrapped(p.title, SMALL, self.panel) for p in grid.panels]
        longest = max(len(lines) for lines in self.titles)
        self.title = longest * SMALL * LINE / POINTS_PER_MM + 1.2
        self.between = TICKS if self.is_rank else 1.5

    @property
    def row(self) -> float:
        """Height of a row of panels with its titles."""
        below = sum(self.below) + BELOW * len(self.below)
        return self.title + self.main + below + self.between

    def rows_per_part(self, legend: float) -> int:
        """Return how many rows fit on a page."""
        return max(1, int((measures.TALLEST_MM - TOP - legend - BOTTOM) / self.row))


def _heights_below(plot: Any, panel: float, has_counts: bool) -> tuple[float, ...]:
    if isinstance(plot, ChangePlot):
        return (max(panel * COUNTS * 0.6, LEAST_CHANGE),) * 2
    return (max(panel * COUNTS, LEAST_COUNTS),) if has_counts else ()


def parts_of_grid(grid: Grid, width: int) -> tuple[tuple[Panel, ...], ...]:
    """Return the panels of each part, so that none is taller than a page.

    Parameters
    ----------
    grid : Grid
        What is drawn.
    width : int
        In millimetres.
    """
    layout = Layout(grid, width)
    n = layout.rows_per_part(_legend_height(_legend_of(grid), width)) * layout.n_columns
    return tuple(grid.panels[at : at + n] for at in range(0, len(grid.panels), n))


def draw_grid(grid: Grid, panels: tuple[Panel, ...], width: int) -> Figure:
    """Return the drawing of some panels, laid out as all of them are.

    Parameters
    ----------
    grid : Grid
        What is drawn.
    panels : tuple of Panel
        Those of this part.
    width : int
        In millimetres.
    """
    layout = Layout(grid, width)
    legend = _legend_height(_legend_of(grid), width)
    n_rows = math.ceil(len(panels) / layout.n_columns)
    height = TOP + legend + layout.row * n_rows + BOTTOM - layout.between
    figure = Figure(figsize=(width / MM_PER_INCH, height / MM_PER_INCH))
    end = _end_of_upright(grid)
    handles: dict[str, Any] = {}
    for at, panel in enumerate(panels):
        row, column = divmod(at, layout.n_columns)
        left = layout.left + column * (layout.panel + layout.gap)
        top = height - TOP - legend - row * layout.row - layout.title
        parts = _axes(figure, layout, left, top, height)
        _title(figure, panel.title, layout, left, top, height)
        _paint(parts, panel, end, layout)
        is_lowest = at + layout.n_columns >= len(panels)
        _finish(parts, layout, column == 0, is_lowest)
        for handle, name in zip(*parts[0].get_legend_handles_labels(), strict=True):
            handles.setdefault(name, handle)
    _label(figure, grid, layout, height, legend)
    if handles:
        names = list(handles)
        figure.legend(
            list(handles.values()), [_entry(name) for name in names], loc="upper center",
            ncols=measures.legend_columns([_entry(name) for name in names], width),
            borderaxespad=0.2, columnspacing=1.2, handlelength=1.8, handletextpad=0.5,
        )  # fmt: skip
    return figure


def _legend_of(grid: Grid) -> list[str]:
    """Return the texts of the legend that a grid will have."""
    axes = Figure().add_axes((0, 0, 1, 1))
    names: dict[str, None] = {}
    seen: set[tuple[str, ...]] = set()
    for panel in grid.panels:
        if isinstance(panel.plot, RankPlot) or _series_of(panel) in seen:
            continue
        seen.add(_series_of(panel))
        axes.clear()
        _paint_main(axes, panel)
        names |= dict.fromkeys(axes.get_legend_handles_labels()[1])
    return [_entry(name) for name in names]


def _series_of(panel: Panel) -> tuple[str, ...]:
    """Return what decides which entries of the legend a panel has."""
    plot = panel.plot
    if isinstance(plot, ConfidencePlot):
        return tuple(curve.method for curve in plot.curves)
    if isinstance(plot, ChangePlot):
        ranges = (plot.range_before, plot.range_after)
        return (str(bool(plot.fixed)), *(str(math.isnan(ends[0])) for ends in ranges))
    if isinstance(plot, ReliabilityPlot):
        return (str(bool(plot.band_lower)), str(bool(plot.curve)))
    return ()


def _entry(name: str) -> str:
    """Return a text of the legend, cut where it would fill more than a line."""
    return name if len(name) <= LONGEST_ENTRY else f"{name[: LONGEST_ENTRY - 1]}…"


def _legend_height(names: list[str], width: float) -> float:
    if not names:
        return 0.0
    lines = math.ceil(len(names) / measures.legend_columns(names, width))
    return lines * SMALL * 1.6 / POINTS_PER_MM + 1.5


def _axes(figure: Figure, layout: Layout, left: float, top: float, height: float) -> list[Any]:
    parts: list[Any] = []
    for tall in (layout.main, *layout.below):
        box = (
            left / layout.width,
            (top - tall) / height,
            layout.panel / layout.width,
            tall / height,
        )
        parts.append(figure.add_axes(box, sharex=parts[0] if parts else None))
        top -= tall + BELOW
    return parts


def _title(
    figure: Figure, title: str, layout: Layout, left: float, top: float, height: float
) -> None:
    lines = measures.wrapped(title, SMALL, layout.panel)
    figure.text(
        left / layout.width, (top + 1.2) / height, "\n".join(lines), fontsize=SMALL,
        ha="left", va="baseline", linespacing=LINE - 0.1,
    )  # fmt: skip


def _paint_main(axes: Any, panel: Panel) -> None:
    plot = panel.plot
    if isinstance(plot, ConfidencePlot):
        paint_confidence(axes, plot)
    elif isinstance(plot, ReliabilityPlot):
        paint_reliability(axes, plot)
    elif isinstance(plot, LinesPlot):
        paint_lines(axes, plot)
    elif isinstance(plot, ChangePlot):
        paint_change(axes, plot)
        axes.set_ylabel("")


def _paint(parts: list[Any], panel: Panel, end: float, layout: Layout) -> None:
    plot, axes = panel.plot, parts[0]
    if isinstance(plot, RankPlot):
        _paint_ranks(axes, plot, layout.names)
        return
    _paint_main(axes, panel)
    if isinstance(plot, LinesPlot):
        axes.set_ylim(-0.02 * end, 1.02 * end)
    if isinstance(plot, ChangePlot):
        axes.set_xlim(0, plot.scale)
        sides = (
            (plot.right_before, plot.right_after, style.RIGHT, "right"),
            (plot.wrong_before, plot.wrong_after, style.WRONG, "wrong"),
        )
        for part, side in zip(parts[1:], sides, strict=True):
            paint_change_counts(part, plot, *side)
            part.set_ylim(0, part.get_ylim()[1] * HEADROOM)
    elif isinstance(plot, ConfidencePlot) and len(parts) > 1:
        paint_counts(parts[1], plot)


def _end_of_upright(grid: Grid) -> float:
    """Return where the axis of all panels ends: 1 for shares that reach near it."""
    plots = [panel.plot for panel in grid.panels if isinstance(panel.plot, LinesPlot)]
    values = np.array([v for plot in plots for series in plot.series for v in series])
    known = values[~np.isnan(values)] if len(values) else values
    greatest = float(known.max()) if len(known) else 1.0
    return greatest if 0.0 < greatest < 0.5 else 1.0


def _paint_ranks(axes: Any, plot: RankPlot, names: tuple[str, ...]) -> None:
    """Paint a point with its interval per method; what lies far out as an arrow."""
    value, lower, upper = (np.array(v) for v in (plot.value, plot.lower, plot.upper))
    least, ends = float(np.nanmin(value)), np.where(np.isnan(upper), value, upper)
    greatest = float(np.nanmax(ends)) * 1.05
    end = min(greatest, MOST_TIMES_BEST * least) if least > 0 else greatest
    end = end if end > 0 else 1.0
    for row, number in enumerate(value):
        colour = style.colour_of(row)
        if math.isnan(number):
            axes.text(0.02 * end, row, "–", va="center", fontsize=measures.TINY)
        elif number > end:
            axes.plot(end * 0.98, row, marker=">", color=colour, markersize=3)
            axes.text(
                end * 0.93, row, f"{number:.2f}", ha="right", va="center",
                fontsize=measures.TINY,
            )  # fmt: skip
        else:
            whisker = np.nan_to_num([[number - lower[row]], [upper[row] - number]])
            axes.errorbar(
                [number], [row], xerr=np.maximum(whisker, 0), fmt=style.marker_of(row),
                color=colour, markersize=3, elinewidth=0.8,
                markerfacecolor=colour if row == plot.best else measures.PAPER,
            )  # fmt: skip
    axes.set_yticks(range(len(names)), names)
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.set_xlim(0, end)


def _finish(parts: list[Any], layout: Layout, is_first: bool, is_lowest: bool) -> None:
    """Leave tick labels where no other panel has the same."""
    parts[0].tick_params(labelleft=is_first)
    n_ticks = 3 if layout.is_rank else 5
    parts[0].xaxis.set_major_locator(MaxNLocator(n_ticks, steps=STEPS))
    parts[0].xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    if not layout.is_rank:
        parts[0].yaxis.set_major_locator(MaxNLocator(5, steps=STEPS))
    for axes in parts[:-1]:
        axes.tick_params(labelbottom=False)
    parts[-1].tick_params(labelbottom=is_lowest or layout.is_rank)


def _label(figure: Figure, grid: Grid, layout: Layout, height: float, legend: float) -> None:
    middle = (layout.left + (layout.width - layout.left - RIGHT) / 2) / layout.width
    figure.text(middle, 1.5 / height, grid.axis, ha="center", va="bottom", fontsize=FONT)
    if grid.upright:
        centre = (BOTTOM + (height - BOTTOM - TOP - legend) / 2) / height
        figure.text(
            0.8 / layout.width, centre, grid.upright, rotation=90, ha="left", va="center",
            fontsize=FONT,
        )  # fmt: skip
