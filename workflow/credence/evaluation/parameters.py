"""What fitting set for each class: bandwidth, cut-off, temperature, award."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from credence.calibrators.protocol import Calibration
from credence.findings import FittedParameter

# Names in the records of calibrations, by what a reader may want to know of a class.
OF_CURVES = ("bandwidth", "cutoff", "temperature", "award")


def parameters_of(
    calibrations: Mapping[str, Calibration], class_names: tuple[str, ...]
) -> tuple[FittedParameter, ...]:
    """Return the numbers that each method chose for each class, where it has such.

    Parameters
    ----------
    calibrations : mapping of str to Calibration
        Methods by name.
    class_names : tuple of str
        In the classifier's order.
    """
    return tuple(
        FittedParameter(method, class_name, name, value)
        for method, calibration in calibrations.items()
        for number, class_name in enumerate(class_names)
        for name, value in _found(calibration.to_record(), class_name, number).items()
    )


def _found(record: Mapping[str, Any], class_name: str, number: int) -> dict[str, float]:
    classes, model = record.get("classes"), record.get("model")
    entry = classes.get(class_name) if isinstance(classes, dict) else None
    curve = entry.get("curve") if isinstance(entry, dict) else None
    found = {}
    for name in OF_CURVES:
        value = curve.get(name) if isinstance(curve, dict) else None
        if value is None and isinstance(model, dict) and isinstance(model.get(name), list):
            value = model[name][number]
        if isinstance(value, int | float) and math.isfinite(value):
            found[name] = float(value)
    return found
