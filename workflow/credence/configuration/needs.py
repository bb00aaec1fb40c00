"""What a job asks of a cluster, by the size of its input and by the attempt.

The numbers stand in the rules; what was measured, in docs/operations.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

MB = 1e6
PACKED = {".gz": 6, ".zst": 6}  # bytes of a table for one of its packed file
# Megabytes of two Snakemakes that stand above a command on a node: measured, 210 each.
ABOVE = 450
MORE = 2  # times as much at each further attempt
# Threads of what works on sequences, by their megabytes: below, threads.
THREADS = ((100.0, 2), (1000.0, 8))
MOST_THREADS = 16

Need = Callable[[Any, Iterable[str], int], int]


def megabytes(paths: Iterable[str]) -> float:
    """Return the size of files together, as they will be unpacked.

    Parameters
    ----------
    paths : iterable of str
        Files.
    """
    files = [Path(str(path)) for path in paths]
    return sum(file.stat().st_size * PACKED.get(file.suffix, 1) for file in files) / MB


def memory(least: float, for_each_mb: float = 0.0) -> Need:
    """Return what `mem_mb` of a rule is: a function of its input and of the attempt.

    While input is missing the function raises FileNotFoundError, which is how
    Snakemake learns that the need cannot be known yet; it asks again. What
    Snakemake itself takes on a node comes on top.

    Parameters
    ----------
    least : float
        Megabytes of the command without any input.
    for_each_mb : float
        Megabytes more for each megabyte of input.
    """
    return _growing(least + ABOVE, for_each_mb)


def minutes(least: float, for_each_mb: float = 0.0) -> Need:
    """Return what `runtime` of a rule is, in minutes, as :func:`memory` does.

    Parameters
    ----------
    least, for_each_mb : float
        Minutes without any input, and more for each megabyte of it.
    """
    return _growing(least, for_each_mb)


def _growing(least: float, for_each_mb: float) -> Need:
    def need(wildcards: Any, input: Iterable[str], attempt: int) -> int:
        more: int = MORE ** (attempt - 1)
        return round((least + for_each_mb * megabytes(input)) * more)

    return need


def several(wildcards: Any, input: Iterable[str]) -> int:
    """Return the threads of a rule that works on sequences; missing files count nothing.

    Parameters
    ----------
    wildcards : object
        Of the job; not asked.
    input : iterable of str
        Its files.
    """
    size = megabytes(path for path in input if Path(path).exists())
    return next((threads for below, threads in THREADS if size < below), MOST_THREADS)
