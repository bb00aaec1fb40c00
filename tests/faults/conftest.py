"""A small run that ended well, and the same state again for every test."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from faulty_runs import KEPT, SMALLEST, WORLD, call, copied_package, files_of

PARTS = ("results", "reports")


@dataclass(frozen=True)
class Lab:
    """A folder in which a run ended.

    Parameters
    ----------
    folder : Path
        The folder.
    made : dict of str to bytes
        All that the run made.
    seconds : float
        How long it took.
    """

    folder: Path
    made: dict[str, bytes]
    seconds: float

    def again(self) -> None:
        """Put the folder back to where the run had ended."""
        for part in (*KEPT, "mine"):
            shutil.rmtree(self.folder / part, ignore_errors=True)
            shutil.copytree(self.folder.parent / "kept" / part, self.folder / part)
        (self.folder / "config.yaml").write_text(SMALLEST)

    def afresh(self) -> None:
        """Put the folder back to before the run."""
        self.again()
        for part in KEPT:
            shutil.rmtree(self.folder / part)

    def require_same(self, what: object = "") -> None:
        """Require that what lies there now is what the undisturbed run made."""
        found = files_of(self.folder, *PARTS)
        assert set(found) == set(self.made), what
        assert [name for name in found if found[name] != self.made[name]] == [], what


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    above = tmp_path_factory.mktemp("faults")
    copied_package(above)
    folder = above / "run"
    folder.mkdir()
    call(folder, "simulate", "mine", "--settings", WORLD)
    (folder / "config.yaml").write_text(SMALLEST)
    start = time.monotonic()
    call(folder, "run")
    seconds = time.monotonic() - start
    for part in (*KEPT, "mine"):
        shutil.copytree(folder / part, above / "kept" / part)
    return Lab(folder=folder, made=files_of(folder, *PARTS), seconds=seconds)


@pytest.fixture
def lab(finished: Lab) -> Iterator[Lab]:
    finished.again()
    yield finished
    finished.again()
