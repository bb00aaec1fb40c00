"""Thresholds of each class: each number worked out by hand, or by plain loops."""

from __future__ import annotations

import math
from dataclasses import astuple

import numpy as np
import pytest

from credence.findings import Threshold
from credence.lists.errors import errors_of
from credence.lists.held_out import CONFIDENCE_STEPS, held_out_of
from credence.lists.thresholds import (
    MOST_CURVE_POINTS,
    ON_CONFIDENCE,
    Wanted,
    curve_of,
    error_above,
    find_thresholds,
)
from credence.lists.thresholds import by_score as ranked_by_score
from credence.predictions import Labelled, Predictions, label

NAMES = ("Tail", "Other", "Portal")
# Score, predicted and true class, weight and family.
ROWS = [
    (1.0, 0, 0, 1.0, "f1"),
    (0.9, 0, 0, 2.0, "f2"),
    (0.8, 0, 1, 1.0, "f3"),
    (0.8, 0, 0, 1.0, "f2"),
    (0.5, 0, 0, 1.0, "f4"),
    (0.3, 0, 1, 2.0, "f5"),
    (0.7, 1, 0, 2.0, "f6"),
    (0.6, 1, 1, 1.0, "f7"),
    (0.6, 2, 2, 1.0, "f8"),
]


def labelled_of(rows: list[tuple[float, int, int, float, str]]) -> Labelled:
    score, predicted, true, weight, family = (np.array(part) for part in zip(*rows, strict=True))
    ids = np.array([f"p{score}{place}" for place, (score, *_) in enumerate(rows)], dtype=object)
    predictions = Predictions(
        ids=ids,
        class_names=NAMES,
        scale=1.0,
        resolution=0.1,
        predicted_class=predicted,
        top_score=score,
    )
    return label(predictions, true, weight, family.astype(object))


def by_score(labelled: Labelled, *precision: float, certainty: float = 0.5) -> list[Threshold]:
    return list(
        find_thresholds(
            labelled, None, Wanted(precision=precision, certainty=certainty, level=0.9, n_draws=50)
        ).rows
    )


def test_a_wrong_family_is_added_to_what_is_above_each_threshold() -> None:
    tail = labelled_of(ROWS).take(np.arange(6))
    # Of weights 1, 3, 5, 6, 8 in 1 to 5 families 0, 0, 1, 1, 3 are wrong. One family more weighs,
    # of the whole, n Σ w² / (families · (Σ w)²): fewer families count where weights differ.
    added = [1.0, 2 * 5 / (2 * 9), 4 * 7 / (3 * 25), 5 * 8 / (4 * 36), 6 * 12 / (5 * 64)]
    share = [0.0, 0.0, 1 / 5, 1 / 6, 3 / 8]
    steps = [(part + one) / (1 + one) for part, one in zip(share, added, strict=True)]
    error = [steps[0], steps[1], *[steps[2]] * 3, *[steps[3]] * 2, *[steps[4]] * 4]
    ranked = ranked_by_score(tail)
    assert ranked.grid.tolist() == [1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.0]
    np.testing.assert_allclose(error_above(ranked), error, rtol=0, atol=1e-12)


def test_a_threshold_is_the_lowest_that_has_the_precision() -> None:
    rows = by_score(labelled_of(ROWS), 0.6, 0.5, 0.75)
    found = {(row.class_name, row.precision): row for row in rows}
    tail = found["Tail", 0.6]
    # From 0.4 on 6 of the weight of 8 is let through, 5 of it right; of the 7 that are Tail, too.
    assert (tail.threshold, tail.n, tail.n_families) == (0.4, 6, 4)
    assert (tail.kept, tail.kept_true, tail.right) == pytest.approx((6 / 8, 5 / 7, 5 / 6))
    # All of it has 4.6 / 9.6 wrong; nothing has a quarter.
    tail = found["Tail", 0.5]
    assert (tail.threshold, tail.n_families) == (0.0, 5)
    assert (tail.kept, tail.kept_true, tail.right) == pytest.approx((1.0, 5 / 7, 5 / 8))
    tail = found["Tail", 0.75]
    numbers = (tail.threshold, tail.kept, tail.kept_true, tail.right, tail.right_lower)
    assert np.isnan(numbers).all()
    assert (tail.n, tail.n_families) == (6, 0)
    # One right family and one wrong: exactly a half is allowed.
    portal = found["Portal", 0.5]
    assert (portal.threshold, portal.kept, portal.kept_true) == (0.0, 1.0, 1.0)
    # Of all classes together the members are all: with 1, 3 and 5 as above, then 7 of 4 families,
    # with two more wrong, 9 of 6, 10 of 7 and 12 of 8: (3 + 10/7) / (10 + 10/7) = 0.39 at 0.4.
    every = found[None, 0.6]
    assert (every.threshold, every.n, every.n_families) == (0.4, 9, 7)
    assert (every.kept, every.kept_true, every.right) == pytest.approx((10 / 12, 7 / 12, 7 / 10))


def test_an_interval_holds_the_share_right_and_is_that_of_its_own_threshold() -> None:
    labelled = labelled_of(ROWS)
    rows = by_score(labelled, 0.6, 0.5)
    for row in rows:
        if not math.isnan(row.threshold):
            assert 0.0 < row.right_lower < row.right
            assert row.right <= row.right_upper <= 1.0
        (alone,) = (
            other
            for other in by_score(labelled, row.precision)
            if other.class_name == row.class_name
        )
        np.testing.assert_array_equal(astuple(alone)[4:], astuple(row)[4:])
    wide, narrow = (row for row in rows if row.class_name == "Tail")
    assert wide.right_lower != narrow.right_lower


def test_what_has_the_threshold_itself_is_let_through() -> None:
    rows = [(1.0, 0, 0, 2.0, "f1"), (0.9, 0, 0, 1.0, "f2"), (0.9, 0, 1, 0.5, "f3")]
    tail = by_score(labelled_of([*rows, (0.8, 0, 1, 4.0, "f4")]), 0.6)[1]
    # With a family of 2, of 3.5/3 and of 7.5/4 added, 1/2, 0.36 and 0.68 are wrong.
    assert (tail.threshold, tail.n_families) == (0.9, 3)
    assert (tail.kept, tail.kept_true, tail.right) == pytest.approx((3.5 / 7.5, 1.0, 3.0 / 3.5))


def many_rows(seed: int, n: int = 240) -> list[tuple[float, int, int, float, str]]:
    """Return families of which some are right in part."""
    rng = np.random.default_rng(seed)
    score = np.round(rng.beta(2.0, 1.0, n), 1)
    is_right = rng.random(n) < 0.3 + 0.7 * score
    return [
        (float(one), 0, int(not right), float(weight), f"f{family}")
        for one, right, weight, family in zip(
            score, is_right, rng.choice([0.5, 1.0], n), rng.integers(0, n // 2, n), strict=True
        )
    ]


def test_what_a_guarantee_lets_through_is_counted_at_its_own_threshold() -> None:
    rows = many_rows(1)
    total = sum(row[3] for row in rows)
    of_tail = sum(row[3] for row in rows if row[2] == 0)
    differing = 0
    for found in by_score(labelled_of(rows), 0.5, 0.6, 0.7, certainty=0.9):
        if found.class_name != "Tail":
            continue
        assert not math.isnan(found.sure)
        above = [row for row in rows if row[0] >= found.sure]
        differing += found.sure != found.threshold
        assert found.sure_kept == pytest.approx(sum(row[3] for row in above) / total)
        right = sum(row[3] for row in above if row[2] == 0)
        assert found.sure_kept_true == pytest.approx(right / of_tail)
        assert found.sure_families == len({row[4] for row in above})
        assert found.n_more == 0
    assert differing
    # With few families there is none, and how many more would give one is said: 0.5⁴ = 0.5 / 8,
    # and three of the four families that are let through at 0.5 need not be right for that.
    tail = by_score(labelled_of(ROWS), 0.5)[1]
    assert math.isnan(tail.sure) and math.isnan(tail.sure_kept)
    assert (tail.sure_families, tail.n_more) == (0, 2)


def test_the_order_of_rows_decides_nothing() -> None:
    # Of a family that is right in part, the protein whose name has the least hash speaks.
    labelled, precision = labelled_of(many_rows(2)), [0.5 + 0.02 * step for step in range(20)]
    before = by_score(labelled, *precision)
    for seed in range(5):
        moved = np.random.default_rng(seed).permutation(labelled.n_samples)
        after = by_score(labelled.take(moved), *precision)
        for one, other in zip(before, after, strict=True):
            first, second = (astuple(row)[2:] for row in (one, other))
            np.testing.assert_allclose(first, second, rtol=1e-12)


def test_thresholds_and_curves_on_confidences_are_those_of_proteins_held_out() -> None:
    labelled = labelled_of(ROWS)
    confidence = np.array([0.95, 0.9, 0.8, 0.8, 0.5, 0.3, 0.7, 0.6, np.nan])
    held_out = held_out_of(labelled, confidence)
    found = find_thresholds(
        labelled, held_out, Wanted(precision=(0.6,), certainty=0.5, level=0.9, n_draws=20)
    )
    rows = {row.class_name: row for row in found.rows if row.on == ON_CONFIDENCE}
    tail = rows["Tail"]
    # As by scores, and from the lowest step above 0.3 on.
    assert tail.threshold == CONFIDENCE_STEPS[CONFIDENCE_STEPS > 0.3][0]
    assert (tail.kept, tail.right, tail.n) == pytest.approx((6 / 8, 5 / 6, 6))
    assert rows["Portal"].n == 0
    # Of each curve, the steps that hold proteins, what is kept there, and how much is wrong.
    assert [curve.class_name for curve in found.curves] == [None, "Tail", "Other"]
    every, tail_curve, other = found.curves
    assert every.confidence == (0.3, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
    assert every.kept == pytest.approx((1.0, 7 / 8, 6 / 8, 5 / 8, 4 / 8, 2 / 8, 1 / 8))
    assert tail_curve.confidence == (0.3, 0.5, 0.8, 0.9, 0.95)
    assert tail_curve.kept == pytest.approx((1.0, 5 / 6, 4 / 6, 2 / 6, 1 / 6))
    assert other.kept == (1.0, 0.5)
    errors = errors_of(
        held_out.of_classes(0),
        np.bincount(held_out.of_classes(0).step, minlength=len(CONFIDENCE_STEPS)),
        0.5,
    )
    steps = np.searchsorted(CONFIDENCE_STEPS, tail_curve.confidence)
    assert tail_curve.error == tuple(errors.error[steps])
    assert tail_curve.bound == tuple(errors.bound[steps]) != tail_curve.error


def test_a_curve_of_many_steps_keeps_its_ends() -> None:
    n = len(CONFIDENCE_STEPS)
    rows = [(float(step), 0, step % 5 == 0, 1.0, f"f{step}") for step in range(n)]
    held_out = held_out_of(labelled_of(rows), CONFIDENCE_STEPS)
    curve = curve_of(None, errors_of(held_out, np.ones(n, dtype=np.int64), 0.95))
    assert len(curve.confidence) == MOST_CURVE_POINTS < n
    assert (curve.confidence[0], curve.confidence[-1]) == (0.0, 1.0)
    assert (curve.kept[0], curve.kept[-1]) == (1.0, 1 / n)
