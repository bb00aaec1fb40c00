"""``credence evaluate``: odd sets, nonsense, and the same bytes again."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from credence.app import run_command_line
from refusals import refused
from small_worlds import TIMEOUT, call_here


def table_of(n: int, right: str) -> str:
    rng = np.random.default_rng(3)
    lines = ["id,true_class,A,B,C"]
    for number in range(n):
        row = np.round(rng.dirichlet((2.0, 1.5, 0.7)), 3)
        row[2] = np.round(1.0 - row[0] - row[1], 3)
        best = int(row.argmax())
        true = {"all": best, "none": (best + 1) % 3, "some": int(rng.choice(3, p=row / row.sum()))}
        scores = ",".join(f"{value:.3f}" for value in row)
        lines.append(f"p{number},{'ABC'[true[right]]},{scores}")
    return "\n".join(lines) + "\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    at = tmp_path_factory.mktemp("evaluate")
    for right in ("some", "all", "none"):
        (at / f"{right}.csv").write_text(table_of(90, right))
    (at / "one.csv").write_text(table_of(1, "some"))
    clusters = "".join(f"p{k}\tc{k // 3}\tp{k // 3 * 3}\t1\t1\n" for k in range(90))
    header = "id\tcluster\trepresentative\tidentity\tcoverage\n"
    (at / "clusters.tsv").write_text(header + clusters)
    for name in ("some", "all", "none", "one"):
        words = (
            "--scale",
            "1",
            "--method",
            "isotonic",
            "--resamples",
            "5",
            "--out",
            f"{name}.json",
        )
        done = call_here(at, "fit", f"{name}.csv", *words)
        assert done.returncode == 0, done.stderr
    return at


@pytest.mark.long
@pytest.mark.parametrize("name", ["all", "none", "one"])
def test_sets_with_nothing_wrong_nothing_right_or_one_protein_are_judged(
    folder: Path, name: str
) -> None:
    words = ("--calibration", f"{name}.json", "--resamples", "40", "--folds", "200")
    done = call_here(folder, "evaluate", f"{name}.csv", *words, "--out", f"{name}_found.json")
    assert done.returncode == 0, done.stderr
    assert done.stderr.endswith(f"Wrote {name}_found.json: 1 method, 200 folds.\n")
    found = json.loads((folder / f"{name}_found.json").read_text())["results"]
    accuracy = next(
        row
        for row in found["metrics"]
        if (row["metric"], row["class_name"], row["sample"]) == ("accuracy", None, "in_sample")
    )
    assert accuracy["lower"] <= accuracy["value"] <= accuracy["upper"]
    assert accuracy["upper"] - accuracy["lower"] > 0.01


@pytest.mark.long
def test_two_runs_on_one_core_and_on_two_write_the_same_bytes(folder: Path) -> None:
    words = ["evaluate", "some.csv", "--calibration", "some.json", "--clusters", "clusters.tsv"]
    words += ["--resamples", "20", "--folds", "3"]
    for cores in ("1", "2"):
        done = subprocess.run(
            [
                *(sys.executable, "-m", "credence", *words),
                *("--metrics", f"m{cores}.tsv", "--out", f"f{cores}.json"),
            ],
            cwd=folder,
            env=os.environ | {"OMP_NUM_THREADS": cores},
            capture_output=True,
            text=True,
            timeout=TIMEOUT,
            check=False,
        )
        assert done.returncode == 0, done.stderr
    for kind in ("f{}.json", "m{}.tsv"):
        one, two = ((folder / kind.format(number)).read_bytes() for number in (1, 2))
        assert one == two


@pytest.mark.long
def test_rows_in_another_order_write_the_same_metrics(folder: Path) -> None:
    header, *rows = (folder / "some.csv").read_text().splitlines()
    (folder / "turned.csv").write_text("\n".join([header, *reversed(rows)]) + "\n")
    for name in ("some", "turned"):
        done = call_here(
            folder,
            *("evaluate", f"{name}.csv", "--calibration", "some.json", "--clusters"),
            *("clusters.tsv", "--resamples", "40", "--folds", "4", "--metrics", f"{name}_m.tsv"),
            *("--out", f"{name}_f.json"),
        )
        assert done.returncode == 0, done.stderr
    for kind in ("m.tsv", "f.json"):
        one, two = ((folder / f"{name}_{kind}").read_bytes() for name in ("some", "turned"))
        assert one == two


def test_a_table_that_names_no_kind_is_refused_before_anything_is_judged(folder: Path) -> None:
    words = ("--calibration", "some.json", "--metrics", "m.txt", "--out", "x.json")
    done = call_here(folder, "evaluate", "some.csv", *words)
    assert done.returncode == 2
    assert "m.txt: its ending names no kind of table." in done.stderr
    assert not (folder / "x.json").exists()


SOME = ("some.csv", "--format", "credence")


def test_what_a_fit_says_of_proteins_held_out_is_judged_as_if_found_here(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)  # the table is not in the order of its ids
    clusters = ("--clusters", "clusters.tsv")
    for method in ("isotonic", "tswa"):
        words = ("--scale", "1", "--method", method, *clusters, "--resamples", "0")
        out = ("--held-out", f"{method}.fit.json", "--out", f"{method}.c.json")
        assert run_command_line(["fit", *SOME, *words, *out]) == 0
    words = ("--calibration", "isotonic.c.json", *clusters, "--folds", "5")
    for name, own in {"fit": ("--held-out", "isotonic.fit.json"), "here": ()}.items():
        out = (
            "--resamples",
            "20",
            *own,
            "--metrics",
            f"{name}.tsv",
            "--out",
            f"{name}.found.json",
        )
        assert run_command_line(["evaluate", *SOME, *words, *out]) == 0
    for written in ("{}.tsv", "{}.found.json"):
        one, other = (Path(written.format(name)).read_bytes() for name in ("fit", "here"))
        assert one == other
    capsys.readouterr()
    words = ("--calibration", "tswa.c.json", *clusters, "--folds", "5")
    out = ("--held-out", "tswa.fit.json", "--out", "refused.json")
    assert run_command_line(["evaluate", *SOME, *words, *out]) == 2
    what = "tswa.fit.json: it lacks the probability of every class, which 'tswa' gives. Leave"
    assert capsys.readouterr().err.startswith(what)


def test_what_was_fitted_apart_on_something_else_is_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    words = ("--scale", "1", "--method", "isotonic", "--resamples", "0", "--held-out", "five.json")
    assert run_command_line(["fit", *SOME, *words, "--out", "c.json"]) == 0
    capsys.readouterr()
    whole = (folder / "five.json").read_bytes()
    (folder / "cut.json").write_bytes(whole[: len(whole) // 2])
    (folder / "twice.json").write_bytes(whole)
    again = "Fit the method again: credence fit --held-out."
    judge = ("evaluate", *SOME, "--calibration", "some.json", "--resamples", "0")
    for words, message in {
        ("--folds", "4", "--held-out", "five.json"): (
            "five.json: folds is 5 in it, and 4 here. Give --folds 5. Or fit the method again: "
            "credence fit --held-out --folds 4."
        ),
        ("--folds", "5", "--min-positives", "2.5", "--held-out", "five.json"): (
            "five.json: min_positives is 10 in it, and 2.5 here. Give --min-positives 10. Or "
            "fit the method again: credence fit --held-out --min-positives 2.5."
        ),
        ("--folds", "5", "--clusters", "clusters.tsv", "--held-out", "five.json"): (
            "five.json: it is of other proteins, classes, weights or clusters than those "
            f"given here. {again}"
        ),
        ("--folds", "5", "--held-out", "cut.json"): (
            f"cut.json, line 13: this is not JSON, or not the whole of it: "
            f"Unterminated string starting at. {again}"
        ),
        ("--folds", "5", "--held-out", "gone.json"): (
            f"gone.json: there is no such file. {again}"
        ),
        ("--folds", "5", "--held-out", "five.json", "--held-out", "twice.json"): (
            "twice.json: 'isotonic' was given already. Give each method once."
        ),
    }.items():
        assert run_command_line([*judge, *words, "--out", "refused.json"]) == 2
        assert capsys.readouterr().err == f"{message}\nFix this and run the command again.\n"
        assert not (folder / "refused.json").exists()


def test_a_calibration_of_another_table_is_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    for command in ("evaluate", "thresholds"):
        for name, there, clusters in (
            ("all.json", "90 proteins, 90 right", ", 90 clusters"),
            ("one.json", "1 proteins, 1 right", ", 1 clusters"),
        ):
            if command == "evaluate" and name == "one.json":
                continue  # which never saw 89 of them: these judge it
            here = "90 proteins, 48 right"
            if command == "thresholds":  # whose guarantees are of the calibration's clusters
                here, there = f"{here}, 90 clusters", there + clusters
            capsys.readouterr()
            words = (command, *SOME, "--calibration", name, "--out", "refused.tsv")
            assert refused(capsys, *words) == (
                f"some.csv: it has {here}, and {name} was fitted on {there}. Give the table "
                "it was fitted on, and the same --groups or --clusters.\n"
            )
            assert not (folder / "refused.tsv").exists()


def test_proteins_set_aside_for_one_reason_are_one_notice(folder: Path) -> None:
    rows = ["id\tcluster\tgroup\trole\treason"]
    for k in range(90):
        why = f"relative of training protein 't{k}' (identity 0.{40 + k})" if k < 9 else ""
        if k == 9:
            why = "relative of protein 'p3' of group 2 (identity 0.5)"
        role, group = ("set_aside", "") if why else ("calibration", str(k % 3 + 1))
        rows.append(f"p{k}\tp{k}\t{group}\t{role}\t{why}")
    (folder / "groups.tsv").write_text("\n".join(rows) + "\n")
    words = ("--scale", "1", "--groups", "groups.tsv", "--resamples", "0", "--method", "isotonic")
    assert call_here(folder, "fit", "some.csv", *words, "--out", "apart.json").returncode == 0
    words = ("--calibration", "apart.json", "--groups", "groups.tsv", "--resamples", "0")
    done = call_here(folder, "evaluate", "some.csv", *words, "--out", "apart-report.json")
    assert done.returncode == 0, done.stderr
    notices = json.loads((folder / "apart-report.json").read_text())["notices"]
    assert [entry["text"] for entry in notices if entry["kind"] == "set aside"] == [
        "1 protein of the calibration set is not used: relative of protein.",
        "9 proteins of the calibration set are not used: relative of training protein.",
    ]
