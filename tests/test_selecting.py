"""The Python functions that choose and compare give the rows of the commands."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

import pandas as pd
import pytest

import credence
import refusals
from credence.app import run_command_line
from page_commands import ROOT

sys.path.insert(0, str(ROOT / "docs"))
import stubs

CLASSES = ["Portal", "Collar"]
SCORES = [[0.9, 0.1], [0.7, 0.3], [0.2, 0.8], [0.35, 0.65]] * 30
LABELS = (["Portal", "Portal", "Collar", "Collar"] * 29) + ["Collar", "Collar", "Portal", "Portal"]
EXAMPLE = """
import pandas as pd

import credence

known: credence.ScoreTable = credence.read("known.csv", format="wide", scale=1.0)
calibration: credence.FittedCalibration = credence.fit(known, method="isotonic")
found: credence.AnnotatedTable = credence.annotate("new.csv", calibration)
chosen: pd.DataFrame = credence.list(found, calibration, error=0.05)
to_verify: pd.DataFrame = credence.plan(found, calibration, number=10)
from_score: pd.DataFrame = credence.thresholds(known, calibration, precision=[0.9])
changes: pd.DataFrame = credence.compare(calibration, calibration, "new.csv")
judged: credence.EvaluatedMethods = credence.evaluate(known, ["isotonic", calibration], folds=4)
judged.plot().set_title("Reliability")
groups: credence.ProteinGroups = credence.split(known, roles={"training": 0.8, "test": 0.2})
proportions: credence.ClassProportions = credence.shift("new.csv", calibration, estimator="em")
mean: float = float(found["confidence"].mean())
credence.save(calibration, "calibration.json")
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("selecting")
    ids = [f"p{at}" for at in range(len(SCORES))]
    frame = pd.DataFrame(SCORES, columns=CLASSES, index=pd.Index(ids, name="id"))
    frame.assign(true_class=LABELS).to_csv(home / "known.csv")
    frame.to_csv(home / "new.csv")
    return home


@pytest.fixture
def inside(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture(scope="module")
def known(folder: Path) -> credence.ScoreTable:
    columns = {"id": "id", "true_class": "true_class", "classes": CLASSES}
    table = str(folder / "known.csv")
    return credence.read(table, format="wide", scale=1.0, columns=columns)


@pytest.fixture(scope="module")
def calibration(known: credence.ScoreTable) -> credence.FittedCalibration:
    return credence.fit(known, method="isotonic", resamples=20)


@pytest.fixture(scope="module")
def annotated(folder: Path, calibration: credence.FittedCalibration) -> credence.AnnotatedTable:
    return credence.annotate(str(folder / "new.csv"), calibration)


def command(*words: str) -> pd.DataFrame:
    assert run_command_line([*words, "--out", "out.tsv"]) == 0
    return pd.read_csv("out.tsv", sep="\t")


def same(found: pd.DataFrame, other: pd.DataFrame) -> None:
    left = found.replace({"": None}).astype(object).where(found.notna() & (found != ""), None)
    right = other.astype(object).where(other.notna(), None)
    pd.testing.assert_frame_equal(left, right, check_dtype=False, rtol=1e-5, atol=1e-5)


def test_a_list_and_a_plan_are_those_of_the_commands(
    inside: Path, calibration: credence.FittedCalibration, annotated: credence.AnnotatedTable
) -> None:
    credence.save(calibration, "c.json")
    assert (
        run_command_line(["annotate", "new.csv", "--calibration", "c.json", "--out", "u.tsv"]) == 0
    )
    table = ["u.tsv", "--calibration", "c.json"]
    listed = credence.list(annotated, calibration, error=0.1)
    same(listed, command("list", *table, "--error", "0.1"))
    assert len(listed) > 0
    (said,) = (text for text in listed.attrs["sentences"] if "predictions with confidence" in text)
    assert said.startswith(f"Calls: {len(listed)} predictions with confidence ≥ ")
    same(credence.plan(annotated, calibration, number=7), command("plan", *table, "--number", "7"))


def test_thresholds_are_those_of_the_command(
    inside: Path, known: credence.ScoreTable, calibration: credence.FittedCalibration
) -> None:
    credence.save(calibration, "c.json")
    spec = '{"scale": 1, "columns": {"id": "id", "true_class": "true_class", '
    spec += '"classes": ["Portal", "Collar"]}}'
    words = ["known.csv", "--format", "wide", "--spec", spec, "--calibration", "c.json"]
    found = credence.thresholds(known, calibration, precision=[0.9], resamples=20)
    same(found, command("thresholds", *words, "--precision", "0.9", "--resamples", "20"))


def test_two_calibrations_are_compared_as_by_the_command(
    inside: Path, known: credence.ScoreTable, calibration: credence.FittedCalibration
) -> None:
    newer = credence.fit(known, method="isotonic", resamples=20, clusters=["f"] * 60 + ["g"] * 60)
    credence.save(calibration, "c.json")
    credence.save(newer, "n.json")
    by_class = credence.compare(calibration, newer)
    assert run_command_line(["compare", "c.json", "n.json", "--classes", "classes.tsv"]) == 0
    same(by_class, pd.read_csv("classes.tsv", sep="\t"))
    by_protein = credence.compare(calibration, newer, "new.csv")
    same(by_protein, command("compare", "c.json", "n.json", "--table", "new.csv"))
    assert len(by_protein) == len(SCORES)


def test_a_refusal_names_what_was_given_and_no_file(
    known: credence.ScoreTable, annotated: credence.AnnotatedTable
) -> None:
    other = credence.fit(known, method="platt", resamples=0)
    assert refusals.refusal(credence.plan, annotated, other) == (
        "annotated.correction: it corrects 'isotonic', not 'platt'. Give a file that credence "
        "shift wrote with this calibration."
    )
    plain = replace(
        annotated,
        correction=None,
        columns={name: annotated[name] for name in annotated.columns if "uncorr" not in name},
    )
    assert refusals.refusal(credence.list, plain, other) == (
        "annotated, column 'method': its confidences are of 'isotonic', not of 'platt'. Give the "
        "calibration that the table was annotated with."
    )
    asked = partial(credence.list, by_class=True, of_background=True)
    assert refusals.refusal(asked, plain, other) == (
        "of_background: by_class lists every class already. Leave out one of the two."
    )


def test_the_types_of_an_example_are_known_to_mypy(tmp_path: Path) -> None:
    assert (Path(credence.__file__).parent / "py.typed").exists()
    (tmp_path / "example.py").write_text(EXAMPLE, "utf-8")
    (tmp_path / "wrong.py").write_text(
        'import credence\n\ncredence.load(7)\ncredence.fit("t.csv", level="high", bins=7)\n'
        'credence.load("c.json").plot().savefig("c.png")\n',
        "utf-8",
    )
    words = ["-m", "mypy", "--strict", "--no-incremental", "--config-file="]
    words += ["--follow-imports=silent", "--ignore-missing-imports"]
    files = [str(tmp_path / f"{name}.py") for name in ("example", "wrong")]
    done = subprocess.run(
        [sys.executable, *words, *files], capture_output=True, text=True, cwd=tmp_path
    )
    *faults, end = [line.removeprefix("wrong.py:") for line in done.stdout.splitlines()]
    errors = [fault for fault in faults if ": error: " in fault]
    assert [error.partition("; ")[0].partition("  [")[0] for error in errors] == [
        '3: error: Argument 1 to "load" has incompatible type "int"',
        '4: error: Unexpected keyword argument "bins" for "fit"',
        '4: error: Argument "level" to "fit" has incompatible type "str"',
        '5: error: "ndarray[tuple[Any, ...], dtype[object_]]" has no attribute "savefig"',
    ]
    assert end == "Found 4 errors in 1 file (checked 2 source files)"


def test_the_stub_has_the_types_of_every_function_and_setting() -> None:
    written = stubs.STUB.read_text("utf-8")
    assert written == stubs.stub_of(credence), "python docs/stubs.py writes it anew"
    assert "inspect._empty" not in written


def test_every_public_function_has_an_example() -> None:
    functions = [name for name in credence.__all__ if name[0].islower()]
    assert {"list", "thresholds", "plan", "compare", "fit"} <= set(functions)
    for name in functions:
        assert ">>> " in getattr(credence, name).__doc__, name
