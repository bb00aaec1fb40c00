"""Who has a relative in another group: by exact alignment, not by clusters.

The audit has a budget in alignment cells. First it aligns pairs of two groups that share
most words, where relatives are likeliest. Then it takes proteins in the order of a hash of
their ids and aligns each with every protein apart from it. Those that the budget allowed to
finish are a random sample, and bound what crosses among the others; the first part has no
share in that bound. Without a budget all are examined. What was aligned once is judged
again after clusters have been joined or proteins set aside: both only take pairs away.
"""

import math
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import special

from credence.draws import keys_of, uniform
from credence.predictions import Booleans, Floats, Integers, Strings
from credence.proteins import Proteins
from credence.relatives.alignment import CELLS_OF_ALIGNMENT, Library
from credence.relatives.copies import Copies
from credence.relatives.kmers import WordIndex, shared, words_of
from credence.relatives.pairs import (
    Distinct,
    Pairs,
    Thresholds,
    alike,
    distinct,
    joined,
    members,
    ranges,
)
from credence.relatives.pieces import Pieces

LEVEL_OF_BOUND = 0.95
# Of so many of the proteins examined the pairs that only chance excludes are
# counted, which takes more alignments than the audit itself.
MOST_COUNTED_BY_CHANCE = 40
# Parts of the budget: for the pairs that are likeliest to cross, at most, and for that count.
SHARE_LIKELY, SHARE_COUNTED = 0.25, 0.05
LEAST_SHARED_ACROSS = 2  # words of a pair that is likely to cross
# Words that are looked at, a share of them all where there are more, and pairs that are kept.
MOST_WORDS, MOST_LIKELY = 5_000_000, 200_000
MOST_HUBS, TEXTS_AT_ONCE = 50, 1000  # carriers of a word that others are compared with


@dataclass(frozen=True, kw_only=True, eq=False)
class Audit:
    """What crosses the groups."""

    is_examined: Booleans  # Whether the protein was compared with everything outside its group
    is_crossing: Booleans  # Whether it is known to have a relative there, examined or not
    # Identity of the closest protein outside the group whose alignment covers enough and beats
    # chance, below the threshold too; NaN where there is none, or where the protein was not
    # examined.
    nearest: Floats
    pairs: Pairs  # Relatives in two groups, all that were met; rows of proteins
    n_counted: int = 0  # Proteins examined for pairs that only chance excludes
    # Their pairs in two groups that reach identity and coverage, with a score that chance may
    # explain: no relatives, as `Thresholds.most_expected` has it.
    n_by_chance: int = 0


@dataclass(frozen=True, kw_only=True, eq=False)
class Compared:
    """What exact alignment of proteins that are apart has shown."""

    is_examined: Booleans  # Whether the protein was compared with everything apart from it
    # Pairs of proteins apart that cover enough and beat chance, at any identity: all of those
    # examined, and others that were met.
    pairs: Pairs

    def with_pairs(self, pairs: Pairs) -> Self:
        """Return the same with more pairs that were met, each once."""
        every, width = joined([self.pairs, pairs]), len(self.is_examined)
        low, high = np.minimum(every.first, every.second), np.maximum(every.first, every.second)
        return replace(self, pairs=every.take(np.unique(low * width + high, return_index=True)[1]))


class _Apart:
    """The distinct sequences of proteins under different names, ready to be aligned."""

    def __init__(self, proteins: Proteins, apart: Strings, threads: int) -> None:
        self.inside = np.flatnonzero(apart != "")
        self.found = distinct(proteins.sequences[self.inside])
        names, self.codes = np.unique(apart[self.inside].astype(str), return_inverse=True)
        self.library = Library(texts=self.found.texts, threads=threads)
        self.home = _home(self.found, self.codes, len(names))

    def of_proteins(self, pairs: Pairs) -> Pairs:
        """Return the pairs of proteins for pairs of sequences, copies of each other included."""
        n_texts = len(self.found.texts)
        copied = np.flatnonzero(np.bincount(self.found.code, minlength=n_texts) > 1)
        every = joined([pairs, alike(copied, copied)])
        return _of_proteins(every, self.found, self.codes).renamed(self.inside)


def compare(
    proteins: Proteins,
    apart: Strings,
    thresholds: Thresholds,
    rows: Integers | None = None,
    threads: int = 1,
    cells: float = math.inf,
    pieces: Pieces | None = None,
) -> Compared:
    """Return what exact alignment of proteins under different names shows.

    As many of `rows` are examined, in their order, as the cells allow.
    """
    asked = np.arange(proteins.n_proteins) if rows is None else rows
    asked = asked[apart[asked] != ""]
    every = _Apart(proteins, apart, threads)
    place = np.full(proteins.n_proteins, -1)
    place[every.inside] = every.found.code
    code = place[asked]
    queries = None if rows is None else code[np.sort(np.unique(code, return_index=True)[1])]
    covering = replace(thresholds, identity=0.0)
    chance = thresholds.most_expected
    undecided = None if chance is None else Copies(every.library, chance).undecided
    pairs, done = every.library.relatives_within(
        cells, queries, every.home, covering, undecided, pieces
    )
    # A copy of one that is done counts in its turn only: what is finished is a random sample.
    is_left = np.append(~np.isin(code, done), True)
    is_examined = np.zeros(proteins.n_proteins, dtype=np.bool_)
    is_examined[asked[: int(is_left.argmax())]] = True
    return Compared(is_examined=is_examined, pairs=every.of_proteins(pairs))


def likely_to_cross(
    proteins: Proteins, apart: Strings, thresholds: Thresholds, threads: int, cells: float
) -> tuple[Pairs, float]:
    """Return pairs under different names, those first that share most, and the cells they took."""
    every = _Apart(proteins, apart, threads)
    library, lengths = every.library, every.library.lengths
    first, second = most_alike(every.found.texts, every.home)
    price = np.cumsum(lengths[first] * lengths[second].astype(np.float64))
    n_scored = int(np.searchsorted(price, 0.5 * cells, side="right"))
    spent = float(price[n_scored - 1]) if n_scored else 0.0
    first, second = first[:n_scored], second[:n_scored]
    beats = library.beats_chance(first, second, thresholds.most_expected)
    first, second = first[beats], second[beats]
    price = CELLS_OF_ALIGNMENT * np.cumsum(lengths[first] * lengths[second].astype(np.float64))
    n_aligned = int(np.searchsorted(price, cells - spent, side="right"))
    spent += float(price[n_aligned - 1]) if n_aligned else 0.0
    chosen = zip(first[:n_aligned].tolist(), second[:n_aligned].tolist(), strict=True)
    pairs = library.align(chosen)
    pairs = pairs.take(pairs.at(replace(thresholds, identity=0.0)))
    return every.of_proteins(pairs), spent


def most_alike(texts: Strings, home: Integers) -> tuple[Integers, Integers]:
    """Return pairs of two homes, lower row first, by the part of the shorter's words shared."""
    n_texts, share = len(texts), min(1.0, MOST_WORDS / max(sum(map(len, texts)), 1))
    proteins, words = [np.empty((0), dtype=np.int64)], [np.empty(0, dtype=np.int64)]
    for start in range(0, n_texts, TEXTS_AT_ONCE):
        part = words_of(texts[start : start + TEXTS_AT_ONCE])
        is_kept = uniform(part.word.astype(np.uint64), 0, "words") < share
        proteins.append(part.protein[is_kept] + start)
        words.append(part.word[is_kept])
    index = WordIndex(
        protein=np.concatenate(proteins), word=np.concatenate(words), n_proteins=n_texts
    )
    keys, worth = np.empty(0, dtype=np.int64), np.empty(0)
    for row, column, n_shared, fewest in shared(index, MOST_HUBS):
        is_kept = (n_shared >= LEAST_SHARED_ACROSS) & (home[row] != home[column])
        row, column, more = row[is_kept], column[is_kept], (n_shared / fewest)[is_kept]
        is_more = more >= (worth[-1] if len(worth) == MOST_LIKELY else 0.0)
        row, column, worth = row[is_more], column[is_more], np.append(worth, more[is_more])
        keys = np.append(keys, np.minimum(row, column) * n_texts + np.maximum(row, column))
        keys, places = np.unique(keys, return_index=True)
        order = np.lexsort((keys, -worth[places]))[:MOST_LIKELY]
        keys, worth = keys[order], worth[places][order]
    first, second = np.divmod(keys, max(n_texts, 1))
    return first, second


def with_chance_counted(
    audit: Audit,
    proteins: Proteins,
    group: Strings,
    thresholds: Thresholds,
    threads: int = 1,
    cells: float = math.inf,
) -> Audit:
    """Return the audit with the number of pairs that only chance excludes."""
    if thresholds.most_expected is None:
        return audit
    rows = in_hash_order(proteins.ids, audit.is_examined)[:MOST_COUNTED_BY_CHANCE]
    literal = replace(thresholds, most_expected=None)
    compared = compare(proteins, group, literal, rows, threads, cells)
    every = Compared(
        is_examined=audit.is_examined, pairs=judged(compared, group, thresholds).pairs
    )
    n_new = every.with_pairs(audit.pairs).pairs.n_pairs - audit.pairs.n_pairs
    n_counted = int(compared.is_examined.sum())
    return replace(audit, n_counted=n_counted, n_by_chance=n_new)


def judged(compared: Compared, group: Strings, thresholds: Thresholds) -> Audit:
    """Return what crosses groups, of what was compared."""
    is_examined = compared.is_examined & (group != "")
    spread = _crossing(compared.pairs, group)
    nearest = np.full(len(group), np.nan)
    for rows in (spread.first, spread.second):
        np.fmax.at(nearest, rows, spread.identity)
    nearest[~is_examined] = np.nan
    crossing = spread.take(spread.identity >= thresholds.identity)
    is_crossing = np.zeros(len(group), dtype=np.bool_)
    is_crossing[crossing.first] = True
    is_crossing[crossing.second] = True
    return Audit(is_examined=is_examined, is_crossing=is_crossing, nearest=nearest, pairs=crossing)


def _crossing(pairs: Pairs, group: Strings) -> Pairs:
    """Return the pairs of two groups."""
    first, second = group[pairs.first], group[pairs.second]
    return pairs.take(((first != second) & (first != "") & (second != "")).astype(np.bool_))


def _home(sequences: Distinct, codes: Integers, n_groups: int) -> Integers:
    """Return the group of each distinct sequence; one of its own if it is in several."""
    n_texts = len(sequences.texts)
    low, high = np.full(n_texts, n_groups), np.full(n_texts, -1)
    np.minimum.at(low, sequences.code, codes)
    np.maximum.at(high, sequences.code, codes)
    return np.where(low == high, low, n_groups + np.arange(n_texts))


def _of_proteins(pairs: Pairs, sequences: Distinct, codes: Integers) -> Pairs:
    """Return pairs of proteins in two groups for pairs of distinct sequences."""
    order, starts = members(sequences.code, len(sequences.texts))
    pair, place = ranges(starts[pairs.first], starts[pairs.first + 1])
    second = pairs.second[pair]
    again, partner = ranges(starts[second], starts[second + 1])
    pair, first, second = pair[again], order[place][again], order[partner]
    is_once = (pairs.first != pairs.second)[pair] | (first < second)
    kept = is_once & (codes[first] != codes[second])
    return replace(pairs.take(pair[kept]), first=first[kept], second=second[kept])


def in_hash_order(ids: Strings, is_eligible: Booleans) -> Integers:
    """Return rows in an order that depends on ids alone."""
    rows = np.flatnonzero(is_eligible)
    place = uniform(keys_of(ids[rows]), 0, "audit")
    return rows[np.lexsort((ids[rows].astype(str), place))]


def most_crossing(n_found: int, n_sampled: int, n_all: int, level: float = LEVEL_OF_BOUND) -> int:
    """Return how many of all cross at most, where so many of a random sample do.

    The greatest number under which so few would be found with a probability above
    1 − `level`, by the hypergeometric law; 0 surprises where all were examined.
    """
    counts = np.arange(n_found + 1)
    low, high = n_found, n_all - n_sampled + n_found
    while low < high:
        many = (low + high + 1) // 2
        is_possible = (counts <= many) & (n_sampled - counts <= n_all - many)
        some = counts[is_possible]
        log = _log_choose(many, some) + _log_choose(n_all - many, n_sampled - some)
        chance = np.exp(log - _log_choose(n_all, np.array(n_sampled))).sum()
        low, high = (many, high) if chance > 1.0 - level else (low, many - 1)
    return low


def _log_choose(n: int, k: Integers) -> Floats:
    return np.asarray(
        special.gammaln(n + 1.0) - special.gammaln(k + 1.0) - special.gammaln(n - k + 1.0)
    )


def by_class(audit: Audit, class_: NDArray[Any]) -> dict[Any, tuple[int, int]]:
    """Return for each class how many were examined and how many cross."""
    return {
        value: (
            int((audit.is_examined & (class_ == value)).sum()),
            int((audit.is_examined & audit.is_crossing & (class_ == value)).sum()),
        )
        for value in np.unique(class_[audit.is_examined]).tolist()
    }
