"""Functions on a few numbers that a reader can check."""

from __future__ import annotations

import numpy as np

from credence.novelty import macest, space


def test_error_and_spread_of_two_neighbours_of_which_the_second_is_wrong() -> None:
    # One class, two neighbours at 1 and 2, the second one wrong: ε = 1/2 and
    # 𝒦 = (1/1 + 2/2) / (1/1 + 1/2) = 4/3.
    found = macest.NeighbourEvidence(
        distance=np.array([[[1.0, 2.0]]]), is_wrong=np.array([[[False, True]]])
    )
    error, spread = found.terms(2)
    assert error.item() == 0.5
    assert round(spread.item(), 6) == 1.333333


def test_the_error_of_two_bins_is_that_by_hand() -> None:
    # Two bins: (0.2, 0.4) with one of two right, (0.8, 1.0) with both right:
    # (0.3 − 0.5)²/2 + (0.9 − 1)²/2 = 0.025.
    outcomes = np.array([True, False, True, True])
    error = macest.calibration_error(np.array([0.2, 0.4, 0.8, 1.0]), outcomes, np.ones(4), 2)
    assert round(error, 6) == 0.025


def test_spread_gives_at_most_so_many_of_some_rows_evenly_spread_over_them() -> None:
    assert space.spread(np.arange(5), 2).tolist() == [0, 2]
