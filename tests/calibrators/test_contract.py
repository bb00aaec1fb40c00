"""What every method of the registry promises; no method is named here."""

from __future__ import annotations

import json
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from cases import cases
from credence.calibrators import intervals
from credence.calibrators.all_methods import BY_NAME, METHODS, read_calibration
from credence.calibrators.method_spec import parse_method
from credence.calibrators.protocol import Calibration, FitOptions, Method
from credence.confidence import Confidence, Note
from credence.predictions import Labelled, Predictions, label
from credence.records import to_record
from credence.settings import SettingRule, setting_rules

OPTIONS = FitOptions(n_draws=20)
EXACT = 1e-12  # the laws hold to this
ITERATED = 1e-9  # where a minimum is found by steps, its place is only as sure as this

LEARNT = [method for method in METHODS if method.is_learnt]
SINGLE_CLASS = [method for method in LEARNT if not method.pools]
POOLED = [method for method in LEARNT if method.pools]
every_method = cases("method", METHODS)
every_learnt = cases("method", LEARNT)
# The default method fits several others, which stay.
every_method_fitted = cases("method", METHODS, long=["auto"])
every_learnt_fitted = cases("method", LEARNT, long=["auto"])


@pytest.fixture(scope="module")
def world(worlds: SimpleNamespace) -> Labelled:
    return worlds.draw(seed=7)


@pytest.fixture(scope="module")
def fitted(world: Labelled) -> dict[str, tuple[object, Confidence]]:
    found = {}
    for method in METHODS:
        calibration = method.build(method.settings(), OPTIONS).fit(world)
        found[method.name] = (calibration, calibration.confidence(world.predictions))
    return found


def assert_same(first: Confidence, second: Confidence, tolerance: float = EXACT) -> None:
    for name in ("value", "lower", "upper", "support"):
        np.testing.assert_allclose(
            getattr(first, name), getattr(second, name), rtol=0, atol=tolerance, err_msg=name
        )
    np.testing.assert_array_equal(first.note, second.note)


def test_names_are_unique_and_look_alike() -> None:
    assert len(BY_NAME) == len(METHODS)
    for name in BY_NAME:
        assert name.isidentifier() and name == name.lower()


@every_method
def test_every_setting_has_a_rule_that_allows_its_default(method: Method) -> None:
    for default, rule in setting_rules(method.settings).values():
        assert isinstance(rule, SettingRule) and rule.text
        if isinstance(default, str):
            assert default in rule.choices
        elif not isinstance(default, bool):
            assert rule.low is None or default >= rule.low
            assert rule.high is None or default <= rule.high


@every_method
def test_every_entry_says_what_it_is_and_where_it_is_from(method: Method) -> None:
    assert method.summary.endswith(".") and len(method.summary) < 100
    assert method.reference


@every_method
def test_value_lies_within_its_interval_and_all_within_0_and_1(
    method: Method, fitted: dict[str, tuple[object, Confidence]]
) -> None:
    _, confidence = fitted[method.name]
    known = np.isfinite(confidence.value)
    assert known.mean() > 0.9
    assert (confidence.value[known] >= 0).all() and (confidence.value[known] <= 1).all()
    assert (confidence.support >= 0).all()
    if not method.gives_interval:
        assert np.isnan(confidence.lower[confidence.note == 0]).all()
        return
    assert (confidence.lower[known] >= 0).all() and (confidence.upper[known] <= 1).all()
    assert (confidence.lower[known] <= confidence.value[known]).all()
    assert (confidence.value[known] <= confidence.upper[known]).all()


@every_method
def test_an_interval_has_width_wherever_a_class_was_seen(
    method: Method, fitted: dict[str, tuple[object, Confidence]]
) -> None:
    _, confidence = fitted[method.name]
    known = np.isfinite(confidence.lower) & np.isfinite(confidence.value)
    assert (confidence.upper[known] > confidence.lower[known]).all()


def without_scores(predictions: Predictions) -> Predictions:
    """Return the predictions with top scores of 0, as rows of raw evidence can have them.

    Such rows reach no method that sees the vector; one that did would see all classes alike.
    """
    assert predictions.scores is not None
    alike = np.full_like(predictions.scores, predictions.scale / predictions.n_classes)
    return replace(predictions, scores=alike, top_score=np.zeros(predictions.n_samples))


@every_method
def test_a_row_of_zeros_far_from_all_scores_seen_gets_an_interval_from_0_to_1(
    method: Method, world: Labelled, fitted: dict[str, tuple[Calibration, Confidence]]
) -> None:
    found = fitted[method.name][0].confidence(without_scores(world.predictions))
    assert (found.support < 1e-3).all()
    if not method.gives_interval:
        assert np.isnan(found.lower[found.note == 0]).all()
        return
    # As far from 0 and from 1 as support is from none: a third of that for each family.
    assert (found.lower <= found.support).all() and (found.upper >= 1.0 - found.support).all()


def test_a_composition_opens_as_far_as_its_first_stage_would(world: Labelled) -> None:
    fitted = parse_method("tswa -> class_only", "test").build(OPTIONS).fit(world)
    found = fitted.confidence(without_scores(world.predictions))
    assert (found.lower < 1e-3).all() and (found.upper > 1.0 - 1e-3).all()


@every_method
def test_intervals_open_no_further_where_a_few_families_are_near(
    method: Method, world: Labelled, monkeypatch: pytest.MonkeyPatch,
    fitted: dict[str, tuple[Calibration, Confidence]],
) -> None:  # fmt: skip
    calibration, confidence = fitted[method.name]
    monkeypatch.setattr(intervals, "FEW_FAMILIES_NEAR", 1e-300)  # nothing fades
    plain = calibration.confidence(world.predictions)
    is_ample = confidence.support >= 3.0
    assert is_ample.mean() > 0.8
    np.testing.assert_array_equal(confidence.lower[is_ample], plain.lower[is_ample])
    np.testing.assert_array_equal(confidence.upper[is_ample], plain.upper[is_ample])
    if method.gives_interval:
        wider = (confidence.upper - confidence.lower) - (plain.upper - plain.lower)
        # Of twenty draws Student's t may leave nothing to open.
        is_open = (plain.lower == 0.0) & (plain.upper == 1.0)
        assert ((wider > 0) | is_open)[~is_ample].any()


@every_method
def test_a_record_gives_the_calibration_back_bit_for_bit(
    method: Method, world: Labelled, fitted: dict[str, tuple[object, Confidence]]
) -> None:
    calibration, confidence = fitted[method.name]
    text = json.dumps(to_record(calibration))  # type: ignore[attr-defined]
    again = read_calibration(json.loads(text))
    assert json.dumps(to_record(again)) == text
    reread = again.confidence(world.predictions)
    for name in ("value", "lower", "upper", "support", "note"):
        np.testing.assert_array_equal(getattr(confidence, name), getattr(reread, name))


@every_method_fitted
def test_fitting_and_asking_leave_their_inputs_as_they_were(
    method: Method, world: Labelled
) -> None:
    arrays = [world.true_class, world.weight, world.predictions.scores]
    arrays += [world.predictions.top_score, world.predictions.predicted_class]
    before = [np.array(values) for values in arrays]
    options = FitOptions(n_draws=2)
    calibration = method.build(method.settings(), options).fit(world)
    calibration.confidence(world.predictions)
    for values, copy in zip(arrays, before, strict=True):
        np.testing.assert_array_equal(values, copy)


@every_method_fitted
def test_the_order_of_rows_is_nothing(
    method: Method, world: Labelled, fitted: dict[str, tuple[object, Confidence]]
) -> None:
    _, confidence = fitted[method.name]
    order = np.random.default_rng(3).permutation(world.n_samples)
    calibration = method.build(method.settings(), OPTIONS).fit(world.take(order))
    tolerance = EXACT if method.additive else ITERATED
    assert_same(confidence, calibration.confidence(world.predictions), tolerance)


@every_method
def test_confidences_do_not_depend_on_the_other_rows_asked_about(
    method: Method, world: Labelled, fitted: dict[str, tuple[object, Confidence]]
) -> None:
    calibration, confidence = fitted[method.name]
    rows = np.arange(0, world.n_samples, 3)
    some = calibration.confidence(world.predictions.take(rows))  # type: ignore[attr-defined]
    np.testing.assert_allclose(some.value, confidence.value[rows], rtol=0, atol=EXACT)


@every_method_fitted
def test_no_interval_is_given_when_none_is_asked_for(method: Method, world: Labelled) -> None:
    calibration = method.build(method.settings(), FitOptions(n_draws=0)).fit(world)
    confidence = calibration.confidence(world.predictions)
    assert np.isnan(confidence.lower).all() and np.isnan(confidence.upper).all()


@every_learnt
def test_a_class_never_predicted_gives_its_reason_and_no_narrow_interval(
    method: Method, world: Labelled
) -> None:
    kept = world.predictions.predicted_class != 2
    calibration = method.build(method.settings(), OPTIONS).fit(world.take(kept))
    confidence = calibration.confidence(world.predictions)
    answered = ~kept & np.isfinite(confidence.value)
    if not method.pools:
        assert not answered.any()
    assert ((confidence.upper - confidence.lower)[answered] > 0.1).all()
    assert (confidence.note[~kept] == Note.UNSEEN_CLASS).all()
    assert np.isfinite(confidence.value[kept]).all()


@cases("method", POOLED, long=["auto"])
@pytest.mark.parametrize("n_positives", [1, 2, 3])
def test_a_scarce_class_borrows_from_the_others_and_is_said_to(
    method: Method, world: Labelled, n_positives: int
) -> None:
    in_class = np.flatnonzero(world.predictions.predicted_class == 1)
    others = np.flatnonzero(world.predictions.predicted_class != 1)
    few = world.take(np.concatenate([others, in_class[:n_positives]]))
    confidence = method.build(method.settings(), OPTIONS).fit(few).confidence(world.predictions)
    assert (confidence.note[in_class] & Note.SCARCE).all()
    value, lower, upper = (
        part[in_class] for part in (confidence.value, confidence.lower, confidence.upper)
    )
    assert ((lower <= value) & (value <= upper) & (upper - lower > 0.1)).all()
    score = world.predictions.top_score[in_class]
    assert value[score.argmax()] > value[score.argmin()]  # as in all other classes


@cases("method", SINGLE_CLASS)
@pytest.mark.parametrize("n_positives", [1, 2, 3])
def test_a_scarce_class_gives_its_share_with_jeffreys_prior(
    method: Method, world: Labelled, n_positives: int
) -> None:
    in_class = np.flatnonzero(world.predictions.predicted_class == 1)
    others = np.flatnonzero(world.predictions.predicted_class != 1)
    few = world.take(np.concatenate([others, in_class[:n_positives]]))
    few = label(few.predictions, few.true_class, np.ones(few.n_samples), few.cluster)
    confidence = method.build(method.settings(), OPTIONS).fit(few).confidence(world.predictions)
    n_correct = int(world.is_correct[in_class[:n_positives]].sum())
    expected = (n_correct + 0.5) / (n_positives + 1)
    np.testing.assert_allclose(confidence.value[in_class], expected, rtol=0, atol=EXACT)
    assert (confidence.note[in_class] & Note.SCARCE).all()
    assert (confidence.lower[in_class] < expected).all()
    assert (confidence.upper[in_class] > expected).all()


@every_learnt_fitted
@pytest.mark.parametrize("is_right", [True, False])
def test_a_one_sided_class_is_never_certain(
    method: Method, world: Labelled, is_right: bool
) -> None:
    predicted = world.predictions.predicted_class
    kept = (predicted != 1) | (world.is_correct == is_right)
    confidence = (
        method.build(method.settings(), OPTIONS)
        .fit(world.take(kept))
        .confidence(world.predictions)
    )
    rows = predicted == 1
    assert (confidence.note[rows] & Note.ONE_SIDED).all()
    assert ((confidence.value[rows] > 0) & (confidence.value[rows] < 1)).all()
    assert (confidence.upper[rows] > confidence.lower[rows]).all()
