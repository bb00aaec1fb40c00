"""The lab's loop: confidences, a plan to verify, and its table as the labels of a trove."""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd
import pytest

from credence.app import run_command_line

WORDS = ["plan", "conf.tsv", "--calibration", "k.json", "--number", "12"]


@pytest.fixture
def annotated(confidences: Path, inside: Path) -> Path:
    return inside


def test_a_plan_is_to_be_filled_in_and_the_same_for_rows_in_any_order(annotated: Path) -> None:
    assert run_command_line([*WORDS, "--out", "plan.tsv"]) == 0
    plan = pd.read_csv("plan.tsv", sep="\t")
    known = pd.read_csv("conf.tsv", sep="\t").set_index("id")
    assert len(plan) == 12
    assert plan.id.is_unique
    assert plan.true_class.isna().all()
    assert (plan.predicted_class == known.loc[plan.id].predicted_class.to_numpy()).all()
    assert plan.confidence.between(plan.stratum_from, plan.stratum_to).all()
    assert plan.chance.between(0, 1, inclusive="right").all()
    known.iloc[::-1].to_csv("back.tsv", sep="\t")
    words = ["plan", "back.tsv", *WORDS[2:], "--out", "again.tsv"]
    assert run_command_line(words) == 0
    assert Path("again.tsv").read_bytes() == Path("plan.tsv").read_bytes()


def test_one_of_a_family_is_verified(annotated: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ids = pd.read_csv("conf.tsv", sep="\t").id
    clusters = pd.DataFrame({"id": ids, "cluster": [f"c{row % 3}" for row in range(len(ids))]})
    clusters.to_csv("c.tsv", sep="\t", index=False)
    capsys.readouterr()
    assert run_command_line([*WORDS, "--clusters", "c.tsv", "--out", "plan.tsv"]) == 0
    plan = pd.read_csv("plan.tsv", sep="\t")
    families = clusters.set_index("id").cluster.loc[plan.id]
    assert families.is_unique
    shown = capsys.readouterr().err
    assert "fewer than 12, since there are no more, and of each family one is taken." in shown


def test_a_class_of_one_family_leaves_its_places_to_others(annotated: Path) -> None:
    known = pd.read_csv("conf.tsv", sep="\t").dropna(subset="confidence")
    assert run_command_line([*WORDS, "--out", "plan.tsv"]) == 0
    name = pd.read_csv("plan.tsv", sep="\t").predicted_class.value_counts().index[0]
    is_one = known.predicted_class == name
    known.assign(cluster=known.id.mask(is_one, "one"))[["id", "cluster"]].to_csv(
        "c.tsv", sep="\t", index=False
    )
    assert run_command_line([*WORDS, "--clusters", "c.tsv", "--out", "plan.tsv"]) == 0
    plan = pd.read_csv("plan.tsv", sep="\t")
    assert len(plan) == 12
    (own,) = plan[plan.predicted_class == name].itertuples()
    assert own.chance == pytest.approx(1 / is_one.sum(), abs=1e-6)


def test_the_chance_is_that_of_the_family_shared_by_its_proteins(annotated: Path) -> None:
    known = pd.read_csv("conf.tsv", sep="\t").dropna(subset="confidence")
    known["cluster"] = [f"c{row // 3}" for row in range(len(known))]
    known[["id", "cluster"]].to_csv("c.tsv", sep="\t", index=False)
    words = ["--clusters", "c.tsv", "--out", "plan.tsv"]
    size = known.cluster.value_counts()
    assert run_command_line([*WORDS[:-1], str(len(known)), *words]) == 0
    # Every family is chosen, so the chance is that of one of its proteins.
    plan = pd.read_csv("plan.tsv", sep="\t").merge(known[["id", "cluster"]], on="id")
    assert sorted(plan.cluster) == sorted(size.index)
    assert plan.chance.to_numpy() == pytest.approx(1 / size[plan.cluster].to_numpy(), abs=1e-6)
    strata = ["predicted_class", "stratum_from"]
    n_most = plan.groupby(strata).size()
    assert run_command_line([*WORDS, *words]) == 0
    plan = pd.read_csv("plan.tsv", sep="\t").merge(known[["id", "cluster"]], on="id")
    assert len(plan) == 12
    n_chosen = plan.groupby(strata).size()
    stated = plan.set_index(strata).chance * size[plan.cluster].to_numpy()
    wanted = (n_chosen / n_most[n_chosen.index])[stated.index]
    assert stated.to_numpy() == pytest.approx(wanted.to_numpy(), abs=1e-5)


def test_what_is_stated_of_a_class_is_what_the_plan_holds(
    annotated: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ids = pd.read_csv("conf.tsv", sep="\t").id
    clusters = pd.DataFrame({"id": ids, "cluster": [f"c{row % 3}" for row in range(len(ids))]})
    clusters.to_csv("c.tsv", sep="\t", index=False)
    capsys.readouterr()
    assert run_command_line([*WORDS, "--clusters", "c.tsv", "--out", "plan.tsv"]) == 0
    plan = pd.read_csv("plan.tsv", sep="\t")
    stated = re.findall(r"^(.+): (\d+) of [\d,]+\. The precision", capsys.readouterr().err, re.M)
    assert {name: int(n) for name, n in stated} == plan.predicted_class.value_counts().to_dict()


def test_the_filled_in_table_gives_the_labels_of_a_trove(
    annotated: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command_line([*WORDS, "--out", "plan.tsv"]) == 0
    plan = pd.read_csv("plan.tsv", sep="\t", dtype={"true_class": str})
    plan["true_class"] = plan.predicted_class
    plan.loc[0, "true_class"] = ""  # nothing was found
    plan.to_csv("filled.tsv", sep="\t", index=False)
    Path("mylab.yaml").write_text(
        "run: mylab\n"
        "calibration_set:\n"
        "  scores: demo/calibration.csv\n"
        "  format: phanns-labelled\n"
        "  proteins: demo/proteins.fasta\n"
    )
    words = ["trove", "add", "bench", "--scores", "demo/my_phages.csv", "--format", "phanns"]
    words += [
        "--labels",
        "filled.tsv",
        "--fasta",
        "demo/my_phages.fasta",
        "--config",
        "mylab.yaml",
    ]
    capsys.readouterr()
    assert run_command_line(words) == 0
    shown = capsys.readouterr().err
    assert "29 of 40 proteins of the trove have no true class: these do not join." in shown
