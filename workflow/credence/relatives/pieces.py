"""Pieces of a search, kept in a folder as each is done: by one command, again, or by jobs.

What a piece holds depends on the proteins alone; so whoever makes them, and in whichever
order, all together they are the same. A job makes its share of the pieces of one step and
stops there; a command without a share reads what it finds and makes the rest.
"""

import os
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credence.predictions import Integers
from credence.problems import refuse

Arrays = tuple[NDArray[Any], ...]
STEPS, AUDIT = ("search", "again"), "audit"


class UnfinishedError(Exception):
    """Raised where a job has made its share, and others make the rest."""


@dataclass(frozen=True, kw_only=True)
class Pieces:
    """Where pieces are kept, and which of them a job makes."""

    folder: Path
    step: str | None = None  # None: all pieces of all steps
    number: int = 0  # From 1; 0 makes what all pieces of the step need, and none of them
    n_shares: int = 1

    def before(self, step: str, name: str, make: Callable[[], Arrays]) -> Arrays:
        """Return what all pieces of a step need; several jobs would make it at a time."""
        if self.step == step and self.number and not self._path(name).is_file():
            place = str(self.folder.parent)
            problem = f"what comes before share {self.number} is not in {place!r}."
            remedy = f"Run it with --share {step}:0/{self.n_shares} first."
            raise refuse("--share", problem, remedy)
        return self.kept(name, make)

    def divided(
        self, step: str, pieces: Mapping[str, Callable[[], Arrays]]
    ) -> list[Callable[[], tuple[Integers, ...]]]:
        """Return what reads each piece; stop after this job's share, if it is one of the step."""
        if self.step == step:
            first = self.number - 1 if self.number else len(pieces)
            for name, make in list(pieces.items())[first :: self.n_shares]:
                self.kept(name, make)
            raise UnfinishedError
        return [partial(self._integers, name, make) for name, make in pieces.items()]

    def kept(self, name: str, make: Callable[[], Arrays]) -> Arrays:
        """Return arrays that were kept, or make and keep them."""
        path = self._path(name)
        if not path.is_file():
            made = make()
            descriptor, new = tempfile.mkstemp(dir=self.folder)
            with os.fdopen(descriptor, "wb") as handle:
                np.savez(handle, *made)
            Path(new).replace(path)
        with np.load(path) as archive:
            return tuple(archive[f"arr_{place}"] for place in range(len(archive.files)))

    def _integers(self, name: str, make: Callable[[], Arrays]) -> tuple[Integers, ...]:
        return tuple(part.astype(np.int64) for part in self.kept(name, make))

    def _path(self, name: str) -> Path:
        return self.folder / f"{name}.npz"
