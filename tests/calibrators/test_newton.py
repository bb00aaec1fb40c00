"""One Newton's method for all: a step is halved until it raises no loss."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize

from credence.calibrators.newton import MOST_HALVINGS, newton_minimum

Step = tuple[np.ndarray, bool]


def slow_minimum(
    point: list[float],
    loss: Callable[[np.ndarray], float],
    step_at: Callable[[np.ndarray], Step],
    *,
    slack: float = 0.0,
    low: float = -np.inf,
    high: float = np.inf,
) -> list[float]:
    """Take one problem's steps, coordinate by coordinate."""
    for _ in range(100):
        step, is_last = step_at(np.array(point))
        before, length = loss(np.array(point)), 1.0
        for _ in range(MOST_HALVINGS):
            beyond = [at + length * by for at, by in zip(point, step.tolist(), strict=True)]
            trial = [min(max(at, low), high) for at in beyond]
            after = loss(np.array(trial))
            if is_last or after <= before + slack * abs(before):
                break
            length /= 2.0
        else:
            return point
        point = trial
        if is_last:
            return point
    return point


def root_loss(goal: np.ndarray) -> tuple[Callable, Callable]:
    """Return Σ √(1 + (x − goal)²), whose plain Newton steps lead away from beyond 1."""

    def loss(point: np.ndarray) -> np.ndarray:
        return np.sqrt(1.0 + (point - goal) ** 2).sum(axis=-1)

    def step_at(point: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        away = point - goal
        step = -away * (1.0 + away**2)
        return step, (away**2).sum(axis=-1) < 1e-12

    return loss, step_at


places = st.floats(-50.0, 50.0, allow_subnormal=False)


@given(goals=st.lists(st.tuples(places, places), min_size=1, max_size=5))
@settings(max_examples=60, deadline=None)
def test_many_problems_at_once_are_each_its_slow_twin(goals: list[tuple[float, float]]) -> None:
    fast = newton_minimum(np.zeros((len(goals), 2)), *root_loss(np.array(goals)))
    for point, goal in zip(fast, goals, strict=True):
        loss, step_at = root_loss(np.array(goal))
        assert point.tolist() == slow_minimum([0.0, 0.0], loss, step_at)
        assert newton_minimum(np.zeros(2), loss, step_at).tolist() == point.tolist()
        assert point == pytest.approx(goal, abs=1e-6)


@given(seed=st.integers(0, 10_000), n=st.integers(2, 5))
@settings(max_examples=30, deadline=None)
def test_within_bounds_it_is_the_slow_twin_s_and_no_worse_than_scipy_s(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    shear, goal = rng.normal(size=(n, n)), rng.normal(size=n) * 3.0
    hessian = shear @ shear.T + np.diag(np.linspace(0.5, 2.0, n))

    def loss(point: np.ndarray) -> float:
        return float(
            np.logaddexp(point, -point).sum() + 0.5 * (point - goal) @ hessian @ (point - goal)
        )

    def step_at(point: np.ndarray) -> Step:
        slope = np.tanh(point) + hessian @ (point - goal)
        is_held = ((point >= 1.0) & (slope < 0)) | ((point <= -1.0) & (slope > 0))
        free = np.flatnonzero(~is_held)
        curvature = hessian + np.diag(1.0 - np.tanh(point) ** 2)
        step = np.zeros(n)
        step[free] = -np.linalg.solve(curvature[np.ix_(free, free)], slope[free])
        return step, bool(-slope @ step <= 1e-16)

    fast = newton_minimum(np.zeros(n), loss, step_at, low=-1.0, high=1.0)
    assert fast.tolist() == slow_minimum([0.0] * n, loss, step_at, low=-1.0, high=1.0)
    assert (np.abs(fast) <= 1.0).all()
    if (np.abs(fast) < 1.0).all():
        peer = optimize.minimize(loss, np.zeros(n), method="BFGS", options={"gtol": 1e-9})
        np.testing.assert_allclose(fast, peer.x, atol=1e-5)


def test_a_step_is_halved_back_to_where_there_is_a_loss() -> None:
    # −log(1 − x) − log x has no value below 0, where 8,000 lead; halved 14 times it is 0.49.
    def loss(point: np.ndarray) -> float:
        with np.errstate(invalid="ignore"):
            return float(-np.log(1.0 - point[0]) - np.log(point[0]))

    seen = []

    def step_at(point: np.ndarray) -> Step:
        seen.append(float(point[0]))
        return np.array([-8_000.0]) if len(seen) == 1 else np.zeros(1), len(seen) == 2

    newton_minimum(np.array([0.9]), loss, step_at)
    assert seen == [0.9, 0.9 - 8_000.0 / 2**14]


def test_the_last_step_is_taken_as_it_is() -> None:
    # A loss that rises by its rounding would halve it to nothing.
    point = newton_minimum(
        np.array([3.0]), lambda x: -float(x[0]), lambda _: (np.array([-1.0]), True)
    )
    assert point.tolist() == [2.0]


def test_rounding_of_the_loss_halves_no_step() -> None:
    def loss(point: np.ndarray) -> float:
        return 1.0 + (1e-10 if point[0] > 0 else 0.0)

    def step_at(point: np.ndarray) -> Step:
        return np.array([4.0 - point[0]]), bool(point[0] == 4.0)

    assert newton_minimum(np.zeros(1), loss, step_at, slack=1e-9).tolist() == [4.0]
    assert newton_minimum(np.zeros(1), loss, step_at).tolist() == [0.0]


def test_it_ends_after_so_many_steps() -> None:
    step = np.array([-1.0])
    assert newton_minimum(np.zeros(1), np.sum, lambda _: (step, False), most_steps=3).tolist() == [
        -3.0
    ]
