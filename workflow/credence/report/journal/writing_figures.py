"""Figures for journals as files: their parts, their bytes in each format, their numbers."""

import io
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

from credence.findings import FigureRecord
from credence.report import style
from credence.report.journal import layout
from credence.report.journal.layout import draw_grid, draw_heat, fits, letter, parts_of_grid
from credence.report.plots import Heat

NAN = float("nan")
FIGURE_COLUMNS = ("panel", "title", "series", "kind", "x", "x_end", "value", "lower", "upper", "n")
KINDS_OF_INTERVALS = ("bars", "steps", "dashed steps")  # kinds whose values are of intervals of x


def figure_columns(record: FigureRecord) -> dict[str, list[Any]]:
    """Return the columns of a table; a number that is not known is NaN, a count ''."""
    rows: list[tuple[Any, ...]] = []
    names: tuple[str, ...] = FIGURE_COLUMNS
    if record.matrix:
        names = ("true_class", "predicted_class", record.key)
        rows = [
            (true, predicted, value)
            for true, row in zip(record.names, record.matrix, strict=True)
            for predicted, value in zip(record.names, row, strict=True)
        ]
    for at, panel in enumerate(record.panels):
        for series in panel.series:
            head = (letter(at), panel.title, series.name, series.kind)
            stops = series.x[1:] if series.kind in KINDS_OF_INTERVALS else ()
            starts = series.x[: len(series.y)]
            numbers = zip_longest(
                starts, stops, series.y, series.lower, series.upper, fillvalue=NAN
            )
            counts = (*map(str, series.n), *[""] * (len(starts) - len(series.n)))
            lines = [(*head, *five, n) for five, n in zip(numbers, counts, strict=True)]
            rows += lines or [(*head, *(NAN,) * 5, "")]
    return {name: [row[at] for row in rows] for at, name in enumerate(names)}


# What says when and by what a file was made is left out: same numbers, same bytes.
NO_METADATA: dict[str, dict[str, None]] = {
    "pdf": dict.fromkeys(("CreationDate", "Creator", "Producer")),
    "svg": dict.fromkeys(("Date", "Creator")),
    "png": {"Software": None},
}
FIGURE_FORMATS = tuple(NO_METADATA)
DPI = 300
SIMULATED = "simulated data"


@dataclass(frozen=True, kw_only=True)
class Drawing:
    """One drawing of a figure: of one width, at most a page tall."""

    suffix: str  # End of its file's name: ``174mm``, or ``174mm-2`` for a second part
    width: int  # In millimetres
    panels: range = range(0)  # Which are drawn; none for a matrix


def heat_of(record: FigureRecord) -> Heat:
    """Return the matrix of a figure."""
    is_count = record.key != "share"
    return Heat(
        names=record.names,
        values=record.matrix,
        key=record.key if is_count else "percent",
        is_count=is_count,
    )


def parts_of(
    record: FigureRecord, widths: Iterable[int] = layout.WIDTHS_MM
) -> tuple[Drawing, ...]:
    """Return the drawings of a figure; a matrix only where it can be read."""
    drawings: list[Drawing] = []
    with _in_style():
        for width in widths:
            if record.matrix:
                drawings += (
                    [Drawing(suffix=f"{width}mm", width=width)]
                    if fits(heat_of(record), width)
                    else []
                )
                continue
            divided = parts_of_grid(record, width)
            for number, panels in enumerate(divided, start=1):
                ending = f"-{number}" if len(divided) > 1 else ""
                drawings.append(Drawing(suffix=f"{width}mm{ending}", width=width, panels=panels))
    return tuple(drawings)


def drawing(record: FigureRecord, part: Drawing, *, is_simulated: bool) -> Figure:
    """Return the drawing of a part."""
    with _in_style():
        if record.matrix:
            heat = heat_of(record)
            figure = draw_heat(heat, part.width, is_marked=not heat.is_count)
            head = f"({record.number[-1]}) {heat.key}"
            figure.text(1 / part.width, 0.995, head, va="top", fontsize=layout.FONT_PT)
        else:
            figure = draw_grid(record, part.panels, part.width)
        if is_simulated:  # of a matrix the key is at the right
            x, side = (0.5, "left") if record.matrix else (part.width - 0.5, "right")
            figure.text(
                x / part.width, 0.004, SIMULATED, ha=side, va="bottom",
                fontsize=layout.TINY_PT, color=style.MUTED,
            )  # fmt: skip
    return figure


def rendered(figure: Figure, format_: str) -> bytes:
    """Return a drawing's bytes, the same for the same numbers."""
    buffer = io.BytesIO()
    with _in_style():
        figure.savefig(buffer, format=format_, dpi=DPI, metadata=NO_METADATA[format_])
    return buffer.getvalue()


@contextmanager
def _in_style() -> Iterator[None]:
    """Set the style of print, and say nothing of letters that the font lacks."""
    with mpl.rc_context(layout.JOURNAL_STYLE), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing", category=UserWarning)
        yield
