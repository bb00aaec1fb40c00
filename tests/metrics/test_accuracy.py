from __future__ import annotations

import numpy as np

from credence.metrics.metric import ACCURACY, Judged


def test_it_is_the_weighted_share_right_whatever_the_confidence() -> None:
    is_correct, weight = np.array([True, False]), np.array([3.0, 1.0])
    assert (
        ACCURACY.compute(
            Judged(confidence=np.array([0.1, 0.9]), is_correct=is_correct, weight=weight)
        )
        == 0.75
    )
    assert (
        ACCURACY.compute(
            Judged(confidence=np.array([0.9, 0.1]), is_correct=is_correct, weight=weight)
        )
        == 0.75
    )
