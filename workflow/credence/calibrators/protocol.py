"""What a calibration method is, and what the registry knows of one.

A method is a frozen dataclass of settings. Fitting gives a frozen calibration,
which answers with confidences and turns into a plain record and back. A method
that sees one predicted class at a time is a *curve method*:
:mod:`credence.calibrators.classwise` lifts it to all classes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from enum import Enum, StrEnum
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from credence.confidence import Confidence
from credence.predictions import Booleans, Floats, Integers, Labelled, Predictions

if TYPE_CHECKING:
    from credence.calibrators.binning import Masses

Record = dict[str, Any]


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
    """Statements of METHODS section 2 that a method can promise.

    All methods promise the first two; the others are listed in the entry.
    """

    INVARIANCE = "scaling scores, permuting rows or classes changes no confidence"
    RANGE = "confidence is NaN or in [0, 1], and lies within its interval"
    REPEAT_IS_WEIGHT = "each row twice is weight 2 is the same curve"
    TROVE = (
        "adding true proteins of a class never lowers its confidence, "
        "nor raises that of another class"
    )


@dataclass(frozen=True)
class FitOptions:
    """What all methods share when they are fitted.

    Parameters
    ----------
    min_positives : float
        Below this effective number of predictions of a class (Kish), its
        confidence is the class's share with Jeffreys' prior.
    level : float
        Coverage of the pointwise intervals.
    n_draws : int
        Number of bootstrap draws over clusters; 0 fits no intervals.
    """

    min_positives: float = 10.0
    level: float = 0.95
    n_draws: int = 200


@dataclass(frozen=True, eq=False)
class ClassSample:
    """The positives of one class: the proteins predicted to be in it.

    Parameters
    ----------
    score : array of float
        Their top scores, in the table's own scale.
    is_correct : array of bool
        Whether each prediction is right.
    weight : array of float
        Positive weights.
    cluster : array of int
        Code of each protein's cluster, an index into `cluster_key`.
    cluster_key : array of uint64
        A key per cluster that depends on its name alone, so that random draws
        depend neither on the order of rows nor on the other clusters.
    scale, resolution : float
        See :class:`credence.predictions.Predictions`.
    """

    score: Floats
    is_correct: Booleans
    weight: Floats
    cluster: Integers
    cluster_key: NDArray[np.uint64]
    scale: float
    resolution: float

    @property
    def weight_correct(self) -> Floats:
        """Weight of the right predictions, 0 for the wrong ones."""
        return np.where(self.is_correct, self.weight, 0.0)

    @property
    def share_correct(self) -> float:
        """Weighted share of right predictions: Conf1 of the class."""
        return float(self.weight_correct.sum() / self.weight.sum())


@dataclass(frozen=True, eq=False)
class Band:
    """A pointwise interval around a curve, on knots.

    Parameters
    ----------
    score : array of float
        Knots, ascending; outside them the ends are held.
    lower, upper : array of float
        Ends of the interval at the knots, linear between them.
    """

    score: Floats
    lower: Floats
    upper: Floats


class Curve(Protocol):
    """Confidence of one class as a function of the top score."""

    def value(self, score: Floats) -> Floats:
        """Return the confidence at each score."""
        ...

    def note(self, score: Floats) -> Integers:
        """Return a :class:`credence.confidence.Note` at each score."""
        ...

    def to_record(self) -> Record:
        """Return the curve as JSON data."""
        ...


class CurveMethod(Protocol):
    """Settings of a method that learns from one class at a time."""

    def fit_curve(self, sample: ClassSample) -> Curve:
        """Return the curve; `sample` holds right and wrong predictions."""
        ...

    def fit_band(self, sample: ClassSample, curve: Curve, options: FitOptions) -> Band | None:
        """Return the pointwise interval around `curve`; None where it has none."""
        ...


@runtime_checkable
class MassMethod(Protocol):
    """Settings of a curve method that needs masses only: an additive one."""

    @property
    def is_additive(self) -> bool:
        """Whether that holds for these settings."""
        ...

    def fit_masses(self, masses: Masses, scale: float, resolution: float) -> Curve:
        """Return the curve; `masses` holds right and wrong predictions."""
        ...


@runtime_checkable
class DrawingMethod(Protocol):
    """Settings of a curve method that refits all draws of the bootstrap at once."""

    def draw_values(self, sample: ClassSample, score: float, n_draws: int) -> Floats:
        """Return the confidence at a score in every draw over clusters."""
        ...


class Calibration(Protocol):
    """A fitted method: frozen, portable."""

    def confidence(self, predictions: Predictions) -> Confidence:
        """Return the confidence of each prediction, in the order given."""
        ...

    def to_record(self) -> Record:
        """Return the calibration as JSON data; the registry reads it back."""
        ...


@runtime_checkable
class Placed(Protocol):
    """What asks where proteins lie."""

    @property
    def n_components(self) -> int:
        """Number of components of a place."""
        ...


def components_asked(fitted: object) -> int:
    """Return how many components of a protein's place are asked for; mostly 0.

    Parameters
    ----------
    fitted : object
        A calibration, or a part of one.
    """
    return fitted.n_components if isinstance(fitted, Placed) else 0


class Calibrator(Protocol):
    """A method with its settings, ready to fit."""

    def fit(self, labelled: Labelled) -> Calibration:
        """Return the calibration learnt from labelled predictions."""
        ...


@dataclass(frozen=True)
class Method:
    """One entry of the registry.

    Parameters
    ----------
    name : str
        What users write: lower case, underscores.
    summary : str
        One line for `credence methods`.
    reference : str
        Where the method is from.
    settings : type
        A frozen dataclass; its fields, made by :func:`setting`, are what a
        user may set.
    needs : Need
        What it asks of the predictions.
    build : callable
        ``build(settings, options)`` gives the calibrator.
    read : callable
        ``read(record)`` gives the calibration back.
    laws : frozenset of Law
        Beyond those that all methods promise, for the default settings.
    conditional_laws : mapping of Law to settings
        Laws that hold for other settings than the default, and such settings.
    additive : bool
        Whether the fit is a ratio of sums over proteins, so that it can be
        updated and re-weighted exactly.
    gives_interval : bool
        Whether its confidences have intervals; not where nothing is fitted.
    gives_vector : bool
        Whether its calibration has a `probabilities` method that gives a
        probability for every class.
    stored_within : float
        How far a stored confidence may be from the formula; its laws hold to
        that.
    """

    name: str
    summary: str
    reference: str
    settings: type[Any]
    needs: Need
    build: Callable[[Any, FitOptions], Calibrator]
    read: Callable[[Mapping[str, Any]], Calibration]
    laws: frozenset[Law] = frozenset()
    conditional_laws: Mapping[Law, Any] = field(default_factory=dict)
    additive: bool = False
    gives_interval: bool = True
    gives_vector: bool = False
    stored_within: float = 0.0


@dataclass(frozen=True)
class SettingRule:
    """What a user may write for one setting.

    Parameters
    ----------
    text : str
        One line of help.
    choices : tuple of str
        Words allowed; with numbers too where `low` or `high` is given.
    low, high : float, optional
        Range of numbers, ends included.
    """

    text: str
    choices: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None


def setting(
    default: Any,
    text: str,
    choices: tuple[str, ...] = (),
    low: float | None = None,
    high: float | None = None,
) -> Any:
    """Return a dataclass field that carries its own :class:`SettingRule`."""
    return field(default=default, metadata={"rule": SettingRule(text, choices, low, high)})


def setting_rules(settings: type[Any]) -> dict[str, tuple[Any, SettingRule]]:
    """Return name → (default, rule) of a method's settings, in order."""
    found = {}
    for entry in fields(settings):
        assert entry.default is not MISSING, f"{settings.__name__}.{entry.name} has no default"
        found[entry.name] = (entry.default, entry.metadata["rule"])
    return found
