from __future__ import annotations

import numpy as np
import pytest

from credence.metrics.metric import BRIER, Judged


def test_two_points_by_hand() -> None:
    # right at 0.8: 0.04, weight 3; wrong at 0.6: 0.36, weight 1; (0.12 + 0.36) / 4 = 0.12
    value = BRIER.compute(
        Judged(
            confidence=np.array([0.8, 0.6]),
            is_correct=np.array([True, False]),
            weight=np.array([3.0, 1.0]),
        )
    )
    assert value == pytest.approx(0.12, rel=1e-12)


def test_saying_one_half_always_gives_a_quarter() -> None:
    assert (
        BRIER.compute(
            Judged(
                confidence=np.full(4, 0.5),
                is_correct=np.array([1, 0, 0, 0], dtype=bool),
                weight=np.ones(4),
            )
        )
        == 0.25
    )
