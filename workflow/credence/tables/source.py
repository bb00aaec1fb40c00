"""A table as chunks of rows, whether it comes as text or as Parquet.

A chunk answers with texts and numbers by column and knows the line of each
row; what the cells mean is not known here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from operator import itemgetter
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from credence.predictions import Floats, Integers
from credence.problems import ProblemList, nearest, refuse
from credence.tables.formats import Format
from credence.tables.npz import Member, NpzFile
from credence.tables.numbers import Numbers, ScoreGrid, ScoreStep
from credence.tables.text import RowReader, check_bytes, check_rows, plain_suffix, require_file

ROWS_LOOKED_AT = 64  # of a Parquet table, before all of it is read
PARQUET_ENDINGS = (".parquet", ".pq")
PARQUET_BLOCK_BYTES = 1 << 20
DELIMITER_NAMES = {",": "commas", "\t": "tabs", ";": "semicolons", "|": "bars", " ": "blanks"}
# Relative rounding of floats, by their width in bits.
FLOAT_EPSILON = {
    16: float(np.finfo(np.float16).eps),
    32: float(np.finfo(np.float32).eps),
    64: float(np.finfo(np.float64).eps),
}


class Chunk(Protocol):
    """Some rows of a table, one after the other."""

    lines: Integers

    def texts(self, column: int) -> list[str]:
        """Return the texts of a column; '' where a cell is empty."""
        ...

    def numbers(self, columns: Sequence[int]) -> Floats:
        """Return the numbers of some columns; not finite where there is none."""
        ...

    def cell(self, row: int, column: int) -> str:
        """Return the text of one cell, as a message quotes it."""
        ...


class TableSource(Protocol):
    """A header and chunks of rows."""

    where: str
    header: tuple[str, ...]
    header_line: int | None

    def chunks(self, n_rows: int, problems: ProblemList) -> Iterator[Chunk]:
        """Yield all rows, from the start each time; problems go to the list."""
        ...

    def step(self, scale: float) -> ScoreStep:
        """Return the step of the numbers seen so far."""
        ...


class TextChunk:
    """Rows of a text table, all as long as the header."""

    def __init__(self, rows: list[list[str]], lines: Integers, parsed: Numbers) -> None:
        self.rows = rows
        self.lines = lines
        self._parsed = parsed

    def texts(self, column: int) -> list[str]:
        """Return the texts of a column."""
        return [row[column] for row in self.rows]

    def numbers(self, columns: Sequence[int]) -> Floats:
        """Return the numbers of some columns; NaN where a text is none."""
        if len(columns) == 1:
            texts: Iterator[str] = map(itemgetter(columns[0]), self.rows)
        else:
            texts = chain.from_iterable(map(itemgetter(*columns), self.rows))
        parse = self._parsed.__getitem__
        count = len(self.rows) * len(columns)
        return np.fromiter(map(parse, texts), np.float64, count).reshape(-1, len(columns))

    def cell(self, row: int, column: int) -> str:
        """Return the text of one cell."""
        return self.rows[row][column]


class TextTable:
    """A CSV or TSV file, plain or packed."""

    def __init__(self, path: Path, delimiter: str, format_: Format) -> None:
        self.path = path
        self.where = str(path)
        self.delimiter = delimiter
        self.format = format_
        self._parsed = Numbers()
        for rows, lines in self._rows().batches(1):
            if rows:
                self.header_line: int | None = int(lines[0])
                self.header = tuple(rows[0])
                start = "".join(rows[0]).lstrip()[:1]
                for sign, what in ((">", "a FASTA file"), ("{", "a JSON file")):
                    if start == sign:
                        what = f"this is {what}, not a table."
                        remedy = "Give the path of the table."
                        raise refuse(self.where, what, remedy, self.header_line)
                return
        raise refuse(self.where, "there is no header.", "Give a table with a header and rows.")

    def _rows(self) -> RowReader:
        return RowReader(self.path, self.delimiter, self.format.quoted, self.format.header_start)

    def chunks(self, n_rows: int, problems: ProblemList) -> Iterator[Chunk]:
        """Yield chunks of at most `n_rows` rows; a row of another length is a problem."""
        width = len(self.header)
        for rows, lines in self._rows().batches(n_rows):
            if len(lines) and lines[0] == self.header_line:
                rows, lines = rows[1:], lines[1:]
            if set(map(len, rows)) - {width}:
                for line, row in zip(lines.tolist(), rows, strict=True):
                    if len(row) != width:
                        problems.add(
                            f"the row has {len(row)} cells, the header has {width}.",
                            "Give each row as many cells as the header.",
                            line,
                        )
                is_whole = np.array([len(row) == width for row in rows], dtype=np.bool_)
                rows, lines = [row for row in rows if len(row) == width], lines[is_whole]
            if rows:
                yield TextChunk(rows, lines, self._parsed)

    def step(self, scale: float) -> ScoreStep:
        """Return the step of the decimals seen so far."""
        return self._parsed.step(scale)


class ArrowChunk:
    """Rows of a Parquet table."""

    def __init__(
        self, batch: Any, first_row: int, parsed: Numbers, grid: ScoreGrid, where: str
    ) -> None:
        self._batch = batch
        self.lines = np.arange(first_row, first_row + batch.num_rows, dtype=np.int64)
        self._parsed = parsed
        self._grid = grid
        self._where = where

    def texts(self, column: int) -> list[str]:
        """Return the texts of a column; '' for a null."""
        values = self._batch.column(column)
        try:
            texts = values.cast(pa.string()).to_pylist()
        except (pa.ArrowException, UnicodeDecodeError) as error:
            raise refuse(
                self._where,
                f"the column holds values of type {values.type}.",
                "Give a column of texts or numbers.",
                column=self._batch.schema.names[column],
            ) from error
        return ["" if text is None else text for text in texts]

    def numbers(self, columns: Sequence[int]) -> Floats:
        """Return the numbers of some columns; NaN for a null."""
        values = np.empty((self._batch.num_rows, len(columns)))
        for place, column in enumerate(columns):
            array = self._batch.column(column)
            kind = array.type
            if pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_null(kind):
                numbers = array.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
                values[:, place] = numbers
                width = kind.bit_width if pa.types.is_floating(kind) else 64
                self._grid.see(values[:, place], FLOAT_EPSILON[width])
            else:
                parse = self._parsed.__getitem__
                values[:, place] = [parse(text) for text in self.texts(column)]
                self._grid.see(values[:, place], FLOAT_EPSILON[64])
        return values

    def cell(self, row: int, column: int) -> str:
        """Return the text of one cell; '' for a null."""
        value = self._batch.column(column)[row].as_py()
        return "" if value is None else str(value)


class MemoryTable:
    """Columns in memory, shown as a table: arrays, or what a DataFrame holds."""

    header_line: int | None = None

    def __init__(self, names: Sequence[str], columns: Sequence[Any], where: str) -> None:
        self.where = where
        self.header = tuple(names)
        self._parsed = Numbers()
        self._grid = ScoreGrid()
        self._batch = pa.RecordBatch.from_arrays([_arrow(values) for values in columns], names)

    def chunks(self, n_rows: int, problems: ProblemList) -> Iterator[Chunk]:
        """Yield chunks of at most `n_rows` rows."""
        for start in range(0, self._batch.num_rows, n_rows):
            rows = self._batch.slice(start, n_rows)
            yield ArrowChunk(rows, start + 1, self._parsed, self._grid, self.where)

    def step(self, scale: float) -> ScoreStep:
        """Return the step of the numbers seen so far."""
        return self._grid.step(scale)


def _arrow(values: Any) -> Any:
    """Return a column as Arrow holds it; values of mixed types as their texts."""
    try:
        return pa.array(values, from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError):
        return pa.array([None if one is None or one != one else str(one) for one in values])


def open_parquet(path: Path) -> pq.ParquetFile:
    """Return a Parquet file that is read in small blocks.

    By default what was read stays in memory until the file is closed, and a
    column of a row group, however long, is read at once.
    """
    return pq.ParquetFile(path, pre_buffer=False, buffer_size=PARQUET_BLOCK_BYTES)


def _check_expansion(path: Path, file: Any) -> None:
    """Refuse a file that becomes more than memory holds, as its own list of contents tells."""
    n_packed, contents = path.stat().st_size, file.metadata
    check_rows(str(path), n_packed, contents.num_rows)
    groups = [contents.row_group(place) for place in range(contents.num_row_groups)]
    check_bytes(str(path), n_packed, sum(group.total_byte_size for group in groups))
    # One long text, stored once and meant by every row, stands in no list: look at some rows.
    for batch in file.iter_batches(batch_size=ROWS_LOOKED_AT):
        n_rows = max(batch.num_rows, 1)
        check_bytes(str(path), n_packed, batch.nbytes * contents.num_rows // n_rows)
        return


class ParquetTable:
    """A Parquet file, read batch by batch."""

    header_line: int | None = None

    def __init__(self, path: Path) -> None:
        require_file(path)
        self.path = path
        self.where = str(path)
        self._parsed = Numbers()
        self._grid = ScoreGrid()
        try:
            with open_parquet(path) as file:
                _check_expansion(path, file)
                self.header = tuple(file.schema_arrow.names)
                self.metadata: dict[bytes, bytes] = dict(file.schema_arrow.metadata or {})
        except (pa.ArrowException, OSError, ValueError) as error:
            raise self._damaged() from error

    def _damaged(self) -> Exception:
        return refuse(
            self.where,
            "the file is no Parquet table, or not the whole of one.",
            "Copy or make it again.",
        )

    def chunks(self, n_rows: int, problems: ProblemList) -> Iterator[Chunk]:
        """Yield chunks of at most `n_rows` rows."""
        first_row = 1
        try:
            with open_parquet(self.path) as file:
                for batch in file.iter_batches(batch_size=n_rows):
                    if batch.num_rows == 0:
                        continue
                    yield ArrowChunk(batch, first_row, self._parsed, self._grid, self.where)
                    first_row += batch.num_rows
        except (pa.ArrowException, OSError, ValueError) as error:
            raise self._damaged() from error

    def step(self, scale: float) -> ScoreStep:
        """Return the step of the numbers seen so far."""
        return self._grid.step(scale)


def delimiter_of(path: Path, format_: Format) -> str:
    """Return what stands between cells: by the file's ending, else the format's own."""
    return {".csv": ",", ".tsv": "\t", ".tab": "\t"}.get(plain_suffix(path), format_.delimiter)


def open_table(
    path: Path | MemoryTable, format_: Format
) -> TextTable | ParquetTable | MemoryTable:
    """Return a table that is ready to be read; the header is read already."""
    if isinstance(path, MemoryTable):
        return path
    path = Path(path)
    if path.suffix in PARQUET_ENDINGS:
        return ParquetTable(path)
    return TextTable(path, delimiter_of(path, format_), format_)


LABEL_ARRAYS = ("id", "class_names", "true_class")


class ArrayChunk:
    """Some proteins, a row for each network."""

    def __init__(
        self,
        columns: list[list[str]],
        scores: Any,
        first_protein: int,
        n_networks: int,
        grid: ScoreGrid,
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
    """The arrays of an npz file, shown as a table with a row per protein and network."""

    header_line: int | None = None

    def __init__(self, path: Path) -> None:
        require_file(path)
        self.where = str(path)
        self._grid = ScoreGrid()
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

    def step(self, scale: float) -> ScoreStep:
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
