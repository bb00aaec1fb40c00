"""``credence shift`` and what annotate makes of it."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from credence import __version__
from credence.app import run_command_line
from credence.composition.estimators import ESTIMATOR_NAMES
from credence.findings import Findings
from credence.records import read_record
from credence.settings import setting_rules
from credence.simulate.law import CLASS_NAMES as LAW_CLASSES
from credence.simulate.law import WorldSettings
from credence.simulate.world import make_world, render_files
from credence.stages.report import summarise_file
from credence.stages.settings import ShiftSettings
from credence.tables.writing import write_record
from refusals import refused
from small_findings import make
from small_worlds import rows_of

SMALL = WorldSettings(
    n_calibration=200, n_query=60, n_training=5, n_trove=2, n_defects=0, n_training_relatives=0
)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("shift")
    for name, content in render_files(make_world(SMALL)).items():
        if name.endswith(".csv"):
            (folder / name).write_bytes(
                content if isinstance(content, bytes) else content.encode()
            )
    return folder


@pytest.fixture(autouse=True)
def inside(world: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of the tables, without what an earlier test wrote."""
    monkeypatch.chdir(world)
    for left in ("class_proportions.tsv", "shift.json", "both.tsv", "both.shift.json"):
        (world / left).unlink(missing_ok=True)
    if not (world / "histogram.json").exists():
        fit("histogram")
        (world / "c.json").rename(world / "histogram.json")
    (world / "c.json").write_bytes((world / "histogram.json").read_bytes())
    return world


def shift(*words: str) -> int:
    out = ["--resamples", "10", "--out", "class_proportions.tsv"]
    return run_command_line(["shift", "my_phages.csv", "--calibration", "c.json", *out, *words])


def fit(method: str, table: str = "calibration.csv") -> None:
    words = ["fit", table, "--format", "phanns-labelled", "--method", method]
    assert (
        run_command_line([*words, "--sets", "none", "--resamples", "10", "--out", "c.json"]) == 0
    )


def test_shares_are_written_and_confidences_corrected_with_the_others_behind(inside: Path) -> None:
    fit("histogram")
    assert shift("--record", "shift.json") == 0
    shares = rows_of(inside / "class_proportions.tsv")
    assert sum(float(row["query_proportion"]) for row in shares) == pytest.approx(1.0)
    words = ["annotate", "my_phages.csv", "--calibration", "c.json"]
    assert run_command_line([*words, "--shift", "none", "--out", "plain.tsv"]) == 0
    assert run_command_line([*words, "--shift", "shift.json", "--out", "both.tsv"]) == 0
    plain, both = rows_of(inside / "plain.tsv"), rows_of(inside / "both.tsv")
    assert len(both) == SMALL.n_query
    behind = ["uncorrected_confidence", "uncorrected_lower", "uncorrected_upper"]
    assert list(both[0]) == [*plain[0], *behind]
    n_moved = 0
    for before, after in zip(plain, both, strict=True):
        for name in ("confidence", "lower", "upper"):
            assert after[f"uncorrected_{name}"] == before[name]
        for name in ("id", "predicted_class", "score", "method"):
            assert after[name] == before[name]
        if after["confidence"]:
            low, value, high = (float(after[name]) for name in ("lower", "confidence", "upper"))
            assert low <= value <= high
            n_moved += after["confidence"] != before["confidence"]
    assert n_moved > SMALL.n_query / 2


def test_without_a_correction_both_confidences_are_the_same(inside: Path) -> None:
    fit("kernel")
    assert shift("--estimator", "none", "--record", "shift.json") == 0
    words = ["annotate", "my_phages.csv", "--calibration", "c.json", "--shift", "shift.json"]
    assert run_command_line([*words, "--out", "both.tsv"]) == 0
    for row in rows_of(inside / "both.tsv"):
        for name in ("confidence", "lower", "upper"):
            assert row[f"uncorrected_{name}"] == row[name]


def test_confidences_without_intervals_are_not_said_to_be_moved_by_class_proportions(
    inside: Path,
) -> None:
    words = ["fit", "calibration.csv", "--format", "phanns-labelled", "--method", "kernel"]
    words += ["--sets", "none", "--resamples", "0", "--out", "c.json"]
    assert run_command_line(words) == 0
    stays: dict[str, int] = {}
    results = replace(make(LAW_CLASSES[:3]).results, class_names=LAW_CLASSES)
    for estimator in ("none", "em_matched"):
        assert shift("--estimator", estimator, "--record", "shift.json") == 0
        words = ["annotate", "my_phages.csv", "--calibration", "c.json", "--shift", "shift.json"]
        assert run_command_line([*words, "--out", "both.tsv"]) == 0
        rows = rows_of(inside / "both.tsv")
        if estimator == "none":  # the correction itself is not known either, so there is no range
            assert {row["uncorrected_lower"] for row in rows} == {""}
        query_set = summarise_file("use", inside / "both.tsv", results, "kernel")
        n_same = sum(
            abs(float(row["confidence"]) - float(row["uncorrected_confidence"])) <= 2e-6
            for row in rows
            if row["confidence"]
        )
        stays[estimator] = sum(entry.n_in_range for entry in query_set.classes)
        assert stays[estimator] == n_same
        if estimator == "none":
            assert n_same == query_set.n - query_set.n_unknown
    assert stays["em_matched"] < stays["none"]


def test_a_stated_composition_is_taken_as_it_is(inside: Path) -> None:
    stated = json.dumps({"Portal": 0.25, "Other": 0.75})
    assert shift("--estimator", "stated", "--stated", stated) == 0
    shares = {
        row["class"]: float(row["query_proportion"])
        for row in rows_of(inside / "class_proportions.tsv")
    }
    assert shares["Portal"] == 0.25
    assert shares["Other"] == 0.75
    assert shares["HTJ"] == 0.0


def test_a_shift_file_of_another_method_or_changed_by_hand_is_refused(
    inside: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert shift("--record", "shift.json") == 0
    fit("kernel")
    words = ["annotate", "my_phages.csv", "--calibration", "c.json", "--shift", "shift.json"]
    assert (
        "shift.json: it corrects 'histogram', the calibration is 'kernel'. "
        "Estimate again with --method 'kernel'."
    ) in refused(capsys, *words, "--out", "both.tsv").splitlines()
    record = json.loads((inside / "shift.json").read_text())
    record["finding"]["n_query"] += 1
    (inside / "shift.json").write_text(json.dumps(record))
    assert run_command_line([*words, "--out", "both.tsv"]) == 2
    assert (
        "shift.json: its content was changed after it was written. "
        "Estimate the class proportions again: credence shift."
    ) in capsys.readouterr().err.splitlines()


def test_stated_without_a_composition_is_refused(
    inside: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert shift("--estimator", "stated") == 2
    assert (
        "--stated: no class proportions are given. Give --stated '{\"class\": share}'."
    ) in capsys.readouterr().err.splitlines()


def message(capsys: pytest.CaptureFixture[str]) -> list[str]:
    return capsys.readouterr().err.splitlines()


def copy_of(name: str, place: Path, change: Callable[[list[list[str]]], list[list[str]]]) -> None:
    with Path(name).open(newline="") as handle:
        rows = list(csv.reader(handle))
    with place.open("w", newline="") as handle:
        csv.writer(handle, lineterminator="\n").writerows(change(rows))


def run_shift(table: str, *words: str) -> int:
    out = ["--resamples", "5", "--out", "class_proportions.tsv"]
    return run_command_line(["shift", table, "--calibration", "c.json", *out, *words])


def test_a_query_set_of_other_classes_is_refused(
    inside: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = tmp_path / "other.csv"
    copy_of(
        "my_phages.csv",
        table,
        lambda rows: [[c.replace("HTJ", "Joint") for c in rows[0]], *rows[1:]],
    )
    assert run_shift(str(table), "--format", "phanns") == 2
    classes = (
        "Major capsid, Minor capsid, Baseplate, Major tail, Minor tail, Portal, Tail fiber, "
        "Tail shaft, Collar, HTJ, Other"
    )
    assert message(capsys) == [
        f"{table}, line 1: the column of class 'HTJ' is missing. Known are: Joint.",
        f"{table}, line 1, column 'Joint': 'Joint' is none of the classes expected. "
        f"Known are: {classes}.",
        "Fix this and run the command again.",
    ]
    assert not (inside / "class_proportions.tsv").exists()


def test_an_empty_query_set_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = tmp_path / "empty.csv"
    copy_of("my_phages.csv", table, lambda rows: rows[:1])
    assert run_shift(str(table), "--format", "phanns") == 2
    assert message(capsys) == [
        f"{table}: the table has a header and no rows. Give a table with rows.",
        "Fix this and run the command again.",
    ]


def test_a_query_set_of_few_proteins_does_not_tell_its_class_proportions(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = tmp_path / "few.csv"
    copy_of("my_phages.csv", table, lambda rows: rows[:20])
    assert run_shift(str(table), "--format", "phanns") == 0
    rows = rows_of(Path("class_proportions.tsv"))
    assert all(row["query_proportion"] == row["calibration_proportion"] for row in rows)
    assert message(capsys)[-1] == (
        "Fewer than 20 proteins (19) do not tell their class proportions: confidences are those "
        "for the proportions of the calibration set."
    )
    copy_of("my_phages.csv", table, lambda rows: rows[:21])
    assert run_shift(str(table), "--format", "phanns") == 0
    assert not any("do not tell" in line for line in message(capsys))


TOP_SPEC = json.dumps({"columns": {"id": "id", "predicted_class": "verdict", "score": "score"}})


def top_scores(rows: list[list[str]]) -> list[list[str]]:
    found = [["id", "verdict", "score"]]
    for row in rows[1:]:
        best = max(range(1, 12), key=lambda column: float(row[column]))
        found.append([row[0], rows[0][best], row[best]])
    return found


def test_without_vectors_em_is_refused_and_auto_matches_what_is_predicted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = tmp_path / "top.csv"
    copy_of("my_phages.csv", table, top_scores)
    words = ["--format", "top-score", "--spec", TOP_SPEC]
    assert run_shift(str(table), *words, "--estimator", "em") == 2
    assert message(capsys) == [
        "--estimator: 'em' needs the score of every class, each row summing to the scale. "
        "Give 'bbse_hard' or 'rlls'.",
        "Fix this and run the command again.",
    ]
    assert run_shift(str(table), *words) == 0
    assert ": class proportions of 60 proteins, estimated by bbse_hard: " in message(capsys)[0]


def test_a_class_absent_from_calibration_is_said_and_not_corrected_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = tmp_path / "few.csv"
    copy_of(
        "calibration.csv",
        table,
        lambda rows: [row for row in rows if not row[0].lower().startswith("collar")],
    )
    fit("histogram", str(table))
    assert run_shift("my_phages.csv", "--format", "phanns") == 0
    assert (
        "The calibration set holds no Collar: its share is not known, and confidences "
        "cannot be corrected for it."
    ) in message(capsys)
    (collar,) = (row for row in rows_of(Path("class_proportions.tsv")) if row["class"] == "Collar")
    assert collar == {
        "class": "Collar",
        "calibration_proportion": "0",
        "query_proportion": "0",
        "lower": "0",
        "upper": "1",
        "weight": "",
        "applied_proportion": "0",
    }


def test_without_draws_there_are_no_intervals(inside: Path) -> None:
    assert shift("--resamples", "0", "--record", "shift.json") == 0
    assert all(
        row["lower"] == row["upper"] == "" for row in rows_of(inside / "class_proportions.tsv")
    )


@pytest.mark.parametrize(
    ("stated", "messages"),
    [
        (
            {"Portl": 0.5, "Other": 0.1},
            ["--stated: there is no class 'Portl'. Did you mean 'Portal'?"],
        ),
        (
            {"Portl": 0.5, "Other": -0.1},
            ["--stated, column 'Other': -0.1 is out of range. Give a number from 0 to 1."],
        ),
        (
            {"Portal": 0.5, "Other": 0.4},
            ["--stated: the shares sum to 0.9. Give shares that sum to 1."],
        ),
    ],
)
def test_stated_shares_that_cannot_be_are_refused(
    inside: Path, capsys: pytest.CaptureFixture[str], stated: dict[str, float], messages: list[str]
) -> None:
    assert shift("--format", "phanns", "--stated", json.dumps(stated)) == 2
    assert message(capsys) == [*messages, "Fix this and run the command again."]


def test_no_output_may_be_an_input(capsys: pytest.CaptureFixture[str]) -> None:
    assert shift("--record", "c.json") == 2
    assert message(capsys) == [
        "c.json: this file is an input too. Choose another --out.",
        "Fix this and run the command again.",
    ]


def test_what_was_made_with_another_calibration_of_the_method_is_refused(
    inside: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fit("histogram")
    assert shift("--record", "shift.json") == 0
    words = ["annotate", "my_phages.csv", "--shift", "shift.json", "--out", "both.tsv"]
    Path("same.json").write_bytes(Path("c.json").read_bytes())
    assert run_command_line([*words, "--calibration", "same.json"]) == 0
    other = ["fit", "calibration.csv", "--format", "phanns-labelled", "--method", "histogram"]
    other += ["--sets", "none", "--resamples", "10", "--min-positives", "40"]
    assert run_command_line([*other, "--out", "other.json"]) == 0
    listed = ["list", "both.tsv", "--shift", "shift.json", "--error", "0.2", "--out", "l.tsv"]
    capsys.readouterr()
    for command in (words, listed):
        assert run_command_line([*command, "--calibration", "other.json"]) == 2
        assert message(capsys)[0] == (
            "shift.json: it was made with another calibration than other.json. "
            "Give that one, or run credence shift again with this one."
        )
    again = ["shift", "my_phages.csv", "--calibration", "other.json", "--resamples", "10"]
    assert (
        run_command_line([*again, "--record", "shift.json", "--out", "class_proportions.tsv"]) == 0
    )
    assert run_command_line([*words, "--calibration", "other.json"]) == 0


@pytest.mark.parametrize("second", ["--also", "--record"])
def test_where_one_output_cannot_be_written_there_is_none(inside: Path, second: str) -> None:
    Path("folder.tsv").mkdir(exist_ok=True)
    Path("o.tsv").unlink(missing_ok=True)
    words = ["shift", "my_phages.csv", "--calibration", "c.json", "--resamples", "0"]
    assert run_command_line([*words, "--out", "o.tsv", second, "folder.tsv"]) == 2
    assert not Path("o.tsv").exists()


def test_a_list_by_another_correction_of_the_calibration_is_refused(
    inside: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fit("kernel")
    stated = ("--stated", '{"Portal": 0.5, "Other": 0.5}')
    for name, words in (("one", ()), ("two", stated)):
        assert shift("--record", f"{name}.json", *words) == 0
        words = ("annotate", "my_phages.csv", "--calibration", "c.json", "--shift", f"{name}.json")
        assert run_command_line([*words, "--out", f"{name}.tsv"]) == 0
    for table in ("one", "two"):
        listed = ["list", f"{table}.tsv", "--calibration", "c.json", "--error", "0.5"]
        for record in ("one", "two"):
            capsys.readouterr()
            words = [*listed, "--shift", f"{record}.json", "--out", "l.tsv"]
            assert run_command_line(words) == (0 if record == table else 2)
        other = "one" if table == "two" else "two"
        if record != table:
            assert re.match(
                rf"{table}.tsv, line \d+, column 'confidence': [01][.\d]* is the confidence of "
                rf"'simulated_phage_\d+', and {other}.json gives [01][.\d]*( to [01][.\d]*)?\. "
                r"Give the --shift that the table was annotated with\.",
                message(capsys)[0],
            )


def test_tables_that_are_not_those_of_the_mix_are_named(
    inside: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fit("histogram")
    folder = tmp_path / "shards"
    folder.mkdir()
    shards = [str(folder / f"{name}.csv") for name in "abcde"]
    for number, shard in enumerate(shards):
        own = slice(1 + 12 * number, 13 + 12 * number)
        copy_of("my_phages.csv", Path(shard), lambda rows, own=own: [rows[0], *rows[own]])
    form = ["--format", "phanns"]
    made = ["--record", "shift.json", *form]

    def printed(*tables: str, out: str = "both.tsv", words: tuple[str, ...] = ()) -> list[str]:
        capsys.readouterr()
        annotate = ["annotate", *tables, *form, "--calibration", "c.json"]
        annotate += ["--shift", "shift.json", "--out", out, *words]
        assert run_command_line(annotate) == 0
        return [line for line in message(capsys) if line.startswith("shift.json: ")]

    assert run_shift(str(folder), *made) == 0
    for out in ("both.tsv", str(tmp_path / "out")):
        assert printed(str(folder), out=out) == []
    assert printed(shards[1], shards[0]) == []
    assert printed("my_phages.csv") == [
        "shift.json: its class proportions are those of a.csv, b.csv, c.csv and 2 more (60 "
        "proteins), not of my_phages.csv; confidences are corrected for these."
    ]
    assert run_shift("my_phages.csv", *made) == 0
    assert printed(*shards[:2]) == [
        "shift.json: its class proportions are those of my_phages.csv (60 proteins), not of "
        "a.csv, b.csv; confidences are corrected for these."
    ]


def test_a_shift_file_of_an_older_version_is_refused(
    inside: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fit("kernel")
    assert shift("--record", "shift.json") == 0
    record = json.loads((inside / "shift.json").read_text()) | {"schema": "credence/shift/1"}
    (inside / "shift.json").write_text(json.dumps(record))
    words = ["annotate", "my_phages.csv", "--calibration", "c.json", "--shift", "shift.json"]
    capsys.readouterr()
    assert run_command_line([*words, "--out", "both.tsv"]) == 2
    assert message(capsys)[0] == (
        "shift.json, column 'schema': 'credence/shift/1' is not 'credence/shift/4', the only one "
        f"that credence {__version__} reads. Estimate the class proportions again: credence shift."
    )


def test_a_shift_file_that_vanished_is_named(
    inside: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fit("kernel")
    words = ["annotate", "my_phages.csv", "--calibration", "c.json", "--shift", "gone.json"]
    capsys.readouterr()
    assert run_command_line([*words, "--out", "both.tsv"]) == 2
    assert message(capsys) == [
        "gone.json: there is no such file. Estimate the class proportions again: credence shift.",
        "Fix this and run the command again.",
    ]


def test_proteins_of_one_genome_count_together(tmp_path: Path) -> None:
    table = tmp_path / "my_phages.csv"
    # Three genomes say less than sixty proteins that have nothing to do with each other.
    copy_of(
        "my_phages.csv",
        table,
        lambda rows: [
            [*rows[0], "phage"],
            *([*row, f"g{number // 20}"] for number, row in enumerate(rows[1:])),
        ],
    )
    words = ["--format", "phanns", "--estimator", "bbse_hard", "--resamples", "60"]
    widths = []
    for spec in ({"genome": "phage"}, {}):
        if not spec:
            copy_of(str(table), table, lambda rows: [row[:-1] for row in rows])
        assert run_shift(str(table), *words, "--spec", json.dumps(spec)) == 0
        rows = rows_of(Path("class_proportions.tsv"))
        widths.append(sum(float(row["upper"]) - float(row["lower"]) for row in rows))
    assert widths[0] > widths[1] * 1.05


def test_proteins_whose_genome_is_not_named_count_each_by_itself(tmp_path: Path) -> None:
    table, words = tmp_path / "my_phages.csv", ["--format", "phanns", "--estimator", "bbse_hard"]
    found = []
    for name in ("", None):
        copy_of(
            "my_phages.csv",
            table,
            lambda rows, name=name: [
                [*rows[0], "phage"],
                *([*row, row[0] if name is None else name] for row in rows[1:]),
            ],
        )
        spec = ["--resamples", "20", "--spec", '{"genome": "phage"}']
        assert run_shift(str(table), *words, *spec) == 0
        found.append(Path("class_proportions.tsv").read_bytes())
    assert found[0] == found[1]


@pytest.mark.long
def test_a_shift_file_of_other_classes_is_no_part_of_a_page(
    inside: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fit("class_only")
    assert shift("--record", "shift.json") == 0
    words = ["evaluate", "calibration.csv", "--format", "phanns-labelled", "--folds", "2"]
    words += ["--resamples", "10"]
    found = tmp_path / "findings.json"
    assert run_command_line([*words, "--calibration", "c.json", "--out", str(found)]) == 0
    page = tmp_path / "page" / "index.html"
    assert (
        run_command_line(["report", str(found), "--shift", "shift.json", "--out", str(page)]) == 0
    )
    assert "Label shift" in page.read_text()
    findings = read_record(Findings, found, "")
    names = ("Another", *findings.results.class_names[1:])
    results = replace(findings.results, class_names=names)
    write_record(found, replace(findings, results=results))
    capsys.readouterr()
    words = ["report", str(found), "--out", str(page)]
    assert run_command_line([*words, "--shift", "shift.json"]) == 2
    assert message(capsys)[0] == (
        "shift.json: its classes are not those of the findings. "
        "Estimate the class proportions again: credence shift."
    )
    assert run_command_line([*words, "--shift", "gone.json"]) == 2
    assert message(capsys)[0] == (
        "gone.json: there is no such file. Estimate the class proportions again: credence shift."
    )


CONFIGURATION = """\
run: x
calibration_set: {scores: calibration.csv, format: phanns-labelled}
queries:
  - name: my_phages
    scores: my_phages.csv
    format: phanns
    shift: {class_proportions: {Portl: 0.4, Other: 0.6}}
"""


def test_check_tells_stated_classes_that_the_tables_do_not_have(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "config.yaml"
    path.write_text(CONFIGURATION)
    assert run_command_line(["check", str(path)]) == 2
    assert message(capsys)[0] == (
        f"{path}, line 7, column 'queries[0].shift.class_proportions.Portl': "
        "there is no class 'Portl'. Did you mean 'Portal'?"
    )
    path.write_text(CONFIGURATION.replace("Portl", "Portal"))
    assert run_command_line(["check", str(path)]) == 0


def test_every_estimator_of_the_registry_is_named_in_the_help() -> None:
    _, rule = setting_rules(ShiftSettings)["method"]
    comment = (Path(__file__).resolve().parents[2] / "config.yaml").read_text()
    for name in ESTIMATOR_NAMES:
        assert f" {name}" in rule.text
        assert f" {name}" in comment


def test_an_estimator_that_there_is_not_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert shift("--estimator", "bbse") == 2
    assert message(capsys)[0] == (
        "--estimator: 'bbse' is not an estimator of class proportions. Did you mean 'bbse_soft'?"
    )


# Annotating alone


def test_a_table_annotated_alone_has_the_numbers_of_a_run(
    inside: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = ["shift", "my_phages.csv", "--calibration", "c.json", "--record", "shift.json"]
    assert run_command_line([*made, "--out", "class_proportions.tsv"]) == 0
    words = ["annotate", "my_phages.csv", "--calibration", "c.json"]
    assert run_command_line([*words, "--shift", "shift.json", "--out", "run.tsv"]) == 0
    assert not Path("run.shift.json").exists()
    capsys.readouterr()
    assert run_command_line([*words, "--out", "both.tsv"]) == 0
    assert Path("both.tsv").read_bytes() == Path("run.tsv").read_bytes()
    told = [line for line in message(capsys) if "class proportions of" in line]
    assert len(told) == 1
    assert re.match(
        r"both\.tsv: class proportions of 60 proteins, estimated by em_matched: "
        r"[A-Z][a-z ]+ \d+ % \(\d+–\d+; calibration set \d+ %\), ",
        told[0],
    )
    listed = ["list", "both.tsv", "--calibration", "c.json", "--error", "0.5", "--out", "l.tsv"]
    assert run_command_line(listed) == 0
    alone = Path("l.tsv").read_bytes()
    assert run_command_line([*listed, "--shift", "shift.json"]) == 0
    assert Path("l.tsv").read_bytes() == alone


def test_python_gives_the_numbers_of_the_command(inside: Path) -> None:
    import credence

    words = ["annotate", "my_phages.csv", "--calibration", "c.json", "--out", "both.tsv"]
    assert run_command_line(words) == 0
    found = credence.annotate("my_phages.csv", credence.load("c.json"))
    for name in ("confidence", "lower", "upper", "uncorrected_confidence"):
        stated = [float(row[name] or "nan") for row in rows_of(Path("both.tsv"))]
        np.testing.assert_array_equal(found[name], stated)
    plain = credence.annotate("my_phages.csv", credence.load("c.json"), shift="none")
    np.testing.assert_array_equal(plain["confidence"], found["uncorrected_confidence"])


def test_none_and_a_stated_composition_take_the_place_of_the_estimate(
    inside: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["annotate", "my_phages.csv", "--calibration", "c.json", "--out", "both.tsv"]
    assert run_command_line([*words, "--shift", "none"]) == 0
    assert "uncorrected_confidence" not in rows_of(Path("both.tsv"))[0]
    stated = ["--stated", '{"Portal": 0.25, "Other": 0.75}']
    assert run_command_line([*words, *stated]) == 0
    other = [row for row in rows_of(Path("both.tsv")) if row["predicted_class"] == "HTJ"]
    assert other and all(float(row["confidence"]) == 0.0 for row in other)
    capsys.readouterr()
    assert run_command_line([*words, *stated, "--shift", "none"]) == 2
    assert message(capsys)[0] == (
        "--stated: --shift says already what confidences are corrected for. Leave one of them out."
    )


def test_a_calibration_of_counts_says_that_it_cannot_correct(
    inside: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    counts = tmp_path / "counts.csv"
    rows = ["Portal,0,5,30,10", "Portal,5,10,60,4", "Other,0,5,20,20", "Other,5,10,90,3"]
    counts.write_text("\n".join(["class,score_above,score_to,right,wrong", *rows]) + "\n")
    words = ["fit", str(counts), "--format", "counts", "--method", "histogram", "--out", "n.json"]
    assert run_command_line(words) == 0
    scores = [f"p{number},Portal,{number % 10}" for number in range(30)]
    Path("tops.csv").write_text("\n".join(["id,predicted_class,score", *scores]) + "\n")
    capsys.readouterr()
    words = ["tops.csv", "--format", "top-score", "--calibration", "n.json", "--out", "both.tsv"]
    assert run_command_line(["annotate", *words]) == 0
    reason = (
        "n.json: it does not say how many calibration proteins each class has (counts say it in "
        "their column 'members')"
    )
    assert (
        f"{reason}, so confidences are not corrected for the class proportions of this table."
    ) in message(capsys)
    assert run_command_line(["shift", *words]) == 2
    again = f"{reason}. Fit again to labelled tables, or to counts with 'members': credence fit."
    assert message(capsys)[0] == again
    stated = ["--stated", '{"Portal": 0.2, "Other": 0.8}']
    assert run_command_line(["annotate", *words, *stated]) == 2
    assert message(capsys)[0] == again


def test_counts_with_members_are_corrected_for_proportions_that_are_stated(
    inside: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    counts = tmp_path / "counts.csv"
    rows = ["Portal,0,5,30,10,104", "Portal,5,10,60,4,104"]  # 14 of 104 are missed
    rows += ["Other,0,5,20,11,100", "Other,5,10,66,3,100"]  # and 14 of 100
    counts.write_text("\n".join(["class,score_above,score_to,right,wrong,members", *rows]) + "\n")
    fit = ["fit", str(counts), "--format", "counts", "--method", "histogram(n_bins=2)"]
    assert run_command_line([*fit, "--out", "n.json"]) == 0
    scores = [f"{name}{number},{name},9" for number in range(20) for name in ("Portal", "Other")]
    Path("tops.csv").write_text("\n".join(["id,predicted_class,score", *scores]) + "\n")
    words = ["tops.csv", "--format", "top-score", "--calibration", "n.json", "--out", "both.tsv"]
    capsys.readouterr()
    assert run_command_line(["annotate", *words]) == 0
    reason = (
        "n.json: its counts do not say which classes the wrong predictions truly belong to, so "
        "class proportions cannot be estimated"
    )
    assert (
        f"{reason}, so confidences are not corrected for the class proportions of this table."
    ) in message(capsys)
    before = {row["predicted_class"]: row for row in rows_of(Path("both.tsv"))}
    assert run_command_line(["shift", *words]) == 2
    assert message(capsys)[0] == f"{reason}. State them: --stated '{{\"class\": share}}'."
    stated = ["--stated", '{"Portal": 0.2, "Other": 0.8}']
    assert run_command_line(["annotate", *words, *stated]) == 0
    assert (
        "both.tsv: Which classes the wrong predictions of the calibration set truly belong to is "
        "assumed, since they were only counted: the proteins of each class that were predicted "
        "wrongly are spread evenly over the wrong predictions of all other classes, whatever the "
        "score. Intervals are wider for it."
    ) in message(capsys)
    # Two classes: the odds of Portal at 9 change by (0.2 / 104) / (0.8 / 100), those of Other by
    # the inverse.
    factor = (0.2 / 104) / (0.8 / 100)
    for row in rows_of(Path("both.tsv")):
        plain = float(before[row["predicted_class"]]["confidence"])
        change = factor if row["predicted_class"] == "Portal" else 1.0 / factor
        odds = change * plain / (1.0 - plain)
        assert float(row["confidence"]) == pytest.approx(odds / (1.0 + odds), rel=1e-5)
        assert float(row["uncorrected_confidence"]) == plain


RUN = """\
run: mylab
calibration_set: {scores: calibration.csv, format: phanns-labelled}
queries: [{name: my_phages, scores: my_phages.csv, format: phanns}]
lists: {error: [0.3]}
shift: {resamples: 12}
"""


def test_the_files_and_settings_of_a_run_are_found_by_its_name(
    inside: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["annotate", "my_phages.csv", "--run", "mylab", "--out", "both.tsv"]
    assert run_command_line(words) == 2
    assert message(capsys)[0] == (
        "--run: there is no file reports/mylab/calibration.json. "
        "Run credence run first, or start where it ran."
    )
    folder = inside / "reports" / "mylab"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "calibration.json").write_bytes(Path("c.json").read_bytes())
    Path("config.yaml").write_text(RUN)
    assert run_command_line([*words, "--lists", "found"]) == 0
    assert [path.name for path in sorted(Path("found").glob("list_0*"))] == ["list_0.3.tsv"]
    made = ["shift", "my_phages.csv", "--calibration", "c.json", "--resamples", "12"]
    assert (
        run_command_line([*made, "--record", "shift.json", "--out", "class_proportions.tsv"]) == 0
    )
    again = ["annotate", "my_phages.csv", "--calibration", "c.json", "--shift", "shift.json"]
    assert run_command_line([*again, "--out", "run.tsv"]) == 0
    assert Path("run.tsv").read_bytes() == Path("both.tsv").read_bytes()
    capsys.readouterr()
    assert run_command_line([*words, "--calibration", "c.json"]) == 2
    assert message(capsys)[0] == (
        "--run: the calibration of the run is named, and --calibration. Leave one of the two out."
    )
    other = ["annotate", "my_phages.csv", "--run", "mylap", "--out", "both.tsv"]
    assert run_command_line(other) == 2
    assert message(capsys)[0] == (
        "--run: there is no file reports/mylap/calibration.json. Did you mean 'mylab'?"
    )
