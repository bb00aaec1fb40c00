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
BLOCK = 1_000_000  # kernel values held at once


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


def local_sums(point: Floats, nodes: Nodes, bandwidth: float) -> LocalSums:
    """Return kernel-weighted mass and mean offset around each point.

    Parameters
    ----------
    point : array of float
        Where to look; any order.
    nodes : Nodes
        At least one.
    bandwidth : float
        Standard deviation of the Gaussian kernel.
    """
    score = nodes.score
    after = np.clip(np.searchsorted(score, point), 1, max(len(score) - 1, 1))
    last = np.minimum(after, len(score) - 1)
    nearest = np.minimum(np.abs(point - score[after - 1]), np.abs(point - score[last]))
    radius = np.sqrt(nearest**2 + 2.0 * REACH * bandwidth**2)
    start = np.searchsorted(score, point - radius, side="left")
    stop = np.searchsorted(score, point + radius, side="right")
    n_held = stop - start
    log_mass = np.empty(len(point))
    offset = np.empty(len(point))
    ends = np.cumsum(n_held)
    begin = 0
    while begin < len(point):
        done = ends[begin - 1] if begin else 0
        until = max(int(np.searchsorted(ends, done + BLOCK, side="right")), begin + 1)
        block = slice(begin, until)
        held = n_held[block]
        firsts = np.cumsum(held) - held
        index = np.arange(int(held.sum())) + np.repeat(start[block] - firsts, held)
        gap = score[index] - np.repeat(point[block], held)
        exponent = (np.repeat(nearest[block] ** 2, held) - gap**2) / (2.0 * bandwidth**2)
        kernel = nodes.mass[index] * np.exp(exponent)
        total = np.add.reduceat(kernel, firsts)
        offset[block] = np.add.reduceat(kernel * gap, firsts) / total
        log_mass[block] = np.log(total) - nearest[block] ** 2 / (2.0 * bandwidth**2)
        begin = until
    return LocalSums(log_mass, offset)
