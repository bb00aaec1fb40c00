"""Snakemake is started unless nothing at all changed since a run ended well."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from credence.app import configuration, unchanged
from credence.app.lock import OURS
from credence.app.run import run_workflow
from credence.problems import InputError
from credence.tables.digests import write_seals
from small_worlds import SMALL, write_world

CONFIG = "config.yaml"
TEXT = """\
run: lab
calibration_set: {scores: demo/calibration.csv, format: phanns-labelled}
use_sets:
  - {name: use, scores: shards, format: phanns}
"""
RESULT, PAGE, LOG = "results/lab/check.json", "reports/lab/index.html", "results/lab/logs/a.log"


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = write_world(tmp_path_factory.mktemp("unchanged"), SMALL)
    (folder / CONFIG).write_text(TEXT)
    (folder / "shards").mkdir()
    shutil.copy(folder / "demo" / "use.csv", folder / "shards" / "a.csv")
    return folder


@pytest.fixture
def ended(lab: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder in which a run of no steps ended, long after its files were written."""
    folder = tmp_path / "lab"
    shutil.copytree(lab, folder)
    monkeypatch.chdir(folder)
    monkeypatch.setattr(unchanged, "TICK", 0)
    settings = configuration.load(CONFIG)
    before = unchanged.read_by(CONFIG, settings)
    for path in (".snakemake/x", RESULT, PAGE, LOG):
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text("{}")
    write_seals([RESULT], {})
    time.sleep(0.02)
    unchanged.write_down(CONFIG, settings, before)
    assert unchanged.run_that_ended(CONFIG) == "lab"
    return folder


def edited(path: str) -> None:
    dates = Path(path).stat()
    text = Path(path).read_bytes()
    Path(path).write_bytes(text[:-1] + b"?")  # as long as it was, and with the same date
    os.utime(path, ns=(dates.st_atime_ns, dates.st_mtime_ns))


CHANGES: dict[str, Callable[[], object]] = {
    "a table": lambda: edited("demo/calibration.csv"),
    "a table of the folder": lambda: edited("shards/a.csv"),
    "one more table in the folder": lambda: shutil.copy("shards/a.csv", "shards/b.csv"),
    "the folder is gone": lambda: shutil.rmtree("shards"),
    "the configuration": lambda: edited(CONFIG),
    "a result": lambda: edited(RESULT),
    "a result is touched": lambda: os.utime(RESULT),
    "a result is gone": lambda: Path(RESULT).unlink(),
    "the page is gone": lambda: Path(PAGE).unlink(),
    "a step was killed": lambda: Path(".snakemake/incomplete/eA").mkdir(parents=True),
    "what was written down is damaged": lambda: unchanged.DONE.write_text("{"),
    "what was written down is another thing": lambda: unchanged.DONE.write_text('{"a": 1}'),
}


@pytest.mark.parametrize("what", CHANGES)
def test_what_changed_is_left_to_snakemake(ended: Path, what: str) -> None:
    CHANGES[what]()
    assert unchanged.run_that_ended(CONFIG) is None


def test_another_configuration_package_or_python_is_left_to_snakemake(
    ended: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert unchanged.run_that_ended("other.yaml") is None
    Path(LOG).unlink()  # which no step reads
    assert unchanged.run_that_ended(CONFIG) == "lab"
    monkeypatch.setattr(unchanged, "package_digest", lambda folder: "another")
    assert unchanged.run_that_ended(CONFIG) is None


def test_a_file_as_young_as_the_record_is_not_believed(
    ended: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unchanged, "TICK", 2_000_000_000)
    assert unchanged.run_that_ended(CONFIG) is None


@pytest.mark.parametrize("path", ["demo/calibration.csv", RESULT])
def test_a_run_during_which_a_file_changed_is_not_written_down(ended: Path, path: str) -> None:
    settings = configuration.load(CONFIG)
    before = unchanged.read_by(CONFIG, settings)
    unchanged.DONE.unlink()
    edited(path)
    os.utime(path)
    unchanged.write_down(CONFIG, settings, before)
    assert not unchanged.DONE.exists()


def test_a_run_with_nothing_to_do_starts_no_snakemake(
    ended: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    started: list[object] = []

    def refuse(words: object, verbose: bool) -> None:
        started.append(words)
        raise InputError([])

    monkeypatch.setattr("credence.app.run._stream", refuse)
    monkeypatch.setattr("credence.app.check.require_right", lambda settings: None)
    here = Path()
    assert run_workflow(CONFIG, None, here) == 0
    message = capsys.readouterr().err
    assert message.startswith("Nothing to be done")
    assert message.endswith("The page is reports/lab/index.html\n")
    assert not started
    assert OURS.read_text() == ""
    for given in ({"extra": ["--forceall"]}, {"verbose": True}, {"is_report": True}):
        with pytest.raises(InputError):
            run_workflow(CONFIG, None, here, **given)  # type: ignore[arg-type]
    monkeypatch.setenv("SNAKEMAKE_PROFILE", "mine")
    with pytest.raises(InputError):
        run_workflow(CONFIG, None, here)
    assert len(started) == 4
