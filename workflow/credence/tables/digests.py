"""Which bytes a result came from: digests of files, and seals of what a stage wrote.

A stage that reads a file looks at its seal first, which has the digest of the file and of all that
it was made from: what was damaged, edited or made from other bytes is named, never used.
"""

import hashlib
import os
import shlex
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from credence.problems import InputError, Problem, raise_any, refuse
from credence.records import from_record, parse_json, read_json, refuse_pipe
from credence.tables.writing import write_json

PACKAGE = Path(__file__).resolve().parents[1]
KNOWN = Path(".snakemake", "credence.digests.json")
# A file may change twice within a tick of its system's clock: what is so young is not believed.
TICK = 2_000_000_000  # nanoseconds

Stamp = tuple[int, int, int, int]


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal."""
    try:
        refuse_pipe(Path(path))
        with Path(path).open("rb") as handle:
            return hashlib.file_digest(handle, "sha256").hexdigest()
    except FileNotFoundError:
        raise refuse(str(path), "this file does not exist.", "Give the path of a file.") from None
    except IsADirectoryError:
        raise refuse(str(path), "this is a folder.", "Give the path of a file.") from None
    except OSError as error:
        raise _unreadable(path, error) from None


def _unreadable(path: Path, error: OSError) -> InputError:
    what = f"it cannot be read ({error.strerror})."
    return refuse(str(path), what, "Give a file that you may read.")


def stamp_of(path: Path) -> Stamp:
    """Return a file's inode, size and dates, of which the last cannot be set by hand."""
    try:
        state = path.stat()
    except OSError as error:
        raise _unreadable(path, error) from None
    return (state.st_ino, state.st_size, state.st_mtime_ns, state.st_ctime_ns)


class KnownDigests:
    """Digests of files, taken again only of those that changed since."""

    def __init__(self, entries: Mapping[str, tuple[Stamp, str]] | None = None) -> None:
        self._entries = dict(entries or {})
        self._has_news = False

    @classmethod
    def remembered(cls, path: Path = KNOWN) -> Self:
        """Return what was remembered; nothing where that cannot be read."""
        try:
            young = path.stat().st_mtime_ns - TICK
            record: Any = parse_json(path.read_text(encoding="utf-8"))
            found = {
                str(name): ((int(a), int(b), int(c), int(d)), str(digest))
                for name, ((a, b, c, d), digest) in record.items()
            }
        except (OSError, ValueError, TypeError, AttributeError, OverflowError):
            return cls()
        return cls({name: entry for name, entry in found.items() if entry[0][3] < young})

    def digest(self, path: str | Path) -> str:
        """Return the SHA-256 of a file."""
        name = str(path)
        stamp = stamp_of(Path(path))
        entry = self._entries.get(name)
        if entry is None or entry[0] != stamp:
            self._entries[name] = entry = (stamp, sha256_of(Path(path)))
            self._has_news = True
        return entry[1]

    def remember(self, path: Path = KNOWN) -> None:
        """Write all that is known, for the next process, where the folder can be written."""
        if not self._has_news or not path.parent.is_dir():
            return
        record = {name: [list(stamp), sha] for name, (stamp, sha) in self._entries.items()}
        try:
            write_json(path, dict(sorted(record.items())))
        except (InputError, OSError):
            return
        self._has_news = False


def package_digest(package: Path = PACKAGE) -> str:
    """Return a digest of all source files, by which a rule is redone when they were edited."""
    total = hashlib.sha256()
    for path in sorted(package.rglob("*"), key=lambda path: path.relative_to(package).as_posix()):
        parts = path.relative_to(package).parts
        is_hidden = any(part.startswith((".", "__pycache__")) for part in parts)
        if is_hidden or path.suffix in (".pyc", ".pyo") or not path.is_file():
            continue
        total.update(path.relative_to(package).as_posix().encode() + b"\0")
        total.update(hashlib.sha256(path.read_bytes()).digest())
    return total.hexdigest()


FOLDER = Path("results", ".seals")
ENDING = ".json"
# In 1970: older than whatever it was made from, so that it is made again.
LONG_AGO = (10**9, 10**9)


@dataclass(frozen=True)
class Seal:
    """What is known of a file that a stage wrote."""

    sha256: str  # Digest of its bytes
    inputs: Mapping[str, str]  # Digests of the files that the stage read


def run_path(path: str | Path) -> str:
    """Return a path as seen from the folder of the run."""
    return Path(os.path.relpath(path)).as_posix()


def seal_path(path: str | Path) -> Path | None:
    """Return where the seal of a file lies; None for files outside the folder."""
    name = run_path(path)
    return None if name.startswith("../") else FOLDER / f"{name}{ENDING}"


def read_seal(path: str | Path) -> Seal | None:
    """Return the seal of a file, None where it has none."""
    place = seal_path(path)
    if place is None or not place.is_file():
        return None
    try:
        return from_record(Seal, read_json(place, ""))
    except InputError as error:
        remedy = f"Delete it with its file, then run again: {_removal(str(place), str(path))}"
        raise refuse(str(place), "this seal is damaged.", remedy) from error


def _removal(*paths: str) -> str:
    return "rm " + " ".join(shlex.quote(path) for path in paths)


def examine(reads: Iterable[str], known: KnownDigests) -> dict[str, str]:
    """Return the digests of what a stage reads, or refuse what is not as it was written."""
    inputs: dict[str, str] = {}
    problems: list[Problem] = []
    seen: set[tuple[str, str]] = set()
    for path in dict.fromkeys(reads):
        name, seal = run_path(path), read_seal(path)
        inputs[name] = known.digest(name)
        if seal is not None and seal.sha256 != inputs[name]:
            what = "it is not as it was written: its digest is another."
            problems.append(Problem(path, what, _again(path)))
        elif seal is not None:
            problems += _of_other_bytes(name, seal, known, seen)
    raise_any(problems)
    return inputs


def _again(path: str) -> str:
    return f"Delete it and run the command again: {_removal(path)}"


def _of_other_bytes(
    made: str, seal: Seal, known: KnownDigests, seen: set[tuple[str, str]]
) -> Iterator[Problem]:
    """Yield what a file was made from, step by step down, and that is no longer the same."""
    for name, digest in sorted(seal.inputs.items() - seen):
        seen.add((name, digest))
        below = read_seal(name)
        if below is not None and below.sha256 != digest:
            yield Problem(made, f"it was made from an earlier {name}.", _again(made))
        elif below is not None:
            yield from _of_other_bytes(made, below, known, seen)
        elif Path(name).is_file() and known.digest(name) != digest:
            what = f"it changed during the run: {made} was made from other bytes."
            remedy = "Leave it alone and run the command again; if this message comes again: "
            yield Problem(name, what, remedy + _removal(made))


CHANGED = ("it changed while this step read it.", "Leave it alone and run the command again.")


def require_unchanged(inputs: Mapping[str, str], known: KnownDigests) -> None:
    """Refuse where a file changed while a stage read it."""
    raise_any(
        Problem(name, *CHANGED)
        for name, digest in inputs.items()
        if not Path(name).is_file() or known.digest(name) != digest
    )


def write_seals(writes: Iterable[str], inputs: Mapping[str, str]) -> None:
    """Write the seal of every file that a stage wrote."""
    for path in writes:
        place = seal_path(path)
        if place is not None and Path(path).is_file():
            record = {"sha256": sha256_of(Path(path)), "inputs": dict(sorted(inputs.items()))}
            write_json(place, record)


def break_seals(writes: Iterable[str]) -> None:
    """Remove the seals of files that are about to be written."""
    for path in writes:
        place = seal_path(path)
        if place is not None:
            place.unlink(missing_ok=True)


def require_sealed(path: str | Path) -> None:
    """Refuse a file of a run that is not as its stage wrote it; one without a seal passes."""
    seal = read_seal(path)
    if seal is not None and Path(path).is_file() and sha256_of(Path(path)) != seal.sha256:
        what = "it is not as it was written: its digest is another."
        raise refuse(str(path), what, _again(str(path)))


def outdate(folders: Iterable[str]) -> list[str]:
    """Make files old that were made from what is new; dates alone may lie, or be still to come."""
    made: dict[str, Seal] = {}
    for folder in folders:
        for place in sorted((FOLDER / folder).rglob(f"*{ENDING}")):
            path = place.relative_to(FOLDER).as_posix().removesuffix(ENDING)
            seal = read_seal(path)
            if seal is not None and Path(path).is_file():
                made[path] = seal
    now = time.time_ns()
    if any(Path(path).stat().st_mtime_ns > now for path in made):
        for path in made:
            os.utime(path, ns=(now, now))
    found = [
        path
        for path, seal in made.items()
        if any(name in made and made[name].sha256 != sha for name, sha in seal.inputs.items())
    ]
    for path in found:
        os.utime(path, ns=LONG_AGO)
    return found
