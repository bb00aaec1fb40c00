"""Drawings of plots, the same for the same numbers, and as elements of a page."""

import io
import re
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
from markupsafe import escape
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from credence.report import painting, plots, style
from credence.report.journal.layout import draw_heat, page_width
from credence.report.painting import bare_counts
from credence.report.plots import Plot
from credence.report.wording import count, printable, shortened

Floats = NDArray[np.float64]

# In inches, so that margins stay the same whatever a figure's height.
LEFT_IN, RIGHT_IN, BOTTOM_IN, TOP_IN, LEGEND_IN, GAP_IN = 0.62, 0.12, 0.5, 0.1, 0.24, 0.1
TALL_IN = 3.9  # of curves and reliability diagrams, legend and labels included
TWO_LINES = 0.46  # of a legend
SHARES_IN, CONFIDENCES_IN = 0.72, 0.42  # of the counts below them
DISTANCES_IN = 2.4
LINES_IN, HISTOGRAM_IN = 2.9, 2.6
MOST_ZONES = 6.0  # of the zone shaded: intervals that reach further are cut
WIDE_LINE, FAINT, AROUND = 4.0, 0.3, 0.04  # of intervals of arrows; of the axis beyond these
INCHES_PER_ROW = 0.24
INCHES_PER_CHARACTER = 0.072


def draw(plot: plots.Plot) -> Figure:
    """Return the drawing of a plot."""
    with mpl.rc_context(style.PAGE_STYLE):
        return DRAWERS[type(plot)](plot)


def _open(
    height: float,
    parts: Sequence[tuple[float, float]],
    left: float = LEFT_IN,
    right: float = RIGHT_IN,
) -> tuple[Figure, list[Any]]:
    """Return a figure and its axes, by the bottom and the height of each; all in inches."""
    figure = Figure(figsize=(style.WIDTH_IN, height))
    axes: list[Any] = []
    for bottom, tall in parts:
        wide = (style.WIDTH_IN - left - right) / style.WIDTH_IN
        box = (left / style.WIDTH_IN, bottom / height, wide, tall / height)
        axes.append(figure.add_axes(box, sharex=axes[0] if axes else None))
    for part in axes[:-1]:
        part.tick_params(labelbottom=False)
    return figure, axes


def _one(height: float, legend: float, top: float = TOP_IN) -> list[tuple[float, float]]:
    return [(BOTTOM_IN, height - BOTTOM_IN - top - legend)]


def _above(counts: float, legend: float) -> list[tuple[float, float]]:
    """Return where axes lie, and where counts below them do."""
    bottom = BOTTOM_IN + counts + GAP_IN
    return [(bottom, TALL_IN - bottom - TOP_IN - legend), (BOTTOM_IN, counts)]


def _legend(
    figure: Figure, axes: Any, n_columns: int, handle: float = 1.6, pad: float = 0.5
) -> None:
    handles, names = axes.get_legend_handles_labels()
    if handles:
        figure.legend(
            handles, names, loc="upper center", ncols=n_columns, borderaxespad=0.1,
            columnspacing=1.2, handlelength=handle, handletextpad=pad,
        )  # fmt: skip


def _draw_confidence(plot: plots.ConfidencePlot) -> Figure:
    names = [curve.method for curve in plot.curves]
    n_columns = _columns_of(names) if len(names) > 1 else 3
    n_lines = -(-len(names) // n_columns) if len(names) > 1 else 1
    figure, (axes, counts) = _open(TALL_IN, _above(SHARES_IN, LEGEND_IN * n_lines))
    painting.paint_confidence(axes, plot)
    axes.set_ylabel("confidence")
    painting.paint_counts(counts, plot)
    counts.set_xlabel("score of the predicted class")
    _legend(figure, axes, n_columns)
    return figure


def _draw_reliability(plot: plots.ReliabilityPlot) -> Figure:
    """Return a diagram; where it is known, above how many have which confidence."""
    is_one = len(plot.names) == 1
    legend = LEGEND_IN * (1 if is_one else 2)
    parts = _above(CONFIDENCES_IN, legend) if plot.counts else _one(TALL_IN, legend)
    figure, axes = _open(TALL_IN, parts)
    if plot.counts:
        edges = np.linspace(0.0, 1.0, len(plot.counts) + 1)
        axes[1].stairs(plot.counts, edges, fill=True, color=style.MUTED, alpha=0.55, linewidth=0)
        axes[1].set_ylim(0, max(plot.counts) * 1.05 or 1.0)
        bare_counts(axes[1])
    painting.paint_reliability(axes[0], plot)
    axes[0].set_ylabel(plot.upright)
    axes[-1].set_xlabel(plot.axis)
    _legend(figure, axes[0], 4 if is_one else 3)
    return figure


def _draw_lines(plot: plots.LinesPlot) -> Figure:
    names = [*plot.names, *(name for name, *_ in plot.points)]
    n_columns = _columns_of(names) if plot.points else 3
    n_lines = -(-len(names) // n_columns) if plot.points else 1
    height = LINES_IN + LEGEND_IN * (n_lines - 1)
    figure, (axes,) = _open(height, _one(height, LEGEND_IN * n_lines))
    painting.paint_lines(axes, plot)
    axes.set(xlabel=plot.axis, ylabel=plot.upright)
    _legend(figure, axes, n_columns)
    return figure


def _columns_of(names: list[str]) -> int:
    longest = max(len(name) for name in names) + 6
    wide = style.WIDTH_IN - RIGHT_IN - LEFT_IN / 2
    return max(1, min(len(names), int(wide / (longest * INCHES_PER_CHARACTER))))


def _ends_of_axis(plot: plots.ComparisonPlot) -> tuple[float, float]:
    """Return where the axis begins and ends, so that one bad number does not squeeze the rest."""
    value, lower, upper = (np.array(part) for part in (plot.value, plot.lower, plot.upper))
    if plot.has_arrows:
        every = np.stack([value, lower, upper])
        begin, end = np.nanmin(every) - AROUND, np.nanmax(every) + AROUND
        return max(0.0, float(begin)), min(1.0 + AROUND / 2, float(end))
    if plot.zone:
        furthest = float(np.nanmax(np.abs(np.stack([value, lower, upper]))))
        most = max(float(np.nanmax(np.abs(value))) * 1.1, MOST_ZONES * plot.zone)
        end = max(min(furthest * 1.05, most), 2.0 * plot.zone)
        return -end, end
    best = [np.nanmin(row) for row in value.T if not np.isnan(row).all()]
    bounds = np.where(np.isnan(upper), value, upper)
    return 0.0, float(min(np.nanmax(bounds) * 1.03, style.MOST_TIMES_BEST * max(best)))


BESIDE = 0.07  # of the axis, for a number


def _draw_series(
    axes: Any, plot: plots.ComparisonPlot, number: int, place: Floats, end: float
) -> None:
    """Draw one method; numbers beyond the axis as arrows that name them."""
    value, lower, upper = (
        np.array(numbers[number]) for numbers in (plot.value, plot.lower, plot.upper)
    )
    colour = style.colour_of(number)
    height = place + plot.offset(number)
    drawn, label = value <= end, shortened(printable(plot.methods[number]))
    marker = style.marker_of(number)
    if plot.has_arrows:
        marker = "|" if 0 < number < len(plot.methods) - 1 else "o"
        colour = style.INK if marker == "|" else style.colour_of(0)
    look: dict[str, Any] = {"color": colour, "linestyle": "none", "label": label}
    look |= {"marker": marker, "markersize": 9 if marker == "|" else 4}
    look |= {"markerfacecolor": style.PAPER} if plot.has_arrows and number == 0 else {}
    # By themselves: of a skewed bootstrap an interval need not hold the number.
    faint = {"linewidth": WIDE_LINE, "alpha": FAINT} if plot.has_arrows else {"linewidth": 1.0}
    axes.hlines(height[drawn], lower[drawn], upper[drawn], color=colour, **faint)
    axes.plot(value[drawn], height[drawn], **look)
    # Where earlier methods have a number there too, beside theirs: rows are too close for both.
    n_before = (np.array(plot.value)[:number] > end).sum(axis=0)
    for row in np.flatnonzero(value > end):
        axes.plot(end * 0.985, height[row], marker=">", color=colour, markersize=4)
        axes.text(
            end * (0.96 - BESIDE * n_before[row]), height[row], f"{value[row]:.2f}", ha="right",
            va="center", fontsize=style.SMALL_FONT - 1,
        )  # fmt: skip


def _draw_arrows(axes: Any, plot: plots.ComparisonPlot, place: Floats) -> None:
    for row, first, last in zip(place, plot.value[0], plot.value[-1], strict=True):
        if first != last:
            arrow = {"arrowstyle": "->", "color": style.INK, "linewidth": 1.2, "shrinkB": 0}
            axes.annotate("", (last, row), (first, row), arrowprops=arrow)


def _draw_comparison(plot: plots.ComparisonPlot) -> Figure:
    rows = [shortened(printable(row)) for row in plot.rows]
    left = 0.2 + INCHES_PER_CHARACTER * max(len(row) for row in rows)
    n_columns = _columns_of([shortened(name) for name in plot.methods])
    legend = LEGEND_IN * (-(-len(plot.methods) // n_columns)) if len(plot.methods) > 1 else 0.0
    per_row = INCHES_PER_ROW
    if not plot.has_arrows:
        per_row = max(per_row, 0.075 * len(plot.methods) + 0.06)
    height = BOTTOM_IN + TOP_IN + legend + per_row * len(rows)
    figure, (axes,) = _open(height, _one(height, legend), left)
    place = np.arange(len(rows), dtype=np.float64)
    start, end = _ends_of_axis(plot)
    if plot.zone:
        axes.axvspan(-plot.zone, plot.zone, color=style.SERIES[2], alpha=0.18, linewidth=0)
        axes.axvline(0.0, color=style.INK, linewidth=1.0)
    for number in range(len(plot.methods)):
        _draw_series(axes, plot, number, place, end)
    if plot.has_arrows:
        _draw_arrows(axes, plot, place)
    for boundary in place[:-1] + 0.5:
        axes.axhline(boundary, color=style.GRID_LINES, linewidth=0.6)
    axes.set_yticks(place, rows)
    axes.tick_params(axis="y", length=0)
    axes.grid(visible=False, axis="y")
    axes.set(ylim=(len(rows) - 0.5, -0.5), xlim=(start, end), xlabel=plot.axis)
    if len(plot.methods) > 1:
        _legend(figure, axes, n_columns)
    return figure


def _draw_histogram(plot: plots.HistogramPlot) -> Figure:
    figure, (axes,) = _open(HISTOGRAM_IN, _one(HISTOGRAM_IN, 0.0), 0.7)
    axes.stairs(plot.counts, plot.edges, fill=True, color=style.RIGHT_COLOUR, alpha=0.7)
    axes.set(xlim=(plot.edges[0], plot.edges[-1]), ylim=(0, None))
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    axes.yaxis.get_major_locator().set_params(integer=True)
    axes.set(xlabel=plot.axis, ylabel=f"{plot.unit}s")
    return figure


# Of the rows of the nearest proteins, in inches.
NEAREST_LEFT, NEAREST_RIGHT, NEAREST_TOP, NEAREST_ROW = 0.62, 0.95, 0.3, 0.26
TALLEST = 0.84  # of a row
NOTHING_ALIKE = "nothing alike"
END = 0.98  # of the width: right end of its column


def _draw_nearest(plot: plots.NearestPlot) -> Figure:
    n_rows = len(plot.names)
    height = BOTTOM_IN + NEAREST_TOP + NEAREST_ROW * max(n_rows, 1)
    left, wide = NEAREST_LEFT, style.WIDTH_IN - NEAREST_LEFT - NEAREST_RIGHT
    figure, (axes,) = _open(height, _one(height, 0.0, NEAREST_TOP), left, NEAREST_RIGHT)
    most = max((max(counts, default=0) for counts in plot.counts), default=0)
    rows = zip(range(n_rows - 1, -1, -1), plot.counts, plot.n_alone, strict=True)
    for row, counts, n_alone in rows:
        for low, high, number in zip(plot.edges[:-1], plot.edges[1:], counts, strict=True):
            if number:
                is_relative = low >= plot.threshold
                axes.bar(
                    low, number / most * TALLEST, width=high - low, bottom=row - 0.5,
                    align="edge", color=style.WRONG_COLOUR if is_relative else style.RIGHT_COLOUR,
                    alpha=0.75, linewidth=0,
                )  # fmt: skip
        axes.text(
            (END * style.WIDTH_IN - left) / wide, row, count(n_alone),
            transform=axes.get_yaxis_transform(), ha="right", va="center",
            fontsize=style.SMALL_FONT,
        )  # fmt: skip
    axes.axvline(plot.threshold, color=style.INK, linestyle="--", linewidth=1.0)
    axes.set(xlim=(plot.edges[0], plot.edges[-1]), ylim=(-0.5, n_rows - 0.5))
    axes.set_yticks(range(n_rows), [shortened(printable(name)) for name in plot.names[::-1]])
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="y", visible=False)
    axes.set_xlabel("identity of the nearest protein of another group")
    top = 1.0 - (NEAREST_TOP - 0.08) / height
    figure.text(END, top, NOTHING_ALIKE, ha="right", va="bottom", fontsize=style.SMALL_FONT)
    place = (left - 0.06) / style.WIDTH_IN
    figure.text(place, top, "group", ha="right", va="bottom", fontsize=style.SMALL_FONT)
    return figure


KNOWN, NEW, FLAGGED = style.SERIES[5], style.SERIES[4], style.SERIES[1]
MOST_TICKS = 5
HEIGHT_BESIDE = BOTTOM_IN + TOP_IN + TWO_LINES  # of a figure's height, beside its axes


def _draw_distances(plot: plots.DistancePlot) -> Figure:
    figure, (axes,) = _open(HEIGHT_BESIDE + DISTANCES_IN, [(BOTTOM_IN, DISTANCES_IN)])
    for name, counts, colour, is_filled in zip(
        plot.names, plot.counts, (KNOWN, NEW), (True, False), strict=True
    ):
        total = sum(counts)
        if total:
            shares = np.array(counts) / total
            axes.stairs(
                shares, plot.edges, fill=is_filled, color=colour if is_filled else style.INK,
                alpha=0.6 if is_filled else 1.0, linewidth=0.0 if is_filled else 1.2,
                label=f"{shortened(printable(name))}: {count(total)}",
            )  # fmt: skip
    axes.set(xlim=(plot.edges[0], plot.edges[-1]), ylim=(0, None))
    # Steps of 0.01 or more: longer numbers would push the label out of the picture.
    axes.yaxis.set_major_locator(MaxNLocator(MOST_TICKS, steps=[1, 2, 5, 10]))
    axes.set(ylabel="share of proteins", xlabel="how far from all known proteins")
    if np.isfinite(plot.flag):
        axes.axvline(min(plot.flag, plot.edges[-1]), color=FLAGGED, linestyle="--", linewidth=1.2)
    _legend(figure, axes, 2, handle=1.2, pad=0.4)
    return figure


DRAWERS: dict[type[Any], Callable[[Any], Figure]] = {
    plots.ConfidencePlot: _draw_confidence,
    plots.ReliabilityPlot: _draw_reliability,
    plots.ComparisonPlot: _draw_comparison,
    plots.Heat: lambda plot: draw_heat(plot, page_width(plot)),
    plots.LinesPlot: _draw_lines,
    plots.HistogramPlot: _draw_histogram,
    plots.NearestPlot: _draw_nearest,
    plots.DistancePlot: _draw_distances,
}

POINTS_PER_INCH = 72
GEOMETRY = re.compile(r' (d|x|y|transform)="([^"]*)"')
SVG_TAG = re.compile(r"<(?:[A-Za-z][^<>]*|/g)>")
COLOUR = re.compile(r"#[0-9a-f]{6}")
BEYOND_TENTHS = re.compile(r"([.][0-9])[0-9]+")


def to_svg(plot: Plot, name: str) -> str:
    """Return the drawing as an SVG element of a page: its colours, ids by name, nothing loaded."""
    with mpl.rc_context(style.PAGE_STYLE), warnings.catch_warnings():
        # A script that DejaVu lacks is measured as boxes, and shown by the browser's own font.
        warnings.filterwarnings("ignore", message="Glyph .* missing", category=UserWarning)
        buffer = io.StringIO()
        no_metadata = dict.fromkeys(("Date", "Creator", "Format", "Type"))
        figure = draw(plot)
        FigureCanvasSVG(figure).print_svg(buffer, metadata=no_metadata)
    return _embed(buffer.getvalue(), name).replace("<svg", f"<svg{_places(figure)}", 1)


def _places(figure: Figure) -> str:
    """Return where the first axes lie and from where to where they go, for scripts."""
    axes = figure.axes[0]
    width, height = figure.get_size_inches() * POINTS_PER_INCH
    box = axes.get_position()
    corners = (box.x0 * width, (1 - box.y1) * height, box.x1 * width, (1 - box.y0) * height)
    bounds = (*axes.get_xlim(), *axes.get_ylim())
    place, ends = (" ".join(f"{float(n):.6g}" for n in part) for part in (corners, bounds))
    lowest = figure.axes[-1] if figure.axes[-1].get_xlabel() else axes
    names = {"axis": lowest.get_xlabel(), "upright": axes.get_ylabel()}
    stated = "".join(f' data-{key}="{escape(name)}"' for key, name in names.items() if name)
    return f' data-box="{place}" data-ends="{ends}"{stated}'


def _rounded(match: re.Match[str]) -> str:
    """Return where something lies, to a tenth of a point and without needless spaces."""
    numbers = re.sub(r"[.]0(?![0-9])", "", BEYOND_TENTHS.sub(r"\1", match[2]))
    close = re.sub(r"\s*([A-Za-z])\s*", r"\1", numbers).strip()
    return f' {match[1]}="{close}"'


def _embed(svg: str, name: str) -> str:
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r"<!--.*?-->\s*", "", svg, flags=re.DOTALL)
    # The page has one stylesheet, which says this for all drawings.
    svg = re.sub(r"<defs>\s*<style.*?</style>\s*</defs>", "", svg, flags=re.DOTALL)
    svg = re.sub(r' (width|height)="[0-9.]+pt"', "", svg, count=2)
    used = sorted(set(re.findall(r'(?:url\(#|xlink:href="#)([^")]+)', svg)))
    ids = {old: f"{name}-{number}" for number, old in enumerate(used)}
    open_: list[bool] = []  # of the groups around: whether each is kept

    def in_tag(match: re.Match[str]) -> str:
        tag = re.sub(r' xmlns(:xlink)?="[^"]*"', "", match[0]).replace(" xlink:href=", " href=")
        tag = re.sub(r"font: ([0-9.]+px) [^;\"]*", r"font-size: \1", tag)
        tag = re.sub(r"font-family: [^;\"]*;? ?", "", tag)
        tag = re.sub(r' transform="rotate\(-?0 [^"]*"', "", GEOMETRY.sub(_rounded, tag))
        tag = re.sub(r' id="([^"]*)"', lambda m: f' id="{ids[m[1]]}"' if m[1] in ids else "", tag)
        tag = re.sub(r'(url\(#| href="#)([^")]+)', lambda m: m[1] + ids[m[2]], tag)
        tag = COLOUR.sub(lambda colour: style.THEME_VARIABLES.get(colour[0], colour[0]), tag)
        if tag == "</g>":
            return tag if open_.pop() else ""
        if tag.startswith("<g"):
            open_.append(tag != "<g>")
        return "" if tag == "<g>" else tag

    # Texts are left as they are: what looks like a colour in one is somebody's name.
    svg = re.sub(r"\n\s*", "\n", SVG_TAG.sub(in_tag, svg))
    return re.sub(r"\n+", "\n", svg).strip().replace("<svg", f"<svg {ARIA_HIDDEN}", 1)


ARIA_HIDDEN = 'aria-hidden="true" focusable="false"'
