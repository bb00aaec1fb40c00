"""Negative log-likelihood of being right, per sample."""

from __future__ import annotations

import numpy as np

from credence.metrics.protocol import Metric
from credence.predictions import Booleans, Floats

CLIP = 1e-15  # METHODS section 3: keeps a confidence of 0 or 1 finite; counted


def is_clipped(confidence: Floats) -> Booleans:
    """Return whether each confidence is so near 0 or 1 that it is clipped.

    Parameters
    ----------
    confidence : array of float
        In [0, 1], no NaN.

    Examples
    --------
    >>> is_clipped(np.array([0.0, 0.5, 1.0])).tolist()
    [True, False, True]
    """
    return np.asarray((confidence < CLIP) | (confidence > 1.0 - CLIP))


def negative_log_likelihood(confidence: Floats, is_correct: Booleans) -> Floats:
    """Return −log of the probability that was given to what happened.

    Parameters
    ----------
    confidence : array of float
        In [0, 1], no NaN.
    is_correct : array of bool
        Whether each prediction is right.

    Examples
    --------
    >>> confidence, is_correct = np.array([0.5, 0.8, 0.8]), np.array([True, True, False])
    >>> negative_log_likelihood(confidence, is_correct).round(3).tolist()
    [0.693, 0.223, 1.609]
    """
    given = np.where(is_correct, confidence, 1.0 - confidence)
    return np.asarray(-np.log(np.clip(given, CLIP, 1.0 - CLIP)))


METRIC = Metric(
    name="nll",
    title="negative log-likelihood",
    summary="How surprised the confidence was by what turned out: the mean of −log(confidence) "
    "where the prediction was right and of −log(1 − confidence) where it was wrong. "
    "Smaller is better; 0 is perfect; a confident mistake costs much.",
    reference="Salamon et al. 2023, Eq. 15, doi 10.3390/make5030043",
    losses=negative_log_likelihood,
)
