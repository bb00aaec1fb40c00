"""Typed dataclasses as plain data and back: the one codec of all that is kept as JSON.

The types of a dataclass's fields say how it is written and what is read back;
:class:`Stored` says what they cannot. Floats come back bit for bit; NaN is null.
Damage is refused with the path to the field: ``column 'classes.HTJ.curve.share'``.

A field that `__init__` does not take is a constant: it is written, and a record with
another value is refused. Two methods of a class are asked where it has them.
`to_record` and `from_record` stand for a class whose record is not its fields;
`refuse_damage` raises a ValueError where the values read make no sense together.
"""

import base64
import collections.abc
import errno
import hashlib
import itertools
import json
import math
import re
import types
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import MISSING, dataclass, fields, is_dataclass
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

from credence import __version__
from credence.problems import DISK_ERRORS, InputError, Problem, refuse

Read = TypeVar("Read")
Kinds = Mapping[Any, Any]  # Type → the class that stands for it, or a function that reads it

AGAIN = "Make it again with this version of credence."
MOST_CHARACTERS = 40  # of a value quoted in a message
TOO_LARGE = 2**63  # for a whole number of a table
MOST_NESTED = 50  # a record of credence has fewer levels than twenty
SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")  # half a character, which no file can hold
DIGEST = "sha256"  # the key of a record's own digest
DIGEST_DIFFERS = "its digest does not fit its content: the file was changed after it was written."
PACKED_KINDS = {
    "float32": "<f4",
    "float64": "<f8",
    "int32": "<i4",
    "uint8": "|u1",
    "uint64": "<u8",
    "bool": "|b1",
}
MOST_DECIMALS, MOST_DECIMAL = 4, 1e5  # of numbers that are written by their last decimal
# The types of arrays that a record may hold. Compared whole: what they are made of is
# numpy's own affair, and is another thing from numpy 2.5 on Python 3.12 on.
ARRAYS: dict[Any, Any] = {
    NDArray[np.float64]: np.float64,
    NDArray[np.float32]: np.float32,
    NDArray[np.int64]: np.int64,
    NDArray[np.uint64]: np.uint64,
    NDArray[np.bool_]: np.bool_,
    NDArray[np.object_]: np.object_,
}
# What a list may hold (kinds of numpy's types) to become an array; O: null among numbers.
LISTED_KINDS = {"f": "fiuO", "i": "iu", "b": "biu", "O": "UO"}


@dataclass(frozen=True, kw_only=True)
class Stored:
    """How a field stands in a record, where its type does not say it.

    Written behind the type: ``Annotated[Floats, Stored(null=math.inf)]``.
    """

    name: str = ""  # Its key, where that is not the field's name
    null: float = math.nan  # The number that null stands for
    packed: str = ""  # Of `PACKED_KINDS`: the array is its bytes, in base64
    is_inline: bool = False  # Whether its own fields stand among those around it
    is_left_out: bool = False  # Whether nothing is written where it is the default
    tag: str = ""  # Key beside it that says which class it is of, of those in `kinds`


PLAIN = Stored()
PackedFloats = Annotated[NDArray[np.float64], Stored(packed="float32")]
PackedIntegers = Annotated[NDArray[np.int64], Stored(packed="int32")]


@dataclass(frozen=True, kw_only=True)
class _Entry:
    name: str  # Of the field
    key: str  # In the record
    kind: Any  # The type
    stored: Stored
    default: Any  # MISSING where the field has none
    constant: Any  # What it has to be; MISSING where it may be anything


@cache
def _entries(kind: Any) -> tuple[_Entry, ...]:
    hints = get_type_hints(kind, include_extras=True)
    entries = []
    for entry in fields(kind):
        hint, stored = hints[entry.name], PLAIN
        if get_origin(hint) is Annotated:
            hint, stored = get_args(hint)[:2]
        default = entry.default if entry.default_factory is MISSING else entry.default_factory
        constant = MISSING if entry.init else entry.default
        key = stored.name or entry.name
        entries.append(
            _Entry(
                name=entry.name,
                key=key,
                kind=hint,
                stored=stored,
                default=default,
                constant=constant,
            )
        )
    return tuple(entries)


def record_keys(kind: type[Any]) -> tuple[str, ...]:
    """Return the keys of a class's record, in their order."""
    return tuple(entry.key for entry in _entries(kind))  # type: ignore[arg-type]


def optional_keys(kind: type[Any]) -> frozenset[str]:
    """Return the keys that a class's record may do without."""
    return frozenset(entry.key for entry in _entries(kind) if entry.stored.is_left_out)  # type: ignore[arg-type]


def to_record(value: Any) -> Any:
    """Return an object, or any part of one, as JSON data; NaN as None."""
    if isinstance(value, np.generic):
        value = value.item()
    elif isinstance(value, Enum):
        value = value.value
    if isinstance(value, float) and math.isnan(value):
        value = None
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, np.ndarray):
        return _list_of(value, math.nan)
    if isinstance(value, Mapping):
        return {str(key): to_record(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [to_record(entry) for entry in value]
    if hasattr(value, "to_record"):
        return to_record(value.to_record())
    assert is_dataclass(value), f"{value!r} has no place in a record"
    return _record_of_fields(value)


def _record_of_fields(value: Any) -> dict[str, Any]:
    record: dict[str, Any] = {}
    for entry in _entries(type(value)):  # type: ignore[arg-type]
        part, stored = getattr(value, entry.name), entry.stored
        if stored.is_inline:
            record |= _record_of_fields(part)
        elif stored.is_left_out and part is entry.default:
            continue
        elif part is not None and stored.packed:
            record[entry.key] = base64_of(part, stored.packed)
        elif isinstance(part, np.ndarray):
            record[entry.key] = _list_of(part, stored.null)
        elif isinstance(part, float) and part == stored.null:
            record[entry.key] = None
        else:
            record[entry.key] = to_record(part)
    return record


def _list_of(array: NDArray[Any], null: float) -> Any:
    if array.dtype.kind == "O":
        return to_record(array.tolist())
    if array.dtype.kind == "f":
        is_null = np.isnan(array) | (array == null)
        if is_null.any():
            array = array.astype(object)
            array[is_null] = None
    return array.tolist()


class _DamageError(Exception):
    """Where a record is not what it should be, and what is found there."""

    def __init__(self, *parts: tuple[str, str]) -> None:
        self.parts = parts
        super().__init__()


def from_record(
    kind: type[Read],
    record: Any,
    where: str = "record",
    remedy: str = AGAIN,
    kinds: Kinds | None = None,
) -> Read:
    """Return the value of a type whose JSON data is given, or refuse it field by field.

    `kinds` names, for a type that is open (a protocol), the class that stands for
    it, or a function that reads it.
    """
    try:
        return _read(kind, record, "", kinds or {})  # type: ignore[no-any-return]
    except _DamageError as damage:
        raise InputError(
            Problem(where=where, what=defect, remedy=remedy, column=path or None)
            for path, defect in damage.parts
        ) from None


def _read(kind: Any, record: Any, path: str, kinds: Kinds, stored: Stored = PLAIN) -> Any:
    if kind in kinds:
        kind = kinds[kind]
        if not isinstance(kind, type):
            return _asked(kind, record, path)
    origin = get_origin(kind)
    if origin in (Union, types.UnionType):
        inner = [entry for entry in get_args(kind) if entry is not type(None)]
        chosen = next((entry for entry in inner if type(record) is entry), inner[0])
        is_absent = record is None and len(inner) < len(get_args(kind))
        return None if is_absent else _read(chosen, record, path, kinds, stored)
    if kind in ARRAYS:
        return _read_array(np.dtype(ARRAYS[kind]), record, path, stored)
    if origin is tuple:
        parts: Any = get_args(kind)
        _require(isinstance(record, list | tuple), record, path)
        if parts[-1] is ...:
            parts = itertools.repeat(parts[0], len(record))
        else:
            _require(len(record) == len(parts), record, path)
        return tuple(
            _read(part, entry, f"{path}[{place}]", kinds)
            for place, (part, entry) in enumerate(zip(parts, record, strict=True))
        )
    if origin in (dict, collections.abc.Mapping):
        _require(isinstance(record, Mapping), record, path)
        inner = get_args(kind)[1]
        return _read_parts({key: (key, inner, PLAIN) for key in record}, record, path, kinds)
    return _read_plain(kind, record, path, kinds, stored)


def _read_plain(kind: Any, record: Any, path: str, kinds: Kinds, stored: Stored) -> Any:
    if get_origin(kind) is Literal:
        _require(record in get_args(kind), record, path)
    elif hasattr(kind, "from_record"):
        return _asked(kind.from_record, record, path)
    elif is_dataclass(kind):
        _require(isinstance(record, Mapping), record, path)
        return _read_object(kind, record, path, kinds)
    elif kind is float and record is None:
        return stored.null
    elif kind is float:
        _require(isinstance(record, int | float) and not isinstance(record, bool), record, path)
        number = _asked(float, record, path)
        _require(math.isfinite(number), record, path)
        return number
    elif kind is not Any:
        is_held = kind is not int or type(record) is not int or abs(record) < TOO_LARGE
        _require(type(record) is kind and is_held, record, path)
    return record


def _read_object(kind: Any, record: Any, path: str, kinds: Kinds) -> Any:
    parts = {}
    for entry in _entries(kind):
        if entry.constant is not MISSING:
            if record.get(entry.key) != entry.constant:
                only = (
                    f"is not {entry.constant!r}, the only one that credence {__version__} reads."
                )
                is_there = entry.key in record
                defect = (
                    f"{short(repr(record[entry.key]))} {only}" if is_there else "it is missing."
                )
                raise _DamageError((_below(path, entry.key), defect))
        elif entry.stored.is_inline or entry.key in record or entry.default is MISSING:
            parts[entry.name] = (entry.key, entry.kind, entry.stored)
    value = kind(**_read_parts(parts, record, path, kinds))
    if hasattr(value, "refuse_damage"):
        _asked(lambda _: value.refuse_damage(), record, path)
    return value


def _read_parts(
    parts: Mapping[str, tuple[str, Any, Stored]], record: Any, path: str, kinds: Kinds
) -> dict[str, Any]:
    """Return the values under some keys, or refuse all that are damaged together."""
    values: dict[str, Any] = {}
    damage: list[tuple[str, str]] = []
    for name, (key, kind, stored) in parts.items():
        place = _below(path, key)
        try:
            if stored.is_inline:
                values[name] = _read_object(kind, record, path, kinds)
                continue
            if key not in record:
                raise _DamageError((place, "it is missing."))
            if stored.tag:
                known, tag = kinds[kind], record.get(stored.tag)
                if not isinstance(tag, str) or tag not in known:
                    defect = f"{short(repr(tag))} is nothing that this version of credence knows."
                    raise _DamageError((place, defect))
                kind = known[tag]
            values[name] = _read(kind, record[key], place, kinds, stored)
        except _DamageError as error:
            damage += error.parts
    if damage:
        raise _DamageError(*damage)
    return values


def _read_array(dtype: np.dtype[Any], record: Any, path: str, stored: Stored) -> Any:
    if stored.packed:
        return _asked(unpacked, record, path).astype(dtype)
    _require(isinstance(record, list | tuple), record, path)
    try:
        held: str = np.array(record).dtype.kind
        array = np.array(record, dtype=dtype)
    except (OverflowError, TypeError, ValueError):
        held, array = "no", np.zeros(1, dtype)
    is_right = array.size == 0 or held in LISTED_KINDS[dtype.kind]
    _require(is_right and not (dtype.kind == "f" and np.isinf(array).any()), record, path)
    if dtype.kind == "f" and not math.isnan(stored.null):
        array[np.isnan(array)] = stored.null
    return array


def _asked(read: Callable[[Any], Any], record: Any, path: str) -> Any:
    """Return what a function makes of a part of a record; its refusals name the part."""
    try:
        return read(record)
    except _DamageError as damage:
        raise _DamageError(
            *((_below(path, place), defect) for place, defect in damage.parts)
        ) from None
    except InputError as error:
        raise _DamageError(*((_below(path, p.column), p.what) for p in error.problems)) from None
    except Exception as error:  # whatever a record of the wrong shape leads to
        defect = str(error) if type(error) is ValueError else f"{type(error).__name__}: {error}"
        raise _DamageError((path, f"it is damaged ({defect}).")) from error


def _below(path: str, key: str | None) -> str:
    return ".".join(part for part in (path, key) if part)


def _require(is_right: bool, record: Any, path: str) -> None:
    if not is_right:
        text = json.dumps(record, ensure_ascii=False, default=repr)
        raise _DamageError((path, f"{short(text)} is no value for it."))


def short(text: str) -> str:
    """Return a text as a message quotes it, or its beginning."""
    return text if len(text) <= MOST_CHARACTERS else text[: MOST_CHARACTERS - 1] + "…"


def base64_of(values: Any, kind: str) -> dict[str, Any]:
    """Return an array as its little-endian bytes in base64, which is short and exact.

    Bytes of a number of the same weight stand together, which packs best. Single precision that
    is some number of decimals is whole numbers of its last decimal.
    """
    array = np.ascontiguousarray(values, dtype=PACKED_KINDS[kind])
    record: dict[str, Any] = {"kind": kind, "shape": list(array.shape)}
    decimals = _decimals_of(array) if kind == "float32" else None
    if decimals is not None:
        record["decimals"] = decimals
        array = _last_decimals(array, decimals).astype(PACKED_KINDS["int32"])
    rows = np.frombuffer(array.tobytes(), np.uint8).reshape(-1, array.itemsize)
    if kind == "int32" or decimals is not None:
        rows = rows.T
    return record | {"base64": base64.b64encode(rows.tobytes()).decode("ascii")}


def _last_decimals(array: NDArray[Any], decimals: int) -> NDArray[np.float64]:
    return np.round(array.astype(np.float64) * 10.0**decimals)


def _decimals_of(array: NDArray[np.float32]) -> int | None:
    """Return by how few decimals every number comes back bit for bit, if any."""
    if not (np.abs(array) < MOST_DECIMAL).all() or (np.signbit(array) & (array == 0)).any():
        return None
    for decimals in range(MOST_DECIMALS + 1):
        if np.array_equal((_last_decimals(array, decimals) / 10.0**decimals).astype("<f4"), array):
            return decimals
    return None


def unpacked(record: Mapping[str, Any]) -> NDArray[Any]:
    """Return the array of a record that :func:`base64_of` wrote."""
    raw = base64.b64decode(record["base64"], validate=True)
    decimals, kind = record.get("decimals"), PACKED_KINDS[record["kind"]]
    stored = np.dtype(kind if decimals is None else PACKED_KINDS["int32"])
    if stored == PACKED_KINDS["int32"]:
        raw = np.frombuffer(raw, np.uint8).reshape(stored.itemsize, -1).T.tobytes()
    array = np.frombuffer(raw, dtype=stored)
    if decimals is not None:
        array = (array / 10.0**decimals).astype(kind)
    return array.reshape(record["shape"]).copy()


def json_text(value: Any) -> str:
    """Return an object as JSON that a person can read, plain lists on one line; floats survive."""
    return _json_lines(to_record(value), "") + "\n"


def _json_lines(value: Any, indent: str) -> str:
    inner = indent + "  "
    if isinstance(value, dict) and value:
        entries = [
            f"{inner}{json.dumps(key, ensure_ascii=False)}: {_json_lines(entry, inner)}"
            for key, entry in value.items()
        ]
        return "{\n" + ",\n".join(entries) + f"\n{indent}}}"
    if isinstance(value, list) and any(isinstance(entry, dict) for entry in value):
        entries = [inner + _json_lines(entry, inner) for entry in value]
        return "[\n" + ",\n".join(entries) + f"\n{indent}]"
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def digest_of(body: Mapping[str, Any]) -> str:
    """Return the SHA-256 of a record, whatever the order of its keys."""
    text = json.dumps(body, ensure_ascii=False, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def signed(value: Any) -> dict[str, Any]:
    """Return the record of an object with its own digest, as :func:`read_record` wants it."""
    record = to_record(value)
    return {**record, DIGEST: digest_of(record)}


def refuse_loop(path: Path) -> None:
    """Refuse a path whose symbolic links lead back to each other, and to no file."""
    with suppress(ValueError):  # of a name that no file can have
        try:
            path.stat()
        except OSError as error:
            if error.errno == errno.ELOOP:
                defect, remedy = DISK_ERRORS[error.errno]
                raise refuse(str(path), f"{defect}.", remedy) from None


def refuse_pipe(path: Path) -> None:
    """Refuse a pipe or a device, which who opens it waits for, and links that lead nowhere."""
    refuse_loop(path)
    if path.exists() and not path.is_file() and not path.is_dir():
        defect = "this is no file but a pipe or a device, which cannot be read twice."
        raise refuse(str(path), defect, "Save it as a file, and give the path of that.")


def read_text(path: Path, remedy: str) -> str:
    """Return the text of a file that credence wrote."""
    try:
        refuse_pipe(path)
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        defect = "there is no such file."
    except IsADirectoryError:
        defect = "this is a folder."
    except OSError as error:
        defect = f"it cannot be read ({error.strerror})."
    except UnicodeDecodeError as error:
        defect = f"this is no text: byte {error.start + 1} is not UTF-8."
    raise refuse(str(path), defect, remedy)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(entries := dict(pairs)) < len(pairs):
        keys = itertools.pairwise(sorted(key for key, _ in pairs))
        raise ValueError(f"the key {next(a for a, b in keys if a == b)!r} stands twice")
    return entries


def parse_json(text: str) -> Any:
    """Return JSON data that can be written again, or raise a ValueError that says why not."""
    try:
        value = json.loads(text, object_pairs_hook=_object)
    except RecursionError:
        raise ValueError("it is nested without end") from None
    level: list[Any] = [[value]]
    for _ in range(MOST_NESTED):
        parts = (branch.values() if isinstance(branch, dict) else branch for branch in level)
        level = [part for branch in parts for part in branch if isinstance(part, dict | list)]
        if not level:
            break
    else:
        raise ValueError("it is nested without end")
    try:
        if SURROGATE.search(text):
            json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise ValueError("a text in it holds half a character") from None
    return value


def read_json(path: Path, remedy: str) -> dict[str, Any]:
    """Return the JSON record of a file."""
    return json_record(str(path), read_text(path, remedy), remedy)


def json_record(where: str, text: str, remedy: str) -> dict[str, Any]:
    """Return the JSON record of a text that stands in a file."""
    try:
        record = parse_json(text)
    except json.JSONDecodeError as error:
        defect = f"this is not JSON, or not the whole of it: {error.msg}."
        raise refuse(where, defect, remedy, error.lineno) from None
    except ValueError as error:
        raise refuse(where, f"this is no record of credence ({error}).", remedy) from None
    if not isinstance(record, dict):
        raise refuse(where, "this is not a JSON record.", remedy)
    return record


def require_schema(record: Mapping[str, Any], schema: str, where: str, remedy: str) -> None:
    """Refuse a record of another schema, or of another version of it."""
    schema_there = str(record.get("schema"))
    (name, _, version), (expected, _, known) = schema_there.rpartition("/"), schema.rpartition("/")
    if schema_there == schema:
        return
    if name != expected or not version.isdecimal():
        raise refuse(where, f"its schema is not {schema!r}.", remedy)
    defect = f"{schema_there!r} is not {schema!r}, the only one that credence {__version__} reads."
    if int(version) > int(known):
        remedy = "Install a newer credence."
    raise refuse(where, defect, remedy, column="schema")


def read_record(kind: type[Read], path: Path, remedy: str) -> Read:
    """Return the object of a type that a JSON file holds, or refuse the file."""
    where, record = str(path), read_json(path, remedy)
    value = from_record(kind, record, where, remedy)
    if DIGEST not in record:
        raise refuse(where, "it is missing.", remedy, column=DIGEST)
    if record.pop(DIGEST) != digest_of(record):
        raise refuse(where, DIGEST_DIFFERS, remedy)
    return value
