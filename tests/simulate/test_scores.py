from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from verification.in_memory import draw_labelled

from credence.predictions import Labelled
from credence.simulate.law import (
    CLASS_NAMES,
    PUBLISHED_CORRECT,
    PUBLISHED_WRONG,
    WorldSettings,
    score_law,
)
from credence.simulate.scores import draw_scores
from credence.simulate.sequences import Families, draw_families

SINGLE = WorldSettings(n_calibration=60_000, family_size="single")


@pytest.fixture(scope="module")
def independent() -> Labelled:
    return draw_labelled(SINGLE, np.random.default_rng(1))


def test_the_same_generator_draws_the_same_rows() -> None:
    settings = WorldSettings(n_calibration=3000)
    first, second = (draw_labelled(settings, np.random.default_rng(5)) for _ in range(2))
    np.testing.assert_array_equal(first.predictions.scores, second.predictions.scores)
    assert first.cluster.tolist() == second.cluster.tolist()


def test_scores_have_two_decimals_and_rows_sum_to_ten_but_for_rounding(
    independent: Labelled,
) -> None:
    scores = independent.predictions.scores
    assert scores is not None
    np.testing.assert_array_equal(scores, np.round(scores, 2))
    # Eleven roundings of at most 0.005 each.
    assert np.abs(scores.sum(axis=1) - 10).max() <= 11 * 0.005 + 1e-9
    assert np.mean(np.abs(scores.sum(axis=1) - 10) > 0.005) > 0.3  # and it is rounded
    assert 0.4 < np.mean(scores == 0) < 0.65  # PhANNs' table: 58 %
    assert independent.predictions.n_ties > 0


def test_the_sum_of_the_networks_is_the_score_before_rounding() -> None:
    families = draw_families(
        WorldSettings(), 900, score_law().prevalence, np.random.default_rng(6)
    )
    scores, networks = draw_scores(families, np.random.default_rng(7))
    # Single precision: ten addends of at most 1.
    np.testing.assert_allclose(networks.sum(axis=2), 1.0, atol=2e-6)
    np.testing.assert_allclose(networks.sum(axis=1), scores, atol=5e-6)
    assert np.mean(networks.argmax(axis=2) != networks[:, :1].argmax(axis=2)) > 0.02


def test_duplicates_score_as_the_member_before_them() -> None:
    copies = np.array([False, True, False, True, True, False])
    families = Families(class_=np.array([2, 4]), size=np.array([5, 1]), is_duplicate=copies)
    scores, _ = draw_scores(families, np.random.default_rng(8))
    np.testing.assert_array_equal(scores[0], scores[1])
    np.testing.assert_array_equal(scores[[2, 2]], scores[[3, 4]])
    assert (scores[1] != scores[2]).any()


def test_shares_right_per_class_are_near_the_published_ones(independent: Labelled) -> None:
    correct, wrong = np.array(PUBLISHED_CORRECT), np.array(PUBLISHED_WRONG)
    predicted = independent.predictions.predicted_class
    for class_ in range(len(CLASS_NAMES)):
        rows = independent.is_correct[predicted == class_]
        published = correct[class_] / (correct + wrong)[class_]
        noise = 4 * np.sqrt(published * (1 - published) / len(rows))
        assert rows.mean() == pytest.approx(published, abs=0.03 + noise)


def test_classes_are_wrong_in_different_directions(independent: Labelled) -> None:
    top = independent.predictions.top_score
    assert top is not None
    predicted = independent.predictions.predicted_class
    gap = np.array(
        [
            top[predicted == k].mean() / 10 - independent.is_correct[predicted == k].mean()
            for k in range(len(CLASS_NAMES))
        ]
    )
    assert gap[CLASS_NAMES.index("Minor capsid")] > 0.5
    assert gap[CLASS_NAMES.index("HTJ")] > 0.2
    assert gap[CLASS_NAMES.index("Tail shaft")] < -0.04
    assert gap[CLASS_NAMES.index("Other")] < -0.04


def design_effect(labelled: Labelled, class_: int) -> float:
    rows = labelled.predictions.predicted_class == class_
    right = labelled.is_correct[rows].astype(float)
    _, cluster = np.unique(labelled.cluster[rows], return_inverse=True)
    residual = np.bincount(cluster, right - right.mean())
    return float((residual**2).sum() / (right.var() * len(right)))


def test_relatives_make_shares_far_less_certain_than_independent_rows_would() -> None:
    settings = WorldSettings(n_calibration=46_801)
    families = draw_labelled(settings, np.random.default_rng(10))
    alone = draw_labelled(replace(settings, family_size="single"), np.random.default_rng(10))
    for class_ in (0, 5, 9, 10):
        assert design_effect(families, class_) > 2
        assert design_effect(alone, class_) == pytest.approx(1)


def test_repeated_draws_scatter_as_the_design_effect_says() -> None:
    settings = WorldSettings(n_calibration=1200)
    rng = np.random.default_rng(11)
    draws = [draw_labelled(settings, rng).is_correct.mean() for _ in range(80)]
    binomial = 0.854 * 0.146 / 1200
    # With families the variance is several times the binomial one; 80 draws show
    # a ratio of 2 or more unless the true one is below 1.5.
    assert np.var(draws) > 2 * binomial


def test_a_stated_composition_is_drawn() -> None:
    shares = np.zeros(11)
    shares[[0, 9]] = 0.25, 0.75
    labelled = draw_labelled(WorldSettings(n_calibration=400), np.random.default_rng(12), shares)
    assert np.bincount(labelled.true_class, minlength=11).tolist() == [100, *[0] * 8, 300, 0]
