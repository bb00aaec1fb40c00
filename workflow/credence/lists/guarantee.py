"""Thresholds with a guarantee per family: learn then test, families as the units.

At each threshold every family among what is let through is one coin: its member of
least hash there is right or wrong. The binomial tail of wrong coins is then an exact
p-value, and a walk from the top down with several starts keeps the chance of any
false claim below δ (docs/mathematics.md, section 10).
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import special

from credence.predictions import Booleans, Floats, Integers

MOST_STARTS = 8
FINE_FROM = 0.9  # of the scale: above, thresholds are a table's step apart
COARSE_STEPS = 200  # of the scale: so many below
FINEST_THRESHOLD = 1e-5  # of the scale: where a table has more decimals
THRESHOLD_ROUNDING = 1e-9  # of the scale; far below any table's step
THRESHOLD_DECIMALS = 9  # of a threshold


@dataclass(frozen=True, kw_only=True, eq=False)
class Coins:
    """What each threshold lets through, thresholds from the top down."""

    threshold: Floats
    n_families: Integers  # Families with a member at the threshold or above
    n_wrong: Integers  # Those of them whose member of least hash there is wrong


@dataclass(frozen=True, kw_only=True)
class Guarantee:
    """A threshold whose error per family is at most a rate, with a certainty."""

    threshold: float  # NaN where there is none
    n_families: int  # Families let through; 0 where there is none
    # Where there is no threshold: how many more families, all of them right, would give one.
    n_more: int


def grid_of(scale: float, resolution: float, top: float) -> Floats:
    """Return the thresholds that are tried, from the top down to 0."""
    coarse = max(scale / COARSE_STEPS, resolution)
    fine = max(resolution, FINEST_THRESHOLD * scale) if resolution > 0 else coarse / 10.0
    from_ = FINE_FROM * scale
    n_fine = int(np.ceil((max(scale, top) - from_) / fine - THRESHOLD_ROUNDING))
    n_coarse = int(np.ceil(from_ / coarse - THRESHOLD_ROUNDING))
    above = from_ + fine * np.arange(n_fine, -1, -1)
    below = from_ - coarse * np.arange(1, n_coarse + 1)
    return np.asarray(
        np.round(np.maximum(np.concatenate([above, below]), 0.0), THRESHOLD_DECIMALS)
    )


def coins_of(
    threshold: Floats, score: Floats, is_wrong: Booleans, family: Integers, order: Integers
) -> Coins:
    """Return the coins at each threshold; of a family the row of least `order` speaks."""
    down = np.lexsort((order, -score))
    speaker_family, speaks_before = family[down], pd.Series(order[down]).groupby(family[down])
    # Whoever has a lesser order than all of its family above it takes over from them.
    rows = np.flatnonzero(speaks_before.cummin().to_numpy() == order[down])
    wrong = pd.Series(is_wrong[down][rows].astype(np.int64))
    before = wrong.groupby(speaker_family[rows]).shift()
    n_families = np.concatenate([[0], np.cumsum(before.isna().to_numpy())])
    n_wrong = np.concatenate([[0], np.cumsum((wrong - before.fillna(0)).to_numpy(np.int64))])
    scale = max(float(np.abs(threshold).max(initial=0.0)), 1e-300)
    let_through = np.searchsorted(
        -score[down][rows], -(threshold - THRESHOLD_ROUNDING * scale), "right"
    )
    return Coins(
        threshold=threshold,
        n_families=n_families[let_through].astype(np.int64),
        n_wrong=n_wrong[let_through].astype(np.int64),
    )


def binomial(most: Integers, n: Integers, share: float) -> Floats:
    """Return the chance of at most so many of n; SciPy's own takes half a second to load."""
    is_less = most < n
    return np.where(
        is_less, special.betaincc(most + 1.0, np.where(is_less, n - most, 1), share), 1.0
    )


def least_families(n_wrong: Integers, error: float, level: float) -> Integers:
    """Return of how many families so many may be wrong, for a p-value of at most `level`."""
    low: Integers = n_wrong  # of so many all would be wrong
    high: Integers = np.ceil((n_wrong + 1.0) * 20.0 * -np.log(level) / error).astype(np.int64)
    while (high - low > 1).any():
        middle = (low + high) // 2
        is_enough = binomial(n_wrong, middle, error) <= level
        low, high = np.where(is_enough, low, middle), np.where(is_enough, middle, high)
    return high


def guaranteed(coins: Coins, error: float, certainty: float) -> Guarantee:
    """Return the lowest threshold whose error per family is at most `error`, so certainly."""
    # Most thresholds let nobody new through: of these the lowest stands for all.
    is_new = (np.diff(coins.n_families) != 0) | (np.diff(coins.n_wrong) != 0)
    last = np.append(np.flatnonzero(is_new), len(coins.threshold) - 1)
    n, wrong = coins.n_families[last], coins.n_wrong[last]
    passed = _walk(n, wrong, error, certainty)
    if passed >= 0:
        return Guarantee(
            threshold=float(coins.threshold[last[passed]]), n_families=int(n[passed]), n_more=0
        )
    n_more = max(int((least_families(wrong, error, (1.0 - certainty) / MOST_STARTS) - n).min()), 1)
    # At a threshold between two starts a small p-value is not enough.
    while _walk(n + n_more, wrong, error, certainty) < 0:
        n_more += 1 + n_more // 10
    return Guarantee(threshold=float("nan"), n_families=0, n_more=n_more)


def _walk(n: Integers, wrong: Integers, error: float, certainty: float) -> int:
    """Return the place of the lowest threshold that passes; -1 where none does."""
    level = (1.0 - certainty) / MOST_STARTS
    least = int(least_families(np.zeros(1, dtype=np.int64), error, level)[0])
    wanted = np.array([n[-1]])
    if n[-1] > least:
        wanted = np.ceil(np.geomspace(least, n[-1], MOST_STARTS) * (1.0 - THRESHOLD_ROUNDING))
    starts = np.unique(np.searchsorted(n, wanted))
    allowance = np.zeros(len(n))
    allowance[starts] = (1.0 - certainty) / len(starts)
    p_value = binomial(wrong, n, error)
    at_hand, passed = 0.0, -1
    for place in range(int(starts[0]), len(n)):
        at_hand += allowance[place]
        if at_hand > 0.0 and p_value[place] <= at_hand:
            passed = place
        else:
            at_hand = 0.0
    return passed
