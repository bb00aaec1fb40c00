"""MACEst: confidence from the errors and the distances of a point's neighbours."""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any

import numpy as np
import scipy

from credence.draws import effective_clusters, encode_clusters, uniform
from credence.novelty.neighbours import Index, content_keys, least_positive_distance, singles
from credence.predictions import Booleans, Floats, Integers, Strings
from credence.records import PackedFloats, PackedIntegers, Stored
from credence.settings import setting

N_BINS_OF_TUNING = 15  # of equal count, in which confidence and outcome are compared
# What the mean error term is to the mean distance term.
BALANCES = (0.0, 0.03, 0.1, 0.3, 1.0)
# σ/mean σ of the nearest class is rarely below a half, so sharpness 256 is certainty.
SHARPNESSES = tuple(2.0**step for step in range(-1, 9))
FINER_FACTORS = tuple(2.0 ** (step / 4.0) for step in range(-3, 4))  # of the best, tried once more
LEAST_PROBABILITY = 1e-15  # probabilities in a logarithm, as in the metrics


@dataclass(frozen=True, kw_only=True, eq=False)
class NeighbourEvidence:
    """The neighbours of some points, class by class, nearest first."""

    distance: Floats  # Positive
    is_wrong: Booleans  # Whether the classifier was wrong about the neighbour

    def terms(self, n_neighbours: int) -> tuple[Floats, Floats]:
        """Return ε and 𝒦 of each query and class."""
        distance = self.distance[..., :n_neighbours]
        inverse_rank = 1.0 / np.arange(1, n_neighbours + 1)
        error = (self.is_wrong[..., :n_neighbours] / distance).sum(axis=-1)
        return error, (distance * inverse_rank).sum(axis=-1) / inverse_rank.sum()


@dataclass(frozen=True, kw_only=True)
class Tuning:
    """What is learnt."""

    neighbours: int  # k, the same for every class
    alpha: float = 0.0  # Weight of the errors ε
    beta: float = 1.0  # Weight of the distances 𝒦; positive, so that far away they alone count
    sharpness: float = 1.0  # τ, positive

    def logits(self, evidence: NeighbourEvidence) -> Floats:
        """Return −τ σ/mean σ of each query and class that is looked at."""
        error, spread = evidence.terms(self.neighbours)
        return -self.sharpness * relative(self.alpha * error + self.beta * spread)


@dataclass(frozen=True, kw_only=True)
class TuningTrial:
    """A tuning and how it did."""

    tuning: Tuning  # What was tried
    error: float  # Squared calibration error of the predicted class
    loss: float  # Mean negative log-likelihood of the outcomes
    chance: float  # What the squared error of a calibrated forecast would be


def relative(sigma: Floats) -> Floats:
    """Return σ over its mean over the classes."""
    return np.asarray(sigma / sigma.mean(axis=1, keepdims=True))


def search(
    evidence: NeighbourEvidence,
    position: Integers,
    is_correct: Booleans,
    weight: Floats,
    n_effective: float,
    tried: Sequence[int],
    n_unseen: int,
) -> TuningTrial:
    """Return the best of a fixed grid of tunings, then of a finer one around it.

    The error is Σ_b (w_b/w) (mean confidence − precision)² over bins of equal count, of which a
    calibrated forecast has Σ_b (w_b/w) p(1−p)/n_b by chance, n_b counting clusters: of tunings
    within that of the least the likeliest is taken. `position` is the place of each predicted
    class among those that are looked at.
    """
    share = weight / weight.sum()
    n_bins = min(N_BINS_OF_TUNING, len(position))

    def trials(
        n_neighbours: int, alphas: Sequence[float], sharpnesses: Sequence[float]
    ) -> Iterator[TuningTrial]:
        error, spread = evidence.terms(n_neighbours)
        for alpha, sharpness in itertools.product(alphas, sharpnesses):
            tuning = Tuning(neighbours=n_neighbours, alpha=alpha, beta=1.0, sharpness=sharpness)
            sigma = relative(alpha * error + tuning.beta * spread)
            # Taken from the least σ, nothing overflows.
            least = sigma.min(axis=1)
            mass = np.exp(-sharpness * (sigma - least[:, None]))
            total = mass.sum(axis=1) + n_unseen * np.exp(-sharpness * (1.0 - least))
            p = mass[np.arange(len(mass)), position] / total
            clipped = np.clip(p, LEAST_PROBABILITY, 1.0 - LEAST_PROBABILITY)
            loss = -np.where(is_correct, np.log(clipped), np.log1p(-clipped))
            chance = n_bins * float(share @ (p * (1.0 - p))) / n_effective
            yield TuningTrial(
                tuning=tuning,
                error=calibration_error(p, is_correct, weight),
                loss=float(share @ loss),
                chance=chance,
            )

    tried_so_far: list[TuningTrial] = []
    for n_neighbours in tried:
        error, spread = evidence.terms(n_neighbours)
        balanced = float(spread.mean() / error.mean()) if error.mean() > 0 else 0.0
        alphas = [balance * balanced for balance in BALANCES] if balanced else [0.0]
        tried_so_far += trials(n_neighbours, alphas, SHARPNESSES)
    coarse = best(tried_so_far).tuning
    alphas = [coarse.alpha * factor for factor in FINER_FACTORS] if coarse.alpha > 0 else [0.0]
    sharpnesses = [coarse.sharpness * factor for factor in FINER_FACTORS]
    tried_so_far += trials(coarse.neighbours, alphas, sharpnesses)
    return best(tried_so_far)


def best(trials: Sequence[TuningTrial]) -> TuningTrial:
    """Return the likeliest of those whose error is the least but for chance."""
    least = min(trials, key=lambda trial: trial.error)
    close = [trial for trial in trials if trial.error <= least.error + least.chance]
    return min(close, key=lambda trial: trial.loss)


def calibration_error(
    confidence: Floats, is_correct: Booleans, weight: Floats, n_bins: int = N_BINS_OF_TUNING
) -> float:
    """Return the squared difference of confidence and outcome over bins of equal count."""
    order = np.argsort(confidence, kind="stable")
    starts = np.unique(np.arange(n_bins) * len(order) // n_bins)
    mass = np.add.reduceat(weight[order], starts)
    gap = np.add.reduceat((weight * (confidence - is_correct))[order], starts)
    return float((gap**2 / mass).sum() / mass.sum())


STREAM_OF_GRAPH = "novelty graph"


def canonical_order(
    points: Floats, true_class: Integers, predicted_class: Integers, cluster: Strings
) -> Integers:
    """Return an order of the rows by what is in them, not by the table's or the classes'."""
    code, keys = encode_clusters(cluster)
    is_wrong = true_class != predicted_class
    return np.lexsort((keys[code], is_wrong, content_keys(points))).astype(np.int64)


def in_graph(true_class: Integers, cluster: Strings, share: float) -> Booleans:
    """Return which rows stand in the graph: whole clusters, by drawn names, evenly by class."""
    code, keys = encode_clusters(cluster)
    _, first_row, size = np.unique(code, return_index=True, return_counts=True)
    class_of_cluster = true_class[first_row]
    draw = uniform(keys, 0, STREAM_OF_GRAPH)
    is_chosen = np.zeros(len(keys), dtype=np.bool_)
    for class_ in np.unique(class_of_cluster):
        members = np.flatnonzero(class_of_cluster == class_)
        n_graph = n_other = 0
        for position in members[np.argsort(draw[members], kind="stable")]:
            # Before both have any, n_graph · (1 − share) = n_other · share = 0: graph first.
            if n_graph * (1.0 - share) <= n_other * share:
                is_chosen[position] = True
                n_graph += size[position]
            else:
                n_other += size[position]
    return np.asarray(is_chosen[code], dtype=np.bool_)


QUERIES_IN_BLOCK = 4_096  # queries at a time; each keeps n_classes × neighbours numbers
MOST_JUDGED = 4_000  # proteins that three numbers are learnt on; more change them by little
NEIGHBOURS_TRIED = (1, 2, 3, 5, 8, 12, 20, 30)  # the numbers that are tried


@dataclass(frozen=True, kw_only=True)
class MacestSettings:
    """What :class:`credence.calibrators.macest.Macest` and the study of novelty may set."""

    neighbours: int = setting(20, "Greatest number of neighbours of each class.", low=1, high=100)
    graph: float = setting(
        0.5, "Part of the proteins that serve as neighbours.", low=0.1, high=0.9
    )
    least: int = setting(3, "Least number of a class's proteins there.", low=1, high=1000)


@dataclass(frozen=True, kw_only=True, eq=False)
class NeighbourGraph:
    """The points of each class among which neighbours are sought."""

    points: PackedFloats  # In single precision, in a canonical order
    true_class: PackedIntegers  # The class of each
    # Whether the classifier was wrong about it.
    is_wrong: Annotated[Booleans, Stored(packed="bool")]
    n_classes: int  # Number of classes
    least: int  # A class with fewer points is not looked at

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
        return least_positive_distance(self.points)

    @cached_property
    def _by_class(self) -> list[tuple[Index, Booleans]]:
        members = [self.true_class == class_ for class_ in np.flatnonzero(self.is_seen)]
        return [
            (Index(points=self.points[is_member]), self.is_wrong[is_member])
            for is_member in members
        ]

    def evidence(self, queries: Floats, n_neighbours: int) -> NeighbourEvidence:
        """Return the neighbours of some points in every class that is looked at."""
        shape = (len(queries), int(self.is_seen.sum()), n_neighbours)
        distance, is_wrong = np.empty(shape), np.empty(shape, dtype=np.bool_)
        for position, (index, wrong) in enumerate(self._by_class):
            neighbours = index.nearest(queries, n_neighbours)
            distance[:, position] = neighbours.distance
            is_wrong[:, position] = wrong[neighbours.place]
        distance[distance == 0] = self.least_distance
        return NeighbourEvidence(distance=distance, is_wrong=is_wrong)


@dataclass(frozen=True, kw_only=True, eq=False)
class FittedMacest:
    """MACEst with its graph and what was learnt."""

    graph: Annotated[NeighbourGraph, Stored(is_inline=True)]  # Where neighbours are sought
    tuning: Tuning  # k, α, β and τ
    n_fitting: int  # Number of proteins that they were learnt on
    # The squared error that was minimised, on those proteins; None where there were none.
    calibration_error: float | None

    def probabilities(self, points: Any) -> Floats:
        """Return a probability for every class, of unseen ones the mean; each row sums to 1."""
        queries = singles(points)
        answer = np.full((len(queries), self.graph.n_classes), np.nan)
        known = np.flatnonzero(np.isfinite(queries).all(axis=1))
        for start in range(0, len(known), QUERIES_IN_BLOCK):
            rows = known[start : start + QUERIES_IN_BLOCK]
            if self.graph.most_neighbours == 0:
                answer[rows] = 1.0 / self.graph.n_classes
                continue
            evidence = self.graph.evidence(queries[rows], self.tuning.neighbours)
            logits = np.full((len(rows), self.graph.n_classes), -self.tuning.sharpness)
            logits[:, self.graph.is_seen] = self.tuning.logits(evidence)
            answer[rows] = scipy.special.softmax(logits, axis=1)
        return answer

    def confidence(self, points: Any, predicted_class: Integers) -> Floats:
        """Return the probability of each predicted class."""
        return self.probabilities(points)[np.arange(len(predicted_class)), predicted_class]

    def disagrees(self, points: Any, predicted_class: Integers) -> Booleans:
        """Return where MACEst's own best class is another than the classifier's."""
        probability = self.probabilities(points)
        stated = probability[np.arange(len(predicted_class)), predicted_class]
        return np.asarray(probability.max(axis=1) > stated, dtype=np.bool_)


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

    For each class ε = Σ [neighbour's prediction wrong]/d over its k nearest and
    𝒦 = Σ d/rank ÷ Σ 1/rank; σ = αε + β𝒦; the probabilities are softmax(−τ σ/mean over classes
    of σ) (Green, Rowe & Polleri 2021, arXiv 2109.01531). β is 1, since α/β is
    all that counts. *Departs from the paper:* decision 0008 (τ, the choice of weights,
    classes of few proteins); d = 0 counts as the least positive distance of the graph.
    """
    values = singles(points)
    order = canonical_order(values, true_class, predicted_class, cluster)
    is_graph = in_graph(true_class[order], cluster[order], settings.graph)
    inside, outside = order[is_graph], order[~is_graph]
    is_wrong = np.not_equal(true_class, predicted_class)
    graph = NeighbourGraph(
        points=values[inside],
        true_class=true_class[inside],
        is_wrong=is_wrong[inside],
        n_classes=n_classes,
        least=settings.least,
    )
    # A prediction in a class that is not looked at is no help to the tuning.
    # Their canonical order is as good as random, so the first ones are a fair sample.
    outside = outside[graph.is_seen[predicted_class[outside]]][:MOST_JUDGED]
    tried = [k for k in NEIGHBOURS_TRIED if k <= min(settings.neighbours, graph.most_neighbours)]
    if len(outside) == 0:
        return FittedMacest(
            graph=graph,
            tuning=Tuning(neighbours=max(1, graph.most_neighbours)),
            n_fitting=0,
            calibration_error=None,
        )
    judged = np.ones(len(outside)) if weight is None else weight[outside]
    codes = np.unique(cluster[outside].astype(str), return_inverse=True)[1]
    position = (np.cumsum(graph.is_seen) - 1)[predicted_class[outside]]
    trial = search(
        graph.evidence(values[outside], tried[-1]),
        position,
        ~is_wrong[outside],
        judged,
        effective_clusters(codes, judged),
        tried,
        n_unseen=int((~graph.is_seen).sum()),
    )
    return FittedMacest(
        graph=graph, tuning=trial.tuning, n_fitting=len(outside), calibration_error=trial.error
    )
