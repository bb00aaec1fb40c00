"""Columns that nobody named as classes, and that hold something else than scores."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from credence.problems import InputError
from credence.tables.formats import TableSpec
from credence.tables.samples import read_samples

CLASSES = ["Portal", "Collar", "HTJ"]
NAMED = 'name those of the classes (columns: {"classes": ["Portal", "Collar", "HTJ"]})'
N_ROWS = 40
RNG = np.random.default_rng(3)
SHARES = np.round(RNG.dirichlet([1.0, 1.0, 1.0], N_ROWS), 3)
SHARES[:, 2] = np.round(1 - SHARES[:, 0] - SHARES[:, 1], 3)
SHARES = np.abs(SHARES)
BITS = np.round(RNG.uniform(0, 900, (N_ROWS, 3)), 1)
LENGTH = RNG.integers(60, 900, N_ROWS)
MASS = np.round(LENGTH * 111.3 + 0.25, 2)
HYDROPATHY = np.round(RNG.normal(-0.2, 0.4, N_ROWS), 3)


def refusal(
    path: Path, scores: np.ndarray, further: dict[str, np.ndarray], spec: TableSpec
) -> str:
    write(path, scores, further)
    with pytest.raises(InputError) as caught:
        read_samples(path, spec)
    return str(caught.value).replace(f"{path.parent}/", "")


def write(path: Path, scores: np.ndarray, further: dict[str, np.ndarray]) -> None:
    rows = [",".join(["id", *CLASSES, *further])]
    columns = [*scores.T, *further.values()]
    rows += [",".join([f"p{row}", *(str(one[row]) for one in columns)]) for row in range(N_ROWS)]
    path.write_text("\n".join(rows) + "\n")


def test_a_length_beside_shares_is_one_problem_with_its_remedy(tmp_path: Path) -> None:
    stated = refusal(
        tmp_path / "a.csv", SHARES, {"length": LENGTH}, TableSpec(format="wide", scale=1.0)
    )
    assert stated == (
        f"a.csv, line 2, column 'length': 40 of 40 cells are above the scale 1, from "
        f"'{LENGTH[0]}' on. Remove the column, or {NAMED} if it is no class; "
        "else give scores from 0 to 1, or state another scale."
    )


def test_columns_of_several_kinds_are_refused_together(tmp_path: Path) -> None:
    further = {"length": LENGTH, "gravy": np.where(HYDROPATHY > 0, 0.1, HYDROPATHY), "mass": MASS}
    stated = refusal(tmp_path / "a.csv", SHARES, further, TableSpec(format="wide", scale=1.0))
    assert [line.split(": ")[0].split("column ")[1] for line in stated.split("\n")] == [
        "'length'",
        "'gravy'",
        "'mass'",
    ]
    assert stated.count(NAMED) == 3


def test_a_share_beside_shares_moves_every_sum(tmp_path: Path) -> None:
    gc = np.full(N_ROWS, 0.25)
    stated = refusal(tmp_path / "a.csv", SHARES, {"gc": gc}, TableSpec(format="wide", scale=1.0))
    assert stated == (
        "a.csv, line 2: all 40 rows sum to 1.25, not to 1. State the scale that the rows sum to, "
        "or that they sum to nothing in particular (sum_to_scale: false); if a column is no "
        "class, name those of the classes (columns: classes)."
    )


@pytest.mark.parametrize(
    ("first", "remedy"),
    [
        ("1,280", "Write decimals with a point."),
        ("1,280 %", "Write decimals with a point."),
        ("1.000,5", "Give scores, or name another column."),
        ("28.1%%", "Give scores, or name another column."),
        ("high", "Give scores, or name another column."),
        ("1e999", "Give scores, or name another column."),
        ("5%5", "Give scores, or name another column."),
    ],
)
def test_named_columns_that_hold_no_number_say_how_to_write_them(
    tmp_path: Path, first: str, remedy: str
) -> None:
    columns: dict[str, str | tuple[str, ...]] = {"id": "id", "classes": ("A", "B")}
    path = tmp_path / "a.tsv"
    path.write_text(f"id\tA\tB\np1\t{first}\t0.2\np2\t{first}\t0.8\n")
    with pytest.raises(InputError) as caught:
        read_samples(path, TableSpec(format="wide", scale=1.0, columns=columns))
    assert str(caught.value) == (
        f"{path}, line 2, column 'A': none of the 2 cells is a number, from {first!r} on. {remedy}"
    )


@pytest.mark.parametrize("is_summed", [True, False])
def test_logits_are_not_asked_for_on_a_scale(tmp_path: Path, is_summed: bool) -> None:
    logits = np.round(RNG.normal(0.0, 2.0, (N_ROWS, 3)), 3)
    stated = refusal(
        tmp_path / "a.csv", logits, {}, TableSpec(format="wide", scale=1.0, sum_to_scale=is_summed)
    )
    softmax = "Give scores that are not negative; of logits say so (logits: true)."
    assert stated.count("cells are negative") == len(CLASSES)
    assert all(line.endswith(softmax) for line in stated.split("\n") if "cells are" in line)


def test_a_format_whose_columns_cannot_be_named_says_to_remove_it(tmp_path: Path) -> None:
    spec = TableSpec(format="credence", scale=1.0)
    stated = refusal(tmp_path / "a.csv", SHARES, {"length": LENGTH}, spec)
    assert stated == (
        f"a.csv, line 2, column 'length': 40 of 40 cells are above the scale 1, from "
        f"'{LENGTH[0]}' on. Remove the column if it is no class; else give scores from 0 to 1, or "
        "state another scale."
    )


def test_a_length_among_bit_scores_is_no_class(tmp_path: Path) -> None:
    spec = TableSpec(format="wide", scale=1000.0, sum_to_scale=False)
    assert refusal(tmp_path / "a.csv", BITS, {"length": LENGTH}, spec) == (
        "a.csv, line 1, column 'length': it was taken as a class, and its numbers are no such "
        "scores: all are whole numbers, and other columns have decimals. "
        f"Remove the column, or {NAMED}."
    )


def test_a_column_that_the_user_names_as_a_class_is_one(tmp_path: Path) -> None:
    write(tmp_path / "a.csv", BITS, {"length": LENGTH})
    named = {"classes": [*CLASSES, "length"]}
    spec = TableSpec(format="wide", scale=1000.0, sum_to_scale=False, columns=named)
    assert read_samples(tmp_path / "a.csv", spec).predictions.n_classes == 4
    spec = TableSpec(format="wide", scale=1000.0, sum_to_scale=False, columns={"classes": CLASSES})
    assert read_samples(tmp_path / "a.csv", spec).predictions.n_classes == 3


@pytest.mark.parametrize(
    "scores",
    [
        np.round(BITS),
        np.column_stack([BITS[:, 0], BITS[:, 1], np.zeros(N_ROWS)]),
        np.column_stack([np.full(N_ROWS, 1000.0), BITS[:, 1], BITS[:, 2]]),
    ],
    ids=["counts of votes", "a class never scored", "a class always sure"],
)
def test_scores_of_one_scale_are_classes(tmp_path: Path, scores: np.ndarray) -> None:
    write(tmp_path / "a.csv", scores, {})
    spec = TableSpec(format="wide", scale=1000.0, sum_to_scale=False)
    assert read_samples(tmp_path / "a.csv", spec).predictions.n_classes == 3


def test_a_whole_table_on_another_scale_is_not_put_down_to_its_columns(tmp_path: Path) -> None:
    stated = refusal(tmp_path / "a.csv", SHARES * 100, {}, TableSpec(format="wide", scale=1.0))
    assert "Remove the column" not in stated
    assert "Give scores from 0 to 1, or state another scale." in stated


def test_what_columns_look_like_does_not_depend_on_the_pieces_read(tmp_path: Path) -> None:
    from credence.tables.samples import stream_samples

    spec = TableSpec(format="wide", scale=1000.0, sum_to_scale=False)
    whole = refusal(tmp_path / "a.csv", BITS, {"length": LENGTH}, spec)
    with pytest.raises(InputError) as caught:
        next(stream_samples(tmp_path / "a.csv", spec, chunk_rows=3))
    assert str(caught.value).replace(f"{tmp_path}/", "") == whole
