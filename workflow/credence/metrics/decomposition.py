"""The Brier score taken apart: calibration, sharpness, and what bins hide.

E(t − p)² = Var t − Var T + E(T − p̄)² + remainder, where T is the share right
and p̄ the mean confidence of a bin, and
remainder = E[Var(p | bin)] − 2 E[Cov(t, p | bin)].
"""

from __future__ import annotations

import numpy as np

from credence.metrics.binning import N_BINS, WIDTH
from credence.metrics.judged import divide
from credence.metrics.protocol import Metric
from credence.predictions import Floats

SOURCE = "Kuleshov & Liang 2015, Eq. 2–3; Murphy 1973; Stephenson et al. 2008"
BINS = f"in {N_BINS} bins of equal width"


def outcome_variance(sums: Floats, n_effective: Floats) -> Floats:
    """Return Var t, the Brier score of always saying the overall share.

    Parameters
    ----------
    sums : array of float, shape (n_channels, …, n_cells)
        Weight, confidence, outcome and squared error summed in bins.
    n_effective : array of float
        Not used.

    Examples
    --------
    >>> sums = np.array([[2.0, 2.0], [0.8, 1.6], [0.0, 2.0], [0.4, 0.1]])
    >>> float(outcome_variance(sums, np.array(4.0)))
    0.25
    """
    rate = divide(sums[2].sum(axis=-1), sums[0].sum(axis=-1))
    return np.asarray(rate * (1.0 - rate))


def sharpness(sums: Floats, n_effective: Floats) -> Floats:
    """Return Var T, how far the shares in bins lie apart.

    Parameters
    ----------
    sums : array of float, shape (n_channels, …, n_cells)
        Weight, confidence, outcome and squared error summed in bins.
    n_effective : array of float
        Not used.
    """
    total = sums[0].sum(axis=-1)
    rate = divide(sums[2].sum(axis=-1), total)
    distance = divide(sums[2], sums[0], 0.0) - rate[..., None]
    return divide((sums[0] * distance**2).sum(axis=-1), total)


def noise_of_shares(sums: Floats, n_effective: Floats) -> Floats:
    """Return the mean squared distance of a draw's shares from the sample's.

    Parameters
    ----------
    sums : array of float, shape (n_channels, …, n_cells)
        Weight, and what of the outcome is beyond the sample's share, in bins.
    n_effective : array of float
        Not used.
    """
    squares = divide(sums[2] ** 2, sums[0], 0.0).sum(axis=-1)
    return divide(squares, sums[0].sum(axis=-1))


def calibration(sums: Floats, n_effective: Floats) -> Floats:
    """Return E(T − p̄)², the mean squared distance of shares from confidences.

    Parameters
    ----------
    sums : array of float, shape (n_channels, …, n_cells)
        Weight, confidence, outcome and squared error summed in bins.
    n_effective : array of float
        Not used.
    """
    squares = divide((sums[1] - sums[2]) ** 2, sums[0], 0.0).sum(axis=-1)
    return divide(squares, sums[0].sum(axis=-1))


def remainder(sums: Floats, n_effective: Floats) -> Floats:
    """Return what the three parts leave of the Brier score.

    Parameters
    ----------
    sums : array of float, shape (n_channels, …, n_cells)
        Weight, confidence, outcome and squared error summed in bins.
    n_effective : array of float
        Passed on.
    """
    brier = divide(sums[3].sum(axis=-1), sums[0].sum(axis=-1))
    parts = outcome_variance(sums, n_effective) - sharpness(sums, n_effective)
    return np.asarray(brier - parts - calibration(sums, n_effective))


UNCERTAINTY = Metric(
    name="outcome_variance",
    title="variance of being right",
    summary="What the Brier score would be had one always said the overall share right.",
    reference=SOURCE,
    family=WIDTH,
    finish=outcome_variance,
    lower_is_better=None,
)
SHARPNESS = Metric(
    name="sharpness",
    title="sharpness",
    summary=f"How much of the variance of being right the confidences tell apart, {BINS}. "
    "More is better; a confidence that is the same for all has 0.",
    reference=SOURCE,
    family=WIDTH,
    finish=sharpness,
    lower_is_better=False,
    is_square=True,
    noise=noise_of_shares,
)
CALIBRATION = Metric(
    name="calibration",
    title="calibration part of the Brier score",
    summary=f"The mean squared distance between confidence and share right, {BINS}. "
    "Brier score = variance of being right − sharpness + calibration + remainder.",
    reference=SOURCE,
    family=WIDTH,
    finish=calibration,
    is_error=True,
    is_square=True,
)
REMAINDER = Metric(
    name="remainder",
    title="remainder within bins",
    summary="What bins hide: the variance of the confidence within bins less twice its "
    "covariance there with being right. Negative where confidences rank well within bins.",
    reference=SOURCE,
    family=WIDTH,
    finish=remainder,
    lower_is_better=None,
    is_signed=True,
)
