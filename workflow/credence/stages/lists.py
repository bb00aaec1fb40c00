"""The stages `thresholds` and `list`: which predictions can be used."""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import click
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from credence.composition.adjusted import shifted
from credence.findings import ACCEPT, AllThresholds, ProteinList, Threshold, UseLists
from credence.lists.decision import (
    BACKGROUND,
    CALLS,
    Counts,
    GroupedErrors,
    ListRules,
    background_of,
    decided,
    scarce_classes,
)
from credence.lists.held_out import CONFIDENCE_STEPS, step_of
from credence.lists.thresholds import (
    ON_CONFIDENCE,
    ON_SCORE,
    Wanted,
    corrected_thresholds,
    find_thresholds,
)
from credence.lists.use_lists import list_of, list_of_group, use_lists
from credence.predictions import Booleans, Floats, Integers, is_among
from credence.problems import refuse
from credence.progress import echo
from credence.records import json_text
from credence.sentences import (
    BACKGROUND_FOUND,
    FAMILIES_UNKNOWN,
    FOR_WHOM,
    LIST_MEANING,
    ListPromise,
    sentences_of_list,
)
from credence.stages.reading import (
    RELATIVES_UNKNOWN,
    LabelledFiles,
    LabelledTables,
    require_fitted_on,
    require_other,
)
from credence.stages.settings import Settings, list_names
from credence.tables import contract, stage_files
from credence.tables.source import open_table
from credence.tables.writing import TableWriter, write_record, write_table
from credence.tree import LabelTree

NO_HELD_OUT = (
    "it has no held-out confidences, on which lists rest.",
    "Fit it again with credence fit.",
)
NO_CONFIDENCE = "no rows, since no protein has a confidence"
CONFIDENCE_ROUNDING = (
    2e-6  # by which a confidence in six decimals may be another; scores are never rounded
)
LAST_DIGITS = 1e-9  # of a score, which a spreadsheet may drop


@dataclass(frozen=True, kw_only=True, eq=False)
class Ranking:
    """By which confidences proteins are ranked, and what is known of these."""

    rules: ListRules
    method: str  # Which made the confidences
    is_corrected: bool  # Whether these are corrected for other class proportions
    # Of labels of which a protein has several: how they hang together.
    tree: LabelTree | None = None

    @property
    def class_names(self) -> tuple[str, ...]:
        """The classes, in the classifier's order."""
        return self.rules.class_names

    @property
    def background(self) -> str:
        """The names of the background classes; '' without any."""
        names = zip(self.class_names, self.rules.is_background, strict=True)
        return ", ".join(name for name, is_background in names if is_background)

    def sentences(self) -> Iterator[str]:
        """Yield which background classes were found by their names."""
        if self.rules.is_background_found:
            yield BACKGROUND_FOUND.format(self.background)


def ranking_of(
    file: stage_files.CalibrationFile, shift: stage_files.ShiftFile | None, settings: Settings
) -> Ranking | None:
    """Return by what a table of confidences is ranked; None where nothing is known of it."""
    held_out, asked = file.held_out if shift is None else shift.held_out, settings.lists
    is_background = background_of(file.class_names, asked.background)
    if asked.background is None:
        is_background |= np.isin(np.array(file.class_names, dtype=object), [*file.tree.roots()])
    if held_out is None:
        return None
    rules = ListRules(
        held_out=held_out,
        class_names=file.class_names,
        is_scarce=scarce_classes(file.held_out, len(file.class_names)),
        is_background=is_background,
        is_background_found=asked.background is None and bool(is_background.any()),
        certainty=asked.certainty,
        least_confidence=asked.least_confidence,
        family_share=asked.family_share,
    )
    return Ranking(
        rules=rules,
        method=file.method_spec,
        is_corrected=shift is not None,
        tree=file.tree if file.is_of_calls else None,
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class Table:
    """A table of confidences, read as often as is needed."""

    path: Path  # Of a table in memory, what messages call it
    ranking: Ranking
    is_odd: bool = False  # Whether it is read slowly: not as credence annotate writes it
    memory: pa.Table | None = None  # All of it, where it is no file

    def pieces(self, further: Sequence[str] = ()) -> Iterator[tuple[pa.Table, Integers, Integers]]:
        """Yield some rows at a time, the class and the step of each; -1 where there is none."""
        whole = self.memory
        if whole is None and self.is_odd:
            are_calls = self.ranking.tree is not None
            whole = contract.read_slowly(self.path, further, are_calls=are_calls)
        streamed = contract.stream_confidences(self.path, further) if whole is None else [whole]
        for piece in streamed:
            names = self.ranking.class_names
            code = contract.class_codes(piece["predicted_class"], names, str(self.path))
            yield piece, code, step_of(piece["confidence"].to_numpy().astype(np.float64))

    def counts(self) -> Counts:
        """Return how many proteins there are by class and step."""
        n_classes = len(self.ranking.class_names)
        every, listable = np.zeros((2, n_classes, len(CONFIDENCE_STEPS)), dtype=np.int64)
        confidence = np.zeros(n_classes)
        for piece, code, step in self.pieces():
            method = self.ranking.method
            if other := [
                name for name in pc.unique(piece["method"]).to_pylist() if name != method
            ]:
                reason = f"its confidences are of {other[0]!r}, not of {method!r}."
                remedy = "Give the calibration that the table was annotated with."
                raise refuse(str(self.path), reason, remedy, column="method")
            every += step_counts(code, step, n_classes)
            confidence += confidence_sums(piece["confidence"].to_numpy(), code, n_classes)
            may_be_listed = contract.is_listable(piece)
            listable += step_counts(code[may_be_listed], step[may_be_listed], n_classes)
        return Counts(every=every, listable=listable, confidence=confidence)


def table_and_counts(path: Path, ranking: Ranking) -> tuple[Table, Counts]:
    """Return a table and its counts; refuse one that is not of such confidences."""
    if contract.is_corrected(path) != ranking.is_corrected:
        raise refuse(str(path), *(NOT_CORRECTED if ranking.is_corrected else CORRECTED))
    try:
        table = Table(path=path, ranking=ranking)
        ids = (id_ for piece, *_ in table.pieces() for id_ in piece["id"].to_pylist())
        hashes = np.fromiter(map(hash, ids), np.int64)
        if ranking.tree is None and len(np.unique(hashes)) < len(hashes):
            raise pa.ArrowInvalid("an id stands twice")
        return table, table.counts()
    except contract.NOT_QUICKLY:
        table = Table(path=path, ranking=ranking, is_odd=True)
        return table, table.counts()


LIST_NAMES = (
    *("id", "predicted_class", "confidence", "lower", "upper"),
    *(contract.Q_VALUE, "decision", "note"),
)


Write = Callable[[dict[str, Any]], None]  # takes some rows, as columns


def write_lists(
    table: Table,
    grouped: GroupedErrors,
    ends: Sequence[Integers],
    writes: Sequence[Write],
    clusters: Mapping[str, str] | None = None,
    accepted: Sequence[float] = (),
) -> list[Counter[tuple[int, str]]]:
    """Write lists, each down to a step of each class, with their q-values; return their counts.

    Of the error rates `accepted` the first one decides; without any, decisions stay.
    """
    counts: list[Counter[tuple[int, str]]] = [Counter() for _ in ends]
    for piece, code, step in table.pieces():
        group, may_be_listed = grouped.group[code], contract.is_listable(piece) & (code >= 0)
        for write, lowest, count in zip(writes, ends, counts, strict=True):
            rows = np.flatnonzero(may_be_listed & (step >= lowest[code]))
            kept = piece.take(rows)
            if len(rows):
                columns = {name: kept[name] for name in LIST_NAMES if name != contract.Q_VALUE}
                listed = np.ones(len(rows), dtype=np.bool_)
                columns |= decided_columns(
                    columns, grouped, code[rows], step[rows], listed, accepted
                )
                write({name: columns[name] for name in LIST_NAMES})
            if clusters is not None:
                ids = kept["id"].to_pylist()
                families = (clusters.get(id_, id_) for id_ in ids)
                count.update(zip(group[rows].tolist(), families, strict=True))
    return counts


@dataclass(frozen=True, kw_only=True, eq=False)
class Maker:
    """What a table of confidences is said to be made with, and what messages call it."""

    name: str
    file: stage_files.CalibrationFile
    shift_name: str
    shift: stage_files.ShiftFile | None  # What corrected its confidences

    def ranking(self, settings: Settings) -> Ranking:
        """Return by what the table is ranked; refuse where nothing is known of it."""
        method, shift = self.file.method_spec, self.shift
        if shift is not None and shift.method_spec != method:
            reason = f"it corrects {shift.method_spec!r}, not {method!r}."
            remedy = "Give a file that credence shift wrote with this calibration."
            raise refuse(self.shift_name, reason, remedy)
        ranking = ranking_of(self.file, shift, settings)
        if ranking is None and shift is not None:
            raise refuse(self.shift_name, NO_HELD_OUT[0], "Make it again with credence shift.")
        if ranking is None:
            raise refuse(self.name, *NO_HELD_OUT)
        return ranking

    def require_made(self, table: Table, counts: Counts) -> None:
        """Refuse a table without rows, and one of another calibration or correction."""
        if not any(len(code) for _, code, _ in table.pieces()):
            reason = "the table has a header and no rows."
            raise refuse(str(table.path), reason, "Give a table with rows.")
        # Where labels are in a tree a confidence also depends on the protein's other calls.
        if counts.every.any() and not self.file.tree.parents:
            corrected_by = None if self.shift is None else (self.shift_name, self.shift)
            require_made_by(table, self.file, self.name, corrected_by)

    def sentences(self) -> Iterator[str]:
        """Yield what is not known of the calibration."""
        if self.file.counts.get("relatives") == RELATIVES_UNKNOWN:
            yield f"{self.name}: {FAMILIES_UNKNOWN}."


def opened_table(
    confidences: str, calibration: str, shift: str | None, settings: Settings
) -> tuple[Table, Counts]:
    """Return a table of confidences and its counts by class and step, with what ranks it."""
    file = stage_files.read_calibration(Path(calibration))
    beside_it = stage_files.shift_beside(Path(confidences))
    if shift is None and beside_it.exists() and contract.is_corrected(Path(confidences)):
        shift = str(beside_it)
    shift_file = None if shift is None else stage_files.read_shift(shift, file, calibration)
    maker = Maker(name=calibration, file=file, shift_name=str(shift), shift=shift_file)
    table, counts = table_and_counts(Path(confidences), maker.ranking(settings))
    maker.require_made(table, counts)
    for sentence in maker.sentences():
        echo(sentence)
    return table, counts


def table_in_memory(
    columns: Mapping[str, Any], name: str, maker: Maker, settings: Settings
) -> tuple[Table, Counts]:
    """Return the same of a table that is no file."""
    names = [*contract.CONFIDENCE_NAMES, *contract.UNCORRECTED_NAMES]
    memory = pa.table({key: pa.array(columns[key]) for key in names if key in columns})
    table = Table(path=Path(name), ranking=maker.ranking(settings), memory=memory)
    counts = table.counts()
    maker.require_made(table, counts)
    return table, counts


def require_made_by(
    table: Table,
    file: stage_files.CalibrationFile,
    calibration: str,
    shift: tuple[str, stage_files.ShiftFile] | None = None,
) -> None:
    """Refuse a table of another calibration or correction, where class and score show it."""
    plain = contract.UNCORRECTED_NAMES[0] if table.ranking.is_corrected else "confidence"
    piece, code, _ = next(table.pieces((plain,) if table.ranking.is_corrected else ()))
    score, stated, published = (
        piece[entry].to_numpy().astype(np.float64) for entry in ("score", plain, "confidence")
    )
    rows = np.flatnonzero((code >= 0) & ~np.isnan(score) & ~np.isnan(stated))
    checks = []
    if not file.needs.is_vector:
        asked = stage_files.made_up(file.class_names, file.scale, file.resolution, 1)
        # A curve may jump at a score whose last digits another program changed.
        near = [score[rows] * (1.0 + part) for part in (-LAST_DIGITS, 0.0, LAST_DIGITS)]
        values = [
            file.calibration.confidence(asked.at_scores(code[rows], scores)).value
            for scores in near
        ]
        ends = np.min(values, axis=0), np.max(values, axis=0)
        checks.append((plain, calibration, "calibration", stated[rows], *ends))
    if shift is not None:
        ends = shift[1].correction.limits(stated[rows], code[rows])
        checks.append(("confidence", shift[0], "--shift", published[rows], *ends))
    for column, name, kind, shown, low, high in checks:
        is_within = (low - CONFIDENCE_ROUNDING <= shown) & (shown <= high + CONFIDENCE_ROUNDING)
        for at in np.flatnonzero(~is_within)[:1].tolist():
            row = int(rows[at])
            least, most = f"{low[at]:g}", f"{high[at]:g}"
            reason = f"{shown[at]:g} is the confidence of {str(piece['id'][row])!r}, and "
            reason += f"{name} gives {least}{f' to {most}' if least != most else ''}."
            remedy = f"Give the {kind} that the table was annotated with."
            raise refuse(str(table.path), reason, remedy, _line_of(table, row), column)


def _line_of(table: Table, row: int) -> int | None:
    """Return where a row stands; Parquet and memory have no lines."""
    if table.is_odd or table.memory is not None:
        return None
    above = open_table(table.path, contract.OWN_TABLE).header_line
    return None if above is None else above + 1 + row


NOT_CORRECTED = (
    f"its confidences are not corrected for its class proportions: no column "
    f"{contract.UNCORRECTED_NAMES[0]!r}.",
    "Annotate it with --shift, or leave --shift out.",
)
CORRECTED = (
    "its confidences are corrected for its class proportions: "
    f"column {contract.UNCORRECTED_NAMES[0]!r}.",
    "Give --shift, what it was annotated with, or annotate it without.",
)


def cluster_of(clusters: str | None, table: Table) -> dict[str, str]:
    """Return the cluster of each protein of a table of clusters; refuse one of other proteins."""
    if clusters is None:
        return {}
    given = contract.read_clusters(Path(clusters))
    cluster_of_id = dict(zip(given.ids.tolist(), given.cluster.tolist(), strict=True))
    if not any(
        id_ in cluster_of_id for piece, *_ in table.pieces() for id_ in piece["id"].to_pylist()
    ):
        reason = f"there is no row for any of the proteins of {table.path}."
        raise refuse(str(clusters), reason, "Give the clusters of these proteins.")
    return cluster_of_id


def list_confidences(
    confidences: str,
    out: str,
    settings: Settings,
    calibration: str,
    shift: str | None,
    error: float,
    by_class: bool,
    of_background: bool,
    certain: bool,
    clusters: str | None,
    as_json: bool,
    spreadsheet_safe: bool,
) -> None:
    """Write the longest list of calls, or of each class, with at most so many wrong ones."""
    require_other((out,), [confidences, calibration, shift, clusters])
    asked = ListAsked(
        error=error, by_class=by_class, of_background=of_background, is_certain=certain
    )
    table, counts = opened_table(confidences, calibration, shift, settings)
    with TableWriter(Path(out), LIST_NAMES, spreadsheet_safe=spreadsheet_safe) as writer:
        chosen = choose_lists(table, counts, settings, asked, clusters, writer.write)
    if as_json:
        click.echo(json_text(chosen.lists), nl=False)
        return
    n_known = int(counts.every.sum())
    of_all = f"{chosen.n:,} of {n_known:,} predictions" if n_known else NO_CONFIDENCE
    echo(f"Wrote {out}: {of_all}.")
    for sentence in chosen.sentences:
        echo(sentence)


@dataclass(frozen=True, kw_only=True)
class ListAsked:
    """Which lists are asked for."""

    error: float  # Share wrong that a list may have
    by_class: bool  # A list for each class
    of_background: bool  # In place of the calls
    is_certain: bool  # Whether the bound keeps to the error, not the estimate alone

    def __post_init__(self) -> None:
        """Refuse two that exclude each other."""
        if self.by_class and self.of_background:
            remedy = "Leave out one of the two."
            raise refuse("--of-background", "--by-class lists every class already.", remedy)


@dataclass(frozen=True, kw_only=True)
class ChosenLists:
    """Lists, and what a reader has to know of them."""

    lists: list[ProteinList]
    sentences: list[str]

    @property
    def n(self) -> int:
        """How many predictions are on them."""
        return sum(entry.n for entry in self.lists)


def choose_lists(
    table: Table,
    counts: Counts,
    settings: Settings,
    asked: ListAsked,
    clusters: str | None,
    write: Write,
) -> ChosenLists:
    """Write the rows of the longest lists that keep to an error; return what they are worth."""
    ranking, rules = table.ranking, table.ranking.rules
    if asked.of_background and not ranking.background:
        raise refuse("--of-background", *NO_BACKGROUND)
    level, grouped = settings.calibration.level, rules.calls_and_background(counts.listable)
    groups: Sequence[int] = (BACKGROUND if asked.of_background else CALLS,)
    if asked.by_class:
        groups = range(len(ranking.class_names))
        grouped = replace(grouped, errors=grouped.by_class, group=np.array(groups))
    ends = np.min(
        [grouped.ends(group, asked.error, is_certain=asked.is_certain) for group in groups], axis=0
    )
    known = None if clusters is None else cluster_of(clusters, table)
    (sizes,) = write_lists(table, grouped, [ends], [write], known)
    lists, sentences = [], list(ranking.sentences())
    for group in groups:
        size = np.array([n for (part, _), n in sizes.items() if part == group], dtype=np.float64)
        relatives = float((size * (size - 1.0)).sum() / size.sum()) if len(size) else None
        largest = float(size.max() / size.sum()) if len(size) else 0.0
        how: dict[str, Any] = {"is_certain": asked.is_certain, "relatives": relatives}
        errors = grouped.errors[group]
        if asked.by_class:
            name = ranking.class_names[group]
            list_ = list_of(name, errors, asked.error, level, **how)
        else:
            list_ = list_of_group(rules, grouped, group, asked.error, level, **how)
        lists.append(list_)
        if errors.n_listed[0]:  # where anything could be on it
            values = (errors.bound if list_.is_certain else errors.error)[errors.first :]
            least = math.nan if np.isnan(values).all() else float(np.nanmin(values))
            promise = ListPromise(
                level=level,
                certainty=rules.certainty,
                least_confidence=rules.least_confidence,
                family_share=rules.family_share,
            )
            sentences += sentences_of_list(list_, promise, least, largest)
    if any(list_.n for list_ in lists):
        sentences.append(f"{LIST_MEANING[asked.by_class]} {FOR_WHOM[ranking.is_corrected]}")
    return ChosenLists(lists=lists, sentences=sentences)


NO_BACKGROUND = ("no class is background.", "Name some with --background, or leave it out.")


def finish_table(
    rows: Path,
    outs: Sequence[Path],
    file: stage_files.CalibrationFile | None,
    shift: stage_files.ShiftFile | None,
    settings: Settings,
    name: str,
    folder: str | None,
    record: str | None,
    **how: Any,
) -> None:
    """Write `rows`, a table without q-values, with these; its lists; a record for the page.

    Where the calibration does not say what lists rest on there are neither, the record is empty.
    """
    ranking = None if file is None else ranking_of(file, shift, settings)
    if ranking is None:
        write_again(rows, outs, None, (), **how)
        write_record(record, {})
        return
    table = Table(path=rows, ranking=ranking)
    counts = table.counts()
    grouped = ranking.rules.calls_and_background(counts.listable)
    write_again(rows, outs, (ranking, grouped), settings.lists.error, **how)
    if folder is not None:
        groups = (CALLS, BACKGROUND)
        asked = [(group, error) for group in groups for error in settings.lists.error]
        paths = list_paths(folder, settings)  # without those of background where it is []
        ends = [
            grouped.ends(group, error)
            if group < len(grouped.errors)
            else np.full(len(grouped.group), len(CONFIDENCE_STEPS))
            for _, (group, error) in zip(paths, asked, strict=False)
        ]
        with ExitStack() as stack:
            writes = [
                stack.enter_context(TableWriter(Path(path), LIST_NAMES, **how)).write
                for path in paths
            ]
            write_lists(table, grouped, ends, writes, accepted=settings.lists.error)
    write_record(record, lists_found(ranking, counts, settings, name, grouped))
    if folder is not None and ranking.tree is not None and settings.lists.error:
        write_accepted(Path(folder) / ACCEPTED_NAME, outs[-1], ranking.tree, **how)
    for sentence in ranking.sentences():
        echo(sentence)


ACCEPTED_NAME = "accepted.tsv"
ACCEPTED_COLUMNS = ("id", "label", "name", "confidence", "lower", "upper", contract.Q_VALUE)


def write_accepted(path: Path, confidences: Path, tree: LabelTree, **how: Any) -> None:
    """Write the most specific accepted labels of each protein, in the order of the table."""
    accepted: dict[str, dict[str, tuple[float, ...]]] = {}
    numbers = ("confidence", "lower", "upper", contract.Q_VALUE)
    for piece in contract.stream_confidences(confidences, (contract.Q_VALUE,)):
        kept = piece.filter(pc.equal(piece["decision"], ACCEPT))
        cells = (kept[name].to_pylist() for name in ("id", "predicted_class", *numbers))
        for id_, label, *values in zip(*cells, strict=True):
            accepted.setdefault(id_, {})[label] = tuple(
                np.nan if value is None else value for value in values
            )
    rows = [
        (id_, label, tree.names.get(label, ""), *labels[label])
        for id_, labels in accepted.items()
        for label in tree.most_specific(labels)
    ]
    texts, written = ACCEPTED_COLUMNS[:3], dict[str, Any]()
    for place, name in enumerate(ACCEPTED_COLUMNS):
        kind: Any = object if name in texts else np.float64
        written[name] = np.array([row[place] for row in rows], dtype=kind)
    write_table(path, written, **how)


def lists_found(
    ranking: Ranking, counts: Counts, settings: Settings, name: str, grouped: GroupedErrors
) -> UseLists:
    """Return which proteins of a query set can be used, by its counts by class and step."""
    return use_lists(
        name,
        ranking.rules,
        counts,
        settings.lists.error,
        settings.calibration.level,
        is_adjusted=ranking.is_corrected,
        grouped=grouped,
    )


def with_lists(
    columns: dict[str, Any],
    file: stage_files.CalibrationFile,
    shift: stage_files.ShiftFile | None,
    name: str,
) -> tuple[dict[str, Any], UseLists | None]:
    """Return the columns of a whole table with its last decisions, and which can be used."""
    settings = Settings()
    ranking = ranking_of(file, shift, settings)
    if ranking is None:
        return columns, None
    needed = ("predicted_class", "decision", "note")
    piece = pa.table({key: pa.array(columns[key]) for key in needed})
    code = contract.class_codes(piece["predicted_class"], file.class_names, name)
    step, may_be_listed = step_of(columns["confidence"]), contract.is_listable(piece)
    n_classes = len(file.class_names)
    counts = Counts(
        every=step_counts(code, step, n_classes),
        listable=step_counts(code[may_be_listed], step[may_be_listed], n_classes),
        confidence=confidence_sums(columns["confidence"], code, n_classes),
    )
    grouped = ranking.rules.calls_and_background(counts.listable)
    error = settings.lists.error
    decisions = decided_columns(columns, grouped, code, step, may_be_listed, error)
    return with_q_value(columns | decisions), lists_found(ranking, counts, settings, name, grouped)


def decided_columns(
    columns: Mapping[str, Any],
    grouped: GroupedErrors,
    code: Integers,
    step: Integers,
    may_be_listed: Booleans,
    accepted: Sequence[float],
) -> dict[str, Any]:
    """Return q-values and decisions of some rows; background predictions are never accepted."""
    q_value = np.where(may_be_listed, grouped.q_value(code, step), np.nan)
    of_calls = np.where(grouped.group[code] == CALLS, q_value, np.nan)
    before = np.asarray(columns["decision"], dtype=object)
    return {contract.Q_VALUE: q_value, "decision": decided(before, of_calls, accepted)}


def with_q_value(columns: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns of a table with q-values at their place, behind the method."""
    names = [name for name in columns if name != contract.Q_VALUE]
    names.insert(names.index("method") + 1, contract.Q_VALUE)
    return {name: columns[name] for name in names}


def confidence_sums(confidence: Floats, code: Integers, n_classes: int) -> Floats:
    """Return the sum of the confidences of each class; those without one are left out."""
    stated = np.asarray(confidence, dtype=np.float64)
    is_known = (code >= 0) & ~np.isnan(stated)
    return np.bincount(code[is_known], stated[is_known], n_classes).astype(np.float64)


def step_counts(code: Integers, step: Integers, n_classes: int) -> Integers:
    """Return how many proteins there are by class and step; those without one are not counted."""
    is_known = (code >= 0) & (step >= 0)
    places = (code * len(CONFIDENCE_STEPS) + step)[is_known]
    counts = np.bincount(places, minlength=n_classes * len(CONFIDENCE_STEPS)).astype(np.int64)
    return counts.reshape(n_classes, len(CONFIDENCE_STEPS))


def list_paths(folder: str | None, settings: Settings) -> list[str]:
    """Return where the lists of the settings stand in a folder."""
    names = list_names(settings.lists)
    return [] if folder is None else [str(Path(folder) / name) for name in names]


def write_again(
    rows: Path,
    outs: Sequence[Path],
    listed: tuple[Ranking, GroupedErrors] | None,
    accepted: Sequence[float],
    **how: Any,
) -> None:
    """Write a table again, with q-values and decisions where lists are known."""
    with ExitStack() as stack:
        file = stack.enter_context(pq.ParquetFile(rows))
        names = file.schema_arrow.names
        written_names = (
            names if listed is None else [*with_q_value(dict.fromkeys([*names, contract.Q_VALUE]))]
        )
        writers = [stack.enter_context(TableWriter(out, written_names, **how)) for out in outs]
        for batch in file.iter_batches():
            columns = dict(zip(names, batch.columns, strict=True))
            if listed is not None:
                (ranking, grouped), piece = listed, pa.Table.from_batches([batch])
                predicted = piece["predicted_class"]
                code = contract.class_codes(predicted, ranking.class_names, str(rows))
                step = step_of(columns["confidence"].to_numpy(zero_copy_only=False))
                may_be_listed = contract.is_listable(piece)
                columns |= decided_columns(columns, grouped, code, step, may_be_listed, accepted)
                columns = with_q_value(columns)
            for writer in writers:
                writer.write(columns)


def thresholds_of(
    known: LabelledTables,
    file: stage_files.CalibrationFile | None,
    shift: stage_files.ShiftFile | None,
    settings: Settings,
    calibration: str,
) -> AllThresholds:
    """Return the thresholds of labelled tables, on scores and on confidences of a calibration."""
    held_out = None
    if file is not None:
        held_out = file.held_out
        if held_out is None:
            raise refuse(calibration, *NO_HELD_OUT)
    elif known.samples.predictions.top_score is None:
        remedy = "Give the calibration as well, for thresholds on its confidences: --calibration."
        raise refuse(known.where, "it has no scores.", remedy)
    labelled = known.calibrating(settings.calibration.weights).labelled
    if file is not None:
        require_fitted_on(file, labelled, known.where, calibration)
    wanted = wanted_of(settings)
    n_missed = None
    if known.samples.is_of_calls:
        of_these = is_among(known.samples.missed_ids, labelled.predictions.ids)
        missed = known.samples.missed_class[of_these]
        n_missed = np.bincount(missed, minlength=len(labelled.predictions.class_names))
    thresholds = find_thresholds(labelled, held_out, wanted, n_missed)
    if shift is None:
        return thresholds
    weight = np.nan_to_num([entry.weight for entry in shift.finding.classes])
    moved = shifted(labelled, weight)
    rows = corrected_thresholds(moved, shift.held_out, wanted, thresholds.rows)
    return replace(thresholds, rows=rows)


def threshold_tables(
    given: LabelledFiles, out: str, settings: Settings, calibration: str | None, shift: str | None
) -> None:
    """Write from where on predictions of labelled tables are right as often as wanted."""
    require_other((out,), [*given.files, calibration, shift])
    if shift is not None and calibration is None:
        raise refuse("--shift", "it corrects a calibration, and none is given.", GIVE_BOTH)
    file = None if calibration is None else stage_files.read_calibration(Path(calibration))
    known = given.open(file)
    corrected = None
    if file is not None and shift is not None:
        corrected = stage_files.read_shift(shift, file, str(calibration))
    thresholds = thresholds_of(known, file, corrected, settings, str(calibration))
    write_table(Path(out), threshold_columns(thresholds), spreadsheet_safe=True)
    n, n_sure = (
        sum(not np.isnan(getattr(row, name)) for row in thresholds.rows)
        for name in ("threshold", "sure")
    )
    echo(
        f"Wrote {out}: {n} thresholds as estimated, {n_sure} with a guarantee for new "
        f"families at {thresholds.certainty:.0%} certainty."
    )
    rows = [row for row in thresholds.rows if not row.n and row.on == thresholds.rows[0].on]
    if rows:
        names = ", ".join(dict.fromkeys(str(row.class_name) for row in rows))
        echo(f"{out}: no threshold for what is never predicted: {names}.")
    labelled = known.calibrating(settings.calibration.weights).labelled
    if len(np.unique(labelled.cluster)) == labelled.n_samples:
        echo(f"{out}: {FAMILIES_UNKNOWN}, and guarantees may not hold.")


GIVE_BOTH = "Give --calibration too, or leave --shift out."


def wanted_of(settings: Settings) -> Wanted:
    """Return what settings ask of thresholds."""
    lists, calibration = settings.lists, settings.calibration
    return Wanted(
        precision=lists.precision,
        certainty=lists.certainty,
        level=calibration.level,
        n_draws=calibration.resamples,
    )


COLUMN_NAMES = {
    "n": "predictions",
    "kept": "accepted",
    "kept_true": "recall",
    "right": "measured_precision",
    "right_lower": "measured_precision_lower",
    "right_upper": "measured_precision_upper",
    "sure": "guaranteed_threshold",
    "sure_kept": "guaranteed_accepted",
    "sure_kept_true": "guaranteed_recall",
    "sure_families": "guaranteed_families",
    "n_more": "families_missing",
}

# Why a class has no threshold at all, by what thresholds are of.
NEVER = {
    ON_SCORE: "never predicted in calibration, so none can be accepted",
    ON_CONFIDENCE: "no held-out confidence in calibration, so none can be accepted",
}


def threshold_columns(thresholds: AllThresholds) -> dict[str, list[object]]:
    """Return the columns of the table of thresholds."""
    names = [entry.name for entry in fields(Threshold)]
    columns = {name: [getattr(row, name) for row in thresholds.rows] for name in names}
    classes = ["all" if name is None else name for name in columns.pop("class_name")]
    notes = [NEVER[row.on] if row.n == 0 else "" for row in thresholds.rows]
    named = {COLUMN_NAMES.get(key, key): values for key, values in columns.items()}
    return {"class": classes, **named, "note": notes}
