"""The share of the k nearest proteins, by their features, for which the event came true."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from credence.events.forecasters.protocol import (
    Forecaster,
    Lesson,
    Record,
    Scaling,
    scaling_of,
    share_with_prior,
)
from credence.predictions import Floats, Integers

STEP = 5
CANDIDATES = tuple(float(k) for k in range(STEP, 501, STEP))
MOST_ROWS = 5_000  # proteins kept; whole clusters, drawn by their keys
AT_ONCE = 1 << 21  # distances held in memory at a time
DECIMALS = 7  # of a distance; proteins nearer to each other are equally far


@dataclass(frozen=True, eq=False)
class Neighbours:
    """The proteins learnt from, in an order that settles ties.

    Parameters
    ----------
    scaling : Scaling
        Of the features.
    points : array of float, shape (n_kept, n_columns)
        Features on one scale.
    outcome, weight : array of float, shape (n_kept,)
        What came true, and what it counts.
    k : int
        How many neighbours are asked.
    """

    scaling: Scaling
    points: Floats
    outcome: Floats
    weight: Floats
    k: int

    def probability(self, features: Floats) -> Floats:
        """Return the share of the nearest k, with half a protein on each side."""
        return np.asarray(self.shares(features, (self.k,))[0])

    def shares(self, features: Floats, numbers: tuple[int, ...]) -> Floats:
        """Return the share under each number of neighbours, shape (n_numbers, n_samples).

        Parameters
        ----------
        features : array of float, shape (n_samples, n_columns)
            Of whom is asked about.
        numbers : tuple of int
            Of neighbours.
        """
        n_kept = len(self.points)
        most = min(max(numbers), n_kept)
        last = np.minimum(np.array(numbers), n_kept) - 1
        scaled = self.scaling.apply(features)
        answer = np.empty((len(numbers), len(features)))
        rows_at_once = max(1, AT_ONCE // max(n_kept, 1))
        for start in range(0, len(features), rows_at_once):
            part = slice(start, start + rows_at_once)
            nearest = nearest_rows(scaled[part], self.points, most)
            weight = self.weight[nearest]
            total = np.cumsum(weight, axis=1)[:, last]
            right = np.cumsum(weight * self.outcome[nearest], axis=1)[:, last]
            answer[:, part] = share_with_prior(right, total).T
        return answer

    def to_record(self) -> Record:
        """Return the neighbours as JSON data."""
        return {
            "scaling": self.scaling.to_record(),
            "points": self.points.tolist(),
            "outcome": self.outcome.tolist(),
            "weight": self.weight.tolist(),
            "k": self.k,
        }

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Neighbours:
        """Return the neighbours of a record."""
        return cls(
            Scaling.from_record(record["scaling"]),
            np.array(record["points"], dtype=float),
            np.array(record["outcome"], dtype=float),
            np.array(record["weight"], dtype=float),
            int(record["k"]),
        )


def nearest_rows(asked: Floats, points: Floats, k: int) -> Integers:
    """Return the k nearest points of each row, nearest first; ties by the points' order.

    Parameters
    ----------
    asked : array of float, shape (n_asked, n_columns)
        On the points' scale.
    points : array of float, shape (n_points, n_columns)
        Among which neighbours are sought.
    k : int
        At most n_points.
    """
    n_points = len(points)
    # Distance and place in one whole number: partition and sort are then the same
    # whatever way they go.
    steps = np.rint(cdist(asked, points) * 10**DECIMALS).astype(np.int64)
    keys = steps * n_points + np.arange(n_points)
    if k < n_points:
        keys = np.partition(keys, k - 1, axis=1)[:, :k]
    keys.sort(axis=1)
    return np.asarray(keys % n_points)


def neighbours_of(lesson: Lesson, k: float) -> Neighbours:
    """Return what is kept of a lesson.

    Parameters
    ----------
    lesson : Lesson
        What is learnt from.
    k : float
        How many neighbours are asked.
    """
    scaling = scaling_of(lesson)
    kept = np.ones(lesson.n_samples, dtype=np.bool_)
    if lesson.n_samples > MOST_ROWS:
        sizes = np.bincount(lesson.cluster)
        kept = (np.cumsum(sizes) <= MOST_ROWS)[lesson.cluster]
        if not kept.any():
            kept = np.arange(lesson.n_samples) < MOST_ROWS
    part = lesson.take(kept)
    points = scaling.apply(part.features)
    return Neighbours(scaling, points, part.outcome, part.weight, int(k))


def path(lesson: Lesson, features: Floats) -> Floats:
    """Return the share under each number of neighbours; neighbours are sought once.

    Parameters
    ----------
    lesson : Lesson
        What is learnt from.
    features : array of float, shape (n_samples, n_columns)
        Of whom is asked about.
    """
    numbers = tuple(int(value) for value in CANDIDATES)
    return neighbours_of(lesson, max(numbers)).shares(features, numbers)


FORECASTER = Forecaster(
    name="knn",
    summary="The share of the k proteins with the most similar features for which it came true.",
    reference="Kuleshov & Liang 2015, section 4",
    candidates=CANDIDATES,
    default=100.0,
    tuned="number of neighbours",
    fit=neighbours_of,
    path=path,
    read=Neighbours.from_record,
)
