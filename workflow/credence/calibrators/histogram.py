"""Histogram confidence: the share of right predictions in each bin of scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from credence.calibrators.classwise import curve_method
from credence.calibrators.intervals import band_of
from credence.calibrators.masses import Places, cluster_masses, draw_masses, masses_of
from credence.calibrators.protocol import Band, ClassSample, Curve, FitOptions, Law
from credence.confidence import Note
from credence.predictions import Floats, Integers
from credence.settings import setting

EDGE_TOLERANCE = 1e-9  # of a bin: a score this near to an edge lies on it, in any unit


@dataclass(frozen=True, eq=False)
class StepCurve:
    """A confidence that is constant in each bin."""

    upper_edge: Floats  # Upper edges of all bins but the last, ascending; each belongs to its bin
    share: Floats  # Confidence in each bin
    is_empty: np.ndarray[Any, np.dtype[np.bool_]]  # Whether no calibration protein lies in the bin

    def value(self, score: Floats) -> Floats:
        """Return the share of each score's bin."""
        return np.asarray(self.share[self.bin_of(score)])

    def note(self, score: Floats) -> Integers:
        """Return whether each score's bin is empty, as a note."""
        is_empty = self.is_empty[self.bin_of(score)]
        return np.where(is_empty, int(Note.EMPTY_BIN), int(Note.NONE)).astype(np.int64)

    def bin_of(self, score: Floats) -> Integers:
        """Return the bin of each score; bins are open on the left."""
        return bin_of(self.upper_edge, score)


def bin_of(upper_edge: Floats, score: Floats) -> Integers:
    """Return the bin of each score, given all upper edges but the last.

    >>> bin_of(np.array([1.0, 2.0]), np.array([0.0, 1.0, 1.5, 2.0, 9.0])).tolist()
    [0, 0, 1, 1, 2]
    """
    return np.searchsorted(inner_edges(upper_edge), score, side="left").astype(np.int64)


def inner_edges(upper_edge: Floats) -> Floats:
    """Return the last score of each bin: its edge, with room for rounding."""
    return np.asarray(upper_edge + EDGE_TOLERANCE * np.abs(upper_edge))


@dataclass(frozen=True)
class Histogram:
    """Settings of the histogram confidence.

    Notes
    -----
    TP(a, b] / (TP + FP)(a, b], section 4 of [1]_. Bins of equal width are open
    on the left, the first is closed at 0, and a score above the scale counts
    in the last. An empty bin takes the class's share, with a note.

    References
    ----------
    .. [1] Salamon et al. 2023, doi 10.3390/make5030043
    """

    bins: str = setting("width", "equal width, or equal weight", ("width", "count"))
    n_bins: int = setting(20, "number of bins", low=1, high=1000)

    def fit_curve(self, sample: ClassSample) -> StepCurve:
        """Return the share of right predictions per bin."""
        masses = masses_of(sample)
        if self.bins == "width":
            upper_edge = sample.scale * np.arange(1, self.n_bins) / self.n_bins
        else:
            upper_edge = equal_weight_edges(masses.score, masses.total, self.n_bins)
        bin_ = bin_of(upper_edge, masses.score)
        n_bins = len(upper_edge) + 1
        right = np.bincount(bin_, weights=masses.right, minlength=n_bins)
        total = np.bincount(bin_, weights=masses.total, minlength=n_bins)
        is_empty = total == 0
        share = np.where(is_empty, masses.share, right / np.where(is_empty, 1.0, total))
        return StepCurve(upper_edge, share, is_empty)

    def fit_band(self, sample: ClassSample, curve: Curve, options: FitOptions) -> Band:
        """Return the interval of each bin's share, from a bootstrap over clusters.

        Bins of equal weight keep their edges in all draws.
        """
        assert isinstance(curve, StepCurve)
        n_bins = len(curve.share)
        bin_ = curve.bin_of(sample.score)
        number = np.arange(n_bins, dtype=np.float64)
        places = Places(bin_, number, number)
        draws = draw_masses(sample, places, options.n_draws)
        total = draws.total
        share = draws.right.sum(axis=0) / total.sum(axis=0)
        is_empty = total == 0
        values = np.where(is_empty, share, draws.right / np.where(is_empty, 1.0, total))
        # Each bin rests on itself, an empty one on all of them.
        window = np.where(curve.is_empty[:, None], 1.0, np.eye(n_bins))
        n_near = cluster_masses(sample, places).effective_number(window)
        last = inner_edges(curve.upper_edge)
        knots = np.sort(np.concatenate([last, np.nextafter(last, np.inf)]))
        bin_of_knot = np.repeat(np.arange(n_bins), 2)[1:-1]
        if n_bins == 1:
            knots, bin_of_knot = np.zeros(1), np.zeros(1, dtype=np.int64)
        at = bin_of_knot
        return band_of(knots, values[at], n_near[at], curve.share[at], options)


def equal_weight_edges(score: Floats, weight: Floats, n_bins: int) -> Floats:
    """Return upper edges, all but the last, of bins of nearly equal weight.

    Proteins with one score stay together, so that some bins may merge.

    >>> equal_weight_edges(np.array([1.0, 2.0, 3.0, 4.0]), np.ones(4), 2).tolist()
    [2.0]
    """
    reached = np.cumsum(weight)
    wanted = reached[-1] * np.arange(1, n_bins) / n_bins
    position = np.searchsorted(reached, wanted * (1.0 - EDGE_TOLERANCE), side="left")
    edges = np.unique(position)
    return np.asarray(score[edges[edges < len(score) - 1]])


METHOD = curve_method(
    "histogram",
    "The share of right predictions in each bin of scores.",
    "Salamon et al. 2023, section 4, doi 10.3390/make5030043",
    Histogram,
    {Curve: StepCurve},
    laws=frozenset({Law.REPEAT_IS_WEIGHT, Law.TROVE}),
    additive=True,
)
