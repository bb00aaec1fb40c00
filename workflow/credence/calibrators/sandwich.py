"""Cluster-robust uncertainty of fitted parameters, carried to the log-odds.

A method with parameters θ and log-odds u(θ) gets Var θ = H⁻¹ M H⁻¹, with H the
curvature of its loss and M the sum over clusters of the outer products of their
scores: right whatever the relatives share and whether or not the method's form
is true (Liang & Zeger 1986, doi 10.1093/biomet/73.1.13). The scores are those
that a cluster has in a fit without it: see :mod:`credence.calibrators.leave_out`.

Residuals that a separable or overfitted class leaves at zero would make that
variance vanish. So the variance that the fitted probabilities themselves imply
is kept beside it, and the larger of the two holds, direction by direction.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse, special

from credence.calibrators.leave_out import jackknifed, shifts
from credence.calibrators.protocol import FitOptions
from credence.predictions import Floats, Integers

LEAST_EIGENVALUE = 1e-10  # of the curvature scaled to a unit diagonal; below, it is singular


@dataclass(frozen=True, eq=False)
class Terms:
    """What each row contributes, at the fitted parameters.

    Parameters
    ----------
    gradient : sparse array, shape (n, n_parameters)
        Derivatives of each row's log-odds.
    first : array of float, shape (n,)
        Weighted derivative of each row's loss in its log-odds.
    implied : array of float, shape (n,)
        Standard deviation of `first` under the fitted probabilities.
    expected : array of float, shape (n,)
        Second derivative of each row's loss under them.
    cluster : array of int, shape (n,)
        Code of each row's cluster.
    twin : array of int, shape (n,)
        Code of the rows of one cluster that share class and score: they are one
        observation to the implied variance.
    """

    gradient: sparse.csr_array
    first: Floats
    implied: Floats
    expected: Floats
    cluster: Integers
    twin: Integers


def twins_of(cluster: Integers, run: Integers, score: Floats) -> Integers:
    """Return a code for rows of one cluster that share class and score.

    Parameters
    ----------
    cluster, run : array of int
        Codes of clusters and of predicted classes.
    score : array of float
        Top scores.

    Examples
    --------
    >>> twins_of(np.array([0, 0, 1]), np.zeros(3, int), np.array([0.5, 0.5, 0.5])).tolist()
    [0, 0, 1]
    """
    if len(cluster) == cluster.max() + 1:
        return cluster  # every row is a cluster of its own
    place = cluster * (run.max() + 1) + run
    _, level = np.unique(score, return_inverse=True)
    _, place = np.unique(place, return_inverse=True)
    _, twin = np.unique(place * (level.max() + 1) + level, return_inverse=True)
    return np.asarray(twin, dtype=np.int64)


def summed(gradient: sparse.csr_array, factor: Floats, code: Integers) -> Floats:
    """Return Gram matrix of the rows, each times its factor, summed by code.

    Parameters
    ----------
    gradient : sparse array, shape (n, n_parameters)
        Rows.
    factor : array of float, shape (n,)
        Factors.
    code : array of int, shape (n,)
        Which rows are added up.
    """
    n_codes = int(code.max()) + 1
    adder = sparse.csr_array((factor, (code, np.arange(len(code)))), shape=(n_codes, len(code)))
    sums = adder @ gradient
    return np.asarray((sums.T @ sums).toarray())


def inverse(curvature: Floats) -> Floats | None:
    """Return the inverse of a curvature, None where it is not positive definite.

    Parameters
    ----------
    curvature : array of float, shape (n_parameters, n_parameters)
        Symmetric.

    Examples
    --------
    >>> inverse(np.array([[4.0]])).tolist()
    [[0.25]]
    >>> inverse(np.array([[1.0, 1.0], [1.0, 1.0]])) is None
    True
    """
    diagonal = np.diag(curvature)
    if not np.all(np.isfinite(curvature)) or not np.all(diagonal > 0):
        return None
    unit = 1.0 / np.sqrt(diagonal)
    values, vectors = np.linalg.eigh(curvature * np.outer(unit, unit))
    if values[0] < LEAST_EIGENVALUE:
        return None
    return np.asarray((vectors / values) @ vectors.T * np.outer(unit, unit))


def covariances(terms: Terms, curvature: Floats, expected: Floats) -> Floats | None:
    """Return the robust and the implied covariance of the parameters.

    Parameters
    ----------
    terms : Terms
        What rows contribute.
    curvature : array of float, shape (n_parameters, n_parameters)
        Second derivatives of the loss.
    expected : array of float, of the same shape
        The same under the fitted probabilities: positive definite more often.

    Returns
    -------
    array of float, shape (2, n_parameters, n_parameters), or None
        None where the data leave some direction of the parameters open.
    """
    among_expected = inverse(expected)
    inverted = inverse(curvature)
    if inverted is None:
        inverted = among_expected
    if inverted is None:
        return None
    n_clusters = len(np.unique(terms.cluster))
    if among_expected is None:
        robust = summed(terms.gradient, terms.first, terms.cluster)
        robust = robust * (n_clusters / max(n_clusters - 1, 1))
    else:
        robust = expected @ jackknifed(moves(terms, among_expected), n_clusters) @ expected
    implied = summed(terms.gradient, terms.implied, terms.twin)
    return np.stack([inverted @ robust @ inverted, inverted @ implied @ inverted])


def moves(terms: Terms, inverse_expected: Floats) -> Floats:
    """Return by how much each cluster moves the parameters, under the fitted curvature.

    Parameters
    ----------
    terms : Terms
        What rows contribute.
    inverse_expected : array of float, shape (n_parameters, n_parameters)
        Inverse of the curvature under the fitted probabilities.
    """
    gradient, cluster = terms.gradient, terms.cluster
    n_clusters = int(cluster.max()) + 1
    adder = sparse.csr_array(
        (np.ones(len(cluster)), (cluster, np.arange(len(cluster)))),
        shape=(n_clusters, len(cluster)),
    )
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


def effective_clusters(cluster: Integers, weight: Floats) -> float:
    """Return Kish's effective number over the masses of clusters.

    Parameters
    ----------
    cluster : array of int
        Code of each row's cluster.
    weight : array of float
        Weights.

    Examples
    --------
    >>> effective_clusters(np.array([0, 0, 1]), np.array([0.5, 0.5, 1.0]))
    2.0
    """
    mass = np.bincount(cluster, weights=weight)
    return float(mass.sum() ** 2 / (mass**2).sum())


def variance_clusters(cluster: Integers, weight: Floats, effect: float) -> float:
    """Return the number of alike clusters that would show a variance as well.

    A cluster of mass m adds about m + ρ m (m − 1) to the variance of a sum, ρ the
    correlation of relatives that the design effect implies. A few great families
    can make most of it: Satterthwaite's degrees of freedom are those of
    (Σ v)²/Σ v² alike ones (Bell & McCaffrey 2002).

    Parameters
    ----------
    cluster : array of int
        Code of each row's cluster.
    weight : array of float
        Weights.
    effect : float
        Robust variance over that of strangers.

    Examples
    --------
    >>> variance_clusters(np.array([0, 0, 1]), np.ones(3), 1.0)  # ρ = 0: masses 2, 1
    1.8
    >>> round(variance_clusters(np.array([0, 0, 1]), np.ones(3), 5 / 3), 2)  # ρ = 1: 4, 1
    1.47
    """
    mass = np.bincount(cluster, weights=weight) * (len(weight) / weight.sum())
    most = float((mass**2).sum() / mass.sum()) - 1.0  # design effect - 1 at ρ = 1
    alike = min(max((effect - 1.0) / most, 0.0), 1.0) if most > 0 else 0.0
    variance = mass + alike * mass * np.maximum(mass - 1.0, 0.0)
    return float(variance.sum() ** 2 / (variance**2).sum())


def critical_value(n_clusters: float, n_parameters: int, options: FitOptions) -> float:
    """Return the quantile of Student's t that an interval reaches out to.

    Parameters
    ----------
    n_clusters : float
        Effective number of clusters that the parameters rest on.
    n_parameters : int
        How many parameters they bear.
    options : FitOptions
        Says the level.

    Examples
    --------
    >>> round(critical_value(41.0, 1, FitOptions()), 3)
    2.021
    """
    freedom = max(n_clusters - n_parameters, 1.0)
    return float(special.stdtrit(freedom, (1.0 + options.level) / 2.0))
