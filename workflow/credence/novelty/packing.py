"""Arrays as text: little-endian bytes in base64, so that JSON brings them back bit for bit."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

KINDS = {"float32": "<f4", "int32": "<i4", "bool": "|b1"}


def packed(values: Any, kind: str) -> dict[str, Any]:
    """Return an array as JSON data."""
    array = np.ascontiguousarray(values, dtype=KINDS[kind])
    return {
        "kind": kind,
        "shape": list(array.shape),
        "base64": base64.b64encode(array.tobytes()).decode("ascii"),
    }


def unpacked(record: Mapping[str, Any]) -> NDArray[Any]:
    """Return the array of a record that :func:`packed` wrote."""
    raw = base64.b64decode(record["base64"], validate=True)
    return np.frombuffer(raw, dtype=KINDS[record["kind"]]).reshape(record["shape"]).copy()
