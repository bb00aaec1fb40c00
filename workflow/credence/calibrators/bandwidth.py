"""The bandwidth of the kernel curve: the least one that leaves it steady.

The slope of the curve without prior has the sign of m_TP − m_FP, the difference
of the kernel-weighted mean scores of right and of wrong predictions around a
point (METHODS section 2). The number N(b) of sign changes over a grid says how
wavy the curve is at bandwidth b. It is not monotone in b, so bandwidths are
tried upward, one after the other, until one passes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credence.calibrators.binning import Nodes, nodes_of
from credence.calibrators.protocol import Masses
from credence.predictions import Floats, Integers

REACH = 42.0  # e⁻⁴² = 6e-19: with a million nodes still below rounding
BLOCK = 65_536  # kernel values held at once: they stay in the processor's cache
MOST_POINTS = 128  # points whose windows share a width
LEAST_EXPONENT = -700.0  # far below e⁻⁴²; beyond it the exponential is slow


@dataclass(frozen=True, eq=False)
class LocalSums:
    """Kernel sums around points."""

    log_mass: Floats  # Log of the kernel-weighted mass
    offset: Floats  # Kernel-weighted mean of (node − point), in score units


def local_sums(point: Floats, nodes: Nodes, bandwidth: float) -> LocalSums:
    """Return kernel-weighted mass and mean offset around each point."""
    score = nodes.score
    steepness = -0.5 / (bandwidth * bandwidth)
    after = score.searchsorted(point)
    before = np.maximum(after - 1, 0)
    after = np.minimum(after, len(score) - 1)
    nearest = np.minimum(np.abs(point - score[before]), np.abs(point - score[after])) ** 2
    radius = np.sqrt(nearest - REACH / steepness)
    far = LEAST_EXPONENT / steepness  # nodes this far off count for nothing
    start = score.searchsorted(point - radius, side="left")
    n_held = score.searchsorted(point + radius, side="right") - start
    total = np.empty(len(point))
    offset = np.empty_like(total)
    begin = 0
    while begin < len(point):
        # Windows of one width are copied row by row; a wider one only holds more nodes.
        width = int(n_held[begin : begin + MOST_POINTS].max())
        n_points = min(max(BLOCK // width, 1), MOST_POINTS)
        block = slice(begin, begin + n_points)
        first = np.minimum(start[block], len(score) - width)
        gap = windows(score, width)[first]
        gap -= point[block, None]
        mass = windows(nodes.mass, width)[first]
        kernel = gap * gap
        kernel -= nearest[block, None]
        np.minimum(kernel, far, out=kernel)
        kernel *= steepness
        np.exp(kernel, out=kernel)
        np.vecdot(kernel, mass, out=total[block])
        gap *= mass
        np.vecdot(kernel, gap, out=offset[block])
        begin += n_points
    return LocalSums(np.log(total) + nearest * steepness, offset / total)


def windows(values: Floats, width: int) -> Floats:
    """Return all stretches of neighbouring values, as a view: row i begins at value i.

    What numpy's sliding_window_view gives, without its checks: they take longer
    than the sums over a small window.
    """
    shape = (len(values) - width + 1, width)
    return np.ndarray(shape, values.dtype, values, strides=values.strides * 2)


LOWEST = 0.15  # of the scale: sign changes count from here; plots of [S23] start there
SMALLEST = 0.0005  # of the scale: the least bandwidth tried, and the step of the scan
GREATEST = 2.0  # of the scale: the greatest bandwidth tried
NO_SIGN = 1e-9  # of the scale: a smaller difference of means has no sign
POINTS_PER_BANDWIDTH = 8  # twice what is demanded: then Phynteny's nine come out exactly
NODES_PER_BANDWIDTH = 16  # bins of nodes: error of a kernel sum below (1/16)⁴ / 1440
COARSEST = 5  # the first look is at 2⁵ + 1 points
MON = {"mon": 0, "mon2": 2, "mon4": 4}  # sign changes allowed


@dataclass(frozen=True, eq=False)
class SlopeSign:
    """What decides the sign of the curve's slope."""

    right: Nodes  # Where right and wrong predictions lie
    wrong: Nodes
    scale: float  # See :class:`credence.predictions.Predictions`

    def difference(self, point: Floats, bandwidth: float) -> Floats:
        """Return m_TP − m_FP at each point."""
        right = local_sums(point, self.right, bandwidth).offset
        wrong = local_sums(point, self.wrong, bandwidth).offset
        return right - wrong

    def sign(self, difference: Floats) -> Integers:
        """Return the sign of each difference of means, 0 where it has none."""
        sign = np.sign(difference).astype(np.int64)
        sign[np.abs(difference) <= NO_SIGN * self.scale] = 0
        return sign


def sign_changes(sign: Integers) -> int:
    """Return the number of changes in a row of signs; zeros have none.

    >>> sign_changes(np.array([1, 0, 1, -1, 0, 0, 1]))
    2
    """
    held = sign[sign != 0]
    return int((held[1:] != held[:-1]).sum())


def grid_level(
    bandwidth: float, scale: float, points_per_bandwidth: int = POINTS_PER_BANDWIDTH
) -> int:
    """Return j so that 2^j steps over the grid's range are fine enough."""
    steps = (1.0 - LOWEST) * scale / bandwidth * points_per_bandwidth
    return max(int(np.ceil(np.log2(steps))), COARSEST) if steps > 1 else COARSEST


def grid_points(position: Integers, level: int, scale: float) -> Floats:
    """Return the points at given positions of a level's grid."""
    low = LOWEST * scale
    return np.asarray(low + (scale - low) * position / (1 << level))


def interleave(coarse: NDArray[Any], new: NDArray[Any]) -> NDArray[Any]:
    """Return coarse values with the new ones between them."""
    merged = np.empty(len(coarse) + len(new), dtype=coarse.dtype)
    merged[::2], merged[1::2] = coarse, new
    return merged


def passes(slope: SlopeSign, bandwidth: float, allowed: int) -> bool:
    """Return whether the sign changes at most as often as allowed, on the grid.

    The grid is made finer step by step: the first that shows too many changes ends it.
    """
    level, scale = grid_level(bandwidth, slope.scale), slope.scale
    point = grid_points(np.arange((1 << COARSEST) + 1), COARSEST, scale)
    difference = slope.difference(point, bandwidth)
    for finer in range(COARSEST, level + 1):
        if finer > COARSEST:
            new = grid_points(np.arange(1, 1 << finer, 2), finer, scale)
            difference = interleave(difference, slope.difference(new, bandwidth))
        if sign_changes(slope.sign(difference)) > allowed:
            return False
    return True


def steady_bandwidth(
    masses: Masses, scale: float, resolution: float, allowed: int
) -> float | None:
    """Return the least bandwidth with at most `allowed` sign changes of the slope."""
    made_for = 0.0
    for bandwidth in candidates(scale, resolution).tolist():
        if bandwidth >= 2.0 * made_for:  # nodes are as fine as the least bandwidth needs
            width = bandwidth / NODES_PER_BANDWIDTH
            right, wrong = (nodes_of(masses, kind, width) for kind in ("right", "wrong"))
            slope, made_for = SlopeSign(right, wrong, scale), bandwidth
        if passes(slope, bandwidth, allowed):
            return float(bandwidth)
    return None


def candidates(scale: float, resolution: float) -> Floats:
    """Return the bandwidths tried, ascending, in steps of 0.0005 of the scale."""
    first = max(resolution / scale, SMALLEST)
    n_steps = int(np.floor((GREATEST - first) / SMALLEST + NO_SIGN))
    return np.asarray(scale * (first + SMALLEST * np.arange(n_steps + 1)))
