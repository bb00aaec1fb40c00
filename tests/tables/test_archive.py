from __future__ import annotations

import hashlib
import zipfile
from pathlib import Path

import pytest

from credence.tables.writing import write_archive


def test_the_same_files_give_the_same_bytes_whenever_and_wherever(tmp_path: Path) -> None:
    archives = []
    for number, (name, order) in enumerate((("a.tsv", 1), ("other place/a.tsv", -1))):
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        file.write_text("id\np1\n")
        file.chmod(0o600 if number else 0o644)
        members = list({"use/a.tsv": file, "README.md": "read me\n"}.items())[::order]
        archives.append(tmp_path / f"{number}.zip")
        write_archive(archives[-1], "credence-run", dict(members))
    assert archives[0].read_bytes() == archives[1].read_bytes()


def test_every_file_has_its_digest_and_unpacks_as_it_was(tmp_path: Path) -> None:
    file = tmp_path / "a.tsv"
    file.write_bytes(b"id\np1\n")
    path = tmp_path / "x.zip"
    write_archive(path, "run", {"use/a.tsv": file, "README.md": "rüad\n"})
    with zipfile.ZipFile(path) as archive:
        names = ["run/README.md", "run/use/a.tsv", "run/SHA256SUMS"]
        assert archive.namelist() == names
        assert archive.read(names[0]) == "rüad\n".encode()
        assert archive.read(names[1]) == b"id\np1\n"
        digests = [hashlib.sha256(archive.read(name)).hexdigest() for name in names[:2]]
        sums = archive.read(names[2]).decode()
        assert {entry.date_time for entry in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
    assert sums == f"{digests[0]}  README.md\n{digests[1]}  use/a.tsv\n"


def test_a_missing_file_leaves_no_half_archive(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        write_archive(tmp_path / "x.zip", "run", {"a.tsv": tmp_path / "absent.tsv"})
    assert list(tmp_path.iterdir()) == []
