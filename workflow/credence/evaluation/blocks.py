"""Numbers of one block of proteins: those of a predicted class, or all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from credence.evaluation.ratios import Estimates, Ratio, estimate, mean_of
from credence.findings import Bins, Difference, MetricValue, Reliability
from credence.metrics import nll
from credence.metrics.protocol import Metric
from credence.metrics.registry import METRICS
from credence.predictions import Booleans, Floats, Integers, Strings

N_CONFIDENCE_BINS = 10

IN_SAMPLE = "in_sample"
HELD_OUT = "held_out"

Measured = tuple[tuple[str, str], Floats]  # (method, sample), confidences


@dataclass(frozen=True, eq=False)
class Block:
    """Proteins that are judged together.

    Parameters
    ----------
    class_name : str, optional
        The class that they are predicted to be in; None: all.
    cluster : array of str
        Cluster of each.
    is_correct : array of bool
        Whether each prediction is right.
    weight : array of float
        Positive weights.
    confidence : mapping of (method, sample) to array of float
        What each method says of them; NaN where it says nothing.
    """

    class_name: str | None
    cluster: Strings
    is_correct: Booleans
    weight: Floats
    confidence: Mapping[tuple[str, str], Floats]


@dataclass(frozen=True)
class BlockResults:
    """What :func:`measure` gives of one block.

    Parameters
    ----------
    metrics, differences, reliability : tuple
        Records of the findings.
    """

    metrics: tuple[MetricValue, ...]
    differences: tuple[Difference, ...]
    reliability: tuple[Reliability, ...]


def measure(block: Block, reference: str, level: float, n_draws: int) -> BlockResults:
    """Return metrics, paired differences and reliability of one block.

    Parameters
    ----------
    block : Block
        The proteins.
    reference : str
        The method that the others are compared with.
    level : float
        Coverage of the intervals.
    n_draws : int
        Number of draws over clusters.
    """
    ratios: list[Ratio] = []
    measured = list(block.confidence.items())
    for _, confidence in measured:
        ratios += [_metric_ratio(block, confidence, metric) for metric in METRICS]
    n_metric = len(ratios)
    compared = [entry for entry in measured if entry[0][0] != reference]
    differing = [metric for metric in METRICS if not metric.is_share]
    for (_, sample), confidence in compared:
        base = block.confidence[reference, sample]
        ratios += [_difference_ratio(block, confidence, base, metric) for metric in differing]
    n_difference = len(ratios) - n_metric
    edges = np.linspace(0.0, 1.0, N_CONFIDENCE_BINS + 1)
    for _, confidence in measured:
        ratios += bin_ratios(confidence, edges, block.is_correct, block.weight)
    estimates = estimate(block.cluster, ratios, level, n_draws)
    return BlockResults(
        _metric_values(block, measured, estimates),
        _differences(block, compared, differing, reference, estimates, n_metric),
        _reliability(block, measured, edges, estimates, n_metric + n_difference),
    )


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


def _losses(metric: Metric, confidence: Floats, is_correct: Booleans, known: Booleans) -> Floats:
    losses = np.zeros(len(confidence))
    losses[known] = metric.losses(confidence[known], is_correct[known])
    return losses


def _metric_ratio(block: Block, confidence: Floats, metric: Metric) -> Ratio:
    known = ~np.isnan(confidence)
    losses = _losses(metric, confidence, block.is_correct, known)
    return mean_of(losses, block.weight, known, is_share=metric.is_share)


def _difference_ratio(block: Block, confidence: Floats, base: Floats, metric: Metric) -> Ratio:
    known = ~np.isnan(confidence) & ~np.isnan(base)
    losses = _losses(metric, confidence, block.is_correct, known)
    losses -= _losses(metric, base, block.is_correct, known)
    return mean_of(losses, block.weight, known)


def _metric_values(
    block: Block, measured: Sequence[Measured], estimates: Estimates
) -> tuple[MetricValue, ...]:
    found = []
    index = 0
    for (method, sample), confidence in measured:
        known = ~np.isnan(confidence)
        n_clipped = int(nll.is_clipped(confidence[known]).sum())
        for metric in METRICS:
            found.append(
                MetricValue(
                    method=method,
                    class_name=block.class_name,
                    sample=sample,
                    metric=metric.name,
                    value=float(estimates.value[index]),
                    lower=float(estimates.lower[index]),
                    upper=float(estimates.upper[index]),
                    n=int(estimates.n[index]),
                    n_clusters=int(estimates.n_clusters[index]),
                    n_excluded=int((~known).sum()),
                    n_clipped=n_clipped,
                )
            )
            index += 1
    return tuple(found)


def _differences(
    block: Block,
    compared: Sequence[Measured],
    metrics: Sequence[Metric],
    reference: str,
    estimates: Estimates,
    start: int,
) -> tuple[Difference, ...]:
    names = [(key, metric) for key, _ in compared for metric in metrics]
    return tuple(
        Difference(
            method=method,
            reference=reference,
            class_name=block.class_name,
            sample=sample,
            metric=metric.name,
            value=float(estimates.value[index]),
            lower=float(estimates.lower[index]),
            upper=float(estimates.upper[index]),
            n=int(estimates.n[index]),
        )
        for index, ((method, sample), metric) in enumerate(names, start=start)
    )


def _reliability(
    block: Block,
    measured: Sequence[Measured],
    edges: Floats,
    estimates: Estimates,
    start: int,
) -> tuple[Reliability, ...]:
    found = []
    for number, ((method, sample), confidence) in enumerate(measured):
        part = part_of(estimates, start + number * N_CONFIDENCE_BINS, N_CONFIDENCE_BINS)
        bins = bins_record(confidence, edges, block.is_correct, block.weight, part)
        found.append(Reliability(method, block.class_name, sample, bins))
    return tuple(found)
