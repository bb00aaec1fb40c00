"""Venn–Abers calibration per class: two isotonic fits that bracket the answer."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from scipy.optimize import isotonic_regression

from credence.calibrators.classwise import curve_method
from credence.calibrators.isotonic import likelihood_ratio_band
from credence.calibrators.logit_curve import merged
from credence.calibrators.protocol import Band, ClassSample, Curve, FitOptions, range_note
from credence.predictions import Booleans, Floats, Integers


@dataclass(frozen=True, eq=False)
class Bracket:
    """Two step functions of the score: the fit if the protein were wrong, or right."""

    score: Floats  # Distinct scores of calibration, ascending; n of them
    if_wrong: Floats  # p0 left of the first score, then from each score up to the next
    if_right: Floats  # p1 up to and with each score, then above the last

    def bounds(self, score: Floats) -> tuple[Floats, Floats]:
        """Return p0 and p1 at each score."""
        held = np.clip(score, self.score[0], self.score[-1])
        low = self.if_wrong[np.searchsorted(self.score, held, side="right")]
        high = self.if_right[np.searchsorted(self.score, held, side="left")]
        return low, high

    def value(self, score: Floats) -> Floats:
        """Return p1 / (1 - p0 + p1), the value of least regret in log loss."""
        low, high = self.bounds(score)
        return np.asarray(high / (1.0 - low + high))

    def note(self, score: Floats) -> Integers:
        """Return whether each score lies outside the range seen."""
        return range_note(score, float(self.score[0]), float(self.score[-1]))


@dataclass(frozen=True)
class VennAbers:
    """Settings of Venn–Abers calibration: there are none.

    Notes
    -----
    p0 and p1 are the isotonic fits with the protein itself added as wrong and as
    right; they come from the ``venn-abers`` package where rows weigh 1, and from
    :func:`weighted_bounds` otherwise. Of exchangeable proteins one of the two is
    perfectly calibrated [1]_; it is the price of not knowing which that
    [p0, p1] shows, and it says little about how far the curve itself may be off.
    So the interval reported is the union of [p0, p1] with that of the isotonic
    curve; relatives count in the latter alone.

    References
    ----------
    .. [1] Vovk, Petej & Fedorova 2015, arXiv 1511.00213
    """

    def fit_curve(self, sample: ClassSample) -> Bracket:
        """Return the two step functions of one class."""
        score, weight, weight_correct = merged(sample)
        if np.all(sample.weight == 1.0):
            bounds = package_bounds(sample.score, sample.is_correct)
        else:
            bounds = weighted_bounds(weight, weight_correct)
        return Bracket(score, np.clip(bounds[0], 0.0, 1.0), np.clip(bounds[1], 0.0, 1.0))

    def fit_band(self, sample: ClassSample, curve: Curve, options: FitOptions) -> Band:
        """Return the union of [p0, p1] with the interval of the isotonic curve."""
        assert isinstance(curve, Bracket)
        band = likelihood_ratio_band(sample, options)
        low, high = curve.bounds(band.score)
        # p0 and p1 are steps that rise between knots: the lower end looks one knot
        # back and the upper one ahead, so that straight lines stay outside both.
        back = np.concatenate([low[:1], low[:-1]])
        ahead = np.concatenate([high[1:], high[-1:]])
        return Band(band.score, np.minimum(band.lower, back), np.maximum(band.upper, ahead))


def package_bounds(score: Floats, is_correct: Booleans) -> tuple[Floats, Floats]:
    """Return p0 and p1 as the ``venn-abers`` package computes them."""
    # The package silences NumPy's warnings for the whole process when imported,
    # and divides zero by zero on purpose: all of that stays inside.
    with np.errstate(divide="ignore", invalid="ignore"), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "All-NaN slice encountered", RuntimeWarning)
        from venn_abers.venn_abers import calc_p0p1

        given = np.stack([1.0 - score, score], axis=1)
        if_wrong, if_right, _ = calc_p0p1(given, is_correct.astype(np.float64))
    return np.asarray(if_wrong[:, 1]), np.asarray(if_right[:, 1])


def weighted_bounds(weight: Floats, weight_correct: Floats) -> tuple[Floats, Floats]:
    """Return p0 and p1 of weighted rows; the protein itself weighs 1.

    >>> low, high = weighted_bounds(np.array([1.0, 1.0]), np.array([0.0, 1.0]))
    >>> low.tolist(), high.tolist()
    ([0.0, 0.0, 0.5], [0.5, 1.0, 1.0])
    """
    n_scores = len(weight)
    if_wrong, if_right = np.zeros(n_scores + 1), np.ones(n_scores + 1)
    for place in range(n_scores):
        # p0 holds from this score up to the next: the protein stands at the score.
        more = weight.copy()
        more[place] += 1.0
        if_wrong[place + 1] = isotonic_regression(weight_correct / more, weights=more).x[place]
        right = weight_correct.copy()
        right[place] += 1.0
        if_right[place] = isotonic_regression(right / more, weights=more).x[place]
    return if_wrong, if_right


METHOD = curve_method(
    "venn_abers",
    "Two isotonic fits that bracket the answer, per class; the bracket is kept.",
    "Vovk, Petej & Fedorova 2015, arXiv 1511.00213",
    VennAbers,
    {Curve: Bracket},
)
