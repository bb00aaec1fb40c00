"""Nearest neighbours: exact for small sets, by an approximate graph for large ones.

Rows and queries are points in single precision, as they are stored. Distances
are always those between the two points themselves, so they depend neither on
the other queries nor on how many cores work; equal distances are ordered by
the place of a point in the index, which its maker chooses.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import NearestNeighbors

from credence.draws import blake2b_keys
from credence.predictions import Floats, Integers
from credence.problems import refuse

MOST_EXACT = 100_000  # points; more are searched by an approximate graph
SPARE = 8  # candidates beyond those asked for, so that ties at the end are seen
# Of the squared norms: what the expanded square |x|² + |y|² − 2xy can be off by
# in double precision, with a wide margin.
ROUNDING = 1e-11
BLOCK = 4_096  # queries at a time
ELEMENTS = 1 << 22  # numbers of one block of differences
# Width of usearch's graph and of its two searches: the library's defaults are
# 16, 128 and 64; the wider search finds 98 % of the ten nearest of 100,001 points
# that are normal in 32 dimensions.
CONNECTIVITY, EXPANSION_ADD, EXPANSION_SEARCH = 16, 128, 256
EXTRA = "usearch"


@dataclass(frozen=True, eq=False)
class FoundNeighbours:
    """The nearest points of each query, nearest first."""

    distance: Floats  # Euclidean
    place: Integers  # Their places in the index


class Index(Protocol):
    """Points that can be asked for those nearest to a query."""

    @property
    def n_points(self) -> int:
        """Number of points."""
        ...

    def nearest(self, queries: Floats, n_neighbours: int) -> FoundNeighbours:
        """Return the `n_neighbours` nearest points of each query."""
        ...


@dataclass(frozen=True, eq=False)
class ExactIndex:
    """Every distance is looked at; equal ones go to the earlier point."""

    points: Floats  # Of single precision, see :func:`singles`

    @property
    def n_points(self) -> int:
        """Number of points."""
        return len(self.points)

    @cached_property
    def _search(self) -> Any:
        return NearestNeighbors(algorithm="brute").fit(self.points - self._centre)

    @cached_property
    def _centre(self) -> Floats:
        # Small norms keep the expanded square exact.
        return np.asarray(self.points.mean(axis=0))

    @cached_property
    def _greatest_norm(self) -> float:
        return float(((self.points - self._centre) ** 2).sum(axis=1).max())

    def nearest(self, queries: Floats, n_neighbours: int) -> FoundNeighbours:
        """Return the nearest points of each query."""
        return joined(
            (self._block(block, n_neighbours) for block in blocks(queries)), n_neighbours
        )

    def _block(self, queries: Floats, n_neighbours: int) -> FoundNeighbours:
        n_candidates = min(n_neighbours + SPARE, self.n_points)
        shifted = queries - self._centre
        rough, place = self._search.kneighbors(shifted, n_candidates)
        found = in_order(distances_to(queries, self.points, place), place, n_neighbours)
        if n_candidates < self.n_points:
            doubt = ROUNDING * ((shifted**2).sum(axis=1) + self._greatest_norm)
            # Points that were not candidates may lie as near as the last one kept.
            is_open = rough[:, -1] ** 2 <= found.distance[:, -1] ** 2 + doubt
            for row in np.flatnonzero(is_open):
                everything = np.arange(self.n_points)[None, :]
                distance = distances_to(queries[row, None], self.points, everything)
                again = in_order(distance, everything, n_neighbours)
                found.distance[row], found.place[row] = again.distance[0], again.place[0]
        return found


@dataclass(frozen=True, eq=False)
class ApproximateIndex:
    """A navigable graph of the points; finds nearly all of the nearest.

    The graph is built and asked on one thread, in the order of the points, so
    the same points always give the same answer (on processors of one kind: the
    library chooses its sums by what the processor can).
    """

    points: Floats  # Of single precision

    @property
    def n_points(self) -> int:
        """Number of points."""
        return len(self.points)

    @cached_property
    def _graph(self) -> Any:
        graph = _usearch().Index(
            ndim=self.points.shape[1],
            metric="l2sq",
            dtype="f32",
            connectivity=CONNECTIVITY,
            expansion_add=EXPANSION_ADD,
            expansion_search=EXPANSION_SEARCH,
        )
        keys = np.arange(self.n_points, dtype=np.uint64)
        graph.add(keys, self.points.astype(np.float32), threads=1)
        return graph

    def nearest(self, queries: Floats, n_neighbours: int) -> FoundNeighbours:
        """Return nearly the nearest points of each query."""
        n_candidates = min(n_neighbours + SPARE, self.n_points)

        def answer(block: Floats) -> FoundNeighbours:
            matches = self._graph.search(block.astype(np.float32), n_candidates, threads=1)
            place = np.asarray(matches.keys).reshape(len(block), -1).astype(np.int64)
            return in_order(distances_to(block, self.points, place), place, n_neighbours)

        return joined((answer(block) for block in blocks(queries)), n_neighbours)


def index_of(points: Floats, most_exact: int = MOST_EXACT) -> Index:
    """Return an index of the points: exact, or approximate where they are many."""
    return ExactIndex(points) if len(points) <= most_exact else ApproximateIndex(points)


def singles(points: Any) -> Floats:
    """Return points as they come back from a file: single precision, no minus zero."""
    values = np.asarray(points, dtype=np.float32) + np.float32(0.0)
    return np.ascontiguousarray(values, dtype=np.float64)


def content_keys(points: Floats) -> NDArray[np.uint64]:
    """Return a key for each point that depends on its coordinates alone."""
    rows = np.ascontiguousarray(points + 0.0, dtype="<f8")  # without minus zero
    return blake2b_keys(row.tobytes() for row in rows)


def least_positive_distance(points: Floats, most_exact: int = MOST_EXACT) -> float:
    """Return the least distance between two points that differ; 1 where all are one."""
    unique = np.unique(points, axis=0)
    if len(unique) < 2:
        return 1.0
    found = index_of(unique, most_exact).nearest(unique, 2).distance
    return float(found[found > 0].min())


def distances_to(queries: Floats, points: Floats, place: Integers) -> Floats:
    """Return the distance of each query to the points that are named for it."""
    distance = np.empty(place.shape)
    step = max(1, ELEMENTS // max(1, place.shape[1] * queries.shape[1]))
    for start in range(0, len(queries), step):
        rows = slice(start, start + step)
        difference = points[place[rows]] - queries[rows, None, :]
        distance[rows] = np.einsum("ijk,ijk->ij", difference, difference)
    return np.sqrt(distance)


def in_order(distance: Floats, place: Integers, n_neighbours: int) -> FoundNeighbours:
    """Return the nearest of some candidates; equal distances by place."""
    order = np.lexsort((place, distance), axis=1)[:, :n_neighbours]
    return FoundNeighbours(
        np.take_along_axis(distance, order, axis=1),
        np.take_along_axis(place, order, axis=1).astype(np.int64),
    )


def blocks(queries: Floats) -> Iterator[Floats]:
    """Yield the queries in blocks."""
    for start in range(0, len(queries), BLOCK):
        yield queries[start : start + BLOCK]


def joined(parts: Iterator[FoundNeighbours], n_neighbours: int) -> FoundNeighbours:
    """Return the answers of all blocks as one."""
    found = list(parts)
    if not found:
        return FoundNeighbours(
            np.empty((0, n_neighbours)), np.empty((0, n_neighbours), dtype=np.int64)
        )
    return FoundNeighbours(
        np.concatenate([part.distance for part in found]),
        np.concatenate([part.place for part in found]),
    )


def _usearch() -> Any:
    try:
        return importlib.import_module("usearch.index")
    except ImportError:
        raise refuse(
            "novelty",
            f"more than {MOST_EXACT} points are searched by an approximate graph, "
            f"and the package {EXTRA!r} is not installed.",
            "Install it with: pip install 'credence[novelty]'.",
        ) from None
