"""What a query set's composition means for its predictions, as a finding."""

from dataclasses import dataclass

import numpy as np

from credence.calibrators.intervals import ends_of_draws
from credence.calibrators.protocol import Calibration, FitOptions
from credence.composition.adjusted import ProportionCorrection
from credence.composition.both_samples import (
    N_DENSITY_BINS,
    CalibrationSample,
    UseSample,
    smoothed_masses,
)
from credence.composition.diagnostics import Diagnostics
from credence.composition.estimate import Composition
from credence.confidence import Confidence
from credence.draws import cluster_weights
from credence.findings import ShiftClass, ShiftCurve, ShiftFinding
from credence.predictions import Floats


@dataclass(frozen=True, kw_only=True, eq=False)
class Corrected:
    """A query set's composition and what it changes in confidences."""

    sample: CalibrationSample  # Both sets
    use: UseSample
    composition: Composition  # Of the query set
    diagnostics: Diagnostics  # What has to be known of it
    plain: Calibration  # The method, uncorrected
    correction: ProportionCorrection
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
    """Return what a page shows of a query set's composition."""
    use, seen, composition = corrected.use, corrected.diagnostics, corrected.composition
    sample = corrected.sample
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
        "calibration_proportion": composition.calibration_proportion,
        "share": composition.share,
        "lower": composition.lower,
        "upper": composition.upper,
        "applied": composition.applied_proportion,
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
        n_query=use.n_rows,
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
            for class_, class_name in enumerate(sample.class_names)
        ),
        doubts=seen.doubts,
        is_other_kind=seen.is_other_kind,
    )


def _by_score(corrected: Corrected) -> dict[str, Floats]:
    """Return the median score and the confidences there, by class."""
    sample = corrected.sample
    names = ("score_median", "confidence_before", "confidence_after")
    columns = {name: np.full(sample.n_classes, np.nan) for name in names}
    if not sample.has_scores:
        return columns
    for class_ in np.unique(sample.predicted_class):
        place = np.median(sample.score_bin[sample.predicted_class == class_])
        median = (place + 0.5) * sample.scale / N_DENSITY_BINS
        columns["score_median"][class_] = median
        if corrected.by_score:
            before, after = _at_scores(corrected, class_, np.array([median]))
            columns["confidence_before"][class_] = before.value[0]
            columns["confidence_after"][class_] = after.value[0]
    return columns


def _at_scores(corrected: Corrected, class_: int, score: Floats) -> tuple[Confidence, Confidence]:
    """Return the confidences of a class at top scores, before and after the correction."""
    sample = corrected.sample
    asked = sample.at_scores(class_, score)
    before = corrected.plain.confidence(asked)
    return before, corrected.correction.corrected(before, asked, sample)


N_SHIFT_GRID = 101  # a step of 1/100 of the scale


def shift_curves(corrected: Corrected) -> tuple[ShiftCurve, ...]:
    """Return the curve of each class that calibration predicted; none if not by score alone."""
    sample = corrected.sample
    if not sample.has_scores or not corrected.by_score:
        return ()
    grid = np.linspace(0.0, sample.scale, N_SHIFT_GRID)
    curves = []
    for class_ in np.unique(sample.predicted_class):
        _, answer = _at_scores(corrected, class_, grid)
        curve = ShiftCurve(
            class_name=sample.class_names[class_],
            score=tuple(grid.tolist()),
            after=tuple(answer.value.tolist()),
            after_lower=tuple(answer.lower.tolist()),
            after_upper=tuple(answer.upper.tolist()),
        )
        curves.append(curve)
    return tuple(curves)
