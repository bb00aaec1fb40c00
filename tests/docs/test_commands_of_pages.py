"""What the pages tell users to type is typed here, as it stands, and makes what it names."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from credence.app import COMMANDS, group, run_command_line
from page_commands import ROOT, Command, blocks_of, commands_of, pages
from small_worlds import SMALL, write_world

# What the pages call the files of a lab.
LAB_FILES = {
    "scores.csv": "demo/calibration.csv",
    "proteins.fasta": "demo/proteins.fasta",
    "labels.tsv": "demo/labels.tsv",
    "training.fasta": "demo/training.fasta",
    "new.csv": "demo/my_phages.csv",
    "web.csv": "demo/my_phages.csv",
    "new.fasta": "demo/my_phages.fasta",
    "july.csv": "demo/trove_htj.csv",
    "july.fasta": "demo/trove_htj.fasta",
}
# Typed before the page begins, as the page says.
BEFORE = {
    "docs/installing.md": (
        "credence init mylab --scores scores.csv --proteins proteins.fasta --query new.csv",
    )
}
# Pages that begin where the demo has run.
AS_README = {"docs/tutorial-own-classifier.md"}  # begins as the README does, runs too
IN_LAB = (
    "docs/figures.md",
    "docs/lists.md",
    "docs/publications.md",
    "docs/recalibration.md",
    "docs/tutorial.md",
)
# Pages whose commands are only read for options that do not exist, and why.
ONLY_READ = {
    "docs/cluster.md": "begins where a run has ended, and goes on on a cluster: make test-slurm",
    "docs/comparison.md": "installs peers and measures for minutes",
    "docs/large-tables.md": "begins with folders of tables; tests/cli/test_shards types the like",
    "docs/ready-made.md": "begins with tables of others; tests/cli/test_counts types the like",
    "docs/tools.md": "begins with tables of two tools; tests/tools types it",
    "docs/ensembles.md": "begins with digits of others; tests/verification does the like",
    "docs/paper.md": "begins with public data; tests/verification/test_paper.py reads them",
    "docs/novelty.md": "begins with files that other pages make; tests/cli types the like",
}
# Beginnings of commands that no test types, and why.
NOT_TYPED = {
    "make": "the CI calls lint and test; the others install an environment or take minutes",
    "python3 -m venv": "installs; make does the same before every test",
    "pip install": "installs; make does the same before every test",
    "pytest": "these tests themselves",
    "uv": "asks the package index for new versions",
    "conda": "is not here; tests/test_environments.py reads the files",
    "snakedeploy": "asks an address for the workflow",
    "docker": "is not here; tests/test_environments.py reads the recipe",
    "apptainer": "is not here; tests/test_environments.py reads the recipe",
    "python verification/": "simulates for minutes; see docs/verification.md",
    "python -m benchmarks": "measures for minutes",
    "credence demo": "a run of full size; the lab of these tests is a small one",
    "credence check-page": "ends as the verdict of a page asks: tests/cli types it",
    "credence gff": "needs the GFF3 file of a genome: tests/cli/test_gff types it",
    "credence run --profile slurm": "needs SLURM: make test-slurm",
    "snakemake": "credence run calls it; tests/workflow does so too",
    **dict.fromkeys(
        ("squeue", "sinfo", "sacct", "scancel", "scontrol", "sbatch", "srun", "ssh", "sudo",
         "export", "module", "git", "tail", "less", "ls", "cat", "grep", "ulimit", "df", "du",
         "gzip", "zstd", "cp", "seq"),
        "of the system or the cluster, not ours",
    ),
}  # fmt: skip
# Of the system, harmless, and typed.
TYPED = ("sha256sum", "cmp", "python3 -m zipfile")
WRITES = ("--out", "--record", "--page", "--classes", "--metrics", "--samples-out")
RUNS = re.compile(r"^credence run(?! --profile)")
SIZES = ("n_calibration", "n_query", "n_training", "n_trove", "n_defects", "n_training_relatives")

EVERY = [command for page in pages() for command in commands_of(page)]


def reason_of(command: Command) -> str | None:
    """Return why a command is not typed here, None if it is."""
    found = [why for start, why in NOT_TYPED.items() if _begins(command.words, start)]
    return found[0] if found else None


def _begins(text: str, start: str) -> bool:
    return text == start or text.startswith((f"{start} ", f"{start}-")) or (
        start.endswith("/") and text.startswith(start)
    )  # fmt: skip


def name_of(command: Command) -> str:
    return f"{command.page}:{command.line}"


@pytest.mark.parametrize("command", EVERY, ids=name_of)
def test_a_command_of_a_page_is_typed_or_there_is_a_reason(command: Command) -> None:
    if reason_of(command) is not None:
        return
    if command.words.startswith(TYPED) or command.words.startswith("cd "):
        return
    words = shlex.split(command.words)
    assert words[0] == "credence", f"neither typed nor listed with a reason: {command.text}"
    assert words[1] in COMMANDS
    # Every option and choice of it is known; nothing is done yet.
    found = group.get_command(None, words[1])  # type: ignore[arg-type]
    assert found is not None
    found.make_context(words[1], words[2:])


def test_blocks_of_a_page_are_found() -> None:
    text = "a\n\n    one \\\n        more\n    two\n\nb\n```\nthree\n```\n```python\nno\n```\n"
    text += "- list\n\n      four\n\nnot\n    code\n"
    found = [[line.strip() for _, line in block] for block in blocks_of(text)]
    assert found == [["one \\", "more", "two"], ["three"], ["four"]]
    assert [number for number, _ in blocks_of(text)[0]] == [3, 4, 5]


def test_the_pages_with_commands_are_read() -> None:
    assert len(EVERY) > 40
    with_commands = {command.page for command in EVERY}
    assert {"README.md", *IN_LAB, *BEFORE, "docs/shift.md"} <= with_commands


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the files of a small world, by the names that pages give them."""
    folder = write_world(tmp_path_factory.mktemp("pages") / "world", SMALL)
    for name, source in LAB_FILES.items():
        shutil.copy(folder / source, folder / name)
    return folder


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder in which a small demo has run, its troves too."""
    folder = tmp_path_factory.mktemp("pages") / "lab"
    folder.mkdir()
    text = (ROOT / "config.yaml").read_text("utf-8")
    text = text[: text.index("\ndemo:")] + "\ndemo:\n"
    text += "".join(f"  {name}: {getattr(SMALL, name)}\n" for name in SIZES)
    for old, new in {
        "[uncalibrated, class_only, histogram, cumulative, tswa, kernel, auto]": "[class_only]",
        "resamples: 200": "resamples: 20",
        "evaluation:  # how methods are judged\n  folds: 5": "evaluation:\n  folds: 2",
    }.items():
        assert old in text
        text = text.replace(old, new, 1)
    (folder / "config.yaml").write_text(text, "utf-8")
    with pytest.MonkeyPatch.context() as patch:
        enter(folder, patch)
        assert run_command_line(["run", "--cores", "2"]) == 0
    found = (folder / "reports/demo/my_phages/confidences.tsv").read_text("utf-8").splitlines()[1:]
    genomes = [f"{line.split(chr(9))[0]}\tgenome{n % 4}" for n, line in enumerate(found)]
    (folder / "genome_of.tsv").write_text("\n".join(["id\tgenome", *genomes]) + "\n", "utf-8")
    return folder


def enter(folder: Path, patch: pytest.MonkeyPatch) -> None:
    patch.chdir(folder)
    patch.setenv("PYTHONPATH", str(ROOT / "workflow"))


def type_in(command: Command, patch: pytest.MonkeyPatch) -> None:
    """Do what a command says; refuse to go on where it fails or makes nothing."""
    words = shlex.split(command.words)
    if words[0] == "cd":
        patch.chdir(words[1])
        return
    if words[0] != "credence":
        words[0] = sys.executable if words[0] == "python3" else words[0]
        subprocess.run(words, check=True)
        return
    assert run_command_line(words[1:]) == 0, name_of(command)
    for option, value in pairwise(words):
        if option in WRITES:
            made = Path(value)
            files = [made] if made.is_file() else list(made.rglob("*"))
            assert any(file.stat().st_size > 0 for file in files), f"{name_of(command)}: {value}"


def go_through(page: str, folder: Path, patch: pytest.MonkeyPatch, also_runs: bool) -> int:
    """Type the commands of a page in a folder, in order; return how many were typed."""
    enter(folder, patch)
    for text in BEFORE.get(page, ()):
        type_in(Command(page=page, line=0, text=text), patch)
    n_typed = 0
    for command in commands_of(page):
        if reason_of(command) is not None or (RUNS.match(command.words) and not also_runs):
            continue
        type_in(command, patch)
        n_typed += 1
    return n_typed


# The README and the tutorial are typed whole, with their runs.
OF_WORLD = sorted(
    {c.page for c in EVERY if reason_of(c) is None} - {"README.md", *IN_LAB, *ONLY_READ}
)


@pytest.mark.long
@pytest.mark.parametrize("page", OF_WORLD)
def test_the_commands_of_a_page_do_what_it_says(
    page: str, world: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "here"
    shutil.copytree(world, folder)
    assert go_through(page, folder, monkeypatch, also_runs=page in AS_README) > 0


PROMISED = re.compile(r"`(reports/mylab/[\w./-]+)`")


@pytest.mark.long
def test_the_readme_from_the_first_table_to_the_trove(
    world: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "here"
    shutil.copytree(world, folder)
    go_through("README.md", folder, monkeypatch, also_runs=True)
    promised = PROMISED.findall((ROOT / "README.md").read_text("utf-8"))
    assert len(promised) > 4
    for name in promised:
        assert (folder / name).stat().st_size > 0, name


@pytest.mark.long
@pytest.mark.parametrize("page", IN_LAB)
def test_the_commands_of_a_page_do_what_it_says_after_a_run(
    page: str, lab: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "here"
    shutil.copytree(lab, folder)
    assert go_through(page, folder, monkeypatch, also_runs=True) > 1
