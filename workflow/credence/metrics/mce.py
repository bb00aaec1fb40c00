"""Maximum calibration error: the worst bin."""

from __future__ import annotations

import numpy as np

from credence.metrics.binning import N_BINS, WIDTH
from credence.metrics.judged import divide
from credence.metrics.protocol import Metric
from credence.predictions import Floats


def greatest_gap(sums: Floats, n_effective: Floats) -> Floats:
    """Return max_b |mean p − mean t| over the bins that hold something.

    Parameters
    ----------
    sums : array of float, shape (n_channels, …, n_cells)
        Weight, confidence and outcome summed in bins.
    n_effective : array of float
        Not used.

    Examples
    --------
    >>> sums = np.array([[2.0, 1.0], [0.8, 0.8], [1.0, 1.0]])
    >>> round(float(greatest_gap(sums, np.array(3.0))), 3)
    0.2
    """
    gaps = divide(np.abs(sums[1] - sums[2]), sums[0], 0.0).max(axis=-1)
    return np.where(sums[0].sum(axis=-1) > 0, gaps, np.nan)


METRIC = Metric(
    name="mce",
    title="maximum calibration error",
    summary=f"The greatest distance between confidence and share right in any of {N_BINS} bins "
    "of equal width. A bin with few proteins can decide it: compare it with its noise floor.",
    reference="Naeini et al. 2015; Guo et al. 2017, arXiv 1706.04599",
    family=WIDTH,
    finish=greatest_gap,
    is_error=True,
)
