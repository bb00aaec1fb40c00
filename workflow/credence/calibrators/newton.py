"""Ridge logistic regression by Newton's method, with cluster-robust covariance."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from credence.predictions import Floats, Integers

MOST_STEPS = 100
MOST_HALVINGS = 40
# Newton's decrement, as a part of the weight, at which the last step is taken: it
# squares the distance to the minimum, which leaves rounding error.
DECREMENT_TOLERANCE = 1e-13
# A cluster left out takes this much of its curvature with it, so that something
# is left where one cluster is all there is: its interval is then as good as [0, 1].
MOST_LEFT_OUT = 0.999


@dataclass(frozen=True, eq=False)
class LogisticFit:
    """A penalised logistic regression at its minimum."""

    coefficient: Floats  # One per column of the design
    hessian: Floats  # Curvature of the penalised loss there


def log_loss(linear: Floats, target: Floats) -> Floats:
    """Return −t log p − (1−t) log(1−p) of p = logistic(linear), exactly.

    >>> log_loss(np.array([0.0]), np.array([1.0])).round(6).tolist()
    [0.693147]
    """
    return np.asarray(np.logaddexp(0.0, linear) - target * linear)


def newton_minimum(
    point: Floats,
    loss: Callable[[Floats], float],
    derivatives: Callable[[Floats], tuple[Floats, Floats]],
    solve: Callable[[Any, Any], Any],
    least: float,
) -> Floats:
    """Return the minimum of a convex loss: Newton's method, steps halved until it falls.

    `least` is the decrement at which the last step is taken.
    """
    best = loss(point)
    for _ in range(MOST_STEPS):
        gradient, hessian = derivatives(point)
        step = solve(hessian, gradient)
        if gradient @ step <= least:
            return np.asarray(point - step)
        for _ in range(MOST_HALVINGS):
            value = loss(point - step)
            if value <= best:
                break
            step = step / 2.0
        else:  # no step lowers the loss any more: this is the minimum in floats
            break
        point, best = point - step, value
    return point


def fit_logistic(
    design: Floats,
    target: Floats,
    weight: Floats,
    penalty: Floats,
    centre: Floats,
    start: Floats | None = None,
    tolerance: float = DECREMENT_TOLERANCE,
) -> LogisticFit:
    """Return the minimum of Σw·loss + ½ Σ penalty·(coefficient − centre)²."""

    def loss(value: Floats) -> float:
        ridge = 0.5 * float((penalty * (value - centre) ** 2).sum())
        return float(weight @ log_loss(design @ value, target)) + ridge

    def derivatives(value: Floats) -> tuple[Floats, Floats]:
        p = special.expit(design @ value)
        gradient = design.T @ (weight * (p - target)) + penalty * (value - centre)
        spread = weight * p * (1.0 - p)
        return gradient, design.T @ (design * spread[:, None]) + np.diag(penalty)

    def solve(hessian: Floats, gradient: Floats) -> Any:
        return np.linalg.lstsq(hessian, gradient, rcond=None)[0]

    start = (centre if start is None else start).copy()
    found = newton_minimum(start, loss, derivatives, solve, tolerance * float(weight.sum()))
    return LogisticFit(found, derivatives(found)[1])


def jackknifed(shift: Floats, n_clusters: int) -> Floats:
    """Return the covariance that the shifts show: Σ x_g x_gᵀ · (G − 1)/G.

    >>> jackknifed(np.array([[1.0], [-1.0]]), 2).tolist()
    [[1.0]]
    """
    few = (n_clusters - 1) / n_clusters if n_clusters > 1 else 1.0
    return np.asarray(shift.T @ shift * few)


def cluster_covariance(
    design: Floats, residual: Floats, curvature: Floats, cluster: Integers, fit: LogisticFit
) -> Floats:
    """Return the leave-one-cluster-out jackknife's covariance, one Newton step each.

    Notes
    -----
    Σ_g (H − H_g)⁻¹ s_g s_gᵀ (H − H_g)⁻¹ · (G − 1)/G, s_g and H_g the gradient
    and curvature of cluster g: the CR3 estimator of MacKinnon, Nielsen & Webb
    (2023), which does not take few clusters for many as the plain sandwich does.
    """
    n_clusters = int(cluster.max()) + 1
    n_features = design.shape[1]
    score = np.zeros((n_clusters, n_features))
    np.add.at(score, cluster, design * residual[:, None])
    own = np.zeros((n_clusters, n_features, n_features))
    order = np.argsort(cluster, kind="stable")
    starts = np.searchsorted(cluster[order], np.arange(1, n_clusters))
    for group, rows in enumerate(np.split(order, starts)):
        own[group] = design[rows].T @ (design[rows] * curvature[rows, None])
    shift = np.linalg.solve(fit.hessian - MOST_LEFT_OUT * own, score[:, :, None])[:, :, 0]
    return jackknifed(np.asarray(shift, dtype=np.float64), n_clusters)


def standard_error(gradient: Floats, covariances: Floats) -> Floats:
    """Return the larger of several standard errors of each row's log odds.

    >>> standard_error(np.array([[2.0]]), np.array([[[1.0]], [[4.0]]])).tolist()
    [4.0]
    """
    variances = [
        np.einsum("ij,ij->i", gradient @ covariance, gradient) for covariance in covariances
    ]
    return np.asarray(np.sqrt(np.maximum(np.max(variances, axis=0), 0.0)))


def log_odds_interval(
    linear: Floats, error: Floats, level: float, n_clusters: float | Floats
) -> tuple[Floats, Floats]:
    """Return the ends of the confidence whose log odds have a standard error.

    >>> low, high = log_odds_interval(np.array([0.0]), np.array([1.0]), 0.95, 10**6)
    >>> low.round(3).tolist(), high.round(3).tolist()
    ([0.123], [0.877])
    """
    freedom = np.maximum(np.asarray(n_clusters, dtype=float) - 1.0, 1.0)
    reach = special.stdtrit(freedom, 0.5 + level / 2.0) * error
    return special.expit(linear - reach), special.expit(linear + reach)
