"""Pairs, clusters, groups and audits of a small world of proteins."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

from audits import audit
from credence.proteins import Proteins
from credence.relatives.across import relatives_by_label, relatives_in
from credence.relatives.alignment import Library
from credence.relatives.audit import by_class
from credence.relatives.candidates import Candidates, Piece
from credence.relatives.cut import cut_oversized
from credence.relatives.graph import GraphEngine, components, representatives
from credence.relatives.kmers import ExactFinder, WordFinder, links, words_of
from credence.relatives.pack import deviations, lower_bounds, pack, size_ratios
from credence.relatives.pairs import Pairs, Thresholds, contained, distinct, no_pairs, score_needed
from credence.relatives.strict import SplitOptions, split
from credence.releases.attaching import attach
from known_numbers import Known
from small_families import families, objects

RELATIVES = Thresholds()


@cache
def world() -> Proteins:
    """Return families, with copies, fragments, peptides, unknown residues and a fusion."""
    rng = np.random.default_rng(17)
    parts = [families(rng, 3, size, length) for size, length in ((6, 45), (4, 80), (7, 110))]
    texts = [text for part in parts for text in part.sequences]
    texts += [texts[0], texts[20][5:60], texts[40][:20], texts[41][10:18], texts[7][:30]]
    texts += [texts[30][:40] + "XXX" + texts[30][43:], texts[0] + texts[19], "XXXXXXXX", "MKV"]
    order = rng.permutation(len(texts))
    ids = [f"p{row:02d}" for row in range(len(texts))]
    return Proteins(ids=objects(ids), sequences=objects([texts[at] for at in order]))


def class_of() -> np.ndarray:
    return np.random.default_rng(3).integers(0, 3, world().n_proteins)


def listed(pairs: Pairs) -> list[Any]:
    order = np.lexsort((pairs.second, pairs.first))
    return [
        getattr(pairs, name)[order]
        for name in ("first", "second", "identity", "coverage", "coverage_longer")
    ]


@pytest.mark.parametrize("most_expected", [1e-6, None])
def test_pairs_are_what_they_were(most_expected: float | None, known: Known) -> None:
    texts = distinct(world().sequences).texts
    thresholds = Thresholds(identity=0.35, coverage=0.6, most_expected=most_expected)
    rows = np.arange(0, len(texts), 3)
    found = Library(texts=texts).relatives(rows, np.arange(len(texts)) // 2 - 1, thresholds)
    whole = contained(texts, None, most_expected)
    needed = score_needed(50, [8, 50, 3000])
    known.compare(f"pairs {most_expected}", [listed(found), listed(whole), needed])


ENGINES = {
    "words": GraphEngine(finder=WordFinder(), thresholds=Thresholds(identity=0.7)),
    "graph": GraphEngine(finder=ExactFinder(), thresholds=RELATIVES),
    "strict graph": GraphEngine(
        finder=ExactFinder(), thresholds=Thresholds(identity=0.6, coverage=0.8, both_sides=True)
    ),
    "words, aligned": GraphEngine(
        finder=ExactFinder(threads=1, most_cells=0.0), thresholds=RELATIVES
    ),
}


@pytest.mark.parametrize("name", ENGINES)
def test_clusters_are_what_they_were(name: str, known: Known) -> None:
    found = ENGINES[name].cluster(world())
    known.compare(name, [found.cluster, found.identity, found.coverage])


def test_links_by_words_are_what_they_were(known: Known) -> None:
    texts = distinct(world().sequences).texts
    known.compare("links", [np.sort(part) for part in links(words_of(texts), 0.05)])


def test_candidates_connect_what_they_did(known: Known) -> None:
    library = Library(texts=distinct(world().sequences).texts)
    first, second = np.triu_indices(len(library.texts), 1)
    promise = library.scores(first, second) * 0.8

    def again(rows: np.ndarray, *_: object) -> list[Piece]:
        kept = np.isin(first, rows)
        return [lambda: (first[kept], second[kept], promise[kept])]

    pieces: list[Piece] = [lambda: (first[::3], second[::3], promise[::3])]
    found = Candidates(library=library, thresholds=RELATIVES.looser()).connect(
        no_pairs(), pieces, again
    )
    known.compare("candidates", listed(found))


@pytest.mark.parametrize("n_groups", [3, 5])
@pytest.mark.parametrize("by_cluster", [False, True])
def test_groups_are_what_they_were(n_groups: int, by_cluster: bool, known: Known) -> None:
    rng = np.random.default_rng(9)
    cluster = objects([f"c{one}" for one in rng.zipf(1.6, 150) % 60])
    class_ = rng.choice(4, 150, p=[0.5, 0.3, 0.15, 0.05])
    ids = objects([f"p{row}" for row in range(150)])
    _, first, sizes = np.unique(cluster.astype(str), return_index=True, return_counts=True)
    learnt = np.isin(np.arange(150), first[sizes == 2][:3])
    found = pack(
        ids, cluster, class_, n_groups, is_training=learnt, test_group=True, by_cluster=by_cluster
    )
    rows = found.group != "training"
    rows &= found.group != ""
    _, group = np.unique(found.group[rows].astype(str), return_inverse=True)
    _, code = np.unique(cluster[rows].astype(str), return_inverse=True)
    numbers = [
        deviations(group, class_[rows], n_groups),
        lower_bounds(code, class_[rows], n_groups),
        size_ratios(group, n_groups),
    ]
    known.compare(f"groups {n_groups} {by_cluster}", [found.group, found.reason, *numbers])


@pytest.mark.parametrize("strict", ["join", "set_aside", "report"])
def test_splits_are_what_they_were(strict: Any, known: Known) -> None:
    proteins = world()
    found = distinct(proteins.sequences)
    component = components(len(found.texts), *links(words_of(found.texts), 0.8**6))[found.code]
    cluster = proteins.ids[representatives(component, proteins.ids, proteins.lengths)]
    options = SplitOptions(n_groups=4, strict=strict, cells=2e7, test_group=True)
    found = split(proteins, cluster, class_of(), options)
    entry = [found.packing.group, found.packing.reason, found.cluster, found.audit.nearest]
    counts = [found.n_unseen, found.n_joined, found.n_cut, found.n_apart]
    counts += [found.n_least, found.audit.n_counted, found.audit.n_by_chance]
    known.compare(f"split {strict}", [*entry, counts])


def test_a_cut_is_what_it_was(known: Known) -> None:
    proteins = world()
    everyone = np.ones(proteins.n_proteins, dtype=bool)
    cluster = GraphEngine(finder=ExactFinder(), thresholds=RELATIVES).cluster(proteins).cluster
    loose = np.where(np.isin(cluster, cluster[:8]), "x", "y").astype(object)
    found = cut_oversized(proteins, loose, everyone, 9.0, 6, RELATIVES)
    known.compare("cut", [found.cluster, found.reason, found.n_cut, list(found.whole)])


def test_an_audit_is_what_it_was(known: Known) -> None:
    proteins = world()
    group = objects([str(row % 3) for row in range(proteins.n_proteins)])
    seen = audit(proteins, group, RELATIVES, np.arange(0, proteins.n_proteins, 2))
    classes = {str(one): list(pair) for one, pair in by_class(seen, class_of()).items()}
    known.compare("audit", [seen.nearest, seen.is_crossing, listed(seen.pairs), classes])


@pytest.mark.parametrize("most_cells", [1e12, 0.0])
def test_new_proteins_join_what_they_did(most_cells: float, known: Known) -> None:
    proteins = world()
    old, new = proteins.take(np.arange(0, 40)), proteins.take(np.arange(40, proteins.n_proteins))
    finder = ExactFinder(threads=1, most_cells=most_cells)
    group = objects([str(row % 4) for row in range(40)])
    group[::9] = ""
    to_old = relatives_by_label(new, old, group, finder, RELATIVES)
    among = relatives_in(new, new, finder, RELATIVES)
    among = among.take(among.first != among.second)
    found = attach(old.ids, old.ids, group, new.ids, to_old, among)
    closest = relatives_in(new, old, finder, RELATIVES)
    entry = [found.cluster, found.group, found.reason, listed(to_old), listed(closest)]
    known.compare(f"attached {most_cells}", entry)
