"""Nothing runs what it reads: no code, no shell."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("workflow", "benchmarks", "verification")
SOURCES = sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py"))
RULES = [
    *sorted((ROOT / "workflow").rglob("*.smk")),
    ROOT / "workflow/Snakefile",
    ROOT / "Snakefile",
]

# By name, whatever it is reached through.
RUNS_CODE = {
    "eval",
    "exec",
    "compile",
    "__import__",
    "execfile",
}
UNPICKLES = {"pickle", "cPickle", "_pickle", "marshal", "shelve", "dill", "cloudpickle", "joblib"}
SHELLS = {
    ("os", "system"),
    ("os", "popen"),
    ("subprocess", "getoutput"),
    ("subprocess", "getstatusoutput"),
    ("yaml", "load"),
    ("yaml", "unsafe_load"),
    ("yaml", "full_load"),
    ("pd", "read_pickle"),
    ("pandas", "read_pickle"),
    ("torch", "load"),
}
# The same as text: what an import under another name would hide from the tree.
FORBIDDEN_TEXT = (
    *(
        r"\bpickle\b(?!s? are refused|d arrays)",
        r"\bos\.system\b",
        r"\bos\.popen\b",
        r"\beval\(",
        r"\bexec\(",
    ),
    *(
        r"shell\s*=\s*True",
        r"allow_pickle\s*=\s*True",
        r"yaml\.(unsafe_|full_)?load\(",
        r"typ=.unsafe",
    ),
)


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def defects(tree: ast.AST) -> Iterator[str]:
    """Yield whatever in a tree could run what it reads."""
    for node in ast.walk(tree):
        line = getattr(node, "lineno", 0)
        if isinstance(node, ast.Import):
            names = {alias.name.split(".")[0] for alias in node.names}
            yield from (f"line {line}: import {name}" for name in names & (UNPICKLES | RUNS_CODE))
        elif isinstance(node, ast.ImportFrom):
            names = {(node.module or "").split(".")[0], *(alias.name for alias in node.names)}
            yield from (f"line {line}: import {name}" for name in names & (UNPICKLES | RUNS_CODE))
            hidden = {(node.module or "", alias.name) for alias in node.names} & SHELLS
            yield from (f"line {line}: import {name}" for _, name in hidden)
        elif isinstance(node, ast.Name) and node.id in RUNS_CODE:
            yield f"line {line}: {node.id}"
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            if (node.value.id, node.attr) in SHELLS or (
                node.value.id == "builtins" and node.attr in RUNS_CODE
            ):
                yield f"line {line}: {node.value.id}.{node.attr}"
        elif isinstance(node, ast.Call):
            yield from _call_defects(node)


def _call_defects(node: ast.Call) -> Iterator[str]:
    name = ast.unparse(node.func)
    given = {keyword.arg: keyword.value for keyword in node.keywords}
    for keyword in ("shell", "allow_pickle"):
        value = given.get(keyword)
        if value is not None and not (isinstance(value, ast.Constant) and value.value is False):
            yield f"line {node.lineno}: {keyword}"
    if name in ("np.load", "numpy.load") and "allow_pickle" not in given:
        yield f"line {node.lineno}: np.load without allow_pickle=False"
    if name == "YAML" and ast.unparse(given.get("typ", ast.Constant("rt"))) not in (
        "'safe'",
        "'rt'",
    ):
        yield f"line {node.lineno}: YAML({ast.unparse(given['typ'])})"
    if name in ("subprocess.run", "subprocess.Popen", "subprocess.check_output", "sp.run"):
        words = node.args[0] if node.args else given.get("args")
        if isinstance(words, ast.Constant | ast.JoinedStr):
            yield f"line {node.lineno}: a command as one text"


def test_there_is_something_to_look_at() -> None:
    assert len(SOURCES) > 250
    assert len(RULES) > 12


def test_no_source_runs_what_it_reads() -> None:
    found = {name_of(path): list(defects(tree_of(path))) for path in SOURCES}
    assert {name: lines for name, lines in found.items() if lines} == {}


@pytest.mark.parametrize(
    "text",
    [
        *(
            "import pickle",
            "from marshal import loads",
            "eval(x)",
            "run = exec",
            "__import__('os')",
        ),
        *("os.system(x)", "from os import system", "subprocess.run(x, shell=True)", "np.load(x)"),
        *("subprocess.run(x, shell=is_so)", "np.load(x, allow_pickle=True)", "yaml.load(x)"),
        *("YAML(typ='unsafe')", "subprocess.run(f'ls {x}')", "import joblib", "pd.read_pickle(x)"),
        *("import builtins\nbuiltins.eval(x)", "torch.load(x)"),
    ],
)
def test_the_look_at_the_tree_finds_what_it_looks_for(text: str) -> None:
    assert len(list(defects(ast.parse(text)))) == 1


def test_no_text_of_the_tree_names_what_runs_code() -> None:
    found = [
        f"{name_of(path)}: {match[0]}"
        for path in [*SOURCES, *RULES]
        for word in FORBIDDEN_TEXT
        for match in re.finditer(word, path.read_text(encoding="utf-8"))
    ]
    assert found == []


@pytest.mark.parametrize("path", RULES, ids=lambda path: name_of(path))
def test_every_word_that_a_rule_hands_to_a_shell_is_quoted(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"^\s*(run|script|notebook|wrapper|cwl):", text, re.M)
    assert not re.search(r"\bshell\(", text)
    for command in re.findall(r"^    shell:\n((?:        .*\n)+)", text, re.M):
        assert not re.search(r'\bf"', command)
        placeholders = re.findall(r"\{[^{}]*\}", command)
        assert placeholders
        assert [word for word in placeholders if not word.endswith(":q}")] == []
