from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audits import audit
from credence.calibrators.crossfit import fill
from credence.evaluation.split_findings import describe_split
from credence.predictions import UNKNOWN_CLASS
from credence.proteins import Proteins
from credence.relatives import strict
from credence.relatives.alignment import Library
from credence.relatives.audit import compare, in_hash_order, likely_to_cross, most_crossing
from credence.relatives.copies import Copies
from credence.relatives.pack import Packing, deviations, improved, lower_bounds, size_ratios
from credence.relatives.pairs import Pairs, Thresholds, distinct, joined, no_pairs
from credence.relatives.strict import SplitOptions, fewest, least, split, split_by_recipe
from credence.releases.attaching import attach
from small_families import families, objects

RELATIVES = Thresholds()


def brute_force(proteins: Proteins, group: np.ndarray) -> set[int]:
    """Return who has a relative elsewhere, with every pair aligned one by one."""
    crossing = set()
    for one in range(proteins.n_proteins):
        for other in range(one + 1, proteins.n_proteins):
            if group[one] == group[other]:
                continue
            found = distinct(proteins.sequences[[one, other]])
            if len(found.texts) == 1:
                crossing |= {one, other}
                continue
            pairs = Library(texts=found.texts).relatives()
            if pairs.n_pairs and pairs.at(RELATIVES)[0]:
                crossing |= {one, other}
    return crossing


def test_the_audit_finds_what_every_pair_aligned_alone_shows() -> None:
    rng = np.random.default_rng(11)
    proteins = families(rng, 15, 4, 80)
    group = rng.choice(np.array(["1", "2", "3"], dtype=object), proteins.n_proteins)
    found = audit(proteins, group, RELATIVES)
    expected = brute_force(proteins, group)
    assert set(np.flatnonzero(found.is_crossing)) == expected
    assert len(expected) > 20
    some = np.arange(0, 60, 7)
    sampled = audit(proteins, group, RELATIVES, some, threads=2)
    crossing = set(np.flatnonzero(sampled.is_crossing & sampled.is_examined))
    assert crossing == expected & set(some.tolist())
    assert sampled.is_examined.sum() == len(some)


def test_pairs_by_chance_are_counted_where_that_is_asked_for_alone() -> None:
    proteins = families(np.random.default_rng(11), 2, 2, 60)
    found = audit(proteins, objects(["1", "2", "1", "2"]), RELATIVES)
    assert (found.n_counted, found.n_by_chance) == (0, 0)


def test_copies_in_two_groups_are_met_and_proteins_without_a_group_are_not() -> None:
    text = "MKWVTFISLLLLFSSAYSRGVFRRDTHKSEIAHRFKDLGE"
    proteins = Proteins(ids=objects(["a", "b", "c"]), sequences=objects([text, text, text]))
    found = audit(proteins, objects(["1", "2", ""]), RELATIVES)
    assert found.is_crossing.tolist() == [True, True, False]
    assert found.pairs.identity.tolist() == [1.0]
    assert np.isnan(found.nearest[2])


def summed(n_found: int, n_sampled: int, n_all: int, level: float) -> int:
    """Return the bound by the definition: each number is tried, in whole numbers."""
    some = [
        n_crossing
        for n_crossing in range(n_found, n_all - n_sampled + n_found + 1)
        if sum(
            comb(n_crossing, k) * comb(n_all - n_crossing, n_sampled - k)
            for k in range(n_found + 1)
        )
        > Fraction(1.0 - level) * comb(n_all, n_sampled)
    ]
    return max(some)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 40), st.integers(0, 40), st.integers(0, 40), st.sampled_from([0.95, 0.975]))
def test_the_bound_is_that_of_the_hypergeometric_law_summed(
    n_found: int, n_more: int, n_rest: int, level: float
) -> None:
    n_sampled, n_all = n_found + n_more, n_found + n_more + n_rest
    assert most_crossing(n_found, n_sampled, n_all, level) == summed(
        n_found, n_sampled, n_all, level
    )


def test_of_20_000_proteins_9_014_are_needed_for_two_in_ten_thousand() -> None:
    assert most_crossing(0, 9_014, 20_000) / 20_000 == 0.0002
    assert most_crossing(0, 9_013, 20_000) / 20_000 > 0.0002
    assert round(most_crossing(0, 1_000, 20_000) / 20_000, 3) == 0.003


def test_the_order_depends_on_ids_and_not_on_where_they_stand() -> None:
    ids = objects([f"p{row}" for row in range(50)])
    everyone = np.ones(50, dtype=bool)
    forward = ids[in_hash_order(ids, everyone)]
    assert (forward == ids[::-1][in_hash_order(ids[::-1], everyone)]).all()
    assert (forward != ids).any()
    assert (ids[in_hash_order(ids, everyone & (ids != forward[0]))] == forward[1:]).all()


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Return a list to which each alignment adds its cells."""
    cells: list[float] = []
    against, align = Library._against, Library._align

    def watched(self: Library, row: int, others: np.ndarray, mode: str) -> Any:
        cells.append(float(self.lengths[row] * self.lengths[others].sum()))
        return against(self, row, others, mode)

    def traced(self: Library, group: tuple[int, list[int]]) -> Any:
        cells.append(12.0 * float(self.lengths[group[0]] * self.lengths[group[1]].sum()))
        return align(self, group)

    monkeypatch.setattr(Library, "_against", watched)
    monkeypatch.setattr(Library, "_align", traced)
    return cells


@pytest.mark.parametrize("chance", [1e-6, None])
def test_an_audit_stays_within_its_budget_and_examines_a_prefix_of_the_order(
    counted: list[float], chance: float | None
) -> None:
    proteins = families(np.random.default_rng(16), 30, 3, 60)
    class_, order = np.zeros(90, dtype=int), in_hash_order(proteins.ids, np.ones(90, dtype=bool))
    thresholds, before = Thresholds(most_expected=chance), -1
    for cells in (1e3, 2e6, 8e6, 2e7, 1e9):
        counted.clear()
        options = SplitOptions(n_groups=4, thresholds=thresholds, strict="report", cells=cells)
        examined = split(proteins, proteins.ids, class_, options).audit.is_examined
        assert sum(counted) <= cells
        n = int(examined.sum())
        assert examined[order[:n]].all()
        assert n >= before
        before = n
    assert before == 90


def test_what_is_scored_and_not_aligned_ends_the_prefix() -> None:
    proteins = families(np.random.default_rng(17), 8, 4, 60)
    group = objects([str(row % 2) for row in range(32)])
    rows = in_hash_order(proteins.ids, np.ones(32, dtype=bool))
    whole = compare(proteins, group, RELATIVES, rows)
    for cells in np.linspace(1e5, 3e6, 15):
        found = compare(proteins, group, RELATIVES, rows, 1, float(cells))
        alone = compare(proteins, group, RELATIVES, rows[: found.is_examined.sum()])
        assert (alone.is_examined == found.is_examined).all()
        assert (alone.pairs.identity == found.pairs.identity).all()
    assert whole.is_examined.all()


def test_copies_are_examined_in_their_own_turn() -> None:
    # A sequence that many carry would be drawn more often than it should.
    text = families(np.random.default_rng(18), 5, 1, 60).sequences
    proteins = Proteins(
        ids=objects([f"p{row}" for row in range(30)]), sequences=text[np.arange(30) % 5]
    )
    group = objects([str(row // 15) for row in range(30)])
    rows = in_hash_order(proteins.ids, np.ones(30, dtype=bool))
    found = compare(proteins, group, RELATIVES, rows, 1, 60.0 * 60 * 8)
    n = int(found.is_examined.sum())
    assert found.is_examined[rows[:n]].all()
    assert 0 < n < 30


def test_relatives_that_share_words_are_met_before_the_sample() -> None:
    rng = np.random.default_rng(19)
    ends = families(rng, 40, 2, 80)
    group = objects([str(row % 2) for row in range(80)])
    pairs, spent = likely_to_cross(ends, group, RELATIVES, 1, 2e6)
    assert 0.0 < spent <= 2e6
    met = {frozenset(pair) for pair in zip(pairs.first, pairs.second, strict=True)}
    everything = audit(ends, group, RELATIVES)
    all_ = set(zip(everything.pairs.first, everything.pairs.second, strict=True))
    close = {
        frozenset(pair)
        for pair, identity in zip(all_, everything.pairs.identity, strict=True)
        if identity >= 0.0
    }
    assert met <= close
    assert len(met) > 0.5 * len(close) > 10
    # Two in ten of all that a sample of this price would have met.
    assert spent < 0.1 * 80 * 80 * 80 * 80


def test_the_bound_is_of_the_sample_alone_and_what_was_met_is_counted_beside_it() -> None:
    proteins = families(np.random.default_rng(20), 60, 2, 60)
    options = SplitOptions(n_groups=4, strict="report", cells=8e6)
    found = split(proteins, proteins.ids, np.zeros(120, dtype=int), options)
    n = found.audit.is_examined.sum()
    n_found = int((found.audit.is_crossing & found.audit.is_examined).sum())
    assert found.n_unseen == summed(n_found, n, 120, 0.95) - n_found
    assert 0 < n < 60
    assert found.audit.is_crossing.sum() > n_found


@pytest.mark.parametrize("cells", [8e6, None])
def test_what_the_audit_counts_by_class_is_what_it_counts_in_all(cells: float | None) -> None:
    proteins = families(np.random.default_rng(20), 60, 2, 60)
    is_training = np.arange(120) % 12 == 0  # of families that are to be split as well
    class_ = np.where(is_training, UNKNOWN_CLASS, np.arange(120) % 3)
    options = SplitOptions(n_groups=4, strict="report", cells=cells)
    found = split(proteins, proteins.ids, class_, options, is_training)
    finding = describe_split(proteins.ids, class_, ("A", "B", "C"), found, options, True)
    assert finding.n_sampled == sum(entry.n_examined for entry in finding.classes)
    assert finding.n_crossing_sampled == sum(entry.n_crossing for entry in finding.classes) > 0
    assert finding.is_exhaustive == (cells is None) == (finding.n_sampled == 110)


def test_what_joining_moved_is_as_an_audit_of_the_final_groups_finds_it() -> None:
    # Clusters that hold half of each family: many are joined, and all move.
    proteins = families(np.random.default_rng(21), 24, 4, 80)
    cluster = objects([f"{row // 2}" for row in range(96)])
    options = SplitOptions(n_groups=4, strict="join", cells=2e7)
    found = split(proteins, cluster, np.arange(96) % 2, options)
    assert found.n_joined > 0
    examined = np.flatnonzero(found.audit.is_examined)
    again = audit(proteins, found.packing.group, RELATIVES, examined)
    assert 0 < len(examined) < 96
    assert again.is_crossing.sum() == found.audit.is_crossing.sum() == 0
    assert found.audit.nearest.tolist() == pytest.approx(again.nearest.tolist(), nan_ok=True)
    everyone = audit(proteins, found.packing.group, RELATIVES)
    assert everyone.is_crossing.sum() <= found.n_unseen


def near_copies(rng: np.random.Generator, n_copies: int) -> Proteins:
    """Return near copies of relatives of some proteins, of two strangers, and of a fragment."""
    texts = [*families(rng, 4, 2, 80).sequences]
    texts.append(texts[0][:60])
    many = [text for text in texts for _ in range(n_copies)]
    for row, text in enumerate(many):
        for place in rng.integers(0, len(text), 2):
            text = text[:place] + str(rng.choice(list("ARNDX"))) + text[place + 1 :]
        many[row] = text
    return Proteins(
        ids=objects([f"p{row:03d}" for row in range(len(many))]), sequences=objects(many)
    )


def test_near_copies_behind_one_head_are_audited_exactly(
    counted: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    proteins = near_copies(np.random.default_rng(23), 12)
    group = objects([str(row // 12 % 3) for row in range(proteins.n_proteins)])
    rows = in_hash_order(proteins.ids, np.ones(proteins.n_proteins, dtype=bool))
    behind = compare(proteins, group, RELATIVES, rows)
    fewer = sum(counted)
    counted.clear()
    texts = distinct(proteins.sequences).texts
    copies = Copies(Library(texts=texts), 1e-6)
    assert len(copies.size) < 0.5 * len(texts)
    # No text scores more with another than its head does, and both slacks.
    first, second = np.triu_indices(len(texts), 1)
    most = copies.heads.scores(copies.head[first], copies.head[second])
    scores = Library(texts=texts).scores(first, second)
    assert (scores <= most + copies.slack[first] + copies.slack[second]).all()
    counted.clear()
    monkeypatch.setattr(Copies, "undecided", lambda self, rows, others, cells: (others, cells))
    alone = compare(proteins, group, RELATIVES, rows)
    assert fewer < sum(counted)
    for name in ("first", "second", "identity", "coverage"):
        assert (getattr(behind.pairs, name) == getattr(alone.pairs, name)).all()
    assert behind.is_examined.all()


def test_an_audit_is_the_same_with_four_threads() -> None:
    proteins = families(np.random.default_rng(22), 40, 3, 60)
    made = [
        split(proteins, proteins.ids, np.zeros(120, dtype=int), options)
        for options in (
            SplitOptions(n_groups=4, cells=2e7),
            SplitOptions(n_groups=4, cells=2e7, threads=4),
        )
    ]
    one, four = (
        [found.packing.group.tolist(), found.audit.nearest.tobytes(), found.n_unseen]
        for found in made
    )
    assert one == four


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=14))
def test_the_cover_is_the_smallest_of_all(pairs: list[tuple[int, int]]) -> None:
    pairs = [pair for pair in pairs if pair[0] != pair[1]]
    first = np.array([pair[0] for pair in pairs], dtype=np.int64)
    second = np.array([pair[1] for pair in pairs], dtype=np.int64)
    gone = set(fewest(first, second, 8, np.zeros(8, dtype=bool)).tolist())
    assert all(a in gone or b in gone for a, b in pairs)
    smallest = min(
        bin(mask).count("1")
        for mask in range(256)
        if all(mask >> a & 1 or mask >> b & 1 for a, b in pairs)
    )
    assert len(gone) == smallest
    assert smallest / 2 <= least(first, second, 8, np.zeros(8, dtype=bool)) <= smallest


def test_what_stays_is_never_set_aside() -> None:
    stays = np.array([True, False, False])
    gone = fewest(np.array([0, 0]), np.array([1, 2]), 3, stays)
    assert gone.tolist() == [1, 2]


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 6))
def test_no_dealing_gets_below_the_bound_and_the_search_makes_nothing_worse(
    seed: int, n_groups: int
) -> None:
    rng = np.random.default_rng(seed)
    cluster = np.unique(rng.integers(0, 30, 120), return_inverse=True)[1]
    class_ = np.unique(rng.integers(0, 3, 120), return_inverse=True)[1]
    n_clusters = cluster.max() + 1
    rank = np.arange(n_clusters)
    start = fill(cluster, class_, n_groups, rank)
    held = np.zeros((n_clusters, class_.max() + 1))
    np.add.at(held, (cluster, class_), 1.0)
    after = improved(start, held, n_groups, rank)
    bounds = lower_bounds(cluster, class_, n_groups)
    for assigned in (start, after, rng.integers(0, n_groups, n_clusters)):
        assert (deviations(assigned[cluster], class_, n_groups) >= bounds - 1e-12).all()

    def cost(assigned: np.ndarray) -> float:
        counts = np.zeros((n_groups, held.shape[1]))
        np.add.at(counts, assigned, held)
        away = np.abs(counts * n_groups / counts.sum(axis=0) - 1.0)
        sizes = np.abs(counts.sum(axis=1) * n_groups / counts.sum() - 1.0)
        crowded = np.maximum(sizes - 0.04, 0.0)
        too_large = held.sum(axis=1).max() * n_groups > 1.04 * counts.sum()
        steep = 0.01 if too_large else np.inf
        crowding = np.where(crowded < steep, crowded**2, 2 * 0.01 * crowded - 0.01**2)
        return float((away + 0.01 * away**2).sum() + 400.0 * crowding.sum())

    assert cost(after) <= cost(start) + 1e-9


def test_group_sizes_are_told_over_the_mean() -> None:
    assert size_ratios(np.array([0, 0, 0, 1]), 2).tolist() == [1.5, 0.5]


def test_joining_ends_with_nothing_crossing_and_nobody_set_aside() -> None:
    proteins = families(np.random.default_rng(12), 24, 3, 80)
    alone = proteins.ids  # clusters that know nothing
    class_ = np.arange(72) % 2
    options = SplitOptions(n_groups=4, strict="join", cells=None)
    found = split(proteins, alone, class_, options)
    assert found.audit.is_crossing.sum() == 0
    assert found.audit.is_examined.sum() == 72
    assert (found.packing.role == "calibration").all()
    assert found.n_joined > 0
    assert brute_force(proteins, found.packing.group) == set()
    # Nor do relatives in one group stay in two clusters, which folds might part.
    assert brute_force(proteins, found.cluster) == set()
    turned = split(proteins.take(np.arange(72)[::-1]), alone[::-1], class_[::-1], options)
    assert (turned.packing.group[::-1] == found.packing.group).all()


def test_nobody_is_set_aside_where_joined_clusters_fit_in_a_group() -> None:
    proteins = families(np.random.default_rng(13), 12, 2, 80)
    options = SplitOptions(n_groups=3, strict="set_aside", cells=None)
    found = split(proteins, proteins.ids, np.zeros(24, dtype=int), options)
    assert (found.audit.is_crossing.sum(), found.audit.is_examined.sum()) == (0, 24)
    assert found.n_joined > 0


def test_setting_aside_names_the_relative_and_ends_with_nothing_crossing() -> None:
    # Two families in halves that fill the groups, so that none can be joined.
    proteins = families(np.random.default_rng(13), 2, 8, 80)
    found = distinct(proteins.sequences)
    pairs = Library(texts=found.texts).relatives()
    pairs = pairs.take(pairs.at(Thresholds()))
    cluster = objects([f"{row // 8}{'ab'[row % 8 // 4]}" for row in range(16)])
    options = SplitOptions(n_groups=4, strict="set_aside", cells=None, cut="never")
    split_ = split(proteins, cluster, np.zeros(16, dtype=int), options)
    apart = np.flatnonzero(split_.packing.role == "set_aside")
    assert split_.audit.is_crossing.sum() == 0
    assert split_.n_joined == 0
    assert all("relative of protein 'p" in split_.packing.reason[row] for row in apart)
    # As few as touch every pair of relatives between the halves of a family.
    rows = np.array([np.flatnonzero(found.code == code)[0] for code in range(16)])
    limits = rows[pairs.first], rows[pairs.second]
    between = cluster[limits[0]] != cluster[limits[1]]
    edges = list(zip(limits[0][between].tolist(), limits[1][between].tolist(), strict=True))
    fewest_of_all = min(
        size
        for size in range(17)
        for gone in combinations(range(16), size)
        if all(one in gone or other in gone for one, other in edges)
    )
    assert len(apart) == fewest_of_all > 0
    assert split_.n_apart == len(apart) >= split_.n_least > 0


def test_relatives_of_training_proteins_are_set_aside_by_name() -> None:
    proteins = families(np.random.default_rng(14), 6, 2, 80)
    learnt = np.zeros(12, dtype=bool)
    learnt[1] = True
    nothing = np.full(12, "", dtype=object)
    options = SplitOptions(n_groups=2, strict="join", cells=None)
    found = split(proteins, proteins.ids, np.zeros(12, dtype=int), options, learnt, nothing)
    assert found.packing.role[0] == "set_aside"
    assert found.packing.reason[0].startswith("relative of training protein 'p001' (identity 0.")
    assert (found.packing.role == "set_aside").sum() == 1


def links(pairs: set[tuple[int, int]]) -> Pairs:
    rows = np.array(sorted(pairs), dtype=np.int64).reshape(-1, 2)
    share = np.full(len(rows), 0.5)
    return Pairs(
        first=rows[:, 0],
        second=rows[:, 1],
        identity=share,
        coverage=share.copy(),
        coverage_longer=share.copy(),
    )


PAIRS = st.sets(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=8)


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.tuples(PAIRS, PAIRS), min_size=1, max_size=3), st.randoms(use_true_random=False)
)
def test_old_proteins_never_move_and_no_relative_crosses(
    troves: list[tuple[set[tuple[int, int]], set[tuple[int, int]]]], random: object
) -> None:
    ids = objects([f"old{row}" for row in range(6)])
    cluster, group = ids.copy(), objects(["1", "1", "2", "2", "3", "3"])
    for number, (old, new) in enumerate(troves):
        names = [f"new{number}.{row}" for row in range(6)]
        random.shuffle(names)  # type: ignore[attr-defined]
        new_ids = objects(names)
        among = {(a, b) for a, b in new if a < b}
        before = (ids.copy(), cluster.copy(), group.copy())
        to_old = links({(a, b) for a, b in old})
        found = attach(ids, cluster, group, new_ids, to_old, links(among))
        for now, then in zip((ids, cluster, group), before, strict=True):
            assert (now == then).all()
        stays = found.reason == ""
        for a, b in old:
            if stays[a] and group[b]:
                assert found.group[a] == group[b]
        for a, b in among:
            if stays[a] and stays[b]:
                assert found.group[a] == found.group[b]
        assert (found.group[~stays] == "").all()
        kept = np.where(found.group == "", "1", found.group)
        ids = np.concatenate([ids, new_ids])
        cluster = np.concatenate([cluster, found.cluster])
        group = np.concatenate([group, np.where(stays, kept, "")])


def test_a_bridge_of_two_groups_is_set_aside_and_its_neighbours_stay() -> None:
    # new 0 – new 1 – new 2, with 0 at group 1 and 2 at group 2: one of them goes.
    ids, group = objects(["a", "b"]), objects(["1", "2"])
    to_old = links({(0, 0), (2, 1)})
    found = attach(ids, ids, group, objects(["x", "y", "z"]), to_old, links({(0, 1), (1, 2)}))
    assert (found.reason != "").sum() == 1
    assert found.reason[found.reason != ""][0] == "bridges groups 1, 2"
    free = attach(ids, ids, group, objects(["x"]), no_pairs(), joined([]))
    assert (free.cluster.tolist(), free.group.tolist()) == (["x"], [""])


def test_a_tangle_too_large_for_the_least_cover_gets_a_greedy_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(strict, "MOST_EXACT", 3)
    # 7 is in most pairs; then 2 in those that are left; 8 and 9 are a tangle of their own.
    first = np.array([7, 7, 7, 2, 2, 8])
    second = np.array([1, 2, 3, 4, 5, 9])
    assert fewest(first, second, 10, np.zeros(10, dtype=bool)).tolist() == [2, 7, 8]


def test_who_stays_when_others_are_set_aside_keeps_its_group(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Two families in halves that fill the groups, so that none can be joined.
    proteins = families(np.random.default_rng(13), 2, 8, 80)
    cluster = objects([f"{row // 8}{'ab'[row % 8 // 4]}" for row in range(16)])
    packings, pack = [], strict.pack

    def pack_once(*given: Any, **more: Any) -> Packing:
        packings.append(pack(*given, **more))
        return packings[-1]

    monkeypatch.setattr(strict, "pack", pack_once)
    options = SplitOptions(n_groups=4, strict="set_aside", cells=None, cut="never")
    found = split(proteins, cluster, np.zeros(16, dtype=int), options).packing
    stays = found.role != "set_aside"
    assert 0 < stays.sum() < 16
    assert len(packings) == 1  # packed anew, other relatives would be in two groups
    assert (found.group[stays] == packings[0].group[stays]).all()


def test_a_recipe_is_given_those_that_calibrate_and_no_other() -> None:
    proteins = families(np.random.default_rng(15), 3, 2, 80)
    learnt, reasons = np.arange(6) == 0, objects(["", "why", "", "", "", ""])
    asked: list[list[str]] = []

    def in_turn(given: Proteins, class_: np.ndarray, n_groups: int, threads: int) -> Any:
        asked.append(given.ids.tolist())
        return given.ids, np.arange(given.n_proteins) % n_groups

    options = SplitOptions(n_groups=2, cells=None)
    class_ = np.zeros(6, dtype=int)
    found = split_by_recipe(proteins, in_turn, class_, options, learnt, reasons)
    assert asked == [proteins.ids[2:].tolist()]
    assert found.packing.group.tolist() == ["training", "", "1", "2", "1", "2"]
    assert found.packing.role.tolist() == ["training", "set_aside", *["calibration"] * 4]
    # Both families that are left are in two groups: nothing is done about it, and it is said.
    assert found.audit.is_crossing.sum() == 4
