"""Probabilities of several events that no distribution over the classes contradicts.

Forecasts made one by one can contradict each other: the best class more probable
than the two best. They are moved to the nearest that one distribution over the
classes can have given (de Finetti's coherence), which is nearer to what turns
out, whatever turns out.
"""

from __future__ import annotations

import numpy as np

from credence.events.nearest import nearest_shares
from credence.predictions import Booleans, Floats, Integers

DECIMALS = 9  # of the forecasts: below, rounding decides


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
    that minimises the divergence Σ p log(p/said) + (1 − p) log((1 − p)/(1 − said)).
    Without a fixed class the sum of the events' log losses is smaller after than
    before, whichever class is the true one [1]_. Nothing becomes impossible that was
    not said to be: least squares would move a forecast of 0.01 to 0 where others
    sum to more than 1. The sums M q are taken in the same order for every event, so
    that an event that holds another is never below it, not even by rounding.

    References
    ----------
    .. [1] Predd et al. 2009, IEEE Transactions on Information Theory 55:4786,
       doi 10.1109/TIT.2009.2027573
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
            free = nearest_shares(matrix[:, ~which], target, own[:, 0], matrix[:, which][:, 0])
            share[:, ~which] = (1.0 - own) * free
        else:
            nothing = np.zeros(len(rows))
            share = nearest_shares(matrix, target, nothing, np.zeros(len(matrix)))
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
