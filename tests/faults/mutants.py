"""Mutants: a module with one small fault, at each place where there could be one."""

from __future__ import annotations

import ast
import copy
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

OPERATORS = [
    *((ast.Lt, ast.LtE), (ast.LtE, ast.Lt), (ast.Gt, ast.GtE), (ast.GtE, ast.Gt)),
    *((ast.Lt, ast.Gt), (ast.LtE, ast.Gt), (ast.Gt, ast.Lt), (ast.GtE, ast.Lt)),
    *((ast.Eq, ast.NotEq), (ast.NotEq, ast.Eq), (ast.Is, ast.IsNot), (ast.IsNot, ast.Is)),
    *((ast.In, ast.NotIn), (ast.NotIn, ast.In), (ast.And, ast.Or), (ast.Or, ast.And)),
    *((ast.Add, ast.Sub), (ast.Sub, ast.Add), (ast.Mult, ast.Div), (ast.Div, ast.Mult)),
    *((ast.FloorDiv, ast.Div), (ast.Mod, ast.Mult), (ast.Pow, ast.Mult)),
    *((ast.BitAnd, ast.BitOr), (ast.BitOr, ast.BitAnd)),
]
IN_NUMPY = [
    *(("sum", "max"), ("min", "max"), ("minimum", "maximum"), ("argmin", "argmax")),
    *(("floor", "ceil"), ("any", "all"), ("zeros", "ones"), ("log", "log1p"), ("exp", "expm1")),
]
OURS = [("lower", "upper"), ("correct", "wrong"), ("left", "right")]
SWAPPED = {name: pair[1 - at] for pair in IN_NUMPY + OURS for at, name in enumerate(pair)}
# Notes for the type checker, and what only makes sure of what the code promises itself.
SKIPPED_FIELDS = ("annotation", "returns", "ctx", "decorator_list")
SKIPPED_KEYWORDS = ("strict", "dtype")


@dataclass(frozen=True)
class Mutant:
    """A piece of a module and what stands in its place."""

    path: str  # Of the module, below the checkout
    start: int  # The bytes that are replaced
    end: int
    new: str
    lines: range  # Of the statement; from 1
    at_import: bool  # Whether it runs when the module is imported
    name: str  # Where and what, for a reader


def with_(node: ast.AST, field: str, value: Any) -> ast.AST:
    """Return a node with one field changed."""
    new = copy.copy(node)
    setattr(new, field, value)
    return new


def other_operators(node: ast.AST) -> Iterator[ast.AST]:
    """Yield a node with another operator, of the first two things that it compares."""
    for field in ("op", "ops"):
        was = getattr(node, field, None)
        for old, new in OPERATORS:
            if isinstance(was, old):
                yield with_(node, field, new())
            elif isinstance(was, list) and isinstance(was[0], old):
                yield with_(node, field, [new(), *was[1:]])


def other_values(node: ast.AST, known: set[str]) -> Iterator[ast.AST]:
    """Yield a node with another number, name, end or condition."""
    match node:
        case ast.UnaryOp(operand=operand):
            yield operand
        case ast.Constant(value=bool() | "left" | "right" as value):
            yield with_(node, "value", SWAPPED[value] if isinstance(value, str) else not value)
        case ast.Constant(value=int() | float() as value):
            yield from (with_(node, "value", value + step) for step in (1, -1))
        case ast.IfExp(test=test) if not isinstance(test, ast.Compare):
            yield with_(node, "test", ast.UnaryOp(ast.Not(), test))
        case ast.Slice():
            yield from (with_(node, end, None) for end in ("lower", "upper") if getattr(node, end))
        case ast.Name(id=name) | ast.Attribute(attr=name):
            words = name.split("_")
            for at, word in enumerate(words):
                new = "_".join([*words[:at], SWAPPED.get(word, ""), *words[at + 1 :]])
                if new in known and word in SWAPPED:
                    yield with_(node, "id" if isinstance(node, ast.Name) else "attr", new)


def names_in(tree: ast.AST | None) -> set[str]:
    """Return all names and attributes of a piece of code, and those of numpy."""
    nodes = ast.walk(tree) if tree else ()
    own = {getattr(node, field, None) for node in nodes for field in ("id", "attr", "arg")}
    return {name for pair in IN_NUMPY for name in pair} | {name for name in own if name}


def mutants_of(folder: Path, path: str) -> Iterator[Mutant]:
    """Yield all mutants of a module."""
    text = (folder / path).read_bytes()
    starts = [0, *(at + 1 for at, byte in enumerate(text) if byte == ord("\n"))]
    seen: Counter[str] = Counter()

    def below(node: ast.AST, inside: str, known: set[str], lines: range) -> Iterator[Mutant]:
        for field, value in ast.iter_fields(node):
            if isinstance(node, ast.FunctionDef) and field == "body":
                inside, known = f"{inside}.{node.name}", names_in(node)
            for child in value if isinstance(value, list) else [value]:
                skipped = isinstance(child, ast.JoinedStr | ast.ImportFrom | ast.Import) or (
                    isinstance(child, ast.keyword) and child.arg in SKIPPED_KEYWORDS
                )
                if isinstance(child, ast.AST) and field not in SKIPPED_FIELDS and not skipped:
                    yield from walk(child, inside, known, lines)

    def walk(node: ast.AST, inside: str, known: set[str], lines: range) -> Iterator[Mutant]:
        if isinstance(node, ast.stmt):
            body = getattr(node, "body", None)
            last = max(body[0].lineno - 1, node.lineno) if body else node.end_lineno or 0
            lines = range(node.lineno, last + 1)
        yield from below(node, inside, known, lines)
        if not isinstance(node, ast.expr | ast.Slice | ast.AugAssign):
            return
        start = starts[node.lineno - 1] + node.col_offset
        end = starts[(node.end_lineno or 0) - 1] + (node.end_col_offset or 0)
        was = " ".join(text[start:end].decode().split())
        for new in (*other_operators(node), *other_values(node, known)):
            now = ast.unparse(ast.fix_missing_locations(new))
            name = f"{Path(path).stem}{inside}: {was} -> {now}"
            seen[name] += 1
            name += f" ({seen[name]})" if seen[name] > 1 else ""
            now = now if isinstance(new, ast.Slice | ast.AugAssign) else f"({now})"
            yield Mutant(
                path=path,
                start=start,
                end=end,
                new=now,
                lines=lines,
                at_import=not inside,
                name=name,
            )

    yield from below(ast.parse(text), "", names_in(None), range(0))
