"""Short proteins hold few words: none of their relatives is to be lost for that."""

from __future__ import annotations

import numpy as np
import pytest

from credence.predictions import Integers
from credence.proteins import Proteins
from credence.relatives import candidates, mmseqs
from credence.relatives.alignment import Library
from credence.relatives.all_engines import build_engine
from credence.relatives.graph import GraphEngine, components, draw_graph
from credence.relatives.mmseqs import MmseqsFinder
from credence.relatives.pairs import Pairs, Thresholds, distinct
from credence.simulate.sequences import codes, mutated, written
from small_families import objects

pytestmark = pytest.mark.long  # each asks MMseqs2 several times


def clusters(proteins: Proteins) -> list[str]:
    """Return the clusters of a search: so few proteins would be scored in full."""
    engine = GraphEngine(finder=MmseqsFinder(most_cells=0.0), thresholds=Thresholds())
    return list(engine.cluster(proteins).cluster)


RESIDUES = list("ARNDCQEGHILKMFPSTWYV")
HALF = 33


def behind_copies(n_families: int) -> Proteins:
    """Return families whose last is a relative of a copy, and of what stands for it hardly.

    Copies keep one half of the first protein and half of the other half, so that they
    are 0.75 alike to it; the last one keeps more of a copy's own half than of the shared one.
    """
    rng = np.random.default_rng(3)
    texts = []
    for _ in range(n_families):
        shared, own = ("".join(rng.choice(RESIDUES, HALF)) for _ in range(2))
        copies = [written(mutated(codes(own), 0.5, rng)) for _ in range(2)]
        texts += [shared + own, *(shared + copy for copy in copies)]
        parts = (shared, 0.35), (copies[0], 0.62)
        texts.append("".join(written(mutated(codes(text), kept, rng)) for text, kept in parts))
    return Proteins(
        ids=objects([f"p{row:03d}" for row in range(len(texts))]), sequences=objects(texts)
    )


def relatives_apart(proteins: Proteins) -> tuple[Pairs, Integers]:
    """Return all relatives, aligned one with all, and in which of them clusters part them."""
    found = distinct(proteins.sequences)
    pairs = Library(texts=found.texts).relatives()
    pairs = pairs.take(pairs.at(Thresholds()))
    _, linked = draw_graph(proteins, MmseqsFinder(most_cells=0.0), Thresholds())
    home = components(len(found.texts), linked.first, linked.second)
    return pairs, np.flatnonzero(home[pairs.first] != home[pairs.second])


def test_no_relative_of_a_short_protein_is_lost_behind_near_copies(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    proteins = behind_copies(40)
    pairs, apart = relatives_apart(proteins)
    assert pairs.n_pairs > 150
    assert len(apart) == 0
    # Searched like long ones, some are: the test can fail.
    monkeypatch.setattr(mmseqs, "NEARNESSES", ((1, 0.7),))
    monkeypatch.setattr(mmseqs, "REACHES", ((1, 5.7),))
    assert len(relatives_apart(proteins)[1]) == 0  # the second search finds them
    monkeypatch.setattr(candidates, "SMALL_COMPONENT", 0)
    assert len(relatives_apart(proteins)[1]) > 0


def test_a_domain_that_only_a_near_copy_has_is_not_hidden_behind_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(8)
    domain, long = ("".join(rng.choice(RESIDUES, size)) for size in (80, 1_100))
    family = [written(mutated(codes(domain), 0.6, rng)) for _ in range(8)]
    # The last copy is 0.93 covered; one of the others stands for it.
    copies = [long, *(long[cut:] for cut in range(1, 6)), long[:1_010] + domain]
    texts = objects([*copies, *family])
    proteins = Proteins(ids=objects([f"p{row}" for row in range(len(texts))]), sequences=texts)
    # The second search would find it as well.
    monkeypatch.setattr(candidates, "SMALL_COMPONENT", 0)
    assert len(set(clusters(proteins))) == 1
    monkeypatch.setattr(mmseqs, "OVERHANG", 200)
    assert len(set(clusters(proteins))) == 2


def test_a_fusion_is_not_taken_for_a_near_copy_of_one_with_another_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(12)
    shared, end, domain = ("".join(rng.choice(RESIDUES, size)) for size in (275, 123, 115))
    # End to end 0.7 of the residues are alike, and the domain is less than 400 residues long.
    others = [written(mutated(codes(shared), 0.99, rng)) + end for _ in range(8)]
    family = [written(mutated(codes(domain), 0.6, rng)) for _ in range(8)]
    texts = objects([*others, shared + domain, *family])
    proteins = Proteins(ids=objects([f"p{row:02d}" for row in range(len(texts))]), sequences=texts)
    monkeypatch.setattr(candidates, "SMALL_COMPONENT", 0)
    assert len(set(clusters(proteins)[8:])) == 1


def test_clusters_covered_on_both_sides_leave_a_domain_apart_from_its_whole() -> None:
    rng = np.random.default_rng(5)
    whole = "".join(rng.choice(RESIDUES, 300))
    texts = objects([whole, whole[:290], whole[100:160], whole[120:132]])
    proteins = Proteins(ids=objects(["whole", "end", "domain", "peptide"]), sequences=texts)
    one = build_engine("mmseqs").cluster(proteins).cluster
    assert one.tolist() == ["whole"] * 4
    both = build_engine("mmseqs", Thresholds(both_sides=True)).cluster(proteins).cluster
    assert both.tolist() == ["whole", "whole", "domain", "peptide"]


def test_a_crowd_that_fills_all_lists_does_not_hide_who_is_in_two_families(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(2)
    crowd, other = (codes("".join(rng.choice(RESIDUES, size))) for size in (100, 250))
    many = [written(mutated(crowd, 0.8, rng)) for _ in range(150)]
    few = [written(mutated(other, 0.8, rng)) for _ in range(16)]
    both = written(mutated(crowd, 0.52, rng)) + written(mutated(other, 0.8, rng))
    found = distinct(np.array([*many, *few, both], dtype=object))
    monkeypatch.setattr(mmseqs, "MOST_HITS", 20)
    monkeypatch.setattr(mmseqs, "START", 0.0)  # a search for each length, as in large sets
    monkeypatch.setattr(candidates, "CROWD", 50)

    def n_components() -> int:
        pairs = MmseqsFinder(most_cells=0.0).among(found.texts, Thresholds().looser())
        return len(set(components(len(found.texts), pairs.first, pairs.second).tolist()))

    assert n_components() == 1
    monkeypatch.setattr(candidates, "CROWD", 10_000)
    assert n_components() == 2
