"""The file of a use-set's composition: what was found, and the corrected calibration."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from credence.calibrators.registry import read_calibration as read_record
from credence.predictions import Floats, Predictions
from credence.problems import InputError, Problem
from credence.shift.adjusted import AdjustedCalibration, read_adjusted
from credence.shift.composition import ratio_of
from credence.tables.json_text import nulls_to_nan
from credence.tables.probing import defect_of
from credence.tables.signed import read_signed, write_signed

SCHEMA = "credence/shift/2"
AGAIN = "Estimate the composition again: credence shift."


@dataclass(frozen=True, eq=False)
class ShiftFile:
    """The composition of a use-set, and confidences corrected for it.

    Parameters
    ----------
    method_spec : str
        The method that was corrected.
    class_names : tuple of str
        Classes in order.
    scale : float
        Of the scores.
    finding : mapping
        Record of a :class:`credence.findings.shift.ShiftFinding`.
    adjusted : AdjustedCalibration
        The corrected calibration.
    """

    method_spec: str
    class_names: tuple[str, ...]
    scale: float
    finding: Mapping[str, Any]
    adjusted: AdjustedCalibration

    @property
    def applied_share(self) -> Floats:
        """Shares of the classes that confidences are corrected for."""
        return np.array([entry["applied"] or 0.0 for entry in self.finding["classes"]])

    @property
    def applied_weight(self) -> Floats:
        """How many times as frequent each class is; 0 of one that calibration lacks."""
        known = np.array([entry["calibration_share"] or 0.0 for entry in self.finding["classes"]])
        return np.nan_to_num(ratio_of(self.applied_share, known))


def write_shift(path: Path, file: ShiftFile) -> None:
    """Write a shift file.

    Parameters
    ----------
    path : Path
        Where it is to be.
    file : ShiftFile
        What it holds.
    """
    body = {
        "method_spec": file.method_spec,
        "class_names": list(file.class_names),
        "scale": file.scale,
        "finding": dict(file.finding),
        "adjusted": file.adjusted.to_record(),
    }
    write_signed(path, SCHEMA, body)


def read_shift(path: Path) -> ShiftFile:
    """Return a shift file, checked.

    Parameters
    ----------
    path : Path
        From :func:`write_shift`.
    """
    return read_signed(path, SCHEMA, AGAIN, _parsed)


def _parsed(body: Mapping[str, Any]) -> ShiftFile:
    record = nulls_to_nan(body["adjusted"])
    file = ShiftFile(
        body["method_spec"],
        tuple(body["class_names"]),
        float(body["scale"]),
        body["finding"],
        read_adjusted(record, read_record(record["calibration"])),
    )
    defect = defect_of(file.adjusted, file.class_names, file.scale, 0.0)
    if defect is not None:
        raise ValueError(defect)
    if len(file.applied_weight) != len(file.class_names):
        raise ValueError("it has shares of other classes")
    return file


def require_same(file: ShiftFile, method_spec: str, predictions: Predictions, where: str) -> None:
    """Refuse a shift file that is not of this calibration.

    Parameters
    ----------
    file : ShiftFile
        The shift file.
    method_spec : str
        Method of the calibration.
    predictions : Predictions
        What is to get confidences.
    where : str
        The shift file, as the user named it.
    """
    problems = []
    if file.method_spec != method_spec:
        what = f"it corrects {file.method_spec!r}, the calibration is {method_spec!r}."
        problems.append(Problem(where, what, f"Estimate again with --method {method_spec!r}."))
    if file.class_names != predictions.class_names or file.scale != predictions.scale:
        problems.append(Problem(where, "its classes or its scale are not the table's.", AGAIN))
    if problems:
        raise InputError(problems)
