"""Isotonic calibration and its interval: by hand, and against slow twins."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.isotonic import IsotonicRegression

from class_samples import sample_of
from credence.calibrators.classwise import class_samples
from credence.calibrators.isotonic import (
    Isotonic,
    Polyline,
    dispersion,
    likelihood_ratio_band,
    limit_quantile,
)
from credence.calibrators.protocol import ClassSample, FitOptions
from credence.confidence import Note
from credence.predictions import Floats
from credence.problems import InputError
from credence.records import from_record, to_record

OPTIONS = FitOptions()


def drawn(seed: int, n_samples: int = 200, slope: float = 0.8) -> ClassSample:
    rng = np.random.default_rng(seed)
    score = rng.uniform(0, 10, n_samples).round(2)
    return sample_of(
        score,
        rng.random(n_samples) < 0.1 + slope * score / 10,
        rng.choice([0.5, 1.0, 2.0], n_samples),
        rng.integers(80, size=n_samples).tolist(),
    )


def test_violators_are_pooled_to_their_weighted_mean() -> None:
    # 0 | 1, 0 pooled to (2·1 + 1·0)/3 | 1
    curve = Isotonic().fit_curve(sample_of([1, 2, 3, 4], [0, 1, 0, 1], [1, 2, 1, 1]))
    np.testing.assert_allclose(curve.value(np.array([1.0, 2.0, 3.0, 4.0])), [0, 2 / 3, 2 / 3, 1])


def test_between_blocks_the_curve_is_straight_and_outside_it_is_held() -> None:
    curve = Isotonic().fit_curve(sample_of([2, 4], [0, 1]))
    np.testing.assert_allclose(curve.value(np.array([0.0, 2.5, 3.0, 9.0])), [0, 0.25, 0.5, 1])
    assert curve.note(np.array([1.9, 2.0, 4.0, 4.1])).tolist() == [
        Note.BELOW_RANGE,
        0,
        0,
        Note.ABOVE_RANGE,
    ]


def test_equal_scores_are_one_point_whatever_their_order() -> None:
    first = Isotonic().fit_curve(sample_of([5, 5, 5, 7], [1, 0, 0, 1]))
    second = Isotonic().fit_curve(sample_of([5, 5, 5, 7], [0, 0, 1, 1]))
    assert first.value(np.array([5.0]))[0] == second.value(np.array([5.0]))[0] == 1 / 3


def test_a_single_distinct_score_gives_a_constant() -> None:
    curve = Isotonic().fit_curve(sample_of([5, 5, 5, 5], [1, 0, 1, 1]))
    np.testing.assert_array_equal(curve.value(np.array([1.0, 5.0, 9.0])), 0.75)


@settings(max_examples=30, deadline=None, derandomize=True)
@given(seed=st.integers(0, 10_000))
def test_the_curve_is_scikit_learns(seed: int) -> None:
    sample = drawn(seed, 60)
    peer = IsotonicRegression(out_of_bounds="clip")
    peer.fit(sample.score, sample.is_correct.astype(float), sample.weight)
    asked = np.linspace(-1, 11, 300)
    curve = Isotonic().fit_curve(sample)
    np.testing.assert_allclose(curve.value(asked), peer.predict(asked), atol=1e-12)


def plain_interval(sample: ClassSample, knot: float, allowed: float) -> tuple[float, float]:
    """Return the interval at a knot by trying every p on a grid with whole fits."""

    grid = np.linspace(0, 1, 1001)[:, None]

    def fits(rows: np.ndarray, low: Floats, high: Floats) -> Floats:
        score, correct, weight = sample.score[rows], sample.is_correct[rows], sample.weight[rows]
        if len(score) == 0:
            return np.zeros(len(grid))
        peer = IsotonicRegression().fit(score, correct.astype(float), weight)
        value = np.clip(peer.predict(score), low, high)
        likely = np.where(correct, value, 1 - value)
        with np.errstate(divide="ignore"):
            return (weight * np.log(likely)).sum(axis=1)

    below, at, above = sample.score < knot, sample.score == knot, sample.score > knot
    free = fits(np.ones(len(sample.score), dtype=bool), 0 * grid, 0 * grid + 1)
    bound = fits(below, 0 * grid, grid) + fits(at, grid, grid) + fits(above, grid, 0 * grid + 1)
    kept = grid[free - bound <= allowed]
    return float(kept.min()), float(kept.max())


@pytest.mark.parametrize("seed", range(3))
def test_the_interval_is_that_of_whole_refits_at_every_p(seed: int) -> None:
    sample = drawn(seed, 50)
    band = likelihood_ratio_band(sample, OPTIONS)
    fitted = Isotonic().fit_curve(sample).value(sample.score)
    n_clusters = (np.bincount(sample.cluster, sample.weight).sum() ** 2) / (
        np.bincount(sample.cluster, sample.weight) ** 2
    ).sum()
    small = stats.t.ppf(0.975, n_clusters - 1) / stats.norm.ppf(0.975)
    allowed = limit_quantile(0.95) * dispersion(sample, fitted) * small**2 / 2
    for place in range(0, len(band.score), 6):
        low, high = plain_interval(sample, float(band.score[place]), allowed)
        # The grid of p is 0.001 wide; the interval reaches at most that much further.
        assert low - 1e-3 <= band.lower[place] <= low + 1e-6
        assert high - 1e-6 <= band.upper[place] <= high + 1e-3


def test_strangers_have_no_design_effect_and_a_family_has_that_of_a_fit_without_it() -> None:
    # One block at 2/3. Alone: 4 right (1/3 off) and 2 wrong (2/3 off), each a sixth of the
    # block. Together: two families of 2 right (a third of it each), and the 2 wrong as before.
    score, correct = np.arange(6.0), np.array([1, 1, 1, 1, 0, 0])
    fitted = np.full(6, 2 / 3)
    strangers = sample_of(score, correct)
    assert dispersion(strangers, fitted) == pytest.approx(1.0)
    families = sample_of(score, correct, cluster=[0, 0, 1, 1, 2, 3])
    wrong = 2 * (2 / 3 / (5 / 6)) ** 2
    apart, together = 4 * (1 / 3 / (5 / 6)) ** 2 + wrong, 2 * (2 / 3 / (2 / 3)) ** 2 + wrong
    assert dispersion(families, fitted) == pytest.approx(together / apart)


def test_the_interval_holds_the_curve_and_never_falls() -> None:
    for seed in range(5):
        sample = drawn(seed)
        band = likelihood_ratio_band(sample, OPTIONS)
        value = Isotonic().fit_curve(sample).value(band.score)
        assert (band.lower <= value + 1e-9).all() and (value <= band.upper + 1e-9).all()
        assert (np.diff(band.lower) >= -1e-6).all() and (np.diff(band.upper) >= -1e-6).all()


def test_a_block_of_right_predictions_only_is_not_certain() -> None:
    # 5 wrong below, 20 right above: at the lowest right score nothing but that row
    # speaks against p, so p ≥ exp(-d/2) with d = 2.255 (and t in place of z).
    sample = sample_of(np.arange(25.0), [0] * 5 + [1] * 20)
    band = likelihood_ratio_band(sample, OPTIONS)
    at_first_right = band.lower[np.flatnonzero(band.score == 5.0)[0]]
    small = stats.t.ppf(0.975, 24) / stats.norm.ppf(0.975)
    assert at_first_right == pytest.approx(np.exp(-2.255 * small**2 / 2), abs=1e-6)
    at_last = band.lower[-1]  # all twenty speak against it
    assert at_last == pytest.approx(np.exp(-2.255 * small**2 / 40), abs=1e-6)
    assert (band.upper[band.score >= 5] == 1).all()


def test_twins_in_one_cluster_change_no_interval() -> None:
    once = drawn(2)
    n_samples = len(once.score)
    twice = sample_of(
        np.repeat(once.score, 2),
        np.repeat(once.is_correct, 2).astype(float),
        np.repeat(once.weight, 2),
        np.repeat(once.cluster, 2).tolist(),
    )
    heavy = sample_of(
        once.score, once.is_correct.astype(float), 2 * once.weight, once.cluster.tolist()
    )
    assert n_samples * 2 == len(twice.score)
    first, second = likelihood_ratio_band(twice, OPTIONS), likelihood_ratio_band(heavy, OPTIONS)
    np.testing.assert_allclose(first.lower, second.lower, atol=1e-6)
    np.testing.assert_allclose(first.upper, second.upper, atol=1e-6)


def test_the_interval_does_not_depend_on_what_a_row_weighs_as_a_whole() -> None:
    sample = drawn(4)
    light = sample_of(
        sample.score, sample.is_correct.astype(float), sample.weight / 7, sample.cluster.tolist()
    )
    first, second = likelihood_ratio_band(sample, OPTIONS), likelihood_ratio_band(light, OPTIONS)
    np.testing.assert_allclose(first.lower, second.lower, atol=1e-6)


def test_a_record_gives_the_curve_back(worlds: SimpleNamespace) -> None:
    sample = next(one for one in class_samples(worlds.draw(1)) if one is not None)
    curve = Isotonic().fit_curve(sample)
    again = from_record(Polyline, to_record(curve))
    np.testing.assert_array_equal(again.score, curve.score)
    np.testing.assert_array_equal(again.confidence, curve.confidence)


def test_quantiles_between_those_drawn_are_joined_and_the_95_percent_one_is_known() -> None:
    # Banerjee & Wellner's own simulation gives about 2.27; ours has a standard
    # error of 0.01.
    assert limit_quantile(0.95) == pytest.approx(2.27, abs=0.03)
    assert limit_quantile(0.8) < limit_quantile(0.85) < limit_quantile(0.9)


@pytest.mark.parametrize(
    "record",
    [
        {"score": [0.1, float("nan")], "confidence": [0.1, 0.2]},
        {"score": [0.2, 0.1], "confidence": [0.1, 0.2]},
        {"score": [0.1, 0.2], "confidence": [0.1, 1.2]},
        {"score": [0.1, 0.2], "confidence": [0.1, float("nan")]},
        {"score": [0.1, 0.2], "confidence": [0.1]},
        {"score": [], "confidence": []},
    ],
)
def test_what_is_no_curve_is_refused(record: dict[str, list[float]]) -> None:
    with pytest.raises(InputError, match="curve"):
        from_record(Polyline, record)
