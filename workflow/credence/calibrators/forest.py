"""Ensembles of trees as plain arrays: grown by scikit-learn, stored and read as data."""

from dataclasses import dataclass
from functools import cache, cached_property
from itertools import pairwise
from typing import Annotated, Any

import numpy as np
import scipy

from credence.draws import encode_clusters, uniform
from credence.predictions import Booleans, Floats, Integers, Strings
from credence.records import PackedFloats, PackedIntegers, Stored

ROWS_AT_ONCE = 8192  # so that what a tree looks at stays in the processor's cache
# From so many rows on scikit-learn walks the trees: four times as fast, after a second of loading.
ROWS_FOR_COMPILED = 50_000
NO_FEATURE = -2  # of a leaf, as scikit-learn has it
LEAST_CURVATURE = 1e-6  # of the log loss, so that no step is divided by nothing


@dataclass(frozen=True, kw_only=True)
class Growth:
    """How trees are grown."""

    n_trees: int  # Most trees
    n_leaves: int  # Most leaves of a tree
    learning_rate: float = 1.0  # Part of each step that boosting takes
    least_rows: int = 10  # In a leaf
    ridge: float = 1.0  # On the values of the leaves, in units of one protein
    part_of_clusters: float = 1.0  # That each tree sees
    part_of_features: float = 1.0  # That each split chooses from
    is_random: bool = True  # Whether a split's place is drawn, instead of searched for


@dataclass(frozen=True, kw_only=True, eq=False)
class Forest:
    """Trees, node after node; what their leaves say is added up."""

    base: float  # Before the first tree
    root: PackedIntegers  # Where each tree begins
    feature: Annotated[Integers, Stored(packed="uint8")]  # What a node looks at; 0 in a leaf
    threshold: PackedFloats  # A row with a value up to this goes to `child`; infinite in a leaf
    child: PackedIntegers  # The next node, others go to the one behind it; a leaf is its own
    value: PackedFloats  # What a leaf adds; 0 elsewhere
    typical: PackedFloats  # Stands for a feature that a row lacks

    def total(self, features: Floats, order: Integers | None = None) -> Floats:
        """Return what all trees say of each row, added to the base.

        Rows are walked in the order given; the sooner where those that are alike follow each
        other: the processor foresees their way, and a row like the one before is not walked.
        """
        answer = np.full(len(features), self.base)
        if len(features) >= ROWS_FOR_COMPILED or "compiled_trees" in vars(self):
            complete = filled(features, self.typical)
            return self._walked(complete, np.arange(len(complete)) if order is None else order)
        for first in range(0, len(features), ROWS_AT_ONCE):
            for leaf in self.leaves(features[first : first + ROWS_AT_ONCE]):
                answer[first : first + ROWS_AT_ONCE] += self.value[leaf]
        return answer

    def _walked(self, complete: Floats, order: Integers) -> Floats:
        ordered = complete[order]
        is_new = np.append(True, (ordered[1:] != ordered[:-1]).any(axis=1))[: len(order)]
        distinct = ordered[is_new]
        total = np.full(len(distinct), self.base)
        for tree in self.compiled_trees:
            total += tree.predict(distinct)[:, 0]
        answer = np.empty(len(complete))
        answer[order] = total[np.cumsum(is_new) - 1]
        return answer

    @property
    def tree_sizes(self) -> Integers:
        """Number of nodes of each tree; they stand one after the other."""
        return np.diff(self.root, append=len(self.value))

    @cached_property
    def compiled_trees(self) -> list[Any]:
        """The trees as scikit-learn has them, which walks them to the same leaves."""
        from sklearn.tree._tree import NODE_DTYPE, TREE_LEAF, Tree

        n_nodes = len(self.value)
        is_leaf = self.child == np.arange(n_nodes)
        before = np.repeat(self.root, self.tree_sizes)
        nodes = np.zeros(n_nodes, NODE_DTYPE)
        nodes["left_child"] = np.where(is_leaf, TREE_LEAF, self.child - before)
        nodes["right_child"] = np.where(is_leaf, TREE_LEAF, self.child + 1 - before)
        nodes["feature"] = np.where(is_leaf, NO_FEATURE, self.feature)
        nodes["threshold"] = self.threshold
        trees = []
        for start, end in pairwise([*self.root.tolist(), n_nodes]):
            tree = Tree(len(self.typical), np.array([1]), 1)
            state = {"max_depth": end - start, "node_count": end - start}
            values = self.value[start:end].reshape(-1, 1, 1).copy()
            tree.__setstate__(state | {"nodes": nodes[start:end].copy(), "values": values})
            trees.append(tree)
        return trees

    def staged(self, features: Floats) -> Floats:
        """Return the same after 0, 1, 2, … trees, shape (n_samples, n_trees + 1)."""
        steps = [np.full(len(features), self.base)]
        steps += [self.value[leaf] for leaf in self.leaves(features)]
        return np.cumsum(steps, axis=0).T

    def leaves(self, features: Floats) -> list[Integers]:
        """Return the leaf of each row, for each tree."""
        flat = filled(features, self.typical).ravel()
        start = np.arange(len(features)) * features.shape[1]
        threshold = self.threshold.astype(np.float32)
        leaves = []
        for root in self.root:
            node = np.full(len(features), root)
            while True:
                goes_on = flat[start + self.feature[node]] > threshold[node]
                following = self.child[node] + goes_on
                if np.array_equal(following, node):
                    break
                node = following
            leaves.append(node)
        return leaves

    def refuse_damage(self) -> None:
        """Refuse trees whose nodes do not lead to nodes, or hold what is no number."""
        n_nodes = len(self.value)
        nodes = self.feature, self.threshold, self.child
        if any(part.shape != (n_nodes,) for part in (*nodes, self.value)):
            raise ValueError("its nodes do not all have a feature, a threshold, a child, a value")
        if not ((self.root >= 0) & (self.root < n_nodes)).all():
            raise ValueError(f"root leads out of its {n_nodes} nodes")
        if n_nodes and not (self.root[:1].tolist() == [0] and (np.diff(self.root) > 0).all()):
            raise ValueError("roots are not those of one tree after the other")
        is_leaf = self.child == np.arange(n_nodes)
        # A branch leads on, so that no walk can go in circles, and stays in its tree.
        last = np.repeat(self.root + self.tree_sizes, self.tree_sizes) - 1
        if not (is_leaf | ((self.child > np.arange(n_nodes)) & (self.child < last))).all():
            raise ValueError(f"child leads out of its tree, of {n_nodes} nodes in all, or back")
        if not (np.isinf(self.threshold) == is_leaf).all():
            raise ValueError("a threshold is missing, or is in a leaf")
        if ((self.feature < 0) | (self.feature >= len(self.typical))).any():
            raise ValueError("a node looks at a feature that there is not")
        if not np.isfinite([self.base, *self.value, *self.typical]).all():
            raise ValueError("a value is not a number")


def filled(features: Floats, typical: Floats) -> Floats:
    """Return features in single precision, a typical value where one is lacking."""
    return np.where(np.isnan(features), typical, features).astype(np.float32)


def single(values: Floats) -> Floats:
    """Return values rounded to single precision, as they are stored."""
    return np.asarray(values.astype(np.float32).astype(np.float64))


class TreeGrower:
    """Rows to grow trees on, and the trees grown so far."""

    def __init__(
        self, features: Floats, is_correct: Booleans, weight: Floats, cluster: Strings | None
    ) -> None:
        known = ~np.isnan(features).all(axis=0)
        self.typical = np.zeros(features.shape[1])
        self.typical[known] = np.nanmedian(features[:, known], axis=0)
        self.features = filled(features, self.typical)
        self.target = is_correct.astype(np.float64)
        self.weight = weight
        if cluster is not None:
            self.cluster, self.key = encode_clusters(cluster)
        self.generator = np.random.RandomState(0)
        # Of each tree: left and right child, feature, threshold and value of its nodes.
        self.parts: list[tuple[Integers, Integers, Integers, Floats, Floats]] = []

    def sample(self, growth: Growth, tree: int) -> Integers:
        """Return the rows that a tree sees: whole clusters, drawn by their names."""
        if growth.part_of_clusters == 1.0:
            return np.arange(len(self.target))
        is_in = uniform(self.key, tree, "rows of a tree") < growth.part_of_clusters
        return np.flatnonzero(is_in[self.cluster])

    def add(self, growth: Growth, aim: Floats, weight: Floats, rows: Integers) -> Integers:
        """Grow one more tree towards an aim, and return the leaf of each row.

        What scikit-learn's regressor calls, without its checks, a tenth of a small tree's time.
        """
        # Half a second that only those pay who grow trees.
        from sklearn.tree._criterion import MSE
        from sklearn.tree._splitter import BestSplitter, RandomSplitter
        from sklearn.tree._tree import BestFirstTreeBuilder, Tree

        self.generator.set_state(state_of(len(self.parts)))
        n_features = self.features.shape[1]
        n_chosen = max(1, int(growth.part_of_features * n_features))
        splitter = (RandomSplitter if growth.is_random else BestSplitter)(
            MSE(1, len(rows)), n_chosen, growth.least_rows, 0.0, self.generator, None
        )
        deepest, least_split = np.iinfo(np.int32).max, 2 * growth.least_rows
        build = BestFirstTreeBuilder(
            splitter, least_split, growth.least_rows, 0.0, deepest, growth.n_leaves, 0.0
        ).build
        tree = Tree(n_features, np.array([1]), 1)
        is_whole = len(rows) == len(self.target)
        seen = self.features if is_whole else self.features[rows]
        build(tree, seen, aim[rows, None], weight[rows])
        links = tree.children_left, tree.children_right
        self.parts.append((*links, tree.feature, tree.threshold, np.zeros(tree.node_count)))
        return np.asarray(tree.apply(self.features))

    def leaf_means(
        self, leaf: Integers, rows: Integers, sums: Floats, sizes: Floats, ridge: float
    ) -> Floats:
        """Return the sum over the size, plus the ridge, in each leaf of the last tree."""
        n_nodes = len(self.parts[-1][-1])
        above = np.bincount(leaf[rows], sums[rows], n_nodes)
        below = np.bincount(leaf[rows], sizes[rows], n_nodes) + ridge
        return np.asarray(np.divide(above, below, out=np.zeros(n_nodes), where=below > 0))

    def set_values(self, values: Floats) -> Floats:
        """Give the last tree's leaves their values, in single precision."""
        kept = single(values)
        self.parts[-1][-1][:] = kept
        return kept

    def forest(self, base: float) -> Forest:
        """Return the trees as one table of nodes."""
        sizes = np.array([len(part[0]) for part in self.parts], dtype=np.int64)
        root = np.cumsum(sizes) - sizes
        if not self.parts:
            none = np.zeros(0, dtype=np.int64)
            return Forest(
                base=base,
                root=root,
                feature=none,
                threshold=np.zeros(0),
                child=none,
                value=np.zeros(0),
                typical=self.typical,
            )
        left, right, feature, exact, value = map(np.concatenate, zip(*self.parts, strict=True))
        before = np.repeat(root, sizes)
        order, place = children_together(root, left + before, right + before, left < 0)
        is_leaf = left[order] < 0
        child = place[np.where(is_leaf, order, (left + before)[order])]
        # Rounded down to single precision, as features are: the same rows go left.
        limit = exact[order].astype(np.float32)
        down = np.nextafter(limit, np.float32(-np.inf))
        limit = np.where(limit > exact[order], down, limit)
        threshold = np.where(is_leaf, np.inf, limit.astype(np.float64))
        feature = np.where(is_leaf, 0, feature[order])
        grown = Forest(
            base=base,
            root=root,
            feature=feature,
            threshold=threshold,
            child=child,
            value=value[order],
            typical=self.typical,
        )
        grown.compiled_trees  # noqa: B018 -- scikit-learn is loaded, so it walks few rows as well
        return grown


@cache
def state_of(seed: int) -> Any:
    """Return how a generator begins: to make one takes a fifth of the time of a small tree."""
    return np.random.RandomState(seed).get_state(legacy=False)


def children_together(
    root: Integers, left: Integers, right: Integers, is_leaf: Booleans
) -> tuple[Integers, Integers]:
    """Return an order of trees' nodes in which siblings follow each other, and each's place."""
    levels = [root]
    while len(levels[-1]):
        branch = levels[-1][~is_leaf[levels[-1]]]
        levels.append(np.column_stack([left[branch], right[branch]]).ravel())
    nodes = np.concatenate(levels)
    # Tree after tree, in each of them level after level.
    order = nodes[np.argsort(np.searchsorted(root, nodes, "right"), kind="stable")]
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    return order, place


def boost(
    features: Floats,
    is_correct: Booleans,
    weight: Floats,
    growth: Growth,
    cluster: Strings | None = None,
) -> Forest:
    """Return trees that add up to log odds; none where all outcomes are alike."""
    grower = TreeGrower(features, is_correct, weight, cluster)
    right, total = float(weight[is_correct].sum()), float(weight.sum())
    base = float(np.log((right + 0.5) / (total - right + 0.5)))
    log_odds = np.full(len(weight), base)
    if is_correct.all() or not is_correct.any():
        return grower.forest(base)
    for tree in range(growth.n_trees):
        p = scipy.special.expit(log_odds)
        slope = grower.target - p
        curvature = np.maximum(p * (1.0 - p), LEAST_CURVATURE)
        rows = grower.sample(growth, tree)
        if len(rows) == 0:
            continue
        mass = weight * curvature
        leaf = grower.add(growth, slope / curvature, mass, rows)
        steps = grower.leaf_means(leaf, rows, weight * slope, mass, growth.ridge)
        log_odds += grower.set_values(growth.learning_rate * steps)[leaf]
    return grower.forest(base)


def average(
    features: Floats,
    is_correct: Booleans,
    weight: Floats,
    growth: Growth,
    cluster: Strings | None = None,
) -> Forest:
    """Return trees that add up to a probability, leaves drawn towards the share of all."""
    grower = TreeGrower(features, is_correct, weight, cluster)
    share = float(np.average(is_correct, weights=weight))
    for tree in range(growth.n_trees):
        rows = grower.sample(growth, tree)
        if len(rows) == 0:
            continue
        leaf = grower.add(growth, grower.target, weight, rows)
        off = grower.leaf_means(leaf, rows, weight * (grower.target - share), weight, growth.ridge)
        grower.set_values(off / growth.n_trees)
    return grower.forest(share)
