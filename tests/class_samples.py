"""The positives of one class, from plain numbers."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from credence.calibrators.protocol import ClassSample


def sample_of(
    score: ArrayLike,
    is_correct: ArrayLike,
    weight: ArrayLike | None = None,
    cluster: ArrayLike | None = None,
    scale: float = 10.0,
    resolution: float = 0.01,
) -> ClassSample:
    """Return them by score; without clusters, each is of its own."""
    order = np.argsort(score, kind="stable")
    code = np.arange(len(order)) if cluster is None else np.asarray(cluster)[order]
    return ClassSample(
        score=np.asarray(score, dtype=np.float64)[order],
        is_correct=np.asarray(is_correct, dtype=np.bool_)[order],
        weight=np.ones(len(order))
        if weight is None
        else np.asarray(weight, dtype=np.float64)[order],
        cluster=code,
        cluster_key=np.arange(code.max() + 1, dtype=np.uint64),
        scale=scale,
        resolution=resolution,
    )
