"""The wrapper of vector methods: scarce and unseen classes."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np

from credence.calibrators.classwise import JointCalibrator, vector_method
from credence.calibrators.protocol import FitOptions
from credence.confidence import Note
from credence.predictions import Floats, Labelled, Predictions, from_scores, label
from credence.records import to_record


@dataclass(frozen=True)
class Tenth:
    """A model that says 0.1 and remembers which rows and classes it was shown."""

    n_rows: int
    is_active: tuple[bool, ...]

    def evaluate(self, predictions: Predictions) -> tuple[Floats, Floats, Floats]:
        value = np.full(predictions.n_samples, 0.1)
        return value, value + 0.2, value - 0.1  # ends that miss the value


@dataclass(frozen=True)
class TenthMethod:
    def fit_model(self, labelled: Labelled, options: FitOptions) -> Tenth:
        seen = labelled.predictions.predicted_class
        names = range(labelled.predictions.n_classes)
        return Tenth(
            n_rows=labelled.n_samples, is_active=tuple(class_ in seen for class_ in names)
        )


def classes_of_four_kinds() -> Labelled:
    """Class a: 12 positives, 6 right; b: 12, all right; c: 3; d: never predicted."""
    predicted = np.array([0] * 12 + [1] * 12 + [2] * 3)
    true = np.array([0, 1] * 6 + [1] * 12 + [2, 2, 0])
    scores = np.full((27, 4), 0.1)
    scores[np.arange(27), predicted] = 0.7
    ids = np.array([f"p{row}" for row in range(27)], dtype=object)
    return label(from_scores(ids, ("a", "b", "c", "d"), scores, 1.0, 0.01), true)


def test_a_model_meets_only_classes_with_enough_right_and_wrong_predictions() -> None:
    labelled = classes_of_four_kinds()
    calibration = JointCalibrator(
        method="tenth", settings=TenthMethod(), options=FitOptions()
    ).fit(labelled)
    assert calibration.model == Tenth(n_rows=12, is_active=(True, False, False, False))


def test_scarce_and_one_sided_classes_get_their_share_with_jeffreys_prior_and_the_reason() -> None:
    labelled = classes_of_four_kinds()
    calibration = JointCalibrator(
        method="tenth", settings=TenthMethod(), options=FitOptions()
    ).fit(labelled)
    confidence = calibration.confidence(labelled.predictions)
    assert confidence.value[12] == (12 + 0.5) / (12 + 1)
    assert confidence.note[12] == Note.ONE_SIDED
    assert confidence.value[24] == (2 + 0.5) / (3 + 1)
    assert confidence.note[24] == Note.SCARCE
    assert (confidence.lower[12:] < confidence.value[12:]).all()
    assert (confidence.upper[24:] > confidence.value[24:]).all()


def test_a_class_that_was_never_predicted_gets_nan_and_the_reason() -> None:
    labelled = classes_of_four_kinds()
    calibration = JointCalibrator(
        method="tenth", settings=TenthMethod(), options=FitOptions()
    ).fit(labelled)
    scores = np.array([[0.1, 0.1, 0.1, 0.7]])
    asked = from_scores(np.array(["new"], dtype=object), ("a", "b", "c", "d"), scores, 1.0, 0.01)
    confidence = calibration.confidence(asked)
    assert np.isnan(confidence.value[0]) and confidence.note[0] == Note.UNSEEN_CLASS
    assert confidence.support[0] == 0


def test_an_interval_is_stretched_until_it_holds_the_value() -> None:
    labelled = classes_of_four_kinds()
    calibration = JointCalibrator(
        method="tenth", settings=TenthMethod(), options=FitOptions()
    ).fit(labelled)
    confidence = calibration.confidence(labelled.predictions)
    assert (confidence.lower[:12] == 0.1).all() and (confidence.upper[:12] == 0.1).all()


def test_a_record_gives_the_same_calibration_back() -> None:
    labelled = classes_of_four_kinds()
    calibration = JointCalibrator(
        method="tenth", settings=TenthMethod(), options=FitOptions()
    ).fit(labelled)
    again = vector_method("tenth", "", "", TenthMethod, Tenth).read(to_record(calibration))
    assert again.model == calibration.model
    assert to_record(again) == to_record(calibration)


def test_where_all_classes_are_scarce_there_is_no_model_and_no_vector() -> None:
    labelled = classes_of_four_kinds().take(np.arange(12, 27))
    # Under the name of a method that gives vectors.
    calibration = JointCalibrator(method="tswa", settings=TenthMethod(), options=FitOptions()).fit(
        labelled
    )
    assert calibration.model is None
    assert np.isfinite(calibration.confidence(labelled.predictions).value).all()
    vector = calibration.probabilities(labelled.predictions)
    assert vector is not None
    assert vector.shape == labelled.predictions.scores.shape  # type: ignore[union-attr]
    assert np.isnan(vector).all()


def test_a_method_that_gives_no_vector_has_none() -> None:
    labelled = classes_of_four_kinds()
    calibration = JointCalibrator(
        method="logistic", settings=TenthMethod(), options=FitOptions()
    ).fit(labelled)
    assert calibration.model is not None
    assert calibration.probabilities(labelled.predictions) is None


def test_the_rows_reach_the_method_in_one_order_for_all_time(worlds: SimpleNamespace) -> None:
    seen = []

    @dataclass(frozen=True)
    class Listener:
        def fit_model(self, labelled: Labelled, options: FitOptions) -> Tenth:
            seen.append(list(labelled.predictions.ids))
            return Tenth(n_rows=labelled.n_samples, is_active=())

    world = worlds.draw(3)
    for order in (np.arange(world.n_samples), np.arange(world.n_samples)[::-1]):
        JointCalibrator(method="listener", settings=Listener(), options=FitOptions()).fit(
            world.take(order)
        )
    assert seen[0] == seen[1]
