"""Cumulative confidence: the share of right predictions at a score or better."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated

import numpy as np
from scipy.special import xlogy

from credence.calibrators.classwise import ClasswiseCalibrator, curve_method
from credence.calibrators.intervals import band_of, knots_of
from credence.calibrators.masses import Masses, cluster_masses, draw_masses, masses_of, places_of
from credence.calibrators.protocol import Band, ClassSample, Curve, FitOptions, Law
from credence.confidence import Note
from credence.predictions import Floats, Integers
from credence.records import Stored

MOST_STEPS = 20_000  # above this many distinct scores, steps are thinned
THINNING = 1e-5  # most that thinning moves a confidence
ROUNDING = 1e-12  # relative: sums this near are equal but for rounding
HALF = 0.5


@dataclass(frozen=True, eq=False)
class CumulativeCurve:
    """Shares at a score or better, above a cutoff; one share below it."""

    score: Floats  # Distinct scores of the positives from the cutoff up, ascending
    share: Floats  # Share of right predictions at each of them or better
    cutoff: Annotated[
        float, Stored(null=-np.inf)
    ]  # Scores below it take `share_below`; minus infinity for none
    share_below: float  # Share of right predictions below the cutoff

    def value(self, score: Floats) -> Floats:
        """Return the share at each score or better, or that below the cutoff."""
        step = np.searchsorted(self.score, score, side="left")
        shares = self.share[np.minimum(step, len(self.share) - 1)]
        return np.where(score >= self.cutoff, shares, self.share_below)

    def note(self, score: Floats) -> Integers:
        """Return whether each score is above all that were seen, as a note."""
        is_above = score > self.score[-1]
        return np.where(is_above, int(Note.ABOVE_RANGE), int(Note.NONE)).astype(np.int64)


@dataclass(frozen=True)
class Cumulative:
    """Settings of the cumulative confidence: there are none.

    Notes
    -----
    Cum(S) = TP[S, ∞) / (TP + FP)[S, ∞), section 7 of [1]_: the confidence at a
    score *or better*, which is higher than that at the score where the curve
    rises. Above the greatest score the last value is kept.

    References
    ----------
    .. [1] Salamon et al. 2023, doi 10.3390/make5030043
    """

    def cutoff(self, masses: Masses) -> float:
        """Return minus infinity: there is no cutoff."""
        return -np.inf

    def fit_curve(self, sample: ClassSample) -> CumulativeCurve:
        """Return the shares by running sums."""
        masses = masses_of(sample)
        return curve_at(masses, self.cutoff(masses))

    def fit_band(self, sample: ClassSample, curve: Curve, options: FitOptions) -> Band:
        """Return the interval of the shares, from a bootstrap over clusters.

        The cutoff is chosen anew in every draw.
        """
        assert isinstance(curve, CumulativeCurve)
        places = places_of(sample)
        draws = draw_masses(sample, places, options.n_draws)
        knots = knots_of(sample)
        if curve.cutoff > -np.inf:
            around = [np.nextafter(curve.cutoff, -np.inf), curve.cutoff]
            knots = np.unique(np.concatenate([knots, around]))
        at = np.minimum(np.searchsorted(places.lowest, knots), len(places.lowest) - 1)
        values = draw_values(draws, self.draw_cutoffs(draws), at)
        is_above = knots >= curve.cutoff
        starts = np.where(is_above, at, 0)
        stops = np.searchsorted(places.lowest, np.where(is_above, np.inf, curve.cutoff))
        place = np.arange(len(places.lowest))
        window = (place >= starts[:, None]) & (place < stops[:, None])
        n_near = cluster_masses(sample, places).effective_number(window.astype(np.float64))
        return band_of(knots, values, n_near, curve.value(knots), options)

    def draw_cutoffs(self, draws: Masses) -> Integers:
        """Return the first place above the cutoff in each draw; 0 for no cutoff."""
        return np.zeros(draws.right.shape[1], dtype=np.int64)


@dataclass(frozen=True)
class CumulativePlus(Cumulative):
    """Settings of the cumulative confidence with its cutoff at the median.

    Notes
    -----
    Cum+ of section 7 of [1]_: Cum(S) from θ up, TP[0, θ) / (TP + FP)[0, θ)
    below, θ the weighted median of the positives' scores.

    References
    ----------
    .. [1] Salamon et al. 2023, doi 10.3390/make5030043
    """

    def cutoff(self, masses: Masses) -> float:
        """Return the weighted median of the positives' scores."""
        return weighted_median(masses.score, masses.total)

    def draw_cutoffs(self, draws: Masses) -> Integers:
        """Return the place of the weighted median in each draw."""
        reached = np.cumsum(draws.total, axis=0)
        return np.asarray((reached < HALF * reached[-1]).sum(axis=0))


@dataclass(frozen=True)
class CumulativeOptimal(Cumulative):
    """Settings of the cumulative confidence with the cutoff of least NLL.

    Notes
    -----
    Cum* (CwOC) of section 7 of [1]_. Every distinct score of the positives and
    "no cutoff" is tried by running sums; of equally good cutoffs the lowest is
    taken.

    References
    ----------
    .. [1] Salamon et al. 2023, doi 10.3390/make5030043
    """

    def cutoff(self, masses: Masses) -> float:
        """Return the cutoff with the least negative log likelihood."""
        losses = cutoff_losses(masses)
        best = int(np.argmax(losses <= losses.min() * (1.0 + ROUNDING)))
        return -np.inf if best == 0 else float(masses.score[best])

    def draw_cutoffs(self, draws: Masses) -> Integers:
        """Return the place of the cutoff with the least loss in each draw."""
        return np.asarray(cutoff_losses(draws).argmin(axis=0))


def running_sums(masses: Masses) -> tuple[Floats, Floats]:
    """Return the weight right and wrong at each score or better."""
    return np.cumsum(masses.right[::-1], axis=0)[::-1], np.cumsum(masses.wrong[::-1], axis=0)[::-1]


def weighted_median(score: Floats, weight: Floats) -> float:
    """Return the score that halves the weight; midway where two do.

    >>> weighted_median(np.array([1.0, 2.0]), np.ones(2))
    1.5
    >>> weighted_median(np.array([1.0, 2.0]), np.array([1.0, 3.0]))
    2.0
    """
    reached = np.cumsum(weight)
    half = HALF * reached[-1]
    slack = ROUNDING * reached[-1]
    position = int(np.searchsorted(reached, half - slack, side="left"))
    if abs(reached[position] - half) <= slack and position + 1 < len(score):
        return float(HALF * (score[position] + score[position + 1]))
    return float(score[position])


def cutoff_losses(masses: Masses) -> Floats:
    """Return the NLL in the sample for a cutoff at each distinct score.

    The first entry, a cutoff at the lowest score, is the same as none.
    """
    right, wrong = running_sums(masses)
    above = -xlogy(masses.right, right / (right + wrong))
    above -= xlogy(masses.wrong, wrong / (right + wrong))
    loss_above = np.cumsum(above[::-1], axis=0)[::-1]
    right_below = np.cumsum(masses.right, axis=0) - masses.right
    wrong_below = np.cumsum(masses.wrong, axis=0) - masses.wrong
    total_below = right_below + wrong_below
    divisor = np.where(total_below > 0, total_below, 1.0)
    loss_below = -xlogy(right_below, right_below / divisor)
    loss_below -= xlogy(wrong_below, wrong_below / divisor)
    return np.asarray(loss_above + loss_below)


def draw_values(draws: Masses, cutoff: Integers, at: Integers) -> Floats:
    """Return the curve of every draw at some places."""
    right, wrong = running_sums(draws)
    above = right[at] / (right[at] + wrong[at])
    each = np.arange(len(cutoff))
    right_below = right[0] - right[cutoff, each]
    total_below = right_below + wrong[0] - wrong[cutoff, each]
    share = right[0] / (right[0] + wrong[0])
    is_empty = cutoff == 0
    below = np.where(is_empty, share, right_below / np.where(is_empty, 1.0, total_below))
    return np.where(at[:, None] >= cutoff, above, below)


def curve_at(masses: Masses, cutoff: float) -> CumulativeCurve:
    """Return the cumulative curve with a given cutoff."""
    right, wrong = running_sums(masses)
    share = right / (right + wrong)
    is_below = masses.score < cutoff
    share_below = float(share[0])
    if is_below.any():
        right, total = masses.right[is_below].sum(), masses.total[is_below].sum()
        share_below = float(right / total)
    score, share = masses.score[~is_below], share[~is_below]
    if len(score) > MOST_STEPS:
        kept = thinned(share)
        score, share = score[kept], share[kept]
    return CumulativeCurve(score, share, cutoff, share_below)


def thinned(share: Floats) -> Integers:
    """Return the steps to keep so that no share moves by more than `THINNING`."""
    level = np.floor(share / THINNING)
    is_last = np.ones(len(share), dtype=np.bool_)
    is_last[:-1] = level[1:] != level[:-1]
    return np.flatnonzero(is_last)


PLAIN = curve_method(
    "cumulative",
    "The share of right predictions at the score or better (Cum).",
    "Salamon et al. 2023, section 7, doi 10.3390/make5030043",
    Cumulative,
    {Curve: CumulativeCurve},
    laws=frozenset({Law.REPEAT_IS_WEIGHT, Law.TROVE}),
    additive=True,
)

PLUS = replace(
    PLAIN,
    name="cumulative_plus",
    summary="Cum above the median score, one share below it (Cum+).",
    settings=CumulativePlus,
    build=partial(ClasswiseCalibrator, "cumulative_plus"),
    laws=frozenset({Law.REPEAT_IS_WEIGHT}),
)

OPTIMAL = replace(
    PLAIN,
    name="cumulative_optimal",
    summary="Cum above the cutoff of least log loss, one share below it (Cum*).",
    settings=CumulativeOptimal,
    build=partial(ClasswiseCalibrator, "cumulative_optimal"),
    laws=frozenset({Law.REPEAT_IS_WEIGHT}),
)
