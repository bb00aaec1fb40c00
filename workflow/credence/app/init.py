"""``credence init``: a commented configuration for tables that are there."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

NO_TROVES = """\
troves: []  # new labelled proteins that join the set later: credence trove add NAME --scores …

"""
OWN_HEAD = """\
# Written by credence init after a look at the tables; every setting can be changed.
#   credence check {file}
#   credence run --config {file}
# Paths start where you run the command.

run: {run}  # name of the run: results/{run}/ and reports/{run}/
title: {title}  # heading of the page
simulated: false  # true: the page says so wherever it shows a number

"""


@click.command(
    epilog="Example: credence init mylab --scores demo/calibration.csv "
    "--proteins demo/proteins.fasta --use demo/use.csv"
)
@click.argument("name")
@click.option("--scores", required=True, help="Score table of labelled proteins.")
@click.option("--format", "format_", help="Its format; proposed where it is not stated.")
@click.option("--labels", help="Table of true classes (id, true_class), if not in the scores.")
@click.option("--proteins", help="FASTA file of the same proteins.")
@click.option("--training", help="FASTA file of the classifier's training set.")
@click.option("--use", "use", multiple=True, help="A table to be given confidences; repeat it.")
@click.option("--out", "out", help="The configuration; NAME.yaml unless given.")
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
    from credence.problems import refuse
    from credence.stages.reading import proposed_format
    from credence.tables.writing import write_text

    path = Path(out or f"{name}.yaml")
    if path.exists():
        raise refuse(str(path), "this file is there already.", "Remove it, or choose --out.")
    sets = [
        ("calibration", scores, format_ or proposed_format(Path(scores))),
        *((_name_of(table, use), table, proposed_format(Path(table))) for table in use),
    ]
    text = _text(name, str(path), sets, labels, proteins, training)
    configuration.loads(text, str(path))
    write_text(path, text)
    click.echo(f"Wrote {path}. Next: credence check {path}", err=True)


def _name_of(table: str, tables: Sequence[str]) -> str:
    """Return a name for a use-set: that of its file, numbered where two are alike."""
    import re

    def stem(path: str) -> str:
        word = re.sub(r"[^A-Za-z0-9_-]+", "-", Path(path).name.split(".")[0]).lstrip("-_")
        return word or "use"

    alike = [entry for entry in tables if stem(entry) == stem(table)]
    place = alike.index(table)
    return stem(table) + (f"-{place + 1}" if len(alike) > 1 else "")


def _text(
    name: str,
    file: str,
    sets: Sequence[tuple[str, str, str]],
    labels: str | None,
    proteins: str | None,
    training: str | None,
) -> str:
    """Return the configuration: the demo's own, with these tables instead of its."""
    from credence.app.configuration import demo_text

    (_, scores, format_), *use_sets = sets
    body = demo_text()
    start, end = body.index("calibration_set:"), body.index("\ndemo:")
    body = body[start:end]
    body = body[: body.index("troves:")] + NO_TROVES + body[body.index("use_sets:") :]
    message = "null" if labels is None else f"{{table: {_word(labels)}}}"
    body = _set(body, "  scores: demo/calibration.csv", f"  scores: {_word(scores)}")
    body = _set(body, "  format: phanns-labelled", f"  format: {format_}")
    body = _set(body, "  labels: null", f"  labels: {message}")
    body = _set(body, "  proteins: demo/proteins.fasta", f"  proteins: {_word(proteins)}")
    body = _set(body, "  proteins: demo/training.fasta", f"  proteins: {_word(training)}")
    first, last = body.index("use_sets:"), body.index("clustering:")
    body = body[:first] + _use_sets(name, use_sets) + "\n" + body[last:]
    return OWN_HEAD.format(run=_word(name), title=_word(name), file=file) + body.rstrip() + "\n"


def _set(text: str, line: str, instead: str) -> str:
    assert text.count(line) == 1, f"config.yaml has no single line {line!r}"
    return text.replace(line, instead)


def _use_sets(name: str, sets: Sequence[tuple[str, str, str]]) -> str:
    if not sets:
        return (
            "use_sets: []  # tables that are to be given confidences:\n"
            "#  - {name: mine, scores: mine.csv, format: phanns}\n"
        )
    lines = ["use_sets:  # tables that are to be given confidences"]
    for title, table, format_ in sets:
        lines += [
            f"  - name: {_word(title)}  # reports/{name}/{title}/confidences.tsv",
            f"    scores: {_word(table)}",
            f"    format: {format_}",
        ]
    return "\n".join(lines) + "\n"


def _word(value: Any) -> str:
    """Return a value as YAML: JSON, with its quotes only where they are needed."""
    import re

    is_plain = isinstance(value, str) and re.fullmatch(r"[A-Za-z][A-Za-z0-9_./-]*", value)
    if is_plain and value.lower() not in ("true", "false", "null"):
        return str(value)
    return json.dumps(value, ensure_ascii=False)
