from __future__ import annotations

import json
import math
from collections import Counter

import numpy as np
import pytest
from Bio.SeqUtils.ProtParam import ProteinAnalysis

from credence.novelty import space
from credence.novelty.space import (
    AMINO_ACIDS,
    CHEMISTRY,
    KINDS_OF_WORDS,
    SIDE_CHAINS,
    WIDTHS_OF_BLOCKS,
    chemistry,
    composition,
)
from credence.predictions import Strings
from credence.records import from_record, to_record


def drawn(seed: int, n: int = 40, letters: str = AMINO_ACIDS) -> Strings:
    rng = np.random.default_rng(seed)
    lengths = rng.integers(30, 200, size=n)
    return np.array(["".join(rng.choice(list(letters), size)) for size in lengths], dtype=object)


def slow_words(sequence: str, groups: tuple[str, ...], length: int) -> dict[str, float]:
    """Square roots of shares, letter by letter."""
    letter = {residue: str(code) for code, group in enumerate(groups) for residue in group}
    found: Counter[str] = Counter()
    for start in range(len(sequence) - length + 1):
        word = sequence[start : start + length]
        if all(residue in letter for residue in word):
            found["-".join(letter[residue] for residue in word)] += 1
    total = sum(found.values())
    return {word: math.sqrt(number / total) for word, number in found.items()}


@pytest.mark.parametrize("kind", KINDS_OF_WORDS, ids=lambda kind: f"{kind.length} letters")
def test_words_are_those_of_the_slow_count(kind: object) -> None:
    sequences = drawn(1, 12, AMINO_ACIDS + "XU")
    sequences[3] = "MKXXAC"  # no word of four
    at = KINDS_OF_WORDS.index(kind)
    first = sum(WIDTHS_OF_BLOCKS[:at])
    rows = composition(sequences)[0].toarray()[:, first : first + WIDTHS_OF_BLOCKS[at]]
    base = len(kind.groups)
    for sequence, row in zip(sequences, rows, strict=True):
        expected = np.zeros(kind.n_words)
        for word, share in slow_words(sequence, kind.groups, kind.length).items():
            expected[int(sum(int(c) * base**p for p, c in enumerate(word.split("-")[::-1])))] = (
                share
            )
        np.testing.assert_allclose(row, expected, atol=1e-7)  # single precision


def test_side_chains_are_those_of_phanns() -> None:
    assert sorted("".join(SIDE_CHAINS)) == sorted(AMINO_ACIDS)
    assert [kind.n_words for kind in KINDS_OF_WORDS] == [2401, 400, 8000]


def test_chemistry_is_biopythons() -> None:
    sequences = drawn(2, 15)
    found = chemistry(sequences)
    for sequence, row in zip(sequences, found, strict=True):
        known = ProteinAnalysis(sequence)
        reduced, cystines = known.molar_extinction_coefficient()
        n = len(sequence)
        expected = (
            math.log(n),
            known.molecular_weight() / n,
            known.aromaticity(),
            known.isoelectric_point(),
            known.instability_index(),
            known.gravy(),
            reduced / n,
            cystines / n,
        )
        # Both stop halving at 0.0001 of pH.
        np.testing.assert_allclose(row, expected, rtol=1e-6, atol=2e-4)
    assert len(CHEMISTRY) == found.shape[1]


def test_letters_that_are_no_residues_change_length_alone() -> None:
    plain, marked = chemistry(np.array(["MKVLAAGWYC", "MKVXLAAGBWYC"], dtype=object))
    np.testing.assert_allclose(plain[1:], marked[1:])
    assert marked[0] > plain[0]
    nothing, something, _ = found = chemistry(np.array(["XXXX", "MKXV", "X"], dtype=object))
    np.testing.assert_array_equal(chemistry(np.array(["MKXV"], dtype=object))[0], something)
    assert np.isnan(found[2, 1:]).all()
    assert nothing[0] == math.log(4) and np.isnan(nothing[1:]).all()


def test_too_short_a_protein_has_no_place() -> None:
    sequences = np.concatenate([drawn(3), np.array(["MKV", "X" * 50], dtype=object)])
    points = space.fit_composition(drawn(3), 5).of_sequences(sequences)
    assert np.isfinite(points[:-2]).all() and np.isnan(points[-2:]).all()


def test_a_place_depends_neither_on_the_other_proteins_nor_on_their_order() -> None:
    sequences = drawn(4)
    first = space.fit_composition(sequences, 6)
    again = space.fit_composition(sequences[::-1], 6)
    assert json.dumps(to_record(first)) == json.dumps(to_record(again))
    together = first.of_sequences(sequences)
    alone = np.concatenate([first.of_sequences(sequences[row : row + 1]) for row in range(5)])
    np.testing.assert_allclose(alone, together[:5], atol=1e-6)
    read = from_record(space.Space, json.loads(json.dumps(to_record(first))))
    np.testing.assert_array_equal(read.of_sequences(sequences), together)


def test_blocks_and_threads_change_no_place(monkeypatch: pytest.MonkeyPatch) -> None:
    sequences = np.append(drawn(3), ["MKV"]).astype(object)
    made = space.fit_composition(sequences, 5)
    whole = made.of_sequences(sequences)
    monkeypatch.setattr(space, "PROTEINS_AT_ONCE", 7)
    np.testing.assert_array_equal(made.of_sequences(sequences, threads=2), whole)
    assert np.isnan(whole[-1]).all()
    assert made.of_sequences(sequences[:0]).shape == (0, 5)


def test_axes_are_those_of_a_full_decomposition() -> None:
    rng = np.random.default_rng(5)
    vectors = rng.normal(size=(200, 30)) * np.linspace(3, 0.1, 30)
    found = space.fit_vectors(vectors, 4)
    centred = vectors - vectors.mean(axis=0)
    _, singular, right = np.linalg.svd(centred, full_matrices=False)
    np.testing.assert_allclose(found.explained, singular[:4] ** 2 / (singular**2).sum(), rtol=1e-3)
    # Of one sign: the largest entry of each axis is positive.
    assert (found.axes[np.abs(found.axes).argmax(axis=0), range(4)] > 0).all()
    np.testing.assert_allclose(np.abs((found.axes * right[:4].T).sum(axis=0)), 1.0, atol=1e-3)
    expected = centred @ found.axes
    np.testing.assert_allclose(found.place(vectors), expected, atol=1e-4)


def test_relatives_lie_nearer_than_strangers() -> None:
    sequences = drawn(6, 30)
    rng = np.random.default_rng(7)
    relatives = np.array(
        ["".join(c if rng.random() < 0.9 else "A" for c in sequence) for sequence in sequences],
        dtype=object,
    )
    made = space.fit_composition(np.concatenate([sequences, relatives]), 16)
    points, others = made.of_sequences(sequences), made.of_sequences(relatives)
    distance = np.linalg.norm(points[:, None] - others[None], axis=2)
    assert (distance.argmin(axis=1) == np.arange(30)).mean() > 0.9
