"""What `credence attach` writes: every protein of a trove, and their counts."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from credence.findings import InputFile
from credence.predictions import UNKNOWN_CLASS, Floats, Strings
from credence.records import read_record
from credence.releases.attaching import OUTCOMES, Attachment
from credence.tables.contract import Column, Kind, read_columns
from credence.tables.writing import write_json, write_table

SCHEMA = "credence/attach/1"
REMEDY = "Attach the trove again: credence run."

COLUMNS = (
    Column("id", unique=True),
    Column("true_class", may_be_empty=True),
    Column("outcome", choices=tuple(OUTCOMES)),
    Column("cluster", may_be_empty=True),
    Column("group", may_be_empty=True),
    Column("relative", may_be_empty=True),
    Column("relative_class", may_be_empty=True),
    Column("identity", Kind.NUMBER, True, low=0.0, high=1.0),
    Column("coverage", Kind.NUMBER, True, low=0.0, high=1.0),
    Column("reason", may_be_empty=True),
)


@dataclass(frozen=True, eq=False)
class AttachedProteins:
    """What became of every protein of a trove."""

    # See :class:`credence.releases.outcomes.Attachment`; classes by name, '' where there is none.
    ids: Strings
    true_class: Strings
    outcome: Strings
    cluster: Strings
    group: Strings
    relative: Strings
    relative_class: Strings
    identity: Floats  # Likeness to the relative; NaN where not known
    coverage: Floats
    reason: Strings  # The outcome in words


@dataclass(frozen=True)
class AttachSummary:
    """The counts of a trove."""

    name: str  # Of the trove
    class_names: tuple[str, ...]  # In the classifier's order
    counts: dict[str, int]  # Outcome → proteins, all outcomes
    n_joined: int  # Of those added: in clusters that were there, and clusters founded
    n_founded: int
    n_rescored: int  # Exact repeats whose scores are not the old ones
    added_by_class: dict[str, int]  # Class → proteins added
    inputs: tuple[InputFile, ...]  # Files that were read
    schema: str = field(default=SCHEMA, init=False)


def attached_proteins(
    ids: Strings, class_: Any, found: Attachment, class_names: tuple[str, ...]
) -> AttachedProteins:
    """Return the table of what became of a trove."""
    names = np.array([*class_names, ""], dtype=object)  # UNKNOWN_CLASS is -1
    assert UNKNOWN_CLASS == -1
    return AttachedProteins(
        ids,
        names[class_],
        found.outcome,
        found.cluster,
        found.group,
        found.relative,
        names[found.relative_class],
        found.identity,
        found.coverage,
        found.reason,
    )


def write_attached(path: Path, table: AttachedProteins, *, spreadsheet_safe: bool = False) -> None:
    """Write the table of what became of a trove."""
    names = [column.name for column in COLUMNS]
    columns = dict(zip(names, vars(table).values(), strict=True))
    write_table(path, columns, spreadsheet_safe=spreadsheet_safe)


def read_attached(path: Path) -> AttachedProteins:
    """Return what became of a trove, checked."""
    values = read_columns(path, COLUMNS).values
    return AttachedProteins(*(values[column.name] for column in COLUMNS))


def write_attach_summary(path: Path, summary: AttachSummary) -> None:
    """Write the counts of a trove as JSON."""
    write_json(path, summary)


def read_attach_summary(path: Path) -> AttachSummary:
    """Return the counts of a trove."""
    return read_record(AttachSummary, path, REMEDY)
