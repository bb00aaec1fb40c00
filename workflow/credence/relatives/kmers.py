"""Relatives by shared words: fast, simple, and blind to remote relatives (docs/splits.md).

Proteins are written in an alphabet of fifteen groups of residues (Murphy, Wallqvist &
Levy 2000, doi 10.1093/protein/13.3.149) and cut into words of six. Two are relatives
that share enough words, counted against the shorter one, so that a fragment joins its
whole; a cluster is a connected component.

:class:`ExactFinder` aligns: up to `MOST_CELLS_OF_KMERS` alignment cells every pair, beyond that
those that share words, and relatives below about half identity are lost then.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from credence.predictions import Booleans, Integers, Strings
from credence.proteins import Proteins
from credence.relatives.alignment import Library
from credence.relatives.graph import Clustering, representatives
from credence.relatives.pairs import Pairs, Thresholds, alike, distinct, each_once, joined

RESIDUE_GROUPS = ("LVIM", "C", "A", "G", "S", "T", "P", "FY", "W", "E", "D", "N", "Q", "KR", "H")
LENGTH_OF_WORD = 6
LEAST_LETTERS = 3  # a word of one or two letters says more about composition than about descent
# Below these, chance links unrelated proteins (measured on reversed sequences).
LEAST_CONTAINMENT = 0.05
LEAST_SHARED = 7
LEAST_SHARED_OF_SHORT = 3  # of proteins with fewer than LEAST_SHARED words: all, and so many
# Of a word that many proteins carry, only the longest carriers are compared
# with the others: a family is held together by them, at a cost that is linear.
MOST_HUBS = 200
SEQUENCES_AT_ONCE = 1000

# Of words that pairs share before they are aligned, and up to how many alignment cells every
# pair is: a minute or so on one core.
CONTAINMENT_OF_ALIGNED, MOST_CELLS_OF_KMERS = 0.01, 2e11

NO_GROUP_OF_RESIDUES = len(RESIDUE_GROUPS)
GROUP_OF_RESIDUE = np.full(256, NO_GROUP_OF_RESIDUES, dtype=np.uint8)
for _letter, _residues in enumerate(RESIDUE_GROUPS):
    GROUP_OF_RESIDUE[list(_residues.encode())] = _letter


@dataclass(frozen=True, kw_only=True)
class WordIndex:
    """Which protein has which words, each counted once."""

    protein: Integers  # Pairs, sorted by protein, then word
    word: Integers
    n_proteins: int  # Number of proteins


def words_of(sequences: Strings, length: int = LENGTH_OF_WORD) -> WordIndex:
    """Return the distinct words of each sequence."""
    lengths = np.fromiter(map(len, sequences), dtype=np.int64, count=len(sequences))
    # '*' is no letter, so that no word reaches from one protein into the next.
    text = np.frombuffer("*".join(sequences).encode("ascii", "replace") + b"*" * length, np.uint8)
    letters = GROUP_OF_RESIDUE[text].astype(np.int64)
    n_places = len(letters) - length + 1
    word = np.zeros(n_places, dtype=np.int64)
    seen = np.zeros(n_places, dtype=np.int64)
    for step in range(length):
        part = letters[step : step + n_places]
        word = word * NO_GROUP_OF_RESIDUES + part
        seen |= 1 << part
    is_word = (seen & (1 << NO_GROUP_OF_RESIDUES)) == 0
    is_word &= np.bitwise_count(seen) >= LEAST_LETTERS
    starts = np.concatenate([[0], np.cumsum(lengths + 1)])
    place = np.flatnonzero(is_word)
    owner = np.searchsorted(starts, place, side="right") - 1
    n_words = NO_GROUP_OF_RESIDUES**length
    pairs = each_once(owner * n_words + word[place])
    return WordIndex(protein=pairs // n_words, word=pairs % n_words, n_proteins=len(sequences))


def links(words: WordIndex, least_containment: float) -> tuple[Integers, Integers]:
    """Return the pairs of proteins that share enough words."""
    parts = [np.empty((2, 0), dtype=np.int64)]
    for row, column, n_shared, fewest in shared(words, MOST_HUBS):
        needed = np.maximum(np.minimum(LEAST_SHARED, fewest), LEAST_SHARED_OF_SHORT)
        is_link = (n_shared >= needed) & (n_shared >= least_containment * fewest)
        is_link &= row != column
        parts.append(np.stack([row[is_link], column[is_link]]))
    first, second = np.concatenate(parts, axis=1)
    return first, second


def shared(words: WordIndex, most_hubs: int) -> Iterator[tuple[Integers, ...]]:
    """Yield, in parts, pairs that share words, how many, and how many the one of fewest has."""
    order = np.lexsort((words.protein, words.word))
    protein, word = words.protein[order], words.word[order]
    _, starts, codes, counts = np.unique(
        word, return_index=True, return_inverse=True, return_counts=True
    )
    place = np.arange(len(word)) - starts[codes]
    is_shared = counts[codes] > 1
    shape = (words.n_proteins, len(counts))
    all_ = _indicator(protein[is_shared], codes[is_shared], shape)
    is_hub = is_shared & (place < most_hubs)
    hubs = _indicator(protein[is_hub], codes[is_hub], shape).T.tocsr()
    n_words = np.bincount(words.protein, minlength=words.n_proteins)
    for start in range(0, words.n_proteins, SEQUENCES_AT_ONCE):
        counted = (all_[start : start + SEQUENCES_AT_ONCE] @ hubs).tocoo()
        row, column = counted.row.astype(np.int64) + start, counted.col.astype(np.int64)
        yield row, column, counted.data, np.minimum(n_words[row], n_words[column])


def _indicator(row: Integers, column: Integers, shape: tuple[int, int]) -> sparse.csr_array:
    return sparse.csr_array((np.ones(len(row), dtype=np.int32), (row, column)), shape=shape)


@dataclass(frozen=True, kw_only=True)
class ExactFinder:
    """Shared words and exact alignment."""

    threads: int = 1  # Alignments at a time
    most_cells: float = MOST_CELLS_OF_KMERS  # Up to how many alignment cells every pair is aligned

    def among(self, texts: Strings, thresholds: Thresholds) -> Pairs:
        """Return pairs at the thresholds (see :class:`credence.relatives.graph.Finder`)."""
        return self._aligned(texts, thresholds, None)

    def between(self, queries: Strings, targets: Strings, thresholds: Thresholds) -> Pairs:
        """Return pairs of a query and a target at the thresholds."""
        sequences = distinct(np.concatenate([queries, targets]))
        query, target = np.full((2, len(sequences.texts)), -1)
        query[sequences.code[: len(queries)]] = np.arange(len(queries))
        target[sequences.code[len(queries) :]] = np.arange(len(targets))
        pairs = self._aligned(sequences.texts, thresholds, (query >= 0, target >= 0))
        both_ways = joined([pairs, pairs.turned()]).renamed(query, target)
        return both_ways.take((both_ways.first >= 0) & (both_ways.second >= 0))

    def _aligned(
        self, texts: Strings, thresholds: Thresholds, parts: tuple[Booleans, Booleans] | None
    ) -> Pairs:
        """Return aligned pairs at the thresholds: of the one part with the other, or of all."""
        library = Library(texts=texts, threads=self.threads)
        n_residues = float(library.lengths.sum())
        asked, n_asked = None, n_residues / 2.0
        if parts is not None:
            asked = np.flatnonzero(min(parts, key=np.sum))
            n_asked = float(library.lengths[asked].sum())
        if n_residues * n_asked <= self.most_cells:
            return library.relatives(asked, thresholds=thresholds)
        first, second = links(words_of(texts), CONTAINMENT_OF_ALIGNED)
        if parts is not None:
            query, target = parts
            across = (query[first] & target[second]) | (query[second] & target[first])
            first, second = first[across], second[across]
        low, high = np.minimum(first, second), np.maximum(first, second)
        pairs = library.align(zip(low.tolist(), high.tolist(), strict=True))
        return pairs.take(pairs.at(thresholds))


@dataclass(frozen=True, kw_only=True)
class WordFinder(ExactFinder):
    """Shared words alone where clusters are made; relatives among others are aligned."""

    def among(self, texts: Strings, thresholds: Thresholds) -> Pairs:
        """Return pairs that share identity^6 of the words of the shorter one.

        At least `LEAST_CONTAINMENT` of them, which is what 0.61 gives: lower identities change
        nothing. Sharing a domain is enough, which errs on the safe side.
        """
        least = max(thresholds.tighter().identity ** LENGTH_OF_WORD, LEAST_CONTAINMENT)
        return alike(*links(words_of(texts), least), 0.0)


@dataclass(frozen=True, kw_only=True, eq=False)
class GivenEngine:
    """Clusters as a table states them."""

    ids: Strings  # Names of proteins, unique; every protein to be clustered is among them
    names: Strings  # Cluster of each

    def cluster(self, proteins: Proteins) -> Clustering:
        """Return the clusters given, as the table calls them, with unknown likeness."""
        cluster_of = dict(zip(self.ids, self.names, strict=True))
        names = np.array([cluster_of[id_] for id_ in proteins.ids], dtype=object)
        _, codes = np.unique(names.astype(str), return_inverse=True)
        chosen = representatives(codes.astype(np.int64), proteins.ids, proteins.lengths)
        unknown = np.full(proteins.n_proteins, np.nan)
        return Clustering(
            cluster=names,
            representative=proteins.ids[chosen],
            identity=unknown,
            coverage=unknown.copy(),
        )
