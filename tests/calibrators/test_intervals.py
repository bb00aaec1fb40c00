from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.stats import beta

from credence.calibrators.classwise import ClassCurve, ConstantCurve, confidence_by_class
from credence.calibrators.intervals import (
    curve_band,
    draws_needed,
    ends_of_draws,
    expanded_quantiles,
    guard_draws,
    guarded,
    knots_of,
    mean_cluster_mass,
    opened,
    share_band,
    share_draws,
    student_ends,
    tail_levels,
)
from credence.calibrators.masses import Support
from credence.calibrators.protocol import Band, ClassSample, FitOptions
from credence.predictions import from_scores

Make = Callable[..., ClassSample]
OPTIONS = FitOptions(n_draws=2000)


@pytest.mark.parametrize(("n_right", "n_wrong"), [(30, 10), (40, 0), (0, 12), (1, 1)])
def test_without_relatives_the_share_s_interval_is_jeffreys(
    sample_of: Make, n_right: int, n_wrong: int
) -> None:
    sample = sample_of([5.0] * n_right, [4.0] * n_wrong)
    levels = np.array([0.025, 0.5, 0.975])
    drawn = np.quantile(share_draws(sample, OPTIONS.n_draws), levels)
    truth = beta(n_right + 0.5, n_wrong + 0.5)
    expected = truth.ppf(levels)
    # 2,000 draws place a quantile to √(p(1 − p)/n) over the density there; three of those.
    error = np.sqrt(levels * (1.0 - levels) / OPTIONS.n_draws) / truth.pdf(expected)
    assert (np.abs(drawn - expected) < 3.0 * error).all()


def test_twins_in_one_cluster_tell_no_more_than_one(sample_of: Make) -> None:
    right, wrong = [5.0] * 12, [4.0] * 6
    once = sample_of(right, wrong, cluster=[f"c{row}" for row in range(18)])
    names = [f"c{row}" for row in range(12) for _ in range(3)]
    names += [f"c{row}" for row in range(12, 18) for _ in range(3)]
    thrice = sample_of([5.0] * 36, [4.0] * 18, cluster=names)
    alike, single = share_band(thrice, OPTIONS), share_band(once, OPTIONS)
    np.testing.assert_allclose(single.lower, alike.lower, rtol=1e-6)
    np.testing.assert_allclose(single.upper, alike.upper, rtol=1e-6)
    loners = share_band(sample_of([5.0] * 36, [4.0] * 18), OPTIONS)
    assert loners.upper - loners.lower < 0.7 * (alike.upper - alike.lower)


def test_a_mean_cluster_mass_by_hand(sample_of: Make) -> None:
    # Clusters of weight 3, 1: (9 + 1) / (3 + 1).
    sample = sample_of([5.0, 5.0, 5.0], [4.0], cluster=["a", "a", "a", "b"])
    assert mean_cluster_mass(sample) == pytest.approx(2.5)


def test_the_guard_is_a_draw_of_gamma_one_half() -> None:
    right, wrong = guard_draws(4000)
    for drawn in (right, wrong):
        # Mean ½ and variance ½; standard errors 0.011 and 0.03.
        assert drawn.mean() == pytest.approx(0.5, abs=0.05)
        assert drawn.var() == pytest.approx(0.5, abs=0.12)
    assert abs(np.corrcoef(right, wrong)[0, 1]) < 0.06


def test_a_certain_curve_is_guarded_as_jeffreys_would() -> None:
    drawn = guarded(np.ones((1, 4000)), np.array([1e-9]))
    # Nothing near: Beta(½, ½), whose 5 % quantile is sin²(0.05·π/2) = 0.006.
    assert np.quantile(drawn, 0.05) == pytest.approx(0.006, abs=0.006)
    assert guarded(np.ones((1, 400)), np.array([1e9])).min() > 1 - 1e-6


def test_knots_reach_over_the_scores_and_crowd_where_they_crowd(sample_of: Make) -> None:
    sample = sample_of(np.append(1.0, 9.9 + np.arange(99) / 1000), [5.0])
    knots = knots_of(sample)
    assert knots[0] == 1.0 and knots[-1] == sample.score.max()
    assert (np.diff(knots) > 0).all()
    assert (knots >= 9.9).sum() > 50


def test_levels_leave_equal_tails() -> None:
    assert tail_levels(FitOptions(level=0.9)) == pytest.approx((0.05, 0.95))


def test_few_clusters_widen_an_interval_as_student_s_t_does() -> None:
    draws = np.random.default_rng(2).standard_normal((1, 200_000)).repeat(2, axis=0)
    low, high = expanded_quantiles(draws, np.array([8.0, 1e9]), FitOptions(level=0.9))
    # t with 7 degrees of freedom at 5 %: 1.8946, times √(8/7); the normal: 1.6449.
    np.testing.assert_allclose(high, [1.8946 * np.sqrt(8 / 7), 1.6449], atol=0.02)
    np.testing.assert_allclose(low, -high, atol=0.03)


def test_an_end_is_0_or_1_where_nothing_speaks_against_it(sample_of: Make) -> None:
    band = share_band(sample_of([5.0] * 40, []), OPTIONS)
    # With one-sided data the other end is Jeffreys': 1 − 0.06 for 40 of 40.
    assert band.upper == 1.0 and band.lower == pytest.approx(beta.ppf(0.025, 40.5, 0.5), abs=0.02)
    band = share_band(sample_of([5.0] * 39, [5.0]), OPTIONS)
    assert band.upper < 1.0 and band.lower > 0.0
    band = share_band(sample_of([], [5.0] * 40), OPTIONS)
    assert band.lower == 0.0 and 0.0 < band.upper < 0.1


def test_quantiles_of_a_hundred_and_one_draws_by_hand() -> None:
    # 0, 1, …, 100 in any order, of very many clusters: the levels are 2.5 % and 97.5 %.
    draws = np.random.default_rng(1).permutation(101).astype(float)[None]
    low, high = expanded_quantiles(draws, np.array([1e12]), FitOptions(level=0.95))
    assert (low[0], high[0]) == (pytest.approx(2.5, abs=1e-3), pytest.approx(97.5, abs=1e-3))
    # Of one cluster, or less: Student's t with one degree of freedom, 12.706 · √2 = 17.97.
    low, high = expanded_quantiles(draws, np.array([0.3]), FitOptions(level=0.95))
    assert (low[0], high[0]) == (pytest.approx(0.0, abs=1e-9), pytest.approx(100.0))


def test_a_guarded_draw_by_hand() -> None:
    right, wrong = guard_draws(3)
    found = guarded(np.array([[0.2, 0.5, 1.0]]), np.array([4.0]))
    expected = (4.0 * np.array([0.2, 0.5, 1.0]) + right) / (4.0 + right + wrong)
    np.testing.assert_allclose(found[0], expected, rtol=1e-12)


def test_ends_are_opened_by_what_is_near_by_hand() -> None:
    # Half a cluster of four is a share of 1/8: below it nothing speaks against 0.
    low, high = np.full(4, 0.3), np.full(4, 0.7)
    middle = np.array([[0.124], [0.126], [0.874], [0.876]])
    found = opened(low, high, middle, np.full(4, 4.0))
    assert found[0].tolist() == [0.0, 0.3, 0.3, 0.3]
    assert found[1].tolist() == [0.7, 0.7, 0.7, 1.0]
    # What counts is the middle draw.
    skewed = np.array([[0.1, 0.5, 0.5]])
    assert opened(low[:1], high[:1], skewed, np.array([4.0]))[0].tolist() == [0.3]


def test_a_band_contains_its_curve_and_its_lower_end_is_not_its_upper_one() -> None:
    knots, n_near = np.array([1.0, 2.0]), np.array([1e9, 1e9])
    values = np.stack([np.linspace(0.2, 0.4, 101), np.linspace(0.5, 0.6, 101)])
    band = curve_band(knots, values, n_near, np.array([0.3, 0.9]), FitOptions(level=0.8))
    # A tenth of the draws on each side; at the second knot the curve is above all draws.
    np.testing.assert_allclose(band.lower, [0.22, 0.51], atol=1e-6)
    np.testing.assert_allclose(band.upper, [0.38, 0.9], atol=1e-6)


def test_the_published_ends_are_the_bands_opened_by_support() -> None:
    ends = Band(score=np.array([2.0, 6.0]), lower=np.array([0.1, 0.3]), upper=np.array([0.6, 0.9]))
    near = Support(score=np.array([0.0, 4.0, 8.0]), n=np.array([0.0, 1.5, 30.0]))
    curve = ConstantCurve(share=0.5, code=0)
    entry = ClassCurve(counts={}, fallback=None, learnt=curve, band=ends, support=near)
    ids = np.array(["a", "b", "c"], dtype=object)
    asked = from_scores(ids, ("Portal",), np.array([[4.0], [9.0], [1.0]]), 10.0, 0.01)
    found = confidence_by_class({"Portal": entry}, asked)
    assert found.value.tolist() == [0.5, 0.5, 0.5]
    np.testing.assert_allclose(found.support, [1.5, 30.0, 0.375])
    # At 4 the band is 0.2 to 0.75 and half of three families are near: half-way to 0 and 1.
    # At 9 it is held; at 1 it is open but for an eighth.
    np.testing.assert_allclose(found.lower, [0.1, 0.3, 0.0125])
    np.testing.assert_allclose(found.upper, [0.875, 0.9, 0.95])


def test_a_quantile_needs_two_and_a_half_draws_beyond_it() -> None:
    assert [draws_needed(tail) for tail in (0.025, 0.005, 0.0005)] == [100, 500, 5000]
    draws = np.random.default_rng(3).standard_normal((4, 100))
    plain = np.quantile(draws, (0.025, 0.975), axis=1)
    np.testing.assert_allclose(ends_of_draws(draws, 0.95), plain, rtol=1e-9)
    low, high = ends_of_draws(draws, 0.999)
    assert (low < draws.min(axis=1)).all() and (high > draws.max(axis=1)).all()


def test_few_draws_reach_as_far_as_student_s_t_by_hand() -> None:
    # 1, 2, 3: mean 2, deviation 1; t of two degrees of freedom at 2.5 % is 4.303, times √(4/3).
    low, high = ends_of_draws(np.array([[1.0, 2.0, 3.0]]), 0.95)
    assert (low[0], high[0]) == pytest.approx((2.0 - 4.9683, 2.0 + 4.9683), abs=1e-3)
    # Of three clusters too: half of either freedom, t of one is 12.706, times √(3/2 · 4/3) = √2.
    low, high = student_ends(np.array([1.0, 2.0, 3.0]), 2.0, 0.025)
    assert float(high) == pytest.approx(2.0 + 12.706 * np.sqrt(2.0), abs=1e-2)


def test_ends_of_few_draws_of_a_share_are_shares_and_one_alone_shows_nothing() -> None:
    draws = np.array([[0.9, 0.99, 1.0], [0.9, 0.99, 1.0]])
    low, high = ends_of_draws(draws, 0.95, is_share=np.array([True, False]))
    assert 0.0 <= low[0] < 0.9 and high[0] == 1.0
    assert high[1] > 1.0
    one = [float(end[0]) for end in ends_of_draws(draws[:1, :1], 0.95, is_share=True)]
    assert one == [0.0, 1.0]


@pytest.mark.parametrize("n_draws", [5, 10, 20, 50])
def test_few_draws_hold_as_much_as_they_state(n_draws: int) -> None:
    # A truth and draws around one estimate, all with one deviation: exchangeable but for the
    # estimate. Quantiles of 10 draws hold the truth in 82 %, Student's t in 95 %.
    rng = np.random.default_rng(n_draws)
    draws = rng.standard_normal((20_000, n_draws))
    truth = rng.standard_normal(20_000)
    low, high = ends_of_draws(draws, 0.95)
    held = float(((low <= truth) & (truth <= high)).mean())
    assert held == pytest.approx(0.95, abs=0.006)  # four standard errors
