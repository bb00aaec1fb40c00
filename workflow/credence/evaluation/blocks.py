"""Shares of right predictions in bins, of one block of proteins."""

from __future__ import annotations

import numpy as np

from credence.evaluation.ratios import Estimates, Ratio, mean_of
from credence.findings import Bins
from credence.predictions import Booleans, Floats, Integers


def bin_of(values: Floats, edges: Floats) -> Integers:
    """Return the bin of each value: left-open, the first closed; NaN gives −1.

    A value beyond the last edge counts in the last bin (METHODS section 2).

    Parameters
    ----------
    values : array of float
        What is binned.
    edges : array of float
        Ascending.

    Examples
    --------
    >>> bin_of(np.array([0.0, 0.5, 0.51, 2.0, np.nan]), np.array([0.0, 0.5, 1.0])).tolist()
    [0, 0, 1, 1, -1]
    """
    position = np.searchsorted(edges, values, side="left") - 1
    position = np.clip(position, 0, len(edges) - 2)
    return np.where(np.isnan(values), -1, position).astype(np.int64)


def bin_ratios(values: Floats, edges: Floats, is_correct: Booleans, weight: Floats) -> list[Ratio]:
    """Return the share of right predictions in each bin, as ratios.

    Parameters
    ----------
    values : array of float
        What is binned; NaN is left out.
    edges : array of float
        Ascending.
    is_correct, weight : array
        Per protein.
    """
    position = bin_of(values, edges)
    right = is_correct.astype(np.float64)
    return [
        mean_of(right, weight, position == number, is_share=True)
        for number in range(len(edges) - 1)
    ]


def bins_record(
    values: Floats, edges: Floats, is_correct: Booleans, weight: Floats, estimates: Estimates
) -> Bins:
    """Return the bins of a histogram as a record of the findings.

    Parameters
    ----------
    values, edges, is_correct, weight
        As given to :func:`bin_ratios`.
    estimates : Estimates
        Of those ratios, in their order.
    """
    position = bin_of(values, edges)
    kept = position >= 0
    n_bins = len(edges) - 1

    def sums(of: Floats) -> Floats:
        return np.asarray(
            np.bincount(position[kept], weights=of[kept], minlength=n_bins), dtype=np.float64
        )

    total = sums(weight)
    mean = np.full(n_bins, np.nan)
    np.divide(sums(np.where(kept, values, 0.0) * weight), total, out=mean, where=total > 0)
    return Bins(
        edges=tuple(edges.tolist()),
        n=tuple(estimates.n.tolist()),
        n_correct=tuple(int(count) for count in sums(is_correct.astype(np.float64))),
        n_clusters=tuple(estimates.n_clusters.tolist()),
        mean=tuple(mean.tolist()),
        share=tuple(estimates.value.tolist()),
        lower=tuple(estimates.lower.tolist()),
        upper=tuple(estimates.upper.tolist()),
    )


def part_of(estimates: Estimates, start: int, length: int) -> Estimates:
    """Return a run of estimates.

    Parameters
    ----------
    estimates : Estimates
        Of several ratios.
    start, length : int
        Which of them.
    """
    span = slice(start, start + length)
    return Estimates(
        estimates.value[span],
        estimates.lower[span],
        estimates.upper[span],
        estimates.n[span],
        estimates.n_clusters[span],
    )
