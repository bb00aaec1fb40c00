"""Proteins that are odd: each has a rule, and none stops a split."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from audits import audit
from credence.proteins import Proteins
from credence.relatives.pairs import Thresholds
from credence.relatives.strict import Split, SplitOptions, split
from credence.simulate.sequences import codes, mutated, written
from small_families import objects

RELATIVES = Thresholds()
LITERAL = Thresholds(most_expected=None)


def proteins_of(*texts: str) -> Proteins:
    return Proteins(
        ids=objects([f"p{row}" for row in range(len(texts))]), sequences=objects(list(texts))
    )


def random_protein(seed: int, length: int) -> str:
    rng = np.random.default_rng(seed)
    return "".join(rng.choice(list("ARNDCQEGHILKMFPSTWYV"), length))


def n_crossing(*texts: str, thresholds: Thresholds = RELATIVES) -> int:
    """Return how many of some proteins, each in a group of its own, have a relative."""
    proteins = proteins_of(*texts)
    return int(audit(proteins, proteins.ids, thresholds).is_crossing.sum())


def split_of(texts: list[str], class_: list[int], **options: Any) -> Split:
    proteins = proteins_of(*texts)
    return split(proteins, proteins.ids, np.array(class_), SplitOptions(cells=None, **options))


LONG = random_protein(1, 300)


def test_a_peptide_of_ten_is_a_relative_of_what_contains_it_and_of_nothing_else() -> None:
    assert n_crossing(LONG, LONG[100:110]) == 2
    assert n_crossing(LONG, LONG[100:109] + "WW"[: 1 + (LONG[109] == "W")]) == 0
    assert n_crossing(LONG, random_protein(2, 10)) == 0


def test_so_short_that_any_protein_contains_it_is_no_relative() -> None:
    assert n_crossing(LONG, LONG[100:104]) == 0
    assert n_crossing(LONG, LONG[100:104], thresholds=LITERAL) == 2


def test_a_peptide_of_25_with_one_residue_changed_is_a_relative() -> None:
    changed = "A" if LONG[112] != "A" else "V"
    assert n_crossing(LONG, LONG[100:112] + changed + LONG[113:125]) == 2


def test_a_peptide_in_a_protein_covers_one_side_only() -> None:
    both = Thresholds(both_sides=True)
    assert n_crossing(LONG, LONG[100:110], thresholds=both) == 0
    assert n_crossing(LONG, LONG[10:], thresholds=both) == 2


def test_letters_of_two_residues_and_rare_ones_are_what_they_stand_for() -> None:
    letters = {"D": "B", "E": "Z", "L": "J", "C": "U", "K": "O"}
    assert n_crossing(LONG, "".join(letters.get(one, one) for one in LONG)) == 2


def test_unknown_residues_are_alike_to_nothing() -> None:
    assert n_crossing("X" * 100, "X" * 90 + "A") == 0
    assert n_crossing(LONG, "X" * 10) == 0
    # Identical sequences are relatives, whatever is in them.
    assert n_crossing("X" * 100, "X" * 100) == 2


@pytest.mark.parametrize("thresholds", [RELATIVES, LITERAL])
def test_a_titin_is_compared_like_all_others(thresholds: Thresholds) -> None:
    titin = random_protein(3, 30_000)
    domain = written(mutated(codes(titin[12_000:12_200]), 0.6, np.random.default_rng(4)))
    found = audit(proteins_of(titin, domain), objects(["1", "2"]), thresholds)
    assert found.is_crossing.sum() == 2
    assert 0.4 <= found.pairs.identity[0] < 0.9
    assert found.pairs.coverage_longer[0] < 0.01


def test_two_identical_proteins_of_two_classes_stay_together() -> None:
    texts = [LONG, LONG, *(random_protein(seed, 80) for seed in range(10, 18))]
    found = split_of(texts, [0, 1] * 5, n_groups=3, strict="join")
    assert found.packing.group[0] == found.packing.group[1]
    assert found.audit.is_crossing.sum() == 0


def test_one_protein_is_a_group_of_one() -> None:
    found = split_of([LONG], [0], n_groups=12)
    assert found.packing.group.tolist() == ["1"]
    assert (found.audit.is_examined.sum(), found.audit.is_crossing.sum()) == (1, 0)


@pytest.mark.parametrize("strict", ["report", "join", "set_aside"])
def test_where_all_proteins_are_related_what_was_asked_for_is_done(strict: str) -> None:
    rng = np.random.default_rng(5)
    texts = [written(mutated(codes(LONG), 0.8, rng)) for _ in range(12)]
    found = split_of(texts, [0] * 12, n_groups=3, strict=strict)
    groups = found.packing.group[found.packing.group != ""]
    if strict == "report":
        assert found.audit.is_crossing.sum() == 12
    elif strict == "join":
        # One group holds all of them; cutting the family would waste most of it.
        assert (len(groups), len(set(groups)), found.audit.is_crossing.sum()) == (12, 1, 0)
        assert [one.n for one in found.whole] == [12]
    else:
        assert (len(groups), len(set(groups)), found.audit.is_crossing.sum()) == (4, 1, 0)


@pytest.mark.parametrize("strict", ["join", "set_aside"])
def test_the_literal_definition_ends_with_nothing_crossing_too(strict: str) -> None:
    rng = np.random.default_rng(6)
    texts = [random_protein(seed, int(rng.integers(60, 300))) for seed in range(20, 50)]
    texts += [written(mutated(codes(text), 0.5, rng)) for text in texts[:10]]
    texts += [random_protein(seed, 9) for seed in range(50, 60)]
    options = {"n_groups": 4, "strict": strict, "thresholds": LITERAL}
    found = split_of(texts, [0] * len(texts), **options)
    assert found.audit.is_crossing.sum() == 0
    # Chance is what excludes the pairs of peptides, and the audit counts them.
    usual = split_of(texts, [0] * len(texts), n_groups=4, strict="join")
    assert usual.audit.n_counted == 40
    assert usual.audit.n_by_chance > 0
    assert found.audit.n_counted == 0


def test_headers_are_nothing_however_long_or_odd() -> None:
    rng = np.random.default_rng(7)
    texts = [random_protein(seed, 70) for seed in range(60, 66)]
    texts += [written(mutated(codes(text), 0.7, rng)) for text in texts]
    plain = Proteins(ids=objects([f"p{row:02d}" for row in range(12)]), sequences=objects(texts))
    odd = Proteins(
        ids=objects([f"p{row:02d} {'x' * 5000}|,\t'\"" for row in range(12)]),
        sequences=plain.sequences,
    )
    options = SplitOptions(n_groups=3, cells=None)
    class_ = np.zeros(12, dtype=int)
    one = split(plain, plain.ids, class_, options).packing.group
    other = split(odd, odd.ids, class_, options).packing.group
    assert one.tolist() == other.tolist()
