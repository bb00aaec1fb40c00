"""Confidences by class and score, joined in a database."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from credence.app import run_command_line
from credence.simulate.law import WorldSettings
from small_worlds import call_here, write_world

SMALL = WorldSettings(
    n_calibration=150, n_use=200, n_training=20, n_trove=9, n_defects=2, n_training_relatives=3
)


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = write_world(tmp_path_factory.mktemp("lookup"), SMALL)
    fit = ["fit", "demo/calibration.csv", "--format", "phanns-labelled", "--draws", "20"]
    for method in ("kernel", "isotonic", "class_only", "sts"):
        done = call_here(folder, *fit, "--method", method, "--out", f"{method}.json")
        assert done.returncode == 0, done.stderr
    words = ["check", "demo/use.csv", "--format", "phanns", "--samples", "use.parquet"]
    assert call_here(folder, *words).returncode == 0
    return folder


@pytest.fixture
def here(lab: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(lab)
    return lab


def annotated(method: str) -> pd.DataFrame:
    words = ["annotate", "use.parquet", "--format", "credence", "--calibration", f"{method}.json"]
    assert run_command_line([*words, "--out", "a.parquet"]) == 0
    return pq.read_table("a.parquet").to_pandas().set_index("id")


@pytest.mark.parametrize("method", ["kernel", "isotonic", "class_only"])
def test_a_row_is_bit_for_bit_what_a_protein_of_its_class_and_score_gets(
    here: Path, method: str
) -> None:
    assert run_command_line(["export-lookup", f"{method}.json", "--out", "l.parquet"]) == 0
    lookup = pq.read_table("l.parquet").to_pandas().set_index(["predicted_class", "step"])
    assert len(lookup) == 11 * 1001
    assert lookup.index.is_unique
    given = annotated(method)
    step = np.rint(given["score"] / 0.01).astype(int)
    names = ["score", "confidence", "lower", "upper", "support"]
    found = lookup.loc[list(zip(given["predicted_class"], step, strict=True)), names]
    np.testing.assert_array_equal(found.to_numpy(), given[names].to_numpy())


@pytest.mark.parametrize("method", ["kernel", "class_only"])
def test_the_statements_for_duckdb_give_what_annotate_gives(here: Path, method: str) -> None:
    duckdb = pytest.importorskip("duckdb")
    assert run_command_line(["export-lookup", f"{method}.json", "--out", "l.parquet"]) == 0
    given = annotated(method)
    Path("shards").mkdir(exist_ok=True)
    narrow = given.reset_index()[["id", "predicted_class", "score"]]
    wide = pq.read_table("use.parquet").drop_columns(["true_class"]).to_pandas()
    text = Path("l.sql").read_text().split("-- Spark SQL")[0]
    # Of equal best scores the first class counts; annotate notes it, the lookup cannot.
    names = ["confidence", "lower", "upper", "use"]
    for table, statement in zip((narrow, wide), text.split("-- DuckDB, ")[1:], strict=True):
        table.iloc[:70].to_parquet("shards/a.parquet")
        table.iloc[70:].to_parquet("shards/b.parquet")
        found = duckdb.sql(statement.partition(":\n")[2]).df().set_index("id")
        pd.testing.assert_frame_equal(
            found.loc[given.index, names], given[names], check_exact=True, check_dtype=False
        )


def test_names_that_are_hard_to_quote_are_quoted(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    duckdb = pytest.importorskip("duckdb")
    rng = np.random.default_rng(1)
    top = rng.uniform(0.5, 1.0, 60).round(2)
    hard = ["O'Neil's \\tail", 'say "a"']
    table = pd.DataFrame({"id": [f"p{row}" for row in range(60)], hard[0]: top, hard[1]: 1 - top})
    table[hard[1]] = table[hard[1]].round(2)
    table.insert(1, "true_class", np.where(rng.random(60) < 0.8, hard[0], hard[1]))
    table.to_parquet("hard.parquet")
    words = [
        "fit",
        "hard.parquet",
        "--format",
        "credence",
        "--scale",
        "1",
        "--method",
        "histogram",
    ]
    assert run_command_line([*words, "--draws", "0", "--out", "hard.json"]) == 0
    assert run_command_line(["export-lookup", "hard.json", "--out", "h.parquet"]) == 0
    text = Path("h.sql").read_text()
    wide = text.split("-- DuckDB, ")[2].split("-- Spark")[0].partition(":\n")[2]
    found = duckdb.sql(wide.replace("shards/*.parquet", "hard.parquet")).df()
    assert found["confidence"].notna().all()
    assert found["best_class"].tolist() == [hard[0]] * 60
    assert "THEN 'O\\'Neil\\'s \\\\tail'" in text.split("-- Spark")[2]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["sts.json", "--out", "l.parquet"],
            "sts.json: 'sts' sees more than the best score: the score of every "
            "class, each row summing to the scale. Fit a method that sees the best score alone "
            "(credence methods says which do), or annotate the tables: credence annotate FOLDER "
            "--out FOLDER.",
        ),
        (
            ["kernel.json", "--step", "0.3", "--out", "l.parquet"],
            "--step: the scale of scores, 10, is not a whole number of steps of 0.3. "
            "Give 0.1, say.",
        ),
        (
            ["kernel.json", "--step", "1e-6", "--out", "l.parquet"],
            "--step: this makes 110,000,011 rows, and 10,000,000 are the most. Give a larger one.",
        ),
        (
            ["kernel.json", "--out", "l.tsv"],
            "l.tsv: a lookup is a Parquet table. Let its name end in .parquet.",
        ),
    ],
)
def test_what_cannot_be_looked_up_is_refused(
    here: Path, capsys: pytest.CaptureFixture[str], words: list[str], message: str
) -> None:
    assert run_command_line(["export-lookup", *words]) == 2
    assert capsys.readouterr().err == f"{message}\nFix this and run the command again.\n"


@pytest.mark.parametrize(
    "method", [pytest.param("auto", marks=pytest.mark.long), "tswa -> kernel"]
)
def test_a_method_made_of_others_is_refused_where_one_of_these_sees_more(
    here: Path, capsys: pytest.CaptureFixture[str], method: str
) -> None:
    words = ["fit", "demo/calibration.csv", "--format", "phanns-labelled", "--draws", "0"]
    assert run_command_line([*words, "--method", method, "--out", "m.json"]) == 0
    assert run_command_line(["export-lookup", "m.json", "--out", "l.parquet"]) == 2
    assert "sees more than the best score" in capsys.readouterr().err


def test_the_file_says_what_it_was_made_of(here: Path) -> None:
    assert run_command_line(["export-lookup", "kernel.json", "--out", "l.parquet"]) == 0
    stated = json.loads(pq.read_schema("l.parquet").metadata[b"credence lookup"])
    assert (stated["step"], stated["scale"], stated["method"]) == (0.01, 10.0, "kernel")
