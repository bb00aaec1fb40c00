"""Sheets as files: their parts, their bytes in each format, their numbers."""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import matplotlib as mpl
from matplotlib.figure import Figure

from credence.report import style
from credence.report.sheets import measures
from credence.report.sheets.grid import draw_grid, parts_of_grid
from credence.report.sheets.heat import draw_heat, fits
from credence.report.sheets.numbers import columns_of as columns_of
from credence.report.sheets.record import Grid, Heat, Panel

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
class Part:
    """One drawing of a sheet: of one width, at most a page tall.

    Parameters
    ----------
    suffix : str
        What its file's name ends in: ``174mm``, or ``174mm-2`` for a second part.
    width : int
        In millimetres.
    panels : tuple of Panel
        Those drawn; none for a matrix.
    """

    suffix: str
    width: int
    panels: tuple[Panel, ...] = ()


def parts_of(body: Grid | Heat, widths: Iterable[int] = measures.WIDTHS_MM) -> tuple[Part, ...]:
    """Return the drawings of a sheet; a matrix only where it can be read.

    Parameters
    ----------
    body : Grid or Heat
        What is drawn.
    widths : iterable of int
        In millimetres.
    """
    found: list[Part] = []
    with _in_style():
        for width in widths:
            if isinstance(body, Heat):
                found += [Part(f"{width}mm", width)] if fits(body, width) else []
                continue
            divided = parts_of_grid(body, width)
            for number, panels in enumerate(divided, start=1):
                ending = f"-{number}" if len(divided) > 1 else ""
                found.append(Part(f"{width}mm{ending}", width, panels))
    return tuple(found)


def drawing(body: Grid | Heat, part: Part, *, is_simulated: bool) -> Figure:
    """Return the drawing of a part.

    Parameters
    ----------
    body : Grid or Heat
        What is drawn.
    part : Part
        Of :func:`parts_of`.
    is_simulated : bool
        Whether the drawing says so.
    """
    with _in_style():
        if isinstance(body, Heat):
            figure = draw_heat(body, part.width)
        else:
            figure = draw_grid(body, part.panels, part.width)
        if is_simulated:
            figure.text(
                1 - 0.5 / part.width, 0.004, SIMULATED, ha="right", va="bottom",
                fontsize=measures.TINY, color=style.MUTED,
            )  # fmt: skip
    return figure


def rendered(figure: Figure, format_: str) -> bytes:
    """Return a drawing's bytes, the same for the same numbers.

    Parameters
    ----------
    figure : Figure
        Of :func:`drawing`.
    format_ : {'pdf', 'svg', 'png'}
        What is made of it.
    """
    buffer = io.BytesIO()
    with _in_style():
        figure.savefig(buffer, format=format_, dpi=DPI, metadata=METADATA[format_])
    return buffer.getvalue()


@contextmanager
def _in_style() -> Iterator[None]:
    """Set the style of print, and say nothing of letters that the font lacks."""
    with mpl.rc_context(measures.SETTINGS), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing", category=UserWarning)
        yield
