"""Vectors that a user brings, through real Snakemake to the confidences."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from credence.cli import run_command_line

ROOT = Path(__file__).resolve().parents[2]
TIMEOUT = 900  # seconds; it takes ten on an idle machine
N_FAR = 3  # proteins of the use-set whose vectors lie far from all others

# No FASTA file anywhere: vectors are all that tells proteins.
CONFIGURATION = """\
run: brought
calibration_set: {scores: world/calibration.csv, format: phanns-labelled}
use_sets: [{name: use, scores: world/use.csv, format: phanns}]
novelty: {features: vectors.npz, components: 4}
calibration: {method: class_only, compare: [uncalibrated], draws: 2}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with a small world and a vector for each of its proteins."""
    monkeypatch.chdir(tmp_path)
    settings = json.dumps({"n_calibration": 90, "n_use": 24, "n_training": 20, "n_trove": 2})
    assert run_command_line(["simulate", "world", "--settings", settings]) == 0
    ids = [*ids_of("calibration"), *ids_of("use")]
    values = np.random.default_rng(6).normal(size=(len(ids), 6))
    values[-N_FAR:] += 50.0
    np.savez("vectors.npz", id=np.array(ids), vectors=values)
    (tmp_path / "config.yaml").write_text(CONFIGURATION)
    return tmp_path


def ids_of(table: str) -> list[str]:
    with Path(f"world/{table}.csv").open() as handle:
        return [row[0] for row in csv.reader(handle)][1:]


def test_vectors_go_through_a_run_and_changed_ones_redo_what_looks_at_them(folder: Path) -> None:
    target = "reports/brought/use/confidences.tsv"

    def run() -> str:
        done = subprocess.run(
            [sys.executable, "-m", "credence", "run", "--cores", "1", "--", target],
            cwd=folder,
            env=os.environ | {"PYTHONPATH": str(ROOT / "workflow")},
            capture_output=True,
            text=True,
            timeout=TIMEOUT,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stderr

    run()
    with (folder / target).open() as handle:
        rows = {row["id"]: row for row in csv.DictReader(handle, delimiter="\t")}
    ids = ids_of("use")
    flagged = [id_ for id_ in ids if float(rows[id_]["novelty"]) > 0.99]
    assert set(ids[-N_FAR:]) <= set(flagged) and len(flagged) < len(ids) // 2
    assert {rows[id_]["nearest_calibration"] for id_ in ids} <= set(ids_of("calibration"))
    known = np.load("vectors.npz")
    np.savez("vectors.npz", id=known["id"], vectors=known["vectors"] * 2.0)
    told = run()
    assert "novelty" in told and "annotate use" in told and "fit" not in told
