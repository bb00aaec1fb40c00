"""Rows under wrong ids are known by labels, and by networks that disagree."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from credence.composition.shifted_rows import RowCounts, row_counts, shifted_rows
from credence.findings import ShiftedRows
from credence.predictions import Integers, Predictions, from_scores
from credence.sentences import sentences_of_rows

NAMES = ("a", "b", "c")


def predicted(classes: Integers, networks: Integers | None = None) -> Predictions:
    """Return predictions of these classes, and of networks by protein and network."""
    ids = np.array([f"p{row}" for row in range(len(classes))], dtype=object)
    cube = None if networks is None else np.eye(len(NAMES))[networks]
    return from_scores(ids, NAMES, np.eye(len(NAMES))[classes], 1.0, 0.01, network_scores=cube)


def found_of(predictions: Predictions, truth: Integers | None = None) -> ShiftedRows | None:
    return shifted_rows(row_counts(predictions, truth))


def draws(seed: int) -> Iterator[tuple[Integers, Integers]]:
    """Yield labels in any order, and predictions of which nine in ten are right."""
    rng = np.random.default_rng(seed)
    truth = rng.choice(3, 300, p=[0.5, 0.3, 0.2])
    wrong = rng.choice(3, 300)
    yield truth, np.where(rng.uniform(size=300) < 0.9, truth, wrong)


@pytest.mark.parametrize("seed", range(20))
def test_labels_in_another_order_than_scores_are_noticed(seed: int) -> None:
    ((truth, classes),) = draws(seed)
    assert found_of(predicted(classes), truth) is None
    shifted = found_of(predicted(classes), np.roll(truth, 1))
    rng = np.random.default_rng(seed)
    mixed = [found_of(predicted(classes), rng.permutation(truth)) for _ in range(10)]
    assert sum(found is None for found in (shifted, *mixed)) <= 2


def test_a_scarce_agreement_beyond_chance_is_not_taken_for_none() -> None:
    # 98 in 100 are of one class: fewer are right than by always naming it, and yet it is known.
    truth, classes = np.zeros(1_000, dtype=np.int64), np.zeros(1_000, dtype=np.int64)
    truth[:20] = 1
    classes[:50] = 1
    assert found_of(predicted(classes), truth) is None


def test_scores_that_tell_nothing_are_stated_with_their_numbers() -> None:
    # Right: 20 + 5 of 40; the largest class 30; by chance (30·25 + 10·15)/40² = 0.5625.
    truth = np.repeat([0, 1], [30, 10])
    classes = np.concatenate([np.repeat([0, 1], [20, 10]), np.repeat([0, 1], [5, 5])])
    found = found_of(predicted(classes), truth)
    assert found is not None
    assert found.agreement == pytest.approx((0.625 - 0.5625) / 0.4375)
    (sentence,) = sentences_of_rows(found)
    assert sentence == (
        "the scores tell nothing about the classes: 62.5 % of 40 proteins are predicted right, "
        "75.0 % are of the largest class, and predictions and labels agree no more than by chance "
        "(kappa 0.14). Labels or rows may stand under wrong ids; do not use these confidences "
        "before that is known"
    )
    assert found_of(predicted(classes[:19]), truth[:19]) is None  # too few for an answer


def test_one_network_in_another_order_is_named_and_a_weak_one_is_not() -> None:
    rng = np.random.default_rng(1)
    ((_, classes),) = draws(1)
    networks = np.where(
        rng.uniform(size=(300, 5)) < 0.9, classes[:, None], rng.choice(3, (300, 5))
    )
    assert found_of(predicted(classes, networks)) is None
    weak = networks.copy()
    weak[:, 3] = np.where(rng.uniform(size=300) < 0.7, classes, rng.choice(3, 300))
    assert found_of(predicted(classes, weak)) is None
    moved = networks.copy()
    moved[:, 3] = rng.permutation(moved[:, 3])
    found = found_of(predicted(classes, moved))
    assert found is not None
    (sentence,) = sentences_of_rows(found)
    assert sentence == (
        "network 4 of 5 disagrees with the others far more than they do among themselves: "
        f"agreement beyond chance {found.with_others:.2f}, among the others "
        f"{found.among_others:.2f}. Its rows may be in another order; give its scores under the "
        "right ids, or leave it out"
    )
    assert found.with_others < 0.1 < 0.7 < found.among_others


def test_parts_of_a_set_add_up_though_the_second_has_its_classes_in_another_order() -> None:
    ((truth, classes),) = draws(2)
    whole = row_counts(predicted(classes), truth)
    parts = [row_counts(predicted(classes[at]), truth[at]) for at in (slice(90), slice(90, None))]
    assert parts[0].plus(parts[1]) == whole
    place = np.array([2, 0, 1])  # of classes of the first in the second
    other = row_counts(predicted(place[classes[90:]]), place[truth[90:]])
    expected = row_counts(predicted(place[classes]), place[truth])
    assert parts[0].plus(other, (2, 0, 1)) == expected
    assert RowCounts(confusion=()).plus(whole) == whole
