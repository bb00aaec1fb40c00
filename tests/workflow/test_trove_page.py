"""A small world with two troves, from tables to its page; what a trove more redoes."""

from __future__ import annotations

import collections
import csv
import json
import re
from pathlib import Path
from typing import Any

import pytest

from faulty_runs import call, copied_package

pytestmark = pytest.mark.long  # a second run of the workflow, with troves

CONFIGURATION = """\
run: small
title: A small world with troves
simulated: true
calibration_set:
  scores: demo/calibration.csv
  format: phanns-labelled
  proteins: demo/proteins.fasta
training: {proteins: demo/training.fasta}
clustering: {engine: exact}
split: {audit: none}
troves:
  - {name: htj, date: 2026-09-01, scores: demo/trove_htj.csv, fasta: demo/trove_htj.fasta}
  - {name: mixed, date: 2026-10-01, scores: demo/trove_mixed.csv, fasta: demo/trove_mixed.fasta}
calibration: {method: kernel, compare: [kernel], resamples: 20}
evaluation: {folds: 2}
"""
WORLD = (
    '{"n_calibration": 120, "n_query": 10, "n_training": 40, "n_training_relatives": 3, '
    '"n_trove": 12, "n_defects": 3}'
)
# What is planted, and the outcome that has to come of it.
OUTCOME_OF = {
    "exact_repeat": "exact_repeat",
    "label_conflict": "label_conflict",
    "repeat_within": "repeat_within",
    "relative_of_training": "training_relative",
    "joins_family": "added",
}
AGAIN = """\
  - {name: again, scores: demo/trove_mixed.csv, fasta: demo/trove_mixed.fasta}
calibration:"""


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder in which a run with two troves ended."""
    above = tmp_path_factory.mktemp("troves")
    copied_package(above)
    folder = above / "run"
    folder.mkdir()
    (folder / "config.yaml").write_text(CONFIGURATION)
    call(folder, "simulate", "demo", "--settings", WORLD)
    call(folder, "run")
    return folder


@pytest.fixture(scope="module")
def section(world: Path) -> dict[str, Any]:
    """Return what the page says of releases."""
    record = json.loads((world / "reports/small/report.json").read_text())
    (found,) = [entry for entry in record["sections"] if entry["name"] == "releases"]
    assert isinstance(found, dict)
    return found


def planted(world: Path) -> dict[str, list[str]]:
    """Return kind → proteins of the mixed trove."""
    with (world / "demo/trove_mixed.csv").open() as handle:
        in_trove = {row[0] for row in csv.reader(handle)}
    found: dict[str, list[str]] = collections.defaultdict(list)
    with (world / "demo/truth/planted.tsv").open() as handle:
        for row in csv.DictReader(handle, delimiter="\t"):
            if row["id"] in in_trove:
                found[row["kind"]].append(row["id"])
    return found


def tables(blocks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return all tables, those that are folded away too."""
    found = []
    for block in blocks:
        if block["kind"] == "Table":
            found.append(block)
        found += tables(block.get("blocks", []))
    return found


def test_the_page_shows_both_troves_in_time(section: dict[str, Any], world: Path) -> None:
    assert section["title"] == "What changed"
    (timeline,) = (
        table["rows"]
        for table in tables(section["blocks"])
        if table["caption"].startswith("All releases")
    )
    assert [row[0] for row in timeline] == ["base", "htj", "mixed"]
    assert [row[1] for row in timeline] == ["–", "2026-09-01", "2026-10-01"]
    assert timeline[1][2:5] == ["12", "12", "0"]
    headings = ["htj → mixed, 2026-10-01", "base → htj, 2026-09-01"]
    page = (world / "reports/small/index.html").read_text()
    for heading in headings:
        assert heading in page


def test_the_page_counts_every_planted_defect(section: dict[str, Any], world: Path) -> None:
    kinds = planted(world)
    assert all(len(kinds[kind]) == 3 for kind in OUTCOME_OF)
    outcomes = next(
        table
        for table in tables(section["blocks"])
        if table["caption"].startswith("What became of the proteins of mixed")
    )
    counted = {row[0].replace(" ", "_"): int(row[1]) for row in outcomes["rows"]}
    for kind, outcome in OUTCOME_OF.items():
        if outcome != "added":
            assert counted[outcome] == len(kinds[kind]), kind
    with (world / "demo/trove_mixed.csv").open() as handle:
        n_rows = sum(1 for _ in handle) - 1
    assert sum(counted.values()) == n_rows
    # The table beside the page names each, with the protein that decided it.
    with (world / "reports/small/releases/02-mixed/attach.tsv").open() as handle:
        named = {row["id"]: row["relative"] for row in csv.DictReader(handle, delimiter="\t")}
    for kind in ("exact_repeat", "label_conflict", "repeat_within", "relative_of_training"):
        for protein in kinds[kind]:
            assert named.get(protein), (kind, protein)


def test_the_page_draws_and_tells_every_class_that_changed(
    section: dict[str, Any], world: Path
) -> None:
    for name in ("01-htj", "02-mixed"):
        step = json.loads((world / f"results/small/releases/{name}/changes.json").read_text())
        touched = [
            entry
            for entry in step["classes"]
            if any(
                pair[0] != pair[1]
                for pair in (entry["n_true"], entry["n_predicted"], entry["n_correct"])
            )
        ]
        assert touched
        own = [
            [row[0] for row in table["rows"]]
            for table in tables(section["blocks"])
            if table["caption"].startswith(f"Classes that {step['newer']['name']} touched")
        ]
        assert own and {entry["class_name"] for entry in touched} <= set(own[0])
        assert step["drift"]["n"] > 0
    assert (world / "reports/small/releases/02-mixed/changes.tsv").is_file()


def test_the_confidences_of_the_page_are_those_of_the_last_release(world: Path) -> None:
    findings = json.loads((world / "results/small/findings.json").read_text())
    last = json.loads((world / "results/small/releases/02-mixed/release.json").read_text())
    assert findings["results"]["n_samples"] == last["counts"]["n_calibration"]
    assert findings["releases"]["releases"][-1]["digest"] == last["digest"]


def planned(folder: Path, configuration: str) -> list[str]:
    """Return rule and wildcards of every job that a run of a configuration would start now."""
    (folder / "config.yaml").write_text(configuration)
    stated = call(folder, "run", "--", "--dry-run").stdout
    (folder / "config.yaml").write_text(CONFIGURATION)
    jobs, rule = [], ""
    for line in stated.splitlines():
        if match := re.match(r"(?:local)?rule (\w+):", line):
            rule = match[1]
            jobs.append(rule)
        elif (match := re.match(r"    wildcards: (.+)", line)) and jobs:
            jobs[-1] = f"{rule} {match[1]}"
    return jobs


def test_a_trove_more_redoes_nothing_of_the_releases_before_it(world: Path) -> None:
    assert planned(world, CONFIGURATION) == []
    jobs = planned(world, CONFIGURATION.replace("\ncalibration:", f"\n{AGAIN}", 1))
    about = {job for job in jobs if job.split()[0] in ("attach", "fit", "release")}
    assert about == {
        "attach release=03-again",
        "fit release=03-again, method=kernel",
        "release release=03-again",
    }
    names = {job.split()[0] for job in jobs}
    assert {"evaluate", "report", "all"} <= names
    assert not {"check", "cluster", "split"} & names


def test_a_new_date_changes_the_record_and_fits_nothing(world: Path) -> None:
    assert "date: 2026-09-01" in CONFIGURATION
    later = CONFIGURATION.replace("date: 2026-09-01", "date: 2026-09-02")
    jobs = {job.split()[0] for job in planned(world, later)}
    assert "release" in jobs
    assert not {"attach", "fit", "split", "evaluate"} & jobs
