"""What from outside most likely ended a job whose log does not say, and the remedy."""

import resource
import tempfile
from collections.abc import Sequence
from pathlib import Path

from credence.app.doctor import GIBIBYTE, look_at_folder, memory_of
from credence.relatives.programs import WORDS_OF_FULL_DISK

FULL_DISK = (*WORDS_OF_FULL_DISK, "the disk is full", "your quota of disk space is used up")
FULL_MEMORY = ("Cannot allocate memory", "Memory allocation", "bad_alloc", "MemoryError")
FOLDERS = {".": "--directory", tempfile.gettempdir(): "export TMPDIR"}  # and how to name another
MORE = "Give it more in a copy of the profile (set-resources: docs/cluster.md)."
AGAIN = "Run the command again: what was finished is kept."
LESS = f"Give fewer --cores, close other programs, or take a machine with more memory. {AGAIN}"
ASKED = f"Somebody, or a limit of time, asked it to end. {AGAIN}"
# How it ended, a signal or what SLURM calls it: what that means, and the remedy.
ENDS = {
    "SIGTERM": ASKED,
    "SIGINT": ASKED,
    "SIGHUP": ASKED,
    "SIGXCPU": "Its time of computing is limited. Raise the limit: ulimit -t unlimited",
    "SIGBUS": "A file could not be read or written to its end. Make room, check the disk.",
    "SIGILL": "This processor lacks instructions of a package. Run: credence doctor",
    "OUT_OF_MEMORY": f"The job took more memory than it had asked for. {MORE}",
    "TIMEOUT": f"The job took more time than it had asked for. {MORE}",
    "NODE_FAIL": f"Its node went away. {AGAIN}",
    "PREEMPTED": f"Its node was given to another job. {AGAIN}",
    "CANCELLED": ASKED,
}
CRASHES = ("SIGSEGV", "SIGABRT")  # of a bug, or where memory may not be had


def likely_causes(lines: Sequence[str], how: str = "", n_killed: int = 0) -> list[str]:
    """Return the likeliest causes, with remedies; `n_killed` is of processes, for memory."""
    text = "\n".join(lines)
    free, limit = memory_of(), resource.getrlimit(resource.RLIMIT_AS)[0]
    now = "" if free is None else f"; now {free / GIBIBYTE:.1f} GiB are free"
    is_limited = limit != resource.RLIM_INFINITY
    found = [f"It ended by {how}. {ENDS[how]}"] if how in ENDS else []
    if how == "SIGKILL":
        why = f"; meanwhile this system ended {n_killed} processes for it" if n_killed else ""
        found = [f"It was killed, as a rule because memory ran out{why}{now}. {LESS}"]
    elif any(words in text for words in FULL_MEMORY) or (how in CRASHES and is_limited):
        found = [f"Memory ran out{now}. {LESS}"]
        if is_limited:
            found = [
                f"A process may take {limit / GIBIBYTE:.1f} GiB. Allow more: ulimit -v unlimited"
            ]
    is_full = any(words in text for words in FULL_DISK)
    if is_full or not text:
        for folder, option in FOLDERS.items():
            disk = look_at_folder("disk", Path(folder).resolve(), "")
            if disk.verdict != "ok":
                found.append(f"{disk.text}. Make room there, or name another folder ({option}).")
                is_full = False
    return [*found, "The disk was full. Make room."] if is_full else found


def killed_for_memory() -> int:
    """Return how many processes this system has ended for memory since it started."""
    try:
        return int(Path("/proc/vmstat").read_text("ascii").split("oom_kill ")[1].split()[0])
    except (OSError, IndexError):
        return 0
