"""Spline calibration: a natural cubic spline, its knots and its fit."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special
from scipy.interpolate import CubicSpline

from class_samples import sample_of
from credence.calibrators.logit_curve import NaturalSpline, Platt, Spline


def test_its_columns_span_the_natural_cubic_splines() -> None:
    knots = np.array([0.1, 0.3, 0.4, 0.8, 0.95])
    basis = NaturalSpline(scale=10.0, knots=tuple(knots.tolist()))
    height = np.array([0.3, -1.0, 2.0, 0.5, 0.7])
    peer = CubicSpline(knots, height, bc_type="natural")
    at_knots = basis.columns(10 * knots)
    coefficients = np.linalg.solve(at_knots, height)
    asked = np.linspace(0.1, 0.95, 100)
    np.testing.assert_allclose(basis.columns(10 * asked) @ coefficients, peer(asked), atol=1e-10)


def test_outside_its_knots_it_is_a_straight_line() -> None:
    columns = NaturalSpline(scale=1.0, knots=(0.2, 0.5, 0.6, 0.9)).columns(
        np.array([0.9, 0.95, 1.0])
    )
    np.testing.assert_allclose(columns[2] - columns[1], columns[1] - columns[0], atol=1e-12)
    columns = NaturalSpline(scale=1.0, knots=(0.2, 0.5, 0.6, 0.9)).columns(
        np.array([0.0, 0.1, 0.2])
    )
    np.testing.assert_allclose(columns[2] - columns[1], columns[1] - columns[0], atol=1e-12)


def test_two_distinct_scores_leave_a_line_which_is_platts() -> None:
    sample = sample_of(np.array([3.0] * 8 + [9.0] * 8), np.array([0, 1] * 4 + [0] + [1] * 7))
    spline, line = Spline().fit_curve(sample), Platt().fit_curve(sample)
    asked = np.array([3.0, 5.0, 9.0])
    np.testing.assert_allclose(spline.value(asked), line.value(asked), atol=1e-10)


def test_knots_stand_at_quantiles_of_the_scores() -> None:
    score = np.linspace(0.1, 10.0, 100).round(2)
    right = np.arange(100) % 2
    basis = Spline(n_knots=3).fit_curve(sample_of(score, right)).basis
    assert isinstance(basis, NaturalSpline)
    np.testing.assert_allclose(basis.knots, [0.05, 0.5, 0.95], atol=1e-12)


def test_a_curve_that_bends_is_followed() -> None:
    rng = np.random.default_rng(3)
    score = rng.uniform(0, 10, 40_000).round(2)
    truth = special.expit(1.5 * np.sin(score / 2.5))
    curve = Spline().fit_curve(sample_of(score, rng.random(40_000) < truth))
    # Five knots bring a sine within 0.02; a line would be off by 0.2.
    np.testing.assert_allclose(curve.value(score), truth, atol=0.03)


@pytest.mark.parametrize("n_knots", [3, 10])
def test_more_knots_than_scores_can_bear_do_no_harm(n_knots: int) -> None:
    score = np.array([2.0, 2.0, 5.0, 5.0, 5.0, 8.0, 8.0, 9.0, 9.0, 9.0])
    curve = Spline(n_knots=n_knots).fit_curve(sample_of(score, np.array([0, 1] * 5)))
    assert np.isfinite(curve.value(score)).all()
