"""Bins of the confidence, in which shares are counted."""

from __future__ import annotations

from functools import partial

import numpy as np

from credence.metrics.judged import Cells, Family, Judged, in_cells
from credence.predictions import Floats, Integers

N_BINS = 15  # Guo et al. 2017, arXiv 1706.04599
N_SCORE_BINS = 20  # those of the page's histograms of scores


def equal_width(values: Floats, n_bins: int) -> Integers:
    """Return the bin of each value in [0, 1]: left-open, the first closed at 0.

    Values above 1 count in the last bin (METHODS section 2).

    Parameters
    ----------
    values : array of float
        Not negative.
    n_bins : int
        How many.

    Examples
    --------
    >>> equal_width(np.array([0.0, 0.5, 0.51, 1.0]), 2).tolist()
    [0, 0, 1, 1]
    """
    edges = np.linspace(0.0, 1.0, n_bins + 1)
    found = np.searchsorted(edges, values, side="left") - 1
    return np.clip(found, 0, n_bins - 1).astype(np.int64)


def equal_count(values: Floats, weight: Floats, n_bins: int) -> Integers:
    """Return the bin of each value, so that bins weigh alike; ties stay together.

    A value whose ties lie, by weight, around the share q of all falls into bin
    ⌊q·n_bins⌋. That is the usual partition where no values are equal and all
    weigh the same, and does not depend on the order of rows where they are not.

    Parameters
    ----------
    values : array of float
        What is binned.
    weight : array of float
        Positive weights.
    n_bins : int
        How many.

    Examples
    --------
    >>> equal_count(np.array([0.9, 0.1, 0.5, 0.7]), np.ones(4), 2).tolist()
    [1, 0, 0, 1]
    >>> equal_count(np.array([0.5, 0.5, 0.5]), np.ones(3), 2).tolist()
    [1, 1, 1]
    """
    _, position = np.unique(values, return_inverse=True)
    mass = np.bincount(position, weights=weight)
    middle = (np.cumsum(mass) - mass / 2) / mass.sum()
    bins = np.clip(np.floor(middle * n_bins), 0, n_bins - 1).astype(np.int64)
    return np.asarray(bins[position])


def _width_cells(judged: Judged, n_bins: int) -> Cells:
    cell = equal_width(judged.confidence, n_bins)
    return in_cells(judged, cell, n_bins, has_squares=True)  # the Brier score is taken apart here


def _count_cells(judged: Judged, n_bins: int) -> Cells:
    bins = equal_count(judged.confidence, judged.weight, n_bins)
    return in_cells(judged, bins, n_bins)


def _score_cells(judged: Judged) -> Cells | None:
    if judged.score is None:
        return None
    return in_cells(judged, equal_width(judged.score, N_SCORE_BINS), N_SCORE_BINS)


def width_family(n_bins: int) -> Family:
    """Return the rule of equal-width bins over the confidence.

    Parameters
    ----------
    n_bins : int
        How many.
    """
    return Family(f"width {n_bins}", partial(_width_cells, n_bins=n_bins))


def count_family(n_bins: int) -> Family:
    """Return the rule of bins over the confidence that weigh alike.

    Parameters
    ----------
    n_bins : int
        How many.
    """
    return Family(f"count {n_bins}", partial(_count_cells, n_bins=n_bins), is_fixed=False)


WIDTH = width_family(N_BINS)
COUNT = count_family(N_BINS)
SCORE = Family("score", _score_cells)
