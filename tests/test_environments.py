"""Locks, environments of conda and recipes of containers say the same, and can be followed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tomllib
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.version import Version
from ruamel.yaml import YAML

from credence.relatives import mmseqs

ROOT = Path(__file__).resolve().parents[1]
ENVS = ROOT / "envs"
LOCKS = {"credence": (), "dev": ("dev",), "bench": ("bench",), "slurm": ("slurm",)}
PINNED = re.compile(r"^([A-Za-z0-9._-]+)==(\S+?)( ;.*)? \\$", re.M)
TOOLS = {"mmseqs2": "mmseqs2", "cd-hit": "cd-hit"}  # file → package


def locked(name: str) -> dict[str, list[str]]:
    """Return the versions of each package of a lock; several where systems differ."""
    found: dict[str, list[str]] = {}
    for match in PINNED.finditer((ENVS / f"{name}.lock.txt").read_text("utf-8")):
        found.setdefault(normal(match[1]), []).append(match[2])
    return found


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]  # type: ignore[no-any-return]


@pytest.mark.parametrize("name", LOCKS)
def test_a_lock_holds_what_the_project_asks_for_with_digests(name: str) -> None:
    pins = locked(name)
    asked = list(project()["dependencies"])
    for extra in LOCKS[name]:
        asked += project()["optional-dependencies"][extra]
    for requirement in map(Requirement, asked):
        versions = pins[normal(requirement.name)]
        assert all(Version(one) in requirement.specifier for one in versions), requirement
    text = (ENVS / f"{name}.lock.txt").read_text("utf-8")
    blocks = re.split(r"^(?=[A-Za-z0-9])", text, flags=re.M)[1:]
    assert len(blocks) == sum(map(len, pins.values()))
    assert all("--hash=sha256:" in block for block in blocks)


@pytest.mark.parametrize("name", sorted(set(LOCKS) - {"credence"}))
def test_other_locks_have_the_versions_of_the_users(name: str) -> None:
    pins = locked(name)
    for package, versions in locked("credence").items():
        assert pins.get(package) == versions, package


def conda(name: str) -> dict[str, Any]:
    return YAML(typ="safe").load((ENVS / f"{name}.yaml").read_text("utf-8"))  # type: ignore[no-any-return]


@pytest.mark.parametrize("name", TOOLS)
def test_a_tool_of_conda_is_pinned_to_a_version_that_its_engine_takes(name: str) -> None:
    environment = conda(name)
    assert environment["name"] == conda("credence")["name"]
    assert environment["channels"] == ["conda-forge", "bioconda", "nodefaults"]
    (pin,) = environment["dependencies"]
    package, version = pin.split("=")
    assert package == TOOLS[name]
    assert re.fullmatch(r"[0-9][0-9a-z.]+", version)
    if name == "mmseqs2":
        release = mmseqs.release_of(version)
        assert release is not None
        assert release >= mmseqs.OLDEST


def instructions() -> list[tuple[str, str]]:
    """Return the instructions of the Dockerfile, lines that go on joined."""
    text = (ENVS / "Dockerfile").read_text("utf-8").replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return [
        (word, " ".join(rest.split())) for word, rest in (line.split(" ", 1) for line in lines)
    ]


def copied() -> list[str]:
    """Return what the Dockerfile copies, each once."""
    found: list[str] = []
    for word, rest in instructions():
        if word == "COPY":
            *sources, _ = rest.split()
            found += sources
    return found


def sections() -> dict[str, list[str]]:
    """Return the sections of the Apptainer recipe; what comes before them under ''."""
    found: dict[str, list[str]] = {"": []}
    name = ""
    for line in (ENVS / "credence.def").read_text("utf-8").splitlines():
        if line.startswith("%"):
            name = line[1:]
            found[name] = []
        elif line.strip() and not line.startswith("#"):
            found[name].append(line.strip())
    return found


def is_ignored(path: str) -> bool:
    """Return whether .dockerignore keeps a path out: the last line that fits decides."""
    ignored = False
    for line in (ROOT / ".dockerignore").read_text("utf-8").splitlines():
        pattern = line.strip()
        if not pattern or pattern.startswith("#"):
            continue
        keeps = pattern.startswith("!")
        pattern = pattern.removeprefix("!").removeprefix("**/")
        parts = [path, *map(str, Path(path).parents)]
        if any(fnmatch(part, pattern) for part in parts) or (
            "**" in line and any(fnmatch(part, pattern) for part in Path(path).parts)
        ):
            ignored = not keeps
    return ignored


def test_what_a_container_copies_is_there_and_reaches_the_builder() -> None:
    for source in copied():
        assert (ROOT / source).exists(), source
        assert not is_ignored(source), source
    assert not is_ignored("workflow/credence/__init__.py")
    assert is_ignored("workflow/credence/__pycache__/a.pyc")
    assert is_ignored(".venv/bin/python")
    assert is_ignored("results/demo/a.tsv")


def test_both_recipes_do_the_same() -> None:
    docker, apptainer = instructions(), sections()
    assert f"From: {dict(docker)['FROM']}" in apptainer[""]
    files = dict(line.split() for line in apptainer["files"])
    assert all(to == f"/opt/credence/{source}" for source, to in files.items())
    assert set(files) == {source for source in copied() if "/" not in source}
    assert [rest for word, rest in docker if word == "RUN"] == ["bash envs/container.sh"]
    settings = next(line for line in apptainer["environment"])
    assert apptainer["post"] == [settings, "bash /opt/credence/envs/container.sh"]
    assert {*settings.split()[1:], "HOME=/tmp"} == set(dict(docker)["ENV"].split())
    assert apptainer["test"] == ["credence check --help"]
    assert apptainer["runscript"] == ['exec credence "$@"']
    assert ("ENTRYPOINT", '["credence"]') in docker


def test_the_image_of_containers_is_one_that_the_locks_are_for() -> None:
    image = dict(instructions())["FROM"]
    match = re.fullmatch(r"python:(3\.\d+)-slim-(\w+)", image)
    assert match is not None, f"{image} may become another Python or another Debian"
    assert SpecifierSet(project()["requires-python"]).contains(match[1])
    assert f"Programming Language :: Python :: {match[1]}" in project()["classifiers"]
    assert f"python={match[1]}" in conda("credence")["dependencies"]
    page = (ROOT / "docs" / "installing.md").read_text("utf-8")
    assert f"Python {match[1]}" in page
    assert "Neither image has been built by us" in page


@pytest.mark.long
def test_a_container_is_made_in_an_empty_folder_without_an_engine(tmp_path: Path) -> None:
    context, image = tmp_path / "context", tmp_path / "image"
    for source in copied():
        place = context / source
        place.parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / source).is_dir():
            ignore = shutil.ignore_patterns("__pycache__")
            shutil.copytree(ROOT / source, place, ignore=ignore, dirs_exist_ok=True)
        else:
            shutil.copy(ROOT / source, place)
    # A Python of its own that finds what the lock names in this one: pip asks no index.
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", image], check=True)
    (packages,) = image.glob("lib/python*/site-packages")
    (packages / "lock.pth").write_text(sysconfig.get_path("purelib"))
    stand_ins = tmp_path / "stand_ins"
    stand_ins.mkdir()
    for name in ("apt-get", "rm"):  # of the system, which stays as it is
        (stand_ins / name).write_text(f'#!/bin/sh\necho {name} "$@" >> {tmp_path}/called\n')
        (stand_ins / name).chmod(0o755)
    path = f"{stand_ins}:{image / 'bin'}:{os.environ['PATH']}"
    settings = dict(setting.split("=") for setting in dict(instructions())["ENV"].split())
    done = subprocess.run(
        ["bash", context / "envs" / "container.sh"],
        env={**settings, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr + done.stdout
    called = (tmp_path / "called").read_text()
    assert "apt-get install --yes --no-install-recommends cd-hit" in called
    assert (image / "bin" / "credence").exists()
    for needed in ("Snakefile", "config.yaml", "schemas/config.schema.yaml", "rules/fit.smk"):
        assert (packages / "credence" / "_workflow" / needed).exists()
    assert (packages / "credence" / "report" / "templates" / "page.css").exists()


TOOLS_OF_SHELL = (
    "bash",
    "comm",
    "cp",
    "dirname",
    "grep",
    "mkdir",
    "rm",
    "sort",
    "touch",
    "tr",
    "uniq",
)
ONE_PYTHON = 'echo "{version} {path}"\n'  # In place of what a Python says of itself


@pytest.fixture
def machine(tmp_path: Path) -> Any:
    """Return what runs test_newest.sh among some Pythons; they and make are stand-ins."""
    root, bin_ = tmp_path / "checkout", tmp_path / "bin"
    (root / "envs").mkdir(parents=True)
    bin_.mkdir()
    for name in ("envs/test_newest.sh", "pyproject.toml", "config.yaml"):
        shutil.copy(ROOT / name, root / name)

    def write(path: Path, text: str) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/sh\n{text}")
        path.chmod(0o755)

    def run(default: str, *versions: str, upgraded: str = "", fails: str = "none") -> Any:
        # What sorting, grep and the like need, and no Python of this machine.
        for tool in TOOLS_OF_SHELL:
            (bin_ / tool).symlink_to(str(shutil.which(tool)))
        for version in versions:
            path = tmp_path / "pyenv" / "versions" / version / "bin" / "python"
            write(path, ONE_PYTHON.format(version=version, path=path))
        write(bin_ / "python3", ONE_PYTHON.format(version=default, path="/usr/bin/python3"))
        write(root / ".venv/bin/python", f"echo Python {default}\n")
        new = root / ".venv-newest/bin"
        write(
            bin_ / "make",
            f'echo make "$@" >> {tmp_path}/called\n'
            f'case "$*" in *{fails}*) exit 1;; *.stamp*) ;; *) exit 0;; esac\n'
            f"mkdir -p {new}\ncp {tmp_path}/python {tmp_path}/credence {new}\n"
            f"touch {new.parent}/.developer.stamp\n",
        )
        write(
            tmp_path / "python",
            f'case "$*" in\n*install*) echo upgraded >> {tmp_path}/called; touch {tmp_path}/up;;\n'
            f"*freeze*) echo numpy==2.1; test ! -e {tmp_path}/up || printf '{upgraded}';;\nesac\n",
        )
        write(
            tmp_path / "credence",
            f'echo credence "$@" >> {tmp_path}/called\n'
            "cd build/newest\nmkdir -p reports/demo\necho page > reports/demo/index.html\n",
        )
        done = subprocess.run(
            ["bash", "envs/test_newest.sh", "4"],
            env={"PATH": str(bin_), "PYENV_ROOT": str(tmp_path / "pyenv")},
            capture_output=True,
            text=True,
            check=False,
            cwd=root,
        )
        assert done.returncode == 0, done.stderr
        assert not (root / ".venv-newest/.developer.stamp").exists()
        return done.stderr, (tmp_path / "called").read_text().splitlines()

    return run


DEMO_AND_QUICK = [
    "credence run --directory build/newest --cores 4",
    "make quick VENV=.venv-newest CORES=4",
]


def set_up(path: Path | str) -> str:
    return f"make .venv-newest/.developer.stamp VENV=.venv-newest PYTHON={path}"


def test_the_newest_python_makes_the_demo_and_the_quick_tests(
    machine: Any, tmp_path: Path
) -> None:
    stated, called = machine("3.11.7", "3.9.18", "3.12.1", "3.13.0")
    path = tmp_path / "pyenv/versions/3.13.0/bin/python"
    assert stated.splitlines() == [
        f"test-newest: Python 3.13.0 ({path}), with the lock.",
        "test-newest: The libraries of the lock are the newest that pyproject.toml allows.",
    ]
    assert called == [set_up(path), *DEMO_AND_QUICK, "upgraded"]


def test_a_single_python_is_said_to_be_one_and_newer_libraries_are_tried(machine: Any) -> None:
    stated, called = machine("3.11.7", upgraded=r"numpy==2.9\n")
    assert stated.splitlines() == [
        "test-newest: Python 3.11.7 is the only one here, or the newest; make test runs on it.",
        "test-newest: Python 3.11.7, with libraries newer than the lock's: numpy==2.9 ",
    ]
    assert called == [set_up("/usr/bin/python3"), "upgraded", *DEMO_AND_QUICK]


def test_a_python_that_libraries_lack_is_passed_over_and_named(
    machine: Any, tmp_path: Path
) -> None:
    stated, called = machine("3.11.7", "3.12.1", "3.14.2", fails="3.14.2")
    old, new = (tmp_path / f"pyenv/versions/{one}/bin/python" for one in ("3.12.1", "3.14.2"))
    assert stated.splitlines()[:2] == [
        f"test-newest: Python 3.14.2 ({new}) is passed over: "
        "not all libraries can be installed for it.",
        f"test-newest: Python 3.12.1 ({old}), with the lock.",
    ]
    assert called == [set_up(new), set_up(old), *DEMO_AND_QUICK, "upgraded"]
