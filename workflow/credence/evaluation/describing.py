"""What the calibration set holds, class by class, method or no method."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from credence.calibrators.protocol import Calibration
from credence.draws import encode_clusters, uniform
from credence.evaluation.curves import bin_ratios, bins_record
from credence.evaluation.judging import EvaluationOptions
from credence.evaluation.ratios import estimate, mean_of
from credence.findings import ClassCount, Counting, FittedParameter, Halves, ScoreHistogram
from credence.metrics.binned import N_SCORE_BINS, bin_of
from credence.metrics.metric import divide, sum_by
from credence.predictions import Floats, Labelled
from credence.records import to_record

FINER = 2  # the histogram of right and wrong has this many bins per bin of shares
N_COUNTING = 101
COUNTING_BANDWIDTH = 0.03  # of the scale
LEAST_NEAR = 3.0  # proteins within a bandwidth or so; with fewer the curve says nothing
REACH = 4.0  # bandwidths to which a Gaussian is followed


def describe_classes(
    labelled: Labelled, options: EvaluationOptions
) -> tuple[tuple[ClassCount, ...], tuple[ScoreHistogram, ...], tuple[Halves, ...]]:
    """Return counts, histograms of scores, and histograms of independent halves."""
    predictions, nan = labelled.predictions, float("nan")
    counts, histograms, halves = [], [], []
    for class_, class_name in enumerate(predictions.class_names):
        positives = labelled.take(predictions.predicted_class == class_)
        n_true = int((labelled.true_class == class_).sum())
        if positives.n_samples == 0:
            counts.append(ClassCount(class_name, n_true, 0, 0, 0, nan, nan, nan, nan, nan, nan))
            continue
        is_correct, weight = positives.is_correct, positives.weight
        everyone = np.ones(positives.n_samples, dtype=np.bool_)
        ratios = [mean_of(is_correct.astype(np.float64), weight, everyone, is_share=True)]
        score = positives.predictions.top_score
        if score is not None:
            edges = predictions.score_grid(N_SCORE_BINS + 1)
            ratios += bin_ratios(score, edges, is_correct, weight)
        found = estimate(positives.cluster, ratios, options.level, options.n_draws)
        seen = (nan,) * 3 if score is None else (score.min(), np.median(score), score.max())
        counts.append(
            ClassCount(
                class_name,
                n_true,
                positives.n_samples,
                int(is_correct.sum()),
                int(found.n_clusters[0]),
                *(float(values[0]) for values in (found.value, found.lower, found.upper)),
                *(float(value) for value in seen),
            )
        )
        if score is None:
            continue
        part = found.part(1, N_SCORE_BINS)
        finer = np.linspace(0.0, edges[-1], FINER * N_SCORE_BINS + 1)
        histograms.append(
            ScoreHistogram(
                class_name,
                bins_record(score, edges, is_correct, weight, part),
                tuple(finer.tolist()),
                *(
                    tuple(np.bincount(bin_of(own, finer), minlength=len(finer) - 1).tolist())
                    for own in (score[is_correct], score[~is_correct])
                ),
            )
        )
        halves.append(halves_of(positives, class_name, edges))
    return tuple(counts), tuple(histograms), tuple(halves)


def confusion_of(
    labelled: Labelled,
) -> tuple[
    tuple[tuple[int, ...], ...], tuple[tuple[float, ...], ...], tuple[tuple[float, ...], ...]
]:
    """Return joint counts (true, predicted), weighted shares of each row, and of each column."""
    n_classes = labelled.predictions.n_classes
    place = (labelled.true_class, labelled.predictions.predicted_class)
    counts = np.zeros((n_classes, n_classes), dtype=np.int64)
    np.add.at(counts, place, 1)
    mass = np.zeros((n_classes, n_classes))
    np.add.at(mass, place, labelled.weight)
    given_true = divide(mass, mass.sum(axis=1, keepdims=True))
    given_predicted = divide(mass, mass.sum(axis=0, keepdims=True))
    return (
        tuple(tuple(row) for row in counts.tolist()),
        tuple(tuple(row) for row in given_true.tolist()),
        tuple(tuple(row) for row in given_predicted.tolist()),
    )


def halves_of(positives: Labelled, class_name: str, edges: Floats) -> Halves:
    """Return two histograms of a class, clusters taking turns by their keys."""
    score = positives.predictions.top_score
    assert score is not None
    codes, keys = encode_clusters(positives.cluster)
    turn = np.empty(len(keys), dtype=np.int64)
    turn[np.argsort(uniform(keys, 0, "halves"), kind="stable")] = np.arange(len(keys)) % 2
    position, n_bins = bin_of(score, edges), len(edges) - 1
    number, share = np.empty((2, n_bins), dtype=np.int64), np.empty((2, n_bins))
    for half in range(2):
        rows = turn[codes] == half
        where, weight = position[rows], positives.weight[rows]
        number[half] = np.bincount(where, minlength=n_bins)
        right = sum_by(where, weight * positives.is_correct[rows], n_bins)
        share[half] = divide(right, sum_by(where, weight, n_bins))
    both = number.min(axis=0)
    apart = np.where(both > 0, np.abs(np.nan_to_num(share[0]) - np.nan_to_num(share[1])), 0.0)
    distance = divide((both * apart).sum(), both.sum().astype(np.float64))
    return Halves(
        class_name,
        tuple(edges.tolist()),
        tuple(number[0].tolist()),
        tuple(number[1].tolist()),
        tuple(share[0].tolist()),
        tuple(share[1].tolist()),
        float(distance),
    )


def counting_of(labelled: Labelled) -> tuple[Counting, ...]:
    """Return the share of each class over its score, top labels against all scores."""
    predictions = labelled.predictions
    if predictions.scores is None:
        return ()
    end = max(predictions.scale, float(predictions.scores.max()))
    grid = np.linspace(0.0, end, N_COUNTING)
    bandwidth = COUNTING_BANDWIDTH * predictions.scale
    found = []
    for class_, class_name in enumerate(predictions.class_names):
        score = predictions.scores[:, class_]
        is_member = labelled.true_class == class_
        own = predictions.predicted_class == class_
        if not own.any():
            continue
        found.append(
            Counting(
                class_name,
                tuple(grid.tolist()),
                _smooth_share(score[own], is_member[own], labelled.weight[own], grid, bandwidth),
                _smooth_share(score, is_member, labelled.weight, grid, bandwidth),
                bandwidth,
            )
        )
    return tuple(found)


def _smooth_share(
    score: Floats,
    is_member: np.ndarray[tuple[int], np.dtype[np.bool_]],
    weight: Floats,
    grid: Floats,
    bandwidth: float,
) -> tuple[float, ...]:
    """Return the Gaussian-weighted share of members; NaN with hardly any nearby."""
    values, position = np.unique(score, return_inverse=True)
    total = np.bincount(position, weights=weight)
    member = np.bincount(position, weights=weight * is_member)
    number = np.bincount(position).astype(np.float64)
    answer = np.full(len(grid), np.nan)
    for at, place in enumerate(grid):
        first, last = np.searchsorted(
            values, (place - REACH * bandwidth, place + REACH * bandwidth), side="left"
        )
        near = np.exp(-0.5 * ((values[first:last] - place) / bandwidth) ** 2)
        if near @ number[first:last] >= LEAST_NEAR:
            answer[at] = (near @ member[first:last]) / (near @ total[first:last])
    return tuple(answer.tolist())


# Names in the records of calibrations, by what a reader may want to know of a class.
OF_CURVES = ("bandwidth", "cutoff", "temperature", "award")


def parameters_of(
    calibrations: Mapping[str, Calibration], class_names: tuple[str, ...]
) -> tuple[FittedParameter, ...]:
    """Return the numbers that each method chose for each class, where it has such."""
    return tuple(
        FittedParameter(method, class_name, name, value)
        for method, calibration in calibrations.items()
        for number, class_name in enumerate(class_names)
        for name, value in _found(to_record(calibration), class_name, number).items()
    )


def _found(record: Mapping[str, Any], class_name: str, number: int) -> dict[str, float]:
    classes, model = record.get("classes"), record.get("model")
    entry = classes.get(class_name) if isinstance(classes, dict) else None
    curve = entry.get("curve") if isinstance(entry, dict) else None
    found = {}
    for name in OF_CURVES:
        value = curve.get(name) if isinstance(curve, dict) else None
        if value is None and isinstance(model, dict) and isinstance(model.get(name), list):
            value = model[name][number]
        if isinstance(value, int | float) and math.isfinite(value):
            found[name] = float(value)
    return found
