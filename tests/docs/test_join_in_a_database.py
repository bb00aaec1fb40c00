"""The recipe of docs/large-tables.md for a database: its statements give what annotate gives."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import duckdb
import pandas as pd
import pytest

from credence.simulate.law import WorldSettings
from small_worlds import call_here, write_world

PAGE = Path(__file__).resolve().parents[2] / "docs" / "large-tables.md"
GRID, JOIN, BEST = re.findall(r"```sql\n(.*?)```", PAGE.read_text(), re.DOTALL)
(ANNOTATE,) = re.findall(r"^    credence (annotate grid.*)$", PAGE.read_text(), re.MULTILINE)
SMALL = WorldSettings(
    n_calibration=150, n_query=200, n_training=20, n_trove=9, n_defects=2, n_training_relatives=3
)
GIVEN = ["confidence", "lower", "upper"]


def done(folder: Path, *words: str) -> None:
    called = call_here(folder, *words)
    assert called.returncode == 0, called.stderr


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a calibration, a table with its confidences, and its shards."""
    folder = write_world(tmp_path_factory.mktemp("grid"), SMALL)
    fit = ["fit", "demo/calibration.csv", "--format", "phanns-labelled", "--resamples", "20"]
    done(folder, *fit, "--method", "kernel", "--out", "c.json")
    use = ["annotate", "demo/my_phages.csv", "--format", "phanns", "--calibration", "c.json"]
    use += ["--shift", "none"]
    done(folder, *use, "--out", "whole.parquet")
    narrow = pd.read_parquet(folder / "whole.parquet")[["id", "predicted_class", "score"]]
    (folder / "shards").mkdir()
    narrow.iloc[:70].to_parquet(folder / "shards" / "a.parquet")
    narrow.iloc[70:].to_parquet(folder / "shards" / "b.parquet")
    return folder


def test_the_statements_give_what_annotate_gives_bit_for_bit(
    lab: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(lab)
    duckdb.sql(GRID)
    done(lab, *shlex.split(ANNOTATE))
    found = duckdb.sql(JOIN).df().set_index("id")
    known = pd.read_parquet("whole.parquet").set_index("id")
    assert known["confidence"].notna().sum() > 150
    pd.testing.assert_frame_equal(
        found.loc[known.index, GIVEN], known[GIVEN], check_exact=True, check_dtype=False
    )


def test_a_score_between_steps_gets_the_row_of_the_nearest(
    lab: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(lab)
    row = pd.read_parquet("shards/a.parquet").head(1)
    beside = pd.concat([row, row.assign(id="beside", score=row["score"] + 0.004)])
    beside.to_parquet("beside.parquet")
    duckdb.sql(GRID)
    done(lab, *shlex.split(ANNOTATE))
    found = duckdb.sql(JOIN.replace("shards/*.parquet", "beside.parquet")).df()
    assert found["confidence"].nunique() == 1 and found["confidence"].notna().all()


def test_the_best_of_several_columns_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    table = pd.DataFrame({"id": ["a", "b"], "Portal": [0.7, 0.2], "Other": [0.3, 0.8]})
    table.to_parquet("scores.parquet")
    found = duckdb.sql(BEST).df()
    assert found[["score", "predicted_class"]].to_numpy().tolist() == [
        [0.7, "Portal"],
        [0.8, "Other"],
    ]
