"""Bootstrap draws of the masses that the additive methods are sums of.

A draw gives every cluster a weight; what a method needs of it is how much
weight of right and of wrong predictions then lies at each place on the score
axis. All draws together are one sparse product, so that a curve's interval
costs little more than the curve.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from credence.calibrators.binning import group_scores
from credence.calibrators.draws import cluster_weights
from credence.calibrators.protocol import ClassSample
from credence.predictions import Floats, Integers

MOST_PLACES = 2_000  # more distinct scores than this share places
MOST_UNITS = 20_000  # more clusters than this are drawn in bundles
BLOCK = 4_000_000  # numbers held at once while clusters are gone through
HALF = 0.5


@dataclass(frozen=True, eq=False)
class Places:
    """Where rows lie on the score axis, with few places.

    Parameters
    ----------
    of_row : array of int
        Place of each row.
    lowest : array of float
        Least score at each place, ascending: a row at or above it is in this
        place or a higher one.
    score : array of float
        Mean score at each place.
    """

    of_row: Integers
    lowest: Floats
    score: Floats


def places_of(sample: ClassSample) -> Places:
    """Return a place per distinct score, or at most two thousand.

    Parameters
    ----------
    sample : ClassSample
        The positives of a class, at least one.
    """
    distinct, group, order = group_scores(sample.score)
    if order is not None:
        unsorted = np.empty_like(group)
        unsorted[order] = group
        group = unsorted
    if len(distinct) <= MOST_PLACES:
        return Places(group, distinct, distinct)
    # Half of the places at even steps, half at even ranks of the rows.
    n_half = MOST_PLACES // 2
    even = np.searchsorted(distinct, np.linspace(distinct[0], distinct[-1], n_half))
    at_rank = np.sort(group)[np.linspace(0, len(group) - 1, n_half).astype(np.int64)]
    first = np.unique(np.concatenate([even, at_rank]))
    place_of_distinct = np.searchsorted(first, np.arange(len(distinct)), side="right") - 1
    of_row = place_of_distinct[group]
    mean = np.bincount(of_row, weights=sample.score) / np.bincount(of_row)
    return Places(of_row, distinct[first], mean)


@dataclass(frozen=True, eq=False)
class ClusterMasses:
    """How much of each cluster's weight lies at each place.

    Parameters
    ----------
    total : array of float
        Weight at each place, all clusters together.
    lone_squares : array of float
        Σ w² at each place over the clusters of one row.
    lone_number : array of float
        Number of such clusters at each place.
    families : sparse array, shape (n_families, n_places)
        Weight of every other cluster at each place.
    """

    total: Floats
    lone_squares: Floats
    lone_number: Floats
    families: Any

    def effective_number(self, window: Floats) -> Floats:
        """Return Kish's number (ΣW)²/ΣW² of the clusters' masses in windows.

        Parameters
        ----------
        window : array of float, shape (n_windows, n_places)
            How much of each place counts.
        """
        mass = window @ self.total
        squares = window**2 @ self.lone_squares
        for families in self._blocks(len(window)):
            squares += ((families @ window.T) ** 2).sum(axis=0)
        held = squares > 0
        return np.where(held, mass**2 / np.where(held, squares, 1.0), 0.0)

    def presence(self, window: Floats) -> Floats:
        """Return the sum over clusters of the share of their mass that counts.

        Parameters
        ----------
        window : array of float, shape (n_windows, n_places)
            How much of each place counts, at most 1.
        """
        present = window @ self.lone_number
        for families in self._blocks(len(window)):
            present += (families @ window.T / families.sum(axis=1)[:, None]).sum(axis=0)
        return np.asarray(present)

    def _blocks(self, n_windows: int) -> Iterator[Any]:
        step = max(BLOCK // max(n_windows, 1), 1)
        for begin in range(0, self.families.shape[0], step):
            yield self.families[begin : begin + step]


def cluster_masses(sample: ClassSample, places: Places) -> ClusterMasses:
    """Return the masses of clusters at places.

    Parameters
    ----------
    sample : ClassSample
        The positives of a class, at least one.
    places : Places
        Where the rows lie.
    """
    n_places = len(places.score)
    size = np.bincount(sample.cluster)
    is_lone = size[sample.cluster] == 1
    total, lone, number = (
        np.bincount(places.of_row, weights=weight, minlength=n_places).astype(np.float64)
        for weight in (sample.weight, np.where(is_lone, sample.weight**2, 0.0), is_lone)
    )
    rows = np.flatnonzero(~is_lone)
    _, family = np.unique(sample.cluster[rows], return_inverse=True)
    n_families = int(family.max()) + 1 if len(rows) else 0
    families = sparse.csr_array(
        (sample.weight[rows], (family, places.of_row[rows])), shape=(n_families, n_places)
    )
    return ClusterMasses(total, lone, number, families)


@dataclass(frozen=True, eq=False)
class MassDraws:
    """Masses of right and wrong predictions in every draw.

    Parameters
    ----------
    right, wrong : array of float, shape (n_places, n_draws)
        Drawn weight at each place.
    """

    right: Floats
    wrong: Floats


def draw_masses(sample: ClassSample, place: Integers, n_places: int, n_draws: int) -> MassDraws:
    """Return the masses at places under the Bayesian bootstrap over clusters.

    More than `MOST_UNITS` clusters are drawn in bundles, put together by their
    keys: a bundle of independent clusters is itself one, so that the variance
    of a share, whatever scores it is over, is the same on average.

    Parameters
    ----------
    sample : ClassSample
        The positives of a class, at least one.
    place : array of int
        Place of each row.
    n_places : int
        Number of places.
    n_draws : int
        Number of draws.
    """
    unit, keys = sample.cluster, sample.cluster_key
    if len(keys) > MOST_UNITS:
        keys, bundle = np.unique(keys % np.uint64(MOST_UNITS), return_inverse=True)
        unit = bundle[unit]
    shape = (n_places, len(keys))
    weight_right = sample.weight_correct
    right = sparse.csr_array((weight_right, (place, unit)), shape=shape)
    wrong = sparse.csr_array((sample.weight - weight_right, (place, unit)), shape=shape)
    drawn = np.empty((len(keys), n_draws))
    for draw in range(n_draws):
        drawn[:, draw] = cluster_weights(keys, draw)
    return MassDraws(np.asarray(right @ drawn), np.asarray(wrong @ drawn))


def gaussian_window(point: Floats, score: Floats, width: float) -> Floats:
    """Return Gaussian weights of scores around points, the nearest of each being 1.

    Parameters
    ----------
    point : array of float
        Centres of the windows.
    score : array of float
        Ascending.
    width : float
        Standard deviation.
    """
    square = (point[:, None] - score) ** 2
    square -= square.min(axis=1, keepdims=True)
    return np.asarray(np.exp(square * (-HALF / width**2)))
