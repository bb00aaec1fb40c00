from __future__ import annotations

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from credence.evaluation.measures import both_relatives as both
from credence.evaluation.measures import relatives_of, scatter_of, twice

rows_strategy = st.lists(
    st.tuples(st.integers(0, 5), st.sampled_from([0.0, 0.25, 1.0, 3.0]), st.floats(0.5, 4.0)),
    min_size=2,
    max_size=30,
)


def slow_scatter(rows: list[tuple[int, float, float]]) -> tuple[float, float]:
    """Cluster by cluster and pair by pair."""
    total = sum(w for _, _, w in rows)
    mean = sum(w * x for _, x, w in rows) / total
    variance = sum(w * (x - mean) ** 2 for _, x, w in rows) / total
    shown = fourth = left_out = pairs = alike = with_relatives = 0.0
    masses = []
    for cluster in sorted({c for c, _, _ in rows}):
        own = [(x - mean, w) for c, x, w in rows if c == cluster]
        mass = sum(w for _, w in own)
        masses.append(mass)
        pull = sum(w * r for r, w in own)
        shown += pull**2
        fourth += pull**4
        if mass < total:
            left_out += (pull / (1 - mass / total)) ** 2
        if len(own) > 1:
            of_pairs = [
                (w * v, w * v * r * s)
                for i, (r, w) in enumerate(own)
                for j, (s, v) in enumerate(own)
                if i != j
            ]
            weight = sum(p for p, _ in of_pairs)
            pairs += weight
            alike += mass * sum(q for _, q in of_pairs) / weight
            with_relatives += mass
    kish = total**2 / sum(m**2 for m in masses)
    shared = min(max(alike / with_relatives, 0.0), variance) if with_relatives > 0 else 0.0
    forecast = variance * sum(w**2 for _, _, w in rows) + shared * pairs
    if kish > 1:
        forecast *= kish / (kish - 1)
    greatest = max(shown, left_out, forecast)
    if shown <= 1e-18 * greatest or variance <= 1e-18 * mean**2:
        return 1.0, float(np.sqrt(max(kish - 1, 1.0)))
    freedom = np.sqrt(max(kish - 1, 1.0) * shown**2 / fourth)
    return float(np.sqrt(greatest / shown)), float(freedom)


def arrays(rows: list[tuple[int, float, float]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    cluster, losses, weight = map(np.array, zip(*rows, strict=True))
    return cluster, losses, weight


@given(rows=rows_strategy)
@settings(max_examples=50, deadline=None)
def test_it_is_a_slow_loop_over_clusters_and_pairs(rows: list) -> None:
    cluster, losses, weight = arrays(rows)
    own = relatives_of(np.zeros_like(cluster), 1, cluster, weight)
    # Where clusters hardly differ the quotient is of what rounding left of two sums.
    found = scatter_of(own, losses)
    assert (found.stretch[0], found.freedom[0]) == pytest.approx(slow_scatter(rows), rel=1e-6)


@given(rows=rows_strategy)
@settings(max_examples=20, deadline=None)
def test_each_class_is_stretched_as_if_it_were_alone(rows: list) -> None:
    cluster, losses, weight = arrays(rows)
    block = np.arange(len(rows)) % 2
    found = scatter_of(both(block, 2, cluster, weight), twice(losses)).stretch
    for number, chosen in enumerate([block == 0, block == 1, block >= 0]):
        alone = relatives_of(np.zeros_like(cluster[chosen]), 1, cluster[chosen], weight[chosen])
        assert found[number] == pytest.approx(
            scatter_of(alone, losses[chosen]).stretch[0], rel=1e-6
        )


def test_independent_rows_are_stretched_for_their_number_alone() -> None:
    # No relatives: σ²Σw² is what is shown; n/(n − 1) and leaving out one of n are what remains.
    losses = np.random.default_rng(1).random(50)
    own = relatives_of(np.zeros(50, dtype=np.int64), 1, np.arange(50), np.ones(50))
    assert scatter_of(own, losses).stretch[0] == pytest.approx(50 / 49, rel=1e-9)


def test_one_great_family_that_happens_to_be_ordinary_is_foreseen_to_be_odd() -> None:
    # Relatives are always alike, yet the family of a hundred happens to have the mean loss.
    cluster = np.concatenate([np.repeat(np.arange(40), 2), np.full(100, 40)])
    losses = np.concatenate([np.repeat(np.arange(40) % 2, 2), np.full(100, 0.5)]).astype(float)
    own = relatives_of(np.zeros_like(cluster), 1, cluster, np.ones(180))
    # Shown: 40 pulls of (2·½)² = 40. Foretold: σ² = 20/180 = 0.111; products of relatives are ¼
    # for 80 members, 0 for 100, so c = σ²; 0.111 · (40·4 + 10,000) = 1,129; Kish's number of
    # clusters is 180²/10,160 = 3.19, its m/(m − 1) 1.457; √(1,645/40) = 6.41.
    assert scatter_of(own, losses).stretch[0] == pytest.approx(6.41, abs=0.01)


def test_clusters_that_do_not_differ_are_not_stretched() -> None:
    own = relatives_of(np.zeros(8, dtype=np.int64), 1, np.arange(8) // 2, np.ones(8))
    assert scatter_of(own, np.tile([0.2, 0.7], 4)).stretch.tolist() == [1.0]
    assert scatter_of(own, np.full(8, 0.3)).stretch.tolist() == [1.0]
    assert scatter_of(
        relatives_of(np.zeros(0, dtype=np.int64), 1, np.zeros(0, dtype=np.int64), np.zeros(0)),
        np.zeros(0),
    ).stretch.tolist() == [1.0]
