"""Held-out confidences: every protein judged by a fit without its cluster."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from credence.calibrators.all_methods import BY_NAME
from credence.calibrators.protocol import Calibration, Calibrator
from credence.predictions import Floats, Integers, Labelled, Predictions
from credence.records import to_record


def cross_fit(
    labelled: Labelled, calibrators: Mapping[str, Calibrator], fold: Integers
) -> tuple[dict[str, Floats], dict[str, Floats]]:
    """Return each method's held-out confidences, and vectors where it gives them.

    A confidence is NaN where the protein's predicted class occurs in no other
    fold, and where there is no other fold.
    """
    held_out = {name: np.full(labelled.n_samples, np.nan) for name in calibrators}
    vectors: dict[str, Floats] = {}
    shape = (labelled.n_samples, labelled.predictions.n_classes)
    for number in np.unique(fold):
        judged = fold == number
        if judged.all():
            continue
        learnt_from = labelled.take(~judged)
        predictions = labelled.predictions.take(judged)
        for name, calibrator in calibrators.items():
            calibration = calibrator.fit(learnt_from)
            held_out[name][judged] = calibration.confidence(predictions).value
            vector = vector_of(calibration, predictions)
            if vector is not None:
                vectors.setdefault(name, np.full(shape, np.nan))[judged] = vector
    return held_out, vectors


def vector_of(calibration: Calibration, predictions: Predictions) -> Floats | None:
    """Return a probability for every class, where the method gives them; else None."""
    name = to_record(calibration).get("method", "")
    if name == "uncalibrated":
        if predictions.scores is None or not predictions.is_distribution:
            return None
        return np.asarray(predictions.scores / predictions.scores.sum(axis=1, keepdims=True))
    method = BY_NAME.get(name)
    if method is None or not method.gives_vector:
        return None
    probabilities: Floats = calibration.probabilities(predictions)  # type: ignore[attr-defined]
    return probabilities
