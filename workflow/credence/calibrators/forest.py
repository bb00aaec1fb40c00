"""Boosted trees as plain arrays: grown by scikit-learn, stored and read as data."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from credence.predictions import Booleans, Floats, Integers
from credence.records import Stored

if TYPE_CHECKING:
    from sklearn.ensemble import HistGradientBoostingClassifier


@dataclass(frozen=True)
class Growth:
    """How trees are grown."""

    n_trees: int = 60  # Trees, each grown on what the ones before leave
    learning_rate: float = 0.2  # Part of each tree's step that is taken
    n_leaves: int = 8  # Most leaves of a tree
    depth: int = 4  # Most splits from a tree's root to a leaf
    least_leaf_share: float = 0.01  # Least part of the rows in a leaf
    ridge: float = 1.0  # On the values of the leaves


LEAST_LEAF_ROWS = 5  # however few rows there are in all
N_BINS = 64  # of a feature: finer splits tell noise


@dataclass(frozen=True, eq=False)
class Forest:
    """Trees, node after node, their roots first in each."""

    base: float  # Log odds before the first tree
    root: Integers  # Where each tree begins
    depth: int  # Most splits from a root to a leaf
    feature: Integers  # What a node looks at; 0 in a leaf
    threshold: Annotated[
        Floats, Stored(null=np.inf)
    ]  # A row with a value up to this goes left; infinite in a leaf
    left: Integers  # The next node; a leaf is its own
    right: Integers
    missing_left: Integers  # 1 where a row without a value goes left, else 0
    value: Floats  # What a leaf adds to the log odds; 0 elsewhere

    def each(self, features: Floats) -> Floats:
        """Return what every tree adds to every row, shape (n_samples, n_trees)."""
        rows = np.arange(len(features))
        added = np.empty((len(features), len(self.root)))
        may_miss = bool(np.isnan(features).any())
        for tree, root in enumerate(self.root):
            node = np.full(len(features), root)
            for _ in range(self.depth):
                seen = features[rows, self.feature[node]]
                goes_left = seen <= self.threshold[node]
                if may_miss:
                    goes_left |= np.isnan(seen) & (self.missing_left[node] > 0)
                node = np.where(goes_left, self.left[node], self.right[node])
            added[:, tree] = self.value[node]
        return added

    def log_odds(self, features: Floats) -> Floats:
        """Return the log odds of each row, the trees added up in their order."""
        return self.staged(features)[:, -1]

    def staged(self, features: Floats) -> Floats:
        """Return the log odds after 0, 1, 2, … trees, shape (n_samples, n_trees + 1)."""
        steps = np.zeros((len(features), len(self.root) + 1))
        steps[:, 1:] = self.each(features)
        return np.asarray(self.base + np.cumsum(steps, axis=1))

    def refuse_damage(self) -> None:
        """Refuse trees whose nodes do not lead to nodes, or hold what is no number."""
        n_nodes = len(self.value)
        nodes = self.feature, self.threshold, self.left, self.right, self.missing_left
        if any(part.shape != (n_nodes,) for part in (*nodes, self.value)):
            raise ValueError(
                "its nodes do not all have a feature, a threshold, two branches and a value"
            )
        for name in ("root", "left", "right"):
            places = getattr(self, name)
            if ((places < 0) | (places >= n_nodes)).any():
                raise ValueError(f"{name} leads out of its {n_nodes} nodes")
        if not 0 <= self.depth <= n_nodes or (self.feature < 0).any():
            raise ValueError("its depth or a feature is out of range")
        if not np.isfinite([self.base, *self.value]).all():
            raise ValueError("a value is not a number")


def grow(
    features: Floats, is_correct: Booleans, weight: Floats, rising: Integers, growth: Growth
) -> Forest:
    """Return the trees grown on these rows; none where all outcomes are alike."""
    # Half a second that only those pay who grow trees.
    from sklearn.ensemble import HistGradientBoostingClassifier
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    if is_correct.all() or not is_correct.any():
        right = float(weight[is_correct].sum())
        return plant(float(np.log((right + 0.5) / (weight.sum() - right + 0.5))), [])
    rows_in_leaf = int(np.ceil(growth.least_leaf_share * len(features)))
    edges = [bin_edges(column) for column in features.T]
    codes = np.column_stack(
        [to_codes(column, edge) for column, edge in zip(features.T, edges, strict=True)]
    )
    model = HistGradientBoostingClassifier(
        max_iter=growth.n_trees,
        learning_rate=growth.learning_rate,
        max_leaf_nodes=growth.n_leaves,
        max_depth=growth.depth,
        min_samples_leaf=max(LEAST_LEAF_ROWS, rows_in_leaf),
        l2_regularization=growth.ridge,
        monotonic_cst=rising,
        early_stopping=False,
        random_state=0,
    )
    # One thread: the order of a sum must not depend on how many cores there are.
    with threadpool_limits(limits=1):
        model.fit(codes, is_correct, sample_weight=weight)
    return on_values(forest_of(model), edges)


def bin_edges(column: Floats) -> Floats:
    """Return values between which a tree cannot split; the last is the greatest.

    scikit-learn's own bins take weights into account, a sort for every bin.
    """
    known = np.unique(column[~np.isnan(column)])
    if len(known) <= N_BINS:
        return known
    parts = np.arange(1, N_BINS + 1) / N_BINS
    present = column[~np.isnan(column)]
    return np.unique(np.quantile(present, parts, method="inverted_cdf"))


def to_codes(column: Floats, edges: Floats) -> Floats:
    """Return the number of the bin of each value, NaN where there is none.

    >>> to_codes(np.array([0.1, 0.5, 0.6, np.nan]), np.array([0.5, 0.6])).tolist()
    [0.0, 0.0, 1.0, nan]
    """
    return np.where(np.isnan(column), np.nan, np.searchsorted(edges, column).astype(float))


def on_values(forest: Forest, edges: list[Floats]) -> Forest:
    """Return trees that split on values, of trees that split on their bins."""
    threshold = forest.threshold.copy()
    for node in np.flatnonzero(np.isfinite(threshold)):
        threshold[node] = edges[forest.feature[node]][int(threshold[node])]
    return replace(forest, threshold=threshold)


def forest_of(model: HistGradientBoostingClassifier) -> Forest:
    """Return the trees of a fitted binary booster of scikit-learn as arrays.

    Notes
    -----
    scikit-learn shows its trees only in private attributes; a test compares
    what is made of them with its own predictions.
    """
    base = float(np.ravel(model._baseline_prediction)[0])
    return plant(base, [stage[0].nodes for stage in model._predictors])


def plant(base: float, trees: list[Any]) -> Forest:
    """Return the forest of scikit-learn's node tables."""
    sizes = np.array([len(nodes) for nodes in trees], dtype=np.int64)
    root = np.cumsum(sizes) - sizes
    if not trees:
        none = np.zeros(0, dtype=np.int64)
        return Forest(base, none, 0, none, np.zeros(0), none, none, none, np.zeros(0))
    nodes = np.concatenate(trees)
    is_leaf = nodes["is_leaf"].astype(np.bool_)
    own = np.arange(len(nodes))
    shift = np.repeat(root, sizes)
    return Forest(
        base=base,
        root=root,
        depth=int(nodes["depth"].max()),
        feature=np.where(is_leaf, 0, nodes["feature_idx"]).astype(np.int64),
        threshold=np.where(is_leaf, np.inf, nodes["num_threshold"]),
        left=np.where(is_leaf, own, nodes["left"] + shift).astype(np.int64),
        right=np.where(is_leaf, own, nodes["right"] + shift).astype(np.int64),
        missing_left=nodes["missing_go_to_left"].astype(np.int64),
        value=np.where(is_leaf, nodes["value"], 0.0),
    )
