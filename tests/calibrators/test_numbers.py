"""The numbers of a small world stay what they are.

What each method gives at each of its choices, beside `numbers.json`. Where a change of them
is meant, copy the new file from where the message says, and CHANGELOG.md says by how much.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from credence.calibrators.all_methods import METHODS
from credence.calibrators.method_spec import parse_method
from credence.calibrators.protocol import FitOptions
from credence.settings import setting_rules

KNOWN = Path(__file__).with_name("numbers.json")
OPTIONS = FitOptions(n_draws=12)
N_ASKED = 10
LEFT_OUT = ("auto",)  # it chooses among the others, and takes long


def specs() -> Iterator[str]:
    """Yield the methods, with each of their choices."""
    for method in METHODS:
        if method.name in LEFT_OUT:
            continue
        yield method.name
        for name, (default, rule) in setting_rules(method.settings).items():
            choices = (True, False) if isinstance(default, bool) else rule.choices
            yield from (f"{method.name}({name}={one})" for one in choices if one != default)


def numbers_of(spec: str, worlds: SimpleNamespace) -> dict[str, Any]:
    labelled = worlds.draw(seed=21, n_samples=240, n_clusters=90)
    asked = worlds.draw(seed=22, n_samples=N_ASKED).predictions
    found = parse_method(spec, "test").build(OPTIONS).fit(labelled).confidence(asked)
    numbers = {
        name: [None if np.isnan(one) else round(float(one), 9) for one in getattr(found, name)]
        for name in ("value", "lower", "upper", "support")
    }
    return numbers | {"note": found.note.tolist()}


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[dict[str, Any], Path]]:
    """Give a place for what is found, written as the new file at the end."""
    numbers: dict[str, Any] = json.loads(KNOWN.read_text("utf-8"))
    new = tmp_path_factory.getbasetemp() / KNOWN.name
    yield numbers, new
    lines = [f"{json.dumps(spec)}: {json.dumps(entry)}" for spec, entry in numbers.items()]
    new.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")


@pytest.mark.parametrize("spec", list(specs()))
def test_the_numbers_are_what_they_were(
    spec: str, worlds: SimpleNamespace, found: tuple[dict[str, Any], Path]
) -> None:
    numbers, new = found
    known = numbers.get(spec, {})
    numbers[spec] = numbers_of(spec, worlds)
    for name, values in numbers[spec].items():
        got, expected = (
            [np.nan if one is None else one for one in part]
            for part in (values, known.get(name, []))
        )
        # What steps find is as sure as 1e-9 here, and less with another linear algebra.
        assert got == pytest.approx(expected, abs=1e-6, nan_ok=True), f"{name}; right? {new}"
