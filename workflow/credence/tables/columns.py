"""Columns of a table by contract: what may stand in them, and the refusals."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path
from typing import Any

import numpy as np

from credence.predictions import Floats, Integers, Strings
from credence.problems import InputError, Problem, nearest, refuse
from credence.tables.formats.format import Columns, Format
from credence.tables.problem_list import ProblemList
from credence.tables.source import Chunk, open_table

ROWS_AT_ONCE = 100_000
CONTRACT = Format("contract", "A table of credence itself.", Columns(), delimiter="\t")


class Kind(Enum):
    """What the cells of a column are."""

    TEXT = "text"
    NUMBER = "number"
    INTEGER = "whole number"


@dataclass(frozen=True)
class Column:
    """One column of a table.

    Parameters
    ----------
    name : str
        As it stands in the header.
    kind : Kind
        What its cells are.
    may_be_empty : bool
        Whether a cell may be empty; a number is NaN then.
    unique : bool
        Whether no value may stand there twice.
    choices : tuple of str
        Texts allowed; empty: all.
    low, high : float, optional
        Range of numbers, ends included.
    is_optional : bool
        Whether the column may be absent.
    """

    name: str
    kind: Kind = Kind.TEXT
    may_be_empty: bool = False
    unique: bool = False
    choices: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None
    is_optional: bool = False


@dataclass(frozen=True, eq=False)
class ReadTable:
    """The cells of a table as checked arrays.

    Parameters
    ----------
    where : str
        The file, as the user named it.
    values : dict of str to array
        One array per column of the contract.
    lines : array of int
        Line of each row, or its number in a Parquet file.
    absent : frozenset of str
        Optional columns that are not there; their arrays are blank.
    """

    where: str
    values: dict[str, Any]
    lines: Integers
    absent: frozenset[str]


def read_columns(
    path: Path, columns: tuple[Column, ...], further: tuple[Column, ...] = ()
) -> ReadTable:
    """Return the columns of a table, or raise all problems found.

    Parameters
    ----------
    path : Path
        TSV, CSV (plain, gz, zst) or Parquet, by its ending.
    columns : tuple of Column
        What the table has to have, and nothing else.
    further : tuple of Column
        Any number of columns whose names begin with one of these names may stand
        there too.
    """
    table = open_table(Path(path), CONTRACT)
    for kind in further:
        names = [name for name in table.header if name.startswith(kind.name)]
        columns += tuple(replace(kind, name=name) for name in dict.fromkeys(names))
    place_of = _places(table.where, table.header, table.header_line, columns)
    problems = ProblemList(table.where)
    parts: dict[str, list[Any]] = {column.name: [] for column in columns}
    lines: list[Integers] = [np.empty(0, dtype=np.int64)]
    is_text = table.header_line is not None
    for chunk in table.chunks(ROWS_AT_ONCE, problems):
        lines.append(chunk.lines)
        for column in columns:
            place = place_of.get(column.name)
            if place is None:
                parts[column.name].append(_blank(column, len(chunk.lines)))
            elif column.kind is Kind.TEXT:
                parts[column.name].append(_texts(chunk, place, column, problems))
            else:
                parts[column.name].append(_numbers(chunk, place, column, problems, is_text))
    values = {
        column.name: np.concatenate([_blank(column, 0), *parts[column.name]]) for column in columns
    }
    all_lines = np.concatenate(lines)
    for column in columns:
        if column.unique:
            _check_unique(values[column.name], all_lines, column, problems)
    problems.raise_any()
    absent = frozenset(column.name for column in columns if column.name not in place_of)
    return ReadTable(table.where, values, all_lines, absent)


def _blank(column: Column, n_rows: int) -> Any:
    if column.kind is Kind.TEXT:
        return np.full(n_rows, "", dtype=object)
    if column.kind is Kind.INTEGER:
        return np.zeros(n_rows, dtype=np.int64)
    return np.full(n_rows, np.nan)


def _places(
    where: str, header: tuple[str, ...], line: int | None, columns: tuple[Column, ...]
) -> dict[str, int]:
    """Return the place of each column; refuse missing, repeated and foreign ones."""
    names = [column.name for column in columns]
    needed = [column.name for column in columns if not column.is_optional]
    if len(header) == 1 and len(needed) > 1:
        raise refuse(
            where,
            f"the header is one cell, {header[0]!r}.",
            "Separate the cells by tabs in a .tsv file, by commas in a .csv file.",
            line,
        )
    problems = [
        Problem(
            where, "the column is missing.", f"The columns are: {', '.join(names)}.", line, name
        )
        for name in needed
        if name not in header
    ]
    for place, name in enumerate(header):
        if name in header[:place]:
            what, remedy = "the column stands there twice.", "Remove one of the two."
        elif name not in names:
            what, remedy = "this table has no such column.", nearest(name, names)
        else:
            continue
        problems.append(Problem(where, what, remedy, line, name))
    if problems:
        raise InputError(problems)
    return {name: place for place, name in enumerate(header)}


def _texts(chunk: Chunk, place: int, column: Column, problems: ProblemList) -> Strings:
    texts = np.empty(len(chunk.lines), dtype=object)
    texts[:] = chunk.texts(place)
    if not column.may_be_empty:
        for row in np.flatnonzero(texts == ""):
            line = int(chunk.lines[row])
            problems.add("the cell is empty.", "Fill it in.", line, column.name)
    if column.choices:
        allowed = [*column.choices, ""]
        for row in np.flatnonzero(~np.isin(texts.astype(str), allowed)):
            problems.add(
                f"{texts[row]!r} is not allowed.",
                nearest(texts[row], column.choices),
                int(chunk.lines[row]),
                column.name,
            )
    return texts


def _numbers(
    chunk: Chunk, place: int, column: Column, problems: ProblemList, is_text: bool
) -> Floats | Integers:
    numbers = chunk.numbers([place])[:, 0]
    blanks = ("",) if is_text else ("", "nan")
    wanted = _wanted(column)
    is_bad = ~np.isfinite(numbers)
    outside = np.zeros(len(numbers), dtype=np.bool_)
    if column.low is not None:
        outside |= numbers < column.low
    if column.high is not None:
        outside |= numbers > column.high
    if column.kind is Kind.INTEGER:
        outside |= ~is_bad & (np.floor(np.where(is_bad, 0.0, numbers)) != numbers)
    for row in np.flatnonzero(is_bad | outside):
        cell = chunk.cell(int(row), place)
        line = int(chunk.lines[row])
        if cell.strip() in blanks:
            if not column.may_be_empty:
                problems.add("the cell is empty.", f"Give {wanted}.", line, column.name)
        elif is_bad[row]:
            problems.add(f"{cell!r} is not a number.", f"Give {wanted}.", line, column.name)
        else:
            problems.add(f"{cell} is out of range.", f"Give {wanted}.", line, column.name)
    if column.kind is Kind.INTEGER:
        return np.where(is_bad | outside, 0.0, numbers).astype(np.int64)
    return numbers


def _wanted(column: Column) -> str:
    wanted = f"a {column.kind.value}"
    if column.low is not None and column.high is not None:
        wanted += f" from {column.low:g} to {column.high:g}"
    elif column.low is not None:
        wanted += f" of at least {column.low:g}"
    return wanted + (" or nothing" if column.may_be_empty else "")


def _check_unique(values: Strings, lines: Integers, column: Column, problems: ProblemList) -> None:
    first: dict[str, int] = {}
    for value, line in zip(values, lines.tolist(), strict=True):
        if value in first and value != "":
            problems.add(
                f"{value!r} stands in line {first[value]} already.",
                "Remove one of the two rows.",
                line,
                column.name,
            )
        first.setdefault(value, line)
