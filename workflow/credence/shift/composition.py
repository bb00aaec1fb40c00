"""The composition of a use-set with its interval, and what of it is applied.

Calibration clusters and the use-set's rows or genomes are drawn, and in every
draw the composition is estimated anew. The estimate is shown with its interval;
confidences are corrected for a composition that lies between the calibration
set's and the estimate, by how much of the shift chance cannot explain.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import special

from credence.calibrators.draws import cluster_weights
from credence.calibrators.intervals import LEAST_FREEDOM, expanded_quantiles, tail_levels
from credence.calibrators.protocol import FitOptions
from credence.predictions import Booleans, Floats
from credence.shift.evidence import clusters_by_class, drawn_evidence, evidence_of
from credence.shift.no_shift import NoShift, compare_predicted
from credence.shift.protocol import Estimate, Estimator, Evidence
from credence.shift.sides import CalibrationSide, UseSide
from credence.shift.use_draws import HALF_ROW

FEWEST_DRAWS = 2  # of which quantiles can be taken
HELD_CLUSTERS = 4.0  # of a class, that hold its weight near 1 (decision 0704)
HALF = 0.5  # of the mean of the draws: no share is taken to be less


@dataclass(frozen=True, eq=False)
class Composition:
    """Shares of the classes in a use-set.

    Parameters
    ----------
    calibration_share, share, lower, upper : array of float, shape (n_classes,)
        Shares in calibration; in the use-set, as estimated or stated, with the
        interval's ends.
    draws : array of float, shape (n_classes, n_draws)
        Shares in each draw.
    calibration_draws : array of float, shape (n_classes, n_draws)
        The calibration set's shares in the same draws.
    deviation : array of float, shape (n_classes,)
        Standard deviation of the estimate where shares below 0 are allowed.
    is_known : array of bool, shape (n_classes,)
        Whether calibration holds proteins of the class.
    least : float
        Half a row's share: no estimated share is known to be less. 0 where the
        composition was stated.
    is_free : array of bool, shape (n_classes,), optional
        Shares that the estimator leaves open.
    class_number : array of float, shape (n_classes,), optional
        Effective number of calibration clusters of each class, where the
        composition was estimated.
    no_shift : NoShift, optional
        The comparison of predicted classes, where the composition was estimated.
    """

    calibration_share: Floats
    share: Floats
    lower: Floats
    upper: Floats
    draws: Floats
    calibration_draws: Floats
    deviation: Floats
    is_known: Booleans
    least: float = 0.0
    is_free: Booleans | None = None
    class_number: Floats | None = None
    no_shift: NoShift | None = None

    @property
    def weight(self) -> Floats:
        """Ratio w = q/p of each class; NaN for one that calibration does not hold."""
        return ratio_of(self.share, self.calibration_share)

    @property
    def part_applied(self) -> float:
        """Part of the estimated shift that is applied: what chance cannot explain."""
        return 1.0 if self.no_shift is None else self.no_shift.reality

    @property
    def moved_share(self) -> Floats:
        """Composition so far from calibration's as chance does not explain.

        On the way to the estimate, of which no share is taken to be less than
        half the mean of its draws: an estimated share of 0 is not none.
        """
        if self.no_shift is None:
            return self.share
        if self.part_applied == 0.0:
            return self.calibration_share
        aim = np.maximum(self.share, self.least)
        if self.draws.shape[1] > 0:
            aim = np.maximum(aim, HALF * self.draws.mean(axis=1))
        aim = np.where(self.is_known, aim, 0.0)
        way = aim / aim.sum() - self.calibration_share
        return np.asarray(self.calibration_share + self.part_applied * way)

    @property
    def estimated_weight(self) -> Floats:
        """Ratio w of the estimated shares; one of 0 counts as half a row."""
        return ratio_of(np.maximum(self.share, self.least), self.calibration_share)

    @property
    def moved_weight(self) -> Floats:
        """Ratio w of the moved composition."""
        return ratio_of(self.moved_share, self.calibration_share)

    @property
    def fit_weight(self) -> Floats:
        """The w to fit with: that of the moved composition, where it can be carried.

        A class of few clusters cannot carry a large weight: it gets
        1 + (w − 1) n/(n + 4), n its number of clusters.
        """
        weight = self.moved_weight
        if self.class_number is None or self.part_applied == 0.0:
            return weight
        part = self.class_number / (self.class_number + HELD_CLUSTERS)
        held = 1.0 + (weight - 1.0) * part
        return np.where(weight > 1.0, held, weight)

    @property
    def applied_share(self) -> Floats:
        """Composition that the fit weights stand for."""
        if self.no_shift is None or self.part_applied == 0.0:
            return self.moved_share
        applied = np.nan_to_num(self.fit_weight) * self.calibration_share
        return np.asarray(applied / applied.sum())

    @property
    def weight_draws(self) -> Floats:
        """The estimated w in each draw."""
        return ratio_of(np.maximum(self.draws, self.least), self.calibration_draws)


def ratio_of(share: Floats, calibration_share: Floats) -> Floats:
    """Return w = q/p; NaN where calibration holds nothing of the class.

    Parameters
    ----------
    share, calibration_share : array of float
        q and p.
    """
    blank = np.full(np.shape(calibration_share), np.nan)
    return np.asarray(np.divide(share, calibration_share, out=blank, where=calibration_share > 0))


def estimate_composition(
    side: CalibrationSide, use: UseSide, estimator: Estimator, options: FitOptions
) -> Composition:
    """Return the composition of a use-set with its interval.

    Parameters
    ----------
    side, use
        Both sets.
    estimator : Estimator
        One that estimates.
    options : FitOptions
        Level and number of draws; with fewer than two there are no intervals.
    """
    evidence = evidence_of(side, use)
    is_known = evidence.prevalence > 0
    found = _within(estimator, evidence, is_known)
    n_classes, n_draws = len(is_known), options.n_draws
    none, blank = np.zeros((n_classes, 0)), np.full(n_classes, np.nan)
    composition = Composition(
        evidence.prevalence,
        found.share,
        blank,
        blank,
        none,
        none,
        np.zeros(n_classes),
        is_known,
        HALF_ROW / use.n_rows,
        found.is_free,
        evidence.class_number,
        compare_predicted(side, use),
    )
    if n_draws < FEWEST_DRAWS:
        return composition
    draws, unbounded, calibration = (np.zeros((n_classes, n_draws)) for _ in range(3))
    weights = np.stack([cluster_weights(side.unit_key, draw) for draw in range(n_draws)], axis=1)
    # To second order it does not matter whose composition weighs the rows of a draw.
    near = np.where(is_known, np.maximum(found.share, HALF_ROW / use.n_rows), 0.0)
    for draw, drawn in enumerate(drawn_evidence(side, use, weights, n_draws)):
        drawn = replace(drawn, start=near / near.sum(), class_number=evidence.class_number)
        one = _within(estimator, drawn, is_known)
        draws[:, draw], unbounded[:, draw] = one.share, one.unbounded
        calibration[:, draw] = drawn.prevalence
    deviation = _robust_deviation(unbounded)
    # An interval rests on the fewer: the class's clusters, or the use-set's genomes.
    n_units = np.minimum(clusters_by_class(side), use.n_units)
    lower, upper = _interval(found, draws, deviation, n_units, options)
    if found.is_free.any():
        lower[found.is_free] = 0.0
        upper[found.is_free] = min(1.0, float(upper[found.is_free].sum()))
    lower[~is_known], upper[~is_known] = 0.0, 1.0
    return replace(
        composition,
        lower=lower,
        upper=upper,
        draws=draws,
        calibration_draws=calibration,
        deviation=deviation,
    )


def fixed_composition(side: CalibrationSide, share: Floats | None) -> Composition:
    """Return a composition that is taken as known: a stated one, or calibration's.

    Parameters
    ----------
    side : CalibrationSide
        The labelled set.
    share : array of float, optional
        The stated composition; None for the calibration set's own.
    """
    weight, true_class = side.labelled.weight, side.labelled.true_class
    n_classes = side.labelled.predictions.n_classes
    own = np.bincount(true_class, weights=weight, minlength=n_classes) / weight.sum()
    taken = own if share is None else share
    none = np.zeros((n_classes, 0))
    return Composition(own, taken, taken, taken, none, none, np.zeros(n_classes), own > 0)


def _within(estimator: Estimator, evidence: Evidence, is_known: Booleans) -> Estimate:
    assert estimator.estimate is not None
    found = estimator.estimate(evidence.among(is_known))
    share, unbounded = np.zeros(len(is_known)), np.zeros(len(is_known))
    is_free = np.zeros(len(is_known), dtype=np.bool_)
    share[is_known], unbounded[is_known] = found.share, found.unbounded
    is_free[is_known] = found.is_free
    return Estimate(share, unbounded, is_free)


def _robust_deviation(draws: Floats) -> Floats:
    """Return the standard deviation that the middle of the draws implies."""
    low, high = np.quantile(draws, [special.ndtr(-1.0), special.ndtr(1.0)], axis=1)
    return np.asarray((high - low) / 2.0)


def _interval(
    found: Estimate, draws: Floats, deviation: Floats, n_clusters: Floats, options: FitOptions
) -> tuple[Floats, Floats]:
    """Return percentiles, wider for few clusters; near 0 at least a normal's upper end.

    Draws of a share that is at 0 pile up there, and their percentiles would
    claim that it is 0 for sure.
    """
    lower, upper = expanded_quantiles(draws, n_clusters, options)
    tail, _ = tail_levels(options)
    freedom = np.maximum(n_clusters - 1.0, LEAST_FREEDOM)
    reach = -special.stdtrit(freedom, tail) * deviation
    is_near = found.unbounded < reach
    upper = np.where(is_near, np.maximum(upper, np.maximum(found.unbounded, 0.0) + reach), upper)
    lower = np.where(is_near & (found.unbounded - reach < 0), 0.0, lower)
    return np.minimum(lower, found.share), np.minimum(np.maximum(upper, found.share), 1.0)
