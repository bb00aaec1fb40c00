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
from credence.predictions import Booleans, Floats, Labelled
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
        numbers = (positives.n_samples, int(is_correct.sum()), int(found.n_clusters[0]))
        share = (found.value[0], found.lower[0], found.upper[0])
        counts.append(ClassCount(class_name, n_true, *numbers, *map(float, (*share, *seen))))
        if score is None:
            continue
        part = found.part(1, N_SCORE_BINS)
        finer = np.linspace(0.0, edges[-1], FINER * N_SCORE_BINS + 1)
        bins = bins_record(score, edges, is_correct, weight, part)
        right, wrong = (
            tuple(np.bincount(bin_of(own, finer), minlength=len(finer) - 1).tolist())
            for own in (score[is_correct], score[~is_correct])
        )
        histograms.append(ScoreHistogram(class_name, bins, tuple(finer.tolist()), right, wrong))
        halves.append(halves_of(positives, class_name, edges))
    return tuple(counts), tuple(histograms), tuple(halves)


def confusion_of(
    labelled: Labelled,
) -> tuple[
    tuple[tuple[int, ...], ...], tuple[tuple[float, ...], ...], tuple[tuple[float, ...], ...]
]:
    """Return joint counts (true, predicted), weighted shares of each row, and of each column."""
    shape = (labelled.predictions.n_classes,) * 2
    place = (labelled.true_class, labelled.predictions.predicted_class)
    counts, mass = np.zeros(shape, dtype=np.int64), np.zeros(shape)
    np.add.at(counts, place, 1)
    np.add.at(mass, place, labelled.weight)
    shares = (divide(mass, mass.sum(axis=axis, keepdims=True)) for axis in (1, 0))
    counted, given_true, given_predicted = (
        tuple(map(tuple, table.tolist())) for table in (counts, *shares)
    )
    return counted, given_true, given_predicted


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
    columns = map(tuple, (edges.tolist(), *number.tolist(), *share.tolist()))
    at, n_first, n_second, of_first, of_second = columns
    return Halves(class_name, at, n_first, n_second, of_first, of_second, float(distance))


def counting_of(labelled: Labelled) -> tuple[Counting, ...]:
    """Return the share of each class over its score, top labels against all scores."""
    predictions = labelled.predictions
    if predictions.scores is None:
        return ()
    grid = np.linspace(0.0, max(predictions.scale, float(predictions.scores.max())), N_COUNTING)
    bandwidth = COUNTING_BANDWIDTH * predictions.scale
    found = []
    for class_ in np.unique(predictions.predicted_class):
        columns = (predictions.scores[:, class_], labelled.true_class == class_, labelled.weight)
        own = predictions.predicted_class == class_
        top = _smooth_share(grid, bandwidth, *(column[own] for column in columns))
        every = _smooth_share(grid, bandwidth, *columns)
        name = predictions.class_names[class_]
        found.append(Counting(name, tuple(grid.tolist()), top, every, bandwidth))
    return tuple(found)


def _smooth_share(
    grid: Floats, bandwidth: float, score: Floats, is_member: Booleans, weight: Floats
) -> tuple[float, ...]:
    """Return the Gaussian-weighted share of members; NaN with hardly any nearby."""
    values, position = np.unique(score, return_inverse=True)
    number, total, member = (
        np.bincount(position, weights=each) for each in (None, weight, weight * is_member)
    )
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
