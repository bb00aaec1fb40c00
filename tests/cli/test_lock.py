"""Who holds a folder, and how it is freed."""

from __future__ import annotations

import fcntl
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from credence.app import lock as locking
from credence.app import run_command_line
from credence.app.lock import OURS, SNAKEMAKES, Holder, Lock, one_run, unlock, who_holds
from credence.problems import InputError

WORKFLOW = Path(__file__).resolve().parents[2] / "workflow"
ENVIRONMENT = os.environ | {"PYTHONPATH": str(WORKFLOW)}
HERE = Holder(4711, locking.socket.gethostname(), "ada", "2026-11-22 01:10:00 UTC")
FAR = Holder(4711, "node 7", "ada", "2026-11-22 01:10:00 UTC")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    SNAKEMAKES.mkdir(parents=True)
    return tmp_path


def left_by(holder: Holder | None) -> None:
    """Write what a run that was killed leaves."""
    (SNAKEMAKES / "0.input.lock").write_text("a\n")
    OURS.write_text("" if holder is None else json.dumps(vars(holder)))


def refusal(call: object) -> str:
    with pytest.raises(InputError) as caught:
        call()  # type: ignore[operator]
    return caught.value.text()


def test_a_second_run_says_who_holds_the_folder_and_how_to_stop_it(folder: Path) -> None:
    with one_run() as lock:
        lock.hold(4711)
        for call in (lambda: one_run().__enter__(), lambda: unlock(None)):
            found = refusal(call)
            assert re.sub(r"since .*UTC", "since then", found) == (
                f"{folder}: another run works in this folder: process 4711 of {locking._user()} "
                f"on {HERE.host}, since then. Wait until it has ended, or stop it: kill 4711"
            )
            assert re.search(r"since \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC\.", found)
        assert who_holds() == found
    assert unlock(None).startswith("This folder is free again; it was held by process 4711")


def test_a_run_that_lives_is_seen_by_another_process(folder: Path) -> None:
    with OURS.open("a+") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        Lock(handle).hold(os.getpid())
        words = [sys.executable, "-m", "credence", "unlock"]
        done = subprocess.run(words, capture_output=True, text=True, check=False, env=ENVIRONMENT)
        assert done.returncode == 2
        assert f"another run works in this folder: process {os.getpid()} of" in done.stderr
    done = subprocess.run(words, capture_output=True, text=True, check=False, env=ENVIRONMENT)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(
        f"This folder is free again; it was held by process {os.getpid()}"
    )


def test_a_run_of_this_machine_that_was_killed_is_cleared_by_the_next() -> None:
    left_by(HERE)
    with one_run():
        assert list(SNAKEMAKES.iterdir()) == []


def test_a_run_of_another_machine_is_never_taken_for_dead_unless_that_is_said(
    folder: Path,
) -> None:
    left_by(FAR)
    message = (
        f"{folder}: a run on another machine works in this folder, or was killed in it: "
        "process 4711 of ada on node 7, since 2026-11-22 01:10:00 UTC. Wait until it has ended, "
        "or stop it: ssh 'node 7' kill 4711; if it is dead: credence unlock --dead 'node 7'"
    )
    assert refusal(lambda: one_run().__enter__()) == message
    assert refusal(lambda: unlock(None)) == refusal(lambda: unlock("node 8")) == message
    assert who_holds() == message
    assert len(list(SNAKEMAKES.iterdir())) == 1
    assert unlock("node 7") == f"This folder is free again; it was held by {FAR}."
    assert list(SNAKEMAKES.iterdir()) == []
    with one_run():
        pass


def test_locks_that_nobody_signed_are_left_to_the_user(folder: Path) -> None:
    left_by(None)
    assert refusal(lambda: one_run().__enter__()) == (
        f"{folder}: Snakemake works in this folder, or was killed in it. "
        "Wait until it has ended; if none runs: credence unlock"
    )
    assert unlock(None) == "This folder is free again."


@pytest.mark.skipif(not Path("/proc/self/cwd").exists(), reason="processes are seen in /proc only")
def test_a_snakemake_that_told_nobody_is_not_unlocked(folder: Path) -> None:
    left_by(None)
    code = "import time; print('up', flush=True); time.sleep(60)"
    words = [sys.executable, "-c", code, "snakemake"]
    with subprocess.Popen(words, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        try:
            process.stdout.readline()  # until then it may still bear this process's name
            found = refusal(lambda: unlock(None))
        finally:
            process.send_signal(signal.SIGKILL)
    assert found == (
        f"{folder}: Snakemake works in this folder: process {process.pid}. "
        f"Wait until it has ended, or stop it: kill {process.pid}"
    )


def test_a_folder_that_nothing_held_is_told_so(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command_line(["unlock", "--directory", str(folder)]) == 0
    assert capsys.readouterr().out == "Nothing held this folder.\n"
    assert run_command_line(["unlock", "--directory", "absent"]) == 2
    assert "absent: there is no such folder. Name the one of the run." in capsys.readouterr().err


@pytest.mark.parametrize(
    "text", ["", "running\n", "{}", "[1]", '{"pid": "x"}', '{"pid": 1}', "nul"]
)
def test_a_lock_that_says_nothing_names_nobody(text: str) -> None:
    assert locking.holder_in(text) is None


def test_a_disk_without_locks_goes_by_what_stands_in_the_file(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def no_locks(handle: object, how: int) -> None:
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(locking.fcntl, "flock", no_locks)
    left_by(FAR)
    assert "a run on another machine" in refusal(lambda: one_run().__enter__())
