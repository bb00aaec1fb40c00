"""Every option that a message names exists."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import click

from credence.app import COMMANDS, group
from page_commands import ROOT

PACKAGE = ROOT / "workflow" / "credence"
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z0-9-]*")
# Options of other programs, which messages name together with these; and words of `stage`.
OTHERS = {
    **dict.fromkeys(("--require-hashes", "--requirement", "--force-reinstall"), "pip"),
    **dict.fromkeys(("--no-deps", "--no-build-isolation", "--editable", "--only-binary"), "pip"),
    **dict.fromkeys(("--configfile", "--dry-run"), "snakemake"),
    "--images": "verification/ensembles.py",
    "--file": "conda",
}


def every_option() -> set[str]:
    """Return all options of all commands."""
    found = {"--help", "--version"}
    left = [group.get_command(click.Context(group), name) for name in COMMANDS]
    while left:
        command = left.pop()
        assert command is not None
        left += getattr(command, "commands", {}).values()
        for parameter in command.params:
            found |= {*parameter.opts, *parameter.secondary_opts}
    return found


def texts_of(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the texts of a module that hold more than one word: messages, help, docstrings."""
    text = path.read_text("utf-8")
    for node in ast.walk(ast.parse(text)) if OPTION.search(text) else ():
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
            yield node.lineno, node.value


def test_every_option_that_a_message_names_exists() -> None:
    known, n_named = every_option(), 0
    for path in sorted(PACKAGE.rglob("*.py")):
        for line, text in texts_of(path):
            for option in OPTION.findall(text):
                n_named += 1
                assert option in known | OTHERS.keys(), (
                    f"{path.name}, line {line}: {option} in {text!r}"
                )
    assert n_named > 200
