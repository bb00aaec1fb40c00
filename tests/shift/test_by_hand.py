"""Functions on a few numbers that a reader can check."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from credence.calibrators.protocol import FitOptions
from credence.composition import adjusted, estimators, sameness
from credence.composition.both_samples import calibration_sample, use_sample
from credence.composition.estimate import (
    Composition,
    NoShift,
    compare_predicted,
    estimate_composition,
    fixed_composition,
)
from credence.predictions import Predictions, label
from credence.sentences import listed


def test_an_end_moves_away_in_log_odds() -> None:
    assert adjusted.widened(np.array([0.5]), np.array([0.5]), np.array([1.0])).round(
        3
    ).tolist() == [0.731]


def test_listed_gives_names_as_one_enumeration() -> None:
    assert listed(["a", "b", "c"]) == "a, b and c"


def test_the_shares_of_least_loss_are_on_the_simplex() -> None:
    assert estimators.quadratic_minimum(np.eye(2), np.array([0.9, 0.3])).round(9).tolist() == [
        0.8,
        0.2,
    ]
    assert estimators.quadratic_minimum(np.eye(2), np.array([2.0, 0.0])).round(9).tolist() == [
        1.0,
        0.0,
    ]


def test_the_mix_that_explains_the_predictions_best() -> None:
    given, usual = np.array([[0.9, 0.2], [0.1, 0.8]]), np.ones(2)
    assert sameness.mix_of(given, np.array([55.0, 45.0]), usual).round(3).tolist() == [0.5, 0.5]


def test_what_predictions_leave_open_of_a_mix_is_as_usual() -> None:
    given, usual = np.array([[1.0, 1.0]]), np.array([30.0, 10.0])
    assert sameness.mix_of(given, np.array([7.0]), usual).tolist() == [0.75, 0.25]


# Of 39 sets without a shift the farthest is 0.25 away: of a distance of 1 three quarters are real.
SHIFTED = NoShift(distance=1.0, chance=np.linspace(0.0, 0.25, 39))
ESTIMATED = Composition(
    calibration_proportion=np.array([0.5, 0.3, 0.2, 0.0]),
    share=np.array([0.2, 0.8, 0.0, 0.0]),
    lower=np.zeros(4),
    upper=np.ones(4),
    draws=np.array([[0.2, 0.3], [0.8, 0.5], [0.0, 0.2], [0.0, 0.0]]),
    calibration_draws=np.array([[0.4, 0.5], [0.4, 0.25], [0.2, 0.25], [0.0, 0.0]]),
    deviation=np.zeros(4),
    is_known=np.array([True, True, True, False]),
    least=0.01,
    class_number=np.array([4.0, 12.0, 1.0, 0.0]),
    no_shift=SHIFTED,
)


def test_what_chance_gives_of_a_distance_is_not_real() -> None:
    assert SHIFTED.reality == 0.75
    assert SHIFTED.p_value == 1 / 40
    assert NoShift(distance=0.25, chance=SHIFTED.chance).p_value == 2 / 40
    assert NoShift(distance=0.25, chance=SHIFTED.chance).reality == 0.0
    assert (
        NoShift(distance=9.0, chance=SHIFTED.chance[:18]).reality == 0.0
    )  # 18 sets reject nothing at 5 %
    assert NoShift(distance=0.0, chance=SHIFTED.chance).reality == 0.0


def test_a_composition_is_applied_as_far_as_it_is_real() -> None:
    nan = np.nan
    close = {"rtol": 0, "atol": 1e-12, "equal_nan": True}
    np.testing.assert_allclose(ESTIMATED.weight, [0.4, 8 / 3, 0.0, nan], **close)
    # A share of 0 counts as half a row, 0.01.
    np.testing.assert_allclose(ESTIMATED.estimated_weight, [0.4, 8 / 3, 0.05, nan], **close)
    draws = [[0.5, 0.6], [2.0, 2.0], [0.05, 0.8], [nan, nan]]
    np.testing.assert_allclose(ESTIMATED.weight_draws, draws, **close)
    # No share is less than half the mean of its draws: 0.05 for the third, and none for one that
    # calibration lacks. Of the way from calibration's to 0.2, 0.8, 0.05 of 1.05 three quarters.
    moved = np.array([0.5, 0.3, 0.2, 0.0]) / 4 + np.array([0.2, 0.8, 0.05, 0.0]) / 1.05 * 0.75
    np.testing.assert_allclose(ESTIMATED.moved_share, moved, **close)
    weight = moved[:3] / (0.5, 0.3, 0.2)
    np.testing.assert_allclose(ESTIMATED.moved_weight, [*weight, nan], **close)
    # Only a weight above 1 is held near 1: that of the second, of 12 families, by 12/16.
    assert weight[0] < 1.0 and weight[2] < 1.0
    fit = np.array([weight[0], 1 + (weight[1] - 1) * 12 / 16, weight[2]])
    np.testing.assert_allclose(ESTIMATED.fit_weight[:3], fit, rtol=5e-6)
    assert all(
        len(f"{value:.15g}".replace(".", "").strip("0")) <= 6 for value in ESTIMATED.fit_weight[:3]
    )
    applied = np.array([*fit, 0.0]) * ESTIMATED.calibration_proportion
    np.testing.assert_allclose(ESTIMATED.applied_proportion, applied / applied.sum(), atol=1e-5)


def test_where_nothing_is_real_nothing_is_applied_and_what_is_stated_is_as_a_whole() -> None:
    chance = replace(ESTIMATED, no_shift=NoShift(distance=0.2, chance=SHIFTED.chance))
    for share in (chance.moved_share, chance.applied_proportion):
        np.testing.assert_array_equal(share, ESTIMATED.calibration_proportion)
    np.testing.assert_array_equal(chance.fit_weight, [1.0, 1.0, 1.0, np.nan])
    stated = replace(ESTIMATED, no_shift=None, class_number=None)
    assert stated.part_applied == 1.0
    for share in (stated.moved_share, stated.applied_proportion):
        np.testing.assert_array_equal(share, ESTIMATED.share)
    np.testing.assert_array_equal(stated.fit_weight, [0.4, 2.66667, 0.0, np.nan])


def predictions_of(predicted: list[int]) -> Predictions:
    ids = np.array([f"p{row}" for row in range(len(predicted))], dtype=object)
    score = np.linspace(0.5, 1.0, len(predicted))
    return Predictions(
        ids=ids,
        class_names=("A", "B", "C"),
        scale=1.0,
        resolution=0.01,
        predicted_class=np.array(predicted),
        top_score=score,
    )


def test_the_distance_of_two_samples_is_that_of_their_predicted_classes() -> None:
    # Weights 2, 1 and 1: shares 3/4 and 1/4; the third class is predicted nowhere. Of the four of
    # the query set 1/4 and 3/4.
    labelled = label(predictions_of([0, 0, 1]), np.array([0, 0, 1]), np.array([2.0, 1.0, 1.0]))
    sample = calibration_sample(labelled, False)
    found = compare_predicted(sample, use_sample(predictions_of([0, 1, 1, 1]), None), 25)
    # What one class gains the other loses: both have one variance, and the mean of the sum is 2.
    assert len(found.chance) == 25
    assert found.chance.mean() == pytest.approx(2.0)
    more = compare_predicted(sample, use_sample(predictions_of([1, 1, 1, 1]), None), 25)
    assert more.distance > found.distance > 0.0


def test_an_interval_rests_on_whichever_side_is_fewer_and_one_draw_gives_none() -> None:
    labelled = label(predictions_of([0, 1] * 15), np.array([0, 1, 0] * 10))
    sample, use = calibration_sample(labelled, False), use_sample(predictions_of([0, 1] * 9), None)
    bbse = estimators.ESTIMATORS_BY_NAME["bbse_hard"]
    found = estimate_composition(sample, use, bbse, FitOptions(n_draws=1))
    assert np.isnan(found.lower).all() and found.draws.shape == (3, 0)
    np.testing.assert_allclose(found.n_seen, [18.0, 10.0, 0.0], atol=1e-9)
    np.testing.assert_allclose(found.calibration_proportion, [2 / 3, 1 / 3, 0.0], atol=1e-12)
    assert found.least == pytest.approx(0.5 / 18)
    two = estimate_composition(sample, use, bbse, FitOptions(n_draws=2))
    assert two.draws.shape == (3, 2)
    # Of a class that calibration lacks anything may be.
    assert (two.lower[2], two.upper[2], two.is_known.tolist()) == (0.0, 1.0, [True, True, False])


def test_a_stated_composition_has_no_width() -> None:
    labelled = label(predictions_of([0, 0, 1]), np.array([0, 0, 1]), np.array([2.0, 1.0, 1.0]))
    sample, share = calibration_sample(labelled, False), np.array([0.1, 0.9, 0.0])
    own = fixed_composition(sample, None)
    np.testing.assert_array_equal(own.share, [0.75, 0.25, 0.0])
    stated = fixed_composition(sample, share)
    np.testing.assert_array_equal(stated.calibration_proportion, [0.75, 0.25, 0.0])
    for values in (stated.share, stated.lower, stated.upper, stated.applied_proportion):
        np.testing.assert_array_equal(values, share)
    assert stated.is_known.tolist() == [True, True, False]
