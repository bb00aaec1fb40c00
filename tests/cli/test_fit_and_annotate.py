"""Fitting and annotating by hand: one table, no pipeline."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from credence.app import run_command_line
from refusals import refused
from small_worlds import call, call_here


def test_annotate_needs_nothing_but_table_and_calibration(
    world: Path, calibration: Path, tmp_path: Path
) -> None:
    table, file = tmp_path / "scores.csv", tmp_path / "c.json"
    table.write_bytes((world / "demo" / "my_phages.csv").read_bytes())
    file.write_bytes(calibration.read_bytes())
    done = call_here(
        tmp_path, "annotate", "scores.csv", "--calibration", "c.json", "--out", "conf.tsv"
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    assert "scores.csv: read as phanns (" in done.stderr
    lines = (tmp_path / "conf.tsv").read_text().splitlines()
    assert lines[0].split("\t") == [
        *("id", "predicted_class", "confidence", "lower", "upper", "decision", "note"),
        *("score", "support", "method", "q_value", "prediction_set", "set_size", "set_pooled"),
        *("uncorrected_confidence", "uncorrected_lower", "uncorrected_upper"),
    ]
    assert [line.split("\t")[0] for line in lines[1:]] == [
        line.split(",")[0] for line in table.read_text().splitlines()[1:]
    ]


def test_annotate_gives_the_same_bytes_in_small_pieces(
    inside: Path, calibration: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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
    assert run_command_line([*words, "--out", "whole.tsv"]) == 0
    from credence.tables import samples

    stream = samples.stream_samples
    monkeypatch.setattr(
        samples, "stream_samples", lambda path, spec, **others: stream(path, spec, 7, **others)
    )
    assert run_command_line([*words, "--out", "pieces.tsv"]) == 0
    assert (inside / "whole.tsv").read_bytes() == (inside / "pieces.tsv").read_bytes()


def test_annotate_refuses_a_protein_that_two_tables_have(
    inside: Path, calibration: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = Path("demo/my_phages.csv").read_text().splitlines()
    Path("more.csv").write_text("\n".join([lines[0], lines[5]]) + "\n")
    words = [
        "annotate",
        "--shift",
        "none",
        "demo/my_phages.csv",
        "more.csv",
        "--calibration",
        "k.json",
    ]
    assert run_command_line([*words, "--format", "phanns", "--out", "two.tsv"]) == 2
    id_ = lines[5].split(",")[0]
    assert capsys.readouterr().err == (
        f"more.csv, line 2: the id {id_!r} is in demo/my_phages.csv already. "
        "Give each protein its own id, or remove one of the rows.\n"
        "Fix this and run the command again.\n"
    )
    assert not Path("two.tsv").exists()


def test_annotate_refuses_a_table_of_other_classes(
    inside: Path, calibration: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = Path("demo/my_phages.csv").read_text().replace("Portal", "Gate", 1)
    Path("other.csv").write_text(text)
    words = [
        "annotate",
        "--shift",
        "none",
        "other.csv",
        "--calibration",
        "k.json",
        "--format",
        "phanns",
    ]
    assert run_command_line([*words, "--out", "none.tsv"]) == 2
    stated = capsys.readouterr().err
    assert "Portal" in stated
    assert "Gate" in stated
    assert not Path("none.tsv").exists()


def test_annotate_refuses_a_file_that_is_no_calibration(
    inside: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [
        "annotate",
        "--shift",
        "none",
        "demo/my_phages.csv",
        "--calibration",
        "demo/my_phages.csv",
        "--out",
        "x.tsv",
    ]
    assert "demo/my_phages.csv" in refused(capsys, *words)


@pytest.mark.long
def test_fit_writes_the_same_bytes_twice(inside: Path, calibration: Path) -> None:
    words = ["fit", "demo/calibration.csv", "--format", "phanns-labelled", "--method", "kernel"]
    # In a process of its own, where sets have another order.
    done = call(inside, *words, "--out", "again.json")
    assert done.returncode == 0, done.stderr
    assert Path("again.json").read_bytes() == calibration.read_bytes()


def test_fit_takes_labels_from_a_second_table(inside: Path, calibration: Path) -> None:
    rows = list(csv.reader(Path("demo/calibration.csv").read_text().splitlines()))
    names = {name.lower().replace(" ", "_"): name for name in rows[0][1:]} | {
        "shaft": "Tail shaft",
        "tail_shaft": "Tail shaft",
    }
    labels = [[row[0], names[row[0].rpartition("_")[0].lower()]] for row in rows[1:]]
    with Path("labels.tsv").open("w", newline="") as handle:
        csv.writer(handle, delimiter="\t", lineterminator="\n").writerows(
            [["id", "true_class"], *labels]
        )
    words = ["fit", "demo/calibration.csv", "--format", "phanns", "--labels", "labels.tsv"]
    assert run_command_line([*words, "--method", "kernel", "--out", "labelled.json"]) == 0
    one, other = (json.loads(Path(name).read_text()) for name in ("k.json", "labelled.json"))
    assert one["calibration"] == other["calibration"]


def test_fit_refuses_a_table_without_labels(
    inside: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["fit", "demo/my_phages.csv", "--format", "phanns", "--out", "x.json"]
    assert refused(capsys, *words) == (
        "demo/my_phages.csv: the table has no true classes. "
        "Give labels: a table of id and label, or a pattern for FASTA headers.\n"
    )


def test_fit_refuses_a_table_without_scores_also_one_of_windows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = ["id\ttrue_class\tpredicted_class", "a\tx\tx", "b\ty\tx"]
    Path("bare.tsv").write_text("\n".join(rows) + "\n", newline="")
    Path("windows.tsv").write_text("\r\n".join(rows) + "\r\n", newline="")
    words = ["--format", "credence", "--method", "histogram", "--out", "c.json"]
    assert run_command_line(["fit", "bare.tsv", *words]) == 2
    assert run_command_line(["fit", "windows.tsv", *words]) == 2
    assert capsys.readouterr().err == (
        "bare.tsv: it has no scores, and 'histogram' needs the top score. "
        "Give such a table, or fit with a method that needs less.\n"
        "Fix this and run the command again.\n"
        "windows.tsv: it has no scores, and 'histogram' needs the top score. "
        "Give such a table, or fit with a method that needs less.\n"
        "Fix this and run the command again.\n"
    )
    assert not Path("c.json").exists()


def test_fit_refuses_a_method_that_is_none(
    inside: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["fit", "demo/calibration.csv", "--method", "kernal", "--out", "x.json"]
    assert refused(capsys, *words) == (
        "--method: 'kernal' is not a method. Did you mean 'kernel'?\n"
    )


def test_fit_without_clusters_says_that_relatives_are_not_known(
    inside: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["demo/calibration.csv", "--format", "phanns-labelled", "--method", "class_only"]
    assert run_command_line(["fit", *words, "--out", "alone.json"]) == 0
    message = (
        "alone.json: families unknown: every protein counts as independent, so intervals may be "
        "too narrow."
    )
    assert message in capsys.readouterr().err
    assert (
        "a family of its own" in json.loads(Path("alone.json").read_text())["counts"]["relatives"]
    )
    use = ["demo/my_phages.csv", "--format", "phanns", "--calibration", "alone.json"]
    assert run_command_line(["annotate", "--shift", "none", *use, "--out", "alone.tsv"]) == 0
    assert message in capsys.readouterr().err


def test_a_first_stage_can_be_fitted_to_a_set_of_its_own(inside: Path) -> None:
    every = pd.read_csv("demo/calibration.csv", index_col=0, dtype=str)
    truth = pd.read_csv("demo/labels.tsv", sep="\t", index_col=0)
    for name, rows in (("validation", every[::2]), ("rest", every[1::2])):
        rows.rename_axis(None).to_csv(f"{name}.csv")
        truth.loc[rows.index].to_csv(f"{name}-labels.tsv", sep="\t")
    old, new = ("--format", "phanns-labelled"), ("--format", "top-score")
    new += ("--spec", json.dumps({"scale": 1, "columns": {"score": "confidence"}}))

    def run(*words: str) -> None:
        assert run_command_line([*words]) == 0

    run("fit", "validation.csv", *old, "--method", "tswa", "--out", "first.json")
    run(
        "annotate",
        "--shift",
        "none",
        "rest.csv",
        *old,
        "--calibration",
        "first.json",
        "--out",
        "rest.tsv",
    )
    use = ("demo/my_phages.csv", "--format", "phanns")
    run("annotate", "--shift", "none", *use, "--calibration", "first.json", "--out", "use.tsv")
    for name in ("rest.tsv", "use.tsv"):  # a class that the first set lacks has no confidence
        rows = pd.read_csv(name, sep="\t", dtype=str).dropna(subset="confidence")
        rows.to_csv(name, sep="\t", index=False)
    given = pd.read_csv("rest-labels.tsv", sep="\t", index_col=0)
    known = pd.read_csv("rest.tsv", sep="\t", index_col=0)
    given.loc[known.index].to_csv("rest-labels.tsv", sep="\t")
    run("fit", "rest.tsv", *new, "--labels", "rest-labels.tsv", "--out", "second.json",
        "--method", "platt", "--resamples", "0", "--min-positives", "1")  # fmt: skip
    run(
        "annotate",
        "--shift",
        "none",
        "use.tsv",
        *new,
        "--calibration",
        "second.json",
        "--out",
        "end.tsv",
    )

    # The same by hand: a logistic curve through what the first stage says, class by class.
    found = pd.read_csv("end.tsv", sep="\t", index_col=0)
    before = pd.read_csv("use.tsv", sep="\t", index_col=0)["confidence"]
    is_right = known["predicted_class"] == truth.loc[known.index, "true_class"]
    own = known["predicted_class"] == "Other"
    assert 0 < is_right[own].sum() < own.sum()
    model = LogisticRegression(C=1e9, tol=1e-10, max_iter=10_000)
    model.fit(known.loc[own, ["confidence"]], is_right[own])
    here = found.index[found["predicted_class"] == "Other"]
    by_hand = model.predict_proba(before.loc[here].to_frame())[:, 1]
    assert found.loc[here, "confidence"].to_numpy() == pytest.approx(
        by_hand, abs=0.05
    )  # ours is pulled a little


@pytest.mark.parametrize("command", ["fit", "thresholds"])
def test_one_draw_is_refused(world: Path, command: str) -> None:
    words = (
        "demo/calibration.csv",
        "--format",
        "phanns-labelled",
        "--resamples",
        "1",
        "--out",
        "o.tsv",
    )
    done = call_here(world, command, *words)
    assert done.returncode == 2
    assert done.stderr == (
        "--resamples: one resample shows no spread. Give at least 2, or better 200; or 0 for no "
        "intervals.\nFix this and run the command again.\n"
    )
    assert not (world / "o.tsv").exists()
