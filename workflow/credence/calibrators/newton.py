"""Ridge logistic regression by Newton's method, with cluster-robust covariance."""

from __future__ import annotations

from dataclasses import dataclass

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
    """A penalised logistic regression at its minimum.

    Parameters
    ----------
    coefficient : array of float, shape (n_features,)
        One per column of the design.
    hessian : array of float, shape (n_features, n_features)
        Curvature of the penalised loss there.
    """

    coefficient: Floats
    hessian: Floats


def log_loss(linear: Floats, target: Floats) -> Floats:
    """Return −t log p − (1−t) log(1−p) of p = logistic(linear), exactly.

    Parameters
    ----------
    linear : array of float
        Log odds.
    target : array of float
        1 where right, 0 where wrong.

    Examples
    --------
    >>> log_loss(np.array([0.0]), np.array([1.0])).round(6).tolist()
    [0.693147]
    """
    return np.asarray(np.logaddexp(0.0, linear) - target * linear)


def fit_logistic(
    design: Floats,
    target: Floats,
    weight: Floats,
    penalty: Floats,
    centre: Floats,
    start: Floats | None = None,
    tolerance: float = DECREMENT_TOLERANCE,
) -> LogisticFit:
    """Return the minimum of Σw·loss + ½ Σ penalty·(coefficient − centre)².

    Parameters
    ----------
    design : array of float, shape (n_samples, n_features)
        With a column of ones where an intercept is wanted.
    target, weight : array of float, shape (n_samples,)
        Outcomes (0, 1) and positive weights.
    penalty, centre : array of float, shape (n_features,)
        Strength, 0 for none, and the value shrunk towards.
    start : array of float, optional
        Where to begin; `centre` unless given.
    tolerance : float
        Newton's decrement at the last step, as a part of the weight.
    """
    coefficient = (centre if start is None else start).copy()
    total = weight.sum()
    linear = design @ coefficient

    def loss_at(value: Floats, log_odds: Floats) -> float:
        ridge = 0.5 * float((penalty * (value - centre) ** 2).sum())
        return float(weight @ log_loss(log_odds, target)) + ridge

    loss = loss_at(coefficient, linear)
    for _ in range(MOST_STEPS):
        p = special.expit(linear)
        gradient = design.T @ (weight * (p - target)) + penalty * (coefficient - centre)
        hessian = _curvature(design, weight * p * (1.0 - p), penalty)
        step = np.linalg.lstsq(hessian, gradient, rcond=None)[0]
        if gradient @ step <= tolerance * total:
            coefficient = coefficient - step
            linear = design @ coefficient
            break
        for _ in range(MOST_HALVINGS):
            trial = coefficient - step
            trial_linear = design @ trial
            trial_loss = loss_at(trial, trial_linear)
            if trial_loss <= loss:
                break
            step = step / 2.0
        else:  # no step lowers the loss any more: this is the minimum in floats
            break
        coefficient, linear, loss = trial, trial_linear, trial_loss
    p = special.expit(linear)
    return LogisticFit(coefficient, _curvature(design, weight * p * (1.0 - p), penalty))


def cluster_covariance(
    design: Floats, residual: Floats, curvature: Floats, cluster: Integers, fit: LogisticFit
) -> Floats:
    """Return the leave-one-cluster-out jackknife's covariance, one Newton step each.

    Parameters
    ----------
    design : array of float, shape (n_samples, n_features)
        The design of the fit.
    residual : array of float, shape (n_samples,)
        w (p − t).
    curvature : array of float, shape (n_samples,)
        w p (1 − p).
    cluster : array of int, shape (n_samples,)
        Codes of clusters, from 0.
    fit : LogisticFit
        The minimum.

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
    starts = np.searchsorted(cluster[order], np.arange(n_clusters))
    rows, weights = design[order], curvature[order]
    ends = np.append(starts[1:], len(order))
    for group, (start, end) in enumerate(zip(starts, ends, strict=True)):
        part = rows[start:end]
        own[group] = part.T @ (part * weights[start:end, None])
    shifts = np.linalg.solve(fit.hessian - MOST_LEFT_OUT * own, score[:, :, None])[:, :, 0]
    few = (n_clusters - 1) / n_clusters if n_clusters > 1 else 1.0
    return np.asarray(shifts.T @ shifts * few)


def standard_error(gradient: Floats, covariances: Floats) -> Floats:
    """Return the larger of several standard errors of each row's log odds.

    Parameters
    ----------
    gradient : array of float, shape (n_samples, n_features)
        Derivatives of each row's log odds.
    covariances : array of float, shape (n_kinds, n_features, n_features)
        Of the coefficients: what the clusters show, and what the model itself
        implies. A class that can be told apart without error shows no residuals,
        and yet its coefficients are not known exactly.

    Examples
    --------
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

    Parameters
    ----------
    linear, error : array of float
        Log odds and their standard errors.
    level : float
        Coverage.
    n_clusters : float or array of float
        Gives Student's t its degrees of freedom, one less.

    Examples
    --------
    >>> low, high = log_odds_interval(np.array([0.0]), np.array([1.0]), 0.95, 10**6)
    >>> low.round(3).tolist(), high.round(3).tolist()
    ([0.123], [0.877])
    """
    freedom = np.maximum(np.asarray(n_clusters, dtype=float) - 1.0, 1.0)
    reach = special.stdtrit(freedom, 0.5 + level / 2.0) * error
    return special.expit(linear - reach), special.expit(linear + reach)


def _curvature(design: Floats, curvature: Floats, penalty: Floats) -> Floats:
    return np.asarray(design.T @ (design * curvature[:, None]) + np.diag(penalty))
