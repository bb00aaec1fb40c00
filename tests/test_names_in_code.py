"""Names in the package: nouns for variables, one value for a constant, fields by name."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1] / "workflow" / "credence"
TREES = {path: ast.parse(path.read_text()) for path in sorted(PACKAGE.rglob("*.py"))}
PRONOUNS = {
    *("found", "what", "one", "own", "of", "it", "its", "this", "that", "these", "those"),
    *("they", "them", "theirs", "who", "which", "mine"),
}
# A message says where, what and how to repair it.
ALLOWED = {("problems.py", "what")}


def named(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """Yield each name that code gives to a value, and its line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id, node.lineno
        elif isinstance(node, ast.arg):
            yield node.arg, node.lineno


def test_no_variable_is_a_pronoun():
    seen = [
        f"{path.name}:{line} {name}"
        for path, tree in TREES.items()
        for name, line in named(tree)
        if name in PRONOUNS and (path.name, name) not in ALLOWED
    ]
    assert seen == []


def test_the_name_of_a_constant_has_one_value():
    values: dict[str, dict[str, str]] = defaultdict(dict)
    for path, tree in TREES.items():
        for node in tree.body:
            targets = node.targets if isinstance(node, ast.Assign) else ()
            if isinstance(node, ast.AnnAssign) and node.value is not None:
                targets = (node.target,)
            for target in targets:
                if isinstance(target, ast.Name) and target.id.lstrip("_").isupper():
                    values[target.id][ast.unparse(node.value)] = path.name
    assert {name: places for name, places in values.items() if len(places) > 1} == {}


def test_no_tuple_is_spread_into_a_constructor():
    seen = []
    for path, tree in TREES.items():
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call):
                continue
            called = ast.unparse(node.func).split(".")[-1]
            is_class = called[:1].isupper() or called == "cls"
            if is_class and any(isinstance(value, ast.Starred) for value in node.args):
                seen.append(f"{path.name}:{node.lineno} {ast.unparse(node)}")
    assert seen == []
