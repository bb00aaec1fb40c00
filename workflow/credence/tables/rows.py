"""Rows of a table by role: from cells to ids, scores and labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from credence.predictions import Booleans, Floats, Integers
from credence.problems import ProblemList, nearest
from credence.tables.formats import Columns, Format, NameLookup, Spelling
from credence.tables.source import Chunk

SINGLE_ROLES = ("id", "true_class", "predicted_class", "score", "network", "genome")


@dataclass(frozen=True)
class ColumnLayout:
    """Positions of the columns that matter."""

    header: tuple[str, ...]  # All names, for messages
    # In the order of the scores; empty where the tool gives only the best.
    class_names: tuple[str, ...] = ()
    classes: tuple[int, ...] = ()  # Column of each class
    id: int | None = None  # Column of each role
    true_class: int | None = None
    predicted_class: int | None = None
    score: int | None = None
    network: int | None = None
    genome: int | None = None


def lay_out(
    header: tuple[str, ...],
    line: int | None,
    format_: Format,
    spelling: Spelling | None,
    problems: ProblemList,
) -> ColumnLayout:
    """Return the layout of a header; what is wrong with it goes to `problems`."""
    columns = format_.columns
    _check_names(header, line, columns, problems)
    found = _single_roles(header, line, columns, problems)
    taken = {place for place in found.values() if place is not None}
    has_vector = format_.vector and found["score"] is None
    candidates: list[int] = []
    if has_vector:
        candidates = _class_columns(header, line, columns, taken, problems)
        # The contract table of a tool that gives a class and nothing more.
        if not candidates and "score" in columns.optional:
            has_vector = found["predicted_class"] is None
    class_names = tuple(
        format_.class_name(header[place].removesuffix(columns.class_suffix))
        for place in candidates
    )
    if spelling is not None and has_vector:
        candidates, class_names = _demanded(
            header, line, candidates, class_names, spelling, problems
        )
    elif has_vector and len(candidates) < 2 and not problems.problems:
        problems.add(
            f"the table has {'only one' if candidates else 'no'} class column.",
            "Give a table with a column for each of at least two classes.",
            line,
        )
    return ColumnLayout(header, class_names, tuple(candidates), **found)


def _single_roles(
    header: tuple[str, ...], line: int | None, columns: Columns, problems: ProblemList
) -> dict[str, int | None]:
    """Return the column of each role but the classes; report those that are missing."""
    places = {name: place for place, name in reversed(list(enumerate(header)))}
    found: dict[str, int | None] = {}
    for role in SINGLE_ROLES:
        name = getattr(columns, role)
        found[role] = None if name is None else places.get(name)
        if name is not None and found[role] is None and role not in columns.optional:
            problems.add(
                f"the column {name!r} is missing ({role.replace('_', ' ')}).",
                nearest(name, header),
                line,
            )
    return found


def _check_names(
    header: Sequence[str], line: int | None, columns: Columns, problems: ProblemList
) -> None:
    """Report names that stand twice and columns without a name."""
    for name, count in Counter(header).items():
        if count > 1:
            problems.add(
                f"{count} columns have the name {name!r}.", "Give each column its own name.", line
            )
    if "" in header and "" not in (columns.id, *columns.ignored):
        problems.add(
            f"column {list(header).index('') + 1} has no name.", "Name it or remove it.", line
        )


def _class_columns(
    header: Sequence[str],
    line: int | None,
    columns: Columns,
    taken: set[int],
    problems: ProblemList,
) -> list[int]:
    """Return the columns of the classes, in the order of the table or the user."""
    if columns.classes is not None:
        places = {name: place for place, name in enumerate(header)}
        for name in columns.classes:
            if name not in places:
                problems.add(f"the class column {name!r} is missing.", nearest(name, header), line)
        return [places[name] for name in columns.classes if name in places]
    return [
        place
        for place, name in enumerate(header)
        if place not in taken and name not in columns.ignored and name
        if name.endswith(columns.class_suffix)
    ]


def _demanded(
    header: Sequence[str],
    line: int | None,
    candidates: list[int],
    class_names: tuple[str, ...],
    spelling: Spelling,
    problems: ProblemList,
) -> tuple[list[int], tuple[str, ...]]:
    """Return the columns of the classes demanded, in their order."""
    lookup = NameLookup(spelling)
    by_class: dict[int, int] = {}
    extra = []
    for place, name in zip(candidates, class_names, strict=True):
        index = lookup[name]
        if index < 0 or index in by_class:
            extra.append(place)
        else:
            by_class[index] = place
    if candidates and not by_class:
        problems.add(
            f"no column is one of the classes expected: {', '.join(spelling.class_names)}.",
            f"Give a table of these classes; this one has: "
            f"{', '.join(header[place] for place in candidates)}.",
            line,
        )
        return [], ()
    for index, name in enumerate(spelling.class_names):
        if index not in by_class:
            problems.add(
                f"the column of class {name!r} is missing.",
                nearest(name, [header[place] for place in extra or candidates]),
                line,
            )
    for place in extra:
        problems.add(
            f"{header[place]!r} is none of the classes expected.",
            nearest(header[place], spelling.class_names),
            line,
            header[place],
        )
    known = [index for index in range(len(spelling.class_names)) if index in by_class]
    return (
        [by_class[index] for index in known],
        tuple(spelling.class_names[index] for index in known),
    )


@dataclass(frozen=True, eq=False)
class TableRows:
    """What some rows of a table say, not yet checked."""

    chunk: Chunk  # The cells, for messages
    lines: Integers  # Line of each row
    ids: list[str]  # Names of the proteins
    # Scores of the classes, or the top score alone; no column where the tool gives only a class.
    # Not finite where a cell holds no number.
    numbers: Floats
    columns: tuple[int, ...]  # Column in the table of each column of `numbers`
    predicted: list[str] | None  # Texts as they stand
    truth: list[str] | None
    network: list[str] | None
    genome: list[str] | None
    is_unscored: Booleans  # Rows in which the tool gave no score at all, as its format allows

    @property
    def n_rows(self) -> int:
        """Number of rows, unscored ones too."""
        return len(self.ids)


def read_rows(
    chunk: Chunk, first_row: int, layout: ColumnLayout, format_: Format, scale: float
) -> TableRows:
    """Return the rows of a chunk by role."""
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
    return TableRows(
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
