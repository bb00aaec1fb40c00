from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from credence.calibrators.score_logs import (
    canonical_order,
    predicted_rank,
    rows_of,
    sorted_log_scores,
    tree_features,
)
from credence.calibrators.trees import features_of
from credence.predictions import Predictions, from_scores, label


def two_rows(resolution: float = 0.01) -> Predictions:
    ids = np.array(["a", "b"], dtype=object)
    scores = np.array([[6.0, 4.0, 0.0], [1.0, 2.0, 7.0]])
    return from_scores(ids, ("Portal", "Collar", "HTJ"), scores, 10.0, resolution)


def test_classes_come_in_the_order_of_their_names_and_zeros_are_floored() -> None:
    # Collar, HTJ, Portal; a zero becomes 0.005 of a row of 10.
    expected = np.log([[0.4, 0.0005, 0.6], [0.2, 0.7, 0.1]])
    np.testing.assert_allclose(sorted_log_scores(two_rows()), expected, rtol=0, atol=5e-10)
    np.testing.assert_array_equal(predicted_rank(two_rows()), [2, 1])


def test_an_unknown_resolution_floors_at_single_precision() -> None:
    assert sorted_log_scores(two_rows(0.0))[0, 1] == round(-24 * np.log(2), 9)


@pytest.mark.parametrize("factor", [0.37, 3.0, 1 / 7])
def test_scaling_changes_no_bit_of_a_feature(factor: float) -> None:
    before = two_rows()
    after = replace(before, scores=before.scores * factor, resolution=0.01 * factor)
    for uses_networks in (False, True):
        np.testing.assert_array_equal(
            tree_features(before, uses_networks=uses_networks),
            tree_features(after, uses_networks=uses_networks),
        )


def test_trees_see_top_margin_and_entropy() -> None:
    seen = tree_features(two_rows(), uses_networks=False)
    p = np.array([0.2, 0.7, 0.1])
    np.testing.assert_allclose(
        seen[1, 3:], [np.log(0.7), np.log(3.5), -(p * np.log(p)).sum()], rtol=0, atol=2e-9
    )


def test_trees_see_the_networks_spread_and_votes() -> None:
    networks = np.array([[[0.9, 0.1, 0.0], [0.3, 0.7, 0.0]], [[0.0, 0.0, 1.0]] * 2])
    seen = tree_features(replace(two_rows(), network_scores=networks), uses_networks=True)
    np.testing.assert_allclose(seen[:, -2:], [[0.3, 0.5], [0.0, 1.0]], rtol=0, atol=1e-9)
    assert np.isnan(tree_features(two_rows(), uses_networks=True)[:, -2:]).all()


def test_pooled_trees_see_the_three_best_other_scores_and_the_class() -> None:
    names = ("Portal", "Collar", "HTJ", "Tail", "Shaft")
    scores = np.array([[1.0, 0.5, 5.0, 1.5, 2.0]])
    row = from_scores(np.array(["a"], dtype=object), names, scores, 10.0, 0.01)
    seen = features_of(row, uses_networks=False)
    # Five logs, top, margin and entropy; then the others, best first; then the class, by name:
    # Collar, HTJ, Portal, Shaft, Tail.
    expected = [*np.log([0.2, 0.15, 0.1]), 0, 1, 0, 0, 0]
    np.testing.assert_allclose(seen[0, 8:], expected, rtol=0, atol=2e-9)


def test_the_canonical_order_is_that_of_any_table(worlds) -> None:
    world = worlds.draw(seed=2, n_samples=60)
    shuffled = world.take(np.random.default_rng(0).permutation(60))
    tables = []
    for labelled in (world, shuffled):
        order = canonical_order(sorted_log_scores(labelled.predictions), labelled)
        tables.append(labelled.take(order).predictions.ids)
    np.testing.assert_array_equal(*tables)


def test_rows_of_a_class_are_those_predicted_to_be_in_it() -> None:
    labelled = label(two_rows(), np.array([0, 0]))
    assert rows_of(labelled, 2).predictions.ids.tolist() == ["b"]
