"""Drawing of small multiples: a panel per class, on as many parts as a page asks for."""

import math
from functools import cache
from typing import Any

import numpy as np
from matplotlib.collections import PathCollection, PolyCollection
from matplotlib.colors import LinearSegmentedColormap, LogNorm, Normalize
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, findfont, get_font
from matplotlib.patches import Rectangle
from matplotlib.ticker import LogLocator, MaxNLocator

from credence.findings import FigurePanel, FigureRecord, FigureSeries
from credence.report import style
from credence.report.plots import Heat
from credence.report.wording import MOST_SHORT, printable, shortened

MM_PER_INCH = 25.4
POINTS_PER_MM = 72 / MM_PER_INCH
WIDTHS_MM = (85, 174)  # of one and of two columns, as most journals set them
TALLEST_MM = 235  # what is taller goes on in a further part
FONT_PT, SMALL_PT, TINY_PT = 7.0, 6.0, 5.0
LINE_HEIGHT = 1.25  # of the font's size
WHITE = "#ffffff"

TICK_LOOK = {"size": 2.0, "width": 0.5, "pad": 1.5}
JOURNAL_STYLE: dict[str, Any] = {
    **style.PAGE_STYLE,
    **dict.fromkeys(("font.size", "axes.labelsize"), FONT_PT),
    **dict.fromkeys(("axes.titlesize", "legend.fontsize"), SMALL_PT),
    **dict.fromkeys(("xtick.labelsize", "ytick.labelsize"), TINY_PT + 0.5),
    **{f"{axis}tick.major.{part}": points for axis in "xy" for part, points in TICK_LOOK.items()},
    **dict.fromkeys(("figure.facecolor", "savefig.facecolor"), WHITE),
    "lines.linewidth": 1.0,
    "lines.markersize": 4.0,
    "axes.linewidth": 0.5,
    "grid.linewidth": 0.4,
    "pdf.fonttype": 42,  # whole letters, which journals can edit and readers copy
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


def axis_labels(names: tuple[str, ...]) -> tuple[str, ...]:
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
    longest = max(width_mm(name, SMALL_PT) for name in names) + handle
    return max(1, min(len(names), int(wide / longest)))


# Colour of each look; series of one name have one.
LOOKS = {
    "right": style.RIGHT_COLOUR,
    "wrong": style.WRONG_COLOUR,
    "kernel": style.SERIES[3],
    "cumulative": style.SERIES[2],
    "histogram": style.INK,
    "score": style.MUTED,
    "all": style.SERIES[5],
}
MARKS = {"kernel": "s", "cumulative": "^", "all": "D"}  # of points, by look; else a circle
DASHES: dict[str, Any] = {"dashed": (0, (4, 2)), "dotted": (0, (1, 1.5))}
# All in millimetres.
LEFT_MM, RIGHT_MM, BOTTOM_MM, TOP_MM, GAP_MM = 11.0, 3.0, 10.0, 1.5, 3.0
SHAPE, BETWEEN = 0.72, 1.5  # height of a panel, as part of its width; above its title
ROUNDING_MM = 1e-6
LEGEND_POINT = 9.0  # square points: size of a cloud's point in the legend
LEAST_MM = 12.0  # height of a panel that is made less tall, so that all are on one page
# Panels side by side, by how many there are: up to the first number as many as the second.
SIDE_BY_SIDE: dict[int, tuple[tuple[float, int], ...]] = {
    85: ((1, 1), (8, 2), (math.inf, 3)),
    174: ((2, 2), (9, 3), (16, 4), (30, 5), (math.inf, 6)),
}
TITLE_SHARE = 0.94  # of a panel, that a line of its title takes: letters are wider at some sizes
LONGEST_ACROSS = 2  # letters of a tick that are not turned by 90°
ROUND_STEPS = [1, 2, 5, 10]  # ticks at round numbers only


class Layout:
    """Where panels are, in millimetres."""

    def __init__(self, record: FigureRecord, width: int) -> None:
        n, across = len(record.panels), record.across
        columns = min(n, next(k for most, k in SIDE_BY_SIDE[width] if n <= most))
        self.n_columns = max(across, columns - columns % across)
        self.width = float(width)
        is_words = any(series.kind == "word" for series in record.panels[0].series)
        self.left = RIGHT_MM if is_words else LEFT_MM
        wide = self.width - self.left - RIGHT_MM - GAP_MM * (self.n_columns - 1)
        self.panel = wide / max(self.n_columns, 1 if n == 1 else 2)
        self.main = self.panel * SHAPE
        if is_words:
            longest = max(len(panel.series) for panel in record.panels)
            self.main = (longest + 1.5) * FONT_PT * WORD_LINE / POINTS_PER_MM
        under = max((width_mm(name, TINY_PT + 0.5) for name in record.ticks), default=0.0)
        self.bottom = RIGHT_MM if is_words else max(BOTTOM_MM, under + 5.5)
        titles = (f"({letter(at)}) {panel.title}" for at, panel in enumerate(record.panels))
        self.titles = [wrapped(title, SMALL_PT, TITLE_SHARE * self.panel) for title in titles]
        self.title = max(map(len, self.titles)) * SMALL_PT * LINE_HEIGHT / POINTS_PER_MM + 1.2
        shown = (part for panel in record.panels for part in panel.series if part.kind != "word")
        self.names = list(dict.fromkeys(printable(part.name) for part in shown))
        lines = math.ceil(len(self.names) / legend_columns(self.names, width)) if self.names else 0
        self.legend = lines * SMALL_PT * 1.6 / POINTS_PER_MM + 1.5 if lines else 0.0
        fits_page = (self.room + BETWEEN) / math.ceil(n / self.n_columns) - self.row + self.main
        if LEAST_MM <= fits_page < self.main:
            self.main = fits_page

    @property
    def room(self) -> float:
        """Height that rows of panels have on a page."""
        return TALLEST_MM - TOP_MM - self.legend - self.bottom

    @property
    def row(self) -> float:
        """Height of a row of panels with its titles."""
        return self.title + self.main + BETWEEN


def letter(at: int) -> str:
    """Return the letter of a panel: a to z, then aa, ab and so on."""
    first, last = divmod(at, 26)
    return (letter(first - 1) if first else "") + chr(ord("a") + last)


def parts_of_grid(record: FigureRecord, width: int) -> tuple[range, ...]:
    """Return which panels are in each part, so that none is taller than a page."""
    layout = Layout(record, width)
    n = max(1, int((layout.room + BETWEEN + ROUNDING_MM) / layout.row)) * layout.n_columns
    numbers = range(len(record.panels))
    return tuple(numbers[at : at + n] for at in numbers[::n])


def draw_grid(record: FigureRecord, panels: range, width: int) -> Figure:
    """Return the drawing of some panels, laid out as all of them are."""
    layout = Layout(record, width)
    n_rows = math.ceil(len(panels) / layout.n_columns)
    height = TOP_MM + layout.legend + layout.row * n_rows + layout.bottom - BETWEEN
    figure = Figure(figsize=(width / MM_PER_INCH, height / MM_PER_INCH))
    handles: dict[str, Any] = {}
    for place, at in enumerate(panels):
        row, column = divmod(place, layout.n_columns)
        left = layout.left + column * (layout.panel + GAP_MM)
        top = height - TOP_MM - layout.legend - row * layout.row - layout.title
        size = (layout.panel / width, layout.main / height)
        axes = figure.add_axes((left / width, (top - layout.main) / height, *size))
        figure.text(
            left / width, (top + 1.2) / height, "\n".join(layout.titles[at]), fontsize=SMALL_PT,
            ha="left", va="baseline", linespacing=LINE_HEIGHT - 0.1,
        )  # fmt: skip
        if record.panels[at].series and record.panels[at].series[0].kind == "word":
            _write_words(axes, at, record.panels)
            continue
        _paint(axes, record.panels[at], record)
        axes.tick_params(labelleft=column == 0)
        axes.tick_params(labelbottom=place + layout.n_columns >= len(panels))
        for handle, name in zip(*axes.get_legend_handles_labels(), strict=True):
            handles.setdefault(name, handle)
    middle = (layout.left + (width - layout.left - RIGHT_MM) / 2) / width
    figure.text(middle, 1.5 / height, record.axis, ha="center", va="bottom", fontsize=FONT_PT)
    centre = (layout.bottom + (height - layout.bottom - TOP_MM - layout.legend) / 2) / height
    beside: dict[str, Any] = {"rotation": 90, "ha": "left", "va": "center", "fontsize": FONT_PT}
    figure.text(0.8 / width, centre, record.upright, **beside)
    if handles:
        figure.legend(
            list(handles.values()), list(handles), loc="upper center",
            ncols=legend_columns(list(handles), width), borderaxespad=0.2, columnspacing=1.2,
            handlelength=1.8, markerscale=1.6, handletextpad=0.5,
        )  # fmt: skip
        for shown in figure.legends[0].legend_handles:
            if isinstance(shown, PathCollection):  # of clouds, whose points are small
                shown.set_sizes([LEGEND_POINT])
                shown.set_alpha(1.0)
    return figure


WORD_LINE = 1.5  # of the font's size, between words below each other
WORD_SHARE = 0.85  # of a frame, that its widest word takes at most


def _write_words(axes: Any, at: int, panels: tuple[FigurePanel, ...]) -> None:
    """Write words of a panel below each other, in a frame that is heavy where a tool is marked."""
    panel = panels[at]
    axes.set_axis_off()
    is_marked = any(word.look == "mark" for word in panel.series)
    colour = style.SERIES[0] if is_marked else style.GRID_LINES
    look: dict[str, Any] = {"edgecolor": colour, "linewidth": 1.5 if is_marked else 0.8}
    look |= {"transform": axes.transAxes, "clip_on": False, "fill": False}
    axes.add_patch(Rectangle((0, 0), 1, 1, **look))
    step = 1.0 / (max(len(part.series) for part in panels) + 1)
    wide = axes.get_window_extent().width / axes.figure.dpi * MM_PER_INCH
    widest = max(width_mm(word.name, FONT_PT) for part in panels for word in part.series)
    points = FONT_PT * min(1.0, WORD_SHARE * wide / widest)
    for row, word in enumerate(panel.series, 1):
        axes.text(
            0.05, 1.0 - row * step, word.name, transform=axes.transAxes, va="center",
            fontsize=points, weight="bold" if word.look != "plain" else "normal",
            color=style.SERIES[0] if word.look == "mark" else style.INK,
        )  # fmt: skip


def _paint(axes: Any, panel: FigurePanel, record: FigureRecord) -> None:
    for series in panel.series:
        _paint_series(axes, series, record)
    axes.set_xlim(record.start, record.end)
    axes.set_ylim(-0.02 * record.top, 1.02 * record.top)
    axes.yaxis.set_major_locator(MaxNLocator(5, steps=ROUND_STEPS))
    if record.ticks:
        turned = 90 if max(map(len, record.ticks)) > LONGEST_ACROSS else 0
        axes.set_xticks(range(len(record.ticks)), record.ticks, rotation=turned)
    else:
        axes.xaxis.set_major_locator(MaxNLocator(5, steps=ROUND_STEPS))
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")


def _paint_series(axes: Any, series: FigureSeries, record: FigureRecord) -> None:
    colour, label = LOOKS[series.look], printable(series.name)
    x, y = np.array(series.x), np.array(series.y)
    if series.kind == "bars":
        axes.stairs(y, x, fill=True, color=colour, alpha=0.45, linewidth=0, label=label)
    elif series.kind in ("steps", "dashed steps"):
        line = DASHES["dashed"] if series.kind == "dashed steps" else "-"
        known = np.flatnonzero(~np.isnan(y) & (x[1:] > record.start))
        first = int(known[0]) if len(known) else 0
        rest = np.where(np.arange(len(y)) > first, y, np.nan)
        look = {"color": colour, "alpha": 0.75, "linewidth": 0.8}
        axes.stairs(rest, x, baseline=None, linestyle=line, label=label, **look)
        axes.hlines(y[first], x[first], x[first + 1], linestyles=DASHES["dotted"], **look)
        if series.lower:
            axes.vlines(
                (x[:-1] + x[1:]) / 2, series.lower, series.upper, color=style.MUTED, lw=0.6
            )
    elif series.kind == "cloud":
        seen = x >= record.start
        axes.scatter(
            x[seen], y[seen], s=1.6, color=colour, alpha=0.55, linewidths=0, label=label,
            rasterized=True, clip_on=False,  # points at the end of the scale are whole
            zorder=1.5 + 1.0 / (2.0 + len(x)),  # the rarer in front, so that none is hidden
        )  # fmt: skip
    elif series.kind in ("points", "hollow"):
        _paint_points(axes, series, record, label)
    else:
        if series.lower and not np.isnan(series.lower).all():
            axes.fill_between(x, series.lower, series.upper, color=colour, alpha=0.2, lw=0)
        axes.plot(x, y, color=colour, linestyle=DASHES.get(series.kind, "-"), label=label)


# Of the axis, from where the numbers of arrows go down: a second one of a place below the first.
NUMBER_AT, LOWER_NUMBER_AT = 0.93, 0.62


def _paint_points(axes: Any, series: FigureSeries, record: FigureRecord, label: str) -> None:
    """Paint points with whiskers; what is above the axis as an arrow with its number."""
    colour, is_open = LOOKS[series.look], series.kind == "hollow"
    x, y = np.array(series.x), np.array(series.y)
    shown = y <= record.top
    whiskers = None
    if series.lower:
        low, high = np.array(series.lower)[shown], np.array(series.upper)[shown]
        whiskers = np.nan_to_num([np.maximum(y[shown] - low, 0), np.maximum(high - y[shown], 0)])
    axes.errorbar(
        x[shown], y[shown], yerr=whiskers, fmt=MARKS.get(series.look, "o"), color=colour,
        markersize=3, elinewidth=0.7, markerfacecolor=WHITE if is_open else colour, label=label,
        clip_on=False,
    )  # fmt: skip
    for place, number in zip(x[~shown], y[~shown], strict=True):
        if math.isfinite(number):
            has_number = any(round(text.get_position()[0]) == round(place) for text in axes.texts)
            axes.plot(place, record.top * 0.97, marker="^", color=colour, markersize=3)
            upright = record.top * (LOWER_NUMBER_AT if has_number else NUMBER_AT)
            axes.text(
                place, upright, f"{number:.2f}", ha="center", va="top", fontsize=TINY_PT,
                rotation=90,
            )  # fmt: skip


# All in millimetres.
LABEL_MM, KEY_MM, EDGE_MM, LARGEST_CELL_MM = 5.0, 13.0, 2.0, 14.0
LEAST_NUMBERED = 4.6  # cells at least this wide hold their number
WITH_NUMBER, WIDEST_MM = 5.2, 238  # of a cell of a page, and of its matrix
LEAST_PRINTED = 4.5  # points: smaller text is not printed
OF_CELL = 0.82  # height of a label, of its cell
OF_CELL_WIDTH = 0.92  # width of a number, of its cell
MOST_SHOWN = 0.005  # smaller shares are left blank
DARK = 0.55
LETTER_COLOUR = "#101112"  # in light cells, whatever the page's theme
FAINTEST = 0.5  # of the colours of counts: a single protein is not white
DECADES = 12  # in the key of counts, at most
# Light to dark in one hue, so that it reads without colours too.
COLOURS = LinearSegmentedColormap.from_list(
    "credence", [WHITE, style.SERIES[5], style.SERIES[0], "#00304d"]
)


def _sizes(heat: Heat, width: int) -> tuple[float, float, float]:
    """Return the size of the text in points, and of labels and cells in millimetres.

    A matrix without its key is one whose numbers would not fit beside it.
    """
    if heat.key:
        sizes = _sizes_beside(heat, width, KEY_MM)
        alone = _sizes_beside(heat, width, 0.0)
        return sizes if sizes[2] >= LEAST_NUMBERED or alone[2] < LEAST_NUMBERED else alone
    return _sizes_beside(heat, width, 0.0)


def _sizes_beside(heat: Heat, width: int, key: float) -> tuple[float, float, float]:
    names, n = axis_labels(heat.names), len(heat.names)
    points = SMALL_PT
    for _ in range(2):  # labels and cells depend on each other a little
        label = max(width_mm(name, points) for name in names) + 1.5
        cell = min((width - LABEL_MM - label - key - EDGE_MM) / n, LARGEST_CELL_MM)
        points = min(SMALL_PT, max(cell * POINTS_PER_MM * OF_CELL, 1.0))
    return points, label, cell


def page_width(heat: Heat) -> int:
    """Return how wide a matrix is drawn on a page, in millimetres: as wide as its numbers need."""
    label = max(width_mm(name, SMALL_PT) for name in axis_labels(heat.names))
    wide = round(LABEL_MM + label + EDGE_MM + WITH_NUMBER * len(heat.names))
    return min(max(WIDTHS_MM[0], wide), WIDEST_MM)


def fits(heat: Heat, width: int) -> bool:
    """Return whether the matrix can be read at a width."""
    return _sizes(heat, width)[0] >= LEAST_PRINTED


def draw_heat(heat: Heat, width: int, *, is_marked: bool = False) -> Figure:
    """Return the drawing of a matrix, its diagonal framed where that is asked for."""
    points, label, cell = _sizes(heat, width)
    names, n = axis_labels(heat.names), len(heat.names)
    side = cell * n
    height = LABEL_MM + label + side + EDGE_MM
    has_key = bool(heat.key) and LABEL_MM + label + side + KEY_MM + EDGE_MM <= width + ROUNDING_MM
    key_width = KEY_MM if has_key else 0.0
    left = LABEL_MM + label + (width - LABEL_MM - label - key_width - EDGE_MM - side) / 2
    figure = Figure(figsize=(width / MM_PER_INCH, height / MM_PER_INCH))
    axes = figure.add_axes((left / width, EDGE_MM / height, side / width, side / height))
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
    for at in range(n if is_marked else 0):
        frame: dict[str, Any] = {"edgecolor": style.WRONG_COLOUR, "linewidth": 1.0}
        axes.add_patch(Rectangle((at, at), 1, 1, zorder=3, fill=False, **frame))
    axes.set_facecolor(WHITE)
    if cell >= LEAST_NUMBERED:
        _write_numbers(axes, heat, norm, (points, cell), is_marked)
    axes.set_ylim(n, 0)
    axes.set_xlim(0, n)
    places = np.arange(n) + 0.5
    turned = 90 if max(map(len, names)) > LONGEST_ACROSS else 0
    axes.set_xticks(places, names, rotation=turned, fontsize=points)
    axes.set_yticks(places, names, fontsize=points)
    axes.tick_params(length=0, labelbottom=False, labeltop=True)
    axes.grid(visible=False)
    for spine in axes.spines.values():
        spine.set_visible(False)
    top = 1 - 1.0 / height
    figure.text(
        (left + side / 2) / width, top, "predicted", ha="center", va="top", fontsize=FONT_PT
    )
    figure.text(
        (left - label - 1) / width, (EDGE_MM + side / 2) / height, "truly", rotation=90,
        ha="right", va="center", fontsize=FONT_PT,
    )  # fmt: skip
    if not has_key:
        return figure
    box = ((left + side + 2.5) / width, EDGE_MM / height, 2.5 / width, min(side, 40.0) / height)
    key = figure.colorbar(mesh, cax=figure.add_axes(box))
    key.outline.set_visible(False)
    if heat.is_count:
        key.ax.minorticks_off()
        key.ax.yaxis.set_major_locator(LogLocator(numticks=DECADES))
        key.ax.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    else:
        key.ax.yaxis.set_major_formatter(lambda value, _: f"{100 * value:.0f}")
    return figure


def _write_numbers(
    axes: Any, heat: Heat, norm: Normalize, sizes: tuple[float, float], is_marked: bool
) -> None:
    """Write each cell's number into it, no wider than the cell."""
    points, cell = sizes
    values = np.array(heat.values, dtype=np.float64)
    written = np.array(heat.counts, dtype=np.float64) if heat.counts else values
    is_count = heat.is_count or bool(heat.counts)
    for (row, column), value in np.ndenumerate(written):
        text = _cell(float(value), is_count, is_marked and row == column)
        wide = max(width_mm(text, TINY_PT), 1.0) if text else 1.0
        size = min(points, TINY_PT * min(1.2, OF_CELL_WIDTH * cell / wide))
        is_dark = values[row, column] > 0 and float(norm(values[row, column])) > DARK
        axes.text(
            column + 0.5, row + 0.5, text, ha="center", va="center", fontsize=size,
            color=WHITE if is_dark else LETTER_COLOUR,
        )  # fmt: skip


def _cell(value: float, is_count: bool, is_always_shown: bool) -> str:
    """Return a count, or a share in percent; what is next to nothing mostly as nothing."""
    if math.isnan(value):
        return "–"
    if is_count:
        return f"{value:.0f}" if value else ""
    return f"{100 * value:.0f}" if value >= MOST_SHOWN or is_always_shown else ""
