"""What a calibration method is, and what the registry knows of one.

Settings are a frozen dataclass; fitting gives a frozen calibration. A *curve method* sees one
predicted class at a time: :mod:`credence.calibrators.classwise` lifts it to all.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, StrEnum
from types import MappingProxyType
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from credence.confidence import Confidence, Note
from credence.predictions import Booleans, Floats, Integers, Labelled, Predictions


class Need(Enum):
    """What a method has to be given of each prediction, least first."""

    CLASS = "predicted class"
    TOP_SCORE = "top score"
    VECTOR = "score of every class, each row summing to the scale"
    PLACE = "score of every class, and where each protein lies among the others"

    @property
    def is_vector(self) -> bool:
        """Whether the score of every class is looked at."""
        return self in (Need.VECTOR, Need.PLACE)


class Law(StrEnum):
    """Statements that a method can promise."""

    INVARIANCE = "scaling scores, permuting rows or classes changes no confidence"
    RANGE = "confidence is NaN or in [0, 1], and lies within its interval"
    REPEAT_IS_WEIGHT = "each row given twice, or with weight 2, makes the same curve"
    TROVE = (
        "adding true proteins of a class never lowers its confidence, "
        "nor raises that of another class"
    )


@dataclass(frozen=True, kw_only=True)
class FitOptions:
    """What all methods share when they are fitted."""

    # Below this effective number of predictions (Kish) a class has its share, by Jeffreys' prior.
    min_positives: float = 10.0
    level: float = 0.95  # Coverage of the pointwise intervals
    n_draws: int = 200  # Number of bootstrap resamples over clusters; 0 fits no intervals


@dataclass(frozen=True, kw_only=True, eq=False)
class ClassSample:
    """The positives of one class: the proteins predicted to be in it."""

    score: Floats  # Their top scores, in the table's own scale
    is_correct: Booleans  # Whether each prediction is right
    weight: Floats  # Positive weights
    cluster: Integers  # Code of each protein's cluster, an index into `cluster_key`
    # A key per cluster, of its name alone, so that draws depend on no order and no other cluster.
    cluster_key: NDArray[np.uint64]
    scale: float  # See :class:`credence.predictions.Predictions`
    resolution: float

    @property
    def weight_correct(self) -> Floats:
        """Weight of the right predictions, 0 for the wrong ones."""
        return np.where(self.is_correct, self.weight, 0.0)

    @property
    def share_correct(self) -> float:
        """Weighted share of right predictions: Conf1 of the class."""
        return float(self.weight_correct.sum() / self.weight.sum())


@dataclass(frozen=True, kw_only=True, eq=False)
class Band:
    """A pointwise interval around a curve, on knots."""

    score: Floats  # Knots, ascending; outside them the ends are held
    lower: Floats  # Ends of the interval at the knots, linear between them
    upper: Floats


def range_note(score: Floats, low: float, high: float) -> Integers:
    """Return the notes of scores below or above a range."""
    below = np.where(score < low, int(Note.BELOW_RANGE), 0)
    above = np.where(score > high, int(Note.ABOVE_RANGE), 0)
    return np.asarray(below + above, dtype=np.int64)


class Curve(Protocol):
    """Confidence of one class as a function of the top score."""

    def value(self, score: Floats) -> Floats:
        """Return the confidence at each score."""

    def note(self, score: Floats) -> Integers:
        """Return a :class:`credence.confidence.Note` at each score."""


class CurveMethod(Protocol):
    """Settings of a method that learns from one class at a time."""

    def fit_curve(self, sample: ClassSample) -> Curve:
        """Return the curve; `sample` holds right and wrong predictions."""

    def fit_band(self, sample: ClassSample, curve: Curve, options: FitOptions) -> Band | None:
        """Return the pointwise interval around `curve`; None where it has none."""


# What a method chooses for a class, and a reader may want to know.
PARAMETERS = ("bandwidth", "cutoff", "temperature", "award")
NO_PARAMETERS: Mapping[str, Mapping[str, float]] = MappingProxyType({})


class GivesConfidence(Protocol):
    """What states a confidence for predictions."""

    def confidence(self, predictions: Predictions) -> Confidence:
        """Return the confidence of each prediction, in the order given."""


class Calibration(GivesConfidence, Protocol):
    """A fitted method: frozen, portable."""

    @property
    def method(self) -> str:
        """Name of the method in the registry."""

    @property
    def needs(self) -> Need:
        """What has to be given of each prediction."""

    @property
    def gives_curve(self) -> bool:
        """Whether class and top score alone give an answer."""

    @property
    def counts(self) -> Mapping[str, Mapping[str, Any]]:
        """What was counted of each class in the calibration set: n, n_correct, n_clusters."""

    def parameters(self, class_names: Sequence[str]) -> Mapping[str, Mapping[str, float]]:
        """Return what was chosen for each class, by the names of `PARAMETERS`."""

    def probabilities(self, predictions: Predictions) -> Floats | None:
        """Return a probability for every class, where the method gives them; else None."""


def entry_of(method: str) -> "Method":
    """Return the registry's entry of a method; the registry imports all methods, so it waits."""
    from credence.calibrators.all_methods import BY_NAME

    return BY_NAME[method]


def chosen_numbers(part: object) -> dict[str, float]:
    """Return the numbers of a fitted curve that are `PARAMETERS`."""
    values = {name: getattr(part, name, None) for name in PARAMETERS}
    return {
        name: float(value)
        for name, value in values.items()
        if isinstance(value, int | float) and math.isfinite(value)
    }


def components_asked(fitted: object) -> int:
    """Return how many components of a protein's place are asked for; mostly 0."""
    return int(getattr(fitted, "n_components", 0))


class Calibrator(Protocol):
    """A method with its settings, ready to fit."""

    def fit(self, labelled: Labelled) -> Calibration:
        """Return the calibration learnt from labelled predictions."""


@dataclass(frozen=True, kw_only=True)
class Method:
    """One entry of the registry."""

    name: str  # What users write: lower case, underscores
    summary: str  # One line for `credence show methods`
    reference: str  # Where the method is from
    # A frozen dataclass; its fields, made by :func:`setting`, are what a user may set.
    settings: type[Any]
    needs: Need  # What it asks of the predictions
    # ``build(settings, options)`` gives the calibrator.
    build: Callable[[Any, FitOptions], Calibrator]
    read: Callable[[Mapping[str, Any]], Calibration]  # ``read(record)`` gives the calibration back
    # Beyond those that all methods promise, for the default settings.
    laws: frozenset[Law] = frozenset()
    # Laws that hold for other settings than the default, and such settings.
    conditional_laws: Mapping[Law, Any] = field(default_factory=dict)
    # Whether the fit is a ratio of sums over proteins, which can be re-weighted exactly.
    additive: bool = False
    # Whether its confidences have intervals; not where nothing is fitted.
    gives_interval: bool = True
    # Whether anything is learnt; else every class, unseen ones too, has the classifier's score.
    is_learnt: bool = True
    # Whether its calibration has a method `probabilities`, of a probability for every class.
    gives_vector: bool = False
    # Whether classes are fitted together, so that one with few proteins borrows from the others.
    pools: bool = False
    # How far a stored confidence may be from the formula; its laws hold to that.
    stored_within: float = 0.0
