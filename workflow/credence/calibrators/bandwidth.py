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


def local_sums(point: Floats, nodes: Nodes, bandwidth: Floats | float) -> LocalSums:
    """Return kernel-weighted mass and mean offset around each point."""
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
    """
    shape = (len(values) - width + 1, width)
    return np.ndarray(shape, values.dtype, values, strides=values.strides * 2)


LOWEST = 0.15  # of the scale: sign changes count from here; plots of [S23] start there
SMALLEST = 0.0005  # of the scale: the least bandwidth tried, and the step of the scan
GREATEST = 2.0  # of the scale: the greatest bandwidth tried
NO_SIGN = 1e-9  # of the scale: a smaller difference of means has no sign
POINTS_PER_BANDWIDTH = 8  # twice what is demanded: then Phynteny's nine come out exactly
NODES_PER_BANDWIDTH = 16  # bins of nodes: error of a kernel sum below (1/16)⁴ / 1440
FIRST_BATCH, LAST_BATCH = 16, 32  # bandwidths that the witnesses are tried on at once
COARSEST = 5  # the first look is at 2⁵ + 1 points
MON = {"mon": 0, "mon2": 2, "mon4": 4}  # sign changes allowed


@dataclass(frozen=True, eq=False)
class SlopeSign:
    """What decides the sign of the curve's slope."""

    right: Nodes  # Where right and wrong predictions lie
    wrong: Nodes
    scale: float  # See :class:`credence.predictions.Predictions`

    def difference(self, point: Floats, bandwidth: Floats | float) -> Floats:
        """Return m_TP − m_FP at each point (rows), for each bandwidth (columns)."""
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
class BandwidthScan:
    """One upward scan; it remembers the points that refuted the last bandwidth.

    A bandwidth is refuted as soon as points of the grid's range show too many
    sign changes. Those points tend to refute the next bandwidths too, so they
    are tried on many at once; only a bandwidth that they do not refute is looked
    at on the grid.
    """

    masses: Masses  # Where the weight lies
    scale: float  # Of the scores
    allowed: int  # Most sign changes

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

    def first_passing(self, bandwidths: Floats) -> float | None:
        """Return the first bandwidth that passes, None where none does."""
        at, batch = 0, FIRST_BATCH
        while at < len(bandwidths):
            slope = self.slope_at(float(bandwidths[at]))
            octave = int(np.searchsorted(bandwidths, 2.0 * self._made_for))
            tried = bandwidths[at : min(at + batch, octave)]
            n_refuted = self.n_refuted(slope, tried)
            at += n_refuted
            batch = min(2 * batch, LAST_BATCH)
            if n_refuted < len(tried):
                if self.passes(float(bandwidths[at])):
                    return float(bandwidths[at])
                at, batch = at + 1, FIRST_BATCH
        return None

    def n_refuted(self, slope: SlopeSign, bandwidths: Floats) -> int:
        """Return how many of the bandwidths, from the first on, the witnesses refute."""
        if len(self._witness) == 0:
            return 0
        sign = slope.sign(slope.difference(self._witness, bandwidths))
        # A witness without a sign proves nothing: its bandwidth goes to the grid.
        changes = (sign[1:] * sign[:-1] < 0).sum(axis=0)
        is_open = changes <= self.allowed
        return int(is_open.argmax()) if is_open.any() else len(bandwidths)

    def passes(self, bandwidth: float) -> bool:
        """Return whether the sign changes at most as often as allowed, on the grid."""
        slope = self.slope_at(bandwidth)
        level = grid_level(bandwidth, self.scale)
        point = grid_points(np.arange((1 << COARSEST) + 1), COARSEST, self.scale)
        difference = slope.difference(point, bandwidth)
        for finer in range(COARSEST, level + 1):
            if finer > COARSEST:
                new = grid_points(np.arange(1, 1 << finer, 2), finer, self.scale)
                difference = interleave(difference, slope.difference(new, bandwidth))
                point = interleave(point, new)
            sign = slope.sign(difference)
            if sign_changes(sign) > self.allowed:
                self._witness = witnesses(point, sign, difference, self.allowed + 2)
                return False
        return True


def interleave(coarse: NDArray[Any], new: NDArray[Any]) -> NDArray[Any]:
    """Return coarse values with the new ones between them."""
    merged = np.empty(len(coarse) + len(new), dtype=coarse.dtype)
    merged[::2], merged[1::2] = coarse, new
    return merged


def witnesses(point: Floats, sign: Integers, difference: Floats, n_needed: int) -> Floats:
    """Return points of alternating sign, those where it is clearest.

    Of each run of one sign the clearest point is taken. While there are more
    than needed, the least clear one goes: at an end alone, elsewhere with the
    less clear of its neighbours, which then are of one sign.
    """
    held = np.flatnonzero(sign)
    point, sign, size = point[held], sign[held], np.abs(difference[held])
    starts = np.flatnonzero(np.concatenate([[True], sign[1:] != sign[:-1]]))
    bounds = [*starts[1:].tolist(), len(sign)]
    best = [
        start + int(size[start:end].argmax())
        for start, end in zip(starts.tolist(), bounds, strict=True)
    ]
    clear = size[best].tolist()
    while len(best) > n_needed:
        last = len(best) - 1
        least = clear.index(min(clear))
        if len(best) == n_needed + 1:
            least = 0 if clear[0] <= clear[last] else last
        gone = [least]
        if 0 < least < last:
            gone.append(least - 1 if clear[least - 1] < clear[least + 1] else least + 1)
        for place in sorted(gone, reverse=True):
            del best[place], clear[place]
    return point[best]


def steady_bandwidth(
    masses: Masses, scale: float, resolution: float, allowed: int
) -> float | None:
    """Return the least bandwidth with at most `allowed` sign changes of the slope."""
    return BandwidthScan(masses, scale, allowed).first_passing(candidates(scale, resolution))


def candidates(scale: float, resolution: float) -> Floats:
    """Return the bandwidths tried, ascending, in steps of 0.0005 of the scale."""
    first = max(resolution / scale, SMALLEST)
    n_steps = int(np.floor((GREATEST - first) / SMALLEST + NO_SIGN))
    return np.asarray(scale * (first + SMALLEST * np.arange(n_steps + 1)))
