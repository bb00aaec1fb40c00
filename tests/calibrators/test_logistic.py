"""Newton's method, the jackknife over clusters, the regression per class."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import optimize, special
from sklearn.linear_model import LogisticRegression

from credence.calibrators.crossfit import DEFAULT_FOLDS
from credence.calibrators.logistic import (
    FIXED_STRENGTH,
    LOGISTIC_METHOD,
    STRENGTHS,
    Logistic,
    cross_fitted_strength,
    ridge,
)
from credence.calibrators.newton import cluster_covariance, fit_logistic, log_loss
from credence.calibrators.protocol import FitOptions
from credence.calibrators.score_logs import canonical_order, rows_of, sorted_log_scores
from credence.predictions import from_scores, label
from credence.records import to_record

QUICK = FitOptions(n_draws=0)


def drawn(n: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    design = np.column_stack([np.ones(n), rng.normal(size=(n, 2))])
    target = (rng.random(n) < special.expit(design @ [0.3, 1.0, -0.5])).astype(float)
    return design, target, rng.choice([0.5, 1.0, 2.0], n)


def test_an_intercept_alone_is_the_log_odds_of_the_share() -> None:
    target = np.array([1.0, 1.0, 1.0, 0.0])
    fit = fit_logistic(np.ones((4, 1)), target, np.ones(4), np.zeros(1), np.zeros(1))
    np.testing.assert_allclose(fit.coefficient, [np.log(3)], rtol=0, atol=1e-12)
    np.testing.assert_allclose(fit.hessian, [[4 * 3 / 16]], rtol=0, atol=1e-12)


@pytest.mark.parametrize("strength", [0.01, 1.0, 100.0])
def test_the_ridge_agrees_with_scikit_learn(strength: float) -> None:
    design, target, weight = drawn(200, 1)
    mine = ridge(design, target, weight, strength).coefficient
    peer = LogisticRegression(C=1 / strength, tol=1e-10, max_iter=1000)
    peer.fit(design[:, 1:], target, sample_weight=weight)
    np.testing.assert_allclose(mine, [peer.intercept_[0], *peer.coef_[0]], rtol=0, atol=1e-5)


def test_newton_is_at_the_minimum_that_a_slow_search_finds() -> None:
    design, target, weight = drawn(80, 2)
    penalty, centre = np.array([0.0, 2.0, 3.0]), np.array([0.0, 1.0, 0.0])

    def loss(value: np.ndarray) -> float:
        return weight @ log_loss(design @ value, target) + penalty @ (value - centre) ** 2 / 2

    slow = optimize.minimize(
        loss, centre, method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-13}
    )
    fast = fit_logistic(design, target, weight, penalty, centre)
    np.testing.assert_allclose(fast.coefficient, slow.x, rtol=0, atol=1e-6)


def test_a_class_without_errors_ends_at_finite_coefficients() -> None:
    design = np.column_stack([np.ones(20), np.linspace(-1, 1, 20)])
    target = (design[:, 1] > 0).astype(float)  # separable
    coefficient = ridge(design, target, np.ones(20), 0.1).coefficient
    assert np.isfinite(coefficient).all() and coefficient[1] > 3


def test_the_jackknife_is_near_that_of_refits_without_each_cluster() -> None:
    design, target, weight = drawn(300, 3)
    cluster = np.arange(300) % 40
    penalty = np.array([0.0, 1.0, 1.0])
    fit = fit_logistic(design, target, weight, penalty, np.zeros(3))
    p = special.expit(design @ fit.coefficient)
    fast = cluster_covariance(design, weight * (p - target), weight * p * (1 - p), cluster, fit)
    shifts = []
    for group in range(40):
        kept = cluster != group
        without = fit_logistic(design[kept], target[kept], weight[kept], penalty, np.zeros(3))
        shifts.append(without.coefficient - fit.coefficient)
    slow = np.array(shifts).T @ np.array(shifts) * 39 / 40
    # One Newton step each instead of a refit: off by the curve's third derivative.
    np.testing.assert_allclose(fast, slow, rtol=0.1, atol=2e-3)


def test_twins_in_the_same_cluster_make_no_interval_narrower(worlds) -> None:
    world = worlds.draw(seed=5)
    twice = world.take(np.repeat(np.arange(world.n_samples), 2))
    options = FitOptions(n_draws=1)
    method = Logistic(strength=1e-3)
    once = LOGISTIC_METHOD.build(method, options).fit(world).confidence(world.predictions)
    double = LOGISTIC_METHOD.build(method, options).fit(twice).confidence(world.predictions)
    ratio = (double.upper - double.lower) / (once.upper - once.lower)
    # The model's own curvature believes in twins, the clusters do not.
    assert np.median(ratio) > 0.85


def test_strengths_come_from_held_out_clusters(worlds) -> None:
    world = worlds.draw(seed=6)
    rows = rows_of(world, 0)
    logs = sorted_log_scores(rows.predictions)
    order = canonical_order(logs, rows)
    rows, logs = rows.take(order), logs[order]
    noise = np.random.default_rng(0).normal(size=(len(logs), 40))
    useless = np.column_stack([np.ones(len(logs)), noise])
    assert cross_fitted_strength(useless, rows) >= STRENGTHS[1]
    message = np.column_stack([np.ones(len(logs)), 2.0 * rows.is_correct - 1.0])
    assert cross_fitted_strength(message, rows) == STRENGTHS[-1]
    one = label(
        rows.predictions, rows.true_class, cluster=np.full(rows.n_samples, "x", dtype=object)
    )
    assert cross_fitted_strength(useless, one) == FIXED_STRENGTH


def test_fits_that_only_choose_a_strength_stop_after_a_few_steps(
    worlds, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = rows_of(worlds.draw(seed=6), 0)
    logs = sorted_log_scores(rows.predictions)
    design = np.column_stack([np.ones(len(logs)), (logs - logs.mean(axis=0)) / logs.std(axis=0)])
    solve, steps = np.linalg.lstsq, []

    def counted(*given, **more):
        steps.append(1)
        return solve(*given, **more)

    monkeypatch.setattr(np.linalg, "lstsq", counted)
    cross_fitted_strength(design, rows)
    n_fits = DEFAULT_FOLDS * len(STRENGTHS)
    # Each of Newton's steps doubles the digits that are right: six digits take about three.
    assert n_fits <= len(steps) <= 5 * n_fits


def test_it_sees_what_the_top_score_does_not_say() -> None:
    """A prediction is right when the runner-up is c, wrong when it is b."""
    n = 60
    scores = np.tile([[6.0, 3.0, 1.0], [6.0, 1.0, 3.0]], (n // 2, 1))
    predictions = from_scores(
        np.arange(n).astype(str).astype(object), ("a", "b", "c"), scores, 10.0, 0.01
    )
    labelled = label(predictions, np.tile([1, 0], n // 2))
    value = (
        LOGISTIC_METHOD.build(Logistic(strength=0.1), QUICK)
        .fit(labelled)
        .confidence(predictions)
        .value
    )
    assert value[0] < 0.05 and value[1] > 0.95


def test_a_record_holds_no_interval_unless_one_was_wanted(worlds) -> None:
    world = worlds.draw(seed=4)
    record = to_record(LOGISTIC_METHOD.build(Logistic(), QUICK).fit(world))
    json.dumps(record)
    assert all(part["covariance"] is None for part in record["model"]["classes"].values())
