from __future__ import annotations

import numpy as np
import pytest
from verification.in_memory import summarise_query_set

from credence.confidence import Confidence, Note
from credence.evaluation.queries import (
    CONFIDENCE_EDGES,
    N_NOVELTY_BINS,
    NovelSet,
    UseColumns,
    query_set_counts,
    query_set_of,
)
from credence.novelty.reference import build
from credence.novelty.space import Space
from credence.predictions import from_scores


def test_a_query_set_is_counted_by_class_and_level() -> None:
    scores = np.array([[9.0, 1.0], [8.0, 2.0], [1.0, 9.0], [2.0, 8.0]])
    ids = np.array(["p1", "p2", "p3", "p4"], dtype=object)
    predictions = from_scores(ids, ("A", "B"), scores, 10.0, 0.01)
    value = np.array([0.96, 0.6, 0.85, np.nan])
    note = np.array([0, 0, 0, int(Note.UNSEEN_CLASS)])
    confidence = Confidence(
        value=value, lower=value - 0.1, upper=value + 0.01, support=np.ones(4), note=note
    )
    found = summarise_query_set("sea", "kernel", predictions, confidence)
    assert (found.n, found.n_unknown) == (4, 1)
    first, second = found.classes
    assert (first.n, first.n_unknown, first.n_check) == (2, 0, 2)
    assert (second.n, second.n_unknown, second.n_check) == (2, 1, 1)
    assert sum(found.counts) == 3
    assert [(entry.name, entry.value) for entry in found.notes] == [
        ("class never predicted in calibration", "1")
    ]


def test_each_protein_is_counted_by_its_decision() -> None:
    value = np.array([0.9, 0.95, 0.5, np.nan, 0.8, 1.0])
    columns = UseColumns(
        class_=np.array([0, 0, 1, 1, -1, -1]),
        value=value,
        is_accepted=np.array([True, False, False, False, True, False]),
        is_to_check=np.array([False, True, False, False, False, False]),
        is_in_range=np.array([True, False, True, True, True, True]),
    )
    by_class, by_bin = query_set_counts(2, columns)
    # With a confidence and without one; to accept and to check; in its interval. Last, those whose
    # class is not known.
    assert by_class.tolist() == [[2, 0, 1, 1, 1], [1, 1, 0, 0, 1], [2, 0, 1, 0, 2]]
    # Bins hold their upper ends: 0.5, 0.8, 0.9, 0.95 and 1.
    seen = np.flatnonzero(by_bin)
    assert by_bin[seen].tolist() == [1] * 5
    np.testing.assert_allclose(CONFIDENCE_EDGES[seen + 1], [0.5, 0.8, 0.9, 0.95, 1.0])
    found = query_set_of("sea", "kernel", ("A", "B"), (by_class, by_bin), {"odd": 2, "none": 0})
    assert (found.n, found.n_unknown, len(found.classes)) == (6, 1, 2)
    first = found.classes[0]
    assert (first.n_accept, first.n_check, first.n_evident, first.n_in_range) == (1, 1, 2, 1)
    assert [(note.name, note.value) for note in found.notes] == [("odd", "2")]


def names(*values: str) -> np.ndarray:
    return np.array(values, dtype=object)


def test_a_sample_is_summed_up_by_its_distances_whatever_its_pieces() -> None:
    line = Space(
        kind="vectors",
        scale=np.ones(1),
        axes=np.ones((1, 1)),
        origin=np.zeros(1),
        explained=np.ones(1),
    )
    points = np.array([[0.0], [1.0], [5.0], [9.0]])
    # One of each family is 4 from the others; farther than that is flagged.
    classes, family = names("X", "X", "Y", "Y"), names("f", "f", "g", "h")
    known = build(
        line, names("a", "b", "c", "d"), classes, points, family, np.array([[20.0]]), 0.6
    )
    # Distances 0 (the same as one known), 4, 4.5, 6 and 6; the last has no place.
    places = np.array([[0.0], [13.0], [13.5], [15.0], [-6.0], [np.nan]])
    confidence = np.array([0.9, 0.7, 0.4, np.nan, 0.2, 0.1])
    is_off = np.array([True, False, True, False, False, False])
    found = []
    for pieces in ([[0, 1, 2, 3, 4, 5]], [[0, 2], [4, 5], [1, 3]]):
        novel = NovelSet(name="sea", reference=known, held=known.sorted_distances)
        for rows in pieces:
            look = known.look(places[rows])
            novel.add(look, confidence[rows], is_off[rows])
        found.append(novel.finding())
    for finding in found:
        assert (finding.n, finding.n_placed, finding.n_flagged, finding.n_repeats) == (6, 5, 3, 1)
        assert (finding.n_calibration, finding.n_families, finding.n_training) == (4, 3, 1)
        assert finding.n_off == 2
        # Of the flagged ones with a confidence, and of the others that have a place.
        assert finding.confidence_flagged == pytest.approx((0.4 + 0.2) / 2)
        assert finding.confidence_others == pytest.approx((0.9 + 0.7) / 2)
        assert (finding.edges[0], len(finding.edges)) == (0.0, N_NOVELTY_BINS + 1)
        assert finding.edges[-1] == pytest.approx(6.0)  # which two of eight are
        counts = np.zeros((2, N_NOVELTY_BINS), dtype=int)
        counts[0, 20] = 3  # 4 of 6, in thirtieths
        counts[1, [0, 20, 22, 29]] = (1, 1, 1, 2)
        assert finding.calibration_counts == tuple(counts[0])
        assert finding.use_counts == tuple(counts[1])


def test_a_sample_of_nobody_has_one_bin() -> None:
    line = Space(
        kind="vectors",
        scale=np.ones(1),
        axes=np.ones((1, 1)),
        origin=np.zeros(1),
        explained=np.ones(1),
    )
    known = build(
        *(line, names("a", "b"), names("X", "Y"), np.array([[0.0], [1.0]]), names("f", "g")),
        *(None, 0.4),
    )
    nobody = NovelSet(name="sea", reference=known, held=known.sorted_distances).finding()
    assert (nobody.n, np.isnan(nobody.confidence_flagged)) == (0, True)
    assert (nobody.edges[0], nobody.edges[-1]) == (0.0, 1.0)
