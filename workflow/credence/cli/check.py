"""``credence check``: everything that is wrong with a configuration or tables."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from credence.cli.shared import match_option, table_options

if TYPE_CHECKING:
    from credence.cli.summaries import Summary
    from credence.configuration import Configuration
    from credence.predictions import Predictions
    from credence.problems import Problem
    from credence.tables.samples import Samples

CONFIGURATION_ENDINGS = (".yaml", ".yml")


@click.command(epilog="Example: credence check demo/calibration.csv --format phanns-labelled")
@click.argument("targets", nargs=-1, required=True, metavar="CONFIG|TABLE...")
@table_options
@click.option("--labelled", is_flag=True, help="Demand a true class for every protein.")
@click.option("--labels", "labels_json", default="null", help="Where the labels are, as JSON.")
@click.option("--proteins", help="FASTA file of the same proteins; every mismatch is listed.")
@match_option
@click.option(
    "--samples", "samples_out", help="Also write the checked table, in one form for all."
)
@click.option("--out", help="Also write what was found, as JSON.")
def command(
    targets: tuple[str, ...],
    format_: str | None,
    spec_json: str,
    labelled: bool,
    labels_json: str,
    proteins: str | None,
    match: str,
    samples_out: str | None,
    out: str | None,
) -> None:
    """Say everything that is wrong with a configuration, or with tables.

    Of a configuration, all that it names is read: tables, labels, proteins.
    Of a table whose format is not stated, the formats that fit are proposed.
    """
    if len(targets) == 1 and targets[0].endswith(CONFIGURATION_ENDINGS):
        check_configuration(targets[0])
        return
    from credence.cli.summaries import summarise, write_summary
    from credence.cli.tables import table_spec
    from credence.cli.values import json_settings, require_other
    from credence.tables.samples import write_samples

    if samples_out is None and out is None and format_ is None and spec_json == "{}":
        propose(targets[0])
    for written in filter(None, (samples_out, out)):
        require_other(written, [*targets, proteins])
    spec = table_spec(targets, format_, json_settings(spec_json, "--spec"))
    labels = json_settings(labels_json, "--labels") or None
    samples, summary_inputs = read_checked(targets, spec, labels, proteins, match, labelled)
    summary = summarise(samples, summary_inputs)
    if samples_out is not None:
        write_samples(Path(samples_out), samples)
    if out is not None:
        write_summary(Path(out), summary)
    else:
        click.echo(description(summary))
    for notice in samples.notices():
        click.echo(f"{targets[0]}: {notice}.", err=True)


def propose(table: str) -> None:
    """Print the formats that fit a table, with reasons, where it is not one.

    Parameters
    ----------
    table : str
        A score table.
    """
    from credence.tables.formats.registry import propose_formats

    proposals = propose_formats(Path(table))
    for proposal in proposals if len(proposals) > 1 else ():
        click.echo(f"{table} may be {proposal.format}: {proposal.reason}", err=True)


def read_checked(
    tables: tuple[str, ...],
    spec: Any,
    labels: Mapping[str, Any] | None,
    proteins: str | None,
    match: str,
    labelled: bool,
) -> tuple[Samples, tuple[Any, ...]]:
    """Return the samples of a set and the files read, or raise all problems.

    Parameters
    ----------
    tables : tuple of str
        Score tables.
    spec : TableSpec
        How they are read.
    labels : mapping, optional
        Where the true classes are, when not in the tables.
    proteins : str, optional
        FASTA file of the same proteins.
    match : str
        How ids meet its headers.
    labelled : bool
        Whether every protein has to have a true class.
    """
    import numpy as np

    from credence.cli.labels import with_labels
    from credence.cli.proteins import read_proteins
    from credence.cli.tables import read_set, require_labels
    from credence.findings import InputFile
    from credence.problems import InputError
    from credence.tables.digests import sha256_of
    from credence.tables.fasta import match_ids

    problems: list[Problem] = []
    samples = fasta = None
    try:
        samples = read_set(tables, spec)
    except InputError as error:
        problems += error.problems
    if proteins is not None:
        try:
            fasta = read_proteins(proteins, match)
        except InputError as error:
            problems += error.problems
    if samples is not None:
        if proteins is not None and fasta is not None:
            try:
                match_ids(
                    np.concatenate([samples.predictions.ids, samples.unscored_ids]),
                    fasta,
                    "full" if match == "full" else "first_word",
                    table=tables[0],
                    proteins=proteins,
                    table_lines=np.concatenate([samples.lines, samples.unscored_lines]),
                )
            except InputError as error:
                problems += error.problems
        try:
            if labels is not None:
                samples = with_labels(samples, tables[0], labels, proteins, match, spec)
            if labelled:
                require_labels(samples, tables[0])
        except InputError as error:
            problems += error.problems
    if problems:
        raise InputError(problems)
    assert samples is not None
    inputs = [InputFile("scores", path, sha256_of(Path(path))) for path in tables]
    if len(tables) == 1:
        inputs = [InputFile("scores", tables[0], inputs[0].sha256, samples.predictions.n_samples)]
    if proteins is not None and fasta is not None:
        inputs.append(InputFile("proteins", proteins, sha256_of(Path(proteins)), fasta.n_proteins))
    if labels is not None and labels.get("table") is not None:
        inputs.append(InputFile("labels", labels["table"], sha256_of(Path(labels["table"]))))
    return samples, tuple(inputs)


def check_configuration(path: str) -> None:
    """Check a configuration and every file it names; tell all at once.

    Parameters
    ----------
    path : str
        The configuration.
    """
    from credence import configuration
    from credence.cli.proteins import read_proteins
    from credence.cli.summaries import summarise
    from credence.cli.tables import as_calibrated, table_spec
    from credence.cli.trove_files import file_problems
    from credence.configuration.shift import class_problems
    from credence.problems import InputError
    from credence.tables.contract import read_clusters

    settings = configuration.load(path)
    if settings.has_demo and not _is_simulated(settings):
        click.echo(f"{path}: no problems; its inputs will be simulated.")
        return
    problems: list[Problem] = []
    lines = []
    known: Predictions | None = None
    for entry in (settings.calibration_set, *settings.use_sets):
        spec = table_spec(entry.scores, None, entry.spec)
        if known is not None:  # a use-set has to have the classes of the calibration set
            spec = as_calibrated(spec, known.class_names, known.scale)
        try:
            samples, inputs = read_checked(
                entry.scores,
                spec,
                entry.labels,
                entry.proteins,
                entry.match,
                labelled=entry is settings.calibration_set,
            )
            lines.append(f"{entry.name}: {description(summarise(samples, inputs))}")
            lines += [f"{entry.scores[0]}: {notice}." for notice in samples.notices()]
            if entry is settings.calibration_set:
                known = samples.predictions
                document = configuration.read_document(Path(path), path)
                problems += class_problems(document, known.class_names)
        except InputError as error:
            problems += error.problems
    if known is not None:
        for trove in settings.troves:
            problems += file_problems(trove, known)
    for reader, file in (
        (
            lambda name: read_proteins(name, settings.calibration_set.match),
            settings.training_proteins,
        ),
        (lambda name: read_clusters(Path(name)), settings.cluster_table),
    ):
        try:
            if file is not None:
                reader(file)
        except InputError as error:
            problems += error.problems
    if problems:
        raise InputError(problems)
    click.echo("\n".join([*lines, f"{path}: no problems."]))


def _is_simulated(settings: Configuration) -> bool:
    """Return whether the simulated inputs are there already."""
    from credence.configuration import DEMO_FILES

    return all(Path(name).exists() for name in DEMO_FILES)


def description(summary: Summary) -> str:
    """Return what a set holds, in one line.

    Parameters
    ----------
    summary : Summary
        Of the set.
    """
    words = [
        f"{summary.n_samples} proteins",
        *([f"{summary.n_unscored} more without scores"] if summary.n_unscored else []),
        f"{summary.n_classes} classes",
        f"scale {summary.scale:g}",
    ]
    if summary.n_networks:
        words.append(f"{summary.n_networks} networks")
    n_labelled = summary.n_samples - summary.n_unlabelled
    words.append(f"{n_labelled} labelled" if n_labelled else "no labels")
    if summary.n_ties:
        words.append(f"{summary.n_ties} tied")
    return ", ".join(words)
