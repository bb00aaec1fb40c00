"""Probabilities of several events that no distribution over the classes contradicts.

Forecasts made one by one can contradict each other: the best class more probable
than the two best. They are moved to the nearest that one distribution over the
classes can have given (de Finetti's coherence), which is nearer to what turns
out, whatever turns out.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import nnls

from credence.predictions import Booleans, Floats

DECIMALS = 9  # of the forecasts: below, rounding decides
SURE = 1.0 - 1e-12  # of a fixed probability: nothing is left for other classes


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
    Row by row, p = M q with q ≥ 0, Σq = 1 (and q of the fixed class as it is)
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
    n_events, n_samples, _ = held.shape
    answer = np.full((n_events, n_samples), np.nan)
    rounded = np.round(said, DECIMALS)
    for row in range(n_samples):
        pinned = np.nan if fixed is None else float(fixed[row])
        share = distribution(held[:, row], rounded[:, row], pinned, first[row])
        if share is not None:
            answer[:, row] = sums_of(held[:, row], share)
    is_known = ~np.isnan(said)
    if fixed is not None:
        is_known |= (held == first[None]).all(axis=2) & ~np.isnan(fixed)[None, :]
    answer[~is_known] = np.nan
    answer[held.all(axis=2)] = 1.0
    answer[~held.any(axis=2)] = 0.0
    return answer


def distribution(held: Booleans, said: Floats, fixed: float, first: Booleans) -> Floats | None:
    """Return shares of the classes whose sums are nearest to what was said of one protein.

    Parameters
    ----------
    held : array of bool, shape (n_events, n_classes)
        Which classes each event holds.
    said : array of float, shape (n_events,)
        Forecasts; NaN where there is none.
    fixed : float
        Share of the class marked by `first`, or NaN.
    first : array of bool, shape (n_classes,)
        One class.

    Returns
    -------
    array of float or None
        Not unique where events do not tell classes apart, but their sums are;
        None where nothing was said.
    """
    asked = ~np.isnan(said)
    if not asked.any() and np.isnan(fixed):
        return None
    matrix, target = held[asked].astype(float), said[asked].copy()
    share = np.zeros(held.shape[1])
    if np.isnan(fixed):
        share[:] = nearest_share(matrix, target)
        return share
    share[first] = fixed
    if fixed < SURE:
        left = 1.0 - fixed
        target -= fixed * matrix[:, first][:, 0]
        share[~first] = left * nearest_share(left * matrix[:, ~first], target)
    return share


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
    """Return the share of each event, at most 1.

    Parameters
    ----------
    held : array of bool, shape (n_events, n_classes)
        Which classes each event holds.
    share : array of float, shape (n_classes,)
        Of the classes.
    """
    return np.asarray(np.minimum(np.where(held, share, 0.0).sum(axis=1), 1.0))
