"""What evaluating the methods on the calibration set gave."""

from __future__ import annotations

from dataclasses import dataclass

Numbers = tuple[float, ...]
Counts = tuple[int, ...]


@dataclass(frozen=True)
class NoiseFloor:
    """What a perfectly calibrated method would score on a calibration error."""

    method: str  # As in :class:`credence.findings.MetricValue`
    class_name: str | None  # The predicted class; None: all
    sample: str
    metric: str
    # Whether relatives were taken to be right or wrong together, as far as their confidences
    # allow; else every protein by itself. The truth lies between the two.
    relatives_alike: bool
    value: float  # Mean and quantiles of the simulated scores
    lower: float
    upper: float


@dataclass(frozen=True)
class CalibrationTest:
    """A test of perfect calibration, on held-out proteins."""

    method: str  # The method
    class_name: str | None  # The predicted class; None: all
    test: str  # ``kolmogorov_smirnov``, ``kuiper`` or ``spiegelhalter``
    # NaN where every confidence is 0 or 1 (for Spiegelhalter's also ½), so that there is no test.
    statistic: float
    p_value: float  # By random signs over clusters: valid with relatives
    p_adjusted: float  # The same, by Holm's rule over the classes; NaN over all
    # By the asymptotic law for independent proteins; too small with relatives.
    p_independent: float
    power: float  # Chance to see, at 5 %, confidences that are five points off throughout
    n: int  # Proteins and clusters tested
    n_clusters: int


@dataclass(frozen=True)
class Halves:
    """Histograms of a class from two halves that share no cluster.

    How far they lie apart is how noisy a histogram of half this size is.
    """

    class_name: str  # The predicted class
    edges: Numbers  # Of the bins of scores
    n_first: Counts  # Proteins per bin
    n_second: Counts
    share_first: Numbers  # Weighted share right per bin; NaN where a bin is empty
    share_second: Numbers
    # Mean of |first − second| over the bins that both fill, by their smaller count; NaN where
    # there are none.
    distance: float


@dataclass(frozen=True)
class Counting:
    """Share that is truly of a class over its score, counted in two ways."""

    class_name: str  # The class
    score: Numbers  # Ascending
    top_label: Numbers  # Among proteins predicted to be in the class
    all_scores: Numbers  # Among all proteins, whatever they are predicted to be
    bandwidth: float  # Of the Gaussian that smooths both


@dataclass(frozen=True)
class ClassCount:
    """What the calibration set holds of one class."""

    class_name: str  # The class
    n_true: int  # Proteins that are in it, are predicted to be, and both
    n_predicted: int
    n_correct: int
    n_clusters: int  # Clusters of relatives among those predicted
    share: float  # Conf1, the share of right predictions (weighted), with its interval
    lower: float
    upper: float
    score_min: float  # Of the predictions' top scores; NaN where there are none
    score_median: float
    score_max: float


@dataclass(frozen=True)
class Bins:
    """Shares of right predictions in bins, with intervals over clusters."""

    edges: Numbers  # One more than there are bins; each is left-open, the first closed
    n: Counts  # Per bin
    n_correct: Counts
    n_clusters: Counts
    mean: Numbers  # Weighted mean of what was binned; NaN where a bin is empty
    share: Numbers  # Weighted share of right predictions; NaN where a bin is empty
    lower: Numbers
    upper: Numbers


@dataclass(frozen=True)
class ScoreHistogram:
    """Top scores of the proteins predicted to be in one class."""

    class_name: str  # The class
    shares: Bins  # Share of right predictions per bin of scores, method or no method
    edges: Numbers  # Finer bins, of the same width
    n_correct: Counts  # Right and wrong predictions per finer bin
    n_wrong: Counts


@dataclass(frozen=True)
class CurveFinding:
    """Confidence of one class under one method, over the top score."""

    method: str  # Whose it is
    class_name: str
    # Whether the method's confidence depends on the top score alone; else the values are means
    # over the proteins near each score.
    is_function: bool
    score: Numbers  # Where it was evaluated, ascending
    value: Numbers  # The confidence and its pointwise interval; NaN where there is none
    lower: Numbers
    upper: Numbers
    support: Numbers  # Effective number of calibration proteins near each score
    note: Counts  # A :class:`credence.confidence.Note` each


@dataclass(frozen=True)
class ScoreNeeded:
    """The least score from which on the interval's lower end stays above."""

    method: str  # Whose it is
    class_name: str
    confidence: float  # The confidence asked for
    score: float  # NaN where no score seen in calibration is enough


@dataclass(frozen=True)
class Reliability:
    """Confidence against the share of right predictions."""

    method: str  # The method
    class_name: str | None  # The predicted class; None: all
    sample: str  # ``in_sample`` or ``held_out``
    bins: Bins  # Over the confidence
    # Per bin, where the share would lie by chance were every confidence true and relatives right
    # or wrong together (consistency band).
    band_lower: Numbers = ()
    band_upper: Numbers = ()
    # Kernel estimate of the share right, at evenly spaced confidences from 0 to 1; NaN where there
    # is next to nothing.
    curve: Numbers = ()
    counts: Counts = ()  # Proteins in fine bins of the confidence


@dataclass(frozen=True)
class MetricValue:
    """One metric of one method."""

    method: str  # The method
    class_name: str | None  # The predicted class; None: all
    sample: str  # ``in_sample`` or ``held_out``
    metric: str  # Name in the registry of metrics
    value: float  # With its interval over clusters; NaN where it cannot be given
    lower: float
    upper: float
    n: int  # Proteins and clusters measured
    n_clusters: int
    n_excluded: int  # Proteins left out because the method gives them no confidence
    n_clipped: int  # Confidences within 1e-15 of 0 or 1


@dataclass(frozen=True)
class Difference:
    """A metric of one method minus that of the reference, pair by pair."""

    method: str  # What is compared with what
    reference: str
    class_name: str | None  # The predicted class; None: all
    sample: str  # As in :class:`MetricValue`
    metric: str
    value: float  # With its interval over clusters
    lower: float
    upper: float
    n: int  # Proteins to which both give a confidence


@dataclass(frozen=True)
class FittedParameter:
    """A number that fitting chose for one class."""

    method: str  # Whose it is
    class_name: str
    name: str  # ``bandwidth`` or ``cutoff`` (in score units), ``temperature`` or ``award``
    value: float  # What was chosen


@dataclass(frozen=True)
class Notice:
    """Something that a reader has to know."""

    kind: str  # What it is about: ``scarce class``, ``fallback``, ``ties``, …
    text: str  # One or two plain sentences
    class_name: str | None = None  # The class it concerns; None: all
    is_warning: bool = False  # Whether numbers must be read with care because of it


@dataclass(frozen=True)
class Results:
    """All that evaluating the methods on the calibration set gave."""

    class_names: tuple[str, ...]  # In the classifier's order
    scale: float  # What a row of scores sums to
    n_samples: int  # Of the calibration set and of the evaluation
    n_clusters: int
    n_correct: int
    n_ties: int
    n_folds: int
    n_draws: int
    level: float  # Coverage of the intervals
    confusion: tuple[Counts, ...]  # Proteins by true class (rows) and predicted class (columns)
    classes: tuple[ClassCount, ...]
    histograms: tuple[ScoreHistogram, ...] = ()
    curves: tuple[CurveFinding, ...] = ()
    scores_needed: tuple[ScoreNeeded, ...] = ()
    reliability: tuple[Reliability, ...] = ()
    metrics: tuple[MetricValue, ...] = ()
    # Of all metrics from the reference; and of the main ones, held-out, for every pair of methods.
    differences: tuple[Difference, ...] = ()
    pairs: tuple[Difference, ...] = ()
    floors: tuple[NoiseFloor, ...] = ()
    tests: tuple[CalibrationTest, ...] = ()
    # The same by weight, as shares of the true class: the confusion matrix.
    given_true: tuple[Numbers, ...] = ()
    # As shares of the predicted class: the reverse confusion matrix, whose diagonal is the class-
    # only confidence. NaN where a class is absent.
    given_predicted: tuple[Numbers, ...] = ()
    halves: tuple[Halves, ...] = ()
    counting: tuple[Counting, ...] = ()
    notices: tuple[Notice, ...] = ()
    parameters: tuple[FittedParameter, ...] = ()


@dataclass(frozen=True)
class ChoiceTrial:
    """How one candidate did on families it had not seen."""

    method: str  # The candidate
    held_out_nll: float  # Its mean negative log-likelihood
    difference: float  # The same less the best candidate's, pair by pair, and how sure that is
    standard_error: float


@dataclass(frozen=True)
class ClassChoice:
    """What was chosen for one class."""

    class_name: str  # The predicted class
    # The method (or all that are blended), and the candidates that the data cannot tell from the
    # best.
    chosen: tuple[str, ...]
    rivals: tuple[str, ...]
    n: int  # Proteins and families that judged
    n_clusters: int
    trials: tuple[ChoiceTrial, ...]  # All candidates, from simple to complex


@dataclass(frozen=True)
class SkippedCandidate:
    """A candidate that the data do not allow."""

    method: str  # Which, and why
    reason: str


@dataclass(frozen=True)
class MethodChoices:
    """The choices of one fitted `auto`."""

    method: str  # Its specification
    classes: tuple[ClassChoice, ...]  # One per class
    skipped: tuple[SkippedCandidate, ...] = ()  # Candidates that the data do not allow


@dataclass(frozen=True)
class SetClass:
    """The sets of the proteins of one class."""

    class_name: str | None  # The true class; None for all proteins
    n: int  # Proteins and families of it
    n_clusters: int
    is_always_in: bool  # Whether too few families are known, so that the class stands in every set
    # Share of held-out families' proteins whose set holds their class, every family counting once
    # in its class, with its interval.
    coverage: float
    lower: float
    upper: float
    coverage_proteins: float  # The same, every protein counting once
    mean_size: float  # Mean number of classes in a set, every family counting once


@dataclass(frozen=True)
class SetsFinding:
    """What the prediction sets are worth."""

    level: float  # What they promise
    kind: str  # ``class_wise`` or ``overall``
    n_folds: int  # Folds of whole families that were held out in turn
    families_needed: int  # Families a class needs so as not to stand in every set
    classes: tuple[SetClass, ...]  # One per class, in order
    all_classes: SetClass  # All proteins together
    sizes: Counts  # Held-out proteins whose set has 0, 1, 2, … classes
    n_single_right: int  # Of the sets of one class, how many name the true one


@dataclass(frozen=True)
class InputFinding:
    """What one method says of one kind of input."""

    kind: str  # ``held out``, or a kind of noise
    n: int  # Inputs
    mean: float  # Mean confidence
    quantiles: Numbers  # 5 %, 25 %, 50 %, 75 % and 95 % of the confidences
    trust_rank: float  # Spearman's rank correlation with the trust score
    ks: float  # Kolmogorov–Smirnov distance to MACEst's confidences of the same inputs


@dataclass(frozen=True)
class StudyMethod:
    """One method."""

    name: str  # Of the registry, or MACEst with the space it looks in
    is_macest: bool  # Whether it is MACEst
    nll: float  # On held-out families, with the interval over families
    nll_lower: float
    nll_upper: float
    ece: float  # Calibration error there, ten bins of equal count
    inputs: tuple[InputFinding, ...]  # Held-out proteins first, then each kind of noise
    at_mutations: Numbers  # Mean confidence at each share of residues mutated


@dataclass(frozen=True)
class StudySet:
    """One set on which all methods were tried."""

    name: str  # What it is, in a word and in a sentence
    about: str
    n_classes: int  # Classes that the classifier knows
    n_training: int  # Samples
    n_calibration: int
    n_held_out: int
    n_clusters: int  # Clusters among those held out
    accuracy: float  # Of the classifier, on those held out
    methods: tuple[StudyMethod, ...]  # All methods
    mutations: Numbers = ()  # Shares of residues mutated; empty for sets that are no proteins
    # Share of predictions that still name the class before mutation.
    accuracy_at_mutations: Numbers = ()
    is_simulated: bool = False  # Whether its samples are made, and say nothing about nature


@dataclass(frozen=True)
class NoveltyStudy:
    """The whole study."""

    level: float  # Coverage of the intervals
    sets: tuple[StudySet, ...]  # Proteins first, then the open sets
