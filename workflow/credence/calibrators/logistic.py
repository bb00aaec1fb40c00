"""Penalised logistic regression on all log scores, per predicted class."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import scipy

from credence.calibrators import newton, score_logs
from credence.calibrators.classwise import vector_method
from credence.calibrators.crossfit import DEFAULT_FOLDS, fold_of
from credence.calibrators.protocol import FitOptions
from credence.predictions import Floats, Integers, Labelled, Predictions
from credence.settings import setting

# Strengths tried, strongest first; 1 is a standard normal prior on a feature of unit variance.
STRENGTHS = (1000.0, 100.0, 10.0, 1.0)
FIXED_STRENGTH = 10.0  # where there are too few clusters to cross-fit
# A strong ridge leaves a bias that no standard error shows: the interval is that of one so weak.
INTERVAL_STRENGTH = 10.0
ROUGH = 1e-6  # tolerance of the fits that only choose a strength
FLAT_FEATURE = 1e-9  # a feature that varies less than this (logs) tells nothing


@dataclass(frozen=True, kw_only=True, eq=False)
class ClassLogistic:
    """The regression of one predicted class."""

    mean: Floats  # What standardises the log scores; spread 0 where a score is flat
    spread: Floats
    coefficient: Floats  # The intercept first
    strength: float  # Of the ridge
    weak: Floats | None  # Coefficients of the fit with the weak ridge that the interval is of
    # Of those, as the clusters show it and as the model implies it; None without intervals.
    covariance: Floats | None
    n_clusters: int  # How many clusters the fit saw

    def design(self, logs: Floats) -> Floats:
        """Return a column of ones and the standardised log scores."""
        is_flat = np.equal(self.spread, 0)
        scaled = (logs - self.mean) / np.where(is_flat, 1.0, self.spread)
        scaled[:, is_flat] = 0.0
        return np.column_stack([np.ones(len(logs)), scaled])

    def evaluate(self, logs: Floats, level: float) -> tuple[Floats, Floats, Floats]:
        """Return value, lower and upper end."""
        design = self.design(logs)
        # Row by row: a product of matrices depends on how many rows a piece has.
        value = scipy.special.expit(np.einsum("ij,j->i", design, self.coefficient))
        if self.covariance is None or self.weak is None:
            return value, np.full_like(value, np.nan), np.full_like(value, np.nan)
        error = newton.standard_error(design, self.covariance)
        linear = np.einsum("ij,j->i", design, self.weak)
        return value, *newton.log_odds_interval(linear, error, level, self.n_clusters)


@dataclass(frozen=True, kw_only=True, eq=False)
class LogisticModel:
    """One regression per predicted class."""

    level: float  # Coverage of the intervals
    # By class name; scarce classes are absent.
    classes: Mapping[str, ClassLogistic] = field(default_factory=dict)

    def evaluate(self, predictions: Predictions) -> tuple[Floats, Floats, Floats]:
        """Return value, lower and upper end; the ends NaN without intervals."""
        answer = np.full((3, predictions.n_samples), np.nan)
        logs = score_logs.sorted_log_scores(predictions)
        chosen = score_logs.predicted_rank(predictions)
        for rank, class_ in enumerate(score_logs.name_order(predictions.class_names)):
            fitted = self.classes.get(predictions.class_names[class_])
            rows = np.flatnonzero(chosen == rank)
            if fitted is not None and len(rows) > 0:
                answer[:, rows] = fitted.evaluate(logs[rows], self.level)
        return answer[0], answer[1], answer[2]


@dataclass(frozen=True, kw_only=True)
class Logistic:
    """Settings of the logistic regression on the whole score vector.

    Conf3, Eq. (10) of Salamon et al.: among the proteins predicted to be in a class, the log odds
    of being right are linear in the standardised logs of all scores, with the ridge of least
    held-out loss. Intervals are of the log odds, with Student's t, by the jackknife over clusters
    or the model's own curvature, whichever is wider, of a fit with a weak ridge, stretched to the
    value.
    """

    strength: str | float = setting(
        "cross-fitted",
        "Ridge on standardised log scores; 1 is a standard normal prior.",
        ("cross-fitted",),
        low=0.001,
    )

    def fit_model(self, labelled: Labelled, options: FitOptions) -> LogisticModel:
        """Return one regression per active class."""
        names = labelled.predictions.class_names
        seen = set(labelled.predictions.predicted_class.tolist())
        active = [class_ for class_ in score_logs.name_order(names) if class_ in seen]
        fits = {
            names[k]: self._fit_class(score_logs.rows_of(labelled, k), options) for k in active
        }
        return LogisticModel(level=options.level, classes=fits)

    def _fit_class(self, labelled: Labelled, options: FitOptions) -> ClassLogistic:
        logs = score_logs.sorted_log_scores(labelled.predictions)
        order = score_logs.canonical_order(logs, labelled)
        labelled, logs = labelled.take(order), logs[order]
        target, weight = labelled.is_correct.astype(float), labelled.weight
        mean = np.average(logs, axis=0, weights=weight)
        spread = np.sqrt(np.average((logs - mean) ** 2, axis=0, weights=weight))
        spread[spread < FLAT_FEATURE] = 0.0
        blank = ClassLogistic(
            mean=mean,
            spread=spread,
            coefficient=np.zeros(0),
            strength=0.0,
            weak=None,
            covariance=None,
            n_clusters=0,
        )
        design = blank.design(logs)
        _, cluster = np.unique(labelled.cluster.astype(str), return_inverse=True)
        strength = self.strength
        if isinstance(strength, str):
            strength = cross_fitted_strength(design, labelled)
        fit = ridge(design, target, weight, strength)
        n_clusters = int(cluster.max()) + 1
        weak, covariance = None, None
        if options.n_draws > 0:
            loose = ridge(design, target, weight, min(strength, INTERVAL_STRENGTH))
            p = scipy.special.expit(design @ loose.coefficient)
            shown = newton.cluster_covariance(
                design, weight * (p - target), weight * p * (1.0 - p), cluster, loose
            )
            weak, covariance = loose.coefficient, np.stack([shown, np.linalg.inv(loose.hessian)])
        return ClassLogistic(
            mean=mean,
            spread=spread,
            coefficient=fit.coefficient,
            strength=strength,
            weak=weak,
            covariance=covariance,
            n_clusters=n_clusters,
        )


def ridge(
    design: Floats,
    target: Floats,
    weight: Floats,
    strength: float,
    start: Floats | None = None,
    tolerance: float = newton.DECREMENT_TOLERANCE,
) -> newton.LogisticFit:
    """Return the regression with all but the first coefficient shrunk to 0."""
    penalty = np.full(design.shape[1], strength)
    penalty[0] = 0.0
    centre = np.zeros(design.shape[1])
    if start is None:
        start = centre.copy()
        start[0] = scipy.special.logit(float(weight @ target / weight.sum()))
    return newton.fit_logistic(design, target, weight, penalty, centre, start, tolerance)


def cross_fitted_strength(design: Floats, labelled: Labelled) -> float:
    """Return the strength with the least loss on clusters left out."""
    fold: Integers = fold_of(labelled.cluster, labelled.is_correct, DEFAULT_FOLDS)
    target, weight = labelled.is_correct.astype(float), labelled.weight
    losses = np.zeros(len(STRENGTHS))
    n_judged = 0
    for held_out in range(DEFAULT_FOLDS):
        is_out = np.equal(fold, held_out)
        kept = target[~is_out]
        if not is_out.any() or kept.size == 0 or kept.min() == kept.max():
            continue
        n_judged += 1
        start = None
        seen, weight_seen = design[~is_out], weight[~is_out]
        for position, strength in enumerate(STRENGTHS):
            start = ridge(seen, kept, weight_seen, strength, start, ROUGH).coefficient
            losses[position] += weight[is_out] @ newton.log_loss(
                design[is_out] @ start, target[is_out]
            )
    return STRENGTHS[int(losses.argmin())] if n_judged > 1 else FIXED_STRENGTH


LOGISTIC_METHOD = vector_method(
    "logistic",
    "Logistic regression of being right on the logs of all scores, with a ridge (Conf3).",
    "Salamon et al. 2023, Eq. 10, doi 10.3390/make5030043",
    Logistic,
    LogisticModel,
)
