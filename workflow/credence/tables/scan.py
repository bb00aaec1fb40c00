"""One pass over a score table: from a path to checked parts."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

from credence.predictions import Booleans, Floats, Integers, Strings
from credence.problems import InputError, ProblemList
from credence.tables.formats import Columns, Gathering, NameLookup, Spelling
from credence.tables.numbers import ScoreStep
from credence.tables.rows import ColumnLayout, TableRows, lay_out, read_rows
from credence.tables.source import (
    DELIMITER_NAMES,
    ArrayTable,
    Chunk,
    MemoryTable,
    ParquetTable,
    TableSource,
    TextTable,
    open_table,
)
from credence.tables.table_spec import STATE_SCALE, TableSpec, columns_of, format_of
from credence.tables.validation import Checker, KnownIds, Remembers, Rules

KEY = "credence"


@dataclass(frozen=True)
class Metadata:
    """Facts that the cells do not show; None where the file does not say."""

    scale: float | None = None  # See :class:`credence.predictions.Predictions`
    resolution: float | None = None
    is_distribution: bool | None = None  # Whether rows sum to the scale
    pooling: str | None = None  # How the networks were pooled


def write_metadata(metadata: Metadata) -> dict[str, str]:
    """Return the key-value pairs to put into a Parquet schema."""
    return {KEY: json.dumps(asdict(metadata))}


def read_metadata(pairs: Mapping[bytes, bytes]) -> Metadata:
    """Return what the key-value pairs of a Parquet schema say; nothing of a stranger's."""
    try:
        record = json.loads(pairs.get(KEY.encode(), b"{}"))
    except ValueError:
        return Metadata()
    if not isinstance(record, dict):
        return Metadata()

    def number(name: str) -> float | None:
        value = record.get(name)
        return float(value) if isinstance(value, int | float) and value >= 0 else None

    is_distribution = record.get("is_distribution")
    pooling = record.get("pooling")
    return Metadata(
        scale=number("scale") or None,
        resolution=number("resolution"),
        is_distribution=is_distribution if isinstance(is_distribution, bool) else None,
        pooling=pooling if pooling in ("sum", "log_sum") else None,
    )


@dataclass(frozen=True)
class RowRange:
    """Rows from one place to another, and what is known of the whole table."""

    start: int  # First row, counted from 0, and the one after the last
    stop: int
    resolution: float  # Step between the scores of the whole table, which some rows may not show


def rows_of_part(n_rows: int, number: int, n_parts: int) -> tuple[int, int]:
    """Return where a part of a table begins and ends; all parts are the table.

    >>> [rows_of_part(10, number, 3) for number in (1, 2, 3)]
    [(0, 3), (3, 6), (6, 10)]
    """
    return n_rows * (number - 1) // n_parts, n_rows * number // n_parts


class ChunkOfRows:
    """Rows of a chunk, one after the other."""

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
    """Yield chunks with the number of their first row, from 1; of a range, only its rows."""
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


@dataclass(frozen=True, eq=False)
class Part:
    """Some rows, checked and free of their texts."""

    lines: Integers  # Line of each row
    ids: Strings  # Names of the proteins
    numbers: Floats  # Scores of the classes, or the top score, or nothing
    predicted: Integers | None  # Codes of classes, -1 where there is none
    truth: Integers | None
    network: Strings | None  # Which network a row is of
    genome: Strings | None  # Which genome a row is of
    is_unscored: Booleans  # Rows without any score

    def rows(self, start: int, stop: int) -> Part:
        """Return the rows from one place to another."""
        given = {name: values for name, values in vars(self).items() if values is not None}
        return replace(self, **{name: values[start:stop] for name, values in given.items()})


class Scan:
    """A table whose header is understood and whose rows are ready to be read."""

    def __init__(
        self, path: Path | MemoryTable, spec: TableSpec, rows: RowRange | None = None
    ) -> None:
        where = path.where if isinstance(path, MemoryTable) else str(path)
        self.spec, self.where = spec, where
        self.format = format_of(spec, where)
        columns = columns_of(spec, self.format, where)
        self.table: TableSource = (
            ArrayTable(path)
            if self.format.arrays and isinstance(path, Path)
            else open_table(path, self.format)
        )
        self.metadata = (
            read_metadata(self.table.metadata)
            if isinstance(self.table, ParquetTable)
            else Metadata()
        )
        self.problems = ProblemList(where)
        self.layout = self._lay_out(columns)
        self.rows = None if self.has_networks else rows
        self.pooling = self.metadata.pooling or spec.pooling
        self.scale = self._scale()
        self.sum_to_scale = self._sum_to_scale()
        self.lookup = self._lookup()
        self.problems.raise_any()
        self.has_truth = False

    @property
    def has_networks(self) -> bool:
        """Whether a row is what one network says of a protein."""
        return self.layout.network is not None

    @property
    def class_names(self) -> tuple[str, ...]:
        """Classes, in order; complete once all rows have been seen."""
        if self.layout.class_names:
            return self.layout.class_names
        if isinstance(self.lookup, Gathering):
            return tuple(sorted(self.lookup.names))
        return self.spec.class_names or ()

    def _lay_out(self, columns: Columns) -> ColumnLayout:
        names = self.spec.class_names
        spelling = (
            None if names is None else Spelling(names, self.format.spell, self.spec.synonyms)
        )
        found = ProblemList(self.where)
        line = self.table.header_line
        layout = lay_out(self.table.header, line, self.format, columns, spelling, found)
        if layout.network is not None and not (layout.classes or found.problems):
            found.add(
                "there is a row for each network, and no column for a class.",
                "Give what every network says of every class.",
                line,
            )
        if found.problems and isinstance(self.table, TextTable):
            self._explain_delimiter(self.table, columns, spelling)
        self.problems.problems.extend(found.problems)
        return layout

    def _explain_delimiter(
        self, table: TextTable, columns: Columns, spelling: Spelling | None
    ) -> None:
        """Raise if the header makes sense with another character between cells."""
        for delimiter, name in DELIMITER_NAMES.items():
            if delimiter == table.delimiter:
                continue
            try:
                other = TextTable(table.path, delimiter, self.format)
            except InputError:
                continue
            found = ProblemList(self.where)
            line = other.header_line
            lay_out(other.header, line, self.format, columns, spelling, found)
            if not found.problems:
                expected = DELIMITER_NAMES[table.delimiter]
                found.add(
                    f"the cells are separated by {name}, not by {expected}.",
                    _separator_remedy(delimiter, expected),
                    line,
                )
                raise found.error()

    def _scale(self) -> float:
        stated, written = self.spec.scale, self.metadata.scale
        if written is not None and stated is not None and written != stated:
            self.problems.add(
                f"the table was written with the scale {written:g}, {stated:g} is stated.",
                "Leave the scale out, or correct it.",
            )
        if self.has_networks:
            return float(stated or written or 1.0)
        scale = stated or written or self.format.scale
        if scale is None:
            if self.layout.score is None and not self.layout.classes:
                return 1.0
            self.problems.add("the scale is not known.", STATE_SCALE)
            return 1.0
        return float(scale)

    def _sum_to_scale(self) -> bool:
        if self.spec.sum_to_scale is not None:
            return self.spec.sum_to_scale
        if self.metadata.is_distribution is not None:
            return self.metadata.is_distribution
        return self.format.sum_to_scale

    def _lookup(self) -> NameLookup | Gathering:
        names = self.layout.class_names or self.spec.class_names
        if names is None:
            return Gathering(self.spec.synonyms)
        for text, name in self.spec.synonyms.items():
            if name not in names and self.spec.class_names is None:
                self.problems.add(
                    f"the synonym {text!r} stands for {name!r}, which is no class of the table.",
                    "Correct it.",
                )
        return NameLookup(Spelling(tuple(names), self.format.spell, self.spec.synonyms))

    def step(self) -> ScoreStep:
        """Return the step between the scores seen so far."""
        step = self.table.step(1.0 if self.has_networks else self.scale)
        if self.rows is not None:
            return ScoreStep(self.rows.resolution, step.relative)
        if self.metadata.resolution is not None and not self.has_networks:
            return ScoreStep(self.metadata.resolution, step.relative)
        return step

    def _checker(self, problems: ProblemList, remembers: Remembers) -> Checker:
        rules = Rules(
            format=self.format,
            layout=self.layout,
            scale=self.scale,
            sum_to_scale=self.sum_to_scale,
            row_scale=1.0 if self.has_networks else self.scale,
            lookup=self.lookup,
            known=self.layout.class_names or self.spec.class_names or (),
        )
        return Checker(rules, problems, self.step, remembers)

    def _rows(self, n_rows: int, problems: ProblemList) -> Iterator[TableRows]:
        for first_row, chunk in within(self.table.chunks(n_rows, problems), self.rows):
            yield read_rows(chunk, first_row, self.layout, self.format, self.scale)

    def checked(
        self, n_rows: int, known: KnownIds | None = None, remembers: Remembers = Remembers.ALL
    ) -> Iterator[Part]:
        """Yield the parts of the table; at its end raise every problem found."""
        problems = ProblemList(self.where)
        checker = self._checker(problems, remembers)
        try:
            for rows in self._rows(n_rows, problems):
                predicted, truth = checker.see(rows)
                yield _part(rows, predicted, truth)
            checker.finish(lambda: self.ids(n_rows))
            self._check_classes(checker, problems)
        except InputError as error:
            if error.problems[0] not in problems.problems:
                problems.problems.extend(error.problems)
        problems.raise_any()
        self.has_truth = checker.has_truth
        if known is not None:
            known.add(self.where, checker.id_hashes(), lambda: self.ids(n_rows))

    def again(self, n_rows: int) -> Iterator[Part]:
        """Yield the parts of a table that has been checked."""
        problems = ProblemList(self.where)
        checker = self._checker(problems, Remembers.NOTHING)
        for rows in self._rows(n_rows, problems):
            predicted, truth = checker.see(rows)
            yield _part(rows, predicted, truth)
        problems.raise_any()  # the file has changed since it was checked

    def ids(self, n_rows: int) -> Iterator[tuple[int, str]]:
        """Yield line and id of every row, also of those without scores."""
        for rows in self._rows(n_rows, ProblemList(self.where)):
            keys = rows.ids
            if rows.network is not None:
                pairs = zip(rows.ids, rows.network, strict=True)
                keys = [f"{name} (network {network})" for name, network in pairs]
            yield from zip(rows.lines.tolist(), keys, strict=True)

    def _check_classes(self, checker: Checker, problems: ProblemList) -> None:
        n_classes = len(self.class_names)
        if checker.n_rows > checker.n_unscored and n_classes < 2 and not problems.problems:
            problems.add(
                f"the table shows only one class, {self.class_names[0]!r}.",
                "Name all classes that the tool knows, or give a table with at least two.",
            )


def _separator_remedy(delimiter: str, expected: str) -> str:
    if delimiter == "\t":
        return "Let the name of the file end in .tsv."
    return f"Save the table with {expected} between its cells."


def _part(rows: TableRows, predicted: Integers | None, truth: Integers | None) -> Part:
    def strings(texts: list[str]) -> Strings:
        return np.array(texts, dtype=object)

    return Part(
        lines=rows.lines,
        ids=strings(rows.ids if rows.network is None else _each_once(rows.ids)),
        numbers=rows.numbers,
        predicted=predicted,
        truth=truth,
        network=None if rows.network is None else strings(_each_once(rows.network)),
        genome=None if rows.genome is None else strings(rows.genome),
        is_unscored=rows.is_unscored,
    )


def _each_once(texts: list[str]) -> list[str]:
    """Return the same texts, each of which is in memory once however often it stands there."""
    seen: dict[str, str] = {}
    return [seen.setdefault(text, text) for text in texts]


def genomes_of(parts: Sequence[Part], ids: Strings) -> Strings | None:
    """Return the genome of each row; a protein of an unnamed one is alone in its own."""
    named = [part.genome for part in parts if part.genome is not None]
    if not named:
        return None
    genome = np.concatenate(named)
    return np.where(genome == "", ids, genome)
