"""Homologues of what the classifier learnt from: counted, said, and no other classifier."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from verification.known_relatives import (
    CALIBRATION,
    LEARNT,
    NEW,
    RELATIVES,
    SET_ASIDE,
    MemoryWorld,
    memory_world,
)

from credence.app import run_command_line
from credence.confidence import NOTE_TEXTS, Note
from credence.evaluation.verdict import BAD, CARE, GOOD, OPEN
from credence.predictions import Floats, Integers

CHANGED, KIN = NOTE_TEXTS[Note.CHANGED], NOTE_TEXTS[Note.LEARNT]
N_NEW = 30  # of the queries, so that 93 of 100 are homologues of what the classifier learnt from
READ = ("--format", "credence", "--spec", '{"scale": 1}')


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a calibration, a novelty file and tables of queries."""
    folder = tmp_path_factory.mktemp("kin")
    made = memory_world(1, 1_500)
    rows = {
        "calibration": np.flatnonzero(made.is_of(CALIBRATION)),
        "new": np.flatnonzero(made.is_of(NEW)),
        "kin": np.flatnonzero(made.is_of(RELATIVES, SET_ASIDE)),
        "training": np.flatnonzero(made.is_of(LEARNT)),
    }
    rows["kin"] = np.concatenate([rows["kin"], rows["new"][:N_NEW]])
    for name, chosen in rows.items():
        write(folder / name, made, chosen)
    softened = np.asarray(made.labelled.predictions.scores) ** 0.5
    softened /= softened.sum(axis=1, keepdims=True)
    learnt = np.concatenate([rows["new"][:500], rows["kin"][:200]])
    write(folder / "softened", made, learnt, softened)
    codes = made.proteins.cluster[rows["calibration"]]
    ids = made.proteins.ids[rows["calibration"]]
    pd.DataFrame({
        "id": ids, "cluster": codes, "representative": ids, "identity": 1.0, "coverage": 1.0
    }).to_csv(folder / "clusters.tsv", sep="\t", index=False)  # fmt: skip
    known = [f"{folder}/calibration.tsv", *READ, "--clusters"]
    known.append(f"{folder}/clusters.tsv")
    fit = ["fit", *known, "--method", "hierarchical", "--resamples", "20", "--sets", "none"]
    assert run_command_line([*fit, "--out", f"{folder}/c.json"]) == 0
    novelty = ["novelty", *known, "--proteins", f"{folder}/calibration.fasta"]
    assert run_command_line([*novelty, "--out", f"{folder}/without.json"]) == 0
    novelty += ["--training", f"{folder}/training.fasta"]
    assert run_command_line([*novelty, "--out", f"{folder}/novelty.json"]) == 0
    return folder


def write(path: Path, made: MemoryWorld, rows: Integers, scores: Floats | None = None) -> None:
    """Write a score table with true classes, one without, and a FASTA file."""
    values = np.asarray(made.labelled.predictions.scores if scores is None else scores)[rows]
    table = pd.DataFrame(np.round(values, 4), columns=list(made.proteins.class_names))
    table.insert(0, "id", made.proteins.ids[rows])
    names = np.array(made.proteins.class_names, dtype=object)
    table.insert(1, "true_class", names[made.proteins.true_class[rows]])
    table.to_csv(f"{path}.tsv", sep="\t", index=False)
    table.assign(true_class="").to_csv(f"{path}_unlabelled.tsv", sep="\t", index=False)
    pairs = zip(made.proteins.ids[rows], made.proteins.sequences[rows], strict=True)
    Path(f"{path}.fasta").write_text("".join(f">{id_}\n{text}\n" for id_, text in pairs))


def annotate(world: Path, name: str, out: Path, *words: str, novelty: str = "novelty") -> None:
    table = [f"{world}/{name}_unlabelled.tsv", *READ]
    table += ["--calibration", f"{world}/c.json", "--out", f"{out}/{name}.tsv"]
    if novelty:
        table += ["--novelty", f"{world}/{novelty}.json", "--proteins", f"{world}/{name}.fasta"]
        table += ["--novelty-record", f"{out}/{name}.json"]
    assert run_command_line(["annotate", *table, "--name", name, *words]) == 0


def test_homologues_of_training_are_counted_and_are_no_other_classifier(
    world: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    annotate(world, "kin", tmp_path, novelty="")
    shown = capsys.readouterr().err
    alarm = "its scores differ from those in calibration: another version of the tool, or other "
    assert alarm in shown  # by scores alone nobody can tell, and it is said what looks like it
    assert (
        "Homologues of training proteins get surer scores and look like this too; nobody "
        "searched for them here: give credence novelty --training, and annotate with --novelty. "
    ) in shown
    annotate(world, "kin", tmp_path)
    shown = capsys.readouterr().err
    assert alarm not in shown
    table = pd.read_csv(tmp_path / "kin.tsv", sep="\t").fillna({"note": ""})
    assert not table.note.str.contains(CHANGED).any()
    is_kin = table.note.str.contains(KIN)
    relatives = json.loads((tmp_path / "kin.json").read_text())["relatives"]
    assert (relatives["n"], relatives["n_learnt"]) == (len(table), int(is_kin.sum()))
    assert relatives["n_learnt"] > 0.95 * (len(table) - N_NEW)
    assert (table[is_kin].closest_identity >= 0.4).all()
    mean = table.groupby(is_kin).confidence.mean()
    assert (
        f"{tmp_path}/kin.tsv: {is_kin.sum()} of {len(table)} proteins are homologues of training "
        f"proteins.\n{tmp_path}/kin.tsv: The classifier learnt from relatives of these, so its "
        "scores are surer than on calibration proteins, which it never saw. Their confidences "
        f"(mean {mean[True]:.2f}, of all others {mean[False]:.2f}) may be too low, or too high "
        "where it repeats what it memorised. Compare the predicted class with that of the protein "
        "in the column closest_known.\n"
    ) in shown
    # What that says is true of this world: confidences are too low.
    truth = pd.read_csv(world / "kin.tsv", sep="\t").set_index("id").true_class
    is_right = table.predicted_class.to_numpy() == truth[table.id].to_numpy()
    assert table[is_kin].confidence.mean() < is_right[is_kin].mean() - 0.1


def test_another_classifier_is_noticed_among_the_others_and_columns_among_all(
    world: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    annotate(world, "softened", tmp_path)
    shown = capsys.readouterr().err
    left_out = re.search(
        r"proteins\. (\d+) homologues of training proteins are left out\. ", shown
    )
    assert left_out is not None
    table = pd.read_csv(tmp_path / "softened.tsv", sep="\t").fillna({"note": ""})
    assert table.note.str.contains(CHANGED).all()
    assert int(left_out[1]) == table.note.str.contains(KIN).sum() > 100
    annotate(world, "new", tmp_path)
    shown = capsys.readouterr().err
    assert "differ from those in calibration" not in shown


def test_the_first_screen_says_how_many_and_what_follows(
    world: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    known = [f"{world}/calibration.tsv", *READ, "--clusters"]
    known += [f"{world}/clusters.tsv", "--calibration", f"{world}/c.json", "--resamples", "20"]
    assert run_command_line(["evaluate", *known, "--out", f"{tmp_path}/f.json"]) == 0
    shift = ["shift", f"{world}/kin_unlabelled.tsv", *READ, "--name", "kin"]
    shift += ["--calibration", f"{world}/c.json", "--record", f"{tmp_path}/s.json"]
    assert run_command_line([*shift, "--resamples", "20", "--out", f"{tmp_path}/mix.tsv"]) == 0
    words = ["--shift", f"{tmp_path}/s.json"]
    table = [f"{world}/kin_unlabelled.tsv", *READ, "--name", "kin", *words]
    table += ["--calibration", f"{world}/c.json", "--out", f"{tmp_path}/kin.tsv"]
    table += ["--novelty", f"{world}/novelty.json", "--proteins", f"{world}/kin.fasta"]
    assert run_command_line(["annotate", *table, "--novelty-record", f"{tmp_path}/n.json"]) == 0
    checked = ["check", f"{world}/kin_unlabelled.tsv", *READ, "--out"]
    assert run_command_line([*checked, f"{tmp_path}/k.json"]) == 0
    report = ["report", f"{tmp_path}/f.json", "--query-set", "kin", f"{tmp_path}/kin.tsv"]
    report += [f"{tmp_path}/k.json", *words, "--novelty", f"{tmp_path}/n.json"]
    assert run_command_line([*report, "--out", f"{tmp_path}/page/index.html"]) == 0
    record = json.loads((tmp_path / "page/report.json").read_text())
    checks = {entry["name"]: entry for entry in record["verdict"]["checks"]}
    relatives = json.loads((tmp_path / "n.json").read_text())["relatives"]
    homologues = checks["homologues"]
    assert (homologues["state"], homologues["n_affected"]) == (CARE, relatives["n_learnt"])
    assert homologues["headline"] == (
        f"{relatives['n_learnt']} of {relatives['n']} proteins are homologues of training proteins"
    )
    assert homologues["text"].startswith("The classifier learnt from relatives of these, so its")
    page = (tmp_path / "page/index.html").read_text()
    assert homologues["headline"] in page
    same = checks["same_classifier"]
    assert same["state"] in (OPEN, GOOD)
    assert same["headline"] == "Whether scores come from the same classifier was not checked"
    assert same["text"].startswith(
        f"{relatives['n_learnt']} homologues of training proteins get surer scores, so they are "
        "not compared, and the others are too few. "
    )
    assert "Scores of another classifier" not in page
    assert checks["mix"]["state"] != BAD


def test_without_training_proteins_it_is_said_that_nobody_knows(
    world: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    annotate(world, "kin", tmp_path, novelty="without")
    assert "nobody searched for them here" in capsys.readouterr().err
    relatives = json.loads((tmp_path / "kin.json").read_text())["relatives"]
    assert (relatives["knows_training"], relatives["n_learnt"]) == (False, 0)
    annotate(world, "calibration", tmp_path, novelty="without")
    shown = capsys.readouterr().err
    n = len(pd.read_csv(world / "calibration.tsv", sep="\t"))
    assert (
        f"{tmp_path}/calibration.tsv: {n} of {n} proteins are homologues of calibration "
        "proteins.\n"
        f"{tmp_path}/calibration.tsv: Confidences hold for new families; for them the class of a "
        "known relative says more: look at the column closest_known.\n"
        f"{tmp_path}/calibration.tsv: Which proteins are homologues of what the classifier learnt "
        "from is not known: give its training proteins.\n"
    ) in shown
