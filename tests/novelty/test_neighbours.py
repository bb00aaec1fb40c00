from __future__ import annotations

import numpy as np
import pytest

from credence.novelty import neighbours
from credence.novelty.neighbours import Index, content_keys, least_positive_distance, singles
from credence.predictions import Floats, Integers


def slow(queries: Floats, points: Floats, n_neighbours: int) -> tuple[Floats, Integers]:
    """Every distance, one by one; equal ones by place."""
    distance, place = [], []
    for query in queries:
        pairs = sorted(
            (float(np.sqrt(sum((query - point) ** 2))), at) for at, point in enumerate(points)
        )[:n_neighbours]
        distance.append([pair[0] for pair in pairs])
        place.append([pair[1] for pair in pairs])
    return np.array(distance), np.array(place)


def test_exact_neighbours_are_those_of_the_slow_search() -> None:
    rng = np.random.default_rng(1)
    points, queries = singles(rng.normal(size=(300, 5))), singles(rng.normal(size=(40, 5)))
    found = Index(points=points).nearest(queries, 7)
    distance, place = slow(queries, points, 7)
    np.testing.assert_allclose(found.distance, distance, rtol=1e-14)
    np.testing.assert_array_equal(found.place, place)


def test_equal_distances_go_to_the_earlier_point_however_many_there_are() -> None:
    # A lattice is full of ties, and forty copies of one point are more than the spare ones.
    grid = np.stack(np.meshgrid(*[np.arange(5.0)] * 3), axis=-1).reshape(-1, 3)
    points = singles(np.concatenate([grid, np.repeat(grid[:1], 40, axis=0), grid]))
    queries = singles(np.concatenate([grid[:30], grid[:5] + 0.5]))
    found = Index(points=points).nearest(queries, 4)
    distance, place = slow(queries, points, 4)
    np.testing.assert_array_equal(found.distance, distance)
    np.testing.assert_array_equal(found.place, place)


def test_points_far_from_the_origin_lose_no_digits() -> None:
    rng = np.random.default_rng(2)
    points = singles(1e4 + rng.normal(size=(200, 3)))
    found = Index(points=points).nearest(points, 3)
    distance, place = slow(points, points, 3)
    np.testing.assert_array_equal(found.place, place)
    np.testing.assert_allclose(found.distance, distance, rtol=1e-14)


def test_the_answer_to_one_query_does_not_depend_on_the_others() -> None:
    rng = np.random.default_rng(3)
    points, queries = singles(rng.normal(size=(500, 8))), singles(rng.normal(size=(60, 8)))
    together = Index(points=points).nearest(queries, 5)
    for row in range(0, 60, 7):
        alone = Index(points=points).nearest(queries[row : row + 1], 5)
        np.testing.assert_array_equal(alone.distance[0], together.distance[row])
        np.testing.assert_array_equal(alone.place[0], together.place[row])


def test_threads_and_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(4)
    points, queries = singles(rng.normal(size=(90, 3))), singles(rng.normal(size=(50, 3)))
    whole = Index(points=points).nearest(queries, 3)
    monkeypatch.setattr(neighbours, "QUERIES_IN_BLOCK", 7)
    parts = Index(points=points).nearest(queries, 3, threads=2)
    np.testing.assert_array_equal(parts.distance, whole.distance)
    np.testing.assert_array_equal(parts.place, whole.place)


def test_no_query_gives_no_answer() -> None:
    found = Index(points=singles(np.eye(3))).nearest(np.empty((0, 3)), 2)
    assert found.distance.shape == (0, 2) and found.place.shape == (0, 2)


def test_the_least_positive_distance_passes_over_copies() -> None:
    points = singles([[0.0, 0.0], [0.0, 0.0], [3.0, 4.0], [0.0, 2.0]])
    assert least_positive_distance(points) == 2.0
    assert least_positive_distance(points[:2]) == 1.0


def test_keys_depend_on_the_coordinates_alone() -> None:
    points = singles([[0.0, 1.0], [-0.0, 1.0], [1.0, 0.0]])
    keys = content_keys(points)
    assert keys[0] == keys[1] != keys[2]
    np.testing.assert_array_equal(content_keys(points[::-1]), keys[::-1])
