"""Groups of new clusters beside old ones that stay where they are."""

from __future__ import annotations

import numpy as np

from credence.predictions import Integers, Strings

ONLY_GROUP = "1"  # where no old protein has a group


def pack_beside(
    old_group: Strings, old_class: Integers, new_cluster: Strings, new_class: Integers
) -> Strings:
    """Return a group for each new protein: whole clusters, classes spread evenly.

    Clusters come largest first, then by name; each goes where its classes are
    least represented so far, by the rule of :func:`credence.splits.filling.fill`.

    Parameters
    ----------
    old_group : array of str
        Groups of the old proteins.
    old_class : array of int
        Their classes.
    new_cluster : array of str
        Clusters of the new ones.
    new_class : array of int
        Their classes.

    Examples
    --------
    >>> names = np.array(["1", "1", "2"], dtype=object)
    >>> new = np.array(["x", "x", "y"], dtype=object)
    >>> pack_beside(names, np.array([0, 0, 0]), new, np.array([0, 0, 0])).tolist()
    ['2', '2', '1']
    """
    groups, held = np.unique(old_group.astype(str), return_inverse=True)
    if len(groups) == 0:
        groups = np.array([ONLY_GROUP])
    names, codes = np.unique(new_cluster.astype(str), return_inverse=True)
    n_classes = 1 + max([0, *old_class.tolist(), *new_class.tolist()])
    filled = np.zeros((len(groups), n_classes))
    np.add.at(filled, (held, old_class), 1.0)
    brought = np.zeros((len(names), n_classes))
    np.add.at(brought, (codes, new_class), 1.0)
    weight = 1.0 / np.maximum(filled.sum(axis=0) + brought.sum(axis=0), 1.0)
    home = np.zeros(len(names), dtype=np.int64)
    for cluster in np.lexsort((np.arange(len(names)), -brought.sum(axis=1))).tolist():
        crowding = filled @ (brought[cluster] * weight)
        home[cluster] = int(np.lexsort((filled.sum(axis=1), crowding))[0])
        filled[home[cluster]] += brought[cluster]
    found = np.empty(len(codes), dtype=object)
    found[:] = groups[home[codes]].tolist()
    return found
