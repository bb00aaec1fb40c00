"""Clusters as connected components of a graph of relatives."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from credence.predictions import Floats, Integers, Strings
from credence.proteins import Proteins
from credence.relatives.alignment import Library, measured
from credence.relatives.pairs import (
    Distinct,
    Pairs,
    Thresholds,
    contained,
    distinct,
    joined,
    no_pairs,
)


@dataclass(frozen=True, kw_only=True, eq=False)
class Clustering:
    """Which cluster of relatives each protein is in, in the order of the proteins."""

    cluster: Strings  # Name of the cluster: the id of its representative, unless it was given
    representative: Strings  # The protein that stands for the cluster
    # Share of equal residues between the protein and its representative, in [0, 1]; NaN where
    # clusters were given.
    identity: Floats
    # Share of the shorter of the two that is alike at all, in [0, 1]; NaN likewise.
    coverage: Floats


def components(n_nodes: int, first: Integers, second: Integers) -> Integers:
    """Return the number of the component that each node is in."""
    links = sparse.coo_array((np.ones(len(first), dtype=np.int8), (first, second)), (n_nodes,) * 2)
    _, labels = csgraph.connected_components(links, directed=False)
    return np.asarray(labels, dtype=np.int64)


def representatives(component: Integers, ids: Strings, length: Integers) -> Integers:
    """Return for each protein the row of the longest of its component, ties by id."""
    order = np.lexsort((ids.astype(str), -length, component))
    _, starts, codes = np.unique(component[order], return_index=True, return_inverse=True)
    rows = np.empty(len(ids), dtype=np.int64)
    rows[order] = order[starts][codes]
    return rows


SHORT = 60  # below this number of residues prefilters of words lose relatives
MOST_CELLS_OF_SHORT = 5e10  # ten seconds or so on one core


class Finder(Protocol):
    """What finds pairs of alike sequences, by an outside program or here."""

    def among(self, texts: Strings, thresholds: Thresholds) -> Pairs:
        """Return pairs at the thresholds, enough of them to connect relatives."""

    def between(self, queries: Strings, targets: Strings, thresholds: Thresholds) -> Pairs:
        """Return pairs of a query (first) and a target (second) at the thresholds."""


def draw_graph(
    proteins: Proteins, finder: Finder, thresholds: Thresholds, threads: int = 1
) -> tuple[Distinct, Pairs]:
    """Return distinct sequences and pairs of their rows, looser than relatives are defined."""
    sequences = distinct(proteins.sequences)
    if len(sequences.texts) == 0:
        return sequences, no_pairs()
    looser = thresholds.looser()
    pairs = finder.among(sequences.texts, looser)
    return sequences, joined([pairs, relatives_of_short(sequences, looser, threads)])


def relatives_of_short(sequences: Distinct, thresholds: Thresholds, threads: int) -> Pairs:
    """Return pairs of short proteins by exact alignment, the shortest first: engines lose them."""
    whole = contained(sequences.texts, most_expected=thresholds.most_expected)
    whole = whole.take(whole.at(thresholds))
    cells = np.cumsum(sequences.lengths[::-1]) * float(sequences.lengths.sum())
    is_short = (sequences.lengths[::-1] < SHORT) & (cells <= MOST_CELLS_OF_SHORT)
    rows = len(sequences.texts) - 1 - np.flatnonzero(is_short)
    if len(rows) == 0:
        return whole
    pairs = Library(texts=sequences.texts, threads=threads).relatives(rows, thresholds=thresholds)
    return joined([pairs, whole])


@dataclass(frozen=True, kw_only=True)
class GraphEngine:
    """Clusters as components of the pairs that a finder gives."""

    finder: Finder  # What finds alike sequences
    thresholds: Thresholds  # Of relatives
    threads: int = 1  # Alignments at a time, for likeness to representatives

    def cluster(self, proteins: Proteins) -> Clustering:
        """Return the clusters, named after the longest protein; likeness to that is exact."""
        sequences, pairs = draw_graph(proteins, self.finder, self.thresholds, self.threads)
        texts, code = sequences.texts, sequences.code
        component = components(len(texts), pairs.first, pairs.second)
        rows = representatives(component[code], proteins.ids, proteins.lengths)
        names = proteins.ids[rows]
        # Each pair of sequences is aligned once.
        keys, places = np.unique(code * len(texts) + code[rows], return_inverse=True)
        pairs = measured(
            Library(texts=texts, threads=self.threads), *np.divmod(keys, max(len(texts), 1))
        )
        return Clustering(
            cluster=names,
            representative=names.copy(),
            identity=pairs.identity[places],
            coverage=pairs.coverage[places],
        )
