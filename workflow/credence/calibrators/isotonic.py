"""Isotonic calibration per class: the never-falling curve of greatest likelihood."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import isotonic_regression

from credence.calibrators.classwise import build_classwise, reader_of
from credence.calibrators.isotonic_band import likelihood_ratio_band
from credence.calibrators.logit_curve import merged, range_note
from credence.calibrators.protocol import (
    Band,
    ClassSample,
    Curve,
    FitOptions,
    Law,
    Method,
    Need,
    Record,
)
from credence.predictions import Floats, Integers


@dataclass(frozen=True, eq=False)
class Polyline:
    """A curve on knots, straight between them, its ends held outside.

    Parameters
    ----------
    score : array of float
        Knots, ascending.
    confidence : array of float
        Its values there.
    """

    score: Floats
    confidence: Floats

    def value(self, score: Floats) -> Floats:
        """Return the confidence at each score."""
        return np.interp(score, self.score, self.confidence)

    def note(self, score: Floats) -> Integers:
        """Return whether each score lies outside the range seen."""
        return range_note(score, float(self.score[0]), float(self.score[-1]))

    def to_record(self) -> Record:
        """Return the curve as JSON data."""
        return {"score": self.score.tolist(), "confidence": self.confidence.tolist()}

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Polyline:
        """Return the curve of a record; a ValueError where it is no such curve."""
        score = np.array(record["score"], dtype=np.float64)
        confidence = np.array(record["confidence"], dtype=np.float64)
        if score.ndim != 1 or score.shape != confidence.shape or len(score) == 0:
            raise ValueError("a curve needs a confidence for every knot")
        if not np.isfinite(score).all() or (np.diff(score) < 0).any():
            raise ValueError("the knots of a curve are not ascending numbers")
        if not ((confidence >= 0) & (confidence <= 1)).all():
            raise ValueError("a curve holds what is no probability")
        return cls(score, confidence)


@dataclass(frozen=True)
class Isotonic:
    """Settings of isotonic calibration: there are none.

    Notes
    -----
    Pool adjacent violators, weighted; equal scores are one point. Straight lines
    between the ends of the blocks, the first and last value held outside.

    References
    ----------
    .. [1] Zadrozny & Elkan 2002, doi 10.1145/775047.775151
    .. [2] Banerjee & Wellner 2001, doi 10.1214/aos/1015345959 (the interval)
    """

    def fit_curve(self, sample: ClassSample) -> Polyline:
        """Return the isotonic curve of one class."""
        score, weight, weight_correct = merged(sample)
        fitted = isotonic_regression(weight_correct / weight, weights=weight).x
        confidence = np.clip(fitted, 0.0, 1.0)
        is_end = np.ones(len(score), dtype=np.bool_)
        # Inside a block nothing bends.
        is_end[1:-1] = (confidence[1:-1] != confidence[:-2]) | (confidence[1:-1] != confidence[2:])
        return Polyline(score[is_end], confidence[is_end])

    def fit_band(self, sample: ClassSample, curve: Curve, options: FitOptions) -> Band:
        """Return the interval by inverting the likelihood-ratio test at each knot."""
        return likelihood_ratio_band(sample, options)


METHOD = Method(
    name="isotonic",
    summary="The never-falling curve that fits best, per class.",
    reference="Zadrozny & Elkan 2002, doi 10.1145/775047.775151",
    settings=Isotonic,
    needs=Need.TOP_SCORE,
    build=build_classwise("isotonic"),
    read=reader_of("isotonic", Polyline.from_record),
    laws=frozenset({Law.REPEAT_IS_WEIGHT, Law.TROVE}),
)
