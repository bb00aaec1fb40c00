"""Pointwise intervals by the Bayesian bootstrap over clusters.

Every draw gives each cluster an exponential weight. So that a share of 0 or 1 has a width, each
adds half a pseudo-cluster of right and half a one of wrong predictions (Gamma(½) weights) at every
score, in units of the clusters near: without relatives, Jeffreys' posterior Beta(TP + ½, FP + ½).
"""

import numpy as np
from scipy import special

from credence.calibrators.protocol import Band, ClassSample, FitOptions
from credence.draws import cluster_weights, keys_of, uniforms
from credence.predictions import Floats

JEFFREYS = 0.5  # the prior's shape, in pseudo-clusters of either kind
N_EVEN_KNOTS = 65  # knots of a band, evenly spaced over the range of scores
N_RANK_KNOTS = 64  # and at evenly spaced ranks
FEW_FAMILIES = 3.0  # near a score: with fewer there, an interval opens (decision 0002)
LEAST_FREEDOM = 1.0  # of Student's t, where less than two clusters are near


def tail_levels(options: FitOptions) -> tuple[float, float]:
    """Return the two quantile levels of a two-sided interval."""
    tail = (1.0 - options.level) / 2.0
    return tail, 1.0 - tail


def expanded_quantiles(
    draws: Floats, n_near: Floats, options: FitOptions
) -> tuple[Floats, Floats]:
    """Return the ends of intervals, their levels widened as by Student's t (Hesterberg 2015)."""
    tail, _ = tail_levels(options)
    freedom = np.maximum(n_near - 1.0, LEAST_FREEDOM)
    level = special.ndtr(special.stdtrit(freedom, tail) * np.sqrt((freedom + 1.0) / freedom))
    ordered = np.sort(draws, axis=1)
    at = level * (ordered.shape[1] - 1)
    below = at.astype(np.int64)
    part = at - below
    rows = np.arange(len(ordered))
    above = np.minimum(below + 1, ordered.shape[1] - 1)
    low = ordered[rows, below] * (1.0 - part) + ordered[rows, above] * part
    high = ordered[rows, -1 - below] * (1.0 - part) + ordered[rows, -1 - above] * part
    return low, high


def guard_draws(n_draws: int) -> tuple[Floats, Floats]:
    """Return Gamma(½) draws for the pseudo-clusters right and wrong."""
    key = keys_of(["guard"])
    right, wrong = (
        special.gammaincinv(JEFFREYS, uniforms(key, range(n_draws), kind)[0])
        for kind in ("guard right", "guard wrong")
    )
    return right, wrong


def mean_cluster_mass(sample: ClassSample) -> float:
    """Return Σ W² / Σ W over the masses W of clusters: what one is worth."""
    mass = np.bincount(sample.cluster, weights=sample.weight)
    return float((mass**2).sum() / mass.sum())


def share_draws(sample: ClassSample, n_draws: int) -> Floats:
    """Return draws of the class's share of right predictions."""
    n_clusters, weights = len(sample.cluster_key), (sample.weight, sample.weight_correct)
    mass, mass_correct = (np.bincount(sample.cluster, of, n_clusters) for of in weights)
    unit = mean_cluster_mass(sample)
    guard_right, guard_wrong = guard_draws(n_draws)
    shares = np.empty(n_draws)
    for draw in range(n_draws):
        weight = cluster_weights(sample.cluster_key, draw)
        right = weight @ mass_correct + unit * guard_right[draw]
        wrong = weight @ (mass - mass_correct) + unit * guard_wrong[draw]
        shares[draw] = right / (right + wrong)
    return shares


def share_interval(sample: ClassSample, options: FitOptions) -> tuple[Floats, Floats]:
    """Return the ends of the interval of the class's share of right predictions, one each."""
    draws = share_draws(sample, options.n_draws)[None]
    n_clusters = np.array([float(sample.weight.sum()) / mean_cluster_mass(sample)])
    share = np.array([[sample.share_correct]])
    low, high = opened(*expanded_quantiles(draws, n_clusters, options), share, n_clusters)
    return np.minimum(low, share[0]), np.maximum(high, share[0])


def knots_of(sample: ClassSample) -> Floats:
    """Return knots over the positives' scores: half evenly spaced, half their quantiles."""
    score = np.sort(sample.score)
    even = np.linspace(score[0], score[-1], N_EVEN_KNOTS)
    rank = np.linspace(0, len(score) - 1, N_RANK_KNOTS).astype(np.int64)
    return np.unique(np.concatenate([even, score[rank]]))


def guarded(values: Floats, n_near: Floats) -> Floats:
    """Return draws of a curve, each with pseudo-clusters added at every knot."""
    right, wrong = guard_draws(values.shape[1])
    near = n_near[:, None]
    return np.asarray((values * near + right) / (near + right + wrong))


def opened(low: Floats, high: Floats, values: Floats, n_near: Floats) -> tuple[Floats, Floats]:
    """Return intervals with an end at 0 or 1 where less than half a cluster speaks against it."""
    middle = np.median(values, axis=1)
    few_right, few_wrong = (part * n_near < JEFFREYS for part in (middle, 1.0 - middle))
    return np.where(few_right, 0.0, low), np.where(few_wrong, 1.0, high)


def curve_band(
    knots: Floats, values: Floats, n_near: Floats, centre: Floats, options: FitOptions
) -> Band:
    """Return the quantiles of guarded draws as a band that contains the curve."""
    low, high = expanded_quantiles(guarded(values, n_near), n_near, options)
    low, high = opened(np.clip(low, 0.0, 1.0), np.clip(high, 0.0, 1.0), values, n_near)
    return Band(knots, np.minimum(low, centre), np.maximum(high, centre))


def open_interval(
    lower: Floats, upper: Floats, value: Floats, support: Floats
) -> tuple[Floats, Floats]:
    """Return intervals that hold their value, and open towards [0, 1] as support fades."""
    faded = 1.0 - np.minimum(support / FEW_FAMILIES, 1.0)
    lower, upper = np.minimum(lower, value), np.maximum(upper, value)
    return lower - faded * lower, upper + faded * (1.0 - upper)
