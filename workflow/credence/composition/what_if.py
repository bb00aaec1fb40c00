"""Densities by predicted and true class: every class's curve at any composition.

They are the sums that an additive method itself takes. For any other that answers from class and
score, wrong predictions near a score are divided by their true classes (decision 0710).
"""

import numpy as np

from credence.calibrators.all_methods import needs_of
from credence.calibrators.classwise import ClasswiseCalibration, ConstantCurve
from credence.calibrators.kernel import CURVE_NODES_PER_BANDWIDTH, Kernel, KernelCurve, reflected
from credence.calibrators.masses import compress
from credence.calibrators.method_spec import Specification, parse_method
from credence.calibrators.protocol import Calibration, Curve, FitOptions
from credence.calibrators.shares import CumulativeCurve, StepCurve, bin_of
from credence.composition.adjusted import WINDOW
from credence.composition.summary import Corrected
from credence.confidence import Note
from credence.findings import ShiftCurve, WhatIf, WhatIfPart
from credence.predictions import Booleans, Floats, Labelled
from credence.records import to_record

N_GRID = 101  # a step of 1/100 of the scale


def shift_curves(corrected: Corrected) -> tuple[ShiftCurve, ...]:
    """Return the curve of each class that calibration predicted; none if not by score alone."""
    predictions = corrected.sample.labelled.predictions
    if predictions.top_score is None or not corrected.by_score:
        return ()
    grid = predictions.score_grid(N_GRID)
    found = []
    for class_ in np.unique(predictions.predicted_class):
        answer = corrected.adjusted.confidence(predictions.at_scores(class_, grid))
        numbers = [tuple(of.tolist()) for of in (grid, answer.value, answer.lower, answer.upper)]
        found.append(ShiftCurve(predictions.class_names[class_], *numbers))
    return tuple(found)


MOST_NUMBERS = 200_000  # on the page: a megabyte and a half
OUTWEIGHS = 1e9  # of a kernel's prior: what is held at a class's lowest scores has none
LEAST_GRID = 21  # scores of a curve that is still one


def what_if_of(
    labelled: Labelled, specification: Specification, calibration: Calibration, options: FitOptions
) -> WhatIf | None:
    """Return every class's curve at any composition, else the kernel's; None without scores."""
    predictions = labelled.predictions
    if predictions.top_score is None:
        return None
    if needs_of(to_record(calibration)).is_vector:
        specification = parse_method("kernel", "what if")
        quick = FitOptions(options.min_positives, options.level, 0)
        calibration = specification.build(quick).fit(labelled)
    pair = predictions.predicted_class * predictions.n_classes + labelled.true_class
    n_pairs = len(np.unique(pair))
    grid = predictions.score_grid(int(np.clip(MOST_NUMBERS // n_pairs, LEAST_GRID, N_GRID)))
    settings = specification.stages[0].settings if len(specification.stages) == 1 else None
    kernel = settings if isinstance(settings, Kernel) else None
    parts: list[WhatIfPart] = []
    is_exact = isinstance(calibration, ClasswiseCalibration)
    entries = calibration.classes if isinstance(calibration, ClasswiseCalibration) else {}
    for class_ in np.unique(predictions.predicted_class):
        positives = labelled.take(predictions.predicted_class == class_)
        entry = entries.get(predictions.class_names[class_])
        curve = None if entry is None else entry.curve
        answer = calibration.confidence(predictions.at_scores(class_, grid))
        density = _exact(positives, curve, kernel, grid)
        is_held = (answer.note & Note.LOW_END) > 0
        if density is None or is_held.any():
            moved = _moved(positives, int(class_), answer.value, grid)
            is_exact = is_exact and density is not None
            density = moved if density is None else np.where(is_held, OUTWEIGHS * moved, density)
        for true in np.unique(positives.true_class):
            held = positives.true_class == true
            weight = positives.weight[held]
            _, family = np.unique(positives.cluster[held].astype(str), return_inverse=True)
            families = np.bincount(family, weights=weight)
            sums = (float(part.sum()) for part in (weight, weight**2, families**2))
            total, squares, of_families = sums
            shape = tuple(density[true].tolist())
            parts.append(WhatIfPart(int(class_), int(true), total, squares, of_families, shape))
    share = np.bincount(labelled.true_class, labelled.weight, predictions.n_classes)
    axes = (tuple((share / share.sum()).tolist()), tuple(grid.tolist()))
    prior = 0.0 if kernel is None else float(kernel.prior_weight)
    numbers = (prior, float(options.min_positives))
    return WhatIf(specification.text, is_exact, *axes, *numbers, tuple(parts))


def _exact(
    positives: Labelled, curve: Curve | None, kernel: Kernel | None, grid: Floats
) -> Floats | None:
    """Return the method's own sums by true class; None for a method that takes none."""
    score = positives.predictions.top_score
    assert score is not None
    every = np.ones((positives.n_samples, len(grid)), dtype=np.bool_)
    if isinstance(curve, ConstantCurve):
        return _sums(positives, every)
    if isinstance(curve, StepCurve):
        same = bin_of(curve.upper_edge, score)[:, None] == bin_of(curve.upper_edge, grid)
        return _sums(positives, same)
    if isinstance(curve, CumulativeCurve):
        point = np.minimum(grid, curve.score[-1])
        below = (score < curve.cutoff)[:, None]
        return _sums(positives, np.where(grid >= curve.cutoff, score[:, None] >= point, below))
    if isinstance(curve, KernelCurve) and kernel is not None:
        if not np.isfinite(curve.bandwidth):
            return _sums(positives, every)
        point = np.clip(grid, curve.score[0], curve.score[-1])
        scale = positives.predictions.scale if kernel.reflection else None
        logs = _log_densities(positives, point, curve.bandwidth, scale)
        # Without a prior only ratios count, and they stay exact where sums underflow.
        unit = 0.0 if kernel.prior_weight > 0 else logs.max(axis=0)
        density: Floats = np.exp(logs - unit)
        return density
    return None


def _moved(positives: Labelled, class_: int, value: Floats, grid: Floats) -> Floats:
    """Return densities that give a curve, wrong predictions divided as they lie near."""
    logs = _log_densities(positives, grid, WINDOW * positives.predictions.scale, None)
    logs[class_] = -np.inf
    wrong = np.exp(logs - logs.max(axis=0)) if np.isfinite(logs).any() else np.zeros_like(logs)
    total = wrong.sum(axis=0)
    share = np.divide(wrong, total, out=np.zeros_like(wrong), where=total > 0)
    known = np.nan_to_num(value)
    density: Floats = share * (1.0 - known)
    density[class_] = known
    return density


def _sums(positives: Labelled, is_counted: Booleans) -> Floats:
    found = np.zeros((positives.predictions.n_classes, is_counted.shape[1]))
    for true in np.unique(positives.true_class):
        rows = positives.true_class == true
        found[true] = positives.weight[rows] @ is_counted[rows]
    return found


def _log_densities(
    positives: Labelled, point: Floats, bandwidth: float, reflect_at: float | None
) -> Floats:
    """Return log Σ w exp(−((S − S_i)/b)²/2) of each true class; −∞ for none."""
    score = positives.predictions.top_score
    assert score is not None
    found = np.full((positives.predictions.n_classes, len(point)), -np.inf)
    for true in np.unique(positives.true_class):
        rows = positives.true_class == true
        distinct, group = np.unique(score[rows], return_inverse=True)
        mass = np.bincount(group, weights=positives.weight[rows]).astype(np.float64)
        nodes = compress(distinct, mass, bandwidth / CURVE_NODES_PER_BANDWIDTH)
        if reflect_at is not None:
            nodes = reflected(nodes, reflect_at)
        exponent = -(((point[:, None] - nodes.score) / bandwidth) ** 2) / 2.0
        exponent += np.log(nodes.mass)
        top = exponent.max(axis=1)
        found[true] = top + np.log(np.exp(exponent - top[:, None]).sum(axis=1))
    return found
