from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import refusals
from credence.tables.contract import Column, Kind, read_columns
from credence.tables.writing import write_table

COLUMNS = (Column(name="id", unique=True), Column(name="x", kind=Kind.NUMBER, may_be_empty=True))


def refusal(path: Path) -> str:
    return refusals.refusal(read_columns, path, COLUMNS).replace(f"{path.parent}/", "")


def test_lines_are_those_of_an_editor_in_text_and_row_numbers_in_parquet(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_text('# made by hand\nid\tx\n"two\nlines"\t1\n\np2\t\n')
    read = read_columns(path, COLUMNS)
    assert read.lines.tolist() == [3, 6]
    assert read.values["id"].tolist() == ["two\nlines", "p2"]
    np.testing.assert_array_equal(read.values["x"], [1.0, np.nan])
    write_table(tmp_path / "a.parquet", read.values)
    assert read_columns(tmp_path / "a.parquet", COLUMNS).lines.tolist() == [1, 2]


def test_a_parquet_column_of_texts_is_refused_where_numbers_belong(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    texts = {"id": np.array(["p1"], dtype=object), "x": np.array(["many"], dtype=object)}
    write_table(path, texts)
    assert refusal(path) == (
        "a.parquet, line 1, column 'x': 'many' is not a number. Give a number or nothing."
    )


def test_nan_is_no_number_in_text(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_text("id\tx\np1\tNA\n")
    assert refusal(path) == (
        "a.tsv, line 2, column 'x': 'NA' is not a number. Give a number or nothing."
    )


def test_a_repeated_id_is_refused_across_chunks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("credence.tables.contract.CHUNK_ROWS", 2)
    path = tmp_path / "a.tsv"
    path.write_text("id\tx\na\t1\nb\t2\nc\t3\na\t4\n")
    assert refusal(path) == (
        "a.tsv, line 5, column 'id': 'a' stands in line 2 already. Remove one of the two rows."
    )


def test_a_table_without_rows_gives_empty_arrays(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_text("x\tid\n")
    read = read_columns(path, COLUMNS)
    assert (read.values["id"].dtype, read.values["x"].dtype) == (object, np.float64)
    assert len(read.lines) == 0
