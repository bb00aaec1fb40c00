"""Drawing of how near the nearest protein of another group is, group by group."""

from __future__ import annotations

from matplotlib.figure import Figure

from credence.report import style
from credence.report.plots import NearestPlot
from credence.report.wording import count, printable, shortened

LEFT, RIGHT, BOTTOM, TOP = 0.62, 0.95, 0.48, 0.3  # inches
ROW = 0.26
TALLEST = 0.84  # of a row
ALONE = "nothing alike"
END = 0.98  # of the width: right end of its column


def draw_nearest(plot: NearestPlot) -> Figure:
    """Return a row of bars per group, all on one scale of counts."""
    n_rows = len(plot.names)
    height = BOTTOM + TOP + ROW * max(n_rows, 1)
    figure = Figure(figsize=(style.WIDTH_IN, height))
    box = (
        LEFT / style.WIDTH_IN,
        BOTTOM / height,
        (style.WIDTH_IN - LEFT - RIGHT) / style.WIDTH_IN,
        (height - BOTTOM - TOP) / height,
    )
    axes = figure.add_axes(box)
    most = max((max(counts, default=0) for counts in plot.counts), default=0)
    rows = zip(range(n_rows - 1, -1, -1), plot.counts, plot.n_alone, strict=True)
    for row, counts, n_alone in rows:
        for low, high, number in zip(plot.edges[:-1], plot.edges[1:], counts, strict=True):
            if number:
                is_relative = low >= plot.threshold
                axes.bar(
                    low, number / most * TALLEST, width=high - low, bottom=row - 0.5,
                    align="edge", color=style.WRONG if is_relative else style.RIGHT,
                    alpha=0.75, linewidth=0,
                )  # fmt: skip
        axes.text(
            (END * style.WIDTH_IN - LEFT) / (style.WIDTH_IN - LEFT - RIGHT), row, count(n_alone),
            transform=axes.get_yaxis_transform(), ha="right", va="center", fontsize=style.SMALL,
        )  # fmt: skip
    axes.axvline(plot.threshold, color=style.INK, linestyle="--", linewidth=1.0)
    axes.set_xlim(plot.edges[0], plot.edges[-1])
    axes.set_ylim(-0.5, n_rows - 0.5)
    axes.set_yticks(range(n_rows), [shortened(printable(name)) for name in plot.names[::-1]])
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="y", visible=False)
    axes.set_xlabel("identity of the nearest protein of another group")
    top = 1.0 - (TOP - 0.08) / height
    figure.text(END, top, ALONE, ha="right", va="bottom", fontsize=style.SMALL)
    figure.text(
        (LEFT - 0.06) / style.WIDTH_IN, top, "group", ha="right", va="bottom",
        fontsize=style.SMALL,
    )  # fmt: skip
    return figure
