"""Faults of files, disks, clocks and other runs: named with a remedy, and nothing false read."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
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


@pytest.mark.faults
def test_tables_that_were_touched_copied_or_come_from_the_future_redo_nothing(lab: Lab) -> None:
    for path in (lab.folder / "mine").rglob("*"):
        os.utime(path, (FUTURE, FUTURE))
    for name in (SAMPLES, "results/lab/releases/00-base/groups.tsv"):
        os.utime(lab.folder / name)  # as a copy of the folder would be
    assert NOTHING in call(lab.folder, "run").stderr
    lab.require_same()


@pytest.mark.faults
def test_a_table_that_changes_during_a_run_is_read_anew_by_the_next(lab: Lab) -> None:
    lab.afresh()
    table = lab.folder / "mine/calibration.csv"
    with started(lab.folder) as process:
        wait_for(lab.folder / SAMPLES, process)
        lines = table.read_text().splitlines(keepends=True)
        table.write_text("".join(lines[:-1]))
        process.communicate(timeout=TIMEOUT)
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
def test_a_second_run_is_told_who_works_in_the_folder(lab: Lab) -> None:
    lab.afresh()
    with started(lab.folder) as process:
        wait_for(lab.folder / "results/lab/logs/check.log", process)
        run = call(lab.folder, "run", code=2).stderr
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
    assert re.search(who, run) and re.search(who, snakemake.stderr)
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
        with (disk / "filler").open("wb", buffering=0) as filler:
            try:
                while filler.write(bytes(1 << 16)):
                    pass
            except OSError:
                pass
        stated = call(folder, "run", code=2).stderr
        # The log of the job cannot be written either, so the likely causes are named.
        assert "as a rule because memory or disk ran out" in stated, stated
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
        (folder / "results/lab/evaluation.json").unlink()
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        for words in (("run",), ("fit", "mine/calibration.csv", *FIT)):
            stated = call(folder, *words, code=2).stderr
            assert "the disk is read-only" in stated, stated


FIT = ("--format", "phanns-labelled", "--method", "class_only", "--out", "c.json")
