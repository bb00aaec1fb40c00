"""What plots show, painted into axes: for the figures of the page and for those of journals."""

from typing import Any

import matplotlib as mpl
import numpy as np

from credence.findings import Bins
from credence.report import style
from credence.report.plots import ConfidencePlot, LinesPlot, ReliabilityPlot
from credence.report.wording import count, printable

MARKER = 0.75  # of the style's size, where points are many
FAINT: dict[str, Any] = {"color": style.MUTED, "linewidth": 0}  # of bars behind the rest


def _whiskers(axes: Any, x: Any, bins: Bins, **how: Any) -> None:
    share, lower, upper = (np.array(v) for v in (bins.share, bins.lower, bins.upper))
    drawn = ~np.isnan(share)
    below = np.nan_to_num((share - lower)[drawn])
    above = np.nan_to_num((upper - share)[drawn])
    axes.errorbar(np.asarray(x)[drawn], share[drawn], yerr=(below, above), **how)


def paint_confidence(axes: Any, plot: ConfidencePlot) -> None:
    """Paint the shares right in bins of the score, and the curves above them."""
    is_many = len(plot.curves) > 1
    shares, edges = plot.histogram.shares, np.array(plot.histogram.shares.edges)
    middle, width = (edges[:-1] + edges[1:]) / 2, np.diff(edges) * 0.94
    right, label = np.nan_to_num(np.array(shares.share)), "precision in bin"
    axes.bar(middle, right, width, label=None if is_many else label, **FAINT, alpha=0.22)
    if not is_many:
        thin = {"ecolor": style.MUTED, "elinewidth": 0.8, "capsize": 1.5}
        _whiskers(axes, middle, shares, fmt="none", **thin)
        dashed = {"linewidth": 1.0, "linestyle": (0, (4, 3))}
        axes.axhline(plot.share, color=style.INK, label="class only", **dashed)
    for number in range(len(plot.curves)):
        _draw_curve(axes, plot, number, is_many)
    axes.set(ylim=(0, 1.02), xlim=(0, edges[-1]))


def _draw_curve(axes: Any, plot: ConfidencePlot, number: int, is_many: bool) -> None:
    curve = plot.curves[number]
    colour = style.colour_of(number)
    score, value = np.array(curve.score), np.array(curve.value)
    label = printable(curve.method) if is_many else "confidence"
    if not curve.is_function:
        axes.plot(score, value, color=colour, marker=".", linestyle="-", label=label)
        return
    seen = (score >= plot.score_min) & (score <= plot.score_max)
    lower, upper = np.array(curve.lower), np.array(curve.upper)
    if not is_many and not np.isnan(lower[seen]).all():
        axes.fill_between(score[seen], lower[seen], upper[seen], color=colour, alpha=0.25, lw=0)
    axes.plot(score[seen], value[seen], color=colour, linestyle=style.line_of(number), label=label)
    if not is_many:
        for beyond in (score <= plot.score_min, score >= plot.score_max):
            axes.plot(score[beyond], value[beyond], color=colour, linestyle=":", linewidth=1.0)


def paint_counts(axes: Any, plot: ConfidencePlot) -> None:
    """Paint the densities of right predictions upwards and of wrong ones downwards."""
    edges = np.array(plot.histogram.edges)
    right = np.array(plot.histogram.n_correct, dtype=np.float64)
    wrong = np.array(plot.histogram.n_wrong, dtype=np.float64)
    pairs = ((right, 1.0, style.RIGHT_COLOUR, "right"), (wrong, -1.0, style.WRONG_COLOUR, "wrong"))
    for counts, sign, colour, word in pairs:
        total = float(counts.sum())
        density = counts / max(float(counts.max()), 1.0) * sign
        axes.stairs(density, edges, fill=True, color=colour, alpha=0.55, linewidth=0)
        is_above = sign > 0
        axes.text(
            0.01,
            0.93 if is_above else 0.07,
            f"{count(int(total))} {word}",
            transform=axes.transAxes,
            verticalalignment="top" if is_above else "bottom",
            fontsize=mpl.rcParams["xtick.labelsize"],
        )
    axes.axhline(0, color=style.MUTED, linewidth=0.6)
    axes.set_ylim(-1.08, 1.08)
    bare_counts(axes)


def bare_counts(axes: Any) -> None:
    """Take the upright axis off counts, whose heights alone are compared."""
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)


def paint_reliability(axes: Any, plot: ReliabilityPlot) -> None:
    """Paint shares right over confidence, with where they would lie by chance."""
    axes.plot([0, 1], [0, 1], color=style.MUTED, linewidth=1.0, label="perfect")
    _draw_chance(axes, plot)
    shift = 0.012
    for number, (name, bins) in enumerate(zip(plot.names, plot.bins, strict=True)):
        place = np.array(bins.mean) + (number - (len(plot.bins) - 1) / 2) * shift
        colour, size = style.colour_of(number), MARKER * mpl.rcParams["lines.markersize"]
        face = {"markersize": size, "markerfacecolor": style.PAPER if number else colour}
        look = {"fmt": style.marker_of(number), "color": colour, "elinewidth": 1.0, "capsize": 2}
        _whiskers(axes, place, bins, label=printable(name), **look, **face)
    axes.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))


def _draw_chance(axes: Any, plot: ReliabilityPlot) -> None:
    if plot.band_lower:
        edges = np.array(plot.bins[0].edges)
        lower, upper = np.array(plot.band_lower), np.array(plot.band_upper)
        known = ~np.isnan(lower)
        start, width, tall = (part[known] for part in (edges[:-1], np.diff(edges), upper - lower))
        look = {"align": "edge", "alpha": 0.18, "label": "by chance"}
        axes.bar(start, tall, width, lower[known], **look, **FAINT)
    if plot.curve:
        place = (np.arange(len(plot.curve)) + 0.5) / len(plot.curve)
        colour = style.colour_of(0)
        axes.plot(place, plot.curve, color=colour, linewidth=1.0, alpha=0.7, label="smoothed")


def paint_lines(axes: Any, plot: LinesPlot) -> None:
    """Paint a line per series, and points."""
    for number, (name, values) in enumerate(zip(plot.names, plot.series, strict=True)):
        look = {"color": style.colour_of(number), "linestyle": style.line_of(number)}
        axes.plot(plot.x, values, label=printable(name), **look)
    for number, (name, x, y) in enumerate(plot.points, start=len(plot.names)):
        axes.plot(
            [x], [y], color=style.colour_of(number), marker=style.marker_of(number),
            linestyle="", markersize=5.5, label=printable(name), clip_on=False, zorder=5,
        )  # fmt: skip
    axes.set(xlim=(0.0, 1.0), ylim=(-0.02 * plot.top, 1.02 * plot.top))
