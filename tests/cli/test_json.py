"""`--json`: what programs read stands on stdout, whole, and nothing else does."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from credence import progress as progress_module
from credence.app import run_command_line
from credence.progress import Progress, StageProgress, each, plan

VALID = Path(__file__).resolve().parents[1] / "data" / "valid" / "tables"


@pytest.fixture
def stated(capsys: pytest.CaptureFixture[str]) -> Any:
    def call(*words: str, code: int = 0) -> Any:
        capsys.readouterr()
        assert run_command_line([*words, "--json"]) == code
        return json.loads(capsys.readouterr().out)

    return call


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with two calibrations, confidences, and a configuration with a trove."""
    folder = tmp_path_factory.mktemp("json")
    rng = np.random.default_rng(1)
    for name in ("known", "new"):
        a = rng.random(80).round(3)
        rows = [
            f"{name}{n},{x},{1 - x:.3f},{'AB'[int(rng.random() > x)]}" for n, x in enumerate(a)
        ]
        (folder / f"{name}.csv").write_text("\n".join(["id,A,B,true_class", *rows]) + "\n")
    known = [str(folder / "known.csv"), "--format", "credence", "--spec", '{"scale": 1}']
    for name, draws in (("one", "20"), ("two", "30")):
        words = [
            "--method",
            "class_only",
            "--resamples",
            draws,
            "--out",
            str(folder / f"{name}.json"),
        ]
        assert run_command_line(["fit", *known, *words]) == 0
    words = ["--calibration", str(folder / "one.json"), "--out", str(folder / "conf.tsv")]
    assert run_command_line(["annotate", str(folder / "new.csv"), *known[1:], *words]) == 0
    (folder / "lab.yaml").write_text(
        f"run: lab\ncalibration_set: {{scores: {folder}/known.csv, format: credence, scale: 1}}\n"
        f"troves: [{{name: t, scores: {folder}/new.csv}}]\n"
    )
    return folder


def test_check_says_what_a_table_holds(stated: Any) -> None:
    found = stated("check", str(VALID / "phanns.csv"))
    assert found["problems"] == []
    assert (found["set"]["n_samples"], found["set"]["scale"]) == (3, 10.0)


def test_check_lists_problems_with_their_places(stated: Any, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("id,A,B\nx,1,0\ny,high,0\n")
    words = ["--format", "wide", "--spec", '{"scale": 1}']
    (problem,) = stated("check", str(tmp_path / "t.csv"), *words, code=2)["problems"]
    assert (problem["line"], problem["column"]) == (3, "A")
    assert problem["what"] == "'high' is not a number."


def test_check_of_a_configuration_and_its_troves(stated: Any, lab: Path) -> None:
    assert stated("check", str(lab / "lab.yaml"))["problems"] == []
    (trove,) = stated("trove", "list", "--config", str(lab / "lab.yaml"))
    assert trove == {
        "release": "01-t",
        "date": None,
        "files": [str(lab / "new.csv")],
        "state": "not attached yet",
    }


def test_methods_are_listed(stated: Any) -> None:
    assert any(entry["name"] == "auto" for entry in stated("show", "methods"))


def test_compare_needs_no_file_to_write(stated: Any, lab: Path) -> None:
    found = stated("compare", str(lab / "one.json"), str(lab / "two.json"))
    assert {entry["class_name"] for entry in found["classes"]} == {"A", "B"}


def test_list_says_what_was_listed(stated: Any, lab: Path) -> None:
    words = ["--calibration", str(lab / "one.json"), "--error", "0.5", "--out", str(lab / "l.tsv")]
    (found,) = stated("list", str(lab / "conf.tsv"), *words)
    n_rows = len((lab / "l.tsv").read_text().splitlines()) - 1
    assert found["n"] == n_rows > 0


def test_a_log_says_how_long_the_rest_takes(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    monkeypatch.setattr("credence.progress.time.monotonic", lambda: now[0])
    monkeypatch.setattr(progress_module, "SECONDS_BEFORE_FIRST", 2.0)
    with Progress("fit", "folds", 4) as progress:
        for now[0] in (1.0, 2.0, 3.0, 90.0):
            progress.add()
    assert capsys.readouterr().err.splitlines() == [
        "fit: 2 of 4 folds, about 2 s left",
        "fit: 4 of 4 folds, about 0 s left",
    ]


def test_a_stage_is_silent_while_what_is_inside_speaks(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("SECONDS_BETWEEN_LOOKS", "SECONDS_BETWEEN_LINES", "SECONDS_BEFORE_FIRST"):
        monkeypatch.setattr(progress_module, name, 0.01)
    assert list(each("abc", 3)) == ["a", "b", "c"]  # no stage is open
    with StageProgress("cluster"), Progress("search", "proteins"):
        assert list(each("abc", 3)) == ["a", "b", "c"]
        time.sleep(0.05)
    assert capsys.readouterr().err == ""


def test_a_stage_says_how_long_its_part_takes(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("SECONDS_BETWEEN_LOOKS", "SECONDS_BETWEEN_LINES", "SECONDS_BEFORE_FIRST"):
        monkeypatch.setattr(progress_module, name, 0.01)
    with StageProgress("fit"):
        time.sleep(0.05)
        plan(4)
        for n in (2, 2):
            for _ in each(range(n), n):
                assert list(each(range(9), 9)) == list(range(9))
                time.sleep(0.15)
        time.sleep(0.05)
    lines = dict.fromkeys(capsys.readouterr().err.splitlines())
    assert next(iter(lines)) == "fit: 0 seconds so far"
    assert [line for line in lines if "so far" not in line] == [
        "fit: 0 of 4 steps of this part",
        *(f"fit: {done} of 4 steps of this part, about 0 s left" for done in (1, 2, 3)),
    ]
