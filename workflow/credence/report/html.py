"""The page: one file of HTML that loads nothing and runs only its own scripts."""

import base64
import hashlib
import json
import math
import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from importlib import resources
from itertools import pairwise
from typing import Any

import jinja2
import numpy as np
from markupsafe import Markup

from credence.findings import Findings, Provenance
from credence.problems import plural
from credence.progress import each
from credence.records import to_record
from credence.report import plots
from credence.report.blocks import Section, kind_of
from credence.report.figures import to_svg
from credence.report.sections.all_sections import sections_of
from credence.report.wording import count, loss, printable, score, share, with_interval

# Files of scripts/, in the order in which they stand on the page: the first before
# anything is drawn, the next holds what the others share.
SCRIPTS = ("begin", "page", "tables", "proteins", "figures")

HTML_TAG = re.compile(r"<[A-Za-z][^<>]*>")
STYLE_ATTRIBUTE = re.compile(r' style="([^"]*)"')
# What closes a script or begins a comment, and line breaks that only JavaScript knows.
UNSAFE_IN_SCRIPTS = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&\u2028\u2029"}


@cache
def scripts() -> tuple[Markup, ...]:
    """Return the texts of the scripts, in order."""
    folder = resources.files("credence.report") / "scripts"
    texts = tuple((folder / f"{name}.js").read_text(encoding="utf-8") for name in SCRIPTS)
    for name, text in zip(SCRIPTS, texts, strict=True):
        assert not re.search(r"</script|<!--|<script", text, re.IGNORECASE), name
    return tuple(Markup(text) for text in texts)


def policy(stylesheet: str, scripts: tuple[str, ...]) -> str:
    """Return the Content-Security-Policy of a page with one stylesheet."""
    allowed = " ".join(_source(text) for text in scripts) or "'none'"
    return (
        f"default-src 'none'; script-src {allowed}; style-src {_source(stylesheet)}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def _source(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"


def data_text(value: Any) -> Markup:
    """Return data as JSON that can stand inside a script element; NaN is null."""
    text = json.dumps(to_record(value), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return Markup(text.translate(UNSAFE_IN_SCRIPTS))


def gather_styles(body: str) -> tuple[Markup, Markup]:
    """Return the body with classes for style attributes, which the policy bars, and rules."""
    classes: dict[str, str] = {}

    def as_class(match: re.Match[str]) -> str:
        name = f"d{len(classes)}"
        text = match[1].strip()
        return f' class="{classes.setdefault(text, name)}"' if text else ""

    changed = HTML_TAG.sub(lambda tag: STYLE_ATTRIBUTE.sub(as_class, tag[0]), body)
    rules = "\n".join(f".{name} {{ {text} }}" for text, name in classes.items())
    return Markup(changed), Markup(rules)


PLACE_DECIMALS = 5  # of places
MOST_ON_CURVE = 101  # per curve; a pointer is not finer

Point = tuple[float, float, str]


def points_of(plot: plots.Plot) -> tuple[Point, ...]:
    """Return place and words of each point, in the units of the axes."""
    points = POINTS_OF[type(plot)](plot) if type(plot) in POINTS_OF else ()
    return tuple(
        (round(x, PLACE_DECIMALS), round(y, PLACE_DECIMALS), text) for x, y, text in points
    )


def _thinned(x: Sequence[float], least: float = -math.inf, most: float = math.inf) -> list[int]:
    """Return the places of what lies between, or of every second of them, or third."""
    seen = [k for k, at in enumerate(x) if least <= at <= most]
    return seen[:: max(1, -(-len(seen) // MOST_ON_CURVE))]


def _on_curve(plot: plots.ConfidencePlot) -> Iterator[Point]:
    curve, shares = plot.curves[0], plot.histogram.shares
    for k in _thinned(curve.score, plot.score_min, plot.score_max):
        at, value = curve.score[k], curve.value[k]
        if math.isnan(value):
            continue
        bin_ = min(max(int(np.searchsorted(shares.edges, at)) - 1, 0), len(shares.n) - 1)
        low, high = (score(edge, plot.scale) for edge in shares.edges[bin_ : bin_ + 2])
        near = f"{plural(shares.n[bin_], 'protein')} with scores of {low} to {high}"
        if shares.n[bin_]:
            near += f", {count(shares.n_correct[bin_])} right"
        stated = with_interval(value, curve.lower[k], curve.upper[k])
        yield at, value, f"Score {score(at, plot.scale)}: {stated}. {near}."


def _on_reliability(plot: plots.ReliabilityPlot) -> Iterator[Point]:
    for name, bins in zip(plot.names, plot.bins, strict=True):
        begin = f"{name}, " if len(plot.names) > 1 else ""
        for k in np.flatnonzero(bins.n):
            mean, right, n = bins.mean[k], bins.share[k], bins.n_clusters[k]
            families = f" in {plural(n, 'family', 'families')}" if n < bins.n[k] else ""
            stated = with_interval(right, bins.lower[k], bins.upper[k])
            text = (
                f"{begin}confidence {share(mean)}: right {stated}, {plural(bins.n[k], 'protein')}"
            )
            yield mean, right, f"{text}{families}."


def _on_comparison(plot: plots.ComparisonPlot) -> Iterator[Point]:
    digits, sign = (1, "+") if plot.zone else (3, "")
    for number, method in enumerate(plot.methods):
        for row, name in enumerate(plot.rows):
            value = plot.value[number][row]
            if not math.isnan(value):
                bounds = plot.lower[number][row], plot.upper[number][row]
                stated = loss(value, *bounds, digits, sign)
                yield value, row + plot.offset(number), f"{name}, {method}: {stated}."


def _on_heat(plot: plots.Heat) -> Iterator[Point]:
    for row, (true, counts) in enumerate(zip(plot.names, plot.counts, strict=True)):
        for column, (predicted, n) in enumerate(zip(plot.names, counts, strict=True)):
            if n:
                text = f"truly {true}, predicted {predicted}: {plural(n, 'protein')}"
                yield column + 0.5, row + 0.5, f"{text} ({share(plot.values[row][column])})."


def _on_lines(plot: plots.LinesPlot) -> Iterator[Point]:
    for name, values in zip(plot.names, plot.series, strict=True):
        for k in _thinned(plot.x):
            if not math.isnan(values[k]):
                yield plot.x[k], values[k], f"{name}, at {plot.x[k]:.3g}: {share(values[k])}."


def _on_histogram(plot: plots.HistogramPlot) -> Iterator[Point]:
    for (low, high), n in zip(pairwise(plot.edges), plot.counts, strict=True):
        text = f"{plot.axis} {low:.2f} to {high:.2f}: {plural(n, plot.unit)}."
        yield (low + high) / 2, float(n), text


def _on_distances(plot: plots.DistancePlot) -> Iterator[Point]:
    for name, counts in zip(plot.names, plot.counts, strict=True):
        for (low, high), n in zip(pairwise(plot.edges), counts, strict=True):
            if n:
                text = f"{name}, distance {low:.2f} to {high:.2f}: {plural(n, 'protein')}."
                yield (low + high) / 2, n / sum(counts), text


def _on_nearest(plot: plots.NearestPlot) -> Iterator[Point]:
    for row, (name, counts) in enumerate(zip(plot.names[::-1], plot.counts[::-1], strict=True)):
        for (low, high), n in zip(pairwise(plot.edges), counts, strict=True):
            if n:
                text = f"{name}, identity {low:.2f} to {high:.2f}: {plural(n, 'protein')}."
                yield (low + high) / 2, float(row), text


POINTS_OF: dict[type[Any], Callable[[Any], Iterator[Point]]] = {
    plots.ConfidencePlot: _on_curve,
    plots.ReliabilityPlot: _on_reliability,
    plots.ComparisonPlot: _on_comparison,
    plots.LinesPlot: _on_lines,
    plots.Heat: _on_heat,
    plots.HistogramPlot: _on_histogram,
    plots.DistancePlot: _on_distances,
    plots.NearestPlot: _on_nearest,
}


def small_paths(plot: plots.ReliabilityPlot) -> list[tuple[str, str]]:
    """Return a small diagram's paths: the band of chance, bins near the diagonal, and others."""
    paths = {"band": "", "near": "", "off": "", "near dot": "", "off dot": ""}
    if plot.band_lower:
        edges = pairwise(plot.bins[0].edges)
        for pair, below, above in zip(edges, plot.band_lower, plot.band_upper, strict=True):
            if not math.isnan(below):
                left, right = (100 * edge for edge in pair)
                top, bottom = 100 - 100 * above, 100 - 100 * below
                paths["band"] += f"M{left:.0f} {top:.0f}H{right:.0f}V{bottom:.0f}H{left:.0f}Z"
    for bins in plot.bins:
        for k in np.flatnonzero(bins.n):
            ends = 100 * np.array([bins.mean[k], bins.share[k], bins.lower[k], bins.upper[k]])
            mean, share_right, low, high = ends
            kind = "off" if mean < low or mean > high else "near"
            if not np.isnan(ends).any():
                paths[kind] += f"M{mean:.0f} {100 - low:.0f}V{100 - high:.0f}"
            paths[f"{kind} dot"] += f"M{mean:.0f} {100 - share_right:.0f}h0"
    return [(kind, path) for kind, path in paths.items() if path]


STYLESHEETS = ("page.css", "first.css")


def render(findings: Findings) -> str:
    """Return the page of a run; the same findings give the same text."""
    return render_sections(findings.provenance, sections_of(findings), findings.schema)


def render_sections(provenance: Provenance, sections: tuple[Section, ...], schema: str) -> str:
    """Return a page of sections; the same sections give the same text."""
    pages = environment()
    facts: dict[str, Any] = {"provenance": provenance, "sections": sections, "schema": schema}
    body, rules = gather_styles(pages.get_template("body.html").render(facts))
    styles = (pages.get_template(name).render() for name in STYLESHEETS)
    stylesheet = Markup("".join(styles)) + rules + "\n"
    facts |= {"policy": Markup(policy(stylesheet, scripts())), "stylesheet": stylesheet}
    return pages.get_template("page.html").render(facts, scripts=scripts(), body=body)


@cache
def environment() -> jinja2.Environment:
    """Return what fills the templates: it escapes every text, and shows what is invisible."""
    pages = jinja2.Environment(
        loader=jinja2.PackageLoader("credence.report", "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        # Text that reaches the page passes here: control characters are made visible.
        finalize=lambda x: printable(x) if isinstance(x, str) and not isinstance(x, Markup) else x,
    )
    pages.filters |= {
        "kind": kind_of,
        "steps": lambda items: each(items, len(items)),
        # Safe: matplotlib escapes the text of a drawing, and nothing else comes from an input.
        "svg": lambda plot, name: Markup(to_svg(plot, name)),
        "points": points_of,
        "small": small_paths,
        "data": data_text,
    }
    return pages
