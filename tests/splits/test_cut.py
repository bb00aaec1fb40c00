from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audits import audit
from credence.findings import LargeCluster
from credence.proteins import Proteins
from credence.relatives import cut as cutting
from credence.relatives.alignment import Library
from credence.relatives.cut import Cut, cut_oversized
from credence.relatives.pairs import Pairs, Thresholds
from credence.relatives.strict import SplitOptions, split
from credence.simulate.sequences import codes, mutated, written
from small_families import objects, random_protein

RELATIVES = Thresholds()
N_FAMILY = 24


def family(rng: np.random.Generator, size: int, least: float = 0.8) -> list[str]:
    ancestor = random_protein(rng, 70)
    return [written(mutated(codes(ancestor), rng.uniform(least, 0.95), rng)) for _ in range(size)]


def bridged(seed: int, n_fusions: int = 1) -> Proteins:
    """Return two families and fusions of a member of each: relatives of both, as they cover."""
    rng = np.random.default_rng(seed)
    one, other = family(rng, N_FAMILY), family(rng, N_FAMILY)
    fused = [one[at] + other[at] for at in range(n_fusions)]
    ids = [f"a{at:02d}" for at in range(N_FAMILY)] + [f"b{at:02d}" for at in range(N_FAMILY)]
    ids += [f"fusion{at}" for at in range(n_fusions)]
    return Proteins(ids=objects(ids), sequences=objects([*one, *other, *fused]))


def cut_all(proteins: Proteins, most: float, n_apart: int) -> Cut:
    everyone = np.ones(proteins.n_proteins, dtype=bool)
    cluster = np.full(proteins.n_proteins, "x", dtype=object)
    return cut_oversized(proteins, cluster, everyone, most, n_apart, RELATIVES)


def test_two_families_that_a_fusion_connects_are_parted_by_setting_it_aside() -> None:
    proteins = bridged(1)
    found = cut_all(proteins, most=30.0, n_apart=2)
    gone = proteins.ids[found.reason != ""].tolist()
    assert gone == ["fusion0"]
    assert found.reason[-1].startswith("connects parts of a cluster larger than a group 'x': 'a")
    assert " and 'b" in found.reason[-1]
    assert len(set(found.cluster[:N_FAMILY])) == len(set(found.cluster[N_FAMILY:-1])) == 1
    assert set(found.cluster[:-1]) == {"x/1", "x/2"}
    assert (found.n_cut, found.whole) == (1, ())
    group = np.where(found.reason == "", found.cluster, "")
    assert audit(proteins, group, RELATIVES).pairs.n_pairs == 0


def test_a_cut_does_not_depend_on_the_order_of_rows() -> None:
    proteins = bridged(2, n_fusions=2)
    order = np.random.default_rng(3).permutation(proteins.n_proteins)
    found, turned = cut_all(proteins, 30.0, 4), cut_all(proteins.take(order), 30.0, 4)
    assert (turned.cluster == found.cluster[order]).all()
    assert (turned.reason == found.reason[order]).all()


def test_a_family_without_a_weak_place_is_left_whole() -> None:
    rng = np.random.default_rng(4)
    texts = family(rng, 40)
    proteins = Proteins(ids=objects([f"p{at:02d}" for at in range(40)]), sequences=objects(texts))
    found = cut_all(proteins, most=10.0, n_apart=40)
    assert (found.reason == "").all()
    assert set(found.cluster) == {"x"}
    # Each is a relative of every other: what is set aside is all of a branch.
    assert found.whole == (LargeCluster(cluster="x", n=40, price=0, parted=0),)


def test_no_more_are_set_aside_than_the_limit_allows() -> None:
    proteins = bridged(5, n_fusions=2)
    found = cut_all(proteins, most=30.0, n_apart=1)
    assert (found.reason == "").all()
    assert found.whole == (
        LargeCluster(cluster="x", n=proteins.n_proteins, price=2, parted=N_FAMILY),
    )


def test_what_only_the_looser_graph_connected_parts_for_nothing() -> None:
    rng = np.random.default_rng(6)
    proteins = Proteins(
        ids=objects([f"p{at:02d}" for at in range(40)]),
        sequences=objects([*family(rng, 20), *family(rng, 20)]),
    )
    found = cut_all(proteins, most=20.0, n_apart=0)
    assert (found.reason == "").all()
    assert len(set(found.cluster[:20])) == len(set(found.cluster[20:])) == 1
    assert found.cluster[0] != found.cluster[-1]


def test_a_component_too_large_to_align_is_left_and_said_to_be(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cutting, "MOST_TEXTS", 10)
    proteins = bridged(7)
    found = cut_all(proteins, most=30.0, n_apart=2)
    assert found.whole == (LargeCluster(cluster="x", n=proteins.n_proteins, is_searched=False),)


def test_near_copies_are_left_whole_without_aligning_all_of_their_pairs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cutting, "CELLS_OF_FEW", 1e6)
    rows: list[int] = []
    relatives = Library.relatives

    def counted(self: Library, *given: Any, **more: Any) -> Pairs:
        rows.append(len(self.texts))
        return relatives(self, *given, **more)

    monkeypatch.setattr(Library, "relatives", counted)
    texts = family(np.random.default_rng(10), 200, least=0.94)
    proteins = Proteins(ids=objects([f"p{at:03d}" for at in range(200)]), sequences=objects(texts))
    found = cut_all(proteins, most=30.0, n_apart=20)
    assert (found.reason == "").all()
    (left,) = found.whole
    assert rows == [left.n_tried]
    assert 15 < left.n_tried < 25
    assert (left.n, left.price, left.parted, left.is_searched) == (200, 0, 0, True)


def test_a_few_of_a_component_do_not_hide_a_cheap_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cutting, "CELLS_OF_FEW", 1e6)
    proteins = bridged(1)
    found = cut_all(proteins, most=30.0, n_apart=2)
    assert (found.n_cut, found.whole) == (1, ())
    monkeypatch.setattr(cutting, "MOST_CELLS_OF_CUT", 1e6)
    left = cut_all(proteins, most=30.0, n_apart=2)
    assert left.whole == (LargeCluster(cluster="x", n=proteins.n_proteins, is_searched=False),)


def test_a_split_cuts_audits_and_reports_what_it_cut() -> None:
    proteins = bridged(8)
    cluster = np.full(proteins.n_proteins, "x", dtype=object)
    class_ = np.zeros(proteins.n_proteins, dtype=int)
    options = SplitOptions(n_groups=2, cells=None, most_apart=0.1)
    found = split(proteins, cluster, class_, options)
    assert (found.n_cut, found.audit.is_crossing.sum()) == (1, 0)
    assert found.audit.is_examined.sum() == 48
    assert sorted(np.unique(found.packing.group.astype(str), return_counts=True)[1]) == [1, 24, 24]
    never = SplitOptions(n_groups=2, cells=None, cut="never")
    left = split(proteins, cluster, class_, never)
    assert len(set(left.packing.group)) == 1
    assert left.whole == (LargeCluster(cluster="x", n=proteins.n_proteins, is_searched=False),)
    # Nobody can align without sequences: what is too large is only told.
    alone = split(proteins, cluster, class_, options, is_audited=False)
    assert alone.whole == (LargeCluster(cluster="x", n=proteins.n_proteins, is_searched=False),)


def test_joining_that_makes_a_cluster_too_large_ends_in_a_cut() -> None:
    proteins = bridged(9)
    options = SplitOptions(n_groups=2, cells=None, most_apart=0.1, strict="join")
    # Clusters that know nothing: each protein its own; relatives are joined first.
    found = split(proteins, proteins.ids, np.zeros(proteins.n_proteins, dtype=int), options)
    assert found.audit.is_crossing.sum() == 0
    apart = proteins.ids[found.packing.role == "set_aside"].tolist()
    assert apart == ["fusion0"]


@settings(max_examples=50, deadline=None)
@given(st.sets(st.tuples(st.integers(0, 4), st.integers(5, 9)), max_size=14))
def test_the_cover_between_a_branch_and_the_rest_is_the_smallest(
    pairs: set[tuple[int, int]],
) -> None:
    first = np.array([one for one, _ in sorted(pairs)], dtype=np.int64)
    second = np.array([other for _, other in sorted(pairs)], dtype=np.int64)
    cover = set(cutting._cover(first, second, np.arange(10) < 5).tolist())
    assert all(one in cover or other in cover for one, other in pairs)
    smallest = next(
        size
        for size in range(11)
        for chosen in combinations(range(10), size)
        if all(one in chosen or other in chosen for one, other in pairs)
    )
    assert len(cover) == smallest


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.floats(0.02, 0.3))
def test_whatever_the_graph_no_pair_is_left_between_parts(seed: int, density: float) -> None:
    rng = np.random.default_rng(seed)
    first, second = np.triu_indices(30, 1)
    # Two or three groups that hang together, with a few pairs between them.
    home = rng.integers(0, 3, 30)
    is_pair = rng.random(len(first)) < np.where(home[first] == home[second], 0.6, density / 5)
    first, second = first[is_pair], second[is_pair]
    share = rng.uniform(0.4, 1.0, len(first))
    pairs = Pairs(
        first=first,
        second=second,
        identity=share,
        coverage=share.copy(),
        coverage_longer=share.copy(),
    )
    weight = rng.integers(1, 4, 30)
    component = cutting._Component(weight, pairs, float(weight.sum()) / 3, 10)
    part = component.numbered()
    assert weight[part < 0].sum() <= 10
    kept = (part[first] >= 0) & (part[second] >= 0)
    assert (part[first[kept]] == part[second[kept]]).all()
    message = {int(part[row]): size for row, size, _, _ in component.left}
    for name in range(part.max() + 1):
        size = int(weight[part == name].sum())
        assert size <= cutting.MOST_FILLED * weight.sum() / 3 or message[name] == size


def linked(pairs: list[tuple[int, int]]) -> Pairs:
    first, second = np.array(pairs, dtype=np.int64).T.copy()
    share = np.full(len(pairs), 0.5)
    return Pairs(
        first=first,
        second=second,
        identity=share,
        coverage=share.copy(),
        coverage_longer=share.copy(),
    )


def test_pairs_inside_some_rows_are_those_of_two_of_them() -> None:
    whole = cutting._Component(np.ones(4, dtype=int), linked([(0, 1), (1, 2), (2, 3)]), 9.0, 0)
    inside = whole._inside(np.array([1, 2]))
    assert (inside.first.tolist(), inside.second.tolist()) == ([0], [1])


def test_who_was_set_aside_returns_to_the_part_of_all_its_relatives_while_it_fits() -> None:
    # Parts of 0, 1 and of 2, 3; set aside: 4 and 6 beside 0, 5 between the two, 7 beside nobody.
    pairs = linked([(0, 1), (2, 3), (0, 4), (0, 5), (2, 5), (0, 6)])
    component = cutting._Component(np.ones(8, dtype=int), pairs, 9.0, 0)
    component.part = np.array([0, 0, 1, 1, 1, 0, 1, 1])
    component.gone = np.arange(8) >= 4
    component.most = 3.0  # so that a part has three
    component.take_back()
    assert np.flatnonzero(component.gone).tolist() == [5, 6]
    assert component.part[[4, 7]].tolist() == [0, 1]
    # Of sizes 3 and 3 the one of the first row is the first.
    assert component.numbered().tolist() == [0, 0, 1, 1, 0, -1, -1, 1]


@pytest.mark.parametrize(("n_apart", "gone", "n_parts"), [(0, 0, 1), (1, 1, 2), (2, 2, 3)])
def test_what_one_cut_sets_aside_is_no_longer_there_for_the_next(
    n_apart: int, gone: int, n_parts: int
) -> None:
    # Three sequences of 20 proteins each, in a row, and two proteins that connect them.
    weight = np.array([20, 1, 20, 1, 20])
    pairs = linked([(0, 1), (1, 2), (2, 3), (3, 4)])
    component = cutting._Component(weight, pairs, 20.0, n_apart)
    assert component.gone.sum() == gone
    assert component.n_apart == n_apart - gone
    assert len(set(component.numbered()) - {-1}) == n_parts
    assert len(component.left) == (n_parts < 3)


def test_of_many_branches_of_a_tree_a_hundred_and_twenty_are_looked_at() -> None:
    # Of 200 sequences in a chain: a tree has 198 branches of two or more besides the whole.
    pairs = linked([(at, at + 1) for at in range(199)])
    branches = cutting._branches(pairs, pairs.identity, np.ones(200, dtype=int), 0.0)
    sizes = [min(int(one.sum()), 200 - int(one.sum())) for one in branches]
    assert len(sizes) == 120
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] == 2
