"""Reliability diagrams as data: bins, intervals, chance bands, curve, counts."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from scipy import sparse

from credence.calibrators.draws import encode_clusters
from credence.evaluation.blocks import bin_of, bin_ratios, bins_record, part_of
from credence.evaluation.judging import Key, Said
from credence.evaluation.measures import chances
from credence.evaluation.options import EvaluationOptions
from credence.evaluation.ratios import estimate
from credence.findings import Reliability
from credence.metrics.grid import GRID, N_CELLS
from credence.metrics.judged import Judged, divide, sum_by
from credence.metrics.kernel_error import kernel_curve
from credence.predictions import Floats, Integers, Labelled

N_BINS = 10
N_CURVE = 64  # points of the kernel curve; divides the number of cells of the grid
N_COUNTS = 50
LEAST = 0.5  # of a protein per point of the curve: below, the curve says nothing


def reliability_of(
    labelled: Labelled,
    class_name: str | None,
    said: Mapping[Key, Said],
    options: EvaluationOptions,
) -> tuple[Reliability, ...]:
    """Return the reliability diagrams of one block of proteins.

    Parameters
    ----------
    labelled : Labelled
        The block.
    class_name : str, optional
        The class that they are predicted to be in; None: all.
    said : mapping of (method, sample) to Said
        Confidences of the block's proteins.
    options : EvaluationOptions
        Level and draws.
    """
    edges = np.linspace(0.0, 1.0, N_BINS + 1)
    is_correct, weight = labelled.is_correct, labelled.weight
    ratios = []
    for entry in said.values():
        ratios += bin_ratios(entry.confidence, edges, is_correct, weight)
    estimates = estimate(labelled.cluster, ratios, options.level, options.n_draws)
    codes, keys = encode_clusters(labelled.cluster)
    chance = chances(keys, options.n_floor)[codes] if options.n_floor > 0 else None
    found = []
    for number, ((method, sample), entry) in enumerate(said.items()):
        part = part_of(estimates, number * N_BINS, N_BINS)
        confidence = entry.confidence
        lower, upper = _band(confidence, weight, bin_of(confidence, edges), chance, options.level)
        known = ~np.isnan(confidence)
        fine = bin_of(confidence[known], np.linspace(0.0, 1.0, N_COUNTS + 1))
        found.append(
            Reliability(
                method=method,
                class_name=class_name,
                sample=sample,
                bins=bins_record(confidence, edges, is_correct, weight, part),
                band_lower=tuple(lower.tolist()),
                band_upper=tuple(upper.tolist()),
                curve=tuple(
                    share_curve(
                        Judged(confidence[known], is_correct[known], weight[known])
                    ).tolist()
                ),
                counts=tuple(np.bincount(fine, minlength=N_COUNTS).tolist()),
            )
        )
    return tuple(found)


def share_curve(judged: Judged) -> Floats:
    """Return the kernel estimate of the share right, evenly spaced from 0 to 1.

    It is the curve whose distance from the diagonal the kernel calibration
    error integrates; NaN where there is next to nothing to average.

    Parameters
    ----------
    judged : Judged
        The proteins.
    """
    if judged.n_samples == 0:
        return np.full(N_CURVE, np.nan)
    cells = GRID.cells(judged)
    assert cells is not None
    sums = cells.sums(judged.weight)
    weight, outcome = kernel_curve(sums, np.array(judged.n_effective))
    together = N_CELLS // N_CURVE
    weight, outcome = (part.reshape(N_CURVE, together).sum(axis=1) for part in (weight, outcome))
    number = weight / sums[0].sum() * judged.n_effective
    share = np.clip(divide(outcome, weight), 0.0, 1.0)
    return np.where(number >= LEAST, share, np.nan)


def _band(
    confidence: Floats, weight: Floats, position: Integers, chance: Floats | None, level: float
) -> tuple[Floats, Floats]:
    """Return quantiles of each bin's share were the confidences true."""
    if chance is None:
        return np.full(N_BINS, np.nan), np.full(N_BINS, np.nan)
    rows = np.flatnonzero(position >= 0)
    outcome = (chance[rows] < confidence[rows, None]).astype(np.float64)
    shape = (N_BINS, len(rows))
    entries = (weight[rows], (position[rows], np.arange(len(rows))))
    sums = sparse.coo_array(entries, shape=shape).tocsr() @ outcome
    total = sum_by(position[rows], weight[rows], N_BINS)
    share = divide(sums, total[:, None])
    tail = (1.0 - level) / 2.0
    filled = total > 0
    lower, upper = np.full(N_BINS, np.nan), np.full(N_BINS, np.nan)
    if filled.any():
        lower[filled], upper[filled] = np.quantile(share[filled], (tail, 1.0 - tail), axis=1)
    return lower, upper
