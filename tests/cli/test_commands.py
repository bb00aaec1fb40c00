"""Commands as real processes: what they print where, and their exit codes."""

from __future__ import annotations

import csv
import errno
import json
import os
import re
import shlex
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

import click
import pytest

from credence.app import COMMANDS, GROUPS, HIDDEN, configuration, group, run_command_line
from credence.app.meaning import DEMO_FILES
from credence.app.options import OPTION_GROUPS
from credence.calibrators.all_methods import METHODS
from credence.metrics.all_metrics import METRICS
from credence.simulate.world import make_world, render_files
from credence.tables.formats import FORMATS
from refusals import refused
from small_worlds import SMALL, TIMEOUT, call, rows_of


def example_of(name: str) -> str:
    command = group.get_command(None, name)  # type: ignore[arg-type]
    assert command is not None
    text = " ".join((command.epilog or "").split())
    assert text.startswith("Example: credence "), f"{name} has no example"
    return text.removeprefix("Example: ")


# After what made their files; the others in any order.
IN_ORDER = [
    *("simulate", "check", "cluster", "split", "fit", "annotate", "evaluate", "report"),
    *("attach", "release", "init", "trove", "run"),
]
AFTER_A_RUN = ("demo", "check-page", "compare", "figures")
BELOW_TROVE = ("add", "list", "remove")
TOO_BAD = 1  # a page of so small a world may be worse than asked


# What makes an example short here; the default engine is in tests/engines/test_programs and
# tests/cli/test_split_commands.
SHORTER = {
    "cluster": ("--engine", "exact"),
    "attach": ("--engine", "exact"),
    "shift": ("--resamples", "20"),
}


def done(example: str, *words: str) -> int:
    first, *asked = shlex.split(example)
    assert first == "credence"
    return run_command_line([*asked, *words])


@pytest.mark.long
def test_the_examples_of_the_help_work_one_after_the_other(inside: Path) -> None:
    left = sorted(set(COMMANDS) - set(AFTER_A_RUN) - set(IN_ORDER))
    for name in [*IN_ORDER, *left]:
        example = example_of(name)
        assert shlex.split(example)[:2] == ["credence", name]
        assert done(example, *SHORTER.get(name, ())) == 0, example
    trove = group.get_command(None, "trove")  # type: ignore[arg-type]
    for name in BELOW_TROVE:
        example = " ".join((trove.commands[name].epilog or "").split())  # type: ignore[union-attr]
        assert done(example.removeprefix("Example: ")) == 0, example
    for made in ("clusters.tsv", "groups.tsv", "c.json", "conf.tsv", "findings.json"):
        assert (inside / made).stat().st_size > 100
    assert (inside / "page" / "index.html").stat().st_size > 10_000
    attributes = Path("annotated.gff3").read_text().count("credence_class=")
    assert attributes == len(rows_of("conf.tsv")) == SMALL.n_query


@pytest.mark.long
def test_the_examples_of_the_help_that_need_a_run_work_after_a_small_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mydemo").mkdir()
    text = configuration.demo_text()
    small = f"demo: {json.dumps(asdict(SMALL) | {'n_calibration': 400})}\n"
    text, n = re.subn(r"^demo:.*\n(?:[ #].*\n|\n)*", small, text, flags=re.M)
    assert n == 1
    Path("mydemo/config.yaml").write_text(text)
    first, *others = AFTER_A_RUN
    assert done(example_of(first)) == 0
    monkeypatch.chdir("mydemo")
    for name in others:
        codes = (0, TOO_BAD) if name == "check-page" else (0,)
        assert done(example_of(name)) in codes, name


GROUPS_OF_THE_ISSUE = {
    "Start": "demo init check run",
    "Use": "annotate list thresholds plan genomes gff",
    "Build": "fit evaluate shift novelty events cluster split",
    "Maintain": "trove compare labels watch",
    "Publish": "report figures show",
}


def test_the_commands_stand_in_five_groups_in_the_order_of_their_use(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert {title: " ".join(names) for title, names in GROUPS.items()} == GROUPS_OF_THE_ISSUE
    assert sum(map(len, GROUPS.values())) <= 24
    assert run_command_line(["--help"]) == 0
    stated = capsys.readouterr().out
    assert stated.startswith("Say how probable it is that each prediction of a protein ")
    for title, commands in GROUPS.items():
        (part,) = re.findall(rf"^{title}:\n((?:  .*\n)+)", stated, re.M)
        assert re.findall(r"^  (\S+)", part, re.M) == list(commands)
    for name in HIDDEN:
        assert not re.search(rf"^  {name} ", stated, re.M)


@pytest.mark.parametrize("name", COMMANDS)
def test_help_begins_with_a_sentence_and_an_example(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command_line([name, "--help"]) == 0
    first, example, usage = (
        " ".join(part.split()) for part in capsys.readouterr().out.split("\n\n")[:3]
    )
    assert re.fullmatch(r"[A-Z][^.]*\.", first)
    assert example.startswith(f"Example: credence {name} ") or example == f"credence {name}"
    assert usage.startswith(f"Usage: credence {name} ")


@pytest.mark.parametrize("name", COMMANDS)
def test_options_stand_in_groups_and_json_last(name: str) -> None:
    command = group.get_command(None, name)  # type: ignore[arg-type]
    assert command is not None
    text = command.get_help(click.Context(command, info_name=name, max_content_width=100))
    titles = re.findall(rf"^({'|'.join(map(re.escape, OPTION_GROUPS))}):$", text, re.M)
    assert titles == [title for title in OPTION_GROUPS if title in titles]
    above, found, last = text.partition(f"\n{OPTION_GROUPS[-1]}:\n")
    for option in ("--spec", "--settings", "--json"):
        assert not re.search(rf"^  {option}\b", above, re.M)
        used = any(option in param.opts for param in command.params)
        assert used == bool(re.search(rf"^  {option}\b", last, re.M))
    assert not re.search(r"[Aa]s\s+JSON\.", above)
    assert bool(found) == bool(last)


def test_metrics_and_programs_are_listed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert run_command_line(["show", "metrics", "--json"]) == 0
    entries = json.loads(capsys.readouterr().out)
    assert [entry["name"] for entry in entries] == [metric.name for metric in METRICS]
    assert run_command_line(["show", "metrics", "brier"]) == 0
    assert capsys.readouterr().out.startswith("brier: Brier score. The mean squared distance ")
    program = tmp_path / "cd-hit"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert run_command_line(["show", "programs"]) == 0
    stated = capsys.readouterr().out
    assert f"cd-hit: forms the clusters of PhANNs\n    installed: {program}\n" in stated
    assert (
        "sbatch: hands jobs to a SLURM cluster\n    not installed. It comes with SLURM: ask those "
        "who run it.\n"
    ) in stated
    assert "mmseqs: finds relatives in large sets of proteins\n" in stated
    assert run_command_line(["show", "programs", "cdhit"]) == 2
    assert capsys.readouterr().err.startswith(
        "NAME: 'cdhit' is none of the programs. Did you mean 'cd-hit'?\n"
    )


def test_the_version_is_printed_without_importing_what_computes(tmp_path: Path) -> None:
    code = (
        "import sys; from credence.app import run_command_line as run; run(['--version']);"
        "print(sorted({'numpy', 'pandas', 'scipy', 'pyarrow', 'matplotlib'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=TIMEOUT,
        check=True,
    )
    assert re.fullmatch(r"credence, version \d+\.\d+\.\d+\n\[\]\n", done.stdout)


def test_a_configuration_is_read_without_importing_what_computes() -> None:
    """Each run reads it twice, also where there is nothing to do."""
    code = (
        "import sys; from credence.app import configuration;"
        "configuration.loads(configuration.demo_text());"
        "import credence.app.run, credence.relatives.programs;"
        "print(sorted({'pandas', 'scipy.special', 'scipy.sparse', 'scipy.optimize', 'sklearn'} "
        "& set(sys.modules)))"
    )
    words = [sys.executable, "-c", code]
    done = subprocess.run(words, capture_output=True, text=True, timeout=TIMEOUT, check=True)
    assert done.stdout == "[]\n"


def test_an_unknown_command_is_answered_with_the_nearest(tmp_path: Path) -> None:
    done = call(tmp_path, "anotate")
    assert done.returncode == 2
    assert done.stdout == ""
    assert "There is no command 'anotate'. Did you mean 'annotate'?" in done.stderr


def test_one_thread_is_set_before_anything_computes(tmp_path: Path) -> None:
    code = (
        "import os, sys; sys.argv = ['credence', '--version'];"
        "from credence.__main__ import main\n"
        "try: main()\n"
        "except SystemExit: print(os.environ['OMP_NUM_THREADS'], 'numpy' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"OMP_NUM_THREADS": "8"},
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=TIMEOUT,
        check=True,
    )
    assert done.stdout.splitlines()[-1] == "1 False"


def test_check_tells_what_is_wrong_with_configuration_and_all_tables_at_once(
    inside: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scores = Path("demo/calibration.csv").read_text().replace("0.00", "high", 1)
    Path("bad.csv").write_text(scores)
    Path("bad.fasta").write_text(">a\nMKV*\n")
    Path("bad.yaml").write_text(
        "run: bad\ncalibration_set: {scores: bad.csv, format: phanns-labelled}\n"
        "queries: [{name: one, scores: bad.fasta, format: phanns}]\n"
    )
    assert run_command_line(["check", "bad.yaml"]) == 2
    stated = capsys.readouterr().err
    assert re.search(
        r"^bad.csv, line 2, column '[^']+': 'high' is not a number\. Give ", stated, re.M
    )
    assert re.search(r"^bad.fasta, line 1: ", stated, re.M)


def test_check_lists_every_id_that_table_and_fasta_do_not_share(
    inside: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = Path("demo/proteins.fasta").read_text()
    first, second = re.findall(r"^>(\S+)", text, re.M)[:2]
    Path("less.fasta").write_text(text.replace(f">{first} ", ">x ").replace(f">{second} ", ">y "))
    words = ["check", "demo/calibration.csv", "--format", "phanns-labelled"]
    assert run_command_line([*words, "--proteins", "less.fasta"]) == 2
    stated = capsys.readouterr().err
    for name in (first, second):
        assert f"{name!r} has no protein in less.fasta." in stated
    for name in ("x", "y"):
        assert f"less.fasta, line {text[: text.index(f'>{first} ')].count(chr(10)) + 1}" in stated
        assert f"{name!r} has no row in demo/calibration.csv." in stated


def test_check_tells_that_the_rows_of_a_protein_stand_apart(
    inside: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [f"p{row}\t0.25\t0.75\t{network}\n" for network in (1, 2) for row in (1, 2)]
    for lines, notice in (
        (
            rows,
            "a.tsv: the rows of a protein do not stand together, so that the whole table is "
            "held in memory; sorted by id it is read in pieces.\n",
        ),
        (sorted(rows), ""),
    ):
        Path("a.tsv").write_text("id\tx\ty\tnetwork\n" + "".join(lines))
        assert run_command_line(["check", "a.tsv", "--format", "credence"]) == 0
        stated = capsys.readouterr()
        assert stated.out == "2 proteins, 2 classes (x; y), scale 2, 2 networks, no labels\n"
        assert stated.err == notice


def test_methods_lists_every_entry_with_its_laws(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["show", "methods", "--json"]) == 0
    entries = json.loads(capsys.readouterr().out)
    assert [entry["name"] for entry in entries] == [method.name for method in METHODS]
    for entry, method in zip(entries, METHODS, strict=True):
        assert len(entry["laws_promised"]) == len(
            [law for law in method.laws if law.name not in ("INVARIANCE", "RANGE")]
        )
    assert run_command_line(["show", "methods"]) == 0
    stated = capsys.readouterr().out
    for method in METHODS:
        assert f"{method.name}: {method.summary}\n    from: {method.reference}\n" in stated
    assert run_command_line(["show", "methods", "kernel"]) == 0
    assert "    prior_weight=1" in capsys.readouterr().out


def test_formats_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["show", "formats"]) == 0
    stated = capsys.readouterr().out
    assert stated == "".join(f"{entry.name}: {entry.summary}\n" for entry in FORMATS)


def test_a_path_that_cannot_be_written_is_told_and_nothing_is_left(
    inside: Path, calibration: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("file").write_text("not a folder\n")
    words = [
        "annotate",
        "--shift",
        "none",
        "demo/my_phages.csv",
        "--calibration",
        "k.json",
        "--format",
        "phanns",
    ]
    assert refused(capsys, *words, "--out", "file/conf.tsv") == (
        "file/conf.tsv: cannot be written, part of the path is a file, not a folder. "
        "Choose another folder.\n"
    )


def test_a_full_disk_is_told_and_leaves_nothing_half_written(
    inside: Path,
    calibration: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    words = [
        "annotate",
        "--shift",
        "none",
        "demo/my_phages.csv",
        "--calibration",
        "k.json",
        "--format",
        "phanns",
    ]
    assert refused(capsys, *words, "--out", "disk.tsv") == (
        "disk.tsv: cannot be written, the disk is full. Make room, or write to another disk.\n"
    )
    assert [path.name for path in inside.iterdir() if "disk.tsv" in path.name] == []


def test_a_bug_shows_its_traceback_and_exit_code_1(tmp_path: Path) -> None:
    code = (
        "import sys; import credence.stages.methods as m;"
        "m.describe_methods = lambda: 1 / 0;"
        "sys.argv = ['credence', 'show', 'methods'];"
        "from credence.__main__ import main; main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=TIMEOUT,
        check=False,
    )
    assert done.returncode == 1
    assert "Traceback" in done.stderr
    assert "ZeroDivisionError" in done.stderr


def test_the_workflow_expects_what_simulate_writes() -> None:
    written = {f"demo/{name}" for name in render_files(make_world(SMALL))}
    assert written == set(DEMO_FILES)


def test_published_precisions_of_phanns_come_back_exactly(
    real_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    table = str(real_data / "phanns_scores_2020.csv.gz")
    words = ["fit", table, "--format", "phanns-labelled", "--method", "cumulative"]
    assert run_command_line([*words, "--resamples", "0", "--out", "c.json"]) == 0
    with (real_data / "phanns_precision_2020.csv").open() as handle:
        published = {
            (row["class"], float(row["threshold"])): row["precision"]
            for row in csv.DictReader(handle)
            if float(row["threshold"]) in (0.0, 5.0, 8.0)
        }
    assert len(published) == 33
    rows = [[f"p{n}", name, f"{at}"] for n, (name, at) in enumerate(published)]
    with Path("points.csv").open("w", newline="") as handle:
        csv.writer(handle, lineterminator="\n").writerows([["id", "class", "score"], *rows])
    columns = {"id": "id", "predicted_class": "class", "score": "score"}
    spec = json.dumps({"format": "top-score", "columns": columns, "scale": 10})
    words = [
        "annotate",
        "--shift",
        "none",
        "points.csv",
        "--calibration",
        "c.json",
        "--spec",
        spec,
    ]
    assert run_command_line([*words, "--out", "conf.tsv"]) == 0
    answers = [float(row["confidence"]) for row in rows_of("conf.tsv")]
    assert answers == pytest.approx([float(text) for text in published.values()], abs=1e-15)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            [
                "annotate",
                "--shift",
                "none",
                "demo/my_phages.csv",
                "--calibration",
                "k.json",
                "--out",
                "demo/my_phages.csv",
            ],
            "demo/my_phages.csv: this file is an input too. Choose another --out.",
        ),
        (
            ["fit", "demo/calibration.csv", "--out", "./demo/calibration.csv"],
            "./demo/calibration.csv: this file is an input too. Choose another --out.",
        ),
        *(
            (
                [*words, written, "demo/calibration.csv"],
                "demo/calibration.csv: this file is an input too. Choose another --out.",
            )
            for words, written in (
                (["check", "demo/calibration.csv", "--format", "phanns-labelled"], "--samples"),
                (["check", "demo/calibration.csv", "--format", "phanns-labelled"], "--out"),
                (["cluster", "demo/calibration.csv"], "--out"),
                (["split", "demo/calibration.csv"], "--out"),
                (
                    [
                        "split",
                        "demo/my_phages.csv",
                        "--clusters",
                        "demo/calibration.csv",
                        "--out",
                        "o",
                    ],
                    "--summary",
                ),
                (
                    ["report", "f.json", "--novelty", "demo/calibration.csv", "--out", "o.html"],
                    "--findings",
                ),
                (
                    [
                        "evaluate",
                        "u.csv",
                        "--calibration",
                        "c",
                        "--attached",
                        "demo/calibration.csv",
                    ],
                    "--out",
                ),
                (
                    ["evaluate", "demo/calibration.csv", "--calibration", "k.json", "--out", "o"],
                    "--metrics",
                ),
            )
        ),
        (
            ["fit", "demo/calibration.csv", "--held-out", "o.json", "--out", "./o.json"],
            "o.json: this file is another output too. Choose another --out.",
        ),
        (
            [
                "annotate",
                "--shift",
                "none",
                *["demo/my_phages.csv"] * 2,
                "--calibration",
                "k.json",
                "--out",
                "o.tsv",
            ],
            "demo/my_phages.csv: this file is given twice. Name it once.",
        ),
        (
            ["check", "demo/my_phages.csv", "--spec", '{"scale": "ten", "synonyms": [1]}'],
            "--spec, column 'scale': 'ten' is not a number or null. "
            "Give a number above 0 and of at most 1e+12.\n"
            "--spec, column 'synonyms': [1] is not a group of settings. Give a group of settings.",
        ),
    ],
)
def test_inputs_are_not_overwritten_nor_taken_twice(
    inside: Path,
    calibration: Path,
    words: list[str],
    message: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    before = {path: path.read_bytes() for path in (inside / "demo").iterdir() if path.is_file()}
    assert refused(capsys, *words) == f"{message}\n"
    assert {path: path.read_bytes() for path in before} == before


def wide_table(path: str) -> list[str]:
    """Write a labelled table of two classes; return the options that read it."""
    rows = [f"p{row},{'AB'[row % 2]},{0.5 + row / 100},{0.5 - row / 100}\n" for row in range(9)]
    Path(path).write_text("id,truth,A,B\n" + "".join(rows))
    return ["--format", "wide", "--spec", '{"scale": 1, "columns": {"true_class": "truth"}}']


def test_columns_taken_as_classes_are_named_by_check_and_fit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ["a.csv", *wide_table("a.csv")]
    assert run_command_line(["check", *words]) == 0
    assert capsys.readouterr().out.startswith("9 proteins, 2 classes (A; B), scale 1, 9 labelled")
    assert run_command_line(["fit", *words, "--method", "class_only", "--out", "c.json"]) == 0
    stated = capsys.readouterr().err
    assert "Wrote c.json: class_only, from 9 proteins, for the classes A; B.\n" in stated


def test_a_table_is_annotated_with_the_columns_of_the_labelled_one_that_it_lacks_labels_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    how = wide_table("a.csv")
    Path("b.csv").write_text("id,A,B\nq1,0.6,0.4\n")
    assert (
        run_command_line(["fit", "a.csv", *how, "--method", "class_only", "--out", "c.json"]) == 0
    )
    words = ["b.csv", *how, "--calibration", "c.json"]
    assert run_command_line(["annotate", "--shift", "none", *words, "--out", "c.tsv"]) == 0
    assert Path("c.tsv").read_text().splitlines()[1].startswith("q1\tA\t")
    # Where labels are needed, that they are missing is said.
    assert "the column 'truth' is missing (true class)" in refused(
        capsys, "fit", "b.csv", *how, "--out", "d.json"
    )
