from __future__ import annotations

import json
import math
from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from credence.novelty import macest
from credence.novelty.macest import (
    FittedMacest,
    MacestSettings,
    NeighbourGraph,
    Tuning,
    TuningTrial,
    best,
    canonical_order,
    in_graph,
)
from credence.novelty.neighbours import singles
from credence.predictions import Floats, Integers
from credence.records import from_record, to_record

SETTINGS = MacestSettings()


def draw(seed: int, n: int = 600, n_classes: int = 4) -> SimpleNamespace:
    """Return points around class centres, in families, and a classifier wrong now and then."""
    rng = np.random.default_rng(seed)
    n_families = n // 3
    class_of_family = rng.integers(n_classes, size=n_families)
    centre = rng.normal(size=(n_classes, 3)) * 3
    family = rng.integers(n_families, size=n)
    true_class = class_of_family[family]
    points = centre[true_class] + rng.normal(size=(n_families, 3))[family]
    points = points + rng.normal(size=(n, 3)) * 0.3
    is_wrong = rng.random(n) < 0.25
    predicted = np.where(is_wrong, rng.integers(n_classes, size=n), true_class)
    cluster = np.array([f"family_{name}" for name in family], dtype=object)
    return SimpleNamespace(
        points=points, true_class=true_class, predicted=predicted, cluster=cluster, n=n_classes
    )


def fitted(world: SimpleNamespace, chosen: MacestSettings = SETTINGS) -> FittedMacest:
    return macest.fit(
        world.points, world.true_class, world.predicted, world.n, world.cluster, chosen
    )


@cache
def fitted_to_ninety(seed: int) -> FittedMacest:
    return fitted(draw(seed, n=90))


def slow(model: FittedMacest, query: Floats) -> Floats:
    """The formulas of decision 0008, word for word, for one point."""
    graph, tuning = model.graph, model.tuning
    pairs = [
        math.dist(a, b)
        for at, a in enumerate(graph.points)
        for b in graph.points[:at]
        if not np.array_equal(a, b)
    ]
    sigma = {}
    for class_ in range(graph.n_classes):
        own = np.flatnonzero(graph.true_class == class_)
        if len(own) < graph.least:
            continue
        near = sorted((math.dist(query, graph.points[at]), at) for at in own)
        error = spread = ranks = 0.0
        for rank, (distance, at) in enumerate(near[: tuning.neighbours], start=1):
            distance = distance or min(pairs)
            error += graph.is_wrong[at] / distance
            spread += distance / rank
            ranks += 1 / rank
        sigma[class_] = tuning.alpha * error + tuning.beta * spread / ranks
    mean = sum(sigma.values()) / len(sigma)
    mass = [
        math.exp(-tuning.sharpness * sigma.get(class_, mean) / mean)
        for class_ in range(graph.n_classes)
    ]
    return np.array(mass) / sum(mass)


def test_probabilities_are_those_of_the_formula() -> None:
    world = draw(1, n=120)
    model = fitted(world)
    tuning = Tuning(neighbours=3, alpha=0.02, beta=1.0, sharpness=7.0)
    model = FittedMacest(
        graph=model.graph,
        tuning=tuning,
        n_fitting=model.n_fitting,
        calibration_error=model.calibration_error,
    )
    # The graph's own points are at distance 0; the others are not.
    queries = singles(np.concatenate([world.points[:15], model.graph.points[:15]]))
    expected = np.array([slow(model, query) for query in queries])
    np.testing.assert_allclose(model.probabilities(queries), expected, rtol=1e-10)


def test_by_hand() -> None:
    # One dimension, two classes, k = 2, α = 3, β = 1, τ = 2. From 0: class 0 has points
    # at 1 (right) and 3 (wrong): ε = 1/3, 𝒦 = (1 + 3/2)/(1 + 1/2) = 5/3, σ = 1 + 5/3 = 8/3.
    # Class 1 has points at -2 and -4, both right: 𝒦 = (2 + 4/2)/(3/2) = 8/3 = σ. So ½ each.
    graph = NeighbourGraph(
        points=singles([[1.0], [3.0], [-2.0], [-4.0]]),
        true_class=np.array([0, 0, 1, 1]),
        is_wrong=np.array([False, True, False, False]),
        n_classes=2,
        least=1,
    )
    model = FittedMacest(
        graph=graph,
        tuning=Tuning(neighbours=2, alpha=3.0, beta=1.0, sharpness=2.0),
        n_fitting=0,
        calibration_error=None,
    )
    np.testing.assert_allclose(model.probabilities([[0.0]]), [[0.5, 0.5]], rtol=1e-6)


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.floats(-1, 1), min_size=3, max_size=3).filter(lambda way: math.hypot(*way) > 0.1),
    st.integers(0, 3),
)
def test_far_from_all_data_confidence_tends_to_one_in_the_number_of_classes(
    way: list[float], seed: int
) -> None:
    model = fitted_to_ninety(seed)
    direction = np.array(way) / math.hypot(*way)
    for distance, tolerance in ((1e6, 1e-2), (1e8, 1e-4)):
        found = model.probabilities([direction * distance])
        np.testing.assert_allclose(found, 1 / 4, atol=tolerance)


def test_no_cluster_stands_in_the_graph_and_among_those_that_are_learnt_from() -> None:
    world = draw(2)
    order = canonical_order(
        singles(world.points), world.true_class, world.predicted, world.cluster
    )
    is_graph = in_graph(world.true_class[order], world.cluster[order], 0.5)
    cluster, true_class = world.cluster[order], world.true_class[order]
    assert not set(cluster[is_graph]) & set(cluster[~is_graph])
    for class_ in range(world.n):
        own = true_class == class_
        sizes = np.unique(cluster[own], return_counts=True)[1]
        # Each cluster goes where more is missing, so a class is off by half a cluster at most.
        assert abs(is_graph[own].sum() - own.sum() / 2) <= sizes.max() / 2 + 1e-9
    model = fitted(world)
    assert len(model.graph.points) + model.n_fitting == len(world.points)


def test_rows_and_classes_in_another_order_give_the_same_probabilities() -> None:
    world = draw(3)
    before = fitted(world).probabilities(world.points)
    rows = np.random.default_rng(1).permutation(len(world.points))
    place = np.array([2, 0, 3, 1])
    after = macest.fit(
        world.points[rows],
        place[world.true_class[rows]],
        place[world.predicted[rows]],
        world.n,
        world.cluster[rows],
        SETTINGS,
    ).probabilities(world.points)
    np.testing.assert_allclose(after[:, place], before, atol=1e-12)


def test_it_learns_that_wrong_regions_are_wrong() -> None:
    # All predictions of class 0 left of 0 are wrong, all others right.
    rng = np.random.default_rng(5)
    true_class = rng.integers(2, size=800)
    points = rng.normal(size=(800, 2)) * 0.7 + np.where(true_class == 0, -2.0, 2.0)[:, None]
    predicted = true_class.copy()
    cluster = np.array([f"c{row}" for row in range(800)], dtype=object)
    is_wrong = (true_class == 1) & (points[:, 1] < 1.5)
    predicted[is_wrong] = 0
    model = macest.fit(points, true_class, predicted, 2, cluster, SETTINGS)
    confidence = model.confidence(points, predicted)
    assert confidence[is_wrong].mean() < 0.2
    assert confidence[~is_wrong].mean() > 0.8
    disagrees = model.disagrees(points, predicted)
    assert disagrees[is_wrong].mean() > 0.9 and disagrees[~is_wrong].mean() < 0.1


def test_confidence_of_proteins_that_were_not_fitted_is_calibrated() -> None:
    # Three classes that overlap, and a classifier that takes the nearest centre.
    rng = np.random.default_rng(6)
    centre = np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 2.0]])
    true_class = rng.integers(3, size=3000)
    points = centre[true_class] + rng.normal(size=(3000, 2))
    predicted = ((points[:, None] - centre) ** 2).sum(axis=2).argmin(axis=1)
    cluster = np.array([f"c{row}" for row in range(3000)], dtype=object)
    old, new = slice(0, 2000), slice(2000, None)
    model = macest.fit(
        points[old], true_class[old], predicted[old], 3, cluster[old], MacestSettings()
    )
    confidence = model.confidence(points[new], predicted[new])
    is_correct = (predicted == true_class)[new]
    # A thousand outcomes are sure to 1.5 points.
    assert abs(confidence.mean() - is_correct.mean()) < 0.04
    unsure = confidence < np.median(confidence)
    assert abs(confidence[unsure].mean() - is_correct[unsure].mean()) < 0.08
    assert abs(confidence[~unsure].mean() - is_correct[~unsure].mean()) < 0.08


def test_a_record_gives_the_fit_back_bit_for_bit() -> None:
    world = draw(8)
    model = fitted(world)
    text = json.dumps(to_record(model))
    again = from_record(macest.FittedMacest, json.loads(text))
    assert json.dumps(to_record(again)) == text
    np.testing.assert_array_equal(
        model.probabilities(world.points), again.probabilities(world.points)
    )


def test_every_class_uses_the_same_number_of_neighbours() -> None:
    world = draw(9)
    # A class of eight proteins leaves four for the graph: k is at most 4.
    few = np.flatnonzero(world.true_class == 1)[:8]
    kept = np.sort(np.concatenate([np.flatnonzero(world.true_class != 1), few]))
    cluster = world.cluster[kept].copy()
    cluster[world.true_class[kept] == 1] = [f"alone_{row}" for row in range(8)]
    model = macest.fit(
        world.points[kept], world.true_class[kept], world.predicted[kept], 4, cluster, SETTINGS
    )
    assert model.graph.most_neighbours == 4
    assert model.tuning.neighbours <= 4


def test_a_class_with_too_few_proteins_is_neither_near_nor_far() -> None:
    world = draw(10)
    kept = (world.true_class != 2) & (world.predicted != 2)
    model = macest.fit(
        world.points[kept],
        world.true_class[kept],
        world.predicted[kept],
        4,
        world.cluster[kept],
        SETTINGS,
    )
    found = model.probabilities(world.points)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    sigma = -np.log(found)
    # softmax keeps differences of logits: its own is the mean of the others.
    np.testing.assert_allclose(sigma[:, 2], sigma[:, [0, 1, 3]].mean(axis=1), rtol=1e-9)


@pytest.mark.parametrize("n", [1, 2, 4])
def test_a_handful_of_proteins_gives_probabilities_still(n: int) -> None:
    rng = np.random.default_rng(n)
    cluster = np.array([f"c{row}" for row in range(n)], dtype=object)
    classes: Integers = np.arange(n) % 2
    model = macest.fit(rng.normal(size=(n, 2)), classes, classes, 2, cluster, SETTINGS)
    found = model.probabilities(rng.normal(size=(5, 2)))
    np.testing.assert_allclose(found.sum(axis=1), 1.0)


def test_a_point_that_is_not_known_has_no_probability() -> None:
    world = draw(11)
    points = world.points[:3].copy()
    points[1, 0] = np.nan
    model = fitted(world)
    found = model.probabilities(points)
    assert np.isnan(found[1]).all() and np.isfinite(found[[0, 2]]).all()
    assert not model.disagrees(points, world.predicted[:3])[1]


def test_of_tunings_that_chance_alone_tells_apart_the_likeliest_is_taken() -> None:
    trials = [
        TuningTrial(tuning=Tuning(neighbours=1), error=0.010, loss=0.6, chance=0.002),
        TuningTrial(tuning=Tuning(neighbours=2), error=0.0115, loss=0.5, chance=0.002),
        TuningTrial(tuning=Tuning(neighbours=3), error=0.0125, loss=0.4, chance=0.002),
    ]
    assert best(trials).tuning.neighbours == 2
