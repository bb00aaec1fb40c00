"""Numbers of small worlds that stay what they are, beside the tests in `numbers.json`.

Where a change of them is meant, copy the new file from where the message says; CHANGELOG.md
says by how much.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from credence.records import to_record

DIGITS = 8  # that are kept
# What steps find is less sure than what is summed: the ridge of rlls is good to 1e-5.
TOLERANCE = 1e-5


def plain(value: Any) -> Any:
    """Return records and arrays as JSON data, with fewer digits."""
    if isinstance(value, dict):
        return {name: plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [plain(one) for one in value]
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else str(value)
    if isinstance(value, str | bool | int | None):
        return value
    return plain(value.item() if isinstance(value, np.generic) else to_record(value))


def differences(known: Any, found: Any, where: str = "") -> Iterator[str]:
    """Yield what is not the same."""
    if isinstance(known, dict | list) and type(known) is type(found):
        names = list(known) if isinstance(known, dict) else list(range(len(known)))
        if len(known) != len(found) or (isinstance(known, dict) and set(known) != set(found)):
            yield f"{where}: other entries"
            return
        for name in names:
            yield from differences(known[name], found[name], f"{where}.{name}")
        return
    if isinstance(known, int | float) and isinstance(found, int | float):
        if math.isclose(known, found, rel_tol=TOLERANCE, abs_tol=TOLERANCE):
            return
    elif known == found:
        return
    yield f"{where}: {known} -> {found}"


class Known:
    """The numbers of a file, and where the new file is written."""

    def __init__(self, path: Path, new: Path) -> None:
        self.entries: dict[str, Any] = json.loads(path.read_text("utf-8"))
        self.new = new

    def compare(self, name: str, value: Any) -> None:
        """Require that an entry is what it was."""
        known, found = self.entries.get(name), plain(value)
        self.entries[name] = found
        off = list(differences(known, found))
        assert not off, f"{off[:5]} of {name}; right? {self.new}"

    def write(self) -> None:
        """Write the new file, one entry a line."""
        lines = [f"{json.dumps(name)}: {json.dumps(self.entries[name])}" for name in self.entries]
        self.new.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")


@pytest.fixture(scope="module")
def known(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Known]:
    """Give the numbers that lie beside a module."""
    path = request.path.with_name("numbers.json")
    new = tmp_path_factory.getbasetemp() / f"{request.path.parent.name}.numbers.json"
    numbers = Known(path, new)
    yield numbers
    numbers.write()
