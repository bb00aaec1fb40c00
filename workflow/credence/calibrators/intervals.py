"""Pointwise intervals by the Bayesian bootstrap over clusters.

Every draw gives each cluster an exponential weight. So that a share of 0 or 1 has a width, each
adds half a pseudo-cluster of right and half a one of wrong predictions (Gamma(½) weights) at every
score, in units of the clusters near: without relatives, Jeffreys' posterior Beta(TP + ½, FP + ½).
"""

import math

import numpy as np
import scipy

from credence.calibrators.protocol import Band, ClassSample, FitOptions
from credence.draws import cluster_weights, keys_of, uniforms
from credence.predictions import Booleans, Floats

JEFFREYS = 0.5  # the prior's shape, in pseudo-clusters of either kind
N_EVEN_KNOTS = 65  # knots of a band, evenly spaced over the range of scores
N_RANK_KNOTS = 64  # and at evenly spaced ranks
FEW_FAMILIES_NEAR = 3.0  # near a score: with fewer there, an interval opens (decision 0002)
LEAST_FREEDOM = 1.0  # of Student's t, where less than two clusters are near
# Draws beyond either end that its quantile needs at least; 100 draws at 95 % (decision 0040).
BEYOND = 2.5
DRAWS_ROUNDING = 1e-9  # 5 / (1 − 0.95) is a little more than 100 in floating point


def tail_levels(options: FitOptions) -> tuple[float, float]:
    """Return the two quantile levels of a two-sided interval."""
    tail = (1.0 - options.level) / 2.0
    return tail, 1.0 - tail


def draws_needed(tail: float) -> int:
    """Return the fewest draws whose quantiles reach an end that leaves out so much."""
    return math.ceil(BEYOND / tail * (1.0 - DRAWS_ROUNDING))


def freedom_with(n_draws: int, freedom: Floats | float) -> Floats:
    """Return the degrees of freedom of a deviation that so few draws show, two at least."""
    return np.asarray(1.0 / (1.0 / np.asarray(freedom) + 1.0 / (n_draws - 1.0)))


def student_ends(
    draws: Floats, freedom: Floats | float, tail: float, *, is_share: Booleans | bool = False
) -> tuple[Floats, Floats]:
    """Return ends by mean, deviation and Student's t, where draws are too few for quantiles.

    Shares are taken on a scale where their spread does not hang on the share. The last axis has
    the draws; one alone shows no spread. The freedom is that of the clusters.
    """
    shares = np.broadcast_to(np.asarray(is_share)[..., None], draws.shape)
    scaled = np.where(shares, np.arcsin(np.sqrt(np.clip(draws, 0.0, 1.0))), draws)
    n_draws, middle = draws.shape[-1], scaled.mean(axis=-1)
    reach = np.full_like(middle, np.inf)
    if n_draws > 1:
        widened = np.sqrt((1.0 + 1.0 / np.asarray(freedom)) * (1.0 + 1.0 / n_draws))
        factor = -scipy.special.stdtrit(freedom_with(n_draws, freedom), tail)
        reach = factor * widened * scaled.std(axis=-1, ddof=1)
    low, high = (
        np.where(is_share, np.sin(np.clip(end, 0.0, np.pi / 2.0)) ** 2, end)
        for end in (middle - reach, middle + reach)
    )
    return low, high


def ends_of_draws(
    draws: Floats, level: float, *, is_share: Booleans | bool = False
) -> tuple[Floats, Floats]:
    """Return the interval of each row of draws: quantiles, or Student's t where they are few."""
    tail, _ = tail_levels(FitOptions(level=level))
    if draws.shape[-1] < draws_needed(tail):
        return student_ends(draws, np.inf, tail, is_share=is_share)
    low, high = np.quantile(draws, (tail, 1.0 - tail), axis=-1)
    return low, high


def expanded_quantiles(
    draws: Floats, n_near: Floats, options: FitOptions, *, is_share: Booleans | bool = False
) -> tuple[Floats, Floats]:
    """Return the ends of intervals, their levels widened as by Student's t (Hesterberg 2015)."""
    tail, _ = tail_levels(options)
    freedom = np.maximum(n_near - 1.0, LEAST_FREEDOM)
    if draws.shape[1] < draws_needed(tail):
        return student_ends(draws, freedom, tail, is_share=is_share)
    level = scipy.special.ndtr(
        scipy.special.stdtrit(freedom, tail) * np.sqrt((freedom + 1.0) / freedom)
    )
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
        scipy.special.gammaincinv(JEFFREYS, uniforms(key, range(n_draws), kind)[0])
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
    mass, mass_correct = (
        np.bincount(sample.cluster, row_weight, n_clusters) for row_weight in weights
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


def share_band(sample: ClassSample, options: FitOptions) -> Band:
    """Return the interval of the class's share of right predictions, on one knot."""
    draws = share_draws(sample, options.n_draws)[None]
    n_clusters = np.array([float(sample.weight.sum()) / mean_cluster_mass(sample)])
    share = np.array([[sample.share_correct]])
    ends = expanded_quantiles(draws, n_clusters, options, is_share=True)
    low, high = opened(*ends, share, n_clusters)
    return Band(
        score=np.zeros(1), lower=np.minimum(low, share[0]), upper=np.maximum(high, share[0])
    )


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
    drawn = guarded(values, n_near)
    low, high = expanded_quantiles(drawn, n_near, options, is_share=True)
    low, high = opened(np.clip(low, 0.0, 1.0), np.clip(high, 0.0, 1.0), values, n_near)
    return Band(score=knots, lower=np.minimum(low, centre), upper=np.maximum(high, centre))


def open_interval(
    lower: Floats, upper: Floats, value: Floats, support: Floats
) -> tuple[Floats, Floats]:
    """Return intervals that hold their value, and open towards [0, 1] as support fades."""
    faded = 1.0 - np.minimum(support / FEW_FAMILIES_NEAR, 1.0)
    lower, upper = np.minimum(lower, value), np.maximum(upper, value)
    return lower - faded * lower, upper + faded * (1.0 - upper)
