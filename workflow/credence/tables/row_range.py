"""Some rows of a table that was checked whole: what one of several workers reads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from credence.predictions import Floats
from credence.tables.source import Chunk


@dataclass(frozen=True)
class RowRange:
    """Rows from one place to another, and what is known of the whole table.

    Parameters
    ----------
    start, stop : int
        First row, counted from 0, and the one after the last.
    resolution : float
        Step between the scores of the whole table, which some rows may not show.
    """

    start: int
    stop: int
    resolution: float


def rows_of_part(n_rows: int, number: int, n_parts: int) -> tuple[int, int]:
    """Return where a part of a table begins and ends; all parts are the table.

    Parameters
    ----------
    n_rows : int
        Rows of the table.
    number : int
        Which part, from 1.
    n_parts : int
        How many there are.

    Examples
    --------
    >>> [rows_of_part(10, number, 3) for number in (1, 2, 3)]
    [(0, 3), (3, 6), (6, 10)]
    """
    return n_rows * (number - 1) // n_parts, n_rows * number // n_parts


class ChunkOfRows:
    """Rows of a chunk, one after the other.

    Parameters
    ----------
    chunk : Chunk
        The rows and others.
    start, stop : int
        Which of its rows.
    """

    def __init__(self, chunk: Chunk, start: int, stop: int) -> None:
        self._chunk, self._start, self._stop = chunk, start, stop
        self.lines = chunk.lines[start:stop]

    def texts(self, column: int) -> list[str]:
        """Return the texts of a column; '' where a cell is empty."""
        return self._chunk.texts(column)[self._start : self._stop]

    def numbers(self, columns: Sequence[int]) -> Floats:
        """Return the numbers of some columns; not finite where there is none."""
        return self._chunk.numbers(columns)[self._start : self._stop]

    def cell(self, row: int, column: int) -> str:
        """Return the text of one cell, as a message quotes it."""
        return self._chunk.cell(self._start + row, column)


def within(chunks: Iterator[Chunk], rows: RowRange | None) -> Iterator[tuple[int, Chunk]]:
    """Yield chunks with the number of their first row, from 1; of a range, only its rows.

    Parameters
    ----------
    chunks : iterator of Chunk
        Of the whole table.
    rows : RowRange, optional
        All rows unless given.
    """
    n_before = 0
    for chunk in chunks:
        n_rows = len(chunk.lines)
        start = 0 if rows is None else min(max(rows.start - n_before, 0), n_rows)
        stop = n_rows if rows is None else min(max(rows.stop - n_before, 0), n_rows)
        if stop - start == n_rows:
            yield n_before + 1, chunk
        elif start < stop:
            yield n_before + start + 1, ChunkOfRows(chunk, start, stop)
        n_before += n_rows
        if rows is not None and n_before >= rows.stop:
            return
