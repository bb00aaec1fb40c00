from __future__ import annotations

import numpy as np
import pytest
from Bio.Align import PairwiseAligner, substitution_matrices

from credence.relatives import alignment
from credence.relatives.alignment import Library, alignment_of_long
from credence.relatives.graph import relatives_of_short
from credence.relatives.pairs import Thresholds, canonical, contained, distinct, score_needed
from credence.simulate.sequences import codes, mutated, written
from small_families import random_protein

LETTERS = "ARNDCQEGHILKMFPSTWYV"


def objects(*texts: str) -> np.ndarray:
    array = np.empty(len(texts), dtype=object)
    array[:] = texts
    return array


def family(rng: np.random.Generator, length: int, identities: list[float]) -> list[str]:
    ancestor = random_protein(rng, length)
    return [ancestor] + [written(mutated(codes(ancestor), one, rng)) for one in identities]


def test_letters_that_matrices_do_not_know_stand_for_what_they_come_from() -> None:
    assert canonical("ABZJUOX") == "ADELCKX"


def test_distinct_sequences_come_from_long_to_short_whatever_the_order() -> None:
    texts = objects("MKV", "MKVL", "MKU", "MKC", "MKVL")
    found, turned = distinct(texts), distinct(texts[::-1])
    assert found.texts.tolist() == turned.texts.tolist() == ["MKVL", "MKC", "MKV"]
    assert found.texts[found.code].tolist() == ["MKV", "MKVL", "MKC", "MKC", "MKVL"]


def test_the_least_score_is_that_of_karlin_and_altschul_by_hand() -> None:
    # ln(0.041 · 300 · 300 / 1e-6)/0.267 = ln(3.69e9)/0.267 = 22.0288/0.267
    assert score_needed(300, 300) == pytest.approx(82.505, abs=5e-3)


def test_a_short_protein_is_a_relative_of_what_contains_it_whole_only() -> None:
    long = "MKWVTFISLLLLFSSAYSRGVFRRDTHKSEIAHRFKDLGE"
    texts = distinct(objects(long, "LFSSAYSRGV", "LFSSAYSRGA")).texts
    found = contained(texts)
    assert [(texts[a], texts[b]) for a, b in zip(found.first, found.second, strict=True)] == [
        (long, "LFSSAYSRGV")
    ]
    assert found.coverage.tolist() == [1.0]
    assert found.coverage_longer.tolist() == [10 / 40]
    everything = Library(texts=texts).relatives()
    assert everything.n_pairs == 1


def aligned_by_biopython(first: str, second: str) -> tuple[float, int]:
    """Return score and the identity of the best of its alignments that has most matches."""
    aligner = PairwiseAligner(
        mode="local",
        substitution_matrix=substitution_matrices.load("BLOSUM62"),
        open_gap_score=-11,
        extend_gap_score=-1,
    )
    return float(aligner.score(first, second)), 0


def identity_of(first: str, second: str) -> set[tuple[float, float]]:
    aligner = PairwiseAligner(
        mode="local",
        substitution_matrix=substitution_matrices.load("BLOSUM62"),
        open_gap_score=-11,
        extend_gap_score=-1,
    )
    shares = set()
    for number, one in enumerate(aligner.align(first, second)):
        if number == 50:
            break
        counts = one.counts()
        span = one.aligned[1][-1][1] - one.aligned[1][0][0]
        columns = counts.identities + counts.mismatches + counts.gaps
        shares.add((round(counts.identities / columns, 9), round(span / len(second), 9)))
    return shares


def test_alignments_are_among_the_best_that_biopython_finds() -> None:
    rng = np.random.default_rng(5)
    texts = [text for _ in range(6) for text in family(rng, 90, [0.9, 0.6, 0.45])]
    found = distinct(objects(*texts))
    library = Library(texts=found.texts, threads=2)
    pairs = library.relatives()
    assert pairs.n_pairs >= 20
    for at in range(pairs.n_pairs):
        first, second = found.texts[pairs.first[at]], found.texts[pairs.second[at]]
        here = (round(pairs.identity[at], 9), round(pairs.coverage[at], 9))
        assert here in identity_of(first, second)


def test_every_pair_that_beats_chance_is_found_and_no_other() -> None:
    rng = np.random.default_rng(6)
    texts = [text for _ in range(8) for text in family(rng, 70, [0.8, 0.5])]
    found = distinct(objects(*texts)).texts
    pairs = Library(texts=found).relatives()
    met = set(zip(pairs.first.tolist(), pairs.second.tolist(), strict=True))
    expected = {
        (a, b)
        for a in range(len(found))
        for b in range(a + 1, len(found))
        if aligned_by_biopython(found[a], found[b])[0]
        >= score_needed(len(found[a]), len(found[b]))
    }
    assert met == expected
    some = Library(texts=found).relatives(np.array([3, 7]))
    wanted = {pair for pair in expected if 3 in pair or 7 in pair}
    assert set(zip(some.first.tolist(), some.second.tolist(), strict=True)) == wanted


def test_x_is_identical_to_nothing() -> None:
    rng = np.random.default_rng(7)
    text = random_protein(rng, 60)
    one, other = text[:25] + "XXXXX" + text[30:], text[:25] + "XXXXX" + text[30:59] + "A"
    found = distinct(objects(one, other))
    pairs = Library(texts=found.texts).align([(0, 1)])
    length = 59 if one[-1] != other[-1] else 60
    assert pairs.identity[0] == pytest.approx((length - 5) / length)


def test_x_is_identical_to_nothing_behind_a_gap_in_either_of_the_two() -> None:
    text = random_protein(np.random.default_rng(9), 90)
    lacking = text[:25] + text[28:]
    for one, other in ((text, lacking), (lacking, text)):
        # The same stretch of three is unknown in both, near the end.
        one, other = (f"{part[:-13]}XXX{part[-10:]}" for part in (one, other))
        pairs = Library(texts=distinct(objects(one, other)).texts).align([(0, 1)])
        # 87 columns of residues without the three, and three of the gap.
        assert pairs.identity[0] == pytest.approx(84 / 90)


def test_very_long_proteins_are_aligned_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(alignment, "MOST_CELLS_AT_ONCE", 10_000)
    rng = np.random.default_rng(8)
    long = random_protein(rng, 320)
    other = long[10:300]
    pairs = Library(texts=distinct(objects(long, other)).texts).align([(0, 1)])
    assert (pairs.identity[0], pairs.coverage[0]) == (1.0, 1.0)
    assert pairs.coverage_longer[0] == pytest.approx(290 / 320)


@pytest.mark.parametrize("most_cells", [alignment.MOST_CELLS_AT_ONCE, 0])
def test_both_aligners_give_the_numbers_of_an_alignment_by_hand(
    most_cells: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(alignment, "MOST_CELLS_AT_ONCE", most_cells)
    text = "MKWVTFISLLFLFSSAYSRGVFRRDAHKSEVAHRFKDLGE"
    # Ends cut off, a residue exchanged (W for C), one unknown in both, three lost.
    whole, part = text[:20] + "X" + text[21:], text[2:20] + "X" + text[21:25] + text[28:36]
    part = part.replace("WVT", "CVT")
    pairs = Library(texts=distinct(objects(whole, part)).texts).align([(0, 1)])
    # It begins behind the C, which costs 2 and has only a W before it: 33 columns from V on.
    n_columns, n_gaps, n_unknown = 33, 3, 1
    assert pairs.identity[0] == pytest.approx((n_columns - n_gaps - n_unknown) / n_columns)
    assert pairs.coverage[0] == pytest.approx(30 / len(part))
    assert pairs.coverage_longer[0] == pytest.approx(33 / len(whole))


def test_what_does_not_align_is_alike_in_nothing_by_either_aligner(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(alignment, "MOST_CELLS_AT_ONCE", 0)
    assert alignment_of_long("WWWWW", "AAAA") == (0.0, 0.0, 0.0)


def test_the_graph_is_looser_than_relatives_by_the_margins() -> None:
    looser = Thresholds(identity=0.4, coverage=0.8).looser()
    assert (looser.identity, looser.coverage) == (pytest.approx(0.35), pytest.approx(0.70))


def test_what_does_not_align_at_all_is_alike_in_nothing() -> None:
    texts = np.array(["WWWWW", "AAAA"], dtype=object)
    pairs = Library(texts=texts).align([(0, 1)])
    assert [pairs.identity[0], pairs.coverage[0], pairs.coverage_longer[0]] == [0.0, 0.0, 0.0]


def test_a_peptide_at_either_end_of_the_longest_protein_is_in_it() -> None:
    whole = "MKWVTFISLLFLFSSAYSRGVFRRDAHKSEVAHRFKDLGE"
    texts = np.array([whole, whole[-10:], whole[:8]], dtype=object)
    pairs = contained(texts)
    assert (pairs.first.tolist(), pairs.second.tolist()) == ([0, 0], [1, 2])
    assert pairs.coverage_longer.tolist() == [0.25, 0.2]
    asked = contained(texts, np.array([2]))
    assert asked.second.tolist() == [2]


def test_what_has_no_home_is_in_no_pair() -> None:
    whole = random_protein(np.random.default_rng(6), 40)
    library = Library(texts=distinct(objects(whole, whole[9:21])).texts)
    for home, n_pairs in (([0, 1], 1), ([-1, 0], 0), ([0, -1], 0), ([0, 0], 0)):
        assert library.relatives(home=np.array(home)).n_pairs == n_pairs, home


@pytest.mark.parametrize(("length", "n_pairs"), [(59, 1), (60, 0)])
def test_proteins_below_sixty_residues_are_aligned_and_longer_ones_searched_for(
    length: int, n_pairs: int
) -> None:
    texts = family(np.random.default_rng(7), length, [0.9])
    found = relatives_of_short(distinct(objects(*texts)), Thresholds(), 1)
    assert found.n_pairs == n_pairs
