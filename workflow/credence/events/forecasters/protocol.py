"""What a forecaster is: it learns from features and outcomes, and answers with a probability."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from credence.predictions import Floats, Integers

Record = dict[str, Any]
JEFFREYS = 0.5  # of a protein, added on both sides of every share


@dataclass(frozen=True, eq=False)
class Lesson:
    """What a forecaster learns from; rows are in an order that the table's does not reach.

    Parameters
    ----------
    features : array of float, shape (n_samples, n_columns)
        NaN where not known.
    outcome : array of float, shape (n_samples,)
        1 where the event came true.
    weight : array of float, shape (n_samples,)
        Positive weights.
    cluster : array of int, shape (n_samples,)
        Code of each protein's cluster, ascending in an order that is no property of it.
    main : int
        The column that tells most by itself: the event's own score.
    """

    features: Floats
    outcome: Floats
    weight: Floats
    cluster: Integers
    main: int

    @property
    def n_samples(self) -> int:
        """Number of proteins."""
        return len(self.outcome)

    def take(self, rows: Any) -> Lesson:
        """Return the rows chosen."""
        return Lesson(
            self.features[rows],
            self.outcome[rows],
            self.weight[rows],
            self.cluster[rows],
            self.main,
        )


class Forecast(Protocol):
    """A fitted forecaster."""

    def probability(self, features: Floats) -> Floats:
        """Return the probability of the event, in (0, 1), for each row."""
        ...

    def to_record(self) -> Record:
        """Return it as JSON data."""
        ...


@dataclass(frozen=True)
class Forecaster:
    """An entry of the registry.

    Parameters
    ----------
    name : str
        As the user writes it.
    summary, reference : str
        What it does, and where that is from.
    candidates : tuple of float
        Values of the one setting that is tuned; one value: nothing is.
    default : float
        The value where there is too little to tune it by.
    tuned : str
        What the setting is, in words.
    fit : callable
        ``fit(lesson, value)`` gives the forecast.
    path : callable
        ``path(lesson, features)`` gives the probabilities for every candidate,
        shape (n_candidates, n_samples): what fitting each in turn would.
    read : callable
        The forecast of a record.
    """

    name: str
    summary: str
    reference: str
    candidates: tuple[float, ...]
    default: float
    tuned: str
    fit: Callable[[Lesson, float], Forecast]
    path: Callable[[Lesson, Floats], Floats]
    read: Callable[[Mapping[str, Any]], Forecast]


@dataclass(frozen=True)
class Constant:
    """The same answer for all: where there is too little to learn from.

    Parameters
    ----------
    value : float
        The probability.
    """

    value: float

    def probability(self, features: Floats) -> Floats:
        """Return the probability, for each row."""
        return np.full(len(features), self.value)

    def to_record(self) -> Record:
        """Return it as JSON data."""
        return {"value": self.value}

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Constant:
        """Return the constant of a record."""
        return cls(float(record["value"]))


@dataclass(frozen=True, eq=False)
class Scaling:
    """What brings columns to one scale, the unknown to the middle.

    Parameters
    ----------
    mean, spread : array of float, shape (n_columns,)
        Of the known values; the spread of a column that does not vary is 0.
    """

    mean: Floats
    spread: Floats

    def apply(self, features: Floats) -> Floats:
        """Return (value − mean) / spread, 0 where not known or where nothing varies."""
        varies = self.spread > 0
        scaled = (features - self.mean) / np.where(varies, self.spread, 1.0)
        return np.where(np.isnan(scaled) | ~varies, 0.0, scaled)

    def to_record(self) -> Record:
        """Return it as JSON data."""
        return {"mean": self.mean.tolist(), "spread": self.spread.tolist()}

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Scaling:
        """Return the scaling of a record."""
        return cls(np.array(record["mean"], dtype=float), np.array(record["spread"], dtype=float))


FLAT = 1e-9  # a column that varies less than this tells nothing


def scaling_of(lesson: Lesson) -> Scaling:
    """Return the scaling that gives the lesson's columns mean 0 and spread 1.

    Parameters
    ----------
    lesson : Lesson
        What is learnt from.
    """
    is_known = ~np.isnan(lesson.features)
    weight = np.where(is_known, lesson.weight[:, None], 0.0)
    total = np.maximum(weight.sum(axis=0), np.finfo(float).tiny)
    values = np.where(is_known, lesson.features, 0.0)
    mean = (weight * values).sum(axis=0) / total
    squares = (weight * np.where(is_known, values - mean, 0.0) ** 2).sum(axis=0) / total
    spread = np.sqrt(squares)
    return Scaling(mean, np.where(spread < FLAT, 0.0, spread))


def share_with_prior(right: Floats, total: Floats) -> Floats:
    """Return (Σ right + ½) / (Σ total + 1), never quite 0 or 1.

    Parameters
    ----------
    right, total : array of float
        Sums of weights.

    Examples
    --------
    >>> share_with_prior(np.array([0.0, 3.0]), np.array([1.0, 3.0])).tolist()
    [0.25, 0.875]
    """
    return np.asarray((right + JEFFREYS) / (total + 2.0 * JEFFREYS))


def fit_each(
    fit: Callable[[Lesson, float], Forecast], candidates: Sequence[float]
) -> Callable[[Lesson, Floats], Floats]:
    """Return the path of a forecaster that has no shortcut.

    Parameters
    ----------
    fit : callable
        As in :class:`Forecaster`.
    candidates : sequence of float
        Values of the setting.
    """

    def path(lesson: Lesson, features: Floats) -> Floats:
        return np.stack([fit(lesson, value).probability(features) for value in candidates])

    return path
