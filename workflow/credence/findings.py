"""What a run found, as frozen typed records: the report's only input.

Every number is computed before it stands here. The records hold plain Python
values, so that they go to JSON and back unchanged; NaN is null there. They
name no clock, host or path: the same inputs give the same records.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated

from credence.problems import plural
from credence.records import Stored
from credence.settings import setting

OTHER_CLASSIFIER = "another classifier"  # the kind of notice that stands at the top of the page
FINDINGS_SCHEMA = "credence/findings/4"
STEP_SCHEMA = "credence/compare/1"
# What is to be done with a prediction (`credence.lists.decision` decides).
DECISIONS = ACCEPT, CHECK, INSUFFICIENT = ("accept", "check", "insufficient data")
# Families that calibration proteins predicted to be of a class have, for it not to be scarce:
# predictions of a scarce class are insufficient data.
FEWEST_LISTED_FAMILIES = 10
CLIP = 1e-15  # keeps a confidence of 0 or 1 finite in a likelihood; counted
LEAST_MOVE = 0.005  # a confidence that moves by less than half a percentage point stays
LEAST_TESTED = 10  # families of a trove: fewer cannot tell anything at 5 %

Numbers = tuple[float, ...]
Counts = tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class NoiseFloor:
    """What a perfectly calibrated method would score on a calibration error."""

    method: str  # As in :class:`credence.findings.MetricValue`
    class_name: str | None  # The predicted class; None: all
    sample: str
    metric: str
    relatives_alike: bool  # Whether relatives were right or wrong together; the truth is between
    value: float  # Mean and quantiles of the simulated scores
    lower: float
    upper: float


@dataclass(frozen=True, kw_only=True)
class CalibrationTest:
    """A test of perfect calibration, on held-out proteins."""

    method: str  # The method
    class_name: str | None  # The predicted class; None: all
    test: str  # ``kolmogorov_smirnov``, ``kuiper``, ``spiegelhalter``, or its one-sided form
    statistic: float  # NaN where all confidences are 0 or 1 (for Spiegelhalter's also ½): no test
    p_value: float  # By random signs over clusters: valid with relatives
    p_adjusted: float  # The same, by Holm's rule over the classes; NaN over all
    p_independent: float  # By the law for independent proteins; too small with relatives
    power: float  # Chance to see, at 5 %, confidences five percentage points off throughout
    n: int  # Proteins and clusters tested
    n_clusters: int


@dataclass(frozen=True, kw_only=True)
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


@dataclass(frozen=True, kw_only=True)
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


@dataclass(frozen=True, kw_only=True)
class ScoreHistogram:
    """Top scores of the proteins predicted to be in one class."""

    class_name: str  # The class
    shares: Bins  # Share of right predictions per bin of scores, method or no method
    edges: Numbers  # Finer bins, of the same width
    n_correct: Counts  # Right and wrong predictions per finer bin
    n_wrong: Counts


@dataclass(frozen=True, kw_only=True)
class CurveFinding:
    """Confidence of one class under one method, over the top score."""

    method: str  # Whose it is
    class_name: str
    is_function: bool  # Of the top score alone; else values are means over the proteins near
    score: Numbers  # Where it was evaluated, ascending
    value: Numbers  # The confidence and its pointwise interval; NaN where there is none
    lower: Numbers
    upper: Numbers
    support: Numbers  # Effective number of calibration proteins near each score
    note: Counts  # A :class:`credence.confidence.Note` each


@dataclass(frozen=True, kw_only=True)
class Reliability:
    """Confidence against the share of right predictions."""

    method: str  # The method
    class_name: str | None  # The predicted class; None: all
    sample: str  # ``in_sample`` or ``held_out``
    bins: Bins  # Over the confidence
    band_lower: Numbers = ()  # Where it would lie by chance, relatives alike (consistency band)
    band_upper: Numbers = ()
    curve: Numbers = ()  # Kernel estimate of the precision, from 0 to 1; NaN: next to nothing
    counts: Counts = ()  # Proteins in fine bins of the confidence


@dataclass(frozen=True, kw_only=True)
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


@dataclass(frozen=True, kw_only=True)
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


@dataclass(frozen=True, kw_only=True)
class FittedParameter:
    """A number that fitting chose for one class."""

    method: str  # Whose it is
    class_name: str
    name: str  # ``bandwidth`` or ``cutoff`` (in score units), ``temperature`` or ``award``
    value: float  # What was chosen


@dataclass(frozen=True, kw_only=True)
class Caution:
    """What makes numbers of an evaluation less sure than they look; sentences are made of it."""

    kind: str  # ``ties``, ``fallback``, …: its template in :mod:`credence.sentences`
    class_name: str | None = None  # The class it concerns; None: all
    methods: tuple[str, ...] = ()  # Whose numbers; empty: of all
    note: str = ""  # What tables say of a fallback
    counts: Mapping[str, int] = field(default_factory=dict)  # What the template counts
    is_warning: bool = False  # Whether numbers must be read with care because of it


@dataclass(frozen=True, kw_only=True)
class Notice:
    """Something that a reader has to know."""

    kind: str  # What it is about: ``scarce class``, ``fallback``, ``ties``, …
    text: str  # One or two plain sentences
    class_name: str | None = None  # The class it concerns; None: all
    is_warning: bool = False  # Whether numbers must be read with care because of it


@dataclass(frozen=True, kw_only=True)
class Results:
    """All that evaluating the methods on the calibration set gave."""

    class_names: tuple[str, ...]  # In the classifier's order
    scale: float  # What a row of scores sums to
    # What judges: ``held_out`` (fits without each fold), or ``test`` (proteins that a finished
    # calibration never saw).
    sample: str = "held_out"
    n_samples: int  # Of the set that judges, and of the evaluation
    n_clusters: int
    n_correct: int
    n_folds: int  # 0 of a test set
    n_draws: int
    level: float  # Coverage of the intervals
    confusion: tuple[Counts, ...]  # Proteins by true class (rows) and predicted class (columns)
    classes: tuple[ClassCount, ...]
    histograms: tuple[ScoreHistogram, ...] = ()
    curves: tuple[CurveFinding, ...] = ()
    reliability: tuple[Reliability, ...] = ()
    metrics: tuple[MetricValue, ...] = ()
    differences: tuple[Difference, ...] = ()  # From the reference, of all metrics
    pairs: tuple[Difference, ...] = ()  # Of the main ones, held-out, for every pair of methods
    floors: tuple[NoiseFloor, ...] = ()
    tests: tuple[CalibrationTest, ...] = ()
    given_true: tuple[Numbers, ...] = ()  # By weight, as shares of the true class
    given_predicted: tuple[Numbers, ...] = ()  # As shares of the predicted class; NaN: absent
    cautions: tuple[Caution, ...] = ()
    parameters: tuple[FittedParameter, ...] = ()

    @property
    def evidence(self) -> str:
        """How many proteins judge, and of how many families where relatives are known."""
        proteins = plural(self.n_samples, "protein")
        if self.n_clusters == self.n_samples:
            return proteins
        return f"{proteins} in {plural(self.n_clusters, 'family', 'families')}"


@dataclass(frozen=True, kw_only=True)
class StackMember:
    """One member of a stack."""

    method: str
    held_out_nll: float  # Its mean negative log-likelihood on families it had not seen
    weight: float  # Over all classes
    reference: str = ""  # Of the method, from the registry


@dataclass(frozen=True, kw_only=True)
class SkippedCandidate:
    """A member that the data do not allow."""

    method: str  # Which, and why
    reason: str


@dataclass(frozen=True, kw_only=True)
class StackFinding:
    """What one fitted `auto` rests on."""

    method: str  # Its specification
    n: int  # Proteins and families that judged
    n_clusters: int
    held_out_nll: float  # Of the stack itself
    members: tuple[StackMember, ...]  # All that were tried, from simple to complex
    # Weights over all classes where predicted class and top score alone are known.
    score_only: Mapping[str, float]
    skipped: tuple[SkippedCandidate, ...] = ()

    @property
    def sees_score_alone(self) -> bool:
        """Whether no member that counts looks at more than predicted class and top score."""
        return {member.method for member in self.members if member.weight > 0} <= set(
            self.score_only
        )


@dataclass(frozen=True, kw_only=True)
class SetClass:
    """The sets of the proteins of one class."""

    class_name: str | None  # The true class; None for all proteins
    n: int  # Proteins and families of it
    n_clusters: int
    is_always_in: bool  # Whether too few families are known, so that the class stands in every set
    is_pooled: bool  # Whether too few are known for a threshold of its own, so that it shares one
    coverage: float  # Share whose set holds their class, every family counting once in its class
    lower: float
    upper: float
    coverage_proteins: float  # The same, every protein counting once
    mean_size: float  # Mean number of classes in a set, every family counting once


@dataclass(frozen=True, kw_only=True)
class SetsFinding:
    """What the prediction sets are worth."""

    level: float  # What they promise
    kind: str  # ``class_wise`` or ``overall``
    n_folds: int  # Folds of whole families that were held out in turn
    families_needed: int  # Families a class needs to have a threshold of its own
    classes: tuple[SetClass, ...]  # One per class, in order
    all_classes: SetClass  # All proteins together
    pooled: SetClass | None  # Those of all classes that share a threshold; None: there are none
    lending: tuple[str, ...]  # Larger classes whose families count for that threshold too
    sizes: Counts  # Held-out proteins whose set has 0, 1, 2, … classes
    n_single_right: int  # Of the sets of one class, how many name the true one


@dataclass(frozen=True, kw_only=True)
class TestSet:
    """How good finished calibrations are on proteins that they never saw."""

    results: Results
    sets: SetsFinding | None  # Of the prediction sets of the published method
    notices: tuple[Notice, ...]  # What the set is, and who was left out of it


@dataclass(frozen=True, kw_only=True)
class DriftTest:
    """One test of the old calibration on the trove."""

    test: str  # ``kolmogorov_smirnov`` or ``spiegelhalter``
    is_corrected: bool  # Whether corrected for the trove's own class frequencies
    p_value: float
    p_adjusted: float
    power: float


@dataclass(frozen=True, kw_only=True)
class DriftClass:
    """The trove's proteins predicted to be in one class, under the old calibration."""

    class_name: str | None  # The class; None: all
    n: int  # Proteins, their families, right predictions
    n_clusters: int
    n_correct: int
    n_unknown: int  # Proteins left out: the old calibration gives them no confidence
    expected: float  # Right predictions that the old confidences make one expect
    nll_old: float  # Held-out mean on the old set, mean on the trove
    nll_trove: float
    lower: float  # Ends of the interval of the difference, over families
    upper: float
    tests: tuple[DriftTest, ...]  # Those that can be made


@dataclass(frozen=True, kw_only=True)
class DriftTruth:
    """Whether proteins truly in one class score in the trove as they did before."""

    class_name: str  # The true class
    n_old: int  # Proteins and families
    n_trove: int
    n_clusters_old: int
    n_clusters_trove: int
    right_old: float  # Shares predicted to be in it
    right_trove: float
    distance: float  # Of the distributions of the top score, negative where wrong: the greatest
    p_value: float  # By exchanging whole families between the two
    p_adjusted: float


@dataclass(frozen=True, kw_only=True)
class Drift:
    """Whether a trove agrees with the calibration before it."""

    n: int  # Proteins of the trove that were looked at, and their families
    n_clusters: int
    n_joined: int  # Those left out: the old set has relatives of them
    classes: tuple[DriftClass, ...]  # All first, then per predicted class
    truths: tuple[DriftTruth, ...]  # Per true class that both hold
    is_corrected: bool = False  # Whether judged at the trove's own class frequencies, too


@dataclass(frozen=True, kw_only=True)
class SetAside:
    """One protein of a trove that does not calibrate, and why."""

    id: str  # The protein and its label
    true_class: str
    relative: str  # The protein that decided it, with its class; '' where there is none
    relative_class: str
    identity: float  # Likeness to that one; NaN where not known
    coverage: float
    reason: str  # In words


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What became of some proteins of a trove."""

    outcome: str  # Its name in the table of the trove, and in words
    meaning: str
    n: int  # Proteins
    examples: tuple[SetAside, ...] = ()  # The first of them by id; none of those that were added


EXACT_REPEAT = "exact_repeat"  # an outcome: the set has the protein, with the same label


@dataclass(frozen=True, kw_only=True)
class ReleaseState:
    """One release of the calibration set."""

    name: str  # Of its trove; ``base`` for the first. A file's name without releases.
    number: int  # Its place in the chain
    date: str | None  # As the configuration states it
    digest: str  # Of the release; '' where a calibration file alone was given
    n_calibration: int  # Proteins that calibrate, right predictions among them, their families
    n_correct: int
    n_clusters: int
    outcomes: tuple[Outcome, ...] = ()  # What became of its trove; none for the first
    n_rescored: int = 0  # Exact repeats in its trove whose scores are not the old ones


@dataclass(frozen=True, kw_only=True)
class Change:
    """A number before and after; ``total = evidence + composition``, that of the class mix."""

    # In the older release; in the newer one, re-weighted to the older's class frequencies; in the
    # newer one as it is.
    before: float
    fixed: float
    after: float
    total_lower: float  # Ends of the interval of each difference; NaN where there is none
    total_upper: float
    evidence_lower: float
    evidence_upper: float
    composition_lower: float  # Likewise
    composition_upper: float

    @property
    def total(self) -> float:
        """The whole change."""
        return self.after - self.before

    @property
    def evidence(self) -> float:
        """The change at fixed frequencies."""
        return self.fixed - self.before

    @property
    def composition(self) -> float:
        """The change that re-weighting makes."""
        return self.after - self.fixed


@dataclass(frozen=True, kw_only=True)
class ParameterChange:
    """What fitting chose for a class, before and after; NaN where nothing."""

    name: str
    before: float
    after: float


@dataclass(frozen=True, kw_only=True)
class ClassChange:
    """What a trove changed for the proteins predicted to be in one class."""

    class_name: str  # The class
    # Before and after: proteins in it, predicted to be, both, and families among those predicted.
    n_true: tuple[int | None, ...]  # None where the proteins are not at hand
    n_predicted: Counts
    n_correct: Counts
    n_clusters: Counts
    parameters: tuple[ParameterChange, ...]  # Bandwidth, cutoff and so on
    # Where `change` is: the median score of the older release's predictions; NaN where the score
    # alone does not give the confidence, then `change` is of the mean over the newer release's
    # predictions of the class.
    score: float
    change: Change | None  # Of the confidence; None without predictions or proteins
    share: Change | None  # Of the precision, whatever the score
    # Whether its confidences differ, be it that nothing was added to it: where all classes share a
    # parameter, or relatives lightened its proteins.
    is_moved: bool = False

    @property
    def is_touched(self) -> bool:
        """Whether proteins predicted to be in the class or in it were added, or it moved."""
        if self.is_moved:
            return True
        pairs = (self.n_true, self.n_predicted, self.n_correct, self.n_clusters)
        return any(first != second for first, second in pairs)


@dataclass(frozen=True, kw_only=True)
class MetricChange:
    """A held-out metric before and after, on the proteins that are in both."""

    class_name: str | None  # The predicted class; None: all
    metric: str  # Name in the registry of metrics
    sample: str  # ``old``: calibration proteins, cross-fitted in both; ``test``: the test group
    before: float  # Means
    after: float
    lower: float  # Ends of the interval of after − before, over families
    upper: float
    n: int  # Proteins


@dataclass(frozen=True, kw_only=True)
class ReleaseStep:
    """From one release to a later one."""

    older: ReleaseState  # The two
    newer: ReleaseState
    method: str  # Whose confidences are compared
    scale: float  # Of the scores; coverage of the intervals
    level: float
    classes: tuple[ClassChange, ...]  # One per class
    metrics: tuple[MetricChange, ...] = ()  # Held-out, on the same proteins
    n_compared: int = 0  # Proteins compared, and those moved by half a percentage point or more
    n_moved: int = 0
    n_lightened: int = 0  # Old proteins that weigh less now, since relatives joined their families
    drift: Drift | None = None  # None where there are no new proteins to look at
    schema: str = field(default=STEP_SCHEMA, init=False)


@dataclass(frozen=True, kw_only=True)
class ReleasesFinding:
    """All releases of the run, and what each changed."""

    releases: tuple[ReleaseState, ...]  # In the order of the chain
    steps: tuple[ReleaseStep, ...]  # From each to the next


@dataclass(frozen=True, kw_only=True)
class ShiftClass:
    """One class in a query set of another composition."""

    class_name: str  # The class
    calibration_proportion: float  # Its share in calibration; in the query set, with its interval
    share: float
    lower: float
    upper: float
    applied: float  # The share that confidences are corrected for: between those two
    weight: float  # Ratio of the shares; NaN for a class that calibration does not hold
    n_predicted: int  # Proteins of the query set predicted to be of it
    effective_before: float  # Effective number of calibration proteins predicted, before and after
    effective_after: float
    score_median: float  # Median score of the calibration proteins predicted; NaN without any
    confidence_before: float  # Confidence there, uncorrected and corrected
    confidence_after: float
    elsewhere: float  # Expected number of proteins of the class predicted to be of another
    elsewhere_lower: float
    elsewhere_upper: float


@dataclass(frozen=True, kw_only=True)
class ShiftCurve:
    """Confidence of one class over the score, corrected for a composition."""

    class_name: str  # The predicted class
    score: Numbers  # Where it was evaluated, ascending
    after: Numbers  # With its interval; NaN where there is none
    after_lower: Numbers
    after_upper: Numbers


@dataclass(frozen=True, kw_only=True)
class ShiftedRows:
    """That rows stand under wrong ids: against the labels, or those of one network."""

    n: int  # Proteins
    accuracy: float  # Share predicted right; NaN without labels
    largest: float  # Share of the largest class
    agreement: float  # Of predictions and labels beyond chance (Cohen's kappa); NaN without labels
    # That network, by its place from 1; 0: none. Agreement beyond chance with the others, and
    # of these among themselves.
    network: int = 0
    n_networks: int = 0
    with_others: float = 1.0
    among_others: float = 1.0
    is_like_chance: bool = False  # Whether scores tell nothing about the labels


@dataclass(frozen=True, kw_only=True)
class Sameness:
    """Whether a query set's scores are like those that were calibrated, whatever its mix."""

    n: int  # Proteins that were looked at
    p_value: float  # Least of those tested, after Holm's correction
    effect: float  # Mean |change of confidence| if top scores were matched
    moved: float  # Share predicted as one of two classes whose columns are exchanged
    is_changed: bool  # Whether a warning is given
    power: float = 0.0  # Chance to notice scores that put confidences five percentage points off
    exchanged: tuple[str, ...] = ()  # Two classes: with their columns exchanged names are right
    is_misnamed: bool = False  # Whether columns stand under wrong names
    # Whether one network's rows stand under wrong ids, and which
    rows: Annotated[ShiftedRows | None, Stored(is_left_out=True)] = None
    # Homologues of training proteins, whose scores are not compared; None: nobody knows which
    n_learnt: Annotated[int | None, Stored(is_left_out=True)] = None


@dataclass(frozen=True, kw_only=True)
class KnownRelatives:
    """Proteins of a query set whose nearest known protein is a homologue of theirs."""

    n: int  # Proteins that were compared
    n_learnt: int  # Homologues of what the classifier learnt from, and of calibration proteins
    n_calibration: int
    knows_training: bool  # Whether it is known what the classifier learnt from
    confidence_learnt: float  # Mean confidence of the former and of all others; NaN without any
    confidence_others: float
    sameness: Sameness | None  # Whether scores of all but the former are like those calibrated

    @property
    def n_known(self) -> int:
        """Homologues of any known protein."""
        return self.n_learnt + self.n_calibration


@dataclass(frozen=True, kw_only=True)
class CorrectedQuality:
    """Corrected confidences of calibration proteins, cross-validated by family."""

    class_name: str | None  # The predicted class; None: all of them
    n: int  # Proteins, and their families; each counts as often as the proportions say
    n_families: int
    confidence: float  # Mean
    precision: float  # With its interval
    lower: float
    upper: float
    loss: float  # Mean negative log-likelihood


@dataclass(frozen=True, kw_only=True)
class CappedWeight:
    """A class whose weight is held, since calibration has few independent proteins of it."""

    class_name: str
    n: float  # Effective proteins in calibration
    asked: float  # The weight by the estimate, and the one that is applied
    applied: float


@dataclass(frozen=True, kw_only=True)
class MixDoubts:
    """What has to be known of the class proportions of a query set before believing them."""

    n_classes: int = 0
    missing: tuple[str, ...] = ()  # Classes that the calibration set does not hold
    # Classes whose share is as good as unknown: taken for others, or seen too seldom
    confused: tuple[str, ...] = ()
    scarce: tuple[str, ...] = ()
    is_estimated: bool = False  # Not stated, nor calibration's
    is_inseparable: bool = False  # Whether some classes cannot be estimated apart
    capped: tuple[CappedWeight, ...] = ()
    # Proteins of a set too small to tell its proportions, and how many are needed; 0 elsewhere
    n_too_few: int = 0
    n_needed: int = 0
    is_assumed: bool = False  # Whether calibration's wrong predictions were only counted


@dataclass(frozen=True, kw_only=True)
class ShiftFinding:
    """The composition of one query set."""

    name: str  # Name of the query set
    estimator: str  # What estimated it, and the method that was corrected
    method: str
    level: float  # Coverage of the intervals
    n_query: (
        int  # Proteins, and those of them that stand for all; 0 where the estimator needs none
    )
    n_cells: int
    compression_error: float  # Greatest change of a share that this makes, on a part of the set
    condition: float  # Condition number of P(predicted | true); NaN where it is singular
    part_applied: float  # Part of the estimated shift that chance does not explain; 1 where stated
    p_no_shift: float  # See :class:`credence.composition.diagnostics.Diagnostics`
    gap: float
    p_label_shift: float
    classes: tuple[ShiftClass, ...]  # One per class
    doubts: MixDoubts = MixDoubts()
    curves: tuple[ShiftCurve, ...] = ()  # One per class predicted in calibration, of its score
    # On the score, at the corrected proportions; without a guarantee, which is of calibration's.
    thresholds: tuple["Threshold", ...] = ()
    reference: str = ""  # Of the estimator
    is_other_kind: bool = False  # Whether no mix of the classes explains its scores
    # None where no answer is possible
    sameness: Annotated[Sameness | None, Stored(is_left_out=True)] = None
    # At the class proportions that confidences are corrected for; none where they are not
    judged: tuple[CorrectedQuality, ...] = ()


@dataclass(frozen=True, kw_only=True)
class DistanceBand:
    """What was promised and what was right at one distance from known families."""

    name: str  # Identity with the best relative of another family
    n: int  # Calibration proteins, each with its family left out
    n_families: int
    promised: float  # Mean confidence; NaN, like the rest, where the families are too few
    right: float  # Share right, with its interval: relatives count as one
    lower: float
    upper: float
    p: float  # That both are the same, after Holm
    is_off: bool  # Whether they differ beyond noise


@dataclass(frozen=True, kw_only=True)
class NoveltyFinding:
    """The proteins of one query set beside those that are known."""

    name: str  # The query set
    features: str  # ``composition`` or ``vectors``
    flag: float  # A protein is flagged where p is 1 less this share, or smaller
    n: int  # Proteins; with a place; flagged; at distance 0 of a calibration protein
    n_placed: int
    n_flagged: int
    n_repeats: int
    n_off: int  # Proteins at an identity where held-out confidences were off beyond noise
    n_calibration: int  # Calibration proteins with a place
    n_families: int  # Families that stand for new ones, one protein each
    n_training: int  # Training proteins with a place; 0 where those are not known
    confidence_flagged: float  # Mean confidence of the flagged and of the others; NaN without any
    confidence_others: float
    edges: Numbers  # Bins of how far proteins are
    # Known families by how far they are from the others, and proteins of the query set.
    calibration_counts: Counts
    use_counts: Counts
    flag_distance: float  # How far a flagged protein is at least; NaN where none can be
    relatives: KnownRelatives | None = None  # None where proteins are not compared by sequences


@dataclass(frozen=True, kw_only=True)
class FeatureFinding:
    """A feature, or why there is none."""

    name: str  # From the registry
    group: str
    summary: str
    missing: str = ""  # What it would need; empty where it was used


@dataclass(frozen=True, kw_only=True)
class TunedFinding:
    """What tuning chose for one forecaster."""

    forecaster: str  # Its name, and in words what was tuned; empty: nothing
    setting: str
    value: float  # What was chosen on the whole set


@dataclass(frozen=True, kw_only=True)
class LearningPoint:
    """How good forecasts are that learn from part of the calibration set."""

    share: float  # Part of the clusters outside each fold that was learnt from
    n_learnt: int  # Proteins learnt from, on average over the folds
    metrics: tuple[MetricValue, ...]  # Held-out NLL, Brier score, calibration and sharpness


@dataclass(frozen=True, kw_only=True)
class EventFinding:
    """One event."""

    name: str  # What it is called, and what it says
    words: str
    n: int  # Calibration proteins, their clusters, and those for which it came true
    n_clusters: int
    n_true: int
    share: float  # Weighted share of the latter
    note: str = ""  # Why its probability is no forecast; empty where it is one
    metrics: tuple[MetricValue, ...] = ()  # Held-out; ``published`` is what tables carry
    differences: tuple[Difference, ...] = ()  # Held-out, each forecaster minus ``published``
    reliability: tuple[Reliability, ...] = ()  # Of what is published, held-out
    tuned: tuple[TunedFinding, ...] = ()  # By forecaster
    # Of the forecaster that is published, from few proteins to all.
    learning: tuple[LearningPoint, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Pooled:
    """What looking at all events at once would hide."""

    pooled: float  # Calibration part of the Brier score, all events in the same bins
    apart: float  # The mean of the same, each event in bins of its own
    n: int  # Proteins times events


@dataclass(frozen=True, kw_only=True)
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
    n_moved: int  # Forecasts that contradicted another by over a thousandth, so were moved
    nll_before: float  # Mean over events of the held-out NLL, before and after that
    nll_after: float
    pooled: Pooled | None = None  # With two events or more
    reference: str = ""  # Of the forecaster


@dataclass(frozen=True, kw_only=True)
class Measured:
    """A mean over proteins, with its interval over families; NaN where there is none."""

    value: float
    lower: float
    upper: float


@dataclass(frozen=True, kw_only=True)
class ToolFinding:
    """What one tool of several adds, on held-out families."""

    name: str  # The tool
    n_answered: int  # Calibration proteins that it answered
    nll: Measured  # Of the true class, by this tool alone
    accuracy: Measured  # The same: share of proteins whose most probable class is the true one
    adds: Measured  # NLL by all others less that by all; above 0 where the tool helps
    unnamed: tuple[str, ...]  # Classes of the run that it cannot name


@dataclass(frozen=True, kw_only=True)
class Disagreement:
    """Proteins held out for which two tools name different classes."""

    first: str  # The tools
    second: str
    n: int  # Such proteins, and their families
    n_clusters: int
    first_right: Measured  # Share of them for which the first is right, the second, all combined
    second_right: Measured
    combined_right: Measured


@dataclass(frozen=True, kw_only=True)
class ToolsFinding:
    """Several tools combined, judged on held-out families."""

    n: int  # Calibration proteins and their families
    n_clusters: int
    level: float  # Coverage of the intervals
    nll: Measured  # Of the true class, by all combined
    accuracy: Measured
    tools: tuple[ToolFinding, ...]
    pairs: tuple[Disagreement, ...]
    best: str  # The tool that has the least NLL alone
    above_best: float  # The combined NLL less that tool's, with the paired standard error
    error: float
    alone: str  # That tool, where all combined are worse by more than that error; else empty


@dataclass(frozen=True, kw_only=True)
class InputFile:
    """One file that the run read."""

    role: str  # What it was read as: ``calibration scores``, ``proteins``, …
    name: str  # Its name as the configuration gives it, never an absolute path
    sha256: str  # Digest of its bytes
    n_records: int | None = None  # Rows or sequences read from it


@dataclass(frozen=True, kw_only=True)
class Setting:
    """One setting of the run, as text."""

    name: str  # Its key, with dots: ``clustering.identity``
    value: str  # Its value


@dataclass(frozen=True, kw_only=True)
class Look:
    """That somebody looked at the figure of each class by eye."""

    by: str  # Who
    date: str  # The day that was given; no clock is read
    figures: str  # Digest of the numbers that the figures showed


@dataclass(frozen=True, kw_only=True)
class Provenance:
    """Where the numbers come from."""

    run: str  # Name of the run
    title: str  # What the page is called
    credence_version: str  # Version of the package
    is_simulated: bool = False  # Stated wherever numbers are shown
    inputs: tuple[InputFile, ...] = ()  # What was read
    settings: tuple[Setting, ...] = ()  # Every setting that can change a number
    versions: tuple[Setting, ...] = ()  # Python and the libraries that computed the numbers
    looked: Annotated[Look | None, Stored(is_left_out=True)] = (
        None  # None: nobody, as far as known
    )
    documentation: Annotated[str | None, Stored(is_left_out=True)] = None  # Its address


@dataclass(frozen=True, kw_only=True)
class MethodFinding:
    """One method that was fitted."""

    name: str  # Its specification: ``kernel(bandwidth=mon4)``
    summary: str  # From the registry
    reference: str
    settings: tuple[Setting, ...] = ()  # All of its settings, defaults too
    prose: str = ""  # The same as a reader of a paper has to have them


@dataclass(frozen=True, kw_only=True)
class SplitClass:
    """One true class in the split."""

    class_name: str  # The class
    n: int  # Proteins in groups, and their clusters
    n_clusters: int
    deviation: float  # Part that would have to move to be even; the part that whole clusters force
    lower_bound: float
    n_examined: int  # Proteins audited, and those with a relative in another group
    n_crossing: int


@dataclass(frozen=True, kw_only=True)
class CrossingPair:
    """Two relatives in two groups."""

    first: str  # The two, and where they are
    first_group: str
    second: str
    second_group: str
    identity: float  # Of their alignment
    coverage: float


@dataclass(frozen=True, kw_only=True)
class SplitGroup:
    """One group."""

    name: str  # The group
    n: int  # Proteins
    nearest: Counts  # Audited ones by identity of the nearest elsewhere, in bins of the edges
    n_alone: int  # Audited proteins that nothing elsewhere resembles beyond chance


@dataclass(frozen=True, kw_only=True)
class Apart:
    """Proteins set aside for one kind of reason."""

    reason: str  # Why
    n: int  # How many


@dataclass(frozen=True, kw_only=True)
class LargeCluster:
    """A cluster larger than a group that was left whole."""

    cluster: str  # Its name
    n: int  # Its proteins
    price: int = 0  # Proteins that the cheapest cut sets aside, and parts off; 0: none leaves two
    parted: int = 0
    is_searched: bool = True  # Whether a cut was looked for
    n_tried: int = 0  # Sequences of it that were looked at, the others judged by them; 0: all


@dataclass(frozen=True, kw_only=True)
class SplitFinding:
    """The split of a run."""

    identity: float  # Thresholds of relatives
    coverage: float
    both_sides: bool  # Whether both proteins have to be covered
    strict: str  # What is done about relatives in two groups
    is_audited: bool  # Whether it was audited, and whether every protein was
    is_exhaustive: bool
    n_sampled: int  # Proteins that were examined, and all in groups
    n_population: int
    n_crossing_sampled: int  # Of those examined, how many cross
    bound: float  # Share of all in groups that is not exceeded by those crossing, at 95 %
    n_joined: int  # Clusters joined for what the audit found
    largest_share: float  # Share of the proteins in the largest cluster
    size_low: float  # Smallest and greatest group over the mean group
    size_high: float
    classes: tuple[SplitClass, ...]  # By class
    groups: tuple[SplitGroup, ...]  # By group
    edges: Numbers  # Of the histograms of nearest identity
    worst: tuple[CrossingPair, ...] = ()  # The closest pairs in two groups
    apart: tuple[Apart, ...] = ()  # What was set aside
    most_expected: float | None = 1e-6  # Of alignments of random proteins; None: chance not asked
    n_met: int = 0  # Others that cross: met among the pairs that are likeliest to
    n_counted: int = 0  # Audited for pairs that chance may explain, and such pairs elsewhere
    n_by_chance: int = 0
    n_cut: int = 0  # Clusters larger than a group that were cut
    cut: str = "auto"  # Whether such clusters are cut: auto or never
    cut_limit: float = 0.02  # Share of the proteins that cutting may set aside
    whole: tuple[LargeCluster, ...] = ()  # Not cut, or not far enough
    weigh: str = "proteins"  # What is counted to balance the groups: proteins or clusters
    n_apart: int = 0  # Set aside for relatives in two groups; the least that would have to be
    n_least: int = 0
    # What made the clusters: `aligned` (sequences), `table` (one that was given), `phanns` (its
    # recipe), `none` (every protein is alone); empty where that is not known.
    clusters: str = ""
    n_training: int = 0  # Training proteins whose relatives were set aside; 0: none were given

    @property
    def uneven(self) -> float:
        """The part of a class that would have to move to be even, in the mean."""
        return sum(entry.deviation for entry in self.classes) / max(len(self.classes), 1)

    @property
    def forced(self) -> float:
        """How much of that whole clusters force."""
        return sum(entry.lower_bound for entry in self.classes) / max(len(self.classes), 1)


@dataclass(frozen=True, kw_only=True)
class JoinedAudit:
    """Whether proteins that joined in troves have relatives in other groups."""

    n: int  # Proteins that joined
    n_examined: int  # Of those, compared with every protein of other groups
    n_crossing: int  # Of those that were compared, with a relative there


@dataclass(frozen=True, kw_only=True)
class Threshold:
    """From where on predictions of a class are right as often as wanted."""

    class_name: str | None  # None: of all classes together
    on: str  # What the threshold is of: `score`, or `confidence` of held-out proteins
    precision: float  # The precision that is wanted
    n: int  # Predictions of the class in calibration; with 0 there is no threshold
    # As estimated; NaN where no threshold has it.
    threshold: float
    kept: float  # Share of the predictions that it lets through
    kept_true: float  # Share of the members of the class that are let through and right
    n_families: int  # With a member let through
    right: float  # Share right of what is let through, with its interval
    right_lower: float
    right_upper: float
    # With a guarantee for new families; NaN where no threshold has it.
    sure: float
    sure_kept: float
    sure_kept_true: float
    sure_families: int
    n_more: int  # Where there is none: how many more families, all of them right, would give it


@dataclass(frozen=True, kw_only=True)
class ErrorCurve:
    """What is kept and how much of it is wrong, for each end of a list."""

    class_name: str | None  # None: of all classes together
    confidence: Numbers  # Least confidence of the list, ascending
    kept: Numbers  # Share of the predictions in it
    error: Numbers  # Estimated share wrong
    bound: Numbers  # Its upper end, with the certainty for all of them together


@dataclass(frozen=True, kw_only=True)
class AllThresholds:
    """Thresholds of every class, and the error of what they let through."""

    certainty: float  # Of the guarantee and of the bounds
    level: float  # Of the intervals
    rows: tuple[Threshold, ...]
    curves: tuple[ErrorCurve, ...]


@dataclass(frozen=True, kw_only=True)
class ClassShare:
    """The predictions of one class that are on a list of several classes."""

    class_name: str
    n: int
    estimate: float  # Share of them expected to be wrong; NaN where there are none
    n_kept_off: int  # Others as sure as the list, of which more than the rate would be wrong


@dataclass(frozen=True, kw_only=True)
class ProteinList:
    """The longest list of predictions of a query set with at most so many wrong ones."""

    class_name: str | None  # None: of all calls, or of all background predictions, together
    error: float  # The share wrong that is allowed
    is_certain: bool  # Whether the bound keeps to it, or the estimate only
    confidence: float  # The least one in it; NaN where the list is empty
    n: int
    n_families: int  # Of calibration, with a member of at least that confidence
    right: float  # Members expected to be right, with a predictive interval
    right_lower: float
    right_upper: float
    alike_lower: float  # The same if relatives were all right or all wrong together
    alike_upper: float
    estimate: float  # Share expected to be wrong, and its bound
    bound: float
    is_background: bool = False  # Whether its predictions are of background classes
    # Greatest part of the calibration proteins behind it that is of one family.
    largest_family: float = 0.0
    classes: tuple[ClassShare, ...] = ()  # Of a list of several classes, those that are on it
    sum_confidence: float = math.nan  # Of all predictions of a query set, the sum of confidences

    @property
    def holds_sum(self) -> bool:
        """Whether the sum of the confidences is as held-out predictions show, to a whole one."""
        least, most = math.floor(self.right_lower), math.ceil(self.right_upper)
        return least <= self.sum_confidence <= most

    @property
    def kept_off(self) -> list[ClassShare]:
        """The classes of which predictions are kept off the list."""
        return [part for part in self.classes if part.n_kept_off]


@dataclass(frozen=True, kw_only=True)
class VerifyClass:
    """How many predictions of a class to verify next, and what that would show."""

    class_name: str
    n: int
    width: float  # Mean width of its intervals now, and after
    width_after: float


@dataclass(frozen=True, kw_only=True)
class UseLists:
    """Which predictions of a query set can be used."""

    name: str  # The query set
    n: int  # Its predictions that have a confidence
    n_calls: int  # Of these, calls: predictions of classes that are not background
    n_listable: int  # Calls that may be on a list: with data enough and no note against them
    background: tuple[str, ...]  # Background classes, and whether their usual names showed them
    is_background_found: bool
    least_confidence: float  # Below it no list reaches
    family_share: float  # Greatest part of one family before a list says so
    certainty: float
    level: float
    is_adjusted: bool  # Whether confidences corrected for another mix of classes are used
    lists: tuple[ProteinList, ...]
    every: tuple[ProteinList, ...]  # All predictions, not chosen: of all classes, then of each
    curve: ErrorCurve
    n_verify: int = 0  # How many verifications the next field divides
    verify: tuple[VerifyClass, ...] = ()

    def together(self, *, is_background: bool = False) -> list[ProteinList]:
        """Return the lists of all calls together, or of all background predictions."""
        return [
            entry
            for entry in self.lists
            if entry.class_name is None and entry.is_background == is_background
        ]

    @property
    def background_in_words(self) -> str:
        """The background classes for a sentence."""
        *first, last = self.background or ("",)
        return f"{', '.join(first)} or {last}" if first else last

    @property
    def accepted(self) -> ProteinList | None:
        """The list of the calls whose decision is `accept`; None where no list is asked for."""
        return next((entry for entry in self.together() if not entry.is_certain), None)


@dataclass(frozen=True, kw_only=True)
class Genomes:
    """Whether every call of a genome of a query set is right."""

    name: str  # The query set
    calls: tuple[str, ...]  # The classes whose calls count; none: all
    knows_relatives: bool  # Whether relatives among the calls were known
    n: int
    n_calls: int
    expected_wrong: float  # Calls, and genomes of which every call is right
    expected_right: float
    sure: float  # A probability, and the genomes of which that is so probable
    n_sure: int


@dataclass(frozen=True, kw_only=True)
class DoubtfulLabel:
    """A calibration protein whose label another class contradicts."""

    id: str
    label: str
    suggested: str  # The class for which most speaks
    false: float  # Share of right labels in the list down to here, by a cautious estimate
    why: str  # The evidence in words


@dataclass(frozen=True, kw_only=True)
class DoubtfulLabels:
    """What was found of the calibration set's labels."""

    n: int
    n_listed: int
    sentences: tuple[str, ...]  # How sure the list is
    first: tuple[DoubtfulLabel, ...]  # The most doubtful ones of the list


@dataclass(frozen=True, kw_only=True)
class UseClass:
    """The proteins of a query set that are predicted to be in one class."""

    class_name: str  # The class
    n: int  # Proteins predicted
    n_unknown: int  # Of these, how many have no confidence
    n_accept: int  # Proteins by decision; of the others the data are insufficient
    n_check: int
    n_in_range: int  # Proteins whose confidence lies in its interval before it was corrected
    n_right: int | None = None  # Right ones of those with a confidence, where the truth is known

    @property
    def n_evident(self) -> int:
        """Proteins for which the data are sufficient."""
        return self.n_accept + self.n_check


@dataclass(frozen=True, kw_only=True)
class ProteinRows:
    """The predictions of a query set that a reader searches on the page, column by column."""

    ids: tuple[str, ...]
    classes: Counts  # Place of the predicted class among the classes; -1: none
    confidence: Numbers  # With its interval; NaN where there is none
    lower: Numbers
    upper: Numbers
    decisions: Counts  # Place among the decisions
    texts: tuple[str, ...]  # The notes that differ, and the place of each protein's among them
    notes: Counts
    nearest: tuple[str, ...] = ()  # The nearest known protein; none where nobody looked
    identity: Numbers = ()  # With it
    genomes: tuple[str, ...] = ()  # Of each protein; none where they are not known
    is_whole: bool = True  # Whether all predictions are here, or accepted ones alone


@dataclass(frozen=True, kw_only=True)
class QuerySet:
    """Confidences of one set of proteins whose classes are not known."""

    name: str  # The set, and the method that gave its confidences
    method: str
    n: int  # Proteins, and those without a confidence
    n_unknown: int
    classes: tuple[UseClass, ...]  # One per class
    edges: Numbers  # Of the histogram of confidences
    counts: Counts  # Proteins per bin
    notes: tuple[Setting, ...] = ()  # What notes say and how many proteins each concerns
    # Its predictions, for the page's table; None where nobody reads it.
    proteins: Annotated[ProteinRows | None, Stored(is_left_out=True)] = None


@dataclass(frozen=True, kw_only=True)
class VerdictSettings:
    """Cut-offs of the checks that the page's verdict rests on."""

    off_by: float = setting(
        0.05,
        "difference between confidence and precision from which on a class is off",
        above=0,
        below=1,
    )
    power: float = setting(
        0.8, "power that the test for another classifier needs", above=0, below=1
    )
    held: float = setting(
        0.7, "share of the predictions for which each check has to hold",
        above=0, high=1,
    )  # fmt: skip
    off_at_most: float = setting(
        0.2,
        "not to be used above this share of predictions in classes that are off",
        above=0,
        high=1,
    )
    evidence_at_least: float = setting(
        0.4, "not to be used below this share of predictions with sufficient data", low=0, below=1
    )
    relatives: float = setting(
        0.02,
        "share of the proteins that may have a homologue in another group (leakage)",
        above=0,
        below=1,
    )
    relatives_at_most: float = setting(
        0.05, "not to be used above this share of proteins that surely have one", above=0, below=1
    )


@dataclass(frozen=True, kw_only=True)
class CallsGroup:
    """Held-out calls of labels that are alike in how frequent, or how far down, they are."""

    name: str  # "rare", "level 2" …
    n_labels: int
    n: int  # Calls
    precision: Measured
    confidence: float  # Mean of the chosen method's
    nll: Mapping[str, Measured]  # By method, over calls for which every method has an answer


@dataclass(frozen=True, kw_only=True)
class CallsCurve:
    """What ranking labels by some number is worth, protein by protein, as CAFA has it."""

    name: str  # "score", or the method
    f_max: Measured
    f_max_at: float  # The threshold that reaches it
    s_min: Measured
    area: Measured  # Under precision over recall


@dataclass(frozen=True, kw_only=True)
class CallsLabel:
    """One label: how many proteins have it, and how many of them are called so."""

    label: str
    name: str  # In words
    level: int  # Below a root; 0 without a tree
    n_true: int  # Proteins that have it
    n_called: int
    n_right: int


@dataclass(frozen=True, kw_only=True)
class CallsFinding:
    """Proteins with several labels: what only calls have, on held-out families."""

    n_proteins: int
    n_missed: int  # True labels without a call
    has_tree: bool
    is_open: bool  # Whether labels that are not listed may be true
    methods: tuple[str, ...]  # In the order shown
    by_frequency: tuple[CallsGroup, ...]
    by_level: tuple[CallsGroup, ...]  # Empty without a tree
    curves: tuple[CallsCurve, ...]
    labels: tuple[CallsLabel, ...]  # The most frequent first


@dataclass(frozen=True, kw_only=True)
class Findings:
    """All that the page shows."""

    provenance: Provenance  # Where the numbers come from
    methods: tuple[MethodFinding, ...]  # The methods fitted, in the order shown
    chosen: str  # Name of the method whose confidences are given out
    results: Results  # What the evaluation gave
    queries: tuple[QuerySet, ...] = ()  # Sets that were annotated
    notices: tuple[Notice, ...] = ()  # Of other stages (proteins set aside, for example)
    stacks: tuple[StackFinding, ...] = ()  # Of each `auto` that was fitted
    split: SplitFinding | None = None  # How proteins were split, and what its audit found
    joined: JoinedAudit | None = None  # Of troves, which the split does not know; None: no trove
    shifts: tuple[ShiftFinding, ...] = ()  # The composition of each query set, and what it changes
    releases: ReleasesFinding | None = None  # Of the calibration set, and what each changed
    sets: SetsFinding | None = None  # What prediction sets are worth on held-out families
    events: EventsFinding | None = None  # Those asked for, and how well they are forecast
    novelties: tuple[NoveltyFinding, ...] = ()  # How far query sets are from calibration
    # Held-out quality by identity with the nearest of another family, from far to near.
    by_identity: tuple[DistanceBand, ...] = ()
    thresholds: AllThresholds | None = None  # From where on predictions can be used
    lists: tuple[UseLists, ...] = ()  # Of each query set
    genomes: tuple[Genomes, ...] = ()  # Of each query set whose genomes are known
    limits: VerdictSettings = field(default_factory=VerdictSettings)  # Of the verdict
    tools: ToolsFinding | None = None  # Where several tools are combined
    labels: DoubtfulLabels | None = None  # Of the calibration set, where that was asked for
    # Where proteins have several labels.
    calls: Annotated[CallsFinding | None, Stored(is_left_out=True)] = None
    # Of the proteins with the role test, where there are some.
    test_set: Annotated[TestSet | None, Stored(is_left_out=True)] = None
    # Of the calibration set; None where nothing is wrong with its rows
    rows: Annotated[ShiftedRows | None, Stored(is_left_out=True)] = None
    # Addresses of the files beside the page, from the page's folder.
    files: Annotated[tuple[str, ...], Stored(is_left_out=True)] = ()
    schema: str = field(default=FINDINGS_SCHEMA, init=False)

    @property
    def unit(self) -> str:
        """What is judged: a protein, or where it has several labels, each call."""
        return "protein" if self.calls is None else "call"

    @property
    def clusters(self) -> str:
        """What made the clusters; see :attr:`SplitFinding.clusters`."""
        if self.split is not None and self.split.clusters:
            return self.split.clusters
        n = self.results.n_samples if self.calls is None else self.calls.n_proteins
        return "table" if self.results.n_clusters < n else "none"

    @property
    def knows_relatives(self) -> bool:
        """Whether anything says which proteins are relatives."""
        return self.clusters != "none"


FIGURES_SCHEMA = "credence/figures/1"


@dataclass(frozen=True, kw_only=True)
class FigureSeries:
    """One thing that is drawn in a panel."""

    name: str  # In the legend; of a list of words, the word
    kind: str  # line, dashed, dotted, steps, bars, cloud, points, hollow or word
    look: str  # Which colour it has: a key of the drawing's looks
    x: Numbers = ()  # Of steps and bars the ends of the intervals, one more than there are values
    y: Numbers = ()
    lower: Numbers = ()  # Ends of intervals, where they are known
    upper: Numbers = ()
    n: Counts = ()  # Proteins behind each value


@dataclass(frozen=True, kw_only=True)
class FigurePanel:
    """One panel of a figure."""

    title: str
    series: tuple[FigureSeries, ...]


@dataclass(frozen=True, kw_only=True)
class FigureRecord:
    """One figure, as far as a drawing needs to know: panels, or a matrix."""

    number: str = ""  # So that they sort: ``09`` and ``A1``
    name: str = ""
    shows: str = ""  # A sentence
    caption: str = ""  # What is shown, from how much, after which figure of which paper
    lacks: str = ""  # What it needs and there was not; then nothing is drawn
    panels: tuple[FigurePanel, ...] = ()
    across: int = 1  # Panels that stand side by side
    axis: str = ""  # What the axes are
    upright: str = ""
    start: float = 0.0  # Ends of the axes, the same in all panels
    end: float = 1.0
    top: float = 1.0
    ticks: tuple[str, ...] = ()  # What stands at 0, 1, 2, … of the axis, in place of numbers
    names: tuple[str, ...] = ()  # Classes of the matrix
    matrix: tuple[Numbers, ...] = ()  # Rows are true classes
    key: str = ""  # What its numbers are: ``share``, or what is counted

    @property
    def stem(self) -> str:
        """How its files' names begin."""
        return f"{self.number}-{self.name}"


@dataclass(frozen=True, kw_only=True)
class FiguresRecord:
    """All figures of a set, as records."""

    figures: tuple[FigureRecord, ...]
    is_simulated: bool = False  # Stated on each
    schema: str = field(default=FIGURES_SCHEMA, init=False)
