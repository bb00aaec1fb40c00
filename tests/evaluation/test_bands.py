"""Confidences by distance from known families: each number beside a slow way to it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize, special

from credence.evaluation.bands import BANDS, HELD_TO, Seen, band_of, bands_of, judged_bands, moved

PER_FAMILY = 3


def seen_with(harm: float, n_families: int = 200, seed: int = 0) -> Seen:
    """Return proteins of which those of the farthest band are wrong more often than stated."""
    rng = np.random.default_rng(seed)
    family = np.repeat(np.arange(n_families), PER_FAMILY)
    band = rng.integers(0, 3, n_families)[family]
    stated = rng.uniform(0.3, 0.95, len(family))
    true = np.where(band == 0, special.expit(special.logit(stated) - harm), stated)
    is_right = rng.random(len(family)) < true
    key = rng.integers(0, 2**63, n_families).astype(np.uint64)
    return Seen(stated, is_right, family, key, band)


def test_identities_fall_into_bands_and_no_relative_is_the_farthest() -> None:
    identity = np.array([np.nan, 0.0, 0.29, 0.3, 0.4, 0.59, 0.6, 1.0])
    assert band_of(identity).tolist() == [0, 0, 0, 1, 2, 2, 3, 3]


def test_shares_and_p_are_those_of_random_signs_of_families() -> None:
    seen = seen_with(0.7)
    found, rng = judged_bands(seen), np.random.default_rng(1)
    for at, band in enumerate(found[:3]):
        own = np.flatnonzero(seen.band == at)
        assert (band.name, band.n) == (BANDS[at], len(own))
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


def test_the_step_is_the_least_of_the_loss_that_is_held_to_none() -> None:
    seen = seen_with(1.0)
    own, at = seen.band == 0, bands_of(seen)[0]
    weight = 1.0 / PER_FAMILY

    def loss(step: float) -> float:
        p = special.expit(special.logit(seen.stated[own]) + step)
        each = np.where(seen.is_right[own], np.log(p), np.log(1.0 - p))
        return float(-weight * each.sum() + HELD_TO / 32.0 * step**2)

    assert at.p < 0.05
    assert at.step == pytest.approx(optimize.minimize_scalar(loss).x, abs=1e-6)
    assert at.step < -0.3


def test_relatives_count_as_one() -> None:
    one = seen_with(0.5, 60)
    rows = np.tile(np.arange(len(one.band)), 5)
    many = Seen(one.stated[rows], one.is_right[rows], one.family[rows], one.key, one.band[rows])
    for few, more in zip(judged_bands(one)[:3], judged_bands(many)[:3], strict=True):
        assert more.p == pytest.approx(few.p)
        assert (more.lower, more.upper) == pytest.approx((few.lower, few.upper), abs=0.03)


def test_where_nothing_differs_no_confidence_changes_by_a_bit() -> None:
    value = np.array([0.0, 1e-9, 0.3, 1.0, np.nan])
    named = 0
    for seed in range(40):
        bands = bands_of(seen_with(0.0, 80, seed))
        steps = np.array([band.step for band in bands])
        named += bool(steps.any())
        if not steps.any():
            after = moved(value, steps, np.array([0, 1, 2, 3, 0]))
            assert after.tobytes() == value.tobytes()
    assert named <= 5  # one in twenty, and what helps families left out


def test_few_families_show_nothing() -> None:
    bands = bands_of(seen_with(3.0, 12))
    assert all(np.isnan(band.p) and band.step == 0.0 for band in bands)
    empty = Seen(*(np.zeros(0),) * 2, *(np.zeros(0, dtype=np.int64),) * 3)
    assert [band.n for band in bands_of(empty)] == [0, 0, 0, 0]
