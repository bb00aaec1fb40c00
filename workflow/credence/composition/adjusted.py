"""Confidences corrected for a composition, by refitting with weights w[true class].

For the additive methods that is exact: Conf_k(S) = w_k f_kk(S)/Σ_j w_j f_kj(S), f the densities
of predicted class k by true class j. The interval is widened by what is not known of w.
"""

from dataclasses import dataclass

import numpy as np
from scipy import special

from credence.calibrators.intervals import ends_of_draws
from credence.calibrators.protocol import Calibration, FitOptions
from credence.composition.both_samples import N_DENSITY_BINS, CalibrationSample
from credence.composition.estimate import Composition, ratio_of
from credence.confidence import Confidence
from credence.predictions import Floats, Labelled, Predictions

WINDOW = 0.05  # of the scale: standard deviation of the densities that carry w's error


@dataclass(frozen=True, kw_only=True, eq=False)
class AdjustedCalibration:
    """A calibration for a use-set of another composition."""

    calibration: Calibration  # Refitted with weights w[true class]
    scale: float  # Of the scores
    # How far, in log odds, the composition may move a class's confidence, by score bin.
    down: Floats
    up: Floats

    def confidence(self, predictions: Predictions) -> Confidence:
        """Return the corrected confidence of each prediction."""
        confidence = self.calibration.confidence(predictions)
        score = predictions.top_score
        if score is None:
            score = np.zeros(predictions.n_samples)
        middle = (np.arange(N_DENSITY_BINS) + 0.5) * self.scale / N_DENSITY_BINS  # of each bin
        lower, upper = confidence.lower.copy(), confidence.upper.copy()
        for class_ in np.unique(predictions.predicted_class):
            rows = np.flatnonzero(predictions.predicted_class == class_)
            down = np.interp(score[rows], middle, self.down[class_])
            up = np.interp(score[rows], middle, self.up[class_])
            lower[rows] = widened(confidence.value[rows], confidence.lower[rows], -down)
            upper[rows] = widened(confidence.value[rows], confidence.upper[rows], up)
        return Confidence(
            value=confidence.value,
            lower=lower,
            upper=upper,
            support=confidence.support,
            note=confidence.note,
        )


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


def with_reach(
    calibration: Calibration,
    sample: CalibrationSample,
    composition: Composition,
    options: FitOptions,
) -> AdjustedCalibration:
    """Return a calibration fitted with weights, and how far, in log odds, these may move it."""
    density = smoothed_masses(sample.score_masses())
    n_classes = len(density)
    down, up = (np.zeros((n_classes, N_DENSITY_BINS)) for _ in range(2))
    draws = np.nan_to_num(composition.weight_draws)
    centre = np.nan_to_num(composition.fit_weight)
    least = np.nan_to_num(ratio_of(composition.upper, composition.calibration_share))
    for class_ in range(n_classes if draws.shape[1] > 0 else 0):
        others = np.delete(np.arange(n_classes), class_)
        wrong = draws[others].T @ density[class_, others]
        wrong_centre = centre[others] @ density[class_, others]
        held = (wrong > 0).all(axis=0) & (wrong_centre > 0)
        if not held.any() or centre[class_] == 0 or not (draws[class_] > 0).all():
            continue
        moved = np.log(draws[class_] / centre[class_])[:, None] - np.log(
            wrong[:, held] / wrong_centre[held]
        )
        low, high = ends_of_draws(moved.T, options.level)
        down[class_, held], up[class_, held] = np.maximum(-low, 0.0), np.maximum(high, 0.0)
        if composition.share[class_] == 0.0:  # draws pile up at 0; the interval does not
            up[class_] = np.maximum(up[class_], max(np.log(least[class_] / centre[class_]), 0.0))
    return AdjustedCalibration(
        calibration=calibration, scale=sample.labelled.predictions.scale, down=down, up=up
    )


def smoothed_masses(mass: Floats) -> Floats:
    """Return masses by classes and score, smoothed by a Gaussian window over the scores."""
    bins = np.arange(N_DENSITY_BINS)
    square = ((bins[:, None] - bins) / (WINDOW * N_DENSITY_BINS)) ** 2
    return np.asarray(mass @ np.exp(-square / 2.0))
