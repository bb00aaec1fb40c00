"""``credence evaluate`` of proteins that a finished calibration never saw."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import credence
from credence.app import run_command_line
from credence.tables.stage_files import read_calibration
from refusals import refused
from small_worlds import rows_of

SCALE = ("--scale", "1")


def table_of(seed: int, n: int, prefix: str, only: slice = slice(None)) -> str:
    """Return a table of proteins in families of three; labels are drawn from the scores."""
    rng = np.random.default_rng(seed)
    lines = []
    for number in range(n):
        row = np.round(rng.dirichlet((2.0, 1.5, 0.7)), 3)
        row[2] = np.round(1.0 - row[0] - row[1], 3)
        true = "ABC"[int(rng.choice(3, p=np.maximum(row, 0) / np.maximum(row, 0).sum()))]
        lines.append(f"{prefix}{number},{true},{row[0]:.3f},{row[1]:.3f},{row[2]:.3f}")
    return "\n".join(["id,true_class,A,B,C", *lines[only]]) + "\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with a calibration, its table, and a table of new proteins."""
    monkeypatch.chdir(tmp_path)
    Path("known.csv").write_text(table_of(1, 90, "p"))
    Path("new.csv").write_text(table_of(2, 60, "q"))
    clusters = "".join(f"q{k}\tc{k // 3}\n" for k in range(60))
    Path("clusters.tsv").write_text("id\tcluster\n" + clusters)
    words = ["fit", "known.csv", *SCALE, "--method", "isotonic", "--resamples", "20"]
    assert run_command_line([*words, "--sets", "0.8", "--out", "c.json"]) == 0
    return tmp_path


def evaluate(table: str, *further: str) -> int:
    words = ["evaluate", table, "--calibration", "c.json", "--resamples", "40"]
    return run_command_line([*words, "--metrics", "m.tsv", "--out", "f.json", *further])


def value_of(metric: str, sample: str = "test") -> float:
    rows = [
        row
        for row in rows_of("m.tsv")
        if (row["metric"], row["class"], row["sample"]) == (metric, "all", sample)
    ]
    return float(rows[0]["value"])


def test_new_proteins_judge_the_finished_calibration(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert evaluate("new.csv", "--clusters", "clusters.tsv") == 0
    told = capsys.readouterr().err.splitlines()
    assert told[-2:] == [
        "new.csv: Judged as a test set: 60 proteins in 20 families that the finished calibration "
        "never saw. Confidences are not corrected for the class proportions of this set.",
        "Wrote f.json: 1 method.",
    ]
    assert {row["sample"] for row in rows_of("m.tsv")} == {"test"}
    # By hand: the confidences of the calibration as it stands, against what is right.
    new = credence.read("new.csv", scale=1)
    value = read_calibration(Path("c.json")).calibration.confidence(new.predictions).value
    right = new.samples.true_class == new.predictions.predicted_class
    assert value_of("accuracy") == pytest.approx(right.mean(), abs=1e-12)
    assert value_of("brier") == pytest.approx(((value - right) ** 2).mean(), abs=1e-12)
    assert value_of("gap") == pytest.approx(value.mean() - right.mean(), abs=1e-12)
    found = json.loads(Path("f.json").read_text())
    assert (found["results"]["sample"], found["results"]["n_folds"]) == ("test", 0)
    assert found["results"]["n_clusters"] == 20
    contains = read_calibration(Path("c.json")).sets.contains(new.predictions)  # type: ignore[union-attr]
    own = contains[np.arange(60), new.samples.true_class]
    assert found["sets"]["all_classes"]["coverage_proteins"] == pytest.approx(own.mean())
    alone = {"ece", "nll", "kolmogorov_smirnov"}
    assert alone <= {row["metric"] for row in rows_of("m.tsv")} | {
        test["test"] for test in found["results"]["tests"]
    }


def test_proteins_that_calibrated_are_left_out_and_counted(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert evaluate("new.csv") == 0
    alone = Path("m.tsv").read_bytes()
    known = Path("known.csv").read_text().splitlines()[1:5]
    Path("both.csv").write_text(Path("new.csv").read_text() + "\n".join(known) + "\n")
    capsys.readouterr()
    assert evaluate("both.csv") == 0
    told = capsys.readouterr().err
    assert "both.csv: 4 proteins of it are left out: the calibration was fitted on them.\n" in told
    assert Path("m.tsv").read_bytes() == alone


def test_a_part_of_the_proteins_that_calibrated_is_refused(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("part.csv").write_text("\n".join(Path("known.csv").read_text().split("\n")[:41]) + "\n")
    message = refused(capsys, "evaluate", "part.csv", "--calibration", "c.json", "--out", "f.json")
    assert "part.csv: it has 40 proteins, " in message
    assert " right, and c.json was fitted on 90 proteins, " in message
    assert "Give the table it was fitted on, and the same --groups or --clusters." in message


def test_ids_that_are_numbers_tell_nothing_and_that_is_said(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("known.csv").write_text(table_of(1, 90, ""))
    words = ["fit", "known.csv", *SCALE, "--method", "isotonic", "--resamples", "0"]
    assert run_command_line([*words, "--out", "c.json"]) == 0
    capsys.readouterr()
    assert evaluate("new.csv") == 0
    assert (
        "new.csv: It is unknown whether some of its proteins are calibration proteins: the "
        "calibration has no ids for its own, or numbers only. If some are, these numbers are too "
        "good.\n"
    ) in capsys.readouterr().err


def groups_of(roles: dict[str, str]) -> None:
    rows = (f"{id_}\t{id_}\t1\t{role}\t\n" for id_, role in roles.items())
    Path("groups.tsv").write_text("id\tcluster\tgroup\trole\treason\n" + "".join(rows))


def test_rows_of_the_role_test_are_judged_beside_those_held_out(folder: Path) -> None:
    roles = {f"p{k}": "test" if k % 3 == 0 else "calibration" for k in range(90)}
    groups_of(roles)
    words = ["fit", "known.csv", *SCALE, "--method", "isotonic", "--resamples", "0"]
    assert run_command_line([*words, "--groups", "groups.tsv", "--out", "c.json"]) == 0
    assert evaluate("known.csv", "--groups", "groups.tsv", "--folds", "3") == 0
    assert {row["sample"] for row in rows_of("m.tsv")} == {"in_sample", "held_out", "test"}
    known = credence.read("known.csv", scale=1)
    is_test = np.array([roles[id_] == "test" for id_ in known.ids])
    right = (known.samples.true_class == known.predictions.predicted_class)[is_test]
    assert value_of("accuracy") == pytest.approx(right.mean(), abs=1e-12)
    found = json.loads(Path("f.json").read_text())
    assert found["test_set"]["results"]["n_samples"] == 30
    assert found["results"]["n_samples"] == 60
    # The page shows them beside the held-out numbers, and says what they are.
    assert run_command_line(["report", "f.json", "--out", "page/index.html"]) == 0
    page = Path("page/index.html").read_text()
    assert "How good is it on the test group?" in page
    lead = (
        "30 proteins have the role test: they fitted nothing and chose nothing. The finished "
        f"calibration gives them confidences, by isotonic; {right.sum()} are right. Mean "
        "confidence minus precision, in percentage points: "
    )
    assert lead in page
    assert f"{100 * value_of('gap'):+.1f}".replace("-", "−") in page.split(lead)[1][:20]
    # The same rows alone, as a table of their own.
    lines = Path("known.csv").read_text().splitlines()
    kept = [line for line in lines[1:] if roles[line.split(",")[0]] == "test"]
    Path("alone.csv").write_text("\n".join([lines[0], *kept]) + "\n")
    assert evaluate("alone.csv") == 0
    again = json.loads(Path("f.json").read_text())["results"]
    assert again["metrics"] == found["test_set"]["results"]["metrics"]
    # Those of groups where nobody calibrates.
    groups_of({f"q{k}": "test" if k < 20 else "training" for k in range(60)})
    assert evaluate("new.csv", "--groups", "groups.tsv") == 0
    assert json.loads(Path("f.json").read_text())["results"]["n_samples"] == 20


def test_thresholds_and_pages_are_of_the_table_that_calibrated(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [
        "evaluate",
        "new.csv",
        "--calibration",
        "c.json",
        "--resamples",
        "0",
        "--out",
        "f.json",
    ]
    assert refused(capsys, *words, "--thresholds", "t.tsv").endswith(
        "--thresholds: new.csv is not the table that the calibration was fitted on. Leave "
        "--thresholds out.\n"
    )
    assert run_command_line(words) == 0
    capsys.readouterr()
    assert refused(capsys, "report", "f.json", "--out", "index.html") == (
        "f.json: it judges a finished calibration on a test set, of which no page is made. "
        "Evaluate the table that the calibration was fitted on: credence evaluate.\n"
    )


def test_in_python_the_same(folder: Path) -> None:
    assert evaluate("new.csv", "--clusters", "clusters.tsv") == 0
    calibration = credence.load("c.json")
    found = credence.evaluate(
        "new.csv", calibration=calibration, clusters="clusters.tsv", resamples=40
    )
    table = found.to_pandas()
    rows = table[(table["class"] == "all") & (table["metric"] == "brier")]
    assert rows["sample"].tolist() == ["test"]
    assert rows["value"].iloc[0] == pytest.approx(value_of("brier"), abs=1e-12)
    assert repr(found).splitlines()[0] == (
        "EvaluatedMethods: 60 proteins in 20 clusters, that the calibration never saw"
    )
    found.plot()
    with pytest.raises(credence.InputError) as refusal:
        credence.evaluate("new.csv", ["kernel"], calibration=calibration)
    assert str(refusal.value) == (
        "calibration: methods and a finished calibration are judged in different ways. Give one "
        "of the two."
    )
    with pytest.raises(credence.InputError) as refusal:
        credence.evaluate("known.csv", calibration=calibration)
    assert str(refusal.value) == (
        "known.csv: all of its proteins are calibration proteins of what is to be judged: 'p0' "
        "and 89 more. Give proteins that it was not fitted on, or the whole table it was fitted "
        "on."
    )
