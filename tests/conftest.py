"""Fixtures that several folders of tests share, and the order of files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from credence import progress

# Findings written by hand, pages of them, release folders of drawn worlds, known numbers.
pytest_plugins = ["small_findings", "shift_findings", "drawn_releases", "known_numbers"]

# Folders whose files take long; they begin first, so that no process waits for one at the end.
LONG_FIRST = (
    "tests/workflow/",
    "tests/docs/",
    "tests/faults/",
    "tests/browser/",
    "tests/cli/",
    "tests/engines/",
    "tests/calibrators/",
    "tests/test_",
)


@pytest.fixture(scope="session", autouse=True)
def no_progress() -> Iterator[None]:
    """Keep lines of progress off what commands print, however slow the machine is.

    For the whole session: fixtures that several tests share run commands as well.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(progress, "SECONDS_BEFORE_FIRST", 3600.0)
        yield


SHARED_DATA = Path(__file__).resolve().parents[2] / "shared" / "data"


@pytest.fixture(scope="session")
def real_data() -> Path:
    """Return the folder of real tables, or skip where it is absent."""
    if not SHARED_DATA.is_dir():
        pytest.skip(f"the real tables are not beside this checkout: {SHARED_DATA} is absent")
    return SHARED_DATA


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put files that take long first; within a file the order stays."""

    def place(item: pytest.Item) -> int:
        found = [at for at, folder in enumerate(LONG_FIRST) if item.nodeid.startswith(folder)]
        return found[0] if found else len(LONG_FIRST)

    items.sort(key=place)


@pytest.fixture(scope="module")
def schema() -> dict[str, Any]:
    """Return the schema of the configuration."""
    from credence.app import configuration

    return configuration.load_schema()
