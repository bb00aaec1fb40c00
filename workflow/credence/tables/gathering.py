"""Parts of a table joined to the bytes of the whole, with a piece in memory at a time."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from credence.problems import InputError, refuse
from credence.tables.writing import ROWS_AT_ONCE, TableWriter, open_output

BLOCK_BYTES = 1 << 20
ABSENT = ("this part cannot be read.", "Annotate it again.")


def gather_tables(parts: Sequence[Path], out: Path) -> int:
    """Write the rows of all parts, in their order; return how many there are."""
    if out.suffix == ".parquet":
        return _gather_parquet(parts, out)
    if out.suffix == ".tsv":
        return _gather_text(parts, out)
    raise refuse(str(out), "parts are joined to .tsv or .parquet.", "Give such a name.")


def _gather_text(parts: Sequence[Path], out: Path) -> int:
    """Copy the lines of all parts, the header once."""
    first = b""
    n_rows = 0
    with open_output(out) as target:
        for path in parts:
            with _opened(path) as source:
                header = source.readline()
                if not first:
                    first = header
                    target.write(header)
                if header != first or not header.endswith(b"\n"):
                    raise _other_columns(path, parts[0])
                last = b"\n"
                while block := source.read(BLOCK_BYTES):
                    target.write(block)
                    n_rows += block.count(b"\n")
                    last = block[-1:]
                if last != b"\n":
                    raise _cut_short(path)
    return n_rows


def _gather_parquet(parts: Sequence[Path], out: Path) -> int:
    """Write the rows of all parts in pieces as large as those of the whole."""
    names = _names(parts[0])
    n_rows = 0
    with TableWriter(out, names) as writer:
        for path in parts:
            if _names(path) != names:
                raise _other_columns(path, parts[0])
            try:
                with pq.ParquetFile(path) as file:
                    for batch in file.iter_batches(batch_size=ROWS_AT_ONCE):
                        n_rows += batch.num_rows
                        writer.write(dict(zip(names, batch.columns, strict=True)))
            except (pa.ArrowException, OSError) as error:
                raise _cut_short(path) from error
    return n_rows


def _names(path: Path) -> list[str]:
    """Return the columns of a Parquet table."""
    try:
        return list(pq.read_schema(path).names)
    except FileNotFoundError as error:
        raise refuse(str(path), *ABSENT) from error
    except (pa.ArrowException, OSError) as error:
        raise _cut_short(path) from error


def _opened(path: Path) -> BinaryIO:
    try:
        return path.open("rb")
    except OSError as error:
        raise refuse(str(path), *ABSENT) from error


def _cut_short(path: Path) -> InputError:
    return refuse(str(path), "the part is cut short or damaged.", "Annotate it again.")


def _other_columns(path: Path, first: Path) -> InputError:
    return refuse(
        str(path),
        f"its columns are not those of {first}.",
        "Give the parts of one table, annotated alike.",
    )
