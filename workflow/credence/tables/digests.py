"""Which bytes a result came from: digests of files and of the package."""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from credence.problems import InputError, refuse
from credence.records import parse_json, refuse_pipe
from credence.tables.writing import write_json

PACKAGE = Path(__file__).resolve().parents[1]
DIGESTS_FILE = Path(".snakemake", "credence.digests.json")
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
    defect = f"it cannot be read ({error.strerror})."
    return refuse(str(path), defect, "Give a file that you may read.")


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
    def remembered(cls, path: Path = DIGESTS_FILE) -> Self:
        """Return what was remembered; nothing where that cannot be read."""
        try:
            young = path.stat().st_mtime_ns - TICK
            record: Any = parse_json(path.read_text(encoding="utf-8"))
            entries = {
                str(name): ((int(a), int(b), int(c), int(d)), str(digest))
                for name, ((a, b, c, d), digest) in record.items()
            }
        except (OSError, ValueError, TypeError, AttributeError, OverflowError):
            return cls()
        return cls({name: entry for name, entry in entries.items() if entry[0][3] < young})

    def digest(self, path: str | Path) -> str:
        """Return the SHA-256 of a file."""
        name = str(path)
        stamp = stamp_of(Path(path))
        entry = self._entries.get(name)
        if entry is None or entry[0] != stamp:
            self._entries[name] = entry = (stamp, sha256_of(Path(path)))
            self._has_news = True
        return entry[1]

    def remember(self, path: Path = DIGESTS_FILE) -> None:
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


CHANGED_IN_STEP = (
    "it changed while this step read it.",
    "Leave it alone and run the command again.",
)
