from __future__ import annotations

import warnings
from time import process_time
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.model_selection import StratifiedGroupKFold

from credence.relatives.pack import deviations, lower_bounds, pack, size_ratios

ROWS = st.lists(
    st.tuples(st.integers(0, 25), st.sampled_from(["HTJ", "Tail", "Other"]), st.booleans()),
    max_size=80,
)


def table(rows: list[tuple[int, str, bool]]) -> tuple[Any, Any, Any, Any]:
    ids = np.array([f"p{row:03d}" for row in range(len(rows))], dtype=object)
    cluster = np.array([f"c{name}" for name, _, _ in rows], dtype=object)
    class_ = np.array([name for _, name, _ in rows], dtype=object)
    return ids, cluster, class_, np.array([learnt for _, _, learnt in rows], dtype=bool)


@settings(max_examples=50, deadline=None)
@given(ROWS, st.integers(2, 12), st.booleans())
def test_every_protein_has_one_role_and_no_cluster_is_divided(
    rows: list[tuple[int, str, bool]], n_groups: int, test_group: bool
) -> None:
    ids, cluster, class_, learnt = table(rows)
    packing = pack(ids, cluster, class_, n_groups, is_training=learnt, test_group=test_group)
    used = np.isin(packing.role.astype(str), ["calibration", "test"])
    assert (packing.role[learnt] == "training").all()
    assert (packing.group[learnt] == "training").all()
    assert ((packing.group[~learnt] != "") == used[~learnt]).all()
    assert ((packing.reason != "") == (packing.role == "set_aside")).all()
    for name in set(cluster):
        members = cluster == name
        if learnt[members].any():
            assert set(packing.role[members]) <= {"training", "set_aside"}
            first = min(ids[members & learnt])
            reasons = set(packing.reason[members & ~learnt])
            assert reasons <= {f"relative of training protein {first!r}"}
        else:
            assert len(set(packing.group[members])) == 1
    assert ((packing.role == "test") == (packing.group == "test")).all()
    assert test_group or "test" not in packing.role


@settings(max_examples=50, deadline=None)
@given(ROWS, st.integers(2, 6), st.randoms(use_true_random=False))
def test_the_order_of_rows_is_nothing(
    rows: list[tuple[int, str, bool]], n_groups: int, shuffler: Any
) -> None:
    ids, cluster, class_, learnt = table(rows)
    before = pack(ids, cluster, class_, n_groups, is_training=learnt)
    order = list(range(len(rows)))
    shuffler.shuffle(order)
    after = pack(ids[order], cluster[order], class_[order], n_groups, is_training=learnt[order])
    for name in ("group", "role", "reason"):
        np.testing.assert_array_equal(getattr(after, name), getattr(before, name)[order])


@settings(max_examples=50, deadline=None)
@given(ROWS, st.integers(2, 6), st.booleans())
def test_names_that_sort_alike_change_nothing(
    rows: list[tuple[int, str, bool]], n_groups: int, by_cluster: bool
) -> None:
    ids, cluster, class_, learnt = table(rows)
    before = pack(ids, cluster, class_, n_groups, is_training=learnt, by_cluster=by_cluster)
    renamed = [np.array([f"z{name}" for name in names], dtype=object) for names in (ids, cluster)]
    after = pack(*renamed, class_, n_groups, is_training=learnt, by_cluster=by_cluster)
    np.testing.assert_array_equal(after.group, before.group)


def heavy_tailed(n_proteins: int) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(1)
    sizes: list[int] = []
    while sum(sizes) < n_proteins:
        sizes.append(1 if rng.random() < 0.7 else min(int(rng.zipf(1.9)) + 1, 300))
    home = rng.integers(0, 11, len(sizes))
    cluster = np.repeat(np.array([f"c{name}" for name in range(len(sizes))], dtype=object), sizes)
    class_ = np.repeat(home, sizes)
    strays = rng.random(len(class_)) < 0.03
    class_[strays] = rng.integers(0, 11, strays.sum())
    return np.array([f"p{row}" for row in range(len(class_))], dtype=object), cluster, class_


@pytest.mark.long
def test_20000_proteins_in_12_groups_are_even_within_seconds() -> None:
    ids, cluster, class_ = heavy_tailed(20_000)
    start = process_time()
    group = np.unique(pack(ids, cluster, class_, 12).group.astype(str), return_inverse=True)[1]
    assert process_time() - start < 5.0
    code = np.unique(cluster.astype(str), return_inverse=True)[1]
    excess = deviations(group, class_, 12) - lower_bounds(code, class_, 12)
    assert excess.mean() <= 0.02
    sizes = size_ratios(group, 12)
    assert sizes.min() >= 0.95
    assert sizes.max() <= 1.05


def test_classes_are_as_even_as_by_stratified_group_k_fold_and_groups_evener_in_size() -> None:
    ids, cluster, class_ = heavy_tailed(2_000)
    code = np.unique(cluster.astype(str), return_inverse=True)[1]
    ours = np.unique(pack(ids, cluster, class_, 12).group.astype(str), return_inverse=True)[1]
    theirs = np.empty(len(ids), dtype=np.int64)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that a class has fewer members than folds
        folds = StratifiedGroupKFold(12).split(ids, class_, cluster)
        for number, (_, test) in enumerate(folds):
            theirs[test] = number
    # One cluster is twice as large as a group, so that sizes cannot be even.
    assert np.bincount(code).max() > 1.5 * len(ids) / 12
    excess, excess_theirs = (
        deviations(group, class_, 12).mean() - lower_bounds(code, class_, 12).mean()
        for group in (ours, theirs)
    )
    assert excess <= excess_theirs + 0.0025
    assert np.ptp(size_ratios(ours, 12)) <= 0.85 * np.ptp(size_ratios(theirs, 12))


def test_clusters_can_be_weighed_instead_of_proteins() -> None:
    # One family of six and six of one: by clusters four and three, whatever they hold.
    cluster = np.array(["big"] * 6 + list("abcdef"), dtype=object)
    ids = np.array([f"p{row}" for row in range(12)], dtype=object)
    group = pack(ids, cluster, np.zeros(12, dtype=int), 2, by_cluster=True).group
    of_cluster = dict(zip(cluster, group, strict=True))
    assert sorted(list(of_cluster.values()).count(name) for name in ("1", "2")) == [3, 4]


def test_groups_are_balanced_in_proteins_not_in_clusters() -> None:
    # A family of six against six families of one: three each would be 8 to 3.
    cluster = np.array(["big"] * 6 + list("abcdef"), dtype=object)
    ids = np.array([f"p{row}" for row in range(12)], dtype=object)
    packing = pack(ids, cluster, np.zeros(12, dtype=int), 2)
    assert sorted(np.unique(packing.group.astype(str), return_counts=True)[1]) == [6, 6]


def test_ties_go_by_the_names_of_clusters() -> None:
    ids = np.array(["d", "a", "c", "b"], dtype=object)
    packing = pack(ids, ids, np.zeros(4, dtype=int), 2)
    assert dict(zip(ids, packing.group, strict=True)) == {"a": "1", "b": "2", "c": "1", "d": "2"}


def test_the_last_group_judges_where_a_test_group_is_wanted() -> None:
    ids = np.array([f"p{row}" for row in range(9)], dtype=object)
    packing = pack(ids, ids, np.zeros(9, dtype=int), 3, test_group=True)
    assert dict(zip(*np.unique(packing.group.astype(str), return_counts=True), strict=True)) == {
        "1": 3,
        "2": 3,
        "test": 3,
    }
    assert (packing.role == "calibration").sum() == 6


def test_every_group_has_its_share_of_every_class_on_a_heavy_tailed_set() -> None:
    rng = np.random.default_rng(3)
    sizes = np.minimum(rng.zipf(1.8, 600), 60)
    home = rng.choice(3, 600, p=[0.65, 0.25, 0.1])
    cluster = np.repeat(np.array([f"c{name}" for name in range(600)], dtype=object), sizes)
    class_ = np.repeat(home, sizes)
    ids = np.array([f"p{row}" for row in range(len(cluster))], dtype=object)
    groups = pack(ids, cluster, class_, 12).group.astype(str)
    n_groups = np.unique(groups, return_counts=True)[1]
    assert n_groups.min() >= 0.95 * len(ids) / 12
    assert n_groups.max() <= 1.05 * len(ids) / 12
    # What the largest cluster of a class brings above its share, others in that group
    # have to give up for its size.
    forced = max(sizes[home == value].max() - (class_ == value).sum() / 12 for value in range(3))
    for value in range(3):
        counts = np.unique(groups[class_ == value], return_counts=True)[1]
        largest = sizes[home == value].max()
        even = (class_ == value).sum() / 12
        assert len(counts) == 12
        # Whole clusters cannot do better than the largest of them allows; 3 % is what
        # the search gives up of a class to make the groups' sizes even.
        assert counts.max() <= max(np.ceil(1.03 * even), largest)
        assert counts.min() >= np.floor(0.95 * even) - max(forced, 0.0) - 1
