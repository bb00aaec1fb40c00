"""Bootstrap interval of the kernel curve: bandwidth chosen anew, bias removed.

All draws share their places on the score axis, so that a kernel is laid once
for a bandwidth and meets all draws in one matrix product. The bandwidth that
the rule chooses is wide enough to bias the curve; each draw therefore takes its
own estimate of that bias away: what smoothing does to the fitted curve is what
it did to the true one, nearly ("twicing", Stuetzle & Mittal 1979,
doi 10.1007/BFb0098499; robust against bias in the sense of Calonico, Cattaneo &
Farrell 2018, doi 10.1080/01621459.2017.1285776, since each draw repeats the
correction and so carries its noise).

No such correction sees what is finer than the bandwidth. Where scores pile up
at the end of the scale, the true confidence can rise within a fraction of it.
So a second set of draws follows the truth in ranks, by local lines: there the
scores are evenly spread, and the window is as narrow as their number allows.
The interval holds the quantiles of both.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from credence.calibrators.bandwidth import (
    GREATEST,
    NO_SIGN,
    SMALLEST,
    grid_level,
    grid_points,
)
from credence.calibrators.mass_draws import HALF, MassDraws, gaussian_window
from credence.predictions import Floats, Integers

STEP = 1.05  # ratio of the bandwidths tried in the draws
LATTICE_PER_BANDWIDTH = 8  # the draws' masses are binned to an eighth of a bandwidth
POINTS_PER_BANDWIDTH = 4  # of the grid on which the draws' sign changes are counted
SCREEN = 6  # a first look at 2⁶ + 1 points refutes most small bandwidths
RANK_POWER = -1.0 / 3.0  # the window of ranks narrows with this power of the clusters
LEAST_SPREAD = 1e-9  # of a window's second moment: below it no line can be laid
MOST_EXPONENT = 600.0  # e⁶⁰⁰ outweighs all data and is still a number
REUSE = 1.6  # a lattice serves bandwidths up to this much wider than its own


@dataclass(frozen=True, eq=False)
class Lattice:
    """Draws of masses, on points as fine as a bandwidth needs.

    Parameters
    ----------
    score : array of float
        Ascending.
    draws : MassDraws
        Drawn weights at each point.
    has_right, has_wrong : array of bool
        Whether any right or wrong prediction lies at each point.
    made_for : float
        The least bandwidth it serves.
    """

    score: Floats
    draws: MassDraws
    has_right: Any
    has_wrong: Any
    made_for: float


def lattice_for(score: Floats, draws: MassDraws, bandwidth: float) -> Lattice:
    """Return the draws' masses, linearly binned to an eighth of a bandwidth.

    Parameters
    ----------
    score : array of float
        Places, ascending.
    draws : MassDraws
        Drawn weights there.
    bandwidth : float
        Of the kernel.
    """
    reach = score[-1] - score[0]
    n_steps = int(np.ceil(reach / bandwidth * LATTICE_PER_BANDWIDTH))
    if 0 < n_steps < len(score) - 1:
        step = reach / n_steps
        at = (score - score[0]) / step
        left = np.minimum(at.astype(np.int64), n_steps - 1)
        fraction = at - left
        columns = np.arange(len(score))
        bins = sparse.csr_array(
            (
                np.concatenate([1.0 - fraction, fraction]),
                (np.concatenate([left, left + 1]), np.concatenate([columns, columns])),
            ),
            shape=(n_steps + 1, len(score)),
        )
        score = score[0] + step * np.arange(n_steps + 1)
        draws = MassDraws(np.asarray(bins @ draws.right), np.asarray(bins @ draws.wrong))
    has_right, has_wrong = draws.right.max(axis=1) > 0, draws.wrong.max(axis=1) > 0
    held = np.flatnonzero(has_right | has_wrong)
    return Lattice(
        score[held],
        MassDraws(draws.right[held], draws.wrong[held]),
        has_right[held],
        has_wrong[held],
        bandwidth,
    )


def local_means(point: Floats, score: Floats, mass: Floats, bandwidth: float) -> Floats:
    """Return the kernel-weighted mean score around points, for every draw.

    Parameters
    ----------
    point : array of float, shape (n_points,)
        Where to look.
    score : array of float, shape (n_places,)
        Ascending.
    mass : array of float, shape (n_places, n_draws)
        Positive.
    bandwidth : float
        Of the kernel.
    """
    window = gaussian_window(point, score, bandwidth)
    return np.asarray(((window * score) @ mass) / (window @ mass))


def count_changes(sign: Floats) -> Integers:
    """Return the number of sign changes down each column; zeros have no sign.

    Parameters
    ----------
    sign : array of float, shape (n_points, n_draws)
        −1, 0 or 1.

    Examples
    --------
    >>> count_changes(np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 1.0]])).tolist()
    [1, 0]
    """
    row = np.where(sign != 0, np.arange(len(sign))[:, None], 0)
    last = np.take_along_axis(sign, np.maximum.accumulate(row, axis=0), axis=0)
    return np.asarray((last[1:] * last[:-1] < 0).sum(axis=0))


def draw_bandwidths(
    score: Floats, draws: MassDraws, scale: float, resolution: float, allowed: int
) -> Floats:
    """Return the bandwidth that the rule chooses in each draw; NaN where none.

    The scan is geometric, and coarser than that of the curve itself: a few per
    cent of a bandwidth are nothing beside the spread over draws.

    Parameters
    ----------
    score : array of float
        Places, ascending.
    draws : MassDraws
        Drawn weights there.
    scale, resolution : float
        See :class:`credence.predictions.Predictions`.
    allowed : int
        Most sign changes of the slope.
    """
    n_draws = draws.right.shape[1]
    chosen = np.full(n_draws, np.nan)
    first = max(resolution, SMALLEST * scale)
    n_steps = int(np.floor(np.log(GREATEST * scale / first) / np.log(STEP)))
    lattice = lattice_for(score, draws, first)
    undecided = np.arange(n_draws)
    for bandwidth in first * STEP ** np.arange(n_steps + 1):
        if bandwidth > REUSE * lattice.made_for:
            lattice = lattice_for(score, draws, bandwidth)
        level = grid_level(bandwidth, scale, POINTS_PER_BANDWIDTH)
        passing = undecided
        for look in sorted({min(SCREEN, level), level}):
            changes = count_changes(
                _signs(
                    lattice,
                    passing,
                    grid_points(np.arange((1 << look) + 1), look, scale),
                    bandwidth,
                    scale,
                )
            )
            passing = passing[changes <= allowed]
            if len(passing) == 0:
                break
        chosen[passing] = bandwidth
        undecided = undecided[np.isnan(chosen[undecided])]
        if len(undecided) == 0:
            break
    return chosen


def _signs(
    lattice: Lattice, draws: Integers, point: Floats, bandwidth: float, scale: float
) -> Floats:
    right, wrong = lattice.has_right, lattice.has_wrong
    mass_right = lattice.draws.right[right][:, draws]
    mass_wrong = lattice.draws.wrong[wrong][:, draws]
    difference = local_means(point, lattice.score[right], mass_right, bandwidth)
    difference -= local_means(point, lattice.score[wrong], mass_wrong, bandwidth)
    return np.where(np.abs(difference) <= NO_SIGN * scale, 0.0, np.sign(difference))


def debiased_values(knots: Floats, score: Floats, draws: MassDraws, bandwidth: Floats) -> Floats:
    """Return the curve of every draw at knots, less the bias of smoothing.

    Parameters
    ----------
    knots : array of float, shape (n_knots,)
        Scores.
    score : array of float
        Places, ascending.
    draws : MassDraws
        Drawn weights there.
    bandwidth : array of float, shape (n_draws,)
        Of each draw; where it is NaN the draw is the class's share.
    """
    values = np.empty((len(knots), len(bandwidth)))
    is_none = np.isnan(bandwidth)
    right, wrong = draws.right.sum(axis=0), draws.wrong.sum(axis=0)
    values[:, is_none] = (right / (right + wrong))[is_none]
    for one in np.unique(bandwidth[~is_none]):
        those = np.flatnonzero(bandwidth == one)
        picked = MassDraws(draws.right[:, those], draws.wrong[:, those])
        lattice = lattice_for(score, picked, float(one))
        total = lattice.draws.right + lattice.draws.wrong
        inner = gaussian_window(lattice.score, lattice.score, float(one))
        outer = gaussian_window(knots, lattice.score, float(one))
        fitted = (inner @ lattice.draws.right) / (inner @ total)
        once = outer @ lattice.draws.right
        twice = outer @ (total * fitted)
        values[:, those] = np.clip((2.0 * once - twice) / (outer @ total), 0.0, 1.0)
    return values


def values_at(
    point: float, score: Floats, draws: MassDraws, bandwidth: Floats, prior_weight: float
) -> Floats:
    """Return the curve of every draw at one score, as it is.

    Parameters
    ----------
    point : float
        Within the range of the scores.
    score : array of float
        Places, ascending.
    draws : MassDraws
        Drawn weights there.
    bandwidth : array of float, shape (n_draws,)
        Of each draw; infinite: the draw is the class's share.
    prior_weight : float
        Weight of the class's share.
    """
    share = draws.right.sum(axis=0) / (draws.right + draws.wrong).sum(axis=0)
    square = HALF * ((score - point)[:, None] / bandwidth) ** 2
    # Relative to the nearest place, so that nothing underflows in a gap.
    nearest = square.min(axis=0)
    kernel = np.exp(nearest - square)
    right = (kernel * draws.right).sum(axis=0)
    total = (kernel * (draws.right + draws.wrong)).sum(axis=0)
    prior = prior_weight * np.exp(np.minimum(nearest, MOST_EXPONENT))
    return np.asarray((right + prior * share) / (total + prior))


def ranks_of(score: Floats, total: Floats, knots: Floats) -> tuple[Floats, Floats]:
    """Return the mid-ranks, from 0 to 1, of places and of knots.

    Parameters
    ----------
    score : array of float
        Places, ascending.
    total : array of float
        Weight at each.
    knots : array of float
        Scores.
    """
    rank = (np.cumsum(total) - HALF * total) / total.sum()
    return rank, np.interp(knots, score, rank)


def rank_lines(point: Floats, rank: Floats, draws: MassDraws, width: float) -> Floats:
    """Return the curve of every draw by local lines in ranks.

    Parameters
    ----------
    point : array of float, shape (n_knots,)
        Ranks of the knots.
    rank : array of float, shape (n_places,)
        Ranks of the places.
    draws : MassDraws
        Drawn weights there.
    width : float
        Standard deviation of the Gaussian window, in ranks.
    """
    window = gaussian_window(point, rank, width)
    away = (rank - point[:, None]) / width
    tilted = window * away
    total = draws.right + draws.wrong
    mass, first, second = window @ total, tilted @ total, (tilted * away) @ total
    right, right_first = window @ draws.right, tilted @ draws.right
    spread = mass * second - first**2
    is_line = spread > LEAST_SPREAD * mass**2
    line = (second * right - first * right_first) / np.where(is_line, spread, 1.0)
    return np.clip(np.where(is_line, line, right / mass), 0.0, 1.0)
