"""``credence run`` refuses what ``credence check`` refuses, before the first job."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from snakemake.exceptions import WorkflowError

from credence.app import check, configuration, run, run_command_line
from credence.problems import InputError
from credence.simulate.law import WorldSettings
from credence.tables import joining
from small_worlds import write_world

SMALL = WorldSettings(
    n_calibration=60, n_query=21, n_training=12, n_trove=9, n_defects=2, n_training_relatives=2
)
CONFIGURATION = """\
run: lab
calibration_set:
  scores: demo/calibration.csv
  format: phanns-labelled
  proteins: demo/proteins.fasta
training:
  proteins: demo/training.fasta
queries:
  - name: my_phages
    scores: demo/my_phages.csv
    format: phanns
    proteins: demo/my_phages.fasta
troves:
  - name: htj
    scores: demo/trove_htj.csv
    fasta: demo/trove_htj.fasta
calibration:
  method: class_only
  compare: [class_only]
"""


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Sequence[str]]:
    """Make a folder with a configuration; return the commands that a run starts in it."""
    monkeypatch.chdir(tmp_path)
    write_world(tmp_path, SMALL)
    (tmp_path / "config.yaml").write_text(CONFIGURATION)
    started: list[Sequence[str]] = []

    def start(words: Sequence[str], verbose: bool) -> int:
        started.append(words)
        return 0

    monkeypatch.setattr(run, "_run", start)
    return started


def changed(path: str, old: str, new: str) -> None:
    text = Path(path).read_text()
    assert old in text
    Path(path).write_text(text.replace(old, new, 1))


def cell(path: str) -> None:
    """Write a word in place of a score."""
    lines = Path(path).read_text().splitlines()
    cells = lines[2].split(",")
    lines[2] = ",".join([cells[0], "high", *cells[2:]])
    Path(path).write_text("\n".join(lines) + "\n")


def named(setting: str, path: str, text: str) -> None:
    """Let the configuration name a file that holds a text."""
    Path(path).write_text(text)
    with Path("config.yaml").open("a") as handle:
        handle.write(setting)


WRONG: dict[str, tuple[Callable[[], object], str]] = {
    "a score of the calibration set": (lambda: cell("demo/calibration.csv"), "'high' is not"),
    "a score of a query set": (lambda: cell("demo/my_phages.csv"), "'high' is not"),
    "a score of a trove": (lambda: cell("demo/trove_htj.csv"), "'high' is not"),
    "a query set of other classes": (
        lambda: changed("demo/my_phages.csv", "Portal", "Porta"), "the column of class 'Portal'"
    ),
    "an id without a sequence": (
        lambda: changed("demo/proteins.fasta", ">", ">x"), "demo/proteins.fasta"
    ),
    "sequences of a query set": (
        lambda: Path("demo/my_phages.fasta").write_text("MKV\n"), "my_phages.fasta"
    ),
    "sequences of training": (
        lambda: Path("demo/training.fasta").write_text(">a\n\n>b\nMKV\n"), "training.fasta"
    ),
    "shares of a class that is not there": (
        lambda: named("shift: {class_proportions: {Sheath: 1.0}}\n", "x", ""), "'Sheath'"
    ),
    "vectors": (lambda: named("novelty: {features: v.npz}\n", "v.npz", "no zip"), "v.npz"),
    "a setting": (lambda: named("evaluation: {folds: 1}\n", "x", ""), "evaluation.folds"),
    "a file that is not there": (lambda: Path("demo/my_phages.csv").unlink(), "no file"),
    "several files at once": (
        lambda: (cell("demo/calibration.csv"), cell("demo/my_phages.csv")),
        "demo/my_phages.csv, line 3",
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", WRONG)
def test_a_run_refuses_in_the_words_of_the_check_and_starts_nothing(
    lab: list[Sequence[str]], capsys: pytest.CaptureFixture[str], what: str
) -> None:
    spoil, words = WRONG[what]
    spoil()
    assert run_command_line(["check", "config.yaml"]) == 2
    stated = capsys.readouterr().err
    assert words in stated
    assert run_command_line(["run"]) == 2
    again = capsys.readouterr().err
    assert again.removeprefix("Checking config.yaml and the files that it names.\n") == stated
    assert lab == []
    assert not Path(".snakemake").exists() and not Path("results").exists()


def test_snakemake_by_itself_refuses_in_the_same_words(
    lab: list[Sequence[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    cell("demo/my_phages.csv")
    assert run_command_line(["check", "config.yaml"]) == 2
    stated = capsys.readouterr().err
    with pytest.raises(WorkflowError) as refused:
        check.require_right_of_snakemake(configuration.load("config.yaml"))
    assert stated.startswith(f"{refused.value}\n")


def test_settings_that_no_file_holds_are_checked_too(lab: list[Sequence[str]]) -> None:
    values = configuration.load("config.yaml").document.data
    settings = configuration.from_mapping(values, "configuration of the module")
    check.require_right(settings)
    wrong = configuration.from_mapping(
        values | {"shift": {"class_proportions": {"Sheath": 1.0}}}, "configuration of the module"
    )
    with pytest.raises(InputError, match="configuration of the module, column 'shift"):
        check.require_right(wrong)


def test_a_run_reads_again_only_what_changed_since_it_was_checked(
    lab: list[Sequence[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []
    files = check.check_files
    monkeypatch.setattr(check, "check_files", lambda found: seen.append(files(found)))
    for n_checks, spoil in (
        (1, lambda: None),
        (1, lambda: None),
        (2, lambda: changed("demo/my_phages.csv", "0.00", "0.01")),
        (3, lambda: changed("config.yaml", "run: lab", "run: lob")),
        (4, lambda: Path(".snakemake/credence.checked.txt").write_bytes(b"\xff")),
        (4, lambda: None),
    ):
        spoil()
        assert run_command_line(["run"]) == 0
        assert len(seen) == n_checks
    assert len(lab) == 6


def test_a_check_reads_the_scores_of_a_query_set_once(
    lab: list[Sequence[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []
    scan = joining.Scan
    monkeypatch.setattr(
        joining, "Scan", lambda path, spec: (seen.append(str(path)), scan(path, spec))[1]
    )
    streamed = joining.reading.stream_samples

    def stream(path: Path, *words: Any, **named: Any) -> Any:
        seen.append(str(path))
        return streamed(path, *words, **named)

    monkeypatch.setattr(joining.reading, "stream_samples", stream)
    assert run_command_line(["check", "config.yaml"]) == 0
    assert seen.count("demo/my_phages.csv") == 1


def test_a_demo_that_is_not_simulated_yet_is_run(lab: list[Sequence[str]]) -> None:
    Path("demo/my_phages.csv").unlink()
    named("simulated: true\ndemo: {}\n", "x", "")
    assert run_command_line(["run"]) == 0
    assert len(lab) == 1
