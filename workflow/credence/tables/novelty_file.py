"""The novelty file: the proteins that are known, in their space, as one JSON file.

Numbers stand in it as bytes in base64, since digits would take three times the
room; it is data all the same, and reading it runs no code (decision 1006).
"""

from __future__ import annotations

import binascii
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from credence import __version__
from credence.novelty import reference as references
from credence.novelty.reference import Reference
from credence.problems import refuse
from credence.tables.json_text import plain
from credence.tables.writing import write_json

SCHEMA_NAME = "credence/novelty"
SCHEMA = f"{SCHEMA_NAME}/1"
AGAIN = "Make it again: credence novelty."


@dataclass(frozen=True, eq=False)
class NoveltyFile:
    """What is known, and where it comes from.

    Parameters
    ----------
    reference : Reference
        The proteins in their space.
    inputs : mapping of str to str
        Name of each input file and its SHA-256.
    """

    reference: Reference
    inputs: Mapping[str, str]


def write_novelty(path: Path, file: NoveltyFile) -> None:
    """Write a novelty file.

    Parameters
    ----------
    path : Path
        Where it is to be.
    file : NoveltyFile
        What it holds.
    """
    body = plain(
        {
            "credence_version": __version__,
            "inputs": dict(file.inputs),
            "reference": file.reference.to_record(),
        }
    )
    write_json(path, {"schema": SCHEMA, "sha256": _digest(body), **body})


def read_novelty(path: Path) -> NoveltyFile:
    """Return a novelty file, checked.

    Parameters
    ----------
    path : Path
        From :func:`write_novelty`.
    """
    where = str(path)
    try:
        record = json.loads(Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise refuse(where, "there is no such file.", AGAIN) from None
    except OSError as error:
        raise refuse(where, f"it cannot be read ({error.strerror}).", AGAIN) from None
    except UnicodeDecodeError:
        raise refuse(where, "this is not text in UTF-8.", AGAIN) from None
    except (ValueError, RecursionError):
        raise refuse(where, "this is not JSON, or not the whole of it.", AGAIN) from None
    schema = record.get("schema") if isinstance(record, dict) else None
    name, _, version = str(schema).rpartition("/")
    if name == SCHEMA_NAME and version.isdecimal() and schema != SCHEMA:
        raise refuse(
            where,
            f"{schema!r} is not {SCHEMA!r}, the only one that credence {__version__} reads.",
            AGAIN,
            column="schema",
        )
    if schema != SCHEMA:
        raise refuse(where, f"its schema is not {SCHEMA!r}.", AGAIN)
    body = {key: value for key, value in record.items() if key not in ("schema", "sha256")}
    if record.get("sha256") != _digest(body):
        raise refuse(where, "its content was changed after it was written.", AGAIN)
    try:
        return NoveltyFile(references.read(body["reference"]), body["inputs"])
    except (KeyError, TypeError, ValueError, AttributeError, binascii.Error) as error:
        raise refuse(where, f"it is damaged: {error}.", AGAIN) from error


def _digest(body: Mapping[str, Any]) -> str:
    text = json.dumps(body, ensure_ascii=False, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()
