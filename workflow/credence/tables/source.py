"""A table as chunks of rows, from text, Parquet or arrays; what cells mean is not known here."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, compress, islice
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from credence.predictions import Floats, Integers
from credence.problems import InputError, ProblemList, nearest, refuse
from credence.tables.formats import Columns, Format, NameLookup
from credence.tables.npz import read_arrays
from credence.tables.text import SEMICOLON, RowReader, header_of, plain_suffix, require_file

PARQUET_ENDINGS = (".parquet", ".pq")
PARQUET_BLOCK_BYTES = 1 << 20
DELIMITER_NAMES = {",": "commas", "\t": "tabs", ";": "semicolons", "|": "bars", " ": "blanks"}
# Relative rounding of floats, by their width in bits.
FLOAT_EPSILON = {width: float(np.finfo(f"f{width // 8}").eps) for width in (16, 32, 64)}
NUMBER_PATTERN = re.compile(r"([+-]?)([0-9]*)(?:[.,]([0-9]*))?(?:[eE]([+-]?[0-9]{1,9}))?(\s*%)?")
# A comma after which three figures stand may be one of decimals or of thousands.
IN_THOUSANDS = re.compile(r"[+-]?[1-9][0-9]{0,2},[0-9]{3}(?![0-9])")
PERCENT_DECIMALS = 2
MOST_TEXTS_KEPT = 1 << 17
MOST_DECIMALS = 9  # more decimals than this are the digits of a float, not a step of the table
# Of Parquet and arrays: decimals tried when a table is looked at for a step.
MOST_GRID_DECIMALS = 6
SINGLE_SLACK = 1e-6  # share of the scale by which a sum of float32 may miss it
GRID_SLACK = 0.05  # share of a step by which a number may miss the grid through its binary form


class Numbers(dict[str, float]):
    """Text of a cell → number, NaN where it is none; parses each once, and learns the decimals.

    Decimals may follow a comma, and n % is n hundredths. What could as well be thousands (1,234)
    is a number only where `has_decimal_commas`: cells that semicolons separate.
    """

    def __init__(self, *, has_decimal_commas: bool = False) -> None:
        super().__init__()
        self._has_decimal_commas = has_decimal_commas
        self.decimals = 0
        self.digits = 1
        self.fewest_decimals = MOST_DECIMALS + 1

    def __missing__(self, text: str) -> float:
        if len(self) >= MOST_TEXTS_KEPT:
            self.clear()
        value = self._parse(text.strip())
        self[text] = value
        return value

    def _parse(self, text: str) -> float:
        match = NUMBER_PATTERN.fullmatch(text)
        if match is None or not (match[2] or match[3]):
            return math.nan
        if not self._has_decimal_commas and IN_THOUSANDS.match(text):
            return math.nan
        whole, fraction = match[2], match[3] or ""
        exponent = int(match[4] or 0) - (PERCENT_DECIMALS if match[5] else 0)
        value = float(f"{match[1]}{whole}.{fraction}e{exponent}")
        if not math.isfinite(value):
            return math.nan
        decimals = len(fraction) - exponent
        if value != 0:
            digits = len((whole + fraction).lstrip("0"))
            self.digits = max(self.digits, digits)
            self.fewest_decimals = min(self.fewest_decimals, decimals)
        self.decimals = max(self.decimals, decimals)
        return value

    def step(self, scale: float) -> ScoreStep:
        """Return the step that the texts seen allow."""
        is_even = self.fewest_decimals >= self.decimals
        relative = 0.0 if is_even else 10.0 ** (1 - self.digits)
        return ScoreStep(resolution=_resolution(self.decimals, scale), relative=relative)


@dataclass(frozen=True, kw_only=True)
class ScoreStep:
    """What rounding the numbers of a table have gone through."""

    resolution: float
    relative: float

    def tolerance(self, n_classes: int, scale: float) -> float:
        """Return by how much rounding alone can move the sum of a row."""
        rounded = n_classes * self.resolution / 2 + scale * self.relative / 2
        return rounded + self.least_tolerance(n_classes, scale)

    @staticmethod
    def least_tolerance(n_classes: int, scale: float) -> float:
        """Return by how much sums of single precision miss the scale, however they are printed."""
        return scale * max(n_classes * float(np.finfo(np.float32).eps), SINGLE_SLACK)


def _resolution(decimals: int, scale: float) -> float:
    """Return the step for a number of decimals; 0 where it says nothing."""
    if decimals > MOST_DECIMALS:
        return 0.0
    step = float(10.0**-decimals)
    # A table of ones and zeros has no decimals, yet no step of the whole scale.
    return step if step < scale else 0.0


class ScoreGrid:
    """Finds the step of floats: 10^-d, d the least from 0 to 6 of which all are multiples."""

    def __init__(self) -> None:
        self.decimals = 0
        self.epsilon = float(np.finfo(np.float64).eps)

    def see(self, values: Floats, epsilon: float) -> None:
        """Take more numbers into account."""
        self.epsilon = max(self.epsilon, epsilon)
        finite = values[np.isfinite(values)]
        if finite.size == 0:
            return
        greatest = float(np.abs(finite).max())
        while self.decimals <= MOST_GRID_DECIMALS:
            factor = 10.0**self.decimals
            slack = factor * greatest * epsilon
            if slack > GRID_SLACK:
                self.decimals = MOST_GRID_DECIMALS + 1
                break
            steps = finite * factor
            if bool((np.abs(steps - np.rint(steps)) <= slack).all()):
                break
            self.decimals += 1

    def step(self, scale: float) -> ScoreStep:
        """Return the step that the numbers seen allow."""
        is_grid = self.decimals <= MOST_GRID_DECIMALS
        return ScoreStep(
            resolution=_resolution(self.decimals, scale) if is_grid else 0.0, relative=self.epsilon
        )


class TextChunk:
    """Some rows of a text table, one after the other, all as long as the header."""

    def __init__(self, rows: list[list[str]], lines: Integers, parsed: Numbers) -> None:
        self.rows = rows
        self.lines = lines
        self._parsed = parsed

    def texts(self, column: int) -> list[str]:
        """Return the texts of a column; '' where a cell is empty."""
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
        """Return the text of one cell, as a message quotes it."""
        return self.rows[row][column]

    def take(self, rows: slice) -> TextChunk:
        """Return some of the rows."""
        return TextChunk(self.rows[rows], self.lines[rows], self._parsed)


class TextTable:
    """A CSV or TSV file, plain or packed."""

    def __init__(self, path: Path, delimiter: str, format_: Format) -> None:
        self.path = path
        self.where = str(path)
        self.delimiter = delimiter
        self.format = format_
        self._parsed = Numbers(has_decimal_commas=delimiter == SEMICOLON)
        self.step = self._parsed.step
        for rows, lines in self._rows().batches(1):
            if rows:
                self.header_line: int | None = None if format_.names else int(lines[0])
                self.header = format_.names or tuple(rows[0])
                start = "".join(rows[0]).lstrip()[:1]
                for sign, kind in ((">", "a FASTA file"), ("{", "a JSON file")):
                    if start == sign:
                        defect = f"this is {kind}, not a table."
                        remedy = "Give the path of the table."
                        raise refuse(self.where, defect, remedy, self.header_line)
                return
        raise refuse(self.where, "there is no header.", "Give a table with a header and rows.")

    def _rows(self) -> RowReader:
        return RowReader(self.path, self.delimiter, self.format.quoted, self.format.header_start)

    def chunks(self, n_rows: int, problems: ProblemList) -> Iterator[Chunk]:
        """Yield all rows, from the start each time; one of another length is a problem."""
        width = len(self.header)
        for rows, lines in self._rows().batches(n_rows):
            if len(lines) and lines[0] == self.header_line:
                rows, lines = rows[1:], lines[1:]
            if self.format.names and any(row[0].startswith("#") for row in rows):
                is_row = np.array([not row[0].startswith("#") for row in rows])
                rows, lines = list(compress(rows, is_row)), lines[is_row]
            is_divided = self.format.is_calls and self.format.calls is not None
            if self.format.names and not is_divided:
                rows = [self.format.cells(row) for row in rows]
            if is_divided and self.format.calls is not None:
                several = [self.format.calls(row) for row in rows]
                lines = np.repeat(lines, [len(part) for part in several])
                rows = list(chain.from_iterable(several))
            if set(map(len, rows)) - {width}:
                for line, row in zip(lines.tolist(), rows, strict=True):
                    if len(row) != width:
                        defect = f"the row has {len(row)} cells, the header has {width}."
                        problems.add(defect, "Give each row as many cells as the header.", line)
                is_whole = np.array([len(row) == width for row in rows], dtype=np.bool_)
                rows, lines = [row for row in rows if len(row) == width], lines[is_whole]
            if rows:
                yield TextChunk(rows, lines, self._parsed)


def explain_delimiter(table: TextTable, fits: Callable[[TextTable], bool]) -> None:
    """Refuse a table that fits with another character between cells."""
    for delimiter, name in DELIMITER_NAMES.items():
        if delimiter == table.delimiter:
            continue
        try:
            other = TextTable(table.path, delimiter, table.format)
        except InputError:
            continue
        if fits(other):
            expected = DELIMITER_NAMES[table.delimiter]
            remedy = f"Save the table with {expected} between its cells."
            if delimiter == "\t":
                remedy = "Let the name of the file end in .tsv."
            defect = f"the cells are separated by {name}, not by {expected}."
            raise refuse(table.where, defect, remedy, other.header_line)


class GridTable:
    """A table whose numbers come as floats, and that has no lines."""

    header_line: int | None = None

    def __init__(self, where: str) -> None:
        self.where = where
        self.parsed = Numbers()
        self.grid = ScoreGrid()
        self.step = self.grid.step


class ArrowChunk:
    """Some rows of a table whose numbers come as floats."""

    def __init__(self, table: GridTable, batch: Any, lines: Integers) -> None:
        self._table = table
        self._batch = batch
        self.lines = lines

    def texts(self, column: int) -> list[str]:
        """Return the texts of a column; '' for a null."""
        values = self._batch.column(column)
        try:
            texts = values.cast(pa.string()).to_pylist()
        except (pa.ArrowException, UnicodeDecodeError) as error:
            defect = f"the column holds values of type {values.type}."
            name = self._batch.schema.names[column]
            remedy = "Give a column of texts or numbers."
            raise refuse(self._table.where, defect, remedy, column=name) from error
        return ["" if text is None else text for text in texts]

    def numbers(self, columns: Sequence[int]) -> Floats:
        """Return the numbers of some columns; NaN for a null."""
        values = np.empty((self._batch.num_rows, len(columns)))
        for place, column in enumerate(columns):
            array = self._batch.column(column)
            kind, width = array.type, 64
            if pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_null(kind):
                width = kind.bit_width if pa.types.is_floating(kind) else width
                array = array.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
            else:
                array = [self._table.parsed[text] for text in self.texts(column)]
            values[:, place] = array
            self._table.grid.see(values[:, place], FLOAT_EPSILON[width])
        return values

    def cell(self, row: int, column: int) -> str:
        """Return the text of one cell; '' for a null."""
        values = self._batch.column(column).slice(row, 1)
        if pa.types.is_floating(values.type) and not values.null_count:
            return str(values.to_numpy()[0])  # no more digits than its width has
        value = values[0].as_py()
        return "" if value is None else str(value)

    def take(self, rows: slice) -> ArrowChunk:
        """Return some of the rows."""
        return ArrowChunk(self._table, self._batch[rows], self.lines[rows])


Chunk = TextChunk | ArrowChunk


class MemoryTable(GridTable):
    """Columns in memory, shown as a table: arrays, or what a DataFrame holds."""

    def __init__(self, names: Sequence[str], columns: Sequence[Any], where: str) -> None:
        super().__init__(where)
        self.header = tuple(names)
        self._batch = pa.RecordBatch.from_arrays([_arrow(values) for values in columns], names)

    def chunks(self, n_rows: int, problems: ProblemList) -> Iterator[Chunk]:
        """Yield chunks of at most `n_rows` rows."""
        for start in range(0, self._batch.num_rows, n_rows):
            batch = self._batch.slice(start, n_rows)
            yield ArrowChunk(self, batch, 1 + start + np.arange(batch.num_rows))


def _arrow(values: Any) -> Any:
    """Return a column as Arrow holds it, in one piece; values of mixed types as their texts."""
    try:
        held = pa.array(values, from_pandas=True)
        return held.combine_chunks() if isinstance(held, pa.ChunkedArray) else held
    except (pa.ArrowException, TypeError, ValueError):
        return pa.array([text_of(value) for value in values])


def text_of(value: Any) -> str:
    """Return the text of a value; '' for None, NaN and the NA of pandas."""
    is_itself = value == value  # NaN is not, and NA does not say
    is_there = value is not None and isinstance(is_itself, bool | np.bool_) and is_itself
    return str(value) if is_there else ""


def open_parquet(path: Path) -> pq.ParquetFile:
    """Return a Parquet file read in small blocks: else all that was read stays in memory."""
    return pq.ParquetFile(path, pre_buffer=False, buffer_size=PARQUET_BLOCK_BYTES)


class ParquetTable(GridTable):
    """A Parquet file, read batch by batch."""

    def __init__(self, path: Path) -> None:
        require_file(path)
        super().__init__(str(path))
        self.path = path
        with self._opened() as file:
            self.header = tuple(file.schema_arrow.names)
            self.metadata: dict[bytes, bytes] = dict(file.schema_arrow.metadata or {})

    @contextmanager
    def _opened(self) -> Iterator[Any]:
        try:
            with open_parquet(self.path) as file:
                yield file
        except (pa.ArrowException, OSError, ValueError) as error:
            defect = "the file is no Parquet table, or not the whole of one."
            raise refuse(self.where, defect, "Copy or make it again.") from error

    def chunks(self, n_rows: int, problems: ProblemList) -> Iterator[Chunk]:
        """Yield chunks of at most `n_rows` rows."""
        first_row = 1
        with self._opened() as file:
            for batch in file.iter_batches(batch_size=n_rows):
                if batch.num_rows:
                    yield ArrowChunk(self, batch, first_row + np.arange(batch.num_rows))
                    first_row += batch.num_rows


ROWS_OF_LONG = 1 << 16


class LongTable:
    """A table with a row for each protein and class, shown as one with a row for each protein."""

    where: str
    header: tuple[str, ...]
    header_line: int | None = None

    def __init__(self, table: TableSource, columns: Columns, known: NameLookup) -> None:
        self.where, self._parsed = table.where, Numbers()
        self.step = self._parsed.step
        problems = ProblemList(table.where)
        places = {name: place for place, name in enumerate(table.header)}
        truth = columns.true_class if columns.true_class in places else None
        roles = {"id": columns.id, "term": columns.term, "score": columns.score}
        if "true_class" not in columns.optional and truth is None and columns.true_class:
            roles["true_class"] = columns.true_class
        for role, name in roles.items():
            if name not in places:
                defect = f"the column {name!r} is missing ({role.replace('_', ' ')})."
                problems.add(defect, nearest(str(name), table.header), table.header_line)
        problems.raise_any()
        wanted = [places[str(name)] for name in (*list(roles.values())[:3], truth) if name]
        # Of each protein its first line, its true class, and the score of each class.
        self._rows: dict[str, tuple[int, str, dict[str, str]]] = {}
        terms: set[str] = set()
        for chunk in table.chunks(ROWS_OF_LONG, problems):
            cells = zip(*(chunk.texts(place) for place in wanted), strict=True)
            for line, (name, term, score, *label) in zip(chunk.lines.tolist(), cells, strict=True):
                row = self._rows.setdefault(name, (line, label[0] if label else "", {}))
                if term in row[2]:
                    defect = f"protein {name!r} has a score for {term!r} already."
                    problems.add(defect, "Keep one of the rows.", line, columns.term)
                if label and label[0] != row[1]:
                    defect = f"protein {name!r} has the true class {row[1]!r} in line {row[0]}."
                    problems.add(defect, "Give all its rows the same one.", line, truth)
                row[2][term] = score
                terms.add(term)
        problems.raise_any()
        there = {known[term] for term in terms}
        absent = [name for place, name in enumerate(known.class_names) if place not in there]
        self._terms = sorted(terms) + absent
        self._has_truth = truth is not None
        self.header = (str(columns.id), *([truth] if truth else []), *self._terms)

    def chunks(self, n_rows: int, problems: ProblemList) -> Iterator[Chunk]:
        """Yield chunks of at most `n_rows` proteins; a class that has no row scores 0."""
        left = iter(self._rows.items())
        while some := list(islice(left, n_rows)):
            rows = []
            for name, (_, label, scores) in some:
                labels = [label] if self._has_truth else []
                rows.append([name, *labels, *(scores.get(term, "0") for term in self._terms)])
            lines = np.array([row[0] for _, row in some], dtype=np.int64)
            yield TextChunk(rows, lines, self._parsed)


def delimiter_of(path: Path, format_: Format) -> str:
    """Return what stands between cells: by the file's ending, else the format's own.

    Semicolons, as a spreadsheet writes them, are known by a header without the other mark.
    """
    usual = {".csv": ",", ".tsv": "\t", ".tab": "\t"}.get(plain_suffix(path), format_.delimiter)
    header = header_of(path, format_.header_start)
    return SEMICOLON if SEMICOLON in header and usual not in header else usual


def open_table(path: Path | MemoryTable, format_: Format) -> TableSource:
    """Return a table that is ready to be read; the header is read already."""
    if isinstance(path, MemoryTable):
        return path
    path = Path(path)
    if format_.arrays:
        return ArrayTable(path)
    if path.suffix in PARQUET_ENDINGS:
        return ParquetTable(path)
    return TextTable(path, delimiter_of(path, format_), format_)


LABEL_ARRAYS = ("id", "class_names", "true_class")


class ArrayTable(GridTable):
    """The arrays of an npz file, shown as a table with a row per protein and network."""

    def __init__(self, path: Path) -> None:
        require_file(path)
        super().__init__(str(path))
        arrays = read_arrays(path)
        problems = ProblemList(self.where)
        for name in LABEL_ARRAYS[:2]:
            if name not in arrays:
                problems.add(f"the array {name!r} is missing.", nearest(name, list(arrays)))
        self._matrices = _networks(arrays, problems)
        problems.raise_any()
        n_proteins, n_classes = (self._matrices[0].shape[axis] for axis in (0, -1))
        lengths = {"id": n_proteins, "class_names": n_classes, "true_class": n_proteins}
        for name, length in lengths.items():
            if name in arrays and arrays[name].shape != (length,):
                defect = f"the array {name!r} has the shape {arrays[name].shape}, "
                defect += f"the scores ask for ({length},)."
                problems.add(defect, "Give one entry each.")
        problems.raise_any()
        self._labels = [arrays[name] for name in ("id", "true_class") if name in arrays]
        fixed = ("id", "network", "true_class")[: 1 + len(self._labels)]
        self.header = (*fixed, *map(str, arrays["class_names"].tolist()))

    def chunks(self, n_rows: int, problems: ProblemList) -> Iterator[Chunk]:
        """Yield chunks of whole proteins."""
        # A matrix of each network, or one array of all.
        first = self._matrices[0]
        n_networks = len(self._matrices) if first.ndim == 2 else first.shape[1]
        n_proteins = max(1, n_rows // n_networks)
        networks = [str(number + 1) for number in range(n_networks)]
        for start in range(0, len(first), n_proteins):
            here = slice(start, start + n_proteins)
            ids, *truth = (
                [str(name) for name in labels[here].tolist() for _ in networks]
                for labels in self._labels
            )
            matrices = [matrix[here] for matrix in self._matrices]
            deep = np.stack(matrices, axis=1) if first.ndim == 2 else matrices[0]
            # Arrow holds numbers in this machine's order of bytes, and none wider than a double.
            kind = f"{deep.dtype.kind}{min(deep.dtype.itemsize, 8)}"
            flat = deep.reshape(-1, deep.shape[2]).astype(kind)
            columns = [ids, networks * len(deep), *truth, *flat.T]
            batch = pa.RecordBatch.from_arrays([*map(pa.array, columns)], self.header)
            yield ArrowChunk(self, batch, 1 + start + np.arange(len(flat)) // n_networks)


def _networks(arrays: Mapping[str, NDArray[Any]], problems: ProblemList) -> list[NDArray[Any]]:
    """Return the matrix of each network, or the one array of all; report what is neither."""
    scores = {
        name: array
        for name, array in arrays.items()
        if name not in LABEL_ARRAYS and array.ndim in (2, 3) and array.dtype.kind in "fiu"
    }
    shapes = {array.shape for array in scores.values()}
    if len(shapes) != 1 or (len(scores) > 1 and len(next(iter(shapes))) == 3):
        listed = ", ".join(f"{name} {array.shape}" for name, array in arrays.items())
        defect = f"the arrays are no score matrices of networks ({listed})."
        remedy = "Give one array (proteins, networks, classes), or a matrix of the same shape"
        problems.add(defect, f"{remedy} for each network.")
        return []
    n_proteins, *middle, n_classes = shapes.pop()
    shape = (n_proteins, middle[0] if middle else len(scores), n_classes)
    if 0 in shape:
        problems.add(f"the scores have the shape {shape}.", "Give scores of some proteins.")
    return list(scores.values())


TableSource = TextTable | ParquetTable | MemoryTable | LongTable | ArrayTable
