"""One curve per predicted class, lifted to all classes.

This wrapper alone knows that there are several classes, that some are scarce
and that some were never predicted. Methods see one class's positives.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from credence.calibrators.intervals import share_interval
from credence.calibrators.masses import ClassMasses, class_masses
from credence.calibrators.protocol import (
    Band,
    Calibrator,
    ClassSample,
    Curve,
    CurveMethod,
    FitOptions,
    Record,
)
from credence.confidence import Confidence, Note
from credence.draws import encode_clusters
from credence.predictions import Floats, Integers, Labelled, Predictions


@dataclass(frozen=True)
class Fallback:
    """The class's share with Jeffreys' prior, where data are scarce."""

    share: float  # (Σw TP + ½) / (Σw + 1)
    code: int  # The note that says why

    def value(self, score: Floats) -> Floats:
        """Return the share for every score."""
        return np.full(len(score), self.share)

    def note(self, score: Floats) -> Integers:
        """Return the reason for every score."""
        return np.full(len(score), self.code, dtype=np.int64)

    def to_record(self) -> Record:
        """Return the curve as JSON data."""
        return {"share": self.share, "note": self.code}


@dataclass(frozen=True, eq=False)
class ClassCurve:
    """All that is known of one predicted class."""

    curve: Curve | None  # None where the class was never predicted in calibration
    band: Band | None  # Its pointwise interval; None where none was asked for
    support: tuple[Floats, Floats] | None  # Knots of the effective number of proteins near a score
    counts: Record  # What the class's positives amount to


@dataclass(frozen=True, eq=False)
class ClasswiseCalibration:
    """Fitted curves of all classes."""

    method: str  # Name of the method in the registry
    class_names: tuple[str, ...]  # Classes in order
    entries: tuple[ClassCurve, ...]  # One per class

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
                support[rows] = np.interp(score, *entry.support)
        return Confidence(value, lower, upper, support, note)

    def to_record(self) -> Record:
        """Return the calibration as JSON data."""
        return {
            "method": self.method,
            "classes": {
                name: entry_record(entry)
                for name, entry in zip(self.class_names, self.entries, strict=True)
            },
        }


@dataclass(frozen=True)
class ClasswiseCalibrator:
    """A curve method, fitted on each class's positives."""

    method: str  # Name of the method in the registry
    settings: CurveMethod  # What fits one class
    options: FitOptions  # What all methods share

    def fit(self, labelled: Labelled) -> ClasswiseCalibration:
        """Return one curve per class."""
        entries = tuple(
            self._fit_class(sample) if sample is not None else never_predicted()
            for sample in class_samples(labelled)
        )
        return ClasswiseCalibration(self.method, labelled.predictions.class_names, entries)

    def _fit_class(self, sample: ClassSample) -> ClassCurve:
        masses = class_masses(sample)
        curve = scarce_fallback(masses, self.options) or self.settings.fit_curve(sample)
        band = None
        if self.options.n_draws > 0:
            if isinstance(curve, Fallback):
                lower, upper = share_interval(sample, self.options)
                band = Band(np.array([0.0]), np.array([lower]), np.array([upper]))
            else:
                band = self.settings.fit_band(sample, curve, self.options)
        return ClassCurve(curve, band, masses.support, count(sample, masses))


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

    Examples
    --------
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


def count(sample: ClassSample, masses: ClassMasses) -> Record:
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
    return ClassCurve(None, None, None, {"n": 0, "n_correct": 0, "n_clusters": 0, "weight": 0.0})


def entry_record(entry: ClassCurve) -> Record:
    """Return one class's entry as JSON data."""
    record: Record = {"counts": entry.counts}
    if entry.curve is not None:
        kind = "fallback" if isinstance(entry.curve, Fallback) else "curve"
        record[kind] = entry.curve.to_record()
    if entry.band is not None:
        record["band"] = {
            "score": entry.band.score.tolist(),
            "lower": entry.band.lower.tolist(),
            "upper": entry.band.upper.tolist(),
        }
    if entry.support is not None:
        record["support"] = {
            "score": entry.support[0].tolist(),
            "n": entry.support[1].tolist(),
        }
    return record


def read_entry(
    record: Mapping[str, Any], read_curve: Callable[[Mapping[str, Any]], Curve]
) -> ClassCurve:
    """Return one class's entry from JSON data."""
    curve: Curve | None = None
    if "fallback" in record:
        curve = Fallback(float(record["fallback"]["share"]), int(record["fallback"]["note"]))
    elif "curve" in record:
        curve = read_curve(record["curve"])
    band = record.get("band")
    support = record.get("support")
    return ClassCurve(
        curve,
        None
        if band is None
        else Band(np.array(band["score"]), np.array(band["lower"]), np.array(band["upper"])),
        None if support is None else (np.array(support["score"]), np.array(support["n"])),
        dict(record["counts"]),
    )


def reader_of(
    method: str, read_curve: Callable[[Mapping[str, Any]], Curve]
) -> Callable[[Mapping[str, Any]], ClasswiseCalibration]:
    """Return the function that reads a class-wise method's record."""

    def read(record: Mapping[str, Any]) -> ClasswiseCalibration:
        classes = record["classes"]
        entries = tuple(read_entry(entry, read_curve) for entry in classes.values())
        return ClasswiseCalibration(method, tuple(classes), entries)

    return read


def build_classwise(method: str) -> Callable[[Any, FitOptions], Calibrator]:
    """Return the function that makes a class-wise calibrator of settings."""

    def build(settings: CurveMethod, options: FitOptions) -> Calibrator:
        return ClasswiseCalibrator(method, settings, options)

    return build
