"""Events hold the classes that their words say."""

from __future__ import annotations

import numpy as np
import pytest

from credence.events.event import Event, as_question, events_of, membership, outcomes
from credence.predictions import Predictions, from_scores, label
from credence.problems import InputError
from credence.records import from_record, to_record
from drawn_events import CLASS_NAMES, TAIL, drawn


def test_the_best_classes_nest_and_begin_with_the_predicted_one() -> None:
    of = drawn().predictions
    one, two, three = (membership(Event(name="e", n_best=n), of) for n in (1, 2, 3))
    assert (one.sum(axis=1) == 1).all() and (two.sum(axis=1) == 2).all()
    assert (one <= two).all() and (two <= three).all()
    assert one[np.arange(of.n_samples), of.predicted_class].all()


def test_a_predicted_class_that_is_not_the_highest_score_still_comes_first() -> None:
    ids = np.array(["a"], dtype=object)
    scores = np.array([[0.5, 0.3, 0.2]])
    of = Predictions(
        ids=ids,
        class_names=("A", "B", "C"),
        scale=1.0,
        resolution=0.0,
        predicted_class=np.array([2]),
        top_score=np.array([0.2]),
        scores=scores,
    )
    assert membership(Event(name="e", n_best=2), of).tolist() == [[True, False, True]]


def test_a_group_comes_true_where_the_true_class_is_in_it() -> None:
    labelled = drawn()
    held = membership(Event(name="tail", classes=TAIL), labelled.predictions)
    names = np.array(CLASS_NAMES)[labelled.true_class]
    assert outcomes(held, labelled.true_class).tolist() == np.isin(names, TAIL).tolist()


def test_the_events_asked_for_come_in_their_order() -> None:
    found = events_of(["two_best", "each_class"], {"tail": TAIL}, CLASS_NAMES)
    assert [event.name for event in found] == ["two_best", *CLASS_NAMES, "tail"]
    assert [from_record(Event, to_record(event)) for event in found] == list(found)
    assert found[0].words == "the true class is among the 2 best"
    assert found[6].words == "the true class is one of Tail fiber, HTJ"


def test_everything_wrong_with_events_is_told_at_once() -> None:
    with pytest.raises(InputError) as caught:
        events_of(
            ["two_bests", "each_class"],
            {"tail": ["Tail fibre"], "HTJ": ["HTJ"], "two_best": ["HTJ"], " ": ["HTJ"]},
            CLASS_NAMES,
        )
    assert str(caught.value).splitlines() == [
        "--ask: there is no event 'two_bests'. Did you mean 'two_best'?",
        "--named, column 'tail': there is no class 'Tail fibre'. Did you mean 'Tail fiber'?",
        "--named: 'two_best' can be no event's name. Give it another name.",
        "--named: ' ' can be no event's name. Give it another name.",
        "--named: two events are called 'HTJ'. Give one another name.",
    ]


def test_a_question_is_right_where_the_event_came_true() -> None:
    labelled = drawn(n_samples=20)
    came_true = np.arange(20) % 3 == 0
    question = as_question(labelled, came_true)
    assert question.is_correct.tolist() == came_true.tolist()
    assert question.weight is labelled.weight and question.cluster is labelled.cluster


def test_without_score_vectors_only_the_best_class_is_known() -> None:
    ids = np.array(["a", "b"], dtype=object)
    of = Predictions(
        ids=ids,
        class_names=("A", "B", "C"),
        scale=1.0,
        resolution=0.0,
        predicted_class=np.array([2, 0]),
        top_score=np.array([0.2, 0.9]),
    )
    assert membership(Event(name="e", n_best=1), of).tolist() == [
        [False, False, True],
        [True, False, False],
    ]


def test_scaling_moves_no_event() -> None:
    labelled = drawn()
    of = labelled.predictions
    assert of.scores is not None
    bigger = from_scores(of.ids, of.class_names, of.scores * 7.3, of.scale * 7.3, 0.073)
    event = Event(name="a", n_best=2)
    assert (membership(event, of) == membership(event, bigger)).all()
    assert label(bigger, labelled.true_class).n_samples == 300
