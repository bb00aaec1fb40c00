"""What there is: calibrations, methods, formats, metrics, programs; for a reader or a program."""

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from credence.calibrators import all_methods
from credence.calibrators.protocol import Law
from credence.metrics.all_metrics import METRICS
from credence.problems import InputError
from credence.relatives.cdhit import INSTALL_CDHIT
from credence.relatives.mmseqs import INSTALL_MMSEQS, find_program
from credence.settings import range_in_words, setting_rules
from credence.tables.formats import FORMATS
from credence.tables.ready_made import card_lines, cards


@dataclass(frozen=True, kw_only=True)
class ListedEntry:
    """What can be named in a command."""

    facts: Mapping[str, Any]  # All of it, for a program
    lines: Sequence[str]  # The same for a reader: two for a list, then the rest


COMMON_LAWS = ("INVARIANCE", "RANGE")  # promised by every method, so not listed with each


def describe_methods() -> list[dict[str, Any]]:
    """Return what a user has to know of every method, from simple to complex."""
    return [describe(method) for method in all_methods.METHODS]


def describe(method: Any) -> dict[str, Any]:
    """Return what a user has to know of a method, as JSON data."""
    conditional = method.conditional_laws
    promised = {*method.laws, *conditional}
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
            law.value: _differing(conditional[law]) for law in offered if law in conditional
        },
        "laws_not_promised": [law.value for law in offered if law not in promised],
    }


def _differing(settings: Any) -> str:
    """Return the settings that are not at their default, as a user writes them."""
    return ", ".join(
        f"{entry.name}={getattr(settings, entry.name):g}"
        for entry in fields(settings)
        if getattr(settings, entry.name) != entry.default
    )


def method_lines(entry: Mapping[str, Any]) -> list[str]:
    """Return the same as lines of text."""
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


def _range(setting: Mapping[str, Any]) -> str:
    if isinstance(setting["default"], bool):
        return "true or false"
    allowed = range_in_words(setting["low"], setting["high"]).removeprefix("from ")
    return " or ".join([*setting["choices"], *filter(None, [allowed.removeprefix("of ")])])


def methods_listed() -> dict[str, ListedEntry]:
    """Return the calibration methods."""
    return {
        facts["name"]: ListedEntry(facts=facts, lines=method_lines(facts))
        for facts in describe_methods()
    }


def calibrations_listed() -> dict[str, ListedEntry]:
    """Return the calibrations that come with credence."""
    return {
        name: ListedEntry(facts={"name": name, **card}, lines=card_lines(name, card))
        for name, card in cards().items()
    }


def formats_listed() -> dict[str, ListedEntry]:
    """Return the formats of score tables."""
    return {
        entry.name: ListedEntry(
            facts={"name": entry.name, "summary": entry.summary},
            lines=[f"{entry.name}: {entry.summary}"],
        )
        for entry in FORMATS
    }


def metrics_listed() -> dict[str, ListedEntry]:
    """Return the metrics by which calibrations are judged."""
    return {
        entry.name: ListedEntry(
            facts={
                "name": entry.name,
                "title": entry.title,
                "summary": entry.summary,
                "reference": entry.reference,
            },
            lines=[
                f"{entry.name}: {entry.title}. {entry.summary}",
                f"    from: {entry.reference}",
            ],
        )
        for entry in METRICS
    }


# Programs that credence calls: what for, and how one that is not here is installed.
PROGRAMS = {
    "mmseqs": ("finds relatives in large sets of proteins", INSTALL_MMSEQS),
    "cd-hit": ("forms the clusters of PhANNs", INSTALL_CDHIT),
    "sbatch": ("hands jobs to a SLURM cluster", "It comes with SLURM: ask those who run it."),
}


def programs_listed() -> dict[str, ListedEntry]:
    """Return the programs that credence calls, with the path of each that is installed."""
    entries = {}
    for name, (purpose, remedy) in PROGRAMS.items():
        path = _mmseqs() if name == "mmseqs" else shutil.which(name)
        facts = {"name": name, "purpose": purpose, "path": path}
        state = f"installed: {path}" if path else f"not installed. {remedy}"
        lines = [f"{name}: {purpose}", f"    {state}"]
        entries[name] = ListedEntry(facts=facts, lines=lines)
    return entries


def _mmseqs() -> str | None:
    try:
        return find_program()
    except InputError:
        return None


LISTS: Mapping[str, Callable[[], dict[str, ListedEntry]]] = {
    "calibrations": calibrations_listed,
    "methods": methods_listed,
    "formats": formats_listed,
    "metrics": metrics_listed,
    "programs": programs_listed,
}
