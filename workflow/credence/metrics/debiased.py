"""Debiased calibration error: the squared form with its chance part taken off."""

from __future__ import annotations

import numpy as np

from credence.metrics.binning import COUNT, N_BINS
from credence.metrics.ece import root_mean_square_gap
from credence.metrics.judged import divide
from credence.metrics.protocol import Metric
from credence.predictions import Floats


def debiased_square(sums: Floats, n_effective: Floats) -> Floats:
    """Return Σ_b (n_b/n) [(p̄ − t̄)² − t̄(1 − t̄)/(n_b − 1)], which may be negative.

    n_b is the bin's share of the weight times Kish's number of proteins. A bin
    of one protein or less cannot be debiased and counts as 0.

    Parameters
    ----------
    sums : array of float, shape (n_channels, …, n_cells)
        Weight, confidence and outcome summed in bins.
    n_effective : array of float, shape (…)
        Kish's number of proteins.
    """
    weight, confidence, outcome = sums[0], sums[1], sums[2]
    share = divide(weight, weight.sum(axis=-1, keepdims=True))
    n_bin = share * np.asarray(n_effective)[..., None]
    rate = divide(outcome, weight, 0.0)
    gap = divide(confidence - outcome, weight, 0.0)
    chance = divide(rate * (1.0 - rate), n_bin - 1.0, 0.0)
    return np.asarray(np.where(n_bin > 1.0, share * (gap**2 - chance), 0.0).sum(axis=-1))


def debiased_error(sums: Floats, n_effective: Floats) -> Floats:
    """Return the root of the debiased square, 0 where that is negative.

    Parameters
    ----------
    sums : array of float, shape (n_channels, …, n_cells)
        Weight, confidence and outcome summed in bins.
    n_effective : array of float, shape (…)
        Kish's number of proteins.

    Examples
    --------
    One bin of 11: confidence 0.7, 5 right. 0.245² − 0.248/10 = 0.035; its root is 0.188.

    >>> sums = np.array([[11.0], [7.7], [5.0]])
    >>> round(float(debiased_error(sums, np.array(11.0))), 3)
    0.188
    """
    root = np.sqrt(np.maximum(debiased_square(sums, n_effective), 0.0))
    return np.where(sums[0].sum(axis=-1) > 0, root, np.nan)


METRIC = Metric(
    name="ece_debiased",
    title="debiased calibration error",
    summary="The root of the mean squared distance between confidence and share right, in "
    f"{N_BINS} bins of equal counts, with what independent proteins would give by chance "
    "subtracted; 0 where that leaves nothing. Relatives raise chance beyond it.",
    reference="Kumar, Liang & Ma 2019, arXiv 1909.10155",
    family=COUNT,
    finish=debiased_error,
    is_error=True,
    noise=root_mean_square_gap,
)
