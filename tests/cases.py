"""Parameters of tests, made from the entries of a registry."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import pytest

from credence.calibrators.all_methods import METHODS
from credence.calibrators.protocol import Law


def cases(argument: str, entries: Iterable[Any], long: Collection[str] = ()) -> Any:
    """Return the mark that runs a test for each entry, under the name of the entry.

    Entries named in `long` run with the long tests: they are slow, and others of the law stay.
    """
    named = {getattr(entry, "name", entry): entry for entry in entries}
    return pytest.mark.parametrize(argument, [_case(long, *pair) for pair in named.items()])


def promising(law: Law, long: Collection[str] = ()) -> Any:
    """Return the mark that runs a test for each method, with settings, that promises a law."""
    entries = [(method, method.settings()) for method in METHODS if law in method.laws]
    entries += [
        (method, method.conditional_laws[law])
        for method in METHODS
        if law in method.conditional_laws
    ]
    return pytest.mark.parametrize(
        ("method", "method_settings"), [_case(long, pair[0].name, *pair) for pair in entries]
    )


def _case(long: Collection[str], name: str, *values: Any) -> Any:
    return pytest.param(*values, id=name, marks=[pytest.mark.long] * (name in long))
