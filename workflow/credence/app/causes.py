"""What from outside most likely ended a job whose log does not say, and the remedy."""

from __future__ import annotations

import errno
import re
import resource
import shutil
import signal
import tempfile
from collections.abc import Sequence
from pathlib import Path

from credence.app.doctor import GIBIBYTE, memory_of
from credence.app.ending import SHELL
from credence.problems import DISK_ERRORS
from credence.relatives.programs import FULL, WORDS_OF_FULL_DISK

WORDS_OF_FULL_MEMORY = ("Cannot allocate memory", "Memory allocation", "bad_alloc", "oom_kill")
TRIAL_BYTES = 1 << 20
FULL_DISK = DISK_ERRORS[errno.ENOSPC]
MORE = "Give it more in a copy of the profile (set-resources: docs/cluster.md)."
AGAIN = "Run the command again: what was finished is kept."
LESS = "Give fewer --cores, close other programs, or take a machine with more memory."
# How SLURM says that a job ended, and how a signal does: what is wrong, and the remedy.
STATES = {
    "OUT_OF_MEMORY": f"The job took more memory than it had asked for. {MORE}",
    "TIMEOUT": f"The job took more time than it had asked for. {MORE}",
    "NODE_FAIL": f"Its node went away. {AGAIN}",
    "PREEMPTED": f"Its node was given to another job. {AGAIN}",
    "CANCELLED": f"Somebody, or a limit of the cluster, cancelled the job. {AGAIN}",
}
SIGNALS = {
    **dict.fromkeys(
        (signal.SIGTERM, signal.SIGINT, signal.SIGHUP),
        f"Somebody, or a limit of time, asked it to end. {AGAIN}",
    ),
    signal.SIGXCPU: "Its time of computing is limited. Raise the limit: ulimit -t unlimited",
    signal.SIGBUS: "A file could not be read or written to its end. Make room, check the disk.",
    signal.SIGILL: "This processor lacks instructions of a package. Run: credence doctor",
}
CRASHES = (signal.SIGSEGV, signal.SIGABRT)


def likely_causes(
    lines: Sequence[str], code: int | None = None, state: str = "", n_killed: int = 0
) -> list[str]:
    """Return the likeliest causes with their remedies.

    What is known: what it wrote, its exit code where there is one, how a scheduler
    says that it ended, and how many processes this system has ended for memory.
    """
    found = [STATES[state]] if state in STATES else []
    number = (code or 0) - SHELL
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if number == signal.SIGKILL:
        what = "as most systems do when memory runs out"
        if n_killed:
            what = (
                f"for memory: meanwhile this system ended {n_killed} processes that took too much"
            )
        found.append(f"It was killed (SIGKILL), {what}; now {_free_memory()}. {LESS} {AGAIN}")
    elif number in SIGNALS:
        found.append(
            f"It ended by {signal.Signals(number).name}. {SIGNALS[signal.Signals(number)]}"
        )
    elif _has(lines, WORDS_OF_FULL_MEMORY) or (
        number in CRASHES and limit != resource.RLIM_INFINITY
    ):
        found.append(f"Memory ran out; now {_free_memory()}. {LESS}")
        if limit != resource.RLIM_INFINITY:
            stated = f"A process here may take {limit / GIBIBYTE:.1f} GiB."
            found.append(f"{stated} Raise the limit: ulimit -v unlimited")
    is_full = _has(lines, (*WORDS_OF_FULL_DISK, FULL_DISK[0]))
    if is_full or not lines:
        full = [text for text in map(_of_disk, (Path.cwd(), Path(tempfile.gettempdir()))) if text]
        found += full or ([f"Meanwhile {FULL_DISK[0]}. {FULL_DISK[1]}"] if is_full else [])
    return found


def _has(lines: Sequence[str], words: Sequence[str]) -> bool:
    return any(word in line for line in lines for word in words)


def _free_memory() -> str:
    free = memory_of()
    return (
        "nobody knows how much is free" if free is None else f"{free / GIBIBYTE:.1f} GiB are free"
    )


def _of_disk(folder: Path) -> str:
    """Return why a folder takes no file or will soon take none, with the remedy."""
    try:
        with tempfile.TemporaryFile(dir=folder) as handle:
            handle.write(bytes(TRIAL_BYTES))
        free = shutil.disk_usage(folder).free
    except OSError as error:
        if error.errno not in DISK_ERRORS:
            return ""
        what, remedy = DISK_ERRORS[error.errno]
        return f"{folder}: {what}. {remedy}"
    if free >= FULL:
        return ""
    return f"{folder}: {FULL_DISK[0]} but for {free // TRIAL_BYTES} MiB. {FULL_DISK[1]}"


def killed_for_memory() -> int:
    """Return how many processes this system has ended for memory since it started."""
    try:
        return int(
            re.findall(r"^oom_kill (\d+)", Path("/proc/vmstat").read_text("ascii"), re.M)[0]
        )
    except (OSError, IndexError):
        return 0
