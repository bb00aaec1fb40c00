from __future__ import annotations

import numpy as np
import pytest

from credence.calibrators.classwise import class_samples
from credence.calibrators.intervals import expanded_quantiles, share_band
from credence.calibrators.protocol import FitOptions
from credence.draws import cluster_weights, encode_clusters
from credence.evaluation.ratios import MIN_CLUSTERS, estimate, mean_of
from credence.predictions import from_scores, label


def names(*words: str) -> np.ndarray:
    return np.array(words, dtype=object)


def test_the_value_is_the_weighted_mean_over_the_rows_chosen() -> None:
    losses, weight = np.array([1.0, 2.0, 9.0]), np.array([3.0, 1.0, 1.0])
    chosen = np.array([True, True, False])
    found = estimate(names("a", "a", "b"), [mean_of(losses, weight, chosen)], 0.95, 10)
    assert found.value[0] == (3.0 + 2.0) / 4.0
    assert (found.n[0], found.n_clusters[0]) == (2, 1)


def test_an_empty_ratio_is_nan_and_counts_nothing() -> None:
    ratio = mean_of(np.ones(2), np.ones(2), np.zeros(2, dtype=bool), is_share=True)
    found = estimate(names("a", "b"), [ratio], 0.95, 10)
    assert np.isnan([found.value[0], found.lower[0], found.upper[0]]).all()
    assert (found.n[0], found.n_clusters[0]) == (0, 0)


def test_a_mean_over_fewer_than_five_clusters_has_no_interval() -> None:
    losses, weight = np.arange(10.0), np.ones(10)
    everyone = np.ones(10, dtype=bool)
    few = names(*(f"c{k % (MIN_CLUSTERS - 1)}" for k in range(10)))
    enough = names(*(f"c{k % MIN_CLUSTERS}" for k in range(10)))
    ratio = mean_of(losses, weight, everyone)
    assert np.isnan(estimate(few, [ratio], 0.95, 50).lower[0])
    found = estimate(enough, [ratio], 0.95, 50)
    assert found.lower[0] < found.value[0] < found.upper[0]


def test_a_share_of_one_has_a_width_even_from_one_cluster() -> None:
    ratio = mean_of(np.ones(3), np.ones(3), np.ones(3, dtype=bool), is_share=True)
    found = estimate(names("a", "a", "a"), [ratio], 0.95, 200)
    # One cluster that is right: Jeffreys' Beta(1.5, 0.5) has its 2.5 % quantile at 0.23, and
    # for one cluster Student's t goes out to the least of the draws.
    assert 0.0 < found.lower[0] < 0.23
    assert found.upper[0] == 1.0


def test_draws_of_a_mean_are_those_of_a_slow_loop() -> None:
    rng = np.random.default_rng(1)
    cluster = names(*(f"c{k}" for k in rng.integers(0, 12, 60)))
    losses, weight = rng.random(60), rng.random(60) + 0.1
    found = estimate(cluster, [mean_of(losses, weight, np.ones(60, dtype=bool))], 0.9, 70)
    codes, keys = encode_clusters(cluster)
    drawn = []
    for draw in range(70):
        drawn_weight = weight * cluster_weights(keys, draw)[codes]
        drawn.append((drawn_weight * losses).sum() / drawn_weight.sum())
    mass = np.bincount(codes, weights=weight)
    n_near = np.array([mass.sum() ** 2 / (mass**2).sum()])
    low, high = expanded_quantiles(np.array(drawn)[None], n_near, FitOptions(level=0.9))
    assert found.lower[0] == pytest.approx(low[0], rel=1e-12)
    assert found.upper[0] == pytest.approx(high[0], rel=1e-12)
    # Widened as Student's t is: beyond the plain quantiles.
    assert found.lower[0] < np.quantile(drawn, 0.05) < np.quantile(drawn, 0.95) < found.upper[0]


def test_a_share_has_the_interval_that_the_class_only_method_gives() -> None:
    rng = np.random.default_rng(2)
    scores = np.column_stack([rng.uniform(0.6, 1.0, 40), np.zeros(40)])
    ids = names(*(f"p{k}" for k in range(40)))
    cluster = names(*(f"c{k}" for k in rng.integers(0, 15, 40)))
    predictions = from_scores(ids, ("A", "B"), scores, 1.0, 0.0)
    labelled = label(predictions, rng.integers(0, 2, 40), rng.random(40) + 0.5, cluster)
    sample = class_samples(labelled)[0]
    assert sample is not None
    right = labelled.is_correct.astype(float)
    ratio = mean_of(right, labelled.weight, np.ones(40, dtype=bool), is_share=True)
    found = estimate(cluster, [ratio], 0.95, 100)
    band = share_band(sample, FitOptions(level=0.95, n_draws=100))
    ends = (band.lower[0], band.upper[0])
    assert (found.lower[0], found.upper[0]) == pytest.approx(ends, rel=1e-9)


def test_relatives_that_are_alike_widen_the_interval() -> None:
    rng = np.random.default_rng(3)
    right = np.repeat(rng.random(40) < 0.5, 5).astype(float)
    ratio = mean_of(right, np.ones(200), np.ones(200, dtype=bool), is_share=True)
    families = names(*(f"c{k // 5}" for k in range(200)))
    alone = names(*(f"c{k}" for k in range(200)))
    by_family = estimate(families, [ratio], 0.95, 400)
    by_row = estimate(alone, [ratio], 0.95, 400)
    widening = (by_family.upper - by_family.lower) / (by_row.upper - by_row.lower)
    # Five alike are worth one: the standard error grows by √5 = 2.24.
    assert widening[0] == pytest.approx(np.sqrt(5), rel=0.25)
