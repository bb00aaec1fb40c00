"""What troves brought, and what they changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from credence.findings.codec import from_record, to_record
from credence.findings.drift import Drift
from credence.findings.measured import Counts, Numbers
from credence.problems import refuse

STEP_SCHEMA = "credence/compare/1"


@dataclass(frozen=True)
class SetAside:
    """One protein of a trove that does not calibrate, and why.

    Parameters
    ----------
    id, true_class : str
        The protein and its label.
    relative, relative_class : str
        The protein that decided it, with its class; '' where there is none.
    identity, coverage : float
        Likeness to that one; NaN where not known.
    reason : str
        In words.
    """

    id: str
    true_class: str
    relative: str
    relative_class: str
    identity: float
    coverage: float
    reason: str


@dataclass(frozen=True)
class Outcome:
    """What became of some proteins of a trove.

    Parameters
    ----------
    outcome, meaning : str
        Its name in the table of the trove, and in words.
    n : int
        Proteins.
    examples : tuple of SetAside
        The first of them by id; none of those that were added.
    """

    outcome: str
    meaning: str
    n: int
    examples: tuple[SetAside, ...] = ()


@dataclass(frozen=True)
class ReleaseState:
    """One release of the calibration set.

    Parameters
    ----------
    name : str
        Of its trove; ``base`` for the first. A file's name without releases.
    number : int
        Its place in the chain.
    date : str, optional
        As the configuration states it.
    digest : str
        Of the release; '' where a calibration file alone was given.
    n_calibration, n_correct, n_clusters : int
        Proteins that calibrate, right predictions among them, their families.
    outcomes : tuple of Outcome
        What became of its trove, all outcomes; none for the first.
    """

    name: str
    number: int
    date: str | None
    digest: str
    n_calibration: int
    n_correct: int
    n_clusters: int
    outcomes: tuple[Outcome, ...] = ()


@dataclass(frozen=True)
class Change:
    """A number before and after, and what moved it.

    ``total = evidence + composition``: evidence is the change at the class
    frequencies of the older release, composition the rest.

    Parameters
    ----------
    before, fixed, after : float
        In the older release; in the newer one, re-weighted to the older's
        class frequencies; in the newer one as it is.
    total_lower, total_upper, evidence_lower, evidence_upper : float
        Ends of the interval of each difference; NaN where there is none.
    composition_lower, composition_upper : float
        Likewise.
    """

    before: float
    fixed: float
    after: float
    total_lower: float
    total_upper: float
    evidence_lower: float
    evidence_upper: float
    composition_lower: float
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
    """What a trove changed for the proteins predicted to be in one class.

    Parameters
    ----------
    class_name : str
        The class.
    n_true, n_predicted, n_correct, n_clusters : tuple of int
        Before and after: proteins in it, predicted to be, both, and families
        among those predicted.
    parameters : tuple of ParameterChange
        Bandwidth, cutoff and so on.
    score : float
        Where `change` is: the median score of the older release's predictions;
        NaN where the score alone does not give the confidence, then `change` is
        of the mean over the newer release's predictions of the class.
    change : Change, optional
        Of the confidence; None where one of the releases has no prediction of
        the class, or no proteins are at hand.
    share : Change, optional
        Of the share right, whatever the score.
    edges : tuple of float
        Bins of the score.
    right_before, wrong_before, right_after, wrong_after : tuple of int
        Predictions per bin.
    grid : tuple of float
        Scores of the curves; none for a method that looks at all scores.
    before, before_lower, before_upper : tuple of float
        The curve of the older release.
    after, after_lower, after_upper : tuple of float
        The curve of the newer one.
    fixed : tuple of float
        The newer one at the older's class frequencies.
    sentence : str
        What a reader has to know.
    is_moved : bool
        Whether its confidences differ, be it that nothing was added to it: where
        all classes share a parameter, or relatives lightened its proteins.
    """

    class_name: str
    n_true: Counts
    n_predicted: Counts
    n_correct: Counts
    n_clusters: Counts
    parameters: tuple[ParameterChange, ...]
    score: float
    change: Change | None
    share: Change | None
    edges: Numbers
    right_before: Counts
    wrong_before: Counts
    right_after: Counts
    wrong_after: Counts
    grid: Numbers
    before: Numbers
    before_lower: Numbers
    before_upper: Numbers
    after: Numbers
    after_lower: Numbers
    after_upper: Numbers
    fixed: Numbers
    sentence: str = ""
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
    """A held-out metric before and after, on the proteins that are in both.

    Parameters
    ----------
    class_name : str, optional
        The predicted class; None: all.
    metric : str
        Name in the registry of metrics.
    sample : str
        ``old``: the older release's calibration proteins, cross-fitted in both;
        ``test``: the test group, which fitted neither.
    before, after : float
        Means.
    lower, upper : float
        Ends of the interval of after − before, over families.
    n : int
        Proteins.
    """

    class_name: str | None
    metric: str
    sample: str
    before: float
    after: float
    lower: float
    upper: float
    n: int


@dataclass(frozen=True)
class Moved:
    """One protein's confidence before and after.

    Parameters
    ----------
    id, predicted_class : str
        The protein and its predicted class.
    score, before, after : float
        NaN where there is none.
    is_new : bool
        Whether it came with the newer release.
    """

    id: str
    predicted_class: str
    score: float
    before: float
    after: float
    is_new: bool


@dataclass(frozen=True)
class Step:
    """From one release to a later one.

    Parameters
    ----------
    older, newer : ReleaseState
        The two.
    method : str
        Whose confidences are compared.
    scale, level : float
        Of the scores; coverage of the intervals.
    classes : tuple of ClassChange
        One per class.
    metrics : tuple of MetricChange
        Held-out, on the same proteins.
    n_compared, n_moved : int
        Proteins whose confidence was compared, and those moved by half a
        point or more.
    n_lightened : int
        Old proteins that weigh less now, since relatives joined their families.
    moved : tuple of Moved
        Those that moved most.
    drift : Drift, optional
        None where there are no new proteins to look at.
    sentences : tuple of str
        What a reader has to know.
    """

    older: ReleaseState
    newer: ReleaseState
    method: str
    scale: float
    level: float
    classes: tuple[ClassChange, ...]
    metrics: tuple[MetricChange, ...] = ()
    n_compared: int = 0
    n_moved: int = 0
    n_lightened: int = 0
    moved: tuple[Moved, ...] = ()
    drift: Drift | None = None
    sentences: tuple[str, ...] = ()
    schema: str = field(default=STEP_SCHEMA)

    def to_record(self) -> dict[str, Any]:
        """Return the step as JSON data."""
        record = to_record(self)
        assert isinstance(record, dict)
        return record

    @classmethod
    def from_record(cls, record: Mapping[str, Any], where: str) -> Step:
        """Return the step of a record.

        Parameters
        ----------
        record : mapping
            From :meth:`to_record`.
        where : str
            The file it was read from, for the message that refuses it.
        """
        if record.get("schema") != STEP_SCHEMA:
            found = record.get("schema")
            raise refuse(
                where,
                f"its schema is {found!r}, and this version reads {STEP_SCHEMA!r}.",
                "Compare again with this version of credence.",
            )
        return from_record(cls, record)


@dataclass(frozen=True)
class ReleasesFinding:
    """All releases of the run, and what each changed.

    Parameters
    ----------
    releases : tuple of ReleaseState
        In the order of the chain.
    steps : tuple of Step
        From each to the next.
    """

    releases: tuple[ReleaseState, ...]
    steps: tuple[Step, ...]
