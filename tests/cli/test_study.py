from __future__ import annotations

import csv
import subprocess
import sys
from pathlib import Path

import pytest

from credence.simulate import WorldSettings, make_world, render_files


def call(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "credence", *words],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    at = tmp_path_factory.mktemp("study")
    settings = WorldSettings(
        n_calibration=200, n_use=10, n_training=10, n_trove=9, n_defects=2, n_training_relatives=3
    )
    content = render_files(make_world(settings))["calibration.csv"]
    (at / "calibration.csv").write_bytes(
        content if isinstance(content, bytes) else content.encode()
    )
    return at


def test_two_sets_writes_medians_of_both_halves_and_the_same_bytes_again(folder: Path) -> None:
    words = ("study", "two-sets", "calibration.csv", "--format", "phanns-labelled")
    methods = ("--method", "class_only", "--method", "isotonic", "--draws", "5")
    for out in ("one.tsv", "two.tsv"):
        done = call(folder, *words, *methods, "--out", out)
        assert (done.returncode, done.stdout) == (0, "")
        assert f"Wrote {out}: 2 methods, 5 draws." in done.stderr
    assert (folder / "one.tsv").read_bytes() == (folder / "two.tsv").read_bytes()
    with (folder / "one.tsv").open(encoding="utf-8", newline="") as handle:
        rows = list(csv.DictReader(handle, delimiter="\t"))
    assert list(rows[0]) == [
        *("method", "class", "metric", "in_sample", "held_out", "difference"),
        *("lower", "upper", "n_draws"),
    ]
    nll = {row["method"]: row for row in rows if (row["class"], row["metric"]) == ("all", "nll")}
    assert float(nll["isotonic"]["held_out"]) > float(nll["isotonic"]["in_sample"])
    assert nll["isotonic"]["n_draws"] == "5"


def test_a_wrong_method_is_refused_with_the_nearest_name(folder: Path) -> None:
    done = call(
        folder,
        *("study", "two-sets", "calibration.csv", "--format", "phanns-labelled"),
        *("--method", "isotonik", "--out", "x.tsv"),
    )
    assert done.returncode == 2
    assert "Did you mean 'isotonic'?" in done.stderr
    assert not (folder / "x.tsv").exists()
