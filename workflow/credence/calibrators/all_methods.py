"""All calibration methods, from simple to complex. One line each."""

from collections.abc import Mapping
from typing import Any

from credence.calibrators import (
    auto,
    hierarchical,
    isotonic,
    kernel,
    logistic,
    logit_curve,
    macest,
    matrix,
    shares,
    temperature,
    trees,
)
from credence.calibrators.coherent import COHERENT, CoherentCalibration
from credence.calibrators.crossfit import COMPOSED, ComposedCalibration
from credence.calibrators.protocol import Calibration, Method
from credence.records import from_record

SINGLE_METHODS: tuple[Method, ...] = (
    shares.UNCALIBRATED,
    shares.CLASS_ONLY,
    temperature.STS,
    temperature.CSTS,
    temperature.TSWA,
    temperature.CSTSWA,
    logit_curve.PLATT,
    logit_curve.BETA,
    logit_curve.SPLINE,
    isotonic.ISOTONIC,
    isotonic.VENN_ABERS,
    shares.HISTOGRAM,
    shares.CUMULATIVE,
    shares.CUMULATIVE_PLUS,
    shares.CUMULATIVE_OPTIMAL,
    kernel.KERNEL_METHOD,
    hierarchical.HIERARCHICAL_METHOD,
    logistic.LOGISTIC_METHOD,
    matrix.MATRIX_METHOD,
    trees.BOOSTED,
    trees.RANDOMISED,
)

METHODS: tuple[Method, ...] = (
    *SINGLE_METHODS,
    macest.MACEST_METHOD,
    auto.method_over(SINGLE_METHODS),
)

BY_NAME: dict[str, Method] = {method.name: method for method in METHODS}


def read_calibration(record: Mapping[str, Any]) -> Calibration:
    """Return the calibration of a record that some method wrote."""
    if record["method"] == COHERENT:
        return from_record(CoherentCalibration, record, kinds={Calibration: read_calibration})
    if record["method"] == COMPOSED:
        return from_record(ComposedCalibration, record, kinds={Calibration: read_calibration})
    return BY_NAME[record["method"]].read(record)
