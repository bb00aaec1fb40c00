"""Laws of combined tools: no order matters, no tool harms, what is missing is no matter."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from credence.predictions import from_scores, label
from credence.records import from_record, to_record
from credence.tools.combining import Answers, Combination
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
    own = {name: Answers(turned(one.predictions), one.row) for name, one in answers.items()}
    _, values, _ = combined_of(moved, own)
    np.testing.assert_allclose(values, held_out[:, turn], rtol=0, atol=1e-9)


def test_another_scale_changes_nothing(two):
    labelled, answers, _, held_out, _ = two
    second = answers["second"]
    scaled = from_scores(
        second.predictions.ids, CLASSES, second.predictions.scores * 8.0, 8.0, 0.0
    )
    own = {**answers, "second": Answers(scaled, second.row)}
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
    answers["coarse"] = Answers(coarse, np.arange(600))
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
    answers["second"] = Answers(less, np.arange(600))
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
        name: Answers(from_scores(ids, names, own, 1.0, 1e-4), np.arange(len(rows)))
        for name, own in tables.items()
    }
    labelled = label(answers["one"].predictions, true)
    together = combined_of(labelled, {name: answers[name] for name in ("one", "two")})[0].finding
    assert together.above_best < -together.error
    finding = combined_of(labelled, {name: answers[name] for name in ("one", "noise")})[0].finding
    assert finding.above_best <= finding.error or finding.alone == "one"
