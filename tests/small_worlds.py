"""Files of a small simulated world, commands in its folder, and tables that they write."""

from __future__ import annotations

import csv
import subprocess
import sys
from contextlib import chdir, redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

from credence.app import run_command_line
from credence.simulate.law import WorldSettings
from credence.simulate.world import make_world, render_files

SMALL = WorldSettings(
    n_calibration=150, n_query=40, n_training=30, n_trove=9, n_defects=2, n_training_relatives=3
)
TIMEOUT = 1800  # seconds, only against a hang; the demo takes three minutes on an idle machine


def write_world(folder: Path, settings: WorldSettings) -> Path:
    """Write the files of a world into `demo` of a folder; return the folder."""
    for name, content in render_files(make_world(settings)).items():
        path = folder / "demo" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


def call_here(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a command in a folder without a process of its own, which takes a second to start."""
    out, err = StringIO(), StringIO()
    with chdir(folder), redirect_stdout(out), redirect_stderr(err):
        code = run_command_line([*words])
    return subprocess.CompletedProcess(words, code, out.getvalue(), err.getvalue())


def call(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "credence", *words],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )


def rows_of(path: str | Path) -> list[dict[str, str]]:
    """Return the rows of a table with tabs, each by the names of its columns."""
    with Path(path).open(newline="", encoding="utf-8") as handle:
        return list(csv.DictReader(handle, delimiter="\t"))
