"""Small runs in a process of their own, what they make, and ways to kill them."""

from __future__ import annotations

import compileall
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from credence.app.ending import interruptible

ROOT = Path(__file__).resolve().parents[1]
TIMEOUT = 900  # seconds; a run takes fifteen on an idle machine
WORLD = (
    '{"n_calibration": 60, "n_query": 10, "n_training": 20, "n_training_relatives": 2, '
    '"n_trove": 6, "n_defects": 2}'
)
# The least that goes through every stage of a calibration set without sequences.
SMALLEST = """\
run: lab
calibration_set: {scores: mine/calibration.csv, format: phanns-labelled}
split: {groups: 4, audit: none, strict: report}
calibration: {method: class_only, compare: [class_only], resamples: 20}
evaluation: {folds: 2}
"""
# A simulated world that goes through every stage, in two pieces for what a test adds.
SMALL_SETS = """\
run: small
title: A small world
simulated: true
calibration_set:
  scores: demo/calibration.csv
  format: phanns-labelled
  proteins: demo/proteins.fasta
training: {proteins: demo/training.fasta}
clustering: {engine: exact}
queries:
  - {name: my_phages, scores: demo/my_phages.csv, format: phanns}
"""
SMALL_METHODS = """\
calibration: {method: kernel, compare: [class_only], resamples: 20}
evaluation: {folds: 2}
demo: {n_calibration: 150, n_query: 40, n_training: 30, n_training_relatives: 3, n_trove: 9}
"""
KEPT = ("results", "reports", ".snakemake")


def copied_package(above: Path) -> None:
    """Copy the package beside a run, so that work on the original remakes nothing of it.

    It is compiled once: each job is a process, which would compile it again where Python is to
    write no bytecode.
    """
    package = above / "package"
    ignored = shutil.ignore_patterns(".*")
    shutil.copytree(ROOT / "workflow", package / "workflow", ignore=ignored)
    compileall.compile_dir(package / "workflow", quiet=2)  # what is compiled already stays
    shutil.copytree(ROOT / "envs", package / "envs")
    for name in ("Snakefile", "config.yaml"):
        shutil.copy(ROOT / name, package / name)


def environment(folder: Path) -> dict[str, str]:
    return os.environ | {"PYTHONPATH": str(folder.parent / "package" / "workflow")}


def words(*more: str) -> list[str]:
    return [sys.executable, "-m", "credence", *more]


def call(folder: Path, *more: str, code: int = 0) -> subprocess.CompletedProcess[str]:
    """Return what a command said; it has to end with the code."""
    done = subprocess.run(
        words(*more),
        cwd=folder,
        env=environment(folder),
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )
    assert done.returncode == code, done.stderr
    return done


# How far a step was after some seconds: on another day it is as far after others.
PROGRESS = re.compile(rb"^[^:\n]+: (\d+ seconds so far|\d[\d,]* of \d[^\n]*)\n", re.M)


def files_of(folder: Path, *parts: str) -> dict[str, bytes]:
    """Return every file of some parts of a folder, but for what tells the time."""
    return {
        path.relative_to(folder).as_posix(): (
            PROGRESS.sub(b"", path.read_bytes()) if "logs" in path.parts else path.read_bytes()
        )
        for part in parts
        for path in sorted((folder / part).rglob("*"))
        if path.is_file() and "benchmarks" not in path.parts
    }


def outputs(folder: Path) -> dict[str, bytes]:
    """Return every file that a run made, its simulated tables too, but for what tells the time."""
    return files_of(folder, "demo", "results", "reports")


@contextmanager
def started(folder: Path, *more: str) -> Iterator[subprocess.Popen[str]]:
    """Give a run at work; whatever is left of it in the end is killed."""
    hangup = signal.signal(signal.SIGHUP, signal.SIG_DFL)  # nohup mutes it for all below
    with interruptible():
        process = subprocess.Popen(
            words("run", *more),
            cwd=folder,
            env=environment(folder),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
    signal.signal(signal.SIGHUP, hangup)
    try:
        yield process
    finally:
        kill_all(descendants(process.pid))
        process.wait()
        process.stderr and process.stderr.close()


def kill_all(processes: list[int]) -> None:
    """Kill processes without a warning."""
    for one in processes:
        try:
            os.kill(one, signal.SIGKILL)
        except ProcessLookupError:
            continue


def descendants(pid: int) -> list[int]:
    """Return a process and all that it started, the process first."""
    found = [pid]
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            children = task.read_text().split()
        except OSError:
            continue
        for child in children:
            found += descendants(int(child))
    return found


def working_in(folder: Path) -> list[int]:
    """Return the processes that have a folder as theirs, or lie below it."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            here = (process / "cwd").readlink()
            state = (process / "stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            continue
        if state != "Z" and (here == folder or folder in here.parents):
            found.append(int(process.name))
    return found
