"""Colours and sizes of every figure; the page turns each colour into one of its theme.

The series are Okabe and Ito's, which colour-blind readers tell apart.
"""

from typing import Any

INK = "#1a1b1c"
MUTED = "#6a6b6c"
GRID_LINES = "#d7d8d9"
PAPER = "#fdfcfb"
SERIES = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
MARKERS = ("o", "s", "D", "^", "v", "P")
LINE_STYLES = ("-", "--", "-.", ":")

RIGHT_COLOUR = SERIES[0]
WRONG_COLOUR = SERIES[1]

THEME_VARIABLES: dict[str, str] = {
    INK: "var(--ink)",
    MUTED: "var(--muted)",
    GRID_LINES: "var(--grid)",
    PAPER: "var(--paper)",
    **{colour: f"var(--series-{number})" for number, colour in enumerate(SERIES, start=1)},
}

WIDTH_IN = 4.7  # 338 points: readable on a telephone of 360 px at its own size
FONT_SIZE = 9.6  # 12 pixels where a figure has its full width, 420 pixels
SMALL_FONT = 9.0  # 11 pixels there
MOST_TIMES_BEST = 3.0  # numbers further out than this, of the worst row, are drawn as arrows

PAGE_STYLE: dict[str, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "credence",
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "grid.color": GRID_LINES,
    "lines.linewidth": 1.6,
    **dict.fromkeys(("font.size", "axes.labelsize", "axes.titlesize"), FONT_SIZE),
    **dict.fromkeys(("xtick.labelsize", "ytick.labelsize", "legend.fontsize"), SMALL_FONT),
    **dict.fromkeys(("axes.edgecolor", "xtick.color", "ytick.color"), MUTED),
    **dict.fromkeys(
        ("text.color", "axes.labelcolor", "xtick.labelcolor", "ytick.labelcolor"), INK
    ),
    **dict.fromkeys(("grid.linewidth", "axes.linewidth"), 0.6),
    **dict.fromkeys(("axes.facecolor", "figure.facecolor", "savefig.facecolor"), "none"),
    **dict.fromkeys(("axes.grid", "axes.axisbelow"), True),
    **dict.fromkeys(("axes.spines.top", "axes.spines.right", "legend.frameon"), False),
    **dict.fromkeys(("path.simplify", "text.parse_math"), False),
}


def colour_of(number: int) -> str:
    """Return the colour of a series; after the last the first comes again."""
    return SERIES[number % len(SERIES)]


def marker_of(number: int) -> str:
    """Return the marker of a series."""
    return MARKERS[number % len(MARKERS)]


def line_of(number: int) -> str:
    """Return the line style of a series: another one in each round of colours."""
    return (
        LINE_STYLES[(number // len(SERIES)) % len(LINE_STYLES)] if number >= len(SERIES) else "-"
    )
