"""Events for another mix of classes: by hand, against refitting, and on proteins of that mix."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from credence.calibrators.method_spec import parse_method
from credence.calibrators.protocol import FitOptions
from credence.composition.adjusted import shifted
from credence.events.event import events_of, memberships, outcomes
from credence.events.event_judging import EventOptions, study_events
from credence.events.features import EventEvidence
from credence.events.model import EventModel, Mix, Mixture, for_another_mix, mixture_of
from credence.predictions import Floats, Labelled
from credence.records import from_record, to_record
from drawn_events import CLASS_NAMES, TAIL, drawn

SEEDS = st.integers(0, 2**16)
GROUPS = {"tail": TAIL, "rare": ["Portal"]}
EVENTS = events_of(["predicted_class", "two_best"], GROUPS, CLASS_NAMES)
SINGLE = [event for event in EVENTS if event.n_best < 2]  # needs no score vectors
QUICK = EventOptions(forecaster="logistic", compare=(), n_folds=2, min_positives=5.0, n_draws=2)
PLATT = parse_method("platt", "test").build(FitOptions(min_positives=5.0, level=0.95, n_draws=0))
WEIGHT = np.array([0.2, 3.0, 1.0, 0.5, 2.0])  # of the classes in the other world


def world(seed: int) -> tuple[np.ndarray, Floats, Floats, Floats]:
    """Return events, what is said of them, shares and weights."""
    rng = np.random.default_rng(seed)
    held = rng.random((3, 6, 4)) < 0.5
    return held, rng.random((3, 6)), rng.dirichlet(np.ones(4), 6), rng.uniform(0.1, 5.0, 4)


def slow_twin(held: np.ndarray, stated: Floats, share: Floats, weight: Floats) -> Floats:
    """Divide what is said among the classes, weigh each, and add up again."""
    found = np.empty_like(stated)
    for event, row in np.ndindex(*stated.shape):
        inside = [k for k in range(len(weight)) if held[event, row, k]]
        outside = [k for k in range(len(weight)) if not held[event, row, k]]
        mass = {}
        for part, classes in ((stated[event, row], inside), (1 - stated[event, row], outside)):
            total = sum(share[row, k] for k in classes)
            mass |= {k: part * share[row, k] / total for k in classes}
        if not inside or not outside:
            found[event, row] = stated[event, row]
            continue
        every = sum(mass[k] * weight[k] for k in mass)
        found[event, row] = sum(mass[k] * weight[k] for k in inside) / every
    return found


@given(SEEDS)
def test_each_class_weighs_as_often_as_it_is_more_frequent(seed: int) -> None:
    held, stated, share, weight = world(seed)
    is_open = held.any(axis=2) & ~held.all(axis=2)
    found, twin = (f(held, stated, share, weight) for f in (for_another_mix, slow_twin))
    np.testing.assert_allclose(found[is_open], twin[is_open], rtol=1e-12)


@given(SEEDS, st.integers(0, 3))
def test_a_more_frequent_class_never_lowers_an_event_that_holds_it(seed: int, class_: int) -> None:
    held, stated, share, weight = world(seed)
    more = weight.copy()
    more[class_] *= 3.0
    before, after = (for_another_mix(held, stated, share, w) for w in (weight, more))
    has = held[:, :, class_]
    is_open = held.any(axis=2) & ~held.all(axis=2)
    assert (after >= before - 1e-12)[has & is_open].all()
    assert (after <= before + 1e-12)[~has & is_open].all()


def test_the_same_mix_changes_nothing() -> None:
    held, stated, share, _ = world(1)
    assert for_another_mix(held, stated, share, np.full(4, 1.0)) is stated


def test_an_event_of_classes_that_are_not_there_is_ruled_out() -> None:
    held = np.array([[[True, False, False]], [[False, True, True]]])
    share, stated = np.array([[0.2, 0.5, 0.3]]), np.array([[0.4], [0.6]])
    gone = for_another_mix(held, stated, share, np.array([0.0, 1.0, 2.0]))
    assert gone.tolist() == [[0.0], [1.0]]
    # All that is thought possible is not there: nothing can be said.
    sure, none = np.array([[0.5, 0.5, 0.0]]), np.array([0.0, 0.0, 1.0])
    assert np.isnan(for_another_mix(held[:1], stated[:1], sure, none)).all()


def blind(labelled: Labelled) -> Labelled:
    """Return the same without the scores of the classes that were not predicted."""
    of = replace(labelled.predictions, scores=None, network_scores=None)
    return replace(labelled, predictions=of)


def other_mix(seed: int, n_samples: int) -> Labelled:
    """Return proteins of which each class is so much more frequent."""
    labelled = drawn(seed, n_samples)
    rng = np.random.default_rng(seed)
    kept = rng.random(labelled.n_samples) < (WEIGHT / WEIGHT.max())[labelled.true_class]
    return labelled.take(np.flatnonzero(kept))


def nll(stated: Floats, came_true: np.ndarray) -> Floats:
    """Return the mean log loss of each event."""
    stated = np.clip(stated, 1e-12, 1 - 1e-12)
    return -np.where(came_true, np.log(stated), np.log1p(-stated)).mean(axis=1)


@pytest.mark.long
@pytest.mark.parametrize("has_vectors", [True, False])
def test_on_proteins_of_another_mix_every_event_is_told_better(has_vectors: bool) -> None:
    taught, asked = drawn(1, 700, 250), other_mix(2, 9000)
    events = list(EVENTS)
    if not has_vectors:
        taught, asked, events = blind(taught), blind(asked), SINGLE
    of = asked.predictions

    def learnt(labelled: Labelled) -> EventModel:
        return study_events(
            labelled, EventEvidence(predictions=labelled.predictions), events, QUICK, {}
        )[0]

    model, twin = learnt(taught), learnt(shifted(taught, WEIGHT))
    confidence = PLATT.fit(taught).confidence(of).value
    adjusted = PLATT.fit(shifted(taught, WEIGHT)).confidence(of).value
    evidence = model.evidence(of)
    came_true = outcomes(memberships(events, of), asked.true_class)
    share = came_true.mean(axis=1)
    for agrees in (True, False):
        one, other = replace(model, agrees=agrees), replace(twin, agrees=agrees)
        plain, moved = one.probabilities(
            evidence, confidence, Mix(weight=WEIGHT, confidence=adjusted)
        )
        before, after = nll(plain, came_true), nll(moved, came_true)
        assert (after < before).all()
        # The twin learnt from calibration proteins that weigh w[true class].
        again, _ = other.probabilities(evidence, adjusted)
        assert after.mean() < nll(again, came_true).mean() + 0.01
        # Calibrated in the large, which the uncorrected are not.
        off, still_off = (np.abs(p.mean(axis=1) - share).max() for p in (plain, moved))
        assert still_off < off / 2
        if agrees:
            assert (moved[0] == adjusted).all()


def test_corrected_events_contradict_neither_each_other_nor_the_confidence() -> None:
    taught, of = drawn(1), drawn(2).predictions
    model, _ = study_events(
        taught, EventEvidence(predictions=taught.predictions), EVENTS, QUICK, {"p": PLATT}
    )
    confidence = np.linspace(0.05, 0.95, of.n_samples)
    fixed = confidence[::-1].copy()
    fixed[::7] = np.nan
    _, found = model.probabilities(
        model.evidence(of), confidence, Mix(weight=WEIGHT, confidence=fixed)
    )
    held = memberships(EVENTS, of)
    for one in range(len(EVENTS)):
        for other in range(len(EVENTS)):
            inside = (held[one] <= held[other]).all(axis=1)
            assert (found[one, inside] <= found[other, inside]).all()
    known = ~np.isnan(fixed)
    assert (found[0, known] == fixed[known]).all() and not np.isnan(found).any()


def test_a_mixture_comes_back_from_json_though_a_class_is_not_known() -> None:
    labelled = drawn(3)
    known = mixture_of(labelled.take(np.flatnonzero(labelled.true_class != 2)))
    again = from_record(Mixture, json.loads(json.dumps(to_record(known), allow_nan=False)))
    of = labelled.predictions
    assert (again.shares(of, None) == known.shares(of, None)).all()
    assert (known.shares(of, None)[:, 2] == 0.0).all()


def test_without_scores_the_rest_is_divided_as_calibration_proteins_were() -> None:
    labelled = blind(drawn(3))
    of, known = labelled.predictions, mixture_of(blind(drawn(3)))
    confidence = np.linspace(0.1, 0.9, of.n_samples)
    confidence[3] = np.nan
    found = known.shares(of, confidence)
    np.testing.assert_allclose(found.sum(axis=1), 1.0, rtol=1e-12)
    best = of.predicted_class
    rows = np.arange(of.n_samples)
    assert (found[rows, best][4:] == confidence[4:]).all()
    assert found[3, best[3]] == known.confused[best[3], best[3]]
    one, other = (int(k) for k in np.flatnonzero(np.arange(5) != best[0])[:2])
    ratio = known.confused[best[0], one] / known.confused[best[0], other]
    assert found[0, one] / found[0, other] == pytest.approx(ratio)
