from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from verification.in_memory import draw_labelled
from verification.world_truth import Truth, truth

from credence.predictions import Labelled
from credence.simulate.law import N_CLASSES, QUERY_PREVALENCE, WorldSettings

EDGES = np.array([0, 3, 4, 5, 6, 7, 8, 9, 9.5, 9.8, 9.95, 10.001])


@pytest.fixture(scope="module")
def known() -> Truth:
    return truth()


def compare(known: Truth, labelled: Labelled, prevalence: np.ndarray | None) -> None:
    predicted, top = labelled.predictions.predicted_class, labelled.predictions.top_score
    assert top is not None
    promised = known.probability_correct(predicted, top, prevalence)
    gaps = []
    for class_ in range(N_CLASSES):
        for low, high in pairwise(EDGES):
            rows = (predicted == class_) & (top >= low) & (top < high)
            if rows.sum() < 200:
                continue
            p = promised[rows]
            noise = np.sqrt((p * (1 - p)).sum()) / rows.sum()
            gap = labelled.is_correct[rows].mean() - p.mean()
            # The truth's own error may be 0.005; four standard errors for about 90 bins.
            assert abs(gap) < 0.005 + 4 * noise
            gaps.append(gap / np.hypot(noise, 0.0025))
    assert len(gaps) > 50
    # And the bins together: mean squares of standardised gaps are near 1.
    assert np.mean(np.square(gaps)) < 1 + 4 * np.sqrt(2 / len(gaps))


def test_the_truth_is_what_an_independent_draw_shows(known: Truth) -> None:
    settings = WorldSettings(n_calibration=250_000, family_size="single")
    compare(known, draw_labelled(settings, np.random.default_rng(21)), None)


def test_the_truth_under_another_composition_is_what_a_draw_from_it_shows(known: Truth) -> None:
    settings = WorldSettings(n_calibration=250_000, family_size="single")
    shares = np.array(QUERY_PREVALENCE)
    compare(known, draw_labelled(settings, np.random.default_rng(22), shares), shares)


def test_families_follow_the_same_law_as_single_proteins(known: Truth) -> None:
    labelled = draw_labelled(WorldSettings(n_calibration=200_000), np.random.default_rng(23))
    predicted, top = labelled.predictions.predicted_class, labelled.predictions.top_score
    assert top is not None
    residual = labelled.is_correct - known.probability_correct(predicted, top)
    for class_ in range(N_CLASSES):
        rows = predicted == class_
        _, cluster = np.unique(labelled.cluster[rows], return_inverse=True)
        error = np.sqrt((np.bincount(cluster, residual[rows]) ** 2).sum()) / rows.sum()
        assert abs(residual[rows].mean()) < 0.002 + 4 * error


def test_masses_are_probabilities(known: Truth) -> None:
    np.testing.assert_allclose(known.mass.sum(axis=(1, 2)), 1.0, atol=1e-12)
    assert known.score_mass().sum() == pytest.approx(1.0)
    curves = known.curves()
    assert ((curves >= 0) & (curves <= 1)).all()


def test_overall_shares_right_are_the_curves_averaged_over_the_scores(known: Truth) -> None:
    mass = known.score_mass()
    averaged = (known.curves() * mass).sum(axis=1) / mass.sum(axis=1)
    np.testing.assert_allclose(averaged, known.share_correct(), atol=0.002)


def test_raising_a_classs_share_raises_its_own_curve_and_lowers_the_others(known: Truth) -> None:
    shares = known.prevalence.copy()
    shares[9] *= 3
    before, after = known.curves(), known.curves(shares / shares.sum())
    mass = known.score_mass()
    for class_ in range(N_CLASSES):
        seen = mass[class_] > 1e-5
        change = after[class_, seen] - before[class_, seen]
        # A local line is no exact ratio: a thousandth either way.
        assert (change > -0.001).all() if class_ == 9 else (change < 0.001).all()


def test_scores_off_the_range_hold_the_value_at_its_end(known: Truth) -> None:
    curves = known.curves()
    held = known.probability_correct(np.array([4, 4]), np.array([-1.0, 11.0]))
    assert held.tolist() == [curves[4, 0], curves[4, -1]]


def test_curves_differ_between_classes_and_rise_on_the_whole(known: Truth) -> None:
    at = known.probability_correct(np.arange(N_CLASSES)[:, None], np.array([[4.0, 7.0, 9.9]]))
    assert (np.diff(at[[0, 2, 3, 4, 5, 6, 8, 9, 10]], axis=1) > 0).all()
    assert at[1].max() < 0.2  # Minor capsid is nearly always wrong
    assert at[7, 1] > 0.85  # Tail shaft is right at modest scores already
