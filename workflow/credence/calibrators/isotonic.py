"""Isotonic calibration per class: the never-falling curve of greatest likelihood."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import special
from scipy.optimize import isotonic_regression

from credence.calibrators.classwise import curve_method
from credence.calibrators.logit_curve import band_knots, merged
from credence.calibrators.protocol import Band, ClassSample, Curve, FitOptions, Law, range_note
from credence.calibrators.sandwich import critical_value, twins_of
from credence.draws import effective_clusters
from credence.predictions import Booleans, Floats, Integers

N_TRIED, N_ROUNDS = 48, 4  # each round narrows an end 47 times: to 2e-7 of [0, 1]

# A cluster's part of a block that is taken as its own, at most: one that is all of it
# leaves nothing to be compared with.
MOST_OWN = 0.5

# Quantiles of the limit 𝔻 of Banerjee & Wellner 2001, doi 10.1214/aos/1015345959,
# as verification/banerjee_wellner.py draws them.
LIMIT_LEVELS = np.array([0.5, 0.8, 0.9, 0.95, 0.975, 0.99, 0.995])
LIMIT_QUANTILES = np.array([0.277, 0.975, 1.595, 2.255, 2.942, 3.874, 4.584])


def limit_quantile(level: float) -> float:
    """Return the quantile of the likelihood ratio's limit."""
    # Tails of 𝔻 fall about exponentially: straight lines in -log(1 - level).
    return float(np.interp(-np.log1p(-level), -np.log1p(-LIMIT_LEVELS), LIMIT_QUANTILES))


def dispersion(sample: ClassSample, fitted: Floats) -> float:
    """Return by how much the log-likelihood of the rows overstates what they tell.

    The design effect, at least 1: the variance of sums of residuals over what it
    would be, were clusters' members strangers; times what a row weighs. What
    moves the curve at a score are the rows of its block, so the sums are those of
    a cluster's members within a block: relatives with other scores count as
    strangers there. Rows of one cluster with the same score count as one row.
    A cluster that is a large part of a block has pulled it towards itself, so its
    residuals there are divided by the part that is not its own.
    """
    residual = sample.weight * (sample.is_correct - fitted)
    twin = twins_of(sample.cluster, np.zeros(len(fitted), dtype=np.int64), sample.score)
    _, block = np.unique(fitted, return_inverse=True)
    lifted, alike = (
        residual / (1.0 - np.minimum(share_of_block(code, block, sample.weight), MOST_OWN))
        for code in (sample.cluster, twin)
    )
    together = float(
        np.mean([_sum_of_squares(lifted, sample.cluster, (block + odd) // 2) for odd in (0, 1)])
    )
    alone = float((np.bincount(twin, weights=alike) ** 2).sum())
    effect = max(together / alone, 1.0) if alone > 0 else 1.0
    spread = fitted * (1.0 - fitted)
    implied = np.bincount(twin, weights=sample.weight * np.sqrt(spread))
    information = float((sample.weight * spread).sum())
    if information > 0:
        return effect * float((implied**2).sum()) / information
    mass = np.bincount(sample.cluster, weights=sample.weight)
    return float((mass**2).sum() / mass.sum())


def share_of_block(cluster: Integers, block: Integers, weight: Floats) -> Floats:
    """Return which part of each row's block is of the row's cluster, by weight.

    >>> share_of_block(np.array([0, 1, 1]), np.array([0, 0, 1]), np.ones(3)).tolist()
    [0.5, 0.5, 1.0]
    """
    _, family = np.unique(cluster * (block.max() + 1) + block, return_inverse=True)
    own = np.bincount(family, weights=weight)[family]
    return np.asarray(own / np.bincount(block, weights=weight)[block])


@dataclass(frozen=True, eq=False)
class Blocks:
    """Runs of scores that share one fitted value."""

    value: Floats  # Per block, values ascending
    weight: Floats
    weight_correct: Floats

    def log_fit(self, value: Floats) -> Floats:
        """Return the log-likelihood of other values, shape (..., n_blocks)."""
        wrong = self.weight - self.weight_correct
        logs = special.xlogy(self.weight_correct, value) + special.xlogy(wrong, 1.0 - value)
        return np.asarray(logs.sum(axis=-1))

    def joined(self, other: Blocks) -> Blocks:
        """Return these blocks and then the others."""
        return Blocks(
            np.concatenate([self.value, other.value]),
            np.concatenate([self.weight, other.weight]),
            np.concatenate([self.weight_correct, other.weight_correct]),
        )

    def part(self, rows: slice) -> Blocks:
        """Return the blocks chosen."""
        return Blocks(self.value[rows], self.weight[rows], self.weight_correct[rows])


def pooled(weight: Floats, weight_correct: Floats) -> tuple[Blocks, Integers]:
    """Return the blocks of the isotonic fit, and where each begins and the last ends."""
    if len(weight) == 0:
        return Blocks(weight, weight, weight), np.zeros(1, dtype=np.int64)
    fit = isotonic_regression(weight_correct / weight, weights=weight)
    starts = fit.blocks[:-1]
    blocks = Blocks(
        np.clip(fit.x[starts], 0.0, 1.0),
        np.add.reduceat(weight, starts),
        np.add.reduceat(weight_correct, starts),
    )
    return blocks, np.asarray(fit.blocks, dtype=np.int64)


def _sum_of_squares(residual: Floats, cluster: Integers, window: Integers) -> float:
    family = cluster * (window.max() + 1) + window
    _, family = np.unique(family, return_inverse=True)
    return float((np.bincount(family, weights=residual) ** 2).sum())


def likelihood_ratio_band(sample: ClassSample, options: FitOptions) -> Band:
    """Return the pointwise interval of the isotonic curve on knots."""
    score, weight, weight_correct = merged(sample)
    blocks, bounds = pooled(weight, weight_correct)
    greatest = float(blocks.log_fit(blocks.value))
    fitted = np.repeat(blocks.value, np.diff(bounds))
    place = np.searchsorted(score, sample.score)
    n_clusters = effective_clusters(sample.cluster, sample.weight)
    # The design effect is an estimate, as a t-test's variance is.
    small = critical_value(n_clusters, 1, options) / critical_value(np.inf, 0, options)
    allowed = limit_quantile(options.level) * dispersion(sample, fitted[place]) * small**2 / 2.0
    knots = band_knots(sample)
    first = np.searchsorted(score, knots, side="left")  # the first score at or above
    last = np.searchsorted(score, knots, side="right") - 1  # the last at or below
    limits = np.empty((len(knots), 2))
    for position, (left, right) in enumerate(zip(last.tolist(), first.tolist(), strict=True)):
        if position and left == last[position - 1] and right == first[position - 1]:
            limits[position] = limits[position - 1]
            continue
        # On a score its own rows are held at p; in a gap there are none of those.
        upto, onward = (left, right + 1) if left == right else (left + 1, right)
        own = Blocks(*(part[upto:onward] for part in (fitted, weight, weight_correct)))
        before = int(np.searchsorted(bounds, upto, side="left")) - 1
        after = int(np.searchsorted(bounds, onward, side="right")) - 1
        # Blocks away from the knot stay what they are; only its own is cut in two.
        begin = int(bounds[max(before, 0)])
        finish = int(bounds[min(after + 1, len(bounds) - 1)])
        cut = slice(begin, upto), slice(onward, finish)
        head = blocks.part(slice(0, max(before, 0))).joined(
            pooled(weight[cut[0]], weight_correct[cut[0]])[0]
        )
        tail = pooled(weight[cut[1]], weight_correct[cut[1]])[0].joined(
            blocks.part(slice(after + 1, None))
        )
        limits[position] = invert(
            head, own, tail, greatest - allowed, (float(fitted[left]), float(fitted[right]))
        )
    return Band(knots, limits[:, 0], limits[:, 1])


def invert(
    head: Blocks, own: Blocks, tail: Blocks, least: float, fitted: tuple[float, float]
) -> Floats:
    """Return the least and greatest p whose log-likelihood is not below `least`."""

    def is_allowed(value: Floats) -> Booleans:
        column = value[:, None]
        fit = head.log_fit(np.minimum(head.value, column))
        fit = fit + own.log_fit(np.broadcast_to(column, (len(value), len(own.value))))
        fit = fit + tail.log_fit(np.maximum(tail.value, column))
        return np.asarray(fit >= least)

    inside, outside = np.array(fitted), np.array([0.0, 1.0])
    steps = np.linspace(0.0, 1.0, N_TRIED)[:, None]
    for _ in range(N_ROUNDS):
        tried = inside + (outside - inside) * steps
        fits = is_allowed(tried.ravel()).reshape(tried.shape)
        fits[0] = True  # found to be so before; rounding must not undo it
        # What fits is a run from the inside on, for the likelihood has one hill.
        n_fit = np.where(fits.all(axis=0), N_TRIED, fits.argmin(axis=0))
        inside = tried[n_fit - 1, [0, 1]]
        outside = tried[np.minimum(n_fit, N_TRIED - 1), [0, 1]]
    return inside


@dataclass(frozen=True, eq=False)
class Polyline:
    """A curve on knots, straight between them, its ends held outside."""

    score: Floats  # Knots, ascending
    confidence: Floats  # Its values there

    def value(self, score: Floats) -> Floats:
        """Return the confidence at each score."""
        return np.interp(score, self.score, self.confidence)

    def note(self, score: Floats) -> Integers:
        """Return whether each score lies outside the range seen."""
        return range_note(score, float(self.score[0]), float(self.score[-1]))

    def refuse_damage(self) -> None:
        """Refuse what is no such curve."""
        if (
            self.score.ndim != 1
            or self.score.shape != self.confidence.shape
            or len(self.score) == 0
        ):
            raise ValueError("a curve needs a confidence for every knot")
        if not np.isfinite(self.score).all() or (np.diff(self.score) < 0).any():
            raise ValueError("the knots of a curve are not ascending numbers")
        if not ((self.confidence >= 0) & (self.confidence <= 1)).all():
            raise ValueError("a curve holds what is no probability")


@dataclass(frozen=True)
class Isotonic:
    """Settings of isotonic calibration: there are none.

    Notes
    -----
    Pool adjacent violators, weighted; equal scores are one point. Straight lines
    between the ends of the blocks, the first and last value held outside.

    References
    ----------
    .. [1] Zadrozny & Elkan 2002, doi 10.1145/775047.775151
    .. [2] Banerjee & Wellner 2001, doi 10.1214/aos/1015345959 (the interval)
    """

    def fit_curve(self, sample: ClassSample) -> Polyline:
        """Return the isotonic curve of one class."""
        score, weight, weight_correct = merged(sample)
        fitted = isotonic_regression(weight_correct / weight, weights=weight).x
        confidence = np.clip(fitted, 0.0, 1.0)
        is_end = np.ones(len(score), dtype=np.bool_)
        # Inside a block nothing bends.
        is_end[1:-1] = (confidence[1:-1] != confidence[:-2]) | (confidence[1:-1] != confidence[2:])
        return Polyline(score[is_end], confidence[is_end])

    def fit_band(self, sample: ClassSample, curve: Curve, options: FitOptions) -> Band:
        """Return the interval by inverting the likelihood-ratio test at each knot."""
        return likelihood_ratio_band(sample, options)


METHOD = curve_method(
    "isotonic",
    "The never-falling curve that fits best, per class.",
    "Zadrozny & Elkan 2002, doi 10.1145/775047.775151",
    Isotonic,
    {Curve: Polyline},
    laws=frozenset({Law.REPEAT_IS_WEIGHT, Law.TROVE}),
)
