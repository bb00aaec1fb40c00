"""What neither linter can say of the whole: registries, rules, hidden states.

Who may import whom and what is too complex stands in pyproject.toml (`make lint`).
"""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import click
import pytest

from credence.app import COMMANDS, group
from credence.calibrators.all_methods import METHODS
from credence.composition.estimators import ESTIMATORS
from credence.evaluation.paper_figures import FIGURES
from credence.events.features import FEATURES
from credence.events.forecasters import FORECASTERS
from credence.metrics.all_metrics import METRICS
from credence.tables.formats import FORMATS

ROOT = Path(__file__).resolve().parents[1]
SOURCES = [
    path
    for folder in ("workflow", "benchmarks", "verification", "examples")
    for path in sorted((ROOT / folder).rglob("*.py"))
]
RULES = sorted((ROOT / "workflow" / "rules").glob("*.smk"))
REGISTRIES: dict[str, tuple[str, tuple[Any, ...]]] = {
    "methods": ("calibrators", METHODS),
    "metrics": ("metrics", METRICS),
    "estimators": ("composition", ESTIMATORS),
    "features": ("events", FEATURES),
    "forecasters": ("events", FORECASTERS),
    "formats": ("tables.formats", FORMATS),
    "figures": ("evaluation.paper_figures", FIGURES),
}
# What a linter looks for in the tree, as text: under another name, or in a rule.
NEVER = (
    *(r"\bpickle\b(?!s? are refused|d arrays)", r"\bos\.system\b", r"\bos\.popen\b"),
    *(r"\beval\(", r"\bexec\(", r"shell\s*=\s*True", r"allow_pickle\s*=\s*True"),
    *(r"yaml\.(unsafe_|full_)?load\(", r"typ=.unsafe", r"default_rng\(\)", r"np\.random\.seed"),
)


def modules_of(package: str) -> Iterator[ModuleType]:
    """Yield a package, or module, and its modules."""
    whole = importlib.import_module(package)
    yield whole
    for found in pkgutil.iter_modules(getattr(whole, "__path__", ()), f"{package}."):
        yield importlib.import_module(found.name)


@pytest.mark.parametrize("what", REGISTRIES)
def test_what_is_defined_is_listed_once(what: str) -> None:
    package, listed = REGISTRIES[what]
    for module in modules_of(f"credence.{package}"):
        for name, value in vars(module).items():
            if isinstance(value, type(listed[0])):
                times = sum(one is value for one in listed)
                assert times == 1, f"{module.__name__}.{name} is listed {times} times"
    names = [entry.name for entry in listed]
    assert len(set(names)) == len(names)


def test_every_command_is_listed() -> None:
    listed = [group.get_command(click.Context(group), name) for name in COMMANDS]
    for module in modules_of("credence.app"):
        if hasattr(module, "command"):
            assert sum(module.command is one for one in listed) == 1, module.__name__
    assert None not in listed


def test_every_rule_names_files_and_calls_one_command() -> None:
    assert len(RULES) >= 8
    for path in RULES:
        text = path.read_text(encoding="utf-8")
        if path.name == "common.smk":  # what rules ask, no rule itself
            assert not re.search(r"^(rule|checkpoint)\b", text, re.M)
            continue
        assert text.startswith("# In: "), path.name
        assert "\n# Out: " in text, path.name
        assert not re.search(r"^\s+(run|script|notebook|wrapper|cwl):", text, re.M), path.name
        for body in re.split(r"^(?=(?:use )?rule )", text, flags=re.M)[1:]:
            assert re.search(r"^    log:", body, re.M), path.name
            assert re.search(r"^    benchmark:", body, re.M), path.name
            if body.startswith("use "):  # its command is that of the rule that it uses
                continue
            assert "source=SOURCE," in body, path.name
            assert "python=PYTHON," in body, path.name
            command = body[body.index("    shell:") :]
            assert command.count('"{resources.python:q} -m credence ') == 1, path.name
            assert command.count("-m credence ") == 1, path.name
            # Every word that a shell gets is quoted.
            assert not re.search(r'\bf"', command), path.name
            for placeholder in re.findall(r"\{[^{}]+\}", command):
                assert placeholder.endswith(":q}"), f"{path.name}: {placeholder}"


def test_nothing_runs_what_it_reads_or_draws_from_the_clock() -> None:
    assert len(SOURCES) > 200
    snakefiles = [ROOT / "Snakefile", ROOT / "workflow" / "Snakefile"]
    found = [
        f"{path.relative_to(ROOT)}: {match[0]}"
        for path in [*SOURCES, *RULES, *snakefiles]
        for pattern in NEVER
        for match in re.finditer(pattern, path.read_text(encoding="utf-8"))
    ]
    assert found == []
