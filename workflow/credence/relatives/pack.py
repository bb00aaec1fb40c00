"""Whole clusters packed into groups, and what each protein is used for."""

import re
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from credence.calibrators.crossfit import fill
from credence.predictions import Booleans, Floats, Integers, Strings

# Of the cost, in shares of what a group would hold if all were even: a class counts by how far it
# is off, and a little by the square of that; the size counts from FREE on, by CROWDED times the
# square, and beyond GENTLE more in a straight line where some cluster is larger than a group.
SQUARES = 0.01
FREE = 0.04
CROWDED = 400.0
GENTLE = 0.01
LEAST_GAIN = 1e-12  # of the cost, for a move to be worth it
MOST_MOVES = 20_000
MOST_KINDS_SWAPPED = 1_000  # moves that are tried as one half of an exchange


def improved(
    group: Integers, weights: Floats, n_groups: int, rank: NDArray[np.intp] | Integers
) -> Integers:
    """Return the group of each cluster after a local search."""
    kinds, kind_of_cluster = np.unique(weights, axis=0, return_inverse=True)
    kind_of_cluster = kind_of_cluster.ravel()
    order = np.argsort(rank, kind="stable")
    stock: dict[tuple[int, int], list[int]] = {}
    for row in order.tolist():
        stock.setdefault((int(kind_of_cluster[row]), int(group[row])), []).append(row)
    state = _State(kinds, tally(kind_of_cluster, group, len(kinds), n_groups))
    result = group.copy()
    for _ in range(MOST_MOVES):
        moves = state.best()
        if not moves:
            break
        for kind, source, target in moves:
            row = stock[kind, source].pop()
            stock.setdefault((kind, target), []).append(row)
            result[row] = target
            state.move(kind, source, target)
    return result


def tally(rows: Integers, columns: Integers, n_rows: int, n_columns: int) -> Integers:
    """Return how often each row comes with each column."""
    places = np.bincount(rows * n_columns + columns, minlength=n_rows * n_columns)
    return places.reshape(n_rows, n_columns)


Move = tuple[int, int, int]


class _State:
    """What the groups hold, and what a move would change."""

    def __init__(self, kinds: Floats, counts: Integers) -> None:
        self.counts = counts
        # Sizes stand last, as a class that everything belongs to.
        self.kinds = np.column_stack([kinds, kinds.sum(axis=1)])
        self.held = counts.T.astype(np.float64) @ self.kinds
        total = self.held.sum(axis=0)
        self.scale = np.where(total > 0.0, 1.0 / np.where(total > 0.0, total, 1.0), 0.0)
        self.scale *= len(self.held)
        is_even = self.kinds[:, -1] * self.scale[-1] <= 1.0 + FREE
        self.steepest = np.inf if is_even.all() else GENTLE

    def cost(self, held: Floats) -> Floats:
        """Return the cost of groups that hold so much."""
        away = held * self.scale - 1.0
        crowded = np.maximum(np.abs(away[..., -1]) - FREE, 0.0)
        near = np.minimum(crowded, self.steepest)
        uneven = np.abs(away[..., :-1])
        return np.asarray(
            (uneven + SQUARES * uneven**2).sum(axis=-1) + CROWDED * near * (2.0 * crowded - near)
        )

    def changes(self) -> Floats:
        """Return what each move of a kind (axis 0) from (1) to (2) would change."""
        now = self.cost(self.held)
        less = self.cost(self.held[None] - self.kinds[:, None]) - now
        more = self.cost(self.held[None] + self.kinds[:, None]) - now
        less = np.where(self.counts > 0, less, np.inf)
        change = less[:, :, None] + more[:, None, :]
        groups = np.arange(len(self.held))
        change[:, groups, groups] = np.inf
        return np.asarray(change)

    def best(self) -> list[Move]:
        """Return the move that lowers the cost most, else the first exchange found that does."""
        change = self.changes()
        order = [int(change.argmin())]
        if change.min() >= -LEAST_GAIN:
            order = np.argsort(change, axis=None, kind="stable")[:MOST_KINDS_SWAPPED].tolist()
        for flat in order:
            kind, source, target = (int(at) for at in np.unravel_index(flat, change.shape))
            if change[kind, source, target] < -LEAST_GAIN:
                return [(kind, source, target)]
            if not np.isfinite(change[kind, source, target]):
                break
            moved = self.kinds - self.kinds[kind]  # what comes back for it
            pair = self.held[[source, target]]
            after = self.cost(pair[0] + moved) + self.cost(pair[1] - moved)
            after = np.where(self.counts[:, target] > 0, after, np.inf)
            if after.min() < self.cost(pair).sum() - LEAST_GAIN:
                return [(kind, source, target), (int(after.argmin()), target, source)]
        return []

    def move(self, kind: int, source: int, target: int) -> None:
        """Move one cluster of a kind."""
        self.counts[kind, source] -= 1
        self.counts[kind, target] += 1
        self.held[source] -= self.kinds[kind]
        self.held[target] += self.kinds[kind]


TRAINING = "training"
OF_ONE_PROTEIN = re.compile(r" (?:['\"]|of group|\().*")
CALIBRATION = "calibration"
TEST = "test"
SET_ASIDE = "set_aside"
NO_GROUP = ""


@dataclass(frozen=True, kw_only=True, eq=False)
class Packing:
    """What each protein is used for, in the order of the proteins."""

    # '1', '2', … or 'test'; 'training' for training proteins, and '' for those set aside, which
    # are in none.
    group: Strings
    role: Strings  # training, calibration, test or set_aside
    reason: Strings  # Why a protein was set aside; '' for the others

    def without(self, why: Strings) -> Self:
        """Return the same groups without those that are set aside now."""
        gone = (why != "") & (self.role != TRAINING)
        return replace(
            self,
            group=np.where(gone, NO_GROUP, self.group).astype(object),
            role=np.where(gone, SET_ASIDE, self.role).astype(object),
            reason=np.where(gone, why, self.reason).astype(object),
        )


def pack(
    ids: Strings,
    cluster: Strings,
    class_: NDArray[Any],
    n_groups: int,
    *,
    is_training: Booleans | None = None,
    test_group: bool = False,
    reasons: Strings | None = None,
    by_cluster: bool = False,
) -> Packing:
    """Return the group and the role of each protein, whatever the order of rows.

    Groups hold whole clusters, with every class's share near its share overall. A protein that
    shares its cluster with a training protein is set aside, and the reason names that relative;
    where `reasons` say who is set aside, that counts instead.
    """
    learnt = np.zeros(len(ids), dtype=np.bool_) if is_training is None else is_training
    reason = related_to_training(ids, cluster, learnt) if reasons is None else reasons
    rows = np.flatnonzero(~learnt & (reason == ""))
    bins = _bins(cluster[rows], class_[rows], n_groups, by_cluster)
    return packed(learnt, reason, bins, n_groups, test_group)


def packed(
    learnt: Booleans, reason: Strings, bins: Integers, n_groups: int, test_group: bool
) -> Packing:
    """Return what each protein is used for; `bins` has a group for each that calibrates."""
    reason = np.where(learnt, "", reason).astype(object)
    role = np.where(reason == "", CALIBRATION, SET_ASIDE).astype(object)
    role[learnt] = TRAINING
    rows = np.flatnonzero(role == CALIBRATION)
    names = [str(number + 1) for number in range(n_groups)]
    if test_group:
        names[-1] = TEST
    group = np.where(learnt, TRAINING, NO_GROUP).astype(object)
    group[rows] = np.array(names, dtype=object)[bins]
    role[group == TEST] = TEST
    return Packing(group=group, role=role, reason=reason)


def kind_of(reason: str) -> str:
    """Return a reason without what is one protein's own: names, group, identity."""
    return OF_ONE_PROTEIN.sub("", reason)


def related_to_training(ids: Strings, cluster: Strings, learnt: Booleans) -> Strings:
    """Return why each protein is set aside that shares its cluster with training."""
    relative: dict[str, str] = {}  # The first by id of each cluster's training proteins
    for name, id_ in zip(cluster[learnt], ids[learnt], strict=True):
        relative[name] = min(relative.get(name, id_), id_)
    reason = np.full(len(ids), "", dtype=object)
    for row in np.flatnonzero(~learnt).tolist():
        if cluster[row] in relative:
            reason[row] = f"relative of training protein {relative[cluster[row]]!r}"
    return reason


def _bins(cluster: Strings, class_: NDArray[Any], n_groups: int, by_cluster: bool) -> Integers:
    names, codes = np.unique(cluster.astype(str), return_inverse=True)
    _, strata = np.unique(class_, return_inverse=True)
    by_name = np.arange(len(names))
    if len(names) == 0:
        return np.empty(0, dtype=np.int64)
    start = fill(codes.astype(np.int64), strata.astype(np.int64), n_groups, by_name)
    held = tally(codes, strata, len(names), int(strata.max()) + 1).astype(np.float64)
    if by_cluster:
        held /= held.sum(axis=1, keepdims=True)
    return improved(start, held, n_groups, by_name)[codes]


def deviations(group: Integers, class_: Integers, n_groups: int) -> Floats:
    """Return the deviation of each class, 0 (even) to 1."""
    counts = tally(class_, group, int(class_.max(initial=-1)) + 1, n_groups)
    shares = counts / counts.sum(axis=1, keepdims=True)
    return np.asarray(np.abs(shares - 1.0 / n_groups).sum(axis=1) / 2.0)


def lower_bounds(cluster: Integers, class_: Integers, n_groups: int) -> Floats:
    """Return the deviation of each class below which no dealing of clusters gets.

    The greatest of what too large clusters, too few clusters and whole proteins force.
    """
    bounds = []
    for number in range(int(class_.max(initial=-1)) + 1):
        sizes = np.unique(cluster[class_ == number], return_counts=True)[1]
        total, even = int(sizes.sum()), 1.0 / n_groups
        too_large = float(np.maximum(sizes / total - even, 0.0).sum())
        empty = max(n_groups - len(sizes), 0) / n_groups
        left = total % n_groups
        whole = left * (n_groups - left) / (n_groups * total)
        bounds.append(max(too_large, empty, whole))
    return np.array(bounds)


def size_ratios(group: Integers, n_groups: int) -> Floats:
    """Return the size of each group over the mean size."""
    sizes = np.bincount(group, minlength=n_groups)
    return np.asarray(sizes * n_groups / max(len(group), 1))
