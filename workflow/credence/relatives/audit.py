"""Who has a relative in another group: by exact alignment, not by clusters.

The audit knows nothing of how clusters were made. Each protein examined is
aligned with every protein apart from it (:mod:`credence.relatives.alignment`);
no prefilter stands before that, so a relative cannot be missed. All proteins
are examined, or those of the test group and a sample of the others.

Comparing is apart from judging: what was aligned once can be judged again after
clusters have been joined or proteins set aside, since both only take pairs away.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from credence.draws import keys_of, uniform
from credence.predictions import Booleans, Floats, Integers, Strings
from credence.proteins import Proteins
from credence.relatives.alignment import Library
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

LEVEL = 0.95
# Of so many of the proteins examined the pairs that only chance excludes are
# counted, which takes more alignments than the audit itself.
MOST_COUNTED = 40


@dataclass(frozen=True, eq=False)
class Audit:
    """What crosses the groups."""

    is_examined: Booleans  # Whether the protein was compared with everything outside its group
    is_crossing: Booleans  # Of those examined, whether it has a relative there
    # Identity of the closest protein outside the group whose alignment covers enough and beats
    # chance, below the threshold too; NaN where there is none, or where the protein was not
    # examined.
    nearest: Floats
    pairs: Pairs  # Relatives in two groups, all that were met; rows of proteins
    n_counted: int = 0  # Proteins examined for pairs that only chance excludes
    # Their pairs in two groups that reach identity and coverage, with a score that chance may
    # explain: no relatives, as `Thresholds.most_expected` has it.
    n_by_chance: int = 0

    @property
    def n_examined(self) -> int:
        """Number of proteins examined."""
        return int(self.is_examined.sum())

    @property
    def n_crossing(self) -> int:
        """Number of proteins, of those examined, with a relative in another group."""
        return int(self.is_crossing.sum())


@dataclass(frozen=True, eq=False)
class Compared:
    """What exact alignment of proteins that are apart has shown."""

    is_examined: Booleans  # Whether the protein was compared with everything apart from it
    # Pairs of proteins apart that cover enough and beat chance, at any identity; at least one of
    # the two was examined.
    pairs: Pairs


def audit(
    proteins: Proteins,
    group: Strings,
    thresholds: Thresholds,
    rows: Integers | None = None,
    threads: int = 1,
) -> Audit:
    """Return who of some proteins has a relative in another group."""
    return judged(compare(proteins, group, thresholds, rows, threads), group, thresholds)


def compare(
    proteins: Proteins,
    apart: Strings,
    thresholds: Thresholds,
    rows: Integers | None = None,
    threads: int = 1,
) -> Compared:
    """Return what exact alignment of proteins under different names shows."""
    is_in = apart != ""
    is_examined = np.zeros(proteins.n_proteins, dtype=np.bool_)
    is_examined[np.arange(proteins.n_proteins) if rows is None else rows] = True
    is_examined &= is_in
    inside = np.flatnonzero(is_in)
    found = distinct(proteins.sequences[inside])
    names, codes = np.unique(apart[inside].astype(str), return_inverse=True)
    queries = None if rows is None else np.unique(found.code[is_examined[inside]])
    library, home = Library(found.texts, threads), _home(found, codes, len(names))
    covering = library.relatives(queries, home, replace(thresholds, identity=0.0))
    copied = np.flatnonzero(np.bincount(found.code, minlength=len(found.texts)) > 1)
    every = joined([covering, alike(copied, copied)])
    return Compared(is_examined, _of_proteins(every, found, codes).renamed(inside))


def with_chance_counted(
    found: Audit, proteins: Proteins, group: Strings, thresholds: Thresholds, threads: int = 1
) -> Audit:
    """Return the audit with the number of pairs that only chance excludes."""
    if thresholds.most_expected is None:
        return found
    rows = sample_rows(proteins.ids, found.is_examined, MOST_COUNTED)
    literal = compare(proteins, group, replace(thresholds, most_expected=None), rows, threads)
    every = judged(literal, group, thresholds).pairs
    width = proteins.n_proteins
    keys = [
        np.minimum(pairs.first, pairs.second) * width + np.maximum(pairs.first, pairs.second)
        for pairs in (every, found.pairs)
    ]
    is_new = ~np.isin(keys[0], keys[1])
    return replace(found, n_counted=len(rows), n_by_chance=int(is_new.sum()))


def judged(compared: Compared, group: Strings, thresholds: Thresholds) -> Audit:
    """Return what crosses groups, of what was compared."""
    is_examined = compared.is_examined & (group != "")
    spread = _crossing(compared.pairs, group)
    nearest = np.full(len(group), np.nan)
    for one in (spread.first, spread.second):
        np.fmax.at(nearest, one, spread.identity)
    nearest[~is_examined] = np.nan
    crossing = spread.take(
        (spread.identity >= thresholds.identity)
        & (is_examined[spread.first] | is_examined[spread.second])
    )
    is_crossing = np.zeros(len(group), dtype=np.bool_)
    is_crossing[crossing.first] = True
    is_crossing[crossing.second] = True
    return Audit(is_examined, is_crossing & is_examined, nearest, crossing)


def _crossing(pairs: Pairs, group: Strings) -> Pairs:
    """Return the pairs of two groups."""
    one, other = group[pairs.first], group[pairs.second]
    return pairs.take(((one != other) & (one != "") & (other != "")).astype(np.bool_))


def _home(found: Distinct, codes: Integers, n_groups: int) -> Integers:
    """Return the group of each distinct sequence; one of its own if it is in several."""
    n_texts = len(found.texts)
    low, high = np.full(n_texts, n_groups), np.full(n_texts, -1)
    np.minimum.at(low, found.code, codes)
    np.maximum.at(high, found.code, codes)
    return np.where(low == high, low, n_groups + np.arange(n_texts))


def _of_proteins(pairs: Pairs, found: Distinct, codes: Integers) -> Pairs:
    """Return pairs of proteins in two groups for pairs of distinct sequences."""
    order, starts = members(found.code, len(found.texts))
    pair, place = ranges(starts[pairs.first], starts[pairs.first + 1])
    other = pairs.second[pair]
    again, partner = ranges(starts[other], starts[other + 1])
    pair, one, other = pair[again], order[place][again], order[partner]
    is_once = (pairs.first != pairs.second)[pair] | (one < other)
    kept = is_once & (codes[one] != codes[other])
    return replace(pairs.take(pair[kept]), first=one[kept], second=other[kept])


def sample_rows(ids: Strings, is_eligible: Booleans, n_rows: int, round_: int = 0) -> Integers:
    """Return a sample that depends on ids alone, another for every round."""
    rows = np.flatnonzero(is_eligible)
    place = uniform(keys_of(ids[rows]), round_, "audit")
    order = np.lexsort((ids[rows].astype(str), place))
    return np.sort(rows[order[:n_rows]])


def upper_bound(n_found: int, n_sampled: int, n_all: int, level: float = LEVEL) -> float:
    """Return the share that the true one does not exceed, with confidence `level`.

    Exact (Clopper and Pearson), one-sided; 0 surprises where all were examined.

    >>> round(upper_bound(0, 300, 10_000), 5)
    0.00994
    >>> upper_bound(2, 100, 100)
    0.02
    """
    if n_sampled >= n_all:
        return n_found / n_all if n_all else 0.0
    if n_found >= n_sampled:
        return 1.0
    return float(special.betaincinv(n_found + 1, n_sampled - n_found, level))


def level_of_round(round_: int, level: float = LEVEL) -> float:
    """Return the confidence of one round, so that all rounds together keep `level`.

    Strict mode stops at the first sample in which nothing crosses; its bound
    has to allow for the samples before: round r spends (1 − level)/(r(r + 1)).
    """
    return 1.0 - (1.0 - level) / (round_ * (round_ + 1))


def by_class(found: Audit, class_: NDArray[Any]) -> dict[Any, tuple[int, int]]:
    """Return for each class how many were examined and how many cross."""
    return {
        value: (
            int((found.is_examined & (class_ == value)).sum()),
            int((found.is_crossing & (class_ == value)).sum()),
        )
        for value in np.unique(class_[found.is_examined]).tolist()
    }
