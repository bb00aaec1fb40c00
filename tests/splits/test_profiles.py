"""Profiles of families, by what they are for: relatives that no two sequences show."""

from __future__ import annotations

import numpy as np
import pytest

from credence.predictions import Integers, Strings
from credence.relatives import profiles as profiles_module
from credence.relatives.alignment import Library, measured
from credence.relatives.closest import EVERY, WORDS, KnownSequences

RESIDUES = np.array(list("ACDEFGHIKLMNPQRSTVWY"))
LENGTH, FAR = 150, 0.72  # of residues drawn anew in a remote relative


def changed(ancestor: Strings, share: float, rng: np.random.Generator) -> str:
    is_new = rng.random(len(ancestor)) < share
    return "".join(np.where(is_new, rng.choice(RESIDUES, len(ancestor)), ancestor))


def world(seed: int = 0) -> tuple[Strings, Integers, Strings]:
    """Four families of a dozen, three single proteins; a remote relative of each of the four."""
    rng = np.random.default_rng(seed)
    ancestors = [rng.choice(RESIDUES, LENGTH) for _ in range(7)]
    texts, family, remote = [], [], []
    for number, ancestor in enumerate(ancestors):
        for _ in range(12 if number < 4 else 1):
            texts.append(changed(ancestor, 0.5, rng))
            family.append(number)
        if number < 4:
            remote.append(changed(ancestor, FAR, rng))
    return np.array(texts, dtype=object), np.array(family), np.array(remote, dtype=object)


def test_a_profile_sees_a_remote_relative_and_no_shuffled_one() -> None:
    texts, family, remote = world()
    known = KnownSequences(texts, texts, family, EVERY)
    rng = np.random.default_rng(1)
    shuffled = np.array(["".join(rng.permutation(list(text))) for text in remote], dtype=object)
    seen, foils = (known.profile_scores(of) for of in (remote, shuffled))
    assert seen.shape == foils.shape == (4, 5)
    assert (seen[:, 0] > 20.0).all()
    assert (foils[:, 0] < 5.0).all()
    assert (np.diff(seen, axis=1) <= 0.0).all()


def test_the_own_family_is_left_out_and_neither_order_nor_threads_matter() -> None:
    texts, family, remote = world()
    known = KnownSequences(texts, texts, family, EVERY)
    own = known.profile_scores(texts, (family, family))
    assert (own[:, 0] < 8.0).all()
    assert (known.profile_scores(texts)[family < 4, 0] > 30.0).all()
    turn = np.random.default_rng(2).permutation(len(texts))
    again = KnownSequences(texts[turn], texts[turn], family[turn], EVERY)
    for one, apart in ((remote, False), (texts, True)):
        both = [(family, of) if apart else None for of in (family, family[turn])]
        np.testing.assert_array_equal(
            known.profile_scores(one, both[0]), again.profile_scores(one, both[1], threads=2)
        )


def test_only_large_families_of_few_have_one(monkeypatch: pytest.MonkeyPatch) -> None:
    texts, family, remote = world()
    known = KnownSequences(texts, texts, family, EVERY)
    assert known.profiles is not None
    assert sorted(family[known.profiles.representative]) == [0, 1, 2, 3]
    monkeypatch.setattr(profiles_module, "MOST_PROFILES", 2)
    less = KnownSequences(texts[:47], texts[:47], family[:47], EVERY).profiles
    assert less is not None
    assert len(less.models) == 2
    by_words = KnownSequences(texts, texts, family, WORDS)
    assert by_words.profiles is None
    assert not by_words.profile_scores(remote).any()


def test_a_family_whose_proteins_are_all_in_another_too_has_its_own() -> None:
    texts, family, _ = world()
    copies = np.concatenate([texts, texts[family == 0]])
    known = KnownSequences(copies, copies, np.append(family, np.full(12, 9)), EVERY)
    assert known.profiles is not None
    assert len(known.profiles.models) == 5


def test_copies_and_odd_letters_make_no_profile_and_no_error() -> None:
    texts = np.array(["M" + "A" * 40, "M" + "A" * 40, "X" * 30, "X" * 31, "MKW*"], dtype=object)
    known = KnownSequences(texts, texts, np.array([0, 0, 1, 1, 2]), EVERY)
    assert np.isfinite(known.profile_scores(texts)).all()
    assert known.profile_scores(texts[:0]).shape == (0, 5)


def test_what_is_laid_over_a_protein_is_its_alignment() -> None:
    texts, family, _ = world(3)
    texts[1] = texts[1][:60] + texts[1][75:]  # a gap in the one, then in the other
    texts[2] = texts[2][:40] + "ACDEFGHIK" + texts[2][40:]
    library, others = Library(texts), np.flatnonzero(family == 0)[1:]
    lines = library.laid_over(0, others)
    pairs = measured(library, np.zeros(len(others), dtype=np.int64), others)
    for line, identity, other in zip(lines, pairs.identity, others, strict=True):
        assert len(line) == len(texts[0])
        same = sum(a == b for a, b in zip(line, texts[0], strict=True))
        columns = same / identity
        assert columns == pytest.approx(round(columns), abs=1e-6)
        assert columns >= len(line.replace("-", ""))
        rest = iter(texts[other])  # its letters are met in their order
        assert all(letter in rest for letter in line.replace("-", ""))
