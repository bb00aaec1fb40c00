"""The composition of a use-set with its interval, by a bootstrap of both sides.

Calibration clusters and the use-set's rows get exponential weights (Bayesian
bootstrap); a cell of n like rows gets their sum, a Gamma(n) weight. In every
draw the probabilities are refitted and the composition is estimated anew.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from scipy import special

from credence.calibrators.classwise import kish
from credence.calibrators.draws import cluster_weights, uniform
from credence.calibrators.intervals import LEAST_FREEDOM, expanded_quantiles, tail_levels
from credence.calibrators.protocol import FitOptions
from credence.predictions import Booleans, Floats
from credence.shift.probabilities import parameter_draws
from credence.shift.protocol import Estimate, Estimator, Evidence
from credence.shift.sides import CalibrationSide, UseSide, effective_rows

HALF_ROW = 0.5  # of every class, added to the use-set in each draw (Jeffreys)


@dataclass(frozen=True, eq=False)
class Composition:
    """Shares of the classes in a use-set.

    Parameters
    ----------
    calibration_share, share, lower, upper : array of float, shape (n_classes,)
        Shares in calibration; in the use-set, with the interval's ends.
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

    @property
    def weight(self) -> Floats:
        """Ratio w = q/p of each class; NaN for one that calibration does not hold."""
        return ratio_of(self.share, self.calibration_share)

    @property
    def fit_weight(self) -> Floats:
        """The w to fit with: an estimated share of 0 counts as half a row."""
        return ratio_of(np.maximum(self.share, self.least), self.calibration_share)

    @property
    def weight_draws(self) -> Floats:
        """The w to fit with in each draw."""
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


def evidence_of(side: CalibrationSide, use: UseSide) -> Evidence:
    """Return what both sets say, each row once.

    Parameters
    ----------
    side, use
        Both sets.
    """
    one = np.ones((len(side.unit_key), 1))
    found = next(_drawn(side, use, one, None))
    return replace(found, class_number=clusters_by_class(side))


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
        Level and number of draws; at least two draws.
    """
    evidence = evidence_of(side, use)
    is_known = evidence.prevalence > 0
    found = _within(estimator, evidence, is_known)
    n_classes, n_draws = len(is_known), options.n_draws
    draws, unbounded, calibration = (np.zeros((n_classes, n_draws)) for _ in range(3))
    weights = np.stack([cluster_weights(side.unit_key, draw) for draw in range(n_draws)], axis=1)
    # To second order it does not matter whose composition weighs the rows of a draw.
    near = np.where(is_known, np.maximum(found.share, HALF_ROW / use.n_rows), 0.0)
    for draw, drawn in enumerate(_drawn(side, use, weights, n_draws)):
        drawn = replace(drawn, start=near / near.sum(), class_number=evidence.class_number)
        one = _within(estimator, drawn, is_known)
        draws[:, draw], unbounded[:, draw] = one.share, one.unbounded
        calibration[:, draw] = drawn.prevalence
    deviation = _robust_deviation(unbounded)
    lower, upper = _interval(found, draws, deviation, clusters_by_class(side), options)
    lower[~is_known], upper[~is_known] = 0.0, 1.0
    return Composition(
        evidence.prevalence,
        found.share,
        lower,
        upper,
        draws,
        calibration,
        deviation,
        is_known,
        HALF_ROW / use.n_rows,
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
    share[is_known], unbounded[is_known] = found.share, found.unbounded
    return Estimate(share, unbounded)


def _drawn(
    side: CalibrationSide, use: UseSide, weights: Floats, n_draws: int | None
) -> Iterator[Evidence]:
    """Yield the evidence of each draw; without `n_draws`, that of the sets."""
    labelled = side.labelled
    n_classes = labelled.predictions.n_classes
    confusion = side.masses(side.outcome, n_classes**2, weights)
    n_calibration = effective_rows(side)
    predicted = use.counts.sum(axis=1)
    if side.model is None or use.cells is None:
        for draw in range(weights.shape[1]):
            share = predicted / use.n_rows
            if n_draws is not None:
                drawn = gamma_weights(predicted + HALF_ROW, draw)
                share = drawn / drawn.sum()
            yield Evidence(
                confusion[:, draw].reshape(n_classes, n_classes),
                share,
                n_calibration,
                float(use.n_rows),
            )
        return
    assert side.logs is not None and side.probability is not None
    slope, bias = np.array([side.model.slope]), side.model.bias[:, None]
    if n_draws is not None:
        slope, bias = parameter_draws(
            side.model, side.logs, labelled.true_class, labelled.weight, side.unit, weights
        )
    mean, n_rows = use.cells.mean, use.cells.n_rows.astype(np.float64)
    own = np.where(np.isfinite(side.model.bias), 1.0, 0.0)
    for draw in range(weights.shape[1]):
        mass, probability, hard = n_rows / use.n_rows, mean, predicted / use.n_rows
        calibrated = side.probability
        row_mass = labelled.weight * weights[side.unit, draw]
        if n_draws is not None:
            probability = side.model.moved(mean, slope[draw], bias[:, draw])
            calibrated = side.model.moved(side.probability, slope[draw], bias[:, draw])
            # Half a row that is surely of each class: a share of 0 has a width.
            mass = np.concatenate(
                [gamma_weights(n_rows, draw), gamma_weights(HALF_ROW * own, draw, "half")]
            )
            mass /= mass.sum()
            probability = np.concatenate([probability, np.eye(n_classes)])
            drawn = gamma_weights(predicted + HALF_ROW, draw, "predicted")
            hard = drawn / drawn.sum()
        row_mass = row_mass / row_mass.sum()
        soft = np.empty((n_classes, n_classes))
        for class_ in range(n_classes):
            rows = labelled.true_class == class_
            soft[:, class_] = row_mass[rows] @ calibrated[rows]
        yield Evidence(
            confusion[:, draw].reshape(n_classes, n_classes),
            hard,
            n_calibration,
            float(use.n_rows),
            soft,
            mass @ probability,
            probability,
            mass,
            calibrated,
            labelled.true_class,
            row_mass,
        )


def gamma_weights(shape: Floats, draw: int, stream: str = "use rows") -> Floats:
    """Return Gamma(shape) weights, the sums of so many exponential ones; 0 for 0.

    Parameters
    ----------
    shape : array of float
        Numbers of rows.
    draw : int
        Number of the draw.
    stream : str
        Name of the purpose.
    """
    level = uniform(np.arange(len(shape), dtype=np.uint64), draw, stream)
    drawn = np.zeros(len(shape))
    is_held = shape > 0
    one = is_held & (shape == 1.0)
    drawn[one] = -np.log(level[one])
    rest = is_held & (shape != 1.0)
    drawn[rest] = special.gammaincinv(shape[rest], level[rest])
    return drawn


def _robust_deviation(draws: Floats) -> Floats:
    """Return the standard deviation that the middle of the draws implies."""
    low, high = np.quantile(draws, [special.ndtr(-1.0), special.ndtr(1.0)], axis=1)
    return np.asarray((high - low) / 2.0)


def clusters_by_class(side: CalibrationSide) -> Floats:
    """Return Kish's number of the clusters that each true class rests on.

    Parameters
    ----------
    side : CalibrationSide
        The labelled set.
    """
    labelled = side.labelled
    found = np.zeros(labelled.predictions.n_classes)
    for class_ in range(len(found)):
        rows = labelled.true_class == class_
        found[class_] = kish(
            np.bincount(side.unit[rows], weights=labelled.weight[rows]).astype(np.float64)
        )
    return found


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
