"""Prediction sets through the commands: fitted, kept in the calibration, written, judged."""

from __future__ import annotations

import csv
import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from credence.app import run_command_line
from credence.predictions import Labelled, Predictions
from credence.sets.conformal import SetOptions, fit_sets
from credence.tables.contract import read_confidences, set_columns, set_texts
from credence.tables.stage_files import SHIFT_FILES, checksum_of, read_calibration
from refusals import refused
from set_worlds import NAMES, world
from small_worlds import rows_of

USE = {"Portal": 0.8, "Collar": 0.15, "HTJ": 0.05}
DECIMALS = 1e-6  # as written below
SPEC = ["--format", "wide", "--spec"]
READ = json.dumps({"columns": {"id": "id", "true_class": "true_class", "classes": list(NAMES)}})
READ_NEW = json.dumps({"columns": {"id": "id", "classes": list(NAMES)}})


def known() -> Labelled:
    return world(0, n=120, n_families=60, resolution=DECIMALS)


def new() -> Predictions:
    return world(100, resolution=DECIMALS).predictions


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with labelled proteins, their families, and new ones."""
    monkeypatch.chdir(tmp_path)
    labelled, unknown = known(), new()
    for name, predictions, true in (
        ("known.csv", labelled.predictions, labelled.true_class),
        ("new.csv", unknown, None),
    ):
        assert predictions.scores is not None
        with Path(name).open("w", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(["id", *([] if true is None else ["true_class"]), *NAMES])
            for row, id_ in enumerate(predictions.ids):
                own = [] if true is None else [NAMES[true[row]]]
                writer.writerow([id_, *own, *(f"{x:.6f}" for x in predictions.scores[row])])
    Path("families.tsv").write_text(
        "id\tcluster\n"
        + "".join(
            f"{i}\t{c}\n" for i, c in zip(labelled.predictions.ids, labelled.cluster, strict=True)
        )
    )
    return tmp_path


def fit(*further: str) -> int:
    words = ["fit", "known.csv", *SPEC, READ, "--scale", "10", "--clusters", "families.tsv"]
    words += ["--method", "class_only", "--resamples", "0", "--out", "c.json", *further]
    return run_command_line(words)


def annotate() -> dict[str, list[str]]:
    words = ["annotate", "new.csv", *SPEC, READ_NEW, "--calibration", "c.json", "--out", "a.tsv"]
    assert run_command_line(words) == 0
    rows = rows_of("a.tsv")
    return {name: [row[name] for row in rows] for name in rows[0]}


def test_a_table_gets_the_sets_of_its_calibration(folder: Path) -> None:
    assert fit("--sets", "0.8") == 0
    found = annotate()
    file = read_calibration(Path("c.json"))
    assert file.sets is not None
    labelled = known()
    contains = fit_sets(labelled, SetOptions(level=0.8)).contains(new())
    assert found["prediction_set"] == set_texts(contains, NAMES).tolist()
    assert found["set_size"] == [str(size) for size in contains.sum(axis=1)]
    assert 0 < contains.mean() < 1
    read_confidences(Path("a.tsv"))


def test_none_are_made_where_none_are_wanted(folder: Path) -> None:
    assert fit("--sets", "none") == 0
    assert "sets" not in json.loads(Path("c.json").read_text())
    assert "prediction_set" not in annotate()


def test_scarce_classes_are_told(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert fit("--sets", "0.99") == 0
    message = capsys.readouterr().err.splitlines()[0]
    counts = [
        len(set(known().cluster[rows]))
        for rows in (known().true_class == class_ for class_ in range(3))
    ]
    listed = ", ".join(f"{name} ({n})" for name, n in zip(NAMES, counts, strict=True))
    assert (
        message == "known.csv: classes with fewer than the 99 families needed are in every "
        f"prediction set: {listed}."
    )
    assert set(annotate()["prediction_set"]) == {"|".join(NAMES)}


def test_a_scarce_class_shares_a_threshold_which_is_told_beside_the_set(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = Path("known.csv").read_text().splitlines()
    of_class = [line for line in lines if line.split(",")[1] == "HTJ"]
    Path("known.csv").write_text(
        "\n".join(line for line in lines if line not in of_class[4:]) + "\n"
    )
    assert fit("--sets", "0.9") == 0
    stated = capsys.readouterr().err.splitlines()[0]
    assert re.fullmatch(
        r"known.csv: prediction sets: a class needs 9 families for a threshold of its own; these "
        r"have fewer and share one threshold with the families of (Portal|Collar) \(\d+\): "
        r"HTJ \([1-4]\)\.",
        stated,
    )
    found = annotate()
    holds = ["HTJ" in classes.split("|") for classes in found["prediction_set"]]
    assert 0 < sum(holds) < len(holds)
    assert found["set_pooled"] == ["HTJ" if is_in else "" for is_in in holds]
    read_confidences(Path("a.tsv"))


def test_sets_of_another_make_are_refused(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert fit("--sets", "0.8") == 0
    body = json.loads(Path("c.json").read_text())
    body["sets"]["classes"].pop()
    body["checksum"] = checksum_of(body)
    Path("c.json").write_text(json.dumps(body))
    words = ["annotate", "new.csv", *SPEC, READ_NEW, "--calibration", "c.json", "--out", "b.tsv"]
    assert refused(capsys, *words) == (
        "c.json, column 'sets': it is damaged (the sets are not of these classes). Fit the "
        "calibration again with credence fit.\n"
    )
    assert not Path("b.tsv").exists()


def test_findings_tell_how_often_sets_hold_the_class(folder: Path) -> None:
    assert fit("--sets", "0.8", "--sets-kind", "overall") == 0
    words = ["evaluate", "known.csv", *SPEC, READ, "--clusters", "families.tsv", "--folds", "4"]
    words += ["--resamples", "20", "--calibration", "c.json", "--out", "f.json"]
    assert run_command_line(words) == 0
    sets = json.loads(Path("f.json").read_text())["sets"]
    assert (sets["level"], sets["kind"], sets["n_folds"]) == (0.8, "overall", 4)
    assert sum(sets["sizes"]) == 120
    assert np.isclose(sets["all_classes"]["coverage"], 0.8, atol=0.1)


def shifted(kind: str) -> dict[str, list[str]]:
    """Return what annotating gives at a composition that is stated."""
    assert fit("--sets", "0.8", "--sets-kind", kind) == 0
    words = ["shift", "new.csv", *SPEC, READ_NEW]
    words += ["--estimator", "stated", "--stated", json.dumps(USE), "--calibration", "c.json"]
    words += ["--resamples", "0", "--record", "s.json", "--out", "class_proportions.tsv"]
    assert run_command_line(words) == 0
    words = ["annotate", "new.csv", *SPEC, READ_NEW, "--calibration", "c.json"]
    assert run_command_line([*words, "--shift", "s.json", "--out", "a.tsv"]) == 0
    rows = rows_of("a.tsv")
    read_confidences(Path("a.tsv"))
    return {name: [row[name] for row in rows] for name in rows[0]}


def test_sets_over_all_have_columns_for_another_composition(folder: Path) -> None:
    found = shifted("overall")
    share = SHIFT_FILES.read(Path("s.json")).applied_proportion
    assert share == pytest.approx(list(USE.values()), abs=1e-9)
    sets = fit_sets(known(), SetOptions(level=0.8, kind="overall"))
    corrected, plain = sets.contains(new(), share), sets.contains(new())
    assert found["prediction_set"] == set_texts(corrected, NAMES).tolist()
    assert found["set_size"] == [str(size) for size in corrected.sum(axis=1)]
    assert found["uncorrected_prediction_set"] == set_texts(plain, NAMES).tolist()
    assert found["uncorrected_set_size"] == [str(size) for size in plain.sum(axis=1)]
    assert found["uncorrected_prediction_set"] != found["prediction_set"]


def test_sets_class_by_class_need_no_column_for_another_composition(folder: Path) -> None:
    found = shifted("class_wise")
    assert "prediction_set" in found
    assert (
        found["prediction_set"]
        == set_texts(
            fit_sets(known(), SetOptions(level=0.8, kind="class_wise")).contains(new()), NAMES
        ).tolist()
    )
    assert "uncorrected_prediction_set" not in found
    assert "uncorrected_confidence" in found


def test_a_table_without_all_scores_gets_empty_sets() -> None:
    sets = fit_sets(known(), SetOptions(level=0.8))
    blind = replace(new(), scores=None)
    found = set_columns(sets, blind, None)
    assert set(found["prediction_set"]) == {""}
    assert np.isnan(found["set_size"]).all()
