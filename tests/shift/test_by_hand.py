"""Functions on a few numbers that a reader can check."""

from __future__ import annotations

import numpy as np

from credence.composition import adjusted, diagnostics, estimators, sameness


def test_an_end_moves_away_in_log_odds() -> None:
    assert adjusted.widened(np.array([0.5]), np.array([0.5]), np.array([1.0])).round(
        3
    ).tolist() == [0.731]


def test_listed_gives_names_as_one_enumeration() -> None:
    assert diagnostics.listed(["a", "b", "c"]) == "a, b and c"


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
    assert sameness.mix_of(np.array([[0.9, 0.2], [0.1, 0.8]]), np.array([55.0, 45.0])).round(
        3
    ).tolist() == [0.5, 0.5]
