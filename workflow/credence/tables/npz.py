"""Arrays of an npz file, read whole or some rows at a time; never pickled ones, which run code."""

import lzma
import struct
import tokenize
import zipfile
import zlib
from collections.abc import Generator, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from functools import cached_property
from math import prod
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.lib.format as npy
import pyarrow as pa
import pyarrow.parquet as pq

from credence.predictions import Floats, Strings
from credence.problems import Problem, nearest, raise_any, refuse
from credence.tables.text import require_file

BLOCK_BYTES = 1 << 18
PICKLED = "allow_pickle"  # stands in what numpy says of pickled arrays
READ_HEADER = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
# What reading damaged bytes as an archive, a header or numbers can raise.
DAMAGE = (
    *(OSError, ValueError, EOFError, KeyError, SyntaxError, MemoryError, RuntimeError, TypeError),
    *(lzma.LZMAError, struct.error, tokenize.TokenError, zipfile.BadZipFile, zlib.error),
)


@dataclass(frozen=True, kw_only=True)
class Member:
    """One array of an archive, not yet read."""

    name: str  # As it was saved
    info: zipfile.ZipInfo  # Where it is
    shape: tuple[int, ...]  # Its shape
    dtype: np.dtype[Any]  # Of its entries
    is_by_rows: bool  # Whether its rows follow each other in the file


class NpzFile:
    """The arrays of an npz file; every byte of it has been read once and is not damaged."""

    def __init__(self, path: Path) -> None:
        self.path, self.where = path, str(path)
        if not zipfile.is_zipfile(path):
            what = "the file is no npz archive, or not the whole of one."
            raise refuse(self.where, what, "Save the arrays with np.savez.")
        self.members: dict[str, Member] = {}
        with self._opened() as archive:
            for info in archive.infolist():
                member = self._member(archive, info)
                if member is not None:
                    self.members[member.name] = member

    @contextmanager
    def _opened(self) -> Iterator[zipfile.ZipFile]:
        try:
            with zipfile.ZipFile(self.path) as archive:
                yield archive
        except DAMAGE as error:
            if PICKLED in str(error):
                what = "an array holds Python objects, which could run code."
                remedy = "Save texts as arrays of text (dtype str)."
                raise refuse(self.where, what, remedy) from error
            what = "the arrays are damaged."
            raise refuse(self.where, what, "Copy or make the file again.") from error

    def _member(self, archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Member | None:
        """Return what a header says of an array, once all its bytes were read; None of others."""
        with archive.open(info) as stream:
            is_array = stream.read(len(npy.MAGIC_PREFIX)) == npy.MAGIC_PREFIX
            while stream.read(BLOCK_BYTES):  # whose checksum is compared at its end
                pass
        if not is_array:
            return None
        name = info.filename.removesuffix(".npy")
        with archive.open(info) as stream:
            version = npy.read_magic(stream)
            if version not in READ_HEADER:  # has names that are not Latin; holds no scores
                array = _whole(archive, info)
                return Member(
                    name=name, info=info, shape=array.shape, dtype=array.dtype, is_by_rows=False
                )
            shape, is_by_columns, dtype = READ_HEADER[version](stream)
            n_left = info.file_size - stream.tell()
        if dtype.hasobject:
            raise ValueError(PICKLED)
        if min((0, *shape)) < 0 or prod(shape) * dtype.itemsize > n_left:
            raise EOFError
        return Member(
            name=name,
            info=info,
            shape=shape,
            dtype=dtype,
            is_by_rows=len(shape) > 0 and not is_by_columns,
        )

    def whole(self, name: str) -> Any:
        """Return one array."""
        with self._opened() as archive:
            return _whole(archive, self.members[name].info)

    def rows(self, names: Sequence[str], n_rows: int) -> Iterator[tuple[Any, ...]]:
        """Yield so many rows of arrays at a time; one saved by columns is held whole meanwhile."""
        with self._opened() as archive, ExitStack() as stack:
            pieces = [_pieces(archive, self.members[name], n_rows) for name in names]
            for piece in pieces:
                stack.enter_context(closing(piece))
            yield from zip(*pieces, strict=True)


def _whole(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Any:
    with archive.open(info) as stream:
        return npy.read_array(stream, allow_pickle=False)


def _pieces(archive: zipfile.ZipFile, member: Member, n_rows: int) -> Generator[Any]:
    n_all, *rest = member.shape
    starts = range(0, n_all, n_rows)
    if not member.is_by_rows:
        whole = _whole(archive, member.info)
        for start in starts:
            yield whole[start : start + n_rows]
        return
    n_bytes = prod(rest) * member.dtype.itemsize
    with archive.open(member.info) as stream:
        READ_HEADER[npy.read_magic(stream)](stream)
        for start in starts:
            n_here = min(n_rows, n_all - start)
            yield np.ndarray((n_here, *rest), member.dtype, buffer=_read(stream, n_here * n_bytes))


def _read(stream: IO[bytes], n_bytes: int) -> bytearray:
    """Return so many bytes; in blocks, as an archive joins what it unpacks piece by piece."""
    data = bytearray(n_bytes)
    for start in range(0, n_bytes, BLOCK_BYTES):
        block = stream.read(min(BLOCK_BYTES, n_bytes - start))
        if len(block) < min(BLOCK_BYTES, n_bytes - start):
            raise EOFError
        data[start : start + len(block)] = block
    return data


GREATEST = 1e18  # whose square single precision can hold
REMEDY = "Give an npz file with the arrays id and vectors, or Parquet with the column id."


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
        file = NpzFile(path)
        arrays = file.members
        name = "ids" if "ids" in arrays and "id" not in arrays else "id"
        for needed in (name, "vectors"):
            if needed not in arrays:
                what = f"the array {needed!r} is missing."
                raise refuse(where, what, nearest(needed, list(arrays)))
        shape, wide = arrays[name].shape, arrays["vectors"].shape
        if len(shape) != 1 or len(wide) != 2 or shape != wide[:1]:
            what = f"'{name}' has the shape {shape}, 'vectors' {wide}."
            raise refuse(where, what, "Give a row of vectors for each id.")
        if arrays["vectors"].dtype.kind not in "fiu":
            raise refuse(where, "'vectors' holds no numbers.", "Give numbers.")
        ids, values = file.whole(name).tolist(), file.whole("vectors")
    else:
        raise refuse(where, "its ending is neither .npz nor .parquet.", REMEDY)
    return _checked(where, ids, values)


def _parquet(path: Path) -> tuple[list[Any], Any]:
    where = str(path)
    try:
        table = pq.read_table(path)
        names = table.column_names  # which may be no texts, as ids may be
        ids = table["id"].to_pylist() if "id" in names else None
    except (pa.ArrowException, OSError, ValueError) as error:
        raise refuse(where, "this is no Parquet file, or not the whole of one.", REMEDY) from error
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
    problems = []
    seen: dict[str, int] = {}
    for row, id_ in enumerate(map(str, ids), start=1):
        if seen.setdefault(id_, row) != row:
            what = f"the id {id_!r} stands in row {seen[id_]} already."
            problems.append(
                Problem(
                    where=where, what=what, remedy="Remove one of them.", line=row, column="id"
                )
            )
    if values.shape[1] == 0 or len(ids) == 0:
        problems.append(Problem(where=where, what="it holds no numbers.", remedy=REMEDY))
    numbers = np.asarray(values, dtype=np.float64)
    for bad in np.flatnonzero(~(np.abs(numbers) <= GREATEST).all(axis=1)).tolist():
        what = f"the vector of {ids[bad]!r} has a number that is not finite, or beyond 1e18."
        problems.append(
            Problem(where=where, what=what, remedy="Remove the protein.", line=bad + 1)
        )
    raise_any(problems)
    return Vectors(ids=np.array([str(id_) for id_ in ids], dtype=object), values=numbers)
