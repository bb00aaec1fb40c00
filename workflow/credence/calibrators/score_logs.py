"""Logarithms of a top score's share of the scale, and of what is left of it."""

from __future__ import annotations

import numpy as np

from credence.predictions import Floats

SMALLEST_SHARE = float(np.finfo(np.float64).tiny)
GREATEST_SHARE = 1.0 - float(np.finfo(np.float64).epsneg)  # the double before 1


def share_bounds(resolution: float, scale: float) -> tuple[float, float]:
    """Return the least and greatest share whose logarithms are taken.

    Half a step of the table from 0 and 1; where the step is not known, the
    nearest that doubles allow.

    Parameters
    ----------
    resolution, scale : float
        See :class:`credence.predictions.Predictions`.

    Examples
    --------
    >>> share_bounds(0.01, 10.0)
    (0.0005, 0.9995)
    """
    half_step = resolution / 2.0 / scale
    return max(half_step, SMALLEST_SHARE), min(1.0 - half_step, GREATEST_SHARE)


def log_parts(score: Floats, scale: float, low: float, high: float) -> tuple[Floats, Floats]:
    """Return log s and log(1 - s) of each score's share s of the scale.

    Parameters
    ----------
    score : array of float
        Top scores.
    scale : float
        What a row sums to.
    low, high : float
        From :func:`share_bounds`.
    """
    share = np.clip(score / scale, low, high)
    return np.asarray(np.log(share)), np.asarray(np.log1p(-share))
