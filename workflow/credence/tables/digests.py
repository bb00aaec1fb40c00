"""Digests that say which bytes a result came from."""

from __future__ import annotations

import hashlib
from pathlib import Path

from credence.problems import refuse

PACKAGE = Path(__file__).resolve().parents[1]


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal.

    Parameters
    ----------
    path : Path
        Any file; it is read in pieces.
    """
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


def package_digest(package: Path = PACKAGE) -> str:
    """Return a digest of all source files of this package, templates included.

    Snakemake does not see that a package was edited; a rule that has this
    digest among its parameters is redone when it was.

    Parameters
    ----------
    package : Path
        Folder of the package.
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
