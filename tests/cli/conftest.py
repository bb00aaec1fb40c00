"""A small world to call commands in; a module whose world is another one makes its own."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from small_worlds import SMALL, call_here, write_world


@pytest.fixture(scope="session")
def learnt(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a small world, its calibration by the kernel and its confidences.

    It is made once and copied from.
    """
    folder = write_world(tmp_path_factory.mktemp("learnt"), SMALL)
    fit = ["fit", "demo/calibration.csv", "--format", "phanns-labelled", "--method", "kernel"]
    annotate = [
        "annotate",
        "--shift",
        "none",
        "demo/my_phages.csv",
        "--format",
        "phanns",
        "--calibration",
        "k.json",
    ]
    for words in ([*fit, "--out", "k.json"], [*annotate, "--out", "conf.tsv"]):
        done = call_here(folder, *words)
        assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the files of a small world, for one module."""
    return write_world(tmp_path_factory.mktemp("world"), SMALL)


@pytest.fixture
def inside(world: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of the world, as the place to work in."""
    monkeypatch.chdir(world)
    return world


@pytest.fixture(scope="module")
def calibration(world: Path, learnt: Path) -> Path:
    """Return the calibration of the small world by the kernel, which stands in its folder."""
    return Path(shutil.copy(learnt / "k.json", world))


@pytest.fixture(scope="module")
def confidences(world: Path, calibration: Path, learnt: Path) -> Path:
    """Return the confidences of the query set by that calibration, which stand beside it."""
    return Path(shutil.copy(learnt / "conf.tsv", world))
