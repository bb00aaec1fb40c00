"""``credence init``: a commented configuration for tables that are there."""

import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import click

from credence.app.options import GroupedHelp, file_options
from credence.problems import InputError, nearest, refuse
from credence.progress import echo

HEAD_OF_CONFIGURATION = """\
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
NO_QUERIES = """\
queries: []  # tables that are to be given confidences:
#  - {name: mine, scores: mine.csv, format: phanns}
"""


@click.command(
    cls=GroupedHelp,
    epilog="Example: credence init mylab --scores demo/calibration.csv "
    "--proteins demo/proteins.fasta --query demo/my_phages.csv",
)
@click.argument("name")
@click.option("--scores", required=True, help="Score table of labelled proteins.")
@file_options(
    format="Format of --scores; found unless given.",
    query_format="Format of the tables of --query; found unless given.",
    labels="Table of true classes (id, true_class, or --label-columns), if --scores has none.",
    proteins="FASTA file of the proteins of --scores.",
    training="FASTA file of the classifier's training set.",
    tree="OBO file, or table of child and parent, where proteins have several labels.",
)
@click.option(
    "--columns",
    help="Columns of --scores: id=Accession,true_class=Location,classes=A;B;C; else found.",
)
@click.option("--label-columns", help="Columns of --labels: id=Accession,true_class=Location.")
@click.option("--scale", type=float, help="What the scores of a row sum to; found unless given.")
@click.option("--logits", is_flag=True, help="The scores are logits; found unless given.")
@click.option("--query", multiple=True, help="A table to be given confidences; repeat it.")
@click.option("--out", help="The configuration; NAME.yaml unless given.")
def command(name: str, scores: str, query: tuple[str, ...], out: str | None, **given: Any) -> None:
    """Write a configuration for your own tables, with a comment on every setting.

    It finds out which tool wrote the tables, or which columns hold ids, true classes and scores.
    The tables are checked as credence check does. No file is overwritten.
    """
    from credence.app import configuration
    from credence.app.check import check_files
    from credence.app.editing import inline, section_text
    from credence.stages.settings import SECTIONS, load_schema
    from credence.tables.writing import write_text

    path = Path(out or f"{name}.yaml")
    if path.exists():
        raise refuse(str(path), "this file is there already.", "Remove it, or choose --out.")
    schema, labels = load_schema(), given["labels"]
    given["columns"] = _columns(given["columns"], "--columns")
    of_labels = _columns(given["label_columns"], "--label-columns", ("id", "true_class"))
    if of_labels and labels is None:
        raise refuse("--label-columns", "there is no table of labels.", "Give it: --labels.")
    known: dict[str, Any] = {}
    stated = {key: given[key] for key in ("format", "columns", "scale", "logits") if given[key]}
    keys = {"id": "id_column", "true_class": "label_column"}
    of_labels = {keys[role]: column for role, column in of_labels.items()}
    several = _several_labels(labels, of_labels)
    if given["tree"] is not None and several is None:
        problem = "a tree is for several labels, and each protein has one here."
        raise refuse(
            "--tree", problem, "Leave it out, or give --labels with several of a protein."
        )
    spec = _found(scores, stated, is_labelled=labels is None)
    if several is not None:
        spec = {key: value for key, value in spec.items() if key != "sum_to_scale"}
        known = {
            "table": given["tree"],
            "separator": several if several and not given["tree"] else None,
        }
        echo(f"{labels}: proteins with several labels.")
    roles = [*spec.get("columns", {}).items()]
    taken = [f"{role.replace('_', ' ')}: {_listed(name)}" for role, name in roles]
    echo(f"{scores}: read as {spec['format']}. {'; '.join(taken)}".rstrip())
    table = None if labels is None else {"table": labels, **of_labels}
    labelled = {"scores": scores, **spec, "labels": table, "proteins": given["proteins"]}
    parts = [
        HEAD_OF_CONFIGURATION.format(run=inline(name), file=path),
        *([] if several is None else ["labels: several  # each row of the scores is a call\n"]),
        section_text("calibration_set", schema, labelled),
        section_text("training", schema, {"proteins": given["training"]}),
        NO_TROVES,
        _queries(name, query, given["query_format"], spec),
        *(
            section_text(section, schema, known if section == "tree" else {})
            for section in SECTIONS
            if several is None or section != "calibration"
        ),
    ]
    text = "\n".join(parts)
    for line in check_files(configuration.loads(text, str(path))):
        echo(line)
    write_text(path, text)
    echo(f"Wrote {path}. Next: credence run --config {path}")


EC_NUMBER = re.compile(r"[1-7](\.(\d+|n\d+|-)){0,3}")


def _several_labels(labels: str | None, columns: dict[str, str]) -> str | None:
    """Return what separates levels in labels ('' for nothing); None where each protein has one."""
    from credence.tables.calls import LABEL_MARKS
    from credence.tables.labels import read_labels

    if labels is None:
        return None
    read = read_labels(Path(labels), **columns, are_several=True)
    texts = [
        part for text in read.texts for part in re.split(f"[{LABEL_MARKS}]", text) if part.strip()
    ]
    if len(texts) <= len(set(read.ids.tolist())):
        return None
    are_ec = all(EC_NUMBER.fullmatch(text.strip()) for text in texts)
    return "." if are_ec and any("." in text for text in texts) else ""


def _listed(names: str | Sequence[str]) -> str:
    return names or "the one without a name" if isinstance(names, str) else ", ".join(names)


def _columns(text: str | None, option: str, roles: Sequence[str] = ()) -> dict[str, Any]:
    """Return the columns that an option names by role."""
    from credence.tables.formats import COLUMN_ROLES

    columns: dict[str, Any] = {}
    for part in (text or "").split(",") if text else ():
        role, equals, column = part.partition("=")
        role = role.strip()
        if not equals:
            problem = f"{part!r} does not say which column has which role."
            raise refuse(option, problem, "Write id=Accession,true_class=Location.")
        if role not in (roles or COLUMN_ROLES):
            problem = f"{role!r} is no role of a column."
            raise refuse(option, problem, nearest(role, roles or COLUMN_ROLES))
        columns[role] = column.split(";") if role == "classes" else column
    return columns


def _found(
    table: str, stated: dict[str, Any], is_labelled: bool, option: str = "--format"
) -> dict[str, Any]:
    """Return how a table is read: as stated, as a known tool writes it, or by its cells."""
    from credence.tables.formats import FORMAT_OF, unknown_format
    from credence.tables.guess import fitting, guess_columns, scale_of_rows

    path, format_ = Path(table), stated.get("format")
    if format_ is not None and format_ not in FORMAT_OF:
        raise InputError([unknown_format(format_, option)])
    if format_ is None and "columns" not in stated:
        proposal = fitting(path, f"{option} {{}}")
        # Of an archive of arrays the check says what is wrong.
        arrays = "networks-npz" if path.suffix == ".npz" else None
        format_ = arrays if proposal is None else proposal.format
        # Whatever has a column `id` may be credence's own: it is, where all else are scores.
        scaling = {} if format_ != "credence" else scale_of_rows(path, format_)
        if format_ == "credence" and (not scaling or "sum_to_scale" in scaling):
            with suppress(InputError):
                return guess_columns(path, stated, is_labelled)
    if format_ is None or FORMAT_OF[format_].configurable:
        return guess_columns(path, stated, is_labelled)
    scaling = scale_of_rows(path, format_) if FORMAT_OF[format_].scale is None else {}
    return {**scaling, **stated, "format": format_}


def _queries(name: str, tables: Sequence[str], format_: str | None, spec: dict[str, Any]) -> str:
    from credence.app.editing import inline

    if not tables:
        return NO_QUERIES
    lines = ["queries:  # tables that are to be given confidences"]
    words = [re.sub(r"[^A-Za-z0-9_-]+", "-", Path(path).name.split(".")[0]) for path in tables]
    stems = [word.lstrip("-_") or "query" for word in words]
    # A table that is given twice has one name, which the check refuses.
    places = map(tables.index, tables)
    for table, place, stem in zip(tables, places, stems, strict=True):
        title = stem if stems.count(stem) == 1 else f"{stem}-{stems[: place + 1].count(stem)}"
        lines += [f"  - name: {inline(title)}  # reports/{name}/{title}/confidences.tsv"]
        settings = {"scores": table, **_as_labelled(table, format_, spec)}
        lines += [f"    {key}: {inline(value)}" for key, value in settings.items()]
    return "\n".join(lines) + "\n"


def _as_labelled(table: str, format_: str | None, spec: dict[str, Any]) -> dict[str, Any]:
    """Return how a query set is read: like the labelled table, where it has its columns."""
    columns = dict(spec.get("columns", {}))
    columns.pop("true_class", None)
    if format_ is None and columns:
        like = {key: spec[key] for key in ("scale", "format") if key in spec}
        with suppress(InputError):
            stated = _found(table, like | {"columns": columns}, False)
            return stated | {key: spec[key] for key in ("sum_to_scale",) if key in spec}
    stated = {} if format_ is None else {"format": format_}
    return _found(table, stated, False, "--query-format")
