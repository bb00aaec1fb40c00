"""Confidence over the top score, class by class, as a page can draw it."""

from collections.abc import Mapping

import numpy as np
from scipy import sparse

from credence.calibrators.intervals import ends_of_draws
from credence.calibrators.protocol import Calibration
from credence.confidence import Confidence
from credence.draws import encode_clusters
from credence.evaluation.judging import EvaluationOptions, Key, Stated
from credence.evaluation.measures import chances
from credence.evaluation.ratios import Estimates, Ratio, estimate, mean_of
from credence.findings import Bins, CurveFinding, Reliability
from credence.metrics.binned import N_SCORE_BINS, bin_of, equal_width
from credence.metrics.metric import Judged, divide, sum_by
from credence.metrics.smooth import GRID_CELLS, N_CELLS, kernel_curve
from credence.predictions import Booleans, Floats, Integers, Labelled


def bin_ratios(values: Floats, edges: Floats, is_correct: Booleans, weight: Floats) -> list[Ratio]:
    """Return the share of right predictions in each bin, as ratios."""
    position = bin_of(values, edges)
    right = is_correct.astype(np.float64)
    chosen = (position == number for number in range(len(edges) - 1))
    return [mean_of(right, weight, rows, is_share=True) for rows in chosen]


def bins_record(
    values: Floats, edges: Floats, is_correct: Booleans, weight: Floats, estimates: Estimates
) -> Bins:
    """Return the bins of a histogram as a record of the findings."""
    position, n_bins = bin_of(values, edges), len(edges) - 1
    kept = position >= 0
    position, weight = position[kept], weight[kept]
    total = sum_by(position, values[kept] * weight, n_bins)
    mean = divide(total, sum_by(position, weight, n_bins))
    n_correct = np.bincount(position[is_correct[kept]], minlength=n_bins)
    return Bins(
        edges=tuple(edges.tolist()),
        n=tuple(estimates.n.tolist()),
        n_correct=tuple(n_correct.tolist()),
        n_clusters=tuple(estimates.n_clusters.tolist()),
        mean=tuple(mean.tolist()),
        share=tuple(estimates.value.tolist()),
        lower=tuple(estimates.lower.tolist()),
        upper=tuple(estimates.upper.tolist()),
    )


N_CURVE_GRID = 201  # a step of 1/200 of the scale: 0.05 for PhANNs


def curves_of(
    labelled: Labelled,
    calibrations: Mapping[str, Calibration],
    in_sample: Mapping[str, Confidence],
) -> tuple[CurveFinding, ...]:
    """Return the curve of every method and predicted class: of bins where it is no function."""
    predictions = labelled.predictions
    if predictions.top_score is None:
        return ()
    grid, edges = predictions.score_grid(N_CURVE_GRID), predictions.score_grid(N_SCORE_BINS + 1)
    curves = []
    for name, calibration in calibrations.items():
        is_function = calibration.gives_curve
        for class_ in np.unique(predictions.predicted_class):
            if is_function:
                score, answer = grid, calibration.confidence(predictions.at_scores(class_, grid))
            else:
                rows = predictions.predicted_class == class_
                score, answer = _binned(labelled, rows, in_sample[name], edges)
            columns = {field: tuple(column.tolist()) for field, column in vars(answer).items()}
            curve = CurveFinding(
                method=name,
                class_name=predictions.class_names[class_],
                is_function=is_function,
                score=tuple(score.tolist()),
                **columns,
            )
            curves.append(curve)
    return tuple(curves)


def _binned(
    labelled: Labelled, rows: Booleans, answer: Confidence, edges: Floats
) -> tuple[Floats, Confidence]:
    """Return the mean score and the mean confidence of each bin that holds any."""
    rows = rows & ~np.isnan(answer.value)
    score, weight = labelled.predictions.required_top_score[rows], labelled.weight[rows]
    position = bin_of(score, edges)
    filled = np.unique(position)

    def means(values: Floats) -> Floats:
        rows = (position == k for k in filled)
        return np.array([np.average(values[here], weights=weight[here]) for here in rows])

    blank = np.full(len(filled), np.nan)
    value, support = means(answer.value[rows]), means(answer.support[rows])
    note = np.zeros(len(filled), dtype=np.int64)
    return means(score), Confidence(
        value=value, lower=blank, upper=blank, support=support, note=note
    )


N_RELIABILITY_BINS = 10
N_CURVE = 64  # points of the kernel curve; divides the number of cells of the grid
N_COUNTS = 50
LEAST_CURVE_PROTEINS = 0.5  # of a protein per point of the curve: below, the curve says nothing


def reliability_of(
    labelled: Labelled,
    class_name: str | None,
    stated: Mapping[Key, Stated],
    options: EvaluationOptions,
) -> tuple[Reliability, ...]:
    """Return the reliability diagrams of one block of proteins."""
    edges = np.linspace(0.0, 1.0, N_RELIABILITY_BINS + 1)
    is_correct, weight = labelled.is_correct, labelled.weight
    ratios = []
    for entry in stated.values():
        ratios += bin_ratios(entry.confidence, edges, is_correct, weight)
    estimates = estimate(labelled.cluster, ratios, options.level, options.n_draws)
    codes, keys = encode_clusters(labelled.cluster)
    chance = chances(keys, options.n_floor)[codes] if options.n_floor > 0 else None
    diagrams = []
    for number, ((method, sample), entry) in enumerate(stated.items()):
        part = estimates.part(number * N_RELIABILITY_BINS, N_RELIABILITY_BINS)
        confidence = entry.confidence
        lower, upper = _band(confidence, weight, bin_of(confidence, edges), chance, options.level)
        known = ~np.isnan(confidence)
        judged = Judged(
            confidence=confidence[known], is_correct=is_correct[known], weight=weight[known]
        )
        fine = equal_width(confidence[known], N_COUNTS)
        bins = bins_record(confidence, edges, is_correct, weight, part)
        diagram = Reliability(
            method=method,
            class_name=class_name,
            sample=sample,
            bins=bins,
            band_lower=tuple(lower.tolist()),
            band_upper=tuple(upper.tolist()),
            curve=tuple(share_curve(judged).tolist()),
            counts=tuple(np.bincount(fine, minlength=N_COUNTS).tolist()),
        )
        diagrams.append(diagram)
    return tuple(diagrams)


def share_curve(judged: Judged) -> Floats:
    """Return the kernel estimate of the precision from 0 to 1; NaN where little is there."""
    if judged.n_samples == 0:
        return np.full(N_CURVE, np.nan)
    cells = GRID_CELLS.cells(judged)
    assert cells is not None
    sums = cells.sums(judged.weight)
    weight, outcome = kernel_curve(sums, np.array(judged.n_effective))
    together = N_CELLS // N_CURVE
    weight, outcome = (part.reshape(N_CURVE, together).sum(axis=1) for part in (weight, outcome))
    number = weight / sums[0].sum() * judged.n_effective
    return np.where(
        number >= LEAST_CURVE_PROTEINS, np.clip(divide(outcome, weight), 0.0, 1.0), np.nan
    )


def _band(
    confidence: Floats, weight: Floats, position: Integers, chance: Floats | None, level: float
) -> Floats:
    """Return quantiles of each bin's share were the confidences true, lower and upper."""
    band = np.full((2, N_RELIABILITY_BINS), np.nan)
    if chance is None:
        return band
    rows = np.flatnonzero(position >= 0)
    outcome = (chance[rows] < confidence[rows, None]).astype(np.float64)
    entries = (weight[rows], (position[rows], np.arange(len(rows))))
    sums = sparse.csr_array(entries, shape=(N_RELIABILITY_BINS, len(rows))) @ outcome
    total = sum_by(position[rows], weight[rows], N_RELIABILITY_BINS)
    filled = total > 0
    if filled.any():
        share = sums[filled] / total[filled, None]
        band[:, filled] = ends_of_draws(share, level, is_share=True)
    return band
