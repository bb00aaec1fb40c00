"""Faults of files, disks, clocks and other runs: named with a remedy, and nothing false read."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from faults.conftest import Lab
from faults.test_kills import wait_for
from faulty_runs import SMALLEST, TIMEOUT, call, environment, started

FUTURE = 2**32  # in 2106
NOTHING = "Nothing to be done"
SAMPLES = "results/lab/releases/00-base/samples.parquet"
# File → what reads it: without that file, a run has to read the first one again.
READ_BY = {
    SAMPLES: "results/lab/evaluation.json",
    "results/lab/releases/00-base/groups.tsv": "results/lab/evaluation.json",
    "results/lab/releases/00-base/calibrations/class_only.json": "results/lab/evaluation.json",
    "results/lab/evaluation.json": "reports/lab/index.html",
    "results/lab/metrics.tsv": "reports/lab/index.html",
    "results/lab/split.json": "reports/lab/index.html",
}


def flip(path: Path) -> None:
    """Change one bit in the middle of a file."""
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def cut(path: Path) -> None:
    """Leave the first half of a file."""
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])


@pytest.mark.faults
def test_tables_that_were_touched_copied_or_come_from_the_future_redo_nothing(lab: Lab) -> None:
    for path in (lab.folder / "mine").rglob("*"):
        os.utime(path, (FUTURE, FUTURE))
    for name in (SAMPLES, "results/lab/releases/00-base/groups.tsv"):
        os.utime(lab.folder / name)  # as a copy of the folder would be
    assert NOTHING in call(lab.folder, "run").stderr
    lab.require_same()


@pytest.mark.long
def test_a_flipped_bit_is_named_and_its_remedy_gives_the_same_bytes(lab: Lab) -> None:
    flip(lab.folder / SAMPLES)
    (lab.folder / READ_BY[SAMPLES]).unlink()
    stated = call(lab.folder, "run", code=2).stderr
    message = (
        f"{SAMPLES}: it is not as it was written: its digest is another. "
        f"Delete it and run the command again: rm {SAMPLES}\n"
        "Fix this and run the command again."
    )
    assert message in stated
    (lab.folder / SAMPLES).unlink()
    call(lab.folder, "run")
    lab.require_same()


@pytest.mark.faults
@pytest.mark.parametrize("spoil", [flip, cut])
@pytest.mark.parametrize("name", list(READ_BY)[1:])
def test_every_file_between_stages_is_looked_at(lab: Lab, name: str, spoil: object) -> None:
    spoil(lab.folder / name)  # type: ignore[operator]
    (lab.folder / READ_BY[name]).unlink()
    stated = call(lab.folder, "run", code=2).stderr
    assert f"{name}: it is not as it was written: its digest is another." in stated
    assert not (lab.folder / READ_BY[name]).exists()


@pytest.mark.faults
def test_findings_that_were_edited_are_not_drawn(lab: Lab) -> None:
    path = lab.folder / "results/lab/findings.json"
    path.write_text(path.read_text().replace('"lab"', '"lob"', 1))
    stated = call(
        lab.folder, "figures", "--findings", "results/lab/findings.json", "--out", "f", code=2
    )
    assert stated.stderr == (
        "results/lab/findings.json: it is not as it was written: its digest is another. "
        "Delete it and run the command again: rm results/lab/findings.json\n"
        "Fix this and run the command again.\n"
    )


@pytest.mark.faults
def test_a_table_that_changes_during_a_run_is_named_and_the_next_run_reads_it(lab: Lab) -> None:
    lab.afresh()
    table = lab.folder / "mine/calibration.csv"
    with started(lab.folder) as process:
        wait_for(lab.folder / SAMPLES, process)
        lines = table.read_text().splitlines(keepends=True)
        table.write_text("".join(lines[:-1]))
        stated = process.communicate(timeout=TIMEOUT)[1]
    assert process.returncode == 2, stated
    assert "mine/calibration.csv: it changed " in stated
    assert "run the command again" in stated
    call(lab.folder, "run")
    shorter = (lab.folder / SAMPLES).read_bytes()
    assert shorter != lab.made[SAMPLES]
    table.write_text("".join(lines))
    call(lab.folder, "run")
    lab.require_same()


@pytest.mark.faults
def test_a_table_with_other_bytes_and_an_old_date_is_read_anew(lab: Lab) -> None:
    table = lab.folder / "mine/calibration.csv"
    state = table.stat()
    table.write_text("".join(table.read_text().splitlines(keepends=True)[:-1]))
    os.utime(table, ns=(state.st_atime_ns, state.st_mtime_ns - 10**15))
    assert "check: done" in call(lab.folder, "run").stderr
    assert (lab.folder / SAMPLES).read_bytes() != lab.made[SAMPLES]


@pytest.mark.faults
def test_a_clock_that_was_set_back_between_two_stages_hides_nothing(lab: Lab) -> None:
    for path in (lab.folder / "results").rglob("*"):
        os.utime(path, (FUTURE, FUTURE))  # made while the clock was wrong
    (lab.folder / "config.yaml").write_text(SMALLEST.replace("groups: 4", "groups: 5"))
    with started(lab.folder):
        groups = lab.folder / "results/lab/releases/00-base/groups.tsv"
        seal = lab.folder / "results/.seals/results/lab/releases/00-base/groups.tsv.json"
        while seal.stat().st_mtime >= FUTURE if seal.exists() else True:
            time.sleep(0.05)
    assert groups.stat().st_mtime < FUTURE
    stated = call(lab.folder, "run").stderr
    assert "fit 00-base class_only: done" in stated
    assert "evaluate: done" in stated


@pytest.mark.faults
def test_a_second_run_is_told_who_works_in_the_folder(lab: Lab) -> None:
    lab.afresh()
    lock = lab.folder / ".snakemake/locks"
    with started(lab.folder) as process:
        while not (lock.is_dir() and any(lock.iterdir())):
            time.sleep(0.05)
        run, unlock = (call(lab.folder, word, code=2).stderr for word in ("run", "unlock"))
        snakefile = lab.folder.parent / "package" / "workflow" / "Snakefile"
        snakemake = subprocess.run(
            [sys.executable, "-m", "snakemake", "--cores", "1", "--snakefile", str(snakefile)],
            cwd=lab.folder,
            env=environment(lab.folder),
            capture_output=True,
            text=True,
            timeout=TIMEOUT,
            check=False,
        )
        stated = process.communicate(timeout=TIMEOUT)[1]
    who = r"another run works in this folder: process \d+ of \S+ on "
    who += re.escape(socket.gethostname()) + r", since \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC\. Wait"
    assert process.returncode == 0, stated
    assert re.search(who, run) and re.search(who, unlock) and re.search(who, snakemake.stderr)
    assert snakemake.returncode != 0
    lab.require_same()


@contextmanager
def small_disk(place: Path, size: str) -> Iterator[Path]:
    """Give a folder on a disk of its own, of some size; skip where that is not allowed."""
    place.mkdir()
    words = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(place)]
    if os.geteuid() != 0 or subprocess.run(words, capture_output=True, check=False).returncode:
        pytest.skip("a small disk needs root and the right to mount")
    try:
        yield place
    finally:
        subprocess.run(["umount", "--lazy", str(place)], check=True)


def moved(lab: Lab, disk: Path) -> Path:
    """Copy a finished run to another disk, its package beside it as before."""
    shutil.copytree(lab.folder.parent / "package", disk / "package")
    shutil.copytree(lab.folder, disk / "run")
    return disk / "run"


@pytest.mark.faults
def test_a_disk_that_is_full_is_told_and_what_was_made_stays(lab: Lab, tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", "200m") as disk:
        folder = moved(lab, disk)
        (folder / "config.yaml").write_text(SMALLEST.replace("groups: 4", "groups: 5"))
        with (disk / "filler").open("wb") as filler:
            try:
                while filler.write(bytes(1 << 16)):
                    filler.flush()
            except OSError:
                pass
        stated = call(folder, "run", code=2).stderr
        assert "disk is full" in stated, stated
        whole = {SAMPLES, "results/lab/check.json"}
        assert {name for name in whole if (folder / name).read_bytes() != lab.made[name]} == set()
        (disk / "filler").unlink()
        (folder / "config.yaml").write_text(SMALLEST)
        call(folder, "run")
        found = {name: (folder / name).read_bytes() for name in lab.made}
        assert [name for name in found if found[name] != lab.made[name]] == []


@pytest.mark.faults
def test_a_disk_that_is_read_only_is_told(lab: Lab, tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", "200m") as disk:
        folder = moved(lab, disk)
        (folder / READ_BY[SAMPLES]).unlink()
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        for words in (("run",), ("fit", "mine/calibration.csv", *FIT)):
            stated = call(folder, *words, code=2).stderr
            assert "the disk is read-only" in stated, stated


FIT = ("--format", "phanns-labelled", "--method", "class_only", "--out", "c.json")
