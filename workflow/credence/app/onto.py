"""Adding proteins to the masses that a calibration file keeps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from credence.stages.reading import CalibrationSet
    from credence.tables.calibration_file import CalibrationFile


def method_of(path: str) -> str:
    """Return the method of a calibration file."""
    from credence.tables.calibration_file import read_calibration

    return read_calibration(Path(path)).method_spec


def with_masses(file: CalibrationFile, chosen: CalibrationSet) -> CalibrationFile:
    """Return a calibration that keeps its masses; refuse a method without any."""
    from credence.calibrators.classwise import ClasswiseCalibration
    from credence.calibrators.recalibrate import with_masses as keep

    _require_additive(file.method_spec, "--keep-masses")
    assert isinstance(file.calibration, ClasswiseCalibration)
    return replace(file, calibration=keep(file.calibration, chosen.labelled))


def _require_additive(method: str, where: str) -> Any:
    """Return the calibrator of a method that is a sum over proteins."""
    from credence.calibrators.classwise import ClasswiseCalibrator
    from credence.calibrators.method_spec import parse_method
    from credence.calibrators.protocol import FitOptions, MassMethod
    from credence.problems import refuse

    built = parse_method(method, where).build(FitOptions(n_draws=0))
    is_sum = isinstance(built, ClasswiseCalibrator) and isinstance(built.settings, MassMethod)
    if not is_sum or not built.settings.is_additive:  # type: ignore[attr-defined]
        raise refuse(
            where, f"{method!r} is no sum over proteins: it has no masses.",
            "Choose class_only, histogram, cumulative or kernel, or do without.",
        )  # fmt: skip
    return built


def added_to(
    path: str, chosen: CalibrationSet, counts: Mapping[str, Any], inputs: Mapping[str, str]
) -> CalibrationFile:
    """Return a calibration with proteins added to its masses; it has no intervals."""
    from credence.calibrators.classwise import ClasswiseCalibration
    from credence.calibrators.recalibrate import add_trove, fit_masses
    from credence.problems import InputError, Problem
    from credence.releases.reading import options_of
    from credence.tables.calibration_file import read_calibration, require_match

    file = read_calibration(Path(path))
    calibrator = replace(
        _require_additive(file.method_spec, path), options=replace(options_of(file), n_draws=0)
    )
    require_match(file, chosen.labelled.predictions, next(iter(inputs)))
    assert isinstance(file.calibration, ClasswiseCalibration)
    problems = []
    if any(entry.curve is not None and entry.masses is None for entry in file.calibration.entries):
        problems.append(Problem(path, "it keeps no masses.", "Fit it again with --keep-masses."))
    problems += [
        Problem(name, f"{path} was fitted on this very file already.", "Leave it out.")
        for name, digest in inputs.items()
        if digest in file.inputs.values()
    ]
    if file.counts.get("weights", "none") != counts["weights"]:
        problems.append(
            Problem(
                "--weights",
                f"{counts['weights']} here, {file.counts.get('weights')} in {path}.",
                f"Give --weights {file.counts.get('weights')}.",
            )
        )
    if problems:
        raise InputError(problems)
    table = add_trove(_table_of(file), chosen.labelled)
    summed = {
        name: value + counts[name] if isinstance(value, int) and name in counts else value
        for name, value in file.counts.items()
    }
    return replace(
        file,
        calibration=fit_masses(calibrator, table),
        resolution=table.resolution,
        counts=summed,
        inputs={**file.inputs, **inputs},
        settings={**file.settings, "options": {**file.settings["options"], "n_draws": 0}},
        release=None,
        sets=None,  # they rest on every family, and those of the old proteins are not kept
    )


def _table_of(file: CalibrationFile) -> Any:
    from credence.calibrators.masses import MassTable

    entries = tuple(entry.masses for entry in file.calibration.entries)  # type: ignore[attr-defined]
    return MassTable(file.class_names, file.scale, file.resolution, entries)
