from __future__ import annotations

import numpy as np
import pytest

from credence.proteins import Proteins
from credence.relatives.across import relatives_by_label
from credence.relatives.alignment import Library
from credence.relatives.graph import Finder
from credence.relatives.kmers import ExactFinder
from credence.relatives.mmseqs import MmseqsFinder
from credence.relatives.pairs import Thresholds, distinct
from small_families import families, objects, random_protein

RELATIVES = Thresholds()


def sets() -> tuple[Proteins, Proteins, np.ndarray]:
    """Return new and old proteins of ten families, a repeat among them, and groups."""
    rng = np.random.default_rng(3)
    every = families(rng, 10, 6, 90)
    rows = rng.permutation(every.n_proteins)
    new, old = every.take(rows[:20]), every.take(rows[20:])
    new = Proteins(
        ids=np.append(new.ids, ["twin"]), sequences=np.append(new.sequences, old.sequences[:1])
    )
    return new, old, rng.choice(objects(["1", "2", "3"]), old.n_proteins)


def every_pair(new: Proteins, old: Proteins) -> dict[tuple[int, int], float]:
    """Return the identity of each pair of relatives, aligned one by one."""
    found = {}
    for one, text in enumerate(new.sequences):
        for other, target in enumerate(old.sequences):
            two = distinct(objects([text, target])).texts
            if len(two) == 1:
                found[one, other] = 1.0
                continue
            pairs = Library(texts=two).relatives()
            if pairs.n_pairs and pairs.at(RELATIVES)[0]:
                found[one, other] = float(pairs.identity[0])
    return found


@pytest.mark.parametrize("most_cells", [1e12, 0.0])
def test_the_closest_relative_under_each_label_is_found(most_cells: float) -> None:
    new, old, label = sets()
    wanted: dict[tuple[int, str], float] = {}
    for (one, other), identity in every_pair(new, old).items():
        key = (one, str(label[other]))
        wanted[key] = max(wanted.get(key, 0.0), identity)
    found = relatives_by_label(
        new, old, label, ExactFinder(threads=1, most_cells=most_cells), RELATIVES
    )
    got = {
        (int(one), str(label[other])): float(identity)
        for one, other, identity in zip(found.first, found.second, found.identity, strict=True)
    }
    assert len(wanted) > 30
    assert found.n_pairs == len(got)
    if most_cells:
        assert got == pytest.approx(wanted)
    else:  # candidates share words, which few of the proteins of 90 residues do at 0.6
        assert set(got) <= set(wanted)
        close = {key for key, identity in wanted.items() if identity > 0.6}
        assert len(close - set(got)) <= 0.1 * len(close)


@pytest.mark.long
def test_mmseqs_finds_the_same_groups() -> None:
    new, old, label = sets()
    finders: list[Finder] = [ExactFinder(), MmseqsFinder()]
    one, other = (
        {
            (int(row), str(label[at]))
            for found in [relatives_by_label(new, old, label, finder, RELATIVES)]
            for row, at in zip(found.first, found.second, strict=True)
        }
        for finder in finders
    )
    assert other <= one
    assert len(one - other) <= 1  # the search may lose one below half identity


def test_a_peptide_is_a_relative_of_what_contains_it() -> None:
    rng = np.random.default_rng(2)
    whole = random_protein(rng, 120)
    new = Proteins(ids=objects(["peptide", "chance"]), sequences=objects([whole[40:55], "WWCC"]))
    old = Proteins(ids=objects(["whole"]), sequences=objects([whole]))
    found = relatives_by_label(new, old, objects(["1"]), ExactFinder(), RELATIVES)
    assert (found.first.tolist(), found.second.tolist()) == ([0], [0])


def test_nothing_has_no_relatives() -> None:
    some = Proteins(ids=objects(["a"]), sequences=objects(["MKV"]))
    none = Proteins(ids=objects([]), sequences=objects([]))
    for new, old in ((some, none), (none, some)):
        label = objects(["1"] * old.n_proteins)
        assert relatives_by_label(new, old, label, ExactFinder(), RELATIVES).n_pairs == 0
