"""Share of right predictions: no measure of a method, but of the classifier."""

from __future__ import annotations

import numpy as np

from credence.metrics.metric import Metric
from credence.predictions import Booleans, Floats


def is_right(confidence: Floats, is_correct: Booleans) -> Floats:
    """Return 1 where the prediction is right, 0 where it is wrong.

    >>> is_right(np.array([0.2, 0.9]), np.array([True, False])).tolist()
    [1.0, 0.0]
    """
    return is_correct.astype(np.float64)


ACCURACY = Metric(
    name="accuracy",
    title="share right",
    summary="The share of predictions that are right. It judges the classifier; a calibration "
    "method changes confidences, not predictions.",
    reference="Cantu et al. 2020, doi 10.1371/journal.pcbi.1007845",
    losses=is_right,
    is_share=True,
)


def squared_error(confidence: Floats, is_correct: Booleans) -> Floats:
    """Return the squared distance from the confidence to what happened.

    >>> squared_error(np.array([0.5, 0.75]), np.array([True, False])).tolist()
    [0.25, 0.5625]
    """
    return np.asarray((confidence - is_correct) ** 2)


BRIER = Metric(
    name="brier",
    title="Brier score",
    summary="The mean squared distance between the confidence and what turned out "
    "(1 right, 0 wrong). Smaller is better; 0 is perfect; always saying 0.5 gives 0.25.",
    reference="Brier 1950, doi 10.1175/1520-0493(1950)078<0001:VOFEIT>2.0.CO;2",
    losses=squared_error,
)


CLIP = 1e-15  # METHODS section 3: keeps a confidence of 0 or 1 finite; counted


def is_clipped(confidence: Floats) -> Booleans:
    """Return whether each confidence is so near 0 or 1 that it is clipped.

    >>> is_clipped(np.array([0.0, 0.5, 1.0])).tolist()
    [True, False, True]
    """
    return np.asarray((confidence < CLIP) | (confidence > 1.0 - CLIP))


def negative_log_likelihood(confidence: Floats, is_correct: Booleans) -> Floats:
    """Return −log of the probability that was given to what happened.

    >>> confidence, is_correct = np.array([0.5, 0.8, 0.8]), np.array([True, True, False])
    >>> negative_log_likelihood(confidence, is_correct).round(3).tolist()
    [0.693, 0.223, 1.609]
    """
    given = np.where(is_correct, confidence, 1.0 - confidence)
    return np.asarray(-np.log(np.clip(given, CLIP, 1.0 - CLIP)))


NLL = Metric(
    name="nll",
    title="negative log-likelihood",
    summary="How surprised the confidence was by what turned out: the mean of −log(confidence) "
    "where the prediction was right and of −log(1 − confidence) where it was wrong. "
    "Smaller is better; 0 is perfect; a confident mistake costs much.",
    reference="Salamon et al. 2023, Eq. 15, doi 10.3390/make5030043",
    losses=negative_log_likelihood,
)
