"""What a use-set's composition means for its predictions, as a finding."""

from dataclasses import dataclass

import numpy as np

from credence.calibrators.intervals import ends_of_draws
from credence.calibrators.protocol import Calibration, FitOptions
from credence.composition.adjusted import AdjustedCalibration, smoothed_masses
from credence.composition.both_samples import CalibrationSample, UseSample
from credence.composition.diagnostics import Diagnostics
from credence.composition.estimate import Composition
from credence.draws import cluster_weights
from credence.findings import ShiftClass, ShiftCurve, ShiftFinding
from credence.predictions import Floats


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
    sample, predictions = corrected.sample, corrected.sample.labelled.predictions
    weight = np.nan_to_num(composition.fit_weight)
    table = expected_truth(smoothed_masses(sample.score_masses()), use.counts, weight)
    weights = np.nan_to_num(composition.weight_draws)
    elsewhere_draws = np.empty((options.n_draws, len(table)))
    for draw in range(options.n_draws):
        density = smoothed_masses(sample.score_masses(cluster_weights(sample.unit_key, draw)))
        drawn = weights[:, draw] if weights.shape[1] else weight
        moved = expected_truth(density, use.counts, drawn)
        elsewhere_draws[draw] = moved.sum(axis=0) - np.diag(moved)
    columns = {
        "n_predicted": use.counts.sum(axis=1).astype(np.int64),
        "calibration_share": composition.calibration_share,
        "share": composition.share,
        "lower": composition.lower,
        "upper": composition.upper,
        "applied": composition.applied_share,
        "weight": composition.weight,
        "effective_before": seen.effective_before,
        "effective_after": seen.effective_after,
        **_by_score(corrected),
    }
    elsewhere = table.sum(axis=0) - np.diag(table)
    low = high = np.full_like(elsewhere, np.nan)
    if options.n_draws > 0:
        low, high = ends_of_draws(elsewhere_draws.T, options.level)
    columns["elsewhere"] = elsewhere
    columns["elsewhere_lower"] = np.clip(low, 0.0, elsewhere)
    columns["elsewhere_upper"] = np.maximum(high, elsewhere)
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
        classes=tuple(
            ShiftClass(
                class_name=class_name,
                **{name: column[class_].item() for name, column in columns.items()},
            )
            for class_, class_name in enumerate(predictions.class_names)
        ),
        sentences=seen.sentences,
        is_other_kind=seen.is_other_kind,
        remarks=seen.remarks,
    )


def _by_score(corrected: Corrected) -> dict[str, Floats]:
    """Return the median score and the confidences there, by class."""
    predictions = corrected.sample.labelled.predictions
    names = ("score_median", "confidence_before", "confidence_after")
    columns = {name: np.full(predictions.n_classes, np.nan) for name in names}
    if predictions.top_score is None:
        return columns
    median = columns["score_median"]
    seen = np.unique(predictions.predicted_class)
    for class_ in seen:
        median[class_] = np.median(predictions.top_score[predictions.predicted_class == class_])
    if corrected.by_score:
        asked = predictions.at_scores(seen, median[seen])
        columns["confidence_before"][seen] = corrected.plain.confidence(asked).value
        columns["confidence_after"][seen] = corrected.adjusted.confidence(asked).value
    return columns


N_SHIFT_GRID = 101  # a step of 1/100 of the scale


def shift_curves(corrected: Corrected) -> tuple[ShiftCurve, ...]:
    """Return the curve of each class that calibration predicted; none if not by score alone."""
    predictions = corrected.sample.labelled.predictions
    if predictions.top_score is None or not corrected.by_score:
        return ()
    grid = predictions.score_grid(N_SHIFT_GRID)
    curves = []
    for class_ in np.unique(predictions.predicted_class):
        answer = corrected.adjusted.confidence(predictions.at_scores(class_, grid))
        curve = ShiftCurve(
            class_name=predictions.class_names[class_],
            score=tuple(grid.tolist()),
            after=tuple(answer.value.tolist()),
            after_lower=tuple(answer.lower.tolist()),
            after_upper=tuple(answer.upper.tolist()),
        )
        curves.append(curve)
    return tuple(curves)
