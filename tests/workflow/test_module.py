"""credence as a module of another workflow, where the package is not installed."""

from __future__ import annotations

import json
import os
import re
import shutil
import stat
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from faulty_runs import ROOT, TIMEOUT, call

SNAKEFILE = f"""\
configfile: "config/lab.yaml"


module credence:
    snakefile:
        "{ROOT}/workflow/Snakefile"
    config:
        config


use rule * from credence as credence_*


rule best:
    default_target: True
    input:
        "reports/lab/new/confidences.tsv",
    output:
        "best.txt",
    shell:
        "head -n 3 {{input}} > {{output}}"
"""
CONFIGURATION = """\
run: lab
calibration_set: {scores: known.csv, format: wide, scale: 1, columns: {true_class: truth}}
queries:
  - {name: new, scores: new.csv, format: wide, scale: 1}
split: {groups: 4, audit: none, strict: report}
calibration: {method: class_only, compare: [class_only], resamples: 20}
evaluation: {folds: 2}
"""


@pytest.fixture
def other(tmp_path: Path) -> Path:
    """Return the folder of a workflow that uses credence, with a table of its own."""
    rows = [f"p{n},0.{n % 9 + 1},0.{9 - n % 9},{'AB'[n % 3 == 0]}" for n in range(60)]
    (tmp_path / "known.csv").write_text("\n".join(["id,A,B,truth", *rows]) + "\n")
    (tmp_path / "new.csv").write_text("id,A,B\nx1,0.9,0.1\nx2,0.2,0.8\n")
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "lab.yaml").write_text(CONFIGURATION)
    (tmp_path / "Snakefile").write_text(SNAKEFILE)
    return tmp_path


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    """Return a Python that has what credence needs, and not credence."""
    venv = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(venv)], check=True)
    (packages,) = venv.glob("lib/python*/site-packages")
    (packages / "others.pth").write_text(sysconfig.get_paths()["purelib"] + "\n")
    return venv / "bin" / "python"


def snakemake(python: Path, folder: Path, *words: str, **variables: str) -> str:
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [str(python), "-m", "snakemake", "--cores", "1", *words],
        cwd=folder, env=kept | variables, capture_output=True, text=True,
        timeout=TIMEOUT, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.mark.long
def test_a_second_workflow_uses_credence_without_installing_it(other: Path, bare: Path) -> None:
    snakemake(bare, other)
    lines = (other / "best.txt").read_text().splitlines()
    assert [line.split("\t")[0] for line in lines] == ["id", "x1", "x2"]


@pytest.mark.long
def test_the_page_on_modules_works_as_written_on_what_init_writes(other: Path, bare: Path) -> None:
    page = (ROOT / "docs" / "modules.md").read_text()
    (snakefile,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    folder = other / "mine"
    (folder / "config").mkdir(parents=True)
    (other / "credence").symlink_to(ROOT)  # a copy beside it
    (folder / "Snakefile").write_text(snakefile)
    for name in ("known.csv", "new.csv"):
        shutil.copy(other / name, folder)
    words = ("init", "mylab", "--scores", "known.csv", "--query", "new.csv")
    call(folder, *words, "--out", "config/config.yaml")
    path = folder / "config" / "config.yaml"
    text = path.read_text()
    for pattern, quick in (
        (r"compare: \[class[^]]*\]", "compare: [class_only]"),
        ("method: auto", "method: class_only"),
        ("resamples: 200", "resamples: 20"),
    ):
        text = re.sub(rf"(\ncalibration:.*?){pattern}", rf"\g<1>{quick}", text, flags=re.DOTALL)
    assert "resamples: 20 " in text
    path.write_text(text)
    snakemake(bare, folder, "mine")
    assert (folder / "reports" / "mylab" / "new" / "confidences.tsv").is_file()
    snakemake(bare, folder)
    assert (folder / "reports" / "mylab" / "index.html").is_file()


# What Snakemake asks of conda, answered without one: an environment is a folder with a `python`.
CONDA = """\
#!/bin/bash
case "$1" in
    info) echo '{"conda_prefix": "HOME", "platform": "linux-64"}' ;;
    --version) echo "conda 25.1.0" ;;
    config) echo '{"get": {"channel_priority": "strict"}}' ;;
    env) while [ $# -gt 1 ]; do
            [ "$1" = --prefix ] && mkdir -p "$2/bin" && cp HOME/bin/python_of_it "$2/bin/python"
            [ "$1" = --file ] && cp "$2" HOME/asked.yaml
            shift
        done ;;
esac
"""
ACTIVATE = 'export PATH="$1/bin:$PATH" CONDA_PREFIX="$1"\n'


@pytest.mark.long
def test_with_conda_jobs_run_in_the_environment_that_snakemake_makes(
    other: Path, bare: Path
) -> None:
    home = other / "conda"
    (home / "bin").mkdir(parents=True)
    text = CONDA.replace("HOME", str(home)).replace("PYTHON", str(bare))
    for name, content in (
        ("conda", text),
        ("activate", ACTIVATE),
        ("python_of_it", f'#!/bin/bash\nexec {bare} "$@"\n'),
    ):
        (home / "bin" / name).write_text(content)
        (home / "bin" / name).chmod(stat.S_IRWXU)
    path = f"{home / 'bin'}:{os.environ['PATH']}"
    words = ("--sdm", "conda", "--printshellcmds")
    stated = snakemake(bare, other, *words, PATH=path)
    assert "python -m credence " in stated
    asked = YAML(typ="safe").load((home / "asked.yaml").read_text())
    own = YAML(typ="safe").load((ROOT / "workflow" / "envs" / "credence.yaml").read_text())
    assert json.dumps(asked) == json.dumps(own)
