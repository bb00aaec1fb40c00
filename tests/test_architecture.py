from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from credence.app import COMMANDS
from credence.calibrators.all_methods import METHODS
from credence.events.forecasters import FORECASTERS
from credence.metrics.all_metrics import METRICS
from credence.report.sections.all_sections import SECTIONS
from credence.tables.formats import FORMATS

PACKAGE = Path(__file__).resolve().parents[1] / "workflow" / "credence"
FILES = sorted(path for path in PACKAGE.rglob("*.py"))
EDGE = ("cli", "engines", "tables", "report", "configuration", "releases", "__main__")
BASE = ("problems", "predictions", "confidence")
MODULE_LINES = 410  # STYLE: at most 400, and a registry of imports may be a few more
FUNCTION_LINES = 60  # without docstring; the house aims at 50

# Names that read or write the world outside; a core that has none of them is a
# function of its arguments.
OUTSIDE = {"open", "print", "input"}
OUTSIDE_MODULES = {"time", "datetime", "os", "sys", "subprocess", "socket", "tempfile", "shutil"}
OUTSIDE_METHODS = {
    *("read_text", "read_bytes", "write_text", "write_bytes", "unlink", "mkdir", "exists"),
    *("savefig", "to_csv", "read_csv", "to_parquet", "read_parquet", "load", "save"),
}
RUNS_CODE = {"eval", "exec", "compile", "__import__"}
RUNS_CODE_MODULES = {"pickle", "cPickle", "marshal", "shelve", "dill", "joblib", "cloudpickle"}


def name_of(path: Path) -> str:
    return ".".join(path.relative_to(PACKAGE).with_suffix("").parts)


def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def imports_of(path: Path) -> Iterator[str]:
    """Yield every module imported, wherever in the file; types only count too."""
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports relatively"
            assert node.module is not None
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def rooms_imported(path: Path) -> set[str]:
    rooms = set()
    for name in imports_of(path):
        parts = name.split(".")
        if parts[0] == "credence" and len(parts) > 1 and parts[1][0].islower():
            rooms.add(parts[1])
    return rooms


def is_core(path: Path) -> bool:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py") not in EDGE


CORE = [path for path in FILES if is_core(path)]
IDS = {"ids": name_of}


def test_the_walls_are_looked_for_in_the_whole_package() -> None:
    assert len(FILES) > 60
    assert len(CORE) > 30
    assert PACKAGE / "predictions.py" in CORE


@pytest.mark.parametrize("path", CORE, **IDS)
def test_the_core_imports_nothing_of_the_edge(path: Path) -> None:
    assert rooms_imported(path) & set(EDGE) == set()


@pytest.mark.parametrize("room", BASE)
def test_the_base_imports_nothing_above_it(room: str) -> None:
    allowed = {"problems", "predictions", "confidence"}
    assert rooms_imported(PACKAGE / f"{room}.py") <= allowed


@pytest.mark.parametrize("path", sorted((PACKAGE / "report").rglob("*.py")), **IDS)
def test_the_report_sees_findings_only(path: Path) -> None:
    assert rooms_imported(path) <= {"report", "findings"}


@pytest.mark.parametrize("path", sorted((PACKAGE / "tables").rglob("*.py")), **IDS)
def test_tables_know_no_command_and_no_page(path: Path) -> None:
    assert rooms_imported(path) & {"cli", "report", "configuration", "evaluation"} == set()


@pytest.mark.parametrize("path", sorted((PACKAGE / "engines").rglob("*.py")), **IDS)
def test_engines_know_proteins_and_nothing_else(path: Path) -> None:
    assert rooms_imported(path) <= {"engines", "sequences", "predictions", "problems"}


def calls_of(path: Path) -> Iterator[tuple[int, str]]:
    """Yield line and last name of every call, but for matrices that Biopython ships."""
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            yield node.lineno, node.func.id
        elif (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and ast.unparse(node.func) != "substitution_matrices.load"
        ):
            yield node.lineno, node.func.attr


@pytest.mark.parametrize("path", CORE, **IDS)
def test_the_core_touches_nothing_outside(path: Path) -> None:
    found = [
        f"line {line}: {name}"
        for line, name in calls_of(path)
        if name in OUTSIDE | OUTSIDE_METHODS
    ]
    found += [name for name in imports_of(path) if name.split(".")[0] in OUTSIDE_MODULES]
    assert found == []


@pytest.mark.parametrize("path", FILES, **IDS)
def test_randomness_arrives_as_an_argument(path: Path) -> None:
    allowed = {"default_rng", "Generator", "SeedSequence", "PCG64", "Philox"}
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) in ("np.random", "random"):
            assert node.attr in allowed, f"line {node.lineno}: global state of numpy.random"
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("default_rng"):
            assert node.args or node.keywords, f"line {node.lineno}: seeded by the clock"
    assert "random" not in set(imports_of(path)), "the standard library's random is global"


@pytest.mark.parametrize("path", FILES, **IDS)
def test_nothing_runs_code_that_it_reads(path: Path) -> None:
    for name in imports_of(path):
        assert name.split(".")[0] not in RUNS_CODE_MODULES
    for node in ast.walk(tree_of(path)):
        if not isinstance(node, ast.Call):
            continue
        if isinstance(node.func, ast.Name):
            assert node.func.id not in RUNS_CODE, f"line {node.lineno}"
        for keyword in node.keywords:
            value = keyword.value
            is_true = isinstance(value, ast.Constant) and value.value is True
            assert not (keyword.arg in ("shell", "allow_pickle") and is_true), (
                f"line {node.lineno}: {keyword.arg}"
            )


@pytest.mark.parametrize("path", FILES, **IDS)
def test_every_public_thing_says_what_it_gives(path: Path) -> None:
    tree = tree_of(path)
    assert ast.get_docstring(tree), "the module has no docstring"
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_"):
            text = ast.get_docstring(node)
            assert text, f"{node.name} has no docstring"


@pytest.mark.parametrize("path", FILES, **IDS)
def test_modules_and_functions_stay_short(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= MODULE_LINES
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.FunctionDef):
            assert node.end_lineno is not None
            body = node.body[1:] if ast.get_docstring(node) else node.body
            length = node.end_lineno - body[0].lineno + 1 if body else 0
            assert length <= FUNCTION_LINES, f"{node.name} has {length} lines"


REGISTRIES = {
    "METHOD": ("calibrators", METHODS),
    "METRIC": ("metrics", METRICS),
    "FORMAT": ("tables/formats", FORMATS),
    "section": ("report/sections", SECTIONS),
    "FORECASTER": ("events/forecasters", FORECASTERS),
}


def names_defined(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.FunctionDef):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else []
    targets = [node.target] if isinstance(node, ast.AnnAssign) else targets
    return [target.id for target in targets if isinstance(target, ast.Name)]


@pytest.mark.parametrize("constant", REGISTRIES)
def test_every_entry_stands_in_its_registry_once(constant: str) -> None:
    folder, registry = REGISTRIES[constant]
    constant = constant.split()[0]
    defined = [
        getattr(importlib.import_module(f"credence.{name_of(path)}"), constant)
        for path in sorted((PACKAGE / folder).glob("*.py"))
        if any(constant in names_defined(node) for node in tree_of(path).body)
    ]
    listed = list(registry)
    for entry in defined:
        assert sum(one is entry for one in listed) == 1, f"{entry} is not listed once"
    names = [getattr(entry, "name", repr(entry)) for entry in listed]
    assert len(set(names)) == len(names)
    assert len(listed) >= len(defined) >= 1


def test_every_command_is_listed() -> None:
    helpers = {
        *("checking", "doctor_machine", "doctor_packages", "doctor_software"),
        *(
            "__init__",
            "failures",
            "labels",
            "lock",
            "novel",
            "places",
            "profiles",
            "progress",
            "proteins",
        ),
        "ending",
        *("judged", "parts"),
        *("publishing", "releases", "shared", "steps", "summaries", "tables", "telling_split"),
        *("prediction_sets", "study_novelty"),
        *("trove_files", "use_sets", "values"),
    }
    modules = {path.stem for path in (PACKAGE / "cli").glob("*.py")} - helpers
    assert modules == set(COMMANDS)


def test_commands_are_imported_when_called_and_not_before() -> None:
    light = {"__future__", "importlib", "sys", "collections.abc", "click", "errno", "os"}
    for name in ("__main__", "cli.__init__", "cli.failures"):
        path = PACKAGE / (name.replace(".", "/") + ".py")
        top = {
            node.module if isinstance(node, ast.ImportFrom) else node.names[0].name
            for node in tree_of(path).body
            if isinstance(node, ast.Import | ast.ImportFrom)
        }
        assert top <= light | {"credence", "credence.app.failures", "credence.problems"}


def test_every_rule_names_files_and_calls_one_command() -> None:
    rules = sorted((PACKAGE.parent / "rules").glob("*.smk"))
    assert len(rules) >= 8
    for path in rules:
        text = path.read_text(encoding="utf-8")
        if path.name == "common.smk":  # what rules ask, no rule itself
            assert not re.search(r"^(rule|checkpoint)\b", text, re.M)
            continue
        assert text.startswith("# In: "), path.name
        assert "\n# Out: " in text, path.name
        assert not re.search(r"^\s+(run|script|notebook):", text, re.M), path.name
        for body in re.split(r"^rule ", text, flags=re.M)[1:]:
            assert re.search(r"^    log:", body, re.M), path.name
            assert re.search(r"^    benchmark:", body, re.M), path.name
            assert "source=SOURCE," in body, path.name
            command = body[body.index("    shell:") :]
            reads = " {input:q}" if "\n    input:" in body else ""
            stage = f"-m credence stage --reads{reads} --writes {{output:q}} --"
            assert command.count('"{resources.python:q} ' + stage) == 1, path.name
            assert command.count("-m credence ") == 1, path.name
            assert "python=sys.executable," in body
            for placeholder in re.findall(r"\{[^{}]+\}", command):
                assert placeholder.endswith(":q}"), f"{path.name}: {placeholder}"
