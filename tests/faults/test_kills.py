"""Runs that are killed without a warning, or told to end, and go on the next time."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest

from faults.conftest import Lab
from faulty_runs import call, descendants, kill_all, started, working_in

pytestmark = pytest.mark.faults

SECONDS_TO_END = 60.0  # for orphans to notice, on a busy machine
N_KILLS = 20
SEED = 9


def wait_for(path: Path, process: subprocess.Popen[str]) -> None:
    """Wait until a file is there, or the process has ended."""
    while not path.exists() and process.poll() is None:
        time.sleep(0.05)


def left_after(folder: Path) -> list[int]:
    """Return the processes that still work in a folder after a while."""
    until = time.monotonic() + SECONDS_TO_END
    while (left := working_in(folder)) and time.monotonic() < until:
        time.sleep(0.1)
    return left


def victims(process: subprocess.Popen[str], who: int, rng: np.random.Generator) -> list[int]:
    """Return whom to kill: the controller, its Snakemake, one job or engine, or all."""
    family = descendants(process.pid)
    return [family[:1], family[1:2], [family[int(rng.integers(len(family)))]], family][who % 4]


@pytest.mark.faults
def test_a_run_killed_at_twenty_points_ends_in_the_same_bytes(lab: Lab) -> None:
    rng = np.random.default_rng(SEED)
    lab.afresh()
    n_finished = 0
    for point in range(N_KILLS):
        with started(lab.folder) as process:
            try:
                process.communicate(timeout=rng.uniform(0.02, 0.6) * lab.seconds)
            except subprocess.TimeoutExpired:
                kill_all(victims(process, point, rng))
                process.communicate()
        assert left_after(lab.folder) == [], point
        if process.returncode == 0:
            lab.require_same(point)
            lab.afresh()
            n_finished += 1
    call(lab.folder, "run")
    lab.require_same("at the end")
    assert n_finished < N_KILLS // 2


@pytest.mark.faults
@pytest.mark.parametrize(
    ("who", "number", "code"),
    [
        (0, signal.SIGTERM, 143),
        (0, signal.SIGINT, 130),
        (0, signal.SIGHUP, 129),
        (0, signal.SIGKILL, -9),
        (1, signal.SIGKILL, 2),
        (3, signal.SIGTERM, 2),
    ],
    ids=["scheduler", "Ctrl-C", "terminal closed", "kill -9", "Snakemake killed", "job ended"],
)
def test_what_ends_takes_all_it_started_with_it(
    lab: Lab, who: int, number: int, code: int
) -> None:
    lab.afresh()
    with started(lab.folder) as process:
        wait_for(lab.folder / "results/lab/logs/check.log", process)
        os.kill(descendants(process.pid)[who], number)
        stated = process.communicate()[1]
    assert process.returncode in (code, 1 if who == 3 else code), stated
    assert left_after(lab.folder) == []
    call(lab.folder, "run")
    lab.require_same(who)
