"""The numbers of a sheet as a table: one row per point, bar or cell drawn."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from credence.findings import Bins
from credence.report.plots import ChangePlot, ConfidencePlot, LinesPlot, ReliabilityPlot
from credence.report.sheets.record import Grid, Heat, PanelPlot, RankPlot

NAN = float("nan")
COLUMNS = ("class", "what", "series", "x", "x_end", "value", "lower", "upper", "n")
Row = tuple[str, str, float, float, float, float, float, str]


def columns_of(body: Grid | Heat) -> dict[str, list[Any]]:
    """Return the columns of a table; a number that is not known is NaN, a count ''.

    Parameters
    ----------
    body : Grid or Heat
        What is drawn.
    """
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
        for name, bins in zip(plot.names, plot.bins, strict=True):
            yield from _bins("share right", name, bins)
        edges = plot.bins[0].edges
        ends = zip(edges[:-1], edges[1:], plot.band_lower, plot.band_upper, strict=False)
        for low, high, lower, upper in ends:
            yield ("by chance", "", low, high, NAN, lower, upper, "")
        for at, value in enumerate(plot.curve):
            place = (at + 0.5) / len(plot.curve)
            yield ("smoothed", plot.names[0], place, NAN, value, NAN, NAN, "")
    elif isinstance(plot, LinesPlot):
        for name, series in zip(plot.names, plot.series, strict=True):
            for x, value in zip(plot.x, series, strict=True):
                yield ("line", name, x, NAN, value, NAN, NAN, "")
    elif isinstance(plot, RankPlot):
        numbers = zip(plot.methods, plot.value, plot.lower, plot.upper, plot.n, strict=True)
        for method, value, lower, upper, n in numbers:
            yield ("held-out NLL", method, NAN, NAN, value, lower, upper, str(n))
    else:
        yield from _change(plot)


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
    older, newer = plot.names
    sides = (
        (older, plot.before, plot.before_lower, plot.before_upper),
        (newer, plot.after, plot.after_lower, plot.after_upper),
    )
    for name, values, lowers, uppers in sides:
        points = zip(plot.score, values, lowers, uppers, strict=True)
        for x, value, lower, upper in points:
            yield ("confidence", name, x, NAN, value, lower, upper, "")
    for x, value in zip(plot.score, plot.fixed, strict=False):
        yield ("at old shares of the classes", newer, x, NAN, value, NAN, NAN, "")
    for what, name, counts in (
        ("right", older, plot.right_before),
        ("right", newer, plot.right_after),
        ("wrong", older, plot.wrong_before),
        ("wrong", newer, plot.wrong_after),
    ):
        if plot.edges:
            yield from _counts(what, name, plot.edges, counts)
