"""Drawing of a matrix of classes."""

from __future__ import annotations

import math

import numpy as np
from matplotlib.colors import LinearSegmentedColormap, LogNorm, Normalize
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator

from credence.report import style
from credence.report.sheets import measures
from credence.report.sheets.measures import MM_PER_INCH, POINTS_PER_MM, SMALL
from credence.report.sheets.record import Heat

# All in millimetres.
LABEL, KEY, EDGE, LARGEST = 5.0, 13.0, 4.0, 14.0
NUMBERS = 4.6  # cells at least this wide hold their number
SMALLEST = 4.5  # points: smaller text is not printed
OF_CELL = 0.82  # height of a label, of its cell
MOST_SHOWN = 0.005  # smaller shares are left blank
DARK = 0.55
FAINTEST = 0.5  # of the colours of counts: a single protein is not white
DECADES = 12  # in the key of counts, at most
# Light to dark in one hue, so that it reads without colours too.
COLOURS = LinearSegmentedColormap.from_list(
    "credence", [measures.PAPER, style.SERIES[5], style.SERIES[0], "#00304d"]
)


def _sizes(heat: Heat, width: int) -> tuple[float, float, float]:
    """Return the size of the text in points, and of labels and cells in millimetres."""
    names, n = measures.labels(heat.names), len(heat.names)
    points = SMALL
    for _ in range(2):  # labels and cells depend on each other a little
        label = max(measures.width_mm(name, points) for name in names) + 1.5
        cell = min((width - LABEL - label - KEY - EDGE) / n, LARGEST)
        points = min(SMALL, max(cell * POINTS_PER_MM * OF_CELL, 1.0))
    return points, label, cell


def fits(heat: Heat, width: int) -> bool:
    """Return whether the matrix can be read at a width.

    Parameters
    ----------
    heat : Heat
        What is drawn.
    width : int
        In millimetres.
    """
    return _sizes(heat, width)[0] >= SMALLEST


def draw_heat(heat: Heat, width: int) -> Figure:
    """Return the drawing of a matrix.

    Parameters
    ----------
    heat : Heat
        What is drawn.
    width : int
        In millimetres.
    """
    points, label, cell = _sizes(heat, width)
    names, n = measures.labels(heat.names), len(heat.names)
    side = cell * n
    height = LABEL + label + side + EDGE
    left = LABEL + label + (width - LABEL - label - KEY - EDGE - side) / 2
    figure = Figure(figsize=(width / MM_PER_INCH, height / MM_PER_INCH))
    axes = figure.add_axes((left / width, EDGE / height, side / width, side / height))
    values = np.array(heat.values, dtype=np.float64)
    shown = values[~np.isnan(values)]
    norm = (
        LogNorm(FAINTEST, max(float(shown.max(initial=0.0)), 2.0))
        if heat.is_count
        else Normalize(0, 1)
    )
    drawn = np.ma.masked_where(np.isnan(values) | (heat.is_count & (values < 1)), values)
    mesh = axes.pcolormesh(drawn, cmap=COLOURS, norm=norm, edgecolors="face", linewidth=0.05)
    if cell >= NUMBERS:
        for (row, column), value in np.ndenumerate(values):
            axes.text(
                column + 0.5, row + 0.5, _cell(value, heat.is_count), ha="center", va="center",
                fontsize=min(points, _size_of_numbers(values, heat.is_count, cell)),
                color=measures.PAPER if _is_dark(norm, value) else style.INK,
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
    figure.text((left + side / 2) / width, top, "predicted", ha="center", va="top")
    figure.text(
        (left - label - 1) / width, (EDGE + side / 2) / height, "truly", rotation=90,
        ha="right", va="center",
    )  # fmt: skip
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


def _size_of_numbers(values: np.ndarray, is_count: bool, cell: float) -> float:
    longest = max((_cell(value, is_count) for value in values.flat), key=len)
    return measures.TINY * min(
        1.2, 0.85 * cell / max(measures.width_mm(longest, measures.TINY), 1)
    )


def _is_dark(norm: Normalize, value: float) -> bool:
    return not math.isnan(value) and value > 0 and float(norm(value)) > DARK
