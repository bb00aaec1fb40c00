"""Shifts without each cluster, against the solve of each."""

from __future__ import annotations

import numpy as np

from credence.calibrators.newton import jackknifed, shifts
from credence.predictions import Floats


def test_shifts_are_those_of_a_solve_for_each_cluster_heavy_or_light() -> None:
    rng = np.random.default_rng(5)
    factors = rng.normal(size=(8, 3, 3)) * np.array([3.0, *[0.4] * 7])[:, None, None]
    curvatures = factors @ factors.transpose(0, 2, 1)
    total = curvatures.sum(axis=0)
    score = rng.normal(size=(8, 3))
    inverse = np.linalg.inv(total)
    leverage = np.einsum("ij,gji->g", inverse, curvatures)
    assert leverage.max() > 0.5 and (leverage <= 0.5).sum() > 2

    def curved(shift: Floats) -> Floats:
        return np.einsum("gij,gj->gi", curvatures, shift)

    found = shifts(score, inverse, leverage, curved, lambda group: curvatures[group])
    slow = [np.linalg.solve(total - 0.999 * curvatures[g], score[g]) for g in range(8)]
    np.testing.assert_allclose(found, slow, rtol=0, atol=1e-3 * np.abs(slow).max())


def test_a_cluster_that_is_all_there_is_leaves_a_variance_beyond_use() -> None:
    one = np.array([[2.0]])
    found = shifts(np.array([[1.0]]), 1 / one, np.array([1.0]), lambda x: 2 * x, lambda _: one)
    assert jackknifed(found, 1)[0, 0] > 1e4
