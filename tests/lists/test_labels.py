"""Doubtful labels: what is planted is found, and the score is what loops over relatives say."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from credence.lists import labels
from credence.lists.labels import (
    ALIKE,
    SAY_NOTHING,
    SHOW_NOTHING,
    class_chances,
    doubts_of,
    plant,
    with_wrong_labels,
)
from credence.predictions import Labelled, from_scores, label

NAMES = ("Collar", "Portal", "Tail")
N_FAMILIES, SIZE = 60, 3


def clean_world(seed: int = 1, size: int = SIZE) -> Labelled:
    """Return families whose scores speak for their true class, some more than others."""
    rng = np.random.default_rng(seed)
    true = np.repeat(np.arange(N_FAMILIES) % len(NAMES), size)
    scores = rng.dirichlet(np.ones(len(NAMES)), len(true))
    scores[np.arange(len(true)), true] += rng.uniform(1.5, 4.0, len(true))
    scores /= scores.sum(axis=1, keepdims=True)
    ids = np.array([f"p{row:03d}" for row in range(len(true))], dtype=object)
    family = np.array([f"f{row // size:02d}" for row in range(len(true))], dtype=object)
    return label(from_scores(ids, NAMES, scores, 1.0, 0.0), true, cluster=family)


def relabelled(labelled: Labelled, rows: list[int]) -> Labelled:
    true = labelled.true_class.copy()
    true[rows] = (true[rows] + 1) % len(NAMES)
    return replace(labelled, true_class=true)


def slow_doubt(labelled: Labelled, chance: np.ndarray, row: int) -> tuple[float, int]:
    """Return the doubt of one label and the class suggested, relative by relative."""
    own = int(labelled.true_class[row])
    relatives = [
        other
        for other in range(labelled.n_samples)
        if other != row and labelled.cluster[other] == labelled.cluster[row]
    ]
    alike = [row, *(one for one in relatives if labelled.true_class[one] == own)]
    best = (-math.inf, -1)
    for class_ in range(len(NAMES)):
        if class_ == own:
            continue
        margins = []
        for one in alike:
            to, of = (
                (1 - SHOW_NOTHING) * chance[one, which] + SHOW_NOTHING / len(NAMES)
                for which in (class_, own)
            )
            margins.append(math.log(to / (1 - to)) - math.log(of / (1 - of)))
        scores = sum(margins) / (1 + ALIKE * (len(alike) - 1))
        n_there = sum(labelled.true_class[one] == class_ for one in relatives)
        speak = (n_there + 1) / len(alike)
        doubt = scores + math.log((1 - SAY_NOTHING) * speak + SAY_NOTHING)
        best = max(best, (doubt, class_))
    return best


def test_doubts_are_what_loops_over_relatives_find() -> None:
    labelled = relabelled(clean_world(), [0, 30, 31, 32, 100])
    chance = np.random.default_rng(2).dirichlet(np.full(3, 0.4), labelled.n_samples)
    found = doubts_of(labelled, chance)
    for row in range(labelled.n_samples):
        doubt, suggested = slow_doubt(labelled, chance, row)
        assert found.doubt[row] == pytest.approx(doubt)
        assert found.suggested[row] == suggested
        assert found.p_label[row] == chance[row, labelled.true_class[row]]
    assert (found.n_same[30:33] == 2).all() and (found.n_other[30:33] == 0).all()
    assert (found.n_same[0], found.n_other[0]) == (0, 2)
    assert found.n_suggested[0] == (2 if found.suggested[0] == labelled.true_class[1] else 0)


def test_one_wrong_label_in_a_clean_world_is_the_most_doubtful() -> None:
    labelled = relabelled(clean_world(), [40])
    found = doubts_of(labelled, class_chances(labelled))
    assert found.doubt.argmax() == 40
    assert found.suggested[40] == clean_world().true_class[40]
    assert (np.delete(found.doubt, 40) < 0.0).all()


def test_a_family_that_is_mislabelled_as_one_is_found_though_its_labels_agree() -> None:
    rows = [30, 31, 32]
    labelled = relabelled(clean_world(), rows)
    found = doubts_of(labelled, class_chances(labelled))
    assert set(np.argsort(-found.doubt)[:3]) == set(rows)
    assert (found.suggested[rows] == clean_world().true_class[rows]).all()
    assert (found.by_relatives[rows] > 0.0).all()


def test_a_large_family_that_is_mislabelled_as_one_does_not_defend_its_label() -> None:
    """Each further relative with the same wrong label spoke for that label."""
    doubts = []
    for size in (5, 500):
        labelled = clean_world(size=size)
        rows = np.arange(size)
        labelled = relabelled(labelled, rows.tolist())
        chance = np.full((labelled.n_samples, 3), 0.05)
        chance[np.arange(labelled.n_samples), labelled.true_class] = 0.9
        chance[rows] = np.roll(chance[rows], -1, axis=1)  # all scores speak for another class
        doubts.append(doubts_of(labelled, chance).doubt[0])
    assert doubts[1] > 0.9 * doubts[0] > 0.0


def test_relatives_with_weak_scores_are_found_by_those_with_strong_ones() -> None:
    labelled = clean_world()
    chance = np.full((labelled.n_samples, 3), 0.05)
    chance[np.arange(labelled.n_samples), labelled.true_class] = 0.9
    own = labelled.true_class[0]
    other = (own + 1) % 3
    chance[0, [own, other]] = 0.48, 0.47
    assert doubts_of(labelled, chance).doubt[0] < 0.0
    chance[1:3, [own, other]] = 0.05, 0.9
    assert doubts_of(labelled, chance).doubt[0] > 0.0


def test_the_order_of_rows_changes_no_doubt() -> None:
    labelled = relabelled(clean_world(), [0, 30, 31, 32])
    found = doubts_of(labelled, class_chances(labelled))
    order = np.random.default_rng(3).permutation(labelled.n_samples)
    moved = labelled.take(order)
    again = doubts_of(moved, class_chances(moved))
    np.testing.assert_allclose(again.doubt, found.doubt[order], atol=1e-6)
    np.testing.assert_array_equal(again.suggested, found.suggested[order])


def test_without_relatives_scores_alone_decide() -> None:
    labelled = clean_world(size=1)
    chance = class_chances(labelled)
    found = doubts_of(labelled, chance)
    assert not found.n_same.any() and not found.n_other.any() and not found.by_relatives.any()
    others = np.where(np.eye(3, dtype=bool)[labelled.true_class], -1.0, chance)
    np.testing.assert_allclose(found.p_suggested, others.max(axis=1), atol=1e-12)
    np.testing.assert_array_equal(found.doubt > 0.0, found.p_suggested > found.p_label)


@pytest.mark.parametrize("has_scores", [True, False])
def test_top_scores_alone_give_each_class_a_chance(has_scores: bool) -> None:
    labelled = clean_world()
    base = labelled.predictions
    top = base.top_score if has_scores else None
    narrow = replace(base, scores=None, top_score=top, is_distribution=False)
    chance = class_chances(replace(labelled, predictions=narrow))
    np.testing.assert_allclose(chance.sum(axis=1), 1.0)
    wrong = relabelled(replace(labelled, predictions=narrow), [40])
    assert doubts_of(wrong, class_chances(wrong)).doubt.argmax() == 40


def test_wrong_labels_are_planted_half_in_whole_families() -> None:
    labelled = clean_world()
    planted, is_wrong = with_wrong_labels(labelled, 0.1, np.random.default_rng(4))
    assert is_wrong.sum() == 18
    np.testing.assert_array_equal(is_wrong, planted.true_class != labelled.true_class)
    whole = [is_wrong[labelled.cluster == one].all() for one in np.unique(labelled.cluster)]
    assert sum(whole) >= 3
    for one in np.flatnonzero(whole):
        assert len(set(planted.true_class[labelled.cluster == f"f{one:02d}"])) == 1


def test_what_is_stated_of_a_list_is_on_the_safe_side() -> None:
    labelled = clean_world()
    clean = plant(labelled, doubts_of(labelled, class_chances(labelled)))
    assert clean.share == 0.0 and (clean.false == 1.0).all()
    wrong, is_wrong = with_wrong_labels(labelled, 0.1, np.random.default_rng(4))
    doubts = doubts_of(wrong, class_chances(wrong))
    shown = plant(wrong, doubts)
    assert 0.02 < shown.share < 0.1
    _, false = shown.at(doubts.doubt)
    listed = false <= 0.5
    assert listed.sum() >= 10
    assert 1.0 - is_wrong[listed].mean() <= false[listed].max()
    assert shown.at(np.array([-np.inf]))[1] == 1.0
    assert (np.diff(shown.false) <= 0.0).all() and (np.diff(shown.listed) < 0.0).all()


def test_a_class_that_one_family_has_is_judged() -> None:
    labelled = clean_world()
    rows = (labelled.true_class != 2) | (labelled.cluster == "f02")
    few = labelled.take(rows)
    chance = class_chances(few)
    assert np.isfinite(chance).all() and np.isfinite(doubts_of(few, chance).doubt).all()


def test_of_many_classes_biases_take_the_place_of_a_matrix(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    labelled = relabelled(clean_world(), [10])
    by_matrix = class_chances(labelled)
    monkeypatch.setattr(labels, "MOST_CLASSES", 2)
    monkeypatch.setattr(labels.Matrix, "fit_model", None)
    chance = class_chances(labelled)
    np.testing.assert_allclose(chance.sum(axis=1), 1.0, rtol=1e-12)
    assert doubts_of(labelled, chance).doubt.argmax() == 10
    assert np.abs(chance - by_matrix).mean() < 0.05
