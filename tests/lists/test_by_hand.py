"""Functions on a few numbers that a reader can check."""

from __future__ import annotations

import numpy as np

from credence.lists import guarantee, held_out, plan


def test_thresholds_are_tried_from_the_top_down() -> None:
    assert guarantee.grid_of(1.0, 0.05, 1.0)[:4].tolist() == [1.0, 0.95, 0.9, 0.85]
    assert guarantee.grid_of(10.0, 0.01, 10.0)[[1, 2, -2]].tolist() == [9.99, 9.98, 0.05]


def test_families_that_may_be_wrong_at_a_level() -> None:
    assert [
        int(guarantee.least_families(np.array([0]), error, 0.05 / 8)[0])
        for error in (0.5, 0.1, 0.01)
    ] == [8, 49, 505]


def test_step_of_gives_the_step_of_each_confidence() -> None:
    assert held_out.step_of(np.array([0.0, 0.0049, 0.9, 0.9999, 1.0, np.nan])).tolist() == [
        0,
        0,
        180,
        369,
        370,
        -1,
    ]


def test_stratum_of_gives_the_stratum_of_each_confidence() -> None:
    assert plan.stratum_of(np.array([0.3, 0.9, 1.0, np.nan])).tolist() == [1, 6, 8, -1]


def test_whole_numbers_are_divided_and_add_up() -> None:
    assert plan.divided(
        np.array([4.0, 4.0, 0.0]), np.array([1, 3, 0]), np.array([9, 9, 9]), 4
    ).tolist() == [3, 1, 0]
