"""What proteins of known class are there, and how far a new one is from them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any

import numpy as np

from credence.draws import encode_clusters
from credence.novelty.neighbours import Index, singles
from credence.novelty.space import Space
from credence.predictions import Booleans, Floats, Integers, Strings
from credence.records import PackedFloats, Stored

FIRST_NEIGHBOURS = 16  # asked for before a protein's own cluster is looked through wholly


@dataclass(frozen=True, eq=False)
class Look:
    """How far some proteins are from those that are known."""

    # Part of calibration that is nearer to its other families than this protein is; NaN: unknown.
    novelty: Floats
    distance: Floats  # To the nearest calibration protein
    nearest: Integers  # Which one; -1 where not known
    training_distance: Floats  # To the nearest training protein; NaN without any
    is_flagged: Booleans  # Whether the novelty is above the level of the flag
    is_repeat: Booleans  # Whether a calibration protein is at distance 0


@dataclass(frozen=True, eq=False)
class Reference:
    """The proteins that are known, in a space."""

    flag: float  # Novelty above which a protein is flagged
    space: Space  # In which all points lie
    ids: Strings  # The proteins that have a place, and their true classes
    class_name: Strings
    # Whether each calibrates; the others only have a place.
    is_calibration: Annotated[Booleans, Stored(packed="bool")]
    points: PackedFloats  # Their places
    # Of those that calibrate, the distance to the nearest of another cluster; NaN: none.
    own_distance: PackedFloats
    # Places of what the classifier was trained on.
    training: Annotated[Floats | None, Stored(packed="float32")]

    @cached_property
    def calibration_rows(self) -> Integers:
        """Rows of the proteins that calibrate."""
        return np.flatnonzero(self.is_calibration).astype(np.int64)

    @cached_property
    def sorted_distances(self) -> Floats:
        """The distances of calibration proteins to other clusters, ascending."""
        return np.sort(self.own_distance[np.isfinite(self.own_distance)])

    @cached_property
    def flag_distance(self) -> float:
        """The greatest distance that is not flagged; NaN where nothing is known."""
        known = self.sorted_distances
        place = min(int(np.floor(self.flag * len(known))), len(known) - 1)
        return float(known[place]) if len(known) else float("nan")

    @cached_property
    def _calibration(self) -> Index:
        return Index(self.points[self.calibration_rows])

    @cached_property
    def _training(self) -> Index | None:
        return None if self.training is None or len(self.training) == 0 else Index(self.training)

    def known_distance(self, ids: Strings) -> Floats:
        """Return how far calibration proteins are from other clusters, as new families are."""
        return self._of(ids, self.own_distance)

    def places(self, ids: Strings) -> Floats:
        """Return the places of proteins that are known by name; NaN of the others."""
        return self._of(ids, self.points)

    def _of(self, ids: Strings, values: Floats) -> Floats:
        answer = np.full((len(ids), *values.shape[1:]), np.nan)
        row_of = {id_: row for row, id_ in enumerate(self.ids)}
        rows = np.array([row_of.get(id_, -1) for id_ in ids], dtype=np.int64)
        answer[rows >= 0] = values[rows[rows >= 0]]
        return answer

    def look(self, points: Any) -> Look:
        """Return how far points are from known proteins of other clusters. Decision 1005."""
        queries = singles(points)
        known = np.flatnonzero(np.isfinite(queries).all(axis=1))
        distance = np.full(len(queries), np.nan)
        novelty, training = distance.copy(), distance.copy()
        nearest = np.full(len(queries), -1, dtype=np.int64)
        if len(known) and len(self.calibration_rows):
            found = self._calibration.nearest(queries[known], 1)
            distance[known] = found.distance[:, 0]
            nearest[known] = self.calibration_rows[found.place[:, 0]]
            if len(self.sorted_distances):
                below = np.searchsorted(self.sorted_distances, distance[known], side="left")
                novelty[known] = below / len(self.sorted_distances)
        if len(known) and self._training is not None:
            training[known] = self._training.nearest(queries[known], 1).distance[:, 0]
        is_flagged = np.nan_to_num(novelty, nan=0.0) > self.flag
        return Look(novelty, distance, nearest, training, is_flagged, distance == 0.0)


def distance_to_other_clusters(points: Floats, cluster: Strings) -> Floats:
    """Return the distance of each point to the nearest one of another cluster."""
    answer = np.full(len(points), np.nan)
    code, keys = encode_clusters(cluster)
    if len(keys) < 2:
        return answer
    index = Index(points)
    rows = np.arange(len(points))
    n_neighbours = min(FIRST_NEIGHBOURS, len(points))
    while len(rows):
        found = index.nearest(points[rows], n_neighbours)
        is_other = code[found.place] != code[rows, None]
        has_other = is_other.any(axis=1)
        answer[rows[has_other]] = found.distance[has_other, is_other.argmax(axis=1)[has_other]]
        rows = rows[~has_other]
        if n_neighbours == len(points):
            break
        n_neighbours = min(4 * n_neighbours, len(points))
    return answer


def build(
    space: Space,
    ids: Strings,
    class_name: Strings,
    points: Any,
    cluster: Strings,
    is_calibration: Booleans,
    training: Any,
    flag: float,
) -> Reference:
    """Return what is known, from proteins and their places."""
    kept = np.flatnonzero(np.isfinite(points).all(axis=1))
    kept = kept[np.argsort(ids[kept].astype(str), kind="stable")]
    placed = singles(points[kept])
    calibrates = is_calibration[kept]
    own = np.full(len(kept), np.nan)
    own[calibrates] = distance_to_other_clusters(placed[calibrates], cluster[kept][calibrates])
    if training is not None:
        training = singles(training[np.isfinite(training).all(axis=1)])
        training = training[np.lexsort(training.T[::-1])]
    own = singles(own[:, None])[:, 0]
    known = (ids[kept], class_name[kept], calibrates, placed, own)
    return Reference(flag, space, *known, training)
