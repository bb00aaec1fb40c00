"""Drawings of how far proteins are from those known: a map, and their distances."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from credence.report import style
from credence.report.plots import DistancePlot, MapPlot
from credence.report.wording import count, printable, shortened

LEFT, RIGHT, BOTTOM, TOP, LEGEND = 0.55, 0.12, 0.48, 0.1, 0.46  # inches
MAP, DISTANCES = 3.4, 2.4  # inches
KNOWN, NEW, FLAGGED = style.SERIES[5], style.SERIES[4], style.SERIES[1]
MARGIN = 0.05  # of the map's width
TICKS = 5


def draw_map(plot: MapPlot) -> Figure:
    """Return proteins along two axes: those known, the others, and the flagged."""
    figure, axes = _new(MAP)
    looks = ((KNOWN, "o", 9.0, 0.55), (NEW, "s", 8.0, 0.75), (FLAGGED, "^", 22.0, 1.0))
    for name, x, y, (colour, marker, size, alpha) in zip(
        plot.names, plot.x, plot.y, looks, strict=True
    ):
        if len(x):
            axes.scatter(
                x,
                y,
                s=size,
                c=colour,
                marker=marker,
                alpha=alpha,
                linewidths=0.0,
                label=shortened(printable(name)),
            )
    axes.set_xlabel(plot.axes[0])
    axes.set_ylabel(plot.axes[1])
    axes.set_xticklabels([])
    axes.set_yticklabels([])
    axes.margins(MARGIN)
    _legend(figure, axes)
    return figure


def draw_distances(plot: DistancePlot) -> Figure:
    """Return two histograms of distance on one scale of shares."""
    figure, axes = _new(DISTANCES)
    for name, counts, colour, is_filled in zip(
        plot.names, plot.counts, (KNOWN, NEW), (True, False), strict=True
    ):
        total = sum(counts)
        if total:
            shares = np.array(counts) / total
            axes.stairs(
                shares, plot.edges, fill=is_filled, color=colour if is_filled else style.INK,
                alpha=0.6 if is_filled else 1.0, linewidth=0.0 if is_filled else 1.2,
                label=f"{shortened(printable(name))}: {count(total)}",
            )  # fmt: skip
    axes.set_xlim(0, plot.edges[-1])
    axes.set_ylim(bottom=0)
    # Steps of 0.01 or more: longer numbers would push the label out of the picture.
    axes.yaxis.set_major_locator(MaxNLocator(TICKS, steps=[1, 2, 5, 10]))
    axes.set_ylabel("share of proteins")
    axes.set_xlabel("distance to the nearest calibration protein")
    if np.isfinite(plot.flag):
        axes.axvline(min(plot.flag, plot.edges[-1]), color=FLAGGED, linestyle="--", linewidth=1.2)
    _legend(figure, axes)
    return figure


def _new(tall: float) -> tuple[Figure, Any]:
    height = BOTTOM + TOP + LEGEND + tall
    figure = Figure(figsize=(style.WIDTH_IN, height))
    box = (
        LEFT / style.WIDTH_IN,
        BOTTOM / height,
        (style.WIDTH_IN - LEFT - RIGHT) / style.WIDTH_IN,
        tall / height,
    )
    return figure, figure.add_axes(box)


def _legend(figure: Figure, axes: Any) -> None:
    handles, names = axes.get_legend_handles_labels()
    if handles:
        figure.legend(
            handles, names, loc="upper center", ncols=2, borderaxespad=0.1,
            columnspacing=1.2, handlelength=1.2, handletextpad=0.4,
        )  # fmt: skip
