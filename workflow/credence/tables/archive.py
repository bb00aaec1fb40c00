"""An archive that is the same bytes for the same files: no clock, no owner, one order."""

from __future__ import annotations

import hashlib
import io
import shutil
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import BinaryIO

from credence.tables.writing import open_output

EPOCH = (1980, 1, 1, 0, 0, 0)  # the first date that a zip file can hold
READABLE = 0o100644 << 16  # an ordinary file that all may read
UNIX = 3
SUMS = "SHA256SUMS"
BLOCK = 1 << 20


def write_archive(path: Path, folder: str, members: Mapping[str, str | Path]) -> None:
    """Write a zip file of one folder, with a digest of every file in it.

    Parameters
    ----------
    path : Path
        Where it is to be.
    folder : str
        What it unpacks into.
    members : mapping of str to str or Path
        By their names below the folder: texts, or files to copy.
    """
    sums = []
    with open_output(path) as handle, zipfile.ZipFile(handle, "w") as archive:
        for name in sorted(members):
            with _opened(members[name]) as source:
                sums.append(f"{_digest(source)}  {name}\n")
                source.seek(0)
                _add(archive, f"{folder}/{name}", source)
        _add(archive, f"{folder}/{SUMS}", io.BytesIO("".join(sums).encode()))


def _opened(member: str | Path) -> BinaryIO:
    return io.BytesIO(member.encode()) if isinstance(member, str) else member.open("rb")


def _digest(source: BinaryIO) -> str:
    digest = hashlib.sha256()
    while block := source.read(BLOCK):
        digest.update(block)
    return digest.hexdigest()


def _add(archive: zipfile.ZipFile, name: str, source: BinaryIO) -> None:
    info = zipfile.ZipInfo(name, EPOCH)
    info.compress_type = zipfile.ZIP_DEFLATED
    info.external_attr, info.create_system = READABLE, UNIX
    with archive.open(info, "w", force_zip64=True) as target:
        shutil.copyfileobj(source, target, BLOCK)
