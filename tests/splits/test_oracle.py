"""The audit against every pair aligned by a second implementation, Biopython's."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pytest
from Bio.Align import Alignment, PairwiseAligner, substitution_matrices

from audits import audit
from credence.proteins import Proteins
from credence.relatives.audit import Audit
from credence.relatives.pairs import Thresholds
from credence.simulate.sequences import codes, mutated, written
from small_families import objects, random_protein

# Karlin and Altschul's parameters of BLOSUM62 with gaps of 11 and 1, as BLAST has them.
LAMBDA, KAPPA, EXPECTED = 0.267, 0.041, 1e-6
N_PROTEINS, N_GROUPS = 400, 12


@cache
def aligner() -> PairwiseAligner:
    return PairwiseAligner(
        mode="local",
        substitution_matrix=substitution_matrices.load("BLOSUM62"),
        open_gap_score=-11,
        extend_gap_score=-1,
    )


def shares(found: Alignment, one: str, other: str) -> tuple[float, float]:
    """Return identity, and coverage of the shorter one, by walking along the columns."""
    at, letters = found.aligned, (one, other)
    matches = sum(
        one[a + step] == other[b + step]
        for (a, end), (b, _) in zip(at[0], at[1], strict=True)
        for step in range(end - a)
    )
    spans = [int(side[-1][1] - side[0][0]) for side in at]
    both = sum(int(end - start) for start, end in at[0])
    columns = spans[0] + spans[1] - both
    shorter = 0 if len(letters[0]) < len(letters[1]) else 1
    return matches / columns, spans[shorter] / len(letters[shorter])


def true_pairs(
    proteins: Proteins, group: np.ndarray, expected: float | None
) -> set[frozenset[int]]:
    """Return pairs of relatives in two groups: every pair is aligned, one after the other."""
    pairs = set()
    texts = proteins.sequences
    for one in range(len(texts)):
        for other in range(one + 1, len(texts)):
            if group[one] == group[other]:
                continue
            a, b = sorted((texts[one], texts[other]), key=lambda text: (-len(text), text))
            score = aligner().score(a, b)
            least = (
                0.5 if expected is None else math.log(KAPPA * len(a) * len(b) / expected) / LAMBDA
            )
            if score < least:
                continue
            identity, coverage = shares(aligner().align(a, b)[0], a, b)
            if identity >= 0.4 and coverage >= 0.8:
                pairs.add(frozenset((one, other)))
    return pairs


def world(n: int, lengths: tuple[int, int], seed: int) -> Proteins:
    """Return families down to 40 % identity and below, fragments, and as many singletons."""
    rng = np.random.default_rng(seed)
    texts: list[str] = []
    while len(texts) < n:
        ancestor = random_protein(rng, rng.integers(*lengths))
        texts.append(ancestor)
        for _ in range(rng.choice([0, 0, 0, 2, 5, 12])):
            child = written(mutated(codes(ancestor), rng.uniform(0.4, 0.99), rng))
            start = rng.integers(0, len(child) // 3) if rng.random() < 0.15 else 0
            texts.append(child[start:])
    return Proteins(ids=objects([f"p{row:03d}" for row in range(n)]), sequences=objects(texts[:n]))


def met(found: Audit) -> set[frozenset[int]]:
    pairs = zip(found.pairs.first.tolist(), found.pairs.second.tolist(), strict=True)
    return {frozenset(pair) for pair in pairs}


@pytest.mark.long
def test_the_audit_of_400_proteins_misses_less_than_one_true_pair_in_a_hundred() -> None:
    proteins = world(N_PROTEINS, (60, 110), 21)
    group = objects([str(number) for number in np.arange(N_PROTEINS) % N_GROUPS])
    found, true = audit(proteins, group, Thresholds()), true_pairs(proteins, group, EXPECTED)
    assert len(true) > 300
    # Of two equally good alignments either program may show the other, hence not none.
    assert len(true - met(found)) < 0.01 * len(true)
    assert len(met(found) - true) < 0.01 * len(true)
    of_true = {row for pair in true for row in pair}
    assert len(of_true ^ set(np.flatnonzero(found.is_crossing).tolist())) <= 0.01 * len(of_true)


@pytest.mark.parametrize("lengths", [(8, 40), (60, 90)])
def test_the_literal_definition_is_met_for_every_pair_whatever_chance_says(
    lengths: tuple[int, int],
) -> None:
    proteins = world(90, lengths, 22)
    group = objects([str(number) for number in np.arange(90) % 5])
    literal = Thresholds(most_expected=None)
    found, true = audit(proteins, group, literal), true_pairs(proteins, group, None)
    assert len(true) > 30
    # Short alignments of low scores tie more often than those of relatives.
    assert len(true ^ met(found)) <= 0.1 * len(true)
    some = np.arange(0, 90, 4)
    sampled = audit(proteins, group, literal, some)
    asked = {pair for pair in met(found) if pair & set(some.tolist())}
    assert met(sampled) == asked
