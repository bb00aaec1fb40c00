"""Vectors of proteins that a user brings: ids beside numbers, no code in them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from credence.predictions import Floats, Strings
from credence.problems import InputError, Problem, nearest, refuse
from credence.tables.npz import NpzFile
from credence.tables.text import require_file

ID_NAMES = ("id", "ids")
REMEDY = "Give an npz file with the arrays id and vectors, or Parquet with the column id."


@dataclass(frozen=True, eq=False)
class Vectors:
    """A vector for each of some proteins.

    Parameters
    ----------
    ids : array of str
        The proteins, unique.
    values : array of float, shape (n_proteins, n_features)
        Finite.
    """

    ids: Strings
    values: Floats

    @cached_property
    def row_of(self) -> dict[str, int]:
        """The row of each protein."""
        return {id_: row for row, id_ in enumerate(self.ids)}

    def of(self, ids: Strings) -> Floats:
        """Return the vectors of proteins; NaN where there is none.

        Parameters
        ----------
        ids : array of str
            Names.
        """
        answer = np.full((len(ids), self.values.shape[1]), np.nan)
        rows = np.array([self.row_of.get(id_, -1) for id_ in ids], dtype=np.int64)
        answer[rows >= 0] = self.values[rows[rows >= 0]]
        return answer


def read_vectors(path: Path) -> Vectors:
    """Return the vectors of a file, or raise what is wrong with it.

    Parameters
    ----------
    path : Path
        ``.npz`` with the arrays `id` and `vectors`, or ``.parquet`` with a column
        `id` and columns of numbers.
    """
    where = str(path)
    require_file(Path(path))
    if Path(path).suffix == ".parquet":
        ids, values = _parquet(Path(path))
    elif Path(path).suffix == ".npz":
        ids, values = _arrays(Path(path))
    else:
        raise refuse(where, "its ending is neither .npz nor .parquet.", REMEDY)
    return _checked(where, ids, values)


def _arrays(path: Path) -> tuple[list[Any], Any]:
    where = str(path)
    file = NpzFile(path)
    arrays = file.members
    name = next((name for name in ID_NAMES if name in arrays), None)
    if name is None:
        raise refuse(where, "the array 'id' is missing.", nearest("id", list(arrays)))
    if "vectors" not in arrays:
        raise refuse(where, "the array 'vectors' is missing.", nearest("vectors", list(arrays)))
    ids, values = arrays[name], arrays["vectors"]
    if ids.ndim != 1 or values.ndim != 2 or ids.shape[0] != values.shape[0]:
        raise refuse(
            where,
            f"'{name}' has the shape {ids.shape}, 'vectors' {values.shape}.",
            "Give a row of vectors for each id.",
        )
    if values.dtype.kind not in "fiu":
        raise refuse(where, "'vectors' holds no numbers.", "Give numbers.")
    return file.whole(name).tolist(), file.whole("vectors")


def _parquet(path: Path) -> tuple[list[Any], Any]:
    where = str(path)
    try:
        table = pq.read_table(path)
    except (pa.ArrowException, OSError) as error:
        raise refuse(where, "this is no Parquet file, or not the whole of one.", REMEDY) from error
    if "id" not in table.column_names:
        raise refuse(where, "the column 'id' is missing.", nearest("id", table.column_names))
    kinds = {
        field.name: field.type
        for field in table.schema
        if field.name != "id"
        and not (pa.types.is_floating(field.type) or pa.types.is_integer(field.type))
    }
    if kinds:
        raise InputError(
            Problem(where, f"it holds {kind}, no numbers.", "Remove it.", column=name)
            for name, kind in kinds.items()
        )
    names = [name for name in table.column_names if name != "id"]
    columns = [table[name].to_numpy().astype(np.float64) for name in names]
    values = np.column_stack(columns) if columns else np.empty((len(table), 0))
    return table["id"].to_pylist(), values


def _checked(where: str, ids: list[Any], values: Any) -> Vectors:
    problems = []
    seen: dict[str, int] = {}
    for row, id_ in enumerate(map(str, ids), start=1):
        if id_ in seen:
            what = f"the id {id_!r} stands in row {seen[id_]} already."
            problems.append(Problem(where, what, "Remove one of them.", row, "id"))
        seen.setdefault(id_, row)
    if values.shape[1] == 0 or len(ids) == 0:
        problems.append(Problem(where, "it holds no numbers.", REMEDY))
    numbers = np.asarray(values, dtype=np.float64)
    for bad in np.flatnonzero(~np.isfinite(numbers).all(axis=1)).tolist():
        what = f"the vector of {ids[bad]!r} has a number that is not finite."
        problems.append(Problem(where, what, "Remove the protein.", bad + 1))
    if problems:
        raise InputError(problems)
    return Vectors(np.array([str(id_) for id_ in ids], dtype=object), numbers)
