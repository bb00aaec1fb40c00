"""Methods that look at the whole score vector, fitted over all classes.

The counterpart of :mod:`credence.calibrators.classwise`: this wrapper deals with
scarce and unseen classes in the same way, so that a method's own model only
ever meets classes that have enough right and wrong predictions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np

from credence.calibrators.classwise import (
    ClassCurve,
    class_samples,
    count,
    never_predicted,
    scarce_class,
    scarce_fallback,
)
from credence.calibrators.masses import class_masses
from credence.calibrators.protocol import Calibrator, FitOptions, components_asked
from credence.confidence import Confidence, Note
from credence.draws import keys_of
from credence.predictions import Booleans, Floats, Labelled, Predictions
from credence.records import from_record


class VectorModel(Protocol):
    """A fitted function of the score vector and the predicted class."""

    def evaluate(self, predictions: Predictions) -> tuple[Floats, Floats, Floats]:
        """Return value, lower and upper end; the ends NaN without intervals."""
        ...


class VectorMethod(Protocol):
    """Settings of a method that sees the whole score vector."""

    def fit_model(
        self, labelled: Labelled, is_active: Booleans, options: FitOptions
    ) -> VectorModel:
        """Return the model learnt from proteins of the active classes.

        `labelled` holds only proteins that are predicted to be in an active
        class, in an order that does not depend on that of the table;
        `is_active` has one entry per class.
        """
        ...


@dataclass(frozen=True, eq=False)
class JointCalibration:
    """A fitted vector method, with the classes it could not learn."""

    method: str  # Name of the method in the registry
    # By name, in order: the counts and support, and the fallback where scarce.
    classes: dict[str, ClassCurve]
    model: VectorModel | None  # What answers for all other classes; None where all are scarce

    @property
    def n_components(self) -> int:
        """Number of components of a protein's place that the model asks for, mostly 0."""
        return components_asked(self.model)

    def confidence(self, predictions: Predictions) -> Confidence:
        """Return the confidence of each prediction."""
        n_samples = predictions.n_samples
        value = np.full(n_samples, np.nan)
        lower, upper = value.copy(), value.copy()
        support = np.zeros(n_samples)
        note = np.full(n_samples, int(Note.UNSEEN_CLASS), dtype=np.int64)
        top_score = predictions.top_score
        assert top_score is not None
        is_modelled = np.zeros(n_samples, dtype=np.bool_)
        for class_, entry in enumerate(self.classes.values()):
            rows = np.flatnonzero(predictions.predicted_class == class_)
            if entry.support is None or len(rows) == 0:
                continue
            support[rows] = np.interp(top_score[rows], entry.support.score, entry.support.n)
            if entry.curve is None:
                is_modelled[rows] = True
                note[rows] = int(Note.NONE)
                continue
            value[rows] = entry.curve.value(top_score[rows])
            note[rows] = entry.curve.note(top_score[rows])
            if entry.band is not None:
                lower[rows] = np.minimum(entry.band.lower[0], value[rows])
                upper[rows] = np.maximum(entry.band.upper[0], value[rows])
        if self.model is not None and is_modelled.any():
            value[is_modelled], lower[is_modelled], upper[is_modelled] = self.model.evaluate(
                predictions.take(is_modelled)
            )
            lower = np.minimum(lower, value)
            upper = np.maximum(upper, value)
            notes = getattr(self.model, "notes", None)
            if notes is not None:
                note[is_modelled] |= notes(predictions.take(is_modelled))
        return Confidence(value, lower, upper, support, note)

    def probabilities(self, predictions: Predictions) -> Floats:
        """Return a probability for every class, where the method gives a vector.

        Rows are NaN where no class could be learnt.
        """
        if self.model is None:
            return np.full((predictions.n_samples, predictions.n_classes), np.nan)
        give = getattr(self.model, "probabilities", None)
        if give is None:
            raise AttributeError(f"{self.method} gives no probability for every class")
        return np.asarray(give(predictions))


@dataclass(frozen=True)
class JointCalibrator:
    """A vector method, fitted on all classes at once."""

    method: str  # Name of the method in the registry
    settings: VectorMethod  # What fits the model
    options: FitOptions  # What all methods share

    def fit(self, labelled: Labelled) -> JointCalibration:
        """Return the model of the classes that are not scarce, and the rest."""
        entries = []
        is_active = np.zeros(labelled.predictions.n_classes, dtype=np.bool_)
        for class_, sample in enumerate(class_samples(labelled)):
            if sample is None:
                entries.append(never_predicted())
                continue
            masses = class_masses(sample)
            fallback = scarce_fallback(masses, self.options)
            is_active[class_] = fallback is None
            if fallback is not None:
                entries.append(scarce_class(sample, masses, fallback, self.options))
            else:
                entries.append(ClassCurve(count(sample, masses), support=masses.support))
        model = None
        if is_active.any():
            rows = order_rows(labelled, is_active)
            model = self.settings.fit_model(labelled.take(rows), is_active, self.options)
        classes = dict(zip(labelled.predictions.class_names, entries, strict=True))
        return JointCalibration(self.method, classes, model)


def order_rows(labelled: Labelled, is_active: Booleans) -> Any:
    """Return the rows of active classes, in an order that the table's is not."""
    predictions = labelled.predictions
    rows = np.flatnonzero(is_active[predictions.predicted_class])
    top_score = predictions.top_score
    assert top_score is not None
    # Ids come last, so that rows alike in all else have one order for all time.
    order = np.lexsort(
        (
            keys_of(predictions.ids[rows]),
            labelled.weight[rows],
            labelled.is_correct[rows],
            predictions.predicted_class[rows],
            top_score[rows],
        )
    )
    return rows[order]


def joint_reader_of(model: Any) -> Callable[[Any], JointCalibration]:
    """Return what reads calibrations whose models are of a class, or read by a function."""
    return partial(from_record, JointCalibration, kinds={VectorModel: model})


def build_joint(method: str) -> Callable[[Any, FitOptions], Calibrator]:
    """Return the function that makes a joint calibrator of settings."""

    def build(settings: VectorMethod, options: FitOptions) -> Calibrator:
        return JointCalibrator(method, settings, options)

    return build
