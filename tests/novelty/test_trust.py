from __future__ import annotations

import json
import math

import numpy as np
import pytest

from credence.novelty import trust_score
from credence.novelty.neighbours import singles
from credence.novelty.trust_score import TrustSettings
from credence.predictions import Floats, Integers
from credence.records import from_record, to_record

KEEP_ALL = TrustSettings(thin=0.0)


def slow(
    points: Floats, class_: Integers, query: Floats, predicted: int, chosen: TrustSettings
) -> float:
    """Jiang et al., word for word, for one point that is none of those known."""
    kept: list[int] = []
    for member in set(class_.tolist()):
        own = np.flatnonzero(class_ == member)
        n_kept = len(own) - int(chosen.thin * len(own))
        radius = {
            at: sorted(math.dist(points[at], points[other]) for other in own)[
                min(chosen.neighbours, len(own) - 1)
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
    chosen = TrustSettings(thin=thin, neighbours=5)
    found = trust_score.fit(points, class_, 3, chosen).score(queries, predicted)
    expected = [
        slow(points, class_, query, int(code), chosen)
        for query, code in zip(queries, predicted, strict=True)
    ]
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_a_lone_point_of_another_class_in_the_thin_region_is_dropped() -> None:
    dense = np.concatenate([np.zeros((10, 1)), np.full((10, 1), 10.0)])
    dense[:, 0] += np.tile(np.arange(10) * 0.1, 2)
    points = np.concatenate([dense, [[0.5]]])
    class_ = np.array([0] * 10 + [1] * 11)
    query, predicted = np.array([[0.45]]), np.array([0])
    raw = trust_score.fit(points, class_, 2, KEEP_ALL).score(query, predicted)
    kept = trust_score.fit(points, class_, 2, TrustSettings(thin=0.1, neighbours=3)).score(
        query, predicted
    )
    assert raw[0] < 1.1
    assert kept[0] > 100


def test_copies_count_as_the_least_positive_distance() -> None:
    points = singles([[0.0], [2.0], [7.0]])
    model = trust_score.fit(points, np.array([0, 1, 1]), 2, KEEP_ALL)
    # At 0: own distance 0 counts as 2, the least; the other class is 2 away.
    np.testing.assert_array_equal(model.score(points[:1], np.array([0])), [1.0])


def test_where_a_class_has_no_point_nothing_is_known() -> None:
    model = trust_score.fit(np.array([[0.0], [1.0]]), np.array([0, 1]), 3, KEEP_ALL)
    found = model.score([[0.2], [0.2], [np.nan]], np.array([0, 2, 0]))
    assert np.isfinite(found[0]) and np.isnan(found[1:]).all()
    alone = trust_score.fit(np.array([[0.0], [1.0]]), np.array([0, 0]), 2, KEEP_ALL)
    assert np.isnan(alone.score([[0.2]], np.array([0]))).all()


def test_a_record_gives_the_score_back_and_order_is_nothing() -> None:
    rng = np.random.default_rng(2)
    points, class_ = rng.normal(size=(60, 3)), rng.integers(3, size=60)
    model = trust_score.fit(points, class_, 3, TrustSettings())
    order = rng.permutation(60)
    other = trust_score.fit(points[order], class_[order], 3, TrustSettings())
    assert json.dumps(to_record(other)) == json.dumps(to_record(model))
    again = from_record(trust_score.TrustScore, json.loads(json.dumps(to_record(model))))
    np.testing.assert_array_equal(again.score(points, class_), model.score(points, class_))
