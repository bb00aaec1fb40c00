"""The table of training relatives: who has one, and how alike they are."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from credence.predictions import Floats, Strings
from credence.tables.columns import Column, Kind, read_columns
from credence.tables.writing import write_table

COLUMNS = (
    Column("id", unique=True),
    Column("relative"),
    Column("identity", Kind.NUMBER, low=0.0, high=1.0),
    Column("coverage", Kind.NUMBER, low=0.0, high=1.0),
)


@dataclass(frozen=True, eq=False)
class Relatives:
    """Which proteins have a relative in the training set.

    Parameters
    ----------
    ids, relative : array of str
        Protein, and its closest relative there.
    identity, coverage : array of float
        Of their alignment, in [0, 1].
    """

    ids: Strings
    relative: Strings
    identity: Floats
    coverage: Floats


def write_relatives(path: Path, table: Relatives) -> None:
    """Write the table.

    Parameters
    ----------
    path : Path
        TSV or Parquet, by its ending.
    table : Relatives
        What to write.
    """
    names = [column.name for column in COLUMNS]
    write_table(path, dict(zip(names, vars(table).values(), strict=True)))


def read_relatives(path: Path) -> Relatives:
    """Return the training relatives of a table, checked.

    Parameters
    ----------
    path : Path
        TSV, CSV or Parquet.
    """
    read = read_columns(path, COLUMNS)
    return Relatives(*(read.values[column.name] for column in COLUMNS))
