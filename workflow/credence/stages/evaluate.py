"""The stage `evaluate`: methods judged in sample and held out."""

import platform
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.metadata import version
from itertools import starmap
from pathlib import Path
from typing import Any, Literal

import numpy as np

from credence import __version__, findings
from credence.calibrators.all_methods import BY_NAME
from credence.calibrators.auto import AutoCalibration
from credence.calibrators.method_spec import parse_method
from credence.composition.shifted_rows import row_counts, shifted_rows
from credence.evaluation.calls import ONE_CURVE, Missed, judge_calls, one_curve
from credence.evaluation.evaluate import evaluate, judge_finished, metric_columns
from credence.evaluation.judging import EvaluationOptions, Stated
from credence.lists.thresholds import find_thresholds
from credence.predictions import Labelled
from credence.problems import Problem, gathering, nearest, plural, raise_any, refuse
from credence.progress import echo
from credence.relatives.pack import CALIBRATION, TEST
from credence.releases.files import AttachSummary, read_attach_summary
from credence.sets.conformal import judge_finished_sets, judge_sets
from credence.settings import setting_rules
from credence.stages.check import read_summary
from credence.stages.fit import fit_options
from credence.stages.lists import threshold_columns, wanted_of
from credence.stages.novelty import bands_of
from credence.stages.reading import (
    CalibrationSet,
    LabelledFiles,
    LabelledTables,
    in_order_of_ids,
    new_to,
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
    calibrating = _calibrating(known, calibrations, files, settings)
    test_set = None
    if calibrating is None or known.has_test_group:
        test_set = judge_new(known, files, settings, reference, resample)
    if calibrating is None:
        for option, value in (("--held-out", held_out), ("--thresholds", thresholds)):
            if value:
                fault = f"{known.where} is not the table that the calibration was fitted on."
                raise refuse(option, fault, f"Leave {option} out.")
        assert test_set is not None
        result = findings_of_test_set(test_set, files, reference)
    else:
        labelled = in_order_of_ids(calibrating.labelled)
        stated = _read_held_out(held_out, labelled, files, settings)
        missed = _missed(known, labelled) if known.samples.is_of_calls else None
        result = judge_calibrations(labelled, files, settings, reference, stated, resample, missed)
        notices = tuple(starmap(_set_aside, calibrating.set_aside.items()))
        result = replace(result, notices=notices, test_set=test_set)
        if known.where_known is not None:
            names = labelled.predictions.class_names
            bands = bands_of(known.where_known, files[reference].held_out, names)
            result = replace(result, by_identity=bands)
    base = () if summary is None else read_summary(Path(summary)).inputs
    troves = [read_attach_summary(Path(path)) for path in attached]
    added = (entry for trove in troves for entry in trove.inputs)
    result = replace(
        result,
        provenance=replace(result.provenance, inputs=(*base, *added)),
        joined=_joined(troves) if troves else None,
    )
    write_record(Path(out), result)
    if metrics is not None:
        further = () if result.test_set is None else (result.test_set.results,)
        write_table(Path(metrics), metric_columns(result.results, *further))
    if thresholds is not None and result.thresholds is not None:
        columns = threshold_columns(result.thresholds)
        write_table(Path(thresholds), columns, spreadsheet_safe=True, in_six_decimals=True)
    for notice in () if test_set is None else test_set.notices:
        echo(f"{known.where}: {notice.text}")
    how = "" if calibrating is None else f", {settings.evaluation.folds} folds"
    echo(f"Wrote {out}: {plural(len(files), 'method')}{how}.")


def _missed(known: LabelledTables, labelled: Labelled) -> Missed:
    """Return the true labels without a call of the proteins that are judged."""
    ids, class_ = known.samples.missed_ids, known.samples.missed_class
    cluster_of = dict(
        zip(labelled.predictions.ids.tolist(), labelled.cluster.tolist(), strict=True)
    )
    rows = np.array([name in cluster_of for name in ids.tolist()], dtype=np.bool_)
    clusters = [cluster_of[name] for name in ids[rows].tolist()]
    return Missed(ids=ids[rows], class_=class_[rows], cluster=np.array(clusters, dtype=object))


def _calibrating(
    known: LabelledTables,
    calibrations: Sequence[str],
    files: Mapping[str, stage_files.CalibrationFile],
    settings: Settings,
) -> CalibrationSet | None:
    """Return the proteins that all calibrations were fitted on; None where the set is new to all.

    One that some were fitted on, or of which all proteins calibrated, is refused.
    """
    if known.has_test_group and not known.has_role(CALIBRATION):
        return None
    chosen = known.calibrating(settings.calibration.weights)
    problems: list[Problem] = []
    n_unlike = 0
    for path, file in zip(calibrations, files.values(), strict=True):
        before = len(problems)
        with gathering(problems):
            require_fitted_on(file, chosen.labelled, known.where, path, clusters=False)
        n_unlike += len(problems) > before
    is_all_known = all(
        file.known is not None
        and (file.known.notes(chosen.labelled.predictions.ids, {}) > 0).all()
        for file in files.values()
    )
    if 0 < n_unlike < len(files) or is_all_known:
        raise_any(problems)
    return None if n_unlike else chosen


def judge_new(
    known: LabelledTables,
    files: Mapping[str, stage_files.CalibrationFile],
    settings: Settings,
    chosen: str,
    resample: Literal["cluster", "row"] = "cluster",
) -> findings.TestSet:
    """Return how good finished calibrations are on the proteins of a set that they never saw.

    Those are the ones of the role test, where the set has some.
    """
    role = TEST if known.has_test_group else CALIBRATION
    judged = known.calibrating(settings.calibration.weights, role).labelled
    for file in files.values():
        stage_files.require_match(file, judged.predictions, known.where)
    labelled, notices = new_to(judged, files.values(), known.where)
    labelled = in_order_of_ids(labelled)
    level, draws = settings.calibration.level, settings.calibration.resamples
    results = judge_finished(
        labelled,
        {name: file.calibration for name, file in files.items()},
        _options(settings, resample),
        chosen,
    )
    text = (
        f"Judged as a test set: {results.evidence} that the "
        "finished calibration never saw. Confidences are not corrected for the class proportions "
        "of this set."
    )
    sets = files[chosen].sets
    has_sets = sets is not None and labelled.predictions.scores is not None
    return findings.TestSet(
        results=results,
        sets=judge_finished_sets(labelled, sets, level, draws) if has_sets and sets else None,
        notices=(findings.Notice(kind="test set", text=text), *notices),
    )


def findings_of_test_set(
    test_set: findings.TestSet, files: Mapping[str, stage_files.CalibrationFile], chosen: str
) -> findings.Findings:
    """Return the findings of a test set by itself."""
    return findings.Findings(
        provenance=_provenance(),
        methods=tuple(map(_method_finding, files)),
        chosen=chosen,
        results=test_set.results,
        sets=test_set.sets,
        notices=test_set.notices,
    )


def _joined(troves: Sequence[AttachSummary]) -> findings.JoinedAudit:
    """Return whether proteins of any trove have relatives in other groups."""
    audits = [trove.audit for trove in troves]
    return findings.JoinedAudit(
        n=sum(audit.n for audit in audits),
        n_examined=sum(audit.n_examined for audit in audits),
        n_crossing=sum(audit.n_crossing for audit in audits),
    )


def _options(settings: Settings, resample: Literal["cluster", "row"]) -> EvaluationOptions:
    judged = settings.evaluation
    return EvaluationOptions(
        n_folds=judged.folds,
        level=settings.calibration.level,
        n_draws=settings.calibration.resamples,
        resample=resample,
        n_bins=judged.bins,
        equal_counts=judged.bin_kind == "equal_counts",
        one_sided=judged.spiegelhalter == "too_extreme",
    )


def judge_calibrations(
    labelled: Labelled,
    files: Mapping[str, stage_files.CalibrationFile],
    settings: Settings,
    chosen: str,
    held_out: Mapping[str, Stated] | None = None,
    resample: Literal["cluster", "row"] = "cluster",
    missed: Missed | None = None,
) -> findings.Findings:
    """Return how good calibrations are, fitted again without each fold if not in `held_out`."""
    level, draws = settings.calibration.level, settings.calibration.resamples
    quick = replace(fit_options(settings.calibration), n_draws=0)
    evaluation = evaluate(
        labelled,
        {name: parse_method(name, "--calibration").build(quick) for name in files},
        _options(settings, resample),
        {name: file.calibration for name, file in files.items()},
        reference=chosen,
        held_out=held_out,
    )
    sets = files[chosen].sets
    if labelled.predictions.scores is None:
        sets = None
    of_calls = n_missed = None
    if missed is not None:
        n_missed = np.bincount(missed.class_, minlength=len(labelled.predictions.class_names))
        platt = parse_method("platt", "--calibration").build(quick)
        alone = one_curve(labelled, platt, settings.evaluation.folds)
        every = {**evaluation.held_out, ONE_CURVE: alone}
        of_calls = judge_calls(labelled, missed, every, chosen, level, draws)
    return findings.Findings(
        provenance=_provenance(),
        methods=tuple(map(_method_finding, files)),
        chosen=chosen,
        results=evaluation.results,
        calls=of_calls,
        rows=None
        if missed is not None
        else shifted_rows(row_counts(labelled.predictions, labelled.true_class)),
        stacks=tuple(
            _stack_finding(name, file.calibration)
            for name, file in files.items()
            if isinstance(file.calibration, AutoCalibration)
        ),
        sets=judge_sets(labelled, sets.options, settings.evaluation.folds, level, draws)
        if sets
        else None,
        thresholds=find_thresholds(
            labelled, files[chosen].held_out, wanted_of(settings), n_missed
        ),
        tools=combined.finding if (combined := files[chosen].tools) is not None else None,
    )


def _provenance() -> findings.Provenance:
    """Return what made the findings."""
    versions = {"Python": platform.python_version()} | {name: version(name) for name in LIBRARIES}
    libraries = tuple(findings.Setting(name=name, value=value) for name, value in versions.items())
    return findings.Provenance(run="", title="", credence_version=__version__, versions=libraries)


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
