"""Calibration error against the kernel curve of shares over confidence."""

from __future__ import annotations

import numpy as np

from credence.metrics.grid import GRID, centres, smoothed, transform
from credence.metrics.judged import divide
from credence.metrics.protocol import Metric
from credence.predictions import Floats

RULE = 1.06  # Zhang et al. 2020, after Silverman: 1.06 σ n^(−1/5)


def bandwidth_of(weight: Floats, n_effective: Floats) -> Floats:
    """Return 1.06 σ n^(−1/5), σ the standard deviation of the confidences.

    Parameters
    ----------
    weight : array of float, shape (…, n_cells)
        Weight in each cell of the grid.
    n_effective : array of float, shape (…)
        Kish's number of proteins.
    """
    total = weight.sum(axis=-1)
    place = centres()
    mean = divide((weight * place).sum(axis=-1), total, 0.0)
    spread = (weight * (place - mean[..., None]) ** 2).sum(axis=-1)
    deviation = np.sqrt(divide(spread, total, 0.0))
    count = np.where(np.asarray(n_effective) > 0, n_effective, 1.0)
    return np.asarray(RULE * deviation * count ** (-1 / 5))


def kernel_curve(sums: Floats, n_effective: Floats) -> tuple[Floats, Floats]:
    """Return smoothed weight and smoothed outcome in the cells of the grid.

    Parameters
    ----------
    sums : array of float, shape (n_channels, …, n_cells)
        Weight, confidence and outcome summed on the grid.
    n_effective : array of float, shape (…)
        Kish's number of proteins.
    """
    bandwidth = bandwidth_of(sums[0], n_effective)
    return smoothed(transform(sums[0]), bandwidth), smoothed(transform(sums[2]), bandwidth)


def deviation_from_curve(sums: Floats, n_effective: Floats) -> Floats:
    """Return ∫ |z − π(z)| f(z) dz, π the kernel curve, f the kernel density.

    *Departs from the paper:* a Gaussian, reflected at 0 and 1, in place of the
    triweight kernel.

    Parameters
    ----------
    sums : array of float, shape (n_channels, …, n_cells)
        Weight, confidence and outcome summed on the grid.
    n_effective : array of float, shape (…)
        Kish's number of proteins.
    """
    weight, outcome = kernel_curve(sums, n_effective)
    total = sums[0].sum(axis=-1)
    return divide(np.abs(centres() * weight - outcome).sum(axis=-1), total)


def deviation_of_outcome(sums: Floats, n_effective: Floats) -> Floats:
    """Return ∫ |smoothed outcome|, of outcomes less the sample's share in each cell.

    Parameters
    ----------
    sums : array of float, shape (n_channels, …, n_cells)
        Weight on the grid, and what of the outcome is beyond the sample's share.
    n_effective : array of float, shape (…)
        Kish's number of proteins.
    """
    _, outcome = kernel_curve(sums, n_effective)
    return divide(np.abs(outcome).sum(axis=-1), sums[0].sum(axis=-1))


METRIC = Metric(
    name="ece_kernel",
    title="kernel calibration error",
    summary="The mean distance between the confidence and a kernel estimate of the share right "
    "there, weighted by the density of the confidences.",
    reference="Zhang, Kailkhura & Han 2020, arXiv 2003.07329",
    family=GRID,
    finish=deviation_from_curve,
    is_error=True,
    noise=deviation_of_outcome,
)
