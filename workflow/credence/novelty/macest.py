"""MACEst: confidence from the errors and the distances of a point's neighbours."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import special

from credence.calibrators.protocol import setting
from credence.novelty.halves import canonical_order, in_graph
from credence.novelty.macest_search import Evidence, Judged, Tuning, search
from credence.novelty.neighbours import (
    MOST_EXACT,
    Index,
    index_of,
    least_positive_distance,
    singles,
)
from credence.novelty.packing import packed, unpacked
from credence.predictions import Booleans, Floats, Integers, Strings

BLOCK = 4_096  # queries at a time; each keeps n_classes × neighbours numbers
MOST_JUDGED = 4_000  # proteins that three numbers are learnt on; more change them by little
NEIGHBOURS = (1, 2, 3, 5, 8, 12, 20, 30)  # the numbers that are tried


@dataclass(frozen=True)
class MacestSettings:
    """Settings of MACEst.

    Parameters
    ----------
    neighbours : int
        Greatest number of neighbours of each class.
    graph : float
        Part of each class's proteins, in whole clusters, among which neighbours
        are sought; the weights are learnt on the others.
    least : int
        A class with fewer proteins in the graph is not looked at.
    """

    neighbours: int = setting(20, "Greatest number of neighbours of each class.", low=1, high=100)
    graph: float = setting(
        0.5, "Part of the proteins that serve as neighbours.", low=0.1, high=0.9
    )
    least: int = setting(3, "Least number of a class's proteins there.", low=1, high=1000)


@dataclass(frozen=True, eq=False)
class Graph:
    """The points of each class among which neighbours are sought.

    Parameters
    ----------
    points : array of float, shape (n_points, n_dimensions)
        In single precision, in a canonical order.
    true_class : array of int, shape (n_points,)
        The class of each.
    is_wrong : array of bool, shape (n_points,)
        Whether the classifier was wrong about it.
    n_classes : int
        Number of classes.
    least : int
        A class with fewer points is not looked at.
    most_exact : int
        Points of a class that are searched exactly; more, by a graph.
    """

    points: Floats
    true_class: Integers
    is_wrong: Booleans
    n_classes: int
    least: int
    most_exact: int = MOST_EXACT

    @cached_property
    def is_seen(self) -> Booleans:
        """Whether each class has points enough to be looked at."""
        return np.bincount(self.true_class, minlength=self.n_classes) >= self.least

    @cached_property
    def most_neighbours(self) -> int:
        """Number of points of the least class that is looked at; 0 where none is."""
        counts = np.bincount(self.true_class, minlength=self.n_classes)
        return int(counts[self.is_seen].min()) if self.is_seen.any() else 0

    @cached_property
    def least_distance(self) -> float:
        """The least positive distance between two of the points."""
        return least_positive_distance(self.points, self.most_exact)

    @cached_property
    def _by_class(self) -> dict[int, tuple[Index, Booleans]]:
        found = {}
        for class_ in np.flatnonzero(self.is_seen):
            own = self.true_class == class_
            found[int(class_)] = (index_of(self.points[own], self.most_exact), self.is_wrong[own])
        return found

    def evidence(self, queries: Floats, n_neighbours: int) -> Evidence:
        """Return the neighbours of some points in every class that is looked at.

        Parameters
        ----------
        queries : array of float, shape (n_queries, n_dimensions)
            In single precision.
        n_neighbours : int
            At most `most_neighbours`.
        """
        shape = (len(queries), int(self.is_seen.sum()), n_neighbours)
        distance, is_wrong = np.empty(shape), np.empty(shape, dtype=np.bool_)
        for position, (index, wrong) in enumerate(self._by_class.values()):
            found = index.nearest(queries, n_neighbours)
            distance[:, position] = found.distance
            is_wrong[:, position] = wrong[found.place]
        distance[distance == 0] = self.least_distance
        return Evidence(distance, is_wrong)


@dataclass(frozen=True, eq=False)
class FittedMacest:
    """MACEst with its graph and what was learnt.

    Parameters
    ----------
    graph : Graph
        Among whose points neighbours are sought.
    tuning : Tuning
        k, α, β and τ.
    n_fitting : int
        Number of proteins that they were learnt on.
    calibration_error : float, optional
        The squared error that was minimised, on those proteins; None where
        there were none.
    """

    graph: Graph
    tuning: Tuning
    n_fitting: int
    calibration_error: float | None

    def probabilities(self, points: Any) -> Floats:
        """Return a probability for every class; each row sums to 1.

        Parameters
        ----------
        points : array of float, shape (n_samples, n_dimensions)
            In the space of the fit. A row with NaN gives NaN.

        Notes
        -----
        A class that is not looked at takes the mean σ of the others: nothing is
        known of it, so it is neither near nor far.
        """
        queries = singles(points)
        answer = np.full((len(queries), self.graph.n_classes), np.nan)
        is_known = np.isfinite(queries).all(axis=1)
        for rows in _blocks(np.flatnonzero(is_known)):
            if self.graph.most_neighbours == 0:
                answer[rows] = 1.0 / self.graph.n_classes
                continue
            evidence = self.graph.evidence(queries[rows], self.tuning.neighbours)
            logits = np.full((len(rows), self.graph.n_classes), -self.tuning.sharpness)
            logits[:, self.graph.is_seen] = self.tuning.logits(evidence)
            answer[rows] = special.softmax(logits, axis=1)
        return answer

    def confidence(self, points: Any, predicted_class: Integers) -> Floats:
        """Return the probability of each predicted class.

        Parameters
        ----------
        points : array of float, shape (n_samples, n_dimensions)
            In the space of the fit.
        predicted_class : array of int, shape (n_samples,)
            The classifier's.
        """
        return self.probabilities(points)[np.arange(len(predicted_class)), predicted_class]

    def disagrees(self, points: Any, predicted_class: Integers) -> Booleans:
        """Return where MACEst's own best class is another than the classifier's.

        Parameters
        ----------
        points : array of float, shape (n_samples, n_dimensions)
            In the space of the fit.
        predicted_class : array of int, shape (n_samples,)
            The classifier's.
        """
        probability = self.probabilities(points)
        own = probability[np.arange(len(predicted_class)), predicted_class]
        return np.asarray(probability.max(axis=1) > own, dtype=np.bool_)

    def to_record(self) -> dict[str, Any]:
        """Return the fit as JSON data."""
        return {
            "points": packed(self.graph.points, "float32"),
            "true_class": packed(self.graph.true_class, "int32"),
            "is_wrong": packed(self.graph.is_wrong, "bool"),
            "n_classes": self.graph.n_classes,
            "least": self.graph.least,
            "tuning": self.tuning.to_record(),
            "n_fitting": self.n_fitting,
            "calibration_error": self.calibration_error,
        }


def fit(
    points: Any,
    true_class: Integers,
    predicted_class: Integers,
    n_classes: int,
    cluster: Strings,
    settings: MacestSettings,
    weight: Floats | None = None,
) -> FittedMacest:
    """Return MACEst learnt from points whose class is known.

    Parameters
    ----------
    points : array of float, shape (n_samples, n_dimensions)
        Finite; held in single precision.
    true_class, predicted_class : array of int, shape (n_samples,)
        What is true and what the classifier said.
    n_classes : int
        Number of classes.
    cluster : array of str, shape (n_samples,)
        Name of each row's cluster.
    settings : MacestSettings
        How many neighbours, and how many proteins serve as such.
    weight : array of float, optional
        Positive weights of the proteins that the weights are learnt on.

    Notes
    -----
    For each class ε = Σ [neighbour's prediction wrong]/d over its k nearest and
    𝒦 = Σ d/rank ÷ Σ 1/rank; σ = αε + β𝒦; the probabilities are
    softmax(−τ σ/mean over classes of σ) (METHODS section 8, [1]_). β is 1, since
    α/β is all that counts. *Departs from the paper:* τ, decision 1001; d = 0
    counts as the least positive distance of the graph; of the weights whose
    calibration error is told from the least by nothing but chance, the likeliest
    are taken, decision 1002; classes with too few proteins, decision 1003.

    References
    ----------
    .. [1] Green, Rowe & Polleri 2021, MACEst, arXiv 2109.01531
    """
    values = singles(points)
    order = canonical_order(values, true_class, predicted_class, cluster)
    is_graph = in_graph(true_class[order], cluster[order], settings.graph)
    own, others = order[is_graph], order[~is_graph]
    is_wrong = np.not_equal(true_class, predicted_class)
    graph = Graph(values[own], true_class[own], is_wrong[own], n_classes, settings.least)
    # A prediction in a class that is not looked at tells nothing of the tuning.
    # Their canonical order is as good as random, so the first ones are a fair sample.
    others = others[graph.is_seen[predicted_class[others]]][:MOST_JUDGED]
    tried = [k for k in NEIGHBOURS if k <= min(settings.neighbours, graph.most_neighbours)]
    if len(others) == 0:
        return FittedMacest(graph, Tuning(max(1, graph.most_neighbours)), 0, None)
    place = np.cumsum(graph.is_seen) - 1
    judged = Judged(
        place[predicted_class[others]],
        ~is_wrong[others],
        np.ones(len(others)) if weight is None else weight[others],
        cluster[others],
    )
    found = search(
        graph.evidence(values[others], tried[-1]), judged, tried, int((~graph.is_seen).sum())
    )
    return FittedMacest(graph, found.tuning, len(others), found.error)


def read(record: Mapping[str, Any]) -> FittedMacest:
    """Return the fit of a record that :meth:`FittedMacest.to_record` wrote.

    Parameters
    ----------
    record : mapping
        JSON data.
    """
    graph = Graph(
        unpacked(record["points"]).astype(np.float64),
        unpacked(record["true_class"]).astype(np.int64),
        unpacked(record["is_wrong"]),
        record["n_classes"],
        record["least"],
    )
    tuning = Tuning.from_record(record["tuning"])
    return FittedMacest(graph, tuning, record["n_fitting"], record["calibration_error"])


def _blocks(rows: Integers) -> Iterator[Integers]:
    for start in range(0, len(rows), BLOCK):
        yield rows[start : start + BLOCK]
