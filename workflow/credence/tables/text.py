"""Rows of a text table, each with the line on which it begins, as an editor shows it.

The line ends of Windows are read as what they are. What would make a reader misread a file is
refused by name, with the command that fixes it.
"""

import csv
import gzip
import shlex
import zlib
from collections.abc import Iterator
from datetime import date
from functools import cache
from itertools import chain, islice
from pathlib import Path
from typing import BinaryIO, cast

import numpy as np
import pyarrow as pa

from credence.predictions import Integers
from credence.problems import InputError, Problem, refuse
from credence.progress import echo
from credence.records import refuse_pipe


def is_date(text: str) -> bool:
    """Return whether a text is a day of the calendar, as 2026-11-21 is."""
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


BLOCK_BYTES = 1 << 20
MOST_BYTES_IN_LINE = 1 << 24  # a line so long is no row of a table
PACKINGS = (".gz", ".zst")

# How files that are no plain text begin, what they are, what to do.
MAGIC: tuple[tuple[bytes, str, str], ...] = (
    (b"\x1f\x8b", "the file is packed with gzip.", "Let its name end in .gz."),
    (b"\x28\xb5\x2f\xfd", "the file is packed with zstd.", "Let its name end in .zst."),
    (b"\x89PNG", "the file is a picture.", "Give a text file."),
    (b"\xff\xd8\xff", "the file is a picture.", "Give a text file."),
    (b"%PDF", "the file is a PDF.", "Give a text file."),
    (b"PAR1", "the file is a Parquet table.", "Let its name end in .parquet."),
    (
        b"PK\x03\x04",
        "the file is a zip archive, as Excel workbooks and npz arrays are.",
        "Save a workbook as CSV; let the name of arrays end in .npz.",
    ),
)
UTF8_MARK = b"\xef\xbb\xbf"
UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")


def packing(path: Path) -> str:
    """Return '.gz', '.zst' or '' by the ending of the name."""
    return path.suffix if path.suffix in PACKINGS else ""


def plain_suffix(path: Path) -> str:
    """Return the ending under the packing: '.csv' of `a.csv.gz`."""
    return Path(path.stem).suffix if packing(path) else path.suffix


def fix_with(command: str, path: Path) -> str:
    """Return the shell command that fixes a file with a filter."""
    fixed = path.with_name("fixed_" + path.name)
    tools = {".gz": ("gzip -dc", "| gzip "), ".zst": ("zstd -dc", "| zstd ")}
    source, target = shlex.quote(str(path)), shlex.quote(str(fixed))
    if packing(path):
        unpack, pack = tools[packing(path)]
        return f"Run: {unpack} {source} | {command} {pack}> {target}"
    return f"Run: {command} < {source} > {target}"


def require_file(path: Path, kind: str = "a table") -> None:
    """Raise unless the path is a file that can be read."""
    where = str(path)
    try:
        refuse_pipe(path)
        if path.is_dir():
            raise refuse(where, "this is a folder.", f"Give the path of {kind} in it.")
        if not path.exists():
            raise refuse(where, "the file does not exist.", "Correct the path.")
        with path.open("rb"):
            pass
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        defect = f"the file cannot be read ({reason})."
        raise refuse(where, defect, "Give a file that you may read.") from error


def blocks_of(path: Path) -> Iterator[bytes]:
    """Yield the unpacked bytes of a file, or raise what is wrong with the packing."""
    require_file(path)
    where = str(path)
    n_bytes = 0
    try:
        if packing(path) == ".zst":
            opened = cast(BinaryIO, pa.input_stream(where, compression="zstd"))
        else:
            opened = cast(BinaryIO, (gzip.open if packing(path) else open)(path, "rb"))
        with opened as stream:
            while block := stream.read(BLOCK_BYTES):
                n_bytes += len(block)
                yield block
    except EOFError as error:
        raise _cut_short(where) from error
    except (OSError, zlib.error) as error:
        if "Truncated" in str(error):
            raise _cut_short(where) from error
        defect = "the file is damaged, or not packed as its name says."
        remedy = "Copy or make it again; if it is not packed, take the last ending off its name."
        raise refuse(where, defect, remedy) from error
    if n_bytes == 0:
        raise refuse(where, "the file is empty.", "Give a table with a header and rows.")


def _cut_short(where: str) -> InputError:
    defect = "the packed file ends in the middle: it is cut short."
    return refuse(where, defect, "Copy or make it again.")


def _utf8_blocks(path: Path) -> Iterator[bytes]:
    """Yield a file's text as UTF-8 without a mark; line ends may be those of Windows."""
    where = str(path)
    blocks = blocks_of(path)
    first = next(blocks)
    for magic, defect, remedy in MAGIC:
        if first.startswith(magic):
            raise refuse(where, defect, remedy)
    if first.startswith(UTF16_MARKS):
        remedy = fix_with("iconv -f UTF-16 -t UTF-8", path)
        raise refuse(where, "the text is UTF-16.", remedy)
    if b"\n" not in first and b"\r" in first[:-1]:
        defect = "a carriage return ends each line, as on old Macs."
        raise refuse(where, defect, fix_with(r"tr '\r' '\n'", path))
    yield first.removeprefix(UTF8_MARK)
    yield from blocks


def _byte_problems(path: Path, block: bytes, n_lines_before: int) -> Iterator[Problem]:
    """Yield what bytes of some lines are no text: the first of each kind."""
    where = str(path)

    def line_of(place: int) -> int:
        return n_lines_before + block[:place].count(b"\n") + 1

    if (place := block.find(b"\0")) >= 0:
        defect = "there is a NUL byte: the file is damaged or no text."
        yield Problem(
            where=where, what=defect, remedy="Copy or make it again.", line=line_of(place)
        )
    if (place := block.find(b"\r")) >= 0:
        defect = "there is a carriage return inside the line."
        yield Problem(
            where=where, what=defect, remedy=fix_with(r"tr -d '\r'", path), line=line_of(place)
        )
    try:
        block.decode("utf-8")
    except UnicodeDecodeError as error:
        defect = f"the byte 0x{block[error.start]:02x} is no UTF-8."
        remedy = fix_with("iconv -f ISO-8859-1 -t UTF-8", path)
        yield Problem(where=where, what=defect, remedy=remedy, line=line_of(error.start))


def _is_of_windows(text: bytes) -> bool:
    """Return whether bytes are no UTF-8, and text of Windows."""
    for encoding in ("utf-8", WINDOWS_ENCODING):
        try:
            text.decode(encoding)
        except UnicodeDecodeError:
            continue
        return encoding == WINDOWS_ENCODING
    return False


def lines_of(
    path: Path, problems: list[Problem] | None = None, *, or_windows: bool = False
) -> Iterator[str]:
    r"""Yield lines, each with its `\n`; bytes that are no text are refused or go to `problems`.

    What is no UTF-8 may be text of Windows, where `or_windows` says so.
    """
    n_lines = 0
    rest = b""
    for block in chain(_utf8_blocks(path), (b"",)):
        whole, newline, rest = (rest + block).rpartition(b"\n") if block else (rest, b"", b"")
        if len(rest) > MOST_BYTES_IN_LINE:
            n_before = n_lines + (whole + newline).count(b"\n")
            defect = f"the line is longer than {MOST_BYTES_IN_LINE:,} bytes."
            remedy = "Give a table with a line for each protein."
            raise refuse(str(path), defect, remedy, line=n_before + 1)
        if not whole and not newline:
            continue
        whole = whole.replace(b"\r\n", b"\n").removesuffix(b"\r")
        if or_windows and _is_of_windows(whole):
            _say_windows(str(path))
            whole = whole.decode(WINDOWS_ENCODING).encode()
        damage = list(_byte_problems(path, whole, n_lines))
        if problems is not None:
            problems += damage
        elif damage:
            raise InputError(damage)
        lines = whole.decode("utf-8", "replace").split("\n")
        n_lines += len(lines)
        yield from [line + "\n" for line in lines]


SEMICOLON = ";"  # between cells where decimals have a comma
WINDOWS_ENCODING = "cp1252"  # in which a spreadsheet of western Europe writes a CSV file


def header_of(path: Path, header_start: str = "") -> str:
    """Return the first line of a table that is no comment, as far as it is ASCII."""
    lines = next(_utf8_blocks(path)).decode("ascii", "replace").splitlines()
    return next((line for line in lines if line and not _is_comment(line, header_start)), "")


def _is_comment(line: str, header_start: str) -> bool:
    return line.startswith("#") and not (header_start and line.startswith(header_start))


@cache  # once for each file
def _say_windows(where: str) -> None:
    echo(f"{where}: its text is no UTF-8; it is read as Windows-1252, in which Excel writes CSV.")


class RowReader:
    """Gives rows with the line on which each begins; blank lines are no rows."""

    def __init__(self, path: Path, delimiter: str, quoted: bool, header_start: str = "") -> None:
        self.where = str(path)
        lines = lines_of(path, or_windows=delimiter == SEMICOLON)
        n_skipped = 0
        first = next(lines, "")
        while _is_comment(first, header_start):
            first = next(lines, "")
            n_skipped += 1
        self._n_skipped = n_skipped
        self._reader = csv.reader(
            chain((first,), lines) if first else iter(()),
            delimiter=delimiter,
            quoting=csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE,
            strict=True,
        )

    def batches(self, n_rows: int) -> Iterator[tuple[list[list[str]], Integers]]:
        """Yield at most `n_rows` rows at a time, and the line on which each begins."""
        reader = self._reader
        while True:
            rows: list[list[str]] = []
            failure: csv.Error | None = None
            n_lines_before = reader.line_num
            try:
                rows.extend(islice(reader, n_rows))
            except csv.Error as error:  # the rows before it are in the list
                failure = error
            if not rows and failure is None:
                return
            begins = self._n_skipped + n_lines_before + 1
            is_plain = failure is None and reader.line_num - n_lines_before == len(rows)
            if is_plain and all(rows):
                lines = np.arange(begins, begins + len(rows), dtype=np.int64)
            else:
                n_lines = [1 + sum(cell.count("\n") for cell in row) for row in rows]
                bounds = begins + np.cumsum([0, *n_lines])
                is_row = np.array([bool(row) for row in rows], dtype=np.bool_)
                lines = bounds[:-1][is_row]
                begins, rows = int(bounds[-1]), [row for row in rows if row]
            yield rows, lines
            if failure is not None:
                if "field limit" in str(failure):
                    defect = f"a cell is longer than {csv.field_size_limit():,} characters."
                    remedy = "Close the quotation mark that opens in this row, or remove the cell."
                else:
                    defect = "the quotation marks of the row that begins here do not pair."
                    remedy = 'Close them, or write a quotation mark inside a quoted cell as "".'
                raise refuse(self.where, defect, remedy, line=begins) from failure
