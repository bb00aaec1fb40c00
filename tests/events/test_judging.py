"""Calibration and sharpness of events: published numbers, and laws of the whole."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from credence.calibrators.method_spec import parse_method
from credence.calibrators.protocol import FitOptions
from credence.events.event import events_of, memberships
from credence.events.event_judging import EventOptions, never_falling, pooled_error, study_events
from credence.events.features import EventEvidence
from credence.events.model import KINDS_OF_FORECAST, EventModel
from credence.findings import EventsFinding
from credence.metrics.binned import CALIBRATION_PART, SHARPNESS
from credence.metrics.metric import Judged
from credence.predictions import Labelled
from credence.records import from_record, to_record
from drawn_events import CLASS_NAMES, TAIL, drawn

EVENTS = events_of(
    ["predicted_class", "two_best", "three_best"], {"tail": TAIL, "one": ["HTJ"]}, CLASS_NAMES
)
QUICK = EventOptions(
    forecaster="logistic", compare=("tree",), n_folds=3, min_positives=5.0, n_draws=20
)
KERNEL = {
    "isotonic": parse_method("isotonic", "test").build(
        FitOptions(min_positives=5.0, level=0.95, n_draws=0)
    )
}

# Three inputs of probability 1/3, the truth 0, 1 and 1/2 of the time: Kuleshov & Liang 2015.
TOY = {
    (0.5, 0.5, 0.5): (0.0, 0.0),
    (0.0, 1.0, 0.5): (0.0, 1 / 6),
    (0.2, 0.8, 0.4): (0.03, 1 / 6),
    (0.0, 0.75, 0.75): (0.0, 0.125),
}


@pytest.mark.parametrize("forecast", TOY)
def test_the_toy_table_of_kuleshov_and_liang(forecast: tuple[float, float, float]) -> None:
    stated = np.repeat(forecast, 2)
    came_true = np.array([0, 0, 1, 1, 0, 1], dtype=bool)
    judged = Judged(confidence=stated, is_correct=came_true, weight=np.ones(6))
    calibration, sharpness = TOY[forecast]
    assert CALIBRATION_PART.compute(judged) == pytest.approx(calibration, abs=1e-15)
    assert SHARPNESS.compute(judged) == pytest.approx(sharpness, abs=1e-15)


def test_events_pooled_can_look_calibrated_where_neither_is() -> None:
    # One event is a fair coin, the other always comes true; both are said to be 0.75.
    stated = np.full((2, 100), 0.75)
    outcome = np.stack([np.arange(100) % 2, np.ones(100)]).astype(float)
    found = pooled_error(stated, outcome, np.ones(100))
    assert found is not None
    assert found.pooled == pytest.approx(0.0, abs=1e-15)
    assert found.apart == pytest.approx(0.25**2)
    assert found.n == 200


def studied(labelled: Labelled, options: EventOptions = QUICK) -> tuple[EventModel, EventsFinding]:
    return study_events(
        labelled, EventEvidence(predictions=labelled.predictions), EVENTS, options, KERNEL
    )


@pytest.fixture(scope="module")
def both() -> tuple[EventModel, EventsFinding]:
    return studied(drawn())


def test_probabilities_nest_and_the_predicted_class_has_its_confidence(
    both: tuple[EventModel, EventsFinding],
) -> None:
    model, _ = both
    of = drawn(2).predictions
    confidence = np.linspace(0.05, 0.95, of.n_samples)
    confidence[::7] = np.nan
    found, _ = model.probabilities(model.evidence(of), confidence)
    held = memberships(EVENTS, of)
    for one in range(len(EVENTS)):
        for other in range(len(EVENTS)):
            inside = (held[one] <= held[other]).all(axis=1)
            assert (found[one, inside] <= found[other, inside]).all()
    known = ~np.isnan(confidence)
    assert (found[0, known] == confidence[known]).all()
    assert not np.isnan(found).any()


@pytest.mark.long
def test_neither_rows_nor_classes_have_an_order(both: tuple[EventModel, EventsFinding]) -> None:
    model, finding = both
    labelled = drawn()
    turned = labelled.take(np.random.default_rng(0).permutation(labelled.n_samples))
    other, again = studied(turned)
    assert to_record(again) == to_record(finding)
    assert to_record(other) == to_record(model)


def test_a_model_comes_back_from_json_as_it_was(both: tuple[EventModel, EventsFinding]) -> None:
    model, finding = both
    record = json.loads(json.dumps(to_record(model), allow_nan=False))
    again = from_record(EventModel, record, kinds=KINDS_OF_FORECAST)
    evidence = model.evidence(drawn(2).predictions)
    assert (again.stated(evidence) == model.stated(evidence)).all()
    assert from_record(EventsFinding, json.loads(json.dumps(to_record(finding)))).events[
        0
    ].metrics == pytest.approx(finding.events[0].metrics)


def test_the_rival_s_curve_by_hand() -> None:
    # Shares 0, 1/2 (pooled of 1 and 0), 1 with half a protein on each side: 1/4, 1/2, 3/4.
    found = never_falling(
        np.array([-1.0, 0.0, 1.5, 3.0]),
        np.array([0.0, 1.0, 2.0, 3.0]),
        np.array([0.0, 1.0, 0.0, 1.0]),
        np.ones(4),
    )
    assert found.tolist() == [0.25, 0.25, 0.5, 0.75]


def test_each_event_is_judged_with_its_rivals(both: tuple[EventModel, EventsFinding]) -> None:
    _, finding = both
    assert finding.compared == ("logistic", "tree", "one_vs_all")
    for event in finding.events:
        methods = {row.method for row in event.metrics}
        assert methods == {"published", "logistic", "tree", "one_vs_all"}
        assert {row.metric for row in event.metrics} >= {"nll", "brier", "calibration"}
        assert event.n == 300 and 0 < event.n_true < 300
        assert [point.share for point in event.learning] == [1 / 16, 1 / 8, 1 / 4, 1 / 2, 1.0]


def test_brier_score_is_sharpness_and_calibration_and_the_rest(
    both: tuple[EventModel, EventsFinding],
) -> None:
    for event in both[1].events:
        of = {(row.method, row.metric): row.value for row in event.metrics}
        for method in ("published", "logistic", "tree", "one_vs_all"):
            parts = (
                of[method, "outcome_variance"]
                - of[method, "sharpness"]
                + of[method, "calibration"]
                + of[method, "remainder"]
            )
            assert of[method, "brier"] == pytest.approx(parts, abs=1e-12)


@pytest.mark.long
def test_without_a_confidence_to_keep_consistency_lowers_the_log_loss() -> None:
    _, finding = studied(drawn(), replace(QUICK, agrees=False))
    assert finding.n_moved > 0
    assert finding.nll_after < finding.nll_before


def test_what_holds_every_class_is_certain_and_what_is_rare_is_a_share() -> None:
    labelled = drawn()
    rare = labelled.take(np.flatnonzero((labelled.true_class != 1) | (np.arange(300) < 15)))
    events = events_of([], {"any": CLASS_NAMES, "rare": ("Collar",)}, CLASS_NAMES)
    model, finding = study_events(
        rare, EventEvidence(predictions=rare.predictions), events, QUICK, {}
    )
    notes = [event.note for event in finding.events]
    assert notes == [
        "holds every class: its probability is 1 whatever is predicted",
        "too few calibration proteins for which it came true, or did not: overall share",
    ]
    found, _ = model.probabilities(model.evidence(rare.predictions), None)
    assert (found[0] == 1.0).all()
    assert found[1] == pytest.approx(found[1, 0])


def test_a_feature_that_a_later_table_lacks_is_named() -> None:
    from credence.problems import InputError

    labelled = drawn()
    near = EventEvidence(predictions=labelled.predictions, distance=np.linspace(0.1, 0.9, 300))
    model, _ = study_events(labelled, near, EVENTS[:1], QUICK, {})
    with pytest.raises(InputError) as caught:
        model.stated(model.evidence(labelled.predictions))
    assert str(caught.value) == (
        "events: they were learnt with distance to the nearest calibration protein ('distance'), "
        "which is not known of these proteins. Give what credence novelty wrote, or learn the "
        "events again without that."
    )
