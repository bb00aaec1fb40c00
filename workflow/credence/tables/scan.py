"""One pass over a score table: from a path to its columns by role and to checked parts.

A :class:`Checker` keeps 8 bytes of each row (a hash of its id; 24 where decimals leave a sum in
doubt) to say at the end what only the whole table shows.
"""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credence.predictions import Booleans, Floats, Integers, Strings
from credence.problems import ONE_ID_EACH, InputError, ProblemList, nearest
from credence.records import from_record, parse_json
from credence.tables import formats, source
from credence.tree import LabelTree

SINGLE_ROLES = ("id", "true_class", "predicted_class", "score", "network", "genome")


@dataclass(frozen=True, kw_only=True)
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
    table: source.TableSource,
    format_: formats.Format,
    known: formats.NameLookup | None,
    problems: ProblemList,
) -> ColumnLayout:
    """Return the layout of a table's header; what is wrong with it goes to `problems`."""
    header, line, columns = table.header, table.header_line, format_.columns
    for name, count in ((name, count) for name, count in Counter(header).items() if count > 1):
        defect = f"{count} columns have the name {name!r}."
        problems.add(defect, "Give each column its own name.", line)
    # A first column without a name may be the index of pandas.
    nameless = [place for place, name in enumerate(header) if not name.strip() and (place or name)]
    if nameless and "" not in (columns.id, *columns.ignored):
        defect = f"column {nameless[0] + 1} has no name."
        problems.add(defect, "Name it or remove it.", line)
    places = {name: place for place, name in reversed(list(enumerate(header)))}
    roles: dict[str, int | None] = {}
    for role in SINGLE_ROLES:
        name = getattr(columns, role)
        roles[role] = None if name is None else places.get(name)
        if name is not None and roles[role] is None and role not in columns.optional:
            kind = "genome" if name == "genome" else role.replace("_", " ")
            defect = f"the column {name!r} is missing ({kind})."
            problems.add(defect, nearest(name, header), line)
    taken = {place for place in roles.values() if place is not None}
    has_vector = format_.vector and roles["score"] is None
    candidates: list[int] = []
    if roles["score"] is not None and roles["predicted_class"] is None and not problems.problems:
        defect = f"the column {columns.score!r} is there, and none says of which class it is."
        problems.add(defect, "Give the predicted class too, or a column for each class.", line)
    if has_vector:
        candidates = _class_columns(header, line, columns, taken, problems)
        # The contract table of a tool that gives a class and nothing more.
        if not candidates and "score" in columns.optional:
            has_vector = roles["predicted_class"] is None
    names = (header[place].removesuffix(columns.class_suffix) for place in candidates)
    class_names = tuple(map(format_.class_name, names))
    if known is not None and has_vector:
        candidates, class_names = _demanded(header, line, candidates, class_names, known, problems)
    elif has_vector and len(candidates) < 2 and not problems.problems:
        defect = f"the table has {'only one' if candidates else 'no'} class column."
        problems.add(defect, "Give a table with a column for each of at least two classes.", line)
    _refuse_repeated(list(map(header.__getitem__, candidates)), class_names, line, problems)
    return ColumnLayout(header=header, class_names=class_names, classes=tuple(candidates), **roles)


def _refuse_repeated(
    columns: Sequence[str], class_names: Sequence[str], line: int | None, problems: ProblemList
) -> None:
    first: dict[str, str] = {}
    for column, name in zip(columns, class_names, strict=True):
        if (other := first.setdefault(name, column)) != column:
            defect = f"this column and {other!r} are both of the class {name!r}."
            problems.add(defect, "Rename one of them, or remove it.", line, column)


def _class_columns(
    header: Sequence[str],
    line: int | None,
    columns: formats.Columns,
    taken: set[int],
    problems: ProblemList,
) -> list[int]:
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
    lookup: formats.NameLookup,
    problems: ProblemList,
) -> tuple[list[int], tuple[str, ...]]:
    by_class: dict[int, int] = {}
    extra = []
    for place, name in zip(candidates, class_names, strict=True):
        index = lookup[name]
        if index in by_class:
            first = header[by_class[index]]
            defect = f"it is class {lookup.class_names[index]!r}, as column {first!r} is."
            if header[place] != first:  # else refused already
                problems.add(defect, "Remove one of the two.", line, header[place])
        elif index < 0:
            extra.append(place)
        else:
            by_class[index] = place
    if candidates and not by_class:
        defect = f"no column is one of the classes expected: {', '.join(lookup.class_names)}."
        given = ", ".join(header[place] for place in candidates)
        problems.add(defect, f"Give a table of these classes; this one has: {given}.", line)
        return [], ()
    for index, name in enumerate(lookup.class_names):
        if index not in by_class:
            remedy = nearest(name, [header[place] for place in extra or candidates])
            problems.add(f"the column of class {name!r} is missing.", remedy, line)
    for place in extra:
        defect = f"{header[place]!r} is none of the classes expected."
        problems.add(defect, nearest(header[place], lookup.class_names), line, header[place])
    places = [index for index in range(len(lookup.class_names)) if index in by_class]
    names = tuple(lookup.class_names[index] for index in places)
    return [by_class[index] for index in places], names


@dataclass(frozen=True, kw_only=True, eq=False)
class TableRows:
    """What some rows of a table say, not yet checked."""

    chunk: source.Chunk  # The cells, for messages
    lines: Integers  # Line of each row
    ids: list[str]  # Names of the proteins
    # Scores of the classes, or the top score, or nothing; not finite where a cell holds none.
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
    chunk: source.Chunk,
    first_row: int,
    layout: ColumnLayout,
    format_: formats.Format,
    scale: float,
) -> TableRows:
    """Return the rows of a chunk by role."""
    lines = chunk.lines
    if layout.id is None:
        ids = [f"row_{row}" for row in range(first_row, first_row + len(lines))]
    else:
        ids = [name.removeprefix(format_.id_start) for name in chunk.texts(layout.id)]
    columns = layout.classes or (() if layout.score is None else (layout.score,))
    numbers = chunk.numbers(columns) if columns else np.empty((len(lines), 0))
    if format_.is_calls and layout.classes:  # a blank is no call
        for row, place in np.argwhere(np.isnan(numbers)).tolist():
            if not chunk.cell(row, columns[place]).strip():
                numbers[row, place] = 0.0

    if format_.is_distance:
        numbers = np.where(numbers < 0, numbers, 1 / (1 + np.abs(numbers)))

    def texts(column: int | None) -> list[str] | None:
        return None if column is None else chunk.texts(column)

    predicted = texts(layout.predicted_class)
    # Rows that hold nothing but blanks where scores and verdict belong.
    is_unscored = np.zeros(len(numbers), dtype=bool)
    may_be = np.isnan(numbers).all(axis=1) if format_.blanks and columns else is_unscored
    for row in np.flatnonzero(may_be).tolist():
        verdict = [] if predicted is None else [predicted[row]]
        cells = (*(chunk.cell(row, column) for column in columns), *verdict)
        is_unscored[row] = all(text.strip() in format_.blanks for text in cells)
    if format_.zero_row_class is not None and format_.zero_row_class in layout.class_names:
        is_zero = (numbers == 0).all(axis=1)
        numbers[is_zero, layout.class_names.index(format_.zero_row_class)] = scale
    truth = texts(layout.true_class)
    if format_.label_of_id is not None:
        truth = [format_.label_of_id(name) for name in ids]
    return TableRows(
        chunk=chunk,
        lines=lines,
        ids=ids,
        numbers=numbers,
        columns=columns,
        predicted=predicted,
        truth=truth,
        network=texts(layout.network),
        genome=texts(layout.genome),
        is_unscored=is_unscored,
    )


SUM_DECIMALS = 6  # with which sums and tolerances are shown


def shown(value: float) -> str:
    """Return a number as messages show it."""
    return f"{value:.{SUM_DECIMALS}f}".rstrip("0").rstrip(".")


CONTROL = re.compile(r"[\x00-\x1f\x7f\x85\u2028\u2029]")
MOST_CELLS_KEPT = 1_000  # of a column, that hold no score
# How a cell holds none: one cell, and several.
NO_NUMBER = ("is not a number", "hold no number")
NEGATIVE = ("is negative", "are negative")
ABOVE_SCALE = ("is above the scale {scale}", "are above the scale {scale}")
LEAST_OF_ONE_KIND, LEAST_SHARE_OF_ONE_KIND = 3, 0.1  # cells outside, to be one problem


class Remembers(Enum):
    """What a checker keeps of rows, to say at the end what only all of them show."""

    ALL = "ids that stand twice, and sums"
    SUMS = "sums; that no id stands twice is seen to elsewhere"
    NOTHING = "a table that was checked before"


LEAST_ROWS = 5  # before a column of whole numbers says something


def softmax_of(logits: Floats) -> Floats:
    """Return the softmax of each row over its numbers; NaN where there is none."""
    is_number = np.isfinite(logits)
    greatest = np.where(is_number, logits, -np.inf).max(axis=1, keepdims=True)
    powers = np.zeros_like(logits)
    np.exp(logits - greatest, out=powers, where=is_number)
    total = powers.sum(axis=1, keepdims=True)
    return np.where(is_number, powers / np.maximum(total, 1.0), np.nan)


class Checker:
    """Checks rows as they come and the whole table at the end."""

    def __init__(self, scan: "Scan", problems: ProblemList, remembers: Remembers) -> None:
        self.scan = scan
        self._remembers = remembers
        self.problems = problems
        self.n_rows = 0
        self.n_unscored = 0
        self._hashes: list[NDArray[np.int64]] = []
        least = source.ScoreStep.least_tolerance(len(scan.layout.classes), scan.row_scale)
        # What rounding explains is known at the end: until then sums are kept that this does not.
        self._least = least + scan.row_scale * scan.format.slack
        self._n_summed = 0
        self._sums: list[tuple[Integers, Floats]] = []  # lines and sums of rows in doubt
        self._has_decimals = np.zeros(len(scan.layout.classes), dtype=np.bool_)
        self._has_numbers = self._has_decimals.copy()  # others than 0 and the scale
        # Of a column and kind: cells that hold no score; line, protein and text of the first.
        self._n_bad: Counter[tuple[int, tuple[str, str]]] = Counter()
        self._first_bad: defaultdict[tuple[int, tuple[str, str]], list[tuple[int, str, str]]] = (
            defaultdict(list)
        )
        # Of a column and label that is no class: line and protein of the first, and how many.
        self._strange: dict[tuple[str | None, str], tuple[int, str]] = {}
        self._n_strange: Counter[tuple[str | None, str]] = Counter()
        # Verdicts that are not the best score, and by how much; decimals may explain them.
        self._doubtful: list[tuple[float, tuple[str, str, int, str | None]]] = []

    def see(self, rows: TableRows) -> "Part":
        """Check some rows, in the order of the table; return them free of their texts."""
        self.n_rows += rows.n_rows
        self.n_unscored += int(rows.is_unscored.sum())
        self._check_ids(rows)
        self._check_numbers(rows)
        if self.scan.spec.logits:
            rows = replace(rows, numbers=softmax_of(rows.numbers))
        labels = rows.predicted if self.scan.tree is not None else None
        predicted = None if rows.predicted is None else self._check_predicted(rows, rows.predicted)
        truth = None if rows.truth is None else self._check_truth(rows, rows.truth)
        ids, network, genome = rows.ids, rows.network, rows.genome
        if network is not None:  # each text is in memory once, however often it stands there
            seen: dict[str, str] = {}
            ids, network = ([seen.setdefault(t, t) for t in texts] for texts in (ids, network))
        if genome is not None:
            genome = [name.strip() for name in genome]
        return Part(
            lines=rows.lines,
            ids=np.array(ids, dtype=object),
            numbers=rows.numbers,
            predicted=predicted,
            truth=truth,
            network=np.array(network or [""] * rows.n_rows, dtype=object),
            genome=None if genome is None else np.array(genome, dtype=object),
            is_unscored=rows.is_unscored,
            labels=None if labels is None else np.array(labels, dtype=object),
        )

    def _name(self, column: int | None) -> str | None:
        return None if column is None else self.scan.layout.header[column] or None

    def _check_ids(self, rows: TableRows) -> None:
        column = self._name(self.scan.layout.id)
        if self._remembers is Remembers.ALL:
            keys: Iterable[object] = rows.ids
            if rows.network is not None:
                keys = zip(rows.ids, rows.network, strict=True)
            if rows.predicted is not None and self.scan.tree is not None:
                # True labels that were not called stand beside calls.
                labels = rows.predicted
                if rows.truth is not None and rows.is_unscored.any():
                    labels = [a or b for a, b in zip(labels, rows.truth, strict=True)]
                keys = zip(rows.ids, labels, strict=True)
            self._hashes.append(np.fromiter(map(hash, keys), np.int64, rows.n_rows))
        # All that are in order at once: a look at each takes six times as long.
        if all(map(str.isprintable, rows.ids)) and all(map(str.strip, rows.ids)):
            return
        for row, name in enumerate(rows.ids):
            if not name or name.isspace():
                defect, remedy = "the id is missing.", "Name the protein or remove its row."
            elif not name.isprintable() and CONTROL.search(name):
                defect = f"the id {name!r} holds a control character or a line break."
                remedy = "Give the protein a name on one line."
            else:
                continue
            self.problems.add(defect, remedy, int(rows.lines[row]), column)

    def _check_numbers(self, rows: TableRows) -> None:
        numbers = rows.numbers
        scored = ~rows.is_unscored
        is_bad = ~np.isfinite(numbers) & scored[:, None]
        finite = np.where(is_bad | ~scored[:, None], 0.0, numbers)
        scale = self.scan.row_scale
        greatest, least = scale * (1 + self.scan.format.slack + source.SINGLE_SLACK), 0.0
        if self.scan.spec.logits:
            greatest, least = np.inf, -np.inf
        is_outside = (finite < least) | (finite > greatest)
        kinds = ((NO_NUMBER, is_bad), (NEGATIVE, finite < least), (ABOVE_SCALE, finite > greatest))
        for kind, is_wrong in kinds:
            for place in np.flatnonzero(is_wrong.any(axis=0)):
                column = rows.columns[place]
                first = self._first_bad[column, kind]
                wrong = np.flatnonzero(is_wrong[:, place])
                self._n_bad[column, kind] += len(wrong)
                first += [
                    (int(rows.lines[row]), rows.ids[row], rows.chunk.cell(int(row), column))
                    for row in wrong[: MOST_CELLS_KEPT - len(first)].tolist()
                ]
        is_known = self._remembers is Remembers.NOTHING or not self.scan.sums_to_scale_as_written
        is_whole = scored & ~(is_bad | is_outside).any(axis=1)
        if self._takes_columns and self._remembers is not Remembers.NOTHING:
            seen = finite[is_whole]
            self._has_decimals |= (seen != np.rint(seen)).any(axis=0)
            self._has_numbers |= ((seen != 0.0) & (seen != scale)).any(axis=0)
        if self.scan.layout.classes and not is_known:
            lines, sums = rows.lines[is_whole], finite.sum(axis=1)[is_whole]
            self._n_summed += len(sums)
            is_doubtful = np.abs(sums - scale) > self._least
            if is_doubtful.any():
                self._sums.append((lines[is_doubtful], sums[is_doubtful]))

    def _check_predicted(self, rows: TableRows, predicted: list[str]) -> Integers:
        column, lookup = self._name(self.scan.layout.predicted_class), self.scan.lookup
        if self.scan.tree is not None and formats.ANY_OTHER_LABEL in self.scan.known_classes:
            predicted = [
                formats.ANY_OTHER_LABEL if text.strip() and lookup[text] < 0 else text
                for text in predicted
            ]
        codes = self._codes(rows, predicted, column, may_be_empty=False)
        if not self.scan.layout.classes:
            return codes
        names = self.scan.layout.class_names
        numbers = np.where(np.isfinite(rows.numbers), rows.numbers, -1.0)
        best = numbers.argmax(axis=1)
        every = np.arange(rows.n_rows)
        gap = numbers[every, best] - numbers[every, np.maximum(codes, 0)]
        certain = self._greatest_gap()
        for row in np.flatnonzero((codes >= 0) & (gap > 0) & ~rows.is_unscored):
            defect = f"the verdict {names[codes[row]]!r} on protein {rows.ids[row]!r} "
            defect += f"contradicts the scores, whose best is {names[best[row]]!r}."
            problem = (defect, "Correct the verdict or the scores.", int(rows.lines[row]), column)
            if gap[row] > certain:
                self.problems.add(*problem)
            else:
                self._doubtful.append((gap[row], problem))
        return codes

    def _greatest_gap(self) -> float:
        """Return by how much the score of a stored verdict may miss the best one."""
        return self.scan.step().resolution + self.scan.scale * source.SINGLE_SLACK

    def _check_truth(self, rows: TableRows, truth: list[str]) -> Integers:
        carries_label = self.scan.format.label_of_id is not None
        layout = self.scan.layout
        column = self._name(layout.id if carries_label else layout.true_class)
        self.scan.has_truth = self.scan.has_truth or any(truth)
        if self.scan.tree is not None:  # of the unscored too; else several labels to a cell
            lookup = self.scan.lookup if self.scan.is_judged else self.scan.truths
            return np.fromiter(map(lookup.__getitem__, truth), np.int64, len(truth))
        return self._codes(rows, truth, column, may_be_empty=not carries_label)

    def _codes(
        self, rows: TableRows, texts: list[str], column: str | None, *, may_be_empty: bool
    ) -> Integers:
        if rows.is_unscored.any():
            texts = [
                "" if out else cell for cell, out in zip(texts, rows.is_unscored, strict=True)
            ]
        codes = np.fromiter(map(self.scan.lookup.__getitem__, texts), np.int64, len(texts))
        for row in np.flatnonzero((codes < 0) & ~rows.is_unscored):
            text, name = texts[row], rows.ids[row]
            if not text.strip() and may_be_empty:
                continue
            if text.strip():
                self._strange.setdefault((column, text), (int(rows.lines[row]), name))
                self._n_strange[column, text] += 1
                continue
            defect, remedy = f"protein {name!r} has no class.", "Give it one or remove its row."
            self.problems.add(defect, remedy, int(rows.lines[row]), column)
        return codes

    def report_labels(self) -> None:
        """Report the labels that are no class, each once."""
        lookup = self.scan.known(self.scan.known_classes)
        for (column, text), (line, name) in self._strange.items():
            count = self._n_strange[column, text]
            defect, remedy = lookup.misfit(text, formats.named(name, count))
            if self.scan.format.label_of_id is not None:
                more = f" (and {count - 1:,} more)" if count > 1 else ""
                defect = f"the name {name!r}{more} carries the label {text!r}, which is no class."
            self.problems.add(defect, remedy, line, column)

    def finish(self, ids: Callable[[], Iterator[tuple[int, str]]]) -> None:
        """Report what only the whole table shows."""
        if self.n_rows == 0 and not self.problems.problems:
            self.problems.add("the table has a header and no rows.", "Give a table with rows.")
        elif self.n_rows > 0 and self.n_rows == self.n_unscored:
            self.problems.add("no row has scores.", "Give a table with scores.")
        self.report_labels()
        self._report_cells()
        self._report_whole_columns()
        for gap, problem in self._doubtful:
            if gap > self._greatest_gap():
                self.problems.add(*problem)
        if self._sums:
            self._report_sums()
        self._report_repeated(ids)

    @property
    def _takes_columns(self) -> bool:
        """Whether columns are classes because nobody named what are."""
        by_name = self.scan.spec.class_names or self.scan.format.columns.classes
        return bool(self.scan.layout.classes) and by_name is None

    def _without(self, odd: Iterable[int]) -> str:
        """Return how to read a table without some columns that were taken as classes."""
        if not self.scan.format.configurable:
            return "Remove the column"
        layout = self.scan.layout
        left = [layout.header[place] for place in layout.classes if place not in odd]
        stated = json.dumps({"classes": left}, ensure_ascii=False)
        return f"Remove the column, or name those of the classes (columns: {stated})"

    def _report_cells(self) -> None:
        n_scored, scale = self.n_rows - self.n_unscored, shown(self.scan.row_scale)
        least = max(LEAST_OF_ONE_KIND, LEAST_SHARE_OF_ONE_KIND * n_scored)
        # A column of numbers of another kind; where most are, the scale is wrong.
        many = {key for key, n in self._n_bad.items() if n >= least and key[1] is not NO_NUMBER}
        odd = {column for column, _ in many}
        is_odd = self._takes_columns and 2 * len(odd) <= len(self.scan.layout.classes)
        are_logits = not is_odd and any(kind is NEGATIVE for _, kind in many)
        for (column, kind), n_cells in sorted(self._n_bad.items()):
            name, first = self._name(column), self._first_bad[column, kind]
            single, several = (words.format(scale=scale) for words in kind)
            line, _, text = first[0]
            more = ", or state another scale." if kind is ABOVE_SCALE else "."
            if kind is NO_NUMBER and n_cells == n_scored > 1:
                defect = f"none of the {n_scored} cells is a number, from {text!r} on."
                remedy = "Give scores, or name another column."
                if self._takes_columns:
                    remedy = "Remove the column, or name the columns of the classes."
                self.problems.add(defect, rewriting(text) or remedy, line, name)
                continue
            remedy = f"give scores from 0 to {scale}{more}"
            if (column, kind) in many:
                if are_logits or kind is NEGATIVE:
                    remedy = "give scores that are not negative; of logits say so (logits: true)."
                start = f"{self._without(odd)} if it is no class; else " if is_odd else ""
                defect = f"{n_cells} of {n_scored} cells {several}, from {text!r} on."
                self.problems.add(defect, _as_sentence(start + remedy), line, name)
                continue
            for line, protein, text in first:
                problem = (
                    f"the score {text!r} of protein {protein!r} {single}.",
                    _as_sentence(remedy),
                )
                if kind is NO_NUMBER:
                    problem = _bad_cell(protein, text)
                self.problems.add(*problem, line, name)
            if n_cells > len(first):
                defect = f"{n_cells - len(first)} more cells {several}."
                self.problems.add(defect, "Give scores or remove the rows.", None, name)

    def _report_whole_columns(self) -> None:
        """Report columns taken as classes that count something, beside others with decimals."""
        is_whole = self._has_numbers & ~self._has_decimals
        is_asked = self.scan.format.configurable and not self.scan.sums_to_scale_as_written
        if not is_asked or self.n_rows < LEAST_ROWS or is_whole.sum() >= self._has_decimals.sum():
            return
        counted = [self.scan.layout.classes[place] for place in np.flatnonzero(is_whole)]
        for column in counted:
            defect = (
                "it was taken as a class, and its numbers are no such scores: all are whole "
                "numbers, and other columns have decimals."
            )
            remedy = f"{self._without(counted)}."
            self.problems.add(defect, remedy, self.scan.table.header_line, self._name(column))

    def _report_sums(self) -> None:
        """Report the rows whose sum is off; as one problem if all are."""
        scale, n_classes = self.scan.row_scale, len(self.scan.layout.classes)
        tolerance = self.scan.step().tolerance(n_classes, scale) + scale * self.scan.format.slack
        lines, sums = (np.concatenate(parts) for parts in zip(*self._sums, strict=True))
        is_off = np.abs(sums - scale) > tolerance
        sums, lines = sums[is_off], lines[is_off]
        if 1 < len(sums) == self._n_summed:
            low, high = shown(float(sums.min())), shown(float(sums.max()))
            span = low if low == high else f"{low} to {high}"
            defect = f"all {len(sums)} rows sum to {span}, not to {shown(scale)}."
            remedy = (
                "State the scale that the rows sum to, or that they sum to nothing in particular "
                "(sum_to_scale: false)"
            )
            if self._takes_columns and self.scan.format.configurable:
                remedy += "; if a column is no class, name those of the classes (columns: classes)"
            self.problems.add(defect, f"{remedy}.", int(lines[0]))
            return
        for line, total in zip(lines, sums, strict=True):
            defect = f"the scores sum to {shown(total)}, not to {shown(scale)} "
            defect += f"(give or take {tolerance:.3g} for the decimals)."
            self.problems.add(defect, "Correct the scores or remove the row.", int(line))

    def _report_repeated(self, ids: Callable[[], Iterator[tuple[int, str]]]) -> None:
        hashes = np.concatenate([np.empty(0, dtype=np.int64), *self._hashes])
        in_order = np.sort(hashes)
        again = in_order[1:][in_order[1:] == in_order[:-1]]
        del in_order
        if again.size == 0:
            return
        suspects = np.isin(hashes, again)
        column = self._name(self.scan.layout.id)
        first: dict[str, int] = {}
        for row, (line, name) in enumerate(ids()):
            if not suspects[row] or not name.strip():
                continue
            if first.setdefault(name, line) != line:
                defect = f"the id {name!r} is in line {first[name]} already."
                self.problems.add(defect, ONE_ID_EACH, line, column)


def _as_sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def _bad_cell(protein: str, text: str) -> tuple[str, str]:
    """Return what is wrong with a cell that holds no finite number, and the remedy."""
    remedy = f"Give protein {protein!r} a score or remove its row."
    if not text.strip():
        return "the score is missing.", remedy
    return f"{text!r} is not a number.", rewriting(text) or remedy


def rewriting(text: str) -> str:
    """Return how to write a number whose comma may be one of thousands; '' for another text."""
    return "Write decimals with a point." if source.IN_THOUSANDS.match(text.strip()) else ""


KEY = "credence"


@dataclass(frozen=True, kw_only=True)
class Metadata:
    """Facts that the cells do not show; None where the file does not say."""

    scale: float | None = None  # See :class:`credence.predictions.Predictions`
    resolution: float | None = None
    is_distribution: bool | None = None  # Whether rows sum to the scale
    pooling: str | None = None  # How the networks were pooled
    tree: LabelTree | None = None  # Where rows are calls that were judged
    class_names: tuple[str, ...] | None = None  # Of calls, which need not show all


def read_metadata(pairs: Mapping[bytes, bytes]) -> Metadata:
    """Return what the key-value pairs of a Parquet schema say; nothing of a stranger's."""
    try:
        parsed = parse_json(pairs.get(KEY.encode(), b"{}").decode())
    except ValueError:
        parsed = None
    record: dict[str, Any] = parsed if isinstance(parsed, dict) else {}

    def number(name: str) -> float | None:
        value: Any = record.get(name)
        is_right = isinstance(value, int | float) and 0 <= value <= formats.MOST_SCALE
        return float(value) if is_right else None

    is_whole, pooling = record.get("is_distribution"), record.get("pooling")
    tree, names = record.get("tree"), record.get("class_names")
    return Metadata(
        tree=None if tree is None else from_record(LabelTree, tree),
        class_names=None if names is None else tuple(map(str, names)),
        scale=number("scale") or None,
        resolution=number("resolution"),
        is_distribution=is_whole if isinstance(is_whole, bool) else None,
        pooling=pooling if pooling in formats.POOLINGS else None,
    )


def numbered_chunks(chunks: Iterator[source.Chunk]) -> Iterator[tuple[int, source.Chunk]]:
    """Yield chunks with the number of their first row, from 1."""
    n_before = 0
    for chunk in chunks:
        yield n_before + 1, chunk
        n_before += len(chunk.lines)


@dataclass(frozen=True, kw_only=True, eq=False)
class Part:
    """Some rows, checked and free of their texts."""

    lines: Integers  # Line of each row
    ids: Strings  # Names of the proteins
    numbers: Floats  # Scores of the classes, or the top score, or nothing
    predicted: Integers | None  # Codes of classes, -1 where there is none
    truth: Integers | None
    network: Strings  # Which network a row is of; '' where no column says it
    genome: Strings | None  # Which genome a row is of; '' where none is named
    is_unscored: Booleans  # Rows without any score
    labels: Strings | None = None  # Of calls, as they stand there

    def rows(self, chosen: slice | Booleans) -> "Part":
        """Return some of the rows."""
        given = {name: values for name, values in vars(self).items() if values is not None}
        return replace(self, **{name: values[chosen] for name, values in given.items()})


def joined_rows(parts: Sequence[Part]) -> Part:
    """Return the rows of all parts of a table as one."""
    names = [name for name, values in vars(parts[0]).items() if values is not None]
    columns = {name: np.concatenate([getattr(part, name) for part in parts]) for name in names}
    return replace(parts[0], **columns)


class Scan:
    """A table whose header is understood and whose rows are ready to be read."""

    def __init__(self, path: Path | source.MemoryTable, spec: formats.TableSpec) -> None:
        where = path.where if isinstance(path, source.MemoryTable) else str(path)
        self.spec, self.where = spec, where
        self.format = formats.format_of(spec, where)
        if spec.several is not None:
            self.format = formats.as_calls(self.format)
        self.table = source.open_table(path, self.format)
        if self.format.is_long:
            known = formats.NameLookup(spec.class_names or (), self.format.spell, spec.synonyms)
            self.table = source.LongTable(self.table, self.format.columns, known)
            columns = replace(self.format.columns, term=None, score=None)
            self.format = replace(self.format, columns=columns)
        of_file = self.table.metadata if isinstance(self.table, source.ParquetTable) else {}
        self.metadata = read_metadata(of_file)
        # Where rows are calls: how their labels hang together, as far as the table says.
        self.tree = self.metadata.tree
        self.is_judged = self.tree is not None  # Whether true classes say which calls are right
        self.truths = formats.Gathering({})  # Cells that hold the true labels of a protein
        if self.is_judged:
            self.format = replace(self.format, blanks=frozenset({"", "nan"}))
            if spec.class_names is None:
                self.spec = spec = replace(spec, class_names=self.metadata.class_names)
        elif spec.several is not None:
            self.tree = LabelTree()
        self.problems = ProblemList(where)
        self.layout = self._lay_out()
        self.pooling = self.metadata.pooling or spec.pooling
        self.scale = self._scale()
        stated = (spec.sum_to_scale, self.metadata.is_distribution)
        self.sum_to_scale = next(
            (s for s in stated if s is not None), spec.logits or self.format.sum_to_scale
        )
        self.lookup = self._lookup()
        self.problems.raise_any()
        self.has_truth = False  # Whether a row seen so far has a true class

    @property
    def has_networks(self) -> bool:
        """Whether a row is what one network says of a protein."""
        return self.layout.network is not None

    @property
    def row_scale(self) -> float:
        """What one row sums to: 1 where a row is one network's."""
        return 1.0 if self.has_networks else self.scale

    @property
    def sums_to_scale_as_written(self) -> bool:
        """Whether the numbers of a row have to sum to the scale; those of logits come to it."""
        return self.sum_to_scale and not self.spec.logits

    @property
    def known_classes(self) -> tuple[str, ...]:
        """The classes that are known before a row is read."""
        return self.layout.class_names or self.spec.class_names or ()

    @property
    def class_names(self) -> tuple[str, ...]:
        """Classes, in order; complete once all rows have been seen."""
        if self.layout.class_names:
            return self.layout.class_names
        if isinstance(self.lookup, formats.Gathering):
            return tuple(sorted(self.lookup.names))
        return self.spec.class_names or ()

    def _lay_out(self) -> ColumnLayout:
        names = self.spec.class_names
        known = None if names is None else self.known(names)
        faults = ProblemList(self.where)
        layout = lay_out(self.table, self.format, known, faults)
        if layout.network is not None and not (layout.classes or faults.problems):
            defect = "there is a row for each network, and no column for a class."
            remedy = "Give what every network says of every class."
            faults.add(defect, remedy, self.table.header_line)
        if faults.problems and isinstance(self.table, source.TextTable):
            source.explain_delimiter(self.table, lambda other: self._fits(other, known))
        self.problems.problems.extend(faults.problems)
        return layout

    def _fits(self, table: source.TextTable, known: formats.NameLookup | None) -> bool:
        """Return whether the header makes sense."""
        faults = ProblemList(self.where)
        lay_out(table, self.format, known, faults)
        return not faults.problems

    def _scale(self) -> float:
        stated, written = self.spec.scale, self.metadata.scale
        if written is not None and stated is not None and written != stated:
            defect = f"the table was written with the scale {written:g}, {stated:g} is stated."
            self.problems.add(defect, "Leave the scale out, or correct it.")
        if self.spec.logits:
            stated = self._scale_of_logits(stated, written)
        if self.has_networks:
            return float(stated or written or 1.0)
        scale = stated or written or self.format.scale
        if scale is None:
            if self.layout.score is None and not self.layout.classes:
                return 1.0
            self.problems.add("the scale is not known.", formats.STATE_SCALE)
            return 1.0
        return float(scale)

    def _scale_of_logits(self, stated: float | None, written: float | None) -> float | None:
        defect, remedy = None, "Leave `logits` out."
        if written is not None:
            defect = "credence wrote the table, and writes no logits."
        elif self.format.is_long or not self.layout.classes:
            defect = "logits have a column for each class, and this table has not."
        elif stated not in (None, 1.0) and not self.has_networks:
            defect = f"the softmax of logits sums to 1, the scale {stated:g} is stated."
            remedy = "Leave the scale out, or `logits`."
        if defect is not None and not self.problems.problems:
            self.problems.add(defect, remedy)
        return stated if self.has_networks else 1.0

    def _lookup(self) -> formats.NameLookup | formats.Gathering:
        names = self.layout.class_names or self.spec.class_names
        if names is None:
            return formats.Gathering(self.spec.synonyms)
        for text, name in self.spec.synonyms.items():
            if name not in names and self.spec.class_names is None:
                defect = (
                    f"the synonym {text!r} stands for {name!r}, which is no class of the table."
                )
                self.problems.add(defect, "Correct it.")
        return self.known(names, any_case=True)

    def known(self, names: Sequence[str], *, any_case: bool = False) -> formats.NameLookup:
        """Return what finds the class of a label among some."""
        spell, synonyms = self.format.spell, self.spec.synonyms
        return formats.NameLookup(tuple(names), spell, synonyms, any_case=any_case)

    def step(self) -> source.ScoreStep:
        """Return the step between the scores seen so far; a softmax has none."""
        if self.spec.logits:
            return source.ScoreStep(resolution=0.0, relative=0.0)
        step = self.table.step(self.row_scale)
        if self.metadata.resolution is not None and not self.has_networks:
            return source.ScoreStep(resolution=self.metadata.resolution, relative=step.relative)
        return step

    def _rows(self, n_rows: int, problems: ProblemList) -> Iterator[TableRows]:
        for first_row, chunk in numbered_chunks(self.table.chunks(n_rows, problems)):
            yield read_rows(chunk, first_row, self.layout, self.format, self.scale)

    def checked(self, n_rows: int, remembers: Remembers = Remembers.ALL) -> Iterator[Part]:
        """Yield the parts of the table; at its end raise every problem found."""
        problems = ProblemList(self.where)
        checker = Checker(self, problems, remembers)
        try:
            yield from map(checker.see, self._rows(n_rows, problems))
            checker.finish(lambda: self.ids(n_rows))
            has_scores, n_classes = checker.n_rows > checker.n_unscored, len(self.class_names)
            if has_scores and n_classes < 2 and not problems.problems:
                remedy = "Name all classes that the tool knows, or give a table with at least two."
                problems.add(f"the table shows only one class, {self.class_names[0]!r}.", remedy)
        except InputError as error:
            if error.problems[0] not in problems.problems:
                problems.problems.extend(error.problems)
        problems.raise_any()

    def again(self, n_rows: int) -> Iterator[Part]:
        """Yield the parts of a table that has been checked."""
        problems = ProblemList(self.where)
        checker = Checker(self, problems, Remembers.NOTHING)
        yield from map(checker.see, self._rows(n_rows, problems))
        checker.report_labels()
        problems.raise_any()  # the file has changed since it was checked

    def ids(self, n_rows: int) -> Iterator[tuple[int, str]]:
        """Yield line and id of every row, also of those without scores."""
        for rows in self._rows(n_rows, ProblemList(self.where)):
            keys = rows.ids
            if rows.network is not None:
                pairs = zip(rows.ids, rows.network, strict=True)
                keys = [f"{name} (network {network})" for name, network in pairs]
            if rows.predicted is not None and self.tree is not None:
                labels = zip(rows.ids, rows.predicted, rows.truth or rows.predicted, strict=True)
                keys = [f"{name} with label {a or b}" for name, a, b in labels]
            yield from zip(rows.lines.tolist(), keys, strict=True)
