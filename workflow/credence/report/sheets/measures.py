"""Sizes in millimetres and points, and the style of print."""

from __future__ import annotations

from functools import cache
from typing import Any

from matplotlib.font_manager import FontProperties, findfont, get_font

from credence.report import style
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
    """Return how wide a text is.

    Parameters
    ----------
    text : str
        One line.
    points : float
        Size of its font.
    """
    font = get_font(findfont(FontProperties(family="DejaVu Sans")))
    font.set_size(points, 72)
    font.set_text(text, 0.0)
    return float(font.get_width_height()[0]) / 64 / POINTS_PER_MM


def wrapped(text: str, points: float, wide: float) -> tuple[str, ...]:
    """Return the lines of a text, none wider than asked for; words break if they must.

    Parameters
    ----------
    text : str
        For example the name of a class.
    points : float
        Size of its font.
    wide : float
        In millimetres.
    """
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
    """Return names short enough for an axis; numbered where that makes some alike.

    Examples
    --------
    >>> labels(("a" * 30 + "1", "a" * 30 + "2"))[0]
    '1 aaaaaaaaaaaaaaaaaaaaa…'
    """
    short = tuple(shortened(printable(name)) for name in names)
    if len(set(short)) == len(short):
        return short
    return tuple(
        f"{number} {name[: MOST_SHORT - 3].rstrip('…')}…" for number, name in enumerate(short, 1)
    )


def legend_columns(names: list[str], wide: float) -> int:
    """Return how many entries of a legend fit side by side.

    Parameters
    ----------
    names : list of str
        Their texts.
    wide : float
        In millimetres.
    """
    handle = 8.0
    longest = max(width_mm(name, SMALL) for name in names) + handle
    return max(1, min(len(names), int(wide / longest)))
