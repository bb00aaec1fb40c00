"""Relatives of new proteins among old ones, as many as are needed to place them.

A protein may have hundreds of relatives in a family of near copies. To know
which groups it touches, one relative in each is enough: what a finder gives is
aligned exactly, in the order in which the finder ranks it, until one under each
label is a relative.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from credence.predictions import Booleans, Integers, Strings
from credence.proteins import Proteins
from credence.relatives.alignment import Library, measured
from credence.relatives.graph import Finder, relatives_of_short
from credence.relatives.pairs import (
    Distinct,
    Pairs,
    Thresholds,
    contained,
    distinct,
    joined,
    no_pairs,
)


def relatives_by_label(
    new: Proteins,
    old: Proteins,
    label: Strings,
    finder: Finder,
    thresholds: Thresholds,
    threads: int = 1,
) -> Pairs:
    """Return for each new protein one relative under each label where it has any.

    `first` is a row of `new`, `second` one of `old`: of the relatives under a
    label the one that the finder ranks first, of equal ones the first by id.
    Likeness is exact.
    """
    if new.n_proteins == 0 or old.n_proteins == 0:
        return no_pairs()
    both = distinct(np.concatenate([new.sequences, old.sequences]))
    ours, theirs = both.code[: new.n_proteins], both.code[new.n_proteins :]
    found = _candidates(both, ours, theirs, finder, thresholds, threads)
    _, labels = np.unique(label.astype(str), return_inverse=True)
    by_id = np.empty(old.n_proteins, dtype=np.int64)
    by_id[np.argsort(old.ids.astype(str), kind="stable")] = np.arange(old.n_proteins)
    place, row = _under_labels(found.second, theirs, labels.astype(np.int64), by_id)
    tries = found.take(place)
    slot = tries.first * (int(labels.max()) + 1) + labels[row]
    order = np.lexsort((by_id[row], -tries.coverage, -tries.identity, slot))
    chosen, pairs = _first_relatives(tries.take(order), slot[order], both, thresholds, threads)
    old_row = row[order][chosen]
    copies = np.argsort(ours, kind="stable")
    start = np.searchsorted(ours[copies], pairs.first, side="left")
    stop = np.searchsorted(ours[copies], pairs.first, side="right")
    repeated, place_of_copy = _ranges(start, stop)
    every = pairs.take(repeated)
    first = copies[place_of_copy].astype(np.int64)
    return Pairs(first, old_row[repeated], every.identity, every.coverage, every.coverage_longer)


def _candidates(
    both: Distinct,
    ours: Integers,
    theirs: Integers,
    finder: Finder,
    thresholds: Thresholds,
    threads: int,
) -> Pairs:
    """Return the pairs of distinct sequences to look at, each once."""
    query, target = np.unique(ours), np.unique(theirs)
    near = finder.between(both.texts[query], both.texts[target], thresholds.looser())
    near = replace(near, first=query[near.first], second=target[near.second])
    short = relatives_of_short(both, thresholds.looser(), threads)
    turned = replace(short, first=short.second, second=short.first)
    same = np.intersect1d(query, target).astype(np.int64)
    ones = np.ones(len(same))
    every = joined([Pairs(same, same, ones, ones, ones), near, short, turned])
    rows = np.flatnonzero(np.isin(every.first, query) & np.isin(every.second, target))
    keys = every.first[rows] * len(both.texts) + every.second[rows]
    _, once = np.unique(keys, return_index=True)
    return every.take(rows[once])


def _under_labels(
    targets: Integers, theirs: Integers, labels: Integers, by_id: Integers
) -> tuple[Integers, Integers]:
    """Return each candidate once per label of its target, with the first protein there."""
    order = np.lexsort((by_id, labels, theirs))
    code, label = theirs[order], labels[order]
    is_first = np.ones(len(order), dtype=np.bool_)
    is_first[1:] = (code[1:] != code[:-1]) | (label[1:] != label[:-1])
    home, code = order[is_first], code[is_first]
    start = np.searchsorted(code, targets, side="left")
    place, found = _ranges(start, np.searchsorted(code, targets, side="right"))
    return place, home[found].astype(np.int64)


def _ranges(
    start: Integers | NDArray[np.intp], stop: Integers | NDArray[np.intp]
) -> tuple[Integers, Integers]:
    """Return all places of several ranges, each with the number of its range.

    Examples
    --------
    >>> number, place = _ranges(np.array([5, 0]), np.array([7, 1]))
    >>> number.tolist(), place.tolist()
    ([0, 0, 1], [5, 6, 0])
    """
    count = np.asarray(stop - start, dtype=np.int64)
    number = np.repeat(np.arange(len(count)), count)
    within = np.arange(len(number)) - np.repeat(np.cumsum(count) - count, count)
    return number, start[number] + within


def _first_relatives(
    tries: Pairs, slot: Integers, both: Distinct, thresholds: Thresholds, threads: int
) -> tuple[Integers, Pairs]:
    """Return the place of the first relative in each slot, and its exact likeness.

    Each round aligns twice as many of a slot's candidates as the one before.
    """
    library = Library(both.texts, threads)
    whole = contained(both.texts, most_expected=thresholds.most_expected)
    starts = np.flatnonzero(np.append(True, slot[1:] != slot[:-1])) if len(slot) else slot
    turn = np.arange(len(slot)) - np.repeat(starts, np.diff(np.append(starts, len(slot))))
    is_open = np.ones(len(slot), dtype=np.bool_)
    chosen: list[Integers] = []
    parts: list[Pairs] = []
    high = 1
    while is_open.any():
        rows = np.flatnonzero(is_open & (turn < high))
        exact, is_relative = _measured(tries.take(rows), both, library, whole, thresholds)
        kept = np.flatnonzero(is_relative)
        _, first = np.unique(slot[rows[kept]], return_index=True)
        chosen.append(rows[kept[first]])
        parts.append(exact.take(kept[first]))
        is_open &= (turn >= high) & ~np.isin(slot, slot[chosen[-1]])
        high *= 2
    nothing = np.empty(0, dtype=np.int64)
    return np.concatenate([nothing, *chosen]), joined(parts)


def _measured(
    pairs: Pairs, both: Distinct, library: Library, whole: Pairs, thresholds: Thresholds
) -> tuple[Pairs, Booleans]:
    """Return pairs with their exact likeness, and which of them are relatives."""
    first, second = pairs.first, pairs.second
    exact = measured(library, first, second)
    low, high = np.minimum(first, second), np.maximum(first, second)
    width = len(both.texts)
    is_real = (low == high) | np.isin(low * width + high, whole.first * width + whole.second)
    is_real |= library.beats_chance(low, high, thresholds.most_expected)
    return exact, exact.at(thresholds) & is_real
