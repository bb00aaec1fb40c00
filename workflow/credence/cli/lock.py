"""One run at a time in a folder; what a killed run left behind is cleared."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from credence.problems import refuse

FOLDER = Path(".snakemake")
OURS = FOLDER / "credence.lock"
RUNNING = "running\n"
SNAKEMAKES = FOLDER / "locks"


class Lock:
    """The lock of this folder while it is held.

    Parameters
    ----------
    handle : file
        Of our own lock.
    """

    def __init__(self, handle: TextIO) -> None:
        self._handle = handle
        self.descriptor = handle.fileno()

    def write(self, text: str) -> None:
        """Say whether a run is on.

        Parameters
        ----------
        text : str
            `RUNNING`, or nothing once Snakemake has ended by itself.
        """
        self._handle.seek(0)
        self._handle.truncate()
        self._handle.write(text)
        self._handle.flush()


@contextmanager
def one_run() -> Iterator[Lock]:
    """Give the lock of this folder, whose descriptor Snakemake is to hold too.

    Snakemake's own locks outlive a Snakemake that was killed, and it cannot
    tell. Ours is free as soon as neither `credence run` nor the Snakemake that
    it started lives, since both hold it; if it then still says that a run is
    on, that Snakemake was killed, and its locks mean nothing.
    """
    FOLDER.mkdir(exist_ok=True)
    with OURS.open("a+", encoding="utf-8") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise refuse(
                str(Path.cwd()),
                "another credence run works in this folder.",
                "Wait until it has ended, or stop it.",
            ) from None
        handle.seek(0)
        locks = sorted(SNAKEMAKES.glob("*")) if SNAKEMAKES.is_dir() else []
        if locks and handle.read() != RUNNING:
            raise refuse(
                str(Path.cwd()),
                "Snakemake works in this folder, or was killed in it.",
                "Wait until it has ended; if none runs: rm -r .snakemake/locks.",
            )
        for path in locks:
            path.unlink()
        lock = Lock(handle)
        lock.write(RUNNING)
        yield lock
