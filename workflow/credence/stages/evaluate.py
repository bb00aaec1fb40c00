"""The stage `evaluate`: methods judged in sample and held out."""

import platform
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.metadata import version
from itertools import starmap
from pathlib import Path
from typing import Any, Literal

from credence import __version__, findings
from credence.calibrators.all_methods import BY_NAME
from credence.calibrators.auto import AutoCalibration
from credence.calibrators.method_spec import parse_method
from credence.composition.shifted_rows import row_counts, shifted_rows
from credence.evaluation.evaluate import evaluate, metric_columns
from credence.evaluation.judging import EvaluationOptions, Stated
from credence.lists.thresholds import find_thresholds
from credence.predictions import Labelled
from credence.problems import Problem, gathering, nearest, plural, raise_any, refuse
from credence.progress import echo
from credence.releases.files import read_attach_summary
from credence.sets.conformal import judge_sets
from credence.settings import setting_rules
from credence.stages.check import read_summary
from credence.stages.fit import fit_options
from credence.stages.lists import threshold_columns, wanted_of
from credence.stages.novelty import bands_of
from credence.stages.reading import (
    LabelledFiles,
    in_order_of_ids,
    require_fitted_on,
    require_other,
)
from credence.stages.settings import Settings
from credence.tables import stage_files
from credence.tables.writing import check_table_ending, write_record, write_table

LIBRARIES = ("numpy", "scipy", "pandas", "scikit-learn", "snakemake", "matplotlib")
GIVE_EACH_ONCE = "Give each method once."


def evaluate_files(
    given: LabelledFiles,
    out: str,
    settings: Settings,
    calibrations: Sequence[str],
    held_out: Sequence[str],
    chosen: str | None,
    summary: str | None,
    attached: Sequence[str],
    resample: Literal["cluster", "row"],
    metrics: str | None,
    thresholds: str | None,
) -> None:
    """Open labelled tables and calibrations, judge these, and write what was found."""
    inputs = [*given.files, *calibrations, *held_out, summary, *attached]
    require_other((out, metrics, thresholds), inputs)
    if metrics is not None:
        check_table_ending(Path(metrics))
    files = _read_calibrations(calibrations)
    reference = _chosen(chosen, files)
    known = given.open(next(iter(files.values())))
    judged = known.calibrating(settings.calibration.weights)
    _require_all_fitted_on(judged.labelled, known.where, calibrations, files)
    labelled = in_order_of_ids(judged.labelled)
    stated = _read_held_out(held_out, labelled, files, settings)
    base = () if summary is None else read_summary(Path(summary)).inputs
    added = (entry for path in attached for entry in read_attach_summary(Path(path)).inputs)
    result = judge_calibrations(labelled, files, settings, reference, stated, resample)
    result = replace(
        result,
        provenance=replace(result.provenance, inputs=(*base, *added)),
        notices=tuple(starmap(_set_aside, judged.set_aside.items())),
    )
    if known.where_known is not None:
        names = labelled.predictions.class_names
        bands = bands_of(known.where_known, files[reference].held_out, names)
        result = replace(result, by_identity=bands)
    write_record(Path(out), result)
    if metrics is not None:
        write_table(Path(metrics), metric_columns(result.results))
    if thresholds is not None and result.thresholds is not None:
        columns = threshold_columns(result.thresholds)
        write_table(Path(thresholds), columns, spreadsheet_safe=True, in_six_decimals=True)
    n_folds = settings.evaluation.folds
    echo(f"Wrote {out}: {plural(len(files), 'method')}, {n_folds} folds.")


def judge_calibrations(
    labelled: Labelled,
    files: Mapping[str, stage_files.CalibrationFile],
    settings: Settings,
    chosen: str,
    held_out: Mapping[str, Stated] | None = None,
    resample: Literal["cluster", "row"] = "cluster",
) -> findings.Findings:
    """Return how good calibrations are, fitted again without each fold if not in `held_out`."""
    level, draws = settings.calibration.level, settings.calibration.draws
    folds = settings.evaluation.folds
    quick = replace(fit_options(settings.calibration), n_draws=0)
    evaluation = evaluate(
        labelled,
        {name: parse_method(name, "--calibration").build(quick) for name in files},
        EvaluationOptions(n_folds=folds, level=level, n_draws=draws, resample=resample),
        {name: file.calibration for name, file in files.items()},
        reference=chosen,
        held_out=held_out,
    )
    sets = files[chosen].sets
    if labelled.predictions.scores is None:
        sets = None
    versions = {"Python": platform.python_version()} | {name: version(name) for name in LIBRARIES}
    libraries = tuple(findings.Setting(name=name, value=value) for name, value in versions.items())
    return findings.Findings(
        provenance=findings.Provenance(
            run="", title="", credence_version=__version__, versions=libraries
        ),
        methods=tuple(map(_method_finding, files)),
        chosen=chosen,
        results=evaluation.results,
        rows=shifted_rows(row_counts(labelled.predictions, labelled.true_class)),
        stacks=tuple(
            _stack_finding(name, file.calibration)
            for name, file in files.items()
            if isinstance(file.calibration, AutoCalibration)
        ),
        sets=judge_sets(labelled, sets.options, folds, level, draws) if sets else None,
        thresholds=find_thresholds(labelled, files[chosen].held_out, wanted_of(settings)),
        tools=combined.finding if (combined := files[chosen].tools) is not None else None,
    )


def _read_calibrations(paths: Sequence[str]) -> dict[str, stage_files.CalibrationFile]:
    files: dict[str, stage_files.CalibrationFile] = {}
    problems: list[Problem] = []
    for path in paths:
        with gathering(problems):
            file = stage_files.read_calibration(Path(path))
            if file.method_spec in files:
                raise refuse(path, f"{file.method_spec!r} was given already.", GIVE_EACH_ONCE)
            files[file.method_spec] = file
    raise_any(problems)
    return files


def _chosen(name: str | None, files: Mapping[str, stage_files.CalibrationFile]) -> str:
    """Return the method of the published confidences; the first unless named."""
    if name is None:
        return next(iter(files))
    text = parse_method(name, "--chosen").text
    if text not in files:
        raise refuse("--chosen", f"{text!r} is not among them.", nearest(text, list(files)))
    return text


def _require_all_fitted_on(
    labelled: Labelled,
    where: str,
    calibrations: Sequence[str],
    files: Mapping[str, stage_files.CalibrationFile],
) -> None:
    """Refuse calibrations of another table."""
    problems: list[Problem] = []
    for path, file in zip(calibrations, files.values(), strict=True):
        with gathering(problems):
            require_fitted_on(file, labelled, where, path, clusters=False)
    raise_any(problems)


def _read_held_out(
    paths: Sequence[str],
    labelled: Labelled,
    files: Mapping[str, stage_files.CalibrationFile],
    settings: Settings,
) -> dict[str, Stated]:
    """Return the held-out confidences of some methods, which need no folds then."""
    # Beside the method's own settings they depend on these.
    facts = {
        "folds": settings.evaluation.folds,
        "min_positives": settings.calibration.min_positives,
    }
    stated: dict[str, Stated] = {}
    problems: list[Problem] = []
    for path in paths:
        with gathering(problems):
            file = stage_files.read_held_out_file(Path(path), labelled, facts, files)
            if parse_method(file.method, path).gives_vector:
                fault = f"it lacks the probability of every class, which {file.method!r} gives."
                raise refuse(path, fault, "Leave it out.")
            if file.method in stated:
                raise refuse(path, f"{file.method!r} was given already.", GIVE_EACH_ONCE)
            stated[file.method] = Stated(confidence=file.confidence)
    raise_any(problems)
    return stated


def _method_finding(name: str) -> findings.MethodFinding:
    specification = parse_method(name, "--calibration")
    stages = specification.stages
    settings, prose = [], []
    for stage in stages:
        for key, (_, rule) in setting_rules(stage.method.settings).items():
            value = getattr(stage.settings, key)
            name = key if len(stages) == 1 else f"{stage.method.name}.{key}"
            settings.append(findings.Setting(name=name, value=str(value)))
            text = rule.text.rstrip(".")
            prose.append(f"{_in_words(key, value)} ({text[:1].lower()}{text[1:]})")
    return findings.MethodFinding(
        name=specification.text,
        summary=" Then: ".join(stage.method.summary for stage in stages),
        reference="; ".join(stage.method.reference for stage in stages),
        settings=tuple(settings),
        prose=", ".join(prose),
    )


def _in_words(key: str, value: Any) -> str:
    name = key.replace("_", " ")
    if value is None or isinstance(value, bool):
        return name if value else f"no {name}"
    return f"{name} {value:g}" if isinstance(value, float) else f"{name} {value}"


def _stack_finding(name: str, calibration: AutoCalibration) -> findings.StackFinding:
    *members, whole = calibration.judged
    full, score_only = calibration.full, calibration.score_only or calibration.full
    pooled = dict(zip(full.members, full.pooled.tolist(), strict=True))
    return findings.StackFinding(
        method=name,
        n=calibration.n,
        n_clusters=calibration.n_clusters,
        held_out_nll=whole.held_out_nll,
        members=tuple(
            findings.StackMember(
                method=member.method,
                held_out_nll=member.held_out_nll,
                weight=pooled.get(member.method, 0.0),
                reference=BY_NAME[member.method].reference,
            )
            for member in members
        ),
        score_only=dict(zip(score_only.members, score_only.pooled.tolist(), strict=True)),
        skipped=tuple(
            findings.SkippedCandidate(method=method, reason=reason)
            for method, reason in calibration.skipped.items()
        ),
    )


def _set_aside(reason: str, count: int) -> findings.Notice:
    of_set = f"{plural(count, 'protein')} of the calibration set {'is' if count == 1 else 'are'}"
    return findings.Notice(kind="set aside", text=f"{of_set} not used: {reason}.")
