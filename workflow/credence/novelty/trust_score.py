"""Trust score: how much nearer the predicted class is than any other."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any

import numpy as np

from credence.novelty.neighbours import (
    MOST_EXACT,
    Index,
    content_keys,
    least_positive_distance,
    singles,
)
from credence.predictions import Floats, Integers
from credence.records import PackedFloats, Stored
from credence.settings import setting


@dataclass(frozen=True)
class TrustSettings:
    """Settings of the trust score."""

    thin: float = setting(0.1, "Part of each class that is dropped as thin.", low=0.0, high=0.9)
    neighbours: int = setting(10, "Neighbour whose distance is the thinness.", low=1, high=100)


@dataclass(frozen=True, eq=False)
class TrustScore:
    """The points of each class that were kept."""

    points: PackedFloats  # In single precision, in a canonical order
    class_: Annotated[Integers, Stored("class", packed="int32")]  # Class of each
    n_classes: int  # Number of classes
    most_exact: Annotated[int, Stored(is_left_out=True)] = MOST_EXACT  # Points searched exactly

    @cached_property
    def least_distance(self) -> float:
        """The least positive distance between two of the points."""
        return least_positive_distance(self.points, self.most_exact)

    @cached_property
    def _by_class(self) -> dict[int, Index]:
        return {
            class_: Index(self.points[self.class_ == class_], self.most_exact)
            for class_ in np.unique(self.class_).tolist()
        }

    def distances(self, points: Any) -> Floats:
        """Return the distance of each point to each class; infinite to one without points."""
        queries = singles(points)
        distance = np.full((len(queries), self.n_classes), np.inf)
        for class_, index in self._by_class.items():
            distance[:, class_] = index.nearest(queries, 1).distance[:, 0]
        distance[distance == 0] = self.least_distance
        return distance

    def score(self, points: Any, predicted_class: Integers) -> Floats:
        """Return distance to the nearest other class over that to the predicted one; else NaN.

        Zero distances count as the least positive one between the points that were kept.
        """
        values = np.asarray(points, dtype=np.float64)
        answer = np.full(len(values), np.nan)
        known = np.flatnonzero(np.isfinite(values).all(axis=1))
        distance = self.distances(values[known])
        rows = np.arange(len(known))
        chosen = predicted_class[known]
        own = distance[rows, chosen]
        distance[rows, chosen] = np.inf
        other = distance.min(axis=1)
        both = np.isfinite(own) & np.isfinite(other)
        answer[known[both]] = other[both] / own[both]
        return answer


def fit(points: Any, true_class: Integers, n_classes: int, settings: TrustSettings) -> TrustScore:
    """Return the trust score of points whose class is known.

    Of each class the fraction α whose k-th neighbour within the class lies farthest is dropped
    (Jiang, Kim, Guan & Gupta 2018, arXiv 1805.11783); of few points the farthest one counts.
    """
    values = singles(points)
    order = np.lexsort((true_class, content_keys(values)))
    values, class_ = values[order], true_class[order]
    kept = np.ones(len(values), dtype=np.bool_)
    for member in np.unique(class_):
        own = np.flatnonzero(class_ == member)
        n_dropped = int(settings.thin * len(own))
        if n_dropped:
            # The nearest is the point itself.
            n_neighbours = min(settings.neighbours + 1, len(own))
            radius = Index(values[own]).nearest(values[own], n_neighbours).distance[:, -1]
            kept[own[np.argsort(-radius, kind="stable")[:n_dropped]]] = False
    return TrustScore(values[kept], class_[kept].astype(np.int64), n_classes)
