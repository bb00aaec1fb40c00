"""What is judged is what is published: ties, scarce classes and class proportions included."""

from __future__ import annotations

import numpy as np
import pytest

from credence.calibrators.all_methods import METHODS
from credence.calibrators.crossfit import left_out
from credence.calibrators.method_spec import parse_method
from credence.calibrators.protocol import FitOptions, Need
from credence.composition.adjusted import ProportionCorrection, corrected_unseen
from credence.composition.both_samples import N_DENSITY_BINS, CalibrationSample, calibration_sample
from credence.confidence import Note
from credence.evaluation.corrected import judged_at_proportions
from credence.evaluation.evaluate import evaluate
from credence.evaluation.judging import EvaluationOptions
from credence.metrics.metric import negative_log_likelihood
from credence.predictions import Floats, Labelled, from_scores, label

NAMES = ("Portal", "Collar", "Tail fiber", "Other")
SCARCE = 2  # predicted of a few proteins alone
N, N_TIED = 300, 15
WEIGHT = np.array([0.5, 0.7, 2.0, 1.5])  # of the classes, in a query set
QUICK = EvaluationOptions(n_folds=5, n_draws=0, n_floor=0, n_signs=0)
PLAIN = FitOptions(n_draws=0)
# One that needs places in a space of proteins is judged by folds as the others are.
METHOD_NAMES = [
    method.name for method in METHODS if method.name != "auto" and method.needs is not Need.PLACE
]


def world() -> Labelled:
    """Return proteins in families, some with two best scores, one class scarce."""
    rng = np.random.default_rng(3)
    true = rng.choice(len(NAMES), N, p=[0.35, 0.2, 0.02, 0.43])
    logits = rng.normal(size=(N, len(NAMES)))
    logits[np.arange(N), true] += 2.0
    logits[:, SCARCE] -= 1.0
    share = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    scores = np.round(10.0 * share, 2)
    for row in rng.choice(N, N_TIED, replace=False):
        scores[row] = 0.0
        scores[row, rng.choice(len(NAMES), 2, replace=False)] = 5.0
    cluster = np.array([f"f{number}" for number in rng.integers(0, N // 3, N)], dtype=object)
    ids = np.array([f"p{number}" for number in range(N)], dtype=object)
    return label(from_scores(ids, NAMES, scores, 10.0, 0.01), true, cluster=cluster)


def published(labelled: Labelled, name: str, fold: np.ndarray) -> tuple[Floats, np.ndarray]:
    """Return what a calibration of the other folds publishes of each protein, and its notes."""
    calibrator = parse_method(name, "test").build(PLAIN)
    value, note = np.full(labelled.n_samples, np.nan), np.zeros(labelled.n_samples, np.int64)
    for is_out in left_out(fold):
        calibration = calibrator.fit(labelled.take(~is_out))
        answer = calibration.confidence(labelled.predictions.take(is_out))
        value[is_out], note[is_out] = answer.value, answer.note
    return value, note


@pytest.mark.parametrize("name", [*METHOD_NAMES, "kernel -> isotonic"])
def test_what_is_judged_is_what_the_other_folds_publish(name: str) -> None:
    labelled = world()
    calibrators = {name: parse_method(name, "test").build(PLAIN)}
    judged = evaluate(labelled, calibrators, QUICK)
    value, _ = published(labelled, name, judged.fold)
    np.testing.assert_array_equal(judged.held_out[name], value)


def test_this_world_has_ties_and_a_class_that_is_scarce() -> None:
    labelled = world()
    assert labelled.predictions.n_ties == N_TIED
    is_scarce = labelled.predictions.predicted_class == SCARCE
    assert 2 <= is_scarce.sum() < 20
    fold = evaluate(labelled, {"kernel": parse_method("kernel", "t").build(PLAIN)}, QUICK).fold
    _, note = published(labelled, "kernel", fold)
    assert (note[is_scarce] & int(Note.SCARCE) > 0).all()


def test_the_stack_is_judged_as_it_is_published_but_for_how_its_weights_are_found() -> None:
    """The weights for a fold rest on answers of fits that saw it: decision 6 says how much."""
    labelled = world()
    auto = {"auto": parse_method("auto", "test").build(PLAIN)}
    judged = evaluate(labelled, auto, QUICK)
    stated, (value, note) = judged.held_out["auto"], published(labelled, "auto", judged.fold)
    assert (note[labelled.predictions.predicted_class == SCARCE] & int(Note.SCARCE) > 0).all()
    off = np.abs(stated - value)
    assert off.max() < 0.06 and off.mean() < 0.01
    losses = [
        negative_log_likelihood(part, labelled.is_correct).mean() for part in (stated, value)
    ]
    assert losses[0] == pytest.approx(losses[1], abs=0.005)


def sample_of(labelled: Labelled) -> CalibrationSample:
    """Return what a calibration file by `kernel` keeps."""
    kernel = {"kernel": parse_method("kernel", "test").build(PLAIN)}
    held_out = evaluate(labelled, kernel, QUICK).held_out["kernel"]
    return calibration_sample(labelled, True, held_out)


def test_what_is_judged_of_a_correction_is_what_the_other_folds_publish() -> None:
    labelled = world()
    sample = sample_of(labelled)
    none = np.zeros((len(NAMES), N_DENSITY_BINS))
    correction = ProportionCorrection(weight=WEIGHT, scale=10.0, down=none, up=none)
    calibrator = parse_method("kernel", "test").build(PLAIN)
    value = np.full(labelled.n_samples, np.nan)
    for is_out in left_out(sample.fold):
        others, asked = labelled.take(~is_out), labelled.predictions.take(is_out)
        plain = calibrator.fit(others).confidence(asked)
        value[is_out] = correction.corrected(plain, asked, calibration_sample(others, True)).value
    # A calibration file keeps the bin of each score, a hundredth of the scale, not the score.
    np.testing.assert_allclose(corrected_unseen(sample, WEIGHT), value, atol=0.001)
    assert np.abs(value - sample.held_out).max() > 0.1


def test_corrected_confidences_are_judged_at_the_proportions_that_they_are_corrected_for() -> None:
    labelled = world()
    sample = sample_of(labelled)
    assert judged_at_proportions(sample, np.ones(len(NAMES)), 0.95, 50) == ()
    together, *classes = judged_at_proportions(sample, WEIGHT, 0.95, 50)
    assert [row.class_name for row in (together, *classes)] == [None, *NAMES]
    assert (together.n, together.n_families) == (N, len(np.unique(labelled.cluster)))
    confidence = corrected_unseen(sample, WEIGHT)
    for class_, row in enumerate(classes):
        stated = right = loss = total = 0.0
        for at in range(N):
            if labelled.predictions.predicted_class[at] != class_:
                continue
            weight = WEIGHT[labelled.true_class[at]]
            is_right = bool(labelled.is_correct[at])
            total += weight
            stated += weight * confidence[at]
            right += weight * is_right
            loss -= weight * np.log(confidence[at] if is_right else 1.0 - confidence[at])
        assert row.confidence == pytest.approx(stated / total)
        assert row.precision == pytest.approx(right / total)
        assert row.loss == pytest.approx(loss / total)
        assert row.lower <= row.precision <= row.upper
    # At other proportions than calibration's a precision is another.
    assert together.precision != pytest.approx(labelled.is_correct.mean(), abs=0.005)
