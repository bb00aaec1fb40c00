"""Share of right predictions: no measure of a method, but of the classifier."""

from __future__ import annotations

import numpy as np

from credence.metrics.protocol import Metric
from credence.predictions import Booleans, Floats


def is_right(confidence: Floats, is_correct: Booleans) -> Floats:
    """Return 1 where the prediction is right, 0 where it is wrong.

    Parameters
    ----------
    confidence : array of float
        Not used; every metric is given it.
    is_correct : array of bool
        Whether each prediction is right.

    Examples
    --------
    >>> is_right(np.array([0.2, 0.9]), np.array([True, False])).tolist()
    [1.0, 0.0]
    """
    return is_correct.astype(np.float64)


METRIC = Metric(
    name="accuracy",
    title="share right",
    summary="The share of predictions that are right. It judges the classifier; a calibration "
    "method changes confidences, not predictions.",
    reference="Cantu et al. 2020, doi 10.1371/journal.pcbi.1007845",
    losses=is_right,
    lower_is_better=False,
    is_share=True,
)
