"""What the additive methods learn from: how much weight lies where, as integers.

The point curve of such a method, its bandwidth and its cutoff are functions of
the masses alone. Masses are sums over proteins in fixed point, so that a trove
is added to the stored masses of a release and gives, bit for bit, what all
proteins together give, in any order.

Support counts families, not proteins, and so does the number of clusters: they
are sums over clusters. Masses are added only if no cluster is in both; one that
a trove joins is taken away as it was and added as it is now, which is also
what 1/(cluster size) weights demand, as they lighten the old relatives.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from functools import cache, cached_property
from typing import Any, Generic, TypeVar

import numpy as np
from scipy import sparse

from credence.calibrators.binning import group_scores, masses_of
from credence.calibrators.fixed_point import (
    HIGH_UNIT,
    FixedPoint,
    carried,
    counted,
    fixed,
    fixed_columns,
    from_whole,
    zeros,
)
from credence.calibrators.protocol import ClassSample, Curve, Masses, Record
from credence.draws import cluster_weights
from credence.predictions import Floats, Integers

SUPPORT_WINDOW = 0.05  # standard deviation of the window of `support`, in scales
SUPPORT_BINS = 200  # scores are binned to SUPPORT_WINDOW / 10 before windowing
N_SUPPORT_KNOTS = 41
COARSE = 2.0**-20  # squared masses of families are held in units so much coarser


@dataclass(frozen=True, eq=False)
class SupportSums:
    """Sums over clusters that the effective number near a score is made of."""

    # Σ w² and number of the clusters of one protein, per bin of the score.
    lone_squares: FixedPoint
    lone_number: FixedPoint
    family_squares: FixedPoint  # Σ (mass near)² · 2⁻²⁰ over the other clusters, per knot
    family_presence: FixedPoint  # Σ (mass near)/(mass) over the other clusters, per knot

    def __add__(self, other: SupportSums) -> SupportSums:
        """Return the sums over the clusters of both."""
        return SupportSums(*(mine + its for mine, its in _pairs(self, other)))

    def __sub__(self, other: SupportSums) -> SupportSums:
        """Return the sums without the clusters of the other."""
        return SupportSums(*(mine - its for mine, its in _pairs(self, other)))


def _pairs(first: SupportSums, second: SupportSums) -> list[tuple[FixedPoint, FixedPoint]]:
    return [
        (getattr(first, entry.name), getattr(second, entry.name)) for entry in fields(SupportSums)
    ]


@dataclass(frozen=True, eq=False)
class ClassMasses:
    """All that an additive method is told of one predicted class."""

    score: Floats  # Distinct scores, ascending
    right: FixedPoint  # Summed weights of right and of wrong predictions there
    wrong: FixedPoint
    n_right: Integers  # Number of right and of wrong predictions there
    n_wrong: Integers
    squares: FixedPoint  # Σ w² over all, one number: Kish's effective number needs it
    n_clusters: int  # Clusters of relatives
    support: SupportSums  # What is near of each cluster

    @cached_property
    def floats(self) -> Masses:
        """The masses as the curves take them."""
        return Masses(self.score, self.right.floats(), self.wrong.floats())

    @cached_property
    def weight_right(self) -> float:
        """Weight of the right predictions."""
        return float(self.right.total().floats()[0])

    @cached_property
    def weight(self) -> float:
        """Weight of all predictions."""
        return float((self.right.total() + self.wrong.total()).floats()[0])

    @property
    def effective_number(self) -> float:
        """Kish's number (Σw)²/Σw² of predictions."""
        return self.weight**2 / float(self.squares.floats()[0])

    def __add__(self, other: ClassMasses) -> ClassMasses:
        """Return the masses of both; no cluster may be in both."""
        return self._combined(other, 1)

    def __sub__(self, other: ClassMasses) -> ClassMasses | None:
        """Return the masses without those of the other; None where nothing is left."""
        rest = self._combined(other, -1)
        if (rest.n_right < 0).any() or (rest.n_wrong < 0).any() or rest.n_clusters < 0:
            raise ValueError("more proteins are taken away than there are")
        held = np.flatnonzero(rest.n_right + rest.n_wrong)
        if len(held) == 0:
            return None
        return replace(
            rest,
            score=rest.score[held],
            right=rest.right.take(held),
            wrong=rest.wrong.take(held),
            n_right=rest.n_right[held],
            n_wrong=rest.n_wrong[held],
        )

    def _combined(self, other: ClassMasses, sign: int) -> ClassMasses:
        score = np.union1d(self.score, other.score)
        own, its = (np.searchsorted(score, part.score) for part in (self, other))

        def weights(mine: FixedPoint, of_other: FixedPoint) -> FixedPoint:
            first, second = mine.placed(own, len(score)), of_other.placed(its, len(score))
            return first + second if sign > 0 else first - second

        def numbers(mine: Integers, of_other: Integers) -> Integers:
            counted = np.zeros(len(score), dtype=np.int64)
            counted[own] += mine
            counted[its] += sign * of_other
            return counted

        is_sum = sign > 0
        return ClassMasses(
            score,
            weights(self.right, other.right),
            weights(self.wrong, other.wrong),
            numbers(self.n_right, other.n_right),
            numbers(self.n_wrong, other.n_wrong),
            self.squares + other.squares if is_sum else self.squares - other.squares,
            self.n_clusters + sign * other.n_clusters,
            self.support + other.support if is_sum else self.support - other.support,
        )

    def to_record(self) -> Record:
        """Return the masses as JSON data, in units as coarse as they allow."""
        parts = {
            "right": self.right,
            "wrong": self.wrong,
            "squares": self.squares,
            **{entry.name: getattr(self.support, entry.name) for entry in fields(SupportSums)},
        }
        record: Record = {
            "score": self.score.tolist(),
            "n_right": self.n_right.tolist(),
            "n_wrong": self.n_wrong.tolist(),
            "n_clusters": self.n_clusters,
        }
        return record | {name: _packed(part.whole()) for name, part in parts.items()}

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> ClassMasses:
        """Return the masses of a record."""

        def part(name: str) -> FixedPoint:
            return from_whole(_unpacked(record[name]))

        return cls(
            np.array(record["score"], dtype=np.float64),
            part("right"),
            part("wrong"),
            np.array(record["n_right"], dtype=np.int64),
            np.array(record["n_wrong"], dtype=np.int64),
            part("squares"),
            int(record["n_clusters"]),
            SupportSums(*(part(entry.name) for entry in fields(SupportSums))),
        )


@dataclass(frozen=True, eq=False)
class MassTable:
    """The masses of all predicted classes."""

    class_names: tuple[str, ...]  # Classes in order
    scale: float  # See :class:`credence.predictions.Predictions`
    resolution: float
    entries: tuple[ClassMasses | None, ...]  # One per class; None where it was never predicted

    def __add__(self, other: MassTable) -> MassTable:
        """Return the masses of both; no cluster may be in both."""
        pairs = zip(self.entries, other.entries, strict=True)
        return replace(
            self,
            resolution=min(self.resolution, other.resolution),
            entries=tuple(_sum(mine, its) for mine, its in pairs),
        )

    def __sub__(self, other: MassTable) -> MassTable:
        """Return the masses without those of the other."""
        pairs = zip(self.entries, other.entries, strict=True)
        return replace(self, entries=tuple(_rest(mine, its) for mine, its in pairs))


def _sum(first: ClassMasses | None, second: ClassMasses | None) -> ClassMasses | None:
    if first is None or second is None:
        return second if first is None else first
    return first + second


def _rest(first: ClassMasses | None, second: ClassMasses | None) -> ClassMasses | None:
    if second is None:
        return first
    if first is None:
        raise ValueError("more proteins are taken away than there are")
    return first - second


def _packed(units: list[int]) -> Record:
    """Return integers as multiples of the greatest power of two that divides all."""
    together = 0
    for unit in units:
        together |= unit
    shift = (together & -together).bit_length() - 1 if together else 0
    return {"shift": shift, "units": [unit >> shift for unit in units]}


def _unpacked(record: Mapping[str, Any]) -> list[int]:
    shift = int(record["shift"])
    return [int(unit) << shift for unit in record["units"]]


def class_masses(sample: ClassSample) -> ClassMasses:
    """Return the masses of a class's positives."""
    distinct, group, order = group_scores(sample.score)
    rows = np.arange(len(group)) if order is None else order
    is_correct, weight = sample.is_correct[rows], sample.weight[rows]
    starts = np.searchsorted(group, np.arange(len(distinct)))
    units = fixed(weight)
    right = units.where(is_correct).sums(starts)
    n_all = np.diff(starts, append=len(group))
    n_right = np.add.reduceat(is_correct.astype(np.int64), starts)
    return ClassMasses(
        distinct,
        right,
        units.sums(starts) - right,
        n_right,
        n_all - n_right,
        fixed(weight**2).total(),
        len(sample.cluster_key),
        _support_sums(sample, rows, units),
    )


def _support_sums(sample: ClassSample, order: Integers, units: FixedPoint) -> SupportSums:
    n_bins = SUPPORT_BINS + 1
    bin_ = support_bins(sample.score[order], sample.scale)
    weight, cluster = sample.weight[order], sample.cluster[order]
    is_family = np.bincount(cluster) > 1
    is_lone = ~is_family[cluster]
    lone_squares = fixed(weight[is_lone] ** 2).placed(bin_[is_lone], n_bins)
    lone_number = counted(np.bincount(bin_[is_lone], minlength=n_bins))
    rows = np.flatnonzero(~is_lone)
    if len(rows) == 0:
        nothing = zeros(N_SUPPORT_KNOTS)
        return SupportSums(lone_squares, lone_number, nothing, nothing)
    at = ((np.cumsum(is_family) - 1)[cluster[rows]], bin_[rows])
    shape = (int(is_family.sum()), n_bins)
    # Integers first: what a family weighs in a bin must not depend on the order of its rows.
    families = sparse.csr_array((units.high[rows], at), shape=shape)
    mass = families.data * HIGH_UNIT
    if units.low.any():
        low = sparse.csr_array((units.low[rows], at), shape=shape).data
        mass = carried(families.data, low).floats()
    families = sparse.csr_array((mass, families.indices, families.indptr), shape=shape)
    near = np.asarray(families @ support_window().T)
    whole = np.add.reduceat(mass, families.indptr[:-1])
    squares, presence = fixed_columns(near**2 * COARSE), fixed_columns(near / whole[:, None])
    return SupportSums(lone_squares, lone_number, squares, presence)


def support_bins(score: Floats, scale: float) -> Integers:
    """Return the bin of each score, for support."""
    return np.clip(np.rint(score / (scale / SUPPORT_BINS)), 0, SUPPORT_BINS).astype(np.int64)


@cache
def support_window() -> Floats:
    """Return how near each bin is to each knot, a Gaussian with 1 at the knot itself."""
    knots = np.linspace(0.0, 1.0, N_SUPPORT_KNOTS)
    centres = np.arange(SUPPORT_BINS + 1) / SUPPORT_BINS
    square = ((knots[:, None] - centres) / SUPPORT_WINDOW) ** 2
    window = np.asarray(np.exp(-0.5 * square))
    window.flags.writeable = False
    return window


def support_of(masses: ClassMasses, scale: float) -> tuple[Floats, Floats]:
    """Return knots of the effective number of proteins near a score.

    Near is a Gaussian window; relatives are added up before Kish's formula, so
    a family of alike proteins counts as one.
    """
    window, sums = support_window(), masses.support
    bin_ = support_bins(masses.score, scale)
    mass = window @ (masses.right + masses.wrong).placed(bin_, SUPPORT_BINS + 1).floats()
    squares = window**2 @ sums.lone_squares.floats() + sums.family_squares.floats() / COARSE
    presence = window @ sums.lone_number.floats() + sums.family_presence.floats()
    held = squares > 0
    number = np.where(held, mass**2 / np.where(held, squares, 1.0), 0.0)
    # A lone cluster far away is not one protein near: at most what is near of each.
    return np.linspace(0.0, scale, N_SUPPORT_KNOTS), np.minimum(number, presence)


CurveOfMasses = TypeVar("CurveOfMasses", bound=Curve)


class OfMasses(ABC, Generic[CurveOfMasses]):
    """Settings of such a method; what it is, `fit_masses` says."""

    @property
    def is_additive(self) -> bool:
        """Whether the curve is a function of the masses: it is."""
        return True

    def fit_curve(self, sample: ClassSample) -> CurveOfMasses:
        """Return the curve of a class."""
        return self.fit_masses(masses_of(sample), sample.scale, sample.resolution)

    @abstractmethod
    def fit_masses(self, masses: Masses, scale: float, resolution: float) -> CurveOfMasses:
        """Return the curve of a class, from masses alone."""


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
    """How much of each cluster's weight lies at each place."""

    total: Floats  # Weight at each place, all clusters together
    lone_squares: Floats  # Σ w² at each place over the clusters of one row
    lone_number: Floats  # Number of such clusters at each place
    families: Any  # Weight of every other cluster at each place

    def effective_number(self, window: Floats) -> Floats:
        """Return Kish's number (ΣW)²/ΣW² of the clusters' masses in windows."""
        mass = window @ self.total
        squares = window**2 @ self.lone_squares
        for families in self._blocks(len(window)):
            squares += ((families @ window.T) ** 2).sum(axis=0)
        held = squares > 0
        return np.where(held, mass**2 / np.where(held, squares, 1.0), 0.0)

    def presence(self, window: Floats) -> Floats:
        """Return the sum over clusters of the share of their mass that counts."""
        present = window @ self.lone_number
        for families in self._blocks(len(window)):
            present += (families @ window.T / families.sum(axis=1)[:, None]).sum(axis=0)
        return np.asarray(present)

    def _blocks(self, n_windows: int) -> Iterator[Any]:
        step = max(BLOCK // max(n_windows, 1), 1)
        for begin in range(0, self.families.shape[0], step):
            yield self.families[begin : begin + step]


def cluster_masses(sample: ClassSample, places: Places) -> ClusterMasses:
    """Return the masses of clusters at places."""
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
