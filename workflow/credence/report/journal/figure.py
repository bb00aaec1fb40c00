"""What a figure for a journal is, before it is drawn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from credence.findings import Findings
from credence.report.plots import ChangePlot, ConfidencePlot, LinesPlot, ReliabilityPlot


@dataclass(frozen=True)
class RankPlot:
    """One number per method, with intervals."""

    methods: tuple[str, ...]  # From the top
    value: tuple[float, ...]  # NaN where there is none
    lower: tuple[float, ...]
    upper: tuple[float, ...]
    n: tuple[int, ...]  # Proteins measured
    best: int | None = None  # Which is the least


PanelPlot = ConfidencePlot | ReliabilityPlot | LinesPlot | ChangePlot | RankPlot


@dataclass(frozen=True)
class ClassPanel:
    """One class of a figure."""

    title: str  # The class
    plot: PanelPlot  # The numbers


@dataclass(frozen=True)
class PanelGrid:
    """Small multiples: a panel per class, all on the same axes."""

    panels: tuple[ClassPanel, ...]  # At least one, all of one kind
    axis: str  # What the axes are
    upright: str
    caption: str  # What is shown, from how much
    has_counts: bool = False  # Whether right and wrong predictions are drawn under each panel


@dataclass(frozen=True)
class Heat:
    """A number for each pair of a true and a predicted class."""

    names: tuple[str, ...]  # The classes
    values: tuple[tuple[float, ...], ...]  # Rows are true classes; NaN where there is none
    key: str  # What the numbers are
    caption: str  # What is shown, from how much
    is_count: bool = False  # Whether they are counts; else shares


@dataclass(frozen=True)
class JournalFigure:
    """One figure of the registry."""

    number: str  # So that they sort: ``09`` and ``confidence``
    name: str
    shows: str  # A sentence
    needs: str  # What findings must hold, or there is none
    # Findings to what is drawn, or None where they lack it.
    build: Callable[[Findings], PanelGrid | Heat | None]

    @property
    def stem(self) -> str:
        """How its files' names begin."""
        return f"{self.number}-{self.name}"
