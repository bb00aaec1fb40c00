"""Arrays of an npz file; never pickled ones, which run code."""

import lzma
import tokenize
import zipfile
import zlib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from credence.predictions import Floats, Strings
from credence.problems import Problem, ProblemList, nearest, raise_any, refuse
from credence.tables.text import require_file

PICKLED = "allow_pickle"  # stands in what numpy says of pickled arrays
# What reading damaged bytes as an archive, a header or numbers can raise.
DAMAGE = (
    *(OSError, ValueError, EOFError, KeyError, SyntaxError, MemoryError, RuntimeError, TypeError),
    *(lzma.LZMAError, tokenize.TokenError, zipfile.BadZipFile, zlib.error),
)


def read_arrays(path: Path) -> dict[str, NDArray[Any]]:
    """Return the arrays of an npz file by their names, or refuse what is damaged."""
    where = str(path)
    if not zipfile.is_zipfile(path):
        defect = "the file is no npz archive, or not the whole of one."
        raise refuse(where, defect, "Save the arrays with np.savez.")
    try:
        with np.load(path, allow_pickle=False) as archive:
            entries = {name: archive[name] for name in archive.files}
    except DAMAGE as error:
        if PICKLED in str(error):
            defect = "an array holds Python objects, which could run code."
            raise refuse(where, defect, "Save texts as arrays of text (dtype str).") from error
        raise refuse(where, "the arrays are damaged.", "Copy or make the file again.") from error
    # Of a file that is no array numpy gives the bytes.
    return {name: entry for name, entry in entries.items() if isinstance(entry, np.ndarray)}


GREATEST_NUMBER = 1e18  # whose square single precision can hold
VECTORS_REMEDY = "Give an npz file with the arrays id and vectors, or Parquet with the column id."


@dataclass(frozen=True, kw_only=True, eq=False)
class Vectors:
    """A vector for each of some proteins."""

    ids: Strings  # The proteins, unique
    values: Floats  # Finite

    @cached_property
    def row_of(self) -> dict[str, int]:
        """The row of each protein."""
        return {id_: row for row, id_ in enumerate(self.ids)}

    def of(self, ids: Strings) -> Floats:
        """Return the vectors of proteins; NaN where there is none."""
        answer = np.full((len(ids), self.values.shape[1]), np.nan)
        rows = np.array([self.row_of.get(id_, -1) for id_ in ids], dtype=np.int64)
        answer[rows >= 0] = self.values[rows[rows >= 0]]
        return answer


def read_vectors(path: Path) -> Vectors:
    """Return the vectors of a file, or raise what is wrong with it."""
    path, where = Path(path), str(path)
    require_file(path)
    if path.suffix == ".parquet":
        ids, values = _parquet(path)
    elif path.suffix == ".npz":
        arrays = read_arrays(path)
        name = "ids" if "ids" in arrays and "id" not in arrays else "id"
        for needed in (name, "vectors"):
            if needed not in arrays:
                defect = f"the array {needed!r} is missing."
                raise refuse(where, defect, nearest(needed, list(arrays)))
        shape, wide = arrays[name].shape, arrays["vectors"].shape
        if len(shape) != 1 or len(wide) != 2 or shape != wide[:1]:
            defect = f"'{name}' has the shape {shape}, 'vectors' {wide}."
            raise refuse(where, defect, "Give a row of vectors for each id.")
        if arrays["vectors"].dtype.kind not in "fiu":
            raise refuse(where, "'vectors' holds no numbers.", "Give numbers.")
        ids, values = arrays[name].tolist(), arrays["vectors"]
    else:
        raise refuse(where, "its ending is neither .npz nor .parquet.", VECTORS_REMEDY)
    return _checked(where, ids, values)


def _parquet(path: Path) -> tuple[list[Any], Any]:
    where = str(path)
    try:
        table = pq.read_table(path)
        names = table.column_names  # which may be no texts, as ids may be
        ids = table["id"].to_pylist() if "id" in names else None
    except (pa.ArrowException, OSError, ValueError) as error:
        raise refuse(
            where, "this is no Parquet file, or not the whole of one.", VECTORS_REMEDY
        ) from error
    if ids is None:
        raise refuse(where, "the column 'id' is missing.", nearest("id", names))
    raise_any(
        Problem(
            where=where,
            what=f"it holds {field.type}, no numbers.",
            remedy="Remove it.",
            column=field.name,
        )
        for field in table.schema
        if field.name != "id"
        and not (pa.types.is_floating(field.type) or pa.types.is_integer(field.type))
    )
    columns = [table[name].to_numpy().astype(np.float64) for name in names if name != "id"]
    values = np.column_stack(columns) if columns else np.empty((len(table), 0))
    return ids, values


def _checked(where: str, ids: list[Any], values: Any) -> Vectors:
    problems = ProblemList(where)
    seen: dict[str, int] = {}
    for row, id_ in enumerate(map(str, ids), start=1):
        if seen.setdefault(id_, row) != row:
            defect = f"the id {id_!r} stands in row {seen[id_]} already."
            problems.add(defect, "Remove one of them.", row, "id")
    if values.shape[1] == 0 or len(ids) == 0:
        problems.add("it holds no numbers.", VECTORS_REMEDY)
    numbers = np.asarray(values, dtype=np.float64)
    for bad in np.flatnonzero(~(np.abs(numbers) <= GREATEST_NUMBER).all(axis=1)).tolist():
        defect = f"the vector of {ids[bad]!r} has a number that is not finite, or beyond 1e18."
        problems.add(defect, "Remove the protein.", bad + 1)
    problems.raise_any()
    return Vectors(ids=np.array([str(id_) for id_ in ids], dtype=object), values=numbers)
