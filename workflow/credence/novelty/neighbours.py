"""Nearest neighbours, exactly and in blocks of queries.

Rows and queries are points in single precision, as they are stored. Distances
are always those between the two points themselves, so they depend neither on
the other queries nor on how many cores work; equal distances are ordered by
the place of a point in the index, which its maker chooses.
"""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credence.draws import blake2b_keys
from credence.predictions import Floats, Integers

SPARE = 8  # candidates beyond those asked for, so that ties at the end are seen
# Of the squared norms: more than the expanded square |x|² + |y|² − 2xy can be off by.
ROUNDING_OF_DISTANCE = 1e-11
QUERIES_IN_BLOCK = 4_096  # queries at a time
ELEMENTS = 1 << 22  # numbers of one block of differences


@dataclass(frozen=True, kw_only=True, eq=False)
class FoundNeighbours:
    """The nearest points of each query, nearest first."""

    distance: Floats  # Euclidean
    place: Integers  # Their places in the index


@dataclass(frozen=True, kw_only=True, eq=False)
class Index:
    """Points that can be asked for those nearest to a query."""

    points: Floats  # Of single precision, see :func:`singles`

    def nearest(self, queries: Floats, n_neighbours: int, threads: int = 1) -> FoundNeighbours:
        """Return the `n_neighbours` nearest points of each query; equal ones by place."""
        shape = len(queries), min(n_neighbours, len(self.points))
        neighbours = FoundNeighbours(
            distance=np.empty(shape), place=np.empty(shape, dtype=np.int64)
        )

        def fill(start: int) -> None:
            rows = slice(start, start + QUERIES_IN_BLOCK)
            neighbours.distance[rows], neighbours.place[rows] = self._of_block(
                queries[rows], n_neighbours
            )

        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(fill, range(0, len(queries), QUERIES_IN_BLOCK)))
        return neighbours

    @cached_property
    def _centre(self) -> Floats:
        # Small norms keep the expanded square exact.
        return np.asarray(self.points.mean(axis=0))

    @cached_property
    def _shifted(self) -> Floats:
        return np.asarray(self.points - self._centre)

    @cached_property
    def _norms(self) -> Floats:
        return np.asarray((self._shifted**2).sum(axis=1))

    @cached_property
    def _search(self) -> Any:
        # Half a second that only those pay who search.
        from sklearn.neighbors import NearestNeighbors

        return NearestNeighbors(algorithm="brute").fit(self._shifted)

    def _of_block(self, queries: Floats, n_neighbours: int) -> tuple[Floats, Integers]:
        n_candidates = min(n_neighbours + SPARE, len(self.points))
        shifted = queries - self._centre
        rough, candidates = self._search.kneighbors(shifted, n_candidates)
        distance, place = self._closest(queries, candidates, n_neighbours)
        if n_candidates < len(self.points):
            norm = (shifted**2).sum(axis=1)
            greatest = float(self._norms.max())
            farthest = distance[:, -1] ** 2 + ROUNDING_OF_DISTANCE * (norm + greatest)
            # Points that were not candidates may lie as near as the last one kept.
            for row in np.flatnonzero(rough[:, -1] ** 2 <= farthest):
                square = self._norms - 2.0 * self._shifted @ shifted[row] + norm[row]
                near = np.flatnonzero(square <= farthest[row])[None, :]
                again = self._closest(queries[row, None], near, n_neighbours)
                distance[row], place[row] = again[0][0], again[1][0]
        return distance, place

    def _closest(
        self, queries: Floats, place: Integers, n_neighbours: int
    ) -> tuple[Floats, Integers]:
        """Return the nearest of the candidates that are named for each query."""
        distance = np.empty(place.shape)
        step = max(1, ELEMENTS // max(1, place.shape[1] * queries.shape[1]))
        for start in range(0, len(queries), step):
            rows = slice(start, start + step)
            difference = self.points[place[rows]] - queries[rows, None, :]
            distance[rows] = np.einsum("ijk,ijk->ij", difference, difference)
        distance = np.sqrt(distance)
        order = np.lexsort((place, distance), axis=1)[:, :n_neighbours]
        return np.take_along_axis(distance, order, 1), np.take_along_axis(place, order, 1)


def singles(points: Any) -> Floats:
    """Return points as they come back from a file: single precision, no minus zero."""
    values = np.asarray(points, dtype=np.float32) + np.float32(0.0)
    return np.ascontiguousarray(values, dtype=np.float64)


def content_keys(points: Floats) -> NDArray[np.uint64]:
    """Return a key for each point that depends on its coordinates alone."""
    rows = np.ascontiguousarray(points + 0.0, dtype="<f8")  # without minus zero
    return blake2b_keys(row.tobytes() for row in rows)


def least_positive_distance(points: Floats) -> float:
    """Return the least distance between two points that differ; 1 where all are one."""
    unique = np.unique(points, axis=0)
    if len(unique) < 2:
        return 1.0
    distances = Index(points=unique).nearest(unique, 2).distance
    return float(distances[distances > 0].min())
