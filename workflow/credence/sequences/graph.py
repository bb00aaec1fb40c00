"""Clusters as connected components of a graph of relatives."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from credence.predictions import Floats, Integers, Strings
from credence.sequences.canonical import Distinct, distinct
from credence.sequences.components import components, representatives
from credence.sequences.proteins import Proteins
from credence.sequences.protocol import Clustering
from credence.sequences.relatives import Pairs, Thresholds, contained, joined, no_pairs
from credence.sequences.smith_waterman import Library, likeness, measured

# Below this number of residues prefilters of words lose relatives.
SHORT = 60
MOST_CELLS_OF_SHORT = 5e10  # ten seconds or so on one core


class Finder(Protocol):
    """What finds pairs of alike sequences, by an outside program or here."""

    def among(self, texts: Strings, thresholds: Thresholds) -> Pairs:
        """Return pairs at the thresholds, enough of them to connect relatives.

        Parameters
        ----------
        texts : array of str
            Distinct sequences from long to short.
        thresholds : Thresholds
            From where on two are joined.
        """
        ...

    def between(self, queries: Strings, targets: Strings, thresholds: Thresholds) -> Pairs:
        """Return pairs of a query (first) and a target (second) at the thresholds.

        Parameters
        ----------
        queries, targets : array of str
            Canonical sequences.
        thresholds : Thresholds
            From where on a pair counts.
        """
        ...


@dataclass(frozen=True, eq=False)
class Graph:
    """Proteins and the pairs of relatives among their sequences.

    Parameters
    ----------
    proteins : Proteins
        In the order of the file.
    distinct : Distinct
        Their sequences.
    pairs : Pairs
        Rows of distinct sequences.
    """

    proteins: Proteins
    distinct: Distinct
    pairs: Pairs

    def clustering(self, component: Integers | None = None, threads: int = 1) -> Clustering:
        """Return the clusters, each named after its longest protein.

        Identity and coverage to that protein are exact.

        Parameters
        ----------
        component : array of int, optional
            Component of each distinct sequence; default: what the pairs connect.
        threads : int
            Alignments at a time.
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
    """Return the graph of relatives, drawn looser than relatives are defined.

    Parameters
    ----------
    proteins : Proteins
        In any order, which changes nothing.
    finder : Finder
        What finds alike sequences.
    thresholds : Thresholds
        Of relatives; the margins are taken here.
    threads : int
        Alignments at a time, of short proteins.
    """
    found = distinct(proteins.sequences)
    if len(found.texts) == 0:
        return Graph(proteins, found, no_pairs())
    looser = thresholds.looser()
    pairs = finder.among(found.texts, looser)
    return Graph(proteins, found, joined([pairs, relatives_of_short(found, looser, threads)]))


def relatives_of_short(found: Distinct, thresholds: Thresholds, threads: int) -> Pairs:
    """Return pairs of short proteins by exact alignment: search engines lose them.

    The shortest come first, as many as `MOST_CELLS_OF_SHORT` allow.

    Parameters
    ----------
    found : Distinct
        Sequences.
    thresholds : Thresholds
        From where on a pair counts.
    threads : int
        Alignments at a time.
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
    """Clusters as components of the pairs that a finder gives.

    Parameters
    ----------
    finder : Finder
        What finds alike sequences.
    thresholds : Thresholds
        Of relatives.
    threads : int
        Alignments at a time, for likeness to representatives.
    """

    finder: Finder
    thresholds: Thresholds
    threads: int = 1

    def cluster(self, proteins: Proteins) -> Clustering:
        """Return the clusters.

        Parameters
        ----------
        proteins : Proteins
            In any order.
        """
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

    Parameters
    ----------
    proteins, training : Proteins
        The two sets.
    finder : Finder
        What finds alike sequences.
    thresholds : Thresholds
        Of relatives.
    threads : int
        Alignments at a time.
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
    ends = np.stack(np.divmod(keys, width), axis=1)
    return _closest(both, ends, thresholds, (ours, theirs, training.ids), threads)


def _closest(
    both: Distinct,
    ends: Integers,
    thresholds: Thresholds,
    sides: tuple[Integers, Integers, Strings],
    threads: int,
) -> Pairs:
    """Return the closest of the candidate pairs for each protein; ties go by id."""
    ours, theirs, names = sides
    library = Library(both.texts, threads)
    pairs = measured(library, ends[:, 0], ends[:, 1])
    low, high = ends.min(axis=1), ends.max(axis=1)
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
