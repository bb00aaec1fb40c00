"""Folds of whole clusters, for cross-fitting."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from credence.calibrators.draws import keys_of
from credence.predictions import Integers, Strings
from credence.splits.filling import fill


def fold_of(cluster: Strings, stratum: NDArray[Any], n_folds: int) -> Integers:
    """Return the fold of each protein, 0 … n_folds − 1.

    No cluster is divided, each stratum is spread over the folds as evenly as
    whole clusters allow, and the folds depend on the names of the clusters and
    on what they hold, not on the order of rows. With fewer clusters than folds
    some folds are empty.

    Parameters
    ----------
    cluster : array of str, shape (n_samples,)
        Name of each protein's cluster.
    stratum : array, shape (n_samples,)
        What is to be spread evenly: the predicted class, as a rule.
    n_folds : int
        Number of folds, at least 2.

    Examples
    --------
    >>> cluster = np.array(["a", "a", "b", "c"], dtype=object)
    >>> fold_of(cluster, np.array([0, 0, 0, 0]), 2).tolist()
    [0, 0, 1, 1]
    """
    names, codes = np.unique(np.asarray(cluster, dtype=object).astype(str), return_inverse=True)
    _, strata = np.unique(stratum, return_inverse=True)
    # Names in an order of their own settle ties, so that a table sorted by
    # some property does not deal that property to the folds in turn; where two
    # keys are equal the names, sorted above, decide.
    order = np.argsort(keys_of(names.astype(object)), kind="stable")
    rank = np.empty(len(names), dtype=np.int64)
    rank[order] = np.arange(len(names))
    return fill(codes.astype(np.int64), strata.astype(np.int64), n_folds, rank)[codes]


def clusters_per_stratum(cluster: Strings, stratum: NDArray[Any]) -> dict[Any, int]:
    """Return how many clusters hold a protein of each stratum.

    A stratum with fewer clusters than there are folds or groups is absent from
    some of them: say so to the reader.

    Parameters
    ----------
    cluster : array of str, shape (n_samples,)
        Name of each protein's cluster.
    stratum : array, shape (n_samples,)
        The class of each protein.

    Examples
    --------
    >>> cluster = np.array(["a", "a", "b"], dtype=object)
    >>> clusters_per_stratum(cluster, np.array([0, 0, 1]))
    {0: 1, 1: 1}
    """
    _, codes = np.unique(np.asarray(cluster, dtype=object).astype(str), return_inverse=True)
    strata, kind = np.unique(stratum, return_inverse=True)
    pairs = np.unique(np.stack([kind, codes]), axis=1)
    counts = np.bincount(pairs[0], minlength=len(strata))
    return {
        value: int(count) for value, count in zip(strata.tolist(), counts.tolist(), strict=True)
    }
