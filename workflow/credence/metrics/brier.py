"""Brier score of being right, per sample."""

from __future__ import annotations

import numpy as np

from credence.metrics.protocol import Metric
from credence.predictions import Booleans, Floats


def squared_error(confidence: Floats, is_correct: Booleans) -> Floats:
    """Return the squared distance from the confidence to what happened.

    Parameters
    ----------
    confidence : array of float
        In [0, 1], no NaN.
    is_correct : array of bool
        Whether each prediction is right.

    Examples
    --------
    >>> squared_error(np.array([0.5, 0.75]), np.array([True, False])).tolist()
    [0.25, 0.5625]
    """
    return np.asarray((confidence - is_correct) ** 2)


METRIC = Metric(
    name="brier",
    title="Brier score",
    summary="The mean squared distance between the confidence and what turned out "
    "(1 right, 0 wrong). Smaller is better; 0 is perfect; always saying 0.5 gives 0.25.",
    reference="Brier 1950, doi 10.1175/1520-0493(1950)078<0001:VOFEIT>2.0.CO;2",
    losses=squared_error,
)
