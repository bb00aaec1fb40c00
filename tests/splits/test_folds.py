from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from credence.calibrators.crossfit import fill, fold_of

ROWS = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 3)), min_size=1, max_size=120)


def table(rows: list[tuple[int, int]]) -> tuple[Any, Any]:
    cluster = np.array([f"c{name}" for name, _ in rows], dtype=object)
    return cluster, np.array([stratum for _, stratum in rows])


@settings(max_examples=50, deadline=None)
@given(ROWS, st.integers(2, 12), st.randoms(use_true_random=False))
def test_no_cluster_is_divided_and_the_order_of_rows_is_nothing(
    rows: list[tuple[int, int]], n_folds: int, shuffler: Any
) -> None:
    cluster, stratum = table(rows)
    folds = fold_of(cluster, stratum, n_folds)
    assert len(folds) == len(rows)
    assert ((folds >= 0) & (folds < n_folds)).all()
    for name in set(cluster):
        assert len(set(folds[cluster == name])) == 1
    order = list(range(len(rows)))
    shuffler.shuffle(order)
    np.testing.assert_array_equal(fold_of(cluster[order], stratum[order], n_folds), folds[order])


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(0, 3), min_size=1, max_size=200), st.integers(2, 12))
def test_lone_proteins_are_spread_as_evenly_as_can_be(strata: list[int], n_folds: int) -> None:
    cluster = np.array([f"p{row}" for row in range(len(strata))], dtype=object)
    folds = fold_of(cluster, np.array(strata), n_folds)
    for stratum in set(strata):
        counts = np.bincount(folds[np.array(strata) == stratum], minlength=n_folds)
        assert counts.max() - counts.min() <= 1


@settings(max_examples=50, deadline=None)
@given(ROWS, st.integers(2, 8))
def test_no_fold_has_more_of_a_lone_class_than_the_even_share_and_one_cluster(
    rows: list[tuple[int, int]], n_folds: int
) -> None:
    cluster, _ = table(rows)
    folds = fold_of(cluster, np.zeros(len(rows), dtype=int), n_folds)
    largest = np.unique(cluster.astype(str), return_counts=True)[1].max()
    # Graham's bound for filling the least full bin, whatever the order.
    assert np.bincount(folds).max() <= len(rows) / n_folds + largest


def test_families_and_lone_proteins_level_each_other() -> None:
    # One family of four, one of two, six alone: twelve over three folds is four each.
    cluster = np.array(["a"] * 4 + ["b"] * 2 + list("cdefgh"), dtype=object)
    folds = fold_of(cluster, np.zeros(12, dtype=int), 3)
    assert np.bincount(folds).tolist() == [4, 4, 4]


def test_every_class_is_spread_even_where_families_hold_two() -> None:
    rng = np.random.default_rng(1)
    cluster = np.array([f"c{name}" for name in rng.integers(0, 400, 3000)], dtype=object)
    stratum = rng.choice(4, 3000, p=[0.7, 0.2, 0.07, 0.03])
    folds = fold_of(cluster, stratum, 10)
    for class_ in range(4):
        counts = np.bincount(folds[stratum == class_], minlength=10)
        # A multinomial deal would miss by about √n; whole clusters are of ten.
        assert np.abs(counts - counts.mean()).max() <= 3


def test_ties_go_by_keys_of_names_not_by_the_alphabet() -> None:
    cluster = np.array([f"p{row:03d}" for row in range(100)], dtype=object)
    folds = fold_of(cluster, np.zeros(100, dtype=int), 10)
    assert folds.tolist() != [row % 10 for row in range(100)]
    assert np.bincount(folds).tolist() == [10] * 10


def test_folds_are_the_same_on_every_machine() -> None:
    cluster = np.array(["a", "a", "b", "c", "d", "e"], dtype=object)
    assert fold_of(cluster, np.array([0, 1, 0, 1, 0, 1]), 3).tolist() == [0, 0, 1, 2, 2, 1]


def test_fewer_clusters_than_folds_leave_folds_empty() -> None:
    folds = fold_of(np.array(["a", "b"], dtype=object), np.array([0, 0]), 5)
    assert sorted(folds.tolist()) == [0, 1]


@pytest.mark.parametrize("n_bins", [2, 3])
def test_the_greedy_fill_is_near_the_best_of_all(n_bins: int) -> None:
    rng = np.random.default_rng(2)
    excess = []
    choices = [np.array(choice) for choice in np.ndindex(*(n_bins,) * 6)]
    for _ in range(12):
        cluster = np.repeat(np.arange(6), rng.integers(1, 8, 6))
        stratum = rng.integers(0, 2, len(cluster))
        bins = fill(cluster, stratum, n_bins, np.arange(6))
        best = min(chi_square(choice[cluster], stratum, n_bins) for choice in choices)
        found = chi_square(bins[cluster], stratum, n_bins)
        # In units of n (bins − 1), the statistic of a complete separation.
        excess.append((found - best) / (len(cluster) * (n_bins - 1)))
    # Six lumps are the worst case for a greedy rule; a random deal misses by 0.22.
    assert max(excess) < 0.05
    assert np.mean(excess) < 0.02


def chi_square(bins: Any, stratum: Any, n_bins: int) -> float:
    total = 0.0
    for class_ in np.unique(stratum):
        counts = np.bincount(bins[stratum == class_], minlength=n_bins)
        total += ((counts - counts.mean()) ** 2 / counts.mean()).sum()
    return float(total)
