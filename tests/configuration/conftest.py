"""The schema of the configuration, read once for all tests of this folder."""

from __future__ import annotations

from copy import deepcopy

import pytest

from credence.app import configuration


@pytest.fixture(scope="module")
def schema() -> dict:
    return configuration.load_schema()


@pytest.fixture(autouse=True)
def schema_read_once(schema: dict, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading it takes longer than checking a configuration by it."""
    monkeypatch.setattr(configuration, "load_schema", lambda: deepcopy(schema))
