"""What the doctor says of things that are there, missing, too old, or broken."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

from credence.app import doctor, explain, run_command_line
from credence.app.configuration import workflow_folder
from credence.app.doctor import GIBIBYTE, Found
from credence.problems import refuse
from credence.relatives import mmseqs

ROOT = workflow_folder().parent
INSTALL = (
    f"{sys.executable} -m pip install --require-hashes --requirement "
    f"{ROOT / 'envs' / 'credence.lock.txt'}"
)


@pytest.fixture
def bin_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder that alone is searched for programs, besides those of the system."""
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin")
    monkeypatch.setattr(doctor.shutil, "which", lambda name: _at(tmp_path / name))
    return tmp_path


def _at(path: Path) -> str | None:
    return str(path) if path.is_file() else None


def write_program(path: Path, says: str, code: int = 0) -> None:
    path.write_text(f"#!/bin/sh\ncat <<'END'\n{says}\nEND\nexit {code}\n")
    path.chmod(0o755)


def test_packages_that_are_missing_too_old_or_too_new_are_named() -> None:
    there = {"numpy": "2.1.0", "snakemake": "10.0.1", "pandas": "1.5.3"}

    def version_of(name: str) -> str:
        if name not in there:
            raise metadata.PackageNotFoundError(name)
        return there[name]

    asked = ["numpy>=2.1", "snakemake<10,>=9.3", "pandas>=2.2", "scipy>=1.15"]
    others = ["mypy>=1.14; extra == 'dev'", "nothing; platform_machine == 'abacus'"]
    found = doctor.look_at_packages([*asked, *others], version_of)
    assert found == Found(
        "packages",
        "fix",
        "snakemake is 10.0.1, not <10,>=9.3; pandas is 1.5.3, not >=2.2; scipy is missing",
        INSTALL,
    )
    assert doctor.look_at_packages(["numpy>=2.1"], version_of).text == (
        "all 1 are there and as recent as they have to be"
    )


def test_what_a_lock_has_is_told_where_other_versions_are_installed(tmp_path: Path) -> None:
    lock = tmp_path / "credence.lock.txt"
    lock.write_text(
        "numpy==2.4.6 ; python_full_version < '4' \\\n    --hash=sha256:0a\n    # via scipy\n"
        "numpy==2.5.5 ; python_full_version >= '4' \\\n    --hash=sha256:0b\n"
        "scipy==1.17.1 \\\n    --hash=sha256:0c\n"
        "yte==1.9.4 \\\n    --hash=sha256:0d\n"
    )
    there = {"numpy": "2.4.6", "scipy": "1.17.1"}

    def version_of(name: str) -> str:
        if name not in there:
            raise metadata.PackageNotFoundError(name)
        return there[name]

    assert doctor.look_at_lock(lock, version_of) == Found("lock", "ok", f"the versions of {lock}")
    there["numpy"] = "2.5.5"
    assert doctor.look_at_lock(lock, version_of) == Found(
        "lock",
        "note",
        f"not the versions of {lock}: numpy is 2.5.5, there 2.4.6; last digits may differ",
        INSTALL,
    )
    absent = doctor.look_at_lock(tmp_path / "none", version_of)
    assert (absent.verdict, absent.remedy) == ("note", "")


def test_the_lock_is_the_one_that_came_with_the_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert doctor.lock_file() == ROOT / "envs" / "credence.lock.txt"
    # Installed without a checkout it lies in the package; pyproject.toml puts it there.
    monkeypatch.setattr(doctor, "PACKAGE", tmp_path / "site-packages" / "credence")
    assert doctor.lock_file() == (
        tmp_path / "site-packages" / "credence" / "_workflow" / "envs" / "credence.lock.txt"
    )
    text = (ROOT / "pyproject.toml").read_text("utf-8")
    assert '"envs/credence.lock.txt" = "credence/_workflow/envs/credence.lock.txt"' in text


LONG = pytest.mark.long  # what numpy shows


@pytest.mark.parametrize(
    "package",
    [
        *("numpy", "packaging"),
        *(pytest.param(name, marks=LONG) for name in ("ruamel.yaml", "Bio.Align")),
    ],
)
def test_the_doctor_says_what_it_cannot_do_without(package: str, tmp_path: Path) -> None:
    # In a process of its own: a package that was imported is there.
    program = (
        f"import sys; sys.modules[{package!r}] = None; "
        "from credence.app import run_command_line; sys.exit(run_command_line(['doctor']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT / "workflow")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr == ""
    assert f"→ {INSTALL}\n" in done.stdout
    assert done.stdout.endswith("To be fixed: 1.\n")
    message = {"packaging": "packaging is missing, and perhaps others"}.get(
        package, f"{package} cannot be imported, and without it nothing more can be looked at"
    )
    assert f"{message}\n" in done.stdout


def test_a_command_without_its_package_names_the_doctor() -> None:
    assert explain(ModuleNotFoundError("No module named 'numpy'", name="numpy")) == (
        "The Python package 'numpy' is not installed here. To see what installs it: "
        "credence doctor\nFix this and run the command again."
    )


def test_a_python_that_is_too_old_is_named() -> None:
    found = doctor.look_at_python((3, 10, 2), ">=3.11", ["numpy"])
    assert (found.verdict, found.text) == ("fix", "3.10.2, and 3.11 is the oldest that will do")
    assert doctor.look_at_python((3, 11, 0), ">=3.11", ["numpy"]).verdict == "ok"
    assert doctor.look_at_python((3, 11, 0), "", []).text == (
        "3.11.0; the package is not installed, only found on the path"
    )
    assert doctor.look_at_python((3, 11, 0), "", []).remedy == (
        f"{sys.executable} -m pip install --no-deps --no-build-isolation --editable {ROOT}"
    )


def no_mmseqs() -> str:
    raise refuse("mmseqs", "MMseqs2 is not installed.", mmseqs.REMEDY)


def test_a_program_is_missing_where_it_is_needed_and_noted_where_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(mmseqs, "find_program", no_mmseqs)
    what = "MMseqs2 is not installed."
    assert doctor.look_at_mmseqs(True) == Found("MMseqs2", "fix", what, mmseqs.REMEDY)
    what += " Only the engine mmseqs needs it."
    assert doctor.look_at_mmseqs(False) == Found("MMseqs2", "note", what, mmseqs.REMEDY)


@pytest.mark.parametrize(
    ("stated", "verdict", "shown"),
    [("15-6f452", "ok", "release 15"), ("14.7e284+ds-1", "fix", "is MMseqs2 14, and 15 is the")],
)
def test_releases_of_mmseqs_are_told_apart(
    stated: str, verdict: str, shown: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "mmseqs"
    write_program(path, stated)
    monkeypatch.setattr(mmseqs, "find_program", lambda: str(path))
    found = doctor.look_at_mmseqs(True)
    assert found.verdict == verdict
    assert shown in found.text


def test_a_program_that_fails_or_does_not_answer_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "mmseqs"
    monkeypatch.setattr(mmseqs, "find_program", lambda: str(path))
    write_program(path, "no licence", code=3)
    found = doctor.look_at_mmseqs(True)
    assert (found.verdict, found.text) == ("fix", "the program failed with code 3: no licence.")
    monkeypatch.setattr(doctor, "SECONDS", 0.2)
    path.write_text("#!/bin/sh\nsleep 60\n")
    found = doctor.look_at_mmseqs(False)
    assert found.verdict == "note"
    assert "the program was ended after 0.2 seconds." in found.text


def test_slurm_needs_both_its_plugin_and_its_commands(
    bin_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor, "find_spec", lambda name: None)
    assert doctor.look_at_slurm().text == "not here; only --profile slurm needs it"
    write_program(bin_folder / "sbatch", "")
    assert doctor.look_at_slurm() == Found(
        "SLURM",
        "note",
        f"{bin_folder}/sbatch is here, Snakemake's plugin is not",
        f"cd {ROOT} && VENV=.venv-slurm envs/set_up.sh envs/slurm.lock.txt",
    )
    monkeypatch.setattr(doctor, "find_spec", lambda name: object())
    assert doctor.look_at_slurm().verdict == "ok"
    (bin_folder / "sbatch").unlink()
    assert doctor.look_at_slurm() == Found(
        "SLURM",
        "note",
        "the plugin is installed, and there is no sbatch here",
        "log in where jobs are handed in, or credence run --profile local",
    )


def test_folders_are_written_to_to_know(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = doctor.look_at_folder("this folder", tmp_path, "go")
    assert found.verdict == "ok"
    assert list(tmp_path.iterdir()) == []
    missing = doctor.look_at_folder("this folder", tmp_path / "none", "go")
    assert missing == Found(
        "this folder",
        "fix",
        f"{tmp_path / 'none'} cannot be written to (No such file or directory)",
        "go",
    )
    monkeypatch.setattr(doctor, "LEAST_DISK", 1 << 60)
    assert doctor.look_at_folder("this folder", tmp_path, "go").remedy == ("make room, or go")


def test_memory_is_the_least_of_what_is_free_and_what_is_allowed(tmp_path: Path) -> None:
    assert doctor.memory_of(tmp_path) is None
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc" / "meminfo").write_text("MemTotal: 9 kB\nMemAvailable:   4096 kB\n")
    assert doctor.memory_of(tmp_path) == 4096 * 1024
    (tmp_path / "sys" / "fs" / "cgroup").mkdir(parents=True)
    limit = tmp_path / "sys" / "fs" / "cgroup" / "memory.max"
    limit.write_text("max\n")
    assert doctor.memory_of(tmp_path) == 4096 * 1024
    limit.write_text("1000\n")
    assert doctor.memory_of(tmp_path) == 1000
    assert doctor.look_at_memory(GIBIBYTE).text == (
        "1.0 GiB free; sets of millions of proteins take up to 2 GiB"
    )
    assert doctor.look_at_memory(2 * GIBIBYTE).verdict == "ok"
    assert doctor.look_at_memory(None).verdict == "note"


def test_processors_and_text_are_told() -> None:
    assert doctor.look_at_processors(1, True).text == "1 core"
    assert doctor.look_at_processors(8, False).text == (
        "8 cores, without AVX2: MMseqs2's wheel does not run here"
    )
    assert doctor.look_at_text("utf-8", "UTF-8").verdict == "ok"
    assert doctor.look_at_text("utf-8", "ANSI_X3.4-1968").remedy == ("export LC_ALL=C.UTF-8")


def test_the_engine_of_a_configuration_has_to_be_there(
    bin_folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(bin_folder)
    text = (workflow_folder().parent / "config.yaml").read_text()
    assert "engine: mmseqs" in text
    monkeypatch.setattr(mmseqs, "find_program", no_mmseqs)
    Path("c.yaml").write_text(text)
    assert run_command_line(["doctor", "--config", "c.yaml"]) == 2
    stated = capsys.readouterr().out
    assert "FIX   MMseqs2         MMseqs2 is not installed.\n" in stated
    assert f"→ {mmseqs.REMEDY}\n" in stated
    assert stated.endswith("To be fixed: 1.\n")
    Path("c.yaml").write_text(text.replace("engine: mmseqs", "engine: exact"))
    assert run_command_line(["doctor", "--config", "c.yaml"]) == 0
    assert "note  MMseqs2" in capsys.readouterr().out
    Path("broken.yaml").write_text("a: 1\n")
    assert run_command_line(["doctor", "--config", "broken.yaml", "--json"]) == 2
    (problem,) = [one for one in json.loads(capsys.readouterr().out) if one["verdict"] == "fix"]
    assert problem["remedy"] == "credence check broken.yaml"
    assert problem["text"].startswith("broken.yaml, column '")


def test_nothing_is_to_be_fixed_where_the_tests_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run_command_line(["doctor"]) == 0
    assert capsys.readouterr().out.endswith("Nothing has to be fixed.\n")
    assert list(tmp_path.iterdir()) == []
