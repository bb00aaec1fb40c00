"""Whether the tests of `make test` find small faults that are put into the code.

In a copy of the checkout, never in it. Each test file runs once without a mutant, to note
which lines each of its tests runs. Then, for each mutant, a child of this process (which has
imported numpy, scipy and pytest) runs the tests that ran the mutated statement, and stops at
the first that fails. Tests that start other processes are left out: what they alone would
find counts as survived.
"""

from __future__ import annotations

import argparse
import compileall
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
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, settings

from faults.mutants import Mutant, mutants_of

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
LEFT_OUT = ("browser", "cli", "data", "docs", "faults", "slurm", "workflow")
FEW_SECONDS = 4.0  # of tests, before all the others are asked
LEAST_SECONDS, TIMES_SLOWER = 30, 5  # of the processor; a mutant that goes on is found
MEMORY = 6 * 2**30


def in_child(work: Callable[[], int], seconds: float) -> int:
    """Run some work in a child; return its exit code, or below zero the signal that ended it."""
    child = os.fork()
    if not child:
        for stream in range(3):
            os.dup2(os.open(os.devnull, os.O_RDWR), stream)
        resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds)))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        signal.alarm(int(seconds) * 10)  # what waits uses no processor
        try:
            code = work()
        except BaseException:
            code = 1
        os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


class Plugin:
    """Keeps chosen tests only, the quick files first; else notes the lines that each runs."""

    def __init__(self, chosen: dict[str, float] | None, noted: Path) -> None:
        self.chosen, self.noted = chosen, f"{noted}/"
        self.seconds: Counter[str] = Counter()
        self.lines: dict[str, set[tuple[str, int]]] = defaultdict(set)
        self.fixtures: dict[str, set[tuple[str, int]]] = defaultdict(set)
        self.into: set[tuple[str, int]] = set()

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        if self.chosen is not None:
            files: Counter[str] = Counter()
            for test, seconds in self.chosen.items():
                files[test.partition("::")[0]] += seconds  # type: ignore[assignment]
            items[:] = [item for item in items if item.nodeid in self.chosen]
            items.sort(key=lambda item: files[item.nodeid.partition("::")[0]])

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.seconds[report.nodeid] += report.duration  # type: ignore[assignment]

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any) -> Iterator[None]:
        before = self.into
        if fixturedef.scope != "function":  # it runs once for many tests
            self.into = self.fixtures[fixturedef.argname]
        try:
            return (yield)
        finally:
            self.into = before

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: Any) -> Iterator[None]:
        if self.chosen is not None:
            return (yield)
        self.into = lines = self.lines[item.nodeid]
        forget_what_is_cached()
        sys.settrace(self._trace)
        try:
            return (yield)
        finally:
            sys.settrace(None)
            lines.update(*(self.fixtures[name] for name in getattr(item, "fixturenames", ())))

    def _trace(self, frame: Any, event: str, argument: Any) -> Any:
        if event == "line":
            self.into.add((frame.f_code.co_filename, frame.f_lineno))
        elif not frame.f_code.co_filename.startswith(self.noted):
            return None
        return self._trace


def forget_what_is_cached() -> None:
    """Empty all caches of our functions, so that each test runs them."""
    ours = [module for name, module in sys.modules.items() if name.startswith("credence.")]
    for value in [value for module in ours for value in vars(module).values()]:
        if hasattr(value, "cache_clear"):
            value.cache_clear()


class Copy:
    """A copy of the checkout, and what each test of it runs."""

    def __init__(self, folder: Path, notes: Path) -> None:
        self.folder, self.notes = folder, notes
        listed = subprocess.check_output(["git", "-C", str(ROOT), "ls-files"], text=True)
        for name in filter(lambda name: (ROOT / name).is_file(), listed.splitlines()):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
        (folder / ".venv").symlink_to(ROOT / ".venv")
        sys.path[:0] = [str(folder / "workflow"), str(folder / "tests")]
        os.environ["PYTHONPATH"] = str(folder / "workflow")
        compileall.compile_dir(folder / "workflow", quiet=2)
        for name in (
            "credence.api",
            "credence.sklearn",
            "credence.app.commands",
            "credence.report",
        ):
            importlib.import_module(name)
        for name in [name for name in sys.modules if name.partition(".")[0] == "credence"]:
            del sys.modules[name]  # what it imports stays
        self.known: dict[str, dict[str, Any]] = {}

    def run(self, files: list[str], plugin: Plugin) -> int:
        """Run tests; for a child."""
        os.chdir(self.folder)
        phases = [Phase.explicit, Phase.generate]  # the least example is of no use here
        settings.register_profile("mutants", derandomize=True, phases=phases)
        settings.load_profile("mutants")
        return int(pytest.main(["-x", "--tb=no", "--assert=plain", *files], plugins=[plugin]))

    def tests_of(self, file: str) -> dict[str, Any]:
        """Return the seconds and the lines of each test of a file, noted once."""
        if file not in self.known:
            note = self.notes / f"{file.replace('/', '.')}.json"
            if not self._is_fresh(file, note):
                print(f"noting what {file} runs", file=sys.stderr, flush=True)
                if in_child(lambda: self._note(file, note), 1800) not in (0, 5):
                    raise SystemExit(f"{file} fails without a mutant: pytest {file}")
            self.known[file] = json.loads(note.read_text("utf-8"))["tests"]
        return self.known[file]

    def _is_fresh(self, file: str, note: Path) -> bool:
        known = json.loads(note.read_text("utf-8"))["digests"] if note.exists() else {file: ""}
        return all(digest == digest_of(self.folder / path) for path, digest in known.items())

    def _note(self, file: str, note: Path) -> int:
        plugin = Plugin(None, self.folder / HOME)
        code = self.run([file], plugin)
        tests: dict[str, Any] = {}
        digests = {file: digest_of(self.folder / file)}
        for test, lines in plugin.lines.items():
            by_path: dict[str, list[int]] = defaultdict(list)
            for path, line in sorted(lines):
                by_path[str(Path(path).relative_to(self.folder))].append(line)
            ours = {path: by_path[path] for path in by_path if path.split("/")[2] in PACKAGES}
            digests |= {
                path: digest_of(self.folder / path) for path in ours if path not in digests
            }
            tests[test] = [plugin.seconds[test], ours]
        if code in (0, 5):
            note.write_text(json.dumps({"digests": digests, "tests": tests}), "utf-8")
        return code

    def survives(self, mutant: Mutant, files: list[str]) -> tuple[int, bool]:
        """Return how many tests ran the mutated statement, and whether all of them passed."""
        chosen = {}
        for file in files:
            for test, (seconds, by_path) in self.tests_of(file).items():
                lines = set(by_path.get(mutant.path, []))
                if lines if mutant.at_import else lines & set(mutant.lines):
                    chosen[test] = seconds
        module = self.folder / mutant.path
        was, dated = module.read_bytes(), module.stat()
        module.write_bytes(was[: mutant.start] + mutant.new.encode() + was[mutant.end :])
        try:
            return len(chosen), self.all_pass(chosen)
        finally:
            module.write_bytes(was)
            os.utime(module, ns=(dated.st_atime_ns, dated.st_mtime_ns))

    def seconds_of(self, files: list[str]) -> dict[str, float]:
        """Return how long each test of some files takes."""
        return {test: one[0] for file in files for test, one in self.tests_of(file).items()}

    def all_pass(self, chosen: dict[str, float]) -> bool:
        """Return whether tests pass: the quickest first, then all of them."""
        sys.dont_write_bytecode = True
        os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
        quick, slow, total = {}, {}, 0.0
        for test, seconds in sorted(chosen.items(), key=lambda pair: pair[1]):
            total += seconds
            (quick if total < FEW_SECONDS else slow)[test] = seconds
        return all(self._one_pass(tests) for tests in (quick, slow) if tests)

    def _one_pass(self, tests: dict[str, float]) -> bool:
        files = sorted({test.partition("::")[0] for test in tests})
        plugin = Plugin(tests, self.folder)
        seconds = LEAST_SECONDS + TIMES_SLOWER * sum(tests.values())
        return in_child(lambda: self.run(files, plugin), seconds) == 0


def digest_of(path: Path) -> str:
    """Return a digest of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def files_in(root: Path, folder: str, mark: bytes = b"def test_") -> list[str]:
    """Return the files of a folder that hold tests, or some other mark."""
    paths = sorted((root / folder).glob("*.py"))
    return [str(path.relative_to(root)) for path in paths if mark in path.read_bytes()]


def sampled(root: Path, package: str, n_mutants: int, seed: int) -> list[Mutant]:
    """Return a random sample of the mutants of a package; edits elsewhere change few of it."""
    modules = files_in(root, f"{HOME}/{package}", b"")
    every = [mutant for module in modules for mutant in mutants_of(root, module)]
    return sorted(
        every, key=lambda mutant: hashlib.sha256(f"{seed} {mutant.name}".encode()).hexdigest()
    )[:n_mutants]


def main() -> None:
    """Make mutants of each package, run the tests, and list those that survive."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("packages", nargs="*", help=f"of {', '.join(PACKAGES)}")
    parser.add_argument("--mutants", type=int, default=100, help="of each package")
    parser.add_argument("--skip", type=int, default=0, help="so many, that were run before")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--again", action="store_true", help="only those that survived last")
    parser.add_argument("--narrow", action="store_true", help="own folders of tests only")
    options = parser.parse_args()
    notes = ROOT / "build" / "mutants"
    notes.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as place:
        root = Path(place)
        home = Copy(root, notes)
        folders = [path for path in sorted(root.glob("tests/*/")) if path.name not in LEFT_OUT]
        folders = [str(path.relative_to(root)) for path in [root / "tests", *folders]]
        every = [file for folder in folders for file in files_in(root, folder)]
        for package in options.packages or PACKAGES:
            own = [file for tests in PACKAGES[package] for file in files_in(root, tests)]
            own += files_in(root, f"{HOME}/{package}", b">>> ")
            others = [] if options.narrow else [file for file in every if file not in own]
            listed = notes / f"{package}.survivors.txt"
            last = listed.read_text("utf-8").splitlines() if options.again else []
            if not options.again and not home.all_pass(home.seconds_of(own)):
                raise SystemExit(f"tests of {package} fail without a mutant: {' '.join(own)}")
            mutants = sampled(root, package, options.mutants, options.seed)[options.skip :]
            survivors = []
            for mutant in mutants:
                if options.again and mutant.name not in last:
                    continue
                found = [home.survives(mutant, own)]
                found += [home.survives(mutant, others)] if found[0][1] else []
                how = "survived" if all(passed for _, passed in found) else "killed"
                n_tests = sum(n for n, _ in found)
                print(how, f"{n_tests} tests", mutant.lines[0], mutant.name, sep="\t", flush=True)
                survivors += [mutant.name] if how == "survived" else []
            listed.write_text("\n".join(survivors), "utf-8")
            print(f"== {package}: {len(survivors)} of {len(mutants)} survived")


if __name__ == "__main__":  # python -m faults.mutant_runs, in tests/
    main()
