"""Whole clusters dealt to bins so that every stratum is spread evenly.

The one greedy rule behind both folds and groups. Clusters come largest first;
each goes to the bin where the strata that it brings are least represented so
far: the choice that keeps Σ (observed − even)²/even over bins and strata
smallest. Lone proteins come last and level what is left.
"""

from __future__ import annotations

import heapq
from collections import defaultdict

import numpy as np
from numpy.typing import NDArray

from credence.predictions import Floats, Integers


def fill(
    cluster: Integers, stratum: Integers, n_bins: int, rank: NDArray[np.intp] | Integers
) -> Integers:
    """Return the bin of each cluster.

    Parameters
    ----------
    cluster : array of int, shape (n_samples,)
        Code of each protein's cluster, 0 … n_clusters − 1.
    stratum : array of int, shape (n_samples,)
        Code of what is to be spread evenly, from 0.
    n_bins : int
        Number of bins; those that get no cluster stay empty.
    rank : array of int, shape (n_clusters,)
        Place of each cluster among clusters of equal size: a permutation.

    Notes
    -----
    Adding a cluster with counts c_s to bin g changes Σ_s (count_gs)²/N_s by
    Σ_s (2 count_gs c_s + c_s²)/N_s, and only the first term depends on g.
    """
    n_clusters = len(rank)
    if n_clusters == 0:
        return np.empty(0, dtype=np.int64)
    n_strata = int(stratum.max()) + 1
    pairs, counts = np.unique(cluster * n_strata + stratum, return_counts=True)
    owner, kind = np.divmod(pairs, n_strata)
    starts = np.searchsorted(owner, np.arange(n_clusters + 1))
    size = np.bincount(cluster, minlength=n_clusters)
    weight = 1.0 / np.maximum(np.bincount(stratum, minlength=n_strata), 1)
    filled = np.zeros((n_bins, n_strata))
    chosen = np.zeros(n_clusters, dtype=np.int64)
    order = np.lexsort((rank, -size))
    is_family = size[order] > 1
    for family in order[is_family]:
        span = slice(starts[family], starts[family + 1])
        kinds, brought = kind[span], counts[span]
        crowding = filled[:, kinds] @ (brought * weight[kinds])
        bin_ = _least(crowding, filled.sum(axis=1))
        filled[bin_, kinds] += brought
        chosen[family] = bin_
    _deal(order[~is_family], kind[starts[:-1]], filled, chosen)
    return chosen


def _least(crowding: Floats, total: Floats) -> int:
    """Return the least crowded bin; of equals the least full, then the first."""
    return int(np.lexsort((total, crowding))[0])


def _deal(singles: NDArray[np.intp], kind: Integers, filled: Floats, chosen: Integers) -> None:
    """Give each lone protein to the bin that has fewest of its stratum."""
    of_kind: dict[int, list[int]] = defaultdict(list)
    for single in singles.tolist():
        of_kind[int(kind[single])].append(single)
    for stratum in sorted(of_kind):
        total = filled.sum(axis=1)
        heap = [(filled[bin_, stratum], total[bin_], bin_) for bin_ in range(len(filled))]
        heapq.heapify(heap)
        for single in of_kind[stratum]:
            count, full, bin_ = heap[0]
            heapq.heapreplace(heap, (count + 1.0, full + 1.0, bin_))
            filled[bin_, stratum] += 1.0
            chosen[single] = bin_
