"""Score matrices of several networks in one npz file, as a long table.

Accepted are one array of shape (proteins, networks, classes) or one matrix
(proteins, classes) per network, beside `id`, `class_names` and, if there is a
truth, `true_class`. Rows are read as they are asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from credence.predictions import Floats
from credence.problems import nearest
from credence.tables.npz import Member, NpzFile
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
        self._file = NpzFile(path)
        arrays = self._file.members
        problems = ProblemList(self.where)
        for name in LABEL_ARRAYS[:2]:
            if name not in arrays:
                problems.add(f"the array {name!r} is missing.", nearest(name, list(arrays)))
        self._scores, self._n_networks = _networks(arrays, problems)
        problems.raise_any()
        n_proteins, n_classes = (arrays[self._scores[0]].shape[place] for place in (0, -1))
        lengths = {"id": n_proteins, "class_names": n_classes, "true_class": n_proteins}
        for name, length in lengths.items():
            if name in arrays and arrays[name].shape != (length,):
                problems.add(
                    f"the array {name!r} has the shape {arrays[name].shape}, "
                    f"the scores ask for ({length},).",
                    "Give one entry each.",
                )
        problems.raise_any()
        self._has_truth = "true_class" in arrays
        fixed = ("id", "network", "true_class")[: 3 if self._has_truth else 2]
        classes = self._file.whole("class_names").tolist()
        self.header = (*fixed, *(str(name) for name in classes))

    def chunks(self, n_rows: int, problems: ProblemList) -> Iterator[Chunk]:
        """Yield chunks of whole proteins."""
        n_networks = self._n_networks
        n_proteins = max(1, n_rows // n_networks)
        networks = [str(number + 1) for number in range(n_networks)]
        labels = ("id", "true_class")[: 2 if self._has_truth else 1]
        first = 1
        for pieces in self._file.rows((*labels, *self._scores), n_proteins):
            ids, *truth = (
                [str(name) for name in piece.tolist() for _ in networks]
                for piece in pieces[: len(labels)]
            )
            scores = pieces[len(labels) :]
            # A matrix of each network, or one array of all.
            deep = np.stack(scores, axis=1) if scores[0].ndim == 2 else scores[0]
            flat = deep.reshape(-1, deep.shape[2])
            columns = [ids, networks * len(deep), *truth]
            yield ArrayChunk(columns, flat, first, n_networks, self._grid)
            first += len(deep)

    def step(self, scale: float) -> Step:
        """Return the step of the numbers seen so far."""
        return self._grid.step(scale)


def _networks(arrays: Mapping[str, Member], problems: ProblemList) -> tuple[tuple[str, ...], int]:
    """Return the arrays of the scores, and how many networks they are of."""
    scores = {
        name: array
        for name, array in arrays.items()
        if name not in LABEL_ARRAYS and array.ndim in (2, 3) and array.dtype.kind in "fiu"
    }
    deep = [name for name, array in scores.items() if array.ndim == 3]
    flat = [name for name, array in scores.items() if array.ndim == 2]
    if len(deep) == 1 and not flat:
        found, shape = deep, arrays[deep[0]].shape
    elif flat and not deep and len({arrays[name].shape for name in flat}) == 1:
        n_proteins, n_classes = arrays[flat[0]].shape
        found, shape = flat, (n_proteins, len(flat), n_classes)
    else:
        shapes = ", ".join(f"{name} {array.shape}" for name, array in arrays.items())
        problems.add(
            f"the arrays are no score matrices of networks ({shapes}).",
            "Give one array (proteins, networks, classes), or a matrix of the same shape "
            "for each network.",
        )
        return (), 1
    if 0 in shape:
        problems.add(f"the scores have the shape {shape}.", "Give scores of some proteins.")
    return tuple(found), shape[1]
