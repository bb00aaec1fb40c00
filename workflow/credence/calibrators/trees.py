"""Pooled trees on the whole score vector: one ensemble for all predicted classes."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import scipy

from credence.calibrators import score_logs
from credence.calibrators.classwise import vector_method
from credence.calibrators.crossfit import folds_by_class, left_out
from credence.calibrators.forest import Forest, Growth, average, boost
from credence.calibrators.newton import log_loss
from credence.calibrators.protocol import FitOptions
from credence.calibrators.spread import Spread, answers_of_halves, spread_of
from credence.predictions import Floats, Integers, Labelled, Predictions
from credence.settings import setting

N_RUNNERS_UP = 3  # best other scores, whichever classes they are of
N_FOLDS = 5  # of whole clusters: to choose the number of trees, and for the interval
# With fewer proteins three folds judge the number of trees, with more the first alone.
MANY_ROWS, N_JUDGING = 5000, 3
FIXED_TREES = 50  # where there is one cluster alone
# Leaves of a boosted tree: one for so many proteins, within bounds.
ROWS_PER_LEAF, FEWEST_LEAVES, MOST_LEAVES = 50, 4, 32
BOOSTING = Growth(
    n_trees=250,
    n_leaves=MOST_LEAVES,
    learning_rate=0.08,
    ridge=3.0 / 4.0,  # of p (1 − p): what three proteins weigh whose outcome is open
    part_of_clusters=0.5,
    part_of_features=0.5,
)
RANDOMISED_LEAF = 5  # proteins; as many as Geurts et al. 2006 take for numbers
RANDOMISED_FEATURES = 0.25
RANDOMISED_RIDGE = 0.1  # of a protein: a leaf of five right ones is worth 0.98 and more
MOST_RANDOMISED_LEAVES = 1500  # so that a calibration of 50,000 proteins stays a small file


@dataclass(frozen=True, kw_only=True, eq=False)
class TreesModel:
    """One ensemble for all predicted classes."""

    uses_networks: bool  # Whether the ensemble's spread was there to learn from
    is_log_odds: bool  # Whether the trees add up to log odds, or to a probability
    forest: Forest
    spread: Spread | None  # None without intervals

    def evaluate(self, predictions: Predictions) -> tuple[Floats, Floats, Floats]:
        """Return value, lower and upper end; the ends NaN without intervals."""
        value = self.values(predictions)
        if self.spread is None:
            return value, np.full_like(value, np.nan), np.full_like(value, np.nan)
        names = tuple(sorted(predictions.class_names))
        return value, *self.spread.interval(value, score_logs.predicted_rank(predictions), names)

    def values(self, predictions: Predictions) -> Floats:
        """Return the confidence of each prediction."""
        features = features_of(predictions, uses_networks=self.uses_networks)
        total = self.forest.total(features, walking_order(predictions))
        return scipy.special.expit(total) if self.is_log_odds else np.clip(total, 0.0, 1.0)


def features_of(predictions: Predictions, *, uses_networks: bool) -> Floats:
    """Return what a pooled tree may split on: as for one class, best others, predicted class."""
    rank = score_logs.predicted_rank(predictions)
    logs = score_logs.sorted_log_scores(predictions)
    return np.hstack(
        [
            score_logs.tree_features(predictions, uses_networks=uses_networks),
            -np.sort(-logs, axis=1)[:, 1 : 1 + N_RUNNERS_UP],
            np.equal(rank[:, None], np.arange(predictions.n_classes)),
        ]
    )


def walking_order(predictions: Predictions) -> Integers:
    """Return an order in which rows follow each other that go the same way through most trees."""
    scores = predictions.required_scores
    others = score_logs.others_of(scores, predictions.predicted_class)
    second = others.argmax(axis=1)
    best_other = others[np.arange(len(others)), second]
    return np.lexsort((scores.max(axis=1), best_other, second, predictions.predicted_class))


def with_spread(
    grown: Callable[[Labelled], TreesModel], labelled: Labelled, options: FitOptions
) -> TreesModel:
    """Return the ensemble of all proteins, with its interval where one is asked for."""
    model = grown(labelled)
    if options.n_draws == 0:
        return model
    fold = folds_by_class(labelled, N_FOLDS)
    answer = np.full(labelled.n_samples, np.nan)
    for is_out in left_out(fold):
        seen = grown(labelled.take(~is_out))
        answer[is_out] = seen.values(labelled.predictions.take(is_out))
    of_halves = answers_of_halves(
        labelled, lambda seen, unseen: grown(seen).values(unseen.predictions)
    )
    return replace(model, spread=spread_of(labelled, answer, of_halves, options.level))


def grow(labelled: Labelled, growth: Growth, *, is_log_odds: bool) -> TreesModel:
    """Return the ensemble of some proteins, in whatever order they come."""
    uses_networks = labelled.predictions.network_scores is not None
    features = features_of(labelled.predictions, uses_networks=uses_networks)
    order = score_logs.canonical_order(features, labelled)
    ordered = labelled.take(order)
    plant = boost if is_log_odds else average
    forest = plant(features[order], ordered.is_correct, ordered.weight, growth, ordered.cluster)
    return TreesModel(
        uses_networks=uses_networks, is_log_odds=is_log_odds, forest=forest, spread=None
    )


@dataclass(frozen=True, kw_only=True)
class Trees:
    """Settings of the boosted trees.

    Conf3, Eq. (10) of Salamon et al. 2023 (doi 10.3390/make5030043), without a form, for all
    predicted classes at once: one with few proteins learns from the others what a margin is worth.
    Each tree is a Newton step of the log loss on half of the clusters, its splits the best of
    places drawn at random (Geurts, Ernst & Wehenkel 2006, doi 10.1007/s10994-006-6226-1). The
    number of trees is the one with the least loss on clusters held out; as a member of `auto` all
    are kept. The interval is that of :mod:`credence.calibrators.spread`.
    """

    trees: str | float = setting(
        "held-out", "Number of trees.", ("held-out", "all"), low=1, high=1000
    )

    def tuned(self, labelled: Labelled) -> "Trees":
        """Return the settings with the number of trees fixed."""
        if not isinstance(self.trees, str):
            return self
        if self.trees == "all":
            return Trees(trees=BOOSTING.n_trees)
        fold = folds_by_class(labelled, N_FOLDS)
        losses = np.zeros(BOOSTING.n_trees + 1)
        n_judged = 0
        for held_out in range(N_JUDGING if labelled.n_samples < MANY_ROWS else 1):
            is_out = np.equal(fold, held_out)
            if not is_out.any() or is_out.all():
                continue
            model = self._grown(labelled.take(~is_out), BOOSTING.n_trees)
            unseen = labelled.take(is_out)
            features = features_of(unseen.predictions, uses_networks=model.uses_networks)
            staged = model.forest.staged(features)
            each = log_loss(staged, unseen.is_correct[:, None].astype(float))
            loss = (unseen.weight[:, None] * each).sum(axis=0)
            losses += np.pad(loss, (0, len(losses) - len(loss)), mode="edge")
            n_judged += unseen.n_samples
        return (
            Trees(trees=FIXED_TREES)
            if n_judged == 0
            else Trees(trees=max(int(losses.argmin()), 1))
        )

    def fit_model(self, labelled: Labelled, options: FitOptions) -> TreesModel:
        """Return one ensemble for all active classes."""
        n_trees = int(self.tuned(labelled).trees)
        return with_spread(lambda seen: self._grown(seen, n_trees), labelled, options)

    def _grown(self, labelled: Labelled, n_trees: int) -> TreesModel:
        n_leaves = int(np.clip(labelled.n_samples // ROWS_PER_LEAF, FEWEST_LEAVES, MOST_LEAVES))
        growth = replace(BOOSTING, n_trees=n_trees, n_leaves=n_leaves)
        return grow(labelled, growth, is_log_odds=True)


@dataclass(frozen=True, kw_only=True)
class RandomisedTrees:
    """Settings of the extremely randomised trees.

    The mean of trees grown each by itself with splits at random places (Geurts, Ernst & Wehenkel
    2006, doi 10.1007/s10994-006-6226-1). A leaf is worth its share of right predictions, with a
    tenth of a protein's worth of the share of all.
    """

    trees: float = setting(100.0, "Number of trees.", low=1, high=1000)

    def fit_model(self, labelled: Labelled, options: FitOptions) -> TreesModel:
        """Return one ensemble for all active classes."""
        return with_spread(self._grown, labelled, options)

    def _grown(self, labelled: Labelled) -> TreesModel:
        growth = Growth(
            n_trees=int(self.trees),
            n_leaves=MOST_RANDOMISED_LEAVES,
            least_rows=RANDOMISED_LEAF,
            part_of_features=RANDOMISED_FEATURES,
            ridge=RANDOMISED_RIDGE,
        )
        return grow(labelled, growth, is_log_odds=False)


BOOSTED = vector_method(
    "trees",
    "Boosted trees on the score vector and its margins, one ensemble for all classes.",
    "Salamon et al. 2023, Eq. 10, doi 10.3390/make5030043; "
    "Friedman 2001, doi 10.1214/aos/1013203451",
    Trees,
    TreesModel,
    pools=True,
)
RANDOMISED = vector_method(
    "random_trees",
    "Extremely randomised trees on the score vector, one ensemble for all classes.",
    "Geurts et al. 2006, doi 10.1007/s10994-006-6226-1",
    RandomisedTrees,
    TreesModel,
    pools=True,
)
