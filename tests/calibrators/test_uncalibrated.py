"""The raw score's share of the scale."""

from __future__ import annotations

import numpy as np

from credence.calibrators.all_methods import BY_NAME
from credence.calibrators.protocol import FitOptions
from credence.predictions import from_scores, label


def test_the_confidence_is_the_share_of_the_scale_at_most_1_without_interval() -> None:
    # The last row was rounded up beyond the scale, as PhANNs' rows can be.
    top = np.array([6.0, 7.5] * 6 + [10.03])
    scores = np.stack([top, np.maximum(10 - top, 0)], axis=1)
    ids = np.array([f"p{row}" for row in range(13)], dtype=object)
    true = np.array([0, 1, 1, 0] * 3 + [0])
    labelled = label(from_scores(ids, ("a", "b"), scores, 10.0, 0.01), true)
    method = BY_NAME["uncalibrated"]
    calibration = method.build(method.settings(), FitOptions()).fit(labelled)
    confidence = calibration.confidence(labelled.predictions)
    np.testing.assert_array_equal(confidence.value, [0.6, 0.75] * 6 + [1.0])
    assert np.isnan(confidence.lower).all() and np.isnan(confidence.upper).all()
    assert (confidence.support > 0).all() and (confidence.note == 0).all()
