"""Gaussian kernel sums over nodes, in logs, so that no gap is too wide.

Around a point only the nodes count whose kernel is within a factor e⁻⁴² of that
of the nearest node: all others change the sum by less than rounding does. In a
gap the nearest nodes set the scale, however far away they are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from credence.calibrators.binning import Nodes
from credence.predictions import Floats

REACH = 42.0  # e⁻⁴² = 6e-19: with a million nodes still below rounding
BLOCK = 65_536  # kernel values held at once: they stay in the processor's cache
MOST_POINTS = 128  # points whose windows share a width
LEAST_EXPONENT = -700.0  # far below e⁻⁴²; beyond it the exponential is slow


@dataclass(frozen=True, eq=False)
class LocalSums:
    """Kernel sums around points.

    Parameters
    ----------
    log_mass : array of float
        Log of the kernel-weighted mass.
    offset : array of float
        Kernel-weighted mean of (node − point), in score units.
    """

    log_mass: Floats
    offset: Floats


def local_sums(point: Floats, nodes: Nodes, bandwidth: Floats | float) -> LocalSums:
    """Return kernel-weighted mass and mean offset around each point.

    Parameters
    ----------
    point : array of float, shape (n_points,)
        Where to look; any order.
    nodes : Nodes
        At least one.
    bandwidth : float or array of float, shape (n_bandwidths,)
        Standard deviation of the Gaussian kernel. Of several, the sums have the
        shape (n_points, n_bandwidths).
    """
    score = nodes.score
    steepness = -0.5 / np.square(np.atleast_1d(bandwidth))
    after = score.searchsorted(point)
    before = np.maximum(after - 1, 0)
    after = np.minimum(after, len(score) - 1)
    nearest = np.minimum(np.abs(point - score[before]), np.abs(point - score[after])) ** 2
    radius = np.sqrt(nearest - REACH / steepness.max())
    # Nodes this far off count for nothing, even at the greatest bandwidth.
    far = max(LEAST_EXPONENT / steepness.min(), -2.0 * REACH / steepness.max())
    start = score.searchsorted(point - radius, side="left")
    n_held = score.searchsorted(point + radius, side="right") - start
    total = np.empty((len(point), len(steepness)))
    offset = np.empty_like(total)
    begin = 0
    while begin < len(point):
        # Windows of one width are copied row by row; a wider one only holds more nodes.
        width = int(n_held[begin : begin + MOST_POINTS].max())
        n_points = min(max(BLOCK // (width * len(steepness)), 1), MOST_POINTS)
        block = slice(begin, begin + n_points)
        first = np.minimum(start[block], len(score) - width)
        gap = windows(score, width)[first]
        gap -= point[block, None]
        mass = windows(nodes.mass, width)[first]
        excess = gap * gap
        excess -= nearest[block, None]
        np.minimum(excess, far, out=excess)
        kernel = excess[:, None, :] * steepness[:, None]
        np.exp(kernel, out=kernel)
        np.vecdot(kernel, mass[:, None, :], out=total[block])
        gap *= mass
        np.vecdot(kernel, gap[:, None, :], out=offset[block])
        begin += n_points
    offset /= total
    log_mass = np.log(total) + nearest[:, None] * steepness
    if np.ndim(bandwidth) == 0:
        return LocalSums(log_mass[:, 0], offset[:, 0])
    return LocalSums(log_mass, offset)


def windows(values: Floats, width: int) -> Floats:
    """Return all stretches of neighbouring values, as a view: row i begins at value i.

    What numpy's sliding_window_view gives, without its checks: they take longer
    than the sums over a small window.

    Parameters
    ----------
    values : array of float
        Contiguous.
    width : int
        At least 1, at most their number.
    """
    shape = (len(values) - width + 1, width)
    return np.ndarray(shape, values.dtype, values, strides=values.strides * 2)
