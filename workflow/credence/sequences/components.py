"""Connected components that do not depend on the order of what is connected."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from credence.predictions import Integers, Strings


def components(n_nodes: int, first: Integers, second: Integers) -> Integers:
    """Return the number of the component that each node is in.

    Parameters
    ----------
    n_nodes : int
        Number of nodes.
    first, second : array of int
        The two ends of each edge.

    Examples
    --------
    >>> components(4, np.array([0, 2]), np.array([3, 2])).tolist()
    [0, 1, 2, 0]
    """
    links = sparse.coo_array((np.ones(len(first), dtype=np.int8), (first, second)), (n_nodes,) * 2)
    _, labels = csgraph.connected_components(links, directed=False)
    return np.asarray(labels, dtype=np.int64)


def representatives(component: Integers, ids: Strings, length: Integers) -> Integers:
    """Return for each protein the row of the longest of its component.

    Of equally long ones the first by id stands for the others.

    Parameters
    ----------
    component : array of int
        From :func:`components`.
    ids : array of str
        Names, unique.
    length : array of int
        Numbers of residues.

    Examples
    --------
    >>> ids = np.array(["b", "a", "c"], dtype=object)
    >>> representatives(np.array([0, 0, 1]), ids, np.array([5, 5, 9])).tolist()
    [1, 1, 2]
    """
    order = np.lexsort((ids.astype(str), -length, component))
    _, starts, codes = np.unique(component[order], return_index=True, return_inverse=True)
    rows = np.empty(len(ids), dtype=np.int64)
    rows[order] = order[starts][codes]
    return rows
