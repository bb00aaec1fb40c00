"""The trust score against its definition."""

from __future__ import annotations

import math

import numpy as np
import pytest

from credence.novelty.neighbours import singles
from credence.novelty.trust import NEIGHBOURS_OF_TRUST, Neighbours, dense, trust_among
from credence.predictions import Floats, Integers


def trust_scores(
    points: Floats,
    class_: Integers,
    asked: Floats,
    predicted: Integers,
    thin: float = 0.1,
    neighbours: int = NEIGHBOURS_OF_TRUST,
) -> Floats:
    kept = dense(points, class_, thin, neighbours)
    return trust_among(singles(points)[kept], class_[kept], asked, predicted)


def slow(
    points: Floats, class_: Integers, query: Floats, predicted: int, thin: float, neighbours: int
) -> float:
    """Jiang et al., word for word, for one point that is none of those known."""
    kept: list[int] = []
    for member in set(class_.tolist()):
        own = np.flatnonzero(class_ == member)
        n_kept = len(own) - int(thin * len(own))
        radius = {
            at: sorted(math.dist(points[at], points[other]) for other in own)[
                min(neighbours, len(own) - 1)
            ]
            for at in own.tolist()
        }
        kept += sorted(radius, key=lambda at: radius[at])[:n_kept]
    own_distance = min(math.dist(query, points[at]) for at in kept if class_[at] == predicted)
    other = min(math.dist(query, points[at]) for at in kept if class_[at] != predicted)
    return other / own_distance


@pytest.mark.parametrize("thin", [0.0, 0.1, 0.3])
def test_scores_are_those_of_the_slow_twin(thin: float) -> None:
    rng = np.random.default_rng(1)
    points, class_ = singles(rng.normal(size=(90, 3))), rng.integers(3, size=90)
    queries, predicted = singles(rng.normal(size=(30, 3))), rng.integers(3, size=30)
    found = trust_scores(points, class_, queries, predicted, thin, 5)
    expected = [
        slow(points, class_, query, int(code), thin, 5)
        for query, code in zip(queries, predicted, strict=True)
    ]
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_a_lone_point_of_another_class_in_the_thin_region_is_dropped() -> None:
    crowds = np.concatenate([np.zeros((10, 1)), np.full((10, 1), 10.0)])
    crowds[:, 0] += np.tile(np.arange(10) * 0.1, 2)
    points = np.concatenate([crowds, [[0.5]]])
    class_ = np.array([0] * 10 + [1] * 11)
    query, predicted = np.array([[0.45]]), np.array([0])
    raw = trust_scores(points, class_, query, predicted, thin=0.0)
    kept = trust_scores(points, class_, query, predicted, thin=0.1, neighbours=3)
    assert raw[0] < 1.1
    assert kept[0] > 100


def test_copies_count_as_the_least_positive_distance() -> None:
    points = singles([[0.0], [2.0], [7.0]])
    # At 0: own distance 0 counts as 2, the least; the other class is 2 away.
    found = trust_scores(points, np.array([0, 1, 1]), points[:1], np.array([0]), thin=0.0)
    np.testing.assert_array_equal(found, [1.0])


def test_where_a_class_has_no_point_nothing_is_known() -> None:
    points, asked = np.array([[0.0], [1.0]]), np.array([[0.2], [0.2], [np.nan]])
    found = trust_scores(points, np.array([0, 1]), asked, np.array([0, 2, 0]), thin=0.0)
    assert np.isfinite(found[0]) and np.isnan(found[1:]).all()
    alone = trust_scores(points, np.array([0, 0]), asked[:1], np.array([0]), thin=0.0)
    assert np.isnan(alone).all()


def test_the_order_of_points_is_nothing_to_the_trust_score() -> None:
    rng = np.random.default_rng(2)
    points, class_ = rng.normal(size=(60, 3)), rng.integers(3, size=60)
    order = rng.permutation(60)
    found = trust_scores(points, class_, points, class_)
    again = trust_scores(points[order], class_[order], points, class_)
    np.testing.assert_array_equal(found, again)


def test_the_parts_of_macest_are_those_of_their_definition() -> None:
    rng = np.random.default_rng(4)
    points, class_ = singles(rng.normal(size=(60, 3))), rng.integers(2, size=60)
    class_[:4] = 2  # fewer than ten: no parts
    is_wrong = rng.random(60) < 0.3
    asked = np.concatenate([rng.normal(size=(8, 3)), np.full((1, 3), np.nan)])
    predicted = np.array([0, 1, 0, 1, 0, 1, 2, 3, 0])  # of the last but one nobody is known
    known = Neighbours(points=points, true_class=class_, is_wrong=is_wrong, n_classes=4)
    trust, error, lacking = known.parts(asked, predicted)
    np.testing.assert_array_equal(trust, trust_scores(points, class_, asked, predicted))
    assert np.isfinite(trust[:7]).all()
    for row in range(6):
        near = sorted(
            (math.dist(np.float32(asked[row]), points[at]), bool(is_wrong[at]))
            for at in np.flatnonzero(class_ == predicted[row])
        )[:NEIGHBOURS_OF_TRUST]
        rank = range(1, NEIGHBOURS_OF_TRUST + 1)
        weighed = sum(d / at for (d, _), at in zip(near, rank, strict=True))
        assert lacking[row] == pytest.approx(weighed / sum(1 / at for at in rank))
        assert error[row] == pytest.approx(sum(1 / d for d, wrong in near if wrong))
    assert np.isnan(error[6:]).all() and np.isnan(lacking[6:]).all() and np.isnan(trust[7:]).all()
