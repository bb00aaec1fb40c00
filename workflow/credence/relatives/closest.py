"""How much a protein is like those that are known: its best local alignment.

Candidates are those known that share most rare words with it, which finds what is alike, and
of each family one representative, which finds what is remote: all of them where these are few,
else those that MMseqs2 proposes. Candidates are scored exactly, and the best is aligned. A search
is fixed by the known proteins alone, so that what was learnt of these among each other holds for
new ones.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated

import numpy as np
from scipy import sparse

from credence.predictions import Booleans, Floats, Integers, Strings
from credence.problems import InputError
from credence.records import Stored
from credence.relatives.alignment import Library, measured
from credence.relatives.kmers import words_of
from credence.relatives.mmseqs import Mmseqs, find_program
from credence.relatives.pairs import (
    Columns,
    Thresholds,
    canonical_texts,
    each_once,
    n_equal_before,
    score_needed,
)
from credence.relatives.programs import scratch_folder

LETTERS_OF_WORD = 5
CANDIDATES, OF_A_FAMILY = 10, 2  # by words: of each protein, and of one family among them
# Of a word that many proteins carry so many are looked at, evenly spread over all by content.
MOST_CARRIERS = 500
QUERIES_BY_WORDS = 50
MOST_SORTED = 50  # by words, of each protein; more where these are of few families
EVERY, MMSEQS, WORDS = "every", "mmseqs", "words"
# Alignment cells of all known proteins with all representatives up to which each is aligned with
# each: up to 100 seconds on one core; and pairs, of which each takes memory.
MOST_CELLS_OF_EVERY, MOST_PAIRS_OF_EVERY = 1e12, 2e7
PAIRS_AT_ONCE = 4_000_000  # of queries and representatives, half a gigabyte or so
# Residues of representatives up to which MMseqs2 looks as finely as it can: ten times slower.
MOST_RESIDUES, FINE, COARSE = 3_000_000, 7.5, 5.0


@dataclass(frozen=True, kw_only=True, eq=False)
class Closest(Columns):
    """The best known relative of some proteins; where nothing aligns −1 and NaN."""

    nearest: Integers  # Row of the known protein
    identity: Floats  # Share of identical columns of the alignment
    coverage: Floats  # Share of the protein itself that is aligned
    # Whether they are relatives as clusters have them: alike enough, over enough, beyond chance.
    is_relative: Annotated[Booleans, Stored(packed="bool")]

    @property
    def far(self) -> Floats:
        """How far each is from its relative: 1 less identity times coverage; 1 without one."""
        return np.asarray(1.0 - np.nan_to_num(self.identity * self.coverage))


@dataclass(frozen=True, kw_only=True, eq=False)
class KnownSequences:
    """Sequences among which the closest is sought."""

    ids: Strings  # Names of the proteins
    texts: Strings  # Their sequences
    family: Integers  # Number of the family of each; −1: not known, and nobody's representative
    search: str  # How representatives are looked at, see :func:`search_for`

    def __post_init__(self) -> None:
        """Write the sequences in the letters of alignments."""
        object.__setattr__(self, "texts", canonical_texts(self.texts))

    @cached_property
    def representatives(self) -> Integers:
        """The longest of each family; of equally long ones the first by content."""
        return representatives_of(self.texts, self.family)

    @cached_property
    def _family(self) -> Integers:
        """The family of each; where none is known each is its own."""
        return np.where(self.family < 0, -1 - np.arange(len(self.texts)), self.family)

    @cached_property
    def _by_content(self) -> Integers:
        return np.argsort(np.argsort(self.texts.astype(str), kind="stable"))

    def closest(
        self, queries: Strings, apart: tuple[Integers, Integers] | None = None, threads: int = 1
    ) -> Closest:
        """Return the best known relative of each query.

        With `apart`, a label of each query and of each known protein, what has the query's own
        label is not looked at: of its own family, so that it is seen as one of a new family is.
        """
        n_rows = len(queries)
        if self.search == EVERY:
            n_rows = max(PAIRS_AT_ONCE // max(len(self.representatives), 1), 1)
        parts = []
        for start in range(0, max(len(queries), 1), max(n_rows, 1)):
            block = slice(start, start + n_rows)
            label = None if apart is None else (apart[0][block], apart[1])
            parts.append(self._closest(canonical_texts(queries[block]), label, threads))
        return Closest.stacked(parts)

    def _closest(
        self, queries: Strings, apart: tuple[Integers, Integers] | None, threads: int
    ) -> Closest:
        n = len(queries)
        library = Library(texts=np.concatenate([self.texts, queries]), threads=threads)
        with ThreadPoolExecutor(1) as pool:  # while MMseqs2 is at work
            starts = range(0, n, QUERIES_BY_WORDS)
            by_words = [pool.submit(self._by_words, queries, apart, start) for start in starts]
            try:
                parts = [self._representatives(queries, threads)]
                parts += [part.result() for part in by_words]
            finally:  # where it fails, those that wait are not begun
                for part in by_words:
                    part.cancel()
        first, second = np.concatenate(parts, axis=1)
        if apart is not None:
            is_other = apart[0][first] != apart[1][second]
            first, second = first[is_other], second[is_other]
        first, second = np.divmod(each_once(first * len(self.texts) + second), len(self.texts))
        every = self._scores(queries, first, second, library)
        best = np.lexsort((self._by_content[second], -every, first))
        rows, place = np.unique(first[best], return_index=True)
        chosen = second[best[place]]
        # As the first row a known one is the query: it is the closest of several.
        query_row = rows + len(self.texts)
        pairs = measured(library, query_row, chosen)
        is_shorter = library.lengths[query_row] <= library.lengths[chosen]
        nearest, (identity, coverage) = np.full(n, -1), np.full((2, n), np.nan)
        nearest[rows], identity[rows] = chosen, pairs.identity
        coverage[rows] = np.where(is_shorter, pairs.coverage, pairs.coverage_longer)
        is_relative = np.zeros(n, dtype=np.bool_)
        places = library.lengths[query_row] * library.lengths[chosen]
        is_relative[rows] = pairs.at(Thresholds()) & (
            every[best[place]] >= score_needed(1, places)
        )
        return Closest(
            nearest=nearest, identity=identity, coverage=coverage, is_relative=is_relative
        )

    @cached_property
    def _place(self) -> Integers:
        """The place of each protein among the representatives; −1: is none."""
        place = np.full(len(self.texts), -1)
        place[self.representatives] = np.arange(len(self.representatives))
        return place

    @cached_property
    def _kept(self) -> Integers:
        """Scores of known proteins with each representative, −1 where not yet asked.

        That of two representatives, the same both ways round, is in the lower row.
        """
        return np.full(len(self.texts) * len(self.representatives), -1, dtype=np.int32)

    def _scores(
        self, queries: Strings, first: Integers, second: Integers, library: Library
    ) -> Floats:
        """Return the scores of pairs, of known proteins with each other aligned once."""
        row = {text: at for at, text in enumerate(self.texts)}
        known = np.array([row.get(text, -1) for text in queries], dtype=np.int64)[first]
        if self.search != EVERY or (known < 0).all():
            return library.scores(first + len(self.texts), second)
        first_place, second_place = self._place[known], self._place[second]
        is_known = (known >= 0) & (second_place >= 0)
        is_turned = (known > second) & (first_place >= 0)
        pair = np.where(is_turned, second, known) * len(self.representatives)
        pair = (pair + np.where(is_turned, first_place, second_place))[is_known]
        scores = np.empty(len(first))
        is_new = ~is_known
        _, once = np.unique(pair, return_index=True)
        once = once[self._kept[pair[once]] < 0]
        is_new[np.flatnonzero(is_known)[once]] = True
        scores[is_new] = library.scores(first[is_new] + len(self.texts), second[is_new])
        self._kept[pair[once]] = scores[is_known][once]
        scores[is_known] = self._kept[pair]
        return scores

    def _representatives(self, queries: Strings, threads: int) -> Integers:
        """Return queries and the representatives that each is scored with."""
        chosen = self.representatives
        if self.search == EVERY:
            every = np.arange(len(queries))
            return np.stack([np.repeat(every, len(chosen)), np.tile(chosen, len(queries))])
        if self.search == WORDS or not len(queries):
            return np.empty((2, 0), dtype=np.int64)
        texts = self.texts[chosen]
        sensitivity = FINE if sum(map(len, texts)) <= MOST_RESIDUES else COARSE
        with scratch_folder() as folder:
            engine = Mmseqs.found(folder, threads, None)
            first, second = engine.remote(queries, texts, sensitivity)
        return np.stack([first, chosen[second]])

    @cached_property
    def _table(self) -> tuple[Integers, sparse.csr_array]:
        """The words of the known proteins, and which carries which, rare ones counting more."""
        words = words_of(self.texts, LETTERS_OF_WORD)
        order = np.lexsort((self._by_content[words.protein], words.word))
        carrier = words.protein[order]
        kinds, code, count = np.unique(words.word[order], return_inverse=True, return_counts=True)
        turn, step = n_equal_before(code), np.maximum(count / MOST_CARRIERS, 1.0)[code]
        kept = np.floor(turn / step) != np.floor((turn - 1) / step)
        weight = np.log1p(len(self.texts) / np.maximum(count, 1))[code].astype(np.float32)
        cells = (weight[kept], (code[kept].astype(np.int32), carrier[kept].astype(np.int32)))
        return kinds, sparse.csr_array(cells, shape=(len(kinds), len(self.texts)))

    def _by_words(
        self, queries: Strings, apart: tuple[Integers, Integers] | None, start: int
    ) -> Integers:
        """Return some queries and those that share most words with them, few of one family."""
        kinds, table = self._table
        rows = range(start, min(start + QUERIES_BY_WORDS, len(queries)))
        words = words_of(queries[rows.start : rows.stop], LETTERS_OF_WORD)
        is_known = np.isin(words.word, kinds)
        place = np.searchsorted(kinds, words.word[is_known])
        carriers = table[place]
        n_words = np.bincount(words.protein[is_known], minlength=len(rows))
        bounds = carriers.indptr[np.append(0, np.cumsum(n_words))]
        # What carries several words of a query stands several times in its row, and is added up.
        several = carriers.data, carriers.indices, bounds
        worth = sparse.csr_array(several, shape=(len(rows), len(self.texts))).toarray()
        if apart is not None:
            worth[apart[0][rows.start : rows.stop, None] == apart[1]] = 0.0
        best = self._best(worth, MOST_SORTED)
        few = np.flatnonzero(np.bincount(best[0], minlength=len(rows)) < CANDIDATES)
        if len(few):  # too few families are among those
            row, column = self._best(worth[few], len(self.texts))
            best = np.concatenate([best, [few[row], column]], axis=1)
        return np.stack([best[0] + start, best[1]])

    def _best(self, worth: Floats, most: int) -> Integers:
        """Return rows and columns of greatest worth, few of one family, of `most` in each row."""
        n = worth.shape[1]
        least = np.partition(worth, -most)[:, -most, None] if n > most else 0.0
        row, column = np.divmod(np.flatnonzero((worth >= least) & (worth > 0.0)), n)
        order = np.lexsort((self._by_content[column], -worth[row, column], row))
        row, column = row[order], column[order]
        is_kept = n_equal_before(row * 2 * n + self._family[column]) < OF_A_FAMILY
        row, column = row[is_kept], column[is_kept]
        return np.stack([row, column])[:, n_equal_before(row) < CANDIDATES]


def representatives_of(texts: Strings, family: Integers) -> Integers:
    """Return the row of the longest of each family; of equally long ones the first by content."""
    lengths = np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))
    order = np.lexsort((texts.astype(str), -lengths, family))
    _, first = np.unique(family[order], return_index=True)
    chosen = order[first]
    return np.asarray(chosen[family[chosen] >= 0], dtype=np.int64)


def search_for(texts: Strings, family: Integers) -> str:
    """Return how representatives are to be looked at: each, by MMseqs2, or not (words alone)."""
    chosen = representatives_of(texts, family)
    cells = float(sum(map(len, texts))) * sum(map(len, texts[chosen]))
    if cells <= MOST_CELLS_OF_EVERY and len(texts) * len(chosen) <= MOST_PAIRS_OF_EVERY:
        return EVERY
    try:
        find_program()
    except InputError:
        return WORDS
    return MMSEQS
