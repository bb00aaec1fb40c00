"""The stages `thresholds` and `list`: which predictions can be used."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import click
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from credence.findings import AllThresholds, ProteinList, Threshold, UseLists
from credence.lists.errors import ListErrors, errors_of
from credence.lists.held_out import CONFIDENCE_STEPS, HeldOut, step_of
from credence.lists.thresholds import ON_CONFIDENCE, ON_SCORE, Wanted, find_thresholds
from credence.lists.use_lists import list_of, use_lists
from credence.predictions import Floats, Integers
from credence.problems import refuse
from credence.progress import echo
from credence.records import json_text
from credence.stages.reading import (
    RELATIVES_UNKNOWN,
    LabelledFiles,
    require_fitted_on,
    require_other,
)
from credence.stages.settings import Settings, list_names
from credence.tables import contract, stage_files
from credence.tables.source import open_table
from credence.tables.writing import TableWriter, write_record, write_table

NO_HELD_OUT = (
    "it does not say what proteins held out show, on which lists rest.",
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

    held_out: HeldOut
    class_names: tuple[str, ...]
    method: str  # Which made the confidences
    is_corrected: bool  # Whether these are corrected for another mix of classes


def ranking_of(
    file: stage_files.CalibrationFile, shift: stage_files.ShiftFile | None
) -> Ranking | None:
    """Return by what a table of confidences is ranked; None where nothing is known of it."""
    held_out = file.held_out if shift is None else shift.held_out
    if held_out is None:
        return None
    return Ranking(
        held_out=held_out,
        class_names=file.class_names,
        method=file.method_spec,
        is_corrected=shift is not None,
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class Table:
    """A table of confidences, read as often as is needed."""

    path: Path
    ranking: Ranking
    is_odd: bool = False  # Whether it is read slowly: not as credence annotate writes it

    def pieces(self, further: Sequence[str] = ()) -> Iterator[tuple[pa.Table, Integers, Integers]]:
        """Yield some rows at a time, the class and the step of each; -1 where there is none."""
        read = [contract.read_slowly(self.path, further)] if self.is_odd else None
        for piece in read or contract.stream_confidences(self.path, further):
            names = self.ranking.class_names
            code = contract.class_codes(piece["predicted_class"], names, str(self.path))
            yield piece, code, step_of(piece["confidence"].to_numpy().astype(np.float64))

    def counts(self) -> Integers:
        """Return how many proteins there are by class and step."""
        n_classes = len(self.ranking.class_names)
        counts = np.zeros((n_classes, len(CONFIDENCE_STEPS)), dtype=np.int64)
        for piece, code, step in self.pieces():
            method = self.ranking.method
            if other := [
                name for name in pc.unique(piece["method"]).to_pylist() if name != method
            ]:
                reason = f"its confidences are of {other[0]!r}, not of {method!r}."
                remedy = "Give the calibration that the table was annotated with."
                raise refuse(str(self.path), reason, remedy, column="method")
            counts += step_counts(code, step, n_classes)
        return counts


def table_and_counts(path: Path, ranking: Ranking) -> tuple[Table, Integers]:
    """Return a table and its counts; refuse one that is not of such confidences."""
    if contract.is_corrected(path) != ranking.is_corrected:
        raise refuse(str(path), *(NOT_CORRECTED if ranking.is_corrected else CORRECTED))
    try:
        table = Table(path=path, ranking=ranking)
        ids = (id_ for piece, *_ in table.pieces() for id_ in piece["id"].to_pylist())
        hashes = np.fromiter(map(hash, ids), np.int64)
        if len(np.unique(hashes)) < len(hashes):
            raise pa.ArrowInvalid("an id stands twice")
        return table, table.counts()
    except contract.NOT_QUICKLY:
        table = Table(path=path, ranking=ranking, is_odd=True)
        return table, table.counts()


def write_lists(
    table: Table,
    q_values: Sequence[ListErrors],
    ends: Mapping[Path, Sequence[int | None]],
    clusters: Mapping[str, str] | None = None,
    **how: Any,
) -> list[Counter[tuple[int, str]]]:
    """Write each list, of all classes or of each, with its q-values; return their counts."""
    names = ("id", "predicted_class", "confidence", "lower", "upper", contract.Q_VALUE, "note")
    q_value = np.array([errors.q_value for errors in q_values])
    counts: list[Counter[tuple[int, str]]] = [Counter() for _ in ends]
    with ExitStack() as stack:
        writers = [stack.enter_context(TableWriter(path, names, **how)) for path in ends]
        lowest = [
            np.array([len(CONFIDENCE_STEPS) if end is None else end for end in places])
            for places in ends.values()
        ]
        for piece, code, step in table.pieces():
            place = code if len(q_value) > 1 else np.minimum(code, 0)
            for writer, limit, count in zip(writers, lowest, counts, strict=True):
                rows = np.flatnonzero((step >= limit[place]) & (code >= 0))
                kept = piece.take(rows)
                if len(rows):
                    columns = {name: kept[name] for name in names if name != contract.Q_VALUE}
                    own_q = q_value[place[rows], step[rows]]
                    writer.write({name: columns.get(name, own_q) for name in names})
                if clusters is not None:
                    ids = kept["id"].to_pylist()
                    families = (clusters.get(id_, id_) for id_ in ids)
                    count.update(zip(place[rows].tolist(), families, strict=True))
    return counts


def opened_table(confidences: str, calibration: str, shift: str | None) -> tuple[Table, Integers]:
    """Return a table of confidences and its counts by class and step, with what ranks it."""
    file = stage_files.read_calibration(Path(calibration))
    beside_it = stage_files.shift_beside(Path(confidences))
    if shift is None and beside_it.exists() and contract.is_corrected(Path(confidences)):
        shift = str(beside_it)
    shift_file = None if shift is None else stage_files.read_shift(shift, file, calibration)
    if shift_file is not None and shift_file.method_spec != file.method_spec:
        reason = f"it corrects {shift_file.method_spec!r}, not {file.method_spec!r}."
        raise refuse(str(shift), reason, "Give what credence shift wrote with this calibration.")
    ranking = ranking_of(file, shift_file)
    if ranking is None:
        raise refuse(*((calibration, *NO_HELD_OUT) if shift is None else (shift, *NO_SHIFT)))
    opened = table_and_counts(Path(confidences), ranking)
    if not any(len(code) for _, code, _ in opened[0].pieces()):
        raise refuse(confidences, "the table has a header and no rows.", "Give a table with rows.")
    if opened[1].any():
        given = None if shift is None or shift_file is None else (shift, shift_file)
        require_made_by(opened[0], file, calibration, given)
    if file.counts.get("relatives") == RELATIVES_UNKNOWN:
        echo(f"{calibration}: {RELATIVES_UNKNOWN}.")
    return opened


def require_made_by(
    table: Table,
    file: stage_files.CalibrationFile,
    calibration: str,
    shift: tuple[str, stage_files.ShiftFile] | None = None,
) -> None:
    """Refuse a table of another calibration or correction, where class and score show it."""
    header = open_table(table.path, contract.OWN_TABLE)
    plain = contract.UNCORRECTED_NAMES[0] if table.ranking.is_corrected else "confidence"
    piece, code, _ = next(table.pieces(() if shift is None else (plain,)))
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
            above = None if table.is_odd else header.header_line  # Parquet has no lines
            line = None if above is None else above + 1 + row
            raise refuse(str(table.path), reason, remedy, line, column)


NOT_CORRECTED = (
    f"its confidences are not corrected for its mix of classes: no column "
    f"{contract.UNCORRECTED_NAMES[0]!r}.",
    "Annotate it with --shift, or leave --shift out.",
)
CORRECTED = (
    "its confidences are corrected for its mix of classes: "
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
    certain: bool,
    clusters: str | None,
    as_json: bool,
    spreadsheet_safe: bool,
) -> None:
    """Write the longest list of predictions with at most so many wrong ones."""
    require_other((out,), [confidences, calibration, shift, clusters])
    table, counts = opened_table(confidences, calibration, shift)
    ranking = table.ranking
    certainty, level = settings.lists.certainty, settings.calibration.level
    names: Sequence[str | None] = ranking.class_names if by_class else (None,)
    errors = [errors_of(ranking.held_out, counts.sum(axis=0), certainty)]
    if by_class:
        parts = enumerate(map(ranking.held_out.of_class, range(len(names))))
        errors = [errors_of(held_out, counts[class_], certainty) for class_, held_out in parts]
    ends = [entry.end_of(error, is_certain=certain) for entry in errors]
    known = None if clusters is None else cluster_of(clusters, table)
    how = {"spreadsheet_safe": spreadsheet_safe}
    (sizes,) = write_lists(table, errors, {Path(out): ends}, known, **how)
    lists = []
    for place, (name, its_errors) in enumerate(zip(names, errors, strict=True)):
        size = np.array([n for (part, _), n in sizes.items() if part == place], dtype=np.float64)
        relatives = float((size * (size - 1.0)).sum() / size.sum()) if len(size) else None
        lists.append(
            list_of(name, its_errors, error, level, is_certain=certain, relatives=relatives)
        )
    n_listed = sum(list_.n for list_ in lists)
    if as_json:
        click.echo(json_text(lists), nl=False)
        return
    of_all = f"{n_listed:,} of {int(counts.sum()):,} proteins" if counts.any() else NO_CONFIDENCE
    echo(f"Wrote {out}: {of_all}.")
    for list_, its_errors in zip(lists, errors, strict=True):
        if its_errors.n_listed[0]:
            echo(sentence_of(list_, its_errors, certainty, level))
    if n_listed:
        echo(f"{LIST_MEANING[by_class]} {FOR_WHOM[ranking.is_corrected]}")


LIST_MEANING = (
    "These shares are of the list, not of a protein in it: the confidence of each says how "
    "probably it is right itself.",
    "These shares are of each class's list by itself, not of a protein in it, and not of all "
    "lists together.",
)
FOR_WHOM = (
    "They hold for proteins like those of the calibration set, mixed alike.",
    "They hold for proteins that are, class by class, like those of the calibration set, at the "
    "mix that they are corrected for; what is not known of it is in the bounds.",
)
NO_SHIFT = (NO_HELD_OUT[0], "Make it again with credence shift.")


def sentence_of(list_: ProteinList, errors: ListErrors, certainty: float, level: float) -> str:
    """Return what a list holds and how many of it are right."""
    name = "All classes" if list_.class_name is None else list_.class_name
    if list_.n == 0:
        values = errors.bound if list_.is_certain else errors.error
        if np.isnan(values).all():
            return f"{name}: no list, since no held-out protein shows how often it is right."
        least = f"{np.nanmin(values):.1%}"
        if list_.is_certain:
            kept_to = f"that a list keeps to with {certainty:.0%} certainty"
            return f"{name}: no list. The least share wrong {kept_to} is {least}."
        return f"{name}: no list. By the estimate, each has at least {least} wrong ones."
    return (
        f"{name}: {list_.n:,} predictions of confidence {list_.confidence:g} and more, of which "
        f"about {list_.right:,.0f} are right ({level:.0%} interval {list_.right_lower:,.0f} to "
        f"{list_.right_upper:,.0f}); {list_.estimate:.1%} wrong by the estimate, with "
        f"{certainty:.0%} certainty at most {list_.bound:.1%}."
    )


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
    ranking = None if file is None else ranking_of(file, shift)
    if ranking is None:
        write_again(rows, outs, None, **how)
        write_record(record, {})
        return
    table = Table(path=rows, ranking=ranking)
    counts = table.counts()
    errors = errors_of(ranking.held_out, counts.sum(axis=0), settings.lists.certainty)
    write_again(rows, outs, errors.q_value, **how)
    if folder is not None:
        paths = zip(list_paths(folder, settings), settings.lists.error, strict=True)
        ends = {Path(path): [errors.end_of(error)] for path, error in paths}
        write_lists(table, [errors], ends, **how)
    write_record(record, lists_found(ranking, counts, settings, name))


def lists_found(ranking: Ranking, counts: Integers, settings: Settings, name: str) -> UseLists:
    """Return which proteins of a use-set can be used, by its counts by class and step."""
    wanted = settings.lists.error, settings.lists.certainty, settings.calibration.level
    known = (name, ranking.held_out, counts, ranking.class_names)
    return use_lists(*known, *wanted, is_adjusted=ranking.is_corrected)


def with_lists(
    columns: dict[str, Any],
    file: stage_files.CalibrationFile,
    shift: stage_files.ShiftFile | None,
    name: str,
) -> tuple[dict[str, Any], UseLists | None]:
    """Return the columns of a whole table with q-values, and which proteins can be used."""
    ranking, settings = ranking_of(file, shift), Settings()
    if ranking is None:
        return columns, None
    predicted = pa.chunked_array([pa.array(columns["predicted_class"])])
    code = contract.class_codes(predicted, file.class_names, name)
    step = step_of(columns["confidence"])
    counts = step_counts(code, step, len(file.class_names))
    errors = errors_of(ranking.held_out, counts.sum(axis=0), settings.lists.certainty)
    q_value = np.where(step >= 0, errors.q_value[step], np.nan)
    return with_q_value(columns, q_value), lists_found(ranking, counts, settings, name)


def with_q_value(columns: Mapping[str, Any], q_value: Any) -> dict[str, Any]:
    """Return the columns of a table with q-values at their place."""
    at = [*columns].index("method") + 1
    return dict([*[*columns.items()][:at], (contract.Q_VALUE, q_value), *[*columns.items()][at:]])


def step_counts(code: Integers, step: Integers, n_classes: int) -> Integers:
    """Return how many proteins there are by class and step; those without one are not counted."""
    is_known = (code >= 0) & (step >= 0)
    places = (code * len(CONFIDENCE_STEPS) + step)[is_known]
    counts = np.bincount(places, minlength=n_classes * len(CONFIDENCE_STEPS)).astype(np.int64)
    return counts.reshape(n_classes, len(CONFIDENCE_STEPS))


def list_paths(folder: str | None, settings: Settings) -> list[str]:
    """Return where the lists of the settings stand in a folder."""
    names = list_names(settings.lists.error)
    return [] if folder is None else [str(Path(folder) / name) for name in names]


def write_again(rows: Path, outs: Sequence[Path], by_step: Floats | None, **how: Any) -> None:
    """Write a table again, with the q-value of each protein where those by step are given."""
    with ExitStack() as stack:
        file = stack.enter_context(pq.ParquetFile(rows))
        names = file.schema_arrow.names
        written_names = names if by_step is None else [*with_q_value(dict.fromkeys(names), None)]
        writers = [stack.enter_context(TableWriter(out, written_names, **how)) for out in outs]
        for piece in file.iter_batches():
            columns = dict(zip(names, piece.columns, strict=True))
            if by_step is not None:
                step = step_of(columns["confidence"].to_numpy(zero_copy_only=False))
                columns = with_q_value(columns, np.where(step >= 0, by_step[step], np.nan))
            for writer in writers:
                writer.write(columns)


def threshold_tables(
    given: LabelledFiles, out: str, settings: Settings, calibration: str | None
) -> None:
    """Write from where on predictions of labelled tables are right as often as wanted."""
    require_other((out,), [*given.files, calibration])
    file = None if calibration is None else stage_files.read_calibration(Path(calibration))
    known = given.open(file)
    held_out = None
    if file is not None:
        held_out = file.held_out
        if held_out is None:
            raise refuse(str(calibration), *NO_HELD_OUT)
    elif known.samples.predictions.top_score is None:
        remedy = "Give the calibration as well, for thresholds on its confidences: --calibration."
        raise refuse(known.where, "it has no scores.", remedy)
    labelled = known.calibrating(settings.calibration.weights).labelled
    if file is not None:
        require_fitted_on(file, labelled, known.where, str(calibration))
    thresholds = find_thresholds(labelled, held_out, wanted_of(settings))
    write_table(Path(out), threshold_columns(thresholds), spreadsheet_safe=True)
    n, n_sure = (
        sum(not np.isnan(getattr(row, name)) for row in thresholds.rows)
        for name in ("threshold", "sure")
    )
    echo(
        f"Wrote {out}: {n} thresholds by the estimate, {n_sure} with a guarantee for new "
        f"families at {thresholds.certainty:.0%} certainty."
    )
    rows = [row for row in thresholds.rows if not row.n and row.on == thresholds.rows[0].on]
    if rows:
        names = ", ".join(dict.fromkeys(str(row.class_name) for row in rows))
        echo(f"{out}: no threshold for what is never predicted: {names}.")
    if len(np.unique(labelled.cluster)) == labelled.n_samples:
        echo(f"{out}: {RELATIVES_UNKNOWN}, and guarantees may not hold.")


def wanted_of(settings: Settings) -> Wanted:
    """Return what settings ask of thresholds."""
    lists, calibration = settings.lists, settings.calibration
    return Wanted(
        precision=lists.precision,
        certainty=lists.certainty,
        level=calibration.level,
        n_draws=calibration.draws,
    )


COLUMN_NAMES = {
    "n": "predictions",
    "sure": "guaranteed_threshold",
    "sure_kept": "guaranteed_kept",
    "sure_kept_true": "guaranteed_kept_true",
    "sure_families": "guaranteed_families",
    "n_more": "families_missing",
}

# Why a class has no threshold at all, by what thresholds are of.
NEVER = {
    ON_SCORE: "never predicted in calibration, so none can be kept",
    ON_CONFIDENCE: "no held-out confidence in calibration, so none can be kept",
}


def threshold_columns(thresholds: AllThresholds) -> dict[str, list[object]]:
    """Return the columns of the table of thresholds."""
    names = [entry.name for entry in fields(Threshold)]
    columns = {name: [getattr(row, name) for row in thresholds.rows] for name in names}
    classes = ["all" if name is None else name for name in columns.pop("class_name")]
    notes = [NEVER[row.on] if row.n == 0 else "" for row in thresholds.rows]
    named = {COLUMN_NAMES.get(key, key): values for key, values in columns.items()}
    return {"class": classes, **named, "note": notes}
