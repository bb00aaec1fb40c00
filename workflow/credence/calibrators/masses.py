"""What the methods that are sums over proteins learn from: how much weight lies where.

Weights are summed as whole numbers of 2⁻⁵², so that no order changes a bit (decision 0001). Many
distinct scores are replaced, bin by bin, by the two points of a Gauss quadrature, which keep mass,
mean, variance and third moment (Golub & Welsch 1969, doi 10.1090/S0025-5718-69-99647-1).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy

from credence.calibrators.protocol import ClassSample
from credence.draws import drawn_weights
from credence.predictions import Booleans, Floats, Integers

UNIT_BITS = 52  # a unit is 2⁻⁵²
LOW_BITS = 26  # of them in the low part
HIGH_UNIT = 2.0 ** (LOW_BITS - UNIT_BITS)
LOW_UNIT = 2.0**-UNIT_BITS
LARGEST_VALUE = 2.0**36  # of one value: half of what a sum may reach


@dataclass(frozen=True, kw_only=True, eq=False)
class FixedPoint:
    """Numbers of at least 0 as whole numbers of units."""

    high: Integers  # The value is high · 2⁻²⁶ + low · 2⁻⁵², with 0 ≤ low < 2²⁶
    low: Integers

    def where(self, is_held: Booleans) -> "FixedPoint":
        """Return the numbers where that holds, 0 elsewhere."""
        return FixedPoint(high=self.high * is_held, low=self.low * is_held)

    def placed(self, place: Integers, n_places: int) -> "FixedPoint":
        """Return the exact sum at each of `n_places` places."""
        high, low = (np.zeros(n_places, dtype=np.int64) for _ in range(2))
        np.add.at(high, place, self.high)
        np.add.at(low, place, self.low)
        return carried(high, low)

    def sum(self) -> float:
        """Return the sum of all, exact up to its one rounding."""
        high, low = (np.array([part.sum(dtype=np.int64)]) for part in (self.high, self.low))
        return float(carried(high, low).floats()[0])

    def floats(self) -> Floats:
        """Return the numbers as floats; they depend on the numbers alone."""
        return np.asarray(self.high * HIGH_UNIT + self.low * LOW_UNIT)


def carried(high: Integers, low: Integers) -> FixedPoint:
    """Return numbers whose low parts may be out of range, in their one form."""
    return FixedPoint(high=high + (low >> LOW_BITS), low=low & ((1 << LOW_BITS) - 1))


def fixed(values: Floats) -> FixedPoint:
    """Return numbers of at least 0 rounded to units; none that is positive becomes 0."""
    high, low = _parts(values)
    low[(values > 0) & (high == 0) & (low == 0)] = 1
    return carried(high, low)


def fixed_columns(values: Floats) -> FixedPoint:
    """Return the exact sum of each column, every number rounded to units."""
    return carried(*(part.sum(axis=0) for part in _parts(values)))


def _parts(values: Floats) -> tuple[Integers, Integers]:
    """Return high and low parts; the low one may be 2²⁶ itself."""
    if values.size and float(values.max()) > LARGEST_VALUE:
        raise ValueError(f"a weight is above {LARGEST_VALUE:g}: divide all weights by a number")
    scaled = values / HIGH_UNIT
    high = scaled.astype(np.int64)
    scaled -= high
    scaled *= HIGH_UNIT / LOW_UNIT
    return high, np.rint(scaled).astype(np.int64)


SUPPORT_WINDOW = 0.05  # standard deviation of the window of `support`, in scales
SUPPORT_BINS = 200  # scores are binned to SUPPORT_WINDOW / 10 before windowing
N_SUPPORT_KNOTS = 41
SQUARE_UNIT = 2.0**-20  # squared masses of families are held in units so much coarser


@dataclass(frozen=True, kw_only=True, eq=False)
class Masses:
    """Weight of right and wrong predictions at distinct scores, in draws a column each."""

    score: Floats  # Distinct scores, ascending
    right: Floats  # Summed weights of the right and of the wrong predictions there
    wrong: Floats

    @property
    def total(self) -> Floats:
        """Weight of all predictions at each score."""
        return self.right + self.wrong

    @property
    def share(self) -> float:
        """Share of right predictions over all scores."""
        right = float(self.right.sum())
        return right / (right + float(self.wrong.sum()))


@dataclass(frozen=True, kw_only=True, eq=False)
class Nodes:
    """Points with masses that stand for the scores of one kind."""

    score: Floats  # Ascending
    mass: Floats  # Positive


def group_scores(score: Floats) -> tuple[Floats, Integers]:
    """Return the distinct scores, ascending, and which of them each row has."""
    if not bool((score[1:] >= score[:-1]).all()):
        distinct, place = np.unique(score, return_inverse=True)
        return distinct, place
    is_first = np.ones(len(score), dtype=np.bool_)
    is_first[1:] = score[1:] > score[:-1]
    return score[is_first], np.cumsum(is_first) - 1


def masses_of(sample: ClassSample) -> Masses:
    """Return the masses of a class's positives at their distinct scores."""
    distinct, place = group_scores(sample.score)
    units, is_right, n = fixed(sample.weight), sample.is_correct, len(distinct)
    right, wrong = (units.where(rows).placed(place, n).floats() for rows in (is_right, ~is_right))
    return Masses(score=distinct, right=right, wrong=wrong)


def nodes_of(masses: Masses, width: float) -> tuple[Nodes, Nodes]:
    """Return nodes that stand for the right and for the wrong predictions."""
    kinds = (masses.right, masses.wrong)
    right, wrong = (compress(masses.score[mass > 0], mass[mass > 0], width) for mass in kinds)
    return right, wrong


def compress(score: Floats, mass: Floats, width: float) -> Nodes:
    """Return at most two nodes per bin, with the bin's first four moments."""
    if len(score) <= 2 or float((score[2:] - score[:-2]).min()) >= width:
        return Nodes(score=score, mass=mass)
    bin_ = np.floor((score - score[0]) / width).astype(np.int64)
    starts = np.flatnonzero(np.diff(bin_, prepend=-1))
    n_held = np.diff(starts, append=len(score))
    if bool((n_held <= 2).all()):
        return Nodes(score=score, mass=mass)
    group = np.repeat(np.arange(len(starts)), n_held)
    total = np.add.reduceat(mass, starts)
    mean = np.add.reduceat(mass * score, starts) / total
    offset = score - mean[group]
    second = np.add.reduceat(mass * offset**2, starts) / total
    third = np.add.reduceat(mass * offset**3, starts) / total
    many = n_held > 2
    spread = np.sqrt(second[many])
    skew = third[many] / spread**3  # The two points are mean + spread·x with x² − skew·x − 1 = 0
    root = np.sqrt(skew**2 + 4.0)
    low, high = (skew - root) / 2.0, (skew + root) / 2.0
    mass_low = high / root
    few_rows = ~many[group]
    scores = [score[few_rows], mean[many] + spread * low, mean[many] + spread * high]
    weights = [mass[few_rows], total[many] * mass_low, total[many] * (1.0 - mass_low)]
    joined = np.concatenate(scores)
    order = np.argsort(joined, kind="stable")
    return Nodes(score=joined[order], mass=np.concatenate(weights)[order])


@dataclass(frozen=True, kw_only=True, eq=False)
class Support:
    """The effective number of proteins near a score, linear between knots."""

    score: Floats  # Knots, ascending
    n: Floats


@dataclass(frozen=True, kw_only=True, eq=False)
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
    right, weight = units.where(sample.is_correct).sum(), units.sum()
    number = weight**2 / fixed(sample.weight**2).sum()
    return ClassMasses(
        at_scores=masses_of(sample),
        weight_right=right,
        weight=weight,
        effective_number=number,
        support=_support(sample, units),
    )


def _support(sample: ClassSample, units: FixedPoint) -> Support:
    """Return knots of Kish's number of proteins near a score, relatives added up before."""
    scale, weight, cluster = sample.scale, sample.weight, sample.cluster
    n_bins = SUPPORT_BINS + 1
    knots, middles = np.linspace(0.0, 1.0, N_SUPPORT_KNOTS), np.arange(n_bins) / SUPPORT_BINS
    # How near each bin is to each knot, a Gaussian with 1 at the knot itself.
    window = np.exp(-0.5 * ((knots[:, None] - middles) / SUPPORT_WINDOW) ** 2)
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
        families = scipy.sparse.csr_array((units.high[rows], at), shape=shape)
        mass = families.data * HIGH_UNIT
        if units.low.any():
            low = scipy.sparse.csr_array((units.low[rows], at), shape=shape).data
            mass = carried(families.data, low).floats()
        families = scipy.sparse.csr_array((mass, families.indices, families.indptr), shape=shape)
        near = np.asarray(families @ window.T)
        whole = np.add.reduceat(mass, families.indptr[:-1])
        squares = squares + fixed_columns(near**2 * SQUARE_UNIT).floats() / SQUARE_UNIT
        presence = presence + fixed_columns(near / whole[:, None]).floats()
    held = squares > 0
    mass = window @ units.placed(bin_, n_bins).floats()
    number = np.where(held, mass**2 / np.where(held, squares, 1.0), 0.0)
    # A lone cluster far away is not one protein near: at most what is near of each.
    return Support(score=np.linspace(0.0, scale, N_SUPPORT_KNOTS), n=np.minimum(number, presence))


MOST_PLACES = 2_000  # more distinct scores than this share places
MOST_UNITS = 20_000  # more clusters than this are drawn in bundles
MASSES_AT_ONCE = 4_000_000  # numbers held at once while clusters are gone through
HALF = 0.5


@dataclass(frozen=True, kw_only=True, eq=False)
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
        return Places(of_row=group, lowest=distinct, score=distinct)
    n_half = MOST_PLACES // 2  # half of the places at even steps, half at even ranks of the rows
    even = np.searchsorted(distinct, np.linspace(distinct[0], distinct[-1], n_half))
    at_rank = np.sort(group)[np.linspace(0, len(group) - 1, n_half).astype(np.int64)]
    first = np.unique(np.concatenate([even, at_rank]))
    place_of_distinct = np.searchsorted(first, np.arange(len(distinct)), side="right") - 1
    of_row = place_of_distinct[group]
    mean = np.bincount(of_row, weights=sample.score) / np.bincount(of_row)
    return Places(of_row=of_row, lowest=distinct[first], score=mean)


@dataclass(frozen=True, kw_only=True, eq=False)
class ClusterMasses:
    """How much of each cluster's weight lies at each place."""

    total: Floats  # Weight at each place, all clusters together
    lone_squares: Floats  # Σ w² at each place over the clusters of one row
    families: Any  # Weight of every other cluster at each place

    def effective_number(self, window: Floats) -> Floats:
        """Return Kish's number (ΣW)²/ΣW² of the clusters' masses in windows."""
        mass = window @ self.total
        squares = window**2 @ self.lone_squares
        step = max(MASSES_AT_ONCE // max(len(window), 1), 1)
        for begin in range(0, self.families.shape[0], step):
            near = self.families[begin : begin + step] @ window.T
            squares += (near**2).sum(axis=0)
        held = squares > 0
        return np.where(held, mass**2 / np.where(held, squares, 1.0), 0.0)


def cluster_masses(sample: ClassSample, places: Places) -> ClusterMasses:
    """Return the masses of clusters at places."""
    n_places = len(places.score)
    is_lone = np.bincount(sample.cluster)[sample.cluster] == 1
    total, lone = (
        np.bincount(places.of_row, weights=weight, minlength=n_places).astype(np.float64)
        for weight in (sample.weight, np.where(is_lone, sample.weight**2, 0.0))
    )
    rows = np.flatnonzero(~is_lone)
    _, family = np.unique(sample.cluster[rows], return_inverse=True)
    n_families = int(family.max()) + 1 if len(rows) else 0
    entries = (sample.weight[rows], (family, places.of_row[rows]))
    families = scipy.sparse.csr_array(entries, shape=(n_families, n_places))
    return ClusterMasses(total=total, lone_squares=lone, families=families)


def draw_masses(sample: ClassSample, places: Places, n_draws: int) -> Masses:
    """Return the masses at places under the bootstrap; many clusters are drawn in bundles."""
    unit, keys = sample.cluster, sample.cluster_key
    if len(keys) > MOST_UNITS:
        keys, bundle = np.unique(keys % np.uint64(MOST_UNITS), return_inverse=True)
        unit = bundle[unit]
    drawn = drawn_weights(keys, range(n_draws))
    kinds = (sample.weight_correct, sample.weight - sample.weight_correct)
    at, shape = (places.of_row, unit), (len(places.score), len(keys))
    right, wrong = (scipy.sparse.csr_array((weight, at), shape=shape) @ drawn for weight in kinds)
    return Masses(score=places.score, right=right, wrong=wrong)


def gaussian_window(point: Floats, score: Floats, width: float) -> Floats:
    """Return Gaussian weights of scores around points, the nearest of each being 1."""
    square = (point[:, None] - score) ** 2
    square -= square.min(axis=1, keepdims=True)
    return np.asarray(np.exp(square * (-HALF / width**2)))
