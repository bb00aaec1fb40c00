"""How well the temperature family's parameters are known, class by class.

Coordinates are log T, then the awards: u = (log y_k + A)/T - log Σ_{j≠k} y_j^{1/T}.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse, special

from credence.calibrators.draws import encode_clusters
from credence.calibrators.protocol import FitOptions, Record
from credence.calibrators.sandwich import (
    Terms,
    covariances,
    critical_value,
    effective_clusters,
    twins_of,
    variance_clusters,
)
from credence.calibrators.temperature_fit import Objective, Profile, full_moments, loss_of
from credence.calibrators.temperature_rows import Rows, rest_moments
from credence.predictions import Floats, Integers, Labelled

N_ENTRIES = 3  # variance of log T, covariance, variance of the award


@dataclass(frozen=True, eq=False)
class Spread:
    """Variances of log T and of the award, per predicted class.

    Parameters
    ----------
    variance : array of float, shape (n_classes, 2, 3)
        Variance of log T, covariance, variance of the award; first robust, then
        implied by the fitted probabilities. NaN where the data say nothing:
        the interval is all of [0, 1].
    critical : array of float, shape (n_classes,)
        Standard errors that the interval reaches out to.
    """

    variance: Floats
    critical: Floats

    def reach(self, class_: Integers, by_log_t: Floats, by_award: Floats) -> Floats:
        """Return half the width of the interval of each log-odds.

        Parameters
        ----------
        class_ : array of int
            Predicted class.
        by_log_t, by_award : array of float
            Derivatives of the log-odds.
        """
        variance = self.variance[class_]
        squares = np.stack([by_log_t**2, 2.0 * by_log_t * by_award, by_award**2], axis=1)
        both = np.einsum("nvp,np->nv", variance, squares)
        widest = np.sqrt(np.maximum(both.max(axis=1), 0.0)) * self.critical[class_]
        return np.where(np.isnan(widest), np.inf, widest)

    def to_record(self) -> Record:
        """Return the variances as JSON data; None where nothing is known."""
        flat = self.variance.reshape(len(self.variance), -1)
        return {
            "variance": [
                None if np.isnan(entry).any() else [float(one) for one in entry] for entry in flat
            ],
            "critical": self.critical.tolist(),
        }

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Spread:
        """Return the variances of a record."""
        open_entry = [np.nan] * (2 * N_ENTRIES)
        flat = [open_entry if entry is None else entry for entry in record["variance"]]
        variance = np.array(flat, dtype=np.float64).reshape(-1, 2, N_ENTRIES)
        return cls(variance, np.array(record["critical"], dtype=np.float64))


def spread_of_all(
    objective: Objective, best: Profile, labelled: Labelled, options: FitOptions
) -> Spread:
    """Return the spread of parameters that were fitted together.

    Parameters
    ----------
    objective : Objective
        What was minimised.
    best : Profile
        Where the minimum is.
    labelled : Labelled
        The same rows.
    options : FitOptions
        Says the level.
    """
    rows = objective.rows
    n_classes = labelled.predictions.n_classes
    cluster, _ = encode_clusters(labelled.cluster[rows.origin])
    matrices = parameter_covariances(objective, best, cluster, score_of(rows, labelled))
    variance = np.full((n_classes, 2, N_ENTRIES), np.nan)
    n_all = effective_clusters(cluster, rows.weight)
    critical = np.full(n_classes, critical_value(n_all, 1, options))
    present = np.unique(labelled.predictions.predicted_class)
    ends = np.append(rows.starts, len(rows.top))
    if not objective.has_awards:
        # One temperature serves every class, those too scarce to learn from as well.
        # The great families of all classes together bear it.
        if matrices is not None:
            variance[:] = 0.0
            variance[:, :, 0] = matrices[:, 0, 0]
            robust, implied = matrices[:, 0, 0]
            effect = float(robust / implied) if implied > 0 else np.inf
            n_all = min(n_all, variance_clusters(cluster, rows.weight, effect))
            critical[:] = critical_value(n_all, 1, options)
        return Spread(variance, critical)
    for run, class_ in enumerate(present):
        part = slice(int(ends[run]), int(ends[run + 1]))
        n_own = effective_clusters(
            np.unique(cluster[part], return_inverse=True)[1], rows.weight[part]
        )
        critical[class_] = critical_value(n_own, 1, options)
        if matrices is not None:
            variance[class_] = block_of(matrices, run + 1)
    return Spread(variance, critical)


def spread_by_class(
    objectives: Sequence[Objective],
    minima: Sequence[Profile],
    present: Integers,
    labelled: Labelled,
    options: FitOptions,
) -> Spread:
    """Return the spread of parameters that were fitted class by class.

    Parameters
    ----------
    objectives, minima : sequence
        One per class that occurs.
    present : array of int
        These classes.
    labelled : Labelled
        The rows of all of them.
    options : FitOptions
        Says the level.
    """
    n_classes = labelled.predictions.n_classes
    variance = np.full((n_classes, 2, N_ENTRIES), np.nan)
    critical = np.full(n_classes, critical_value(1.0, 0, options))
    for objective, best, class_ in zip(objectives, minima, present, strict=True):
        rows = objective.rows
        cluster, _ = encode_clusters(labelled.cluster[rows.origin])
        matrices = parameter_covariances(objective, best, cluster, score_of(rows, labelled))
        n_parameters = 2 if objective.has_awards else 1
        n_own = effective_clusters(cluster, rows.weight)
        critical[class_] = critical_value(n_own, n_parameters, options)
        if matrices is None:
            continue
        if objective.has_awards:
            variance[class_] = block_of(matrices, 1)
        else:
            variance[class_] = 0.0
            variance[class_, :, 0] = matrices[:, 0, 0]
    return Spread(variance, critical)


def score_of(rows: Rows, labelled: Labelled) -> Floats:
    """Return the top scores in the order of the rows."""
    top_score = labelled.predictions.top_score
    assert top_score is not None
    return top_score[rows.origin]


def block_of(matrices: Floats, place: int) -> Floats:
    """Return the three entries of log T and one award, robust and implied."""
    return np.stack([matrices[:, 0, 0], matrices[:, 0, place], matrices[:, place, place]], axis=1)


def parameter_covariances(
    objective: Objective, best: Profile, cluster: Integers, score: Floats
) -> Floats | None:
    """Return the covariances of log T and the awards, robust and implied.

    Parameters
    ----------
    objective : Objective
        What was minimised.
    best : Profile
        Where the minimum is.
    cluster : array of int
        Code of each row's cluster.
    score : array of float
        Top scores.
    """
    rows = objective.rows
    twin = twins_of(cluster, rows.run, score)
    if objective.is_vector:
        return vector_covariances(objective, best, cluster, twin)
    beta = float(np.exp(-best.log_temperature))
    log_sum, mean, variance = rest_moments(rows.rest, beta)
    award = best.award[rows.run]
    log_odds = beta * (rows.top + award) - log_sum
    loss = loss_of(objective.measure, log_odds, rows)
    tilt = -beta * (rows.top + award - mean)
    bend = -tilt - beta**2 * variance
    right = special.expit(log_odds)
    spread = right * special.expit(-log_odds)
    pull = 2.0 * spread if objective.measure == "brier" else np.ones(len(right))
    expected = rows.weight * pull * spread
    gradient = gradient_of(rows, tilt, beta if objective.has_awards else None)
    curvature = np.asarray((gradient.T @ gradient.multiply(loss.second[:, None])).toarray())
    curvature[0, 0] += float((loss.first * bend).sum())
    if objective.has_awards:
        mixed = -beta * rows.per_run(loss.first)
        curvature[0, 1:] += mixed
        curvature[1:, 0] += mixed
    deviation = rows.weight * pull * np.sqrt(spread)
    terms = Terms(gradient, loss.first, deviation, expected, cluster, twin)
    implied = np.asarray((gradient.T @ gradient.multiply(expected[:, None])).toarray())
    return covariances(terms, curvature, implied)


def gradient_of(rows: Rows, tilt: Floats, beta: float | None) -> sparse.csr_array:
    """Return derivatives of each log-odds in log T and, with β, in its award."""
    n_samples = len(tilt)
    if beta is None:
        return sparse.csr_array(tilt[:, None])
    columns = np.stack([np.zeros(n_samples, dtype=np.int64), rows.run + 1], axis=1)
    values = np.stack([tilt, np.full(n_samples, beta)], axis=1)
    heads = 2 * np.arange(n_samples + 1)
    return sparse.csr_array(
        (values.ravel(), columns.ravel(), heads), shape=(n_samples, rows.n_runs + 1)
    )


def vector_covariances(
    objective: Objective, best: Profile, cluster: Integers, twin: Integers
) -> Floats | None:
    """Return the variance of log T under the K-class loss, robust and implied.

    Parameters
    ----------
    objective : Objective
        What was minimised.
    best : Profile
        Where the minimum is.
    cluster, twin : array of int
        Codes of the clusters, and of alike rows in them.
    """
    rows = objective.rows
    beta = float(np.exp(-best.log_temperature))
    log_sum, mean, variance = full_moments(rows, beta)
    off = rows.true - mean
    if objective.measure == "nll":
        first = rows.weight * off * beta
        implied = rows.weight * np.sqrt(variance) * beta
    else:
        double_sum, double_mean, _ = full_moments(rows, 2.0 * beta)
        square, true = np.exp(double_sum - 2.0 * log_sum), np.exp(beta * rows.true - log_sum)
        first = -beta * rows.weight * (2.0 * square * (double_mean - mean) - 2.0 * true * off)
        implied = np.abs(first)  # no simpler form; twins then count as one, no more
    gradient = sparse.csr_array(np.ones((len(first), 1)))
    curvature = np.array([[best.curvature]])
    expected = rows.weight * variance * beta**2
    terms = Terms(gradient, first, implied, expected, cluster, twin)
    return covariances(terms, curvature, np.array([[float(expected.sum())]]))
