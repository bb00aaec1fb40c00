"""Settings: a default, a range and a line of help, written once beside their field."""

from __future__ import annotations

from dataclasses import MISSING, dataclass, field, fields
from typing import Any


@dataclass(frozen=True)
class SettingRule:
    """What a user may write for one setting."""

    text: str  # One line of help
    choices: tuple[str, ...] = ()  # Words allowed; with numbers too where `low` or `high` is given
    low: float | None = None  # Range of numbers, ends included
    high: float | None = None


def setting(
    default: Any,
    text: str,
    choices: tuple[str, ...] = (),
    low: float | None = None,
    high: float | None = None,
) -> Any:
    """Return a dataclass field that carries its own :class:`SettingRule`."""
    return field(default=default, metadata={"rule": SettingRule(text, choices, low, high)})


def setting_rules(settings: type[Any]) -> dict[str, tuple[Any, SettingRule]]:
    """Return name → (default, rule) of a method's settings, in order."""
    found = {}
    for entry in fields(settings):
        assert entry.default is not MISSING, f"{settings.__name__}.{entry.name} has no default"
        found[entry.name] = (entry.default, entry.metadata["rule"])
    return found
