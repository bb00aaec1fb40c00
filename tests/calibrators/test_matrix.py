"""The one minimum of a convex loss, and what its vector says."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize, special

from credence.calibrators.matrix import (
    MATRIX_METHOD,
    Matrix,
    ScalingProblem,
    clusters_by_class,
    least_matrix,
    scatter,
    with_ones,
)
from credence.calibrators.protocol import FitOptions
from credence.calibrators.score_logs import canonical_order, name_order, sorted_log_scores


def problem_of(
    worlds, settings: Matrix, n_samples: int = 150
) -> tuple[ScalingProblem, np.ndarray]:
    world = worlds.draw(seed=9, n_samples=n_samples)
    logs = sorted_log_scores(world.predictions)
    order = canonical_order(logs, world)
    _, cluster = np.unique(world.cluster[order].astype(str), return_inverse=True)
    rank = np.argsort(name_order(world.predictions.class_names))
    true_class = rank[world.true_class[order]]
    ridge = settings.ridge(len(rank))
    return ScalingProblem(
        design=with_ones(logs[order]),
        true_class=true_class,
        weight=world.weight[order],
        ridge=ridge,
    ), cluster


def test_newton_agrees_with_a_slow_search(worlds) -> None:
    problem, _ = problem_of(worlds, Matrix(diagonal=2.0, off_diagonal=5.0, intercept=3.0))
    shape, base = problem.base().shape, problem.base()

    def loss(value: np.ndarray) -> float:
        deviation = value[:-1].reshape(shape)
        return problem.loss(deviation + value[-1] * base, deviation)

    start = np.append(np.zeros(base.size), 1.0)
    slow = optimize.minimize(loss, start, method="BFGS", options={"gtol": 1e-6})
    matrix, _ = least_matrix(problem)
    expected = slow.x[:-1].reshape(shape) + slow.x[-1] * base
    np.testing.assert_allclose(matrix, expected, rtol=0, atol=1e-4)


def test_strong_ridges_leave_temperature_scaling(worlds) -> None:
    strong = 1e9
    problem, _ = problem_of(worlds, Matrix(diagonal=strong, off_diagonal=strong, intercept=strong))
    matrix, _ = least_matrix(problem)
    rows = np.arange(len(problem.true_class))

    def loss(inverse_temperature: float) -> float:
        log_p = special.log_softmax(inverse_temperature * problem.design[:, :-1], axis=1)
        return -problem.weight @ log_p[rows, problem.true_class]

    best = optimize.minimize_scalar(
        loss, bounds=(0.05, 20), method="bounded", options={"xatol": 1e-10}
    )
    np.testing.assert_allclose(matrix, best.x * problem.base(), rtol=0, atol=1e-6)


def test_the_curvature_is_that_of_finite_differences(worlds) -> None:
    problem, _ = problem_of(worlds, Matrix(), 40)
    matrix = problem.base() * 0.7
    p, _ = problem.residual(matrix)
    step = 1e-5
    column = []
    for sign in (1, -1):
        moved = matrix.copy()
        moved[1, 2] += sign * step
        _, excess = problem.residual(moved)
        column.append(((excess * problem.weight[:, None]).T @ problem.design).ravel())
    numeric = (column[0] - column[1]) / (2 * step)
    position = 1 * problem.design.shape[1] + 2
    np.testing.assert_allclose(problem.curvature(p)[:, position], numeric, rtol=0, atol=1e-5)


@pytest.mark.parametrize("n_groups", [4, 60])
def test_the_spread_is_that_of_leaving_each_cluster_out_in_turn(worlds, n_groups: int) -> None:
    problem, cluster = problem_of(worlds, Matrix(), 300)
    cluster = cluster % n_groups  # four heavy clusters, or many light ones
    matrix, inverse = least_matrix(problem)
    p, excess = problem.residual(matrix)
    base = problem.base().ravel()
    lift = np.hstack([np.eye(base.size), base[:, None]])
    ridge = np.append(problem.ridge.ravel(), 0.0)
    slow = np.zeros((base.size, base.size))
    for group in range(n_groups):
        own = cluster == group
        score = ((excess * problem.weight[:, None])[own].T @ problem.design[own]).ravel()
        rest = ScalingProblem(
            design=problem.design,
            true_class=problem.true_class,
            weight=problem.weight * (1 - 0.999 * own),
            ridge=problem.ridge,
        ).curvature(p)
        shift = lift @ np.linalg.solve(lift.T @ rest @ lift + np.diag(ridge), lift.T @ score)
        slow += np.outer(shift, shift)
    slow *= (n_groups - 1) / n_groups
    shown, implied = scatter(problem, matrix, inverse, cluster)
    np.testing.assert_allclose(shown, slow, rtol=0, atol=2e-3 * np.abs(slow).max())
    np.testing.assert_array_equal(implied, inverse)


def test_the_spread_is_wider_with_relatives_than_with_strangers(worlds) -> None:
    problem, cluster = problem_of(worlds, Matrix(), 300)
    matrix, inverse = least_matrix(problem)
    alone, _ = scatter(problem, matrix, inverse, np.arange(len(cluster)))
    blocks, _ = scatter(problem, matrix, inverse, problem.true_class.astype(np.int64))
    assert np.trace(blocks) > np.trace(alone)


def test_clusters_are_counted_by_predicted_class() -> None:
    chosen = np.array([0, 0, 0, 2])
    number = clusters_by_class(chosen, np.array([0, 1, 1, 1]), np.array([2.0, 1.0, 1.0, 1.0]), 3)
    assert number.tolist() == [2.0, 1.0, 1.0]


def test_probabilities_sum_to_1_and_hold_the_confidence(worlds) -> None:
    world = worlds.draw(seed=11)
    calibration = MATRIX_METHOD.build(Matrix(), FitOptions(n_draws=0)).fit(world)
    probabilities = calibration.probabilities(world.predictions)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0, rtol=0, atol=1e-12)
    chosen = probabilities[np.arange(world.n_samples), world.predictions.predicted_class]
    value = calibration.confidence(world.predictions).value
    np.testing.assert_allclose(value, chosen, rtol=0, atol=1e-12)


@pytest.mark.parametrize("order", [[2, 0, 3, 1], [3, 2, 1, 0]])
def test_probabilities_follow_their_class_names(worlds, order: list[int]) -> None:
    world = worlds.draw(seed=12)
    turned = worlds.with_classes_in_order(world, order)
    build = MATRIX_METHOD.build(Matrix(), FitOptions(n_draws=0))
    before = build.fit(world).probabilities(world.predictions)
    after = build.fit(turned).probabilities(turned.predictions)
    np.testing.assert_allclose(after, before[:, order], rtol=0, atol=1e-12)
