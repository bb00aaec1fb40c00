"""Mutants: the code with one small fault, to see whether the tests of `make test` find it.

In a copy of the checkout, never in it. Each test file runs once without a mutant, to note
which lines each of its tests runs. Then, for each mutant, a child of this process (which has
imported numpy, scipy and pytest) runs the tests that ran the mutated line, and stops at the
first that fails. Tests that start other processes are left out: what they alone would find
counts as survived.
"""

from __future__ import annotations

import argparse
import ast
import copy
import hashlib
import importlib
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

import hypothesis
import pytest

ROOT = Path(__file__).resolve().parents[2]
HOME = "workflow/credence"
# The packages, and the folders of tests that are asked first; then all others.
PACKAGES = {
    "calibrators": ["tests/calibrators"],
    "metrics": ["tests/metrics"],
    "sets": ["tests/sets"],
    "composition": ["tests/shift"],
    "relatives": ["tests/splits", "tests/sequences", "tests/engines"],
}
# Their commands run in other processes, which the notes of lines do not see.
LEFT_OUT = ("browser", "cli", "docs", "faults", "slurm", "workflow")
FEW_SECONDS = 4.0  # of tests, before all the others are asked
LEAST_SECONDS, TIMES_SLOWER = 30, 5  # of the processor, until a mutant that goes on has lost
MEMORY = 6 * 2**30

COMPARED: dict[type, list[type]] = {
    ast.Lt: [ast.LtE, ast.Gt],
    ast.LtE: [ast.Lt, ast.Gt],
    ast.Gt: [ast.GtE, ast.Lt],
    ast.GtE: [ast.Gt, ast.Lt],
    ast.Eq: [ast.NotEq],
    ast.NotEq: [ast.Eq],
    ast.Is: [ast.IsNot],
    ast.IsNot: [ast.Is],
    ast.In: [ast.NotIn],
    ast.NotIn: [ast.In],
}
COMPUTED: dict[type, type] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Div,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
NAMES = [
    *(("min", "max"), ("minimum", "maximum"), ("argmin", "argmax"), ("floor", "ceil")),
    *(("any", "all"), ("lower", "upper"), ("correct", "wrong"), ("left", "right")),
    *(("zeros", "ones"), ("sum", "max"), ("log", "log1p"), ("exp", "expm1")),
]
SWAPPED = dict(NAMES) | {second: first for first, second in NAMES}
IN_NUMPY = {*SWAPPED} - {"lower", "upper", "correct", "wrong", "left", "right"}
# Notes for the type checker, and what only makes sure of what the code promises itself.
SKIPPED_FIELDS = ("annotation", "returns", "ctx", "type_params", "decorator_list")
SKIPPED_KEYWORDS = ("strict", "dtype")


@dataclass(frozen=True)
class Mutant:
    """A piece of a module and what stands in its place.

    Parameters
    ----------
    path : str
        The module, below the checkout.
    start, end : int
        The bytes that are replaced.
    new : str
        What by.
    lines : range
        The lines of the statement.
    at_import : bool
        Whether the statement runs when the module is imported.
    name : str
        Where and what, for a reader.
    """

    path: str
    start: int
    end: int
    new: str
    lines: range
    at_import: bool
    name: str

    def source(self, text: bytes) -> bytes:
        """Return the mutated module."""
        return text[: self.start] + self.new.encode() + text[self.end :]

    def key(self, seed: int) -> str:
        """Return what puts the mutants of a package in a random order that edits keep."""
        return hashlib.sha256(f"{seed} {self.name}".encode()).hexdigest()


def swapped(name: str, known: set[str]) -> str:
    """Return a name with one word swapped, if the result is known; else nothing."""
    words = name.split("_")
    for place, word in enumerate(words):
        other = "_".join([*words[:place], SWAPPED.get(word, ""), *words[place + 1 :]])
        if word in SWAPPED and other in known:
            return other
    return ""


def changed(node: ast.AST, known: set[str]) -> Iterator[ast.AST]:
    """Yield the node with one fault each."""

    def with_(**fields: Any) -> ast.AST:
        new = copy.copy(node)
        for field, value in fields.items():
            setattr(new, field, value)
        return new

    match node:
        case ast.Compare(ops=[first, *rest]):
            yield from (with_(ops=[op(), *rest]) for op in COMPARED[type(first)])
        case ast.BinOp(op=op) | ast.AugAssign(op=op) if type(op) in COMPUTED:
            yield with_(op=COMPUTED[type(op)]())
        case ast.BoolOp(op=op):
            yield with_(op=ast.Or() if isinstance(op, ast.And) else ast.And())
        case ast.UnaryOp(operand=operand):
            yield operand
        case ast.Constant(value=bool() as value):
            yield with_(value=not value)
        case ast.Constant(value=int() as value):
            yield from (with_(value=value + 1), with_(value=value - 1))
        case ast.Constant(value=float() as value):
            yield with_(value=value + 1.0)
        case ast.Constant(value="left" | "right" as value):
            yield with_(value=SWAPPED[value])
        case ast.IfExp(test=test) if not isinstance(test, ast.Compare):
            yield with_(test=ast.UnaryOp(ast.Not(), test))
        case ast.Slice(lower=lower, upper=upper):
            yield from (with_(**{end: None}) for end in ("lower", "upper") if getattr(node, end))
        case ast.Name(id=name) if other := swapped(name, known):
            yield with_(id=other)
        case ast.Attribute(attr=name) if other := swapped(name, known):
            yield with_(attr=other)


def names_in(tree: ast.AST) -> set[str]:
    """Return all names and attributes of a piece of code."""
    names = set(IN_NUMPY)
    for node in ast.walk(tree):
        for field in ("id", "attr", "arg"):
            names |= {getattr(node, field, None) or ""}
    return names


def mutants_of(path: str) -> Iterator[Mutant]:
    """Yield all mutants of a module."""
    text = (ROOT / path).read_bytes()
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    seen: Counter[str] = Counter()

    def walk(node: ast.AST, inside: str, known: set[str], lines: range) -> Iterator[Mutant]:
        if isinstance(node, ast.stmt):
            body = getattr(node, "body", None)
            last = max(body[0].lineno - 1, node.lineno) if body else node.end_lineno or 0
            lines = range(node.lineno, last + 1)
        for field, value in ast.iter_fields(node):
            deeper = (inside, known)
            if isinstance(node, ast.FunctionDef) and field == "body":
                deeper = (f"{inside}.{node.name}", names_in(node))
            for child in value if isinstance(value, list) else [value]:
                skipped = isinstance(child, ast.JoinedStr | ast.ImportFrom | ast.Import) or (
                    isinstance(child, ast.keyword) and child.arg in SKIPPED_KEYWORDS
                )
                if isinstance(child, ast.AST) and field not in SKIPPED_FIELDS and not skipped:
                    yield from walk(child, *deeper, lines)
        if not isinstance(node, ast.expr | ast.Slice | ast.AugAssign):
            return
        start = starts[node.lineno - 1] + node.col_offset
        end = starts[(node.end_lineno or 0) - 1] + (node.end_col_offset or 0)
        was = " ".join(text[start:end].decode().split())
        for new in changed(node, known):
            now = ast.unparse(ast.fix_missing_locations(new))
            name = f"{Path(path).stem}{inside}: {was} -> {now}"
            seen[name] += 1
            name += f" ({seen[name]})" if seen[name] > 1 else ""
            now = now if isinstance(new, ast.Slice | ast.AugAssign) else f"({now})"
            yield Mutant(path, start, end, now, lines, not inside, name)

    for statement in ast.parse(text).body:
        yield from walk(statement, "", set(IN_NUMPY), range(0))


def in_child(work: Callable[[], int], seconds: float) -> int:
    """Run some work in a child; return its exit code, or below zero the signal that ended it."""
    child = os.fork()
    if not child:
        os.setsid()
        nothing = os.open(os.devnull, os.O_RDWR)
        for stream in range(3):
            os.dup2(nothing, stream)
        resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds)))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        signal.alarm(int(seconds) * 10)  # what waits uses no processor
        code = 1
        try:
            code = work()
        finally:
            os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return code


class Chosen:
    """Runs chosen tests only, the quick files first; notes the lines that each test runs."""

    def __init__(self, seconds: dict[str, float] | None, noted: str = "") -> None:
        self.seconds, self.noted = seconds, noted
        self.times: dict[str, float] = defaultdict(float)
        self.lines: dict[str, set[tuple[str, int]]] = defaultdict(set)

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        if self.seconds is not None:
            files: dict[str, float] = defaultdict(float)
            for test, seconds in self.seconds.items():
                files[test.partition("::")[0]] += seconds
            items[:] = [item for item in items if item.nodeid in self.seconds]
            items.sort(key=lambda item: files[item.nodeid.partition("::")[0]])

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.times[report.nodeid] += report.duration

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        if not self.noted:
            return (yield)
        lines = self.lines[item.nodeid]

        def line(frame: FrameType, event: str, argument: Any) -> Any:
            lines.add((frame.f_code.co_filename, frame.f_lineno))
            return line

        def call(frame: FrameType, event: str, argument: Any) -> Any:
            return line if frame.f_code.co_filename.startswith(self.noted) else None

        sys.settrace(call)
        try:
            return (yield)
        finally:
            sys.settrace(None)


def run_tests(folder: Path, files: list[str], chosen: Chosen) -> int:
    """Run tests in the copy; for a child."""
    os.chdir(folder)
    hypothesis.settings.register_profile(
        "mutants", derandomize=True, phases=[hypothesis.Phase.explicit, hypothesis.Phase.generate]
    )
    hypothesis.settings.load_profile("mutants")
    return int(pytest.main(["-x", "--tb=no", "--assert=plain", *files], plugins=[chosen]))


class Copy:
    """A copy of the checkout, and what each test of it runs."""

    def __init__(self, folder: Path, notes: Path) -> None:
        self.folder, self.notes = folder, notes
        listed = ["git", "-C", str(ROOT), "ls-files"]
        for name in subprocess.check_output(listed, text=True).split("\n")[:-1]:
            if (ROOT / name).exists():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, folder / name)
        (folder / ".venv").symlink_to(ROOT / ".venv")
        sys.path[:0] = [str(folder / "workflow"), str(folder / "tests")]
        os.environ["PYTHONPATH"] = str(folder / "workflow")
        for name in ("credence.api", "credence.sklearn", "credence.app.commands", "doctest"):
            importlib.import_module(name)
        for name in [name for name in sys.modules if name.partition(".")[0] == "credence"]:
            del sys.modules[name]
        self.sources = b"".join(
            path.read_bytes()
            for package in PACKAGES
            for path in sorted((ROOT / HOME / package).glob("*.py"))
        )
        self.known: dict[str, dict[str, Any]] = {}

    def tests_of(self, file: str) -> dict[str, Any]:
        """Return the seconds and the lines of each test of a file, noted once."""
        if file not in self.known:
            digest = hashlib.sha256(self.sources + (ROOT / file).read_bytes()).hexdigest()
            note = self.notes / f"{file.replace('/', '.')}.{digest[:16]}.json"
            if not note.exists():
                print(f"noting what {file} runs", file=sys.stderr, flush=True)
                if in_child(lambda: self._note(file, note), 1800) not in (0, 5):
                    raise SystemExit(f"{file} fails without a mutant: see pytest {file}")
            self.known[file] = json.loads(note.read_text("utf-8"))
        return self.known[file]

    def _note(self, file: str, note: Path) -> int:
        chosen = Chosen(None, noted=f"{self.folder / HOME}/")
        code = run_tests(self.folder, [file], chosen)
        if code in (0, 5):
            tests: dict[str, Any] = {}
            for test, lines in chosen.lines.items():
                by_path: dict[str, list[int]] = defaultdict(list)
                for path, line in sorted(lines):
                    name = str(Path(path).relative_to(self.folder))
                    if name.split("/")[2] in PACKAGES:
                        by_path[name].append(line)
                if by_path:
                    tests[test] = [chosen.times[test], by_path]
            note.write_text(json.dumps(tests), "utf-8")
        return code

    def survives(self, mutant: Mutant, files: list[str]) -> tuple[int, bool]:
        """Return how many tests ran the mutated statement, and whether all of them passed."""
        chosen = {}
        for file in files:
            for test, (seconds, by_path) in self.tests_of(file).items():
                lines = by_path.get(mutant.path, [])
                if lines if mutant.at_import else set(lines) & set(mutant.lines):
                    chosen[test] = seconds
        module = self.folder / mutant.path
        was, dated = module.read_bytes(), module.stat()
        module.write_bytes(mutant.source(was))
        try:
            return len(chosen), not chosen or self._pass(chosen)
        finally:
            module.write_bytes(was)
            os.utime(module, ns=(dated.st_atime_ns, dated.st_mtime_ns))

    def _pass(self, chosen: dict[str, float]) -> bool:
        """Return whether tests pass: the quickest first, then all of them."""
        quick, total = {}, 0.0
        for test, seconds in sorted(chosen.items(), key=lambda pair: pair[1]):
            total += seconds
            if total < FEW_SECONDS:
                quick[test] = seconds
        for tests in (quick, {test: chosen[test] for test in chosen if test not in quick}):
            files = sorted({test.partition("::")[0] for test in tests})
            seconds = LEAST_SECONDS + TIMES_SLOWER * sum(tests.values())
            run = Chosen(tests)
            if tests and in_child(lambda: run_tests(self.folder, files, run), seconds):
                return False
        return True


def test_files(folders: list[str]) -> list[str]:
    """Return the test files of folders."""
    return sorted(
        str(path.relative_to(ROOT)) for name in folders for path in (ROOT / name).glob("test_*.py")
    )


def sampled(package: str, n_mutants: int, seed: int) -> list[Mutant]:
    """Return a random sample of the mutants of a package; a larger one begins with a smaller."""
    paths = sorted((ROOT / HOME / package).glob("*.py"))
    every = [mutant for path in paths for mutant in mutants_of(str(path.relative_to(ROOT)))]
    return sorted(every, key=lambda mutant: mutant.key(seed))[:n_mutants]


def main() -> None:
    """Make mutants of each package, run the tests, and list those that survive."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("packages", nargs="*", choices=[*PACKAGES, []])
    parser.add_argument("--mutants", type=int, default=100, help="of each package")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--narrow", action="store_true", help="own folders of tests only")
    parser.add_argument("--again", action="store_true", help="only those that survived last")
    chosen = parser.parse_args()
    place = ROOT / "build" / "mutants"
    place.mkdir(parents=True, exist_ok=True)
    folders = [path.name for path in sorted((ROOT / "tests").iterdir()) if path.is_dir()]
    all_files = test_files(["tests", *(f"tests/{n}" for n in folders if n not in LEFT_OUT)])
    with tempfile.TemporaryDirectory() as folder:
        home = Copy(Path(folder), place)
        for package in chosen.packages or PACKAGES:
            modules = sorted((ROOT / HOME / package).glob("*.py"))
            own = test_files(PACKAGES[package])
            own += [str(path.relative_to(ROOT)) for path in modules if b">>>" in path.read_bytes()]
            asked = [own] if chosen.narrow else [own, [f for f in all_files if f not in own]]
            listed = place / f"{package}.survivors.txt"
            last = listed.read_text("utf-8").split("\n") if chosen.again else []
            mutants = sampled(package, chosen.mutants, chosen.seed)
            survivors = []
            for mutant in mutants:
                if chosen.again and mutant.name not in last:
                    continue
                found = [home.survives(mutant, asked[0])]
                if found[0][1]:
                    found += [home.survives(mutant, files) for files in asked[1:]]
                survived = all(passed for _, passed in found)
                how = "survived" if survived else "killed"
                n_tests = sum(n for n, _ in found)
                line = text_line(mutant)
                print(f"{how}\t{n_tests} tests\t{line}\t{mutant.name}", flush=True)
                if survived:
                    survivors.append(mutant.name)
            listed.write_text("\n".join(survivors), "utf-8")
            share = 1 - len(survivors) / len(mutants)
            print(f"== {package}: {len(mutants)} mutants, {len(survivors)} survived: {share:.0%}")


def text_line(mutant: Mutant) -> int:
    """Return the line of a mutant."""
    return (ROOT / mutant.path).read_bytes()[: mutant.start].count(b"\n") + 1


if __name__ == "__main__":  # python -m faults.mutants, in tests/
    main()
