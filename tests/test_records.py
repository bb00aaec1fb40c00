"""The codec: what is written, what comes back, and in which words damage is refused."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Protocol, get_origin

import numpy as np
import pytest

from credence import records
from credence.predictions import Floats
from credence.problems import InputError
from credence.records import (
    PackedFloats,
    Stored,
    base64_of,
    from_record,
    json_record,
    json_text,
    to_record,
    unpacked,
)
from refusals import refusal


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


def test_a_key_that_stands_twice_is_refused_with_its_name() -> None:
    text = '{"a": {"x": 1, "y": [{"z": 1}, {"z": 2}]}, "b": {"y": 1, "x": 2, "y": 1}}'
    assert refusal(json_record, "c.json", text, "Make it again.") == (
        "c.json: this is no record of credence (the key 'y' stands twice). Make it again."
    )
    assert json_record("c.json", text.replace(', "y": 1}', "}"), "")["b"] == {"y": 1, "x": 2}


def test_a_record_becomes_plain_without_being_touched() -> None:
    values = np.array([[1.5, np.nan]])
    record = {"a": (values, np.float32(0.25), np.bool_(True))}
    assert to_record(record) == {"a": [[[1.5, None]], 0.25, True]}
    assert record["a"][0] is values


class Shape(Protocol):
    def area(self) -> float: ...


@dataclass(frozen=True)
class Square:
    side: float

    def area(self) -> float:
        return self.side**2

    def refuse_damage(self) -> None:
        if self.side < 0:
            raise ValueError("a side is below 0")


@dataclass(frozen=True)
class Disc:
    radius: float

    def area(self) -> float:
        return math.pi * self.radius**2


@dataclass(frozen=True)
class Frame:
    width: int
    colour: Annotated[str | None, Stored(is_left_out=True)] = None


@dataclass(frozen=True, kw_only=True, eq=False)
class Drawing:
    kind: str = field(default="drawing/1", init=False)
    shape: str
    drawn: Annotated[Shape, Stored(tag="shape")]
    frame: Annotated[Frame, Stored(is_inline=True)]
    limits: Annotated[Floats, Stored(null=math.inf)]
    points: PackedFloats
    note_: Annotated[tuple[str, ...], Stored(name="note")] = ()
    marks: dict[str, Square] = field(default_factory=dict)


SHAPES = {Shape: {"square": Square, "disc": Disc}}
DRAWING = Drawing(
    shape="disc",
    drawn=Disc(radius=0.1),
    frame=Frame(width=3),
    limits=np.array([1 / 3, np.inf]),
    points=np.array([[0.5], [np.nan]]),
    note_=("a",),
    marks={"x": Square(side=2.0)},
)


def test_a_record_follows_the_fields_and_their_marks() -> None:
    record = to_record(DRAWING)
    assert list(record) == ["kind", "shape", "drawn", "width", "limits", "points", "note", "marks"]
    assert record["limits"] == [1 / 3, None]
    assert record["points"]["shape"] == [2, 1]
    assert record["marks"] == {"x": {"side": 2.0}}


def test_a_record_comes_back_as_it_was() -> None:
    text = json_text(DRAWING)
    again = from_record(Drawing, json.loads(text), kinds=SHAPES)
    assert json_text(again) == text
    assert (
        again.drawn == Disc(radius=0.1) and again.frame == Frame(width=3) and again.note_ == ("a",)
    )
    np.testing.assert_array_equal(again.limits, DRAWING.limits)
    np.testing.assert_array_equal(again.points, DRAWING.points)


def test_arrays_are_read_whatever_numpy_makes_of_their_types(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # From numpy 2.5 on, on Python 3.12 and later, the origin of NDArray[...] is NDArray.
    def origin_of(kind: Any) -> Any:
        origin = get_origin(kind)
        return "NDArray" if origin is np.ndarray else origin

    monkeypatch.setattr(records, "get_origin", origin_of)
    again = from_record(Drawing, to_record(DRAWING), kinds=SHAPES)
    np.testing.assert_array_equal(again.limits, DRAWING.limits)
    np.testing.assert_array_equal(again.points, DRAWING.points)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kind": "drawing/2"}, "'kind': 'drawing/2' is not 'drawing/1', the only one"),
        ({"shape": "cube"}, "'drawn': 'cube' is nothing that this version of credence knows."),
        ({"drawn": {}}, "'drawn.radius': it is missing."),
        ({"drawn": 3}, "'drawn': 3 is no value for it."),
        ({"width": 2.5}, "'width': 2.5 is no value for it."),
        ({"width": True}, "'width': true is no value for it."),
        ({"note": ["a", 1]}, "'note[1]': 1 is no value for it."),
        ({"note": "a"}, "'note': \"a\" is no value for it."),
        ({"limits": [1, "b"]}, "'limits': [1, \"b\"] is no value for it."),
        ({"limits": ["1"]}, "'limits': [\"1\"] is no value for it."),
        ({"points": {}}, "'points': it is damaged (KeyError: 'base64')."),
        ({"marks": {"y": {"side": -1.0}}}, "'marks.y': it is damaged (a side is below 0)."),
        ({"marks": {"y": {"side": "x" * 99}}}, f"'marks.y.side': \"{'x' * 38}… is no value"),
    ],
)
def test_damage_is_refused_by_the_path_to_its_field(
    change: Mapping[str, Any], message: str
) -> None:
    refused = refusal(
        from_record, Drawing, to_record(DRAWING) | change, "d.json", "Draw again.", SHAPES
    )
    assert refused.startswith(f"d.json, column {message}")
    assert refused.endswith("Draw again.")


def test_all_damage_is_told_together() -> None:
    record = to_record(DRAWING) | {"shape": 1, "limits": None, "width": None}
    del record["points"]
    with pytest.raises(InputError) as refused:
        from_record(Drawing, record, "d.json", "", SHAPES)
    paths = [problem.column for problem in refused.value.problems]
    assert paths == ["shape", "drawn", "width", "limits", "points"]


@pytest.mark.parametrize("kind", ["float32", "int32", "bool"])
def test_packed_arrays_come_back(kind: str) -> None:
    values = np.array([[0, 1], [1, 0]])
    back = unpacked(json.loads(json.dumps(base64_of(values, kind))))
    np.testing.assert_array_equal(back, values)
    assert back.dtype == np.dtype(kind)


def test_single_precision_of_few_decimals_is_written_by_its_last_decimal_and_comes_back() -> None:
    of_two = np.array([[0.0, 0.57], [9.99, -3.1]], dtype=np.float32)
    record = base64_of(of_two, "float32")
    assert record["decimals"] == 2
    np.testing.assert_array_equal(unpacked(record), of_two)
    for odd in ([0.1, 1.0 / 3.0], [np.nan, 1.0], [np.inf], [-0.0], [1e30]):
        values = np.array(odd, dtype=np.float32)
        record = base64_of(values, "float32")
        assert "decimals" not in record
        assert unpacked(record).tobytes() == values.tobytes()
