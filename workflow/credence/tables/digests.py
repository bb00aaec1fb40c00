"""Digests that say which bytes a result came from."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from credence.problems import refuse

PACKAGE = Path(__file__).resolve().parents[1]
KNOWN = Path(".snakemake", "credence.digests.json")
# A file may change twice within one tick of a clock, of which some file systems
# have one in two seconds: what is that young when it is remembered is not believed.
TICK = 2_000_000_000  # nanoseconds

Stamp = tuple[int, int, int, int]


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal."""
    try:
        with Path(path).open("rb") as handle:
            return hashlib.file_digest(handle, "sha256").hexdigest()
    except FileNotFoundError:
        raise refuse(str(path), "this file does not exist.", "Give the path of a file.") from None
    except IsADirectoryError:
        raise refuse(str(path), "this is a folder.", "Give the path of a file.") from None
    except OSError as error:
        raise refuse(
            str(path), f"it cannot be read ({error.strerror}).", "Give a file that you may read."
        ) from None


def stamp_of(path: Path) -> Stamp:
    """Return what changes whenever a file does: its inode, size, and two dates.

    The last one, of the change, cannot be set by hand.
    """
    try:
        state = path.stat()
    except OSError as error:
        raise refuse(
            str(path), f"it cannot be read ({error.strerror}).", "Give a file that you may read."
        ) from None
    return (state.st_ino, state.st_size, state.st_mtime_ns, state.st_ctime_ns)


class KnownDigests:
    """Digests of files, taken again only of those that changed since."""

    def __init__(self, entries: Mapping[str, tuple[Stamp, str]] | None = None) -> None:
        self._entries = dict(entries or {})
        self._has_news = False

    @classmethod
    def remembered(cls, path: Path = KNOWN) -> KnownDigests:
        """Return what was remembered; nothing where that cannot be read."""
        try:
            young = path.stat().st_mtime_ns - TICK
            record: Any = json.loads(path.read_text(encoding="utf-8"))
            found = {
                str(name): ((int(a), int(b), int(c), int(d)), str(digest))
                for name, ((a, b, c, d), digest) in record.items()
            }
        except (OSError, ValueError, TypeError, AttributeError, RecursionError):
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
        from credence.problems import InputError
        from credence.tables.writing import write_json

        if not self._has_news or not path.parent.is_dir():
            return
        record = {name: [list(stamp), sha] for name, (stamp, sha) in self._entries.items()}
        try:
            write_json(path, dict(sorted(record.items())))
        except (InputError, OSError):
            return
        self._has_news = False


def package_digest(package: Path = PACKAGE) -> str:
    """Return a digest of all source files of this package, templates included.

    Snakemake does not see that a package was edited; a rule that has this
    digest among its parameters is redone when it was.
    """
    total = hashlib.sha256()
    for path in sorted(_sources(package), key=lambda path: path.relative_to(package).as_posix()):
        total.update(path.relative_to(package).as_posix().encode() + b"\0")
        total.update(hashlib.sha256(path.read_bytes()).digest())
    return total.hexdigest()


def _sources(package: Path) -> list[Path]:
    return [
        path
        for path in package.rglob("*")
        if path.is_file()
        and path.suffix not in (".pyc", ".pyo")
        and not any(
            part.startswith((".", "__pycache__")) for part in path.parts[len(package.parts) :]
        )
    ]
