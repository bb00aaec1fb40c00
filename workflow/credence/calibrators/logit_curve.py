"""Platt's, beta and spline calibration: log-odds linear in a few columns of the score.

They are fitted by maximum likelihood with Jeffreys' prior (Firth 1993; decision 0004), so that
scores that separate right from wrong have a finite slope.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import scipy

from credence.calibrators.classwise import curve_method
from credence.calibrators.newton import (
    Terms,
    covariances,
    critical_value,
    inverse,
    newton_minimum,
    twins_of,
)
from credence.calibrators.protocol import Band, ClassSample, Curve, FitOptions, Law, range_note
from credence.calibrators.score_logs import log_parts, share_bounds
from credence.draws import effective_clusters
from credence.predictions import Floats, Integers
from credence.settings import setting

SCORING_DONE = 1e-13  # a step of the standardised coefficients below this is the last
SCORING_STEPS = 500  # at most: they approach the maximum by a factor each
SCORING_SLACK = 1e-9  # of the loss, by which rounding may raise it
N_EVEN_KNOTS = 65  # knots of a band, even over the range of scores,
N_QUANTILE_KNOTS = 128  # and where the scores are


class Basis(Protocol):
    """Columns that the log-odds are linear in."""

    def columns(self, score: Floats) -> Floats:
        """Return the columns at each score, the first of them 1."""


@dataclass(frozen=True, kw_only=True, eq=False)
class LogitCurve:
    """A confidence whose log-odds are linear in the columns of a basis."""

    basis: Basis  # The columns
    coefficients: Floats  # One per column
    low: float  # Range of the scores seen; outside it the value at its end is held
    high: float

    def value(self, score: Floats) -> Floats:
        """Return the confidence at each score."""
        columns = self.basis.columns(np.clip(score, self.low, self.high))
        return np.asarray(scipy.special.expit(columns @ self.coefficients))

    def note(self, score: Floats) -> Integers:
        """Return whether each score lies outside the range seen."""
        return range_note(score, self.low, self.high)


def by_score(sample: ClassSample) -> tuple[Floats, Floats, Floats]:
    """Return distinct scores with their weight and the weight that is right."""
    score, place = np.unique(sample.score, return_inverse=True)
    weight = np.asarray(np.bincount(place, weights=sample.weight), dtype=np.float64)
    weight_correct = np.bincount(place, weights=sample.weight_correct)
    return np.asarray(score), weight, np.minimum(weight_correct, weight)


def log_likelihood(log_odds: Floats, weight: Floats, weight_correct: Floats) -> float:
    """Return Σ w t log p + w (1 - t) log(1 - p)."""
    # log(1 - p) = -log(1 + e^u); log p = u + log(1 - p)
    return float((weight_correct * log_odds - weight * np.logaddexp(0.0, log_odds)).sum())


JEFFREYS_POWER = 0.5  # of the information's determinant, that the likelihood is multiplied by


def firth(
    columns: Floats, weight: Floats, weight_correct: Floats, power: float = JEFFREYS_POWER
) -> Floats:
    """Return the coefficients of greatest likelihood with Jeffreys' prior; 0 for repeated columns.

    Solves X'(w(t - p) + h(½ - p)) = 0, h the leverages, by Fisher scoring with halved steps. With
    the power 0 there is no prior and no term of h.
    """
    kept, centre, spread = standard(columns, weight)
    design = (columns[:, kept] - centre) / spread

    def loss(point: Floats) -> float:
        log_odds = design @ point
        right = scipy.special.expit(log_odds)
        information = (design.T * (weight * right * (1.0 - right))) @ design
        sign, log_determinant = np.linalg.slogdet(information)
        if sign <= 0:
            return np.inf
        return -log_likelihood(log_odds, weight, weight_correct) - power * float(log_determinant)

    def step_at(point: Floats) -> tuple[Floats, bool]:
        right = scipy.special.expit(design @ point)
        spread_at = weight * right * (1.0 - right)
        inverted = np.linalg.inv((design.T * spread_at) @ design)
        leverage = spread_at * np.einsum("np,pq,nq->n", design, inverted, design)
        pull = 2.0 * power * leverage * (0.5 - right)
        step = inverted @ (design.T @ (weight_correct - weight * right + pull))
        return step, bool(np.abs(step).max() <= SCORING_DONE * (1.0 + np.abs(point + step).max()))

    start = np.zeros(design.shape[1])
    start[0] = scipy.special.logit((weight_correct.sum() + 0.5) / (weight.sum() + 1.0))
    point = newton_minimum(start, loss, step_at, most_steps=SCORING_STEPS, slack=SCORING_SLACK)
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
    score, weight, _ = by_score(sample)
    levels = (np.arange(N_QUANTILE_KNOTS) + 0.5) / N_QUANTILE_KNOTS
    return np.union1d(even, weighted_quantiles(score, weight, levels))


def weighted_quantiles(score: Floats, weight: Floats, levels: Floats) -> Floats:
    """Return the least scores at which the share of weight reaches each level."""
    share = np.cumsum(weight) / weight.sum()
    return score[np.minimum(np.searchsorted(share, levels), len(score) - 1)]


class LogitMethod(ABC):
    """What fits curves whose log-odds are linear: a subclass gives the columns."""

    @abstractmethod
    def basis_of(self, sample: ClassSample) -> Basis:
        """Return the columns for the positives of one class."""

    def coefficients_of(self, columns: Floats, weight: Floats, weight_correct: Floats) -> Floats:
        """Return the coefficients of greatest penalised likelihood."""
        return firth(columns, weight, weight_correct)

    def fit_curve(self, sample: ClassSample) -> LogitCurve:
        """Return the curve of one class."""
        basis = self.basis_of(sample)
        score, weight, weight_correct = by_score(sample)
        coefficients = self.coefficients_of(basis.columns(score), weight, weight_correct)
        return LogitCurve(
            basis=basis, coefficients=coefficients, low=float(score[0]), high=float(score[-1])
        )

    def fit_band(self, sample: ClassSample, curve: Curve, options: FitOptions) -> Band:
        """Return the cluster-robust interval around the curve, made on the log-odds."""
        assert isinstance(curve, LogitCurve)
        knots = band_knots(sample)
        columns = curve.basis.columns(sample.score)
        used = np.flatnonzero(curve.coefficients != 0)  # columns that the fit left out stay out
        used = np.union1d(used, [0])
        centre = columns[:, used].mean(axis=0)
        centre[0] = 0.0
        design = columns[:, used] - centre
        right = scipy.special.expit(columns @ curve.coefficients)
        spread = right * (1.0 - right)
        weight = sample.weight / sample.weight.sum()
        run = np.zeros(len(weight), dtype=np.int64)
        terms = Terms(
            gradient=scipy.sparse.csr_array(design),
            first=weight * (right - sample.is_correct),
            implied=weight * np.sqrt(spread),
            expected=weight * spread,
            cluster=sample.cluster,
            twin=twins_of(sample.cluster, run, sample.score),
        )
        information = (design.T * (weight * spread)) @ design
        matrices = covariances(terms, information, information)
        if matrices is None:
            return Band(score=knots, lower=np.zeros(len(knots)), upper=np.ones(len(knots)))
        n_clusters = effective_clusters(sample.cluster, sample.weight)
        critical = critical_value(n_clusters, len(used), options)
        at_knots = curve.basis.columns(knots)
        log_odds = at_knots @ curve.coefficients
        direction = at_knots[:, used] - centre
        variance = np.einsum("np,vpq,nq->vn", direction, matrices, direction).max(axis=0)
        reach = critical * np.sqrt(np.maximum(variance, 0.0))
        return Band(
            score=knots,
            lower=scipy.special.expit(log_odds - reach),
            upper=scipy.special.expit(log_odds + reach),
        )


@dataclass(frozen=True, kw_only=True)
class Line:
    """Columns 1 and the score, or 1 and its logit."""

    scale: float  # What a row of scores sums to
    is_logit: bool  # Whether the logit is taken
    low: float  # Least and greatest share of the scale whose logit is taken
    high: float

    def columns(self, score: Floats) -> Floats:
        """Return the columns at each score."""
        if not self.is_logit:
            return np.stack([np.ones(len(score)), score / self.scale], axis=1)
        log_share, log_rest = log_parts(score, self.scale, self.low, self.high)
        return np.stack([np.ones(len(score)), log_share - log_rest], axis=1)


@dataclass(frozen=True, kw_only=True)
class Platt(LogitMethod):
    """Settings of Platt scaling.

    log p/(1 - p) = c + d x, x = S/M or its logit, floored at half the table's
    step. *Departs from the paper:* Jeffreys' prior on (c, d) in place of Platt's
    smoothed targets; see docs/decisions/0004-curves-over-the-score.md. Without `safeguards` the
    likelihood alone decides; where the score separates right from wrong it has no maximum, and
    the prior stays.
    """

    on: str = setting(
        "score", "What the log-odds are linear in: the score, or its logit.", ("score", "logit")
    )
    safeguards: bool = setting(
        True,
        "below the scores of a few families no more than they support, and Jeffreys' prior; "
        "false: the greatest likelihood alone",
    )

    def basis_of(self, sample: ClassSample) -> Line:
        """Return 1 and the score, or 1 and its logit."""
        low, high = share_bounds(sample.resolution, sample.scale)
        return Line(scale=sample.scale, is_logit=self.on == "logit", low=low, high=high)

    def coefficients_of(self, columns: Floats, weight: Floats, weight_correct: Floats) -> Floats:
        """Return the likeliest coefficients, with or without the prior."""
        right, wrong = (columns[part > 0, 1] for part in (weight_correct, weight - weight_correct))
        ends = [(part.min(initial=np.inf), part.max(initial=-np.inf)) for part in (right, wrong)]
        has_maximum = ends[0][0] < ends[1][1] and ends[1][0] < ends[0][1]
        power = JEFFREYS_POWER if self.safeguards or not has_maximum else 0.0
        return firth(columns, weight, weight_correct, power)


PLATT = curve_method(
    "platt",
    "A logistic curve in the score, or in its logit, per class.",
    "Platt 1999, Advances in Large Margin Classifiers, 61–74; "
    "Firth 1993, doi 10.1093/biomet/80.1.27",
    Platt,
    {Curve: LogitCurve, Basis: Line},
    laws=frozenset({Law.REPEAT_IS_WEIGHT}),
)

SUBSETS = ([0, 1, 2], [0, 1], [0, 2], [0])  # columns of c, a and b that are free


@dataclass(frozen=True, kw_only=True)
class BetaColumns:
    """Columns 1, log s and -log(1 - s), s the score's share of the scale."""

    scale: float  # What a row of scores sums to
    low: float  # Least and greatest share whose logarithm is taken
    high: float

    def columns(self, score: Floats) -> Floats:
        """Return the columns at each score."""
        log_share, log_rest = log_parts(score, self.scale, self.low, self.high)
        return np.stack([np.ones(len(score)), log_share, -log_rest], axis=1)


@dataclass(frozen=True, kw_only=True)
class Beta(LogitMethod):
    """Settings of beta calibration: there are none.

    log p/(1 - p) = c + a log s - b log(1 - s) with a, b ≥ 0 (Kull et al.), so the curve never
    falls; Jeffreys' prior as for Platt's curve; see docs/decisions/0004-curves-over-the-score.md.
    """

    def basis_of(self, sample: ClassSample) -> BetaColumns:
        """Return 1, log s and -log(1 - s)."""
        low, high = share_bounds(sample.resolution, sample.scale)
        return BetaColumns(scale=sample.scale, low=low, high=high)

    def coefficients_of(self, columns: Floats, weight: Floats, weight_correct: Floats) -> Floats:
        """Return the likeliest coefficients of which none but the first is negative."""
        fits: list[tuple[float, Floats]] = []
        for subset in SUBSETS:
            coefficients = np.zeros(columns.shape[1])
            coefficients[subset] = firth(columns[:, subset], weight, weight_correct)
            if (coefficients[1:] < 0).any():
                continue
            fit = log_likelihood(columns @ coefficients, weight, weight_correct)
            fits.append((fit, coefficients))
            if len(subset) == columns.shape[1]:
                break  # nothing binds
        return max(fits, key=lambda fit: fit[0])[1]


BETA = curve_method(
    "beta",
    "Log-odds linear in the logs of the score and of what is left, never falling.",
    "Kull, Silva Filho & Flach 2017, doi 10.1214/17-EJS1338SI",
    Beta,
    {Curve: LogitCurve, Basis: BetaColumns},
    laws=frozenset({Law.REPEAT_IS_WEIGHT}),
)

OUTER_SHARE = 0.05  # of the weight lies outside the first and last knot (Harrell 2015, p. 28)


@dataclass(frozen=True, kw_only=True)
class NaturalSpline:
    """Columns of a natural cubic spline, linear outside its knots."""

    scale: float  # What a row of scores sums to
    # Shares of the scale, ascending; with fewer than three the spline is a straight line.
    knots: tuple[float, ...]

    def columns(self, score: Floats) -> Floats:
        """Return the columns at each score: 1, s, and truncated cubes."""
        share = score / self.scale
        columns = [np.ones(len(share)), share]
        if len(self.knots) > 2:
            last = self._cube(share, -1)
            last_but_one = self._cube(share, -2) - last
            width = self.knots[-1] - self.knots[-2]
            for place, knot in enumerate(self.knots[:-2]):
                first = (self._cube(share, place) - last) / (self.knots[-1] - knot)
                columns.append(first - last_but_one / width)
        return np.stack(columns, axis=1)

    def _cube(self, share: Floats, place: int) -> Floats:
        return np.maximum(share - self.knots[place], 0.0) ** 3


@dataclass(frozen=True, kw_only=True)
class Spline(LogitMethod):
    """Settings of spline calibration.

    A natural cubic spline with few knots at fixed quantiles of the positives' scores (Harrell
    2015, doi 10.1007/978-3-319-19425-7). *Departs from the paper:* Lucena 2018 (arXiv 1809.07751)
    takes many knots and a ridge chosen by cross-validation; see
    docs/decisions/0004-curves-over-the-score.md. The curve may fall.
    """

    n_knots: int = setting(5, "Number of knots, and of coefficients.", low=3, high=10)

    def basis_of(self, sample: ClassSample) -> NaturalSpline:
        """Return the spline's columns, with knots where the scores are."""
        score, weight, _ = by_score(sample)
        levels = np.linspace(OUTER_SHARE, 1.0 - OUTER_SHARE, self.n_knots)
        knots = np.unique(weighted_quantiles(score, weight, levels)) / sample.scale
        return NaturalSpline(scale=sample.scale, knots=tuple(knots.tolist()))


SPLINE = curve_method(
    "spline",
    "Log-odds on a natural cubic spline of the score, per class.",
    "Lucena 2018, arXiv 1809.07751; Harrell 2015, doi 10.1007/978-3-319-19425-7",
    Spline,
    {Curve: LogitCurve, Basis: NaturalSpline},
    laws=frozenset({Law.REPEAT_IS_WEIGHT}),
)
