"""Records of credence's own as JSON files, with a checksum of what they hold."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from credence import __version__
from credence.problems import InputError, refuse
from credence.tables.json_text import plain, read_json
from credence.tables.writing import write_json

HEAD = ("schema", "sha256")
Read = TypeVar("Read")


def write_signed(path: Path, schema: str, body: Mapping[str, Any]) -> None:
    """Write a record with its schema and the digest of the rest.

    Parameters
    ----------
    path : Path
        Where it is to be.
    schema : str
        Name of what it is, with a version.
    body : mapping
        What :func:`credence.tables.json_text.plain` takes.
    """
    written = plain(body)
    write_json(path, {"schema": schema, "sha256": digest_of(written), **written})


def read_signed(
    path: Path, schema: str, again: str, parse: Callable[[Mapping[str, Any]], Read]
) -> Read:
    """Return what a record says, or refuse it by name.

    Parameters
    ----------
    path : Path
        From :func:`write_signed`.
    schema : str
        The only one that is read.
    again : str
        How to make the file anew, as an order.
    parse : callable
        Turns the record, without its head, into what it stands for; whatever goes
        wrong there is told as damage to the file.
    """
    where = str(path)
    record = read_json(Path(path), again)
    found = record.get("schema")
    name, _, version = str(found).rpartition("/")
    if found != schema:
        if name == schema.rpartition("/")[0] and version.isdecimal():
            what = f"{found!r} is not {schema!r}, the only one that credence {__version__} reads."
            raise refuse(where, what, again, column="schema")
        raise refuse(where, f"its schema is not {schema!r}.", again)
    body = {key: value for key, value in record.items() if key not in HEAD}
    if record.get("sha256") != digest_of(body):
        raise refuse(where, "its content was changed after it was written.", again)
    try:
        return parse(body)
    except InputError:
        raise
    except Exception as error:  # whatever a record of the wrong shape leads to
        told = f"it is damaged ({type(error).__name__}: {error})."
        raise refuse(where, told, again) from error


def digest_of(body: Mapping[str, Any]) -> str:
    """Return the SHA-256 of a record, whatever the order of its keys.

    Parameters
    ----------
    body : mapping
        JSON data.
    """
    text = json.dumps(body, ensure_ascii=False, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()
