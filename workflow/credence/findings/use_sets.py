"""The composition of a use-set, and what it does to confidences."""

from __future__ import annotations

from dataclasses import dataclass

from credence.findings.evaluated import Counts, Difference, MetricValue, Numbers, Reliability


@dataclass(frozen=True)
class ShiftClass:
    """One class in a use-set of another composition."""

    class_name: str  # The class
    calibration_share: float  # Its share in calibration; in the use-set, with its interval
    share: float
    lower: float
    upper: float
    applied: float  # The share that confidences are corrected for: between those two
    weight: float  # Ratio of the shares; NaN for a class that calibration does not hold
    n_predicted: int  # Proteins of the use-set predicted to be of it
    expected_predicted: float  # As many as the composition makes one expect
    effective_before: float  # Effective number of calibration proteins predicted, before and after
    effective_after: float
    score_median: float  # Median score of the calibration proteins predicted; NaN without any
    confidence_before: float  # Confidence there, uncorrected and corrected
    confidence_after: float
    # Least score from which on confidence is never below 90 %; NaN where there is none, or where
    # the score alone does not give the confidence.
    score_before: float
    score_after: float
    right: float  # Expected number of right predictions among those of the class
    right_lower: float
    right_upper: float
    elsewhere: float  # Expected number of proteins of the class predicted to be of another
    elsewhere_lower: float
    elsewhere_upper: float


@dataclass(frozen=True)
class ShiftCurve:
    """Confidence of one class over the score, uncorrected and corrected."""

    class_name: str  # The predicted class
    score: Numbers  # Where both were evaluated, ascending
    before: Numbers  # As calibrated, with its interval; NaN where there is none
    before_lower: Numbers
    before_upper: Numbers
    after: Numbers  # Corrected for the composition
    after_lower: Numbers
    after_upper: Numbers


@dataclass(frozen=True)
class ShiftFinding:
    """The composition of one use-set."""

    name: str  # Name of the use-set
    estimator: str  # What estimated it, and the method that was corrected
    method: str
    level: float  # Coverage of the intervals
    n_use: int  # Proteins, and those of them that stand for all; 0 where the estimator needs none
    n_cells: int
    compression_error: float  # Greatest change of a share that this makes, on a part of the set
    condition: float  # Condition number of P(predicted | true); NaN where it is singular
    # Part of the estimated shift that is corrected for: what chance does not explain. 1 for a
    # stated composition.
    part_applied: float
    p_no_shift: float  # See :class:`credence.shift.diagnostics.Diagnostics`
    gap: float
    p_label_shift: float
    right: float  # Expected number of right predictions, of all classes
    right_lower: float
    right_upper: float
    classes: tuple[ShiftClass, ...]  # One per class
    sentences: tuple[str, ...] = ()  # What a reader has to know before believing it
    remarks: tuple[str, ...] = ()  # How much of an estimated composition is corrected for
    # One per class that was predicted in calibration, where class and score give the confidence.
    curves: tuple[ShiftCurve, ...] = ()


@dataclass(frozen=True)
class WhatIfPart:
    """The calibration proteins predicted to be of one class and truly of one."""

    predicted: int  # The two classes, as places in the class names
    true: int
    mass: float  # Sum of their weights, and of the weights' squares
    mass_squared: float
    family_squared: float  # Sum of the squares of their families' weights
    density: Numbers  # How many of them lie near each score of the grid


@dataclass(frozen=True)
class WhatIf:
    """What every class's curve would be at any composition.

    Notes
    -----
    With w = share/calibration share of the true class, the confidence of
    predicted class k is (w_k f_kk + a c_k)/(Σ_j w_j f_kj + a), f the densities, a
    the prior weight and c_k the share right of the re-weighted class; c_k where
    there is no density. Where the effective number of re-weighted proteins is
    below `min_positives`, or all or none of them are right, it is
    (w_k m_kk + ½)/(Σ_j w_j m_kj + 1), m the masses.
    """

    method: str  # Whose curves these are
    # Whether the method is a ratio of sums, so that re-weighting is all that fitting it anew would
    # do; else its curve is moved by Bayes' rule.
    is_exact: bool
    calibration_share: Numbers  # Share of each class in calibration
    score: Numbers  # The grid, ascending
    prior_weight: float  # See the notes
    min_positives: float
    parts: tuple[WhatIfPart, ...]  # Pairs of classes that occur


@dataclass(frozen=True)
class NovelProtein:
    """One protein that is unlike those of the calibration set."""

    id: str  # The protein, and what the classifier says
    predicted_class: str
    confidence: float  # The published one; NaN where there is none
    novelty: float  # See :class:`credence.novelty.reference.Look`
    distance: float  # To the nearest calibration protein
    nearest: str  # That protein and its true class
    nearest_class: str
    training_distance: float  # To the nearest training protein; NaN where those are not known


@dataclass(frozen=True)
class Points:
    """Places along the first two axes."""

    x: Numbers  # One entry per protein
    y: Numbers
    n: int  # Of how many proteins these are a sample


@dataclass(frozen=True)
class NoveltyFinding:
    """The proteins of one use-set beside those that are known."""

    name: str  # The use-set
    features: str  # ``composition`` or ``vectors``
    n_components: int  # Axes of the space
    explained: Numbers  # Share of the variance along the first two axes
    flag: float  # Novelty above which a protein is flagged
    # Proteins; those with a place; those flagged; those at distance 0 of a calibration protein.
    n: int
    n_placed: int
    n_flagged: int
    n_repeats: int
    n_calibration: int  # Calibration proteins with a place
    n_training: int  # Training proteins with a place; 0 where those are not known
    confidence_flagged: float  # Mean confidence of the flagged and of the others; NaN without any
    confidence_others: float
    edges: Numbers  # Bins of the distance
    # Calibration proteins by distance to other families, and proteins of the use-set by distance
    # to the calibration set.
    calibration_counts: Counts
    use_counts: Counts
    flag_distance: float  # Distance beyond which a protein is flagged; NaN where nothing is known
    calibration: Points  # The map
    others: Points
    flagged: Points
    rows: tuple[NovelProtein, ...]  # The farthest of the flagged ones


@dataclass(frozen=True)
class FeatureFinding:
    """A feature, or why there is none."""

    name: str  # From the registry
    group: str
    summary: str
    missing: str = ""  # What it would need; empty where it was used


@dataclass(frozen=True)
class TunedFinding:
    """What tuning chose for one forecaster."""

    forecaster: str  # Its name, and in words what was tuned; empty: nothing
    setting: str
    value: float  # What was chosen on the whole set


@dataclass(frozen=True)
class Ablation:
    """What a group of features is worth."""

    group: str  # The group left out
    features: tuple[str, ...]  # Names of the features that went with it
    nll: Difference  # Without the group minus with all: above 0 the group helps
    brier: Difference


@dataclass(frozen=True)
class LearningPoint:
    """How good forecasts are that learn from part of the calibration set."""

    share: float  # Part of the clusters outside each fold that was learnt from
    n_learnt: int  # Proteins learnt from, on average over the folds
    metrics: tuple[MetricValue, ...]  # Held-out NLL, Brier score, calibration and sharpness


@dataclass(frozen=True)
class EventFinding:
    """One event."""

    name: str  # What it is called, and what it says
    words: str
    n: int  # Calibration proteins, their clusters, and those for which it came true
    n_clusters: int
    n_true: int
    share: float  # Weighted share of the latter
    note: str = ""  # Why its probability is no forecast; empty where it is one
    # Held-out, by forecaster; ``published`` is what tables carry.
    metrics: tuple[MetricValue, ...] = ()
    differences: tuple[Difference, ...] = ()  # Held-out, each forecaster minus ``published``
    reliability: tuple[Reliability, ...] = ()  # Of what is published, held-out
    tuned: tuple[TunedFinding, ...] = ()  # By forecaster
    ablations: tuple[Ablation, ...] = ()  # Of the forecaster that is published
    learning: tuple[LearningPoint, ...] = ()  # Of the same, from few proteins to all


@dataclass(frozen=True)
class Pooled:
    """What looking at all events at once would hide."""

    pooled: float  # Calibration part of the Brier score, all events in the same bins
    apart: float  # The mean of the same, each event in bins of its own
    n: int  # Proteins times events


@dataclass(frozen=True)
class EventsFinding:
    """All that was found of the events that were asked for."""

    forecaster: str  # Whose probabilities are published
    compared: tuple[str, ...]  # All that were judged, in the order shown
    n_folds: int  # Folds of whole clusters
    level: float  # Coverage of the intervals
    agrees: bool  # Whether the probability of the predicted class is the published confidence
    method: str  # The method of that confidence; empty: none was given
    features: tuple[FeatureFinding, ...]  # Of the registry
    events: tuple[EventFinding, ...]  # In the order asked for
    # Held-out forecasts that contradicted another one by more than a thousandth, so that they were
    # moved.
    n_moved: int
    nll_before: float  # Mean over events of the held-out NLL, before and after that
    nll_after: float
    pooled: Pooled | None = None  # With two events or more
