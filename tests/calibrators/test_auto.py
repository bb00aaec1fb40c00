"""The choice: the one-standard-error rule, the record, what cannot be used."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from credence.calibrators import auto, isotonic, logistic, logit_curve, shares
from credence.calibrators.auto import SURE, Auto, choose, interval_of, lacking, loss, paired
from credence.calibrators.crossfit import folds_by_class, out_of_fold
from credence.calibrators.protocol import FitOptions
from credence.predictions import Labelled, from_scores, label
from credence.records import to_record

QUICK = FitOptions(n_draws=0)
CANDIDATES = (shares.CLASS_ONLY, logit_curve.PLATT, isotonic.ISOTONIC, logistic.METHOD)
METHOD = auto.method_over(CANDIDATES)
ALL = Auto(candidates="all")


def rows(n: int) -> Labelled:
    scores = np.tile([[7.0, 3.0]], (n, 1))
    names = np.arange(n).astype(str).astype(object)
    return label(from_scores(names, ("a", "b"), scores, 10.0, 0.01), np.zeros(n, dtype=np.int64))


def test_the_simplest_within_one_standard_error_is_chosen() -> None:
    # Differences to the best, b: a is worse by 0.1 ± 0.1, c by 0.1 ± 0.
    best = np.full(4, 0.5)
    wavering = best + 0.1 + np.array([0.2, -0.2, 0.2, -0.2]) * np.sqrt(3) / 2
    losses = {"a": wavering, "b": best, "c": best + 0.1}
    choice = choose("k", losses, rows(4), 0, "choose")
    assert [trial.method for trial in choice.trials] == ["a", "b", "c"]
    np.testing.assert_allclose([t.difference for t in choice.trials], [0.1, 0, 0.1], atol=1e-12)
    np.testing.assert_allclose([t.standard_error for t in choice.trials], [0.1, 0, 0], atol=1e-12)
    surer = choose("k", losses | {"a": wavering + 1e-6}, rows(4), 0, "choose")
    assert surer.chosen == ("b",) and surer.rivals == ("b",)
    easier = choose("k", losses | {"a": wavering - 1e-6}, rows(4), 0, "choose")
    assert easier.chosen == ("a",) and easier.rivals == ("a", "b")
    assert choose("k", losses | {"a": wavering - 1e-6}, rows(4), 0, "blend").chosen == ("a", "b")


def test_relatives_make_a_difference_less_certain() -> None:
    difference = np.array([1.0, 1.0, 1.0, -1.0, -1.0, -1.0]) + 0.5
    _, alone = paired(difference, np.ones(6), np.arange(6).astype(str).astype(object))
    _, related = paired(difference, np.ones(6), np.array(list("aaabbb"), dtype=object))
    np.testing.assert_allclose(alone, np.sqrt(6 * 6 / 5) / 6, rtol=0, atol=1e-12)
    np.testing.assert_allclose(related, np.sqrt(18 * 2) / 6, rtol=0, atol=1e-12)


def test_the_numbers_in_a_choice_are_the_held_out_ones(worlds) -> None:
    world = worlds.draw(seed=1)
    calibration = METHOD.build(ALL, QUICK).fit(world)
    fold = folds_by_class(world, 5)
    unseen = out_of_fold(world, logit_curve.PLATT.build(logit_curve.PLATT.settings(), QUICK), fold)
    for class_, choice in enumerate(calibration.choices):
        here = world.predictions.predicted_class == class_
        p = np.where(world.is_correct[here], unseen.value[here], 1 - unseen.value[here])
        expected = -np.average(np.log(np.maximum(p, SURE)), weights=world.weight[here])
        found = {trial.method: trial.held_out_nll for trial in choice.trials}["platt"]
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)
        assert choice.n == here.sum() and choice.n_clusters == len(set(world.cluster[here]))


def test_each_class_answers_with_the_method_chosen_for_it(worlds) -> None:
    world = worlds.draw(seed=2)
    calibration = METHOD.build(ALL, QUICK).fit(world)
    value = calibration.confidence(world.predictions).value
    by_name = {method.name: method for method in CANDIDATES}
    for class_, choice in enumerate(calibration.choices):
        method = by_name[choice.chosen[0]]
        alone = method.build(method.settings(), QUICK).fit(world).confidence(world.predictions)
        here = world.predictions.predicted_class == class_
        np.testing.assert_array_equal(value[here], alone.value[here])


def test_a_blend_is_the_mean_of_the_rivals(worlds) -> None:
    world = worlds.draw(seed=2)
    calibration = METHOD.build(Auto("blend", "all"), QUICK).fit(world)
    value = calibration.confidence(world.predictions).value
    assert max(len(choice.chosen) for choice in calibration.choices) > 1
    for class_, choice in enumerate(calibration.choices):
        here = world.predictions.predicted_class == class_
        assert choice.chosen == choice.rivals
        stated = [
            calibration.members[name].confidence(world.predictions) for name in choice.chosen
        ]
        expected = np.mean([one.value[here] for one in stated], axis=0)
        np.testing.assert_allclose(value[here], expected, rtol=0, atol=1e-12)


def test_a_world_that_needs_the_vector_is_given_to_the_method_that_sees_it() -> None:
    rng = np.random.default_rng(0)
    n = 300
    second = rng.random(n) < 0.5
    scores = np.where(second[:, None], [[6.0, 3.0, 1.0]], [[6.0, 1.0, 3.0]])
    names = np.arange(n).astype(str).astype(object)
    predictions = from_scores(names, ("a", "b", "c"), scores, 10.0, 0.01)
    is_wrong = rng.random(n) < np.where(second, 0.8, 0.1)
    calibration = METHOD.build(ALL, QUICK).fit(label(predictions, is_wrong.astype(np.int64)))
    assert calibration.choices[0].chosen == ("logistic",)
    assert [choice.chosen for choice in calibration.choices[1:]] == [(), ()]


def test_methods_that_the_data_do_not_allow_are_named_with_the_reason(worlds) -> None:
    world = worlds.draw(seed=3)
    bare = replace(world, predictions=replace(world.predictions, scores=None))
    calibration = METHOD.build(ALL, QUICK).fit(bare)
    reason = "needs the score of every class, each row summing to the scale"
    assert calibration.skipped == {"logistic": reason}
    assert to_record(calibration)["skipped"] == {"logistic": reason}
    unscored = replace(bare.predictions, top_score=None)
    assert lacking(logit_curve.PLATT, unscored) == "needs the top score"
    assert lacking(shares.CLASS_ONLY, unscored) == ""


def test_what_has_no_value_is_not_judged_and_certainty_is_clipped(worlds) -> None:
    world = worlds.draw(seed=3, n_samples=3)
    stated = shares.CLASS_ONLY.build(shares.ClassOnly(), QUICK)
    confidence = stated.fit(world).confidence(world.predictions)
    certain = replace(confidence, value=np.array([np.nan, 1.0, 0.0]))
    right = np.array([0, 0, 0]) + world.predictions.predicted_class
    judged = loss(certain, label(world.predictions, right))
    assert np.isnan(judged[0]) and judged[1] < 1e-14
    np.testing.assert_allclose(judged[2], -np.log(SURE), rtol=0, atol=1e-12)


def test_a_class_of_one_cluster_takes_the_simplest(worlds) -> None:
    world = worlds.draw(seed=4, n_clusters=1)
    calibration = METHOD.build(ALL, QUICK).fit(world)
    assert {choice.chosen for choice in calibration.choices} == {("class_only",)}


def test_the_record_keeps_choices_and_comes_back_bit_for_bit(worlds) -> None:
    world = worlds.draw(seed=5)
    calibration = METHOD.build(ALL, FitOptions(n_draws=20)).fit(world)
    text = json.dumps(to_record(calibration))
    again = METHOD.read(json.loads(text))
    assert again.choices == calibration.choices
    assert json.dumps(to_record(again)) == text


def test_without_intervals_only_chosen_methods_are_kept(worlds) -> None:
    world = worlds.draw(seed=5)
    calibration = METHOD.build(ALL, QUICK).fit(world)
    chosen = {name for choice in calibration.choices for name in choice.chosen}
    assert set(calibration.members) == chosen


@pytest.mark.parametrize(
    ("chosen", "rivals", "expected"),
    [
        (("class_only",), ("class_only", "isotonic"), ("kernel",)),
        (("tswa",), ("tswa", "kernel"), ("tswa", "logistic")),
        (("logistic",), ("logistic",), ("logistic",)),
    ],
)
def test_an_interval_is_that_of_a_method_that_sees_as_much(chosen, rivals, expected) -> None:
    from credence.calibrators.all_methods import SINGLE

    assert interval_of(chosen, rivals, SINGLE) == expected


def test_an_interval_is_not_that_of_a_form_that_won_by_being_simple(worlds) -> None:
    """With few proteins the share wins; its interval alone would be too narrow."""
    from credence.calibrators.all_methods import BY_NAME

    world = worlds.draw(seed=6, n_samples=160)
    calibration = BY_NAME["auto"].build(Auto(), FitOptions(n_draws=40)).fit(world)
    found = calibration.confidence(world.predictions)
    for class_, choice in enumerate(calibration.choices):
        here = world.predictions.predicted_class == class_
        for name in choice.interval:
            part = calibration.members[name].confidence(world.predictions)
            assert (found.lower[here] <= part.lower[here]).all()
            assert (found.upper[here] >= part.upper[here]).all()
