"""Confidences on a fine grid, smoothed by a Gaussian that is reflected at 0 and 1.

The grid has the centres of equal cells. Smoothing multiplies the cosine
transform: that is the heat equation on [0, 1] with closed ends, whose kernel is
the Gaussian plus all its reflections, and whose mass nothing loses.
"""

from __future__ import annotations

import numpy as np
from scipy import fft

from credence.metrics.binning import equal_width
from credence.metrics.judged import Cells, Family, Judged, in_cells
from credence.predictions import Floats

N_CELLS = 256  # a step of 0.004: finer than any calibration set can tell apart


def _grid_cells(judged: Judged) -> Cells:
    return in_cells(judged, equal_width(judged.confidence, N_CELLS), N_CELLS)


def centres() -> Floats:
    """Return the centres of the cells."""
    return np.asarray((np.arange(N_CELLS) + 0.5) / N_CELLS)


def transform(masses: Floats) -> Floats:
    """Return the cosine transform of masses in cells, along the last axis.

    Parameters
    ----------
    masses : array of float, shape (…, N_CELLS)
        Per cell.
    """
    return np.asarray(fft.dct(masses, type=2, axis=-1))


def smoothed(transformed: Floats, bandwidth: Floats) -> Floats:
    """Return the masses in cells after smoothing.

    Parameters
    ----------
    transformed : array of float, shape (…, N_CELLS)
        From :func:`transform`.
    bandwidth : array of float, shape (…)
        Standard deviation of the Gaussian, on the axis of the confidence.
    """
    wave = np.pi * np.arange(N_CELLS)
    damping = np.exp(-0.5 * (wave * np.asarray(bandwidth)[..., None]) ** 2)
    return np.asarray(fft.idct(transformed * damping, type=2, axis=-1))


GRID = Family("grid", _grid_cells)
