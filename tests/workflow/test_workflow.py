"""A few dozen proteins through real Snakemake, from tables to the page."""

from __future__ import annotations

import io
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest

from faulty_runs import ROOT, SMALL_METHODS, SMALL_SETS, TIMEOUT, copied_package, outputs

EVENTS = "events: {ask: [two_best], groups: {tail: [Tail fiber, Tail shaft]}, folds: 2}\n"
STATED = """\
  - name: stated
    scores: demo/my_phages.csv
    format: phanns
    shift: {class_proportions: {Portal: 0.25, Other: 0.75}}
"""
CONFIGURATION = SMALL_SETS + EVENTS + SMALL_METHODS
TWO_SETS = SMALL_SETS + STATED + EVENTS + SMALL_METHODS
Finished = tuple[Path, dict[str, bytes]]


def call(folder: Path, package: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", *words],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(package / "workflow")},
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return call(folder, folder.parent / "package", "credence", "run", *words)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Finished:
    """Return a folder in which a run ended, on one core, and all it made."""
    above = tmp_path_factory.mktemp("workflow")
    copied_package(above)  # one of its files is edited
    folder = above / "run"
    folder.mkdir()
    (folder / "config.yaml").write_text(CONFIGURATION)
    done = run(folder, "--cores", "1")
    assert done.returncode == 0, done.stderr
    return folder, outputs(folder)


@pytest.fixture(scope="module")
def with_two_sets(finished: Finished) -> Finished:
    """Return the folder of a run to which a query set of a stated mix was added."""
    folder = finished[0].with_name("two")
    shutil.copytree(finished[0], folder)
    (folder / "config.yaml").write_text(TWO_SETS)
    done = run(folder, "--cores", "1")
    assert done.returncode == 0, done.stderr
    return folder, outputs(folder)


@pytest.mark.parametrize(
    "made_by", ["finished", pytest.param("with_two_sets", marks=pytest.mark.long)]
)
def test_a_number_is_the_same_wherever_it_stands(
    made_by: str, request: pytest.FixtureRequest
) -> None:
    """Page, record, tables and sums; intervals too."""
    made: dict[str, bytes] = request.getfixturevalue(made_by)[1]
    record = json.loads(made["reports/small/report.json"])
    findings = json.loads(made["results/small/findings.json"])
    blocks = {section["name"]: section["blocks"] for section in record["sections"]}
    (screen,), (glance, *_) = blocks["first"], blocks["classes"]
    metrics = pd.read_csv(io.BytesIO(made["reports/small/metrics.tsv"]), sep="\t")
    accuracy = metrics[(metrics.metric == "accuracy") & (metrics["sample"] == "held_out")]
    for entry in findings["results"]["classes"]:
        own = accuracy[(accuracy["class"] == entry["class_name"]) & (accuracy.method == "kernel")]
        if entry["n_predicted"] and own.lower.notna().all() and len(own):
            assert entry["share"] == pytest.approx(own.value.item(), abs=1e-6)
            assert entry["lower"] == pytest.approx(own.lower.item(), abs=1e-6)
            assert entry["upper"] == pytest.approx(own.upper.item(), abs=1e-6)
    checks = {(one["name"], one["query_set"]): one for one in record["verdict"]["checks"]}
    numbers = [one["number"].replace(",", "") for one in screen["answers"]]
    shown = {strip["name"]: strip["cells"] for strip in glance["strips"]}
    accepted: dict[str, list[int]] = {name: [0, 0] for name in shown}
    for query_set in findings["queries"]:
        name = query_set["name"]
        table = pd.read_csv(io.BytesIO(made[f"reports/small/{name}/confidences.tsv"]), sep="\t")
        for decision in ("accept", "check", "insufficient data"):
            assert str((table.decision == decision).sum()) in numbers
        lacking = (table.decision == "insufficient data").sum()
        assert checks["evidence", name]["n_affected"] == lacking
        for class_name, own in table.groupby("predicted_class"):
            accepted[class_name][0] += int((own.decision == "accept").sum())
            accepted[class_name][1] += len(own)
        for one in (one for one in findings["lists"] if one["name"] == name):
            for found in one["lists"]:
                is_of_calls = found["class_name"] is None and not found["is_background"]
                if is_of_calls and not found["is_certain"]:
                    file = f"reports/small/{name}/list_{found['error']:g}.tsv"
                    assert made[file].count(b"\n") - 1 == found["n"]
    assert {name: cells[:2] for name, cells in shown.items()} == {
        name: [f"{n:,}", f"{found:,}"] for name, (found, n) in accepted.items()
    }


def test_a_run_makes_what_it_promises(finished: Finished) -> None:
    _, made = finished
    promised = {
        "results/small/releases/00-base/samples.parquet",
        "results/small/check.json",
        "results/small/clusters.tsv",
        "results/small/releases/00-base/groups.tsv",
        "results/small/releases/00-base/calibrations/class_only.json",
        "results/small/releases/00-base/calibrations/kernel.json",
        "results/small/releases/00-base/release.json",
        "reports/small/releases/00-base/release.json",
        "results/small/metrics.tsv",
        "results/small/findings.json",
        "reports/small/index.html",
        "reports/small/report.json",
        "reports/index.html",
        "reports/small/archive.zip",
        "reports/small/metrics.parquet",
        "reports/small/metrics.tsv",
        "reports/small/my_phages/class_proportions.parquet",
        "reports/small/my_phages/confidences.parquet",
        "reports/small/calibration.json",
        "reports/small/events.json",
        "reports/small/my_phages/confidences.tsv",
        "reports/small/my_phages/class_proportions.tsv",
    }
    assert promised <= set(made)
    assert made["reports/small/my_phages/confidences.tsv"].count(b"\n") == 41
    header = made["reports/small/my_phages/confidences.tsv"].split(b"\n")[0].split(b"\t")
    events = [b"event_two_best", b"event_tail"]
    assert header[-4:] == [*events, *(b"uncorrected_" + name for name in events)]
    # Text for people, all decimals beside it.
    tables = ("confidences", "class_proportions", "list_0.1")
    for name in (*(f"my_phages/{table}.tsv" for table in tables), "thresholds.tsv", "metrics.tsv"):
        text = made[f"reports/small/{name}"].decode()
        assert not re.search(r"\.\d{7}", text), name
    parquet = pq.read_table(io.BytesIO(made["reports/small/my_phages/confidences.parquet"]))
    assert any(round(one, 6) != one for one in parquet["confidence"].drop_null().to_pylist())
    assert b"A small world" in made["reports/small/index.html"]
    assert b"simulated" in made["reports/small/index.html"].lower()


def test_a_second_run_does_nothing(finished: Finished) -> None:
    folder, made = finished
    again = run(folder, "--cores", "2")
    assert again.returncode == 0, again.stderr
    assert "Nothing to be done" in again.stderr
    assert outputs(folder) == made


@pytest.mark.long
def test_two_cores_after_deleting_all_give_the_same_bytes(finished: Finished) -> None:
    folder, made = finished
    for part in ("results", "reports", "demo"):
        shutil.rmtree(folder / part)
    done = run(folder, "--cores", "2")
    assert done.returncode == 0, done.stderr
    again = outputs(folder)
    assert set(again) == set(made)
    assert [name for name in made if again[name] != made[name]] == []


def test_a_changed_setting_redoes_only_what_depends_on_it(finished: Finished) -> None:
    folder, _ = finished
    text = CONFIGURATION.replace("title: A small world", "title: Another heading")
    (folder / "config.yaml").write_text(text)
    counts = planned(run(folder, "--", "--dry-run", "--quiet", "rules"))
    (folder / "config.yaml").write_text(CONFIGURATION)
    assert counts == {"report": 1, "all": 1, "total": 2}


@pytest.mark.long
def test_another_composition_of_one_query_set_redoes_its_part_alone(
    with_two_sets: Finished,
) -> None:
    folder, made = with_two_sets
    assert "reports/small/stated/confidences.tsv" in made
    composition = made["reports/small/stated/class_proportions.tsv"].decode()
    assert "\nPortal\t" in composition
    shares = {line.split("\t")[0]: line.split("\t")[2] for line in composition.splitlines()}
    assert (shares["Portal"], shares["Other"], shares["HTJ"]) == ("0.25", "0.75", "0")
    page = made["reports/small/index.html"].decode()
    assert "For stated you stated the class proportions; they are taken as known." in page
    (folder / "config.yaml").write_text(TWO_SETS.replace("Portal: 0.25", "HTJ: 0.25"))
    counts = planned(run(folder, "--", "--dry-run", "--quiet", "rules"))
    (folder / "config.yaml").write_text(TWO_SETS)
    assert counts == {"shift": 1, "annotate": 1, "report": 1, "all": 1, "total": 4}


@pytest.mark.long
def test_editing_the_package_remakes_everything(with_two_sets: Finished) -> None:
    folder, _ = with_two_sets
    module = folder.parent / "package" / "workflow" / "credence" / "confidence.py"
    before = module.read_text()
    module.write_text(before + "\n# A comment is enough: nobody decides what matters.\n")
    counts = planned(run(folder, "--", "--dry-run", "--quiet", "rules"))
    module.write_text(before)
    assert counts["simulate"] == counts["check"] == counts["report"] == 1
    assert counts["check_query_set"] == counts["shift"] == counts["annotate"] == 2
    assert counts["total"] == 17


@pytest.mark.long
def test_snakemakes_own_report_holds_page_tables_and_captions(finished: Finished) -> None:
    folder, made = finished
    done = run(folder, "--report")
    assert done.returncode == 0, done.stderr
    written = folder / "reports" / "small" / "workflow.html"
    text = written.read_text()
    written.unlink()  # it tells the time, so that it is no output to compare
    for part in (
        "reports/small/index.html",
        "reports/small/metrics.tsv",
        "use/class_proportions.tsv",
    ):
        assert part in text
    for caption in ("How much a prediction of each class can be trusted", "data, no code"):
        assert caption in text
    assert outputs(folder) == made


def test_a_broken_table_ends_in_its_message_and_exit_code_2_before_any_job(
    finished: Finished,
) -> None:
    folder, _ = finished
    own_folder = folder.parent / "own"
    shutil.copytree(folder / "demo", own_folder / "mine")
    table = own_folder / "mine" / "calibration.csv"
    lines = table.read_text().splitlines()
    cells = lines[3].split(",")
    lines[3] = ",".join([cells[0], "high", *cells[2:]])
    table.write_text("\n".join(lines) + "\n")
    own = CONFIGURATION.replace("demo/", "mine/").replace("simulated: true\n", "")
    (own_folder / "config.yaml").write_text(own[: own.index("demo:")])
    done = run(own_folder)
    assert done.returncode == 2
    assert done.stderr == (
        "Checking config.yaml and the files that it names.\n"
        "mine/calibration.csv, line 4, column 'Major capsid': 'high' is not a number. "
        f"Give protein {cells[0]!r} a score or remove its row.\n"
        "Fix this and run the command again.\n"
    )
    assert sorted(path.name for path in own_folder.iterdir()) == ["config.yaml", "mine"]


def test_a_wrong_configuration_starts_nothing(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text(TWO_SETS.replace("{folds: 2}", "{folds: 1}"))
    done = call(tmp_path, ROOT, "credence", "run")
    assert done.returncode == 2
    assert done.stderr == (
        "config.yaml, line 18, column 'evaluation.folds': 1 is out of range. "
        "Give a whole number from 2 to 1000.\n"
        "Fix this and run the command again.\n"
    )
    assert [path.name for path in tmp_path.iterdir()] == ["config.yaml"]


def planned(done: subprocess.CompletedProcess[str]) -> dict[str, int]:
    """Return how many jobs of each rule a dry run would start."""
    assert done.returncode == 0, done.stderr
    words = [line.split() for line in (done.stdout + done.stderr).splitlines()]
    counts = [pair for pair in words if len(pair) == 2 and pair[1].isdigit()]
    return {name: int(count) for name, count in counts if not name.endswith(":")}


@pytest.fixture(scope="module")
def with_vectors(
    tmp_path_factory: pytest.TempPathFactory,
) -> tuple[Path, subprocess.CompletedProcess[str]]:
    """Return a folder whose user brings vectors, and what a dry run in it tells."""
    folder = tmp_path_factory.mktemp("vectors")
    (folder / "vectors.npz").write_bytes(b"")  # not read yet
    brought = TWO_SETS + "novelty: {features: vectors.npz}\n"
    (folder / "config.yaml").write_text(brought)
    done = call(folder, ROOT, "credence", "run", "--", "--dry-run", "--printshellcmds")
    assert done.returncode == 0, done.stderr
    return folder, done


@pytest.mark.long
def test_snakemake_at_the_root_plans_the_same_as_credence_run(
    with_vectors: tuple[Path, subprocess.CompletedProcess[str]],
) -> None:
    folder, done = with_vectors
    words = ("--snakefile", str(ROOT / "Snakefile"), "--cores", "2", "--dry-run")
    by_snakemake = planned(call(folder, ROOT, "snakemake", *words, "--quiet", "rules"))
    by_credence = planned(done)
    # The rule that gathers everything has another name at the root.
    assert by_snakemake.pop("credence") == by_credence.pop("all") == 1
    assert by_snakemake == by_credence
    assert by_credence["fit"] == 2
    assert by_credence["novelty"] == 1


@pytest.mark.long
def test_snakemake_by_itself_starts_no_job_where_a_table_is_wrong(tmp_path: Path) -> None:
    (tmp_path / "cal.csv").write_text("id,true_class,A,B\nx,A,1,0\ny,A,high,0\n")
    text = "run: lab\ncalibration_set: {scores: cal.csv, format: wide, scale: 1}\n"
    (tmp_path / "config.yaml").write_text(text)
    done = call(
        tmp_path, ROOT, "snakemake", "--snakefile", str(ROOT / "Snakefile"), "--cores", "1"
    )
    assert done.returncode == 1
    assert "cal.csv, line 3, column 'A': 'high' is not a number." in done.stderr
    assert not (tmp_path / "results").exists()


@pytest.mark.long
def test_events_look_at_distances_where_every_query_set_has_them(tmp_path: Path) -> None:
    with_proteins = TWO_SETS.replace(
        "scores: demo/my_phages.csv,",
        "scores: demo/my_phages.csv, proteins: demo/my_phages.fasta,",
    ).replace("    format: phanns\n", "    format: phanns\n    proteins: demo/my_phages.fasta\n")
    assert with_proteins.count("demo/my_phages.fasta") == 2
    commands = []
    for text in (with_proteins, TWO_SETS):
        (tmp_path / "config.yaml").write_text(text)
        done = call(tmp_path, ROOT, "credence", "run", "--", "--dry-run", "--printshellcmds")
        assert done.returncode == 0, done.stderr
        stated = (done.stdout + done.stderr).splitlines()
        commands.append(next(line for line in stated if " -m credence events " in line))
    assert " --novelty reports/small/novelty.json " in commands[0]
    assert "novelty" not in commands[1]


def test_vectors_that_a_user_brings_are_asked_for_in_place_of_sequences(
    with_vectors: tuple[Path, subprocess.CompletedProcess[str]],
) -> None:
    _, done = with_vectors
    stated = (done.stdout + done.stderr).splitlines()
    commands = [line for line in stated if re.search(r" -m credence (novelty|annotate) ", line)]
    assert len(commands) == 3
    for line in commands:
        assert " --vectors vectors.npz " in line and "--proteins" not in line
    events = next(line for line in stated if " -m credence events " in line)
    assert " --novelty reports/small/novelty.json " in events
    page = next(line for line in stated if " -m credence report " in line)
    read = " --read 'training proteins' demo/training.fasta --read vectors vectors.npz "
    assert read in page


@pytest.mark.long
def test_the_page_lists_the_files_that_a_run_reads_and_no_other(tmp_path: Path) -> None:
    (tmp_path / "c.tsv").write_text("id\tcluster\n")
    text = TWO_SETS.replace("engine: exact", "table: c.tsv")
    text = text.replace(
        "scores: demo/my_phages.csv,",
        "scores: demo/my_phages.csv, proteins: demo/my_phages.fasta,",
    )
    files = []
    for own in (text, text.replace("table: c.tsv", "engine: exact")):
        (tmp_path / "config.yaml").write_text(own)
        done = call(tmp_path, ROOT, "credence", "run", "--", "--dry-run", "--printshellcmds")
        assert done.returncode == 0, done.stderr
        stated = (done.stdout + done.stderr).splitlines()
        words = shlex.split(next(line for line in stated if " -m credence report " in line))
        pairs = [words[at + 1 : at + 3] for at, word in enumerate(words) if word == "--read"]
        files.append(dict(pairs))
    always = {
        "training proteins": "demo/training.fasta",
        "query set use: proteins": "demo/my_phages.fasta",
    }
    assert files == [always | {"clusters": "c.tsv"}, always]


@pytest.mark.long
def test_a_search_and_an_audit_divided_into_jobs_give_the_same_split(tmp_path: Path) -> None:
    copied_package(tmp_path)
    source = tmp_path / "package" / "workflow" / "credence" / "relatives" / "mmseqs.py"
    limit = r"(?<=^MOST_CELLS, PER_PAIR = )[^,]+"
    text, n_changed = re.subn(limit, "0.0", source.read_text(), flags=re.M)
    assert n_changed == 1
    source.write_text(text)
    folder = tmp_path / "run"
    folder.mkdir()
    clusters = folder / "results" / "small" / "clusters.tsv"
    split = clusters.parent / "split.json"
    made = []
    for n_jobs in (1, 3):
        searched = (SMALL_SETS + SMALL_METHODS).replace("engine: exact", "engine: mmseqs")
        jobs = f"scatter: {{cluster: {n_jobs}, audit: {n_jobs}}}\nsplit: {{audit: exhaustive}}\n"
        (folder / "config.yaml").write_text(searched + jobs)
        done = run(folder, "--cores", "2", "--", str(split.relative_to(folder)))
        assert done.returncode == 0, done.stderr
        files = clusters, clusters.parent / "relatives.tsv", split
        made.append([path.read_bytes() for path in files])
        clusters.unlink()
    assert made[0] == made[1]
    shares = {path.name for path in (clusters.parent / "search").iterdir()}
    assert shares == {f"{step}-{share}.txt" for step in ("search", "again") for share in range(4)}
    assert {path.name for path in (clusters.parent / "audit").iterdir()} == {
        "1.txt",
        "2.txt",
        "3.txt",
    }


@pytest.mark.long
def test_a_run_lists_doubtful_labels_where_it_is_asked_to(finished: Finished) -> None:
    folder, _ = finished
    asked = CONFIGURATION.replace("evaluation: {", "evaluation: {doubtful_labels: true, ")
    assert asked != CONFIGURATION
    (folder / "asked.yaml").write_text(asked)
    done = run(folder, "--config", "asked.yaml", "--cores", "1")
    assert done.returncode == 0, done.stderr
    table = pd.read_csv(folder / "reports" / "small" / "labels.tsv", sep="\t")
    assert list(table)[:3] == ["id", "label", "suggested_class"]
    page = (folder / "reports" / "small" / "index.html").read_text("utf-8")
    assert "Which labels are doubtful?" in page
    with zipfile.ZipFile(folder / "reports" / "small" / "archive.zip") as archive:
        assert any(name.endswith("/labels.tsv") for name in archive.namelist())
    assert run(folder, "--cores", "1").returncode == 0  # as it was, for the other tests
    assert "Are labels wrong?" in (folder / "reports" / "small" / "index.html").read_text("utf-8")
