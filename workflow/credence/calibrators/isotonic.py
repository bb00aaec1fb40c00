"""Isotonic and Venn–Abers calibration per class: never-falling curves of greatest likelihood."""

import warnings
from dataclasses import dataclass

import numpy as np
import scipy

from credence.calibrators.classwise import curve_method
from credence.calibrators.logit_curve import band_knots, by_score
from credence.calibrators.newton import critical_value, twins_of
from credence.calibrators.protocol import Band, ClassSample, Curve, FitOptions, Law, range_note
from credence.draws import effective_clusters
from credence.predictions import Booleans, Floats, Integers

N_TRIED, N_ROUNDS = 48, 4  # each round narrows an end 47 times: to 2e-7 of [0, 1]

# A cluster's part of a block that is taken as its own, at most: all would leave nothing else.
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

    The design effect, at least 1, times what a row weighs: the variance of sums of residuals of a
    cluster within a block over that of strangers. Rows of one cluster and score count as one; a
    residual is divided by the part of its block that is not its own cluster's (decision 0005).
    """
    residual = sample.weight * (sample.is_correct - fitted)
    twin = twins_of(sample.cluster, np.zeros(len(fitted), dtype=np.int64), sample.score)
    _, block = np.unique(fitted, return_inverse=True)
    lifted, alike = (
        residual / (1.0 - np.minimum(share_of_block(code, block, sample.weight), MOST_OWN))
        for code in (sample.cluster, twin)
    )
    families = [cluster_parts(sample.cluster, (block + odd) // 2) for odd in (0, 1)]
    sums = [(np.bincount(family, weights=lifted) ** 2).sum() for family in families]
    together = float(np.mean(sums))
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
    """Return which part of each row's block is of the row's cluster, by weight."""
    family = cluster_parts(cluster, block)
    family_weight = np.bincount(family, weights=weight)[family]
    return np.asarray(family_weight / np.bincount(block, weights=weight)[block])


def log_fit(blocks: Floats, value: Floats) -> Floats:
    """Return the log-likelihood of blocks (value, weight, weight right) at other values."""
    _, weight, right = blocks
    logs = scipy.special.xlogy(right, value) + scipy.special.xlogy(weight - right, 1.0 - value)
    return np.asarray(logs.sum(axis=-1))


def pooled(weight: Floats, weight_correct: Floats) -> tuple[Floats, Integers]:
    """Return the blocks of the isotonic fit, and where each begins and the last ends."""
    if len(weight) == 0:
        return np.empty((3, 0)), np.zeros(1, dtype=np.int64)
    fit = scipy.optimize.isotonic_regression(weight_correct / weight, weights=weight)
    starts = fit.blocks[:-1]
    sums = [np.add.reduceat(part, starts) for part in (weight, weight_correct)]
    return np.stack([np.clip(fit.x[starts], 0.0, 1.0), *sums]), np.asarray(fit.blocks, np.int64)


def cluster_parts(cluster: Integers, block: Integers) -> Integers:
    """Return a code for each cluster's part of each block."""
    _, family = np.unique(cluster * (block.max() + 1) + block, return_inverse=True)
    return np.asarray(family, dtype=np.int64)


def likelihood_ratio_band(sample: ClassSample, options: FitOptions) -> Band:
    """Return the pointwise interval of the isotonic curve on knots."""
    score, weight, weight_correct = by_score(sample)
    blocks, bounds = pooled(weight, weight_correct)
    greatest = float(log_fit(blocks, blocks[0]))
    fitted = np.repeat(blocks[0], np.diff(bounds))
    rows = np.stack([fitted, weight, weight_correct])
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
        before = max(int(np.searchsorted(bounds, upto, side="left")) - 1, 0)
        after = int(np.searchsorted(bounds, onward, side="right"))
        # Blocks away from the knot stay what they are; only its own is cut in two.
        begin, finish = bounds[before], bounds[min(after, len(bounds) - 1)]
        head, tail = pooled(*rows[1:, begin:upto])[0], pooled(*rows[1:, onward:finish])[0]
        head, tail = np.hstack([blocks[:, :before], head]), np.hstack([tail, blocks[:, after:]])
        held = (float(fitted[left]), float(fitted[right]))
        limits[position] = invert(head, rows[:, upto:onward], tail, greatest - allowed, held)
    return Band(score=knots, lower=limits[:, 0], upper=limits[:, 1])


def invert(
    head: Floats, middle: Floats, tail: Floats, least: float, fitted: tuple[float, float]
) -> Floats:
    """Return the least and greatest p whose log-likelihood is not below `least`."""

    def is_allowed(value: Floats) -> Booleans:
        column = value[:, None]
        fit = log_fit(head, np.minimum(head[0], column))
        fit = fit + log_fit(middle, np.broadcast_to(column, (len(value), middle.shape[1])))
        fit = fit + log_fit(tail, np.maximum(tail[0], column))
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


@dataclass(frozen=True, kw_only=True, eq=False)
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
        is_whole = self.score.ndim == 1 and self.score.shape == self.confidence.shape
        if not is_whole or len(self.score) == 0:
            raise ValueError("a curve needs a confidence for every knot")
        if not np.isfinite(self.score).all() or (np.diff(self.score) < 0).any():
            raise ValueError("the knots of a curve are not ascending numbers")
        if not ((self.confidence >= 0) & (self.confidence <= 1)).all():
            raise ValueError("a curve holds what is no probability")


@dataclass(frozen=True, kw_only=True)
class Isotonic:
    """Settings of isotonic calibration: there are none.

    Weighted pool adjacent violators; straight lines between the ends of the blocks.
    """

    def fit_curve(self, sample: ClassSample) -> Polyline:
        """Return the isotonic curve of one class."""
        score, weight, weight_correct = by_score(sample)
        fitted = scipy.optimize.isotonic_regression(weight_correct / weight, weights=weight).x
        confidence = np.clip(fitted, 0.0, 1.0)
        # Inside a block nothing bends.
        bends = np.concatenate([[True], confidence[1:] != confidence[:-1], [True]])
        is_end = bends[1:] | bends[:-1]
        return Polyline(score=score[is_end], confidence=confidence[is_end])

    def fit_band(self, sample: ClassSample, curve: Curve, options: FitOptions) -> Band:
        """Return the interval by inverting the likelihood-ratio test at each knot."""
        return likelihood_ratio_band(sample, options)


ISOTONIC = curve_method(
    "isotonic",
    "The never-falling curve that fits best, per class.",
    "Zadrozny & Elkan 2002, doi 10.1145/775047.775151",
    Isotonic,
    {Curve: Polyline},
    laws=frozenset({Law.REPEAT_IS_WEIGHT, Law.TROVE}),
)


@dataclass(frozen=True, kw_only=True, eq=False)
class Bracket:
    """Two step functions of the score: the fit if the protein were wrong, or right."""

    score: Floats  # Distinct scores of calibration, ascending; n of them
    if_wrong: Floats  # p0 left of the first score, then from each score up to the next
    if_right: Floats  # p1 up to and with each score, then above the last

    def bounds(self, score: Floats) -> tuple[Floats, Floats]:
        """Return p0 and p1 at each score."""
        held = np.clip(score, self.score[0], self.score[-1])
        low = self.if_wrong[np.searchsorted(self.score, held, side="right")]
        high = self.if_right[np.searchsorted(self.score, held, side="left")]
        return low, high

    def value(self, score: Floats) -> Floats:
        """Return p1 / (1 - p0 + p1), the value of least regret in log loss."""
        low, high = self.bounds(score)
        return np.asarray(high / (1.0 - low + high))

    def note(self, score: Floats) -> Integers:
        """Return whether each score lies outside the range seen."""
        return range_note(score, float(self.score[0]), float(self.score[-1]))


@dataclass(frozen=True, kw_only=True)
class VennAbers:
    """Settings of Venn–Abers calibration: there are none.

    p0 and p1 are the isotonic fits with the protein itself added as wrong and as right. Of
    exchangeable proteins one of the two is perfectly calibrated (Vovk et al.), which says little
    of how far the curve itself may be off: so the interval is the union of [p0, p1] with that of
    the isotonic curve; relatives count in the latter alone.
    """

    def fit_curve(self, sample: ClassSample) -> Bracket:
        """Return the two step functions of one class."""
        score, weight, weight_correct = by_score(sample)
        if np.all(sample.weight == 1.0):
            bounds = package_bounds(sample.score, sample.is_correct)
        else:
            bounds = weighted_bounds(weight, weight_correct)
        return Bracket(
            score=score,
            if_wrong=np.clip(bounds[0], 0.0, 1.0),
            if_right=np.clip(bounds[1], 0.0, 1.0),
        )

    def fit_band(self, sample: ClassSample, curve: Curve, options: FitOptions) -> Band:
        """Return the union of [p0, p1] with the interval of the isotonic curve."""
        assert isinstance(curve, Bracket)
        band = likelihood_ratio_band(sample, options)
        low, high = curve.bounds(band.score)
        # p0 and p1 are steps that rise between knots: the lower end looks one knot
        # back and the upper one ahead, so that straight lines stay outside both.
        back, ahead = np.append(low[:1], low[:-1]), np.append(high[1:], high[-1:])
        return Band(
            score=band.score,
            lower=np.minimum(band.lower, back),
            upper=np.maximum(band.upper, ahead),
        )


def package_bounds(score: Floats, is_correct: Booleans) -> tuple[Floats, Floats]:
    """Return p0 and p1 as the ``venn-abers`` package computes them."""
    # The package silences NumPy's warnings for the whole process when imported,
    # and divides zero by zero on purpose: all of that stays inside.
    with np.errstate(divide="ignore", invalid="ignore"), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "All-NaN slice encountered", RuntimeWarning)
        from venn_abers.venn_abers import calc_p0p1

        given = np.stack([1.0 - score, score], axis=1)
        if_wrong, if_right, _ = calc_p0p1(given, is_correct.astype(np.float64))
    return np.asarray(if_wrong[:, 1]), np.asarray(if_right[:, 1])


def weighted_bounds(weight: Floats, weight_correct: Floats) -> tuple[Floats, Floats]:
    """Return p0 and p1 of weighted rows; the protein itself weighs 1."""
    n_scores = len(weight)
    if_wrong, if_right = np.zeros(n_scores + 1), np.ones(n_scores + 1)
    for place in range(n_scores):
        # p0 holds from this score up to the next: the protein stands at the score.
        more = weight.copy()
        more[place] += 1.0
        if_wrong[place + 1] = scipy.optimize.isotonic_regression(
            weight_correct / more, weights=more
        ).x[place]
        right = weight_correct.copy()
        right[place] += 1.0
        if_right[place] = scipy.optimize.isotonic_regression(right / more, weights=more).x[place]
    return if_wrong, if_right


VENN_ABERS = curve_method(
    "venn_abers",
    "Two isotonic fits that bracket the answer, per class; the bracket is kept.",
    "Vovk, Petej & Fedorova 2015, arXiv 1511.00213",
    VennAbers,
    {Curve: Bracket},
)
