"""Drawing of one class before and after: curves, and the predictions they rest on."""

from __future__ import annotations

from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from credence.report import style
from credence.report.plots import ChangePlot
from credence.report.wording import count, printable

BEFORE, AFTER = style.SERIES[4], style.SERIES[2]
LEFT, RIGHT, BOTTOM, TOP, LEGEND = 0.55, 0.12, 0.48, 0.1, 0.46  # inches
CURVES, COUNTS, GAP = 2.0, 0.55, 0.1


def draw_change(plot: ChangePlot) -> Figure:
    """Return the drawing of a class before and after."""
    tall = [CURVES] if plot.score else []
    tall += [COUNTS, COUNTS] if plot.edges else []
    height = BOTTOM + TOP + LEGEND + sum(tall) + GAP * (len(tall) - 1)
    figure = Figure(figsize=(style.WIDTH_IN, height))
    top = height - TOP - LEGEND
    parts: list[Any] = []
    for part in tall:
        box = (
            LEFT / style.WIDTH_IN,
            (top - part) / height,
            (style.WIDTH_IN - LEFT - RIGHT) / style.WIDTH_IN,
            part / height,
        )
        parts.append(figure.add_axes(box, sharex=parts[0] if parts else None))
        top -= part + GAP
    for axes in parts[:-1]:
        axes.tick_params(labelbottom=False)
    rest = parts
    if plot.score:
        paint_change(parts[0], plot)
        rest = parts[1:]
    if plot.edges:
        paint_change_counts(
            rest[0], plot, plot.right_before, plot.right_after, style.RIGHT, "right"
        )
        paint_change_counts(
            rest[1], plot, plot.wrong_before, plot.wrong_after, style.WRONG, "wrong"
        )
    parts[0].set_xlim(0, plot.scale)
    parts[-1].set_xlabel("score of the predicted class")
    if plot.score:
        figure.legend(
            *parts[0].get_legend_handles_labels(),
            loc="upper center", ncols=2, borderaxespad=0.1, columnspacing=1.2,
            handlelength=1.8, handletextpad=0.5,
        )  # fmt: skip
    return figure


def paint_change(axes: Any, plot: ChangePlot) -> None:
    """Paint the curves of a class before and after, with their intervals."""
    score = np.array(plot.score)
    both_parts = (
        (plot.before, plot.before_lower, plot.before_upper, plot.range_before, BEFORE, "--"),
        (plot.after, plot.after_lower, plot.after_upper, plot.range_after, AFTER, "-"),
    )
    for number, (value, lower, upper, seen, colour, line) in enumerate(both_parts):
        held = _within(score, seen)
        if not held.any():
            continue
        low, high = np.array(lower), np.array(upper)
        if not np.isnan(low[held]).all():
            axes.fill_between(score[held], low[held], high[held], color=colour, alpha=0.22, lw=0)
        axes.plot(
            score[held],
            np.array(value)[held],
            color=colour,
            linestyle=line,
            label=printable(plot.names[number]),
        )
    if plot.fixed:
        held = _within(score, plot.range_after)
        axes.plot(
            score[held],
            np.array(plot.fixed)[held],
            color=style.INK,
            linestyle=":",
            linewidth=1.2,
            label="new, at old shares of the classes",
        )
    axes.set_ylim(0, 1.02)
    axes.set_ylabel("confidence")


def _within(score: NDArray[np.float64], seen: tuple[float, ...]) -> NDArray[np.bool_]:
    if len(seen) < 2 or np.isnan(seen).any():
        return np.zeros(len(score), dtype=np.bool_)
    return (score >= seen[0]) & (score <= seen[1])


def paint_change_counts(
    axes: Any,
    plot: ChangePlot,
    before: tuple[int, ...],
    after: tuple[int, ...],
    colour: str,
    word: str,
) -> None:
    """Paint the newer counts filled, the older as an outline."""
    axes.stairs(after, plot.edges, fill=True, color=colour, alpha=0.5, linewidth=0)
    axes.stairs(before, plot.edges, color=style.INK, linewidth=0.9)
    axes.set_ylim(0, max(*after, *before, 1) * 1.12)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    axes.text(
        0.01,
        0.93,
        f"{word}: {count(sum(before))} → {count(sum(after))}",
        transform=axes.transAxes,
        verticalalignment="top",
        fontsize=mpl.rcParams["xtick.labelsize"],
    )
