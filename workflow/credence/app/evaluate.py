"""``credence evaluate``: methods judged in sample and held out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from credence.app.shared import fit_options, out_option, set_options, table_options

LIBRARIES = ("numpy", "scipy", "pandas", "scikit-learn", "snakemake", "matplotlib")

if TYPE_CHECKING:
    from credence.calibrators.auto import AutoCalibration
    from credence.findings import InputFile, MethodChoices, MethodFinding, Notice, Setting
    from credence.tables.calibration_file import CalibrationFile


@click.command(
    epilog="Example: credence evaluate demo/calibration.csv --format phanns-labelled "
    "--calibration c.json --metrics metrics.tsv --out findings.json"
)
@click.argument("tables", nargs=-1, required=True, metavar="TABLE...")
@table_options
@click.option(
    "--calibration",
    "calibrations",
    multiple=True,
    required=True,
    help="What credence fit wrote from this table; once for each method.",
)
@set_options
@click.option(
    "--held-out",
    multiple=True,
    help="What credence crossfit wrote of one of the methods; other methods are fitted here.",
)
@click.option(
    "--novelty", help="What credence novelty wrote, for methods that ask where proteins lie."
)
@click.option("--chosen", help="Method of the published confidences; else the first.")
@click.option(
    "--folds",
    type=click.IntRange(2),
    default=10,
    show_default=True,
    help="Parts of whole clusters that are left out in turn.",
)
@click.option("--check", "summary", help="What credence check wrote of this table.")
@click.option("--attached", multiple=True, help="attach.json of a trove in it; each once.")
@click.option(
    "--resample",
    type=click.Choice(["cluster", "row"]),
    default="cluster",
    show_default=True,
    help="What intervals of metrics draw; row takes relatives for independent, to show how "
    "wrong that is.",
)
@fit_options
@click.option("--metrics", help="Also write the metrics as a table.")
@out_option("The findings, a JSON file; credence report makes a page of it.")
def command(
    tables: tuple[str, ...],
    format_: str | None,
    spec_json: str,
    calibrations: tuple[str, ...],
    groups: str | None,
    clusters: str | None,
    weights: str,
    held_out: tuple[str, ...],
    novelty: str | None,
    chosen: str | None,
    folds: int,
    summary: str | None,
    attached: tuple[str, ...],
    resample: Literal["cluster", "row"],
    min_positives: float,
    level: float,
    draws: int,
    metrics: str | None,
    out: str,
) -> None:
    """Judge methods on proteins that did not fit them.

    Each method is fitted again without one fold of whole clusters after the
    other; the numbers called held-out are of proteins left out.
    """
    from credence import __version__
    from credence.calibrators.method_spec import parse_method
    from credence.calibrators.protocol import FitOptions
    from credence.composition.what_if import what_if_of
    from credence.evaluation import EvaluationOptions, evaluate
    from credence.evaluation.evaluate import metric_columns
    from credence.evaluation.notices import plural
    from credence.findings import Findings, Provenance
    from credence.stages.evaluate import (
        judged_set,
        read_calibrations,
        read_held_out,
        samples_of,
        sets_finding,
    )
    from credence.stages.reading import json_settings, require_other, table_spec
    from credence.tables.writing import check_table_ending, write_json, write_table

    inputs = [*tables, *calibrations, *held_out, groups, clusters, novelty, summary]
    for written in filter(None, (out, metrics)):
        require_other(written, inputs)
    if metrics is not None:
        check_table_ending(Path(metrics))
    files = read_calibrations(calibrations)
    chosen = _chosen(chosen, files)
    stated = table_spec(tables, format_, json_settings(spec_json, "--spec"))
    samples = samples_of(tables, stated, files, novelty)
    used = judged_set(samples, tables[0], groups, clusters, weights)
    before = read_held_out(held_out, files, used.labelled, folds, min_positives)
    quick = FitOptions(min_positives, level, 0)
    evaluation = evaluate(
        used.labelled,
        {name: parse_method(name, "--calibration").build(quick) for name in files},
        EvaluationOptions(folds, level, draws, resample),
        {name: file.calibration for name, file in files.items()},
        reference=chosen,
        held_out=before,
    )
    findings = Findings(
        provenance=Provenance(
            run="",
            title="",
            credence_version=__version__,
            inputs=_inputs(summary, attached),
            versions=_versions(),
        ),
        methods=tuple(_method_finding(name) for name in files),
        chosen=chosen,
        results=evaluation.results,
        notices=_set_aside(used.set_aside),
        choices=_all_choices(files),
        what_if=what_if_of(
            used.labelled,
            parse_method(chosen, "--chosen"),
            files[chosen].calibration,
            quick,
        ),
        sets=sets_finding(used.labelled, files[chosen], folds, level, draws),
    )
    write_json(Path(out), findings.to_record())
    if metrics is not None:
        write_table(Path(metrics), metric_columns(evaluation.results))
    click.echo(f"Wrote {out}: {plural(len(files), 'method')}, {folds} folds.", err=True)


def _chosen(name: str | None, files: Mapping[str, Any]) -> str:
    from credence.calibrators.method_spec import parse_method
    from credence.problems import nearest, refuse

    if name is None:
        return next(iter(files))
    text = parse_method(name, "--chosen").text
    if text not in files:
        raise refuse("--chosen", f"{text!r} is not among them.", nearest(text, list(files)))
    return text


def _method_finding(name: str) -> MethodFinding:
    from credence.calibrators.method_spec import TwoSteps, parse_method
    from credence.findings import MethodFinding, Setting
    from credence.settings import setting_rules

    specification = parse_method(name, "--calibration")
    stages = specification.stages if isinstance(specification, TwoSteps) else (specification,)
    settings = tuple(
        Setting(
            key if len(stages) == 1 else f"{stage.method.name}.{key}",
            str(getattr(stage.settings, key)),
        )
        for stage in stages
        for key in setting_rules(stage.method.settings)
    )
    return MethodFinding(
        name=specification.text,
        summary=" Then: ".join(stage.method.summary for stage in stages),
        reference="; ".join(stage.method.reference for stage in stages),
        settings=settings,
    )


def _all_choices(files: Mapping[str, CalibrationFile]) -> tuple[MethodChoices, ...]:
    from credence.calibrators.auto import AutoCalibration

    return tuple(
        _choices(name, file.calibration)
        for name, file in files.items()
        if isinstance(file.calibration, AutoCalibration)
    )


def _choices(name: str, calibration: AutoCalibration) -> MethodChoices:
    from credence.findings import ChoiceTrial, ClassChoice, MethodChoices, SkippedCandidate

    return MethodChoices(
        name,
        tuple(
            ClassChoice(
                choice.class_name,
                choice.chosen,
                choice.rivals,
                choice.n,
                choice.n_clusters,
                tuple(
                    ChoiceTrial(
                        trial.method, trial.held_out_nll, trial.difference, trial.standard_error
                    )
                    for trial in choice.trials
                ),
            )
            for choice in calibration.choices
        ),
        tuple(SkippedCandidate(*entry) for entry in calibration.skipped.items()),
    )


def _versions() -> tuple[Setting, ...]:
    """Return the versions of Python and of the libraries that compute."""
    import platform
    from importlib.metadata import version

    from credence.findings import Setting

    libraries = tuple(Setting(name, version(name)) for name in LIBRARIES)
    return (Setting("Python", platform.python_version()), *libraries)


def _inputs(summary: str | None, attached: Sequence[str]) -> tuple[InputFile, ...]:
    from credence.releases.trove_tables import read_attach_summary
    from credence.stages.check import read_summary

    base = () if summary is None else read_summary(Path(summary)).inputs
    return (
        *base,
        *(entry for path in attached for entry in read_attach_summary(Path(path)).inputs),
    )


def _set_aside(reasons: Mapping[str, int]) -> tuple[Notice, ...]:
    from credence.findings import Notice

    return tuple(
        Notice(
            "set aside",
            f"{count} protein{'' if count == 1 else 's'} of the calibration set "
            f"{'is' if count == 1 else 'are'} not used: {reason}.",
        )
        for reason, count in reasons.items()
    )
