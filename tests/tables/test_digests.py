from __future__ import annotations

import hashlib
from pathlib import Path

from credence.tables.digests import package_digest, sha256_of
from refusals import refusal


def test_the_digest_of_a_file_is_its_sha256(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"abc" * 1_000_000)
    assert sha256_of(tmp_path / "a") == hashlib.sha256(b"abc" * 1_000_000).hexdigest()


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    assert refusal(sha256_of, tmp_path / "a") == (
        f"{tmp_path}/a: this file does not exist. Give the path of a file."
    )
    assert (
        refusal(sha256_of, tmp_path) == f"{tmp_path}: this is a folder. Give the path of a file."
    )


def package(folder: Path) -> Path:
    (folder / "sub" / "__pycache__").mkdir(parents=True)
    (folder / "a.py").write_text("one")
    (folder / "sub" / "page.html").write_text("two")
    return folder


def test_the_digest_of_a_package_sees_every_source_file(tmp_path: Path) -> None:
    folder = package(tmp_path / "package")
    digests = [package_digest(folder)]
    (folder / "sub" / "page.html").write_text("three")
    digests.append(package_digest(folder))
    (folder / "b.py").write_text("")
    digests.append(package_digest(folder))
    (folder / "b.py").rename(folder / "c.py")
    digests.append(package_digest(folder))
    assert len(set(digests)) == 4


def test_the_digest_of_a_package_does_not_see_what_python_leaves_there(tmp_path: Path) -> None:
    folder = package(tmp_path / "package")
    before = package_digest(folder)
    (folder / "sub" / "__pycache__" / "a.cpython-311.pyc").write_bytes(b"x")
    (folder / ".a.py.swp").write_bytes(b"x")
    assert package_digest(folder) == before


def test_a_package_has_one_digest_wherever_it_lies(tmp_path: Path) -> None:
    first, second = package(tmp_path / "one"), package(tmp_path / "elsewhere")
    assert package_digest(first) == package_digest(second)
    assert package_digest() == package_digest()
