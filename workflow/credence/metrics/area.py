"""Area between the confidence curve and the histogram of shares, over the score."""

from __future__ import annotations

import numpy as np

from credence.metrics.binning import N_SCORE_BINS, SCORE
from credence.metrics.judged import divide
from credence.metrics.protocol import Metric, weighted_over_classes
from credence.predictions import Floats


def area_between(sums: Floats, n_effective: Floats) -> Floats:
    """Return the mean over filled score bins of |mean confidence − share right|.

    Each bin counts by its width, not by its proteins: it is the area between
    the curve and the histogram, per unit of score where there are any scores.

    Parameters
    ----------
    sums : array of float, shape (n_channels, …, n_cells)
        Weight, confidence and outcome summed in bins of the score.
    n_effective : array of float
        Not used.

    Examples
    --------
    >>> sums = np.array([[2.0, 0.0, 1.0], [0.8, 0.0, 0.8], [1.0, 0.0, 1.0]])
    >>> round(float(area_between(sums, np.array(3.0))), 3)
    0.15
    """
    filled = sums[0] > 0
    gaps = divide(np.abs(sums[1] - sums[2]), sums[0], 0.0).sum(axis=-1)
    return divide(gaps, filled.sum(axis=-1).astype(np.float64))


def _over_classes(sums: Floats, n_effective: Floats) -> Floats:
    return weighted_over_classes(area_between(sums, n_effective), sums[0].sum(axis=-1))


METRIC = Metric(
    name="area",
    title="area between curve and histogram",
    summary=f"The area between a class's confidence curve and its histogram of {N_SCORE_BINS} "
    "bins of the score, per unit of score where there are proteins. Over all classes: their "
    "mean by count.",
    reference="Salamon et al. 2023, section 4, doi 10.3390/make5030043",
    family=SCORE,
    finish=area_between,
    over_classes=_over_classes,
    is_error=True,
)
