"""What a figure for a journal is, before it is drawn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from credence.findings import Findings
from credence.report.plots import ChangePlot, ConfidencePlot, LinesPlot, ReliabilityPlot


@dataclass(frozen=True)
class RankPlot:
    """One number per method, with intervals.

    Parameters
    ----------
    methods : tuple of str
        From the top.
    value, lower, upper : tuple of float
        NaN where there is none.
    n : tuple of int
        Proteins measured.
    best : int, optional
        Which is the least.
    """

    methods: tuple[str, ...]
    value: tuple[float, ...]
    lower: tuple[float, ...]
    upper: tuple[float, ...]
    n: tuple[int, ...]
    best: int | None = None


PanelPlot = ConfidencePlot | ReliabilityPlot | LinesPlot | ChangePlot | RankPlot


@dataclass(frozen=True)
class Panel:
    """One class of a sheet.

    Parameters
    ----------
    title : str
        The class.
    plot : plot
        The numbers.
    """

    title: str
    plot: PanelPlot


@dataclass(frozen=True)
class Grid:
    """Small multiples: a panel per class, all on the same axes.

    Parameters
    ----------
    panels : tuple of Panel
        At least one, all of one kind.
    axis, upright : str
        What the axes are.
    caption : str
        What is shown, from how much.
    has_counts : bool
        Whether right and wrong predictions are drawn under each panel.
    """

    panels: tuple[Panel, ...]
    axis: str
    upright: str
    caption: str
    has_counts: bool = False


@dataclass(frozen=True)
class Heat:
    """A number for each pair of a true and a predicted class.

    Parameters
    ----------
    names : tuple of str
        The classes.
    values : tuple of tuple of float
        Rows are true classes; NaN where there is none.
    key : str
        What the numbers are.
    caption : str
        What is shown, from how much.
    is_count : bool
        Whether they are counts; else shares.
    """

    names: tuple[str, ...]
    values: tuple[tuple[float, ...], ...]
    key: str
    caption: str
    is_count: bool = False


@dataclass(frozen=True)
class Sheet:
    """One figure of the registry.

    Parameters
    ----------
    number, name : str
        So that they sort: ``09`` and ``confidence``.
    shows : str
        A sentence.
    needs : str
        What findings must hold, or there is none.
    build : callable
        Findings to what is drawn, or None where they lack it.
    """

    number: str
    name: str
    shows: str
    needs: str
    build: Callable[[Findings], Grid | Heat | None]

    @property
    def stem(self) -> str:
        """How its files' names begin."""
        return f"{self.number}-{self.name}"
