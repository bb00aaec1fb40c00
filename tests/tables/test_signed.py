"""Records with a checksum: what is read, and in which words anything else is refused."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import refusals
from credence import __version__
from credence.problems import InputError
from credence.records import digest_of
from credence.tables.stage_files import Signed

AGAIN = "Make it again: credence example."


@dataclass(frozen=True)
class Example:
    number: float
    none: float = 0.0


def refuse_half(example: Example) -> None:
    if example.number == 0.5:
        raise ValueError("a half")


EXAMPLES = Signed(schema="credence/example/2", kind=Example, again=AGAIN, check=refuse_half)


@pytest.fixture
def written(tmp_path: Path) -> Path:
    path = tmp_path / "record.json"
    EXAMPLES.write(path, Example(0.1, float("nan")))
    return path


def refusal(path: Path) -> str:
    return refusals.refusal(EXAMPLES.read, path).replace(str(path), "record.json")


def test_a_record_comes_back(written: Path) -> None:
    back = EXAMPLES.read(written)
    assert back.number == 0.1
    assert math.isnan(back.none)


def test_the_digest_is_that_of_the_content_and_not_of_the_order() -> None:
    assert digest_of({"a": 1, "b": 2}) == digest_of({"b": 2, "a": 1})
    assert digest_of({"a": 1, "b": 2}) != digest_of({"a": 2, "b": 1})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"number": 0.2}, ": its content was changed after it was written."),
        ({"schema": "credence/other/2"}, ": its schema is not 'credence/example/2'."),
        (
            {"schema": "credence/example/1"},
            ", column 'schema': 'credence/example/1' is not 'credence/example/2', the only one "
            f"that credence {__version__} reads.",
        ),
    ],
)
def test_a_record_that_was_changed_is_refused(
    written: Path, change: Mapping[str, Any], message: str
) -> None:
    written.write_text(json.dumps(json.loads(written.read_text()) | change))
    assert refusal(written) == f"record.json{message} {AGAIN}"


def test_a_newer_schema_asks_for_a_newer_credence(written: Path) -> None:
    record = json.loads(written.read_text()) | {"schema": "credence/example/3"}
    written.write_text(json.dumps(record))
    assert refusal(written).endswith(" reads. Install a newer credence.")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            b'{"a": 1',
            ", line 1: this is not JSON, or not the whole of it: Expecting ',' delimiter.",
        ),
        (b"[1]", ": this is not a JSON record."),
        (b"\xff", ": this is no text: byte 1 is not UTF-8."),
        (b"[" * 100_000, ": this is no record of credence (it is nested without end)."),
    ],
)
def test_what_is_no_record_is_refused(written: Path, content: bytes, message: str) -> None:
    written.write_bytes(content)
    assert refusal(written).startswith(f"record.json{message}")


def test_a_folder_and_a_file_that_is_not_there_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=f"this is a folder. {AGAIN}"):
        EXAMPLES.read(tmp_path)
    with pytest.raises(InputError, match=f"there is no such file. {AGAIN}"):
        EXAMPLES.read(tmp_path / "gone.json")


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"nothing": 1}, ", column 'number': it is missing."),
        ({"number": "ten"}, ", column 'number': \"ten\" is no value for it."),
        ({"number": 0.5}, ": it is damaged (ValueError: a half)."),
    ],
)
def test_a_record_of_the_wrong_shape_is_refused_by_its_field(
    tmp_path: Path, body: dict[str, Any], message: str
) -> None:
    path = tmp_path / "record.json"
    head = {"schema": EXAMPLES.schema, "sha256": digest_of(body)}
    path.write_text(json.dumps(head | body))
    assert refusal(path) == f"record.json{message} {AGAIN}"
