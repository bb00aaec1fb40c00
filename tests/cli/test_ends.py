"""Files and streams that are not there: links that lead in a circle, readers that left."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from small_worlds import TIMEOUT, call_here

CIRCLE = "its symbolic links lead in a circle. Remove one of them, or fix the path."
FIX = "Fix this and run the command again."
USE = ("annotate", "demo/my_phages.csv", "--calibration", "k.json")


@pytest.fixture
def circle(inside: Path, calibration: Path) -> Path:
    """Return a folder with two links that lead to each other, one more in a folder of tables."""
    (inside / "shards").mkdir(exist_ok=True)
    for link, target in (("a.tsv", "b.tsv"), ("b.tsv", "a.tsv"), ("shards/c.csv", "c.csv")):
        if not (inside / link).is_symlink():
            (inside / link).symlink_to(target)
    return inside


@pytest.mark.parametrize(
    ("words", "where"),
    [
        (("check", "a.tsv"), "a.tsv"),
        (("check", "demo/my_phages.csv", "--proteins", "a.tsv"), "a.tsv"),
        (("check", "demo/my_phages.csv", "--out", "a.tsv"), "a.tsv"),
        (("check", "a.tsv/mine.yaml"), "a.tsv/mine.yaml"),
        (("fit", "demo/calibration.csv", "--labels", "a.tsv", "--out", "new.json"), "a.tsv"),
        (("annotate", "a.tsv", "--calibration", "k.json", "--out", "new.tsv"), "a.tsv"),
        (
            ("annotate", "demo/my_phages.csv", "--calibration", "a.tsv", "--out", "new.tsv"),
            "a.tsv",
        ),
        ((*USE, "--out", "a.tsv"), "a.tsv"),
        ((*USE, "--out", "a.tsv/new.tsv"), "a.tsv/new.tsv"),
        ((*USE, "--out", "a.tsv/folder"), "a.tsv/folder"),
        ((*USE, "--out", "new.tsv", "--also", "b.tsv"), "b.tsv"),
        (("annotate", "shards", "--calibration", "k.json", "--out", "new"), "shards/c.csv"),
    ],
)
def test_links_that_lead_in_a_circle_are_refused(
    circle: Path, words: tuple[str, ...], where: str
) -> None:
    done = call_here(circle, *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines()[-2:] == [f"{where}: {CIRCLE}", FIX]
    assert not (circle / "new.tsv").exists()


def test_an_output_below_links_that_lead_in_a_circle_is_refused_as_it_is_written(
    circle: Path,
) -> None:
    done = call_here(circle, "simulate", "a.tsv")
    assert done.returncode == 2
    message = f"a.tsv/README.txt: cannot be written, {CIRCLE}"
    assert done.stderr.splitlines() == [message, FIX]


@pytest.mark.parametrize(
    "streams", [">&-", "2>&-", ">&- 2>&- <&-", "2>&1 | true", "2>/dev/null | true"]
)
def test_a_command_does_its_work_where_nobody_reads_what_it_says(
    inside: Path, calibration: Path, streams: str
) -> None:
    """Its exit code is put on the disk, as the shell gives that of the last one in a pipe."""
    told = inside / "told.tsv"
    told.unlink(missing_ok=True)
    script = f'{{ "$@"; echo $? > code; }} {streams}'
    words = [sys.executable, "-m", "credence", *USE, "--out", told.name]
    subprocess.run(["sh", "-c", script, "sh", *words], cwd=inside, timeout=TIMEOUT, check=False)
    assert (inside / "code").read_text() == "0\n"
    assert call_here(inside, *USE, "--out", "seen.tsv").returncode == 0
    assert told.read_bytes() == (inside / "seen.tsv").read_bytes()


def test_what_is_refused_is_so_where_nobody_reads_it(inside: Path) -> None:
    script = '{ "$@"; echo $? > code; } 2>&1 | true'
    words = [sys.executable, "-m", "credence", "check", "no.csv"]
    subprocess.run(["sh", "-c", script, "sh", *words], cwd=inside, timeout=TIMEOUT, check=False)
    assert (inside / "code").read_text() == "2\n"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="/dev/full is absent")
def test_a_full_disk_under_standard_output_is_named(inside: Path) -> None:
    words = [sys.executable, "-m", "credence", "show", "methods"]
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            words, stdout=full, stderr=subprocess.PIPE, text=True, timeout=TIMEOUT, check=False
        )
    message = "the system: the disk is full. Make room, or write to another disk."
    assert (done.returncode, done.stderr.splitlines()) == (2, [message, FIX])
