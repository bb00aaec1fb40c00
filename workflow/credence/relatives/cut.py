"""Components larger than a group, cut at their weakest bridges.

Relatives of relatives of relatives may connect half of a set, through domains
that many proteins carry or families without an edge. Such a component is aligned
exactly, every pair of it; what is connected by relatives at the thresholds, not
by the looser ones of the graph, stays together. What is too large still is
parted where the fewest proteins hold it together: these are set aside.

Notes
-----
Where to part is proposed by trees of average linkage, over the share of pairs
that are relatives and over their identity: each branch against all the rest. The
price of a branch is exact: the smallest set of proteins without which no
relatives are left between it and the rest, a minimum vertex cover of a bipartite
graph, by König's theorem as many as the greatest matching has pairs. The branch
with the lowest price for what it parts off is taken, and the rest is looked at
again. In the end each protein set aside returns to its part if that leaves no
relatives in two parts, or fewer or equal proteins set aside in its stead.

A part is a cluster of its own from then on: relatives of a later trove join the
part in which their relatives are, and touch nothing by being relatives of those
set aside. One that has relatives in parts of two groups bridges them, as with
any other clusters.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.cluster import hierarchy
from scipy.sparse import csgraph

from credence.findings import LargeCluster
from credence.predictions import Booleans, Floats, Integers, Strings
from credence.proteins import Proteins
from credence.relatives.alignment import Library
from credence.relatives.graph import components
from credence.relatives.pairs import Distinct, Pairs, Thresholds, distinct

# A component is too large when it holds more than the greatest group should.
MOST_FILLED = 1.05
# Of what a cut parts off at most this share may be set aside: beyond it the
# component is one dense family, and cutting it would waste proteins.
MOST_PRICE = 0.1
LEAST_PART = 0.125  # of a group
MOST_BRANCHES = 120  # whose exact price is found, per tree
# Every pair of a component is aligned: 6,000 sequences of 300 residues take some
# minutes, and half a gigabyte.
MOST_TEXTS = 6_000


@dataclass(frozen=True, eq=False)
class Cut:
    """Clusters after cutting."""

    cluster: Strings  # Cluster of each protein; a part is called as the cluster, with its number
    reason: Strings  # Why a protein is set aside; '' for the others
    n_cut: int  # Clusters that were cut
    whole: tuple[LargeCluster, ...]  # Those too large that were not, or not far enough


def _largest_that_fits(even: float) -> float:
    """Return how many proteins fit in a group; one does, even where groups are more than that."""
    return max(MOST_FILLED * even, 1.0)


def left_uncut(cluster: Strings, is_used: Booleans, even: float) -> tuple[LargeCluster, ...]:
    """Return the clusters larger than a group, where none is looked into."""
    names, sizes = np.unique(cluster[is_used].astype(str), return_counts=True)
    return tuple(
        LargeCluster(str(name), int(size), is_searched=False)
        for name, size in zip(names, sizes, strict=True)
        if size > _largest_that_fits(even)
    )


def cut_oversized(
    proteins: Proteins,
    cluster: Strings,
    is_used: Booleans,
    most: float,
    n_apart: int,
    thresholds: Thresholds,
    threads: int = 1,
    seen: tuple[LargeCluster, ...] = (),
) -> Cut:
    """Return clusters of which none is larger than a group, where that is cheap."""
    names, codes = np.unique(cluster.astype(str), return_inverse=True)
    sizes = np.bincount(codes[is_used], minlength=len(names))
    result, reason = cluster.copy(), np.full(proteins.n_proteins, "", dtype=object)
    n_cut, whole, known = 0, list[LargeCluster](), {(one.cluster, one.n): one for one in seen}
    large = np.flatnonzero(sizes > _largest_that_fits(most)).tolist()
    for at in sorted(large, key=lambda at: -sizes[at]):
        rows = np.flatnonzero((codes == at) & is_used)
        name = str(names[at])
        found = distinct(proteins.sequences[rows])
        before = known.get((name, len(rows)))
        if before is not None or len(found.texts) > MOST_TEXTS:
            whole.append(before or LargeCluster(name, len(rows), is_searched=False))
            continue
        component = _component(found, most, n_apart, thresholds, threads)
        part = component.numbered()
        n_apart -= int(component.weight[part < 0].sum())
        is_cut = bool(part.max(initial=0) > 0)
        n_cut += is_cut
        called = [_part_name(name, one, names) for one in range(int(part.max(initial=0)) + 1)]
        if is_cut:
            result[rows] = np.array(called, dtype=object)[np.maximum(part[found.code], 0)]
        whole += [
            LargeCluster(called[part[row]] if is_cut else name, n, price, parted)
            for row, n, price, parted in component.left
        ]
        _explain(reason, rows, found.code, part, component.pairs, proteins.ids, name)
    return Cut(result, reason, n_cut, tuple(whole))


def _component(
    found: Distinct, most: float, n_apart: int, thresholds: Thresholds, threads: int
) -> _Component:
    """Return a component, every pair of it aligned, parted where that is cheap."""
    pairs = Library(found.texts, threads).relatives(
        most_expected=thresholds.most_expected, coverage=thresholds.coverage
    )
    weight = np.bincount(found.code, minlength=len(found.texts))
    component = _Component(weight, pairs.take(pairs.at(thresholds)), most, n_apart)
    component.part_all()
    component.take_back()
    return component


def _part_name(cluster: str, part: int, known: NDArray[Any]) -> str:
    name = f"{cluster}/{part + 1}"
    while (known == name).any():
        name += "'"
    return name


def _explain(
    reason: Strings,
    rows: Integers,
    code: Integers,
    part: Integers,
    pairs: Pairs,
    ids: Strings,
    cluster: str,
) -> None:
    """Write why proteins of a cluster are set aside: the relatives that they connect."""
    first_of = {}
    for row in sorted(rows.tolist(), key=lambda row: str(ids[row]), reverse=True):
        first_of[int(code[np.searchsorted(rows, row)])] = str(ids[row])
    gone = np.flatnonzero(part < 0)
    closest: dict[int, dict[int, int]] = {int(one): {} for one in gone}
    pairs = pairs.take((part[pairs.first] < 0) | (part[pairs.second] < 0))
    for at in np.argsort(-pairs.identity, kind="stable").tolist():
        one, other = int(pairs.first[at]), int(pairs.second[at])
        for here, there in ((one, other), (other, one)):
            if here in closest and part[there] >= 0:
                closest[here].setdefault(int(part[there]), there)
    for place, row in enumerate(rows.tolist()):
        if part[code[place]] < 0:
            others = closest[int(code[place])]
            two = sorted(first_of[others[key]] for key in sorted(others)[:2])
            named = " and ".join(map(repr, two))
            reason[row] = f"connects parts of a cluster larger than a group {cluster!r}: {named}"


class _Component:
    """Distinct sequences, how many proteins each stands for, and which are relatives."""

    def __init__(self, weight: Integers, pairs: Pairs, most: float, n_apart: int) -> None:
        self.weight, self.pairs, self.most, self.n_apart = weight, pairs, most, n_apart
        self.first, self.second = pairs.first, pairs.second
        self.gone = np.zeros(len(weight), dtype=np.bool_)
        self.part = np.zeros(len(weight), dtype=np.int64)
        self.left: list[tuple[int, int, int, int]] = []

    def part_all(self) -> None:
        """Part what is too large, as long as that is cheap."""
        waiting = [np.arange(len(self.weight))]
        done: list[Integers] = []
        while waiting:
            for rows in self._connected(waiting.pop()):
                if self.weight[rows].sum() <= MOST_FILLED * self.most:
                    done.append(rows)
                    continue
                branch, price, cover = self._cheapest(rows)
                kept = np.setdiff1d(branch, cover)
                rest = np.setdiff1d(rows, np.union1d(branch, cover))
                parted = int(min(self.weight[kept].sum(), self.weight[rest].sum()))
                is_cheap = 0 < price <= min(self.n_apart, MOST_PRICE * parted)
                if not is_cheap:
                    self.left.append((int(rows[0]), int(self.weight[rows].sum()), price, parted))
                    done.append(rows)
                    continue
                self.gone[cover] = True
                self.n_apart -= price
                waiting += [kept, rest]
        for number, rows in enumerate(done):
            self.part[rows] = number

    def _connected(self, rows: Integers) -> Iterator[Integers]:
        place = self._places(rows)
        inside = (place[self.first] >= 0) & (place[self.second] >= 0)
        component = components(len(rows), place[self.first[inside]], place[self.second[inside]])
        for name in range(int(component.max(initial=-1)) + 1):
            yield rows[component == name]

    def _places(self, rows: Integers) -> Integers:
        place = np.full(len(self.weight), -1)
        place[rows] = np.arange(len(rows))
        return place

    def _cheapest(self, rows: Integers) -> tuple[Integers, int, Integers]:
        """Return a branch, what parting it off sets aside, and who that is."""
        place = self._places(rows)
        inside = np.flatnonzero((place[self.first] >= 0) & (place[self.second] >= 0))
        first, second = place[self.first[inside]], place[self.second[inside]]
        weight = self.weight[rows]
        best: tuple[float, int, Integers] | None = None
        for strength in (np.ones(len(inside)), self.pairs.identity[inside]):
            for branch in _branches(first, second, strength, weight, LEAST_PART * self.most):
                is_branch = np.zeros(len(rows), dtype=np.bool_)
                is_branch[branch] = True
                cover = _cover(first, second, is_branch)
                price = int(weight[cover].sum())
                is_kept = np.ones(len(rows), dtype=np.bool_)
                is_kept[cover] = False
                parted = min(weight[is_branch & is_kept].sum(), weight[~is_branch & is_kept].sum())
                if parted == 0:
                    continue
                key = (price / parted, price)
                if best is None or key < best[:2]:
                    best = (*key, branch)
        if best is None:
            nothing = np.empty(0, dtype=np.int64)
            return nothing, 0, nothing
        is_branch = np.zeros(len(rows), dtype=np.bool_)
        is_branch[best[2]] = True
        return rows[best[2]], best[1], rows[_cover(first, second, is_branch)]

    def take_back(self) -> None:
        """Return those set aside to a part, where that costs no more than it gains."""
        beside: dict[int, list[int]] = {}
        for one, other in zip(self.first.tolist(), self.second.tolist(), strict=True):
            if self.gone[one]:
                beside.setdefault(one, []).append(other)
            if self.gone[other]:
                beside.setdefault(other, []).append(one)
        size = np.bincount(self.part, weights=self.weight * ~self.gone)
        changed = True
        while changed:
            changed = False
            for row in np.flatnonzero(self.gone).tolist():
                near = np.array([at for at in beside.get(row, []) if not self.gone[at]], int)
                held = np.bincount(self.part[near], weights=self.weight[near], minlength=1)
                home = int(held.argmax()) if len(near) else int(self.part[row])
                fits = size[home] + self.weight[row] <= MOST_FILLED * self.most
                others = near[self.part[near] != home]
                if fits and self.weight[others].sum() == 0:
                    self.gone[row], self.part[row] = False, home
                    size[home] += self.weight[row]
                    changed = True

    def numbered(self) -> Integers:
        """Return the part of each row, the largest 0, and −1 where it is set aside."""
        size = np.bincount(self.part, weights=self.weight * ~self.gone)
        first = np.full(len(size), len(self.part))
        np.minimum.at(first, self.part, np.arange(len(self.part)))
        rank = np.empty(len(size), dtype=np.int64)
        rank[np.lexsort((first, -size))] = np.arange(len(size))
        return np.where(self.gone, -1, rank[self.part])


def _branches(
    first: Integers, second: Integers, strength: Floats, weight: Integers, least: float
) -> Iterator[Integers]:
    """Yield branches of a tree of average linkage that are worth a look."""
    n_rows = len(weight)
    if n_rows == 1:
        return
    low, high = np.minimum(first, second), np.maximum(first, second)
    distance = np.ones(n_rows * (n_rows - 1) // 2)
    distance[n_rows * low - low * (low + 1) // 2 + high - low - 1] = 1.0 - strength
    tree = hierarchy.linkage(distance, "average")
    children = tree[:, :2].astype(np.int64)
    size = np.concatenate([weight, np.zeros(len(children), dtype=np.int64)])
    for at, (one, other) in enumerate(children.tolist()):
        size[n_rows + at] = size[one] + size[other]
    lesser = np.minimum(size, weight.sum() - size)[n_rows:]
    able = np.flatnonzero(lesser >= max(least, 1.0))
    # Along a chain branches differ by a protein or two: a few of each size will do.
    able = able[np.argsort(-lesser[able], kind="stable")]
    steps = np.linspace(0, len(able) - 1, min(len(able), MOST_BRANCHES)).astype(np.int64)
    for at in able[np.unique(steps)].tolist():
        yield _leaves(at, children, n_rows)


def _leaves(branch: int, children: Integers, n_rows: int) -> Integers:
    leaves, waiting = [], [n_rows + branch]
    while waiting:
        node = waiting.pop()
        if node < n_rows:
            leaves.append(node)
        else:
            waiting += children[node - n_rows].tolist()
    return np.array(sorted(leaves), dtype=np.int64)


def _cover(first: Integers, second: Integers, is_branch: Booleans) -> Integers:
    """Return the fewest rows that touch every pair between a branch and the rest."""
    crosses = is_branch[first] != is_branch[second]
    one = np.where(is_branch[first], first, second)[crosses]
    other = np.where(is_branch[first], second, first)[crosses]
    n_rows = len(is_branch)
    links = sparse.csr_array(
        (np.ones(len(one), dtype=np.int8), (one, other)), shape=(n_rows, n_rows)
    )
    mate = csgraph.maximum_bipartite_matching(links, perm_type="column")
    # König: from unmatched rows of the branch, along pairs and back along mates.
    seen_one = np.zeros(n_rows, dtype=np.bool_)
    seen_one[one] = True
    has_mate = mate >= 0
    is_matched = has_mate & seen_one
    reached, reached_other = seen_one & ~is_matched, np.zeros(n_rows, dtype=np.bool_)
    mate_of = np.full(n_rows, -1)
    mate_of[mate[is_matched]] = np.flatnonzero(is_matched)
    while True:
        new = np.zeros(n_rows, dtype=np.bool_)
        new[other[reached[one]]] = True
        new &= ~reached_other
        if not new.any():
            break
        reached_other |= new
        back = mate_of[np.flatnonzero(new)]
        reached[back[back >= 0]] = True
    return np.flatnonzero((seen_one & ~reached) | reached_other)
