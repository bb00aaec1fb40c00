"""Newton's method, and the cluster-robust uncertainty of what it finds, to the log-odds.

Var θ = H⁻¹ M H⁻¹, H the curvature of the loss and M the sum over clusters of the outer products
of their scores, each in a fit without the cluster (Liang & Zeger 1986, doi 10.1093/biomet/73.1.13;
decision 0007). A separable class leaves no residuals: the variance that the fitted probabilities
imply is kept beside it, and the larger one holds, direction by direction.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy

from credence.calibrators.protocol import FitOptions
from credence.predictions import Booleans, Floats, Integers

NEWTON_MOST_STEPS = 100
MOST_HALVINGS = 40
# Newton's decrement, as a part of the weight, at which the last step, which squares it, is taken.
DECREMENT_TOLERANCE = 1e-13
# A cluster left out takes this much of its curvature: something is left where it is all there is.
MOST_LEFT_OUT = 0.999


@dataclass(frozen=True, kw_only=True, eq=False)
class LogisticFit:
    """A penalised logistic regression at its minimum."""

    coefficient: Floats  # One per column of the design
    hessian: Floats  # Curvature of the penalised loss there


def log_loss(linear: Floats, target: Floats) -> Floats:
    """Return −t log p − (1−t) log(1−p) of p = logistic(linear), exactly."""
    return np.asarray(np.logaddexp(0.0, linear) - target * linear)


def newton_minimum(
    start: Floats,
    loss: Callable[[Floats], float | Floats],
    step_at: Callable[[Floats], tuple[Floats, bool | Booleans]],
    *,
    most_steps: int = NEWTON_MOST_STEPS,
    slack: float = 0.0,
    low: float | Floats = -np.inf,
    high: float | Floats = np.inf,
) -> Floats:
    """Return where a loss is least: Newton's method, a step halved until it raises no loss.

    Parameters
    ----------
    start
        Where the search begins, coordinates along the last axis. Rows along the axes before it
        are problems of their own, of which none moves another.
    loss
        The loss of each problem at such points; infinite or NaN where no step may end.
    step_at
        The step of each problem from such points, and whether it is the last. The last is taken
        as it is: Newton's method squares the error, below what the loss can show. Where the point
        need not move any more, the last step is 0.
    most_steps
        Steps after which the search ends wherever it is.
    slack
        Part of the loss that it may rise by: rounding, which would halve for ever.
    low, high
        Bounds of the coordinates; what a step brings beyond one is brought back to it.

    Notes
    -----
    A problem also ends where `MOST_HALVINGS` halves of its step do not help: it is at its minimum
    as far as floats can tell.
    """
    point, best = start, np.asarray(loss(start))
    is_open = np.ones(best.shape, dtype=np.bool_)
    for _ in range(most_steps):
        step, is_last = step_at(point)
        step = step * is_open[..., None]
        for _ in range(MOST_HALVINGS):
            trial = np.clip(point + step, low, high)
            value = np.asarray(loss(trial))
            is_taken = (value <= best + slack * np.abs(best)) | is_last | ~is_open
            if is_taken.all():
                break
            step = np.where(is_taken[..., None], step, step / 2.0)
        point = np.where(is_taken[..., None], trial, point)
        best = np.where(is_taken, value, best)
        is_open = is_open & is_taken & ~np.asarray(is_last)
        if not is_open.any():
            break
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
        p = scipy.special.expit(design @ value)
        gradient = design.T @ (weight * (p - target)) + penalty * (value - centre)
        spread = weight * p * (1.0 - p)
        return gradient, design.T @ (design * spread[:, None]) + np.diag(penalty)

    def step_at(value: Floats) -> tuple[Floats, bool]:
        gradient, hessian = derivatives(value)
        step = np.asarray(np.linalg.lstsq(hessian, -gradient, rcond=None)[0], dtype=np.float64)
        return step, bool(-gradient @ step <= tolerance * weight.sum())

    coefficient = newton_minimum(centre if start is None else start, loss, step_at)
    return LogisticFit(coefficient=coefficient, hessian=derivatives(coefficient)[1])


def jackknifed(shift: Floats, n_clusters: int) -> Floats:
    """Return the covariance that the shifts show: Σ x_g x_gᵀ · (G − 1)/G."""
    few = (n_clusters - 1) / n_clusters if n_clusters > 1 else 1.0
    return np.asarray(shift.T @ shift * few)


def cluster_covariance(
    design: Floats, residual: Floats, curvature: Floats, cluster: Integers, fit: LogisticFit
) -> Floats:
    """Return the covariance by leaving out each cluster, one Newton step each (decision 0007)."""
    n_clusters = int(cluster.max()) + 1
    n_features = design.shape[1]
    score = np.zeros((n_clusters, n_features))
    np.add.at(score, cluster, design * residual[:, None])
    part = np.zeros((n_clusters, n_features, n_features))
    order = np.argsort(cluster, kind="stable")
    starts = np.searchsorted(cluster[order], np.arange(1, n_clusters))
    for group, rows in enumerate(np.split(order, starts)):
        part[group] = design[rows].T @ (design[rows] * curvature[rows, None])
    shift = np.linalg.solve(fit.hessian - MOST_LEFT_OUT * part, score[:, :, None])[:, :, 0]
    return jackknifed(np.asarray(shift, dtype=np.float64), n_clusters)


def standard_error(gradient: Floats, covariances: Floats) -> Floats:
    """Return the larger of several standard errors of each row's log odds."""
    variances = [
        np.einsum("ij,ij->i", gradient @ covariance, gradient) for covariance in covariances
    ]
    return np.asarray(np.sqrt(np.maximum(np.max(variances, axis=0), 0.0)))


def log_odds_interval(
    linear: Floats, error: Floats, level: float, n_clusters: float | Floats
) -> tuple[Floats, Floats]:
    """Return the ends of the confidence whose log odds have a standard error."""
    freedom = np.maximum(np.asarray(n_clusters, dtype=float) - 1.0, 1.0)
    reach = scipy.special.stdtrit(freedom, 0.5 + level / 2.0) * error
    return scipy.special.expit(linear - reach), scipy.special.expit(linear + reach)


# A cluster that bears more of the parameters is left out by a solve of its own, others in series.
LEAST_LEVERAGE = 0.5
SERIES_ERROR = 1e-4  # of a shift, at most, where a series is cut


def shifts(
    score: Floats,
    inverse: Floats,
    leverage: Floats,
    curved: Callable[[Floats], Floats],
    curvature_of: Callable[[int], Floats],
) -> Floats:
    """Return (H − H_g)⁻¹ s_g for every cluster g, one per row."""
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


LEAST_EIGENVALUE = 1e-10  # of the curvature scaled to a unit diagonal; below, it is singular


@dataclass(frozen=True, kw_only=True, eq=False)
class Terms:
    """What each row contributes, at the fitted parameters."""

    gradient: scipy.sparse.csr_array  # Derivatives of each row's log-odds
    first: Floats  # Weighted derivative of each row's loss in its log-odds
    implied: Floats  # Standard deviation of `first` under the fitted probabilities
    expected: Floats  # Second derivative of each row's loss under them
    cluster: Integers  # Code of each row's cluster
    # Code of the rows of one cluster, class and score: one observation to the implied variance.
    twin: Integers


def twins_of(cluster: Integers, run: Integers, score: Floats) -> Integers:
    """Return a code for rows of one cluster that share class and score."""
    if len(cluster) == cluster.max() + 1:
        return cluster  # every row is a cluster of its own
    place = cluster * (run.max() + 1) + run
    _, level = np.unique(score, return_inverse=True)
    _, place = np.unique(place, return_inverse=True)
    _, twin = np.unique(place * (level.max() + 1) + level, return_inverse=True)
    return np.asarray(twin, dtype=np.int64)


def adder_of(code: Integers, factor: Floats) -> scipy.sparse.csr_array:
    """Return the matrix that sums rows by code, each times its factor."""
    shape = (int(code.max()) + 1, len(code))
    return scipy.sparse.csr_array((factor, (code, np.arange(len(code)))), shape=shape)


def sums_by_code(gradient: scipy.sparse.csr_array, factor: Floats, code: Integers) -> Floats:
    """Return Gram matrix of the rows, each times its factor, summed by code."""
    sums = adder_of(code, factor) @ gradient
    return np.asarray((sums.T @ sums).toarray())


def inverse(curvature: Floats) -> Floats | None:
    """Return the inverse of a curvature, None where it is not positive definite."""
    diagonal = np.diag(curvature)
    if not np.all(np.isfinite(curvature)) or not np.all(diagonal > 0):
        return None
    unit = 1.0 / np.sqrt(diagonal)
    values, vectors = np.linalg.eigh(curvature * np.outer(unit, unit))
    if values[0] < LEAST_EIGENVALUE:
        return None
    return np.asarray((vectors / values) @ vectors.T * np.outer(unit, unit))


def covariances(terms: Terms, curvature: Floats, expected: Floats) -> Floats | None:
    """Return the robust and the implied covariance of the parameters."""
    among_expected = inverse(expected)
    inverted = inverse(curvature)
    inverted = among_expected if inverted is None else inverted
    if inverted is None:
        return None
    n_clusters = len(np.unique(terms.cluster))
    if among_expected is None:
        robust = sums_by_code(terms.gradient, terms.first, terms.cluster)
        robust = robust * (n_clusters / max(n_clusters - 1, 1))
    else:
        robust = expected @ jackknifed(moves(terms, among_expected), n_clusters) @ expected
    implied = sums_by_code(terms.gradient, terms.implied, terms.twin)
    return np.stack([inverted @ robust @ inverted, inverted @ implied @ inverted])


def moves(terms: Terms, inverse_expected: Floats) -> Floats:
    """Return by how much each cluster moves the parameters, under the fitted curvature."""
    gradient, cluster = terms.gradient, terms.cluster
    adder = adder_of(cluster, np.ones(len(cluster)))
    sums = adder @ gradient.multiply(terms.first[:, None])
    along = gradient.multiply(gradient @ inverse_expected).sum(axis=1)
    leverage = adder @ (terms.expected * np.asarray(along).ravel())

    row = np.repeat(np.arange(len(cluster)), np.diff(gradient.indptr))

    def curved(shift: Floats) -> Floats:
        steps = gradient.data * shift[cluster[row], gradient.indices]
        change = np.bincount(row, weights=steps, minlength=len(cluster))
        return np.asarray(
            (adder @ gradient.multiply((terms.expected * change)[:, None])).toarray()
        )

    def curvature_of(group: int) -> Floats:
        rows = gradient[np.flatnonzero(cluster == group)].toarray()
        return np.asarray(rows.T @ (rows * terms.expected[cluster == group, None]))

    return shifts(np.asarray(sums.toarray()), inverse_expected, leverage, curved, curvature_of)


def variance_clusters(cluster: Integers, weight: Floats, effect: float) -> float:
    """Return the number of alike clusters that would show a variance as well (Satterthwaite).

    A cluster of mass m adds about m + ρ m (m − 1) to the variance of a sum, ρ the correlation of
    relatives that the design effect implies (Bell & McCaffrey 2002).
    """
    mass = np.bincount(cluster, weights=weight) * (len(weight) / weight.sum())
    most = float((mass**2).sum() / mass.sum()) - 1.0  # design effect - 1 at ρ = 1
    alike = min(max((effect - 1.0) / most, 0.0), 1.0) if most > 0 else 0.0
    variance = mass + alike * mass * np.maximum(mass - 1.0, 0.0)
    return float(variance.sum() ** 2 / (variance**2).sum())


def critical_value(n_clusters: float, n_parameters: int, options: FitOptions) -> float:
    """Return the quantile of Student's t that an interval reaches out to."""
    return float(
        scipy.special.stdtrit(max(n_clusters - n_parameters, 1.0), (1.0 + options.level) / 2.0)
    )
