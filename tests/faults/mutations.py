"""Inputs that are nearly right: valid ones with one to four things done to them.

Every input follows from its number alone, so that one that fails can be made again.
"""

from __future__ import annotations

import copy
import json
from typing import Any

import numpy as np

CELLS = (
    *("", " ", "nan", "inf", "-inf", "-1", "0", "1e999", "1e-999", "1_0", "0x1", "12", "NA", "-"),
    *("gp1", '"', "'", "#", "é", "\t", "\\", "../../x", "=1+1", "١٢", "9" * 400, "\u202e", "null"),
)
PIECES = (
    *(
        "\n",
        "\r\n",
        "\r",
        '"',
        ",",
        "\t",
        "\0",
        "\u2028",
        "\ufeff",
        "\x1f\x8b",
        ">",
        "#",
        ";",
        "\x85",
    ),
    *(
        "\x0b",
        "\x0c",
        "\x1c",
        "é",
        "\U0001f9a0",
        "%",
        "{",
        "[",
        "&a ",
        "*a",
        "!!python/object:os ",
        "- ",
    ),
)
VALUES: tuple[Any, ...] = (
    *(
        None,
        True,
        False,
        0,
        -1,
        1,
        2,
        0.5,
        -0.5,
        1e308,
        -1e308,
        5e-324,
        10**30,
        10**6,
        "",
        "x",
        "1",
    ),
    *("é" * 50, [], {}, [[]], [None], {"": None}, [1, 2, 3], [0.1] * 40, {"method": "kernel"}),
    *("kernel", "class_only", "nan", [True], [["a"]], -(10**30), 1e-30, "../x", "\0"),
)


def rng_of(*key: int) -> np.random.Generator:
    return np.random.default_rng(list(key))


def pick(rng: np.random.Generator, choices: Any) -> Any:
    return choices[int(rng.integers(len(choices)))]


def mutated_bytes(rng: np.random.Generator, content: bytes) -> bytes:
    """Return the content of a file with something done to its bytes, lines and cells."""
    for _ in range(int(rng.integers(1, 5))):
        content = pick(rng, BYTE_WAYS)(rng, content)
    return content


def _flip(rng: np.random.Generator, content: bytes) -> bytes:
    place = int(rng.integers(max(len(content), 1)))
    return content[:place] + bytes([int(rng.integers(256))]) + content[place + 1 :]


def _cut(rng: np.random.Generator, content: bytes) -> bytes:
    return content[: int(rng.integers(len(content) + 1))]


def _twice(rng: np.random.Generator, content: bytes) -> bytes:
    start, end = sorted(int(place) for place in rng.integers(len(content) + 1, size=2))
    return content[:end] + content[start:]


def _without(rng: np.random.Generator, content: bytes) -> bytes:
    start = int(rng.integers(len(content) + 1))
    return content[:start] + content[start + int(rng.integers(1, 20)) :]


def _insert(rng: np.random.Generator, content: bytes) -> bytes:
    place = int(rng.integers(len(content) + 1))
    return content[:place] + pick(rng, PIECES).encode() + content[place:]


def _line(rng: np.random.Generator, content: bytes) -> bytes:
    """Drop a line, double it, or change places with another."""
    lines = content.split(b"\n")
    one, other = (int(place) for place in rng.integers(len(lines), size=2))
    way = int(rng.integers(3))
    if way == 0:
        del lines[one]
    elif way == 1:
        lines.insert(other, lines[one])
    else:
        lines[one], lines[other] = lines[other], lines[one]
    return b"\n".join(lines)


def _cell(rng: np.random.Generator, content: bytes) -> bytes:
    """Change a cell, drop it, or swap two of a row."""
    lines = content.split(b"\n")
    at = int(rng.integers(len(lines)))
    separator = b"\t" if b"\t" in lines[at] else b","
    cells = lines[at].split(separator)
    one, other = (int(place) for place in rng.integers(len(cells), size=2))
    way = int(rng.integers(4))
    if way == 0:
        del cells[one]
    elif way == 1:
        cells[one], cells[other] = cells[other], cells[one]
    else:
        cells[one] = pick(rng, CELLS).encode()
    lines[at] = separator.join(cells)
    return b"\n".join(lines)


BYTE_WAYS = (_flip, _flip, _cut, _twice, _without, _insert, _line, _line, _cell, _cell, _cell)


def mutated_record(rng: np.random.Generator, record: Any) -> Any:
    """Return JSON data with some of its values changed, dropped, doubled or swapped."""
    record = copy.deepcopy(record)
    for _ in range(int(rng.integers(1, 4))):
        places = list(_places(record))
        holder, key = places[int(rng.integers(len(places)))]
        way = int(rng.integers(8))
        if way == 0:
            del holder[key]
        elif way == 1 and isinstance(holder, list):
            holder.append(copy.deepcopy(holder[key]))
        elif way == 2 and isinstance(holder, dict):
            holder[pick(rng, ("", "x", "method", "é"))] = holder.pop(key)
        elif way == 3:
            other, name = places[int(rng.integers(len(places)))]
            holder[key] = copy.deepcopy(other[name])
        elif way == 4 and isinstance(holder[key], int | float):
            holder[key] = holder[key] * float(pick(rng, (-1.0, 0.0, 1e-9, 1e9, 0.5)))
        elif way == 5 and isinstance(holder[key], list):
            holder[key] = holder[key][: len(holder[key]) // 2]
        else:
            holder[key] = copy.deepcopy(pick(rng, VALUES))
        if not list(_places(record)):
            break
    return record


def _places(record: Any) -> Any:
    """Yield what holds a value, and its key; of long lists some only, so that each part counts."""
    if isinstance(record, dict):
        keys: Any = list(record)
    elif isinstance(record, list):
        keys = range(len(record)) if len(record) < 8 else (0, 1, len(record) // 2, len(record) - 1)
    else:
        return
    for key in keys:
        yield record, key
        yield from _places(record[key])


def as_yaml(record: Any) -> str:
    """Return JSON data as YAML: JSON is YAML."""
    return json.dumps(record, ensure_ascii=False, indent=1)
