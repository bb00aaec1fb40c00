"""Worked examples: ten scores in three bins, and a softmax, to three digits."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special

from credence.metrics.binned import (
    greatest_gap,
    mean_gap,
    noise_of_shares,
    root_mean_square_gap,
    width_cells,
)
from credence.metrics.metric import Judged

SCORES = np.array([0.61, 0.39, 0.31, 0.76, 0.22, 0.59, 0.92, 0.83, 0.57, 0.41])
RIGHT = np.array([1, 0, 1, 1, 0, 1, 0, 1, 1, 1], dtype=bool)


def sums() -> np.ndarray:
    judged = Judged(confidence=SCORES, is_correct=RIGHT, weight=np.ones(10))
    cells = width_cells(judged, 3, has_squares=True)
    assert cells is not None
    return cells.sums(judged.weight)


def test_shares_and_mean_confidences_of_three_equal_bins() -> None:
    weight, confidence, outcome, _ = sums()
    assert (outcome / weight).round(3).tolist() == [0.5, 0.8, 0.667]
    assert (confidence / weight).round(3).tolist() == [0.265, 0.514, 0.837]


def test_the_calibration_error_is_0_241() -> None:
    assert round(float(mean_gap(sums(), np.array(10.0))), 3) == 0.241


def test_the_other_errors_of_the_same_bins_by_hand() -> None:
    # Gaps 0.235, -0.286 and 0.170 of 2, 5 and 3: root of (2·0.235² + 5·0.286² + 3·0.170²)/10.
    by_hand = np.sqrt((2 * 0.235**2 + 5 * 0.286**2 + 3 * (2.51 / 3 - 2 / 3) ** 2) / 10)
    assert root_mean_square_gap(sums(), np.array(10.0)) == pytest.approx(by_hand, rel=1e-12)
    assert greatest_gap(sums(), np.array(10.0)) == pytest.approx(0.286, rel=1e-12)


def test_softmax_at_two_temperatures() -> None:
    logits = np.array([-1.5, 2.0, 1.0])
    assert special.softmax(logits).round(3).tolist() == [0.022, 0.715, 0.263]
    assert special.softmax(logits / 1.5).round(3).tolist() == [0.06, 0.621, 0.319]


def test_the_noise_of_shares_by_hand() -> None:
    # Off by 1 of 2 and by 0.5 of 1, squared over the weight: (0.5 + 0.25) / 3.
    own = np.array([[2.0, 1.0], [9.0, 9.0], [1.0, -0.5], [7.0, 7.0]])
    assert float(noise_of_shares(own, np.array(3.0))) == pytest.approx(0.25)
