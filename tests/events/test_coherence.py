"""Probabilities of events never contradict each other, and lose nothing by it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import LinearConstraint, brentq, minimize
from scipy.special import expit, logit, rel_entr

from credence.events.coherence import coherent, nearest_shares

N_CLASSES = 5


def first(class_: int) -> np.ndarray:
    return np.arange(N_CLASSES)[None, :] == class_


def held_of(*events: tuple[int, ...]) -> np.ndarray:
    return np.array([[[class_ in event for class_ in range(N_CLASSES)]] for event in events])


def made(events: np.ndarray, stated: list[float], fixed: float | None = None) -> np.ndarray:
    pinned = None if fixed is None else np.array([fixed])
    return coherent(events, np.array(stated)[:, None], pinned, first(0))[:, 0]


def test_two_that_contradict_each_other_meet_in_the_middle() -> None:
    # The best 4 to 1, the two best 3 to 2: the middle of their log odds, √6 to 1, for both.
    same = np.sqrt(6) / (np.sqrt(6) + 1)
    assert made(held_of((0,), (0, 1)), [0.8, 0.6]) == pytest.approx([same, same])


def test_what_contradicts_nothing_stays() -> None:
    assert made(held_of((0,), (0, 1), (2, 3)), [0.5, 0.6, 0.3]) == pytest.approx([0.5, 0.6, 0.3])


def test_classes_that_exclude_each_other_sum_to_one_at_most() -> None:
    # With p + q = 1 both log odds fall by as much: p has the middle of 4 and of 2/3.
    p = expit((logit(0.8) - logit(0.6)) / 2)
    assert made(held_of((0,), (1,)), [0.8, 0.6]) == pytest.approx([p, 1 - p])


def test_what_is_improbable_stays_possible() -> None:
    # The sum is too large by 0.3; least squares would leave nothing of the 0.01.
    found = made(held_of((0,), (1,), (2,), (3,), (4,)), [0.7, 0.5, 0.05, 0.04, 0.01])
    assert found.sum() == pytest.approx(1.0)
    assert 0.002 < found[4] < 0.01


def test_an_event_and_its_opposite_sum_to_one() -> None:
    p = expit(-logit(0.3) / 2)
    assert made(held_of((0, 1), (2, 3, 4)), [0.5, 0.3]) == pytest.approx([p, 1 - p])


def test_a_fixed_confidence_stays_and_the_others_move() -> None:
    # Of the 0.1 that is left class 1 has a: the slopes of (0, 1) and of (1) cancel there.
    def slope(a: float) -> float:
        return float(logit(0.9 + a) - logit(0.95) + logit(a) - logit(0.4))

    a = brentq(slope, 1e-6, 0.1 - 1e-6)
    found = made(held_of((0,), (0, 1), (1,), (2, 3)), [0.1, 0.95, 0.4, 0.0], fixed=0.9)
    assert found[0] == 0.9
    assert found == pytest.approx([0.9, 0.9 + a, a, 0.0], abs=1e-5)


def test_a_certain_confidence_leaves_nothing_for_others() -> None:
    found = made(held_of((0,), (1, 2), (0, 1)), [0.2, 0.9, 0.3], fixed=1.0)
    assert found.tolist() == [1.0, 0.0, 1.0]


def test_all_classes_have_one_and_none_has_nothing() -> None:
    found = made(held_of(tuple(range(N_CLASSES)), (), (0,)), [0.4, 0.5, 0.25])
    assert found.tolist()[:2] == [1.0, 0.0]
    assert found[2] == pytest.approx(0.25)


def test_where_nothing_was_said_nothing_is() -> None:
    found = made(held_of((0, 1), (0,)), [np.nan, np.nan])
    assert np.isnan(found).all()
    # ... but what follows from the published confidence.
    found = made(held_of((0, 1), (0,)), [np.nan, np.nan], fixed=0.3)
    assert np.isnan(found[0]) and found[1] == 0.3


EVENTS = st.lists(
    st.sets(st.integers(0, N_CLASSES - 1), min_size=1).map(lambda some: tuple(sorted(some))),
    min_size=1,
    max_size=6,
)
CHANCES = st.floats(0, 1).map(lambda value: round(value, 6))
DOUBTS = st.floats(0.001, 0.999)  # whose logs a general optimiser bears


@settings(max_examples=200, deadline=None)
@given(EVENTS, st.data(), st.one_of(st.none(), CHANCES))
def test_no_event_is_less_probable_than_one_that_it_holds(
    events: list[tuple[int, ...]], data: st.DataObject, fixed: float | None
) -> None:
    stated = data.draw(st.lists(CHANCES, min_size=len(events), max_size=len(events)))
    found = made(held_of(*events), stated, fixed)
    assert ((found >= 0) & (found <= 1)).all()
    for one, p in zip(events, found, strict=True):
        for other, q in zip(events, found, strict=True):
            if set(one) <= set(other):
                assert p <= q  # not even by rounding
            if not set(one) & set(other):
                assert p + q <= 1 + 1e-9
        if fixed is not None:
            if 0 in one:
                assert p >= fixed
            else:
                assert p <= 1 - fixed + 1e-9
            if one == (0,):
                assert p == fixed


@settings(max_examples=100, deadline=None)
@given(EVENTS, st.data())
def test_whatever_is_true_the_log_losses_do_not_grow(
    events: list[tuple[int, ...]], data: st.DataObject
) -> None:
    stated = np.array(data.draw(st.lists(DOUBTS, min_size=len(events), max_size=len(events))))
    found = made(held_of(*events), stated.tolist())
    for truth in range(N_CLASSES):
        came_true = np.array([truth in event for event in events])
        before, after = (
            -np.log(np.where(came_true, p, 1 - p)).sum() for p in (stated, np.minimum(found, 1.0))
        )
        assert after <= before + 1e-6


def divergence(p: np.ndarray, stated: np.ndarray) -> float:
    return float((rel_entr(p, stated) + rel_entr(1 - p, 1 - stated)).sum())


@settings(max_examples=30, deadline=None)
@given(EVENTS, st.data())
def test_the_answer_is_that_of_a_slow_general_optimiser(
    events: list[tuple[int, ...]], data: st.DataObject
) -> None:
    stated = np.array(data.draw(st.lists(DOUBTS, min_size=len(events), max_size=len(events))))
    matrix = held_of(*events)[:, 0].astype(float)
    slow = minimize(
        lambda q: divergence(np.clip(matrix @ q, 1e-12, 1 - 1e-12), stated),
        np.full(N_CLASSES, 1 / N_CLASSES),
        bounds=[(0, 1)] * N_CLASSES,
        constraints=LinearConstraint(np.ones((1, N_CLASSES)), 1, 1),
        method="SLSQP",
        options={"ftol": 1e-12, "maxiter": 500},
    )
    found = made(held_of(*events), stated.tolist())
    tells = matrix.any(axis=1) & ~matrix.all(axis=1)
    assert (
        divergence(found[tells], stated[tells])
        <= divergence(np.clip(matrix @ slow.x, 1e-12, 1 - 1e-12)[tells], stated[tells]) + 1e-7
    )


@settings(max_examples=50, deadline=None)
@given(EVENTS, st.data())
def test_the_order_of_classes_events_and_proteins_is_nothing(
    events: list[tuple[int, ...]], data: st.DataObject
) -> None:
    stated = np.array(data.draw(st.lists(CHANCES, min_size=len(events), max_size=len(events))))
    order = data.draw(st.permutations(range(N_CLASSES)))
    turn = data.draw(st.permutations(range(len(events))))
    held = held_of(*events)
    found = coherent(held, stated[:, None], None, first(0))[:, 0]
    other = coherent(held[turn][:, :, order], stated[turn][:, None], None, first(0))[:, 0]
    assert other == pytest.approx(found[turn], abs=1e-6)
    both = np.repeat(first(0), 2, axis=0)
    two = coherent(np.tile(held, (1, 2, 1)), np.stack([stated, stated], axis=1), None, both)
    assert (two == found[:, None]).all()


def test_classes_that_no_event_tells_apart_share_evenly() -> None:
    none = np.zeros(1)
    found = nearest_shares(np.array([[1.0, 0.0, 0.0]]), np.array([[0.5]]), none, none)
    assert found[0] == pytest.approx([0.5, 0.25, 0.25], abs=1e-9)


@settings(max_examples=100, deadline=None)
@given(EVENTS, st.data())
def test_no_protein_depends_on_those_beside_it(
    events: list[tuple[int, ...]], data: st.DataObject
) -> None:
    chances = st.lists(CHANCES, min_size=len(events), max_size=len(events))
    stated = np.array(data.draw(st.lists(chances, min_size=1, max_size=4)))
    own = np.array(data.draw(st.lists(CHANCES, min_size=len(stated), max_size=len(stated))))
    matrix, base = held_of(*events)[:, 0].astype(float), np.arange(len(events)) % 2.0
    found = nearest_shares(matrix, stated, own, base)
    assert found.sum(axis=1) == pytest.approx(1.0)
    for row in range(len(stated)):
        part = slice(row, row + 1)
        alone = nearest_shares(matrix, stated[part], own[part], base)
        assert (alone[0] == found[row]).all()
