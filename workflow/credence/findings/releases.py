"""What troves brought, and what they changed."""

from __future__ import annotations

from dataclasses import dataclass, field

from credence.findings.evaluated import Counts, Numbers


@dataclass(frozen=True)
class DriftTest:
    """One test of the old calibration on the trove."""

    test: str  # ``kolmogorov_smirnov`` or ``spiegelhalter``
    # Whether the old calibration was first corrected for the trove's own class frequencies.
    is_corrected: bool
    statistic: float  # As in :class:`credence.findings.CalibrationTest`
    p_value: float
    p_adjusted: float
    power: float


@dataclass(frozen=True)
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
    sentence: str = ""  # What they say


@dataclass(frozen=True)
class DriftTruth:
    """Whether proteins truly in one class score in the trove as they did before."""

    class_name: str  # The true class
    n_old: int  # Proteins and families
    n_trove: int
    n_clusters_old: int
    n_clusters_trove: int
    right_old: float  # Shares predicted to be in it
    right_trove: float
    # Greatest distance of the distributions of the top score, that of wrong predictions taken as
    # negative.
    distance: float
    p_value: float  # By exchanging whole families between the two
    p_adjusted: float


@dataclass(frozen=True)
class Drift:
    """Whether a trove agrees with the calibration before it."""

    n: int  # Proteins of the trove that were looked at, and their families
    n_clusters: int
    n_joined: int  # Those left out: the old set has relatives of them
    classes: tuple[DriftClass, ...]  # All first, then per predicted class
    truths: tuple[DriftTruth, ...]  # Per true class that both hold
    sentences: tuple[str, ...]  # What a reader has to know


STEP_SCHEMA = "credence/compare/1"


@dataclass(frozen=True)
class SetAside:
    """One protein of a trove that does not calibrate, and why."""

    id: str  # The protein and its label
    true_class: str
    relative: str  # The protein that decided it, with its class; '' where there is none
    relative_class: str
    identity: float  # Likeness to that one; NaN where not known
    coverage: float
    reason: str  # In words


@dataclass(frozen=True)
class Outcome:
    """What became of some proteins of a trove."""

    outcome: str  # Its name in the table of the trove, and in words
    meaning: str
    n: int  # Proteins
    examples: tuple[SetAside, ...] = ()  # The first of them by id; none of those that were added


@dataclass(frozen=True)
class ReleaseState:
    """One release of the calibration set."""

    name: str  # Of its trove; ``base`` for the first. A file's name without releases.
    number: int  # Its place in the chain
    date: str | None  # As the configuration states it
    digest: str  # Of the release; '' where a calibration file alone was given
    n_calibration: int  # Proteins that calibrate, right predictions among them, their families
    n_correct: int
    n_clusters: int
    # What became of its trove, all outcomes; none for the first.
    outcomes: tuple[Outcome, ...] = ()


@dataclass(frozen=True)
class Change:
    """A number before and after, and what moved it.

    ``total = evidence + composition``: evidence is the change at the class
    frequencies of the older release, composition the rest.
    """

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


@dataclass(frozen=True)
class ParameterChange:
    """What fitting chose for a class, before and after; NaN where nothing."""

    name: str
    before: float
    after: float


@dataclass(frozen=True)
class ClassChange:
    """What a trove changed for the proteins predicted to be in one class."""

    class_name: str  # The class
    # Before and after: proteins in it, predicted to be, both, and families among those predicted.
    n_true: Counts
    n_predicted: Counts
    n_correct: Counts
    n_clusters: Counts
    parameters: tuple[ParameterChange, ...]  # Bandwidth, cutoff and so on
    # Where `change` is: the median score of the older release's predictions; NaN where the score
    # alone does not give the confidence, then `change` is of the mean over the newer release's
    # predictions of the class.
    score: float
    # Of the confidence; None where one of the releases has no prediction of the class, or no
    # proteins are at hand.
    change: Change | None
    share: Change | None  # Of the share right, whatever the score
    edges: Numbers  # Bins of the score
    right_before: Counts  # Predictions per bin
    wrong_before: Counts
    right_after: Counts
    wrong_after: Counts
    grid: Numbers  # Scores of the curves; none for a method that looks at all scores
    before: Numbers  # The curve of the older release
    before_lower: Numbers
    before_upper: Numbers
    after: Numbers  # The curve of the newer one
    after_lower: Numbers
    after_upper: Numbers
    fixed: Numbers  # The newer one at the older's class frequencies
    sentence: str = ""  # What a reader has to know
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


@dataclass(frozen=True)
class MetricChange:
    """A held-out metric before and after, on the proteins that are in both."""

    class_name: str | None  # The predicted class; None: all
    metric: str  # Name in the registry of metrics
    # ``old``: the older release's calibration proteins, cross-fitted in both; ``test``: the test
    # group, which fitted neither.
    sample: str
    before: float  # Means
    after: float
    lower: float  # Ends of the interval of after − before, over families
    upper: float
    n: int  # Proteins


@dataclass(frozen=True)
class Moved:
    """One protein's confidence before and after."""

    id: str  # The protein and its predicted class
    predicted_class: str
    score: float  # NaN where there is none
    before: float
    after: float
    is_new: bool  # Whether it came with the newer release


@dataclass(frozen=True)
class ReleaseStep:
    """From one release to a later one."""

    older: ReleaseState  # The two
    newer: ReleaseState
    method: str  # Whose confidences are compared
    scale: float  # Of the scores; coverage of the intervals
    level: float
    classes: tuple[ClassChange, ...]  # One per class
    metrics: tuple[MetricChange, ...] = ()  # Held-out, on the same proteins
    # Proteins whose confidence was compared, and those moved by half a point or more.
    n_compared: int = 0
    n_moved: int = 0
    n_lightened: int = 0  # Old proteins that weigh less now, since relatives joined their families
    moved: tuple[Moved, ...] = ()  # Those that moved most
    drift: Drift | None = None  # None where there are no new proteins to look at
    sentences: tuple[str, ...] = ()  # What a reader has to know
    schema: str = field(default=STEP_SCHEMA, init=False)


@dataclass(frozen=True)
class ReleasesFinding:
    """All releases of the run, and what each changed."""

    releases: tuple[ReleaseState, ...]  # In the order of the chain
    steps: tuple[ReleaseStep, ...]  # From each to the next
