"""Laws of combined tools: no order matters, no tool harms, what is missing is no matter."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from credence.predictions import Predictions, from_scores, label
from credence.records import from_record, to_record
from credence.tools.combining import (
    INTERCEPT_RIDGE,
    LEAST_PROTEINS,
    OTHER_RIDGE,
    SAME_RIDGE,
    SHARED_RIDGE,
    Answers,
    Combination,
    SoftmaxInputs,
    fit_patterns,
    fit_softmax,
    fit_tool,
    in_table_order,
    meant_shares,
    product,
    signals,
    wanted_patterns,
)
from credence.tools.judging import combine
from tool_worlds import CLASSES, same_classes, taken, world


def combined_of(labelled, answers, classes=None):
    return combine(labelled, answers, classes or same_classes(answers), n_draws=0)


@pytest.fixture(scope="module")
def two():
    labelled, answers = world()
    return labelled, answers, *combined_of(labelled, answers)


def test_two_tools_of_different_strength_are_better_than_the_better_one(two):
    finding = two[2].finding
    assert finding.best == "first"
    assert finding.above_best < -3 * finding.error
    assert finding.alone == ""
    assert all(tool.adds.value > 0 for tool in finding.tools)


def test_the_order_of_rows_and_of_tools_changes_nothing(two):
    labelled, answers, whole, held_out, _ = two
    rows = np.random.default_rng(1).permutation(labelled.n_samples)
    moved, own = taken(labelled, dict(reversed(answers.items())), rows)
    again, values, _ = combined_of(moved, own)
    np.testing.assert_array_equal(values, held_out[rows])
    assert to_record(again.patterns) == to_record(whole.patterns)


def test_the_order_of_classes_changes_nothing(two):
    labelled, answers, _, held_out, _ = two
    turn = [2, 0, 3, 1]
    names = tuple(CLASSES[place] for place in turn)

    def turned(predictions):
        return from_scores(predictions.ids, names, predictions.scores[:, turn], 1.0, 0.0)

    moved = replace(
        labelled,
        predictions=turned(labelled.predictions),
        true_class=np.argsort(turn)[labelled.true_class],
    )
    own = {
        name: Answers(predictions=turned(one.predictions), row=one.row)
        for name, one in answers.items()
    }
    _, values, _ = combined_of(moved, own)
    np.testing.assert_allclose(values, held_out[:, turn], rtol=0, atol=1e-9)


def test_another_scale_changes_nothing(two):
    labelled, answers, _, held_out, _ = two
    second = answers["second"]
    scaled = from_scores(
        second.predictions.ids, CLASSES, second.predictions.scores * 8.0, 8.0, 0.0
    )
    own = {**answers, "second": Answers(predictions=scaled, row=second.row)}
    np.testing.assert_array_equal(combined_of(labelled, own)[1], held_out)


def test_a_tool_that_is_noise_harms_by_no_more_than_chance():
    labelled, answers = world(strengths={"good": 2.0, "noise": 0.0}, seed=3)
    finding = combined_of(labelled, answers)[0].finding
    assert finding.best == "good"
    assert finding.above_best <= finding.error or finding.alone == "good"


def test_where_all_are_worse_than_one_that_one_answers():
    labelled, answers = world(n=300)
    whole = combined_of(labelled, answers)[0]
    followed = replace(whole, alone="first")
    stated = whole.stated(answers)
    np.testing.assert_array_equal(
        followed.combined(stated), whole.pooled({"first": stated["first"]})
    )
    # Proteins that it lacks are those of the others.
    stated["first"][:10] = np.nan
    np.testing.assert_array_equal(followed.combined(stated)[:10], whole.pooled(stated)[:10])


def test_a_tool_given_twice_is_no_worse():
    labelled, answers = world(n=300)
    twice = {"first": answers["first"], "again": answers["first"]}
    finding = combined_of(labelled, twice)[0].finding
    assert abs(finding.above_best) < 0.01


def test_proteins_that_a_tool_lacks_have_an_answer_of_the_others(two):
    _, answers, whole, *_ = two
    without = whole.combined(whole.stated({"first": answers["first"]}))
    half = replace(answers["second"], row=np.where(np.arange(600) % 2, -1, np.arange(600)))
    lacking = whole.combined(whole.stated({**answers, "second": half}))
    every = whole.combined(whole.stated(answers))
    np.testing.assert_array_equal(lacking[::2], every[::2])
    assert np.isfinite(without).all()
    # A second tool that was asked in vain of nobody's protein says nothing by its silence.
    np.testing.assert_allclose(np.exp(lacking[1::2]), np.exp(without[1::2]), atol=0.02)


def test_a_tool_that_answers_only_one_class_is_heard_by_its_silence():
    labelled, answers = world(strengths={"first": 1.0, "second": 3.0})
    portal = labelled.true_class == CLASSES.index("Portal")
    answers["second"] = replace(answers["second"], row=np.where(portal, np.arange(600), -1))
    finding = combined_of(labelled, answers)[0].finding
    (second,) = (tool for tool in finding.tools if tool.name == "second")
    assert second.adds.value > 0.2


def test_a_tool_that_answers_none_of_these_proteins_changes_little():
    labelled, answers = world()
    absent = replace(answers["second"], row=np.full(600, -1))
    finding = combined_of(labelled, {"first": answers["first"], "second": absent})[0].finding
    assert abs(finding.above_best) < 1e-3


def test_merged_classes_and_classes_that_are_none_of_the_runs_are_used():
    labelled, answers = world(strengths={"first": 1.0, "coarse": 3.0})
    scores = answers["coarse"].predictions.scores
    merged = np.column_stack([scores[:, 0], scores[:, 1:3].sum(axis=1), scores[:, 3]])
    coarse = from_scores(labelled.predictions.ids, ("portal", "tube", "rest"), merged, 1.0, 0.0)
    answers["coarse"] = Answers(predictions=coarse, row=np.arange(600))
    classes = same_classes(answers)
    classes["coarse"] = {"portal": "Portal", "tube": "", "rest": "Other"}
    finding = combined_of(labelled, answers, classes)[0].finding
    (tool,) = (tool for tool in finding.tools if tool.name == "coarse")
    assert tool.adds.value > 0.3
    assert finding.above_best < 0


@pytest.mark.parametrize("kind", ["top score", "class", "no distribution"])
def test_tools_that_give_less_than_a_distribution_help(kind):
    labelled, answers = world(strengths={"first": 1.0, "second": 3.0})
    given = answers["second"].predictions
    less = {
        "top score": replace(given, scores=None, is_distribution=False),
        "class": replace(given, scores=None, top_score=None, is_distribution=False),
        "no distribution": replace(given, is_distribution=False),
    }[kind]
    answers["second"] = Answers(predictions=less, row=np.arange(600))
    finding = combined_of(labelled, answers)[0].finding
    assert finding.above_best < 0


def test_a_combination_is_read_back_as_it_was(two):
    _, answers, whole, *_ = two
    record = to_record(whole)
    back = from_record(Combination, record)
    assert to_record(back) == record
    np.testing.assert_array_equal(
        back.combined(back.stated(answers)), whole.combined(whole.stated(answers))
    )


def test_one_family_alone_has_an_answer():
    labelled, answers = world(n=12)
    labelled = replace(labelled, cluster=np.full(12, "one", dtype=object))
    assert np.isfinite(combined_of(labelled, answers)[1]).all()


def test_many_tools_have_fewer_patterns():
    labelled, answers = world(n=150, strengths={f"t{n}": 1.0 for n in range(6)})
    whole = combined_of(labelled, answers)[0]
    assert {len(one.tools) for one in whole.patterns} == {0, 1, 5, 6}
    some = {name: answers[name] for name in ("t1", "t3")}
    assert np.isfinite(whole.combined(whole.stated(some))).all()


RUN = ("A", "B", "C")


@pytest.mark.parametrize(
    ("given", "own", "share"),
    [
        # A top score is a share of its scale, whatever that is; the others have alike.
        ({"top_score": 8.0}, [0, 1, 0, 0, np.log(4.0), 0], [0.1, 0.8, 0.1]),
        # A class alone is worth as much as all others together.
        ({}, [0, 1, 0], [0.25, 0.5, 0.25]),
        # Scores that are no distribution are seen as they are, by name.
        (
            {"top_score": 8.0, "scores": np.array([[2.0, 1.0, 8.0]])},
            [0, 1, 0, 0.1, 0.8, 0.2],
            [0.1, 0.8, 0.1],
        ),
    ],
)
def test_what_a_tool_says_is_seen_as_shares_of_its_scale(given, own, share):
    given = {name: np.asarray(value).reshape(1, -1) for name, value in given.items()}
    if "top_score" in given:
        given["top_score"] = given["top_score"][0]
    ids, predicted = np.array(["p"], dtype=object), np.array([2])  # B
    predictions = Predictions(
        ids=ids,
        class_names=("C", "A", "B"),
        scale=10.0,
        resolution=0.01,
        predicted_class=predicted,
        **given,
        is_distribution=False,
    )
    found = signals(np.eye(3), predictions)
    np.testing.assert_allclose(found.of_protein, [own], rtol=0, atol=1e-9)
    np.testing.assert_allclose(np.exp(found.shared[:, :, 0]), [share], rtol=0, atol=1e-8)


def test_a_class_that_is_none_of_the_runs_goes_evenly_to_those_that_have_no_name():
    shares = meant_shares((*RUN, "D"), {"z": "", "a": "A", "b": "A"})
    assert shares.tolist() == [[1, 0, 0, 0], [1, 0, 0, 0], [0, 1 / 3, 1 / 3, 1 / 3]]
    assert meant_shares(RUN, {"c": "C", "a": "A", "b": "B", "z": ""}).tolist() == [
        *np.eye(3).tolist(),
        [0, 0, 0],  # each has a name
    ]


def test_a_tool_that_was_asked_in_vain_is_told_from_one_that_was_not_asked():
    stated = {"one": np.log([[0.9, 0.1], [0.2, 0.8]]), "two": np.array([[np.nan] * 2, [-1, -2]])}
    found = product(["one"], {"two": 0.3, "three": 0.4}, stated)
    np.testing.assert_array_equal(found.shared[:, :, 0], stated["one"])
    assert found.of_protein.tolist() == [[1.0, 0.4], [0.0, 0.4]]


def test_columns_stand_in_the_order_of_the_run():
    assert in_table_order(np.array([[0.1, 0.2, 0.7]]), ("C", "A", "B")).tolist() == [
        [0.7, 0.1, 0.2]
    ]


def test_of_many_tools_a_pattern_is_fitted_that_enough_proteins_have():
    names = tuple("abcde")
    is_there = np.zeros((2 * LEAST_PROTEINS - 1, 5), dtype=np.bool_)
    is_there[:LEAST_PROTEINS, [0, 1, 2]] = True
    is_there[LEAST_PROTEINS:, [2, 3]] = True  # one too few
    found = wanted_patterns(is_there, names)
    fours = [tuple(name for name in names if name != one) for one in reversed(names)]
    triple = [("a", "b"), ("a", "c"), ("b", "c")]
    assert found == [(), *((name,) for name in names), *triple, ("a", "b", "c"), *fours, names]
    few = wanted_patterns(is_there[:1, :3], names[:3])
    assert len(few) == 2**3


def test_weights_are_the_least_of_the_loss_and_of_ridges_towards_the_start():
    rng = np.random.default_rng(0)
    shared, own, start = (
        rng.normal(size=(40, 3, 2)),
        rng.normal(size=(40, 2)),
        np.array([1.0, 2.0]),
    )
    truth = np.eye(3)[rng.integers(0, 3, 40)] * rng.uniform(0.5, 2.0, (40, 1))
    ridge = rng.uniform(0.5, 50.0, (3, 2))

    def loss(w, d):
        total = SHARED_RIDGE * ((w - start) ** 2).sum() / 2 + (ridge * d[:, :-1] ** 2).sum() / 2
        total += INTERCEPT_RIDGE * (d[:, -1] ** 2).sum() / 2
        for row in range(40):
            logit = [shared[row, k] @ w + own[row] @ d[k, :-1] + d[k, -1] for k in range(3)]
            total -= truth[row] @ (logit - np.log(np.exp(logit).sum()))
        return total

    found = fit_softmax(SoftmaxInputs(shared=shared, of_protein=own), truth, start, ridge)
    least = loss(found.shared, found.of_protein)
    for step in (-0.003, 0.003):
        for place in range(2):
            assert loss(found.shared + step * np.eye(2)[place], found.of_protein) > least
        for place in np.ndindex(found.of_protein.shape):
            moved = found.of_protein.copy()
            moved[place] += step
            assert loss(found.shared, moved) > least


def test_a_class_hears_a_tools_score_of_itself_more_than_of_others():
    labelled, answers = world(n=300, strengths={"one": 1.0})
    truth = np.eye(4)[np.argsort(np.argsort(CLASSES))[labelled.true_class]]
    (classes,) = same_classes(answers).values()
    found = fit_tool(tuple(sorted(CLASSES)), classes, answers["one"], truth)
    own = np.abs(found.of_protein[:, :-1])
    others = own[~np.eye(4, dtype=np.bool_)]
    assert OTHER_RIDGE > SAME_RIDGE
    assert np.diag(own).mean() > 2.0 * others.mean()


def test_tools_that_never_answer_together_are_multiplied_with_equal_weights():
    stated = {name: np.log(np.full((6, 2), 0.5)) for name in ("one", "two")}
    stated["one"][:3] = stated["two"][3:] = np.nan
    patterns = fit_patterns(("one", "two"), stated, np.eye(2)[[0, 1, 0, 1, 0, 1]])
    assert [one.tools for one in patterns] == [(), ("one",), ("two",), ("one", "two")]
    assert patterns[-1].weights.shared.tolist() == [0.5, 0.5]
    # Fitted where it answers, whatever others do: two was always asked in vain there.
    assert patterns[1].silence.tolist() == [1.0]


def test_a_protein_counts_as_much_as_it_weighs():
    labelled, answers = world(n=300, strengths={"noise": 0.0})
    weight = np.where(labelled.true_class == CLASSES.index("Portal"), 20.0, 1.0)
    heavy = labelled.reweighted(weight)
    whole = combined_of(heavy, answers)[0]
    stated = np.exp(in_table_order(whole.combined(whole.stated(answers)), CLASSES))
    share = np.bincount(labelled.true_class, weights=weight) / weight.sum()
    np.testing.assert_allclose(weight @ stated / weight.sum(), share, rtol=0, atol=0.02)


REAL = Path(__file__).resolve().parents[3] / "shared" / "data" / "phanns_ten_networks.npz"


@pytest.mark.long
@pytest.mark.skipif(not REAL.is_file(), reason=f"{REAL} is not here")
def test_real_networks_are_better_together_than_the_best_and_noise_does_no_harm():
    arrays = np.load(REAL)
    names = tuple(map(str, arrays["class_names"]))
    rows = np.arange(0, len(arrays["id"]), 8)
    true = np.array([names.index(name) for name in arrays["true_class"][rows]])
    ids = np.array([f"p{row}" for row in rows], dtype=object)
    scores = arrays["softmax"][rows, :2].astype(float)
    noise = np.random.default_rng(0).dirichlet(np.ones(len(names)), len(rows))
    tables = {"one": scores[:, 0], "two": scores[:, 1], "noise": noise}
    answers = {
        name: Answers(
            predictions=from_scores(ids, names, own, 1.0, 1e-4), row=np.arange(len(rows))
        )
        for name, own in tables.items()
    }
    labelled = label(answers["one"].predictions, true)
    together = combined_of(labelled, {name: answers[name] for name in ("one", "two")})[0].finding
    assert together.above_best < -together.error
    finding = combined_of(labelled, {name: answers[name] for name in ("one", "noise")})[0].finding
    assert finding.above_best <= finding.error or finding.alone == "one"
