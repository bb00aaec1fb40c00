"""Curves whose log-odds are linear in a few columns of the score.

Platt's, beta and spline calibration differ only in their columns. They are
fitted by maximum likelihood with Jeffreys' prior (Firth 1993), so that a class
whose scores separate right from wrong gets a finite slope and not an endless
one; the prior is worth about half a protein per coefficient and fades as 1/n.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np
from scipy import sparse, special

from credence.calibrators.protocol import Band, ClassSample, FitOptions
from credence.calibrators.sandwich import Terms, covariances, critical_value, inverse, twins_of
from credence.confidence import Note
from credence.draws import effective_clusters
from credence.predictions import Floats, Integers
from credence.records import from_record

STEP_DONE = 1e-13  # a step of the standardised coefficients below this is the last
MOST_STEPS = 500
MOST_HALVINGS = 40
N_EVEN_KNOTS = 65  # knots of a band, even over the range of scores,
N_QUANTILE_KNOTS = 128  # and where the scores are


class Basis(Protocol):
    """Columns that the log-odds are linear in."""

    def columns(self, score: Floats) -> Floats:
        """Return the columns at each score, the first of them 1."""
        ...


@dataclass(frozen=True, eq=False)
class LogitCurve:
    """A confidence whose log-odds are linear in the columns of a basis."""

    basis: Basis  # The columns
    coefficients: Floats  # One per column
    low: float  # Range of the scores seen; outside it the value at its end is held
    high: float

    def value(self, score: Floats) -> Floats:
        """Return the confidence at each score."""
        columns = self.basis.columns(np.clip(score, self.low, self.high))
        return np.asarray(special.expit(columns @ self.coefficients))

    def note(self, score: Floats) -> Integers:
        """Return whether each score lies outside the range seen."""
        return range_note(score, self.low, self.high)


def range_note(score: Floats, low: float, high: float) -> Integers:
    """Return the notes of scores below or above a range.

    >>> range_note(np.array([0.0, 1.0, 3.0]), 1.0, 2.0).tolist()
    [1, 0, 2]
    """
    below = np.where(score < low, int(Note.BELOW_RANGE), 0)
    above = np.where(score > high, int(Note.ABOVE_RANGE), 0)
    return np.asarray(below + above, dtype=np.int64)


def logit_reader(basis: type[Basis]) -> Callable[[Any], LogitCurve]:
    """Return what reads curves whose basis is of a class."""
    return partial(from_record, LogitCurve, kinds={Basis: basis})


def fit_logit(sample: ClassSample, basis: Basis) -> LogitCurve:
    """Return the curve of greatest penalised likelihood."""
    score, weight, weight_correct = merged(sample)
    coefficients = firth(basis.columns(score), weight, weight_correct)
    return LogitCurve(basis, coefficients, float(score[0]), float(score[-1]))


def merged(sample: ClassSample) -> tuple[Floats, Floats, Floats]:
    """Return distinct scores with their weight and the weight that is right."""
    score, place = np.unique(sample.score, return_inverse=True)
    weight = np.asarray(np.bincount(place, weights=sample.weight), dtype=np.float64)
    weight_correct = np.bincount(place, weights=sample.weight_correct)
    return np.asarray(score), weight, np.minimum(weight_correct, weight)


def log_likelihood(log_odds: Floats, weight: Floats, weight_correct: Floats) -> float:
    """Return Σ w t log p + w (1 - t) log(1 - p)."""
    # log(1 - p) = -log(1 + e^u); log p = u + log(1 - p)
    return float((weight_correct * log_odds - weight * np.logaddexp(0.0, log_odds)).sum())


def firth(columns: Floats, weight: Floats, weight_correct: Floats) -> Floats:
    """Return the coefficients of greatest likelihood with Jeffreys' prior.

    Columns that are constant, or combinations of earlier ones, get 0.

    Notes
    -----
    Solves X'(w(t - p) + h(½ - p)) = 0, h the leverages (Firth 1993,
    doi 10.1093/biomet/80.1.27), by Fisher scoring with halved steps. For a
    constant alone that is (Σwt + ½)/(Σw + 1).

    >>> constant = firth(np.ones((2, 1)), np.array([1.0, 1.0]), np.array([0.0, 1.0]))
    >>> float(special.expit(constant[0]))
    0.5
    """
    kept, centre, spread = standard(columns, weight)
    design = (columns[:, kept] - centre) / spread

    def penalised(point: Floats) -> float:
        log_odds = design @ point
        right = special.expit(log_odds)
        information = (design.T * (weight * right * (1.0 - right))) @ design
        sign, log_determinant = np.linalg.slogdet(information)
        if sign <= 0:
            return -np.inf
        return log_likelihood(log_odds, weight, weight_correct) + 0.5 * float(log_determinant)

    point = np.zeros(design.shape[1])
    point[0] = special.logit((weight_correct.sum() + 0.5) / (weight.sum() + 1.0))
    best = penalised(point)
    for _ in range(MOST_STEPS):
        right = special.expit(design @ point)
        spread_at = weight * right * (1.0 - right)
        inverted = np.linalg.inv((design.T * spread_at) @ design)
        leverage = spread_at * np.einsum("np,pq,nq->n", design, inverted, design)
        step = inverted @ (design.T @ (weight_correct - weight * right + leverage * (0.5 - right)))
        for _ in range(MOST_HALVINGS):
            value = penalised(point + step)
            if value >= best - 1e-9 * abs(best):
                break
            step = step / 2.0
        point, best = point + step, value
        if np.abs(step).max() <= STEP_DONE * (1.0 + np.abs(point).max()):
            break
    coefficients = np.zeros(columns.shape[1])
    coefficients[kept] = point / spread
    coefficients[0] -= float((point / spread * centre)[1:].sum())
    return coefficients


def standard(columns: Floats, weight: Floats) -> tuple[Integers, Floats, Floats]:
    """Return which columns are independent, and their centres and spreads."""
    centre = weight @ columns / weight.sum()
    spread = np.sqrt(weight @ (columns - centre) ** 2 / weight.sum())
    centre[0], spread[0] = 0.0, 1.0
    kept = [0]
    for column in range(1, columns.shape[1]):
        # Rounding alone spreads a constant column by about this much.
        if spread[column] <= 1e-12 * (1.0 + abs(centre[column])):
            continue
        trial = [*kept, column]
        design = (columns[:, trial] - centre[trial]) / spread[trial]
        if inverse((design.T * weight) @ design) is not None:
            kept = trial
    return np.array(kept), centre[kept], spread[kept]


def band_knots(sample: ClassSample) -> Floats:
    """Return knots over the range of scores, even ones and quantiles."""
    even = np.linspace(sample.score.min(), sample.score.max(), N_EVEN_KNOTS)
    score, weight, _ = merged(sample)
    levels = (np.arange(N_QUANTILE_KNOTS) + 0.5) / N_QUANTILE_KNOTS
    return np.union1d(even, weighted_quantiles(score, weight, levels))


def weighted_quantiles(score: Floats, weight: Floats, levels: Floats) -> Floats:
    """Return the least scores at which the share of weight reaches each level.

    >>> weighted_quantiles(np.array([1.0, 2.0, 3.0]), np.ones(3), np.array([0.3, 0.5])).tolist()
    [1.0, 2.0]
    """
    share = np.cumsum(weight) / weight.sum()
    return score[np.minimum(np.searchsorted(share, levels), len(score) - 1)]


def logit_band(sample: ClassSample, curve: LogitCurve, options: FitOptions) -> Band:
    """Return the cluster-robust interval around a curve, made on the log-odds."""
    knots = band_knots(sample)
    columns = curve.basis.columns(sample.score)
    # Columns that the fit left out stay out.
    used = np.flatnonzero(curve.coefficients != 0)
    used = np.union1d(used, [0])
    centre = columns[:, used].mean(axis=0)
    centre[0] = 0.0
    design = columns[:, used] - centre
    right = special.expit(columns @ curve.coefficients)
    spread = right * (1.0 - right)
    weight = sample.weight / sample.weight.sum()
    terms = Terms(
        sparse.csr_array(design),
        weight * (right - sample.is_correct),
        weight * np.sqrt(spread),
        weight * spread,
        sample.cluster,
        twins_of(sample.cluster, np.zeros(len(weight), dtype=np.int64), sample.score),
    )
    information = (design.T * (weight * spread)) @ design
    matrices = covariances(terms, information, information)
    if matrices is None:
        return Band(knots, np.zeros(len(knots)), np.ones(len(knots)))
    n_clusters = effective_clusters(sample.cluster, sample.weight)
    critical = critical_value(n_clusters, len(used), options)
    at_knots = curve.basis.columns(knots)
    log_odds = at_knots @ curve.coefficients
    direction = at_knots[:, used] - centre
    variance = np.einsum("np,vpq,nq->vn", direction, matrices, direction).max(axis=0)
    reach = critical * np.sqrt(np.maximum(variance, 0.0))
    return Band(knots, special.expit(log_odds - reach), special.expit(log_odds + reach))
