"""Every check of a score table, written once for all formats.

A :class:`Checker` sees the rows chunk by chunk, keeps 8 bytes of each (a hash
of its id; 24 where decimals leave a sum in doubt) and says at the end what only
the whole table shows: ids that stand twice, rows whose sum is off by more than
the decimals seen allow, verdicts that contradict the scores.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from enum import Enum
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from credence.predictions import Floats, Integers
from credence.problems import MOST_PROBLEMS_KEPT, ProblemList, nearest
from credence.tables.formats import Format, Gathering, NameLookup
from credence.tables.numbers import ScoreStep
from credence.tables.rows import ColumnLayout, TableRows

SUM_DECIMALS = 6  # with which sums and tolerances are shown


def shown(value: float) -> str:
    """Return a number as messages show it.

    >>> shown(10.0), shown(0.055)
    ('10', '0.055')
    """
    return f"{value:.{SUM_DECIMALS}f}".rstrip("0").rstrip(".")


class RowSums:
    """Sums of rows: how many there are, and those that may be off.

    What rounding explains is known when all decimals have been seen. Until then
    a row is kept only if its sum is off by more than the least that it may be.
    """

    def __init__(self, scale: float, least: float) -> None:
        self.scale = scale
        self.n_rows = 0
        self._least = least
        self._lines: list[Integers] = []
        self._sums: list[Floats] = []

    @property
    def n_kept(self) -> int:
        """Number of rows that are kept."""
        return sum(map(len, self._sums))

    def see(self, lines: Integers, sums: Floats) -> None:
        """Take more rows into account."""
        self.n_rows += len(sums)
        is_doubtful = np.abs(sums - self.scale) > self._least
        if is_doubtful.any():
            self._lines.append(lines[is_doubtful])
            self._sums.append(sums[is_doubtful])

    def report(self, tolerance: float, problems: ProblemList) -> None:
        """Report the rows that are off; as one problem if all are."""
        if not self._sums:
            return
        sums, lines = np.concatenate(self._sums), np.concatenate(self._lines)
        is_off = np.abs(sums - self.scale) > tolerance
        sums, lines = sums[is_off], lines[is_off]
        if 1 < len(sums) == self.n_rows:
            low, high = shown(float(sums.min())), shown(float(sums.max()))
            span = low if low == high else f"{low} to {high}"
            problems.add(
                f"all {len(sums)} rows sum to {span}, not to {shown(self.scale)}.",
                "State the scale that the rows sum to, or that they sum to nothing "
                "in particular (sum_to_scale: false).",
                int(lines[0]),
            )
            return
        for line, total in zip(lines, sums, strict=True):
            problems.add(
                f"the scores sum to {shown(total)}, not to {shown(self.scale)} "
                f"(give or take {tolerance:.3g} for the decimals).",
                "Correct the scores or remove the row.",
                int(line),
            )


CONTROL = re.compile(r"[\x00-\x1f\x7f\x85\u2028\u2029]")
SINGLE_SLACK = 1e-6  # share of the scale that a sum of float32 may exceed it by


@dataclass(eq=False)
class BadCells:
    """Cells of one column that hold no score."""

    n_cells: int = 0
    first: list[tuple[int, str, str]] = field(default_factory=list)  # line, id, text
    most_kept: int = 1000


@dataclass(frozen=True)
class Contradiction:
    """A stored verdict that is not the best score."""

    line: int
    name: str
    stored: str
    best: str
    gap: float


@dataclass(frozen=True)
class Rules:
    """What the rows of a table have to obey."""

    format: Format  # Of the table
    layout: ColumnLayout  # Of its header
    scale: float  # What a row sums to, or the greatest score
    sum_to_scale: bool  # Whether rows sum to the scale
    row_scale: float  # What one row sums to: 1 where a row is one network's, else the scale
    lookup: NameLookup | Gathering  # Label → code of its class, -1 where it is none
    known: tuple[str, ...]  # The classes, to name the nearest


class Remembers(Enum):
    """What a checker keeps of rows, to say at the end what only all of them show."""

    ALL = "ids that stand twice, and sums"
    SUMS = "sums; that no id stands twice is seen to elsewhere"
    NOTHING = "a table that was checked before"


class Checker:
    """Checks rows as they come and the whole table at the end."""

    def __init__(
        self,
        rules: Rules,
        problems: ProblemList,
        step: Callable[[], ScoreStep],
        remembers: Remembers = Remembers.ALL,
    ) -> None:
        self.rules = rules
        self._step = step
        self._remembers = remembers
        self.problems = problems
        self.n_rows = 0
        self.n_unscored = 0
        self.has_truth = False
        self._hashes: list[NDArray[np.int64]] = []
        least = ScoreStep.least_tolerance(len(rules.layout.classes), rules.row_scale)
        self._sums = RowSums(rules.row_scale, least + rules.row_scale * rules.format.slack)
        self._bad: dict[int, BadCells] = {}
        self._doubtful: list[Contradiction] = []

    def see(self, rows: TableRows) -> tuple[Integers | None, Integers | None]:
        """Check some rows, in the order of the table; return verdicts and truth as codes."""
        self.n_rows += rows.n_rows
        self.n_unscored += int(rows.is_unscored.sum())
        self._check_ids(rows)
        self._check_numbers(rows)
        return (
            None if rows.predicted is None else self._check_predicted(rows, rows.predicted),
            None if rows.truth is None else self._check_truth(rows, rows.truth),
        )

    def _name(self, column: int | None) -> str | None:
        """Return the name of a column; None for the column without a name."""
        return None if column is None else self.rules.layout.header[column] or None

    def _check_ids(self, rows: TableRows) -> None:
        column = self._name(self.rules.layout.id)
        if self._remembers is Remembers.ALL:
            keys: Iterable[object] = rows.ids
            if rows.network is not None:
                keys = zip(rows.ids, rows.network, strict=True)
            self._hashes.append(np.fromiter(map(hash, keys), np.int64, rows.n_rows))
        for row, name in enumerate(rows.ids):
            is_missing = not name or name.isspace()
            if not is_missing and (name.isprintable() or not CONTROL.search(name)):
                continue
            line = int(rows.lines[row])
            if is_missing:
                self.problems.add(
                    "the id is missing.", "Name the protein or remove its row.", line, column
                )
            else:
                self.problems.add(
                    f"the id {name!r} holds a control character or a line break.",
                    "Give the protein a name on one line.",
                    line,
                    column,
                )

    def _check_numbers(self, rows: TableRows) -> None:
        numbers = rows.numbers
        scored = ~rows.is_unscored
        is_bad = ~np.isfinite(numbers) & scored[:, None]
        for row, place in np.argwhere(is_bad):
            column = rows.columns[place]
            cells = self._bad.setdefault(column, BadCells())
            cells.n_cells += 1
            if len(cells.first) < cells.most_kept:
                text = rows.chunk.cell(int(row), column)
                cells.first.append((int(rows.lines[row]), rows.ids[row], text))
        finite = np.where(is_bad | ~scored[:, None], 0.0, numbers)
        scale = self.rules.row_scale
        greatest = scale * (1 + self.rules.format.slack + SINGLE_SLACK)
        is_outside = (finite < 0) | (finite > greatest)
        for row, place in np.argwhere(finite < 0):
            self._refuse_value(
                rows, row, place, "is negative", f"Give scores from 0 to {shown(scale)}."
            )
        for row, place in np.argwhere(finite > greatest):
            self._refuse_value(
                rows,
                row,
                place,
                f"is above the scale {shown(scale)}",
                f"Give scores from 0 to {shown(scale)}, or state another scale.",
            )
        is_known = self._remembers is Remembers.NOTHING or not self.rules.sum_to_scale
        if self.rules.layout.classes and not is_known:
            is_whole = scored & ~(is_bad | is_outside).any(axis=1)
            self._sums.see(rows.lines[is_whole], finite.sum(axis=1)[is_whole])

    def _refuse_value(
        self, rows: TableRows, row: np.intp, place: np.intp, what: str, remedy: str
    ) -> None:
        column = rows.columns[place]
        text = rows.chunk.cell(int(row), column)
        self.problems.add(
            f"the score {text!r} of protein {rows.ids[row]!r} {what}.",
            remedy,
            int(rows.lines[row]),
            self._name(column),
        )

    def _check_predicted(self, rows: TableRows, predicted: list[str]) -> Integers:
        column = self._name(self.rules.layout.predicted_class)
        codes = self._codes(rows, predicted, column, may_be_empty=False)
        if not self.rules.layout.classes:
            return codes
        names = self.rules.layout.class_names
        numbers = np.where(np.isfinite(rows.numbers), rows.numbers, -1.0)
        best = numbers.argmax(axis=1)
        every = np.arange(rows.n_rows)
        gap = numbers[every, best] - numbers[every, np.maximum(codes, 0)]
        certain = self._greatest_gap()
        for row in np.flatnonzero((codes >= 0) & (gap > 0) & ~rows.is_unscored):
            found = Contradiction(
                int(rows.lines[row]), rows.ids[row], names[codes[row]], names[best[row]], gap[row]
            )
            if found.gap > certain:
                self._refuse_verdict(found)
            else:
                self._doubtful.append(found)
        return codes

    def _greatest_gap(self) -> float:
        """Return by how much the score of a stored verdict may miss the best one."""
        return self._step().resolution + self.rules.scale * SINGLE_SLACK

    def _check_truth(self, rows: TableRows, truth: list[str]) -> Integers:
        carries_label = self.rules.format.label_of_id is not None
        layout = self.rules.layout
        column = self._name(layout.id if carries_label else layout.true_class)
        self.has_truth = self.has_truth or any(truth)
        return self._codes(rows, truth, column, may_be_empty=not carries_label)

    def _codes(
        self, rows: TableRows, texts: list[str], column: str | None, *, may_be_empty: bool
    ) -> Integers:
        if rows.is_unscored.any():
            texts = [
                "" if out else text for text, out in zip(texts, rows.is_unscored, strict=True)
            ]
        lookup = self.rules.lookup
        codes = np.fromiter(map(lookup.__getitem__, texts), np.int64, len(texts))
        for row in np.flatnonzero((codes < 0) & ~rows.is_unscored):
            text = texts[row]
            if text.strip() or not may_be_empty:
                self._refuse_label(rows, int(row), text, column)
        return codes

    def _refuse_label(self, rows: TableRows, row: int, text: str, column: str | None) -> None:
        known = self.rules.known
        name = rows.ids[row]
        if not text.strip():
            what = f"protein {name!r} has no class."
            remedy = "Give it one or remove its row."
        elif self.rules.format.label_of_id is not None:
            what = f"the name {name!r} carries the label {text!r}, which is no class."
            remedy = nearest(text, known)
        else:
            what = f"{text!r} is no class (protein {name!r})."
            remedy = nearest(text, known)
        self.problems.add(what, remedy, int(rows.lines[row]), column)

    def finish(self, ids: Callable[[], Iterator[tuple[int, str]]]) -> None:
        """Report what only the whole table shows."""
        if self.n_rows == 0 and not self.problems.problems:
            self.problems.add("the table has a header and no rows.", "Give a table with rows.")
        elif self.n_rows > 0 and self.n_rows == self.n_unscored:
            self.problems.add("no row has scores.", "Give a table with scores.")
        self._report_cells()
        for found in self._doubtful:
            if found.gap > self._greatest_gap():
                self._refuse_verdict(found)
        self._report_sums()
        self._report_repeated(ids)

    def _report_cells(self) -> None:
        n_scored = self.n_rows - self.n_unscored
        for column, cells in self._bad.items():
            name = self._name(column)
            if cells.n_cells == n_scored > 1:
                line, _, text = cells.first[0]
                self.problems.add(
                    f"none of the {n_scored} cells is a number, from {text!r} on.",
                    "Remove the column, or name the columns of the classes.",
                    line,
                    name,
                )
                continue
            for line, protein, text in cells.first:
                self.problems.add(*_bad_cell(protein, text), line, name)
            if cells.n_cells > len(cells.first):
                self.problems.add(
                    f"{cells.n_cells - len(cells.first)} more cells hold no number.",
                    "Give scores or remove the rows.",
                    None,
                    name,
                )

    def _refuse_verdict(self, found: Contradiction) -> None:
        self.problems.add(
            f"the verdict {found.stored!r} on protein {found.name!r} "
            f"contradicts the scores, whose best is {found.best!r}.",
            "Correct the verdict or the scores.",
            found.line,
            self._name(self.rules.layout.predicted_class),
        )

    def _report_sums(self) -> None:
        slack = self.rules.row_scale * self.rules.format.slack
        n_classes = len(self.rules.layout.classes)
        tolerance = self._step().tolerance(n_classes, self.rules.row_scale) + slack
        self._sums.report(tolerance, self.problems)

    def id_hashes(self) -> NDArray[np.int64]:
        """Return a hash of the id of each row, in the table's order."""
        return np.concatenate([np.empty(0, dtype=np.int64), *self._hashes])

    def _report_repeated(self, ids: Callable[[], Iterator[tuple[int, str]]]) -> None:
        hashes = self.id_hashes()
        in_order = np.sort(hashes)
        again = in_order[1:][in_order[1:] == in_order[:-1]]
        del in_order
        if again.size == 0:
            return
        suspects = np.isin(hashes, again)
        column = self._name(self.rules.layout.id)
        first: dict[str, int] = {}
        for row, (line, name) in enumerate(ids()):
            if not suspects[row] or not name.strip():
                continue
            if name in first:
                self.problems.add(
                    f"the id {name!r} is in line {first[name]} already.",
                    "Give each protein its own id, or remove one of the rows.",
                    line,
                    column,
                )
            else:
                first[name] = line


def _bad_cell(protein: str, text: str) -> tuple[str, str]:
    """Return what is wrong with a cell that holds no finite number, and the remedy."""
    remedy = f"Give protein {protein!r} a score or remove its row."
    if not text.strip():
        return "the score is missing.", remedy
    if text.count(",") == 1 and text.replace(",", "").strip().isdigit():
        return f"{text!r} is not a number.", "Write decimals with a point."
    return f"{text!r} is not a number.", remedy


BLOCK_ROWS = 1_000_000  # looked up at once

Ids = Callable[[], Iterator[tuple[int, str]]]


class KnownIds:
    """Ids of the tables seen so far: of each 8 bytes, a hash, whatever its length.

    Two hashes that are the same may be of two ids, so that tables are read again
    where there are such, and the ids themselves compared.
    """

    def __init__(self) -> None:
        self._tables: list[tuple[str, NDArray[np.int64], Ids]] = []

    def add(self, where: str, hashes: NDArray[np.int64], ids: Ids) -> None:
        """Take the ids of one more table, or raise those that an earlier one has."""
        problems = ProblemList(where)
        for earlier, known, known_ids in self._tables:
            rows = _rows_among(hashes, known)
            if not rows.size:
                continue
            own = dict(_ids_at(ids, rows))
            wanted = set(own.values())
            shared = {name for _, name in known_ids() if name in wanted}
            for line, name in own.items():
                if name in shared:
                    problems.add(
                        f"the id {name!r} is in {earlier} already.",
                        "Give each protein its own id, or remove one of the rows.",
                        line,
                    )
        problems.raise_any()
        self._tables.append((where, np.sort(hashes), ids))


def _rows_among(hashes: NDArray[np.int64], known: NDArray[np.int64]) -> NDArray[np.intp]:
    """Return the first rows whose hash is among those known, which are in order."""
    found = [np.empty(0, dtype=np.intp)]
    n_found = 0
    for start in range(0, len(hashes) if len(known) else 0, BLOCK_ROWS):
        block = hashes[start : start + BLOCK_ROWS]
        place = np.minimum(np.searchsorted(known, block), len(known) - 1)
        found.append(np.flatnonzero(known[place] == block) + start)
        n_found += len(found[-1])
        if n_found >= MOST_PROBLEMS_KEPT:
            break
    return np.concatenate(found)[:MOST_PROBLEMS_KEPT]


def _ids_at(ids: Ids, rows: NDArray[np.intp]) -> Iterator[tuple[int, str]]:
    """Yield line and id of some rows, which are in order."""
    wanted = set(rows.tolist())
    for row, line_and_id in enumerate(islice(ids(), int(rows[-1]) + 1)):
        if row in wanted:
            yield line_and_id
