"""Tail probabilities of a Brownian motion's greatest distance and range on [0, 1].

Each has two series, one that is exact with few terms for small values and one
for large; both are summed to machine precision, so that they agree where they meet.
"""

from __future__ import annotations

import math

from scipy import special

N_TERMS = 12  # far more than the smallest term that matters needs, on either side
MEETING = 1.5  # the small-value series is used below, the tail series above


def distance_tail(value: float) -> float:
    """Return P(max |B| > value) for a Brownian motion B on [0, 1].

    Parameters
    ----------
    value : float
        Not negative.

    Notes
    -----
    1 − (4/π) Σ (−1)^k/(2k+1) exp(−(2k+1)²π²/8x²), or 4 Σ (−1)^k Q((2k+1)x) with
    Q the normal tail ([1]_, [2]_).

    References
    ----------
    .. [1] Darling & Siegert 1953, doi 10.1214/aoms/1177728918.
    .. [2] Tygert 2022, arXiv 2202.00100.

    Examples
    --------
    >>> round(distance_tail(1.0), 4), round(distance_tail(2.2414), 4)
    (0.6292, 0.05)
    """
    if value <= 0.0:
        return 1.0
    if value < MEETING:
        total = 0.0
        for k in range(N_TERMS):
            odd = 2 * k + 1
            total += (1 - 2 * (k % 2)) / odd * math.exp(-((odd * math.pi / value) ** 2) / 8)
        return 1.0 - 4 / math.pi * total
    return 4 * math.fsum((1 - 2 * (k % 2)) * _upper((2 * k + 1) * value) for k in range(N_TERMS))


def range_tail(value: float) -> float:
    """Return P(max B − min B > value) for a Brownian motion B on [0, 1], B(0) = 0.

    Parameters
    ----------
    value : float
        Not negative.

    Notes
    -----
    1 − Σ (8/x² + 2/(k+½)²π²) exp(−2(k+½)²π²/x²), or 8 Σ (−1)^(k−1) k Q(kx) with
    Q the normal tail ([1]_, [2]_).

    References
    ----------
    .. [1] Feller 1951, doi 10.1214/aoms/1177729589.
    .. [2] Tygert 2022, arXiv 2202.00100.

    Examples
    --------
    >>> round(range_tail(1.0), 4), round(range_tail(2.4977), 4)
    (0.9366, 0.05)
    """
    if value <= 0.0:
        return 1.0
    if value < 2 * MEETING:
        total = 0.0
        for k in range(N_TERMS):
            half = (k + 0.5) * math.pi
            total += (8 / value**2 + 2 / half**2) * math.exp(-2 * (half / value) ** 2)
        return 1.0 - total
    return 8 * math.fsum((2 * (k % 2) - 1) * k * _upper(k * value) for k in range(1, N_TERMS))


def normal_tails(value: float) -> float:
    """Return P(|Z| > |value|) for a standard normal Z.

    Parameters
    ----------
    value : float
        A statistic with mean 0 and variance 1.

    Examples
    --------
    >>> round(normal_tails(-1.96), 3)
    0.05
    """
    return 2 * _upper(abs(value))


def _upper(value: float) -> float:
    """Return P(Z > value) for a standard normal Z."""
    return float(special.ndtr(-value))
