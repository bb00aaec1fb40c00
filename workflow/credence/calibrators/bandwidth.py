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

from credence.calibrators.binning import Masses, Nodes, nodes_of
from credence.calibrators.kernel_sums import local_sums
from credence.predictions import Floats, Integers

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
    """What decides the sign of the curve's slope.

    Parameters
    ----------
    right, wrong : Nodes
        Where right and wrong predictions lie.
    scale : float
        See :class:`credence.predictions.Predictions`.
    """

    right: Nodes
    wrong: Nodes
    scale: float

    def difference(self, point: Floats, bandwidth: float) -> Floats:
        """Return m_TP − m_FP at each point.

        Parameters
        ----------
        point : array of float
            Scores.
        bandwidth : float
            Of the kernel.
        """
        right = local_sums(point, self.right, bandwidth).offset
        wrong = local_sums(point, self.wrong, bandwidth).offset
        return right - wrong

    def sign(self, point: Floats, bandwidth: float) -> Integers:
        """Return the sign of the slope at each point, 0 where it has none."""
        difference = self.difference(point, bandwidth)
        sign = np.sign(difference).astype(np.int64)
        sign[np.abs(difference) <= NO_SIGN * self.scale] = 0
        return sign


def sign_changes(sign: Integers) -> int:
    """Return the number of changes in a row of signs; zeros have none.

    Parameters
    ----------
    sign : array of int
        −1, 0 or 1, in order of the score.

    Examples
    --------
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


@dataclass(eq=False)
class Scan:
    """One upward scan; it remembers the points that refuted the last bandwidth.

    Parameters
    ----------
    masses : Masses
        Where the weight lies.
    scale : float
        Of the scores.
    allowed : int
        Most sign changes.
    """

    masses: Masses
    scale: float
    allowed: int

    def __post_init__(self) -> None:
        self._witness = np.zeros(0)
        self._slope: SlopeSign | None = None
        self._made_for = 0.0

    def slope_at(self, bandwidth: float) -> SlopeSign:
        """Return the slope's sign from nodes that are fine for this bandwidth."""
        if self._slope is None or bandwidth >= 2.0 * self._made_for:
            width = bandwidth / NODES_PER_BANDWIDTH
            right, wrong = (nodes_of(self.masses, kind, width) for kind in ("right", "wrong"))
            self._slope = SlopeSign(right, wrong, self.scale)
            self._made_for = bandwidth
        return self._slope

    def passes(self, bandwidth: float) -> bool:
        """Return whether the sign changes at most as often as allowed.

        Parameters
        ----------
        bandwidth : float
            Of the kernel.
        """
        slope = self.slope_at(bandwidth)
        if len(self._witness):
            sign = slope.sign(self._witness, bandwidth)
            if sign_changes(sign) > self.allowed:
                return False
        level = grid_level(bandwidth, self.scale)
        point = grid_points(np.arange((1 << COARSEST) + 1), COARSEST, self.scale)
        sign = slope.sign(point, bandwidth)
        for finer in range(COARSEST, level + 1):
            if finer > COARSEST:
                new = grid_points(np.arange(1, 1 << finer, 2), finer, self.scale)
                sign = interleave(sign, slope.sign(new, bandwidth))
                point = interleave(point, new)
            if sign_changes(sign) > self.allowed:
                self._witness = witnesses(point, sign, slope.difference(point, bandwidth))
                return False
        return True


def interleave(coarse: NDArray[Any], new: NDArray[Any]) -> NDArray[Any]:
    """Return coarse values with the new ones between them."""
    merged = np.empty(len(coarse) + len(new), dtype=coarse.dtype)
    merged[::2], merged[1::2] = coarse, new
    return merged


def witnesses(point: Floats, sign: Integers, difference: Floats) -> Floats:
    """Return, for each run of one sign, the point where it is clearest.

    Parameters
    ----------
    point : array of float
        Grid, ascending.
    sign : array of int
        Of the slope there.
    difference : array of float
        What the sign is of.
    """
    held = sign != 0
    point, sign, size = point[held], sign[held], np.abs(difference[held])
    run = np.cumsum(np.diff(sign, prepend=sign[0]) != 0)
    order = np.lexsort((-size, run))
    first = np.ones(len(order), dtype=np.bool_)
    first[1:] = run[order][1:] != run[order][:-1]
    return point[order[first]]


def steady_bandwidth(
    masses: Masses, scale: float, resolution: float, allowed: int
) -> float | None:
    """Return the least bandwidth with at most `allowed` sign changes of the slope.

    Parameters
    ----------
    masses : Masses
        Of right and wrong predictions, both present.
    scale, resolution : float
        See :class:`credence.predictions.Predictions`.
    allowed : int
        0 for b_mon, 2 for b_mon2, 4 for b_mon4.

    Returns
    -------
    float or None
        None where no bandwidth up to twice the scale passes.
    """
    scan = Scan(masses, scale, allowed)
    for bandwidth in candidates(scale, resolution):
        if scan.passes(bandwidth):
            return bandwidth
    return None


def candidates(scale: float, resolution: float) -> list[float]:
    """Return the bandwidths tried, ascending, in steps of 0.0005 of the scale."""
    first = max(resolution / scale, SMALLEST)
    n_steps = int(np.floor((GREATEST - first) / SMALLEST + NO_SIGN))
    return [float(scale * (first + SMALLEST * step)) for step in range(n_steps + 1)]
