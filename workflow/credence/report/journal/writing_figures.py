"""Figures for journals as files: their parts, their bytes in each format, their numbers."""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import repeat
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

from credence.findings import Bins
from credence.report import style
from credence.report.journal import layout
from credence.report.journal.all_figures import ClassPanel, PanelGrid, PanelPlot, RankPlot
from credence.report.journal.layout import draw_grid, draw_heat, fits, parts_of_grid
from credence.report.plots import ChangePlot, ConfidencePlot, Heat, LinesPlot, ReliabilityPlot

NAN = float("nan")
COLUMNS = ("class", "what", "series", "x", "x_end", "value", "lower", "upper", "n")
Row = tuple[str, str, float, float, float, float, float, str]


def columns_of(body: PanelGrid | Heat) -> dict[str, list[Any]]:
    """Return the columns of a table; a number that is not known is NaN, a count ''."""
    if isinstance(body, Heat):
        cells = [
            (true, predicted, value)
            for true, row in zip(body.names, body.values, strict=True)
            for predicted, value in zip(body.names, row, strict=True)
        ]
        names: tuple[str, ...] = ("true_class", "predicted_class", body.key)
        return _turned(names, cells)
    rows = [(panel.title, *row) for panel in body.panels for row in _rows(panel.plot)]
    return _turned(COLUMNS, rows)


def _turned(names: tuple[str, ...], rows: list[Any]) -> dict[str, list[Any]]:
    return {name: [row[at] for row in rows] for at, name in enumerate(names)}


def _rows(plot: PanelPlot) -> Iterator[Row]:
    if isinstance(plot, ConfidencePlot):
        yield from _confidence(plot)
    elif isinstance(plot, ReliabilityPlot):
        yield from _reliability(plot)
    elif isinstance(plot, LinesPlot):
        for name, series in zip(plot.names, plot.series, strict=True):
            yield from _line("line", name, plot.x, series)
    elif isinstance(plot, RankPlot):
        numbers = zip(plot.methods, plot.value, plot.lower, plot.upper, plot.n, strict=True)
        for method, value, lower, upper, n in numbers:
            yield ("held-out NLL", method, NAN, NAN, value, lower, upper, str(n))
    else:
        yield from _change(plot)


def _line(
    what: str, series: str, x: Sequence[float], value: Sequence[float],
    lower: Iterable[float] = repeat(NAN), upper: Iterable[float] = repeat(NAN),
) -> Iterator[Row]:  # fmt: skip
    for at, stated, low, high in zip(x, value, lower, upper, strict=False):
        yield (what, series, at, NAN, stated, low, high, "")


def _reliability(plot: ReliabilityPlot) -> Iterator[Row]:
    for name, bins in zip(plot.names, plot.bins, strict=True):
        yield from _bins("share right", name, bins)
    edges = plot.bins[0].edges
    bounds = zip(edges[:-1], edges[1:], plot.band_lower, plot.band_upper, strict=False)
    for low, high, lower, upper in bounds:
        yield ("by chance", "", low, high, NAN, lower, upper, "")
    places = [(at + 0.5) / len(plot.curve) for at in range(len(plot.curve))]
    yield from _line("smoothed", plot.names[0], places, plot.curve)


def _bins(what: str, series: str, bins: Bins) -> Iterator[Row]:
    for k, n in enumerate(bins.n):
        yield (
            what, series, bins.edges[k], bins.edges[k + 1], bins.share[k], bins.lower[k],
            bins.upper[k], str(n),
        )  # fmt: skip


def _confidence(plot: ConfidencePlot) -> Iterator[Row]:
    for curve in plot.curves:
        points = zip(curve.score, curve.value, curve.lower, curve.upper, strict=True)
        for x, value, lower, upper in points:
            is_seen = plot.score_min <= x <= plot.score_max
            what = "confidence" if is_seen or not curve.is_function else "confidence beyond"
            yield (what, curve.method, x, NAN, value, lower, upper, "")
    yield ("class only", "", NAN, NAN, plot.share, NAN, NAN, "")
    yield from _bins("share right", "", plot.histogram.shares)
    yield from _counts("right", "", plot.histogram.edges, plot.histogram.n_correct)
    yield from _counts("wrong", "", plot.histogram.edges, plot.histogram.n_wrong)


def _counts(
    what: str, series: str, edges: tuple[float, ...], counts: tuple[int, ...]
) -> Iterator[Row]:
    for low, high, n in zip(edges[:-1], edges[1:], counts, strict=True):
        yield (what, series, low, high, NAN, NAN, NAN, str(n))


def _change(plot: ChangePlot) -> Iterator[Row]:
    found = plot.found
    for name, curve in zip(plot.names, plot.curves, strict=True):
        yield from _line("confidence", name, found.grid, *curve)
    yield from _line("at old shares of the classes", plot.names[1], found.grid, found.fixed)
    for what, both in plot.counts.items():
        for name, counts in zip(plot.names, both, strict=True):
            if found.edges:
                yield from _counts(what, name, found.edges, counts)


# What says when and by what a file was made is left out: same numbers, same bytes.
METADATA: dict[str, dict[str, None]] = {
    "pdf": dict.fromkeys(("CreationDate", "Creator", "Producer")),
    "svg": dict.fromkeys(("Date", "Creator")),
    "png": {"Software": None},
}
FORMATS = tuple(METADATA)
DPI = 300
SIMULATED = "simulated data"


@dataclass(frozen=True)
class Drawing:
    """One drawing of a figure: of one width, at most a page tall."""

    suffix: str  # End of its file's name: ``174mm``, or ``174mm-2`` for a second part
    width: int  # In millimetres
    panels: tuple[ClassPanel, ...] = ()  # Those drawn; none for a matrix


def parts_of(
    body: PanelGrid | Heat, widths: Iterable[int] = layout.WIDTHS_MM
) -> tuple[Drawing, ...]:
    """Return the drawings of a figure; a matrix only where it can be read."""
    found: list[Drawing] = []
    with _in_style():
        for width in widths:
            if isinstance(body, Heat):
                found += [Drawing(f"{width}mm", width)] if fits(body, width) else []
                continue
            divided = parts_of_grid(body, width)
            for number, panels in enumerate(divided, start=1):
                ending = f"-{number}" if len(divided) > 1 else ""
                found.append(Drawing(f"{width}mm{ending}", width, panels))
    return tuple(found)


def drawing(body: PanelGrid | Heat, part: Drawing, *, is_simulated: bool) -> Figure:
    """Return the drawing of a part."""
    with _in_style():
        if isinstance(body, Heat):
            figure = draw_heat(body, part.width)
        else:
            figure = draw_grid(body, part.panels, part.width)
        if is_simulated:
            figure.text(
                1 - 0.5 / part.width, 0.004, SIMULATED, ha="right", va="bottom",
                fontsize=layout.TINY, color=style.MUTED,
            )  # fmt: skip
    return figure


def rendered(figure: Figure, format_: str) -> bytes:
    """Return a drawing's bytes, the same for the same numbers."""
    buffer = io.BytesIO()
    with _in_style():
        figure.savefig(buffer, format=format_, dpi=DPI, metadata=METADATA[format_])
    return buffer.getvalue()


@contextmanager
def _in_style() -> Iterator[None]:
    """Set the style of print, and say nothing of letters that the font lacks."""
    with mpl.rc_context(layout.SETTINGS), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing", category=UserWarning)
        yield
