"""What figures show, as numbers: records that a drawing is made of."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from credence.findings import Bins, CurveFinding, ScoreHistogram


class Plot:
    """The numbers of a figure."""

    @property
    def is_wide(self) -> bool:
        """Whether it may fill the width of the page."""
        return False


@dataclass(frozen=True, kw_only=True)
class ConfidencePlot(Plot):
    """Confidence over the score, above the histogram of right and wrong."""

    curves: tuple[CurveFinding, ...]  # The first with its interval; further ones as lines
    histogram: ScoreHistogram  # Shares right per bin, and the counts beneath
    share: float  # The class-only confidence
    score_min: float  # The scores seen in calibration
    score_max: float
    scale: float  # Right end of the axis


@dataclass(frozen=True, kw_only=True)
class ReliabilityPlot(Plot):
    """Share right over confidence."""

    names: tuple[str, ...]  # What each set of bins is; shown where there are two or more
    bins: tuple[Bins, ...]  # Points with their intervals
    # Per bin of the first set, where the share would lie by chance were every confidence true.
    band_lower: tuple[float, ...] = ()
    band_upper: tuple[float, ...] = ()
    # Kernel estimate of the precision for the first set, at the middles of equal parts of the
    # axis.
    curve: tuple[float, ...] = ()
    # How many of the first set have a confidence in each equal part of the axis.
    counts: tuple[int, ...] = ()
    axis: str = "confidence (mean of bin)"  # What the axes are
    upright: str = "precision"


@dataclass(frozen=True, kw_only=True)
class LinesPlot(Plot):
    """Shares over another share, one line per series."""

    axis: str  # What the axes are
    upright: str
    names: tuple[str, ...]  # The series
    x: tuple[float, ...]  # Where they are known, ascending
    series: tuple[tuple[float, ...], ...]  # Shares; NaN where there is none
    top: float = 1.0  # Upper end of the axis
    points: tuple[tuple[str, float, float], ...] = ()  # Marked by themselves: name, x, y


@dataclass(frozen=True, kw_only=True)
class ComparisonPlot(Plot):
    """One number per row and method, with intervals."""

    axis: str  # What the numbers are
    rows: tuple[str, ...]  # One per line, from the top
    methods: tuple[str, ...]  # The series
    value: tuple[tuple[float, ...], ...]  # By method, then by row; NaN where there is none
    lower: tuple[tuple[float, ...], ...]
    upper: tuple[tuple[float, ...], ...]
    has_arrows: bool = False  # Whether an arrow leads from the first method to the last, of shares
    zone: float = 0.0  # Where numbers are differences: those so near 0 are shaded

    def offset(self, number: int) -> float:
        """Return how far below its row a method is drawn."""
        if self.has_arrows:
            return 0.0
        return (number - (len(self.methods) - 1) / 2) * 0.8 / len(self.methods)


Interval = tuple[float, float, float]  # a number and the ends of its interval


def interval_of(entry: Any, times: float = 1.0) -> Interval:
    """Return a record's number with its interval, times something; NaN where there is none."""
    if entry is None:
        return math.nan, math.nan, math.nan
    return times * entry.value, times * entry.lower, times * entry.upper


def without_interval(value: float) -> Interval:
    """Return a number that has no interval."""
    return value, math.nan, math.nan


def comparison(
    axis: str,
    rows: Iterable[str],
    series: Sequence[tuple[str, Sequence[Interval]]],
    has_arrows: bool = False,
    zone: float = 0.0,
) -> ComparisonPlot:
    """Return a plot of series, each with its name and a number for every row."""
    value, lower, upper = (
        tuple(tuple(number[at] for number in numbers) for _, numbers in series) for at in range(3)
    )
    return ComparisonPlot(
        axis=axis,
        rows=tuple(rows),
        methods=tuple(name for name, _ in series),
        value=value,
        lower=lower,
        upper=upper,
        has_arrows=has_arrows,
        zone=zone,
    )


MOST_BESIDE = 15  # classes of a matrix that leaves room for another beside it


@dataclass(frozen=True, kw_only=True)
class Heat(Plot):
    """A number for each pair of a true and a predicted class."""

    names: tuple[str, ...]  # The classes
    values: tuple[tuple[float, ...], ...]  # Rows are true classes; NaN where there is none
    key: str  # What the numbers are; empty for no key beside them
    is_count: bool = False  # Whether they are counts; else shares
    counts: tuple[tuple[int, ...], ...] = ()  # Written into the cells instead of the values

    @property
    def is_wide(self) -> bool:
        """Whether there are too many classes for two pictures side by side."""
        return len(self.names) > MOST_BESIDE


@dataclass(frozen=True, kw_only=True)
class HistogramPlot(Plot):
    """Counts in bins."""

    axis: str  # What is binned
    edges: tuple[float, ...]  # Ends of the bins
    counts: tuple[int, ...]  # Per bin
    unit: str = "protein"  # What is counted


@dataclass(frozen=True, kw_only=True)
class NearestPlot(Plot):
    """Proteins of each group by identity of the nearest protein elsewhere."""

    names: tuple[str, ...]  # The groups
    edges: tuple[float, ...]  # Ends of the bins of identity
    counts: tuple[tuple[int, ...], ...]  # Per group, per bin
    n_alone: tuple[int, ...]  # Per group, proteins that nothing elsewhere resembles
    threshold: float  # From here on proteins are relatives


@dataclass(frozen=True, kw_only=True)
class DistancePlot(Plot):
    """Two sets of proteins by distance, as shares."""

    names: tuple[str, ...]  # The sets: those known and those new
    edges: tuple[float, ...]  # Ends of the bins
    counts: tuple[tuple[int, ...], ...]  # By set, by bin
    flag: float  # Distance from which on proteins are flagged; NaN where there is none
