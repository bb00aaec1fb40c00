"""Probabilities of several events that no distribution over the classes contradicts.

Forecasts made one by one can contradict each other: the best class more probable
than the two best. They are moved to the nearest that one distribution over the
classes can have given (de Finetti's coherence), which is nearer to what turns
out, whatever turns out.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
from scipy.optimize import nnls

from credence.predictions import Booleans, Floats, Integers

DECIMALS = 9  # of the forecasts: below, rounding decides
LEAST_LEFT = 1e-12  # that a fixed probability leaves to other classes
MOST_CORNERS = 6  # up to which all sets of them are tried
ROUNDING = 1e-12  # of distances and shares


def coherent(held: Booleans, said: Floats, fixed: Floats | None, first: Booleans) -> Floats:
    """Return the nearest probabilities that contradict each other nowhere.

    Parameters
    ----------
    held : array of bool, shape (n_events, n_samples, n_classes)
        Which classes each event holds, for each protein.
    said : array of float, shape (n_events, n_samples)
        What was forecast, in [0, 1]; NaN where nothing was said.
    fixed : array of float, shape (n_samples,), optional
        Probability of the class marked by `first` that may not be moved; NaN
        where it is not known.
    first : array of bool, shape (n_samples, n_classes)
        The class of each protein that `fixed` is of, one in each row.

    Returns
    -------
    array of float, shape (n_events, n_samples)
        An event that holds all classes has 1, one that holds none 0; NaN where
        nothing was said and nothing follows from the other answers.

    Notes
    -----
    Protein by protein, p = M q with q ≥ 0, Σq = 1 (and q of the fixed class as it is)
    that minimises Σ (p − said)². Without a fixed class the sum of the events'
    squared errors is smaller after than before, whichever class is the true one
    [1]_. The nearest point of the hull of M's columns is found as the least
    squares solution u ≥ 0 of [M − said; 1] u = [0; 1], divided by its sum [2]_.
    The sums M q are taken in the same order for every event, so that an event
    that holds another is never below it, not even by rounding.

    References
    ----------
    .. [1] Predd et al. 2009, IEEE Transactions on Information Theory 55:4786,
       doi 10.1109/TIT.2009.2027573
    .. [2] Lawson & Hanson 1974, Solving Least Squares Problems, chapter 23
    """
    n_events, n_samples, n_classes = held.shape
    answer = np.full((n_events, n_samples), np.nan)
    rounded = np.round(said, DECIMALS)
    pinned = np.full(n_samples, np.nan) if fixed is None else fixed
    for rows in alike(held, ~np.isnan(said), ~np.isnan(pinned), first):
        inside, which = held[:, rows[0]], first[rows[0]]
        asked = ~np.isnan(said[:, rows[0]])
        is_fixed = not np.isnan(pinned[rows[0]])
        if not asked.any() and not is_fixed:
            continue
        share = np.zeros((len(rows), n_classes))
        matrix, target = inside[asked].astype(float), rounded[np.ix_(asked, rows)].T
        if is_fixed:
            own = pinned[rows][:, None]
            share[:, which] = own
            left = 1.0 - own
            met = (target - own * matrix[:, which].T) / np.maximum(left, LEAST_LEFT)
            share[:, ~which] = left * nearest_shares(matrix[:, ~which], met)
        else:
            share = nearest_shares(matrix, target)
        answer[:, rows] = sums_of(inside, share)
    is_known = ~np.isnan(said)
    if fixed is not None:
        is_known |= (held == first[None]).all(axis=2) & ~np.isnan(fixed)[None, :]
    answer[~is_known] = np.nan
    answer[held.all(axis=2)] = 1.0
    answer[~held.any(axis=2)] = 0.0
    return answer


def alike(held: Booleans, asked: Booleans, is_fixed: Booleans, first: Booleans) -> list[Integers]:
    """Return the rows that pose the same problem, together.

    Parameters
    ----------
    held : array of bool, shape (n_events, n_samples, n_classes)
        Which classes each event holds.
    asked : array of bool, shape (n_events, n_samples)
        Which events were forecast.
    is_fixed : array of bool, shape (n_samples,)
        Whether a class has its share already.
    first : array of bool, shape (n_samples, n_classes)
        Which class that is.
    """
    n_samples = held.shape[1]
    if n_samples == 0:
        return []
    parts = (held.transpose(1, 0, 2).reshape(n_samples, -1), asked.T, is_fixed[:, None], first)
    packed = np.packbits(np.hstack(parts), axis=1)
    words = packed.view([("", packed.dtype)] * packed.shape[1])[:, 0]
    _, kind = np.unique(words, return_inverse=True)
    order = np.argsort(kind, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(kind[order])) + 1)


def nearest_shares(matrix: Floats, targets: Floats) -> Floats:
    """Return :func:`nearest_share` of several targets, shape (n_targets, n_classes).

    Parameters
    ----------
    matrix : array of float, shape (n_events, n_classes)
        Columns between which the answers lie.
    targets : array of float, shape (n_targets, n_events)
        What is to be met.

    Notes
    -----
    The nearest point of a hull is the foot of the perpendicular on the plane
    through some of its corners. With few corners all their sets are tried, for all
    targets at once; the foot that lies between its corners and is nearest is it.
    """
    columns, kind, size = np.unique(matrix, axis=1, return_inverse=True, return_counts=True)
    kind = np.ravel(kind)
    n_corners = columns.shape[1]
    if n_corners > MOST_CORNERS:
        return np.stack([nearest_share(matrix, target) for target in targets])
    best = np.full(len(targets), np.inf)
    found = np.zeros((len(targets), n_corners))
    for chosen in corner_sets(n_corners):
        corners = columns[:, chosen]
        base, edges = corners[:, 0], corners[:, 1:] - corners[:, :1]
        if np.linalg.matrix_rank(edges) < len(chosen) - 1:
            continue  # the same plane goes through fewer corners
        lift: Floats = np.asarray(np.linalg.pinv(edges), dtype=float)
        steps = combined(targets - base, lift)
        share = np.column_stack([1.0 - steps.sum(axis=1), steps])
        distance = ((targets - base - combined(steps, edges)) ** 2).sum(axis=1)
        better = (share >= -ROUNDING).all(axis=1) & (distance < best - ROUNDING)
        best[better] = distance[better]
        found[better] = 0.0
        found[np.ix_(better, chosen)] = np.maximum(share[better], 0.0)
    total = found.sum(axis=1, keepdims=True)
    return np.asarray((found / total / size)[:, kind])


def combined(values: Floats, weights: Floats) -> Floats:
    """Return weights · each row, added up in one order however many rows there are.

    Parameters
    ----------
    values : array of float, shape (n_rows, n_from)
        Rows.
    weights : array of float, shape (n_to, n_from)
        What each answer takes of each value.
    """
    answer = np.zeros((len(values), len(weights)))
    for place in range(values.shape[1]):
        answer += values[:, place : place + 1] * weights[:, place]
    return answer


def corner_sets(n_corners: int) -> list[list[int]]:
    """Return every set of corners but the empty one, small ones first.

    Parameters
    ----------
    n_corners : int
        How many there are.

    Examples
    --------
    >>> corner_sets(2)
    [[0], [1], [0, 1]]
    """
    sizes = range(1, n_corners + 1)
    return [list(some) for size in sizes for some in combinations(range(n_corners), size)]


def nearest_share(matrix: Floats, target: Floats) -> Floats:
    """Return q ≥ 0 with Σq = 1 for which matrix · q is nearest to the target.

    Parameters
    ----------
    matrix : array of float, shape (n_events, n_classes)
        Columns between which the answer lies.
    target : array of float, shape (n_events,)
        What is to be met.

    Examples
    --------
    >>> nearest_share(np.array([[1.0, 0.0]]), np.array([0.3])).round(6).tolist()
    [0.3, 0.7]
    """
    # Classes that no event tells apart are one: what they share is divided evenly.
    columns, kind, size = np.unique(matrix, axis=1, return_inverse=True, return_counts=True)
    system = np.vstack([columns - target[:, None], np.ones(columns.shape[1])])
    goal = np.zeros(len(target) + 1)
    goal[-1] = 1.0
    found, _ = nnls(system, goal)
    return np.asarray((found / found.sum() / size)[np.ravel(kind)])


def sums_of(held: Booleans, share: Floats) -> Floats:
    """Return the share of each event, at most 1, shape (n_events, n_samples).

    Parameters
    ----------
    held : array of bool, shape (n_events, n_classes)
        Which classes each event holds.
    share : array of float, shape (n_samples, n_classes)
        Of the classes.
    """
    answer = np.zeros((len(held), len(share)))
    # Class by class: more classes are never less, not even by rounding.
    for class_ in range(held.shape[1]):
        answer += np.where(held[:, class_, None], share[:, class_], 0.0)
    return np.minimum(answer, 1.0)
