"""Beta calibration: the paper's map, and its constraints."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from scipy import optimize, special

from class_samples import sample_of
from credence.calibrators.logit_curve import Beta, BetaColumns
from credence.calibrators.protocol import FitOptions
from credence.predictions import Floats

of_unit = partial(sample_of, scale=1.0, resolution=0.001)


def test_the_columns_are_those_of_the_beta_map() -> None:
    columns = BetaColumns(scale=10.0, low=0.0005, high=0.9995).columns(np.array([2.0, 0.0, 10.0]))
    expected = [
        [1, np.log(0.2), -np.log(0.8)],
        [1, np.log(0.0005), -np.log(0.9995)],
        [1, np.log(0.9995), -np.log(0.0005)],
    ]
    np.testing.assert_allclose(columns, expected, rtol=1e-12)


@pytest.mark.parametrize("truth", [(1.5, 0.4, 0.3), (0.5, 2.0, -0.5)])
def test_the_parameters_that_drew_the_data_are_found_again(
    truth: tuple[float, float, float],
) -> None:
    a, b, c = truth
    rng = np.random.default_rng(1)
    score = rng.beta(1.5, 1.5, 60_000).round(3).clip(0.001, 0.999)
    right = rng.random(60_000) < special.expit(c + a * np.log(score) - b * np.log1p(-score))
    curve = Beta().fit_curve(of_unit(score, right))
    # Standard errors at 60,000 rows are about 0.03.
    np.testing.assert_allclose(curve.coefficients, [c, a, b], atol=0.12)


def test_a_falling_truth_gives_a_constant_since_the_map_may_not_fall() -> None:
    rng = np.random.default_rng(2)
    score = rng.uniform(0.2, 0.9, 2000).round(3)
    right = rng.random(2000) < 0.9 - 0.6 * score
    curve = Beta().fit_curve(of_unit(score, right))
    assert curve.coefficients[1:].tolist() == [0.0, 0.0]
    expected = (right.sum() + 0.5) / 2001
    np.testing.assert_allclose(curve.value(score), expected, atol=1e-12)


def test_no_curve_falls_whatever_the_data() -> None:
    for seed in range(20):
        rng = np.random.default_rng(seed)
        score = rng.uniform(0.1, 0.99, 30).round(3)
        right = np.arange(30) % 3 == rng.integers(3)
        curve = Beta().fit_curve(of_unit(score, right))
        value = curve.value(np.linspace(0.1, 0.99, 200))
        assert (np.diff(value) >= -1e-12).all()


def test_of_the_constrained_fits_the_likeliest_is_taken() -> None:
    # The truth is steep at the top alone: the free fit has a < 0, so a = 0 and b > 0.
    rng = np.random.default_rng(5)
    score = rng.uniform(0.05, 0.999, 4000).round(3)
    right = rng.random(4000) < special.expit(-1.0 - 1.2 * np.log1p(-score) - 0.3 * np.log(score))
    curve = Beta().fit_curve(of_unit(score, right))
    columns = np.stack([np.ones(4000), np.log(score), -np.log1p(-score)], axis=1)

    def loss(point: Floats) -> float:
        log_odds = columns @ point
        return float(-special.log_expit(np.where(right, log_odds, -log_odds)).mean())

    bounds = [(None, None), (0, None), (0, None)]
    peer = optimize.minimize(loss, np.zeros(3), bounds=bounds, tol=1e-12)
    assert curve.coefficients[1] == peer.x[1] == 0.0
    # Half a row of prior per coefficient, in 4000.
    np.testing.assert_allclose(curve.coefficients, peer.x, atol=2e-3)


def test_the_band_holds_the_curve_inside_0_and_1() -> None:
    rng = np.random.default_rng(7)
    score = rng.uniform(0.3, 1, 50).round(3)
    sample = of_unit(score, rng.random(50) < score)
    curve = Beta().fit_curve(sample)
    band = Beta().fit_band(sample, curve, FitOptions())
    value = curve.value(band.score)
    assert (band.lower >= 0).all() and (band.lower < value).all()
    assert (value < band.upper).all() and (band.upper <= 1).all()
