"""Clusters as connected components of a graph of relatives."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from credence.predictions import Floats, Integers, Strings
from credence.proteins import Proteins
from credence.relatives.alignment import Library, likeness, measured
from credence.relatives.engine import Clustering
from credence.relatives.pairs import (
    Distinct,
    Pairs,
    Thresholds,
    contained,
    distinct,
    joined,
    no_pairs,
)


def components(n_nodes: int, first: Integers, second: Integers) -> Integers:
    """Return the number of the component that each node is in.

    Examples
    --------
    >>> components(4, np.array([0, 2]), np.array([3, 2])).tolist()
    [0, 1, 2, 0]
    """
    links = sparse.coo_array((np.ones(len(first), dtype=np.int8), (first, second)), (n_nodes,) * 2)
    _, labels = csgraph.connected_components(links, directed=False)
    return np.asarray(labels, dtype=np.int64)


def representatives(component: Integers, ids: Strings, length: Integers) -> Integers:
    """Return for each protein the row of the longest of its component.

    Of equally long ones the first by id stands for the others.

    Examples
    --------
    >>> ids = np.array(["b", "a", "c"], dtype=object)
    >>> representatives(np.array([0, 0, 1]), ids, np.array([5, 5, 9])).tolist()
    [1, 1, 2]
    """
    order = np.lexsort((ids.astype(str), -length, component))
    _, starts, codes = np.unique(component[order], return_index=True, return_inverse=True)
    rows = np.empty(len(ids), dtype=np.int64)
    rows[order] = order[starts][codes]
    return rows


# Below this number of residues prefilters of words lose relatives.
SHORT = 60
MOST_CELLS_OF_SHORT = 5e10  # ten seconds or so on one core


class Finder(Protocol):
    """What finds pairs of alike sequences, by an outside program or here."""

    def among(self, texts: Strings, thresholds: Thresholds) -> Pairs:
        """Return pairs at the thresholds, enough of them to connect relatives."""
        ...

    def between(self, queries: Strings, targets: Strings, thresholds: Thresholds) -> Pairs:
        """Return pairs of a query (first) and a target (second) at the thresholds."""
        ...


@dataclass(frozen=True, eq=False)
class Graph:
    """Proteins and the pairs of relatives among their sequences."""

    proteins: Proteins  # In the order of the file
    distinct: Distinct  # Their sequences
    pairs: Pairs  # Rows of distinct sequences

    def clustering(self, component: Integers | None = None, threads: int = 1) -> Clustering:
        """Return the clusters, each named after its longest protein.

        Identity and coverage to that protein are exact.
        """
        texts, code = self.distinct.texts, self.distinct.code
        if component is None:
            component = components(len(texts), self.pairs.first, self.pairs.second)
        rows = representatives(component[code], self.proteins.ids, self.proteins.lengths)
        names = self.proteins.ids[rows]
        library = Library(texts, threads)
        identity, coverage = _of_distinct(library, code, code[rows])
        return Clustering(names, names.copy(), identity, coverage)


def _of_distinct(library: Library, code: Integers, other: Integers) -> tuple[Floats, Floats]:
    """Return likeness of pairs of rows, each distinct pair aligned once."""
    width = max(len(library.texts), 1)
    keys, places = np.unique(code * width + other, return_inverse=True)
    identity, coverage = likeness(library, keys // width, keys % width)
    return identity[places], coverage[places]


def draw_graph(
    proteins: Proteins, finder: Finder, thresholds: Thresholds, threads: int = 1
) -> Graph:
    """Return the graph of relatives, drawn looser than relatives are defined."""
    found = distinct(proteins.sequences)
    if len(found.texts) == 0:
        return Graph(proteins, found, no_pairs())
    looser = thresholds.looser()
    pairs = finder.among(found.texts, looser)
    return Graph(proteins, found, joined([pairs, relatives_of_short(found, looser, threads)]))


def relatives_of_short(found: Distinct, thresholds: Thresholds, threads: int) -> Pairs:
    """Return pairs of short proteins by exact alignment: search engines lose them.

    The shortest come first, as many as `MOST_CELLS_OF_SHORT` allow.
    """
    whole = contained(found.texts, most_expected=thresholds.most_expected)
    whole = whole.take(whole.at(thresholds))
    cells = np.cumsum(found.lengths[::-1]) * float(found.lengths.sum())
    is_short = (found.lengths[::-1] < SHORT) & (cells <= MOST_CELLS_OF_SHORT)
    rows = len(found.texts) - 1 - np.flatnonzero(is_short)
    if len(rows) == 0:
        return whole
    pairs = Library(found.texts, threads).relatives(
        rows, most_expected=thresholds.most_expected, coverage=thresholds.coverage
    )
    return joined([pairs.take(pairs.at(thresholds)), whole])


@dataclass(frozen=True)
class GraphEngine:
    """Clusters as components of the pairs that a finder gives."""

    finder: Finder  # What finds alike sequences
    thresholds: Thresholds  # Of relatives
    threads: int = 1  # Alignments at a time, for likeness to representatives

    def cluster(self, proteins: Proteins) -> Clustering:
        """Return the clusters."""
        graph = draw_graph(proteins, self.finder, self.thresholds, self.threads)
        return graph.clustering(threads=self.threads)


def relatives_in(
    proteins: Proteins,
    training: Proteins,
    finder: Finder,
    thresholds: Thresholds,
    threads: int = 1,
) -> Pairs:
    """Return for each protein its closest relative in the training set.

    Candidates come from the finder at looser thresholds; whether they are
    relatives is decided by exact alignment. `first` is a row of `proteins`,
    `second` one of `training`; a protein without a relative is in no pair.
    """
    both = distinct(np.concatenate([proteins.sequences, training.sequences]))
    ours, theirs = both.code[: proteins.n_proteins], both.code[proteins.n_proteins :]
    query, target = np.unique(ours), np.unique(theirs)
    if len(query) == 0 or len(target) == 0:
        return no_pairs()
    found = finder.between(both.texts[query], both.texts[target], thresholds.looser())
    near = replace(found, first=query[found.first], second=target[found.second])
    short = relatives_of_short(both, thresholds.looser(), threads)
    turned = replace(short, first=short.second, second=short.first)
    same = np.intersect1d(query, target).astype(np.int64)
    every = joined([near, short, turned])
    width = len(both.texts)
    is_asked = np.isin(every.first, query) & np.isin(every.second, target)
    keys = np.union1d((every.first * width + every.second)[is_asked], same * width + same)
    bounds = np.stack(np.divmod(keys, width), axis=1)
    return _closest(both, bounds, thresholds, (ours, theirs, training.ids), threads)


def _closest(
    both: Distinct,
    bounds: Integers,
    thresholds: Thresholds,
    both_parts: tuple[Integers, Integers, Strings],
    threads: int,
) -> Pairs:
    """Return the closest of the candidate pairs for each protein; ties go by id."""
    ours, theirs, names = both_parts
    library = Library(both.texts, threads)
    pairs = measured(library, bounds[:, 0], bounds[:, 1])
    low, high = bounds.min(axis=1), bounds.max(axis=1)
    whole = contained(both.texts, most_expected=thresholds.most_expected)
    width = len(both.texts)
    is_real = (low == high) | np.isin(low * width + high, whole.first * width + whole.second)
    is_real |= library.beats_chance(low, high, thresholds.most_expected)
    kept = pairs.take(pairs.at(thresholds) & is_real)
    home: dict[int, int] = {}
    for place in sorted(range(len(theirs)), key=lambda at: str(names[at]), reverse=True):
        home[int(theirs[place])] = place
    best: dict[int, int] = {}
    for at in range(kept.n_pairs):
        one = int(kept.first[at])
        rival = best.get(one)
        if rival is None or _rank(kept, at, home, names) < _rank(kept, rival, home, names):
            best[one] = at
    rows = [at for at in range(len(ours)) if int(ours[at]) in best]
    chosen = kept.take(np.array([best[int(ours[at])] for at in rows], dtype=np.int64))
    second = np.array([home[int(row)] for row in chosen.second], dtype=np.int64)
    first = np.array(rows, dtype=np.int64)
    return replace(chosen, first=first, second=second)


def _rank(pairs: Pairs, at: int, home: dict[int, int], names: Strings) -> tuple[float, str]:
    return (-float(pairs.identity[at]), str(names[home[int(pairs.second[at])]]))
