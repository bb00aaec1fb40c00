"""Rows of a table by role: from cells to ids, scores and labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from credence.predictions import Booleans, Floats, Integers
from credence.tables.formats.format import Format
from credence.tables.layout import Layout
from credence.tables.source import Chunk


@dataclass(frozen=True, eq=False)
class Rows:
    """What some rows of a table say, not yet checked.

    Parameters
    ----------
    chunk : Chunk
        The cells, for messages.
    lines : array of int
        Line of each row.
    ids : list of str
        Names of the proteins.
    numbers : array of float, shape (n_rows, n_columns)
        Scores of the classes, or the top score alone; no column where the tool
        gives only a class. Not finite where a cell holds no number.
    columns : tuple of int
        Column in the table of each column of `numbers`.
    predicted, truth, network, genome : list of str, optional
        Texts as they stand.
    is_unscored : array of bool
        Rows in which the tool gave no score at all, as its format allows.
    """

    chunk: Chunk
    lines: Integers
    ids: list[str]
    numbers: Floats
    columns: tuple[int, ...]
    predicted: list[str] | None
    truth: list[str] | None
    network: list[str] | None
    genome: list[str] | None
    is_unscored: Booleans

    @property
    def n_rows(self) -> int:
        """Number of rows, unscored ones too."""
        return len(self.ids)


def read_rows(chunk: Chunk, first_row: int, layout: Layout, format_: Format, scale: float) -> Rows:
    """Return the rows of a chunk by role.

    Parameters
    ----------
    chunk : Chunk
        Some rows.
    first_row : int
        Number of the first row, from 1; names proteins that have no id.
    layout : Layout
        Of the header.
    format_ : Format
        Of the table.
    scale : float
        What a row sums to.
    """
    lines = chunk.lines
    if layout.id is None:
        ids = [f"row_{row}" for row in range(first_row, first_row + len(lines))]
    else:
        ids = chunk.texts(layout.id)
    columns = layout.classes or (() if layout.score is None else (layout.score,))
    numbers = chunk.numbers(columns) if columns else np.empty((len(lines), 0))

    def texts(column: int | None) -> list[str] | None:
        return None if column is None else chunk.texts(column)

    predicted = texts(layout.predicted_class)
    is_unscored = _unscored(chunk, numbers, columns, predicted, format_)
    if format_.zero_row_class is not None and format_.zero_row_class in layout.class_names:
        is_zero = (numbers == 0).all(axis=1)
        numbers[is_zero, layout.class_names.index(format_.zero_row_class)] = scale
    truth = texts(layout.true_class)
    if format_.label_of_id is not None:
        truth = [format_.label_of_id(name) for name in ids]
    network, genome = texts(layout.network), texts(layout.genome)
    return Rows(
        chunk, lines, ids, numbers, columns, predicted, truth, network, genome, is_unscored
    )


def _unscored(
    chunk: Chunk,
    numbers: Floats,
    columns: Sequence[int],
    predicted: list[str] | None,
    format_: Format,
) -> Booleans:
    """Return which rows hold nothing but blanks where scores and verdict belong."""
    found = np.zeros(len(numbers), dtype=bool)
    if not format_.blanks or not columns:
        return found
    for row in np.flatnonzero(np.isnan(numbers).all(axis=1)):
        cells = [chunk.cell(int(row), column) for column in columns]
        verdict = [] if predicted is None else [predicted[row]]
        found[row] = all(text.strip() in format_.blanks for text in (*cells, *verdict))
    return found
