"""Releases as Snakemake derives them: what a trove redoes, and runs that are killed."""

from __future__ import annotations

import json
import shutil
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest

from faulty_runs import (
    KEPT,
    WORLD,
    call,
    copied_package,
    descendants,
    environment,
    kill_all,
    words,
)

pytestmark = pytest.mark.long

CONFIGURATION = """\
run: lab
calibration_set:
  scores: mine/calibration.csv
  format: phanns-labelled
  proteins: mine/proteins.fasta
clustering: {engine: exact}
split: {groups: 4, audit: none, strict: report}
calibration: {method: class_only, compare: [class_only, histogram], resamples: 20}
evaluation: {folds: 2}
troves:
"""
HTJ = "  - {name: htj, scores: mine/trove_htj.csv, fasta: mine/trove_htj.fasta}\n"
MIXED = "  - {name: mixed, scores: mine/trove_mixed.csv, fasta: mine/trove_mixed.fasta}\n"
AGAIN = MIXED.replace("mixed,", "again,", 1)


def configure(folder: Path, *troves: str) -> None:
    (folder / "config.yaml").write_text(CONFIGURATION + "".join(troves))


def releases(folder: Path) -> dict[str, bytes]:
    """Return every file of the releases and of the page."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for part in ("results/lab/releases", "reports")
        for path in sorted((folder / part).rglob("*"))
        if path.is_file()
    }


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, bytes]]:
    """Return a folder in which a run with one trove ended, and all releases of it."""
    above = tmp_path_factory.mktemp("troves")
    copied_package(above)
    folder = above / "run"
    folder.mkdir()
    call(folder, "simulate", "mine", "--settings", WORLD)
    configure(folder, HTJ)
    call(folder, "run")
    for part in KEPT:
        shutil.copytree(folder / part, above / "kept" / part)
    return folder, releases(folder)


def as_it_was(folder: Path) -> None:
    """Put the folder back to where one trove had joined."""
    for part in KEPT:
        shutil.rmtree(folder / part)
        shutil.copytree(folder.parent / "kept" / part, folder / part)
    configure(folder, HTJ)


@pytest.fixture(scope="module")
def grown(lab: tuple[Path, dict[str, bytes]]) -> tuple[dict[str, bytes], float]:
    """Return all releases after two troves more, one of them again, and the seconds it took."""
    folder, _ = lab
    as_it_was(folder)
    configure(folder, HTJ, MIXED, AGAIN)
    start = time.monotonic()
    call(folder, "run")
    seconds = time.monotonic() - start
    made = releases(folder)
    as_it_was(folder)
    return made, seconds


def without_inputs(content: bytes) -> object:
    """Return a calibration without the files it was fitted on, anything else as it is."""
    if not content.startswith(b"{"):
        return content
    record = json.loads(content)
    return {name: part for name, part in record.items() if name not in ("inputs", "checksum")}


def test_troves_in_one_go_one_by_one_and_again_give_the_same_calibration(
    lab: tuple[Path, dict[str, bytes]], grown: tuple[dict[str, bytes], float]
) -> None:
    folder, made = lab
    stepwise, _ = grown
    base = "results/lab/releases"
    for name in ("samples.parquet", "groups.tsv", "calibrations/class_only.json"):
        first, again = (stepwise[f"{base}/{of}/{name}"] for of in ("02-mixed", "03-again"))
        assert without_inputs(first) == without_inputs(again)
        assert stepwise[f"{base}/01-htj/{name}"] == made[f"{base}/01-htj/{name}"]
    configure(folder, HTJ, MIXED, AGAIN)
    for part in KEPT:
        shutil.rmtree(folder / part)
    call(folder, "run", "--cores", "1")
    at_once = releases(folder)
    as_it_was(folder)
    early = "calibrations/histogram.json"  # of what was the last release once
    assert {name for name in stepwise if name not in at_once} == {f"{base}/01-htj/{early}"}
    assert [name for name in at_once if at_once[name] != stepwise[name]] == []


def killed(folder: Path, seconds: float) -> None:
    """Start a run and kill it with everything that it started, without a warning."""
    process = subprocess.Popen(
        words("run"),
        cwd=folder,
        env=environment(folder),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    time.sleep(seconds)
    kill_all(descendants(process.pid))
    process.wait()


def recalibrations_killed(
    folder: Path, grown: tuple[dict[str, bytes], float], n_kills: int, seed: int
) -> None:
    """Kill a recalibration at random points; what the next run makes has the same bytes."""
    undisturbed, seconds = grown
    for share in np.random.default_rng(seed).uniform(0.05, 0.95, n_kills):
        as_it_was(folder)
        configure(folder, HTJ, MIXED, AGAIN)
        killed(folder, share * seconds)
        call(folder, "run")
        again = releases(folder)
        assert set(again) == set(undisturbed), share
        assert [name for name in again if again[name] != undisturbed[name]] == [], share
    as_it_was(folder)


def test_a_recalibration_that_was_killed_ends_in_the_same_bytes(
    lab: tuple[Path, dict[str, bytes]], grown: tuple[dict[str, bytes], float]
) -> None:
    recalibrations_killed(lab[0], grown, 2, seed=1)


@pytest.mark.faults
def test_a_recalibration_killed_at_twenty_points_ends_in_the_same_bytes(
    lab: tuple[Path, dict[str, bytes]], grown: tuple[dict[str, bytes], float]
) -> None:
    recalibrations_killed(lab[0], grown, 20, seed=2)
