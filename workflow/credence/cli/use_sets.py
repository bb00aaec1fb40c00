"""A use-set summed up for the page, read piece by piece."""

from __future__ import annotations

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
from credence.findings import Results, UseRow, UseSet
from credence.problems import InputError, Problem, nearest
from credence.tables.confidence_stream import (
    NOT_QUICKLY,
    read_slowly,
    stream_confidences,
)
from credence.tables.unscored import UNSCORED
from credence.tables.writing import FORMULA_START

KEPT = ("id", "predicted_class", "score", "confidence", "lower", "upper", "note")
MOST = [("confidence", "descending"), ("id", "ascending")]
LEAST = [("confidence", "ascending"), ("id", "ascending")]


def summarise_file(name: str, path: Path, results: Results, chosen: str) -> UseSet:
    """Return what a page shows of a table of confidences, however long it is.

    Parameters
    ----------
    name : str
        Name of the use-set.
    path : Path
        What `credence annotate` wrote.
    results : Results
        Of the calibration set, whose classes these must be.
    chosen : str
        What to call the method where the table is empty.
    """
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
