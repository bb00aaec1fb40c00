"""What methods are judged on, alike for one of them alone and for all together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from credence.evaluation.judging import Stated
    from credence.findings import SetsFinding
    from credence.predictions import Labelled
    from credence.problems import Problem
    from credence.stages.reading import CalibrationSet
    from credence.tables.calibration_file import CalibrationFile
    from credence.tables.samples import Samples
    from credence.tables.table_spec import TableSpec


def read_calibrations(paths: Sequence[str]) -> dict[str, CalibrationFile]:
    """Return the calibrations by method; refuse a method that is given twice."""
    from credence.problems import InputError, Problem
    from credence.tables.calibration_file import read_calibration

    files: dict[str, CalibrationFile] = {}
    problems: list[Problem] = []
    for path in paths:
        try:
            file = read_calibration(Path(path))
        except InputError as error:
            problems += error.problems
            continue
        if file.method_spec in files:
            problems.append(
                Problem(path, f"{file.method_spec!r} was given already.", "Give each method once.")
            )
        files[file.method_spec] = file
    if problems:
        raise InputError(problems)
    return files


def samples_of(
    tables: Sequence[str],
    stated: TableSpec,
    files: Mapping[str, CalibrationFile],
    novelty: str | None = None,
) -> Samples:
    """Return the samples; refuse calibrations that are not of their table."""
    from credence.problems import InputError
    from credence.stages.reading import as_calibrated, read_set, with_places
    from credence.tables.calibration_file import require_match

    known = next(iter(files.values()))
    as_known = as_calibrated(stated, known.class_names, known.scale)
    samples = read_set(tables, replace(as_known, class_names=stated.class_names))
    samples = with_places(samples, novelty)
    problems: list[Problem] = []
    for file in files.values():
        try:
            require_match(file, samples.predictions, tables[0])
        except InputError as error:
            problems += error.problems
    if problems:
        raise InputError(problems)
    return samples


def judged_set(
    samples: Samples, table: str, groups: str | None, clusters: str | None, weights: str
) -> CalibrationSet:
    """Return the proteins that judge, in the order of their ids."""
    from credence.stages.reading import calibration_set, in_order_of_ids

    used = calibration_set(samples, table, groups, clusters, weights)
    return replace(used, labelled=in_order_of_ids(used.labelled))


def facts_of(folds: int, min_positives: float) -> dict[str, float]:
    """Return the settings on which held-out confidences depend, beside the method's own."""
    return {"folds": folds, "min_positives": min_positives}


def read_held_out(
    paths: Sequence[str],
    files: Mapping[str, CalibrationFile],
    labelled: Labelled,
    folds: int,
    min_positives: float,
) -> dict[str, Stated]:
    """Return what methods say held out that were cross-fitted before, by method."""
    from credence.evaluation.judging import Stated
    from credence.problems import InputError, refuse
    from credence.tables.stage_files import read_held_out_file

    facts = facts_of(folds, min_positives)

    found: dict[str, Stated] = {}
    problems: list[Problem] = []
    for path in paths:
        try:
            method, confidence, vectors = read_held_out_file(Path(path), labelled, facts)
            if method not in files:
                raise refuse(
                    path,
                    f"{method!r} is not judged here.",
                    "Give its calibration too, or leave it out.",
                )
            if method in found:
                raise refuse(path, f"{method!r} was given already.", "Give each method once.")
            found[method] = Stated(confidence, vectors)
        except InputError as error:
            problems += error.problems
    if problems:
        raise InputError(problems)
    return found


def sets_finding(
    labelled: Labelled, file: CalibrationFile, folds: int, level: float, draws: int
) -> SetsFinding | None:
    """Return how good the sets of a calibration are on families held out, where it has some."""
    from credence.sets.coverage import judge_sets

    if file.sets is None or labelled.predictions.scores is None:
        return None
    return judge_sets(labelled, file.sets.options, folds, level, draws)
