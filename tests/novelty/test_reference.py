from __future__ import annotations

import json

import numpy as np
import pytest

from credence.novelty import reference as references
from credence.novelty.reference import Reference, build, distances_apart
from credence.novelty.space import Space
from credence.predictions import Floats
from credence.records import from_record, to_record

LINE = Space(
    kind="vectors",
    scale=np.ones(1),
    axes=np.ones((1, 1)),
    origin=np.zeros(1),
    explained=np.ones(1),
)


def names(values: list[str] | list[str | None]) -> np.ndarray:
    return np.array(values, dtype=object)


def by_hand() -> Reference:
    # Two relatives at 0 and 1, others at 5 and 9: to another family 5, 4, 4 and 4.
    return build(
        LINE,
        names(["a", "b", "c", "d", "e"]),
        names(["X", "X", "Y", "Y", "Y"]),
        np.array([[0.0], [1.0], [5.0], [9.0], [100.0]]),
        names(["f", "f", "g", "h", None]),
        np.array([[20.0], [np.nan]]),
        0.6,
    )


def test_by_hand() -> None:
    known = by_hand()
    np.testing.assert_array_equal(known.own_distance, [5.0, 4.0, 4.0, 4.0, np.nan])
    # By name; one that does not calibrate and one that nobody knows have none.
    np.testing.assert_array_equal(
        known.known_distance(names(["c", "e", "?", "a"])), [4.0, np.nan, np.nan, 5.0]
    )
    look = known.look([[0.0], [13.0], [13.5], [15.0], [np.nan]])
    np.testing.assert_array_equal(look.distance, [0.0, 4.0, 4.5, 6.0, np.nan])
    # One of each family counts: of f it is b, so that all three are 4 from others.
    assert known.ids[known.stands].tolist() == ["b", "c", "d"]
    np.testing.assert_array_equal(look.p, [1.0, 1.0, 0.25, 0.25, np.nan])
    np.testing.assert_array_equal(look.nearest, [0, 3, 3, 3, -1])
    np.testing.assert_array_equal(look.training_distance, [20.0, 7.0, 6.5, 5.0, np.nan])
    np.testing.assert_array_equal(look.is_flagged, [False, False, True, True, False])
    np.testing.assert_array_equal(look.is_repeat, [True, False, False, False, False])


def test_a_protein_that_does_not_calibrate_is_nobodys_neighbour_but_has_a_place() -> None:
    known = by_hand()
    assert known.look([[100.0]]).distance[0] == 91.0
    np.testing.assert_array_equal(known.places(names(["e", "nobody"])), [[100.0], [np.nan]])


def slow(points: Floats, cluster: list[str]) -> list[float]:
    return [
        min(
            float(np.linalg.norm(point - other))
            for other, family in zip(points, cluster, strict=True)
            if family != own
        )
        for point, own in zip(points, cluster, strict=True)
    ]


def test_distances_to_other_families_are_those_of_the_slow_twin() -> None:
    # A family of sixty is larger than the first look at neighbours.
    rng = np.random.default_rng(1)
    centre = rng.normal(size=(9, 3)) * 4
    family = np.concatenate([np.zeros(60, dtype=int), rng.integers(1, 9, size=60)])
    points = (centre[family] + rng.normal(size=(120, 3)) * 0.1).astype(np.float32).astype(float)
    found = distances_apart(points, family, points, family)
    np.testing.assert_allclose(found, slow(points, family.tolist()), rtol=1e-12)


def test_one_family_alone_gives_no_scale() -> None:
    known = build(
        LINE,
        names(["a", "b"]),
        names(["X", "X"]),
        np.array([[0.0], [1.0]]),
        names(["f", "f"]),
        None,
        0.99,
    )
    look = known.look([[3.0]])
    assert look.distance[0] == 2.0 and np.isnan(look.p[0]) and not look.is_flagged[0]
    assert np.isnan(look.training_distance[0]) and np.isnan(known.limit(known.sorted_distances))


@pytest.mark.parametrize("order", [[4, 2, 0, 3, 1], [1, 0, 2, 4, 3]])
def test_the_order_of_proteins_is_nothing_and_a_record_brings_all_back(order: list[int]) -> None:
    known = by_hand()
    text = json.dumps(to_record(known))
    again = from_record(references.Reference, json.loads(text))
    assert json.dumps(to_record(again)) == text
    shuffled = build(
        LINE,
        names(["a", "b", "c", "d", "e"])[order],
        names(["X", "X", "Y", "Y", "Y"])[order],
        np.array([[0.0], [1.0], [5.0], [9.0], [100.0]])[order],
        names(["f", "f", "g", "h", None])[order],
        np.array([[20.0]]),
        0.6,
    )
    assert json.dumps(to_record(shuffled)) == text
