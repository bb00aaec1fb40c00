"""Runs handed to a real SLURM of one node, beside the same runs without: make test-slurm."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from faulty_runs import ROOT, SMALL_METHODS, SMALL_SETS, copied_package, outputs

CLUSTER = ROOT / "tests" / "slurm" / "cluster.sh"
PYTHON = ROOT / ".venv-slurm" / "bin" / "python"
CONF = Path("/etc/slurm/slurm.conf")
MARK = "# A cluster of one node for the tests of credence"
FIGURES = ROOT / "build" / "slurm.tsv"
TIMEOUT = 3600  # seconds; the demo takes three minutes on an idle machine

SMALL = SMALL_SETS + SMALL_METHODS
PLAIN = """\
run: plain
calibration_set: {scores: table.csv, format: phanns-labelled}
calibration: {method: class_only, compare: [class_only], resamples: 0}
"""
BAD_TABLE = """\
,true_class,Portal,Other
p1,Portal,high,1
"""

pytestmark = pytest.mark.slurm


def call(
    *words: str | Path, cwd: Path = ROOT, package: Path = ROOT
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(word) for word in words],
        cwd=cwd,
        env=os.environ | {"PYTHONPATH": str(package / "workflow")},
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )


Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the package: jobs read it anew, and work on it goes on meanwhile."""
    above = tmp_path_factory.mktemp("slurm")
    copied_package(above)
    return above / "package"


@pytest.fixture(scope="module")
def run(package: Path) -> Run:
    """Return what calls `credence run` in a folder."""

    def start(folder: Path, *words: str | Path) -> subprocess.CompletedProcess[str]:
        return call(PYTHON, "-m", "credence", "run", *words, cwd=folder, package=package)

    return start


def new_folder(above: Path, name: str, text: str) -> Path:
    folder = above / name
    folder.mkdir()
    (folder / "config.yaml").write_text(text)
    return folder


def note(what: str, seconds: float) -> None:
    """Keep a wall time beside the others, for CONTRIBUTING.md."""
    FIGURES.parent.mkdir(exist_ok=True)
    with FIGURES.open("a") as handle:
        handle.write(f"{what}\t{seconds:.0f}\n")


@pytest.fixture(scope="module")
def cluster() -> Iterator[Path]:
    """Give the folder of a cluster of one node; what stood in its place is put back."""
    if os.getuid() != 0:
        pytest.skip("only root can bring up SLURM")
    FIGURES.unlink(missing_ok=True)
    if CONF.exists() and CONF.read_text().startswith(MARK):
        left = re.findall(r"(?m)^StateSaveLocation=(.*)/state$", CONF.read_text())
        call(CLUSTER, "down", *left)  # what a killed test left
    had_one = CONF.exists()
    if not had_one:
        CONF.parent.mkdir(exist_ok=True)
        CONF.write_text("ClusterName=earlier\nSlurmctldHost=localhost\n")
    earlier = CONF.read_text()
    # pytest's own folders may be read by their owner alone, and munge minds that.
    with tempfile.TemporaryDirectory(prefix="credence-slurm-") as name:
        done = call(CLUSTER, "up", name)
        assert done.returncode == 0, done.stderr
        yield Path(name)
        done = call(CLUSTER, "down", name)
        assert done.returncode == 0, done.stderr
    assert CONF.read_text() == earlier
    assert call("ps", "-C", "slurmctld,slurmd", "-o", "pid=").stdout == ""
    if not had_one:
        CONF.unlink()


@pytest.fixture
def quick(tmp_path: Path) -> Path:
    """Return the profile, as a user's own copy that looks at jobs more often."""
    text = (ROOT / "workflow" / "profiles" / "slurm" / "config.yaml").read_text()
    text, n = re.subn(r"(?m)^(slurm-init-seconds\S*|seconds-between\S*): 10$", r"\1: 2", text)
    assert n == 2
    folder = tmp_path / "quick"
    folder.mkdir()
    (folder / "config.yaml").write_text(text)
    return folder


@pytest.fixture(scope="module")
def small(run: Run, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """Return what a small run makes without a scheduler."""
    folder = new_folder(tmp_path_factory.mktemp("small"), "local", SMALL)
    done = run(folder)
    assert done.returncode == 0, done.stderr
    return outputs(folder)


def differing(one: dict[str, bytes], other: dict[str, bytes]) -> list[str]:
    return [name for name in sorted({*one, *other}) if one.get(name) != other.get(name)]


def test_a_cancelled_job_is_tried_again(
    cluster: Path, package: Path, quick: Path, small: dict[str, bytes], tmp_path: Path
) -> None:
    folder = new_folder(tmp_path, "run", SMALL)
    start = time.monotonic()
    going = subprocess.Popen(
        [str(PYTHON), "-m", "credence", "run", "--profile", str(quick)],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(package / "workflow")},
        stderr=subprocess.PIPE,
        text=True,
    )
    running: list[str] = []
    while not running and going.poll() is None:
        time.sleep(0.2)
        running = call("squeue", "--noheader", "--states=R", "--format=%i").stdout.split()
    call("scancel", running[0])
    _, message = going.communicate(timeout=TIMEOUT)
    note("a small run, its first job cancelled", time.monotonic() - start)
    assert going.returncode == 0, message
    assert differing(small, outputs(folder)) == []


def test_what_a_user_can_fix_is_shown_as_without_a_scheduler(
    cluster: Path, run: Run, quick: Path, tmp_path: Path
) -> None:
    message = {}
    for name, words in (("local", ()), ("slurm", ("--profile", quick))):
        folder = new_folder(tmp_path, name, PLAIN)
        (folder / "table.csv").write_text(BAD_TABLE)
        done = run(folder, *words)
        assert done.returncode == 2, done.stderr
        message[name] = done.stderr
    assert "'high' is not a number" in message["slurm"]
    assert message["slurm"] == message["local"]


def test_a_controller_that_is_down_is_named_at_once(
    cluster: Path, run: Run, quick: Path, tmp_path: Path
) -> None:
    folder = new_folder(tmp_path, "run", SMALL)
    assert call(CLUSTER, "pause", cluster).returncode == 0
    try:
        done = run(folder, "--profile", quick)
    finally:
        resumed = call(CLUSTER, "resume", cluster)
    assert resumed.returncode == 0, resumed.stderr
    assert done.returncode == 2
    assert done.stderr == (
        f"{quick}/config.yaml: it hands jobs to SLURM, and SLURM's controller does not answer "
        "(scontrol ping). Wait, or ask those who run the cluster; what was made is kept, and "
        "a run goes on.\nFix this and run the command again.\n"
    )
    assert sorted(path.name for path in folder.iterdir()) == ["config.yaml"]


def test_a_file_of_a_real_cluster_is_left_alone(tmp_path: Path) -> None:
    if os.getuid() != 0:
        pytest.skip("only root can bring up SLURM")
    real = tmp_path / "slurm.conf"
    real.write_text("ClusterName=real\nSlurmctldHost=head.example.org\n")
    done = subprocess.run(
        [str(CLUSTER), "up", str(tmp_path / "state")],
        env=os.environ | {"CREDENCE_SLURM_CONF": str(real)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr == (
        f"{real} names a controller on another machine: this is a real cluster. "
        "Run these tests on another machine.\n"
    )
    assert real.read_text() == "ClusterName=real\nSlurmctldHost=head.example.org\n"


def test_the_demo_is_the_same_bytes_through_slurm(cluster: Path, run: Run, tmp_path: Path) -> None:
    text = (ROOT / "config.yaml").read_text()
    made = {}
    for profile in ("local", "slurm"):
        folder = new_folder(tmp_path, profile, text)
        start = time.monotonic()
        done = run(folder, "--profile", profile)
        note(f"the demo, --profile {profile}", time.monotonic() - start)
        assert done.returncode == 0, done.stderr
        made[profile] = outputs(folder)
    assert "reports/demo/index.html" in made["slurm"]
    assert differing(made["local"], made["slurm"]) == []
    start = time.monotonic()
    again = run(tmp_path / "slurm", "--profile", "slurm")
    note("the demo again, nothing to be done", time.monotonic() - start)
    assert again.returncode == 0, again.stderr
    assert "Nothing to be done" in again.stderr
