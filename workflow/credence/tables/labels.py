"""True classes from elsewhere: a second table, or the headers of a FASTA file."""

import re
import signal
import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import FrameType

import numpy as np

from credence.predictions import UNKNOWN_CLASS, Integers, Strings, is_among
from credence.problems import ONE_ID_EACH, Problem, ProblemList, raise_any, refuse
from credence.tables.calls import Truth, is_gaf, judged, marks_of, read_gaf, split_cells
from credence.tables.formats import (
    FORMAT_OF,
    Columns,
    Format,
    Gathering,
    NameLookup,
    TableSpec,
    fold,
    named,
    parts_of,
)
from credence.tables.samples import CHUNK_ROWS, Samples
from credence.tables.scan import lay_out
from credence.tables.source import MemoryTable, open_table

LABEL_GROUP = "label"
DEFAULT_COLUMNS = ("id", "true_class")
MOST_SECONDS = 1.0  # of the processor for a header; a usual pattern takes a millionth


@dataclass(frozen=True, kw_only=True, eq=False)
class Labels:
    """The true classes of some proteins, as they are written."""

    where: str  # The file
    column: str | None  # Column of the labels, where it is a table
    ids: Strings  # Names of the proteins, unique
    texts: Strings  # Their labels; '' where it is not known
    lines: Integers  # Line of each
    # Whether it names proteins of a whole database, of which some have no scores here.
    is_of_more: bool = False


def read_labels(
    path: Path | MemoryTable,
    id_column: str = "id",
    label_column: str = "true_class",
    *,
    are_several: bool = False,
) -> Labels:
    """Return the labels of a table, or raise all its problems; a protein may have several rows."""
    if are_several and isinstance(path, Path) and is_gaf(path):
        return labels_of(read_gaf(path))
    # Tables of labels are read like score tables that have no scores.
    columns = Columns(id=id_column, true_class=label_column)
    format_ = Format(name="labels", summary="", columns=columns, delimiter="\t", vector=False)
    table = open_table(path, format_)
    problems = ProblemList(table.where)
    layout = lay_out(table, format_, None, problems)
    if None in (layout.id, layout.true_class) and (id_column, label_column) == DEFAULT_COLUMNS:
        defect = "its columns have other names than id and true_class."
        remedy = "State them: id_column and label_column, or credence init … --label-columns."
        problems.add(defect, remedy, table.header_line)
    problems.raise_any()
    id_place, label_place = (table.header.index(name) for name in (id_column, label_column))
    ids: list[str] = []
    texts: list[str] = []
    lines: list[int] = []
    for chunk in table.chunks(CHUNK_ROWS, problems):
        ids += chunk.texts(id_place)
        texts += chunk.texts(label_place)
        lines += chunk.lines.tolist()
    if not ids:
        problems.add("the table has a header and no rows.", "Give a table with rows.")
    first: dict[str, int] = {}
    for name, line in zip(ids, lines, strict=True):
        if not name.strip():
            defect, remedy = "the id is missing.", "Name the protein or remove its row."
            problems.add(defect, remedy, line, id_column)
        elif not are_several and first.setdefault(name, line) != line:
            defect = f"the id {name!r} is in line {first[name]} already."
            problems.add(defect, ONE_ID_EACH, line, id_column)
    problems.raise_any()
    names, labels = (np.array(column, dtype=object) for column in (ids, texts))
    return Labels(
        where=table.where,
        column=label_column,
        ids=names,
        texts=labels,
        lines=np.array(lines, dtype=np.int64),
    )


def labels_of(truth: Truth) -> Labels:
    """Return true labels as those of a table."""
    return Labels(
        where=truth.where,
        column=truth.column,
        ids=np.array(truth.ids, dtype=object),
        texts=np.array(truth.labels, dtype=object),
        lines=np.array(truth.lines, dtype=np.int64),
        is_of_more=truth.is_of_more,
    )


def label_finder(pattern: str, where: str) -> re.Pattern[str]:
    """Return what finds the label in a header; refuse a pattern that cannot."""
    try:
        finder = re.compile(pattern)
    except re.error as error:
        defect = f"{pattern!r} is not a regular expression: {error}."
        raise refuse(where, defect, "Fix it.") from error
    if LABEL_GROUP not in finder.groupindex:
        defect = f"{pattern!r} has no group named {LABEL_GROUP}."
        raise refuse(where, defect, "Write one: (?P<label>…).")
    return finder


@contextmanager
def _time_limit(seconds: float) -> Iterator[Callable[[], object]]:
    """Give what starts a piece of work, which a TimeoutError ends after seconds of the processor.

    A signal ends it, which regular expressions heed; it reaches the main thread alone.
    """
    if threading.current_thread() is not threading.main_thread():
        yield lambda: None
        return

    def end(number: int, frame: FrameType | None) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGVTALRM, end)
    try:
        yield lambda: signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0.0)
        signal.signal(signal.SIGVTALRM, before)


def labels_from_headers(
    where: str,
    ids: Sequence[str] | Strings,
    headers: Sequence[str] | Strings,
    lines: Sequence[int] | Integers,
    pattern: str,
) -> Labels:
    """Return the labels that the headers of a FASTA file carry."""
    problems, finder = ProblemList(where), label_finder(pattern, where)
    texts = []
    with _time_limit(MOST_SECONDS) as start:
        for name, header, line in zip(ids, headers, lines, strict=True):
            try:
                start()
                match = finder.search(header)
            except TimeoutError:
                defect = (
                    f"the pattern {pattern!r} takes more than {MOST_SECONDS:g} s on the header "
                )
                remedy = "Write it without a repetition inside another one, such as (x+)+."
                raise refuse(where, f"{defect}of protein {name!r}.", remedy, int(line)) from None
            texts.append((match[LABEL_GROUP] or "") if match else "")
            if not match:
                defect = f"the header of protein {name!r} does not fit the pattern {pattern!r}."
                problems.add(defect, "Correct the pattern or the header.", int(line))
    problems.raise_any()
    names, labels = (np.array(column, dtype=object) for column in (ids, texts))
    return Labels(
        where=where, column=None, ids=names, texts=labels, lines=np.asarray(lines, dtype=np.int64)
    )


def attach_labels(
    samples: Samples, labels: Labels, spec: TableSpec, table: str, *, may_lack: bool = False
) -> Samples:
    """Return samples with their true classes, or raise all misfits; some `may_lack` theirs.

    Where a tool names only the best class and no classes are stated, labels may name others.
    Those of calls say which of them are right.
    """
    if spec.several is not None:
        return _judged_by(labels, samples, spec, table)
    return _with_classes(samples, labels, spec, table, may_lack=may_lack)


def _judged_by(labels: Labels, samples: Samples, spec: TableSpec, table: str) -> Samples:
    columns = (labels.ids.tolist(), labels.texts.tolist(), labels.lines.tolist())
    truth = split_cells(labels.where, *columns, marks_of(spec), labels.column)
    return judged(samples, replace(truth, is_of_more=labels.is_of_more), spec, table)


def _with_classes(
    samples: Samples, labels: Labels, spec: TableSpec, table: str, *, may_lack: bool
) -> Samples:
    ids, recased = _as_in_table(labels, samples, table)
    texts = labels.texts
    spell = FORMAT_OF[spec.format].spell
    if samples.predictions.scores is None and spec.class_names is None:
        predictions = samples.predictions
        known = NameLookup(predictions.class_names, spell, spec.synonyms, any_case=True)
        others = Gathering(spec.synonyms)
        here = dict.fromkeys(texts[is_among(ids, predictions.ids)].tolist())
        every = {fold(spell(text)) for text in (*predictions.class_names, *here)}
        for text in here:
            parts = {fold(spell(part)) for part in parts_of(text)}
            is_several = len(parts) > 1 and parts <= every
            if known[text] < 0 and not is_several:
                others[spell(text)]
        names = tuple(sorted({*predictions.class_names, *others.names}))
        codes = np.array([*map(names.index, predictions.class_names), UNKNOWN_CLASS])
        predicted = codes[predictions.predicted_class]
        renamed = replace(predictions, class_names=names, predicted_class=predicted)
        samples = replace(samples, predictions=renamed)
    predictions = samples.predictions
    row_of = {name: row for row, name in enumerate(predictions.ids.tolist())}
    lookup = NameLookup(predictions.class_names, spell, spec.synonyms, any_case=True)
    truth = np.full(samples.n_samples, UNKNOWN_CLASS, dtype=np.int64)
    is_labelled = np.zeros(samples.n_samples, dtype=np.bool_)
    unscored = set(samples.unscored_ids.tolist())
    problems: list[Problem] = []
    strange: defaultdict[str, list[int]] = defaultdict(list)  # Label that is no class → its rows
    for at, (name, text) in enumerate(zip(ids.tolist(), texts.tolist(), strict=True)):
        if name in row_of:
            row = row_of[name]
            is_labelled[row] = True
            truth[row] = lookup[text] if text.strip() else UNKNOWN_CLASS
            if truth[row] < 0 and text.strip():
                strange[text].append(at)
        elif name not in unscored:
            defect = f"protein {name!r} is not in {table}."
            remedy = "Correct its name, remove it, or add its scores."
            problems.append(
                Problem(where=labels.where, what=defect, remedy=remedy, line=int(labels.lines[at]))
            )
    for text, (first, *more) in strange.items():
        defect, remedy = lookup.misfit(text, named(labels.ids[first], 1 + len(more)))
        line = int(labels.lines[first])
        problems.append(
            Problem(
                where=labels.where, what=defect, remedy=remedy, line=line, column=labels.column
            )
        )
    problems.sort(key=lambda problem: problem.line or 0)
    for place in () if may_lack else np.flatnonzero(~is_labelled):
        defect = f"protein {predictions.ids[place]!r} has no label in {labels.where}."
        remedy = "Give it one, or remove its row."
        problems.append(
            Problem(where=table, what=defect, remedy=remedy, line=int(samples.lines[place]))
        )
    raise_any(problems)
    return replace(
        samples, true_class=truth, recased={**samples.recased, **recased, **lookup.recased}
    )


def _as_in_table(labels: Labels, samples: Samples, table: str) -> tuple[Strings, dict[str, str]]:
    """Return the ids of labels as the table writes them, and those taken for another so.

    That is one that differs in capitals alone, where no further id does, here or there.
    """
    there = samples.lines_and_ids[1]
    is_known = is_among(labels.ids, there)
    if is_known.all():
        return labels.ids, {}
    n_here, n_there = Counter(map(fold, labels.ids)), Counter(map(fold, there))
    written = {fold(name): name for name in there}
    recased = {
        name: written[fold(name)]
        for name in labels.ids[~is_known].tolist()
        if n_here[fold(name)] == n_there[fold(name)] == 1
    }
    if len(labels.ids) > 1 and not is_known.any() and not recased:
        defect = f"none of its {len(labels.ids):,} proteins is in {table}: here is "
        defect += f"{labels.ids[0]!r}, there {there[0]!r}."
        raise refuse(labels.where, defect, "Write ids alike, or name the column that holds them.")
    return np.array([recased.get(name, name) for name in labels.ids], dtype=object), recased
