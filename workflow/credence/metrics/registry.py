"""All metrics, in the order in which tables show them. One line each."""

from __future__ import annotations

from credence.metrics import (
    accuracy,
    area,
    brier,
    debiased,
    decomposition,
    ece,
    kernel_error,
    mce,
    nll,
    smooth,
    vector,
)
from credence.metrics.protocol import Metric

METRICS: tuple[Metric, ...] = (
    nll.METRIC,
    brier.METRIC,
    accuracy.METRIC,
    ece.ECE,
    ece.ECE2,
    ece.ECE_COUNT,
    ece.ECE2_COUNT,
    ece.TOP_LABEL,
    ece.TOP_LABEL_WEIGHTED,
    mce.METRIC,
    debiased.METRIC,
    smooth.METRIC,
    kernel_error.METRIC,
    area.METRIC,
    vector.SCE,
    vector.ACE,
    vector.TACE,
    decomposition.UNCERTAINTY,
    decomposition.SHARPNESS,
    decomposition.CALIBRATION,
    decomposition.REMAINDER,
)

BY_NAME: dict[str, Metric] = {metric.name: metric for metric in METRICS}
