"""The tables between the stages, each a class: read, checked, written."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from enum import Enum
from itertools import pairwise, starmap
from pathlib import Path
from typing import Annotated, Any, TypeVar, get_type_hints

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as csv

from credence.confidence import Confidence
from credence.events.model import EventModel, Mix
from credence.findings import DECISIONS, INSUFFICIENT
from credence.lists.decision import DOUBT_TEXTS, before_lists
from credence.predictions import Booleans, Floats, Integers, Predictions, Strings
from credence.problems import Problem, ProblemList, nearest, raise_any, refuse
from credence.sets.conformal import SEPARATOR, PredictionSets
from credence.settings import range_in_words
from credence.tables.formats import ANY_OTHER_LABEL, Columns, Format
from credence.tables.samples import CHUNK_ROWS, Samples
from credence.tables.source import Chunk, MemoryTable, open_parquet, open_table
from credence.tables.writing import write_table

OWN_TABLE = Format(
    name="contract", summary="A table of credence itself.", columns=Columns(), delimiter="\t"
)


class Kind(Enum):
    """What the cells of a column are."""

    TEXT = "text"
    NUMBER = "number"
    INTEGER = "whole number"


@dataclass(frozen=True, kw_only=True)
class Column:
    """One column of a table."""

    name: str = ""  # As it stands in the header
    _: KW_ONLY
    kind: Kind = Kind.TEXT  # What its cells are
    may_be_empty: bool = False  # Whether a cell may be empty; a number is NaN then
    unique: bool = False  # Whether no value may stand there twice
    choices: tuple[str, ...] = ()  # Texts allowed; empty: all
    low: float | None = None  # Range of numbers, both bounds included
    high: float | None = None
    is_optional: bool = False  # Whether the column may be absent


ANY_NUMBER = Column(kind=Kind.NUMBER, may_be_empty=True)
AMOUNT_COLUMN = replace(ANY_NUMBER, low=0.0)
SHARE_COLUMN = replace(AMOUNT_COLUMN, high=1.0)


def columns_of(kind: type[Any]) -> tuple[Column, ...]:
    """Return the columns of a class of tables; one without a name has that of its field."""
    hints = get_type_hints(kind, include_extras=True)
    return tuple(
        replace(column, name=column.name or name)
        for name, hint in hints.items()
        for column in hint.__metadata__
    )


def named_columns(table: Any) -> dict[str, Any]:
    """Return the arrays of a table by the names of their columns."""
    names = [column.name for column in columns_of(type(table))]
    return dict(zip(names, vars(table).values(), strict=True))


Table = TypeVar("Table")


@dataclass(frozen=True, kw_only=True, eq=False)
class ReadTable:
    """The cells of a table as checked arrays."""

    where: str  # The file, as the user named it
    values: dict[str, Any]  # One array per column of the contract
    lines: Integers  # Line of each row, or its number in a Parquet file
    absent: frozenset[str]  # Optional columns that are not there; their arrays are blank

    def fill(self, kind: type[Table]) -> Table:
        """Return the columns as a table of a class."""
        columns = zip(get_type_hints(kind), columns_of(kind), strict=True)
        return kind(**{field: self.values[column.name] for field, column in columns})


def read_columns(
    path: Path | MemoryTable, columns: tuple[Column, ...], further: tuple[Column, ...] = ()
) -> ReadTable:
    """Return the columns of a table, or raise all problems found."""
    table = open_table(path, OWN_TABLE)
    for kind in further:
        names = [name for name in table.header if name.startswith(kind.name)]
        columns += tuple(replace(kind, name=name) for name in dict.fromkeys(names))
    place_of = _places(table.where, table.header, table.header_line, columns)
    problems = ProblemList(table.where)
    parts: dict[str, list[Any]] = {column.name: [] for column in columns}
    lines: list[Integers] = [np.empty(0, dtype=np.int64)]
    is_text = table.header_line is not None
    for chunk in table.chunks(CHUNK_ROWS, problems):
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
            first: dict[str, int] = {}
            for value, line in zip(values[column.name], all_lines.tolist(), strict=True):
                if value != "" and first.setdefault(value, line) != line:
                    defect = f"{value!r} stands in line {first[value]} already."
                    problems.add(defect, "Remove one of the two rows.", line, column.name)
    problems.raise_any()
    absent = frozenset(column.name for column in columns if column.name not in place_of)
    return ReadTable(where=table.where, values=values, lines=all_lines, absent=absent)


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
        remedy = "Separate the cells by tabs in a .tsv file, by commas in a .csv file."
        raise refuse(where, f"the header is one cell, {header[0]!r}.", remedy, line)
    problems = ProblemList(where)
    for name in needed:
        if name not in header:
            remedy = f"The columns are: {', '.join(names)}."
            problems.add("the column is missing.", remedy, line, name)
    for place, name in enumerate(header):
        if name in header[:place]:
            defect, remedy = "the column stands there twice.", "Remove one of the two."
        elif name not in names:
            defect, close = "this column is not known here.", nearest(name, names)
            remedy = f"{close} Else remove it." if close.endswith("?") else f"Remove it. {close}"
        else:
            continue
        problems.add(defect, remedy, line, name)
    problems.raise_any()
    return {name: place for place, name in enumerate(header)}


def _texts(chunk: Chunk, place: int, column: Column, problems: ProblemList) -> Strings:
    texts = np.array(chunk.texts(place), dtype=object)
    if not column.may_be_empty:
        for row in np.flatnonzero(texts == ""):
            problems.add("the cell is empty.", "Fill it in.", int(chunk.lines[row]), column.name)
    if column.choices:
        allowed = [*column.choices, ""]
        for row in np.flatnonzero(~np.isin(texts.astype(str), allowed)):
            defect = f"{texts[row]!r} is not allowed."
            remedy = nearest(texts[row], column.choices)
            problems.add(defect, remedy, int(chunk.lines[row]), column.name)
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
        defect = f"{cell!r} is not a number." if is_bad[row] else f"{cell} is out of range."
        if cell.strip() in blanks:
            defect = "" if column.may_be_empty else "the cell is empty."
        if defect:
            problems.add(defect, f"Give {wanted}.", int(chunk.lines[row]), column.name)
    if column.kind is Kind.INTEGER:
        return np.where(is_bad | outside, 0.0, numbers).astype(np.int64)
    return numbers


def _wanted(column: Column) -> str:
    wanted = f"a {column.kind.value} {range_in_words(column.low, column.high)}".rstrip()
    return wanted + (" or nothing" if column.may_be_empty else "")


EVENT_PREFIX = "event_"
# Where events are corrected for a query set's mix of classes, these are the others.
PREFIXES = (EVENT_PREFIX, "uncorrected_event_")


def event_names(model: EventModel | None, is_shifted: bool) -> tuple[str, ...]:
    """Return the columns that events have."""
    if model is None:
        return ()
    prefixes = PREFIXES if is_shifted else PREFIXES[:1]
    return tuple(f"{prefix}{name}" for prefix in prefixes for name in model.names)


def event_columns(
    model: EventModel | None,
    predictions: Predictions,
    confidence: Floats,
    distance: Floats | None = None,
    mix: Mix | None = None,
) -> dict[str, Any]:
    """Return the columns of some rows."""
    if model is None:
        return {}
    names = event_names(model, mix is not None)
    if predictions.n_samples == 0:
        return {name: np.empty(0) for name in names}
    known = model.evidence(predictions, distance)
    plain, corrected = model.probabilities(known, confidence, mix)
    chances = plain if mix is None else np.concatenate([corrected, plain])
    return dict(zip(names, chances, strict=True))


NOVELTY_COLUMNS = (
    replace(SHARE_COLUMN, name="novelty_p", is_optional=True),
    replace(AMOUNT_COLUMN, name="calibration_distance", is_optional=True),
    Column(name="nearest_calibration", may_be_empty=True, is_optional=True),
    replace(AMOUNT_COLUMN, name="training_distance", is_optional=True),
    Column(name="closest_known", may_be_empty=True, is_optional=True),
    replace(SHARE_COLUMN, name="closest_identity", is_optional=True),
    replace(SHARE_COLUMN, name="closest_coverage", is_optional=True),
)
NOVELTY_NAMES = tuple(column.name for column in NOVELTY_COLUMNS)
NEAREST_NAMES = ("closest_known", "nearest_calibration")  # by alignment; by vectors too
CLOSEST_IDENTITY = "closest_identity"
# Of a protein's neighbours, where they are asked for.
PARTS_NAMES = ("trust_score", "local_error", "local_distance")

WORD_BITS = 64  # bits


def set_texts(contains: Booleans, class_names: tuple[str, ...]) -> Strings:
    """Return each set as the names of its classes, in the classifier's order."""
    names = [
        name.replace("\\", "\\\\").replace(SEPARATOR, "\\" + SEPARATOR) for name in class_names
    ]
    # Few sets differ, and words of bits are compared faster than rows of them.
    words = np.zeros((len(contains), -(-len(names) // WORD_BITS)), dtype=np.uint64)
    for place in range(len(names)):
        bit = np.uint64(1 << place % WORD_BITS)
        words[:, place // WORD_BITS] |= np.where(contains[:, place], bit, np.uint64(0))
    key = words[:, 0] if words.shape[1] == 1 else words
    _, first, kind = np.unique(key, axis=0, return_index=True, return_inverse=True)
    texts = [
        SEPARATOR.join(name for name, is_in in zip(names, contains[row], strict=True) if is_in)
        for row in first
    ]
    return np.array(texts, dtype=object)[kind.reshape(-1)]


SET_COLUMNS = (
    Column(name="prediction_set", may_be_empty=True, is_optional=True),
    replace(AMOUNT_COLUMN, name="set_size", is_optional=True),
    Column(name="set_pooled", may_be_empty=True, is_optional=True),
    Column(name="uncorrected_prediction_set", may_be_empty=True, is_optional=True),
    replace(AMOUNT_COLUMN, name="uncorrected_set_size", is_optional=True),
)


SETS_OF_ONE_MIX = ("prediction_set", "set_size")


def set_names(sets: PredictionSets | None, is_shifted: bool) -> tuple[str, ...]:
    """Return the columns that sets have."""
    if sets is None:
        return ()
    names, corrected = SETS_OF_ONE_MIX, is_shifted and sets.options.kind == "overall"
    if corrected:
        return (*names, *(f"uncorrected_{name}" for name in names))
    return names if sets.pool is None else (*names, "set_pooled")


def set_columns(
    sets: PredictionSets | None, predictions: Predictions, query_proportion: Floats | None
) -> dict[str, Any]:
    """Return the columns of some rows."""
    columns: dict[str, Any] = {}
    if sets is None:
        return columns
    names = set_names(sets, query_proportion is not None)
    is_pooled = np.isin(sets.class_names, sets.names_in_pool())
    for prefix in ("", "uncorrected_"):
        if f"{prefix}set_size" not in names:
            continue
        texts: Strings = np.full(predictions.n_samples, "", dtype=object)
        sizes, pooled = np.full(predictions.n_samples, np.nan), texts
        if predictions.scores is not None:
            contains = sets.contains(predictions, None if prefix else query_proportion)
            texts = set_texts(contains, sets.class_names)
            pooled = set_texts(contains & is_pooled, sets.class_names)
            sizes = contains.sum(axis=1).astype(float)
        columns |= {f"{prefix}prediction_set": texts, f"{prefix}set_size": sizes}
        if "set_pooled" in names:
            columns["set_pooled"] = pooled
    return columns


GROUP_ROLES = ("training", "validation", "calibration", "test", "set_aside")
SAMPLES = ("in_sample", "held_out", "test")


@dataclass(frozen=True, kw_only=True, eq=False)
class Clusters:
    """Which proteins are relatives."""

    ids: Annotated[Strings, Column(name="id", unique=True)]
    cluster: Annotated[Strings, Column()]
    # The protein that stands for the cluster, and the likeness to it; NaN where not known.
    representative: Annotated[Strings, Column(is_optional=True)]
    identity: Annotated[Floats, replace(SHARE_COLUMN, is_optional=True)]
    coverage: Annotated[Floats, replace(SHARE_COLUMN, is_optional=True)]


@dataclass(frozen=True, kw_only=True, eq=False)
class Groups:
    """What each protein is used for."""

    ids: Annotated[Strings, Column(name="id", unique=True)]
    cluster: Annotated[Strings, Column()]
    group: Annotated[Strings, Column(may_be_empty=True)]  # '' where it is in none
    role: Annotated[Strings, Column(choices=GROUP_ROLES)]
    reason: Annotated[Strings, Column(may_be_empty=True)]  # Why it was set aside
    # Its true class; '' where it is not known, as of proteins that the classifier learnt from
    class_name: Annotated[Strings, Column(name="class", may_be_empty=True, is_optional=True)]


@dataclass(frozen=True, kw_only=True, eq=False)
class Confidences:
    """The answer as a table; see :class:`credence.confidence.Confidence`."""

    ids: Annotated[Strings, Column(name="id", unique=True)]
    # '' where the classifier gave no scores.
    predicted_class: Annotated[Strings, Column(may_be_empty=True)]
    confidence: Annotated[Floats, SHARE_COLUMN]
    lower: Annotated[Floats, SHARE_COLUMN]
    upper: Annotated[Floats, SHARE_COLUMN]
    decision: Annotated[Strings, Column(choices=DECISIONS)]
    note: Annotated[Strings, Column(may_be_empty=True)]
    score: Annotated[Floats, ANY_NUMBER]
    support: Annotated[Floats, Column(kind=Kind.NUMBER, low=0.0)]
    method: Annotated[Strings, Column()]


@dataclass(frozen=True, kw_only=True, eq=False)
class Metrics:
    """How good the confidences are."""

    method: Annotated[Strings, Column()]
    class_: Annotated[Strings, Column(name="class")]  # Or 'all'
    sample: Annotated[Strings, Column(choices=SAMPLES)]
    metric: Annotated[Strings, Column()]
    value: Annotated[Floats, ANY_NUMBER]
    lower: Annotated[Floats, ANY_NUMBER]
    upper: Annotated[Floats, ANY_NUMBER]
    n: Annotated[Integers, Column(kind=Kind.INTEGER, low=0.0)]  # Number of proteins


@dataclass(frozen=True, kw_only=True, eq=False)
class CompositionTable:
    """How frequent the classes are, here and there."""

    class_: Annotated[Strings, Column(name="class", unique=True)]
    calibration_proportion: Annotated[Floats, SHARE_COLUMN]
    query_proportion: Annotated[Floats, SHARE_COLUMN]  # And its interval
    lower: Annotated[Floats, SHARE_COLUMN]
    upper: Annotated[Floats, SHARE_COLUMN]
    weight: Annotated[Floats, AMOUNT_COLUMN]  # Their ratio
    # Shares that confidences are corrected for: as far as chance does not explain; NaN: none.
    applied_proportion: Annotated[Floats, replace(SHARE_COLUMN, is_optional=True)]


@dataclass(frozen=True, kw_only=True, eq=False)
class RelativesTable:
    """Which proteins have a relative in the training set."""

    ids: Annotated[Strings, Column(name="id", unique=True)]
    relative: Annotated[Strings, Column()]  # The closest one there
    identity: Annotated[Floats, Column(kind=Kind.NUMBER, low=0.0, high=1.0)]
    coverage: Annotated[Floats, Column(kind=Kind.NUMBER, low=0.0, high=1.0)]


CONFIDENCE_NAMES = tuple(entry.name for entry in columns_of(Confidences))
# Where `confidence` is corrected for a query set's mix of classes, and only there.
UNCORRECTED_NAMES = ("uncorrected_confidence", "uncorrected_lower", "uncorrected_upper")
Q_VALUE = "q_value"  # the least estimated error rate of a list that holds the protein
# Of several tools: how many name the class, the class that each names and how sure each is.
AGREE, TOOL, SURE = "tools_agree", "tool_", "confidence_"
GENOME = "genome"  # of the protein, where the score table names it
# What a table of confidences may hold beside.
FURTHER_COLUMNS = (
    *(
        replace(SHARE_COLUMN, name=name, is_optional=True)
        for name in (*UNCORRECTED_NAMES, Q_VALUE)
    ),
    *SET_COLUMNS,
    *NOVELTY_COLUMNS,
    *(replace(AMOUNT_COLUMN, name=name, is_optional=True) for name in PARTS_NAMES),
    *(Column(name=name, may_be_empty=True, is_optional=True) for name in (AGREE, GENOME)),
)


def write_contract(path: Path, table: Any, **how: Any) -> None:
    """Write a table whose class has a column in each field; `how`: see :func:`write_table`."""
    write_table(path, named_columns(table), **how)


def read_clusters(path: Path | MemoryTable) -> Clusters:
    """Return the clusters of a table, checked; the first id stands for one that names none."""
    read = read_columns(path, columns_of(Clusters))
    values = read.values
    if "representative" in read.absent:
        names, codes = np.unique(values["cluster"].astype(str), return_inverse=True)
        first = np.empty(len(names), dtype=object)
        for code in range(len(codes) - 1, -1, -1):
            first[codes[code]] = values["id"][code]
        values["representative"] = first[codes]
    else:
        cluster_of = dict(zip(values["id"], values["cluster"], strict=True))
        problems, pairs = ProblemList(read.where), (values["cluster"], values["representative"])
        for line, cluster, standing in zip(read.lines.tolist(), *pairs, strict=True):
            if (other := cluster_of.get(standing)) != cluster:
                place = "no id of this table" if other is None else f"in cluster {other!r}"
                defect = f"{standing!r} is {place}, not one of cluster {cluster!r}."
                remedy = f"Give a protein of cluster {cluster!r}."
                problems.add(defect, remedy, line, "representative")
        problems.raise_any()
    return read.fill(Clusters)


def read_groups(path: Path | MemoryTable) -> Groups:
    """Return the groups of a table, checked: no cluster is in two of them."""
    read = read_columns(path, columns_of(Groups))
    problems = ProblemList(read.where)
    first: dict[str, tuple[str, str]] = {}
    names = ("id", "cluster", "group", "role", "reason")
    rows = zip(*(read.values[name] for name in names), strict=True)
    for line, (id_, cluster, group, role, reason) in zip(read.lines.tolist(), rows, strict=True):
        if role == "set_aside":
            if not reason:
                defect = f"{id_!r} is set aside without a reason."
                problems.add(defect, "Write the reason.", line, "reason")
            continue
        if not group:
            problems.add(f"{id_!r} has no group.", "Give it the group.", line, "group")
            continue
        other, known = first.setdefault(cluster, (id_, group))
        if known != group:
            where = f"{other!r} is in {known!r}, {id_!r} in {group!r}"
            defect = f"cluster {cluster!r} is divided: {where}."
            problems.add(defect, "Put all proteins of a cluster into one group.", line, "group")
    problems.raise_any()
    return read.fill(Groups)


def confidence_columns(
    predictions: Predictions, confidence: Confidence, method: str
) -> dict[str, Any]:
    """Return some rows of the table `confidences`, for a TableWriter."""
    n_samples = predictions.n_samples
    names = np.array(predictions.class_names, dtype=object)
    score = predictions.top_score
    return {
        "id": predictions.ids,
        "predicted_class": names[predictions.predicted_class],
        "confidence": confidence.value,
        "lower": confidence.lower,
        "upper": confidence.upper,
        "decision": before_lists(confidence),
        "note": confidence.notes,
        "score": np.full(n_samples, np.nan) if score is None else score,
        "support": confidence.support,
        "method": np.full(n_samples, method, dtype=object),
    }


UNSCORED_NOTE = "no scores from the classifier, so no confidence"


def with_unscored(columns: dict[str, Any], samples: Samples, method: str) -> dict[str, Any]:
    """Return rows of `confidences` with those of the unscored, in the table's order."""
    lines, n = samples.lines_and_ids[0], len(samples.unscored_ids)
    if n == 0:
        return columns
    stated = {
        "id": samples.unscored_ids,
        "decision": INSUFFICIENT,
        "note": UNSCORED_NOTE,
        "method": method,
    }
    stated["support"] = 0.0  # the rest is not known
    order = np.argsort(lines, kind="stable")
    completed = {}
    for name, values in columns.items():
        blank = stated.get(name, "" if values.dtype == object else np.nan)
        kind = np.float64 if isinstance(blank, float) else object
        completed[name] = np.append(values, np.full(n, blank, dtype=kind))[order]
    return completed


def _require_calls_once(read: ReadTable) -> None:
    """Refuse a label that a protein is called twice."""
    problems, first = ProblemList(read.where), dict[tuple[str, str], int]()
    calls = zip(read.values["id"], read.values["predicted_class"], strict=True)
    for call, line in zip(calls, read.lines.tolist(), strict=True):
        if first.setdefault(call, line) != line:
            defect = f"{call[0]!r} has {call[1]!r} in line {first[call]} already."
            problems.add(defect, "Remove one of the two rows.", line, "id")
    problems.raise_any()


def read_confidences(path: Path, *, are_calls: bool = False) -> ReadTable:
    """Return the columns of a table of confidences, each checked to lie within its interval.

    Calls repeat the id of a protein, each with another label.
    """
    shares = tuple(replace(SHARE_COLUMN, name=prefix) for prefix in (*PREFIXES, SURE))
    further = (*shares, Column(name=TOOL, may_be_empty=True))
    columns = EVERY_COLUMN
    if are_calls:
        columns = tuple(replace(column, unique=False) for column in columns)
    read = read_columns(path, columns, further)
    if are_calls:
        _require_calls_once(read)
    _check_interval(read, "confidence")
    _check_interval(read, *UNCORRECTED_NAMES)
    return read


def read_metrics(path: Path) -> Metrics:
    """Return the metrics of a table, checked: each lies within its interval."""
    read = read_columns(path, columns_of(Metrics))
    _check_interval(read, "value")
    return read.fill(Metrics)


def _check_interval(
    read: ReadTable, name: str, lower_name: str = "lower", upper_name: str = "upper"
) -> None:
    """Refuse rows whose number is outside its interval; NaN is outside nothing."""
    values, lower, upper = (read.values[column] for column in (name, lower_name, upper_name))
    problems = ProblemList(read.where)
    for row in np.flatnonzero((values < lower) | (values > upper) | (lower > upper)):
        defect = f"{values[row]} is not within the interval {lower[row]} to {upper[row]}."
        problems.add(defect, "Give an interval that holds the number.", int(read.lines[row]), name)
    problems.raise_any()


CSV_BLOCK_BYTES = 8 << 20
EVERY_COLUMN = (*columns_of(Confidences), *FURTHER_COLUMNS)
TEXT_NAMES = frozenset(column.name for column in EVERY_COLUMN if column.kind is Kind.TEXT)
STREAMED = {name: pa.string() if name in TEXT_NAMES else pa.float64() for name in CONFIDENCE_NAMES}

# What stops quick reading; the table is then read slowly, to tell where it is wrong.
NOT_QUICKLY = (pa.ArrowException, OSError, UnicodeDecodeError)


def stream_confidences(path: Path, further: Sequence[str] = ()) -> Iterator[pa.Table]:
    """Yield pieces of a table of confidences, its columns in the contract's order, then `further`.

    Raises one of `NOT_QUICKLY` where it is not as `credence annotate` writes it.
    """
    kinds = {name: pa.string() if name in TEXT_NAMES else pa.float64() for name in further}
    kinds, header = STREAMED | kinds, header_of(path)
    if len(set(header)) < len(header) or not kinds.keys() <= set(header):
        raise pa.ArrowInvalid("a column is missing or stands twice")
    for batch in _batches(path, kinds):
        piece = pa.Table.from_batches([batch])
        lower, value, upper = (piece[name] for name in ("lower", "confidence", "upper"))
        # Where something is not known, nothing is greater.
        wrong = starmap(pc.greater, pairwise((0.0, lower, value, upper, 1.0)))
        if any(pc.any(is_wrong).as_py() for is_wrong in wrong):
            raise pa.ArrowInvalid("a confidence lies outside its interval")
        if any(piece[name].null_count for name in ("id", "predicted_class")):
            raise pa.ArrowInvalid("a protein has no id or no class")
        if not pc.all(pc.is_in(piece["decision"], pa.array(DECISIONS))).as_py():
            raise pa.ArrowInvalid("a decision is another")
        yield piece


def is_listable(piece: pa.Table) -> Booleans:
    """Return which rows may be on a list: with data enough, and no note that speaks against."""
    notes = piece["note"].combine_chunks().dictionary_encode()
    texts = [text or "" for text in notes.dictionary.to_pylist()]
    has_doubt = [any(doubt in text for doubt in DOUBT_TEXTS) for text in texts]
    codes = pc.fill_null(notes.indices, len(texts)).to_numpy(zero_copy_only=False)
    is_sufficient = pc.not_equal(piece["decision"], INSUFFICIENT).to_numpy()
    return np.asarray(is_sufficient & ~np.array([*has_doubt, False])[codes], np.bool_)


def class_codes(column: pa.ChunkedArray, class_names: Sequence[str], path: str) -> Integers:
    """Return the place of each class among the classes; -1 where none was predicted."""
    code_of = {name: code for code, name in enumerate(class_names)}
    # Published tables have ' before names that a spreadsheet would take for a formula.
    code_of = {"": -1} | {f"'{name}": code for name, code in code_of.items()} | code_of
    encoded = column.combine_chunks().dictionary_encode()
    names = [name or "" for name in encoded.dictionary.to_pylist()]
    if (other := code_of.get(ANY_OTHER_LABEL)) is not None:
        code_of |= {name: other for name in names if name not in code_of}
    unknown = sorted({name for name in names if name not in code_of})
    defect = "{!r} is no class that is known here."
    raise_any(
        Problem(
            where=path,
            what=defect.format(name),
            remedy=nearest(name, class_names),
            column="predicted_class",
        )
        for name in unknown
    )
    places = np.array([code_of[name] for name in names], dtype=np.int64)
    return places[encoded.indices.to_numpy(zero_copy_only=False)] if names else places


def is_corrected(path: Path) -> bool:
    """Return whether the confidences of a table are corrected for a mix of classes."""
    return UNCORRECTED_NAMES[0] in header_of(path)


def header_of(path: Path) -> tuple[str, ...]:
    """Return the columns of a table of confidences."""
    return open_table(path, OWN_TABLE).header


def read_slowly(path: Path, further: Sequence[str] = (), *, are_calls: bool = False) -> pa.Table:
    """Return a whole table of confidences, or refuse it with all its problems."""
    read = read_confidences(path, are_calls=are_calls)
    names = (*CONFIDENCE_NAMES, *further)
    return pa.table({name: pa.array(read.values[name], from_pandas=False) for name in names})


def _batches(path: Path, kinds: Mapping[str, pa.DataType]) -> Iterator[pa.RecordBatch]:
    names = list(kinds)
    if path.suffix == ".parquet":
        with open_parquet(path) as file:
            for batch in file.iter_batches(CHUNK_ROWS, columns=names):
                columns = [batch[name].cast(kind) for name, kind in kinds.items()]
                yield pa.RecordBatch.from_arrays(columns, names)
        return
    with pa.input_stream(str(path), compression="detect") as source:
        how = csv.ReadOptions(block_size=CSV_BLOCK_BYTES), csv.ParseOptions(delimiter="\t")
        cells = csv.ConvertOptions(
            strings_can_be_null=False, column_types=kinds, include_columns=names, null_values=[""]
        )
        for batch in csv.open_csv(source, *how, cells):
            numbers = [batch[name] for name, kind in kinds.items() if kind == pa.float64()]
            if any(pc.any(pc.invert(pc.is_finite(column))).as_py() for column in numbers):
                raise pa.ArrowInvalid("a number is typed as nan, or has no end")
            yield batch


def read_relatives(path: Path) -> RelativesTable:
    """Return the training relatives of a table, checked."""
    return read_columns(path, columns_of(RelativesTable)).fill(RelativesTable)
