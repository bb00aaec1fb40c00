"""The bandwidth of the kernel curve: the least one that leaves it steady.

The slope of the curve without prior has the sign of m_TP − m_FP, the difference
of the kernel-weighted mean scores of right and of wrong predictions around a
point (METHODS section 2). The number N(b) of sign changes over a grid says how
wavy the curve is at bandwidth b. It is not monotone in b, so bandwidths are
tried upward, one after the other, until one passes.
"""

from __future__ import annotations

import numpy as np

from credence.calibrators.masses import Masses, Nodes, nodes_of
from credence.predictions import Floats, Integers

REACH = 42.0  # e⁻⁴² = 6e-19: with a million nodes still below rounding
BLOCK = 65_536  # kernel values held at once: they stay in the processor's cache
MOST_POINTS = 128  # points whose windows share a width
LEAST_EXPONENT = -700.0  # far below e⁻⁴²; beyond it the exponential is slow


def local_sums(point: Floats, nodes: Nodes, bandwidth: float) -> tuple[Floats, Floats]:
    """Return the log of the kernel-weighted mass around each point, and its mean offset.

    The offset is the mean of (node − point), in score units.
    """
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
    return np.log(total) + nearest * steepness, offset / total


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


def sign_changes(sign: Floats) -> int:
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


def passes(right: Nodes, wrong: Nodes, scale: float, bandwidth: float, allowed: int) -> bool:
    """Return whether the slope's sign changes at most as often as allowed, on the grid.

    The grid is made finer step by step: the first that shows too many changes ends it.
    """
    level = grid_level(bandwidth, scale)
    difference = np.empty(0)
    for finer in range(COARSEST, level + 1):
        # From the second look on, points between those that are known.
        first, stride = (1, 2) if len(difference) else (0, 1)
        point = grid_points(np.arange(first, (1 << finer) + 1, stride), finer, scale)
        new = local_sums(point, right, bandwidth)[1] - local_sums(point, wrong, bandwidth)[1]
        merged = np.empty(len(difference) + len(new))
        merged[::stride], merged[first::stride] = difference if first else new, new
        difference = merged
        sign = np.sign(difference)
        sign[np.abs(difference) <= NO_SIGN * scale] = 0
        if sign_changes(sign) > allowed:
            return False
    return True


def steady_bandwidth(
    masses: Masses, scale: float, resolution: float, allowed: int
) -> float | None:
    """Return the least bandwidth with at most `allowed` sign changes of the slope."""
    made_for = 0.0
    for bandwidth in candidates(scale, resolution).tolist():
        if bandwidth >= 2.0 * made_for:  # nodes are as fine as the least bandwidth needs
            right, wrong = nodes_of(masses, bandwidth / NODES_PER_BANDWIDTH)
            made_for = bandwidth
        if passes(right, wrong, scale, bandwidth, allowed):
            return float(bandwidth)
    return None


def candidates(scale: float, resolution: float) -> Floats:
    """Return the bandwidths tried, ascending, in steps of 0.0005 of the scale."""
    first = max(resolution / scale, SMALLEST)
    n_steps = int(np.floor((GREATEST - first) / SMALLEST + NO_SIGN))
    return np.asarray(scale * (first + SMALLEST * np.arange(n_steps + 1)))
