from __future__ import annotations

import csv
from pathlib import Path

import pytest

from credence.simulate.law import WorldSettings
from credence.simulate.world import make_world, render_files
from small_worlds import call, call_here


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    at = tmp_path_factory.mktemp("study")
    settings = WorldSettings(
        n_calibration=200, n_use=10, n_training=10, n_trove=9, n_defects=2, n_training_relatives=3
    )
    content = render_files(make_world(settings))["calibration.csv"]
    (at / "calibration.csv").write_bytes(
        content if isinstance(content, bytes) else content.encode()
    )
    return at


def test_two_sets_writes_medians_of_both_halves_and_the_same_bytes_again(folder: Path) -> None:
    words = ("study", "two-sets", "calibration.csv", "--format", "phanns-labelled")
    methods = ("--method", "class_only", "--method", "isotonic", "--draws", "5")
    # The second is a process of its own, where sets have another order.
    for run, out in ((call_here, "one.tsv"), (call, "two.tsv")):
        done = run(folder, *words, *methods, "--out", out)
        assert (done.returncode, done.stdout) == (0, "")
        assert f"Wrote {out}: 2 methods, 5 draws." in done.stderr
    assert (folder / "one.tsv").read_bytes() == (folder / "two.tsv").read_bytes()
    with (folder / "one.tsv").open(encoding="utf-8", newline="") as handle:
        rows = list(csv.DictReader(handle, delimiter="\t"))
    assert list(rows[0]) == [
        *("method", "class", "metric", "in_sample", "held_out", "difference"),
        *("lower", "upper", "n_draws"),
    ]
    nll = {row["method"]: row for row in rows if (row["class"], row["metric"]) == ("all", "nll")}
    assert float(nll["isotonic"]["held_out"]) > float(nll["isotonic"]["in_sample"])
    assert nll["isotonic"]["n_draws"] == "5"


def test_a_wrong_method_is_refused_with_the_nearest_name(folder: Path) -> None:
    done = call_here(
        folder,
        *("study", "two-sets", "calibration.csv", "--format", "phanns-labelled"),
        *("--method", "isotonik", "--out", "x.tsv"),
    )
    assert done.returncode == 2
    assert "Did you mean 'isotonic'?" in done.stderr
    assert not (folder / "x.tsv").exists()


def numbers(*rows: str) -> str:
    return "id,true_class,A,B\n" + "".join(f"{row}\n" for row in rows)


def test_the_scale_can_be_stated_as_in_fit(tmp_path: Path) -> None:
    rows = [f"p{k},{'AB'[k % 3 == 0]},0.{9 - k % 4},0.{1 + k % 4}" for k in range(40)]
    (tmp_path / "t.csv").write_text(numbers(*rows))
    done = call_here(
        tmp_path,
        *("study", "two-sets", "t.csv", "--scale", "1", "--method", "class_only"),
        *("--draws", "1", "--out", "s.tsv"),
    )
    assert done.returncode == 0, done.stderr
    assert "Wrote s.tsv: 1 method, 1 draw." in done.stderr


def test_what_cannot_be_halved_or_lacks_scores_is_refused_before_anything_is_fitted(
    tmp_path: Path,
) -> None:
    (tmp_path / "one.csv").write_text(numbers("p1,A,0.9,0.1"))
    words = ("--scale", "1", "--draws", "1", "--out", "s.tsv")
    done = call_here(tmp_path, "study", "two-sets", "one.csv", *words)
    assert done.returncode == 2
    assert (
        "one.csv: all proteins are of one cluster, and no cluster is divided. "
        "Give proteins of at least two.\n" in done.stderr
    )
    (tmp_path / "top.csv").write_text(
        "id,true_class,predicted_class,score\np1,A,A,0.9\np2,B,A,0.8\n"
    )
    done = call_here(tmp_path, "study", "two-sets", "top.csv", *words, "--method", "tswa")
    assert done.returncode == 2
    assert (
        "top.csv: it has the top score only, and 'tswa' needs the score of every class, each row "
        "summing to the scale. Give such a table, or fit with a method that needs less.\n"
    ) in done.stderr
    assert not (tmp_path / "s.tsv").exists()


def test_two_tables_are_two_sets_as_they_are(folder: Path, tmp_path: Path) -> None:
    lines = (folder / "calibration.csv").read_text().splitlines()
    for name, part in (("one.csv", lines[1::2]), ("two.csv", lines[2::2])):
        (tmp_path / name).write_text("\n".join([lines[0], *part]) + "\n")
    words = ("study", "two-sets", "one.csv", "--format", "phanns-labelled", "--second", "two.csv")
    done = call_here(tmp_path, *words, "--method", "class_only", "--draws", "1", "--out", "s.tsv")
    assert (done.returncode, done.stdout) == (0, "")
    with (tmp_path / "s.tsv").open(encoding="utf-8", newline="") as handle:
        rows = {
            (row["class"], row["metric"]): row for row in csv.DictReader(handle, delimiter="\t")
        }
    nll = rows["all", "nll"]
    assert float(nll["difference"]) == pytest.approx(
        float(nll["held_out"]) - float(nll["in_sample"]), abs=1e-6
    )
    assert nll["lower"] == nll["upper"] == nll["difference"]  # one draw: the sets as they are
    again = call_here(tmp_path, *words, "--method", "class_only", "--draws", "9", "--out", "t.tsv")
    assert again.returncode == 0
    with (tmp_path / "t.tsv").open(encoding="utf-8", newline="") as handle:
        drawn = list(csv.DictReader(handle, delimiter="\t"))
    (row,) = (row for row in drawn if (row["class"], row["metric"]) == ("all", "nll"))
    assert float(row["lower"]) < float(row["difference"]) < float(row["upper"])


def test_a_second_table_of_other_classes_is_refused(tmp_path: Path) -> None:
    (tmp_path / "one.csv").write_text(numbers("p1,A,0.9,0.1", "p2,B,0.2,0.8"))
    (tmp_path / "two.csv").write_text("id,true_class,A,C\np1,A,0.9,0.1\n")
    words = ("--scale", "1", "--method", "class_only", "--second", "two.csv", "--out", "s.tsv")
    done = call_here(tmp_path, "study", "two-sets", "one.csv", *words)
    assert done.returncode == 2
    assert (
        "two.csv: its classes are not those of one.csv. Give two tables of one classifier.\n"
    ) in done.stderr


def test_a_study_of_a_clone_is_refused_without_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("credence.stages.study.workflow_folder", lambda: tmp_path / "package")
    done = call_here(tmp_path, "study", "ensembles", "--out", "x")
    assert done.returncode == 2
    assert (
        "ensembles.py: this study is in a clone of the project, not in the package. "
        "Run it in a clone: git clone, then make.\n"
    ) in done.stderr
