"""By how much each cluster moves a fit: one Newton step without it.

The plain sandwich takes the residuals of a fit for its errors. A family that is
a large part of a class has pulled the fit towards itself, so its residuals are
too small. Leaving it out shows what it was worth: the CR3 estimator of
MacKinnon, Nielsen & Webb (2023, doi 10.1016/j.jeconom.2022.04.001).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from credence.calibrators.newton import MOST_LEFT_OUT
from credence.predictions import Floats

# A cluster that bears more of the parameters than this is left out by a solve of its
# own; what the others take with them is a series, whose terms fall at least so fast.
# Leverages sum to at most the number of parameters, so few clusters are heavy.
LEAST_LEVERAGE = 0.5
SERIES_ERROR = 1e-4  # of a shift, at most, where a series is cut


def shifts(
    score: Floats,
    inverse: Floats,
    leverage: Floats,
    curved: Callable[[Floats], Floats],
    curvature_of: Callable[[int], Floats],
) -> Floats:
    """Return (H − H_g)⁻¹ s_g for every cluster g, one per row.

    Parameters
    ----------
    score : array of float, shape (n_clusters, n_parameters)
        s_g, the gradient of each cluster's loss.
    inverse : array of float, shape (n_parameters, n_parameters)
        H⁻¹, of all.
    leverage : array of float, shape (n_clusters,)
        tr(H⁻¹ H_g), how many parameters each cluster bears.
    curved : callable
        Gives H_g x_g of directions x_g, one per row.
    curvature_of : callable
        Gives H_g of one cluster.
    """
    first = np.asarray(score @ inverse)
    is_light = leverage <= LEAST_LEVERAGE
    light = is_light[:, None]
    greatest = float(leverage[is_light].max(initial=0.0))
    n_terms = int(np.ceil(np.log(SERIES_ERROR) / np.log(greatest))) if greatest > 0 else 0
    shift = first * light
    for _ in range(n_terms):
        shift = (first + MOST_LEFT_OUT * curved(shift) @ inverse) * light
    for group in np.flatnonzero(~is_light):
        left = np.eye(len(inverse)) - MOST_LEFT_OUT * inverse @ curvature_of(int(group))
        shift[group] = np.linalg.solve(left, first[group])
    return shift


def jackknifed(shift: Floats, n_clusters: int) -> Floats:
    """Return the covariance that the shifts show: Σ x_g x_gᵀ · (G − 1)/G.

    Parameters
    ----------
    shift : array of float, shape (n, n_parameters)
        From :func:`shifts`.
    n_clusters : int
        G.

    Examples
    --------
    >>> jackknifed(np.array([[1.0], [-1.0]]), 2).tolist()
    [[1.0]]
    """
    few = (n_clusters - 1) / n_clusters if n_clusters > 1 else 1.0
    return np.asarray(shift.T @ shift * few)
