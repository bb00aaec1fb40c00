"""The page `reference-messages.md`: every template of a sentence that the product prints.

    python docs/messages.py

prints it; `make docs` makes it anew from the code, as the other pages of the reference. Read in a
row, templates show which is a riddle; `tests/docs/test_words.py` looks for old words in them.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "workflow" / "credence"
FEWEST_WORDS = 3  # of a text that counts as a sentence; fewer are names and keys
WORD = re.compile(r"[^\W\d_]{2,}")
CODE = re.compile(r"^\s*(SELECT|from |import |--|<)|\\[bdsw]|\(\?[:P<=!]|[{}]{2}\w+\b.*;")
# Calls whose texts nobody reads: messages to programmers, patterns, names of streams of chance.
UNSEEN = {"ValueError", "AssertionError", "TypeError", "AttributeError", "KeyError", "compile"}
UNSEEN |= {"uniform", "uniforms", "sub", "RuntimeError", "NotImplementedError"}
HEAD = """\
# Messages

Every template of a sentence that the page, the commands and Python print, by the module that makes
it; what stands in braces is filled in. Made from the code, as `python docs/messages.py` prints it.
"""


class Template(NamedTuple):
    """One text of the product, with what is filled in written as `{name}`."""

    module: str  # Below the package
    line: int
    text: str


def templates() -> Iterator[Template]:
    """Yield every template of the package, module by module, in the order of the lines."""
    for path in sorted(PACKAGE.rglob("*.py")):
        tree = ast.parse(path.read_text("utf-8"))
        module = path.relative_to(PACKAGE).as_posix()
        yield from (
            Template(module, line, text)
            for line, text in sorted(_texts(tree, _docstrings(tree)))
            if len(WORD.findall(text)) >= FEWEST_WORDS and " " in text and not CODE.search(text)
        )


def _docstrings(tree: ast.AST) -> set[int]:
    """Return the identities of the nodes that are docstrings: nobody prints them."""
    owners = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    return {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, owners) and node.body and isinstance(node.body[0], ast.Expr)
    }


def _texts(node: ast.AST, skipped: set[int]) -> Iterator[tuple[int, str]]:
    """Yield line and text of each string below a node, the parts of one as one."""
    if id(node) in skipped:
        return
    if isinstance(node, ast.Call) and _name(node.func) in UNSEEN:
        return
    if isinstance(node, ast.JoinedStr | ast.Constant):
        if isinstance(text := _filled(node), str):
            yield node.lineno, " ".join(text.split())
        if isinstance(node, ast.JoinedStr):
            for part in node.values:
                if isinstance(part, ast.FormattedValue):
                    yield from _texts(part.value, skipped)
        return
    for child in ast.iter_child_nodes(node):
        yield from _texts(child, skipped)


def _name(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _filled(node: ast.JoinedStr | ast.Constant) -> object:
    """Return a text with names for what is filled in; what is not a text as it is."""
    if isinstance(node, ast.Constant):
        return node.value
    parts = []
    for part in node.values:
        if isinstance(part, ast.Constant):
            parts.append(str(part.value))
        elif isinstance(part, ast.FormattedValue):
            parts.append(f"{{{_word(part.value)}}}")
    return "".join(parts)


def _word(value: ast.expr) -> str:
    """Return one word for what is filled in: its last name, else an ellipsis."""
    names = [
        found.attr if isinstance(found, ast.Attribute) else found.id
        for found in ast.walk(value)
        if isinstance(found, ast.Attribute | ast.Name)
    ]
    return names[0] if len(names) == 1 or isinstance(value, ast.Attribute) else "…"


def page() -> str:
    """Return the page: the templates of each module under its name."""
    lines, module = [HEAD], ""
    for template in templates():
        if template.module != module:
            module = template.module
            lines.append(f"\n## {module}\n")
        lines.append(
            f"- `` {template.text} ``" if "`" in template.text else f"- `{template.text}`"
        )
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(page(), end="")
