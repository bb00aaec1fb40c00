"""The walk of cumulative differences, and the statistics read from it (decision 0011).

C_j = Σ_{i≤j} w(t − s) / Σ w over proteins sorted by confidence s, read at the last of equal ones;
C_0 = 0 counts. Random signs, one per cluster, make walks of the same scatter.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse, special

from credence.draws import KEYS_AT_ONCE, uniforms
from credence.metrics.metric import sum_by
from credence.predictions import Booleans, Floats, Integers

KOLMOGOROV_SMIRNOV = "kolmogorov_smirnov"
RANGE = "kuiper"
SPIEGELHALTER = "spiegelhalter"


@dataclass(frozen=True, kw_only=True, eq=False)
class Walk:
    """Differences between outcome and confidence, summed from the least confidence up."""

    difference: Floats  # w(t − s) / Σ w of each protein
    group: Integers  # Rank of its confidence among the different ones
    slope: Floats  # 1 − 2s, the weights of Spiegelhalter's statistic
    mass: Floats  # Σ w of each group over Σ w
    scale: float  # σ, of the walk's end under independence; 0: no test can be made
    tilt: float  # The same of Spiegelhalter's sum

    @property
    def n_groups(self) -> int:
        """Number of different confidences."""
        return len(self.mass)


def walk_of(confidence: Floats, is_correct: Booleans, weight: Floats) -> Walk:
    """Return the walk of some proteins."""
    values, group = np.unique(confidence, return_inverse=True)
    share = weight / weight.sum()
    variance = share**2 * confidence * (1.0 - confidence)
    slope = 1.0 - 2.0 * confidence
    mass = sum_by(group, share, len(values))
    scale, tilt = (float(np.sqrt(part.sum())) for part in (variance, variance * slope**2))
    return Walk(
        difference=share * (is_correct - confidence),
        group=group,
        slope=slope,
        mass=mass,
        scale=scale,
        tilt=tilt,
    )


def statistics(steps: Floats, tilted: Floats, walk: Walk) -> dict[str, Floats]:
    """Return max|C|/σ, (max C − min C)/σ (C_0 = 0) and Spiegelhalter's Z; NaN if σ is 0."""
    path = np.cumsum(steps, axis=0)
    top = np.maximum(path.max(axis=0), 0.0)
    bottom = np.minimum(path.min(axis=0), 0.0)
    blank = np.full(top.shape, np.nan)
    return {
        KOLMOGOROV_SMIRNOV: np.maximum(top, -bottom) / walk.scale if walk.scale > 0 else blank,
        RANGE: (top - bottom) / walk.scale if walk.scale > 0 else blank,
        SPIEGELHALTER: tilted / walk.tilt if walk.tilt > 0 else blank,
    }


def observed(walk: Walk) -> dict[str, float]:
    """Return the three statistics of the walk itself."""
    steps = sum_by(walk.group, walk.difference, walk.n_groups)
    tilted = np.array([(walk.difference * walk.slope).sum()])
    return {name: float(v[0]) for name, v in statistics(steps[:, None], tilted, walk).items()}


@dataclass(frozen=True, kw_only=True, eq=False)
class SignedWalks:
    """Walks with random signs per cluster."""

    steps: Floats  # Their steps
    tilted: Floats  # Their Spiegelhalter sums ΣD, over the clusters' signed parts D
    cubes: Floats  # ΣD³
    squares: float  # ΣD², which no sign changes

    def shifted(self, walk: Walk, shift: float) -> "SignedWalks":
        """Return the walks had all confidences been too low by `shift`."""
        slope = np.zeros(walk.n_groups)
        slope[walk.group] = walk.slope  # the same throughout a group
        tilt = float((walk.mass * slope).sum())
        steps = self.steps + shift * walk.mass[:, None]
        return SignedWalks(
            steps=steps, tilted=self.tilted + shift * tilt, cubes=self.cubes, squares=self.squares
        )

    def compared(self, walk: Walk) -> dict[str, Floats]:
        """Return both distances, and Spiegelhalter's sum over its own scatter, not skewed."""
        distances = statistics(self.steps, self.tilted, walk)
        if walk.tilt > 0:
            distances[SPIEGELHALTER] = without_skewness(self.tilted, self.squares, self.cubes)
        return distances


def without_skewness(sums: Floats, squares: float, cubes: Floats) -> Floats:
    """Return t = ΣD/√ΣD² made symmetric: t + at²/3 + a²t³/27 + a/6, a = ΣD³/(ΣD²)^(3/2) (Hall)."""
    if squares <= 0:
        return np.zeros(len(sums))
    t, a = sums / np.sqrt(squares), cubes / squares**1.5
    return np.asarray(t + a * t**2 / 3.0 + a**2 * t**3 / 27.0 + a / 6.0)


def random_signs(key: NDArray[np.uint64], n_draws: int) -> NDArray[np.int8]:
    """Return +1 or −1 for each cluster and draw, shape (n_clusters, n_draws)."""
    signs = np.empty((len(key), n_draws), dtype=np.int8)
    for start in range(0, len(key), KEYS_AT_ONCE):  # an eighth of the memory of all at once
        rows = slice(start, start + KEYS_AT_ONCE)
        signs[rows] = np.where(uniforms(key[rows], range(n_draws), "random signs") < 0.5, 1, -1)
    return signs


def signed_walks(walk: Walk, cluster: Integers, signs: NDArray[np.int8]) -> SignedWalks:
    """Return the walks whose clusters have random signs (multiplier bootstrap)."""
    shape = (walk.n_groups, len(signs))
    by_group = sparse.coo_array((walk.difference, (walk.group, cluster)), shape=shape).tocsr()
    tilt = sum_by(cluster, walk.difference * walk.slope, len(signs))
    factor = signs.astype(np.float64)
    squares = float((tilt**2).sum())
    return SignedWalks(
        steps=np.asarray(by_group @ factor),
        tilted=tilt @ factor,
        cubes=tilt**3 @ factor,
        squares=squares,
    )


def holm(p_values: Floats) -> Floats:
    """Return p-values adjusted for how many there are; NaN stays and does not count."""
    adjusted = np.full(len(p_values), np.nan)
    known = np.flatnonzero(~np.isnan(p_values))
    order = known[np.argsort(p_values[known], kind="stable")]
    factor = np.arange(len(order), 0, -1)
    adjusted[order] = np.minimum(np.maximum.accumulate(p_values[order] * factor), 1.0)
    return adjusted


N_TERMS = 12  # far more than the smallest term that matters needs, on either side
MEETING = 1.5  # the small-value series is used below, the tail series above


def distance_tail(value: float) -> float:
    """Return P(max |B| > value) for a Brownian motion B on [0, 1].

    1 − (4/π) Σ (−1)^k/(2k+1) exp(−(2k+1)²π²/8x²), or 4 Σ (−1)^k Q((2k+1)x) with Q the normal tail
    (Darling & Siegert 1953, doi 10.1214/aoms/1177728918; Tygert 2022, arXiv 2202.00100).
    """
    if value <= 0.0:
        return 1.0
    if value < MEETING:
        total = 0.0
        for k in range(N_TERMS):
            odd = 2 * k + 1
            total += (1 - 2 * (k % 2)) / odd * math.exp(-((odd * math.pi / value) ** 2) / 8)
        return 1.0 - 4 / math.pi * total
    return 4 * math.fsum(
        (1 - 2 * (k % 2)) * normal_tail((2 * k + 1) * value) for k in range(N_TERMS)
    )


def range_tail(value: float) -> float:
    """Return P(max B − min B > value) for a Brownian motion B on [0, 1], B(0) = 0.

    1 − Σ (8/x² + 2/(k+½)²π²) exp(−2(k+½)²π²/x²), or 8 Σ (−1)^(k−1) k Q(kx) with Q the normal tail
    (Feller 1951, doi 10.1214/aoms/1177729589; Tygert 2022, arXiv 2202.00100).
    """
    if value <= 0.0:
        return 1.0
    if value < 2 * MEETING:
        total = 0.0
        for k in range(N_TERMS):
            half = (k + 0.5) * math.pi
            total += (8 / value**2 + 2 / half**2) * math.exp(-2 * (half / value) ** 2)
        return 1.0 - total
    return 8 * math.fsum((2 * (k % 2) - 1) * k * normal_tail(k * value) for k in range(1, N_TERMS))


def normal_tails(value: float) -> float:
    """Return P(|Z| > |value|) for a standard normal Z."""
    return 2 * normal_tail(abs(value))


def normal_tail(value: float) -> float:
    """Return P(Z > value) for a standard normal Z."""
    return float(special.ndtr(-value))
