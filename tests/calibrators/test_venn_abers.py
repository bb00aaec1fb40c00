"""Venn–Abers: the package's ends, their weighted twin, and the union of intervals."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.isotonic import IsotonicRegression

from class_samples import sample_of
from credence.calibrators.isotonic import (
    Bracket,
    VennAbers,
    likelihood_ratio_band,
    package_bounds,
    weighted_bounds,
)
from credence.calibrators.logit_curve import by_score
from credence.calibrators.protocol import ClassSample, FitOptions
from credence.predictions import Floats
from credence.records import from_record, to_record


def drawn(seed: int, n_samples: int = 60, weight: Floats | None = None) -> ClassSample:
    rng = np.random.default_rng(seed)
    score = np.sort(rng.uniform(1, 10, n_samples).round(1))
    return sample_of(score, rng.random(n_samples) < score / 10, weight, resolution=0.1)


def test_two_scores_are_bracketed_as_by_hand() -> None:
    # Wrong at 1, right at 2. Asked at 2: as wrong, {0 | 1, 0} → p0 = ½; as right, p1 = 1,
    # so p = 1/(1 - ½ + 1) = ⅔.
    sample = sample_of([1.0, 2.0], [False, True], resolution=0.1)
    curve = VennAbers().fit_curve(sample)
    low, high = curve.bounds(np.array([2.0]))
    assert (low[0], high[0]) == (0.5, 1.0)
    assert curve.value(np.array([2.0]))[0] == pytest.approx(2 / 3)


@settings(max_examples=30, deadline=None, derandomize=True)
@given(seed=st.integers(0, 10_000))
def test_the_package_and_the_weighted_twin_agree_where_rows_weigh_1(seed: int) -> None:
    sample = drawn(seed, 40)
    _, weight, weight_correct = by_score(sample)
    ours = weighted_bounds(weight, weight_correct)
    theirs = package_bounds(sample.score, sample.is_correct)
    np.testing.assert_allclose(ours[0][1:], theirs[0][1:], atol=1e-12)
    np.testing.assert_allclose(ours[1][:-1], theirs[1][:-1], atol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_both_ends_are_isotonic_fits_with_the_protein_itself_added(seed: int) -> None:
    weight = np.random.default_rng(seed).choice([0.5, 1.0, 3.0], 60)
    sample = drawn(seed, weight=weight)
    curve = VennAbers().fit_curve(sample)
    for score in (1.05, 3.0, 5.55, 7.2, float(sample.score[-1]), float(sample.score[0])):
        held = float(np.clip(score, sample.score[0], sample.score[-1]))
        for label, end in ((0.0, curve.bounds(np.array([score]))[0]), (1.0, None)):
            peer = IsotonicRegression()
            peer.fit(
                np.append(sample.score, held),
                np.append(sample.is_correct.astype(float), label),
                np.append(weight, 1.0),
            )
            found = curve.bounds(np.array([score]))[1] if end is None else end
            assert found[0] == pytest.approx(float(peer.predict([held])[0]), abs=1e-12)


def test_the_interval_holds_the_bracket_and_that_of_the_isotonic_curve_everywhere() -> None:
    for seed in range(4):
        sample = drawn(seed)
        curve = VennAbers().fit_curve(sample)
        band = VennAbers().fit_band(sample, curve, FitOptions())
        asked = np.linspace(sample.score[0], sample.score[-1], 1001)
        lower = np.interp(asked, band.score, band.lower)
        upper = np.interp(asked, band.score, band.upper)
        low, high = curve.bounds(asked)
        assert (lower <= low + 1e-12).all() and (high <= upper + 1e-12).all()
        isotonic = likelihood_ratio_band(sample, FitOptions())
        assert (band.lower <= isotonic.lower).all() and (isotonic.upper <= band.upper).all()


def test_the_value_lies_between_the_ends() -> None:
    curve = VennAbers().fit_curve(drawn(5))
    asked = np.linspace(0, 11, 200)
    low, high = curve.bounds(asked)
    assert (low <= curve.value(asked)).all() and (curve.value(asked) <= high).all()


def test_numpys_warnings_are_as_they_were_after_the_package_was_used() -> None:
    before = np.geterr()
    package_bounds(np.array([1.0, 2.0]), np.array([False, True]))
    assert np.geterr() == before


def test_a_record_gives_the_steps_back() -> None:
    curve = VennAbers().fit_curve(drawn(6))
    again = from_record(Bracket, to_record(curve))
    asked = np.linspace(0, 11, 50)
    np.testing.assert_array_equal(again.value(asked), curve.value(asked))
