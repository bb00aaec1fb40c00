from __future__ import annotations

import numpy as np
import pytest
from Bio.Align import PairwiseAligner, substitution_matrices

from credence.simulate.law import WorldSettings, score_law
from credence.simulate.sequences import (
    ALPHABET,
    SHARES_OF_RESIDUES,
    Families,
    codes,
    draw_families,
    evolve,
    mutated,
    relative,
    written,
)


def identity(first: str, second: str) -> float:
    aligner = PairwiseAligner(mode="global", open_gap_score=-11, extend_gap_score=-1)
    aligner.substitution_matrix = substitution_matrices.load("BLOSUM62")
    aligner.end_gap_score = 0.0
    counts = aligner.align(first, second)[0].counts()
    return counts.identities / min(len(first), len(second))


def one_family(size: int) -> Families:
    return Families(
        class_=np.array([3]), size=np.array([size]), is_duplicate=np.zeros(size, dtype=bool)
    )


def test_identities_within_a_family_spread_from_a_quarter_to_near_copies() -> None:
    sequences = evolve(one_family(40), np.random.default_rng(1))
    rng = np.random.default_rng(2)
    pairs = [rng.choice(40, 2, replace=False) for _ in range(60)]
    identities = [identity(sequences[i], sequences[j]) for i, j in pairs]
    assert 0.2 < min(identities) < 0.4
    assert max(identities) > 0.9
    assert np.std(identities) > 0.1


def test_different_families_are_no_relatives() -> None:
    lone = Families(
        class_=np.full(12, 3),
        size=np.ones(12, dtype=np.int64),
        is_duplicate=np.zeros(12, dtype=bool),
    )
    sequences = evolve(lone, np.random.default_rng(3))
    identities = [identity(sequences[i], sequences[i + 1]) for i in range(11)]
    assert max(identities) < 0.35


def test_a_mutated_protein_keeps_the_expected_share_of_its_residues() -> None:
    rng = np.random.default_rng(4)
    parent = rng.integers(20, size=1000).astype(np.uint8)
    child = mutated(parent, 0.7, rng)
    # 1,000 residues: four standard errors are 0.058; a few indels cost alignment columns.
    assert identity(written(parent), written(child)) == pytest.approx(0.7, abs=0.07)


def test_substitutions_follow_blosum() -> None:
    isoleucine = np.full(20_000, ALPHABET.index("I"), dtype=np.uint8)
    letters = written(mutated(isoleucine, 0.0, np.random.default_rng(5)))
    # Isoleucine scores 3 with valine and -4 with glycine, in half bits; their
    # frequencies are 0.073 and 0.074. About 470 glycines: 20 % is four standard errors.
    expected = 2**3.5 * 0.073 / 0.074
    assert letters.count("V") / letters.count("G") == pytest.approx(expected, rel=0.2)
    assert letters.count("I") == 0


def test_the_composition_of_ancestors_is_natural() -> None:
    lone = Families(
        class_=np.full(200, 10),
        size=np.ones(200, dtype=np.int64),
        is_duplicate=np.zeros(200, dtype=bool),
    )
    text = "".join(evolve(lone, np.random.default_rng(6)))
    for letter, share in zip(ALPHABET, SHARES_OF_RESIDUES, strict=True):
        bound = 5 * np.sqrt(share / len(text)) + 0.001  # the shares sum to 1.000 within 0.001
        assert text.count(letter) / len(text) == pytest.approx(share, abs=bound)


def test_lengths_stay_between_sixty_and_twelve_hundred() -> None:
    families = draw_families(
        WorldSettings(), 3000, score_law().prevalence, np.random.default_rng(7)
    )
    lengths = np.array([len(s) for s in evolve(families, np.random.default_rng(8))])
    assert lengths.min() >= 60
    assert lengths.max() <= 1200
    assert np.percentile(lengths, 95) > 3 * np.percentile(lengths, 5)


def test_duplicates_are_the_member_before_them_to_the_letter() -> None:
    copies = np.array([False, True, False, True, True])
    sequences = evolve(
        Families(class_=np.array([0]), size=np.array([5]), is_duplicate=copies),
        np.random.default_rng(9),
    )
    assert sequences[0] == sequences[1]
    assert sequences[2] == sequences[3] == sequences[4]
    assert sequences[1] != sequences[2]


def test_planted_relatives_align_far_above_the_threshold() -> None:
    rng = np.random.default_rng(10)
    for sequence in evolve(one_family(5), rng):
        assert identity(sequence, relative(sequence, rng)) > 0.5


def test_letters_and_codes_are_inverse() -> None:
    assert written(codes("MKVLAWY")) == "MKVLAWY"
