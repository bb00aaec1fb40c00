"""Confidences by distance from known families: each number beside a slow way to it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special

from credence.evaluation.bands import BAND_NAMES, Seen, band_of, judged_bands

PER_FAMILY = 3


def seen_with(harm: float, n_families: int = 200, seed: int = 0) -> Seen:
    """Return proteins of which those of the farthest band are wrong more often than stated."""
    rng = np.random.default_rng(seed)
    family = np.repeat(np.arange(n_families), PER_FAMILY)
    band = rng.integers(0, 3, n_families)[family]
    stated = rng.uniform(0.3, 0.95, len(family))
    true = np.where(band == 0, special.expit(special.logit(stated) - harm), stated)
    is_right = rng.random(len(family)) < true
    return Seen(stated=stated, is_right=is_right, family=family, band=band)


def test_identities_fall_into_bands_and_no_relative_is_the_farthest() -> None:
    identity = np.array([np.nan, 0.0, 0.29, 0.3, 0.4, 0.59, 0.6, 1.0])
    assert band_of(identity).tolist() == [0, 0, 0, 1, 2, 2, 3, 3]


def test_shares_and_p_are_those_of_random_signs_of_families() -> None:
    seen = seen_with(0.7)
    found, rng = judged_bands(seen), np.random.default_rng(1)
    for at, band in enumerate(found[:3]):
        own = np.flatnonzero(seen.band == at)
        assert (band.name, band.n) == (BAND_NAMES[at], len(own))
        assert band.promised == pytest.approx(np.mean(seen.stated[own]))
        assert band.right == pytest.approx(np.mean(seen.is_right[own]))
        assert band.lower < band.right < band.upper
        gaps = [
            sum(float(seen.is_right[row]) - seen.stated[row] for row in own[seen.family[own] == f])
            for f in np.unique(seen.family[own])
        ]
        assert band.n_families == len(gaps)
        signs = rng.choice([-1.0, 1.0], (20_000, len(gaps)))
        p = (np.abs(signs @ gaps) >= abs(sum(gaps)) - 1e-12).mean()
        assert p - 0.02 <= band.p <= min(3.0 * p + 0.06, 1.0)  # Holm: at most times three
    assert np.isnan(found[3].p) and np.isnan(found[3].promised)  # nothing is so near


def test_relatives_count_as_one() -> None:
    one = seen_with(0.5, 60)
    rows = np.tile(np.arange(len(one.band)), 5)
    many = Seen(**{name: values[rows] for name, values in vars(one).items()})
    for few, more in zip(judged_bands(one)[:3], judged_bands(many)[:3], strict=True):
        assert more.p == pytest.approx(few.p)
        assert (more.lower, more.upper) == pytest.approx((few.lower, few.upper), abs=0.03)


def test_bands_are_off_by_chance_in_few_worlds_and_surely_where_much_differs() -> None:
    off = [[band.is_off for band in judged_bands(seen_with(0.0, 80, seed))] for seed in range(40)]
    assert sum(map(any, off)) <= 6  # of 40 that are each off at 5 %: more once in a hundred
    far, *nearer = judged_bands(seen_with(1.0))
    assert far.is_off and far.p < 0.001 and far.right < far.promised
    assert not any(band.is_off for band in nearer)


def test_few_families_show_nothing() -> None:
    for band in judged_bands(seen_with(3.0, 12)):
        assert np.isnan([band.promised, band.right, band.lower, band.upper, band.p]).all()
        assert not band.is_off
    none = np.zeros(0, dtype=np.int64)
    empty = Seen(stated=np.zeros(0), is_right=np.zeros(0, dtype=np.bool_), family=none, band=none)
    assert [band.n for band in judged_bands(empty)] == [0, 0, 0, 0]
