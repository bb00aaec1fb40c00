"""Smooth calibration error, without bins (smECE)."""

from functools import partial

import numpy as np
from scipy import fft
from scipy.optimize import elementwise

from credence.metrics.binned import N_SCORE_BINS, SCORE, width_cells
from credence.metrics.metric import Family, Metric, divide, weighted_over_classes
from credence.predictions import Floats, Integers

N_CELLS = 256  # a step of 0.004: finer than any calibration set can tell apart


CENTRES: Floats = (np.arange(N_CELLS) + 0.5) / N_CELLS


def smoothed(transformed: Floats, bandwidth: Floats) -> Floats:
    """Return masses in cells, of which the cosine transform is given, after smoothing."""
    damping = np.exp(-0.5 * ((np.pi * np.arange(N_CELLS)) * np.asarray(bandwidth)[..., None]) ** 2)
    return np.asarray(fft.idct(transformed * damping))


GRID_CELLS = Family(name="grid", cells=partial(width_cells, n_bins=N_CELLS))

# Of Σ |residual|: a Gaussian of about a cell rings on the grid, so that smoothing can exceed it a
# little; twice as much is beyond every root.
END_SLACK = 2.0


def smooth_error(sums: Floats, n_effective: Floats) -> Floats:
    """Return smECE, the one σ with ∫ |Σ w K_σ(x, p)(t − p)| dx / Σ w = σ (Błasiok & Nakkiran)."""
    total = sums[0].sum(axis=-1)
    residual = divide(sums[2] - sums[1], total[..., None], 0.0)
    transformed = np.asarray(fft.dct(residual)).reshape(-1, N_CELLS)

    def excess(bandwidth: Floats, row: Integers) -> Floats:
        return np.asarray(np.abs(smoothed(transformed[row], bandwidth)).sum(axis=-1) - bandwidth)

    ends = np.zeros(total.shape), END_SLACK * np.abs(residual).sum(axis=-1)
    row = np.arange(total.size).reshape(total.shape)
    return np.where(total > 0, elementwise.find_root(excess, ends, args=(row,)).x, np.nan)


SMOOTH = Metric(
    name="ece_smooth",
    title="smooth calibration error",
    summary="Calibration error without bins: what was right minus the confidence, smoothed by a "
    "Gaussian whose width equals the error that it leaves.",
    reference="Błasiok & Nakkiran 2023, arXiv 2309.12236",
    family=GRID_CELLS,
    finish=smooth_error,
    is_error=True,
)


RULE = 1.06  # Zhang et al. 2020, after Silverman: 1.06 σ n^(−1/5)


def kernel_curve(sums: Floats, n_effective: Floats) -> tuple[Floats, Floats]:
    """Return smoothed weight and smoothed outcome in the cells of the grid."""
    weight = sums[0]
    total = weight.sum(axis=-1)
    mean = divide((weight * CENTRES).sum(axis=-1), total, 0.0)
    spread = (weight * (CENTRES - mean[..., None]) ** 2).sum(axis=-1)
    deviation = np.sqrt(divide(spread, total, 0.0))
    count = np.where(np.asarray(n_effective) > 0, n_effective, 1.0)
    bandwidth = np.asarray(RULE * deviation * count ** (-1 / 5))
    return smoothed(fft.dct(sums[0]), bandwidth), smoothed(fft.dct(sums[2]), bandwidth)


def deviation_from_curve(sums: Floats, n_effective: Floats) -> Floats:
    """Return ∫ |z − π(z)| f(z) dz, π and f by a reflected Gaussian (the paper: triweight)."""
    weight, outcome = kernel_curve(sums, n_effective)
    return divide(np.abs(CENTRES * weight - outcome).sum(axis=-1), sums[0].sum(axis=-1))


def deviation_of_outcome(sums: Floats, n_effective: Floats) -> Floats:
    """Return ∫ |smoothed outcome|, of outcomes less the sample's share in each cell."""
    outcome = kernel_curve(sums, n_effective)[1]
    return divide(np.abs(outcome).sum(axis=-1), sums[0].sum(axis=-1))


KERNEL = Metric(
    name="ece_kernel",
    title="kernel calibration error",
    summary="The mean distance between the confidence and a kernel estimate of the precision "
    "there, weighted by the density of the confidences.",
    reference="Zhang, Kailkhura & Han 2020, arXiv 2003.07329",
    family=GRID_CELLS,
    finish=deviation_from_curve,
    is_error=True,
    noise=deviation_of_outcome,
)


def area_between(sums: Floats, n_effective: Floats) -> Floats:
    """Return the mean over filled score bins, by width, of |mean confidence − precision|."""
    filled = sums[0] > 0
    gaps = divide(np.abs(sums[1] - sums[2]), sums[0], 0.0).sum(axis=-1)
    return divide(gaps, filled.sum(axis=-1).astype(np.float64))


AREA = Metric(
    name="area",
    title="area between curve and histogram",
    summary=f"The area between a class's confidence curve and its histogram of {N_SCORE_BINS} "
    "bins of the score, per unit of score where there are proteins. Over all classes: their "
    "mean by count.",
    reference="Salamon et al. 2023, section 4, doi 10.3390/make5030043",
    family=SCORE,
    finish=area_between,
    over_classes=lambda sums, n: weighted_over_classes(
        area_between(sums, n), sums[0].sum(axis=-1)
    ),
    is_error=True,
)
