"""What to verify next: how verifications are divided, and what they are expected to show."""

from __future__ import annotations

import numpy as np
import pytest

from credence.lists.held_out import STEPS, HeldOut, step_of
from credence.lists.plan import EDGES, by_stratum, divided, plan_of, stratum_of


def held_out(rows: list[tuple[float, int, int, int]]) -> HeldOut:
    """Return calibration proteins of a confidence, predicted and true class, and cluster."""
    confidence, predicted, true, cluster = (np.array(part) for part in zip(*rows, strict=True))
    n = len(np.unique(cluster))
    return HeldOut(
        step_of(confidence.astype(np.float64)),
        predicted,
        true,
        np.ones(len(rows)),
        cluster,
        np.arange(n, dtype=np.uint64),
    )


def counted(*counts: tuple[int, float, int], n_classes: int = 2) -> np.ndarray:
    """Return counts by class and stratum of so many proteins of a class and a confidence."""
    found = np.zeros((n_classes, len(EDGES)), dtype=np.int64)
    for class_, confidence, n in counts:
        found[class_, stratum_of(np.array([confidence]))[0]] += n
    return found


@pytest.mark.parametrize("number", [0, 1, 7, 30, 61])
def test_what_is_divided_adds_up_and_no_stratum_gives_more_than_it_has(number: int) -> None:
    goal = np.array([[3.0, 0.5, 0.0], [9.0, 1.0, 2.0]])
    known, most = np.array([[0, 4, 0], [30, 2, 1]]), np.array([[5, 9, 9], [20, 9, 9]])
    found = divided(goal, known, most, number)
    assert found.sum() == min(number, most.sum())
    assert (found >= 0).all()
    assert (found <= most).all()


def test_evidence_ends_where_the_formula_wants_it() -> None:
    goal, known, most = np.array([4.0, 8.0, 1.0]), np.array([1, 2, 50]), np.array([99, 99, 99])
    found = divided(goal, known, most, 21)
    # λ = 2: 8 − 1 and 16 − 2; the third has enough.
    assert found.tolist() == [7, 14, 0]


def test_steps_fall_into_strata_whole() -> None:
    counts = np.zeros((1, len(STEPS)), dtype=np.int64)
    for place, edge in enumerate(EDGES):
        counts[0, step_of(np.array([edge]))[0]] = place + 1
    assert by_stratum(counts).tolist() == [[place + 1 for place in range(len(EDGES))]]


def test_a_class_without_evidence_is_verified_before_one_that_is_known() -> None:
    known = [(0.75, 0, 0, family) for family in range(60)]
    plan = plan_of(held_out(known), counted((0, 0.75, 50), (1, 0.75, 50)), 10)
    assert plan.n_verify.sum(axis=1).tolist() == [0, 10]
    now, then = plan.width(), plan.width(plan.n_verify)
    assert then[0] == now[0] < now[1]
    assert then[1] < now[1]


def test_a_family_is_one_piece_of_evidence_however_large() -> None:
    large = [(0.75, 0, 0, 0) for _ in range(60)]
    plan = plan_of(held_out(large), counted((0, 0.75, 50)), 10)
    assert plan.n_known.max() == 1


def test_what_is_sure_needs_no_verification() -> None:
    rows = [(0.995, 0, 0, family) for family in range(30)]
    rows += [(0.55, 1, family % 2, 30 + family) for family in range(30)]
    plan = plan_of(held_out(rows), counted((0, 0.995, 500), (1, 0.55, 100)), 40)
    sure, unsure = plan.n_verify.sum(axis=1)
    assert sure < unsure


def test_more_than_there_is_gives_all_there_is() -> None:
    plan = plan_of(held_out([(0.5, 0, 0, 0)]), counted((0, 0.75, 3), (1, 0.2, 2)), 50)
    assert plan.n_verify.sum() == 5


def test_no_stratum_is_given_more_than_it_has_families() -> None:
    rows = [(0.75, class_, family % 2, family) for family in range(20) for class_ in (0, 1)]
    use = counted((0, 0.75, 90), (1, 0.75, 10), (1, 0.55, 10))
    most = counted((0, 0.75, 1), (1, 0.75, 4), (1, 0.55, 9))
    plan = plan_of(held_out(rows), use, 10, most)
    assert (plan.n_verify <= most).all()
    assert plan.n_verify.sum(axis=1).tolist() == [1, 9]
    assert plan_of(held_out(rows), use, 50, most).n_verify.tolist() == most.tolist()


def test_a_stratum_without_evidence_does_not_take_all_from_a_scarce_class() -> None:
    rows = [(0.75, 0, family % 2, family) for family in range(60)]
    rows += [(0.55, 1, family % 2, 60 + family) for family in range(4)]
    # Class 0 has many families, though none of them where half of its use-set is.
    use = counted((0, 0.75, 100), (0, 0.85, 100), (1, 0.55, 200))
    assert plan_of(held_out(rows), use, 20).n_verify.sum(axis=1).tolist() == [0, 20]


def test_a_class_is_verified_all_along_its_confidences() -> None:
    rows = [(0.75, 0, family % 2, family) for family in range(30)]
    plan = plan_of(held_out(rows), counted((0, 0.75, 50), (0, 0.3, 50), n_classes=1), 10)
    assert sorted(plan.n_verify[plan.n_verify > 0].tolist()) == [5, 5]
