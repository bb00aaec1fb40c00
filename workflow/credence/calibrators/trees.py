"""Gradient-boosted trees on the whole score vector, per predicted class."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from credence.calibrators.classwise import vector_method
from credence.calibrators.crossfit import fold_of
from credence.calibrators.forest import Forest, Growth, grow
from credence.calibrators.newton import (
    cluster_covariance,
    fit_logistic,
    log_loss,
    log_odds_interval,
    standard_error,
)
from credence.calibrators.protocol import FitOptions
from credence.calibrators.score_logs import (
    canonical_order,
    name_order,
    predicted_rank,
    rows_of,
    tree_features,
)
from credence.draws import encode_clusters, uniform
from credence.predictions import Booleans, Floats, Integers, Labelled, Predictions
from credence.settings import setting

N_FOLDS = 3  # of whole clusters, to choose the number of trees and to recalibrate
MOST_TREES = 60
FIXED_TREES = 10  # where there is one cluster alone
# Ridge of the recalibration towards the trees' own log odds: one protein's worth.
RECALIBRATION_RIDGE = 1.0
# Few trees leave a bias that no spread shows: the interval holds also that of at
# least so many.
LOOSE_TREES = 30
N_RISING = 2  # top score and margin, of the columns after the log scores


@dataclass(frozen=True, eq=False)
class ClassTrees:
    """The trees of one predicted class, and what they are worth."""

    forest: Forest  # Grown on all proteins of the class
    line: Floats  # Intercept and slope of the log odds over the forest's
    covariance: Floats | None  # Of the line, as the clusters show it and as the model implies it
    loose: Forest | None  # Begins like the forest, and grows on; None without intervals
    # As many trees, grown on halves of the clusters; how far they are from the answer, and when
    # grown on from the loose one, are the forests' own errors.
    bag: tuple[Forest, ...]
    n_clusters: int  # How many clusters the fit saw

    def evaluate(self, features: Floats, level: float) -> tuple[Floats, Floats, Floats]:
        """Return value, lower and upper end."""
        raw = self.forest.log_odds(features)
        linear = self.line[0] + self.line[1] * raw
        value = special.expit(linear)
        if self.covariance is None or self.loose is None:
            return value, np.full_like(value, np.nan), np.full_like(value, np.nan)
        design = np.column_stack([np.ones(len(raw)), raw])
        error = standard_error(design, self.covariance)
        n_trees = len(self.forest.root)
        grown_on = self.loose.log_odds(features)
        own, own_loose = np.zeros(len(raw)), np.zeros(len(raw))
        for forest in self.bag:
            staged = forest.staged(features)
            own += (staged[:, min(n_trees, staged.shape[1] - 1)] - linear) ** 2
            own_loose += (staged[:, -1] - grown_on) ** 2
        error = np.sqrt(error**2 + own / len(self.bag))
        error_loose = np.sqrt(own_loose / len(self.bag))
        n_free = min(self.n_clusters, len(self.bag))
        lower, upper = log_odds_interval(linear, error, level, n_free)
        low, high = log_odds_interval(grown_on, error_loose, level, n_free)
        return value, np.minimum(lower, low), np.maximum(upper, high)


@dataclass(frozen=True, eq=False)
class TreesModel:
    """One forest per predicted class."""

    level: float  # Coverage of the intervals
    uses_networks: bool  # Whether the ensemble's spread was there to learn from
    classes: Mapping[str, ClassTrees]  # By class name; scarce classes are absent

    def evaluate(self, predictions: Predictions) -> tuple[Floats, Floats, Floats]:
        """Return value, lower and upper end; the ends NaN without intervals."""
        answer = np.full((3, predictions.n_samples), np.nan)
        features = tree_features(predictions, uses_networks=self.uses_networks)
        chosen = predicted_rank(predictions)
        for rank, class_ in enumerate(name_order(predictions.class_names)):
            fitted = self.classes.get(predictions.class_names[class_])
            rows = np.flatnonzero(chosen == rank)
            if fitted is not None and len(rows) > 0:
                answer[:, rows] = fitted.evaluate(features[rows], self.level)
        return answer[0], answer[1], answer[2]


@dataclass(frozen=True)
class Trees:
    """Settings of the boosted trees.

    Notes
    -----
    Conf3, Eq. (10) of [1]_, without a form: trees split on the logs of all
    scores, the top score, its margin over the runner-up, the row's entropy, and
    where a table gives the networks of an ensemble on their spread and their
    vote. The confidence may not fall as top score or margin rise. The number of
    trees is the one with the least loss on folds of whole clusters, and a line
    through the log odds that those folds' trees gave to proteins they had not
    seen takes back what the trees claim too much. The interval adds the error
    of that line, over clusters, to the distance from the answer of forests
    grown on random halves of the clusters and on their complements (what half
    the data change is the standard error of all, and some of the bias too),
    with Student's t for so few halves. Few trees stay near the class's share,
    and no spread of theirs shows by how much; so the interval also holds that
    of forests grown on to 30 trees. It is approximate; the decision page says
    how often it covers.

    References
    ----------
    .. [1] Salamon et al. 2023, doi 10.3390/make5030043
    """

    trees: str | float = setting(
        "cross-fitted", "Number of trees.", ("cross-fitted",), low=1, high=1000
    )
    monotone: bool = setting(True, "Whether top score and margin may only help.")
    bags: int = setting(8, "Forests on halves of the clusters, for the interval.", low=2, high=100)

    def fit_model(
        self, labelled: Labelled, is_active: Booleans, options: FitOptions
    ) -> TreesModel:
        """Return one forest per active class."""
        names = labelled.predictions.class_names
        uses_networks = labelled.predictions.network_scores is not None
        classes = {
            names[class_]: self._fit_class(rows_of(labelled, class_), uses_networks, options)
            for class_ in name_order(names)
            if is_active[class_]
        }
        return TreesModel(options.level, uses_networks, classes)

    def _fit_class(
        self, labelled: Labelled, uses_networks: bool, options: FitOptions
    ) -> ClassTrees:
        features = tree_features(labelled.predictions, uses_networks=uses_networks)
        order = canonical_order(features, labelled)
        labelled, features = labelled.take(order), features[order]
        cluster, key = encode_clusters(labelled.cluster)
        rising = np.zeros(features.shape[1], dtype=np.int64)
        first = labelled.predictions.n_classes
        rising[first : first + N_RISING] = int(self.monotone)

        n_trees, unseen = self._cross_fit(labelled, features, rising)
        line, covariance = recalibrate(unseen, labelled, cluster)

        def grown(rows: Booleans, n_trees: int) -> Forest:
            growth = Growth(n_trees=n_trees)
            seen = labelled.take(rows)
            return grow(features[rows], seen.is_correct, seen.weight, rising, growth)

        every = np.ones(labelled.n_samples, dtype=np.bool_)
        forest = grown(every, n_trees)
        if options.n_draws == 0:
            return ClassTrees(forest, line, None, None, (), len(key))
        n_loose = max(n_trees, LOOSE_TREES)
        parts = [halves(key, draw)[cluster] for draw in range(self.bags)]
        bag = tuple(grown(rows, n_loose) for rows in parts if rows.any())
        return ClassTrees(forest, line, covariance, grown(every, n_loose), bag, len(key))

    def _cross_fit(
        self, labelled: Labelled, features: Floats, rising: Integers
    ) -> tuple[int, Floats]:
        """Return the number of trees and the log odds of rows not seen."""
        fold = fold_of(labelled.cluster, labelled.is_correct, N_FOLDS)
        most = MOST_TREES if isinstance(self.trees, str) else int(self.trees)
        target = labelled.is_correct.astype(float)
        staged = np.zeros((labelled.n_samples, most + 1))
        is_judged = np.zeros(labelled.n_samples, dtype=np.bool_)
        for held_out in range(N_FOLDS):
            is_out = np.equal(fold, held_out)
            if not is_out.any() or is_out.all():
                continue
            seen = labelled.take(~is_out)
            grown = grow(
                features[~is_out], seen.is_correct, seen.weight, rising, Growth(n_trees=most)
            )
            added = grown.each(features[is_out])
            steps = np.zeros((len(added), most + 1))
            steps[:, 1 : added.shape[1] + 1] = added
            staged[is_out] = grown.base + np.cumsum(steps, axis=1)
            is_judged |= is_out
        if not is_judged.any():
            n_trees = FIXED_TREES if isinstance(self.trees, str) else most
            return n_trees, np.full(labelled.n_samples, np.nan)
        n_trees = most
        if isinstance(self.trees, str):
            losses = labelled.weight @ log_loss(staged, target[:, None])
            n_trees = max(int(losses.argmin()), 1)
        return n_trees, staged[:, n_trees]


def halves(keys: NDArray[np.uint64], draw: int) -> Booleans:
    """Return whether each cluster is in a half; draws 2i and 2i + 1 complement."""
    is_in: Booleans = uniform(keys, draw // 2, "halves") < 1 / 2
    return is_in if draw % 2 == 0 else ~is_in


def recalibrate(raw: Floats, labelled: Labelled, cluster: Integers) -> tuple[Floats, Floats]:
    """Return the line from log odds claimed to log odds found, and its covariance.

    Its slope is not negative: log odds that say the wrong thing say nothing.
    """
    target, weight = labelled.is_correct.astype(float), labelled.weight
    centre = np.array([0.0, 1.0])
    if np.isnan(raw).any():  # one cluster: nothing is known of the trees' worth
        return np.array([0.0, 1.0]), np.stack([np.eye(2) / RECALIBRATION_RIDGE] * 2)
    design = np.column_stack([np.ones(len(raw)), raw])
    penalty = np.full(2, RECALIBRATION_RIDGE)
    fit = fit_logistic(design, target, weight, penalty, centre)
    if fit.coefficient[1] < 0:
        design = np.column_stack([np.ones(len(raw)), np.zeros(len(raw))])
        fit = fit_logistic(design, target, weight, penalty, np.zeros(2))
    p = special.expit(design @ fit.coefficient)
    shown = cluster_covariance(design, weight * (p - target), weight * p * (1.0 - p), cluster, fit)
    return fit.coefficient, np.stack([shown, np.linalg.inv(fit.hessian)])


METHOD = vector_method(
    "trees",
    "Gradient-boosted trees on the score vector, its margins and the ensemble's spread.",
    "Salamon et al. 2023, Eq. 10, doi 10.3390/make5030043; Friedman 2001",
    Trees,
    TreesModel,
)
