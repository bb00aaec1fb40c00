"""How strange a protein would be as a member of each class, by its scores."""

from __future__ import annotations

import numpy as np

from credence.calibrators.score_logs import share_bounds
from credence.predictions import Floats, Predictions


def strangeness(predictions: Predictions) -> Floats:
    """Return how strange each protein would be in each class, one column a class.

    Parameters
    ----------
    predictions : Predictions
        With the score of every class.

    Notes
    -----
    The log of the best score of another class less the log of the class's own,
    both as shares of the scale and floored at half a step of the table. Below 0
    the class is the predicted one. A plain 1 − score cannot tell proteins apart
    whose score is 0.00, and at a level of 0.9 more than a tenth of some classes'
    own proteins have that: such a class would stand in every set (decision 1020).
    """
    scores = predictions.scores
    assert scores is not None
    floor, _ = share_bounds(predictions.resolution, predictions.scale)
    logs = np.log(np.maximum(scores / predictions.scale, floor))
    if predictions.n_classes == 1:
        return np.asarray(-logs)
    best = logs.argmax(axis=1)
    rows = np.arange(len(logs))
    top = logs[rows, best]
    others = logs.copy()
    others[rows, best] = -np.inf
    rival = np.repeat(top[:, None], predictions.n_classes, axis=1)
    rival[rows, best] = others.max(axis=1)
    return np.asarray(rival - logs)
