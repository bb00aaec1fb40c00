"""All metrics, in the order in which tables show them. One line each."""

from credence.metrics import binned, metric, smooth
from credence.metrics.metric import Metric

METRICS: tuple[Metric, ...] = (
    metric.NLL,
    metric.BRIER,
    metric.ACCURACY,
    metric.GAP,
    binned.ECE,
    binned.ECE2,
    binned.ECE_COUNT,
    binned.ECE2_COUNT,
    binned.TOP_LABEL,
    binned.TOP_LABEL_WEIGHTED,
    binned.MCE,
    binned.DEBIASED,
    smooth.SMOOTH,
    smooth.KERNEL,
    smooth.AREA,
    binned.SCE,
    binned.ACE,
    binned.TACE,
    binned.UNCERTAINTY,
    binned.SHARPNESS,
    binned.CALIBRATION_PART,
    binned.REMAINDER,
)

METRICS_BY_NAME: dict[str, Metric] = {metric.name: metric for metric in METRICS}
