"""Corrected confidences, judged at the class proportions that they are corrected for."""

import numpy as np

from credence.composition.adjusted import corrected_unseen
from credence.composition.both_samples import CalibrationSample
from credence.evaluation.ratios import estimate, mean_of
from credence.findings import CorrectedQuality
from credence.metrics.metric import negative_log_likelihood
from credence.predictions import Booleans, Floats


def judged_at_proportions(
    sample: CalibrationSample, weight: Floats, level: float, n_draws: int
) -> tuple[CorrectedQuality, ...]:
    """Return how good corrected confidences are, of all classes together and of each.

    They are those of calibration proteins by fits without their families, corrected as published
    ones are by the `weight` of each class, and a protein counts as often as that says. Nothing
    where all weights are 1, as then nothing is corrected.
    """
    if not (weight != 1.0).any():
        return ()
    confidence = corrected_unseen(sample, weight)
    counted = sample.weight * weight[sample.true_class]
    is_right = sample.predicted_class == sample.true_class
    losses = negative_log_likelihood(confidence, is_right)
    cluster = sample.unit_key[sample.unit].astype(str).astype(object)
    is_judged = ~np.isnan(confidence) & (counted > 0)

    def judged(class_name: str | None, rows: Booleans) -> CorrectedQuality:
        ratios = [
            mean_of(confidence, counted, rows),
            mean_of(is_right.astype(np.float64), counted, rows, is_share=True),
            mean_of(losses, counted, rows),
        ]
        means = estimate(cluster, ratios, level, n_draws)
        return CorrectedQuality(
            class_name=class_name,
            n=int(means.n[0]),
            n_families=int(means.n_clusters[0]),
            confidence=float(means.value[0]),
            precision=float(means.value[1]),
            lower=float(means.lower[1]),
            upper=float(means.upper[1]),
            loss=float(means.value[2]),
        )

    of_classes = (
        (class_name, is_judged & (sample.predicted_class == class_))
        for class_, class_name in enumerate(sample.class_names)
    )
    blocks = [(None, is_judged), *of_classes]
    return tuple(judged(class_name, rows) for class_name, rows in blocks if rows.any())
