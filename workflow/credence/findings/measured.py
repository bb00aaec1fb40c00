"""What measuring calibration gave beside the metrics themselves."""

from __future__ import annotations

from dataclasses import dataclass

Numbers = tuple[float, ...]
Counts = tuple[int, ...]


@dataclass(frozen=True)
class NoiseFloor:
    """What a perfectly calibrated method would score on a calibration error.

    Parameters
    ----------
    method, sample, metric : str
        As in :class:`credence.findings.MetricValue`.
    class_name : str, optional
        The predicted class; None: all.
    relatives_alike : bool
        Whether relatives were taken to be right or wrong together, as far as
        their confidences allow; else every protein by itself. The truth lies
        between the two.
    value, lower, upper : float
        Mean and quantiles of the simulated scores.
    """

    method: str
    class_name: str | None
    sample: str
    metric: str
    relatives_alike: bool
    value: float
    lower: float
    upper: float


@dataclass(frozen=True)
class CalibrationTest:
    """A test of perfect calibration, on held-out proteins.

    Parameters
    ----------
    method : str
        The method.
    class_name : str, optional
        The predicted class; None: all.
    test : str
        ``kolmogorov_smirnov``, ``kuiper`` or ``spiegelhalter``.
    statistic : float
        NaN where every confidence is 0 or 1 (for Spiegelhalter's also ½), so
        that there is no test.
    p_value : float
        By random signs over clusters: valid with relatives.
    p_adjusted : float
        The same, by Holm's rule over the classes; NaN over all.
    p_independent : float
        By the asymptotic law for independent proteins; too small with relatives.
    power : float
        Chance to see, at 5 %, confidences that are five points off throughout.
    n, n_clusters : int
        Proteins and clusters tested.
    """

    method: str
    class_name: str | None
    test: str
    statistic: float
    p_value: float
    p_adjusted: float
    p_independent: float
    power: float
    n: int
    n_clusters: int


@dataclass(frozen=True)
class Halves:
    """Histograms of a class from two halves that share no cluster.

    How far they lie apart is how noisy a histogram of half this size is.

    Parameters
    ----------
    class_name : str
        The predicted class.
    edges : tuple of float
        Of the bins of scores.
    n_first, n_second : tuple of int
        Proteins per bin.
    share_first, share_second : tuple of float
        Weighted share right per bin; NaN where a bin is empty.
    distance : float
        Mean of |first − second| over the bins that both fill, by their smaller
        count; NaN where there are none.
    """

    class_name: str
    edges: Numbers
    n_first: Counts
    n_second: Counts
    share_first: Numbers
    share_second: Numbers
    distance: float


@dataclass(frozen=True)
class Counting:
    """Share that is truly of a class over its score, counted in two ways.

    Parameters
    ----------
    class_name : str
        The class.
    score : tuple of float
        Ascending.
    top_label : tuple of float
        Among proteins predicted to be in the class.
    all_scores : tuple of float
        Among all proteins, whatever they are predicted to be.
    bandwidth : float
        Of the Gaussian that smooths both.
    """

    class_name: str
    score: Numbers
    top_label: Numbers
    all_scores: Numbers
    bandwidth: float
