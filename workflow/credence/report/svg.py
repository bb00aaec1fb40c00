"""Drawings as elements of a page: its colours, its fonts, ids of their own."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterable

import matplotlib as mpl
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from credence.report import style
from credence.report.figures import draw
from credence.report.plots import Plot

POINTS_PER_INCH = 72
GEOMETRY = re.compile(r' (d|x|y|transform)="([^"]*)"')
TAG = re.compile(r"<[A-Za-z][^<>]*>")
COLOUR = re.compile(r"#[0-9a-f]{6}")
DECIMALS = re.compile(r"([.][0-9]{2})[0-9]+")


def to_svg(plot: Plot, name: str) -> str:
    """Return the drawing as an SVG element to stand inside a page.

    Its colours are the page's variables, its ids begin with its name, and it
    loads nothing.
    """
    with mpl.rc_context(style.SETTINGS), warnings.catch_warnings():
        # A script that DejaVu lacks is measured as boxes, and shown by the browser's own font.
        warnings.filterwarnings("ignore", message="Glyph .* missing", category=UserWarning)
        buffer = io.StringIO()
        no_metadata = dict.fromkeys(("Date", "Creator", "Format", "Type"))
        figure = draw(plot)
        FigureCanvasSVG(figure).print_svg(buffer, metadata=no_metadata)
    return _embed(buffer.getvalue(), name).replace("<svg", f"<svg{_places(figure)}", 1)


def _places(figure: Figure) -> str:
    """Return where the first axes lie in the drawing, and from where to where they go.

    So that a script finds the number under a pointer, and draws in the same place.
    """
    axes = figure.axes[0]
    width, height = figure.get_size_inches() * POINTS_PER_INCH
    box = axes.get_position()
    corners = (box.x0 * width, (1 - box.y1) * height, box.x1 * width, (1 - box.y0) * height)
    bounds = (*axes.get_xlim(), *axes.get_ylim())
    return f' data-box="{_joined(corners)}" data-ends="{_joined(bounds)}"'


def _joined(numbers: Iterable[float]) -> str:
    return " ".join(f"{float(number):.6g}" for number in numbers)


def _two_decimals(match: re.Match[str]) -> str:
    numbers = DECIMALS.sub(r"\1", match[2])
    return f' {match[1]}="{numbers}"'


def _embed(svg: str, name: str) -> str:
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r"<!--.*?-->\s*", "", svg, flags=re.DOTALL)
    # The page has one stylesheet, which says this for all drawings.
    svg = re.sub(r"<defs>\s*<style.*?</style>\s*</defs>", "", svg, flags=re.DOTALL)
    svg = re.sub(r' (width|height)="[0-9.]+pt"', "", svg, count=2)
    used = set(re.findall(r'(?:url\(#|xlink:href="#)([^")]+)', svg))

    def in_tag(match: re.Match[str]) -> str:
        tag = re.sub(r' xmlns(:xlink)?="[^"]*"', "", match[0])
        tag = re.sub(r"font: ([0-9.]+px) [^;\"]*", r"font-size: \1", tag)
        tag = re.sub(r"font-family: [^;\"]*;? ?", "", tag)
        tag = GEOMETRY.sub(_two_decimals, tag)
        tag = re.sub(
            r' id="([^"]*)"',
            lambda found: f' id="{name}-{found[1]}"' if found[1] in used else "",
            tag,
        )
        tag = re.sub(r'(url\(#|xlink:href="#)', rf"\g<1>{name}-", tag)
        return COLOUR.sub(lambda found: style.THEME_VARIABLES.get(found[0], found[0]), tag)

    # Texts are left as they are: what looks like a colour in one is somebody's name.
    svg = TAG.sub(in_tag, svg)
    svg = re.sub(r"\n\s*", "\n", svg)
    return svg.strip().replace("<svg", '<svg aria-hidden="true" focusable="false"', 1)
