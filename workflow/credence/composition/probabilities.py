"""Probabilities of all classes by bias-corrected temperature scaling of mapped scores.

log p = log softmax(β log y + b): one inverse temperature, one bias per class, of greatest
likelihood. The mean probability of a class over the calibration set is then its share, as EM
needs. Before it y may go through a matrix near the unit one (decision 0019).
"""

from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np
import scipy

from credence.calibrators.matrix import (
    MOST_CLASSES,
    ScalingProblem,
    least_matrix,
    log_probabilities,
    with_ones,
)
from credence.calibrators.newton import newton_minimum
from credence.calibrators.score_logs import log_scores
from credence.predictions import Floats, Integers, Predictions
from credence.records import Stored

LEAST, GREATEST = 0.05, 20.0  # bounds of the temperature
BIAS_STEPS = 60  # at most: biases that tell all apart have no greatest likelihood
BIAS_DECREMENT = 1e-20  # rise of a step below which the likelihood is at its greatest
BIAS_SLACK = 1e-12  # of the likelihood, that its own rounding hides
TINIEST = 1e-300  # a probability below is as good as none, and its log is finite


@dataclass(frozen=True, kw_only=True, eq=False)
class BiasCorrected:
    """One inverse temperature and a bias for each class."""

    slope: float  # β = 1/T
    # b; −inf for a class that calibration does not hold.
    bias: Annotated[Floats, Stored(null=-np.inf)]
    share: Floats  # Shares of the classes in the calibration set
    # Of the log scores, before; intercepts in the last column.
    matrix: Annotated[Floats | None, Stored(is_left_out=True)] = None

    def even(self, probability: Floats) -> Floats:
        """Return what the probabilities would be if all classes were as frequent."""
        is_known = self.share > 0
        even = np.zeros_like(probability)
        even[:, is_known] = probability[:, is_known] / self.share[is_known]
        even /= even.sum(axis=1, keepdims=True)
        return even

    def uneven(self, even: Floats) -> Floats:
        """Return the probabilities for the calibration set's composition again."""
        weighted = even * self.share
        return np.asarray(weighted / weighted.sum(axis=1, keepdims=True))

    def probabilities(self, predictions: Predictions) -> Floats:
        """Return a probability for every class; each row sums to 1."""
        return self.of_scores(predictions.required_scores, predictions.resolution)

    def of_scores(self, scores: Floats, resolution: float) -> Floats:
        """Return the same of rows of scores."""
        return probabilities(self.mapped(log_scores(scores, resolution)), self.slope, self.bias)

    def mapped(self, logs: Floats) -> Floats:
        """Return the log scores as the temperature sees them."""
        return logs if self.matrix is None else through(self.matrix, logs)

    def moved(self, probability: Floats, slope: float, bias: Floats) -> Floats:
        """Return what the rows would have with other parameters."""
        is_known = np.isfinite(self.bias)
        logs = np.log(np.maximum(probability[:, is_known], TINIEST)) - self.bias[is_known]
        moved = np.zeros_like(probability)
        moved[:, is_known] = scipy.special.softmax(
            logs * (slope / self.slope) + bias[is_known], axis=1
        )
        return moved


def probabilities(logs: Floats, slope: float, bias: Floats) -> Floats:
    """Return softmax(β log y + b)."""
    return np.asarray(scipy.special.softmax(logs * slope + bias, axis=1))


def fit_bias_corrected(
    logs: Floats, true_class: Integers, weight: Floats, n_classes: int
) -> BiasCorrected:
    """Return the parameters of most likelihood, by Newton's method."""
    share = np.bincount(true_class, weights=weight, minlength=n_classes) / weight.sum()
    is_known = share > 0
    part = weight / weight.sum()

    def loss(point: Floats) -> float:
        return -_likelihood(logs, true_class, part, point[0], point[1:])

    def step_at(point: Floats) -> tuple[Floats, bool]:
        p = probabilities(logs, point[0], point[1:])
        gradient, curvature = slopes(logs, true_class, part, p)
        is_free = np.append(True, is_known)
        at_low, at_high = point[0] <= LEAST, point[0] >= GREATEST
        if (at_low and gradient[0] < 0) or (at_high and gradient[0] > 0):
            is_free[0] = False
        step = np.zeros(n_classes + 1)
        free = np.flatnonzero(is_free)
        # Adding one number to all biases changes nothing: the least step is taken.
        step[free] = np.linalg.lstsq(curvature[np.ix_(free, free)], gradient[free], rcond=None)[0]
        is_last = bool(gradient[free] @ step[free] <= BIAS_DECREMENT)
        return step * (not is_last), is_last

    start = np.append(1.0, np.where(is_known, 0.0, -np.inf))
    low, high = np.full((2, n_classes + 1), [[-np.inf], [np.inf]])
    low[0], high[0] = LEAST, GREATEST
    point = newton_minimum(
        start, loss, step_at, most_steps=BIAS_STEPS, slack=BIAS_SLACK, low=low, high=high
    )
    return BiasCorrected(slope=float(point[0]), bias=point[1:], share=share)


RIDGE = 10.0  # on the entries of the matrix, the evidence counted in families: decision 0019
RIDGE_FEW = 200.0  # families of a class that weaken its row's ridge to twice that


def through(matrix: Floats, logs: Floats) -> Floats:
    """Return log scores, each row's shares summing to 1, after the matrix."""
    return log_probabilities(with_ones(scipy.special.log_softmax(logs, axis=1)), matrix)


def fit_mapped(
    logs: Floats,
    true_class: Integers,
    weight: Floats,
    class_number: Floats,
    n_families: float,
    near: Floats | None = None,
) -> BiasCorrected:
    """Return matrix and parameters of most likelihood; of many classes no matrix.

    It is sought near the matrix of much the same proteins, if that is given.
    """
    if len(class_number) > MOST_CLASSES:
        return fit_bias_corrected(logs, true_class, weight, len(class_number))
    design = with_ones(scipy.special.log_softmax(logs, axis=1))
    evidence = weight * (n_families / weight.sum())
    # Rows hold on to the unit matrix where families are few.
    strength = RIDGE * (1.0 + RIDGE_FEW / np.maximum(class_number, 0.5))
    ridge = np.repeat(strength[:, None], len(class_number) + 1, axis=1)
    matrix = least_matrix(
        ScalingProblem(design=design, true_class=true_class, weight=evidence, ridge=ridge), near
    )[0]
    fitted = fit_bias_corrected(through(matrix, logs), true_class, weight, len(class_number))
    return replace(fitted, matrix=matrix)


def slopes(logs: Floats, true_class: Integers, part: Floats, p: Floats) -> tuple[Floats, Floats]:
    """Return gradient and negated second derivative of the log-likelihood."""
    n_classes = p.shape[1]
    mean = (p * logs).sum(axis=1)
    gradient = part @ row_scores(logs, true_class, p, mean)
    weighted = p * part[:, None]
    curvature = np.empty((n_classes + 1, n_classes + 1))
    curvature[0, 0] = ((weighted * logs**2).sum(axis=1) - part * mean**2).sum()
    curvature[0, 1:] = curvature[1:, 0] = (weighted * (logs - mean[:, None])).sum(axis=0)
    curvature[1:, 1:] = np.diag(weighted.sum(axis=0)) - weighted.T @ p
    return gradient, curvature


def row_scores(logs: Floats, true_class: Integers, p: Floats, mean: Floats) -> Floats:
    """Return each row's gradient of the log-likelihood, β first."""
    rows = np.arange(len(true_class))
    score = np.empty((len(rows), p.shape[1] + 1))
    score[:, 0] = logs[rows, true_class] - mean
    score[:, 1:] = -p
    score[rows, true_class + 1] += 1.0
    return score


def parameter_draws(
    fitted: BiasCorrected,
    logs: Floats,
    true_class: Integers,
    weight: Floats,
    unit: Integers,
    drawn: Floats,
) -> tuple[Floats, Floats]:
    """Return slopes and biases refitted in each draw, by one Newton step."""
    part = weight / weight.sum()
    p = probabilities(logs, fitted.slope, fitted.bias)
    _, curvature = slopes(logs, true_class, part, p)
    score = row_scores(logs, true_class, p, (p * logs).sum(axis=1)) * part[:, None]
    rows = np.arange(len(unit))
    gather = scipy.sparse.csr_array(
        (np.ones(len(unit)), (unit, rows)), shape=(len(drawn), len(unit))
    )
    by_unit = np.asarray(gather @ score)
    is_free = np.append(LEAST < fitted.slope < GREATEST, np.isfinite(fitted.bias))
    free = np.flatnonzero(is_free)
    step = np.zeros((p.shape[1] + 1, drawn.shape[1]))
    inverse = np.linalg.pinv(curvature[np.ix_(free, free)], hermitian=True)
    step[free] = inverse @ by_unit[:, free].T @ drawn
    slope = np.clip(fitted.slope + step[0], LEAST, GREATEST)
    return slope, np.asarray(fitted.bias[:, None] + step[1:])


def _likelihood(
    logs: Floats, true_class: Integers, part: Floats, slope: float, bias: Floats
) -> float:
    mapped = logs * slope + bias
    chosen = mapped[np.arange(len(true_class)), true_class]
    return float(part @ (chosen - scipy.special.logsumexp(mapped, axis=1)))
