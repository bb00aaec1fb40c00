from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def quick(schema_read_once: None) -> None:
    """Let all tests of this folder check by a schema that is read once."""
