"""One run at a time in a folder: a small lock, and who holds it."""

import getpass
import os
import socket
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from filelock import FileLock, Timeout

from credence.problems import InputError, refuse

SNAKEMAKE_FOLDER = Path(".snakemake")
LOCK = SNAKEMAKE_FOLDER / "credence.lock"
HOLDER = SNAKEMAKE_FOLDER / "credence.holder"  # who holds it: words for people
NOBODY = "it does not say who"


def take_folder() -> FileLock:
    """Return the lock of this folder, held until this process ends; refuse where another has it.

    The system frees it when its process ends, however that ends.
    """
    SNAKEMAKE_FOLDER.mkdir(exist_ok=True)
    lock = FileLock(LOCK, timeout=0)
    try:
        lock.acquire()
    except Timeout:
        holder = NOBODY
        with suppress(OSError):
            holder = HOLDER.read_text(encoding="utf-8").strip() or NOBODY
        problem = f"another run works in this folder: {holder}."
        remedy = "Wait until it has ended, or stop that process."
        raise refuse(str(Path.cwd()), problem, remedy) from None
    since = datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    holder = f"process {os.getpid()} of {_user()} on {socket.gethostname()}, since {since}"
    HOLDER.write_text(f"{holder}\n", encoding="utf-8")
    return lock


def require_free() -> None:
    """Refuse where another run works in this folder."""
    take_folder().release()


def who_holds() -> str:
    """Return a sentence on another run that works in this folder; '' where none does."""
    try:
        if LOCK.is_file():
            require_free()
    except InputError as error:
        return error.text()
    return ""


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return str(os.getuid())
