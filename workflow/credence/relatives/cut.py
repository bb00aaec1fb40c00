"""Components larger than a group, cut at their weakest bridges (decision 0016).

Every pair of such a component is aligned; what relatives connect at the thresholds,
not the looser ones of the graph, stays together, and is parted where the fewest
proteins hold it together: these are set aside. A part is a cluster of its own from
then on, which relatives of a later trove join; those set aside touch nothing.

Notes
-----
Where to part is proposed by trees of average linkage, over the share of pairs that are
relatives and over their identity: each branch against all the rest. The price of a
branch is exact: the fewest proteins without which no relatives are left between it and
the rest, a minimum vertex cover of a bipartite graph, by König's theorem as many as the
greatest matching has pairs. In the end each protein set aside returns to its part if
that leaves no relatives in two parts, or no more set aside in its stead.
"""

from collections import defaultdict
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
from credence.relatives.alignment import CELLS_OF_ALIGNMENT, Library
from credence.relatives.graph import components
from credence.relatives.pairs import Pairs, Thresholds, distinct

MOST_FILLED = 1.05  # a component is too large when it holds more than the greatest group should
# Of what a cut parts off at most this share may be set aside: beyond it the
# component is one dense family, and cutting it would waste proteins.
MOST_PRICE = 0.1
LEAST_CUT_OFF = 0.125  # of a group
MOST_BRANCHES, LEAST_BRANCHES = 120, 12  # whose exact price is found, per tree
MOST_LINKS = 30_000_000  # pairs of all branches that are priced, per tree
# Every pair of a component is aligned: 6,000 sequences of 300 residues take half a gigabyte,
# and at 8·10⁹ cells a second some minutes; beyond these a component is left whole.
MOST_TEXTS, MOST_CELLS_OF_CUT = 6_000, 2e12
# Cells of the pairs of those that are tried first, two seconds, and by how much a cut of them
# may seem dearer than it is.
CELLS_OF_FEW, CHANCE_OF_FEW = 1e9, 2.0


@dataclass(frozen=True, kw_only=True, eq=False)
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
        LargeCluster(cluster=str(name), n=int(size), is_searched=False)
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
    known = {(entry.cluster, entry.n): entry for entry in seen}
    n_cut, whole = 0, list[LargeCluster]()
    large = np.flatnonzero(sizes > _largest_that_fits(most)).tolist()
    for at in sorted(large, key=lambda at: -sizes[at]):
        rows = np.flatnonzero((codes == at) & is_used)
        name = str(names[at])
        sequences = distinct(proteins.sequences[rows])
        before = known.get((name, len(rows)))
        if before is not None or len(sequences.texts) > MOST_TEXTS:
            whole.append(before or LargeCluster(cluster=name, n=len(rows), is_searched=False))
            continue
        weight = np.bincount(sequences.code, minlength=len(sequences.texts))
        tried = _tried(sequences.texts, weight, name, most, thresholds, threads)
        if tried is not None:
            whole.append(tried)
            continue
        # Every pair is aligned: the engine's graph is looser, and may lack some.
        pairs = Library(texts=sequences.texts, threads=threads).relatives(thresholds=thresholds)
        component = _Component(weight, pairs, most, n_apart)
        part = component.numbered()
        n_apart -= int(component.weight[part < 0].sum())
        is_cut = bool(part.max(initial=0) > 0)
        n_cut += is_cut
        n_parts = int(part.max(initial=0)) + 1
        called = [_part_name(name, number, names) for number in range(n_parts)]
        if is_cut:
            result[rows] = np.array(called, dtype=object)[np.maximum(part[sequences.code], 0)]
        whole += [
            LargeCluster(
                cluster=called[part[row]] if is_cut else name, n=n, price=price, parted=parted
            )
            for row, n, price, parted in component.left
        ]
        reason[rows] = _reasons(component, sequences.code, part, proteins.ids[rows], name)
    return Cut(cluster=result, reason=reason, n_cut=n_cut, whole=tuple(whole))


def _tried(
    texts: Strings, weight: Integers, name: str, most: float, thresholds: Thresholds, threads: int
) -> LargeCluster | None:
    """Return a component as left whole where a few of its sequences show that it should be."""
    n_residues = float(sum(map(len, texts)))
    n_few = max(int(len(texts) * (2.0 * CELLS_OF_FEW) ** 0.5 / n_residues), 2)
    if n_few >= len(texts):
        return None
    few = np.linspace(0, len(texts) - 1, n_few).astype(np.int64)
    pairs = Library(texts=texts[few], threads=threads).relatives(thresholds=thresholds)
    n_all, share = int(weight.sum()), float(weight[few].sum() / weight.sum())
    component = _Component(weight[few], pairs, share * most, n_all)
    density = 2.0 * pairs.n_pairs / (n_few * (n_few - 1))
    cells = 0.5 * n_residues**2 * (1.0 + CELLS_OF_ALIGNMENT * density)
    if component.left and component.part.max() == 0:
        _, _, price, parted = component.left[0]
        if price > CHANCE_OF_FEW * MOST_PRICE * parted or not parted:
            return LargeCluster(
                cluster=name,
                n=n_all,
                price=round(price / share),
                parted=round(parted / share),
                n_tried=n_few,
            )
    return (
        LargeCluster(cluster=name, n=n_all, is_searched=False)
        if cells > MOST_CELLS_OF_CUT
        else None
    )


def _part_name(cluster: str, part: int, known: NDArray[Any]) -> str:
    name = f"{cluster}/{part + 1}"
    while (known == name).any():
        name += "'"
    return name


def _reasons(
    component: "_Component", code: Integers, part: Integers, ids: Strings, cluster: str
) -> Strings:
    """Return why proteins of a cluster are set aside: the relatives that they connect."""
    by_id = np.argsort(ids.astype(str), kind="stable")
    first_of = ids[by_id][np.unique(code[by_id], return_index=True)[1]].astype(str)
    closest = defaultdict[int, dict[int, int]](dict)
    pairs = component.pairs
    pairs = pairs.take((part[pairs.first] < 0) != (part[pairs.second] < 0))
    for at in np.argsort(-pairs.identity, kind="stable").tolist():
        here, there = int(pairs.first[at]), int(pairs.second[at])
        if part[here] >= 0:
            here, there = there, here
        closest[here].setdefault(int(part[there]), there)
    reasons = np.full(len(ids), "", dtype=object)
    for place in np.flatnonzero(part[code] < 0).tolist():
        others = closest[int(code[place])]
        two = sorted(str(first_of[others[key]]) for key in sorted(others)[:2])
        named = " and ".join(map(repr, two))
        reasons[place] = f"connects parts of a cluster larger than a group {cluster!r}: {named}"
    return reasons


class _Component:
    """Distinct sequences, how many proteins each stands for, and which are relatives."""

    def __init__(self, weight: Integers, pairs: Pairs, most: float, n_apart: int) -> None:
        self.weight, self.pairs, self.most, self.n_apart = weight, pairs, most, n_apart
        self.gone = np.zeros(len(self.weight), dtype=np.bool_)
        self.part = np.zeros(len(self.weight), dtype=np.int64)
        self.left: list[tuple[int, int, int, int]] = []
        self.part_all()
        self.take_back()

    def part_all(self) -> None:
        """Part what is too large, as long as that is cheap."""
        waiting = [np.arange(len(self.weight))]
        done: list[Integers] = []
        while waiting:
            for rows in self._connected(waiting.pop()):
                size = int(self.weight[rows].sum())
                if size <= MOST_FILLED * self.most:
                    done.append(rows)
                    continue
                parts, cover = self._cheapest(rows)
                price = int(self.weight[cover].sum())
                parted = int(min(self.weight[part].sum() for part in parts))
                if 0 < price <= min(self.n_apart, MOST_PRICE * parted):
                    self.gone[cover] = True
                    self.n_apart -= price
                    waiting += parts
                else:
                    self.left.append((int(rows[0]), size, price, parted))
                    done.append(rows)
        for number, rows in enumerate(done):
            self.part[rows] = number

    def _connected(self, rows: Integers) -> Iterator[Integers]:
        pairs = self._inside(rows)
        component = components(len(rows), pairs.first, pairs.second)
        for name in range(int(component.max(initial=-1)) + 1):
            yield rows[component == name]

    def _inside(self, rows: Integers) -> Pairs:
        """Return the pairs of two of some rows, by their places among these."""
        place = np.full(len(self.weight), -1)
        place[rows] = np.arange(len(rows))
        pairs = self.pairs.renamed(place)
        return pairs.take((pairs.first >= 0) & (pairs.second >= 0))

    def _cheapest(self, rows: Integers) -> tuple[list[Integers], Integers]:
        """Return a branch and the rest, without those whom parting the two sets aside."""
        pairs, weight = self._inside(rows), self.weight[rows]
        nothing: Integers = np.empty(0, dtype=np.int64)
        best = (np.inf, np.inf), [nothing, rows], nothing
        for strength in (np.ones(pairs.n_pairs), pairs.identity):
            for is_branch in _branches(pairs, strength, weight, LEAST_CUT_OFF * self.most):
                cover = _cover(pairs.first, pairs.second, is_branch)
                is_kept = np.ones(len(rows), dtype=np.bool_)
                is_kept[cover] = False
                parts = [np.flatnonzero(is_kept & side) for side in (is_branch, ~is_branch)]
                price, parted = weight[cover].sum(), min(weight[part].sum() for part in parts)
                if parted > 0 and (price / parted, price) < best[0]:
                    best = (price / parted, price), [rows[part] for part in parts], rows[cover]
        return best[1:]

    def take_back(self) -> None:
        """Return those set aside to a part, where that costs no more than it gains."""
        both = self.pairs.first, self.pairs.second
        nodes = np.concatenate(both), np.concatenate(both[::-1])
        links = sparse.csr_array(
            (np.ones(len(nodes[0]), dtype=np.int8), nodes), shape=(len(self.weight),) * 2
        )
        size = np.bincount(self.part, weights=self.weight * ~self.gone)
        changed = True
        while changed:
            changed = False
            for row in np.flatnonzero(self.gone).tolist():
                beside = links.indices[links.indptr[row] : links.indptr[row + 1]]
                near = beside[~self.gone[beside]]
                held = np.bincount(self.part[near], weights=self.weight[near], minlength=1)
                home = int(held.argmax()) if len(near) else int(self.part[row])
                fits = size[home] + self.weight[row] <= MOST_FILLED * self.most
                if fits and (self.part[near] == home).all():
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
    pairs: Pairs, strength: Floats, weight: Integers, least: float
) -> Iterator[Booleans]:
    """Yield who is in each branch, worth a look, of a tree of average linkage."""
    n_rows = len(weight)
    if n_rows == 1:
        return
    low, high = np.minimum(pairs.first, pairs.second), np.maximum(pairs.first, pairs.second)
    distance = np.ones(n_rows * (n_rows - 1) // 2)
    distance[n_rows * low - low * (low + 1) // 2 + high - low - 1] = 1.0 - strength
    tree = hierarchy.linkage(distance, "average")
    n_nodes = n_rows + len(tree)
    is_member = np.eye(n_nodes, n_rows, dtype=np.bool_)
    size = np.concatenate([weight, np.zeros(len(tree), dtype=np.int64)])
    for at, (left, right) in enumerate(tree[:, :2].astype(np.int64).tolist(), start=n_rows):
        is_member[at] = is_member[left] | is_member[right]
        size[at] = size[left] + size[right]
    lesser = np.minimum(size, weight.sum() - size)[n_rows:]
    able = np.flatnonzero(lesser >= max(least, 1.0))
    # Along a chain branches differ by a protein or two: a few of each size will do.
    able = able[np.argsort(-lesser[able], kind="stable")]
    most = max(min(MOST_BRANCHES, MOST_LINKS // max(pairs.n_pairs, 1)), LEAST_BRANCHES)
    steps = np.linspace(0, len(able) - 1, min(len(able), most)).astype(np.int64)
    for at in able[np.unique(steps)].tolist():
        yield is_member[n_rows + at]


def _cover(first: Integers, second: Integers, is_branch: Booleans) -> Integers:
    """Return the fewest rows that touch every pair between a branch and the rest."""
    crosses = is_branch[first] != is_branch[second]
    inside = np.where(is_branch[first], first, second)[crosses]
    outside = np.where(is_branch[first], second, first)[crosses]
    n_rows = len(is_branch)
    links = sparse.csr_array(
        (np.ones(len(inside), dtype=np.int8), (inside, outside)), shape=(n_rows, n_rows)
    )
    mate = csgraph.maximum_bipartite_matching(links, perm_type="column")
    is_linked = np.zeros(n_rows, dtype=np.bool_)
    is_linked[inside] = True
    free, matched = np.flatnonzero(is_linked & (mate < 0)), np.flatnonzero(mate >= 0)
    # König: from unmatched rows of the branch, along pairs and back along mates.
    start = 2 * n_rows
    steps = (
        np.concatenate([np.full(len(free), start), inside, n_rows + mate[matched]]),
        np.concatenate([free, n_rows + outside, matched]),
    )
    graph = sparse.csr_array((np.ones(len(steps[0])), steps), shape=(start + 1,) * 2)
    reached = np.zeros(start + 1, dtype=np.bool_)
    reached[csgraph.breadth_first_order(graph, start, return_predecessors=False)] = True
    return np.flatnonzero((is_linked & ~reached[:n_rows]) | reached[n_rows:start])
