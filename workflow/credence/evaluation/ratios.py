"""Ratios of weighted sums over proteins, drawn together, with intervals over whole clusters.

Mean losses, paired differences, shares in bins: each is Σ numerator over Σ denominator.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from credence.calibrators.intervals import expanded_quantiles, guard_draws
from credence.calibrators.protocol import FitOptions
from credence.draws import encode_clusters, weight_blocks
from credence.metrics.metric import divide
from credence.predictions import Booleans, Floats, Integers, Strings

MIN_CLUSTERS = 5  # fewer cannot tell how much a mean varies: no interval is given
DRAWS_AT_ONCE = 50  # bounds the memory of a block of draws


@dataclass(frozen=True, kw_only=True, eq=False)
class Ratio:
    """One ratio, over some of the block's proteins."""

    rows: Integers  # Which proteins of the block it is over
    numerator: Floats  # Per protein of `rows`; denominators are positive
    denominator: Floats
    # Whether numerators are 0 or the denominator: the interval of 0 and 1 has a width then too.
    is_share: bool = False


@dataclass(frozen=True, kw_only=True, eq=False)
class Estimates:
    """Values of ratios with their intervals; NaN where there is none."""

    value: Floats  # One per ratio
    lower: Floats
    upper: Floats
    n: Integers  # Proteins and clusters that each is over
    n_clusters: Integers

    def part(self, start: int, length: int) -> "Estimates":
        """Return a run of them."""
        columns = vars(self).items()
        return Estimates(**{name: values[start : start + length] for name, values in columns})


def mean_of(losses: Floats, weight: Floats, chosen: Booleans, *, is_share: bool = False) -> Ratio:
    """Return the ratio that is the weighted mean of losses over chosen rows."""
    rows = np.flatnonzero(chosen)
    return Ratio(
        rows=rows,
        numerator=losses[rows] * weight[rows],
        denominator=weight[rows],
        is_share=is_share,
    )


def estimate(cluster: Strings, ratios: Sequence[Ratio], level: float, n_draws: int) -> Estimates:
    """Return the ratios of one block of proteins and their intervals."""
    codes, keys = encode_clusters(cluster)
    numerator = _cluster_sums(codes, len(keys), ratios, [ratio.numerator for ratio in ratios])
    denominator = _cluster_sums(codes, len(keys), ratios, [ratio.denominator for ratio in ratios])
    total = np.asarray(denominator.sum(axis=1)).ravel()
    n_clusters = np.diff(denominator.indptr).astype(np.int64)
    value = divide(np.asarray(numerator.sum(axis=1)).ravel(), total)
    n = np.array([len(ratio.rows) for ratio in ratios], dtype=np.int64)
    lower = np.full(len(ratios), np.nan)
    upper = lower.copy()
    is_share = np.array([ratio.is_share for ratio in ratios], dtype=np.bool_)
    known = (total > 0) & (is_share | (n_clusters >= MIN_CLUSTERS))
    if n_draws > 0 and known.any():
        squares = np.asarray(denominator.multiply(denominator).sum(axis=1)).ravel()
        # What one pseudo-cluster weighs; means other than shares have no guard.
        unit = np.where(is_share, divide(squares, total), 0.0)[known]
        guard_right, guard_wrong = guard_draws(n_draws)
        numerator, denominator = numerator[known], denominator[known]
        drawn = np.empty((len(unit), n_draws))
        for draws, weight in weight_blocks(keys, n_draws, DRAWS_AT_ONCE):
            right = numerator @ weight + np.outer(unit, guard_right[draws])
            guard = np.outer(unit, guard_right[draws] + guard_wrong[draws])
            drawn[:, draws] = right / (denominator @ weight + guard)
        n_near = divide(total**2, squares)[known]
        of_level = FitOptions(level=level)
        low, high = expanded_quantiles(drawn, n_near, of_level, is_share=is_share[known])
        lower[known] = np.minimum(low, value[known])
        upper[known] = np.maximum(high, value[known])
    return Estimates(value=value, lower=lower, upper=upper, n=n, n_clusters=n_clusters)


def _cluster_sums(
    codes: Integers, n_clusters: int, ratios: Sequence[Ratio], values: Sequence[Floats]
) -> sparse.csr_array:
    columns = [codes[ratio.rows] for ratio in ratios]
    rows = [np.full(len(ratio.rows), index) for index, ratio in enumerate(ratios)]
    entries = (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns)))
    sums = sparse.coo_array(entries, shape=(len(ratios), n_clusters)).tocsr()
    sums.sum_duplicates()
    return sums
