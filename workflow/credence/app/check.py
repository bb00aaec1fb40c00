"""``credence check``: everything that is wrong with a configuration or tables."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from credence.app.shared import match_option, table_options

if TYPE_CHECKING:
    from credence.app.configuration import Configuration
    from credence.predictions import Predictions
    from credence.problems import Problem
    from credence.stages.check import Summary

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
    from credence.stages.check import count_checked, read_checked, summarise, write_summary
    from credence.stages.reading import json_settings, require_other, table_spec
    from credence.tables.census import census_of
    from credence.tables.samples import write_samples

    if samples_out is None and out is None and format_ is None and spec_json == "{}":
        propose(targets[0])
    for written in filter(None, (samples_out, out)):
        require_other(written, [*targets, proteins])
    spec = table_spec(targets, format_, json_settings(spec_json, "--spec"))
    labels = json_settings(labels_json, "--labels") or None
    if samples_out is None and labels is None and not labelled:
        census, inputs = count_checked(targets, spec, proteins, match)
    else:
        samples, inputs = read_checked(targets, spec, labels, proteins, match, labelled)
        census = census_of(samples)
        if samples_out is not None:
            write_samples(Path(samples_out), samples)
    summary = summarise(census, inputs)
    if out is not None:
        write_summary(Path(out), summary)
    else:
        click.echo(description(summary))
    for notice in census.notices():
        click.echo(f"{targets[0]}: {notice}.", err=True)


def propose(table: str) -> None:
    """Print the formats that fit a table, with reasons, where it is not one."""
    from credence.tables.propose import propose_formats

    proposals = propose_formats(Path(table))
    for proposal in proposals if len(proposals) > 1 else ():
        click.echo(f"{table} may be {proposal.format}: {proposal.reason}", err=True)


def check_configuration(path: str) -> None:
    """Check a configuration and every file it names; tell all at once."""
    from credence.app import configuration
    from credence.app.configuration.settings import class_problems, event_class_problems
    from credence.problems import InputError
    from credence.stages.check import count_checked, read_checked, summarise
    from credence.stages.reading import as_calibrated, table_spec
    from credence.stages.troves import file_problems
    from credence.tables.census import census_of

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
            is_known = entry is settings.calibration_set
            if is_known or entry.labels is not None:
                samples, inputs = read_checked(
                    entry.scores, spec, entry.labels, entry.proteins, entry.match, is_known
                )
                census = census_of(samples)
            else:
                # A protein that its FASTA file lacks has no novelty, and is told with a note.
                census, inputs = count_checked(entry.scores, spec, None, entry.match)
            lines.append(f"{entry.name}: {description(summarise(census, inputs))}")
            lines += [f"{entry.scores[0]}: {notice}." for notice in census.notices()]
            if is_known:
                known = samples.predictions
                document = configuration.read_document(Path(path), path)
                problems += class_problems(document, known.class_names)
                problems += event_class_problems(document, known.class_names)
        except InputError as error:
            problems += error.problems
    if known is not None:
        for trove in settings.troves:
            problems += file_problems(trove, known)
    problems += _further_problems(settings)
    if problems:
        raise InputError(problems)
    click.echo("\n".join([*lines, f"{path}: no problems."]))


def _further_problems(settings: Configuration) -> list[Problem]:
    """Return what is wrong with the files that are read beside the tables."""
    from credence.problems import InputError
    from credence.stages.reading import read_proteins
    from credence.tables.contract import read_clusters
    from credence.tables.npz import read_vectors

    problems: list[Problem] = []
    readers: list[tuple[Callable[[str], object], str | None]] = [
        (
            lambda name: read_proteins(name, settings.calibration_set.match),
            settings.training_proteins,
        ),
        (lambda name: read_clusters(Path(name)), settings.cluster_table),
        (lambda name: read_vectors(Path(name)), settings.novelty_vectors),
        *(
            (partial(read_proteins, match=entry.match), entry.proteins)
            for entry in settings.use_sets
        ),
    ]
    for reader, file in readers:
        try:
            if file is not None:
                reader(file)
        except InputError as error:
            problems += error.problems
    return problems


def _is_simulated(settings: Configuration) -> bool:
    """Return whether the simulated inputs are there already."""
    from credence.app.configuration import DEMO_FILES

    return all(Path(name).exists() for name in DEMO_FILES)


def description(summary: Summary) -> str:
    """Return what a set holds, in one line."""
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
