"""Files that are whole or absent, and the same bytes every time: floats come back bit for bit."""

import errno
import fcntl
import glob
import gzip
import hashlib
import io
import os
import re
import secrets
import shutil
import stat
import tempfile
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO, Self, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from credence.predictions import Floats
from credence.problems import DISK_ERRORS, InputError, refuse
from credence.records import json_text, refuse_loop, signed

DEVICE = re.compile(r"(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?", re.IGNORECASE)


def device_of(name: str) -> str | None:
    """Return the device that Windows takes a name for, whatever its ending, or None."""
    match = DEVICE.fullmatch(name)
    return None if match is None else match[1]


TABLE_ENDINGS = (".tsv", ".tsv.gz", ".tsv.zst", ".parquet")
GROUP_ROWS = 100_000  # of a TSV turned into text together; of a Parquet row group
GZIP_LEVEL = 6
TOKEN_BYTES = 4  # of the name of the file beside
NEEDS_QUOTES = r'[\t\n\r"]'
# What a spreadsheet takes for a formula, apostrophes before it included: no two texts become one.
FORMULA_START = r"^'*[=+\-@\t\r]"

OPENING_ERRORS = {
    errno.EACCES: ("this folder may not be written to", "Choose a folder of your own."),
    errno.EPERM: ("this folder may not be written to", "Choose a folder of your own."),
    errno.ENOTDIR: ("part of the path is a file, not a folder", "Choose another folder."),
    errno.EEXIST: ("part of the path is a file, not a folder", "Choose another folder."),
    errno.ENOENT: ("its folder cannot be made", "Choose another folder."),
}


@contextmanager
def _refusing(path: Path, known: Mapping[int, tuple[str, str]]) -> Iterator[None]:
    """Refuse with what is wrong and its remedy where the system reports a known error."""
    try:
        yield
    except OSError as error:
        if (reason := known.get(error.errno or 0)) is None:
            raise
        raise refuse(str(path), f"cannot be written, {reason[0]}.", reason[1]) from error


def _is_device(path: Path) -> bool:
    """Return whether a path is a device or a pipe; refuse a folder."""
    with _refusing(path, DISK_ERRORS | OPENING_ERRORS):
        try:
            mode = path.stat().st_mode
        except FileNotFoundError:
            return False
    if stat.S_ISDIR(mode):
        raise refuse(str(path), "this is a folder.", "Give the name of a file to write.")
    return not stat.S_ISREG(mode)


def _open_beside(path: Path) -> tuple[Path, int]:
    """Return a new empty file in the folder of `path`, and the descriptor of its lock."""
    with _refusing(path, DISK_ERRORS | OPENING_ERRORS):
        path.parent.mkdir(parents=True, exist_ok=True)
        for left in path.parent.glob("." + "?" * 2 * TOKEN_BYTES + f"-{glob.escape(path.name)}"):
            with suppress(OSError), left.open("rb") as handle:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                left.unlink(missing_ok=True)
        temporary = path.parent / f".{secrets.token_hex(TOKEN_BYTES)}-{path.name}"
        # Not tempfile: that makes files that only their owner may read.
        lock = os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666)
        with suppress(OSError):  # a file system without locks
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return temporary, lock


def _refuse_device_name(path: Path) -> None:
    if (device := device_of(path.name)) is not None:
        defect = f"nobody can open this file on Windows, where {device!r} is a device."
        raise refuse(str(path), defect, "Choose another name.")


@contextmanager
def atomic(path: Path) -> Iterator[Path]:
    """Give a file beside `path` that takes its place when all went well; a device is its own."""
    path = Path(path)
    if _is_device(path):
        yield path
        return
    _refuse_device_name(path)
    place = path.resolve()
    temporary, lock = _open_beside(place)
    try:
        with _refusing(path, DISK_ERRORS):
            yield temporary
            with temporary.open("rb+") as handle:
                os.fsync(handle.fileno())
            temporary.replace(place)
    finally:
        os.close(lock)
        temporary.unlink(missing_ok=True)


@contextmanager
def one_writer(path: Path) -> Iterator[None]:
    """Keep others from writing anything beside `path`, so that what is read first stays so."""
    refuse_loop(path)
    with _refusing(path, DISK_ERRORS | OPENING_ERRORS):
        path.resolve().parent.mkdir(parents=True, exist_ok=True)
        folder = os.open(path.resolve().parent, os.O_RDONLY)
    try:
        with suppress(OSError):  # a file system without locks
            fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


@contextmanager
def beside(path: Path) -> Iterator[Path]:
    """Give the name of a Parquet table beside `path`, gone at the end, as after a killed one."""
    check_table_ending(path)
    _refuse_device_name(path)
    if _is_device(path):
        with tempfile.TemporaryDirectory() as folder:
            yield Path(folder) / f"{path.name}.parquet"
        return
    place = path.resolve()
    probe, lock = _open_beside(place)  # refuses a folder that cannot be written to
    os.close(lock)
    probe.unlink()
    temporary = place.with_name(f".rows-{place.name}.parquet")
    try:
        yield temporary
    except InputError as error:  # which names the file that the user asked for
        hidden, asked = str(temporary), str(path)
        named = (
            replace(problem, where=asked) if problem.where == hidden else problem
            for problem in error.problems
        )
        raise InputError(named) from error
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def open_output(path: Path) -> Iterator[BinaryIO]:
    """Give a binary file that appears at `path` when all went well; .gz has no time stamp."""
    path = Path(path)
    with atomic(path) as temporary, temporary.open("wb") as raw, ExitStack() as stack:
        handle: Any = raw
        if path.suffix == ".gz":
            handle = stack.enter_context(gzip.GzipFile("", "wb", GZIP_LEVEL, raw, mtime=0))
        elif path.suffix == ".zst":
            handle = stack.enter_context(pa.CompressedOutputStream(raw, "zstd"))
        yield cast(BinaryIO, handle)


def write_text(path: Path, text: str) -> None:
    """Write a text as UTF-8, whole or not at all."""
    with open_output(path) as handle:
        handle.write(text.encode("utf-8"))


def write_json(path: Path, record: Any) -> None:
    """Write a record as JSON: floats bit for bit, NaN as null, keys in their order."""
    write_text(path, json_text(record))


def write_record(path: Path | str | None, value: Any) -> None:
    """Write an object as JSON with its own digest, for `read_record`, where a path is given."""
    if path is not None:
        write_json(Path(path), signed(value))


def _arrow(values: Any) -> pa.Array:
    """Return a column as Arrow knows it; NaN stays a number."""
    if isinstance(values, pa.Array):
        return values
    if isinstance(values, pa.ChunkedArray):
        return values.combine_chunks()
    if isinstance(values, np.ndarray) and values.dtype.kind in "US":
        values = values.astype(object)
    column = pa.array(values, from_pandas=False)
    return column.cast(pa.string()) if pa.types.is_null(column.type) else column


LEAST, MOST = 1e-6, 0.999999  # with six decimals, nearest to 0 and to 1
EXACT_BELOW = 1e9  # greater numbers have less than six decimals
# Columns that are to stay on their side of a limit from above, and those of the classifier.
ROUNDED_UP = ("upper", "q_value", "expected_false")
AS_GIVEN = ("score", "threshold")


def six_decimals(numbers: Floats, *, up: bool = False) -> Floats:
    """Return numbers rounded down, or up, to six decimals; none is 0 or 1 that was not (1062)."""
    rounded = np.round(numbers, 6)
    is_beyond, step = (rounded < numbers, LEAST) if up else (rounded > numbers, -LEAST)
    rounded = np.where(is_beyond, np.round(rounded + step, 6), rounded)
    is_inside = (numbers > 0) & (numbers < 1)
    rounded = np.where(is_inside, np.clip(rounded, LEAST, MOST), rounded)
    return np.where(np.abs(numbers) < EXACT_BELOW, rounded, numbers)


def _in_six_decimals(rows: pa.RecordBatch) -> pa.RecordBatch:
    columns = [
        pa.array(six_decimals(column.to_numpy(zero_copy_only=False), up=name.endswith(ROUNDED_UP)))
        if pa.types.is_floating(column.type) and not name.endswith(AS_GIVEN)
        else column
        for name, column in zip(rows.schema.names, rows.columns, strict=True)
    ]
    return pa.record_batch(columns, rows.schema.names)


def _text_cells(column: pa.Array, spreadsheet_safe: bool) -> pa.Array:
    """Return the cells of a column as they stand in a TSV; nothing known is empty."""
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if pa.types.is_floating(column.type):
        column = pc.if_else(pc.is_nan(column), pa.scalar(None, column.type), column)
    is_text = pa.types.is_string(column.type) or pa.types.is_large_string(column.type)
    cells = pc.fill_null(column.cast(pa.string()), "")
    if not is_text:
        return cells
    if spreadsheet_safe:
        is_formula = pc.match_substring_regex(cells, FORMULA_START)
        if pc.any(is_formula).as_py():
            cells = pc.if_else(is_formula, pc.binary_join_element_wise("'", cells, ""), cells)
    needs_quotes = pc.match_substring_regex(cells, NEEDS_QUOTES)
    if pc.any(needs_quotes).as_py():
        quoted = pc.binary_join_element_wise('"', pc.replace_substring(cells, '"', '""'), '"', "")
        cells = pc.if_else(needs_quotes, quoted, cells)
    return cells


def _lines(table: pa.RecordBatch, spreadsheet_safe: bool) -> bytes:
    cells = [_text_cells(column, spreadsheet_safe) for column in table.columns]
    rows = pc.binary_join_element_wise(*cells, "\t") if len(cells) > 1 else cells[0]
    whole = pa.ListArray.from_arrays(pa.array([0, len(rows)], pa.int32()), rows)
    return cast(bytes, pc.binary_join(whole, "\n")[0].as_buffer().to_pybytes()) + b"\n"


def check_table_ending(path: Path) -> None:
    """Refuse a path whose ending names no kind of table."""
    if not str(path).endswith(TABLE_ENDINGS):
        known = f"{', '.join(TABLE_ENDINGS[:-1])} or {TABLE_ENDINGS[-1]}"
        defect, remedy = "its ending names no kind of table.", f"Give a name that ends in {known}."
        raise refuse(str(path), defect, remedy)


class TableWriter:
    """A table that grows by chunks, the same bytes for any; it appears when complete."""

    def __init__(
        self,
        path: Path,
        names: Sequence[str],
        *,
        spreadsheet_safe: bool = False,
        in_six_decimals: bool = False,
        metadata: Mapping[str, str] | None = None,
    ) -> None:
        self._path = Path(path)
        self._names = list(names)
        self._spreadsheet_safe = spreadsheet_safe
        self._in_six_decimals = in_six_decimals  # as text; Parquet has all
        self._metadata = dict(metadata or {})
        self._is_parquet = self._path.suffix == ".parquet"
        self._stack = ExitStack()
        self._schema: Any = None
        self._waiting: list[pa.RecordBatch] = []
        self._n_waiting = 0
        self._handle: BinaryIO  # once entered
        self._parquet: Any = None

    def __enter__(self) -> Self:
        """Open the file beside the place of the table."""
        check_table_ending(self._path)
        handle = self._stack.enter_context(open_output(self._path))
        self._handle = handle
        if not self._is_parquet:
            cells = [pa.array([name], pa.string()) for name in self._names]
            header = pa.record_batch(cells, self._names)
            handle.write(_lines(header, self._spreadsheet_safe))
        return self

    def write(self, columns: Mapping[str, Any]) -> None:
        """Append rows."""
        if list(columns) != self._names:
            raise ValueError(f"columns {list(columns)} are not {self._names}")
        batch = pa.record_batch([_arrow(values) for values in columns.values()], self._names)
        if self._schema is None:
            self._schema = batch.schema
        elif batch.schema != self._schema:
            batch = batch.cast(self._schema)
        self._waiting.append(batch)
        self._n_waiting += batch.num_rows
        if self._n_waiting >= GROUP_ROWS:
            self._flush(GROUP_ROWS)

    def _flush(self, least: int) -> None:
        """Write what waits, in pieces of a fixed number of rows."""
        rows = pa.Table.from_batches(self._waiting).combine_chunks()
        start = 0
        while len(rows) - start >= least and start < len(rows):
            self._write_piece(rows.slice(start, GROUP_ROWS))
            start += GROUP_ROWS
        rest = rows.slice(start)
        self._waiting = rest.to_batches() if len(rest) else []
        self._n_waiting = len(rest)

    def _write_piece(self, rows: pa.Table) -> None:
        if not self._is_parquet:
            batch = rows.combine_chunks().to_batches()[0]
            if self._in_six_decimals:
                batch = _in_six_decimals(batch)
            self._handle.write(_lines(batch, self._spreadsheet_safe))
            return
        if self._parquet is None:
            self._open_parquet(rows.schema)
        self._parquet.write_table(rows, row_group_size=GROUP_ROWS)

    def _open_parquet(self, schema: Any) -> None:
        if self._metadata:
            schema = schema.with_metadata(self._metadata)
        self._parquet = pq.ParquetWriter(self._handle, schema, compression="zstd")

    def __exit__(self, kind: type[BaseException] | None, *error: Any) -> bool | None:
        """Complete the table, or remove what was written after an error."""
        if kind is not None:
            with suppress(OSError):  # else it would be closed later, and complain of its file
                if self._parquet is not None:
                    self._parquet.close()
            return self._stack.__exit__(kind, *error)
        with self._stack:
            if self._waiting:
                self._flush(1)
            if self._is_parquet:
                if self._parquet is None:
                    texts = pa.schema([(name, pa.string()) for name in self._names])
                    self._open_parquet(texts if self._schema is None else self._schema)
                self._parquet.close()
        return None


def write_table(path: Path, columns: Mapping[str, Any], **how: Any) -> None:
    """Write a table as its ending says, NaN as an empty cell; `how`: see :class:`TableWriter`."""
    with TableWriter(path, list(columns), **how) as writer:
        writer.write(columns)


EPOCH = (1980, 1, 1, 0, 0, 0)  # the first date that a zip file can hold
READABLE = 0o100644 << 16  # an ordinary file that all may read
UNIX = 3
SUMS = "SHA256SUMS"
COPY_BYTES = 1 << 20


def write_archive(path: Path, folder: str, members: Mapping[str, str | Path]) -> None:
    """Write a zip file of one folder, with a digest of every file in it."""
    sums = []
    with open_output(path) as handle, zipfile.ZipFile(handle, "w") as archive:
        for name in sorted(members):
            member = members[name]
            text = member if isinstance(member, str) else None
            with Path(member).open("rb") if text is None else io.BytesIO(text.encode()) as source:
                sums.append(f"{hashlib.file_digest(source, 'sha256').hexdigest()}  {name}\n")
                source.seek(0)
                _add(archive, f"{folder}/{name}", source)
        _add(archive, f"{folder}/{SUMS}", io.BytesIO("".join(sums).encode()))


def _add(archive: zipfile.ZipFile, name: str, source: BinaryIO) -> None:
    info = zipfile.ZipInfo(name, EPOCH)
    info.compress_type = zipfile.ZIP_DEFLATED
    info.external_attr, info.create_system = READABLE, UNIX
    with archive.open(info, "w", force_zip64=True) as target:
        shutil.copyfileobj(source, target, COPY_BYTES)
