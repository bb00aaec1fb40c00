"""Proteins without scores stay in the table of confidences, in its order."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from credence.predictions import Strings
from credence.tables.contract import (
    CONFIDENCE_NAMES,
    TEXT_NAMES,
    UNSCORED_NOTE,
    read_confidences,
    with_unscored,
    write_contract,
)
from credence.tables.formats import TableSpec
from credence.tables.samples import read_samples, stream_samples
from refusals import refusal

PHYNTENY = (
    "ID\tstart\tend\tstrand\tphrog_id\tphrog_category\tphynteny_category\tphynteny_score\t"
    "phynteny_confidence\tphage\n"
)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "phynteny.tsv"
    rows = [("a", "NA", "NA"), ("b", "tail", "9.1"), ("c", "NA", "NA"), ("d", "lysis", "4.0")]
    path.write_text(
        PHYNTENY
        + "".join(
            f"{id_}\t1\t2\t+\t7\tunknown function\t{class_}\t{score}\t{score}\tp\n"
            for id_, class_, score in rows
        )
    )
    return path


def scored_columns(ids: Strings) -> dict[str, Any]:
    """Return the rows of some proteins that have scores, of which nothing else is known."""
    texts, numbers = np.full(len(ids), "", dtype=object), np.full(len(ids), np.nan)
    names = [(name, texts if name in TEXT_NAMES else numbers) for name in CONFIDENCE_NAMES]
    return {**dict(names), "id": ids}


@pytest.mark.parametrize("chunk_rows", [1, 2, 3, 100])
def test_rows_without_scores_stand_where_the_table_has_them(table: Path, chunk_rows: int) -> None:
    spec = TableSpec(format="phynteny")
    counted: list[int] = []
    ids: list[str] = []
    notes: list[str] = []
    for samples in stream_samples(table, spec, chunk_rows, counted.append):
        scored = scored_columns(samples.predictions.ids)
        rows = with_unscored(scored, samples, "m")
        ids += rows["id"].tolist()
        notes += rows["note"].tolist()
    assert counted == [4]
    assert ids == ["a", "b", "c", "d"]
    assert notes == [UNSCORED_NOTE, "", UNSCORED_NOTE, ""]


def test_their_rows_are_read_back(table: Path, tmp_path: Path) -> None:
    samples = read_samples(table, TableSpec(format="phynteny"))
    from credence.tables.contract import Confidences

    nobody = np.empty(0, dtype=np.int64)
    without = replace(samples, predictions=samples.predictions.take(nobody), lines=nobody)
    columns = with_unscored(scored_columns(without.predictions.ids), without, "kernel")
    path = tmp_path / "confidences.tsv"
    by_field = dict(zip(Confidences.__dataclass_fields__, columns.values(), strict=True))
    write_contract(path, Confidences(**by_field))
    assert (
        path.read_text().splitlines()[1]
        == f"a\t\t\t\t\tinsufficient data\t{UNSCORED_NOTE}\t\t0\tkernel"
    )
    back = read_confidences(path).values
    assert back["predicted_class"].tolist() == ["", ""]
    assert np.isnan(back["confidence"]).all()


def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "pipe.csv"
    os.mkfifo(path)
    assert refusal(read_samples, path, TableSpec(format="phanns")) == (
        f"{path}: this is no file but a pipe or a device, which cannot be read twice. "
        "Save it as a file, and give the path of that."
    )
