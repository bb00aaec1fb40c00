"""What `credence attach` writes: every protein of a trove, and their counts."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np

from credence.findings import InputFile
from credence.predictions import UNKNOWN_CLASS, Floats, Strings
from credence.records import read_record
from credence.releases.attaching import OUTCOMES, UNSCORED, Attachment, NewSet
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
    new: NewSet, found: Attachment, class_names: tuple[str, ...], unscored: Strings
) -> AttachedProteins:
    """Return what became of a trove by id, also of those without scores."""
    names = np.array([*class_names, ""], dtype=object)  # UNKNOWN_CLASS is -1
    assert UNKNOWN_CLASS == -1
    columns = vars(found) | {
        "ids": new.ids,
        "true_class": names[new.class_],
        "relative_class": names[found.relative_class],
    }
    n = len(unscored)
    empty: dict[str, Any] = {
        "ids": unscored,
        "outcome": np.full(n, UNSCORED, dtype=object),
        "reason": np.full(n, OUTCOMES[UNSCORED], dtype=object),
        "identity": np.full(n, np.nan),
        "coverage": np.full(n, np.nan),
    }
    blank = np.full(n, "", dtype=object)
    order = np.argsort(np.append(new.ids, unscored).astype(str), kind="stable")
    return AttachedProteins(
        **{
            entry.name: np.append(columns[entry.name], empty.get(entry.name, blank))[order]
            for entry in fields(AttachedProteins)
        }
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
