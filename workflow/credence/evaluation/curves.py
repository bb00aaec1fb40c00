"""Confidence over the top score, class by class, as a page can draw it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from credence.calibrators import two_steps
from credence.calibrators.all_methods import BY_NAME, needs_of
from credence.calibrators.protocol import Calibration
from credence.confidence import Confidence
from credence.draws import encode_clusters
from credence.evaluation.judging import EvaluationOptions, Key, Stated
from credence.evaluation.measures import chances
from credence.evaluation.ratios import Estimates, Ratio, estimate, mean_of
from credence.findings import Bins, ClassCount, CurveFinding, Reliability, ScoreNeeded
from credence.metrics.metric import Judged, divide, sum_by
from credence.metrics.smooth import GRID, N_CELLS, kernel_curve
from credence.predictions import Booleans, Floats, Integers, Labelled, Predictions
from credence.records import to_record


def bin_of(values: Floats, edges: Floats) -> Integers:
    """Return the bin of each value: left-open, the first closed; NaN gives −1.

    A value beyond the last edge counts in the last bin (METHODS section 2).

    >>> bin_of(np.array([0.0, 0.5, 0.51, 2.0, np.nan]), np.array([0.0, 0.5, 1.0])).tolist()
    [0, 0, 1, 1, -1]
    """
    position = np.searchsorted(edges, values, side="left") - 1
    position = np.clip(position, 0, len(edges) - 2)
    return np.where(np.isnan(values), -1, position).astype(np.int64)


def bin_ratios(values: Floats, edges: Floats, is_correct: Booleans, weight: Floats) -> list[Ratio]:
    """Return the share of right predictions in each bin, as ratios."""
    position = bin_of(values, edges)
    right = is_correct.astype(np.float64)
    return [
        mean_of(right, weight, position == number, is_share=True)
        for number in range(len(edges) - 1)
    ]


def bins_record(
    values: Floats, edges: Floats, is_correct: Booleans, weight: Floats, estimates: Estimates
) -> Bins:
    """Return the bins of a histogram as a record of the findings."""
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


N_GRID = 201  # a step of 1/200 of the scale: 0.05 for PhANNs
CONFIDENCES_ASKED = (0.5, 0.8, 0.9, 0.95)


def depends_on_score_alone(record: Mapping[str, Any], class_name: str) -> bool:
    """Return whether a calibration answers from predicted class and top score."""
    known = record.get("method") in BY_NAME or record.get("method") == two_steps.NAME
    return known and not needs_of(record, class_name).is_vector


def curves_of(
    labelled: Labelled,
    calibrations: Mapping[str, Calibration],
    in_sample: Mapping[str, Confidence],
    edges: Floats,
) -> tuple[CurveFinding, ...]:
    """Return the curve of every method and every class that was predicted."""
    predictions = labelled.predictions
    assert predictions.top_score is not None
    # Up to the scale, or to the best score where that is higher.
    grid = np.linspace(0.0, max(predictions.scale, float(predictions.top_score.max())), N_GRID)
    found = []
    for name, calibration in calibrations.items():
        record = to_record(calibration)
        for class_, class_name in enumerate(predictions.class_names):
            rows = np.flatnonzero(predictions.predicted_class == class_)
            if len(rows) == 0:
                continue
            if depends_on_score_alone(record, class_name):
                answer = calibration.confidence(at_scores(predictions, class_, grid))
                found.append(_record(name, class_name, True, grid, answer))
            else:
                found.append(
                    _binned(name, class_name, labelled.take(rows), rows, in_sample, edges)
                )
    return tuple(found)


def at_scores(predictions: Predictions, class_: int, score: Floats) -> Predictions:
    """Return predictions of one class at given top scores."""
    return Predictions(
        ids=np.arange(len(score)).astype(str).astype(object),
        class_names=predictions.class_names,
        scale=predictions.scale,
        resolution=predictions.resolution,
        predicted_class=np.full(len(score), class_, dtype=np.int64),
        top_score=score,
        is_distribution=False,
    )


def scores_needed(
    curves: Sequence[CurveFinding], classes: Sequence[ClassCount]
) -> tuple[ScoreNeeded, ...]:
    """Return from which score on each method is sure enough, at its lower end.

    Only scores that calibration saw count, and a curve that dips below later
    is not sure enough before.
    """
    seen = {entry.class_name: (entry.score_min, entry.score_max) for entry in classes}
    found = []
    for curve in curves:
        if not curve.is_function:
            continue
        score, lower = np.array(curve.score), np.array(curve.lower)
        low, high = seen[curve.class_name]
        # The interval at the least and the greatest score counts too, not the grid alone.
        score_in = np.unique(
            np.concatenate([[low, high], score[(score >= low) & (score <= high)]])
        )
        lower_in = np.interp(score_in, score, lower)
        for asked in CONFIDENCES_ASKED:
            # NaN compares false: where there is no interval nothing is enough.
            is_short = np.flatnonzero(~(lower_in >= asked))
            first = 0 if len(is_short) == 0 else int(is_short[-1]) + 1
            needed = float(score_in[first]) if first < len(score_in) else float("nan")
            found.append(ScoreNeeded(curve.method, curve.class_name, asked, needed))
    return tuple(found)


def _record(
    method: str, class_name: str, is_function: bool, score: Floats, answer: Confidence
) -> CurveFinding:
    return CurveFinding(
        method=method,
        class_name=class_name,
        is_function=is_function,
        score=tuple(score.tolist()),
        value=tuple(answer.value.tolist()),
        lower=tuple(answer.lower.tolist()),
        upper=tuple(answer.upper.tolist()),
        support=tuple(answer.support.tolist()),
        note=tuple(answer.note.tolist()),
    )


def _binned(
    method: str,
    class_name: str,
    positives: Labelled,
    rows: np.ndarray[tuple[int], np.dtype[np.intp]],
    in_sample: Mapping[str, Confidence],
    edges: Floats,
) -> CurveFinding:
    score = positives.predictions.top_score
    assert score is not None
    answer = in_sample[method]
    value, weight = answer.value[rows], positives.weight
    known = ~np.isnan(value)
    position = np.where(known, bin_of(score, edges), -1)
    filled = [number for number in range(len(edges) - 1) if (position == number).any()]

    def means(of: Floats) -> Floats:
        return np.array(
            [np.average(of[position == k], weights=weight[position == k]) for k in filled]
        )

    blank = np.full(len(filled), np.nan)
    return _record(
        method,
        class_name,
        False,
        means(score),
        Confidence(
            means(value),
            blank,
            blank.copy(),
            means(answer.support[rows]),
            np.zeros(len(filled), dtype=np.int64),
        ),
    )


N_BINS = 10
N_CURVE = 64  # points of the kernel curve; divides the number of cells of the grid
N_COUNTS = 50
LEAST = 0.5  # of a protein per point of the curve: below, the curve says nothing


def reliability_of(
    labelled: Labelled,
    class_name: str | None,
    stated: Mapping[Key, Stated],
    options: EvaluationOptions,
) -> tuple[Reliability, ...]:
    """Return the reliability diagrams of one block of proteins."""
    edges = np.linspace(0.0, 1.0, N_BINS + 1)
    is_correct, weight = labelled.is_correct, labelled.weight
    ratios = []
    for entry in stated.values():
        ratios += bin_ratios(entry.confidence, edges, is_correct, weight)
    estimates = estimate(labelled.cluster, ratios, options.level, options.n_draws)
    codes, keys = encode_clusters(labelled.cluster)
    chance = chances(keys, options.n_floor)[codes] if options.n_floor > 0 else None
    found = []
    for number, ((method, sample), entry) in enumerate(stated.items()):
        part = estimates.part(number * N_BINS, N_BINS)
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
