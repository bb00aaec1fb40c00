"""Smooth calibration error, without bins (smECE)."""

from __future__ import annotations

import numpy as np

from credence.metrics.grid import GRID, smoothed, transform
from credence.metrics.judged import divide
from credence.metrics.protocol import Metric
from credence.predictions import Booleans, Floats

N_STEPS = 12  # at most; half as many are enough as a rule
EXACT = 1e-7  # of the search for the bandwidth, on the axis of the confidence


def smooth_error(sums: Floats, n_effective: Floats) -> Floats:
    """Return smECE: ∫ |smoothed (t − p)| at the bandwidth that equals it.

    Parameters
    ----------
    sums : array of float, shape (n_channels, …, n_cells)
        Weight, confidence and outcome summed on the grid.
    n_effective : array of float
        Not used.

    Notes
    -----
    smECE_σ = ∫ |Σ w K_σ(x, p)(t − p)| dx / Σ w falls as σ grows, so that exactly
    one σ has smECE_σ = σ, and that is the value (Eq. 5 and Definition 7 of [1]_).
    K is the reflected Gaussian. Confidences are moved to the nearest of 256
    places before.

    References
    ----------
    .. [1] Błasiok & Nakkiran 2023, arXiv 2309.12236.
    """
    total = sums[0].sum(axis=-1)
    residual = divide(sums[2] - sums[1], total[..., None], 0.0)
    transformed = transform(residual)
    low = np.zeros(total.shape)
    high = np.abs(residual).sum(axis=-1)
    above = high.copy()  # smECE_σ − σ at `low`, positive
    below = _excess(transformed, high)  # at `high`, not positive
    middle = high
    moved_low = np.zeros(total.shape, dtype=np.bool_)
    moved_high = moved_low.copy()
    for _ in range(N_STEPS):
        share = divide(above, above - below, 0.0)
        middle = low + (high - low) * share
        excess = _excess(transformed, middle)
        middle, low, high, above, below, moved_low, moved_high = _narrowed(
            excess, middle, low, high, above, below, moved_low, moved_high
        )
        if np.all((high - low <= EXACT) | (np.abs(excess) <= EXACT)):
            break
    return np.where(total > 0, middle, np.nan)


def _excess(transformed: Floats, bandwidth: Floats) -> Floats:
    return np.asarray(np.abs(smoothed(transformed, bandwidth)).sum(axis=-1) - bandwidth)


def _narrowed(
    excess: Floats,
    middle: Floats,
    low: Floats,
    high: Floats,
    above: Floats,
    below: Floats,
    moved_low: Booleans,
    moved_high: Booleans,
) -> tuple[Floats, Floats, Floats, Floats, Floats, Booleans, Booleans]:
    """Return the next bracket: regula falsi, the end that stays halved (Illinois)."""
    up = excess > 0
    next_below = np.where(up, np.where(moved_low, below / 2, below), excess)
    next_above = np.where(up, excess, np.where(moved_high, above / 2, above))
    return (
        middle,
        np.where(up, middle, low),
        np.where(up, high, middle),
        np.asarray(next_above),
        np.asarray(next_below),
        np.asarray(up),
        np.asarray(~up),
    )


METRIC = Metric(
    name="ece_smooth",
    title="smooth calibration error",
    summary="Calibration error without bins: what was right minus what was said, smoothed by a "
    "Gaussian whose width equals the error that it leaves.",
    reference="Błasiok & Nakkiran 2023, arXiv 2309.12236",
    family=GRID,
    finish=smooth_error,
    is_error=True,
)
