"""Functions on a few numbers that a reader can check."""

from __future__ import annotations

import numpy as np

from credence.study import comparing


def test_losses_gives_the_negative_log_likelihood_of_each_outcome() -> None:
    assert comparing.losses(np.array([0.5, 1.0]), np.array([True, True])).round(6).tolist() == [
        0.693147,
        0.0,
    ]


def test_the_gap_between_confidence_and_share_right_in_two_bins() -> None:
    outcomes = np.array([False, True, True, True])
    assert round(comparing.calibration_gap(np.array([0.2, 0.4, 0.8, 1.0]), outcomes, 2), 6) == 0.15


def test_the_distance_of_two_distribution_functions() -> None:
    assert (
        comparing.ks_distance(np.array([0.1, 0.2]), np.array([0.2, 0.3, 0.4]))
        == 0.6666666666666667
    )


def test_rank_correlation_gives_spearmans_rank_correlation() -> None:
    assert (
        round(comparing.rank_correlation(np.array([1.0, 2.0, 3.0]), np.array([2.0, 9.0, 4.0])), 6)
        == 0.5
    )
