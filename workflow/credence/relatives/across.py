"""Relatives of some proteins among others: the closest of each, or one under each label.

A protein may have hundreds of relatives in a family of near copies. To know
which groups it touches, one relative in each is enough: what a finder gives is
aligned exactly, in the order in which the finder ranks it, until one under each
label is a relative.
"""

from dataclasses import replace

import numpy as np

from credence.predictions import Booleans, Integers, Strings
from credence.proteins import Proteins
from credence.relatives.alignment import Library, measured
from credence.relatives.graph import Finder, relatives_of_short
from credence.relatives.pairs import (
    Pairs,
    Thresholds,
    alike,
    contained,
    distinct,
    joined,
    members,
    n_equal_before,
    no_pairs,
    ranges,
)


class _Both:
    """Two sets of proteins by their distinct sequences, and how their pairs are judged."""

    def __init__(self, new: Proteins, old: Proteins, thresholds: Thresholds, threads: int) -> None:
        self.distinct = distinct(np.concatenate([new.sequences, old.sequences]))
        self.ours = self.distinct.code[: new.n_proteins]
        self.theirs = self.distinct.code[new.n_proteins :]
        self.thresholds = thresholds
        self.library = Library(texts=self.distinct.texts, threads=threads)
        whole = contained(self.distinct.texts, most_expected=thresholds.most_expected)
        self.whole = self._keys(whole.first, whole.second)

    def _keys(self, first: Integers, second: Integers) -> Integers:
        return first * len(self.distinct.texts) + second

    def candidates(self, finder: Finder) -> Pairs:
        """Return the pairs of distinct sequences to look at, each once."""
        texts, looser = self.distinct.texts, self.thresholds.looser()
        query, target = np.unique(self.ours), np.unique(self.theirs)
        near = finder.between(texts[query], texts[target], looser).renamed(query, target)
        short = relatives_of_short(self.distinct, looser, self.library.threads)
        same = np.intersect1d(query, target).astype(np.int64)
        every = joined([alike(same, same), near, short, short.turned()])
        rows = np.flatnonzero(np.isin(every.first, query) & np.isin(every.second, target))
        _, once = np.unique(self._keys(every.first[rows], every.second[rows]), return_index=True)
        return every.take(rows[once])

    def judged(self, pairs: Pairs) -> tuple[Pairs, Booleans]:
        """Return pairs with their exact likeness, and which of them are relatives."""
        exact = measured(self.library, pairs.first, pairs.second)
        low, high = np.minimum(pairs.first, pairs.second), np.maximum(pairs.first, pairs.second)
        is_real = (low == high) | np.isin(self._keys(low, high), self.whole)
        is_real |= self.library.beats_chance(low, high, self.thresholds.most_expected)
        return exact, exact.at(self.thresholds) & is_real


def relatives_in(
    proteins: Proteins,
    training: Proteins,
    finder: Finder,
    thresholds: Thresholds,
    threads: int = 1,
) -> Pairs:
    """Return for each protein its closest relative in the training set, ties by id.

    Candidates come from the finder at looser thresholds and are aligned exactly; `first` is a row
    of `proteins`, `second` one of `training`.
    """
    if proteins.n_proteins == 0 or training.n_proteins == 0:
        return no_pairs()
    both = _Both(proteins, training, thresholds, threads)
    exact, is_relative = both.judged(both.candidates(finder))
    # Of training proteins with one sequence the first by id stands for it.
    by_id = np.argsort(training.ids.astype(str), kind="stable")
    codes, rank = np.unique(both.theirs[by_id], return_index=True)
    relatives = exact.take(is_relative)
    place = rank[np.searchsorted(codes, relatives.second)]
    order = np.lexsort((place, -relatives.identity, relatives.first))
    known, closest = np.unique(relatives.first[order], return_index=True)
    rows = np.flatnonzero(np.isin(both.ours, known))
    chosen = order[closest[np.searchsorted(known, both.ours[rows])]]
    return replace(relatives.take(chosen), first=rows, second=by_id[place[chosen]])


def relatives_by_label(
    new: Proteins,
    old: Proteins,
    label: Strings,
    finder: Finder,
    thresholds: Thresholds,
    threads: int = 1,
) -> Pairs:
    """Return for each new protein one relative under each label where it has any.

    It is the one that the finder ranks first, ties by id; `first` is a row of `new`, `second` one
    of `old`. Likeness is exact.
    """
    if new.n_proteins == 0 or old.n_proteins == 0:
        return no_pairs()
    both = _Both(new, old, thresholds, threads)
    candidates = both.candidates(finder)
    _, labels = np.unique(label.astype(str), return_inverse=True)
    n_labels = int(labels.max()) + 1
    by_id = np.argsort(old.ids.astype(str), kind="stable")
    # Of each sequence one protein under each label counts, the first by id.
    _, first = np.unique((both.theirs * n_labels + labels)[by_id], return_index=True)
    home = by_id[first]
    starts = members(both.theirs[home], len(both.distinct.texts))[1]
    place, row = ranges(starts[candidates.second], starts[candidates.second + 1])
    tries, row = candidates.take(place), home[row]
    slot = tries.first * n_labels + labels[row]
    rank = np.argsort(by_id)
    order = np.lexsort((rank[row], -tries.coverage, -tries.identity, slot))
    chosen, pairs = _first_relatives(tries.take(order), slot[order], both)
    copies, starts = members(both.ours, len(both.distinct.texts))
    repeated, place = ranges(starts[pairs.first], starts[pairs.first + 1])
    second = row[order][chosen][repeated]
    return replace(pairs.take(repeated), first=copies[place], second=second)


def _first_relatives(tries: Pairs, slot: Integers, both: _Both) -> tuple[Integers, Pairs]:
    """Return the place of the first relative in each slot, and its exact likeness."""
    turn = n_equal_before(slot)
    is_open = np.ones(len(slot), dtype=np.bool_)
    chosen: list[Integers] = []
    parts: list[Pairs] = []
    high = 1
    while is_open.any():
        rows = np.flatnonzero(is_open & (turn < high))
        exact, is_relative = both.judged(tries.take(rows))
        kept = np.flatnonzero(is_relative)
        _, first = np.unique(slot[rows[kept]], return_index=True)
        chosen.append(rows[kept[first]])
        parts.append(exact.take(kept[first]))
        is_open &= (turn >= high) & ~np.isin(slot, slot[chosen[-1]])
        high *= 2
    nothing = np.empty(0, dtype=np.int64)
    return np.concatenate([nothing, *chosen]), joined(parts)
