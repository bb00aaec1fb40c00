"""What evaluating the methods on the calibration set gave."""

from __future__ import annotations

from dataclasses import dataclass

from credence.findings.measured import (
    CalibrationTest,
    Counting,
    Counts,
    Halves,
    NoiseFloor,
    Numbers,
)


@dataclass(frozen=True)
class ClassCount:
    """What the calibration set holds of one class.

    Parameters
    ----------
    class_name : str
        The class.
    n_true, n_predicted, n_correct : int
        Proteins that are in it, are predicted to be, and both.
    n_clusters : int
        Clusters of relatives among those predicted.
    share, lower, upper : float
        Conf1, the share of right predictions (weighted), with its interval.
    score_min, score_median, score_max : float
        Of the predictions' top scores; NaN where there are none.
    """

    class_name: str
    n_true: int
    n_predicted: int
    n_correct: int
    n_clusters: int
    share: float
    lower: float
    upper: float
    score_min: float
    score_median: float
    score_max: float


@dataclass(frozen=True)
class Bins:
    """Shares of right predictions in bins, with intervals over clusters.

    Parameters
    ----------
    edges : tuple of float
        One more than there are bins; each is left-open, the first closed.
    n, n_correct, n_clusters : tuple of int
        Per bin.
    mean : tuple of float
        Weighted mean of what was binned; NaN where a bin is empty.
    share, lower, upper : tuple of float
        Weighted share of right predictions; NaN where a bin is empty.
    """

    edges: Numbers
    n: Counts
    n_correct: Counts
    n_clusters: Counts
    mean: Numbers
    share: Numbers
    lower: Numbers
    upper: Numbers


@dataclass(frozen=True)
class ScoreHistogram:
    """Top scores of the proteins predicted to be in one class.

    Parameters
    ----------
    class_name : str
        The class.
    shares : Bins
        Share of right predictions per bin of scores, method or no method.
    edges : tuple of float
        Finer bins, of the same width.
    n_correct, n_wrong : tuple of int
        Right and wrong predictions per finer bin.
    """

    class_name: str
    shares: Bins
    edges: Numbers
    n_correct: Counts
    n_wrong: Counts


@dataclass(frozen=True)
class CurveFinding:
    """Confidence of one class under one method, over the top score.

    Parameters
    ----------
    method, class_name : str
        Whose it is.
    is_function : bool
        Whether the method's confidence depends on the top score alone; else
        the values are means over the proteins near each score.
    score : tuple of float
        Where it was evaluated, ascending.
    value, lower, upper : tuple of float
        The confidence and its pointwise interval; NaN where there is none.
    support : tuple of float
        Effective number of calibration proteins near each score.
    note : tuple of int
        A :class:`credence.confidence.Note` each.
    """

    method: str
    class_name: str
    is_function: bool
    score: Numbers
    value: Numbers
    lower: Numbers
    upper: Numbers
    support: Numbers
    note: Counts


@dataclass(frozen=True)
class ScoreNeeded:
    """The least score from which on the interval's lower end stays above.

    Parameters
    ----------
    method, class_name : str
        Whose it is.
    confidence : float
        The confidence asked for.
    score : float
        NaN where no score seen in calibration is enough.
    """

    method: str
    class_name: str
    confidence: float
    score: float


@dataclass(frozen=True)
class Reliability:
    """Confidence against the share of right predictions.

    Parameters
    ----------
    method : str
        The method.
    class_name : str, optional
        The predicted class; None: all.
    sample : str
        ``in_sample`` or ``held_out``.
    bins : Bins
        Over the confidence.
    band_lower, band_upper : tuple of float
        Per bin, where the share would lie by chance were every confidence true
        and relatives right or wrong together (consistency band).
    curve : tuple of float
        Kernel estimate of the share right, at evenly spaced confidences from 0
        to 1; NaN where there is next to nothing.
    counts : tuple of int
        Proteins in fine bins of the confidence.
    """

    method: str
    class_name: str | None
    sample: str
    bins: Bins
    band_lower: Numbers = ()
    band_upper: Numbers = ()
    curve: Numbers = ()
    counts: Counts = ()


@dataclass(frozen=True)
class MetricValue:
    """One metric of one method.

    Parameters
    ----------
    method : str
        The method.
    class_name : str, optional
        The predicted class; None: all.
    sample : str
        ``in_sample`` or ``held_out``.
    metric : str
        Name in the registry of metrics.
    value, lower, upper : float
        With its interval over clusters; NaN where it cannot be given.
    n, n_clusters : int
        Proteins and clusters measured.
    n_excluded : int
        Proteins left out because the method gives them no confidence.
    n_clipped : int
        Confidences within 1e-15 of 0 or 1.
    """

    method: str
    class_name: str | None
    sample: str
    metric: str
    value: float
    lower: float
    upper: float
    n: int
    n_clusters: int
    n_excluded: int
    n_clipped: int


@dataclass(frozen=True)
class Difference:
    """A metric of one method minus that of the reference, pair by pair.

    Parameters
    ----------
    method, reference : str
        What is compared with what.
    class_name : str, optional
        The predicted class; None: all.
    sample, metric : str
        As in :class:`MetricValue`.
    value, lower, upper : float
        With its interval over clusters.
    n : int
        Proteins to which both give a confidence.
    """

    method: str
    reference: str
    class_name: str | None
    sample: str
    metric: str
    value: float
    lower: float
    upper: float
    n: int


@dataclass(frozen=True)
class FittedParameter:
    """A number that fitting chose for one class.

    Parameters
    ----------
    method, class_name : str
        Whose it is.
    name : str
        ``bandwidth`` or ``cutoff`` (in score units), ``temperature`` or ``award``.
    value : float
        What was chosen.
    """

    method: str
    class_name: str
    name: str
    value: float


@dataclass(frozen=True)
class Notice:
    """Something that a reader has to know.

    Parameters
    ----------
    kind : str
        What it is about: ``scarce class``, ``fallback``, ``ties``, …
    text : str
        One or two plain sentences.
    class_name : str, optional
        The class it concerns; None: all.
    is_warning : bool
        Whether numbers must be read with care because of it.
    """

    kind: str
    text: str
    class_name: str | None = None
    is_warning: bool = False


@dataclass(frozen=True)
class Results:
    """All that evaluating the methods on the calibration set gave.

    Parameters
    ----------
    class_names : tuple of str
        In the classifier's order.
    scale : float
        What a row of scores sums to.
    n_samples, n_clusters, n_correct, n_ties, n_folds, n_draws : int
        Of the calibration set and of the evaluation.
    level : float
        Coverage of the intervals.
    confusion : tuple of tuple of int
        Proteins by true class (rows) and predicted class (columns).
    given_true : tuple of tuple of float
        The same by weight, as shares of the true class: the confusion matrix.
    given_predicted : tuple of tuple of float
        As shares of the predicted class: the reverse confusion matrix, whose
        diagonal is the class-only confidence. NaN where a class is absent.
    differences, pairs : tuple of Difference
        Of all metrics from the reference; and of the main ones, held-out, for
        every pair of methods.
    """

    class_names: tuple[str, ...]
    scale: float
    n_samples: int
    n_clusters: int
    n_correct: int
    n_ties: int
    n_folds: int
    n_draws: int
    level: float
    confusion: tuple[Counts, ...]
    classes: tuple[ClassCount, ...]
    histograms: tuple[ScoreHistogram, ...] = ()
    curves: tuple[CurveFinding, ...] = ()
    scores_needed: tuple[ScoreNeeded, ...] = ()
    reliability: tuple[Reliability, ...] = ()
    metrics: tuple[MetricValue, ...] = ()
    differences: tuple[Difference, ...] = ()
    pairs: tuple[Difference, ...] = ()
    floors: tuple[NoiseFloor, ...] = ()
    tests: tuple[CalibrationTest, ...] = ()
    given_true: tuple[Numbers, ...] = ()
    given_predicted: tuple[Numbers, ...] = ()
    halves: tuple[Halves, ...] = ()
    counting: tuple[Counting, ...] = ()
    notices: tuple[Notice, ...] = ()
    parameters: tuple[FittedParameter, ...] = ()
