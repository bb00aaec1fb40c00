"""Score matrices of several networks in one npz file, as a long table.

Accepted are one array of shape (proteins, networks, classes) or one matrix
(proteins, classes) per network, beside `id`, `class_names` and, if there is a
truth, `true_class`. Loading one runs no code: pickled arrays are refused.
"""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from credence.predictions import Floats
from credence.problems import nearest, refuse
from credence.tables.expansion import check_bytes
from credence.tables.numbers import Grid, Step
from credence.tables.problem_list import ProblemList
from credence.tables.source import Chunk
from credence.tables.text import require_file

LABEL_ARRAYS = ("id", "class_names", "true_class")


class ArrayChunk:
    """Some proteins, a row for each network.

    Parameters
    ----------
    columns : list of list of str
        Texts of the columns before the classes.
    scores : array of float, shape (n_rows, n_classes)
        A row per protein and network.
    first_protein : int
        Number of the first protein, from 1.
    n_networks : int
        Rows to a protein.
    grid : Grid
        Of the whole table.
    """

    def __init__(
        self,
        columns: list[list[str]],
        scores: Any,
        first_protein: int,
        n_networks: int,
        grid: Grid,
    ) -> None:
        self._columns = columns
        self._scores = scores
        self._grid = grid
        n_proteins = len(scores) // n_networks
        proteins = np.arange(first_protein, first_protein + n_proteins, dtype=np.int64)
        self.lines = np.repeat(proteins, n_networks)

    def texts(self, column: int) -> list[str]:
        """Return the texts of a column."""
        return self._columns[column]

    def numbers(self, columns: Sequence[int]) -> Floats:
        """Return the numbers of some columns."""
        places = [column - len(self._columns) for column in columns]
        values = self._scores[:, places]
        epsilon = float(np.finfo(values.dtype).eps) if values.dtype.kind == "f" else 0.0
        numbers: Floats = values.astype(np.float64)
        self._grid.see(numbers, epsilon)
        return numbers

    def cell(self, row: int, column: int) -> str:
        """Return the text of one cell."""
        if column < len(self._columns):
            return self._columns[column][row]
        return str(self._scores[row, column - len(self._columns)])


class ArrayTable:
    """The arrays of an npz file, shown as a table with a row per protein and network.

    Parameters
    ----------
    path : Path
        The file.
    """

    header_line: int | None = None

    def __init__(self, path: Path) -> None:
        require_file(path)
        self.where = str(path)
        self._grid = Grid()
        arrays = load_arrays(path)
        problems = ProblemList(self.where)
        for name in LABEL_ARRAYS[:2]:
            if name not in arrays:
                problems.add(f"the array {name!r} is missing.", nearest(name, list(arrays)))
        scores = _networks(arrays, problems)
        problems.raise_any()
        self._scores = scores
        n_proteins, _, n_classes = scores.shape
        lengths = {"id": n_proteins, "class_names": n_classes, "true_class": n_proteins}
        for name, length in lengths.items():
            if name in arrays and arrays[name].shape != (length,):
                problems.add(
                    f"the array {name!r} has the shape {arrays[name].shape}, "
                    f"the scores ask for ({length},).",
                    "Give one entry each.",
                )
        problems.raise_any()
        self._ids = [str(name) for name in arrays["id"].tolist()]
        truth = arrays.get("true_class")
        self._truth = None if truth is None else [str(name) for name in truth.tolist()]
        fixed = ("id", "network") if truth is None else ("id", "network", "true_class")
        self._n_fixed = len(fixed)
        self.header = (*fixed, *(str(name) for name in arrays["class_names"].tolist()))

    def chunks(self, n_rows: int, problems: ProblemList) -> Iterator[Chunk]:
        """Yield chunks of whole proteins."""
        n_networks = self._scores.shape[1]
        n_proteins = max(1, n_rows // n_networks)
        networks = [str(number + 1) for number in range(n_networks)]
        for start in range(0, len(self._ids), n_proteins):
            ids = self._ids[start : start + n_proteins]
            scores = self._scores[start : start + n_proteins]
            columns = [
                [name for name in ids for _ in networks],
                networks * len(ids),
            ]
            if self._truth is not None:
                truth = self._truth[start : start + n_proteins]
                columns.append([name for name in truth for _ in networks])
            flat = scores.reshape(-1, scores.shape[2])
            yield ArrayChunk(columns, flat, start + 1, n_networks, self._grid)

    def step(self, scale: float) -> Step:
        """Return the step of the numbers seen so far."""
        return self._grid.step(scale)


def load_arrays(path: Path) -> dict[str, Any]:
    """Return the arrays of a file, or raise what is wrong with it."""
    where = str(path)
    if not zipfile.is_zipfile(path):
        raise refuse(
            where,
            "the file is no npz archive, or not the whole of one.",
            "Save the arrays with np.savez.",
        )
    try:
        with zipfile.ZipFile(path) as archive:
            n_bytes = sum(member.file_size for member in archive.infolist())
        check_bytes(where, path.stat().st_size, n_bytes)
        with np.load(path, allow_pickle=False) as file:
            return {name: file[name] for name in file.files}
    except (
        OSError,
        ValueError,
        EOFError,
        KeyError,
        NotImplementedError,
        SyntaxError,
        MemoryError,
        RuntimeError,
        TypeError,
        zipfile.BadZipFile,
        zlib.error,
    ) as error:
        if "allow_pickle" in str(error):
            what = "an array holds Python objects, which could run code."
            raise refuse(where, what, "Save texts as arrays of text (dtype str).") from error
        raise refuse(where, "the arrays are damaged.", "Copy or make the file again.") from error


def _networks(arrays: dict[str, Any], problems: ProblemList) -> Any:
    """Return one array of shape (proteins, networks, classes)."""
    scores = {
        name: array
        for name, array in arrays.items()
        if name not in LABEL_ARRAYS and array.ndim in (2, 3) and array.dtype.kind in "fiu"
    }
    deep = [name for name, array in scores.items() if array.ndim == 3]
    flat = [name for name, array in scores.items() if array.ndim == 2]
    if len(deep) == 1 and not flat:
        found = arrays[deep[0]]
    elif flat and not deep and len({arrays[name].shape for name in flat}) == 1:
        found = np.stack([arrays[name] for name in flat], axis=1)
    else:
        shapes = ", ".join(f"{name} {array.shape}" for name, array in arrays.items())
        problems.add(
            f"the arrays are no score matrices of networks ({shapes}).",
            "Give one array (proteins, networks, classes), or a matrix of the same shape "
            "for each network.",
        )
        return np.empty((0, 1, 0))
    if 0 in found.shape:
        problems.add(f"the scores have the shape {found.shape}.", "Give scores of some proteins.")
    return found
