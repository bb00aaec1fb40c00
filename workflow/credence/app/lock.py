"""One run at a time in a folder; ``credence unlock`` clears what a killed run left."""

import fcntl
import getpass
import json
import os
import shlex
import socket
from collections.abc import Iterator
from contextlib import chdir, contextmanager, nullcontext, suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TextIO

import click

from credence.app.options import default_option
from credence.problems import InputError, refuse
from credence.records import parse_json

FOLDER = Path(".snakemake")
OURS = FOLDER / "credence.lock"
SNAKEMAKES = FOLDER / "locks"
HELD = "CREDENCE_LOCK"  # set for a Snakemake that holds the lock of `credence run` already
UNLOCK = "credence unlock"


@dataclass(frozen=True)
class Holder:
    """Who works in a folder."""

    pid: int  # Process of the Snakemake at work
    host: str  # Where, and whose it is
    user: str
    since: str  # When it began

    def __str__(self) -> str:
        return f"process {self.pid} of {self.user} on {self.host}, since {self.since}"

    @property
    def is_here(self) -> bool:
        """Whether it runs, or ran, on this machine."""
        return self.host == socket.gethostname()

    @property
    def stop(self) -> str:
        """The command that ends it and all that it started."""
        kill = f"kill {self.pid}"
        return kill if self.is_here else f"ssh {shlex.quote(self.host)} {kill}"


@dataclass(frozen=True)
class Lock:
    """The lock of this folder while it is held."""

    handle: TextIO

    def hold(self, pid: int) -> None:
        """Say who is at work."""
        since = datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
        holder = Holder(pid, socket.gethostname(), _user(), since)
        self.clear(json.dumps(asdict(holder)) + "\n")

    def clear(self, text: str = "") -> None:
        """Say that nobody is: Snakemake has ended by itself."""
        self.handle.seek(0)
        self.handle.truncate()
        self.handle.write(text)
        self.handle.flush()


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return str(os.getuid())


def holder_in(text: str) -> Holder | None:
    """Return who holds a lock; None where that is nobody, or is not known."""
    try:
        record = parse_json(text)
        fields = (str(record[name]) for name in ("host", "user", "since"))
        return Holder(int(record["pid"]), *fields)
    except (ValueError, KeyError, TypeError, OverflowError):
        return None


def _is_taken(handle: TextIO) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:  # of a file system without locks the file's words have to do
        return isinstance(error, BlockingIOError)
    return False


def _last_holder(handle: TextIO, dead_host: str | None = None) -> Holder | None:
    """Return who held a lock that is free now; refuse one that is held, or may be elsewhere."""
    is_taken = _is_taken(handle)
    handle.seek(0)
    holder = holder_in(handle.read())
    if is_taken:
        who = "" if holder is None else f": {holder}"
        stop = "stop it" if holder is None else f"stop it: {holder.stop}"
        what, remedy = f"another run works in this folder{who}.", stop
    elif holder is not None and not holder.is_here and holder.host != dead_host:
        what = f"a run on another machine works in this folder, or was killed in it: {holder}."
        remedy = (
            f"stop it: {holder.stop}; if it is dead: {UNLOCK} --dead {shlex.quote(holder.host)}"
        )
    else:
        return holder
    raise refuse(str(Path.cwd()), what, f"Wait until it has ended, or {remedy}")


@contextmanager
def one_run() -> Iterator[Lock]:
    """Give the lock of this folder, which Snakemake is to hold too (decision 0902).

    Where it is free and still names a holder of this machine, that one was killed, and the
    locks that its Snakemake left mean nothing.
    """
    FOLDER.mkdir(exist_ok=True)
    with OURS.open("a+", encoding="utf-8") as handle:
        holder = _last_holder(handle)
        locks = _snakemakes_locks()
        if locks and holder is None:
            what = "Snakemake works in this folder, or was killed in it."
            remedy = f"Wait until it has ended; if none runs: {UNLOCK}"
            raise refuse(str(Path.cwd()), what, remedy)
        for path in locks:
            path.unlink()
        lock = Lock(handle)
        lock.hold(os.getpid())
        yield lock


def _snakemakes_locks() -> list[Path]:
    return sorted(SNAKEMAKES.glob("*")) if SNAKEMAKES.is_dir() else []


def unlock(dead_host: str | None) -> str:
    """Remove what a killed run left, and return a sentence about it."""
    locks = _snakemakes_locks()
    with OURS.open("a+", encoding="utf-8") if OURS.is_file() else nullcontext() as handle:
        holder = None if handle is None else _last_holder(handle, dead_host)
        if holder is None and locks:
            here = Path.cwd()
            for process in Path("/proc").glob("[0-9]*"):
                with suppress(OSError):
                    words = (process / "cmdline").read_bytes().split(b"\0")
                    names = {Path(os.fsdecode(word)).name for word in words}
                    if "snakemake" in names and (process / "cwd").readlink() == here:
                        what = f"Snakemake works in this folder: process {process.name}."
                        remedy = f"Wait until it has ended, or stop it: kill {process.name}"
                        raise refuse(str(here), what, remedy)
        for path in locks:
            path.unlink(missing_ok=True)
        if handle is not None:
            Lock(handle).clear()
    if not locks and holder is None:
        return "Nothing held this folder."
    return "This folder is free again" + (f"; it was held by {holder}." if holder else ".")


_mine: list[Lock] = []  # of a Snakemake that was started by itself; held until it ends


def take_folder() -> None:
    """Hold this folder's lock until this process ends: Snakemake, started by itself."""
    if HELD in os.environ or not FOLDER.is_dir():
        return
    handle = OURS.open("a+", encoding="utf-8")
    if _is_taken(handle):
        handle.close()
    else:
        _mine.append(Lock(handle))
        _mine[0].hold(os.getpid())


def leave_folder() -> None:
    """Say that the Snakemake that held this folder's lock has ended."""
    for lock in _mine:
        lock.clear()


def who_holds() -> str | None:
    """Return a sentence on who holds this folder, None where nobody else does."""
    if HELD in os.environ or not OURS.is_file():
        return None
    try:
        with OURS.open("a+", encoding="utf-8") as handle:
            _last_holder(handle)
    except InputError as error:
        return error.text()
    except OSError:
        pass
    return None


@click.command(epilog="Example: credence unlock")
@default_option("--directory", ".", "Folder in which the run was started.")
@click.option("--dead", "dead_host", help="Machine whose run is dead, as you have made sure.")
def command(directory: str, dead_host: str | None) -> None:
    """Free a folder from a run that was killed in it.

    It refuses while a run works there, and says who that is. `credence run`
    does the same by itself where it can know that the run is dead: only of
    runs of other machines, on a shared disk, it cannot.
    """
    if not Path(directory).is_dir():
        raise refuse(directory, "there is no such folder.", "Name the one of the run.")
    with chdir(directory):
        click.echo(unlock(dead_host))
