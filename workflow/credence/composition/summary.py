"""What a use-set's composition means for its predictions, as a finding."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from credence.calibrators.intervals import tail_levels
from credence.calibrators.protocol import Calibration, FitOptions
from credence.composition.adjusted import AdjustedCalibration, bin_middles, smoothed
from credence.composition.both_samples import CalibrationSample, UseSample
from credence.composition.diagnostics import Diagnostics
from credence.composition.estimate import Composition
from credence.confidence import least_score
from credence.draws import cluster_weights
from credence.findings import ShiftClass, ShiftFinding
from credence.predictions import Floats

ENOUGH = 0.9  # the confidence of which the least score is reported


@dataclass(frozen=True, eq=False)
class Corrected:
    """A use-set's composition and the calibrations for it."""

    sample: CalibrationSample  # Both sets
    use: UseSample
    composition: Composition  # Of the use-set
    diagnostics: Diagnostics  # What has to be known of it
    plain: Calibration  # The method, uncorrected
    adjusted: AdjustedCalibration  # The method, corrected
    by_score: bool  # Whether class and top score give the method's confidence


def expected_truth(density: Floats, counts: Floats, weight: Floats) -> Floats:
    """Return how many predicted i are truly j: Σ_S n(i, S) w_j f_ij(S)/Σ_l w_l f_il(S)."""
    joint = density * weight[None, :, None]
    total = joint.sum(axis=1)
    share = np.divide(counts, total, out=np.zeros_like(total), where=total > 0)
    return np.asarray(np.einsum("ijs,is->ij", joint, share))


def expected_draws(corrected: Corrected, n_draws: int) -> Floats:
    """Return `expected_truth` in each draw, of calibration and composition both."""
    sample = corrected.sample
    n_classes = sample.labelled.predictions.n_classes
    weights = np.nan_to_num(corrected.composition.weight_draws)
    fixed = np.nan_to_num(corrected.composition.fit_weight)
    found = np.empty((n_draws, n_classes, n_classes))
    for draw in range(n_draws):
        density = smoothed(sample.score_masses(cluster_weights(sample.unit_key, draw)))
        weight = weights[:, draw] if weights.shape[1] else fixed
        found[draw] = expected_truth(density, corrected.use.counts, weight)
    return found


def summarise_shift(
    name: str,
    estimator: str,
    method: str,
    corrected: Corrected,
    options: FitOptions,
    compression_error: float,
) -> ShiftFinding:
    """Return what a page shows of a use-set's composition."""
    use, seen, composition = corrected.use, corrected.diagnostics, corrected.composition
    expected = _expected(corrected, options)
    columns = {**_shares(corrected), **_bounds_by_class(expected)}
    classes = tuple(
        ShiftClass(
            class_name=class_name,
            n_predicted=int(use.counts[class_].sum()),
            **{column: float(values[class_]) for column, values in columns.items()},
        )
        for class_, class_name in enumerate(corrected.sample.labelled.predictions.class_names)
    )
    return ShiftFinding(
        name=name,
        estimator=estimator,
        method=method,
        level=options.level,
        n_use=use.n_rows,
        n_cells=0 if use.cells is None else len(use.cells.row),
        compression_error=compression_error,
        condition=seen.condition if np.isfinite(seen.condition) else float("nan"),
        part_applied=composition.part_applied,
        p_no_shift=seen.p_no_shift,
        gap=seen.gap,
        p_label_shift=seen.p_label_shift,
        right=float(expected.total[0, 0]),
        right_lower=float(expected.total[1, 0]),
        right_upper=float(expected.total[2, 0]),
        classes=classes,
        sentences=seen.sentences,
        remarks=seen.remarks,
    )


@dataclass(frozen=True, eq=False)
class _Expected:
    """How many are expected right and elsewhere: value, lower and upper end."""

    right: Floats
    elsewhere: Floats
    total: Floats


def _expected(corrected: Corrected, options: FitOptions) -> _Expected:
    weight = np.nan_to_num(corrected.composition.fit_weight)
    density = smoothed(corrected.sample.score_masses())
    table = expected_truth(density, corrected.use.counts, weight)
    draws = expected_draws(corrected, options.n_draws)
    on_diagonal = np.diagonal(draws, axis1=1, axis2=2)
    total = np.trace(draws, axis1=1, axis2=2)[:, None]
    return _Expected(
        _with_bounds(np.diag(table), on_diagonal, options),
        _with_bounds(table.sum(axis=0) - np.diag(table), draws.sum(axis=1) - on_diagonal, options),
        _with_bounds(np.diag(table).sum(keepdims=True), total, options),
    )


def _bounds_by_class(expected: _Expected) -> dict[str, Floats]:
    return {
        "right": expected.right[0],
        "right_lower": expected.right[1],
        "right_upper": expected.right[2],
        "elsewhere": expected.elsewhere[0],
        "elsewhere_lower": expected.elsewhere[1],
        "elsewhere_upper": expected.elsewhere[2],
    }


def _shares(corrected: Corrected) -> dict[str, Floats]:
    composition, seen = corrected.composition, corrected.diagnostics
    at_median, needed, median = _by_score(corrected)
    return {
        "calibration_share": composition.calibration_share,
        "share": composition.share,
        "lower": composition.lower,
        "upper": composition.upper,
        "applied": composition.applied_share,
        "weight": composition.weight,
        "expected_predicted": seen.expected_share * corrected.use.n_rows,
        "effective_before": seen.effective_before,
        "effective_after": seen.effective_after,
        "score_median": median,
        "confidence_before": at_median[0],
        "confidence_after": at_median[1],
        "score_before": needed[0],
        "score_after": needed[1],
    }


def _with_bounds(value: Floats, draws: Floats, options: FitOptions) -> Floats:
    """Return rows of value, lower and upper; the ends NaN without draws."""
    if len(draws) == 0:
        return np.stack([value, np.full_like(value, np.nan), np.full_like(value, np.nan)])
    low, high = np.quantile(draws, list(tail_levels(options)), axis=0)
    return np.stack([value, np.minimum(low, value), np.maximum(high, value)])


def _by_score(corrected: Corrected) -> tuple[Floats, Floats, Floats]:
    """Return confidences at the median score, least scores for 90 %, and the medians."""
    predictions = corrected.sample.labelled.predictions
    n_classes = predictions.n_classes
    at_median, needed = (np.full((2, n_classes), np.nan) for _ in range(2))
    median = np.full(n_classes, np.nan)
    if predictions.top_score is None:
        return at_median, needed, median
    for class_ in range(n_classes):
        own = predictions.top_score[predictions.predicted_class == class_]
        if len(own):
            median[class_] = np.median(own)
    if not corrected.by_score:
        return at_median, needed, median
    grid = bin_middles(predictions.scale)
    seen = np.flatnonzero(~np.isnan(median))
    for row, calibration in enumerate((corrected.plain, corrected.adjusted)):
        at_median[row, seen] = calibration.confidence(
            predictions.at_scores(seen, median[seen])
        ).value
        for one in seen.tolist():
            asked = predictions.at_scores(one, grid)
            needed[row, one] = least_score(grid, calibration.confidence(asked).value, ENOUGH)
    return at_median, needed, median
