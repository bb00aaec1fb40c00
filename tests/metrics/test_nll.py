from __future__ import annotations

import math

import numpy as np
import pytest

from credence.metrics.metric import NLL, Judged, is_clipped, negative_log_likelihood

# Of test_worked_example.py: ten scores and what turned out.
SCORES = np.array([0.61, 0.39, 0.31, 0.76, 0.22, 0.59, 0.92, 0.83, 0.57, 0.41])
RIGHT = np.array([1, 0, 1, 1, 0, 1, 0, 1, 1, 1], dtype=bool)


def test_a_confident_mistake_costs_the_clip_and_no_more() -> None:
    losses = negative_log_likelihood(np.array([1.0, 0.0]), np.array([False, True]))
    assert losses.tolist() == pytest.approx([-math.log(1e-15)] * 2, rel=1e-12)


def test_certainty_that_holds_costs_nearly_nothing() -> None:
    losses = negative_log_likelihood(np.array([1.0, 0.0]), np.array([True, False]))
    # −log(1 − 1e-15), to the rounding of numbers next to 1.
    assert losses.tolist() == pytest.approx([1e-15] * 2, abs=2e-16)


def test_confidences_next_to_0_and_1_are_counted_as_clipped() -> None:
    confidence = np.array([0.0, 1e-16, 1e-15, 1e-14, 0.5, 1.0 - 1e-14, 1.0])
    assert is_clipped(confidence).tolist() == [True, True, False, False, False, False, True]


def test_the_worked_example_by_hand() -> None:
    by_hand = -sum(
        math.log(p if t else 1 - p) for p, t in zip(SCORES.tolist(), RIGHT.tolist(), strict=True)
    )
    assert NLL.compute(
        Judged(confidence=SCORES, is_correct=RIGHT, weight=np.ones(10))
    ) == pytest.approx(by_hand / 10, rel=1e-12)
