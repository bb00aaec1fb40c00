"""What proteins of known class are there, and how far a new one is from them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any

import numpy as np

from credence.draws import encode_clusters, keys_of, uniform
from credence.novelty.neighbours import Index, singles
from credence.novelty.space import Space
from credence.predictions import Booleans, Floats, Integers, Strings
from credence.records import PackedFloats, Stored

ROUNDING_OF_SHARE = 1e-9  # of a share
STREAM_OF_FAMILIES = "who stands for a family"
FIRST_NEIGHBOURS = 17  # looked at, before a protein's own cluster is looked through


@dataclass(frozen=True, kw_only=True, eq=False)
class Look:
    """How far some proteins are from those that are known."""

    # How often a protein of a new family is as far: (1 + families at least as far)/(1 + families),
    # one protein of each, with its own family left out; NaN: unknown.
    p: Floats
    far: Floats  # What p is about: the distance, or of sequences `Closest.far`
    distance: Floats  # To the nearest calibration protein
    nearest: Integers  # Which one; -1 where not known
    training_distance: Floats  # To the nearest training protein; NaN without any
    is_flagged: Booleans  # Whether p is so small that the protein is flagged
    is_repeat: Booleans  # Whether a calibration protein is at distance 0
    closest: Strings  # Its best relative among those known, by alignment; '' where not known
    identity: Floats  # With that: share of identical columns of the alignment
    coverage: Floats  # Share of the protein itself that is aligned with it
    # Whether the two are homologues, and the known one is what the classifier learnt from, or
    # calibrates.
    is_learnt: Booleans
    is_calibrated: Booleans

    def take(self, rows: Integers) -> Look:
        """Return those of some proteins."""
        return Look(**{name: values[rows] for name, values in vars(self).items()})


@dataclass(frozen=True, kw_only=True, eq=False)
class Reference:
    """The proteins that are known, in a space."""

    flag: float  # A protein is flagged where p is 1 less this share, or smaller
    space: Space  # In which all points lie
    ids: Strings  # The proteins that have a place, and their true classes
    class_name: Strings
    # Whether each calibrates; the others only have a place.
    is_calibration: Annotated[Booleans, Stored(packed="bool")]
    points: PackedFloats  # Their places
    # Of those that calibrate, the distance to the nearest of another cluster; NaN: none.
    own_distance: PackedFloats
    # Whether it stands for its family among those that calibrate: one of each.
    stands: Annotated[Booleans, Stored(packed="bool")]
    # Places of what the classifier was trained on.
    training: Annotated[Floats | None, Stored(packed="float32")]

    @cached_property
    def calibration_rows(self) -> Integers:
        """Rows of the proteins that calibrate."""
        return np.flatnonzero(self.is_calibration).astype(np.int64)

    @cached_property
    def sorted_distances(self) -> Floats:
        """The distances to other families of one calibration protein of each, ascending."""
        return np.sort(self.own_distance[self.stands])

    @cached_property
    def _calibration(self) -> Index:
        return Index(points=self.points[self.calibration_rows])

    @cached_property
    def _training(self) -> Index | None:
        return (
            None
            if self.training is None or len(self.training) == 0
            else Index(points=self.training)
        )

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

    def look(self, points: Any, threads: int = 1) -> Look:
        """Return how far points are from known proteins of other clusters. Decision 0037."""
        queries = singles(points)
        known = np.flatnonzero(np.isfinite(queries).all(axis=1))
        distance = np.full(len(queries), np.nan)
        training = distance.copy()
        nearest = np.full(len(queries), -1, dtype=np.int64)
        if len(known) and len(self.calibration_rows):
            neighbours = self._calibration.nearest(queries[known], 1, threads)
            distance[known] = neighbours.distance[:, 0]
            nearest[known] = self.calibration_rows[neighbours.place[:, 0]]
        if len(known) and self._training is not None:
            neighbours = self._training.nearest(queries[known], 1, threads)
            training[known] = neighbours.distance[:, 0]
        p = np.full(len(queries), np.nan)
        if len(self.sorted_distances):
            p[known] = p_values(self.sorted_distances, distance[known])
        names, blank = np.full(len(queries), "", dtype=object), np.full(len(queries), np.nan)
        return Look(
            p=p,
            far=distance,
            distance=distance,
            nearest=nearest,
            training_distance=training,
            is_flagged=self.is_flagged(p),
            is_repeat=distance == 0.0,
            closest=names,
            identity=blank,
            coverage=blank,
            is_learnt=np.zeros(len(queries), dtype=np.bool_),
            is_calibrated=np.zeros(len(queries), dtype=np.bool_),
        )

    def is_flagged(self, p: Floats) -> Booleans:
        """Return which are flagged: farther than the share `flag` of new families is."""
        return np.asarray(p <= 1.0 - self.flag + ROUNDING_OF_SHARE, dtype=np.bool_)

    def limit(self, held: Floats) -> float:
        """Return the value from which on one is flagged, of sorted ones; NaN where none can be."""
        n_beyond = int(np.floor((1.0 - self.flag + ROUNDING_OF_SHARE) * (len(held) + 1)))
        return float(held[-n_beyond]) if 1 <= n_beyond <= len(held) else float("nan")


def p_values(held: Floats, far: Floats) -> Floats:
    """Return (1 + those as far)/(1 + all) among sorted values."""
    return np.asarray(
        (1.0 + len(held) - np.searchsorted(held, far, side="left")) / (1.0 + len(held))
    )


def distances_apart(
    queries: Floats, query_label: Integers, points: Floats, label: Integers, threads: int = 1
) -> Floats:
    """Return the distance of each query to the nearest point of another label; NaN without one."""
    answer = np.full(len(queries), np.nan)
    index, rows, n_neighbours = Index(points=points), np.arange(len(queries)), FIRST_NEIGHBOURS
    while len(rows) and len(points):
        n_neighbours = min(n_neighbours, len(points))
        neighbours = index.nearest(queries[rows], n_neighbours, threads)
        is_other = label[neighbours.place] != query_label[rows, None]
        is_done = is_other.any(axis=1)
        first = is_other.argmax(axis=1)[:, None]
        answer[rows[is_done]] = np.take_along_axis(neighbours.distance, first, 1)[is_done, 0]
        if n_neighbours == len(points):
            break
        rows, n_neighbours = rows[~is_done], 4 * n_neighbours
    return answer


def build(
    space: Space,
    ids: Strings,
    class_name: Strings,
    points: Any,
    cluster: Strings,
    training: Any,
    flag: float,
    threads: int = 1,
) -> Reference:
    """Return what is known, from proteins and their places; no cluster: it does not calibrate."""
    kept = np.flatnonzero(np.isfinite(points).all(axis=1))
    kept = kept[np.argsort(ids[kept].astype(str), kind="stable")]
    placed = singles(points[kept])
    calibrates = np.array([name is not None for name in cluster[kept]], dtype=np.bool_)
    distance = np.full(len(kept), np.nan)
    known, families = placed[calibrates], cluster[kept][calibrates]
    if len(known):
        code, _ = encode_clusters(families)
        distance[calibrates] = distances_apart(known, code, known, code, threads)
    if training is not None:
        training = singles(training[np.isfinite(training).all(axis=1)])
        training = training[np.lexsort(training.T[::-1])]
    # One of each family, chosen by name alone.
    rows = np.flatnonzero(np.isfinite(distance))
    draw = uniform(keys_of(ids[kept][rows]), 0, STREAM_OF_FAMILIES)
    rows = rows[np.argsort(draw, kind="stable")]
    stands = np.zeros(len(kept), dtype=np.bool_)
    stands[rows[np.unique(encode_clusters(cluster[kept][rows])[0], return_index=True)[1]]] = True
    return Reference(
        flag=flag,
        space=space,
        ids=ids[kept],
        class_name=class_name[kept],
        is_calibration=calibrates,
        points=placed,
        own_distance=singles(distance[:, None])[:, 0],
        stands=stands,
        training=training,
    )
