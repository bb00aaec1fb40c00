"""Uncalibrated confidence: the score's own share of the scale."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from credence.calibrators.classwise import curve_method
from credence.calibrators.protocol import Band, ClassSample, Curve, FitOptions, Law
from credence.predictions import Floats, Integers


@dataclass(frozen=True)
class ScoreShare:
    """The score over the scale, at most 1."""

    scale: float  # What a row of scores sums to

    def value(self, score: Floats) -> Floats:
        """Return the share of each score; rounded rows can exceed the scale."""
        return np.clip(score / self.scale, 0.0, 1.0)

    def note(self, score: Floats) -> Integers:
        """Return no note: the share is defined for every score."""
        return np.zeros(len(score), dtype=np.int64)


@dataclass(frozen=True)
class Uncalibrated:
    """Settings of the uncalibrated confidence: there are none.

    Notes
    -----
    S/M, where calibration saw enough of the class; the rule for scarce classes
    holds here as everywhere. It has no interval: nothing is fitted, so nothing
    that calibration data could say bounds it, and an interval of no width would
    read as certainty (docs/decisions/0211-no-interval-for-raw-scores.md).
    """

    def fit_curve(self, sample: ClassSample) -> ScoreShare:
        """Return the share; nothing is learnt."""
        return ScoreShare(sample.scale)

    def fit_band(self, sample: ClassSample, curve: Curve, options: FitOptions) -> Band | None:
        """Return None: a score that nothing was fitted to has no interval."""
        return None


METHOD = curve_method(
    "uncalibrated",
    "The score's share of the scale, as the classifier gave it; without interval.",
    "Salamon et al. 2023, section 4, doi 10.3390/make5030043",
    Uncalibrated,
    {Curve: ScoreShare},
    laws=frozenset({Law.REPEAT_IS_WEIGHT}),
    gives_interval=False,
)
