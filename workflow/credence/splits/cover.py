"""The fewest proteins that have to go so that no pair remains."""

from __future__ import annotations

import numpy as np
from scipy import optimize, sparse
from scipy.sparse import csgraph

from credence.predictions import Booleans, Integers
from credence.sequences.components import components

MOST_EXACT = 400  # proteins in one tangle; beyond that a greedy cover is taken


def fewest(first: Integers, second: Integers, n_rows: int, stays: Booleans) -> Integers:
    """Return the fewest rows that touch every pair: a minimum vertex cover.

    Parameters
    ----------
    first, second : array of int
        The two of each pair; not both of them stay.
    n_rows : int
        Number of rows; ties go to those that come first.
    stays : array of bool
        Rows that must not go (proteins of the training set).

    Examples
    --------
    >>> fewest(np.array([0, 1]), np.array([1, 2]), 3, np.zeros(3, dtype=bool)).tolist()
    [1]
    """
    forced = np.unique(np.concatenate([second[stays[first]], first[stays[second]]]))
    gone = np.zeros(n_rows, dtype=np.bool_)
    gone[forced] = True
    left = ~(gone[first] | gone[second])
    first, second = first[left], second[left]
    if len(first):
        component = components(n_rows, first, second)[first]
        for name in np.unique(component):
            here = component == name
            gone[_cover(first[here], second[here])] = True
    return np.flatnonzero(gone)


def least(first: Integers, second: Integers, n_rows: int, stays: Booleans) -> int:
    """Return a number of rows below which some pair remains: a bound on :func:`fewest`.

    Half of the greatest matching of the graph's two-sided double, rounded up: what a
    cover costs that may take halves of rows.

    Parameters
    ----------
    first, second, n_rows, stays
        As :func:`fewest` has them.

    Examples
    --------
    >>> least(np.array([0, 1, 2]), np.array([1, 2, 0]), 3, np.zeros(3, dtype=bool))
    2
    """
    forced = np.unique(np.concatenate([second[stays[first]], first[stays[second]]]))
    left = ~(np.isin(first, forced) | np.isin(second, forced))
    one, other = first[left], second[left]
    ends = np.concatenate([one, other]), np.concatenate([other, one])
    double = sparse.csr_array((np.ones(len(ends[0]), np.int8), ends), shape=(n_rows, n_rows))
    mate = csgraph.maximum_bipartite_matching(double, perm_type="column")
    return len(forced) + (int((mate >= 0).sum()) + 1) // 2


def _cover(first: Integers, second: Integers) -> Integers:
    rows, ends = np.unique(np.stack([first, second]), return_inverse=True)
    ends = ends.reshape(2, -1)
    if len(rows) > MOST_EXACT:
        return rows[_greedy(ends, len(rows))]
    n_pairs = ends.shape[1]
    incidence = sparse.csr_array(
        (np.ones(2 * n_pairs), (np.tile(np.arange(n_pairs), 2), ends.ravel())),
        shape=(n_pairs, len(rows)),
    )
    # Less than one in all, so that it settles ties and nothing else.
    cost = 1.0 + np.arange(len(rows)) / (2.0 * len(rows) ** 2)
    found = optimize.milp(
        cost,
        constraints=optimize.LinearConstraint(incidence, 1.0, np.inf),
        integrality=np.ones(len(rows)),
        bounds=optimize.Bounds(0.0, 1.0),
    )
    return rows[found.x > 0.5] if found.success else rows[_greedy(ends, len(rows))]


def _greedy(ends: Integers, n_rows: int) -> Booleans:
    """Return a cover: always the row in most of the pairs that are left."""
    gone = np.zeros(n_rows, dtype=np.bool_)
    left = np.ones(ends.shape[1], dtype=np.bool_)
    while left.any():
        degree = np.bincount(ends[:, left].ravel(), minlength=n_rows)
        top = int(degree.argmax())
        gone[top] = True
        left &= (ends != top).all(axis=0)
    return gone
