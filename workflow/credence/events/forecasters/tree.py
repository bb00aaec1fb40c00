"""One decision tree, its leaves not below a least size."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import special

from credence.calibrators.forest import Forest, Growth, grow
from credence.events.forecasters.protocol import (
    Forecaster,
    Lesson,
    Record,
    fit_each,
    share_with_prior,
)
from credence.metrics.judged import sum_by
from credence.predictions import Floats

# Least leaves of 5 … 500; in between by ratio, since trees of neighbouring sizes are alike.
CANDIDATES = (5.0, 10.0, 20.0, 35.0, 50.0, 75.0, 100.0, 150.0, 200.0, 300.0, 400.0, 500.0)
ONE_TREE = Growth(n_trees=1, learning_rate=1.0, n_leaves=256, depth=16, ridge=0.0)


@dataclass(frozen=True, eq=False)
class TreeForecast:
    """A forest of one tree or several, stored as arrays.

    Parameters
    ----------
    forest : Forest
        Its values are log odds.
    """

    forest: Forest

    def probability(self, features: Floats) -> Floats:
        """Return the probability of the event for each row."""
        return np.asarray(special.expit(self.forest.log_odds(features)))

    def to_record(self) -> Record:
        """Return the trees as JSON data."""
        return {"forest": self.forest.to_record()}

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> TreeForecast:
        """Return the trees of a record."""
        return cls(Forest.from_record(record["forest"]))


def fit(lesson: Lesson, least: float) -> TreeForecast:
    """Return the tree whose leaves hold so many proteins or more.

    Parameters
    ----------
    lesson : Lesson
        What is learnt from.
    least : float
        Least number of proteins in a leaf.

    Notes
    -----
    The first tree of a booster on the log loss, from the overall share, splits
    where a classification tree by Gini's index would: all proteins have the same
    curvature. Its leaves' shares are counted anew, with half a protein on each side.
    """
    growth = replace(ONE_TREE, least_leaf_share=min(least / lesson.n_samples, 1.0))
    still = np.zeros(lesson.features.shape[1], dtype=np.int64)
    came_true = lesson.outcome > 0
    forest = grow(lesson.features, came_true, lesson.weight, still, growth)
    if len(forest.root) == 0:
        return TreeForecast(forest)
    n_nodes = len(forest.value)
    # A tree whose leaves say their own numbers tells where each protein ends.
    numbered = replace(forest, value=np.arange(n_nodes, dtype=float))
    leaf = numbered.each(lesson.features)[:, 0].astype(np.int64)
    total = sum_by(leaf, lesson.weight, n_nodes)
    right = sum_by(leaf, lesson.weight * lesson.outcome, n_nodes)
    odds = special.logit(share_with_prior(right, total))
    value = np.where(np.isinf(forest.threshold), odds, 0.0)
    return TreeForecast(replace(forest, base=0.0, value=value))


FORECASTER = Forecaster(
    name="tree",
    summary="One decision tree; each leaf answers with its own share.",
    reference="Kuleshov & Liang 2015, section 4; Breiman et al. 1984",
    candidates=CANDIDATES,
    default=100.0,
    tuned="least number of proteins in a leaf",
    fit=fit,
    path=fit_each(fit, CANDIDATES),
    read=TreeForecast.from_record,
)
