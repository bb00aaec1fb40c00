"""``credence shift`` and what annotate makes of it."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from credence.cli import run_command_line
from credence.simulate import WorldSettings, make_world, render_files

SMALL = WorldSettings(
    n_calibration=200, n_use=60, n_training=5, n_trove=2, n_defects=0, n_training_relatives=0
)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("shift")
    for name, content in render_files(make_world(SMALL)).items():
        if name.endswith(".csv"):
            (folder / name).write_bytes(
                content if isinstance(content, bytes) else content.encode()
            )
    return folder


@pytest.fixture
def inside(world: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(world)
    return world


SAMPLES = ["--samples", "calibration.csv", "--samples-format", "phanns-labelled"]


def shift(*words: str) -> int:
    return run_command_line(
        ["shift", "use.csv", *SAMPLES, "--draws", "10", "--out", "composition.tsv", *words]
    )


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open() as handle:
        return list(csv.DictReader(handle, delimiter="\t"))


def fit(method: str) -> None:
    words = ["fit", "calibration.csv", "--format", "phanns-labelled", "--method", method]
    assert run_command_line([*words, "--draws", "10", "--out", "c.json"]) == 0


def test_shares_are_written_and_corrected_confidences_join_the_others(inside: Path) -> None:
    fit("histogram")
    assert shift("--method", "histogram", "--record", "shift.json") == 0
    shares = rows_of(inside / "composition.tsv")
    assert sum(float(row["use_share"]) for row in shares) == pytest.approx(1.0)
    words = ["annotate", "use.csv", "--calibration", "c.json"]
    assert run_command_line([*words, "--out", "plain.tsv"]) == 0
    assert run_command_line([*words, "--shift", "shift.json", "--out", "both.tsv"]) == 0
    plain, both = rows_of(inside / "plain.tsv"), rows_of(inside / "both.tsv")
    assert len(both) == SMALL.n_use
    added = ["adjusted_confidence", "adjusted_lower", "adjusted_upper"]
    assert list(both[0]) == [*plain[0], *added]
    for before, after in zip(plain, both, strict=True):
        assert {name: after[name] for name in before} == before
        if after[added[0]]:
            low, value, high = (float(after[name]) for name in (added[1], added[0], added[2]))
            assert low <= value <= high


def test_without_a_correction_both_confidences_are_the_same(inside: Path) -> None:
    fit("kernel")
    assert shift("--method", "kernel", "--estimator", "none", "--record", "shift.json") == 0
    words = ["annotate", "use.csv", "--calibration", "c.json", "--shift", "shift.json"]
    assert run_command_line([*words, "--out", "both.tsv"]) == 0
    for row in rows_of(inside / "both.tsv"):
        assert row["adjusted_confidence"] == row["confidence"]
        assert (row["adjusted_lower"], row["adjusted_upper"]) == (row["lower"], row["upper"])


def test_a_stated_composition_is_taken_as_it_is(inside: Path) -> None:
    stated = json.dumps({"Portal": 0.25, "Other": 0.75})
    assert shift("--estimator", "stated", "--stated", stated) == 0
    shares = {row["class"]: float(row["use_share"]) for row in rows_of(inside / "composition.tsv")}
    assert shares["Portal"] == 0.25
    assert shares["Other"] == 0.75
    assert shares["HTJ"] == 0.0


def test_a_shift_file_of_another_method_or_changed_by_hand_is_refused(
    inside: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fit("kernel")
    assert shift("--method", "histogram", "--record", "shift.json") == 0
    words = ["annotate", "use.csv", "--calibration", "c.json", "--shift", "shift.json"]
    capsys.readouterr()
    assert run_command_line([*words, "--out", "both.tsv"]) == 2
    assert (
        "shift.json: it corrects 'histogram', the calibration is 'kernel'. "
        "Estimate again with --method 'kernel'."
    ) in capsys.readouterr().err.splitlines()
    record = json.loads((inside / "shift.json").read_text())
    record["finding"]["n_use"] += 1
    (inside / "shift.json").write_text(json.dumps(record))
    assert run_command_line([*words, "--out", "both.tsv"]) == 2
    assert (
        "shift.json: its content was changed after it was written. "
        "Estimate the composition again: credence shift."
    ) in capsys.readouterr().err.splitlines()


def test_stated_without_a_composition_is_refused(
    inside: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert shift("--estimator", "stated") == 2
    assert (
        "--stated: no composition is given. Give --stated '{\"class\": share}'."
    ) in capsys.readouterr().err.splitlines()
