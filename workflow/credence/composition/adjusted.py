"""Confidences corrected for other class proportions, by the odds of being right.

Where only the proportions differ, the odds of predicted class k are multiplied by
w_k / Σ_j w_j π_j: w the ratios of the proportions, π_j the probability that a wrong prediction
like this one is truly of class j. That is what a refit with weights w[true class] gives for the
additive methods, and it needs no protein of the calibration set. The interval is widened by what
is not known of w.
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy import special

from credence.calibrators.intervals import ends_of_draws
from credence.composition.both_samples import N_DENSITY_BINS, CalibrationSample
from credence.composition.estimate import Composition, ratio_of
from credence.confidence import Confidence
from credence.predictions import Floats, Integers, Labelled, Predictions

ASSUMED_FAMILIES = 3.0  # that assumed true classes of the wrong count as: decision 0042


@dataclass(frozen=True, kw_only=True, eq=False)
class ProportionCorrection:
    """What a query set's class proportions change in confidences."""

    weight: Floats  # w of each class; 1 for one that calibration does not hold
    scale: float  # Of the scores
    # How far, in log odds, the proportions may move a class's confidence, by score bin.
    down: Floats
    up: Floats

    def corrected(
        self, confidence: Confidence, predictions: Predictions, sample: CalibrationSample
    ) -> Confidence:
        """Return the confidences of predictions, corrected; the sample is the calibration's."""
        score = predictions.top_score
        if score is None:
            score = np.zeros(predictions.n_samples)
        middle = (np.arange(N_DENSITY_BINS) + 0.5) * self.scale / N_DENSITY_BINS  # of each bin
        class_ = predictions.predicted_class
        value, lower, upper = confidence.value, confidence.lower, confidence.upper
        if (self.weight != 1.0).any():
            right, wrong = self.weight[class_], sample.among_wrong(predictions) @ self.weight
            value, lower, upper = (
                moved_odds(part, right, wrong) for part in (value, lower, upper)
            )
        lower, upper = lower.copy(), upper.copy()
        for number in np.unique(class_):
            rows = np.flatnonzero(class_ == number)
            down = np.interp(score[rows], middle, self.down[number])
            up = np.interp(score[rows], middle, self.up[number])
            lower[rows] = widened(value[rows], lower[rows], -down)
            upper[rows] = widened(value[rows], upper[rows], up)
        return replace(confidence, value=value, lower=lower, upper=upper)

    def limits(self, value: Floats, class_: Integers) -> tuple[Floats, Floats]:
        """Return what confidences may at least and at most become, whatever the scores are."""
        odd = np.where(np.eye(len(self.weight), dtype=np.bool_), np.nan, self.weight)
        if len(self.weight) == 1:
            return value, value
        most, least = np.nanmax(odd, axis=1)[class_], np.nanmin(odd, axis=1)[class_]
        right = self.weight[class_]
        return moved_odds(value, right, most), moved_odds(value, right, least)

    def refuse_damage(self) -> None:
        """Refuse numbers that are none, or not as many for each class."""
        shape = (len(self.weight), N_DENSITY_BINS)
        if self.down.shape != shape or self.up.shape != shape:
            raise ValueError("it does not say how far each class's confidences may be moved")
        for values in (self.weight, self.down, self.up):
            if not ((values >= 0) & np.isfinite(values)).all():
                raise ValueError("it has a weight or a width that is no number")


def moved_odds(value: Floats, right: Floats, wrong: Floats) -> Floats:
    """Return confidences where the right count so many times, and the wrong."""
    with np.errstate(divide="ignore", invalid="ignore"):
        moved = special.expit(special.logit(value) + np.log(right) - np.log(wrong))
    moved = np.where((value == 0.0) | (right == 0.0), 0.0, moved)
    moved = np.where((value == 1.0) & (right > 0.0), 1.0, moved)
    return np.asarray(np.where(np.isnan(value), np.nan, moved))


def corrected_unseen(sample: CalibrationSample, weight: Floats) -> Floats:
    """Return the confidences by fits without each protein's cluster, corrected for proportions.

    As published ones are: the shares among the wrong are from the other folds as well.
    """
    if not (weight != 1.0).any():
        return sample.held_out
    wrong = sample.held_out_among_wrong @ weight
    return moved_odds(sample.held_out, weight[sample.predicted_class], wrong)


def widened(value: Floats, end: Floats, reach: Floats) -> Floats:
    """Return an interval's end, moved away in log odds: the reaches add as errors do."""
    moved = end.copy()
    inside = (value > 0) & (value < 1) & (end > 0) & (end < 1)
    centre = special.logit(value[inside])
    reach_before = special.logit(end[inside]) - centre
    moved[inside] = special.expit(
        centre + np.sign(reach[inside]) * np.hypot(reach_before, reach[inside])
    )
    still = inside & (reach == 0)
    moved[still] = end[still]
    return moved


def shifted(labelled: Labelled, weight: Floats) -> Labelled:
    """Return the labelled set re-weighted by w[true class], without weights of 0."""
    if np.array_equal(np.nan_to_num(weight, nan=1.0), np.ones(len(weight))):
        return labelled
    moved = labelled.reweighted(labelled.weight * weight[labelled.true_class])
    return moved.take(moved.weight > 0)


def reach_of_assumed(table: Floats, weight: Floats, level: float) -> Floats:
    """Return how far, in log odds, assumed true classes of the wrong may be off, by score bin.

    As if these many families of each class's wrong predictions had shown them (Dirichlet).
    """
    mean = np.einsum("ijb,j->ib", table, weight)
    spread = np.maximum(np.einsum("ijb,j->ib", table, weight**2) - mean**2, 0.0)
    error = np.sqrt(spread / (ASSUMED_FAMILIES + 1.0))
    relative = np.divide(error, mean, out=np.zeros(mean.shape), where=mean > 0)
    return np.asarray(special.ndtri((1.0 + level) / 2.0) * relative)


def correction_for(
    sample: CalibrationSample, composition: Composition, level: float
) -> ProportionCorrection:
    """Return what a composition changes, and how far, in log odds, its error may move that."""
    table = sample.true_among_wrong
    n_classes = len(table)
    down, up = (np.zeros((n_classes, N_DENSITY_BINS)) for _ in range(2))
    draws, centre = np.nan_to_num(composition.weight_draws), np.nan_to_num(composition.fit_weight)
    # A confidence was fitted with calibration's shares as they happen to be; among the wrong
    # they cancel.
    shares = np.maximum(composition.draws, composition.least)
    of_wrong = np.nan_to_num(ratio_of(shares, composition.calibration_proportion[:, None]))
    least = np.nan_to_num(ratio_of(composition.upper, composition.calibration_proportion))
    for class_ in range(n_classes if draws.shape[1] > 0 else 0):
        wrong, wrong_centre = of_wrong.T @ table[class_], centre @ table[class_]
        held = (wrong > 0).all(axis=0) & (wrong_centre > 0)
        if not held.any() or centre[class_] == 0 or not (draws[class_] > 0).all():
            continue
        moved = np.log(draws[class_] / centre[class_])[:, None] - np.log(
            wrong[:, held] / wrong_centre[held]
        )
        low, high = ends_of_draws(moved.T, level)
        down[class_, held], up[class_, held] = np.maximum(-low, 0.0), np.maximum(high, 0.0)
        if composition.share[class_] == 0.0:  # draws pile up at 0; the interval does not
            up[class_] = np.maximum(up[class_], max(np.log(least[class_] / centre[class_]), 0.0))
    if sample.is_assumed:
        reach = reach_of_assumed(table, np.nan_to_num(centre, nan=1.0), level)
        down, up = np.hypot(down, reach), np.hypot(up, reach)
    return ProportionCorrection(
        weight=np.nan_to_num(composition.fit_weight, nan=1.0), scale=sample.scale, down=down, up=up
    )
