"""What lies beside the page: tables, the calibration, an archive, the index of runs."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from credence.confidence import NOTE_TEXTS
from credence.evaluation.use_sets import N_EXTREMES, use_set_of
from credence.findings import Findings, Results, UseRow, UseSet
from credence.problems import InputError, Problem, nearest
from credence.records import json_text
from credence.report import citation, readme, render_index
from credence.report.wording import slug
from credence.tables.census import UNSCORED
from credence.tables.contract import (
    NOT_QUICKLY,
    read_metrics,
    read_slowly,
    stream_confidences,
    write_contract,
)
from credence.tables.writing import FORMULA_START, open_output, write_archive, write_text

RECORD = "report.json"


def publish_metrics(source: str | None, folder: Path) -> None:
    """Write the metrics again: as TSV, safe for a spreadsheet, and as Parquet."""
    if source is None or Path(source).resolve() == (folder / "metrics.tsv").resolve():
        return
    metrics = read_metrics(Path(source))
    write_contract(folder / "metrics.tsv", metrics, spreadsheet_safe=True)
    write_contract(folder / "metrics.parquet", metrics)


def copy_file(source: str | None, target: Path) -> None:
    """Copy a file, unless it is there already."""
    if source is not None and Path(source).resolve() != target.resolve():
        with open_output(target) as handle:
            handle.write(Path(source).read_bytes())


def publish_archive(
    path: Path,
    findings: Findings,
    page: Path,
    metrics: str | None,
    calibration: str | None,
    further: Iterable[str],
) -> None:
    """Write an archive of the page and of what it rests on."""
    members: dict[str, str | Path] = {
        "index.html": page,
        RECORD: page.parent / RECORD,
        "findings.json": json_text(findings),
        "README.md": readme(findings),
        "CITATION.cff": citation(findings),
    }
    if metrics is not None:
        members |= {name: page.parent / name for name in ("metrics.tsv", "metrics.parquet")}
    if calibration is not None:
        members["calibration.json"] = page.parent / "calibration.json"
    home = page.parent.resolve()
    for text in further:
        file = Path(text).resolve()
        is_beside = file.is_relative_to(home)
        members[file.relative_to(home).as_posix() if is_beside else file.name] = file
    name = slug(findings.provenance.run, 0).partition("-")[2] or "run"
    write_archive(path, f"credence-{name}", members)


def publish_index(path: Path) -> None:
    """Write a page over every run whose folder lies beside it."""
    records = {}
    for file in sorted(path.parent.glob(f"*/{RECORD}")):
        try:
            record = json.loads(file.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            continue  # not a finished run
        if isinstance(record, dict):
            records[file.parent.name] = record
    write_text(path, render_index(records))


KEPT = ("id", "predicted_class", "score", "confidence", "lower", "upper", "note")
MOST = [("confidence", "descending"), ("id", "ascending")]
LEAST = [("confidence", "ascending"), ("id", "ascending")]


def summarise_file(name: str, path: Path, results: Results, chosen: str) -> UseSet:
    """Return what a page shows of a table of confidences, however long it is."""
    try:
        return _summary(name, str(path), results, chosen, stream_confidences(path))
    except NOT_QUICKLY:
        return _summary(name, str(path), results, chosen, [read_slowly(path)])


def _summary(
    name: str, path: str, results: Results, chosen: str, pieces: Iterable[pa.Table]
) -> UseSet:
    codes, values = [np.empty(0, np.int64)], [np.empty(0)]
    notes: Counter[str] = Counter()
    highest: list[pa.Table] = []
    lowest: list[pa.Table] = []
    method = chosen
    for number, piece in enumerate(pieces):
        if number == 0 and len(piece):
            method = piece["method"][0].as_py()
        codes.append(_class_codes(piece["predicted_class"], results, path))
        values.append(_floats(piece["confidence"]))
        counted = pc.value_counts(piece["note"]).to_pylist()
        notes.update({entry["values"] or "": entry["counts"] for entry in counted})
        known = piece.select(KEPT).filter(pc.is_finite(pc.fill_null(piece["confidence"], np.nan)))
        highest = [_first(pa.concat_tables([*highest, known]), MOST)]
        lowest = [_first(pa.concat_tables([*lowest, known]), LEAST)]
    return use_set_of(
        name,
        method,
        results.class_names,
        np.concatenate(codes),
        np.concatenate(values),
        {
            text: sum(number for note, number in notes.items() if text in note)
            for text in (*NOTE_TEXTS.values(), UNSCORED)
        },
        (_rows(highest), _rows(lowest)),
    )


def _first(table: pa.Table, order: list[tuple[str, str]]) -> pa.Table:
    return table.take(pc.select_k_unstable(table, k=min(N_EXTREMES, len(table)), sort_keys=order))


def _rows(found: list[pa.Table]) -> tuple[UseRow, ...]:
    return tuple(
        UseRow(
            id=_unguarded(row["id"]),
            predicted_class=_unguarded(row["predicted_class"]),
            **{key: _number(row[key]) for key in ("score", "confidence", "lower", "upper")},
            note=row["note"] or "",
        )
        for table in found
        for row in table.to_pylist()
    )


def _unguarded(text: str) -> str:
    """Return a text as it was before it was made safe for spreadsheets."""
    return text[1:] if text[:1] == "'" and re.match(FORMULA_START, text[1:]) else text


def _number(value: float | None) -> float:
    return float("nan") if value is None else value


def _floats(column: pa.ChunkedArray) -> Any:
    return pc.fill_null(column, float("nan")).to_numpy().astype(np.float64)


def _class_codes(column: pa.ChunkedArray, results: Results, path: str) -> Any:
    """Return the place of each class among the classes; -1 where none was predicted."""
    code_of = {name: code for code, name in enumerate(results.class_names)}
    # Published tables have ' before names that a spreadsheet would take for a formula.
    code_of = {"": -1} | {f"'{name}": code for name, code in code_of.items()} | code_of
    encoded = column.combine_chunks().dictionary_encode()
    names = [name or "" for name in encoded.dictionary.to_pylist()]
    unknown = sorted({name for name in names if name not in code_of})
    if unknown:
        raise InputError(
            Problem(
                path,
                f"{name!r} is no class of these findings.",
                nearest(name, results.class_names),
                column="predicted_class",
            )
            for name in unknown
        )
    places = np.array([code_of[name] for name in names], dtype=np.int64)
    return places[encoded.indices.to_numpy(zero_copy_only=False)] if names else places
