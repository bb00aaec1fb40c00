"""Who holds a folder, and that it is free as soon as its holder has ended."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from credence.app.lock import HOLDER, LOCK, require_free, take_folder
from credence.problems import InputError
from refusals import refusal

WORKFLOW = Path(__file__).resolve().parents[2] / "workflow"
HOLDS = "from credence.app.lock import take_folder; lock = take_folder(); print(1); input()"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_second_run_is_told_who_holds_the_folder_until_that_one_is_killed(folder: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLDS],
        env=os.environ | {"PYTHONPATH": str(WORKFLOW)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        for _ in range(2):
            caught = refusal(require_free)
        who = rf"process {process.pid} of \S+ on {re.escape(socket.gethostname())}, since "
        assert re.fullmatch(
            rf"{re.escape(str(folder))}: another run works in this folder: {who}"
            r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC\. "
            r"Wait until it has ended, or stop that process\.",
            caught,
        )
        process.send_signal(signal.SIGKILL)
        process.wait()
        require_free()


@pytest.mark.parametrize("text", ["", "\n"])
def test_a_holder_that_is_not_known_is_said_to_be_unknown(text: str) -> None:
    with take_folder():
        HOLDER.write_text(text)
        with pytest.raises(InputError, match="in this folder: it does not say who"):
            require_free()
    require_free()
    assert LOCK.exists()
