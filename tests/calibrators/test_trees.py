"""Trees read from arrays are scikit-learn's; pooled trees and how far they may be off."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn.tree import DecisionTreeRegressor

from cases import cases
from credence.calibrators.forest import ROWS_FOR_COMPILED, Forest, Growth, average, boost
from credence.calibrators.protocol import FitOptions
from credence.calibrators.spread import (
    ClassSpread,
    Spread,
    Step,
    halves,
    pulled_misfit,
    step_errors,
    steps_of,
)
from credence.calibrators.trees import BOOSTED, RANDOMISED, RandomisedTrees, Trees, features_of
from credence.predictions import label
from credence.problems import InputError
from credence.records import from_record, to_record

QUICK = FitOptions(n_draws=0)
GROWTH = Growth(n_trees=20, n_leaves=8, learning_rate=0.2)
FEW = replace(GROWTH, n_trees=2, is_random=False)


def drawn(n: int = 500, missing: float = 0.0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(4)
    features = rng.normal(size=(n, 4))
    is_correct = rng.random(n) < 1 / (1 + np.exp(-features[:, 0] - features[:, 1] ** 2 + 1))
    features[rng.random((n, 4)) < missing] = np.nan
    return features, is_correct, rng.choice([0.5, 1.0, 2.0], n)


@pytest.mark.parametrize("is_random", [True, False])
def test_arrays_answer_as_scikit_learn_does(is_random: bool) -> None:
    features, is_correct, weight = drawn()
    growth = Growth(n_trees=1, n_leaves=30, least_rows=5, ridge=0.0, is_random=is_random)
    mine = average(features, is_correct, weight, growth)
    model = DecisionTreeRegressor(
        splitter="random" if is_random else "best",
        max_leaf_nodes=30,
        min_samples_leaf=5,
        max_features=1.0,
        random_state=0,
    ).fit(features.astype(np.float32), is_correct.astype(float), sample_weight=weight)
    fresh = drawn(n=300)[0] * 1.3
    np.testing.assert_allclose(mine.total(fresh), model.predict(fresh), rtol=0, atol=1e-7)


def test_one_boosted_step_is_newton_s() -> None:
    features, is_correct, weight = drawn()
    forest = boost(features, is_correct, weight, replace(GROWTH, n_trees=1, ridge=2.0))
    share = (weight[is_correct].sum() + 0.5) / (weight.sum() + 1.0)
    (leaf,) = forest.leaves(features)
    expected = np.empty(len(leaf))
    for node in set(leaf.tolist()):
        here = leaf == node
        above = (weight * (is_correct - share))[here].sum()
        below = weight[here].sum() * share * (1 - share) + 2.0
        expected[here] = np.log(share / (1 - share)) + 0.2 * above / below
    np.testing.assert_allclose(forest.total(features), expected, rtol=0, atol=1e-6)


def test_a_forest_grown_on_begins_as_it_was() -> None:
    features, is_correct, weight = drawn()
    few = boost(features, is_correct, weight, replace(GROWTH, n_trees=3))
    many = boost(features, is_correct, weight, replace(GROWTH, n_trees=9)).staged(features)
    assert many.shape == (len(features), 10)
    np.testing.assert_allclose(many[:, 3], few.total(features), rtol=0, atol=1e-12)


def test_each_tree_sees_whole_clusters_drawn_by_their_names() -> None:
    features, is_correct, weight = drawn()
    cluster = np.array([f"f{row // 2}" for row in range(500)], dtype=object)
    growth = replace(GROWTH, part_of_clusters=0.5)
    forest = boost(features, is_correct, weight, growth, cluster)
    other = boost(features, is_correct, weight, growth, np.char.add(cluster.astype(str), "x"))
    assert not np.array_equal(forest.total(features), other.total(features))


def test_a_feature_that_a_row_lacks_is_the_typical_one() -> None:
    features, is_correct, weight = drawn(missing=0.1)
    forest = boost(features, is_correct, weight, GROWTH)
    rows = features.copy()
    rows[:, 2] = np.nan
    filled = rows.copy()
    filled[:, 2] = np.nanmedian(features[:, 2])
    np.testing.assert_array_equal(forest.total(rows), forest.total(filled))


@pytest.mark.parametrize("grow", [boost, average])
def test_many_rows_are_walked_as_few_are_bit_for_bit(grow: Callable[..., Forest]) -> None:
    features, is_correct, weight = drawn(missing=0.1)
    forest = grow(features, is_correct, weight, GROWTH)
    rows = drawn(ROWS_FOR_COMPILED, missing=0.05)[0] * 1.3
    rows[: len(forest.threshold), 0] = forest.threshold
    at_once = forest.total(rows)
    halves_of_rows = np.split(rows, 2)
    assert all(len(half) < ROWS_FOR_COMPILED for half in halves_of_rows)
    one_by_one = np.concatenate([forest.total(half) for half in halves_of_rows])
    np.testing.assert_array_equal(at_once, one_by_one)
    constant = boost(features, np.ones(len(features), dtype=bool), weight, GROWTH)
    assert set(constant.total(rows)) == {constant.base}


def test_a_forest_comes_back_from_json_bit_for_bit() -> None:
    features, is_correct, weight = drawn(missing=0.1)
    forest = boost(features, is_correct, weight, GROWTH)
    again = from_record(Forest, json.loads(json.dumps(to_record(forest))))
    np.testing.assert_array_equal(again.total(features), forest.total(features))
    assert to_record(again) == to_record(forest)


def test_one_sided_rows_grow_no_tree() -> None:
    features, _, _ = drawn(8)
    forest = boost(features, np.ones(8, dtype=bool), np.ones(8), GROWTH)
    # Jeffreys: (8 + ½) right to ½ wrong.
    np.testing.assert_allclose(forest.total(features), np.log(17.0), rtol=0, atol=1e-12)
    assert [part.size for part in (forest.root, forest.feature, forest.threshold)] == [0, 0, 0]
    assert [part.size for part in (forest.child, forest.value)] == [0, 0]


@cases("method", [BOOSTED, RANDOMISED])
def test_eleven_proteins_are_enough_to_fit(worlds, method) -> None:
    world = worlds.draw(seed=2)
    rows = np.flatnonzero(world.predictions.predicted_class == 0)
    right, wrong = rows[world.is_correct[rows]][:7], rows[~world.is_correct[rows]][:4]
    few = world.take(np.concatenate([right, wrong]))
    few = label(few.predictions, few.true_class, np.ones(11), few.cluster)
    fitted = method.build(method.settings(), FitOptions(n_draws=1)).fit(few)
    confidence = fitted.confidence(few.predictions)
    assert np.isfinite(confidence.value).all()
    assert (confidence.upper - confidence.lower > 0.1).all()


def test_the_number_of_trees_is_the_best_on_clusters_held_out(worlds) -> None:
    world = worlds.draw(seed=2)
    # Outcomes by chance: nothing can be learnt, so few trees are best.
    rng = np.random.default_rng(0)
    other = (world.predictions.predicted_class + 1) % 4
    chance = np.where(rng.random(400) < 0.5, world.predictions.predicted_class, other)
    assert Trees().tuned(replace(world, true_class=chance)).trees < Trees().tuned(world).trees
    assert Trees(trees=7).tuned(world).trees == 7


@pytest.mark.parametrize(("n_samples", "n_leaves"), [(150, 4), (1000, 20), (2000, 32)])
def test_a_boosted_tree_has_a_leaf_for_fifty_proteins_but_4_at_least_and_32_at_most(
    worlds, n_samples: int, n_leaves: int
) -> None:
    world = worlds.draw(seed=1, n_samples=n_samples, n_clusters=n_samples)
    model = Trees(trees=3).fit_model(world, QUICK)
    leaves = model.forest.leaves(features_of(world.predictions, uses_networks=False))
    assert [len(np.unique(leaf)) for leaf in leaves] == [n_leaves] * 3


@pytest.mark.parametrize("settings", [Trees(trees=5), RandomisedTrees(trees=5)])
def test_rows_in_another_order_grow_the_same_trees(worlds, settings) -> None:
    world = worlds.draw(seed=3)
    rows = np.random.default_rng(0).permutation(world.n_samples)
    first = settings.fit_model(world, QUICK)
    second = settings.fit_model(world.take(rows), QUICK)
    assert to_record(first.forest) == to_record(second.forest)


def test_halves_of_the_clusters_complement_each_other() -> None:
    keys = np.arange(1, 201, dtype=np.uint64)
    np.testing.assert_array_equal(halves(keys, 0), ~halves(keys, 1))
    assert 80 < halves(keys, 0).sum() < 120
    assert not np.array_equal(halves(keys, 0), halves(keys, 2))


def test_what_is_stated_too_high_is_a_misfit_and_chance_is_not(worlds) -> None:
    world = worlds.draw(seed=4, n_samples=4000, n_clusters=4000)
    share = np.full(world.n_samples, np.average(world.is_correct, weights=world.weight))
    by_chance, too_high = steps_of(world, share), steps_of(world, share + 0.1)
    assert all(step.n_families > 15 for step in by_chance)

    def surplus(steps: list[Step]) -> float:
        return float(np.mean([step.miss - step.noise for step in steps]))

    # A gap of 0.1 where p (1 − p) is 0.19: (0.1 / 0.19)² = 0.28.
    assert abs(surplus(by_chance)) < 0.03 < 0.2 < surplus(too_high) < 0.36
    assert pulled_misfit(by_chance, 0.35) < 0.35 < 0.38 < pulled_misfit(too_high, 0.35)


def test_misfit_is_what_it_was_before_until_steps_tell_of_it() -> None:
    def step(miss: float, noise: float) -> Step:
        return Step(
            rows=np.arange(1), mean=0.5, n_families=9.0, scale=0.25, miss=miss, noise=noise
        )

    assert pulled_misfit([], 0.35) == pytest.approx(0.35)
    assert pulled_misfit([step(1e6, 1e12)], 0.35) == pytest.approx(0.35)
    # Ten steps without noise beside twelve before the data; a hundred say no more than ten.
    together = np.sqrt((12 * 0.35**2 + 10 * 1.0) / 22)
    assert pulled_misfit([step(1.0, 0.0)] * 10, 0.35) == pytest.approx(together)
    assert pulled_misfit([step(1.0, 0.0)] * 100, 0.35) == pytest.approx(together)
    # A noise of 0.35² counts a quarter.
    expected = np.sqrt((12 * 0.35**2 + (1.0 - 0.35**2) / 4) / 12.25)
    assert pulled_misfit([step(1.0, 0.35**2)], 0.35) == pytest.approx(expected)


def test_the_error_is_that_of_the_gaps_between_halves(worlds) -> None:
    world = worlds.draw(seed=4)
    share = np.full(world.n_samples, 0.5)
    steps = steps_of(world, share)
    squares = np.full(world.n_samples, 0.01 / 1.25)
    error = step_errors(steps, squares, world.weight)
    families = np.array([step.n_families for step in steps])
    # 0.1² / 1.25, in units of ½ · ½ + ½ / families.
    expected = np.sqrt(0.01 / 1.25 / (0.25 + 0.5 / families))
    np.testing.assert_allclose(error, expected, rtol=1e-12, atol=0)
    np.testing.assert_allclose([step.mean for step in steps], 0.5, rtol=0, atol=1e-12)


def test_an_interval_is_the_error_and_the_misfit_together() -> None:
    one = ClassSpread(
        answer=np.array([0.5]), error=np.array([0.06]), misfit=0.16, n_families=np.array([1e9])
    )
    spread = Spread(level=0.95, classes={"a": one})
    lower, upper = spread.interval(np.array([0.5, 0.5]), np.array([0, 1]), ("a", "b"))
    # Student's t of seven degrees of freedom at 0.975, times √((0.06 · ½)² + (0.16 · ¼)²).
    np.testing.assert_allclose([lower[0], upper[0]], 0.5 + np.array([-1, 1]) * 2.364624 * 0.05)
    assert np.isnan([lower[1], upper[1]]).all()


def test_a_class_that_is_never_wrong_has_its_misfit_guarded_by_a_fifth_of_its_families() -> None:
    one = ClassSpread(
        answer=np.linspace(0.99, 1.0, 10),
        error=np.zeros(10),
        misfit=0.16,
        n_families=np.full(10, 50.0),
    )
    spread = Spread(level=0.95, classes={"a": one})
    lower, _ = spread.interval(np.array([1.0]), np.array([0]), ("a",))
    # 100.5 of 101 families, not 50.5 of 51.
    assert lower[0] == pytest.approx(1.0 - 2.364624 * 0.16 * (100.5 * 0.5 / 101.0**2))


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("root", lambda packed: [], "it is damaged"),
        ("base", lambda value: None, "a value is not a number"),
    ],
)
def test_damaged_trees_are_refused(name: str, change: Callable[[Any], Any], message: str) -> None:
    features = np.arange(40.0)[:, None]
    grown = boost(features, features[:, 0] > 20, np.ones(40), FEW)
    record = to_record(grown)
    from_record(Forest, record)
    with pytest.raises(InputError, match=message):
        from_record(Forest, record | {name: change(record[name])})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"child": lambda child: child * 0 + 99}, "child leads out"),
        ({"child": np.zeros_like}, "child leads out of its .* nodes in all, or back"),
        ({"child": lambda child: np.append(len(child) // 2 + 1, child[1:])}, "out of its tree"),
        ({"root": lambda root: root[::-1]}, "roots are not those of one tree after the other"),
        ({"root": lambda root: root + 99}, "root leads out"),
        ({"feature": lambda feature: feature + 3}, "looks at a feature that there is not"),
        ({"value": lambda value: value[:-1]}, "do not all have a feature"),
        ({"value": lambda value: value * np.nan}, "a value is not a number"),
        ({"threshold": lambda threshold: np.zeros_like(threshold)}, "a threshold is missing"),
    ],
)
def test_trees_that_lead_nowhere_are_refused(changes: dict[str, Any], message: str) -> None:
    features = np.arange(40.0)[:, None]
    grown = boost(features, features[:, 0] > 20, np.ones(40), FEW)
    grown.refuse_damage()
    assert len(grown.root) == 2
    parts = {name: change(getattr(grown, name)) for name, change in changes.items()}
    with pytest.raises(ValueError, match=message):
        replace(grown, **parts).refuse_damage()
