"""Functions on a few numbers that a reader can check."""

from __future__ import annotations

import numpy as np

from credence.metrics import binned, metric, smooth, walk


def test_bin_of_gives_the_bin_of_each_value() -> None:
    assert binned.bin_of(
        np.array([0.0, 0.5, 0.51, 2.0, np.nan]), np.array([0.0, 0.5, 1.0])
    ).tolist() == [0, 0, 1, 1, -1]


def test_bins_of_equal_count_keep_ties_together() -> None:
    assert binned.equal_count(np.array([0.9, 0.1, 0.5, 0.7]), np.ones(4), 2).tolist() == [
        1,
        0,
        0,
        1,
    ]
    assert binned.equal_count(np.array([0.5, 0.5, 0.5]), np.ones(3), 2).tolist() == [1, 1, 1]


def test_the_mean_gap_counts_bins_by_their_weight() -> None:
    # Two bins: mean confidence 0.4 against a share of 0.5, 0.8 against 1.
    sums = np.array([[2.0, 1.0], [0.8, 0.8], [1.0, 1.0]])
    assert round(float(binned.mean_gap(sums, np.array(3.0))), 3) == 0.133


def test_the_greatest_gap_is_that_of_one_bin() -> None:
    sums = np.array([[2.0, 1.0], [0.8, 0.8], [1.0, 1.0]])
    assert round(float(binned.greatest_gap(sums, np.array(3.0))), 3) == 0.2


def test_the_debiased_error_takes_off_what_chance_gives() -> None:
    # One bin of 11: confidence 0.7, 5 right. 0.245² − 0.248/10 = 0.035; its root is 0.188.
    sums = np.array([[11.0], [7.7], [5.0]])
    assert round(float(binned.debiased_error(sums, np.array(11.0))), 3) == 0.188


def test_the_variance_of_outcomes_is_that_of_always_saying_the_share() -> None:
    sums = np.array([[2.0, 2.0], [0.8, 1.6], [0.0, 2.0], [0.4, 0.1]])
    assert float(binned.outcome_variance(sums, np.array(4.0))) == 0.25


def test_sum_by_gives_the_sum_of_the_values_at_each_place() -> None:
    assert metric.sum_by(np.array([0, 2, 0]), np.array([1.0, 2.0, 3.0]), 3).tolist() == [
        4.0,
        0.0,
        2.0,
    ]


def test_a_quotient_without_a_denominator_is_not_known() -> None:
    assert repr(metric.divide(np.array([1.0, 0.0]), np.array([2.0, 0.0])).tolist()) == "[0.5, nan]"


def test_right_is_one_and_wrong_is_zero() -> None:
    assert metric.is_right(np.array([0.2, 0.9]), np.array([True, False])).tolist() == [1.0, 0.0]


def test_the_excess_is_the_confidence_less_what_happened() -> None:
    assert metric.excess(np.array([0.25, 0.75]), np.array([True, False])).tolist() == [-0.75, 0.75]


def test_the_squared_error_of_a_confidence() -> None:
    assert metric.squared_error(np.array([0.5, 0.75]), np.array([True, False])).tolist() == [
        0.25,
        0.5625,
    ]


def test_confidences_of_zero_and_one_are_clipped() -> None:
    assert metric.is_clipped(np.array([0.0, 0.5, 1.0])).tolist() == [True, False, True]


def test_the_loss_is_the_log_of_the_chance_given_to_what_happened() -> None:
    confidence, is_correct = np.array([0.5, 0.8, 0.8]), np.array([True, True, False])
    assert metric.negative_log_likelihood(confidence, is_correct).round(3).tolist() == [
        0.693,
        0.223,
        1.609,
    ]


def test_the_area_counts_filled_bins_by_their_width() -> None:
    sums = np.array([[2.0, 0.0, 1.0], [0.8, 0.0, 0.8], [1.0, 0.0, 1.0]])
    assert round(float(smooth.area_between(sums, np.array(3.0))), 3) == 0.15


def test_a_symmetric_sum_keeps_its_size_without_skewness() -> None:
    assert walk.without_skewness(np.array([2.0, -2.0]), 4.0, np.array([0.0, 0.0])).tolist() == [
        1.0,
        -1.0,
    ]


def test_holm_gives_p_values_adjusted_for_how_many_there_are() -> None:
    assert (
        repr(walk.holm(np.array([0.01, 0.04, np.nan, 0.03])).round(3).tolist())
        == "[0.03, 0.06, nan, 0.06]"
    )


def test_tails_of_the_greatest_distance_of_a_brownian_motion() -> None:
    assert round(walk.distance_tail(1.0), 4) == 0.6292
    assert round(walk.distance_tail(2.2414), 4) == 0.05


def test_tails_of_the_range_of_a_brownian_motion() -> None:
    assert round(walk.range_tail(1.0), 4) == 0.9366
    assert round(walk.range_tail(2.4977), 4) == 0.05


def test_both_tails_of_a_standard_normal() -> None:
    assert round(walk.normal_tails(-1.96), 3) == 0.05
