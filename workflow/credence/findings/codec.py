"""Records to JSON data and back, by the types of their fields."""

from __future__ import annotations

import math
import types
from dataclasses import MISSING, fields, is_dataclass
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

Record = TypeVar("Record")


def to_record(value: Any) -> Any:
    """Return a record, or any part of one, as JSON data; NaN as None.

    Examples
    --------
    >>> to_record((1.5, float("nan")))
    [1.5, None]
    """
    if is_dataclass(value):
        return {entry.name: to_record(getattr(value, entry.name)) for entry in fields(value)}
    if isinstance(value, tuple):
        return [to_record(entry) for entry in value]
    if isinstance(value, float):
        return None if math.isnan(value) else float(value)
    assert value is None or isinstance(value, str | int), f"{value!r} has no place in a record"
    return value


def from_record(kind: type[Record], record: Any) -> Record:
    """Return the value of a type whose JSON data is given.

    Examples
    --------
    >>> from_record(tuple[float, ...], [1.5, None])
    (1.5, nan)
    """
    return _read(kind, record)  # type: ignore[no-any-return]


def _read(kind: Any, record: Any) -> Any:
    origin = get_origin(kind)
    if origin in (Union, types.UnionType):
        inner = next(entry for entry in get_args(kind) if entry is not type(None))
        return None if record is None else _read(inner, record)
    if origin is tuple:
        inner = get_args(kind)[0]
        return tuple(_read(inner, entry) for entry in record)
    if is_dataclass(kind):
        hints = get_type_hints(kind)
        # A field with a default may be absent: an older file of the same schema has none.
        needed = {entry.name for entry in fields(kind) if entry.default is MISSING}
        given = {name: record[name] for name in hints if name in needed or name in record}
        return kind(**{name: _read(hints[name], value) for name, value in given.items()})  # type: ignore[operator]
    if kind is float:
        return math.nan if record is None else float(record)
    return record
