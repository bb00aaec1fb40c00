"""What forecasts an event from features: one entry of the registry each."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
import scipy

from credence.calibrators.forest import Forest, Growth, boost, single
from credence.calibrators.logistic import ROUGH, STRENGTHS, ridge
from credence.metrics.metric import sum_by
from credence.predictions import Floats, Integers

JEFFREYS = 0.5  # of a protein, added to both outcomes of every share


@dataclass(frozen=True, kw_only=True, eq=False)
class Examples:
    """What a forecaster learns from; rows are in an order that the table's does not reach."""

    features: Floats  # NaN where not known
    outcome: Floats  # 1 where the event came true
    weight: Floats  # Positive weights
    # Code of each protein's cluster, ascending in an order that is no property of it.
    cluster: Integers

    @property
    def n_samples(self) -> int:
        """Number of proteins."""
        return len(self.outcome)

    @property
    def share(self) -> float:
        """Share for which it came true, with half a protein added to each outcome."""
        return float(share_with_prior(self.weight @ self.outcome, self.weight.sum()))

    def take(self, rows: Any) -> "Examples":
        """Return the rows chosen."""
        return Examples(
            features=self.features[rows],
            outcome=self.outcome[rows],
            weight=self.weight[rows],
            cluster=self.cluster[rows],
        )


class Forecast(Protocol):
    """A fitted forecaster."""

    def probability(self, features: Floats) -> Floats:
        """Return the probability of the event, in (0, 1), for each row."""


@dataclass(frozen=True, kw_only=True)
class Forecaster:
    """An entry of the registry."""

    name: str  # As the user writes it
    summary: str  # What it does, and where that is from
    reference: str
    fit: Callable[[Examples, float], Forecast]  # ``fit(lesson, value)`` gives the forecast
    kind: type[Forecast]  # Class of what it learns
    candidates: tuple[float, ...] = (0.0,)  # Values of the one setting that is tuned
    default: float = 0.0  # The value where there is too little to tune it by
    tuned: str = ""  # What the setting is, in words; empty: nothing is
    # ``shortcut(lesson, features, candidates)`` gives what :meth:`path` does, faster.
    shortcut: Callable[[Examples, Floats, tuple[float, ...]], Floats] | None = None

    def path(self, examples: Examples, features: Floats) -> Floats:
        """Return probabilities for every candidate, shape (n_candidates, n_samples)."""
        if self.shortcut is not None:
            return self.shortcut(examples, features, self.candidates)
        fitted = [self.fit(examples, value) for value in self.candidates]
        return np.stack([forecast.probability(features) for forecast in fitted])


@dataclass(frozen=True, kw_only=True)
class ConstantForecast:
    """The same answer for all: where there is too little to learn from."""

    value: float  # The probability

    def probability(self, features: Floats) -> Floats:
        """Return the probability, for each row."""
        return np.full(len(features), self.value)


@dataclass(frozen=True, kw_only=True, eq=False)
class Scaling:
    """What brings columns to one scale, the unknown to the middle."""

    mean: Floats  # Of the known values; the spread of a column that does not vary is 0
    spread: Floats

    def apply(self, features: Floats) -> Floats:
        """Return (value − mean) / spread, 0 where not known or where nothing varies."""
        varies = self.spread > 0
        scaled = (features - self.mean) / np.where(varies, self.spread, 1.0)
        return np.where(np.isnan(scaled) | ~varies, 0.0, scaled)


LEAST_SPREAD = 1e-9  # a column that varies less than this is constant


def scaling_of(examples: Examples) -> Scaling:
    """Return the scaling that gives the lesson's columns mean 0 and spread 1."""
    is_known = ~np.isnan(examples.features)
    weight = np.where(is_known, examples.weight[:, None], 0.0)
    total = np.maximum(weight.sum(axis=0), np.finfo(float).tiny)
    values = np.where(is_known, examples.features, 0.0)
    mean = (weight * values).sum(axis=0) / total
    spread = np.sqrt((weight * np.where(is_known, values - mean, 0.0) ** 2).sum(axis=0) / total)
    return Scaling(mean=mean, spread=np.where(spread < LEAST_SPREAD, 0.0, spread))


def share_with_prior(right: Floats, total: Floats) -> Floats:
    """Return (Σ right + ½) / (Σ total + 1), never quite 0 or 1."""
    return np.asarray((right + JEFFREYS) / (total + 2.0 * JEFFREYS))


MOST_PROTEINS_KEPT = 5_000  # proteins kept; whole clusters, drawn by their keys
DISTANCES_AT_ONCE = 1 << 21  # distances held in memory at a time
DECIMALS_OF_DISTANCE = 7  # of a distance; proteins nearer to each other are equally far


@dataclass(frozen=True, kw_only=True, eq=False)
class NearestProteins:
    """The proteins learnt from, in an order that settles ties."""

    scaling: Scaling  # Of the features
    points: Floats  # Features on one scale
    outcome: Floats  # What came true, and what it counts
    weight: Floats
    k: int  # How many neighbours are asked

    def probability(self, features: Floats) -> Floats:
        """Return the share of the nearest k, with half a protein on each side."""
        return np.asarray(self.shares(features, (self.k,))[0])

    def shares(self, features: Floats, numbers: tuple[int, ...]) -> Floats:
        """Return the share under each number of neighbours, shape (n_numbers, n_samples)."""
        n_kept = len(self.points)
        most = min(max(numbers), n_kept)
        last = np.minimum(np.array(numbers), n_kept) - 1
        scaled = self.scaling.apply(features)
        answer = np.empty((len(numbers), len(features)))
        rows_at_once = max(1, DISTANCES_AT_ONCE // max(n_kept, 1))
        for start in range(0, len(features), rows_at_once):
            part = slice(start, start + rows_at_once)
            # Distance and place in one whole number: no way of sorting can change their order.
            steps = np.rint(
                scipy.spatial.distance.cdist(scaled[part], self.points) * 10**DECIMALS_OF_DISTANCE
            ).astype(np.int64)
            keys = steps * n_kept + np.arange(n_kept)
            if most < n_kept:
                keys = np.partition(keys, most - 1, axis=1)[:, :most]
            keys.sort(axis=1)
            nearest = keys % n_kept
            weight = self.weight[nearest]
            total = np.cumsum(weight, axis=1)[:, last]
            right = np.cumsum(weight * self.outcome[nearest], axis=1)[:, last]
            answer[:, part] = share_with_prior(right, total).T
        return answer


def neighbours_of(examples: Examples, k: float) -> NearestProteins:
    """Return what is kept of a lesson."""
    scaling = scaling_of(examples)
    if examples.n_samples > MOST_PROTEINS_KEPT:
        kept = (np.cumsum(np.bincount(examples.cluster)) <= MOST_PROTEINS_KEPT)[examples.cluster]
        examples = examples.take(kept if kept.any() else slice(MOST_PROTEINS_KEPT))
    points = scaling.apply(examples.features)
    return NearestProteins(
        scaling=scaling, points=points, outcome=examples.outcome, weight=examples.weight, k=int(k)
    )


def knn_path(examples: Examples, features: Floats, numbers: tuple[float, ...]) -> Floats:
    """Return the share under each number of neighbours; neighbours are sought once."""
    return neighbours_of(examples, max(numbers)).shares(features, tuple(map(int, numbers)))


MOST_LINEAR = 30.0  # log odds beyond which a probability would round to 0 or 1


@dataclass(frozen=True, kw_only=True, eq=False)
class LogisticForecast:
    """A regression."""

    scaling: Scaling  # Of the features
    coefficient: Floats  # The intercept first

    def probability(self, features: Floats) -> Floats:
        """Return the probability of the event for each row."""
        linear = design_of(self.scaling, features) @ self.coefficient
        return np.asarray(scipy.special.expit(np.clip(linear, -MOST_LINEAR, MOST_LINEAR)))


def design_of(scaling: Scaling, features: Floats) -> Floats:
    """Return ones, and the features on one scale."""
    return np.column_stack([np.ones(len(features)), scaling.apply(features)])


def ridge_logistic(examples: Examples, strength: float) -> LogisticForecast:
    """Return the regression with a ridge of this strength."""
    scaling = scaling_of(examples)
    design = design_of(scaling, examples.features)
    fitted = ridge(design, examples.outcome, examples.weight, strength)
    return LogisticForecast(scaling=scaling, coefficient=fitted.coefficient)


def logistic_path(examples: Examples, features: Floats, strengths: tuple[float, ...]) -> Floats:
    """Return the probabilities under each strength, each fit begun at the one before."""
    scaling = scaling_of(examples)
    design = design_of(scaling, examples.features)
    paths, start = [], None
    for strength in strengths:
        fitted = ridge(design, examples.outcome, examples.weight, strength, start, ROUGH)
        start = fitted.coefficient
        paths.append(LogisticForecast(scaling=scaling, coefficient=start).probability(features))
    return np.stack(paths)


LEAVES_OF_ONE_TREE = 256


@dataclass(frozen=True, kw_only=True, eq=False)
class TreeForecast:
    """One tree, stored as arrays."""

    forest: Forest  # Its values are log odds

    def probability(self, features: Floats) -> Floats:
        """Return the probability of the event for each row."""
        return np.asarray(scipy.special.expit(self.forest.total(features)))


def fit_tree(examples: Examples, least: float) -> TreeForecast:
    """Return the tree whose leaves hold so many proteins or more, split as by Gini's index."""
    least_rows = min(max(int(least), 1), examples.n_samples)
    growth = Growth(
        n_trees=1,
        n_leaves=LEAVES_OF_ONE_TREE,
        learning_rate=1.0,
        least_rows=least_rows,
        ridge=0.0,
        is_random=False,
    )
    forest = boost(examples.features, examples.outcome > 0, examples.weight, growth)
    if len(forest.root) == 0:
        return TreeForecast(forest=forest)
    n_nodes = len(forest.value)
    (leaf,) = forest.leaves(examples.features)
    total = sum_by(leaf, examples.weight, n_nodes)
    right = sum_by(leaf, examples.weight * examples.outcome, n_nodes)
    odds = scipy.special.logit(share_with_prior(right, total))
    value = single(np.where(np.isinf(forest.threshold), odds, 0.0))
    return TreeForecast(forest=replace(forest, base=0.0, value=value))


KULESHOV = "Kuleshov & Liang 2015, Calibrated structured prediction, NeurIPS"
FORECASTERS = (
    Forecaster(
        name="knn",
        summary="The share of the k proteins with the most similar features for which it came "
        "true.",
        reference=KULESHOV,
        fit=neighbours_of,
        kind=NearestProteins,
        candidates=tuple(float(k) for k in range(5, 501, 5)),
        default=100.0,
        tuned="number of neighbours",
        shortcut=knn_path,
    ),
    Forecaster(
        name="tree",
        summary="One decision tree; each leaf answers with its own share.",
        reference=f"{KULESHOV}; Breiman et al. 1984, Classification and Regression Trees",
        fit=fit_tree,
        kind=TreeForecast,
        # In between by ratio, since trees of neighbouring sizes differ little.
        candidates=(5.0, 10.0, 20.0, 35.0, 50.0, 75.0, 100.0, 150.0, 200.0, 300.0, 400.0, 500.0),
        default=100.0,
        tuned="least number of proteins in a leaf",
    ),
    Forecaster(
        name="logistic",
        summary="Logistic regression on all features, with a ridge.",
        reference="Platt 1999, Advances in Large Margin Classifiers, 61–74; "
        "Salamon et al. 2023, Eq. 10, doi 10.3390/make5030043",
        fit=ridge_logistic,
        kind=LogisticForecast,
        candidates=STRENGTHS,
        default=10.0,
        tuned="strength of the ridge",
        shortcut=logistic_path,
    ),
)
FORECASTER_OF: dict[str, Forecaster] = {entry.name: entry for entry in FORECASTERS}
