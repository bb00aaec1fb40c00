"""What figures show, as numbers: records that a drawing is made of."""

from __future__ import annotations

from dataclasses import dataclass

from credence.findings import Bins, CurveFinding, ScoreHistogram


@dataclass(frozen=True)
class ConfidencePlot:
    """Confidence over the score, above the histogram of right and wrong.

    Parameters
    ----------
    curves : tuple of CurveFinding
        The first with its interval; further ones as lines.
    histogram : ScoreHistogram
        Shares right per bin, and the counts beneath.
    share : float
        The class-only confidence.
    score_min, score_max : float
        The scores seen in calibration.
    scale : float
        Right end of the axis.
    """

    curves: tuple[CurveFinding, ...]
    histogram: ScoreHistogram
    share: float
    score_min: float
    score_max: float
    scale: float


@dataclass(frozen=True)
class ReliabilityPlot:
    """Share right over confidence.

    Parameters
    ----------
    names : tuple of str
        What each set of bins is; shown where there are two or more.
    bins : tuple of Bins
        Points with their intervals.
    band_lower, band_upper : tuple of float
        Per bin of the first set, where the share would lie by chance were every
        confidence true.
    curve : tuple of float
        Kernel estimate of the share right for the first set, at the middles of
        equal parts of the axis.
    counts : tuple of int
        How many of the first set have a confidence in each equal part of the axis.
    axis, upright : str
        What the axes are.
    """

    names: tuple[str, ...]
    bins: tuple[Bins, ...]
    band_lower: tuple[float, ...] = ()
    band_upper: tuple[float, ...] = ()
    curve: tuple[float, ...] = ()
    counts: tuple[int, ...] = ()
    axis: str = "confidence (mean of bin)"
    upright: str = "share right"


@dataclass(frozen=True)
class LinesPlot:
    """Shares over a score, one line per series.

    Parameters
    ----------
    axis, upright : str
        What the axes are.
    names : tuple of str
        The series.
    x : tuple of float
        Where they are known, ascending.
    series : tuple of tuple of float
        Shares; NaN where there is none.
    end : float
        Right end of the axis.
    has_points : bool
        Whether each value is marked.
    lower, upper : tuple of tuple of float
        Ends of an interval by series, empty for a series without one; none at
        all where no series has one.
    """

    axis: str
    upright: str
    names: tuple[str, ...]
    x: tuple[float, ...]
    series: tuple[tuple[float, ...], ...]
    end: float
    has_points: bool
    lower: tuple[tuple[float, ...], ...] = ()
    upper: tuple[tuple[float, ...], ...] = ()


@dataclass(frozen=True)
class ComparisonPlot:
    """One number per row and method, with intervals.

    Parameters
    ----------
    axis : str
        What the numbers are.
    rows : tuple of str
        One per line, from the top.
    methods : tuple of str
        The series.
    value, lower, upper : tuple of tuple of float
        By method, then by row; NaN where there is none.
    """

    axis: str
    rows: tuple[str, ...]
    methods: tuple[str, ...]
    value: tuple[tuple[float, ...], ...]
    lower: tuple[tuple[float, ...], ...]
    upper: tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class HistogramPlot:
    """Counts in bins.

    Parameters
    ----------
    axis : str
        What is binned.
    edges : tuple of float
        Ends of the bins.
    counts : tuple of int
        Per bin.
    """

    axis: str
    edges: tuple[float, ...]
    counts: tuple[int, ...]


@dataclass(frozen=True)
class ChangePlot:
    """One class before and after: curves above the predictions they rest on.

    Parameters
    ----------
    names : tuple of str
        What the older and the newer release are called.
    score : tuple of float
        Of the curves, ascending; none where there are no curves.
    before, before_lower, before_upper : tuple of float
        The older curve, with its interval.
    after, after_lower, after_upper : tuple of float
        The newer one.
    fixed : tuple of float
        The newer one at the older's class frequencies; may be empty.
    edges : tuple of float
        Bins of the score; none where there are no counts.
    right_before, right_after, wrong_before, wrong_after : tuple of int
        Predictions per bin.
    range_before, range_after : tuple of float
        Least and greatest score seen.
    scale : float
        Right end of the axis.
    """

    names: tuple[str, ...]
    score: tuple[float, ...]
    before: tuple[float, ...]
    before_lower: tuple[float, ...]
    before_upper: tuple[float, ...]
    after: tuple[float, ...]
    after_lower: tuple[float, ...]
    after_upper: tuple[float, ...]
    fixed: tuple[float, ...]
    edges: tuple[float, ...]
    right_before: tuple[int, ...]
    right_after: tuple[int, ...]
    wrong_before: tuple[int, ...]
    wrong_after: tuple[int, ...]
    range_before: tuple[float, ...]
    range_after: tuple[float, ...]
    scale: float


@dataclass(frozen=True)
class NearestPlot:
    """Proteins of each group by identity of the nearest protein elsewhere.

    Parameters
    ----------
    names : tuple of str
        The groups.
    edges : tuple of float
        Ends of the bins of identity.
    counts : tuple of tuple of int
        Per group, per bin.
    n_alone : tuple of int
        Per group, proteins that nothing elsewhere resembles.
    threshold : float
        From here on proteins are relatives.
    """

    names: tuple[str, ...]
    edges: tuple[float, ...]
    counts: tuple[tuple[int, ...], ...]
    n_alone: tuple[int, ...]
    threshold: float


@dataclass(frozen=True)
class MapPlot:
    """Proteins along two axes, in three kinds: known, new and flagged.

    Parameters
    ----------
    names : tuple of str
        The kinds.
    x, y : tuple of tuple of float
        By kind.
    axes : tuple of str
        What the two axes are.
    """

    names: tuple[str, ...]
    x: tuple[tuple[float, ...], ...]
    y: tuple[tuple[float, ...], ...]
    axes: tuple[str, str]


@dataclass(frozen=True)
class DistancePlot:
    """Two sets of proteins by distance, as shares.

    Parameters
    ----------
    names : tuple of str
        The sets: those known and those new.
    edges : tuple of float
        Ends of the bins.
    counts : tuple of tuple of int
        By set, by bin.
    flag : float
        Distance from which on proteins are flagged; NaN where there is none.
    """

    names: tuple[str, ...]
    edges: tuple[float, ...]
    counts: tuple[tuple[int, ...], ...]
    flag: float


Plot = (
    ConfidencePlot
    | ReliabilityPlot
    | LinesPlot
    | ComparisonPlot
    | HistogramPlot
    | ChangePlot
    | NearestPlot
    | MapPlot
    | DistancePlot
)
