from __future__ import annotations

import numpy as np
import pyopal
import pytest

from credence.relatives import candidates
from credence.relatives.alignment import GAP_EXTEND, GAP_OPEN, MATRIX, Library
from credence.relatives.candidates import Candidates
from credence.relatives.graph import components
from credence.relatives.pairs import Pairs, Thresholds, distinct, no_pairs, score_needed
from credence.simulate.sequences import codes, mutated, written

LOOSER = Thresholds().looser()
LETTERS = list("ARNDCQEGHILKMFPSTWYV")


def world(n_families: int = 12, size: int = 5) -> np.ndarray:
    """Return sequences of families whose members are 30 to 70 % identical."""
    rng = np.random.default_rng(5)
    texts = []
    for _ in range(n_families):
        ancestor = codes("".join(rng.choice(LETTERS, 120)))
        texts += [written(mutated(ancestor, rng.uniform(0.5, 0.8), rng)) for _ in range(size)]
    array = np.empty(len(texts), dtype=object)
    array[:] = texts
    return distinct(array).texts


def every_pair(n_texts: int) -> tuple[np.ndarray, np.ndarray]:
    return np.triu_indices(n_texts, 1)


def piece(
    first: np.ndarray, second: np.ndarray, promise: np.ndarray | float = 0.0
) -> list[candidates.Piece]:
    """Return what reads one piece of candidates."""
    promises = np.broadcast_to(promise, first.shape)
    return [lambda: (first, second, promises)]


def pairs_of(n_texts: int) -> candidates.Search:
    """Return a search that proposes every pair of what is searched again."""

    def again(rows: np.ndarray, *_: object) -> list[candidates.Piece]:
        first, second = every_pair(n_texts)
        kept = np.isin(first, rows) | np.isin(second, rows)
        return piece(first[kept], second[kept])

    return again


def nothing_more(rows: np.ndarray, *_: object) -> list[candidates.Piece]:
    return []


def partition(n_texts: int, pairs: Pairs) -> list[int]:
    return components(n_texts, pairs.first, pairs.second).tolist()


def exact(texts: np.ndarray) -> Pairs:
    found = Library(texts=texts).relatives()
    return found.take(found.at(LOOSER))


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("promise", ["nothing", "much", "by chance"])
def test_candidates_connect_what_alignments_of_all_pairs_connect(
    threads: int, promise: str
) -> None:
    texts = world()
    first, second = every_pair(len(texts))
    promises = {"nothing": 0.0, "much": 500.0}
    by_chance = np.random.default_rng(2).uniform(0.0, 140.0, len(first))
    promised = np.full(len(first), promises[promise]) if promise in promises else by_chance
    found = Candidates(library=Library(texts=texts, threads=threads), thresholds=LOOSER).connect(
        no_pairs(), piece(first, second, promised), pairs_of(len(texts))
    )
    expected = partition(len(texts), exact(texts))
    assert partition(len(texts), found) == expected
    assert 12 <= max(expected) + 1 < 40  # some families hang together, some do not
    assert found.at(LOOSER).all()


@pytest.fixture(scope="module")
def scored() -> tuple[Pairs, np.ndarray, np.ndarray]:
    """Return the pairs at the lowest thresholds below, their shorter lengths and their scores."""
    texts = world(n_families=40, size=6)
    library, (first, second) = Library(texts=texts), every_pair(len(texts))
    pairs = library.align(zip(first.tolist(), second.tolist(), strict=True))
    beats = library.beats_chance(first, second, LOOSER.most_expected)
    pairs = pairs.take(pairs.at(Thresholds(identity=0.2, coverage=0.5)) & beats)
    aligner = pyopal.Aligner(MATRIX, gap_open=GAP_OPEN, gap_extend=GAP_EXTEND)
    shorter, scores = [], []
    for one, other in zip(pairs.first.tolist(), pairs.second.tolist(), strict=True):
        [found] = aligner.align(texts[one], pyopal.Database([texts[other]]), overflow="simple")
        shorter.append(min(len(texts[one]), len(texts[other])))
        scores.append(found.score)
    return pairs, np.array(shorter), np.array(scores)


@pytest.mark.parametrize("identity", [0.2, 0.25, 0.3, 0.35, 0.4, 0.5])
@pytest.mark.parametrize("coverage", [0.5, 0.8])
def test_no_pair_at_the_thresholds_scores_less_than_is_asked_for(
    identity: float, coverage: float, scored: tuple[Pairs, np.ndarray, np.ndarray]
) -> None:
    pairs, shorter, scores = scored
    thresholds = Thresholds(identity=identity, coverage=coverage)
    kept = pairs.at(thresholds)
    assert kept.sum() > 100
    assert (scores[kept] >= thresholds.least_score(shorter[kept])).all()


@pytest.mark.parametrize("identity", [0.4, 0.7, 0.9, 1.0])
def test_residues_that_score_least_with_themselves_reach_what_is_asked_for(
    identity: float,
) -> None:
    n_same = round(100 * identity)
    aligner = pyopal.Aligner(MATRIX, gap_open=GAP_OPEN, gap_extend=GAP_EXTEND)
    one, other = "A" * 100, "A" * n_same + "S" * (100 - n_same)
    [found] = aligner.align(one, pyopal.Database([other]), overflow="simple")
    assert found.score >= Thresholds(identity=identity, coverage=1.0).least_score(100)


def test_fewer_pairs_are_aligned_than_there_are_relatives() -> None:
    texts = world(n_families=30)
    first, second = every_pair(len(texts))
    found = Candidates(library=Library(texts=texts), thresholds=LOOSER).connect(
        no_pairs(), piece(first, second), nothing_more
    )
    assert found.n_pairs < exact(texts).n_pairs
    assert partition(len(texts), found) == partition(len(texts), exact(texts))


@pytest.mark.parametrize("most", [0, 5])
def test_members_are_compared_where_their_representatives_are_no_relatives(
    most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(candidates, "SMALL_COMPONENT", most)  # compared, or searched for again
    rng = np.random.default_rng(3)
    middle = codes("".join(rng.choice(LETTERS, 200)))
    left, right = (mutated(middle, 0.75, rng) for _ in range(2))
    far_left, far_right = (mutated(one, 0.72, rng) for one in (left, right))
    texts = np.empty(4, dtype=object)
    # The representatives are the longest of each side, and the far ones.
    texts[:] = [
        written(far_left) + "MKWVTF",
        written(far_right) + "MKWV",
        *(written(one)[:190] for one in (left, right)),
    ]
    texts = distinct(texts).texts
    assert len(texts) == 4
    shares = exact(texts)
    edges = set(zip(shares.first.tolist(), shares.second.tolist(), strict=True))
    assert (0, 1) not in edges
    assert (2, 3) in edges
    nearness = np.full(2, 0.7)
    near = Pairs(
        first=np.array([0, 1]),
        second=np.array([2, 3]),
        identity=nearness,
        coverage=nearness,
        coverage_longer=nearness,
    )
    found = Candidates(library=Library(texts=texts), thresholds=LOOSER).connect(
        near, piece(np.array([0]), np.array([1])), pairs_of(4)
    )
    assert partition(4, found) == [0, 0, 0, 0]


def test_relatives_that_nobody_proposed_are_met_where_others_of_their_families_are_alike(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(candidates, "SMALL_COMPONENT", 0)  # nothing is searched for again
    rng = np.random.default_rng(4)
    middle = codes("".join(rng.choice(LETTERS, 300)))
    halves = []
    for _ in range(2):
        ancestor = mutated(middle, 0.55, rng)
        near = mutated(middle, 0.9, rng)  # of either half the one that is near the other
        near[: len(near) // 3] = ancestor[: len(near) // 3]
        halves.append([near, ancestor, *(mutated(ancestor, 0.8, rng) for _ in range(5))])
    texts = np.array([written(one) for half in halves for one in half], dtype=object)
    is_left = np.arange(len(texts)) < len(halves[0])
    found = distinct(texts)
    home = is_left[np.argsort(found.code)]
    first, second = every_pair(len(texts))
    within = home[first] == home[second]
    ancestors = np.sort(found.code[[1, len(halves[0]) + 1]])
    proposed = np.append(first[within], ancestors[0]), np.append(second[within], ancestors[1])
    shares = exact(found.texts)
    edges = set(zip(shares.first.tolist(), shares.second.tolist(), strict=True))
    assert tuple(ancestors.tolist()) not in edges
    assert set(partition(len(texts), shares)) == {0}
    given = piece(*proposed)
    joined = Candidates(library=Library(texts=found.texts), thresholds=LOOSER).connect(
        no_pairs(), given, nothing_more
    )
    assert set(partition(len(texts), joined)) == {0}
    monkeypatch.setattr(Candidates, "_climbed", lambda *_: iter(()))
    parted = Candidates(library=Library(texts=found.texts), thresholds=LOOSER).connect(
        no_pairs(), given, nothing_more
    )
    assert set(partition(len(texts), parted)) == {0, 1}


def test_what_stayed_small_is_searched_for_again_and_nothing_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(candidates, "SMALL_COMPONENT", 5)
    texts = world(n_families=4, size=8)
    expected = partition(len(texts), exact(texts))
    first, second = every_pair(len(texts))
    asked = []

    def again(rows: np.ndarray, *_: object) -> list[candidates.Piece]:
        asked.append(rows.tolist())
        return pairs_of(len(texts))(rows)

    # Of one component that is large nothing is lost at first, of the others everything.
    sizes = np.bincount(expected)
    large = np.flatnonzero(np.array(expected) == sizes.argmax())
    assert sizes.max() > candidates.SMALL_COMPONENT
    kept = np.isin(first, large) & np.isin(second, large)
    found = Candidates(library=Library(texts=texts), thresholds=LOOSER).connect(
        no_pairs(), piece(first[kept], second[kept]), again
    )
    assert partition(len(texts), found) == expected
    assert asked == [np.setdiff1d(np.arange(len(texts)), large).tolist()]


def test_some_of_a_crowd_are_searched_for_with_a_list_that_holds_all_of_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(candidates, "SMALL_COMPONENT", 1)
    monkeypatch.setattr(candidates, "CROWD", 5)
    monkeypatch.setattr(candidates, "ONE_IN", 3)
    texts = world(n_families=3, size=8)
    expected = partition(len(texts), exact(texts))
    first, second = every_pair(len(texts))
    asked = []

    def again(small: np.ndarray, crowded: np.ndarray, size: int) -> list[candidates.Piece]:
        asked.append((small.tolist(), crowded.tolist(), size))
        kept = np.isin(first, crowded) | np.isin(second, crowded)
        return piece(first[kept], second[kept])

    # Of each family the last by length is lost at first, with a partner so that none is small.
    home = np.array(expected)
    crowds = [np.flatnonzero(home == one) for one in np.unique(home)]
    assert all(len(crowd) > 7 for crowd in crowds)
    lost = np.concatenate([crowd[-2:] for crowd in crowds])
    is_met = np.isin(first, lost) == np.isin(second, lost)
    found = Candidates(library=Library(texts=texts), thresholds=LOOSER).connect(
        no_pairs(), piece(first[is_met], second[is_met]), again
    )
    assert partition(len(texts), found) == expected
    sizes = [len(crowd) - 2 for crowd in crowds]
    every_third = np.sort(np.concatenate([crowd[:-2][::3] for crowd in crowds]))
    assert asked == [([], every_third.tolist(), max(sizes))]


def test_no_candidates_leave_near_copies_together_and_nothing_else() -> None:
    texts = world(n_families=1, size=3)
    one = np.ones(1)
    near = Pairs(
        first=np.array([0]), second=np.array([2]), identity=one, coverage=one, coverage_longer=one
    )
    found = Candidates(library=Library(texts=texts), thresholds=LOOSER).connect(
        near, [], nothing_more
    )
    assert partition(3, found) == [0, 1, 0]


def test_what_promises_much_and_is_explained_by_chance_is_no_edge() -> None:
    rng = np.random.default_rng(7)
    ancestor = codes("".join(rng.choice(LETTERS, 36)))
    members = [written(ancestor), *(written(mutated(ancestor, 0.4, rng)) for _ in range(60))]
    texts = distinct(np.array(members, dtype=object)).texts
    library, (first, second) = Library(texts=texts), every_pair(len(texts))
    pairs = library.align(zip(first.tolist(), second.tolist(), strict=True))
    by_chance = pairs.at(LOOSER) & ~library.beats_chance(first, second, LOOSER.most_expected)
    first, second = first[by_chance], second[by_chance]
    assert len(first) > 10
    promise = 0.9 * score_needed(36, np.full(len(first), 36))
    found = Candidates(library=Library(texts=texts), thresholds=LOOSER).connect(
        no_pairs(), piece(first, second, promise), nothing_more
    )
    assert found.n_pairs == 0


def test_the_second_search_may_be_the_first_that_finds_anything() -> None:
    rng = np.random.default_rng(8)
    ancestor = codes("".join(rng.choice(LETTERS, 120)))
    texts = np.array([written(mutated(ancestor, 0.8, rng)) for _ in range(2)], dtype=object)
    texts = distinct(texts).texts
    both = piece(np.array([0]), np.array([1]))
    found = Candidates(library=Library(texts=texts), thresholds=LOOSER).connect(
        no_pairs(), [], lambda *_: both
    )
    assert (found.first.tolist(), found.second.tolist()) == ([0], [1])


def two_families(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return sequences of two families that are remotely alike, and the family of each."""
    rng = np.random.default_rng(seed)
    root = codes("".join(rng.choice(LETTERS, 150)))
    texts = [
        written(mutated(ancestor, rng.uniform(0.4, 0.95), rng))
        for ancestor in (mutated(root, 0.6, rng), mutated(root, 0.6, rng))
        for _ in range(20)
    ]
    found = distinct(np.array(texts, dtype=object))
    return found.texts, (np.arange(40) >= 20).astype(np.int64)[np.argsort(found.code)]


@pytest.mark.parametrize("most", [1, 3, 1_000])
@pytest.mark.parametrize("seed", range(4))
def test_steps_from_any_pair_lead_to_one_that_is_the_best_of_its_row_and_column(
    most: int, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(candidates, "MOST_AT_ONCE", most)
    texts, home = two_families(seed)
    library = Library(texts=texts)
    finder = Candidates(library=library, thresholds=LOOSER)
    rows, columns = np.flatnonzero(home == 0), np.flatnonzero(home == 1)
    first, second = (ends.ravel() for ends in np.meshgrid(rows, columns, indexing="ij"))
    every = finder._alike(np.minimum(first, second), np.maximum(first, second))
    assert len(every.first) > 20
    worst = int(every.score.argmin())
    met = candidates.together([*finder._climbed(home, every.take(np.array([worst])))])
    # The slow twin: compare with all, and go on from the better one.
    worth = {
        frozenset(pair): score / min(map(len, texts[list(pair)]))
        for *pair, score in zip(
            every.first.tolist(), every.second.tolist(), every.score, strict=True
        )
    }
    at, n_steps = frozenset([int(every.first[worst]), int(every.second[worst])]), 0
    while True:
        better = max((pair for pair in worth if pair & at), key=lambda pair: worth[pair])
        if worth[better] <= worth[at]:
            break
        at, n_steps = better, n_steps + 1
    assert n_steps > 0
    pairs = [*zip(met.first.tolist(), met.second.tolist(), strict=True)]
    assert tuple(sorted(at)) in pairs
    assert len(pairs) == len(set(pairs)) < len(every.first)


def test_alignments_go_on_while_some_of_many_join_and_the_best_come_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    texts = world()
    library = Library(texts=texts)
    finder = Candidates(library=library, thresholds=LOOSER)
    first, second = every_pair(len(texts))
    every = finder._alike(first, second)
    aligned: list[int] = []
    align = Library.align

    def counted(self: Library, pairs: object) -> Pairs:
        result = align(self, pairs)  # type: ignore[arg-type]
        aligned.append(result.n_pairs)
        return result

    monkeypatch.setattr(Library, "align", counted)
    whole = partition(len(texts), finder.connect_every())
    aligned.clear()
    assert partition(len(texts), finder._best_first([no_pairs()], every)) == whole
    assert sum(aligned) < len(every.first) / 2
    # Nothing that is alike is an edge: it ends after as many as were asked for.
    strict = Candidates(library=library, thresholds=Thresholds(identity=0.99, coverage=0.0))
    monkeypatch.setattr(Candidates, "_beats", lambda self, first, *_: np.ones(len(first), bool))
    monkeypatch.setattr(candidates, "NONE_AMONG", 5)
    monkeypatch.setattr(candidates, "PART_AT_ONCE", 10_000)
    aligned.clear()
    assert strict._best_first([no_pairs()], every).n_pairs == 0
    assert aligned == [5]


def test_a_relative_that_no_search_proposes_is_met_by_way_of_what_is_alike_to_both() -> None:
    rng = np.random.default_rng(12)
    one = "".join(rng.choice(LETTERS, 200))
    relative = written(mutated(codes(one), 0.55, rng))
    # Alike to both over half of them, so no relative of either.
    between = one[:100] + "".join(rng.choice(LETTERS, 200))
    texts = distinct(np.array([between, one, relative], dtype=object)).texts
    first, second = np.array([0, 0]), np.array([1, 2])
    library = Library(texts=texts)
    assert library.align([(1, 2)]).at(LOOSER).all()
    assert not library.align([(0, 1), (0, 2)]).at(LOOSER).any()
    found = Candidates(library=library, thresholds=LOOSER).connect(
        no_pairs(), piece(first, second), lambda *_: piece(first, second)
    )
    assert (found.first.tolist(), found.second.tolist()) == ([1], [2])
