"""Pointwise intervals by the Bayesian bootstrap over clusters.

Every draw gives each cluster an exponential weight, refits, and the interval is
read from the quantiles of the draws. A guard at the ends of [0, 1] keeps a
share of exactly 0 or 1 from having no width: each draw adds half a
pseudo-cluster of right and half a one of wrong predictions (Gamma(½) weights).
For the class-only share with no relatives that makes the draws a sample of
Jeffreys' posterior Beta(TP + ½, FP + ½) exactly.
"""

from __future__ import annotations

import numpy as np
from scipy import special

from credence.calibrators.draws import cluster_weights, keys_of, uniform
from credence.calibrators.protocol import Band, ClassSample, Curve, CurveMethod, FitOptions
from credence.predictions import Floats

JEFFREYS = 0.5  # the prior's shape, in pseudo-clusters of either kind
N_KNOTS = 129  # knots of a band: a step of 1/128 of the range of scores


def tail_levels(options: FitOptions) -> tuple[float, float]:
    """Return the two quantile levels of a two-sided interval.

    Examples
    --------
    >>> [round(level, 3) for level in tail_levels(FitOptions(level=0.95))]
    [0.025, 0.975]
    """
    tail = (1.0 - options.level) / 2.0
    return tail, 1.0 - tail


def guard_draws(n_draws: int) -> tuple[Floats, Floats]:
    """Return Gamma(½) draws for the pseudo-clusters right and wrong."""
    key = keys_of(["guard"])
    right = [uniform(key, draw, "guard right")[0] for draw in range(n_draws)]
    wrong = [uniform(key, draw, "guard wrong")[0] for draw in range(n_draws)]
    return (
        np.asarray(special.gammaincinv(JEFFREYS, np.array(right))),
        np.asarray(special.gammaincinv(JEFFREYS, np.array(wrong))),
    )


def mean_cluster_mass(sample: ClassSample) -> float:
    """Return Σ W² / Σ W over the masses W of clusters: what one is worth."""
    mass = np.bincount(sample.cluster, weights=sample.weight)
    return float((mass**2).sum() / mass.sum())


def share_draws(sample: ClassSample, n_draws: int) -> Floats:
    """Return draws of the class's share of right predictions.

    Parameters
    ----------
    sample : ClassSample
        The positives of a class, at least one.
    n_draws : int
        Number of draws.
    """
    mass = np.bincount(sample.cluster, weights=sample.weight, minlength=len(sample.cluster_key))
    mass_correct = np.bincount(
        sample.cluster, weights=sample.weight_correct, minlength=len(sample.cluster_key)
    )
    unit = mean_cluster_mass(sample)
    guard_right, guard_wrong = guard_draws(n_draws)
    shares = np.empty(n_draws)
    for draw in range(n_draws):
        weight = cluster_weights(sample.cluster_key, draw)
        right = weight @ mass_correct + unit * guard_right[draw]
        wrong = weight @ (mass - mass_correct) + unit * guard_wrong[draw]
        shares[draw] = right / (right + wrong)
    return shares


def share_interval(sample: ClassSample, options: FitOptions) -> tuple[float, float]:
    """Return the interval of the class's share of right predictions.

    Parameters
    ----------
    sample : ClassSample
        The positives of a class, at least one.
    options : FitOptions
        Level and number of draws.
    """
    low, high = np.quantile(share_draws(sample, options.n_draws), tail_levels(options))
    share = sample.share_correct
    return min(float(low), share), max(float(high), share)


def knots_of(sample: ClassSample) -> Floats:
    """Return evenly spaced knots over the range of the positives' scores."""
    return np.linspace(sample.score.min(), sample.score.max(), N_KNOTS)


def bootstrap_band(
    method: CurveMethod, sample: ClassSample, curve: Curve, options: FitOptions
) -> Band:
    """Return the band of any curve method, by refitting it in every draw.

    Parameters
    ----------
    method : CurveMethod
        The settings to refit.
    sample : ClassSample
        Right and wrong predictions of a class.
    curve : Curve
        The fitted curve.
    options : FitOptions
        Level and number of draws.
    """
    knots = knots_of(sample)
    values = np.empty((options.n_draws, len(knots)))
    for draw in range(options.n_draws):
        drawn = cluster_weights(sample.cluster_key, draw)[sample.cluster]
        refitted = method.fit_curve(
            ClassSample(
                sample.score,
                sample.is_correct,
                sample.weight * drawn,
                sample.cluster,
                sample.cluster_key,
                sample.scale,
                sample.resolution,
            )
        )
        values[draw] = refitted.value(knots)
    low, high = np.quantile(values, tail_levels(options), axis=0)
    centre = curve.value(knots)
    return Band(knots, np.minimum(low, centre), np.maximum(high, centre))
