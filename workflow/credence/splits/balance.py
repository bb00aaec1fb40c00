"""How evenly classes are spread over groups, and how evenly they could be.

The deviation of a class is half the sum over groups of |its share there − 1/G|:
the part of the class that would have to move to spread it evenly. No dealing
of whole clusters can get below :func:`lower_bounds`.
"""

from __future__ import annotations

import numpy as np

from credence.predictions import Floats, Integers


def deviations(group: Integers, class_: Integers, n_groups: int) -> Floats:
    """Return the deviation of each class, 0 (even) to 1.

    Parameters
    ----------
    group : array of int
        Group of each protein, 0 … n_groups − 1.
    class_ : array of int
        Class of each, from 0, none without proteins.
    n_groups : int
        Number of groups.

    Examples
    --------
    >>> deviations(np.array([0, 0, 1, 1]), np.array([0, 0, 0, 1]), 2).round(3).tolist()
    [0.167, 0.5]
    """
    counts = np.zeros((int(class_.max()) + 1 if len(class_) else 0, n_groups))
    np.add.at(counts, (class_, group), 1.0)
    shares = counts / counts.sum(axis=1, keepdims=True)
    return np.asarray(np.abs(shares - 1.0 / n_groups).sum(axis=1) / 2.0)


def lower_bounds(cluster: Integers, class_: Integers, n_groups: int) -> Floats:
    """Return the deviation of each class below which no dealing of clusters gets.

    The greatest of three: what clusters larger than a group's share force, what
    fewer clusters than groups force, and what whole proteins force.

    Parameters
    ----------
    cluster : array of int
        Code of each protein's cluster.
    class_ : array of int
        Class of each, from 0, none without proteins.
    n_groups : int
        Number of groups.

    Examples
    --------
    >>> cluster = np.array([0, 0, 0, 1])
    >>> lower_bounds(cluster, np.zeros(4, dtype=int), 2).tolist()
    [0.25]
    """
    bounds = []
    for one in range(int(class_.max()) + 1 if len(class_) else 0):
        sizes = np.unique(cluster[class_ == one], return_counts=True)[1]
        total, even = int(sizes.sum()), 1.0 / n_groups
        too_large = float(np.maximum(sizes / total - even, 0.0).sum())
        empty = max(n_groups - len(sizes), 0) / n_groups
        left = total % n_groups
        whole = left * (n_groups - left) / (n_groups * total)
        bounds.append(max(too_large, empty, whole))
    return np.array(bounds)


def size_ratios(group: Integers, n_groups: int) -> Floats:
    """Return the size of each group over the mean size.

    Parameters
    ----------
    group : array of int
        Group of each protein.
    n_groups : int
        Number of groups.
    """
    sizes = np.bincount(group, minlength=n_groups)
    return np.asarray(sizes * n_groups / max(len(group), 1))
