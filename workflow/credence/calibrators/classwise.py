"""One curve per predicted class, lifted to all classes.

This wrapper alone knows that there are several classes, that some are scarce
and that some were never predicted. Methods see one class's positives.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

import numpy as np

from credence.calibrators.intervals import share_interval
from credence.calibrators.masses import ClassMasses, Support, class_masses
from credence.calibrators.protocol import (
    Band,
    Calibrator,
    ClassSample,
    Curve,
    CurveMethod,
    FitOptions,
)
from credence.confidence import Confidence, Note
from credence.draws import encode_clusters
from credence.predictions import Floats, Integers, Labelled, Predictions
from credence.records import Stored, from_record

LEFT_OUT = Stored(is_left_out=True)


@dataclass(frozen=True)
class Fallback:
    """The class's share with Jeffreys' prior, where data are scarce."""

    share: float  # (Σw TP + ½) / (Σw + 1)
    code: Annotated[int, Stored("note")]  # The note that says why

    def value(self, score: Floats) -> Floats:
        """Return the share for every score."""
        return np.full(len(score), self.share)

    def note(self, score: Floats) -> Integers:
        """Return the reason for every score."""
        return np.full(len(score), self.code, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class ClassCurve:
    """All that is known of one predicted class."""

    counts: dict[str, Any]  # What the class's positives amount to
    # What answers where the class is scarce; neither this nor a curve where a class was never
    # predicted in calibration, or where a model of all classes answers.
    fallback: Annotated[Fallback | None, LEFT_OUT] = None
    learnt: Annotated[Curve | None, Stored("curve", is_left_out=True)] = None
    band: Annotated[Band | None, LEFT_OUT] = None  # Its pointwise interval, if one was asked for
    support: Annotated[Support | None, LEFT_OUT] = None

    @property
    def curve(self) -> Curve | None:
        """What answers for the class."""
        return self.learnt if self.fallback is None else self.fallback


@dataclass(frozen=True, eq=False)
class ClasswiseCalibration:
    """Fitted curves of all classes."""

    method: str  # Name of the method in the registry
    classes: dict[str, ClassCurve]  # By name, in order

    @property
    def class_names(self) -> tuple[str, ...]:
        """Classes in order."""
        return tuple(self.classes)

    @property
    def entries(self) -> tuple[ClassCurve, ...]:
        """One per class."""
        return tuple(self.classes.values())

    def confidence(self, predictions: Predictions) -> Confidence:
        """Return the confidence of each prediction."""
        n_samples = predictions.n_samples
        value = np.full(n_samples, np.nan)
        lower, upper = value.copy(), value.copy()
        support = np.zeros(n_samples)
        note = np.full(n_samples, int(Note.UNSEEN_CLASS), dtype=np.int64)
        top_score = predictions.top_score
        if top_score is None:
            top_score = np.zeros(n_samples)
        for class_, entry in enumerate(self.entries):
            rows = np.flatnonzero(predictions.predicted_class == class_)
            if entry.curve is None or len(rows) == 0:
                continue
            score = top_score[rows]
            value[rows] = entry.curve.value(score)
            note[rows] = entry.curve.note(score)
            if entry.band is not None:
                band = entry.band
                lower[rows] = np.minimum(np.interp(score, band.score, band.lower), value[rows])
                upper[rows] = np.maximum(np.interp(score, band.score, band.upper), value[rows])
            if entry.support is not None:
                support[rows] = np.interp(score, entry.support.score, entry.support.n)
        return Confidence(value, lower, upper, support, note)


@dataclass(frozen=True)
class ClasswiseCalibrator:
    """A curve method, fitted on each class's positives."""

    method: str  # Name of the method in the registry
    settings: CurveMethod  # What fits one class
    options: FitOptions  # What all methods share

    def fit(self, labelled: Labelled) -> ClasswiseCalibration:
        """Return one curve per class."""
        entries = [
            self._fit_class(sample) if sample is not None else never_predicted()
            for sample in class_samples(labelled)
        ]
        classes = dict(zip(labelled.predictions.class_names, entries, strict=True))
        return ClasswiseCalibration(self.method, classes)

    def _fit_class(self, sample: ClassSample) -> ClassCurve:
        masses = class_masses(sample)
        fallback = scarce_fallback(masses, self.options)
        if fallback is not None:
            return scarce_class(sample, masses, fallback, self.options)
        curve, band = self.settings.fit_curve(sample), None
        if self.options.n_draws > 0:
            band = self.settings.fit_band(sample, curve, self.options)
        return ClassCurve(count(sample, masses), None, curve, band, masses.support)


def class_samples(labelled: Labelled) -> list[ClassSample | None]:
    """Return the positives of every class, None where there are none."""
    predictions = labelled.predictions
    score = predictions.top_score
    if score is None:
        score = np.zeros(predictions.n_samples)
    samples: list[ClassSample | None] = []
    for class_ in range(predictions.n_classes):
        rows = np.flatnonzero(predictions.predicted_class == class_)
        if len(rows) == 0:
            samples.append(None)
            continue
        codes, keys = encode_clusters(labelled.cluster[rows])
        # One order for all time: sums must not depend on the order of rows.
        order = np.lexsort((codes, labelled.weight[rows], labelled.is_correct[rows], score[rows]))
        rows, codes = rows[order], codes[order]
        samples.append(
            ClassSample(
                score=score[rows],
                is_correct=labelled.is_correct[rows],
                weight=labelled.weight[rows],
                cluster=codes,
                cluster_key=keys,
                scale=predictions.scale,
                resolution=predictions.resolution,
            )
        )
    return samples


def kish(weight: Floats) -> float:
    """Return the effective number (Σw)²/Σw²; 0 for nothing.

    >>> kish(np.array([1.0, 1.0, 1.0]))
    3.0
    """
    if len(weight) == 0:
        return 0.0
    return float(weight.sum() ** 2 / (weight**2).sum())


def scarce_fallback(masses: ClassMasses, options: FitOptions) -> Fallback | None:
    """Return the rule for scarce classes where it applies, else None."""
    code = Note.NONE
    if masses.effective_number < options.min_positives:
        code |= Note.SCARCE
    if not masses.at_scores.right.any() or not masses.at_scores.wrong.any():
        code |= Note.ONE_SIDED
    if code is Note.NONE:
        return None
    return Fallback((masses.weight_right + 0.5) / (masses.weight + 1.0), int(code))


def count(sample: ClassSample, masses: ClassMasses) -> dict[str, Any]:
    """Return how many proteins and clusters a class's positives are."""
    return {
        "n": len(sample.score),
        "n_correct": int(sample.is_correct.sum()),
        "n_clusters": len(sample.cluster_key),
        "weight": masses.weight,
        "share_correct": masses.weight_right / masses.weight,
        "score_min": float(sample.score.min()),
        "score_median": float(np.median(sample.score)),
        "score_max": float(sample.score.max()),
    }


def never_predicted() -> ClassCurve:
    """Return the entry of a class that has no positives."""
    return ClassCurve({"n": 0, "n_correct": 0, "n_clusters": 0, "weight": 0.0})


def scarce_class(
    sample: ClassSample, masses: ClassMasses, fallback: Fallback, options: FitOptions
) -> ClassCurve:
    """Return the entry of a class that is too scarce to learn from."""
    band = None
    if options.n_draws > 0:
        lower, upper = share_interval(sample, options)
        band = Band(np.array([0.0]), np.array([lower]), np.array([upper]))
    return ClassCurve(count(sample, masses), fallback, None, band, masses.support)


def reader_of(curve: Any) -> Callable[[Any], ClasswiseCalibration]:
    """Return what reads calibrations whose curves are of a class, or read by a function."""
    return partial(from_record, ClasswiseCalibration, kinds={Curve: curve})


def build_classwise(method: str) -> Callable[[Any, FitOptions], Calibrator]:
    """Return the function that makes a class-wise calibrator of settings."""

    def build(settings: CurveMethod, options: FitOptions) -> Calibrator:
        return ClasswiseCalibrator(method, settings, options)

    return build
