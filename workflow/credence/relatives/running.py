"""Outside programs: run to the end, or ended with all that they started.

A program writes into a folder of its own, which is removed whatever happens, so
that nothing half-written is left. What went wrong is shown with the command
that fixes it.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from credence.problems import InputError, refuse

PREFIX = "credence-"
LAST_LINES = 5  # of what a failed program printed
FULL = 64 * 1024 * 1024  # bytes left below which a failure is put down to the disk
WORDS_OF_FULL_DISK = ("No space left on device", "Disk quota exceeded")
SECONDS_TO_END = 10.0
PACKAGES = {"mmseqs": "mmseqs2"}  # of bioconda, where they are not called like the program
SHELL, ILLEGAL = 128, "Illegal instruction"


@contextlib.contextmanager
def scratch_folder() -> Iterator[Path]:
    """Yield an empty folder that is gone afterwards; a full disk is named as such."""
    folder = Path(tempfile.gettempdir())
    try:
        folder = Path(tempfile.mkdtemp(prefix=PREFIX))
        yield folder
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        raise _full_disk(folder) from None
    finally:
        if folder.name.startswith(PREFIX):
            shutil.rmtree(folder, ignore_errors=True)


def run_program(command: Sequence[str], folder: Path, timeout: float | None, remedy: str) -> str:
    """Return what a program printed; refuse with a remedy if it failed."""
    name = Path(command[0]).name
    stated = folder / "said.txt"
    try:
        with stated.open("wb") as handle:
            process = subprocess.Popen(
                list(command),
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=handle,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
    except OSError as error:
        reason = os.strerror(error.errno or 0)
        raise refuse(name, f"the program does not start: {reason}.", remedy) from None
    try:
        code = process.wait(timeout)
    except subprocess.TimeoutExpired:
        _end(process)
        raise refuse(
            name,
            f"the program was ended after {timeout:g} seconds.",
            "Allow more with --timeout, or give it more --threads.",
        ) from None
    except BaseException:
        _end(process)
        raise
    text = stated.read_text(encoding="utf-8", errors="replace")
    if code != 0:
        raise _failure(name, code, text, folder, remedy)
    return text


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a program with its children: engines start programs of their own."""
    for one in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, one)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(SECONDS_TO_END if one is signal.SIGTERM else None)
    process.wait()


def _full_disk(folder: Path, name: str = "scratch files") -> InputError:
    where = folder.parent if folder.name.startswith(PREFIX) else folder
    return refuse(
        name,
        f"the disk of {str(where)!r} is full.",
        "Make room there, or name another folder: export TMPDIR=/path/to/folder",
    )


def _failure(name: str, code: int, text: str, folder: Path, remedy: str) -> InputError:
    is_full = any(words in text for words in WORDS_OF_FULL_DISK)
    if is_full or shutil.disk_usage(folder).free < FULL:
        return _full_disk(folder, name)
    # A script whose program was ended by a signal ends with 128 and its number.
    if code in (-signal.SIGILL, SHELL + signal.SIGILL) or ILLEGAL in text:
        return refuse(
            name,
            "the program needs instructions that this processor lacks (AVX2, as a rule).",
            f"Install a build for it: conda install -c bioconda {PACKAGES.get(name, name)}, or "
            "choose --engine exact.",
        )
    if code < 0:
        what = f"the program was ended by signal {signal.Signals(-code).name}."
        return refuse(
            name, what, "Run the command again; if memory ran out, run it with --threads 1."
        )
    last = " | ".join(line.strip() for line in text.splitlines()[-LAST_LINES:] if line.strip())
    return refuse(
        name, f"the program failed with code {code}: {last or 'it stated nothing'}.", remedy
    )
