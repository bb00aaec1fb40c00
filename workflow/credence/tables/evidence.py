"""What a user knows of proteins beside their scores: lengths, distances, neighbours."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from credence.events.features.protocol import NO_GENE, Evidence
from credence.predictions import Floats, Integers, Strings
from credence.problems import InputError, Problem, nearest
from credence.tables.columns import Column, Kind, read_columns

NUMBERS = ("length", "distance")
BESIDE = ("before", "after")
COLUMNS = (
    Column("id", unique=True),
    *(Column(name, Kind.NUMBER, True, low=0.0, is_optional=True) for name in NUMBERS),
    *(Column(name, may_be_empty=True, is_optional=True) for name in BESIDE),
)


@dataclass(frozen=True, eq=False)
class EvidenceTable:
    """Further columns by protein.

    Parameters
    ----------
    row_of : mapping of str to int
        Row of each id.
    columns : mapping of str to array of float
        Numbers; NaN where not known.
    beside : array of str, shape (n_rows, 2), optional
        Class predicted for the genes before and after; '' where there is none.
    """

    row_of: Mapping[str, int]
    columns: Mapping[str, Floats]
    beside: Strings | None

    def added_to(self, evidence: Evidence) -> Evidence:
        """Return the evidence with these columns; they count before those that it has.

        What is not in the table is not known.
        """
        ids = evidence.predictions.ids
        rows = np.array([self.row_of.get(id_, -1) for id_ in ids], dtype=np.int64)
        is_known = rows >= 0
        columns = {
            name: np.where(is_known, values[rows], np.nan) for name, values in self.columns.items()
        }
        neighbours: Integers | None = None
        if self.beside is not None:
            code = {name: at for at, name in enumerate(evidence.predictions.class_names)}
            codes = np.array(
                [[code.get(name, NO_GENE) for name in pair] for pair in self.beside],
                dtype=np.int64,
            ).reshape(-1, len(BESIDE))
            neighbours = np.where(is_known[:, None], codes[rows], NO_GENE)
        return replace(evidence, columns={**evidence.columns, **columns}, neighbours=neighbours)


def read_evidence(path: Path, class_names: tuple[str, ...]) -> EvidenceTable:
    """Return the table of a user, checked.

    Parameters
    ----------
    path : Path
        TSV, CSV or Parquet with the column `id` and any of `length`, `distance`,
        `before` and `after`, the last two with names of classes.
    class_names : tuple of str
        The classifier's classes.
    """
    read = read_columns(path, COLUMNS)
    values = read.values
    problems = [
        Problem(
            read.where,
            f"{name!r} is not a class.",
            nearest(name, class_names),
            int(read.lines[row]),
            column,
        )
        for column in BESIDE
        for row, name in enumerate(values[column])
        if name and name not in class_names
    ]
    if problems:
        raise InputError(problems)
    has_order = not {*BESIDE} <= read.absent
    return EvidenceTable(
        {id_: row for row, id_ in enumerate(values["id"])},
        {name: values[name] for name in NUMBERS if name not in read.absent},
        np.column_stack([values[name] for name in BESIDE]) if has_order else None,
    )
