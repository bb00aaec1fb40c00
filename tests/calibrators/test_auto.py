"""The stack: its weights, what it answers, its record, what cannot be a member."""

from __future__ import annotations

import json
import resource
import time
from dataclasses import replace

import numpy as np
import pytest

from credence.calibrators import auto, hierarchical, isotonic, logistic, logit_curve, shares
from credence.calibrators.all_methods import BY_NAME, SINGLE_METHODS
from credence.calibrators.auto import (
    MEMBER_CLIP,
    Auto,
    best_weights,
    family_effect,
    for_curves,
    lacking,
    member_weights,
    not_repeated,
    out_of_folds,
    weighted_mean,
)
from credence.calibrators.crossfit import folds_by_class, out_of_fold
from credence.calibrators.matrix import Matrix
from credence.calibrators.protocol import FitOptions
from credence.confidence import Note
from credence.predictions import from_scores, label
from credence.problems import InputError
from credence.records import to_record

QUICK = FitOptions(n_draws=0)
CANDIDATES = (
    shares.CLASS_ONLY, logit_curve.BETA, isotonic.ISOTONIC,
    hierarchical.HIERARCHICAL_METHOD, logistic.LOGISTIC_METHOD,
)  # fmt: skip
METHOD = auto.method_over(CANDIDATES)


def slow_weights(chance: np.ndarray, n_steps: int = 100) -> np.ndarray:
    """Return the best weights of two members, by trying them all."""
    tried = np.linspace(0.0, 1.0, n_steps + 1)
    inside = np.clip(tried, 1e-9, 1.0 - 1e-9)
    likelihood = [
        np.log(chance @ [w, 1.0 - w]).sum() + 2.5 * np.log(w * (1.0 - w)) for w in inside
    ]
    best = tried[int(np.argmax(likelihood))]
    return np.array([best, 1.0 - best])


def test_weights_are_those_with_the_largest_likelihood() -> None:
    chance = np.random.default_rng(3).uniform(0.05, 0.95, (40, 2))
    found = best_weights(chance, np.ones(40), np.array([0.5, 0.5]), 5.0)
    np.testing.assert_allclose(found, slow_weights(chance), rtol=0, atol=0.01)


def test_a_prior_counts_as_fifty_families() -> None:
    # One family that only the first member foresaw: (50 · ½ + 1) / 51.
    half = np.array([0.5, 0.5])
    found = best_weights(np.array([[1.0, 1e-12]]), np.ones(1), half, 50.0)
    np.testing.assert_allclose(found, [26 / 51, 25 / 51], rtol=0, atol=1e-6)


def test_a_member_given_twice_changes_nothing(worlds) -> None:
    world = worlds.draw(seed=2)
    values = np.random.default_rng(1).uniform(0.1, 0.9, (world.n_samples, 2))
    once = member_weights(("a", "b"), values, world)
    twice = member_weights(("a", "b", "c"), values[:, [0, 1, 0]], world)
    assert not_repeated(values[:, [0, 1, 0]]).tolist() == [True, True, False]
    assert twice.members == once.members == ("a", "b")
    np.testing.assert_array_equal(twice.pooled, once.pooled)
    for name, weights in once.by_class.items():
        np.testing.assert_array_equal(twice.by_class[name], weights)


def test_a_class_of_few_families_keeps_the_weights_of_all(worlds) -> None:
    world = worlds.draw(seed=2)
    rng = np.random.default_rng(0)
    good = np.where(world.is_correct, 0.98, 0.02)
    values = np.column_stack([good, rng.uniform(0.2, 0.8, world.n_samples)])
    # In one class the second member is right; the fewer families, the less that counts.
    names = world.predictions.class_names
    own = world.predictions.predicted_class == 0
    values[own] = values[own][:, ::-1]
    found = member_weights(("a", "b"), values, world)
    one_family = np.where(own, "one family", world.cluster).astype(object)
    few = member_weights(("a", "b"), values, replace(world, cluster=one_family))
    moved_by_many = found.pooled[0] - found.by_class[names[0]][0]
    moved_by_one = few.pooled[0] - few.by_class[names[0]][0]
    assert moved_by_many > 3.0 * moved_by_one > -1e-9
    np.testing.assert_allclose(few.by_class[names[0]], few.pooled, rtol=0, atol=0.03)
    assert found.by_class[names[0]][0] < found.pooled[0] - 0.03


def test_a_mean_is_weighted_clipped_and_leaves_out_what_has_no_answer() -> None:
    values = np.array([[0.2, 0.8], [np.nan, 0.8], [np.nan, np.nan], [0.0, 1.0]])
    weight = np.array([[0.25, 0.75], [0.25, 0.75], [0.5, 0.5], [1.0, 0.0]])
    expected = [0.25 * 0.2 + 0.75 * 0.8, 0.8, np.nan, MEMBER_CLIP]
    np.testing.assert_allclose(weighted_mean(values, weight), expected, rtol=0, atol=1e-12)


def test_the_losses_in_the_record_are_the_held_out_ones(worlds) -> None:
    world = worlds.draw(seed=1)
    world = replace(world, cluster=world.predictions.ids)  # of few families weights hardly move
    calibration = METHOD.build(Auto(), QUICK).fit(world)
    method = logit_curve.BETA
    unseen = out_of_fold(world, method.build(method.settings(), QUICK), folds_by_class(world, 5))
    p = np.clip(
        np.where(world.is_correct, unseen.value, 1 - unseen.value), MEMBER_CLIP, 1 - MEMBER_CLIP
    )
    expected = -np.average(np.log(p), weights=world.weight)
    found = {one.method: one.held_out_nll for one in calibration.judged}
    np.testing.assert_allclose(found["beta"], expected, rtol=0, atol=1e-12)
    assert found["auto"] <= min(found.values()) + 1e-6


def test_a_large_family_moves_the_weights_no_more_than_a_small_one(worlds) -> None:
    # Two members, one better in one family of many, the other better in all other families.
    world = worlds.draw(seed=1).take(np.arange(60))
    is_large = np.arange(60) < 40
    names = np.where(is_large, "large", world.predictions.ids).astype(object)
    world = replace(world, cluster=names, true_class=world.predictions.predicted_class)
    values = np.column_stack([np.where(is_large, 0.9, 0.6), np.where(is_large, 0.6, 0.9)])
    members = ("beta", "kernel")  # alike in what they weigh at first
    first = member_weights(members, values, world).pooled[0]
    alone = replace(world, cluster=world.predictions.ids)
    counted = member_weights(members, values, alone).pooled
    assert counted[0] > 0.6  # forty proteins against twenty, taken for independent
    # 60² / (40² + 20) families: little is known, so the weights stay near those at first.
    assert abs(first - 0.5) < abs(counted[0] - 0.5) / 3
    # How weights are scaled says nothing of how many families there are.
    heavier = world.reweighted(7.0 * world.weight)
    np.testing.assert_allclose(member_weights(members, values, heavier).pooled[0], first)


def test_relatives_that_tell_nothing_of_each_other_count_as_proteins_where_families_are_many(
    worlds,
) -> None:
    # One member is right on average, the other flat; families are put together by chance.
    world = worlds.draw(seed=1)
    rng = np.random.default_rng(5)
    p = rng.uniform(0.05, 0.95, 400)
    predicted = world.predictions.predicted_class
    true_class = np.where(rng.random(400) < p, predicted, (predicted + 1) % 3)
    names = np.array([f"family {number}" for number in rng.integers(0, 80, 400)], dtype=object)
    world = replace(world, cluster=names, true_class=true_class)
    values = np.column_stack([p, np.full(400, 0.5)])
    alone = replace(world, cluster=world.predictions.ids)
    counted = member_weights(("beta", "kernel"), values, alone).pooled[0]
    first = member_weights(("beta", "kernel"), values, world).pooled[0]
    # Taken for sixty-seven families they moved it two thirds of the way from ½.
    assert counted - 0.5 > 0.3
    assert first - 0.5 > 0.85 * (counted - 0.5)


def test_what_relatives_weigh_together_is_seen_and_pulled_towards_wholly_alike() -> None:
    # Slopes of ±½ in pairs, which are alike in the first case and cancel in the second.
    slope, pair = np.array([[0.5], [0.5], [-0.5], [-0.5]]), np.array([0, 0, 1, 1])
    ones, across = np.ones(4), np.array([0, 1, 0, 1])
    assert family_effect(slope, ones, pair) == 2.0
    # None of two families' squares, pulled by ten towards pairs: 10 · 2 / 12.
    assert family_effect(slope, ones, across) == pytest.approx(20.0 / 12.0)
    # Strangers are themselves, whatever the scale of weights.
    assert family_effect(slope, 3.0 * ones, np.arange(4)) == 3.0


def test_the_stack_answers_with_the_weighted_mean_of_its_members(worlds) -> None:
    world = worlds.draw(seed=2)
    calibration = METHOD.build(Auto(), QUICK).fit(world)
    expected = np.zeros(world.n_samples)
    names = world.predictions.class_names
    for place, name in enumerate(calibration.full.members):
        method = BY_NAME[name]
        alone = method.build(method.settings(), QUICK).fit(world).confidence(world.predictions)
        weight = [calibration.full.by_class[one][place] for one in names]
        expected += np.array(weight)[world.predictions.predicted_class] * np.clip(
            alone.value, MEMBER_CLIP, 1 - MEMBER_CLIP
        )
    value = calibration.confidence(world.predictions).value
    np.testing.assert_allclose(value, expected, rtol=0, atol=1e-12)


def test_without_a_vector_the_members_that_see_the_score_answer(worlds) -> None:
    world = worlds.draw(seed=2)
    full = METHOD.build(Auto(), QUICK).fit(world)
    alone = METHOD.build(Auto(sees="score"), QUICK).fit(world)
    assert alone.skipped == {"logistic": "sees more than the top score"}
    bare = replace(world.predictions, scores=None)
    np.testing.assert_array_equal(full.confidence(bare).value, alone.confidence(bare).value)
    assert not np.array_equal(
        full.confidence(world.predictions).value, full.confidence(bare).value
    )


def test_a_stack_for_curves_alone_has_the_curves_of_the_whole_one(worlds) -> None:
    world = worlds.draw(seed=5)
    whole = METHOD.build(Auto(), QUICK)
    bare = replace(world.predictions, scores=None)
    values = [one.fit(world).confidence(bare).value for one in (whole, for_curves(whole))]
    np.testing.assert_array_equal(*values)
    assert np.isfinite(values[0]).all()


def test_a_world_that_needs_the_vector_is_given_to_the_method_that_sees_it() -> None:
    rng = np.random.default_rng(0)
    n = 300
    second = rng.random(n) < 0.5
    scores = np.where(second[:, None], [[6.0, 3.0, 1.0]], [[6.0, 1.0, 3.0]])
    names = np.arange(n).astype(str).astype(object)
    predictions = from_scores(names, ("a", "b", "c"), scores, 10.0, 0.01)
    is_wrong = rng.random(n) < np.where(second, 0.8, 0.1)
    calibration = METHOD.build(Auto(), QUICK).fit(label(predictions, is_wrong.astype(np.int64)))
    weights = dict(zip(calibration.full.members, calibration.full.pooled, strict=True))
    assert weights["logistic"] > 0.8


def test_where_the_vector_is_of_no_use_tables_with_and_without_it_are_answered_alike(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(auto, "LEAST_WEIGHT", 0.3)
    method = auto.method_over((shares.CLASS_ONLY, logit_curve.BETA, logistic.LOGISTIC_METHOD))
    rng = np.random.default_rng(1)
    n = 400
    top = rng.uniform(4.0, 10.0, n)
    rest = (10.0 - top)[:, None] * rng.dirichlet(np.ones(8), n)
    names = np.arange(n).astype(str).astype(object)
    scores = np.column_stack([top, np.minimum(rest, 0.99 * top[:, None])])
    predictions = from_scores(names, tuple("abcdefghi"), scores, 10.0, 0.01)
    is_wrong = rng.random(n) > (top - 3.0) / 7.0
    calibration = method.build(Auto(), QUICK).fit(label(predictions, is_wrong.astype(np.int64)))
    assert "logistic" not in calibration.full.members and calibration.skipped == {}
    assert calibration.score_only is None  # one mix for all tables: a lookup of scores is exact
    bare = replace(predictions, scores=None)
    with_vectors, without = (calibration.confidence(one).value for one in (predictions, bare))
    np.testing.assert_array_equal(with_vectors, without)


def test_methods_that_the_data_do_not_allow_are_named_with_the_reason(worlds) -> None:
    world = worlds.draw(seed=3)
    bare = replace(world, predictions=replace(world.predictions, scores=None))
    calibration = METHOD.build(Auto(), QUICK).fit(bare)
    reason = "needs the score of every class, each row summing to the scale"
    assert calibration.skipped == {"logistic": reason} and calibration.score_only is None
    assert to_record(calibration)["skipped"] == {"logistic": reason}
    unscored = replace(bare.predictions, top_score=None)
    assert lacking(logit_curve.PLATT, unscored, Auto()) == "needs the top score"
    assert lacking(shares.CLASS_ONLY, unscored, Auto()) == ""


def test_one_cluster_alone_gives_the_weights_of_the_prior(worlds) -> None:
    world = worlds.draw(seed=4, n_clusters=1)
    ready = [m.build(m.settings(), QUICK) for m in CANDIDATES]
    assert np.isnan(out_of_folds(world, ready, folds_by_class(world, 5))).all()
    calibration = METHOD.build(Auto(), QUICK).fit(world)
    weights = dict(zip(calibration.full.members, calibration.full.pooled, strict=True))
    # 0.3 and three of 0.025; `isotonic` has no held-out answers, so nothing tells two apart.
    assert weights["hierarchical"] == pytest.approx(12 * weights["beta"])
    assert sum(weights.values()) == pytest.approx(1.0)
    assert np.isfinite(calibration.confidence(world.predictions).value).all()


def test_the_record_comes_back_bit_for_bit(worlds) -> None:
    world = worlds.draw(seed=5)
    calibration = METHOD.build(Auto(), FitOptions(n_draws=20)).fit(world)
    text = json.dumps(to_record(calibration))
    again = METHOD.read(json.loads(text))
    assert json.dumps(to_record(again)) == text
    expected, found = (one.confidence(world.predictions) for one in (calibration, again))
    np.testing.assert_array_equal(found.value, expected.value)
    np.testing.assert_array_equal(found.lower, expected.lower)


def test_a_scarce_class_has_the_answer_and_interval_of_the_curve_of_all_classes(worlds) -> None:
    world = worlds.draw(seed=6)
    own = np.flatnonzero(world.predictions.predicted_class == 0)
    kept = np.setdiff1d(np.arange(world.n_samples), own[6:])
    few = world.take(kept)
    options = FitOptions(n_draws=40)
    found = METHOD.build(Auto(), options).fit(few).confidence(few.predictions)
    plain = hierarchical.HIERARCHICAL_METHOD.build(hierarchical.Hierarchical(), options).fit(few)
    expected = plain.confidence(few.predictions)
    scarce = few.predictions.predicted_class == 0
    assert (found.note[scarce] & int(Note.SCARCE | Note.ONE_SIDED) > 0).all()
    # The only member here that borrows from other classes.
    np.testing.assert_array_equal(found.value[scarce], expected.value[scarce])
    np.testing.assert_array_equal(found.lower[scarce], expected.lower[scarce])
    np.testing.assert_array_equal(found.upper[scarce], expected.upper[scarce])
    assert ((found.upper - found.lower)[scarce] < 0.8).all()


def test_a_class_never_predicted_has_the_answer_of_the_curve_of_all_classes(worlds) -> None:
    world = worlds.draw(seed=6)
    is_new = world.predictions.predicted_class == 0
    options = FitOptions(n_draws=40)
    found = METHOD.build(Auto(), options).fit(world.take(~is_new)).confidence(world.predictions)
    assert (found.note[is_new] & Note.UNSEEN_CLASS).all()
    assert ((found.lower < found.value) & (found.value < found.upper))[is_new].all()


def test_those_that_answer_for_scarce_classes_are_those_that_pool() -> None:
    pooling = {name for name in auto.MEMBERS if BY_NAME[name].pools}
    assert pooling == set(auto.SCARCE_WEIGHTS)


@pytest.mark.parametrize("name", auto.MEMBERS)
def test_every_member_is_a_method_of_the_registry(name: str) -> None:
    assert name in {method.name for method in SINGLE_METHODS}


def test_held_out_answers_rest_on_nothing_of_their_fold(worlds) -> None:
    world = worlds.draw(seed=2)
    fold = folds_by_class(world, 4)
    found = METHOD.build(Auto(), QUICK).held_out(world, fold)
    assert np.isfinite(found).all()
    # Truths of a fold turned round change its own answers by the weights of no fold but others.
    is_out = fold == 0
    truth = np.where(is_out, (world.true_class + 1) % 4, world.true_class)
    other = METHOD.build(Auto(), QUICK).held_out(replace(world, true_class=truth), fold)
    assert np.abs(found[is_out] - other[is_out]).max() < 0.15
    assert np.abs(found[~is_out] - other[~is_out]).max() > 0.05


def of_many_classes(n_classes: int, n_samples: int):
    """Return labelled vectors of many classes, in families of three."""
    rng = np.random.default_rng(n_classes)
    true_class = np.repeat(np.arange(n_samples // 3) % n_classes, 3)
    logits = rng.normal(size=(len(true_class), n_classes))
    logits[np.arange(len(true_class)), true_class] += rng.normal(5.0, 1.5, len(true_class))
    scores = np.exp(logits)
    scores = np.round(scores / scores.sum(axis=1, keepdims=True), 6)
    names = tuple(f"class {number:03d}" for number in range(n_classes))
    ids = np.array([f"protein_{row}" for row in range(len(scores))], dtype=object)
    cluster = np.array([f"family_{row // 3}" for row in range(len(scores))], dtype=object)
    return label(from_scores(ids, names, scores, 1.0, 1e-6), true_class, None, cluster)


def test_two_hundred_classes_take_less_than_a_minute_and_a_gigabyte() -> None:
    known = of_many_classes(200, 600)
    began, before = time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    stack = BY_NAME["auto"].build(Auto(), QUICK).fit(known)
    value = stack.confidence(known.predictions).value
    reason = "takes too long with more than 30 classes"
    assert stack.skipped == {"logistic": reason, "matrix": reason}
    assert np.isfinite(value).all()
    assert time.process_time() - began < 60.0
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 1e6  # kilobytes


def test_up_to_thirty_classes_all_members_are_offered() -> None:
    few, many = of_many_classes(30, 90), of_many_classes(31, 93)
    for name in ("logistic", "matrix"):
        assert lacking(BY_NAME[name], few.predictions, Auto()) == ""
        assert lacking(BY_NAME[name], many.predictions, Auto()) != ""


def test_a_matrix_of_two_hundred_classes_is_refused() -> None:
    known = of_many_classes(200, 600)
    with pytest.raises(InputError) as caught:
        Matrix().fit_model(known, QUICK)
    assert caught.value.text() == (
        "matrix: of 200 classes it would hold tables of 13 GB each. Choose another method, such "
        "as auto or tswa."
    )
