"""``credence init``: a commented configuration for tables that are there."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

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
@file_options(
    format="Its format; proposed where it is not stated.",
    labels="Table of true classes (id, true_class), if not in the scores.",
    proteins="FASTA file of the same proteins.",
    training="FASTA file of the classifier's training set.",
)
@click.option("--use", multiple=True, help="A table to be given confidences; repeat it.")
@click.option("--out", help="The configuration; NAME.yaml unless given.")
def command(name: str, scores: str, use: tuple[str, ...], out: str | None, **given: Any) -> None:
    """Write a commented configuration, NAME.yaml, for your tables.

    It looks at the tables, states the formats that they fit, and checks what it
    has written before it writes it. It overwrites nothing.
    """
    from credence.app import configuration
    from credence.app.editing import inline, section_text
    from credence.problems import refuse
    from credence.stages.reading import proposed_format
    from credence.stages.settings import SECTIONS, load_schema
    from credence.tables.propose import classes_in_header
    from credence.tables.writing import write_text

    path = Path(out or f"{name}.yaml")
    if path.exists():
        raise refuse(str(path), "this file is there already.", "Remove it, or choose --out.")
    schema, labels = load_schema(), given["labels"]
    format_ = given["format"] or proposed_format(Path(scores))
    labelled = {
        "scores": scores,
        "format": format_,
        "labels": None if labels is None else {"table": labels},
        "proteins": given["proteins"],
    }
    parts = [
        HEAD.format(run=inline(name), file=path),
        section_text("calibration_set", schema, labelled),
        section_text("training", schema, {"proteins": given["training"]}),
        NO_TROVES,
        _use_sets(name, use),
        *(section_text(section, schema, {}) for section in SECTIONS),
    ]
    text = "\n".join(parts)
    configuration.loads(text, str(path))
    write_text(path, text)
    if classes := classes_in_header(Path(scores), format_):
        click.echo(f"{scores}: columns taken as classes: {'; '.join(classes)}.", err=True)
    click.echo(f"Wrote {path}. Next: credence check {path}", err=True)


def _use_sets(name: str, tables: Sequence[str]) -> str:
    from credence.app.editing import inline
    from credence.stages.reading import proposed_format

    if not tables:
        return NO_USE_SETS
    lines = ["use_sets:  # tables that are to be given confidences"]
    for table, title in zip(tables, _names_of(tables), strict=True):
        lines += [
            f"  - name: {inline(title)}  # reports/{name}/{title}/confidences.tsv",
            f"    scores: {inline(table)}",
            f"    format: {proposed_format(Path(table))}",
        ]
    return "\n".join(lines) + "\n"


def _names_of(tables: Sequence[str]) -> list[str]:
    """Return a name for each use-set: that of its file, numbered where two are alike."""
    words = [re.sub(r"[^A-Za-z0-9_-]+", "-", Path(path).name.split(".")[0]) for path in tables]
    stems = [word.lstrip("-_") or "use" for word in words]
    # A table that is given twice has one name, which the check refuses.
    places = map(tables.index, tables)
    return [
        stem if stems.count(stem) == 1 else f"{stem}-{stems[: place + 1].count(stem)}"
        for place, stem in zip(places, stems, strict=True)
    ]
