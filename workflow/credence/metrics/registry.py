"""All metrics, in the order in which tables show them. One line each."""

from __future__ import annotations

from credence.metrics import accuracy, brier, nll
from credence.metrics.protocol import Metric

METRICS: tuple[Metric, ...] = (
    nll.METRIC,
    brier.METRIC,
    accuracy.METRIC,
)

BY_NAME: dict[str, Metric] = {metric.name: metric for metric in METRICS}
