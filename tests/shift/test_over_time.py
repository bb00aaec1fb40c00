"""Samples that come one after the other, beside the first ones."""

from __future__ import annotations

import numpy as np

from credence.composition.over_time import Course, alarms_of, sample_variance


def course(
    counts: object, flagged: object = None, p: object = None, effect: float = 0.0
) -> Course:
    array = np.array(counts, dtype=np.float64)
    blank = np.full(len(array), np.nan)
    known = [blank if values is None else np.array(values) for values in (flagged, p)]
    return Course(
        counts=array,
        flagged=known[0],
        p_value=known[1],
        effect=np.full(len(array), effect),
        relatives=1.0,
    )


def quiet(n_samples: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.array([rng.multinomial(200, rng.dirichlet([60, 36, 24])) for _ in range(n_samples)])


def test_the_chance_of_a_false_alarm_does_not_grow_with_the_samples() -> None:
    rng, n_false = np.random.default_rng(0), 0
    for seed in range(60):
        flagged, p = rng.beta(5, 95, size=40), rng.uniform(size=40)
        n_false += bool(alarms_of(course(quiet(40, seed), flagged, p, 0.1)))
    assert n_false <= 7  # of 60 at 5 %: more has a chance of 2 %


def test_a_class_that_takes_a_third_is_named_and_others_are_not() -> None:
    counts = quiet(16, 1)
    counts[12:, 2] += 150
    (first, *_) = found = alarms_of(course(counts))
    assert (first.sample, first.subject) == (12, "mix")
    assert {alarm.classes for alarm in found} == {(2,)}


def test_samples_of_an_alarm_are_not_what_is_usual() -> None:
    counts = quiet(14, 1)
    counts[5:, 2] += 150
    found = alarms_of(course(counts))
    assert [alarm.sample for alarm in found if alarm.sample > 6] == [*range(7, 14)]


def test_scores_alarm_at_once_or_together_and_only_with_an_effect() -> None:
    counts = quiet(4, 2)
    (at_once, *_) = alarms_of(course(counts, p=[0.5, 1e-6, 0.5, 0.5], effect=0.05))
    assert (at_once.sample, at_once.subject, at_once.window) == (1, "scores", 1)
    slowly = alarms_of(course(counts, p=[0.004, 0.004, 0.004, 0.004], effect=0.05))
    assert [(alarm.sample, alarm.window) for alarm in slowly] == [(0, 1), (3, 4)]
    assert not alarms_of(course(counts, p=[0.5, 1e-6, 0.5, 0.5], effect=0.01))


def test_one_class_or_no_proteins_or_nothing_known_is_no_alarm() -> None:
    assert not alarms_of(course(np.full((9, 1), 50)))
    assert not alarms_of(course(np.zeros((9, 3)), np.full(9, np.nan)))
    assert not alarms_of(course(np.zeros((0, 3))))


def test_variances_that_are_alike_are_held_together() -> None:
    # 1 and 3 of two columns with two degrees of freedom: chance alone makes them differ so.
    angle = np.array([[-1.0, -(3.0**0.5)], [0.0, 0.0], [1.0, 3.0**0.5]])
    held, n_free = sample_variance(angle)
    assert n_free == 3.0
    assert held.round(9).tolist() == [round((2 + 2 * 1) / 3, 9), round((2 + 2 * 3) / 3, 9)]
