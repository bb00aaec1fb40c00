"""Fixtures that several rooms of the tests share."""

from __future__ import annotations

from pathlib import Path

import pytest

# Findings written by hand, pages of them, and release folders of drawn worlds.
pytest_plugins = ["small_findings", "shift_findings", "drawn_releases"]

SHARED_DATA = Path(__file__).resolve().parents[2] / "shared" / "data"


@pytest.fixture(scope="session")
def real_data() -> Path:
    """Return the folder of real tables, or skip where it is absent."""
    if not SHARED_DATA.is_dir():
        pytest.skip(f"the real tables are not beside this checkout: {SHARED_DATA} is absent")
    return SHARED_DATA
