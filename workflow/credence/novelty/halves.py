"""Two sets that share no cluster: one to be looked at, one to be learnt from."""

from __future__ import annotations

import numpy as np

from credence.calibrators.draws import encode_clusters, uniform
from credence.novelty.neighbours import content_keys
from credence.predictions import Booleans, Floats, Integers, Strings

STREAM = "novelty graph"


def canonical_order(
    points: Floats, true_class: Integers, predicted_class: Integers, cluster: Strings
) -> Integers:
    """Return an order of the rows that does not depend on that of the table.

    Nor does it depend on the order of the classes: rows alike in point, in being
    right and in cluster are interchangeable unless their classes differ, which
    no tie-break by distance within a class ever sees.

    Parameters
    ----------
    points : array of float, shape (n_samples, n_dimensions)
        In single precision.
    true_class, predicted_class : array of int, shape (n_samples,)
        What is true and what was said.
    cluster : array of str, shape (n_samples,)
        Name of each row's cluster.
    """
    code, keys = encode_clusters(cluster)
    is_wrong = true_class != predicted_class
    return np.lexsort((keys[code], is_wrong, content_keys(points))).astype(np.int64)


def in_graph(true_class: Integers, cluster: Strings, share: float) -> Booleans:
    """Return which rows stand in the graph; no cluster stands on both sides.

    Within each class the clusters are taken in the order of a draw that is keyed
    to their names, and each goes where more proteins are missing. A cluster counts
    for the class of its first row, so the rows have to come in a canonical order.

    Parameters
    ----------
    true_class : array of int, shape (n_samples,)
        In a canonical order.
    cluster : array of str, shape (n_samples,)
        Name of each row's cluster.
    share : float
        Part of each class's proteins that is wanted in the graph.
    """
    code, keys = encode_clusters(cluster)
    _, first_row, size = np.unique(code, return_index=True, return_counts=True)
    class_of_cluster = true_class[first_row]
    draw = uniform(keys, 0, STREAM)
    is_chosen = np.zeros(len(keys), dtype=np.bool_)
    for class_ in np.unique(class_of_cluster):
        own = np.flatnonzero(class_of_cluster == class_)
        n_graph = n_other = 0
        for position in own[np.argsort(draw[own], kind="stable")]:
            # Before both have any, n_graph · (1 − share) = n_other · share = 0: graph first.
            if n_graph * (1.0 - share) <= n_other * share:
                is_chosen[position] = True
                n_graph += size[position]
            else:
                n_other += size[position]
    return np.asarray(is_chosen[code], dtype=np.bool_)
