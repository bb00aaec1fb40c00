"""Arrays of an npz file, read whole or some rows at a time.

Reading runs no code: pickled arrays are refused.
"""

from __future__ import annotations

import lzma
import struct
import tokenize
import zipfile
import zlib
from collections.abc import Generator, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.lib.format as npy

from credence.problems import refuse
from credence.tables.expansion import check_bytes

BLOCK_BYTES = 1 << 18
PICKLED = "allow_pickle"  # stands in what numpy says of pickled arrays
READ_HEADER = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
# What reading damaged bytes as an archive, a header or numbers can raise.
DAMAGE = (
    OSError,
    ValueError,
    EOFError,
    KeyError,
    NotImplementedError,
    SyntaxError,
    MemoryError,
    RuntimeError,
    TypeError,
    lzma.LZMAError,
    struct.error,
    tokenize.TokenError,
    zipfile.BadZipFile,
    zlib.error,
)


@dataclass(frozen=True)
class Member:
    """One array of an archive, not yet read.

    Parameters
    ----------
    name : str
        As it was saved.
    info : zipfile.ZipInfo
        Where it is.
    shape : tuple of int
        Its shape.
    dtype : numpy.dtype
        Of its entries.
    is_by_rows : bool
        Whether its rows follow each other in the file.
    """

    name: str
    info: zipfile.ZipInfo
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    is_by_rows: bool

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)


class NpzFile:
    """The arrays of an npz file; every byte of it has been read once and is not damaged.

    Parameters
    ----------
    path : Path
        The file.
    """

    def __init__(self, path: Path) -> None:
        self.path, self.where = path, str(path)
        if not zipfile.is_zipfile(path):
            raise refuse(
                self.where,
                "the file is no npz archive, or not the whole of one.",
                "Save the arrays with np.savez.",
            )
        self.members: dict[str, Member] = {}
        with self._opened() as archive:
            infos = archive.infolist()
            check_bytes(self.where, path.stat().st_size, sum(info.file_size for info in infos))
            for info in infos:
                member = self._member(archive, info)
                if member is not None:
                    self.members[member.name] = member

    @contextmanager
    def _opened(self) -> Iterator[zipfile.ZipFile]:
        """Open the archive; what is found to be damaged is told as such."""
        try:
            with zipfile.ZipFile(self.path) as archive:
                yield archive
        except DAMAGE as error:
            if PICKLED in str(error):
                what = "an array holds Python objects, which could run code."
                remedy = "Save texts as arrays of text (dtype str)."
                raise refuse(self.where, what, remedy) from error
            raise refuse(
                self.where, "the arrays are damaged.", "Copy or make the file again."
            ) from error

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
                return Member(name, info, array.shape, array.dtype, is_by_rows=False)
            shape, is_by_columns, dtype = READ_HEADER[version](stream)
            n_left = info.file_size - stream.tell()
        if dtype.hasobject:
            raise ValueError(PICKLED)
        if min((0, *shape)) < 0 or prod(shape) * dtype.itemsize > n_left:
            raise EOFError
        return Member(name, info, shape, dtype, is_by_rows=len(shape) > 0 and not is_by_columns)

    def whole(self, name: str) -> Any:
        """Return one array."""
        with self._opened() as archive:
            return _whole(archive, self.members[name].info)

    def rows(self, names: Sequence[str], n_rows: int) -> Iterator[tuple[Any, ...]]:
        """Yield so many rows of several arrays at a time, side by side.

        An array that was saved column by column is held whole meanwhile.

        Parameters
        ----------
        names : sequence of str
            Arrays of equally many rows.
        n_rows : int
            At most so many at a time.
        """
        with self._opened() as archive, ExitStack() as stack:
            pieces = [_pieces(archive, self.members[name], n_rows) for name in names]
            for piece in pieces:
                stack.enter_context(closing(piece))
            yield from zip(*pieces, strict=True)


def _whole(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Any:
    with archive.open(info) as stream:
        return npy.read_array(stream, allow_pickle=False)


def _pieces(archive: zipfile.ZipFile, member: Member, n_rows: int) -> Generator[Any]:
    """Yield so many rows of an array at a time."""
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
            data = _read(stream, n_here * n_bytes)
            yield np.ndarray((n_here, *rest), member.dtype, buffer=data)


def _read(stream: IO[bytes], n_bytes: int) -> bytearray:
    """Return so many bytes; in blocks, as an archive joins what it unpacks piece by piece."""
    data = bytearray(n_bytes)
    for start in range(0, n_bytes, BLOCK_BYTES):
        block = stream.read(min(BLOCK_BYTES, n_bytes - start))
        if len(block) < min(BLOCK_BYTES, n_bytes - start):
            raise EOFError
        data[start : start + len(block)] = block
    return data
