"""One count everywhere: page, list, table, Python, GFF3 and watch, over random worlds."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import credence
from credence.app import run_command_line
from credence.findings import Findings, Results, UseLists
from credence.records import read_record
from credence.report.sections.by_class import glance
from credence.report.sections.first import section
from credence.report.sections.lookup import Lookup
from credence.stages.report import summarise_file
from small_findings import make

NAMES = ("Portal", "Collar", "Tail shaft", "Other")
SPEC = '{"scale": 1}'
RUN = ["--calibration", "c.json", "--format", "top-score"]


def write_world(rng: np.random.Generator) -> None:
    """Write labelled and unlabelled predictions of a world with a background class."""
    sharpness, share = rng.uniform(3.0, 8.0), rng.dirichlet(np.full(len(NAMES), 2.0))
    power = rng.uniform(0.1, 0.6)
    for name, n in (("known", 2500), ("query", 250)):
        mixed = share if name == "known" else rng.dirichlet(np.full(len(NAMES), 2.0))
        true = rng.choice(len(NAMES), n, p=mixed)
        score = rng.beta(sharpness, 1.5, n).round(3)
        is_right = rng.random(n) < score**power
        predicted = np.where(is_right, true, rng.choice(len(NAMES), n))
        columns = {
            "id": [f"{name}_{at}" for at in range(n)],
            "predicted_class": np.array(NAMES)[predicted],
            "score": score,
        }
        table = pd.DataFrame(columns)
        if name == "known":
            labels = pd.DataFrame({"id": table["id"], "true_class": np.array(NAMES)[true]})
            labels.to_csv("labels.csv", index=False)
        table.to_csv(f"{name}.csv", index=False)


def shown(results: Results, lists: UseLists) -> dict[str, int]:
    """Return the numbers of the first screen by what they count."""
    query_set = summarise_file(lists.name, Path("conf.tsv"), results, "histogram")
    findings: Findings = replace(
        make(NAMES[:3]), results=results, queries=(query_set,), lists=(lists,)
    )
    findings = replace(findings, thresholds=None)
    (screen,) = section(findings).blocks
    numbers = [(one.text, one.number) for one in screen.answers]  # type: ignore[attr-defined]
    strips = glance(Lookup(findings)).strips
    by_class = sum(int(strip.cells[1].replace(",", "")) for strip in strips)
    (accepted,) = (number for text, number in numbers if text.startswith("accepted at 5 % FDR"))
    return {
        "accepted": int(accepted.replace(",", "")),
        "accepted by class": by_class,
        **{text: int(number.replace(",", "")) for text, number in numbers[-2:]},
    }


@pytest.mark.parametrize("seed", range(5))
def test_page_list_table_and_python_count_the_same_predictions(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    write_world(np.random.default_rng([54, seed]))
    fit = [
        "fit",
        "known.csv",
        "--format",
        "top-score",
        "--method",
        "histogram",
        "--resamples",
        "20",
    ]
    assert (
        run_command_line([*fit, "--labels", "labels.csv", "--spec", SPEC, "--out", "c.json"]) == 0
    )
    words = ["annotate", "query.csv", *RUN, "--lists", "lists", "--lists-record", "l.json"]
    assert run_command_line([*words, "--out", "conf.tsv"]) == 0
    table = pd.read_csv("conf.tsv", sep="\t")
    accepted = table[table.decision == "accept"]
    listed = pd.read_csv("lists/list_0.05.tsv", sep="\t")
    assert listed.id.tolist() == accepted.id.tolist()
    assert set(listed.decision) <= {"accept"}
    longer = pd.read_csv("lists/list_0.1.tsv", sep="\t")
    assert set(accepted.id) <= set(longer.id)
    assert "Other" not in set(longer.predicted_class)
    assert (longer.confidence >= 0.5).all()
    # The command makes the same file of the table.
    again = ["list", "conf.tsv", "--calibration", "c.json", "--error", "0.05", "--out", "l.tsv"]
    assert run_command_line(again) == 0
    assert Path("l.tsv").read_bytes() == Path("lists/list_0.05.tsv").read_bytes()
    # The page.
    record = read_record(UseLists, Path("l.json"), "Annotate again.")
    assert record.accepted is not None and record.accepted.n == len(accepted)
    assert sum(part.n for part in record.accepted.classes) == len(accepted)
    results = replace(
        make(NAMES[:3]).results,
        class_names=NAMES,
        classes=tuple(
            replace(make(NAMES[:3]).results.classes[0], class_name=name) for name in NAMES
        ),
    )
    counts = table.decision.value_counts()
    assert shown(results, record) == {
        "accepted": len(accepted),
        "accepted by class": len(accepted),
        "to check": counts.get("check", 0),
        "insufficient data": counts.get("insufficient data", 0),
    }
    # Python.
    found = credence.annotate("query.csv", credence.load("c.json"))
    assert found["id"][found["decision"] == "accept"].tolist() == accepted.id.tolist()
    # A plan of what to verify: of all predictions, each with the decision of the table.
    capsys.readouterr()
    plan = ["plan", "conf.tsv", "--calibration", "c.json", "--number", "40", "--out", "plan.tsv"]
    assert run_command_line(plan) == 0
    planned = pd.read_csv("plan.tsv", sep="\t").set_index("id")
    decision = table.set_index("id").decision
    assert planned.decision.tolist() == decision[planned.index].tolist()
    n_planned = planned.decision.value_counts()
    shares = ", ".join(
        f"{n_planned.get(word, 0)} of {counts.get(word, 0)} {word}"
        for word in ("accept", "check", "insufficient data")
        if counts.get(word, 0)
    )
    assert f"By their decision, to verify are: {shares}.\n" in capsys.readouterr().err
    # A log of samples.
    watch = ["watch", "conf.tsv", "--calibration", "c.json", "--date", "2026-11-27"]
    assert run_command_line([*watch, "--log", "log.tsv"]) == 0
    log = pd.read_csv("log.tsv", sep="\t")
    assert log.accepted[0] == pytest.approx(len(accepted) / len(table))
    capsys.readouterr()


def test_some_of_these_worlds_accept_something(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    n_accepted = []
    for seed in range(5):
        write_world(np.random.default_rng([54, seed]))
        known = credence.read("known.csv", format="top-score", scale=1, labels="labels.csv")
        found = credence.annotate(
            "query.csv", credence.fit(known, method="histogram", resamples=20)
        )
        n_accepted.append(int((found["decision"] == "accept").sum()))
    assert sum(n > 0 for n in n_accepted) >= 2, n_accepted
