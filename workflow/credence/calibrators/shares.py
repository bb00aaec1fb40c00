"""Shares: of the scale, of right predictions in the class, in a bin, at a score or better."""

from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np
import scipy

from credence.calibrators import classwise
from credence.calibrators.intervals import curve_band, knots_of, share_band
from credence.calibrators.masses import (
    HALF,
    Masses,
    Places,
    cluster_masses,
    draw_masses,
    masses_of,
    places_of,
)
from credence.calibrators.protocol import Band, ClassSample, Curve, FitOptions, Law, Need
from credence.confidence import Note
from credence.predictions import Booleans, Floats, Integers, Labelled
from credence.records import Stored
from credence.settings import setting


@dataclass(frozen=True, kw_only=True)
class ScoreShare:
    """The score over the scale, at most 1."""

    scale: float  # What a row of scores sums to

    def value(self, score: Floats) -> Floats:
        """Return the share of each score; rounded rows can exceed the scale."""
        return np.clip(score / self.scale, 0.0, 1.0)

    def note(self, score: Floats) -> Integers:
        """Return no note: the share is defined for every score."""
        return np.zeros(len(score), dtype=np.int64)


@dataclass(frozen=True, kw_only=True)
class Uncalibrated:
    """Settings of the uncalibrated confidence S/M: none; no interval (0003, 0211)."""

    def fit(self, labelled: Labelled) -> classwise.ClasswiseCalibration:
        """Return the score's share of the scale for every class."""
        curve = ScoreShare(scale=labelled.predictions.scale)
        seen = classwise.fit_classes(labelled, FitOptions(n_draws=0), None)
        classes = {
            name: replace(class_curve, fallback=None, learnt=curve)
            for name, class_curve in seen.items()
        }
        return classwise.ClasswiseCalibration(method=UNCALIBRATED.name, classes=classes)


UNCALIBRATED = classwise.curve_method(
    "uncalibrated",
    "The score's share of the scale, as the classifier gave it; without interval.",
    "Salamon et al. 2023, section 4, doi 10.3390/make5030043",
    Uncalibrated,
    {Curve: ScoreShare},
    build=lambda settings, options: settings,
    laws=frozenset({Law.REPEAT_IS_WEIGHT}),
    gives_interval=False,
    is_learnt=False,
)


@dataclass(frozen=True, kw_only=True)
class ClassOnly:
    """Settings of the class-only confidence Σw TP / Σw positives: there are none."""

    def fit_curve(self, sample: ClassSample) -> classwise.ConstantCurve:
        """Return the weighted share of right predictions."""
        return classwise.ConstantCurve(share=masses_of(sample).share, code=int(Note.NONE))

    def fit_band(self, sample: ClassSample, curve: Curve, options: FitOptions) -> Band:
        """Return the interval of the share, from a bootstrap over clusters."""
        return share_band(sample, options)


CLASS_ONLY = classwise.curve_method(
    "class_only",
    "The precision of the class, whatever the score (Conf1).",
    "Salamon et al. 2023, Eq. 1, doi 10.3390/make5030043",
    ClassOnly,
    {Curve: classwise.ConstantCurve},
    needs=Need.CLASS,
    laws=frozenset({Law.REPEAT_IS_WEIGHT, Law.TROVE}),
    additive=True,
)


EDGE_TOLERANCE = 1e-9  # of a bin: a score this near to an edge lies on it, in any unit


@dataclass(frozen=True, kw_only=True, eq=False)
class StepCurve:
    """A confidence that is constant in each bin."""

    upper_edge: Floats  # Upper edges of all bins but the last, ascending; each belongs to its bin
    share: Floats  # Confidence in each bin
    is_empty: Booleans  # Whether no calibration protein lies in the bin

    def value(self, score: Floats) -> Floats:
        """Return the share of each score's bin."""
        return np.asarray(self.share[bin_of(self.upper_edge, score)])

    def note(self, score: Floats) -> Integers:
        """Return whether each score's bin is empty, as a note."""
        is_empty = self.is_empty[bin_of(self.upper_edge, score)]
        return np.where(is_empty, int(Note.EMPTY_BIN), int(Note.NONE)).astype(np.int64)


def bin_of(upper_edge: Floats, score: Floats) -> Integers:
    """Return the bin of each score, given all upper edges but the last."""
    return np.searchsorted(inner_edges(upper_edge), score, side="left").astype(np.int64)


def inner_edges(upper_edge: Floats) -> Floats:
    """Return the last score of each bin: its edge, with room for rounding."""
    return np.asarray(upper_edge + EDGE_TOLERANCE * np.abs(upper_edge))


@dataclass(frozen=True, kw_only=True)
class Histogram:
    """Settings of the histogram confidence.

    TP(a, b] / (TP + FP)(a, b], section 4 of Salamon et al. Bins of equal width, the first closed
    at 0; an empty one takes the class's share, with a note.
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
        return StepCurve(upper_edge=upper_edge, share=share, is_empty=is_empty)

    def fit_band(self, sample: ClassSample, curve: Curve, options: FitOptions) -> Band:
        """Return the interval of each bin's share, from a bootstrap over clusters."""
        assert isinstance(curve, StepCurve)
        n_bins = len(curve.share)
        number = np.arange(n_bins, dtype=np.float64)
        places = Places(of_row=bin_of(curve.upper_edge, sample.score), lowest=number, score=number)
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
        at = np.repeat(np.arange(n_bins), 2)[1:-1]
        if n_bins == 1:
            knots, at = np.zeros(1), np.zeros(1, dtype=np.int64)
        return curve_band(knots, values[at], n_near[at], curve.share[at], options)


def equal_weight_edges(score: Floats, weight: Floats, n_bins: int) -> Floats:
    """Return upper edges but the last of bins of nearly equal weight; one score, one bin."""
    reached = np.cumsum(weight)
    wanted = reached[-1] * np.arange(1, n_bins) / n_bins
    edges = np.unique(np.searchsorted(reached, wanted * (1.0 - EDGE_TOLERANCE), side="left"))
    return np.asarray(score[edges[edges < len(score) - 1]])


HISTOGRAM = classwise.curve_method(
    "histogram",
    "The precision in each bin of scores.",
    "Salamon et al. 2023, section 4, doi 10.3390/make5030043",
    Histogram,
    {Curve: StepCurve},
    laws=frozenset({Law.REPEAT_IS_WEIGHT, Law.TROVE}),
    additive=True,
)

MOST_SHARE_STEPS = 20_000  # above this many distinct scores, steps are thinned
THINNING = 1e-5  # most that thinning moves a confidence
SUM_ROUNDING = 1e-12  # relative: sums this near are equal but for rounding


@dataclass(frozen=True, kw_only=True, eq=False)
class CumulativeCurve:
    """Shares at a score or better, above a cutoff; one share below it."""

    score: Floats  # Distinct scores of the positives from the cutoff up, ascending
    share: Floats  # Share of right predictions at each of them or better
    # Scores below it take `share_below`; minus infinity for none.
    cutoff: Annotated[float, Stored(null=-np.inf)]
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


@dataclass(frozen=True, kw_only=True)
class Cumulative:
    """Settings of the cumulative confidence: there are none.

    Cum(S) = TP[S, ∞) / (TP + FP)[S, ∞), section 7 of Salamon et al.: the confidence at a
    score *or better*. Above the greatest score the last value is kept.
    """

    def cutoff(self, masses: Masses) -> float:
        """Return minus infinity: there is no cutoff."""
        return -np.inf

    def fit_curve(self, sample: ClassSample) -> CumulativeCurve:
        """Return the shares by running sums."""
        masses = masses_of(sample)
        cutoff = self.cutoff(masses)
        right, wrong = running_sums(masses)
        share = right / (right + wrong)
        is_below = masses.score < cutoff
        share_below = float(share[0])
        if is_below.any():
            share_below = float(masses.right[is_below].sum() / masses.total[is_below].sum())
        score, share = masses.score[~is_below], share[~is_below]
        if len(score) > MOST_SHARE_STEPS:
            # Steps go, so that no share moves by more than `THINNING`.
            is_last = np.append(np.diff(np.floor(share / THINNING)) != 0, True)
            score, share = score[is_last], share[is_last]
        return CumulativeCurve(score=score, share=share, cutoff=cutoff, share_below=share_below)

    def fit_band(self, sample: ClassSample, curve: Curve, options: FitOptions) -> Band:
        """Return the interval of the shares, from a bootstrap that chooses each draw's cutoff."""
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
        return curve_band(knots, values, n_near, curve.value(knots), options)

    def draw_cutoffs(self, draws: Masses) -> Integers:
        """Return the first place above the cutoff in each draw; 0 for no cutoff."""
        return np.zeros(draws.right.shape[1], dtype=np.int64)


@dataclass(frozen=True, kw_only=True)
class CumulativePlus(Cumulative):
    """Settings of the cumulative confidence with its cutoff at the median.

    Cum+ of section 7 of the paper: Cum(S) from θ up, TP[0, θ) / (TP + FP)[0, θ)
    below, θ the weighted median of the positives' scores.
    """

    def cutoff(self, masses: Masses) -> float:
        """Return the weighted median of the positives' scores."""
        return weighted_median(masses.score, masses.total)

    def draw_cutoffs(self, draws: Masses) -> Integers:
        """Return the place of the weighted median in each draw."""
        reached = np.cumsum(draws.total, axis=0)
        return np.asarray((reached < HALF * reached[-1]).sum(axis=0))


@dataclass(frozen=True, kw_only=True)
class CumulativeOptimal(Cumulative):
    """Settings of the cumulative confidence with the cutoff of least NLL.

    Cum* (CwOC) of section 7 of the paper; of equally good cutoffs the lowest is taken.
    """

    def cutoff(self, masses: Masses) -> float:
        """Return the cutoff with the least negative log likelihood."""
        losses = cutoff_losses(masses)
        best = int(np.argmax(losses <= losses.min() * (1.0 + SUM_ROUNDING)))
        return -np.inf if best == 0 else float(masses.score[best])

    def draw_cutoffs(self, draws: Masses) -> Integers:
        """Return the place of the cutoff with the least loss in each draw."""
        return np.asarray(cutoff_losses(draws).argmin(axis=0))


def running_sums(masses: Masses) -> tuple[Floats, Floats]:
    """Return the weight right and wrong at each score or better."""
    return np.cumsum(masses.right[::-1], axis=0)[::-1], np.cumsum(masses.wrong[::-1], axis=0)[::-1]


def weighted_median(score: Floats, weight: Floats) -> float:
    """Return the score that halves the weight; midway where two do."""
    reached = np.cumsum(weight)
    half = HALF * reached[-1]
    slack = SUM_ROUNDING * reached[-1]
    position = int(np.searchsorted(reached, half - slack, side="left"))
    if abs(reached[position] - half) <= slack and position + 1 < len(score):
        return float(HALF * (score[position] + score[position + 1]))
    return float(score[position])


def cutoff_losses(masses: Masses) -> Floats:
    """Return the NLL in the sample for a cutoff at each distinct score; the first is none."""
    right, wrong = running_sums(masses)
    above = -scipy.special.xlogy(masses.right, right / (right + wrong))
    above -= scipy.special.xlogy(masses.wrong, wrong / (right + wrong))
    loss_above = np.cumsum(above[::-1], axis=0)[::-1]
    right_below = np.cumsum(masses.right, axis=0) - masses.right
    wrong_below = np.cumsum(masses.wrong, axis=0) - masses.wrong
    total_below = right_below + wrong_below
    divisor = np.where(total_below > 0, total_below, 1.0)
    loss_below = -scipy.special.xlogy(right_below, right_below / divisor)
    loss_below -= scipy.special.xlogy(wrong_below, wrong_below / divisor)
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


CUMULATIVE = classwise.curve_method(
    "cumulative",
    "The precision at the score or better (Cum).",
    "Salamon et al. 2023, section 7, doi 10.3390/make5030043",
    Cumulative,
    {Curve: CumulativeCurve},
    laws=frozenset({Law.REPEAT_IS_WEIGHT, Law.TROVE}),
    additive=True,
)

CUMULATIVE_PLUS = replace(
    CUMULATIVE,
    name="cumulative_plus",
    summary="Cum above the median score, one share below it (Cum+).",
    settings=CumulativePlus,
    build=classwise.build_of("cumulative_plus"),
    laws=frozenset({Law.REPEAT_IS_WEIGHT}),
)

CUMULATIVE_OPTIMAL = replace(
    CUMULATIVE_PLUS,
    name="cumulative_optimal",
    summary="Cum above the cutoff of least log loss, one share below it (Cum*).",
    settings=CumulativeOptimal,
    build=classwise.build_of("cumulative_optimal"),
)
