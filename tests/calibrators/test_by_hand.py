"""Functions on a few numbers that a reader can check."""

from __future__ import annotations

import numpy as np
from scipy import special

from credence.calibrators import (
    crossfit,
    forest,
    intervals,
    isotonic,
    kernel,
    logit_curve,
    masses,
    method_spec,
    newton,
    protocol,
    score_logs,
    shares,
    temperature,
)
from credence.calibrators.protocol import FitOptions
from credence.draws import kish
from credence.settings import SettingRule


def test_the_effective_number_is_that_of_equal_weights() -> None:
    assert kish(np.array([1.0, 1.0, 1.0])) == 3.0


def test_folds_keep_clusters_whole_and_are_even() -> None:
    cluster = np.array(["a", "a", "b", "c"], dtype=object)
    assert crossfit.fold_of(cluster, np.array([0, 0, 0, 0]), 2).tolist() == [0, 0, 1, 1]


def test_siblings_follow_each_other() -> None:
    # The second tree is node 5 with its leaves 6 and 7.
    left, right = (np.array(one) for one in ([1, 2, 0, 0, 0, 6, 0, 0], [4, 3, 0, 0, 0, 7, 0, 0]))
    root = np.array([0, 5])
    order, place = forest.children_together(root, left, right, left == 0)
    assert order.tolist() == [0, 1, 4, 2, 3, 5, 6, 7]
    assert place.tolist() == [0, 1, 3, 4, 2, 5, 6, 7]


def test_tail_levels_gives_the_two_quantile_levels_of_a_two_sided_interval() -> None:
    assert [round(level, 3) for level in intervals.tail_levels(FitOptions(level=0.95))] == [
        0.025,
        0.975,
    ]


def test_intervals_open_as_support_fades() -> None:
    # With a third of `FEW_FAMILIES_NEAR` near, an interval reaches two thirds of the way:
    half = np.array([0.5, 0.5, 0.5])
    lower, upper = intervals.open_interval(half - 0.2, half + 0.2, half, np.array([3.0, 1.0, 0.0]))
    assert lower.round(3).tolist() == [0.3, 0.1, 0.0]
    assert upper.round(3).tolist() == [0.7, 0.9, 1.0]


def test_the_part_of_a_block_that_is_of_a_rows_own_cluster() -> None:
    assert isotonic.share_of_block(
        np.array([0, 1, 1]), np.array([0, 0, 1]), np.ones(3)
    ).tolist() == [0.5, 0.5, 1.0]


def test_weighted_bounds_gives_p0_and_p1_of_weighted_rows() -> None:
    low, high = isotonic.weighted_bounds(np.array([1.0, 1.0]), np.array([0.0, 1.0]))
    assert low.tolist() == [0.0, 0.0, 0.5]
    assert high.tolist() == [0.5, 1.0, 1.0]


def test_count_changes_gives_the_number_of_sign_changes_down_each_column() -> None:
    assert kernel.count_changes(np.array([[1, 0, 1, -1, 0, 0, 1]]).T).tolist() == [2]
    assert kernel.count_changes(np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 1.0]])).tolist() == [1, 0]


def test_a_constant_by_firth_is_the_share_with_half_a_right_and_half_a_wrong_protein() -> None:
    constant = logit_curve.firth(np.ones((2, 1)), np.array([1.0, 1.0]), np.array([0.0, 1.0]))
    assert float(special.expit(constant[0])) == 0.5


def test_weighted_quantiles_are_the_least_scores_at_each_level() -> None:
    assert logit_curve.weighted_quantiles(
        np.array([1.0, 2.0, 3.0]), np.ones(3), np.array([0.3, 0.5])
    ).tolist() == [1.0, 2.0]


def test_sums_of_fixed_numbers_do_not_depend_on_the_order() -> None:
    values = np.array([0.1, 0.2, 0.3])  # whose sum as floats depends on the order
    assert bool(masses.fixed(values).sum() == masses.fixed(values[::-1]).sum())


def test_four_equal_masses_become_two_of_the_same_mean_and_variance() -> None:
    # Four equal masses in one bin become two, with the same mean and variance:
    nodes = masses.compress(np.array([0.0, 1.0, 2.0, 3.0]), np.ones(4), 10.0)
    assert nodes.score.round(6).tolist() == [0.381966, 2.618034]
    assert nodes.mass.tolist() == [2.0, 2.0]


def test_parse_method_gives_the_method_or_composition_that_a_specification_names() -> None:
    assert (
        method_spec.parse_method("class_only->kernel( bandwidth = mon4 )", "--method").text
        == "class_only -> kernel(bandwidth=mon4)"
    )


def test_a_value_of_a_setting_is_read_or_a_remedy_given() -> None:
    assert method_spec.parse_value(
        "mon4", "mon2", SettingRule(text="", choices=("mon2", "mon4"), low=0.0)
    ) == ("mon4", "")
    assert method_spec.parse_value("-1", 1.0, SettingRule(text="", low=0.0)) == (
        None,
        "Give a number of at least 0.",
    )


def test_the_loss_of_an_even_chance_is_log_two() -> None:
    assert newton.log_loss(np.array([0.0]), np.array([1.0])).round(6).tolist() == [0.693147]


def test_jackknifed_gives_the_covariance_that_the_shifts_show() -> None:
    assert newton.jackknifed(np.array([[1.0], [-1.0]]), 2).tolist() == [[1.0]]


def test_the_larger_of_two_standard_errors_holds() -> None:
    assert newton.standard_error(np.array([[2.0]]), np.array([[[1.0]], [[4.0]]])).tolist() == [4.0]


def test_an_interval_of_log_odds_becomes_one_of_the_confidence() -> None:
    low, high = newton.log_odds_interval(np.array([0.0]), np.array([1.0]), 0.95, 10**6)
    assert low.round(3).tolist() == [0.123]
    assert high.round(3).tolist() == [0.877]


def test_relatives_of_one_class_and_score_are_twins() -> None:
    assert newton.twins_of(
        np.array([0, 0, 1]), np.zeros(3, int), np.array([0.5, 0.5, 0.5])
    ).tolist() == [0, 0, 1]


def test_what_is_not_positive_definite_has_no_inverse() -> None:
    assert newton.inverse(np.array([[4.0]])).tolist() == [[0.25]]
    assert newton.inverse(np.array([[1.0, 1.0], [1.0, 1.0]])) is None


def test_a_great_family_makes_few_alike_clusters_of_many() -> None:
    # ρ = 0: masses 2, 1
    assert newton.variance_clusters(np.array([0, 0, 1]), np.ones(3), 1.0) == 1.8
    # ρ = 1: 4, 1
    assert round(newton.variance_clusters(np.array([0, 0, 1]), np.ones(3), 5 / 3), 2) == 1.47


def test_the_critical_value_is_that_of_students_t() -> None:
    assert round(newton.critical_value(41.0, 1, FitOptions()), 3) == 2.021


def test_range_note_gives_the_notes_of_scores_below_or_above_a_range() -> None:
    assert protocol.range_note(np.array([0.0, 1.0, 3.0]), 1.0, 2.0).tolist() == [1, 0, 2]


def test_shares_are_bounded_by_half_a_step_of_the_table() -> None:
    assert score_logs.share_bounds(0.01, 10.0) == (0.0005, 0.9995)


def test_logs_of_scores_are_floored_at_half_a_step() -> None:
    assert np.exp(score_logs.log_scores(np.array([[9.0, 1.0, 0.0]]), 0.01)).round(6).tolist() == [
        [0.9, 0.1, 0.0005]
    ]


def test_moments_of_the_other_scores_are_weighted() -> None:
    assert [
        float(part[0].round(4)) for part in score_logs.rest_moments(np.log([[1.0], [0.5]]), 1.0)
    ] == [0.4055, -0.231, 0.1068]


def test_name_order_gives_the_positions_of_the_classes_sorted_by_name() -> None:
    assert score_logs.name_order(("Portal", "Collar", "HTJ")).tolist() == [1, 2, 0]


def test_bins_are_open_on_the_left_and_the_first_is_closed() -> None:
    assert shares.bin_of(np.array([1.0, 2.0]), np.array([0.0, 1.0, 1.5, 2.0, 9.0])).tolist() == [
        0,
        0,
        1,
        1,
        2,
    ]


def test_edges_part_the_weight_in_halves() -> None:
    assert shares.equal_weight_edges(np.array([1.0, 2.0, 3.0, 4.0]), np.ones(4), 2).tolist() == [
        2.0
    ]


def test_weighted_median_gives_the_score_that_halves_the_weight() -> None:
    assert shares.weighted_median(np.array([1.0, 2.0]), np.ones(2)) == 1.5
    assert shares.weighted_median(np.array([1.0, 2.0]), np.array([1.0, 3.0])) == 2.0


def test_minima_are_found_or_the_ends_that_hold_them_off() -> None:
    def parabola(x):
        return 2 * (x - [1.0, 9.0]), np.full(2, 2.0)

    assert temperature.find_minima(
        parabola, np.zeros(2), np.zeros(2), np.full(2, 5.0)
    ).tolist() == [1.0, 5.0]
