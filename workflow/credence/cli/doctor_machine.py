"""The machine: processors, memory, disk, what may be written, how text is encoded."""

from __future__ import annotations

import locale
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path

from credence.cli.doctor_packages import Found
from credence.engines.mmseqs_program import has_what_the_wheel_needs

GIBIBYTE = 1024**3
LEAST_DISK = 1 * GIBIBYTE  # the demo and its results take a tenth of it
LEAST_MEMORY = 2 * GIBIBYTE  # what annotating ten million rows may take
NO_LIMIT = "max"


def look_at_machine() -> list[Found]:
    """Return what this machine offers."""
    return [
        look_at_processors(len(os.sched_getaffinity(0)), has_what_the_wheel_needs()),
        look_at_memory(memory_of()),
        look_at_folder("this folder", Path.cwd(), "cd to a folder of your own"),
        look_at_folder(
            "scratch folder", Path(tempfile.gettempdir()), "export TMPDIR=/path/to/folder"
        ),
        look_at_text(sys.getfilesystemencoding(), locale.getpreferredencoding(False)),
    ]


def look_at_processors(n_cores: int, has_avx2: bool) -> Found:
    """Return how many processors there are, and whether MMseqs2's wheel runs on them.

    Parameters
    ----------
    n_cores : int
        Those that this process may use.
    has_avx2 : bool
        See :func:`credence.engines.mmseqs_program.has_what_the_wheel_needs`.
    """
    text = f"{n_cores} {'core' if n_cores == 1 else 'cores'}"
    if has_avx2:
        return Found("processor", "ok", text)
    return Found(
        "processor", "note", f"{text}, without AVX2: MMseqs2's wheel does not run here",
        "conda env create --file envs/mmseqs2.yaml, or engine: exact",
    )  # fmt: skip


def memory_of(root: Path = Path("/")) -> int | None:
    """Return the bytes that this process may take, None where it cannot be known.

    Parameters
    ----------
    root : Path
        Where /proc and /sys are.
    """
    found = []
    meminfo = root / "proc/meminfo"
    if meminfo.is_file():
        free = re.search(r"^MemAvailable:\s+(\d+) kB", meminfo.read_text("ascii"), re.M)
        found += [] if free is None else [int(free[1]) * 1024]
    limit = root / "sys/fs/cgroup/memory.max"
    if limit.is_file() and (text := limit.read_text("ascii").strip()) != NO_LIMIT:
        found.append(int(text))
    return min(found, default=None)


def look_at_memory(n_bytes: int | None) -> Found:
    """Return whether there is enough memory.

    Parameters
    ----------
    n_bytes : int, optional
        Free.
    """
    if n_bytes is None:
        return Found("memory", "note", "this system does not say how much there is")
    text = f"{n_bytes / GIBIBYTE:.1f} GiB free"
    if n_bytes >= LEAST_MEMORY:
        return Found("memory", "ok", text)
    return Found(
        "memory", "note", f"{text}; sets of millions of proteins take up to 2 GiB",
        "credence run --cores 1, so that one job runs at a time",
    )  # fmt: skip


def look_at_folder(name: str, folder: Path, remedy: str) -> Found:
    """Return whether a folder may be written to, and has room.

    Parameters
    ----------
    name : str
        What it is for.
    folder : Path
        Which.
    remedy : str
        What to do where it cannot be used.
    """
    try:
        with tempfile.TemporaryFile(dir=folder) as handle:
            handle.write(b"0")
        free = shutil.disk_usage(folder).free
    except OSError as error:
        return Found(
            name,
            "mend",
            f"{folder} cannot be written to ({os.strerror(error.errno or 0)})",
            remedy,
        )
    text = f"{folder}, {free / GIBIBYTE:.1f} GiB free"
    if free < LEAST_DISK:
        return Found(name, "note", text, f"make room, or {remedy}")
    return Found(name, "ok", text)


def look_at_text(files: str, preferred: str) -> Found:
    """Return whether names and texts are UTF-8.

    Parameters
    ----------
    files : str
        Encoding of the names of files.
    preferred : str
        Encoding of texts, by the locale.
    """
    names = {re.sub(r"[-_]", "", encoding).lower() for encoding in (files, preferred)}
    if names == {"utf8"}:
        return Found("text", "ok", "UTF-8")
    return Found(
        "text", "note", f"names of files are {files}, texts {preferred}, not UTF-8",
        "export LC_ALL=C.UTF-8",
    )  # fmt: skip
