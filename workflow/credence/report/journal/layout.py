"""Drawing of small multiples: a panel per class, on as many parts as a page asks for."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from matplotlib.collections import PolyCollection
from matplotlib.colors import LinearSegmentedColormap, LogNorm, Normalize
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, findfont, get_font
from matplotlib.ticker import LogLocator, MaxNLocator

from credence.report import style
from credence.report.journal.all_figures import ClassPanel, PanelGrid, RankPlot
from credence.report.painting import (
    paint_change,
    paint_change_counts,
    paint_confidence,
    paint_counts,
    paint_lines,
    paint_reliability,
)
from credence.report.plots import ChangePlot, ConfidencePlot, Heat, LinesPlot, ReliabilityPlot
from credence.report.style import MOST_TIMES_BEST
from credence.report.wording import MOST_SHORT, printable, shortened

MM_PER_INCH = 25.4
POINTS_PER_MM = 72 / MM_PER_INCH
WIDTHS_MM = (85, 174)  # of one and of two columns, as most journals set them
TALLEST_MM = 235  # what is taller goes on in a further part
FONT, SMALL, TINY = 7.0, 6.0, 5.0
LINE = 1.25  # of the font's size
PAPER = "#ffffff"

SETTINGS: dict[str, Any] = {
    **style.SETTINGS,
    "font.size": FONT,
    "axes.labelsize": FONT,
    "axes.titlesize": SMALL,
    "xtick.labelsize": TINY + 0.5,
    "ytick.labelsize": TINY + 0.5,
    "legend.fontsize": SMALL,
    "lines.linewidth": 1.0,
    "lines.markersize": 4.0,
    "axes.linewidth": 0.5,
    "grid.linewidth": 0.4,
    "xtick.major.size": 2.0,
    "ytick.major.size": 2.0,
    "xtick.major.width": 0.5,
    "ytick.major.width": 0.5,
    "xtick.major.pad": 1.5,
    "ytick.major.pad": 1.5,
    "pdf.fonttype": 42,  # whole letters, which journals can edit and readers copy
    "figure.facecolor": PAPER,
    "savefig.facecolor": PAPER,
}


@cache
def width_mm(text: str, points: float) -> float:
    """Return how wide a text is."""
    font = get_font(findfont(FontProperties(family="DejaVu Sans")))
    font.set_size(points, 72)
    font.set_text(text, 0.0)
    return float(font.get_width_height()[0]) / 64 / POINTS_PER_MM


def wrapped(text: str, points: float, wide: float) -> tuple[str, ...]:
    """Return the lines of a text, none wider than asked for; words break if they must."""
    lines: list[str] = []
    line = ""
    for word in " ".join(printable(text).split()).split(" "):
        longer = f"{line} {word}".lstrip()
        if width_mm(longer, points) <= wide:
            line = longer
            continue
        if line:
            lines.append(line)
        line = ""
        for character in word:
            if line and width_mm(line + character, points) > wide:
                lines.append(line)
                line = ""
            line += character
    return (*lines, line)


def labels(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return names short enough for an axis; numbered where that makes some alike."""
    short = tuple(shortened(printable(name)) for name in names)
    if len(set(short)) == len(short):
        return short
    return tuple(
        f"{number} {name[: MOST_SHORT - 3].rstrip('…')}…" for number, name in enumerate(short, 1)
    )


def legend_columns(names: list[str], wide: float) -> int:
    """Return how many entries of a legend fit side by side."""
    handle = 8.0
    longest = max(width_mm(name, SMALL) for name in names) + handle
    return max(1, min(len(names), int(wide / longest)))


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
    """Where panels are, in millimetres."""

    def __init__(self, grid: PanelGrid, width: int) -> None:
        first = grid.panels[0].plot
        self.width = float(width)
        self.is_rank = isinstance(first, RankPlot)
        n = len(grid.panels)
        self.n_columns = min(n, next(k for most, k in SIDE_BY_SIDE[width] if n <= most))
        self.left, self.gap = LEFT, GAP
        self.names: tuple[str, ...] = ()
        if isinstance(first, RankPlot):
            self.n_columns = min(self.n_columns, MOST_RANKS[width])
            self.names = labels(first.methods)
            self.left = 2.0 + max(width_mm(name, TINY + 0.5) for name in self.names)
            self.gap = RANK_GAP
        wide = self.width - self.left - RIGHT - self.gap * (self.n_columns - 1)
        self.panel = wide / max(self.n_columns, 1 if n == 1 else 2)
        self.below: tuple[float, ...] = ()
        if isinstance(first, ChangePlot):
            self.below = (max(self.panel * COUNTS * 0.6, LEAST_CHANGE),) * 2
        elif grid.has_counts:
            self.below = (max(self.panel * COUNTS, LEAST_COUNTS),)
        self.main = self.panel * SHAPE
        if isinstance(first, RankPlot):
            self.main = RANK_ROW * (len(first.methods) + 0.6)
        self.titles = [wrapped(p.title, SMALL, self.panel) for p in grid.panels]
        longest = max(len(lines) for lines in self.titles)
        self.title = longest * SMALL * LINE / POINTS_PER_MM + 1.2
        self.between = TICKS if self.is_rank else 1.5

    @property
    def row(self) -> float:
        """Height of a row of panels with its titles."""
        below = sum(self.below) + BELOW * len(self.below)
        return self.title + self.main + below + self.between


def parts_of_grid(grid: PanelGrid, width: int) -> tuple[tuple[ClassPanel, ...], ...]:
    """Return the panels of each part, so that none is taller than a page."""
    layout = Layout(grid, width)
    room = TALLEST_MM - TOP - _legend_height(_legend_of(grid), width) - BOTTOM
    n = max(1, int(room / layout.row)) * layout.n_columns
    return tuple(grid.panels[at : at + n] for at in range(0, len(grid.panels), n))


def draw_grid(grid: PanelGrid, panels: tuple[ClassPanel, ...], width: int) -> Figure:
    """Return the drawing of some panels, laid out as all of them are."""
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
            ncols=legend_columns([_entry(name) for name in names], width),
            borderaxespad=0.2, columnspacing=1.2, handlelength=1.8, handletextpad=0.5,
        )  # fmt: skip
    return figure


def _legend_of(grid: PanelGrid) -> list[str]:
    axes = Figure().add_axes((0, 0, 1, 1))
    names: dict[str, None] = {}
    seen: set[tuple[str, ...]] = set()
    for panel in grid.panels:
        if isinstance(panel.plot, RankPlot) or _series_of(panel) in seen:
            continue
        seen.add(_series_of(panel))
        axes.clear()
        PAINTERS[type(panel.plot)](axes, panel.plot)
        names |= dict.fromkeys(axes.get_legend_handles_labels()[1])
    return [_entry(name) for name in names]


def _series_of(panel: ClassPanel) -> tuple[str, ...]:
    """Return what decides which entries of the legend a panel has."""
    plot = panel.plot
    if isinstance(plot, ConfidencePlot):
        return tuple(curve.method for curve in plot.curves)
    if isinstance(plot, ChangePlot):
        return (str(bool(plot.found.fixed)), *(str(math.isnan(low)) for low, _ in plot.ranges))
    if isinstance(plot, ReliabilityPlot):
        return (str(bool(plot.band_lower)), str(bool(plot.curve)))
    return ()


def _entry(name: str) -> str:
    """Return a text of the legend, cut where it would fill more than a line."""
    return name if len(name) <= LONGEST_ENTRY else f"{name[: LONGEST_ENTRY - 1]}…"


def _legend_height(names: list[str], width: float) -> float:
    if not names:
        return 0.0
    lines = math.ceil(len(names) / legend_columns(names, width))
    return lines * SMALL * 1.6 / POINTS_PER_MM + 1.5


def _axes(figure: Figure, layout: Layout, left: float, top: float, height: float) -> list[Any]:
    parts: list[Any] = []
    for tall in (layout.main, *layout.below):
        wide = layout.panel / layout.width
        box = (left / layout.width, (top - tall) / height, wide, tall / height)
        parts.append(figure.add_axes(box, sharex=parts[0] if parts else None))
        top -= tall + BELOW
    return parts


def _title(
    figure: Figure, title: str, layout: Layout, left: float, top: float, height: float
) -> None:
    figure.text(
        left / layout.width, (top + 1.2) / height, "\n".join(wrapped(title, SMALL, layout.panel)),
        fontsize=SMALL, ha="left", va="baseline", linespacing=LINE - 0.1,
    )  # fmt: skip


PAINTERS: dict[type, Callable[[Any, Any], None]] = {
    ConfidencePlot: paint_confidence,
    ReliabilityPlot: paint_reliability,
    LinesPlot: paint_lines,
    ChangePlot: paint_change,
}


def _paint(parts: list[Any], panel: ClassPanel, end: float, layout: Layout) -> None:
    plot, axes = panel.plot, parts[0]
    if isinstance(plot, RankPlot):
        _paint_ranks(axes, plot, layout.names)
        return
    PAINTERS[type(panel.plot)](axes, panel.plot)
    if isinstance(plot, LinesPlot):
        axes.set_ylim(-0.02 * end, 1.02 * end)
    if isinstance(plot, ChangePlot):
        axes.set_xlim(0, plot.scale)
        paint_change_counts(parts[1:], plot)
        for part in parts[1:]:
            part.set_ylim(0, part.get_ylim()[1] * HEADROOM)
    elif isinstance(plot, ConfidencePlot) and len(parts) > 1:
        paint_counts(parts[1], plot)


def _end_of_upright(grid: PanelGrid) -> float:
    """Return where the axis of all panels ends: 1 for shares that reach near it."""
    plots = [panel.plot for panel in grid.panels if isinstance(panel.plot, LinesPlot)]
    values = np.array([v for plot in plots for series in plot.series for v in series])
    known = values[~np.isnan(values)] if len(values) else values
    greatest = float(known.max()) if len(known) else 1.0
    return greatest if 0.0 < greatest < 0.5 else 1.0


def _paint_ranks(axes: Any, plot: RankPlot, names: tuple[str, ...]) -> None:
    """Paint a point with its interval per method; what lies far out as an arrow."""
    value, lower, upper = (np.array(v) for v in (plot.value, plot.lower, plot.upper))
    least, bounds = float(np.nanmin(value)), np.where(np.isnan(upper), value, upper)
    greatest = float(np.nanmax(bounds)) * 1.05
    end = min(greatest, MOST_TIMES_BEST * least) if least > 0 else greatest
    end = end if end > 0 else 1.0
    for row, number in enumerate(value):
        colour = style.colour_of(row)
        if math.isnan(number):
            axes.text(0.02 * end, row, "–", va="center", fontsize=TINY)
        elif number > end:
            axes.plot(end * 0.98, row, marker=">", color=colour, markersize=3)
            axes.text(
                end * 0.93, row, f"{number:.2f}", ha="right", va="center",
                fontsize=TINY,
            )  # fmt: skip
        else:
            whisker = np.nan_to_num([[number - lower[row]], [upper[row] - number]])
            axes.errorbar(
                [number], [row], xerr=np.maximum(whisker, 0), fmt=style.marker_of(row),
                color=colour, markersize=3, elinewidth=0.8,
                markerfacecolor=colour if row == plot.best else PAPER,
            )  # fmt: skip
    axes.set_yticks(range(len(names)), names)
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.set_xlim(0, end)


def _finish(parts: list[Any], layout: Layout, is_first: bool, is_lowest: bool) -> None:
    parts[0].tick_params(labelleft=is_first)
    n_ticks = 3 if layout.is_rank else 5
    parts[0].xaxis.set_major_locator(MaxNLocator(n_ticks, steps=STEPS))
    parts[0].xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    if not layout.is_rank:
        parts[0].yaxis.set_major_locator(MaxNLocator(5, steps=STEPS))
    for axes in parts[:-1]:
        axes.tick_params(labelbottom=False)
    parts[-1].tick_params(labelbottom=is_lowest or layout.is_rank)


def _label(figure: Figure, grid: PanelGrid, layout: Layout, height: float, legend: float) -> None:
    middle = (layout.left + (layout.width - layout.left - RIGHT) / 2) / layout.width
    figure.text(middle, 1.5 / height, grid.axis, ha="center", va="bottom", fontsize=FONT)
    if grid.upright:
        centre = (BOTTOM + (height - BOTTOM - TOP - legend) / 2) / height
        figure.text(
            0.8 / layout.width, centre, grid.upright, rotation=90, ha="left", va="center",
            fontsize=FONT,
        )  # fmt: skip


# All in millimetres.
LABEL, KEY, EDGE, LARGEST = 5.0, 13.0, 4.0, 14.0
NUMBERS = 4.6  # cells at least this wide hold their number
WITH_NUMBER, WIDEST = 5.2, 238  # of a cell of a page, and of its matrix
SMALLEST = 4.5  # points: smaller text is not printed
OF_CELL = 0.82  # height of a label, of its cell
MOST_SHOWN = 0.005  # smaller shares are left blank
DARK = 0.55
LETTERS = "#101112"  # in light cells, whatever the page's theme
FAINTEST = 0.5  # of the colours of counts: a single protein is not white
DECADES = 12  # in the key of counts, at most
# Light to dark in one hue, so that it reads without colours too.
COLOURS = LinearSegmentedColormap.from_list(
    "credence", [PAPER, style.SERIES[5], style.SERIES[0], "#00304d"]
)


def _sizes(heat: Heat, width: int) -> tuple[float, float, float]:
    """Return the size of the text in points, and of labels and cells in millimetres."""
    names, n = labels(heat.names), len(heat.names)
    points = SMALL
    for _ in range(2):  # labels and cells depend on each other a little
        label = max(width_mm(name, points) for name in names) + 1.5
        cell = min((width - LABEL - label - (KEY if heat.key else 0.0) - EDGE) / n, LARGEST)
        points = min(SMALL, max(cell * POINTS_PER_MM * OF_CELL, 1.0))
    return points, label, cell


def page_width(heat: Heat) -> int:
    """Return how wide a matrix is drawn on a page, in millimetres: as wide as its numbers need."""
    label = max(width_mm(name, SMALL) for name in labels(heat.names))
    wide = round(LABEL + label + EDGE + WITH_NUMBER * len(heat.names))
    return min(max(WIDTHS_MM[0], wide), WIDEST)


def fits(heat: Heat, width: int) -> bool:
    """Return whether the matrix can be read at a width."""
    return _sizes(heat, width)[0] >= SMALLEST


def draw_heat(heat: Heat, width: int) -> Figure:
    """Return the drawing of a matrix."""
    points, label, cell = _sizes(heat, width)
    names, n = labels(heat.names), len(heat.names)
    side = cell * n
    height = LABEL + label + side + EDGE
    key_width = KEY if heat.key else 0.0
    left = LABEL + label + (width - LABEL - label - key_width - EDGE - side) / 2
    figure = Figure(figsize=(width / MM_PER_INCH, height / MM_PER_INCH))
    axes = figure.add_axes((left / width, EDGE / height, side / width, side / height))
    values = np.array(heat.values, dtype=np.float64)
    shown = values[~np.isnan(values)]
    norm = Normalize(0, 1)
    if heat.is_count:
        norm = LogNorm(FAINTEST, max(float(shown.max(initial=0.0)), 2.0))
    # Empty cells are not drawn: of many classes most are, and a page would be slow.
    drawn = np.nan_to_num(values) > (FAINTEST if heat.is_count else 0.0)
    squares = np.argwhere(drawn)[:, None, ::-1] + np.array([(0, 0), (1, 0), (1, 1), (0, 1)])
    mesh = PolyCollection(
        list(squares), array=values[drawn], cmap=COLOURS, norm=norm, edgecolors="face",
        linewidths=0.05,
    )  # fmt: skip
    axes.add_collection(mesh)
    axes.set_facecolor(PAPER)
    if cell >= NUMBERS:
        written = np.array(heat.counts, dtype=np.float64) if heat.counts else values
        is_count = heat.is_count or bool(heat.counts)
        texts = {at: _cell(float(value), is_count) for at, value in np.ndenumerate(written)}
        wide = width_mm(max(texts.values(), key=len), TINY)
        size = min(points, TINY * min(1.2, 0.85 * cell / max(wide, 1)))
        for (row, column), text in texts.items():
            is_dark = values[row, column] > 0 and float(norm(values[row, column])) > DARK
            axes.text(
                column + 0.5, row + 0.5, text, ha="center", va="center", fontsize=size,
                color=PAPER if is_dark else LETTERS,
            )  # fmt: skip
    axes.set_ylim(n, 0)
    axes.set_xlim(0, n)
    places = np.arange(n) + 0.5
    axes.set_xticks(places, names, rotation=90, fontsize=points)
    axes.set_yticks(places, names, fontsize=points)
    axes.tick_params(length=0, labelbottom=False, labeltop=True)
    axes.grid(visible=False)
    for spine in axes.spines.values():
        spine.set_visible(False)
    top = 1 - 1.0 / height
    figure.text((left + side / 2) / width, top, "predicted", ha="center", va="top", fontsize=FONT)
    figure.text(
        (left - label - 1) / width, (EDGE + side / 2) / height, "truly", rotation=90,
        ha="right", va="center", fontsize=FONT,
    )  # fmt: skip
    if not heat.key:
        return figure
    box = ((left + side + 2.5) / width, EDGE / height, 2.5 / width, min(side, 40.0) / height)
    key = figure.colorbar(mesh, cax=figure.add_axes(box), label=heat.key)
    key.outline.set_visible(False)
    if heat.is_count:
        key.ax.minorticks_off()
        key.ax.yaxis.set_major_locator(LogLocator(numticks=DECADES))
        key.ax.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    return figure


def _cell(value: float, is_count: bool) -> str:
    if math.isnan(value):
        return "–"
    if is_count:
        return f"{value:.0f}" if value else ""
    return "" if value < MOST_SHOWN else f"{value:.2f}".removeprefix("0")
