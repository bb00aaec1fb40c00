"""A small world to call commands in; a module whose world is another one makes its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from small_worlds import SMALL, call_here, write_world


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the files of a small world, and calibrations of it."""
    return write_world(tmp_path_factory.mktemp("world"), SMALL)


@pytest.fixture
def inside(world: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of the world, as the place to work in."""
    monkeypatch.chdir(world)
    return world


@pytest.fixture(scope="module")
def calibration(world: Path) -> Path:
    """Return the calibration of the small world by the kernel."""
    words = ["--format", "phanns-labelled", "--method", "kernel", "--out", "k.json"]
    done = call_here(world, "fit", "demo/calibration.csv", *words)
    assert done.returncode == 0, done.stderr
    return world / "k.json"
