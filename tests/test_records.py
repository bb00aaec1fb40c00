from __future__ import annotations

import numpy as np
import pytest

from credence.records import json_text, to_record


def test_json_keeps_the_order_of_keys_and_names_as_they_are() -> None:
    record = {
        "b": {"Köpfe": np.float64(0.5)},
        "a": [],
        "c": [{"n": np.int64(3)}],
        "d": (True, None),
    }
    assert json_text(record) == (
        '{\n  "b": {\n    "Köpfe": 0.5\n  },\n  "a": [],\n  "c": [\n    {\n      "n": 3\n    }\n'
        '  ],\n  "d": [true, null]\n}\n'
    )


def test_an_infinity_is_never_written_as_json() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        json_text({"x": [float("inf")]})


def test_a_record_becomes_plain_without_being_touched() -> None:
    values = np.array([[1.5, np.nan]])
    record = {"a": (values, np.float32(0.25), np.bool_(True))}
    assert to_record(record) == {"a": [[[1.5, None]], 0.25, True]}
    assert record["a"][0] is values
