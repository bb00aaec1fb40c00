"""Outside programs: what they are given, run to the end, and what they answer.

A program writes into a folder of its own, which is removed whatever happens, so
that nothing half-written is left; it is ended with all that it started. What went
wrong is shown with the command that fixes it. Sequences go out as numbered FASTA,
and hits come back as tables.
"""

import contextlib
import errno
import fcntl
import math
import os
import re
import shutil
import signal
import stat
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from credence.predictions import Floats, Integers, Strings
from credence.problems import InputError, refuse
from credence.progress import Progress
from credence.relatives.pairs import Pairs, Thresholds, no_pairs

PREFIX = "credence-scratch-"
IS_SCRATCH = re.compile(rf"{PREFIX}\w{{8}}")
LAST_LINES = 5  # of what a failed program printed
FULL = 64 * 1024 * 1024  # bytes left below which a failure is put down to the disk
WORDS_OF_FULL_DISK = ("No space left on device", "Disk quota exceeded")
SECONDS_TO_END_ENGINE = 10.0
PACKAGES = {"mmseqs": "mmseqs2"}  # of bioconda, where they are not called like the program
SHELL, ILLEGAL = 128, "Illegal instruction"


@contextlib.contextmanager
def scratch_folder() -> Iterator[Path]:
    """Yield an empty folder, gone afterwards and locked meanwhile; a full disk is named."""
    above = folder = Path(tempfile.gettempdir())
    clear_scratch()
    with contextlib.ExitStack() as stack:
        try:
            new = Path(tempfile.mkdtemp(prefix="new-"))
            descriptor = os.open(new, os.O_RDONLY)
            stack.callback(os.close, descriptor)
            with contextlib.suppress(OSError):  # a file system without locks
                fcntl.flock(descriptor, fcntl.LOCK_EX)
            folder = new.rename(above / new.name.replace("new-", PREFIX))
            yield folder
        except OSError as error:
            if error.errno not in (errno.ENOSPC, errno.EDQUOT):
                raise
            raise _full_disk(folder) from None
        finally:
            if folder != above:
                shutil.rmtree(folder, ignore_errors=True)


def clear_scratch() -> None:
    """Remove the scratch folders, with their sequences, of processes that were killed."""
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with contextlib.suppress(OSError), contextlib.ExitStack() as stack:
            descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            stack.callback(os.close, descriptor)
            state = os.fstat(descriptor)
            is_private = stat.S_IMODE(state.st_mode) == stat.S_IRWXU  # as mkdtemp makes them
            if IS_SCRATCH.fullmatch(folder.name) and is_private and state.st_uid == os.getuid():
                # Refused while its process lives, and where there are no locks to know it by.
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)


def run_program(command: Sequence[str], folder: Path, timeout: float | None, remedy: str) -> str:
    """Return what a program printed; refuse with a remedy if it failed."""
    name = Path(command[0]).name
    stated = folder / "output.txt"
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
        code = _wait(process, timeout, name)
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


def _wait(process: subprocess.Popen[bytes], timeout: float | None, name: str) -> int:
    """Return the code that a program ends with; meanwhile count its seconds."""
    left = math.inf if timeout is None else timeout
    with Progress(name, "seconds so far") as progress:
        while True:
            try:
                return process.wait(min(1.0, left))
            except subprocess.TimeoutExpired:
                left -= 1.0
                if left <= 0.0:
                    raise
                progress.add()


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a program with its children: engines start programs of their own."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(SECONDS_TO_END_ENGINE if number is signal.SIGTERM else None)
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
        problem = "the program needs instructions that this processor lacks (AVX2, as a rule)."
        package = PACKAGES.get(name, name)
        remedy = f"Install a build for it: conda install -c bioconda {package}, or "
        remedy += "choose --engine exact."
    elif (number := -code if code < 0 else code - SHELL) in set(signal.Signals):
        problem = f"the program was ended by signal {signal.Signals(number).name}."
        remedy = "Run the command again; if memory ran out, run it with --threads 1."
    else:
        lines = (line.strip() for line in text.splitlines()[-LAST_LINES:])
        last = " | ".join(filter(None, lines)) or "it stated nothing"
        problem = f"the program failed with code {code}: {last}."
    return refuse(name, problem, remedy)


MOST_EVALUE = 0.001  # at least: what search engines take by themselves
LINES_AT_ONCE = 2_000_000
# Relatives share a stretch without gaps that grows with their length, chance does not.
DIAGONAL_OF_NONE, DIAGONAL_PER_RESIDUE = 18.0, 0.15
LEAST_DIAGONAL, MOST_DIAGONAL = 30, 45


def write_texts(path: Path, texts: Strings, rows: Integers) -> None:
    """Write sequences under their numbers: no header can then do harm."""
    with path.open("w", encoding="ascii") as handle:
        handle.writelines(f">{row}\n{texts[row]}\n" for row in rows.tolist())


def largest_evalue(targets: Strings, thresholds: Thresholds) -> float:
    """Return the E-value up to which a search may hold relatives.

    An E-value counts alignments with random targets of all residues together, the thresholds
    those with the one target: n residues of N make it N/n times as great.
    """
    lengths = [len(text) for text in targets]
    return max(MOST_EVALUE, thresholds.most_searched * sum(lengths) / min(lengths))


def _read_table(path: Path, **how: Any) -> Any:
    import pandas as pd  # here, since a run that has nothing to do needs no tables

    return pd.read_csv(path, sep="\t", header=None, **how)


def read_hits(path: Path) -> Pairs:
    """Return hits of a table: query, target, identity, both stretches, both lengths.

    Of one pair the hit that covers most; sorted by query and target.
    """
    if not path.is_file() or path.stat().st_size == 0:
        return no_pairs()
    values = _read_table(path).to_numpy(dtype=np.float64)
    first, second = values[:, 0].astype(np.int64), values[:, 1].astype(np.int64)
    of_query = (np.abs(values[:, 4] - values[:, 3]) + 1.0) / values[:, 7]
    of_target = (np.abs(values[:, 6] - values[:, 5]) + 1.0) / values[:, 8]
    is_shorter = values[:, 7] <= values[:, 8]
    coverage = np.where(is_shorter, of_query, of_target)
    longer = np.where(is_shorter, of_target, of_query)
    order = np.lexsort((-values[:, 2], -coverage, second, first))
    pairs = Pairs(
        first=first,
        second=second,
        identity=values[:, 2],
        coverage=coverage,
        coverage_longer=longer,
    ).take(order)
    is_first = np.append(True, (np.diff(pairs.first) != 0) | (np.diff(pairs.second) != 0))
    return pairs.take(is_first)


def candidates_of(path: Path, lengths: Integers) -> tuple[Integers, Integers, Integers]:
    """Return pairs and the score of their best diagonal, each once, the lower row first, sorted.

    Pairs with less than :func:`diagonal_needed` are left out: they are alike by chance.
    """
    parts = [(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))]
    if path.is_file() and path.stat().st_size:
        table = _read_table(path, usecols=[0, 1, 2], dtype=np.int32, chunksize=LINES_AT_ONCE)
        parts += [_worth_aligning(part.to_numpy(dtype=np.int64), lengths) for part in table]
    keys, diagonals = _best(*(np.concatenate(column) for column in zip(*parts, strict=True)))
    first, second = np.divmod(keys, len(lengths))
    return first, second, diagonals


def first_columns(path: Path) -> tuple[Integers, Integers]:
    """Return the numbers in the first two columns of a table, which may be empty."""
    if not path.stat().st_size:
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    table = _read_table(path, usecols=[0, 1], dtype=np.int64)
    return table[0].to_numpy(), table[1].to_numpy()


def diagonal_needed(shorter: Integers) -> Floats:
    """Return the least score on one diagonal that is worth an alignment (decision 0014)."""
    needed = DIAGONAL_OF_NONE + DIAGONAL_PER_RESIDUE * shorter
    return np.asarray(np.clip(needed, LEAST_DIAGONAL, MOST_DIAGONAL))


def _worth_aligning(rows: Integers, lengths: Integers) -> tuple[Integers, Integers]:
    low, high, diagonals = rows[:, :2].min(axis=1), rows[:, :2].max(axis=1), rows[:, 2]
    enough = diagonals >= diagonal_needed(np.minimum(lengths[low], lengths[high]))
    enough &= low != high
    return _best((low * len(lengths) + high)[enough], diagonals[enough])


def _best(keys: Integers, diagonals: Integers) -> tuple[Integers, Integers]:
    """Return each key once, sorted, with its greatest score."""
    order = np.lexsort((-diagonals, keys))
    keys, diagonals = keys[order], diagonals[order]
    is_first = np.append(True, keys[1:] != keys[:-1])[: len(keys)]
    return keys[is_first], diagonals[is_first]
