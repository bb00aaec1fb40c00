"""``credence init``: a commented configuration for tables that are there."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import click

from credence.app.options import file_options

HEAD = """\
# Written by credence init after a look at the tables; every setting can be changed.
#   credence check {file}
#   credence run --config {file}
# Paths start where you run the command.

run: {run}  # name of the run: results/{run}/ and reports/{run}/
title: {run}  # heading of the page
simulated: false  # true: the page says so wherever it shows a number
"""
NO_TROVES = """\
troves: []  # new labelled proteins that join the set later: credence trove add NAME --scores …
"""
NO_USE_SETS = """\
use_sets: []  # tables that are to be given confidences:
#  - {name: mine, scores: mine.csv, format: phanns}
"""


@click.command(
    epilog="Example: credence init mylab --scores demo/calibration.csv "
    "--proteins demo/proteins.fasta --use demo/use.csv"
)
@click.argument("name")
@click.option("--scores", required=True, help="Score table of labelled proteins.")
@click.option("--format", "format_", help="Its format; proposed where it is not stated.")
@file_options(
    labels="Table of true classes (id, true_class), if not in the scores.",
    proteins="FASTA file of the same proteins.",
    training="FASTA file of the classifier's training set.",
)
@click.option("--use", multiple=True, help="A table to be given confidences; repeat it.")
@click.option("--out", help="The configuration; NAME.yaml unless given.")
def command(
    name: str,
    scores: str,
    format_: str | None,
    labels: str | None,
    proteins: str | None,
    training: str | None,
    use: tuple[str, ...],
    out: str | None,
) -> None:
    """Write a commented configuration, NAME.yaml, for your tables.

    It looks at the tables, states the formats that they fit, and checks what it
    has written before it writes it. It overwrites nothing.
    """
    from credence.app import configuration
    from credence.app.editing import inline, section_text
    from credence.problems import refuse
    from credence.stages.reading import proposed_format
    from credence.stages.settings import SECTIONS
    from credence.tables.writing import write_text

    path = Path(out or f"{name}.yaml")
    if path.exists():
        raise refuse(str(path), "this file is there already.", "Remove it, or choose --out.")
    schema = configuration.load_schema()
    labelled = {
        "scores": scores,
        "format": format_ or proposed_format(Path(scores)),
        "labels": None if labels is None else {"table": labels},
        "proteins": proteins,
    }
    parts = [
        HEAD.format(run=inline(name), file=path),
        section_text("calibration_set", schema, labelled),
        section_text("training", schema, {"proteins": training}),
        NO_TROVES,
        _use_sets(name, use),
        *(section_text(section, schema, {}) for section in SECTIONS),
    ]
    text = "\n".join(parts)
    configuration.loads(text, str(path))
    write_text(path, text)
    click.echo(f"Wrote {path}. Next: credence check {path}", err=True)


def _use_sets(name: str, tables: Sequence[str]) -> str:
    from credence.app.editing import inline
    from credence.stages.reading import proposed_format

    if not tables:
        return NO_USE_SETS
    lines = ["use_sets:  # tables that are to be given confidences"]
    for table in tables:
        title = _name_of(table, tables)
        lines += [
            f"  - name: {inline(title)}  # reports/{name}/{title}/confidences.tsv",
            f"    scores: {inline(table)}",
            f"    format: {proposed_format(Path(table))}",
        ]
    return "\n".join(lines) + "\n"


def _name_of(table: str, tables: Sequence[str]) -> str:
    """Return a name for a use-set: that of its file, numbered where two are alike."""

    def stem(path: str) -> str:
        word = re.sub(r"[^A-Za-z0-9_-]+", "-", Path(path).name.split(".")[0]).lstrip("-_")
        return word or "use"

    alike = [entry for entry in tables if stem(entry) == stem(table)]
    place = alike.index(table)
    return stem(table) + (f"-{place + 1}" if len(alike) > 1 else "")
