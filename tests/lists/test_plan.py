"""What to verify next: how verifications are divided, and what they are expected to show."""

from __future__ import annotations

import numpy as np
import pytest

from credence.lists.held_out import CONFIDENCE_STEPS, HeldOut, step_of
from credence.lists.plan import STRATUM_EDGES, Plan, by_stratum, divided, plan_of, stratum_of


def held_out(rows: list[tuple[float, int, int, int]]) -> HeldOut:
    """Return calibration proteins of a confidence, predicted and true class, and cluster."""
    confidence, predicted, true, cluster = (np.array(part) for part in zip(*rows, strict=True))
    n = len(np.unique(cluster))
    return HeldOut(
        step=step_of(confidence.astype(np.float64)),
        predicted=predicted,
        true=true,
        weight=np.ones(len(rows)),
        cluster=cluster,
        key=np.arange(n, dtype=np.uint64),
    )


def counted(*counts: tuple[int, float, int], n_classes: int = 2) -> np.ndarray:
    """Return counts by class and stratum of so many proteins of a class and a confidence."""
    found = np.zeros((n_classes, len(STRATUM_EDGES)), dtype=np.int64)
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
    counts = np.zeros((1, len(CONFIDENCE_STEPS)), dtype=np.int64)
    for place, edge in enumerate(STRATUM_EDGES):
        counts[0, step_of(np.array([edge]))[0]] = place + 1
    assert by_stratum(counts).tolist() == [[place + 1 for place in range(len(STRATUM_EDGES))]]


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
    # Class 0 has many families, though none of them where half of its query set is.
    use = counted((0, 0.75, 100), (0, 0.85, 100), (1, 0.55, 200))
    assert plan_of(held_out(rows), use, 20).n_verify.sum(axis=1).tolist() == [0, 20]


def test_a_class_is_verified_all_along_its_confidences() -> None:
    rows = [(0.75, 0, family % 2, family) for family in range(30)]
    plan = plan_of(held_out(rows), counted((0, 0.75, 50), (0, 0.3, 50), n_classes=1), 10)
    assert sorted(plan.n_verify[plan.n_verify > 0].tolist()) == [5, 5]


def test_widths_and_shares_are_those_of_the_formula() -> None:
    # Of stratum 4 (0.7 to 0.8, so 0.75 stated) three families: one right, one wrong, one half so.
    rows = [(0.75, 0, 0, 0), (0.75, 0, 1, 1), (0.75, 0, 0, 2), (0.75, 0, 1, 2)]
    # Relatives of another class or stratum are pieces of evidence there.
    rows += [(0.75, 1, 1, 0), (0.995, 0, 0, 0)]
    plan = plan_of(held_out(rows), counted((0, 0.75, 30), (0, 0.995, 10), (1, 0.75, 8)), 6)
    assert plan.n_known[:, [4, 8]].tolist() == [[3, 1], [1, 0]]
    # One family is added that is right as stated: (3 − 1.5 + 0.75) / 4, (1 + 0.995) / 2, 1.75 / 2.
    assert plan.right[0, 4] == pytest.approx(2.25 / 4)
    assert plan.right[0, 8] == pytest.approx((1 + 0.995) / 2)
    assert plan.right[1, 4] == pytest.approx(1.75 / 2)
    assert plan.right[1, 8] == pytest.approx(0.995)
    wide = 2 * 1.959964 * np.sqrt(0.5625 * 0.4375 / 4)
    narrow = 2 * 1.959964 * np.sqrt(0.9975 * 0.0025 / 2)
    assert wide < 1.0
    other = 2 * 1.959964 * np.sqrt(0.875 * 0.125 / 2)
    assert plan.width() == pytest.approx([(30 * wide + 10 * narrow) / 40, other], abs=1e-6)
    more = np.zeros_like(plan.n_known)
    more[0, 4] = 12
    halved = plan.width(more)
    assert halved == pytest.approx([(30 * wide / 2 + 10 * narrow) / 40, other], abs=1e-6)
    # An interval is no wider than 1, and of nobody it has no width.
    unknown = Plan(
        n_query=np.array([[5], [0]]),
        n_known=np.zeros((2, 1)),
        right=np.full((2, 1), 0.5),
        n_verify=np.zeros((2, 1)),
    )
    assert unknown.width().tolist() == [1.0, 0.0]


def test_verifications_go_to_classes_by_the_power_and_to_strata_by_what_is_not_known() -> None:
    # No family anywhere, so all is as stated. Of one class 27 times as many as of another: its
    # λ is 27^⅔ = 9 times as large.
    use = counted((0, 0.55, 2_700), (1, 0.55, 100))
    plan = plan_of(held_out([(0.1, 0, 0, 0)]), use, 10)
    assert plan.n_verify[:, 2].tolist() == [9, 1]
    # A class counts with all its strata: (√0.2475 + √0.2275 + √0.1875)^⅔ is twice √0.2475^⅔.
    many = counted((0, 0.55, 100), (0, 0.65, 100), (0, 0.75, 100), (1, 0.55, 100))
    plan = plan_of(held_out([(0.1, 0, 0, 0)]), many, 8)
    assert plan.n_verify.sum(axis=1).tolist() == [5, 3]  # 2 λ − 1, one family being known
    # But eighteen families of the first are known, of whatever stratum: then 2 λ = 9 λ − 18.
    known = [(0.1, 0, 0, family) for family in range(18)]
    assert plan_of(held_out(known), use, 2).n_verify[:, 2].tolist() == [0, 2]
    # In a class the strata share by N √(p (1 − p)), where what is known there counts for p alone:
    # √(0.55 · 0.45) · 10 and √(0.975 · 0.025) · 60 are as 4.97 and 9.37.
    use = counted((0, 0.55, 10), (0, 0.96, 60), n_classes=1)
    plan = plan_of(held_out([(0.1, 0, 0, 0)]), use, 15)
    middle = (0.95 + 0.99) / 2
    parts = 10 * np.sqrt(0.55 * 0.45), 60 * np.sqrt(middle * (1 - middle))
    wanted = 15 * parts[0] / sum(parts)
    assert plan.n_verify[0, [2, 7]].tolist() == [round(wanted), 15 - round(wanted)]
