"""Trees read from arrays are scikit-learn's; their intervals and recalibration."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier

from credence.calibrators.forest import Forest, Growth, bin_edges, forest_of, grow, to_codes
from credence.calibrators.protocol import FitOptions
from credence.calibrators.score_logs import tree_features
from credence.calibrators.trees import LOOSE_TREES, METHOD, Trees, halves, recalibrate
from credence.predictions import label
from credence.problems import InputError
from credence.records import from_record, to_record

QUICK = FitOptions(n_draws=0)


def drawn(n: int = 500, missing: float = 0.0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(4)
    features = rng.normal(size=(n, 4))
    is_correct = rng.random(n) < 1 / (1 + np.exp(-features[:, 0] - features[:, 1] ** 2 + 1))
    features[rng.random((n, 4)) < missing] = np.nan
    return features, is_correct, rng.choice([0.5, 1.0, 2.0], n)


@pytest.mark.parametrize("missing", [0.0, 0.1])
def test_arrays_answer_as_scikit_learn_does(missing: float) -> None:
    features, is_correct, weight = drawn(missing=missing)
    model = HistGradientBoostingClassifier(max_iter=30, early_stopping=False, random_state=0)
    model.fit(features, is_correct, sample_weight=weight)
    fresh = drawn(n=300, missing=missing)[0] * 1.3
    fresh[:5] = np.nan
    mine = 1 / (1 + np.exp(-forest_of(model).log_odds(fresh)))
    np.testing.assert_allclose(mine, model.predict_proba(fresh)[:, 1], rtol=0, atol=1e-12)


def test_splitting_bins_is_splitting_values() -> None:
    features, is_correct, weight = drawn()
    growth = Growth(n_trees=20)
    forest = grow(features, is_correct, weight, np.zeros(4, dtype=np.int64), growth)
    edges = [bin_edges(column) for column in features.T]
    codes = np.column_stack(
        [to_codes(column, edge) for column, edge in zip(features.T, edges, strict=True)]
    )
    model = HistGradientBoostingClassifier(
        max_iter=20,
        learning_rate=growth.learning_rate,
        max_leaf_nodes=growth.n_leaves,
        max_depth=growth.depth,
        min_samples_leaf=5,
        l2_regularization=growth.ridge,
        early_stopping=False,
    ).fit(codes, is_correct, sample_weight=weight)
    mine = 1 / (1 + np.exp(-forest.log_odds(features)))
    np.testing.assert_allclose(mine, model.predict_proba(codes)[:, 1], rtol=0, atol=1e-12)


def test_a_forest_grown_on_begins_as_it_was() -> None:
    features, is_correct, weight = drawn()
    free = np.zeros(4, dtype=np.int64)
    few = grow(features, is_correct, weight, free, Growth(n_trees=3))
    many = grow(features, is_correct, weight, free, Growth(n_trees=9)).staged(features)
    assert many.shape == (len(features), 10)
    np.testing.assert_array_equal(many[:, 3], few.log_odds(features))


def test_the_interval_holds_what_the_forest_grown_on_says(worlds) -> None:
    world = worlds.draw(seed=2)
    calibration = METHOD.build(Trees(trees=1, bags=2), FitOptions(n_draws=1)).fit(world)
    confidence = calibration.confidence(world.predictions)
    features = tree_features(world.predictions, uses_networks=calibration.model.uses_networks)
    for class_, name in enumerate(world.predictions.class_names):
        own = world.predictions.predicted_class == class_
        fitted = calibration.model.classes[name]
        assert len(fitted.forest.root) == 1 and len(fitted.loose.root) == LOOSE_TREES
        grown_on = 1 / (1 + np.exp(-fitted.loose.log_odds(features[own])))
        assert (confidence.lower[own] <= grown_on).all()
        assert (grown_on <= confidence.upper[own]).all()


def test_a_forest_comes_back_from_json_bit_for_bit() -> None:
    features, is_correct, weight = drawn(missing=0.1)
    forest = grow(features, is_correct, weight, np.zeros(4, dtype=np.int64), Growth(n_trees=5))
    again = from_record(Forest, json.loads(json.dumps(to_record(forest))))
    np.testing.assert_array_equal(again.log_odds(features), forest.log_odds(features))
    assert to_record(again) == to_record(forest)


def test_a_rising_feature_never_lowers_the_log_odds() -> None:
    features, is_correct, weight = drawn()
    rising = np.array([1, 0, 0, 0])
    forest = grow(features, is_correct, weight, rising, Growth())
    line = np.tile(features[:1], (200, 1))
    line[:, 0] = np.linspace(-3, 3, 200)
    steps = np.diff(forest.log_odds(line))
    assert (steps >= -1e-12).all() and steps.max() > 0


def test_one_sided_rows_grow_no_tree() -> None:
    features, _, _ = drawn(8)
    none = np.zeros(4, dtype=np.int64)
    forest = grow(features, np.ones(8, dtype=bool), np.ones(8), none, Growth())
    # Jeffreys: (8 + ½) right to ½ wrong.
    np.testing.assert_allclose(forest.log_odds(features), np.log(17.0), rtol=0, atol=1e-12)


def test_ten_proteins_are_enough_to_fit(worlds) -> None:
    world = worlds.draw(seed=2)
    rows = np.flatnonzero(world.predictions.predicted_class == 0)
    right, wrong = rows[world.is_correct[rows]][:7], rows[~world.is_correct[rows]][:4]
    few = world.take(np.concatenate([right, wrong]))
    few = label(few.predictions, few.true_class, np.ones(11), few.cluster)
    confidence = METHOD.build(Trees(), FitOptions(n_draws=1)).fit(few).confidence(few.predictions)
    assert np.isfinite(confidence.value).all()
    assert (confidence.upper - confidence.lower > 0.1).all()


def test_log_odds_that_say_the_wrong_thing_say_nothing(worlds) -> None:
    world = worlds.draw(seed=2)
    raw = np.where(world.is_correct, -2.0, 2.0)
    line, _ = recalibrate(raw, world, np.arange(world.n_samples))
    assert line[1] == 0.0
    share = np.average(world.is_correct, weights=world.weight)
    np.testing.assert_allclose(1 / (1 + np.exp(-line[0])), share, rtol=0, atol=5e-3)


def test_log_odds_twice_too_sure_are_halved() -> None:
    rng = np.random.default_rng(0)
    truth = rng.normal(size=20_000)
    is_correct = rng.random(20_000) < 1 / (1 + np.exp(-truth))

    class Rows:
        weight = np.ones(20_000)

    Rows.is_correct = is_correct
    line, _ = recalibrate(2 * truth, Rows(), np.arange(20_000))  # type: ignore[arg-type]
    # Standard error of the slope: about 1/(2 √(20000 · 0.2)) = 0.008.
    np.testing.assert_allclose(line, [0.0, 0.5], rtol=0, atol=0.05)


def test_halves_of_the_clusters_complement_each_other() -> None:
    keys = np.arange(1, 201, dtype=np.uint64)
    np.testing.assert_array_equal(halves(keys, 0), ~halves(keys, 1))
    assert (halves(keys, 0) != halves(keys, 2)).any()
    assert 70 < halves(keys, 0).sum() < 130


def test_the_ensembles_spread_is_used_where_it_tells(worlds) -> None:
    """All scores alike, the networks agree where the prediction is right."""
    world = worlds.draw(seed=8)
    n = world.n_samples
    spread = np.where(world.is_correct, 0.0, 0.2)
    networks = np.repeat(world.predictions.scores[:, None, :] / 10.0, 2, axis=1)
    networks[:, 0] += spread[:, None]
    networks[:, 1] -= spread[:, None]
    seen = replace(world, predictions=replace(world.predictions, network_scores=networks))
    value = METHOD.build(Trees(), QUICK).fit(seen).confidence(seen.predictions).value
    assert value[world.is_correct].min() > value[~world.is_correct].max()
    # A table without networks is answered by the side that most proteins took.
    blind = METHOD.build(Trees(), QUICK).fit(seen).confidence(world.predictions).value
    assert np.isfinite(blind).all() and len(blind) == n


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("root", lambda values: [values[-1] + 10**6]),
        ("left", lambda values: [-1, *values[1:]]),
        ("right", lambda values: [*values[:-1], len(values)]),
        ("feature", lambda values: [*values[:-1], -1]),
        ("value", lambda values: [*values[:-1], float("nan")]),
        ("missing_left", lambda values: values[:-1]),
        ("base", lambda value: float("inf")),
        ("depth", lambda value: 10**9),
    ],
)
def test_trees_that_lead_nowhere_are_refused_before_a_row_goes_there(
    name: str, change: Callable[[Any], Any]
) -> None:
    features = np.arange(40.0)[:, None]
    grown = grow(features, features[:, 0] > 20, np.ones(40), np.zeros(1, dtype=int), Growth(2))
    record = to_record(grown)
    from_record(Forest, record)
    with pytest.raises(InputError, match=r"its|out of|not a number"):
        from_record(Forest, record | {name: change(record[name])})
