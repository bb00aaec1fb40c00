"""What the methods that are sums over proteins learn from: how much weight lies where.

The point curve of such a method, its bandwidth and its cutoff are functions of
the masses alone. Masses are summed in fixed point, so that no order of rows
changes a bit. Support counts families, not proteins: it is a sum over clusters.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from scipy import sparse

from credence.calibrators.binning import group_scores, masses_of
from credence.calibrators.fixed_point import HIGH_UNIT, FixedPoint, carried, fixed, fixed_columns
from credence.calibrators.protocol import ClassSample, Masses
from credence.draws import cluster_weights
from credence.predictions import Floats, Integers

SUPPORT_WINDOW = 0.05  # standard deviation of the window of `support`, in scales
SUPPORT_BINS = 200  # scores are binned to SUPPORT_WINDOW / 10 before windowing
N_SUPPORT_KNOTS = 41
COARSE = 2.0**-20  # squared masses of families are held in units so much coarser


@dataclass(frozen=True, eq=False)
class Support:
    """The effective number of proteins near a score, linear between knots."""

    score: Floats  # Knots, ascending
    n: Floats


@dataclass(frozen=True, eq=False)
class ClassMasses:
    """How much weight one predicted class rests on, and where it lies."""

    at_scores: Masses  # Weight of right and of wrong predictions at each score
    weight_right: float  # Weight of the right predictions
    weight: float  # Weight of all predictions
    effective_number: float  # Kish's number (Σw)²/Σw² of predictions
    support: Support


def class_masses(sample: ClassSample) -> ClassMasses:
    """Return the masses of a class's positives."""
    units = fixed(sample.weight)
    weight = units.sum()
    return ClassMasses(
        masses_of(sample),
        units.where(sample.is_correct).sum(),
        weight,
        weight**2 / fixed(sample.weight**2).sum(),
        _support(sample, units),
    )


def _support(sample: ClassSample, units: FixedPoint) -> Support:
    """Return knots of the effective number of proteins near a score.

    Near is a Gaussian window; relatives are added up before Kish's formula, so
    a family of alike proteins counts as one.
    """
    scale, weight, cluster = sample.scale, sample.weight, sample.cluster
    n_bins, window = SUPPORT_BINS + 1, support_window()
    bin_ = np.clip(np.rint(sample.score / (scale / SUPPORT_BINS)), 0, SUPPORT_BINS)
    bin_ = bin_.astype(np.int64)
    is_family = np.bincount(cluster) > 1
    is_lone = ~is_family[cluster]
    lone = bin_[is_lone]
    squares = window**2 @ fixed(weight[is_lone] ** 2).placed(lone, n_bins).floats()
    presence = window @ np.bincount(lone, minlength=n_bins).astype(np.float64)
    rows = np.flatnonzero(~is_lone)
    if len(rows):
        at = ((np.cumsum(is_family) - 1)[cluster[rows]], bin_[rows])
        shape = (int(is_family.sum()), n_bins)
        # Integers first: what a family weighs in a bin must not depend on the order of its rows.
        families = sparse.csr_array((units.high[rows], at), shape=shape)
        mass = families.data * HIGH_UNIT
        if units.low.any():
            low = sparse.csr_array((units.low[rows], at), shape=shape).data
            mass = carried(families.data, low).floats()
        families = sparse.csr_array((mass, families.indices, families.indptr), shape=shape)
        near = np.asarray(families @ window.T)
        whole = np.add.reduceat(mass, families.indptr[:-1])
        squares = squares + fixed_columns(near**2 * COARSE).floats() / COARSE
        presence = presence + fixed_columns(near / whole[:, None]).floats()
    held = squares > 0
    mass = window @ units.placed(bin_, n_bins).floats()
    number = np.where(held, mass**2 / np.where(held, squares, 1.0), 0.0)
    # A lone cluster far away is not one protein near: at most what is near of each.
    return Support(np.linspace(0.0, scale, N_SUPPORT_KNOTS), np.minimum(number, presence))


@cache
def support_window() -> Floats:
    """Return how near each bin is to each knot, a Gaussian with 1 at the knot itself."""
    knots = np.linspace(0.0, 1.0, N_SUPPORT_KNOTS)
    centres = np.arange(SUPPORT_BINS + 1) / SUPPORT_BINS
    square = ((knots[:, None] - centres) / SUPPORT_WINDOW) ** 2
    window = np.asarray(np.exp(-0.5 * square))
    window.flags.writeable = False
    return window


MOST_PLACES = 2_000  # more distinct scores than this share places
MOST_UNITS = 20_000  # more clusters than this are drawn in bundles
BLOCK = 4_000_000  # numbers held at once while clusters are gone through
HALF = 0.5


@dataclass(frozen=True, eq=False)
class Places:
    """Where rows lie on the score axis, with few places."""

    of_row: Integers  # Place of each row
    # Least score at each place, ascending: a row at or above it is in this place or a higher one.
    lowest: Floats
    score: Floats  # Mean score at each place


def places_of(sample: ClassSample) -> Places:
    """Return a place per distinct score, or at most two thousand."""
    distinct, group = group_scores(sample.score)
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
    """How much of each cluster's weight lies at each place."""

    total: Floats  # Weight at each place, all clusters together
    lone_squares: Floats  # Σ w² at each place over the clusters of one row
    families: Any  # Weight of every other cluster at each place

    def effective_number(self, window: Floats) -> Floats:
        """Return Kish's number (ΣW)²/ΣW² of the clusters' masses in windows."""
        mass = window @ self.total
        squares = window**2 @ self.lone_squares
        for families in self._blocks(len(window)):
            squares += ((families @ window.T) ** 2).sum(axis=0)
        held = squares > 0
        return np.where(held, mass**2 / np.where(held, squares, 1.0), 0.0)

    def _blocks(self, n_windows: int) -> Iterator[Any]:
        step = max(BLOCK // max(n_windows, 1), 1)
        for begin in range(0, self.families.shape[0], step):
            yield self.families[begin : begin + step]


def cluster_masses(sample: ClassSample, places: Places) -> ClusterMasses:
    """Return the masses of clusters at places."""
    n_places = len(places.score)
    size = np.bincount(sample.cluster)
    is_lone = size[sample.cluster] == 1
    total, lone = (
        np.bincount(places.of_row, weights=weight, minlength=n_places).astype(np.float64)
        for weight in (sample.weight, np.where(is_lone, sample.weight**2, 0.0))
    )
    rows = np.flatnonzero(~is_lone)
    _, family = np.unique(sample.cluster[rows], return_inverse=True)
    n_families = int(family.max()) + 1 if len(rows) else 0
    families = sparse.csr_array(
        (sample.weight[rows], (family, places.of_row[rows])), shape=(n_families, n_places)
    )
    return ClusterMasses(total, lone, families)


@dataclass(frozen=True, eq=False)
class MassDraws:
    """Masses of right and wrong predictions in every draw."""

    right: Floats  # Drawn weight at each place
    wrong: Floats


def draw_masses(sample: ClassSample, place: Integers, n_places: int, n_draws: int) -> MassDraws:
    """Return the masses at places under the Bayesian bootstrap over clusters.

    More than `MOST_UNITS` clusters are drawn in bundles, put together by their
    keys: a bundle of independent clusters is itself one, so that the variance
    of a share, whatever scores it is over, is the same on average.
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
    """Return Gaussian weights of scores around points, the nearest of each being 1."""
    square = (point[:, None] - score) ** 2
    square -= square.min(axis=1, keepdims=True)
    return np.asarray(np.exp(square * (-HALF / width**2)))
