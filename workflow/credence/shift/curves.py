"""Curves of a use-set: every class's confidence over the score, before and after."""

from __future__ import annotations

import numpy as np

from credence.confidence import Confidence
from credence.findings.shift import ShiftCurve
from credence.predictions import Floats, Predictions
from credence.shift.summary import Corrected, at_scores

N_GRID = 101  # a step of 1/100 of the scale


def score_grid(predictions: Predictions) -> Floats:
    """Return evenly spaced scores from 0 to the scale, or to the best score.

    Parameters
    ----------
    predictions : Predictions
        Of the calibration set, with top scores.
    """
    assert predictions.top_score is not None
    greatest = max(float(predictions.scale), float(predictions.top_score.max()))
    return np.linspace(0.0, greatest, N_GRID)


def curves_of(corrected: Corrected) -> tuple[ShiftCurve, ...]:
    """Return both curves of each class that was predicted in calibration.

    Empty where class and top score do not give the confidence.

    Parameters
    ----------
    corrected : Corrected
        A use-set's composition and the calibrations for it.
    """
    predictions = corrected.side.labelled.predictions
    if predictions.top_score is None or not corrected.by_score:
        return ()
    grid = score_grid(predictions)
    found = []
    for class_ in np.unique(predictions.predicted_class):
        asked = at_scores(predictions, np.full(len(grid), class_), grid)
        before = corrected.plain.confidence(asked)
        after = corrected.adjusted.confidence(asked)
        found.append(
            ShiftCurve(
                predictions.class_names[class_],
                tuple(grid.tolist()),
                *_numbers(before),
                *_numbers(after),
            )
        )
    return tuple(found)


def _numbers(answer: Confidence) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(values.tolist()) for values in (answer.value, answer.lower, answer.upper))
