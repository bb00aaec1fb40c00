"""Findings of a composition, written by hand, and a calibration for one."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest

from credence.calibrators.protocol import Calibration
from credence.composition.adjusted import ProportionCorrection, correction_for
from credence.composition.both_samples import CalibrationSample
from credence.composition.diagnostics import Diagnostics
from credence.composition.estimate import Composition
from credence.confidence import Confidence
from credence.findings import Findings, MixDoubts, ShiftClass, ShiftCurve, ShiftFinding
from credence.predictions import Labelled, Predictions, label
from credence.predictions import from_scores as predictions_of
from credence.report.html import render
from credence.sentences import remarks_of_mix, warnings_of_mix

NAN = float("nan")
NAMES = ("Portal", "Tail fiber", "Collar")
SCORES = (0.0, 5.0, 10.0)


def labelled_proteins(n: int = 400) -> Labelled:
    """Return proteins of three classes, the last never predicted, in families of four."""
    rng = np.random.default_rng(11)
    true = rng.choice(3, size=n, p=[0.6, 0.3, 0.1])
    scores = rng.dirichlet([0.7, 0.7, 0.7], size=n)
    scores[np.arange(n), true] += rng.gamma(2.0, 0.4, size=n)
    scores[:, 2] = 0.0
    scores = np.round(10.0 * scores / scores.sum(axis=1, keepdims=True), 2)
    ids = np.array([f"p{row}" for row in range(n)], dtype=object)
    cluster = np.array([f"c{row // 4}" for row in range(n)], dtype=object)
    return label(predictions_of(ids, NAMES, scores, 10.0, 0.01), true, cluster=cluster)


def shift_class(name: str, **changed: float) -> ShiftClass:
    numbers = {
        "calibration_proportion": 0.5,
        "share": 0.2,
        "lower": 0.15,
        "upper": 0.26,
        "applied": 0.23,
        "weight": 0.4,
        "n_predicted": 30,
        "effective_before": 60.0,
        "effective_after": 41.0,
        "score_median": 6.8,
        "confidence_before": 0.75,
        "confidence_after": 0.5,
        "elsewhere": 2.25,
        "elsewhere_lower": 0.5,
        "elsewhere_upper": 6.0,
    }
    return ShiftClass(class_name=name, **numbers | changed)  # type: ignore[arg-type]


def shift_finding(**changed: object) -> ShiftFinding:
    curve = ShiftCurve(
        class_name=NAMES[0],
        score=SCORES,
        after=(0.05, 0.3, 0.7),
        after_lower=(0.0, 0.2, 0.5),
        after_upper=(0.2, 0.5, 0.9),
    )
    classes = (
        shift_class(NAMES[0]),
        shift_class(
            NAMES[1],
            calibration_proportion=0.4,
            share=0.7,
            lower=0.6,
            upper=0.8,
            applied=0.65,
            weight=1.75,
        ),
        shift_class(
            NAMES[2],
            calibration_proportion=0.1,
            share=0.1,
            lower=0.05,
            upper=0.2,
            applied=0.1,
            weight=1.0,
            score_median=NAN,
            confidence_before=NAN,
            confidence_after=NAN,
        ),
    )
    found = ShiftFinding(
        name="sea water",
        estimator="em_matched",
        method="kernel",
        level=0.95,
        n_query=5,
        n_cells=5,
        compression_error=0.0,
        condition=3.25,
        part_applied=0.9,
        p_no_shift=0.005,
        gap=0.03,
        p_label_shift=0.41,
        classes=classes,
        doubts=MixDoubts(n_classes=3, is_estimated=True, is_inseparable=True),
        curves=(curve,),
    )
    return replace(found, **changed)  # type: ignore[arg-type]


def warnings_about(seen: Diagnostics) -> list[str]:
    """Return what a reader is warned of."""
    shift = shift_finding(doubts=seen.doubts, is_other_kind=seen.is_other_kind)
    return list(warnings_of_mix(shift))


def remarks_about(seen: Diagnostics, part_applied: float) -> list[str]:
    """Return how much is corrected for, in words."""
    return list(remarks_of_mix(shift_finding(doubts=seen.doubts, part_applied=part_applied)))


@pytest.fixture(scope="session")
def mixed(small: Findings) -> Findings:
    """Return findings with a query set of another composition."""
    return replace(small, shifts=(shift_finding(),))


@pytest.fixture(scope="session")
def mixed_page(mixed: Findings) -> str:
    return render(mixed)


@dataclass(frozen=True, kw_only=True)
class Adjusted:
    """A calibration with what corrects it."""

    plain: Calibration
    correction: ProportionCorrection
    sample: CalibrationSample

    def confidence(self, predictions: Predictions) -> Confidence:
        """Return the corrected confidences."""
        plain = self.plain.confidence(predictions)
        return self.correction.corrected(plain, predictions, self.sample)


def adjust(
    sample: CalibrationSample, plain: Calibration, composition: Composition, level: float = 0.95
) -> Adjusted:
    """Return a calibration, corrected for a query set's composition."""
    correction = correction_for(sample, composition, level)
    return Adjusted(plain=plain, correction=correction, sample=sample)
