"""What a protein's neighbours show: the trust score, and the two parts of MACEst's uncertainty."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from credence.novelty.macest import NeighbourGraph
from credence.novelty.neighbours import Index, content_keys, least_positive_distance, singles
from credence.predictions import Booleans, Floats, Integers

NEIGHBOURS_OF_TRUST = 10  # of each class; a class of fewer proteins has no parts


def dense(
    points: Floats, true_class: Integers, thin: float = 0.1, neighbours: int = NEIGHBOURS_OF_TRUST
) -> Integers:
    """Return the rows of points but those in the thinnest regions of each class.

    Of the points of each class the share whose k-th neighbour within it lies farthest is
    dropped (Jiang, Kim, Guan & Gupta 2018, arXiv 1805.11783).
    """
    values = singles(points)
    order = np.lexsort((true_class, content_keys(values)))
    values, class_ = values[order], true_class[order]
    kept = np.ones(len(values), dtype=np.bool_)
    for member in np.unique(class_):
        members = np.flatnonzero(class_ == member)
        if n_dropped := int(thin * len(members)):
            # The nearest is the point itself.
            n_nearest = min(neighbours + 1, len(members))
            radius = (
                Index(points=values[members]).nearest(values[members], n_nearest).distance[:, -1]
            )
            kept[members[np.argsort(-radius, kind="stable")[:n_dropped]]] = False
    return np.asarray(order[kept], dtype=np.int64)


def trust_among(
    points: Floats, true_class: Integers, asked: Floats, predicted_class: Integers
) -> Floats:
    """Return the distance to the nearest other class over that to the predicted one, or NaN.

    A distance of zero counts as the least positive one between the points.
    """
    answer = np.full(len(asked), np.nan)
    rows = np.flatnonzero(np.isfinite(np.asarray(asked, dtype=np.float64)).all(axis=1))
    queries, predicted = singles(np.asarray(asked)[rows]), predicted_class[rows]
    greatest = max(true_class.max(initial=-1), predicted_class.max(initial=-1))
    distance = np.full((len(rows), int(greatest) + 1), np.inf)
    for member in np.unique(true_class).tolist():
        index = Index(points=points[true_class == member])
        distance[:, member] = index.nearest(queries, 1).distance[:, 0]
    distance[distance == 0] = least_positive_distance(points)
    to_predicted = distance[np.arange(len(rows)), predicted]
    distance[np.arange(len(rows)), predicted] = np.inf
    other = distance.min(axis=1, initial=np.inf)
    is_known = np.isfinite(to_predicted) & np.isfinite(other)
    answer[rows[is_known]] = other[is_known] / to_predicted[is_known]
    return answer


@dataclass(frozen=True, kw_only=True, eq=False)
class Neighbours:
    """Calibration proteins, by which others are looked at."""

    points: Floats
    true_class: Integers  # From 0; each class has a number, also those of no protein
    is_wrong: Booleans  # Whether the classifier was wrong about it
    n_classes: int

    @cached_property
    def _dense(self) -> tuple[Floats, Integers]:
        rows = dense(self.points, self.true_class)
        return singles(self.points)[rows], self.true_class[rows]

    @cached_property
    def _graph(self) -> NeighbourGraph:
        return NeighbourGraph(
            points=singles(self.points),
            true_class=self.true_class,
            is_wrong=self.is_wrong,
            n_classes=self.n_classes,
            least=NEIGHBOURS_OF_TRUST,
        )

    def parts(self, asked: Floats, predicted_class: Integers) -> tuple[Floats, Floats, Floats]:
        """Return trust score, ε and 𝒦 of the predicted class; NaN where not known.

        ε = Σ [wrong]/d over the nearest proteins of that class, what is ambiguous there;
        𝒦 = Σ d/rank ÷ Σ 1/rank, how much data lack (decision 0008).
        """
        trust = trust_among(*self._dense, asked, predicted_class)
        error, lacking = np.full((2, len(asked)), np.nan)
        graph = self._graph
        rows = np.flatnonzero(np.isfinite(asked).all(axis=1) & graph.is_seen[predicted_class])
        if len(rows):
            evidence = graph.evidence(singles(asked[rows]), NEIGHBOURS_OF_TRUST)
            errors, distances = evidence.terms(NEIGHBOURS_OF_TRUST)
            place = np.arange(len(rows)), (np.cumsum(graph.is_seen) - 1)[predicted_class[rows]]
            error[rows], lacking[rows] = errors[place], distances[place]
        return trust, error, lacking
