"""The raw score's share of the scale."""

from __future__ import annotations

import json
from types import SimpleNamespace

import numpy as np

from credence.calibrators.all_methods import BY_NAME, read_calibration
from credence.calibrators.protocol import FitOptions
from credence.predictions import from_scores, label
from credence.records import to_record


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


def test_scarce_one_sided_and_unseen_classes_have_the_raw_score_and_not_their_share(
    worlds: SimpleNamespace,
) -> None:
    world = worlds.draw(seed=7)
    predicted = world.predictions.predicted_class
    is_kept = (predicted == 3) | ((predicted == 2) & world.is_correct)  # class 2 is never wrong
    is_kept[np.flatnonzero(predicted == 1)[:2]] = True  # two of class 1, none of class 0
    method = BY_NAME["uncalibrated"]
    calibration = method.build(method.settings(), FitOptions()).fit(world.take(is_kept))
    confidence = calibration.confidence(world.predictions)
    raw = np.minimum(world.predictions.top_score / 10.0, 1.0)
    np.testing.assert_array_equal(confidence.value, raw)
    assert (confidence.note == 0).all() and np.isnan(confidence.lower).all()
    assert (confidence.support[predicted == 0] == 0).all()
    again = read_calibration(json.loads(json.dumps(to_record(calibration))))
    np.testing.assert_array_equal(again.confidence(world.predictions).value, confidence.value)
