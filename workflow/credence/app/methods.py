"""``credence methods``: what the registry of calibrators holds."""

from __future__ import annotations

import json
from typing import Any

import click

# Promised by every method, so not listed with each.
COMMON_LAWS = ("INVARIANCE", "RANGE")


@click.command(epilog="Example: credence methods --json")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(as_json: bool) -> None:
    """List the calibration methods, from simple to complex.

    Each with its reference, what it needs of a table, its settings with
    defaults and ranges, and the laws that it promises or does not.
    """
    entries = [describe(method) for method in _methods()]
    if as_json:
        click.echo(json.dumps(entries, indent=2, ensure_ascii=False))
        return
    for entry in entries:
        click.echo("\n".join(_lines(entry)))


def _methods() -> tuple[Any, ...]:
    from credence.calibrators.all_methods import METHODS

    return METHODS


def describe(method: Any) -> dict[str, Any]:
    """Return what is to be said of a method, as JSON data."""
    from credence.calibrators.protocol import Law
    from credence.settings import setting_rules

    offered = [law for law in Law if law.name not in COMMON_LAWS]
    return {
        "name": method.name,
        "summary": method.summary,
        "reference": method.reference,
        "needs": method.needs.value,
        "settings": [
            {
                "name": name,
                "default": default,
                "text": rule.text,
                "choices": list(rule.choices),
                "low": rule.low,
                "high": rule.high,
            }
            for name, (default, rule) in setting_rules(method.settings).items()
        ],
        "laws_promised": [law.value for law in offered if law in method.laws],
        "laws_promised_with_settings": {
            law.value: _differing(method.conditional_laws[law])
            for law in offered
            if law in method.conditional_laws
        },
        "laws_not_promised": [
            law.value
            for law in offered
            if law not in method.laws and law not in method.conditional_laws
        ],
    }


def _differing(settings: Any) -> str:
    """Return the settings that are not at their default, as a user writes them."""
    from dataclasses import fields

    return ", ".join(
        f"{entry.name}={getattr(settings, entry.name):g}"
        for entry in fields(settings)
        if getattr(settings, entry.name) != entry.default
    )


def _lines(entry: dict[str, Any]) -> list[str]:
    lines = [f"{entry['name']}: {entry['summary']}", f"    from: {entry['reference']}"]
    lines.append(f"    needs: {entry['needs']}")
    for setting in entry["settings"]:
        lines.append(
            f"    {setting['name']}={setting['default']}: {setting['text']} ({_range(setting)})"
        )
    lines += [f"    promises: {law}" for law in entry["laws_promised"]]
    lines += [
        f"    promises with {settings}: {law}"
        for law, settings in entry["laws_promised_with_settings"].items()
    ]
    lines += [f"    does not promise: {law}" for law in entry["laws_not_promised"]]
    return lines


def _range(setting: dict[str, Any]) -> str:
    words = list(setting["choices"])
    low, high = setting["low"], setting["high"]
    if isinstance(setting["default"], bool):
        words = ["true", "false"]
    elif low is not None and high is not None:
        words.append(f"{low:g} to {high:g}")
    elif low is not None:
        words.append(f"at least {low:g}")
    elif high is not None:
        words.append(f"at most {high:g}")
    return " or ".join(words)
