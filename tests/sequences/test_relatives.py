from __future__ import annotations

import numpy as np
import pytest
from Bio.Align import PairwiseAligner, substitution_matrices

from credence.relatives import alignment
from credence.relatives.alignment import Library, alignment_of_long
from credence.relatives.graph import relatives_of_short
from credence.relatives.pairs import Thresholds, canonical, contained, distinct, score_needed
from credence.simulate.sequences import codes, mutated, written

LETTERS = "ARNDCQEGHILKMFPSTWYV"


def objects(*texts: str) -> np.ndarray:
    array = np.empty(len(texts), dtype=object)
    array[:] = texts
    return array


def random_protein(rng: np.random.Generator, length: int) -> str:
    return "".join(rng.choice(list(LETTERS), length))


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
    everything = Library(texts).relatives()
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


def test_alignments_are_those_of_biopython_and_of_the_way_in_linear_memory() -> None:
    rng = np.random.default_rng(5)
    texts = [text for _ in range(6) for text in family(rng, 90, [0.9, 0.6, 0.45])]
    found = distinct(objects(*texts))
    library = Library(found.texts, threads=2)
    pairs = library.relatives()
    assert pairs.n_pairs >= 20
    for at in range(pairs.n_pairs):
        first, second = found.texts[pairs.first[at]], found.texts[pairs.second[at]]
        here = (round(pairs.identity[at], 9), round(pairs.coverage[at], 9))
        assert here in identity_of(first, second)
        linear = alignment_of_long(first, second)
        assert (round(linear[0], 9), round(linear[1], 9)) in identity_of(first, second)


def test_every_pair_that_beats_chance_is_found_and_no_other() -> None:
    rng = np.random.default_rng(6)
    texts = [text for _ in range(8) for text in family(rng, 70, [0.8, 0.5])]
    found = distinct(objects(*texts)).texts
    pairs = Library(found).relatives()
    met = set(zip(pairs.first.tolist(), pairs.second.tolist(), strict=True))
    expected = {
        (a, b)
        for a in range(len(found))
        for b in range(a + 1, len(found))
        if aligned_by_biopython(found[a], found[b])[0]
        >= score_needed(len(found[a]), len(found[b]))
    }
    assert met == expected
    some = Library(found).relatives(np.array([3, 7]))
    wanted = {pair for pair in expected if 3 in pair or 7 in pair}
    assert set(zip(some.first.tolist(), some.second.tolist(), strict=True)) == wanted


def test_x_is_identical_to_nothing() -> None:
    rng = np.random.default_rng(7)
    text = random_protein(rng, 60)
    one, other = text[:25] + "XXXXX" + text[30:], text[:25] + "XXXXX" + text[30:59] + "A"
    found = distinct(objects(one, other))
    pairs = Library(found.texts).align([(0, 1)])
    length = 59 if one[-1] != other[-1] else 60
    assert pairs.identity[0] == pytest.approx((length - 5) / length)


def test_x_is_identical_to_nothing_behind_a_gap_in_either_of_the_two() -> None:
    text = random_protein(np.random.default_rng(9), 90)
    lacking = text[:25] + text[28:]
    for one, other in ((text, lacking), (lacking, text)):
        # The same stretch of three is unknown in both, near the end.
        one, other = (f"{part[:-13]}XXX{part[-10:]}" for part in (one, other))
        pairs = Library(distinct(objects(one, other)).texts).align([(0, 1)])
        # 87 columns of residues without the three, and three of the gap.
        assert pairs.identity[0] == pytest.approx(84 / 90)


def test_very_long_proteins_are_aligned_in_linear_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(alignment, "MOST_CELLS", 10_000)
    rng = np.random.default_rng(8)
    long = random_protein(rng, 320)
    other = long[10:300]
    pairs = Library(distinct(objects(long, other)).texts).align([(0, 1)])
    assert (pairs.identity[0], pairs.coverage[0]) == (1.0, 1.0)
    assert pairs.coverage_longer[0] == pytest.approx(290 / 320)


def aligned_with_paths(first: str, second: str) -> tuple[float, float, float]:
    """Return what `alignment_of_long` does, each path carried along: slow and plain."""
    longer, shorter = (first, second) if len(first) >= len(second) else (second, first)
    rows, columns = (
        np.array([alignment.LETTERS.index(one) for one in text]) for text in (longer, shorter)
    )
    width = len(columns) + 1
    place, least = np.arange(width), -(1 << 40)
    # What a path carries: start in either protein, matches, columns.
    nothing = np.zeros((4, width), np.int64)
    nothing[1] = place
    best, path = np.zeros(width, np.int64), nothing.copy()
    down, down_path = np.full(width, least), nothing.copy()
    top, top_path, top_end = 0, nothing[:, 0].copy(), (0, 0)
    matrix, unknown = alignment.blosum(), alignment.UNKNOWN
    for number, residue in enumerate(rows, start=1):
        is_opened = best - alignment.GAP_OPEN >= down - alignment.GAP_EXTEND
        down = np.where(is_opened, best - alignment.GAP_OPEN, down - alignment.GAP_EXTEND)
        down_path = np.where(is_opened, path, down_path)
        down_path[3] += 1
        diagonal = np.full(width, least)
        diagonal[1:] = best[:-1] + matrix[residue, columns]
        taken = nothing.copy()
        taken[:, 1:] = path[:, :-1]
        taken[2, 1:] += (columns == residue) & (residue != unknown)
        taken[3, 1:] += 1
        fresh = nothing.copy()
        fresh[0] = number
        value, carried = np.zeros(width, np.int64), fresh
        for other, other_path in ((diagonal, taken), (down, down_path)):
            is_better = other > value
            value = np.where(is_better, other, value)
            carried = np.where(is_better, other_path, carried)
        # A gap along the row: the best start to the left, by a running maximum.
        lifted = value + alignment.GAP_EXTEND * place
        peak = np.maximum.accumulate(lifted)
        holder = np.maximum.accumulate(np.where(lifted == peak, place, 0))
        along = np.full(width, least)
        along[1:] = (
            peak[:-1]
            - alignment.GAP_OPEN
            + alignment.GAP_EXTEND
            - alignment.GAP_EXTEND * place[1:]
        )
        along_path = nothing.copy()
        along_path[:, 1:] = carried[:, holder[:-1]]
        along_path[3, 1:] += place[1:] - holder[:-1]
        is_better = along > value
        best = np.where(is_better, along, value)
        path = np.where(is_better, along_path, carried)
        peak_here = int(best.argmax())
        if best[peak_here] > top:
            top, top_path, top_end = int(best[peak_here]), path[:, peak_here], (number, peak_here)
    if top == 0:
        return 0.0, 0.0, 0.0
    identity = float(top_path[2] / top_path[3])
    covered = (top_end[1] - int(top_path[1])) / len(shorter)
    return identity, covered, (top_end[0] - int(top_path[0])) / len(longer)


def changed(text: str, letters: str, rng: np.random.Generator) -> str:
    """Return a text with stretches lost, put in and replaced."""
    for _ in range(int(rng.integers(12))):
        at, n_lost, n_new = rng.integers([len(text) + 1, 6, 6])
        text = text[:at] + "".join(rng.choice(list(letters), n_new)) + text[at + n_lost :]
    return text or letters[0]


def test_long_proteins_are_aligned_as_they_were_when_each_row_took_its_paths_along() -> None:
    rng = np.random.default_rng(4)
    for letters in (LETTERS, "AGX", "LIVMA") * 50:  # few letters: many alignments are as good
        one = "".join(rng.choice(list(letters), int(rng.integers(1, 70))))
        other = changed(one, letters, rng)
        assert alignment_of_long(one, other) == aligned_with_paths(one, other)


def test_the_graph_is_looser_than_relatives_by_the_margins() -> None:
    looser = Thresholds(0.4, 0.8).looser()
    assert (looser.identity, looser.coverage) == (pytest.approx(0.35), pytest.approx(0.70))


def test_what_does_not_align_at_all_is_alike_in_nothing() -> None:
    texts = np.array(["WWWWW", "AAAA"], dtype=object)
    pairs = Library(texts).align([(0, 1)])
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
    library = Library(distinct(objects(whole, whole[9:21])).texts)
    for home, n_pairs in (([0, 1], 1), ([-1, 0], 0), ([0, -1], 0), ([0, 0], 0)):
        assert library.relatives(home=np.array(home)).n_pairs == n_pairs, home


@pytest.mark.parametrize(("length", "n_pairs"), [(59, 1), (60, 0)])
def test_proteins_below_sixty_residues_are_aligned_and_longer_ones_searched_for(
    length: int, n_pairs: int
) -> None:
    texts = family(np.random.default_rng(7), length, [0.9])
    found = relatives_of_short(distinct(objects(*texts)), Thresholds(), 1)
    assert found.n_pairs == n_pairs
