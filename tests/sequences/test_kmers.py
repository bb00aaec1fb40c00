from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from credence.proteins import Proteins, join
from credence.relatives import kmers
from credence.relatives.all_engines import FINDERS, build_engine
from credence.relatives.graph import components, representatives
from credence.relatives.kmers import ExactFinder, GivenEngine, links, words_of
from credence.relatives.pairs import Thresholds, distinct
from credence.settings import setting_rules
from credence.stages.settings import ClusteringSettings
from credence.tables.fasta import read_fasta
from small_families import families

RESIDUES = np.array(list("ACDEFGHIKLMNPQRSTVWY"))


def proteins(sequences: list[str], names: list[str] | None = None) -> Proteins:
    names = names or [f"p{row:04d}" for row in range(len(sequences))]
    return Proteins(ids=np.array(names, dtype=object), sequences=np.array(sequences, dtype=object))


def random_sequence(rng: np.random.Generator, length: int) -> str:
    return "".join(rng.choice(RESIDUES, length))


def relative_of(rng: np.random.Generator, sequence: str, identity: float) -> str:
    letters = np.array(list(sequence))
    n_changed = round((1 - identity) * len(letters))
    for place in rng.choice(len(letters), n_changed, replace=False):
        letters[place] = rng.choice(RESIDUES[letters[place] != RESIDUES])
    return "".join(letters)


def cluster(*sequences: str, **settings_: float) -> list[str]:
    return (
        build_engine("kmer", Thresholds(**settings_))
        .cluster(proteins(list(sequences)))
        .cluster.tolist()
    )


def test_equal_proteins_are_one_cluster_named_after_the_first_id() -> None:
    answer = build_engine("kmer").cluster(proteins(["MK", "AC", "MK"], ["z", "b", "a"]))
    assert answer.cluster.tolist() == ["a", "b", "a"]
    assert answer.representative.tolist() == ["a", "b", "a"]
    assert answer.identity.tolist() == [1.0, 1.0, 1.0]
    assert answer.coverage.tolist() == [1.0, 1.0, 1.0]


def test_a_fragment_joins_its_whole_and_the_whole_stands_for_both() -> None:
    whole = random_sequence(np.random.default_rng(1), 300)
    answer = build_engine("kmer").cluster(proteins([whole[100:160], whole]))
    assert answer.cluster.tolist() == ["p0001", "p0001"]
    assert answer.identity.tolist() == [1.0, 1.0]
    assert answer.coverage.tolist() == [1.0, 1.0]


def test_relatives_at_seven_tenths_are_found_and_strangers_are_not() -> None:
    rng = np.random.default_rng(2)
    ancestors = [random_sequence(rng, 250) for _ in range(40)]
    members = [relative_of(rng, ancestor, 0.7) for ancestor in ancestors for _ in range(3)]
    names = build_engine("kmer").cluster(proteins(ancestors + members)).cluster
    families = np.concatenate([np.arange(40), np.repeat(np.arange(40), 3)])
    for family in range(40):
        assert len(set(names[families == family])) == 1
    assert len(set(names)) == 40


def test_a_stricter_identity_keeps_relatives_apart() -> None:
    rng = np.random.default_rng(3)
    ancestor = random_sequence(rng, 250)
    other = relative_of(rng, ancestor, 0.7)
    assert len(set(cluster(ancestor, other, identity=0.4))) == 1
    assert len(set(cluster(ancestor, other, identity=0.95))) == 2


def test_words_of_one_or_two_letters_make_no_relatives() -> None:
    rng = np.random.default_rng(4)
    tail = "GS" * 20
    assert len(set(cluster(random_sequence(rng, 80) + tail, random_sequence(rng, 90) + tail))) == 2


def test_no_word_reaches_over_an_unknown_residue_or_from_one_protein_to_the_next() -> None:
    words = words_of(np.array(["MKAWED", "MKAXWEDC", "HNQTPG", ""], dtype=object))
    assert words.protein.tolist() == [0, 2]


def test_residues_that_replace_each_other_are_one_letter() -> None:
    words = words_of(np.array(["LKFAWE", "VRYAWE"], dtype=object))
    assert words.protein.tolist() == [0, 1]
    assert words.word[0] == words.word[1]


def slow_links(sequences: list[str]) -> set[tuple[int, int]]:
    groups = ("LVIM", "FY", "KR")
    simple = [
        "".join(next((group[0] for group in groups if letter in group), letter) for letter in text)
        for text in sequences
    ]
    sets = [
        {text[i : i + 6] for i in range(len(text) - 5) if len(set(text[i : i + 6])) > 2}
        for text in simple
    ]
    found = set()
    for i, one in enumerate(sets):
        for j, other in enumerate(sets):
            fewest = min(len(one), len(other))
            shared = len(one & other)
            if i != j and shared >= max(min(7, fewest), 3) and shared >= 0.05 * fewest:
                found.add((i, j))
    return found


def test_fast_links_are_those_of_the_obvious_loop() -> None:
    rng = np.random.default_rng(5)
    pool = [random_sequence(rng, 60) for _ in range(12)]
    sequences = [
        "".join(pool[part][: rng.integers(5, 60)] for part in rng.choice(12, 3)) for _ in range(40)
    ]
    sequences.sort(key=lambda text: (-len(text), text))
    first, second = links(words_of(np.array(sequences, dtype=object)), 0.05)
    expected = slow_links(sequences)
    assert 40 < len(expected) < 40 * 39
    assert set(zip(first.tolist(), second.tolist(), strict=True)) == expected


@settings(max_examples=25, deadline=None)
@given(st.randoms(use_true_random=False), st.integers(0, 1000))
def test_the_order_of_the_file_is_nothing(shuffler: Any, seed: int) -> None:
    rng = np.random.default_rng(seed)
    ancestors = [random_sequence(rng, int(rng.integers(20, 120))) for _ in range(4)]
    sequences = [relative_of(rng, text, 0.8) for text in ancestors for _ in range(3)] + ancestors
    whole = proteins([*sequences, sequences[0]])
    rows = list(range(whole.n_proteins))
    shuffler.shuffle(rows)
    before = build_engine("kmer").cluster(whole)
    after = build_engine("kmer").cluster(whole.take(np.array(rows)))
    for name, values in vars(before).items():
        np.testing.assert_array_equal(getattr(after, name), values[rows], err_msg=name)


def test_a_family_larger_than_its_hubs_stays_together() -> None:
    rng = np.random.default_rng(6)
    ancestor = random_sequence(rng, 100)
    members = [relative_of(rng, ancestor, 0.9) for _ in range(450)]
    assert len(set(cluster(*members))) == 1


def test_no_proteins_are_no_clusters() -> None:
    found = build_engine("kmer").cluster(proteins([]))
    assert found.cluster.tolist() == found.identity.tolist() == found.coverage.tolist() == []


def test_given_clusters_keep_their_names_and_the_longest_stands_for_each() -> None:
    ids = np.array(["c", "a", "b"], dtype=object)
    engine = GivenEngine(ids=ids, names=np.array(["X", "Y", "X"], dtype=object))
    answer = engine.cluster(proteins(["MK", "MKL", "MKLV"], ["a", "b", "c"]))
    assert answer.cluster.tolist() == ["Y", "X", "X"]
    assert answer.representative.tolist() == ["a", "c", "c"]
    assert np.isnan(answer.identity).all()


def test_every_engine_is_a_choice_of_the_settings() -> None:
    choices = setting_rules(ClusteringSettings)["engine"][1].choices
    assert sorted(choices) == sorted(FINDERS)


def test_components_and_representatives_are_those_of_the_graph() -> None:
    found = components(6, np.array([0, 4, 1]), np.array([4, 2, 5]))
    assert [np.flatnonzero(found == code).tolist() for code in np.unique(found)] == [
        [0, 2, 4],
        [1, 5],
        [3],
    ]
    ids = np.array(list("fedcba"), dtype=object)
    lengths = np.array([3, 9, 5, 1, 5, 9])
    assert representatives(found, ids, lengths).tolist() == [4, 5, 4, 3, 4, 5]


def test_joined_sets_are_clustered_together() -> None:
    text = random_sequence(np.random.default_rng(8), 100)
    both = join([proteins([text], ["a"]), proteins([text[:70]], ["b"])])
    assert build_engine("kmer").cluster(both).cluster.tolist() == ["a", "a"]


def test_real_head_tail_joining_proteins_fall_into_families(real_data: Path) -> None:
    htj = read_fasta(real_data / "phanns_htj_1277.fasta.gz")
    minor = read_fasta(real_data / "phanns_minor_capsid_656.fasta.gz")
    both = join([htj, minor])
    names = build_engine("kmer").cluster(both).cluster
    sizes = np.unique(names.astype(str), return_counts=True)[1]
    # Families are few beside 1,933 proteins, and none swallows the rest.
    assert 200 < len(sizes) < 500
    assert sizes.max() < both.n_proteins / 2


@pytest.mark.parametrize(("most_cells", "by_words"), [(79_999.0, True), (80_000.0, False)])
def test_every_pair_is_aligned_where_that_is_no_more_than_so_many_cells(
    most_cells: float, by_words: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []
    original = kmers.links
    monkeypatch.setattr(kmers, "links", lambda *given: asked.append(1) or original(*given))
    texts = families(np.random.default_rng(2), 4, 1, 100).sequences
    # Queries of 200 residues against 400 in all; among all, half of 400 · 400.
    ExactFinder(threads=1, most_cells=most_cells).between(texts[:2], texts[2:], Thresholds())
    ExactFinder(threads=1, most_cells=most_cells).among(distinct(texts).texts, Thresholds())
    assert len(asked) == 2 * by_words


def test_the_first_query_and_the_first_target_are_met_like_all_others() -> None:
    rng = np.random.default_rng(9)
    one, other = (random_sequence(rng, 90) for _ in range(2))
    queries = np.array([one, random_sequence(rng, 80)], dtype=object)
    targets = np.array([relative_of(rng, one, 0.8), other, one[:85]], dtype=object)
    found = ExactFinder().between(queries, targets, Thresholds())
    pairs = zip(found.first.tolist(), found.second.tolist(), strict=True)
    assert sorted(pairs) == [(0, 0), (0, 2)]
