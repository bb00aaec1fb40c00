"""``credence events``, and what annotate makes of it."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from credence.app import run_command_line
from credence.events.forecasters import LogisticForecast
from credence.simulate.law import WorldSettings
from credence.simulate.world import make_world, render_files
from credence.tables.contract import read_confidences
from credence.tables.formats import TableSpec
from credence.tables.samples import read_samples
from credence.tables.stage_files import EVENTS_FILES, NOVELTY_FILES, read_calibration

SMALL = WorldSettings(
    n_calibration=200, n_query=30, n_training=5, n_trove=2, n_defects=0, n_training_relatives=0
)
TAIL = '{"tail": ["Major tail", "Minor tail", "Tail fiber", "Tail shaft"]}'
QUICK = ["--compare", "tree", "--folds", "3", "--resamples", "10", "--min-positives", "5"]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with tables, a calibration and events learnt from them."""
    folder = tmp_path_factory.mktemp("events")
    for name, content in render_files(make_world(SMALL)).items():
        if name.endswith((".csv", ".fasta")):
            (folder / name).write_bytes(
                content if isinstance(content, bytes) else content.encode()
            )
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        words = ["fit", "calibration.csv", "--format", "phanns-labelled", "--method", "isotonic"]
        assert run_command_line([*words, "--resamples", "0", "--out", "c.json"]) == 0
        assert events("--calibration", "c.json", out="events.json") == 0
    return folder


@pytest.fixture(autouse=True)
def inside(world: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(world)
    return world


def events(*words: str, out: str = "other.json") -> int:
    asked = ["--ask", "predicted_class", "--ask", "two_best", "--named", TAIL]
    table = ["calibration.csv", "--format", "phanns-labelled"]
    return run_command_line(["events", *table, *asked, *QUICK, *words, "--out", out])


def annotate(*words: str) -> int:
    given = ["--calibration", "c.json", "--format", "phanns", *words]
    return run_command_line(["annotate", "--shift", "none", "my_phages.csv", *given])


def rows_of(path: str) -> list[dict[str, str]]:
    with Path(path).open() as handle:
        return list(csv.DictReader(handle, delimiter="\t"))


def test_each_event_is_a_column_that_contradicts_none() -> None:
    assert annotate("--events", "events.json", "--out", "conf.tsv", "--also", "c.parquet") == 0
    rows = rows_of("conf.tsv")
    assert len(rows) == 30
    tail = ("Major tail", "Minor tail", "Tail fiber", "Tail shaft")
    for row in rows:
        best, two, group = (
            float(row[f"event_{name}"]) for name in ("predicted_class", "two_best", "tail")
        )
        assert best == float(row["confidence"])
        assert best <= two <= 1.0
        if row["predicted_class"] in tail:
            assert best <= group
        else:
            assert group <= 1.0 - best + 1e-9
    assert pq.read_table("c.parquet")["event_tail"].to_pylist() == [
        float(row["event_tail"]) for row in rows
    ]
    assert len(read_confidences(Path("conf.tsv")).values["id"]) == 30


def test_the_same_events_have_the_same_bytes() -> None:
    assert events("--calibration", "c.json") == 0
    assert Path("other.json").read_bytes() == Path("events.json").read_bytes()


def test_what_a_fit_says_of_proteins_held_out_is_agreed_with(
    capsys: pytest.CaptureFixture[str],
) -> None:
    fit = ["fit", "calibration.csv", "--format", "phanns-labelled", "--method", "isotonic"]
    words = [
        "--min-positives",
        "5",
        "--resamples",
        "0",
        "--held-out",
        "h.json",
        "--out",
        "own.json",
    ]
    assert run_command_line([*fit, *words]) == 0
    given = ("--calibration", "own.json", "--folds", "5")
    assert events(*given, out="here.json") == 0
    assert events(*given, "--held-out", "h.json", out="there.json") == 0
    assert Path("here.json").read_bytes() == Path("there.json").read_bytes()
    capsys.readouterr()
    assert events("--calibration", "own.json", "--held-out", "h.json") == 2
    what = "h.json: folds is 5 in it, and 3 here. Give --folds 5. Or fit the method again"
    assert capsys.readouterr().err.startswith(what)
    assert run_command_line([*fit[:-1], "platt", "--resamples", "0", "--out", "platt.json"]) == 0
    capsys.readouterr()
    assert events("--calibration", "platt.json", "--folds", "5", "--held-out", "h.json") == 2
    what = "h.json: it is of the method isotonic, and here of platt. Leave it out, or "
    assert capsys.readouterr().err.startswith(what)


NAMES = ("predicted_class", "two_best", "tail")


def shift(*words: str) -> str:
    """Return a file of the composition."""
    table = ["my_phages.csv", "--format", "phanns", "--calibration", "c.json"]
    message = ["--record", "shift.json", "--out", "mix.tsv"]
    assert run_command_line(["shift", *table, *words, *message]) == 0
    return "shift.json"


def test_events_are_corrected_where_the_confidence_is() -> None:
    classes = read_calibration(Path("c.json")).class_names
    tail = json.loads(TAIL)["tail"]
    often = {name: 0.9 / 4 if name in tail else 0.1 / (len(classes) - 4) for name in classes}
    given = ["--events", "events.json", "--shift", shift("--stated", json.dumps(often))]
    assert annotate(*given, "--out", "moved.tsv") == 0
    assert annotate("--events", "events.json", "--out", "conf.tsv") == 0
    rows, plain = rows_of("moved.tsv"), rows_of("conf.tsv")
    for row, before in zip(rows, plain, strict=True):
        assert [row[f"uncorrected_event_{name}"] for name in NAMES] == [
            before[f"event_{name}"] for name in NAMES
        ]
        assert row["event_predicted_class"] == row["confidence"]
        assert float(row["event_two_best"]) >= float(row["confidence"])
    more = [float(row["event_tail"]) - float(row["uncorrected_event_tail"]) for row in rows]
    assert sum(more) / len(more) > 0.02
    assert list(rows[0])[-6:] == [
        *(f"event_{name}" for name in NAMES),
        *(f"uncorrected_event_{name}" for name in NAMES),
    ]
    assert len(read_confidences(Path("moved.tsv")).values["id"]) == 30


def test_the_calibration_set_s_own_mix_moves_no_event() -> None:
    given = ["--events", "events.json", "--shift", shift("--estimator", "none")]
    assert annotate(*given, "--out", "same.tsv") == 0
    for row in rows_of("same.tsv"):
        for name in NAMES:
            assert row[f"uncorrected_event_{name}"] == row[f"event_{name}"]


def test_a_column_that_is_no_share_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    from credence.problems import InputError

    assert annotate("--events", "events.json", "--out", "bad.tsv") == 0
    lines = Path("bad.tsv").read_text().splitlines()
    cells = lines[1].split("\t")
    cells[lines[0].split("\t").index("event_tail")] = "1.5"
    Path("bad.tsv").write_text("\n".join([lines[0], "\t".join(cells), *lines[2:]]) + "\n")
    with pytest.raises(InputError) as caught:
        read_confidences(Path("bad.tsv"))
    assert str(caught.value).startswith("bad.tsv, line 2, column 'event_tail': 1.5")


def refused(capsys: pytest.CaptureFixture[str], code: int) -> str:
    assert code == 2
    *_, message, order = capsys.readouterr().err.strip().splitlines()
    assert order == "Fix this and run the command again."
    return message


def test_events_of_another_calibration_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["fit", "calibration.csv", "--format", "phanns-labelled", "--method", "platt"]
    assert run_command_line([*words, "--resamples", "0", "--out", "platt.json"]) == 0
    given = ["--calibration", "platt.json", "--events", "events.json", "--format", "phanns"]
    code = run_command_line(
        ["annotate", "--shift", "none", "my_phages.csv", *given, "--out", "x.tsv"]
    )
    assert refused(capsys, code) == (
        "events.json: its events agree with 'isotonic', the calibration is 'platt'. Learn them "
        "again with this calibration."
    )
    assert not Path("x.tsv").exists()


def test_a_file_that_was_changed_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    record = json.loads(Path("events.json").read_text())
    record["model"]["frequency"][0] = 0.9
    Path("changed.json").write_text(json.dumps(record))
    assert refused(capsys, annotate("--events", "changed.json", "--out", "x.tsv")) == (
        "changed.json: its content was changed after it was written. Learn the events again: "
        "credence events."
    )


REFUSALS = {
    ("--forecaster", "kn"): "--forecaster: there is no forecaster 'kn'. Did you mean 'knn'?",
    ("--named", '{"tail": []}'): "--named, column 'tail': the list is too short. Give at least 1.",
}


@pytest.mark.parametrize("words", REFUSALS)
def test_what_is_not_known_is_refused(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert refused(capsys, events(*words)) == REFUSALS[words]


def test_without_an_event_there_is_nothing_to_learn(capsys: pytest.CaptureFixture[str]) -> None:
    table = ["calibration.csv", "--format", "phanns-labelled"]
    code = run_command_line(["events", *table, "--out", "x.json"])
    assert refused(capsys, code) == "--ask: no event is asked for. Give --ask or --named."


CLUSTERS = ["--clusters", "clusters.tsv"]
LEARNT = ["--novelty", "novelty.json", *CLUSTERS, "--calibration", "c.json"]
NEAR = ["--events", "near.json", "--novelty", "novelty.json", "--proteins", "my_phages.fasta"]


@pytest.fixture(scope="module")
def near(world: Path) -> Path:
    """Return the folder with novelty, families of two, and events learnt with distances."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(world)
        with Path("calibration.csv").open() as handle:
            ids = [row[0] for row in csv.reader(handle)][1:]
        lines = [f"{id_}\tfamily {place // 2}" for place, id_ in enumerate(ids)]
        Path("clusters.tsv").write_text("id\tcluster\n" + "\n".join(lines) + "\n")
        assert novelty("novelty.json", *CLUSTERS) == 0
        lines = Path("calibration.csv").read_text().splitlines()[:41]
        Path("few.csv").write_text("\n".join(lines) + "\n")
        assert novelty("alone.json", table="few.csv") == 0
        assert events(*LEARNT, out="near.json") == 0
    return world


def novelty(out: str, *words: str, table: str = "calibration.csv") -> int:
    given = [table, "--format", "phanns-labelled", "--proteins", "proteins.fasta"]
    return run_command_line(["novelty", *given, *words, "--out", out])


def features_of(path: str) -> dict[str, str]:
    finding = json.loads(Path(path).read_text())["finding"]
    return {entry["name"]: entry["missing"] for entry in finding["features"]}


@pytest.fixture(scope="module")
def of_the_slow_twin(near: Path) -> dict[str, float]:
    """Return each calibration protein's distance to the nearest one of another family."""
    known = NOVELTY_FILES.read(near / "novelty.json").reference
    with (near / "clusters.tsv").open() as handle:
        family = {row["id"]: row["cluster"] for row in csv.DictReader(handle, delimiter="\t")}
    found = {}
    for id_, point in zip(known.ids, known.points, strict=True):
        others = [
            float(np.float32(np.sqrt(((point - other) ** 2).sum())))
            for name, other in zip(known.ids, known.points, strict=True)
            if family[name] != family[id_]
        ]
        found[id_] = min(others)
    return found


def test_distance_is_offered_where_novelty_is_and_missing_by_name_elsewhere(near: Path) -> None:
    assert features_of("near.json")["distance"] == ""
    assert features_of("events.json")["distance"] == "needs what credence novelty wrote"


@pytest.mark.long
def test_events_learnt_with_distances_have_the_same_bytes_again(near: Path) -> None:
    assert events(*LEARNT) == 0
    assert Path("other.json").read_bytes() == Path("near.json").read_bytes()


def test_calibration_proteins_leave_their_own_family_out(
    near: Path, of_the_slow_twin: dict[str, float]
) -> None:
    mean = np.mean(list(of_the_slow_twin.values()))
    model = EVENTS_FILES.read(near / "near.json").model
    assert model.features[-1] == "distance"
    for entry in model.events:
        assert isinstance(entry.forecast, LogisticForecast)
        assert entry.forecast.scaling.mean[-1] == pytest.approx(mean, rel=1e-6)


def test_annotate_takes_the_distances_that_it_writes(near: Path) -> None:
    assert annotate(*NEAR, "--out", "near.tsv") == 0
    assert annotate("--events", "events.json", "--out", "plain.tsv") == 0
    rows, plain = rows_of("near.tsv"), rows_of("plain.tsv")
    distance = np.array([float(row["calibration_distance"]) for row in rows])
    confidence = np.array([float(row["confidence"]) for row in plain])
    predictions = read_samples(near / "my_phages.csv", TableSpec(format="phanns")).predictions
    model = EVENTS_FILES.read(near / "near.json").model
    stated, _ = model.probabilities(model.evidence(predictions, distance), confidence)
    for name, values in zip(NAMES, stated, strict=True):
        assert [float(row[f"event_{name}"]) for row in rows] == pytest.approx(values, abs=1e-8)
    assert [row["event_tail"] for row in plain] != [row["event_tail"] for row in rows]


def test_distances_that_are_not_given_are_asked_for(
    near: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert refused(capsys, annotate("--events", "near.json", "--out", "none.tsv")) == (
        "near.json: its events need the distance to the nearest calibration protein. Give "
        "--novelty and --proteins, or learn them without --novelty."
    )
    other = ["--events", "near.json", "--novelty", "alone.json", "--proteins", "my_phages.fasta"]
    assert refused(capsys, annotate(*other, "--out", "none.tsv")) == (
        "alone.json: the events of near.json were learnt with another novelty file. Learn them "
        "again with this one."
    )
    assert not Path("none.tsv").exists()


@pytest.mark.long
def test_events_agree_with_a_method_that_asks_where_proteins_lie(
    near: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = ["calibration.csv", "--format", "phanns-labelled", *CLUSTERS]
    words = ["fit", *table, "--novelty", "novelty.json", "--method", "macest", "--resamples", "0"]
    assert run_command_line([*words, "--out", "m.json"]) == 0
    assert refused(capsys, events(*CLUSTERS, "--calibration", "m.json")) == (
        "calibration.csv: the distances of its proteins to known ones are not given, and 'macest' "
        "needs the score of every class, and where each protein lies among the others. Give "
        "--novelty: the file from credence novelty."
    )
    given = [*CLUSTERS, "--novelty", "novelty.json", "--calibration", "m.json"]
    assert events(*given, out="placed.json") == 0
    message = ["--calibration", "m.json", "--format", "phanns", *NEAR[2:], "--out", "placed.tsv"]
    asked = ["annotate", "--shift", "none", "my_phages.csv", "--events", "placed.json", *message]
    assert run_command_line(asked) == 0
    for row in rows_of("placed.tsv"):
        assert row["event_predicted_class"] == row["confidence"] != ""
        assert float(row["event_two_best"]) >= float(row["confidence"])


def test_novelty_of_other_proteins_is_refused(
    near: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = Path("calibration.csv").read_text().splitlines()
    renamed = [lines[0], *(re.sub(r"_(\d+),", r"_9000\1,", line, count=1) for line in lines[1:])]
    Path("renamed.csv").write_text("\n".join(renamed) + "\n")
    words = ["renamed.csv", "--format", "phanns-labelled", "--ask", "two_best", *QUICK]
    code = run_command_line(["events", *words, "--novelty", "novelty.json", "--out", "none.json"])
    assert refused(capsys, code) == (
        "novelty.json: it has no distance for any protein of renamed.csv. Give the file from "
        "credence novelty of the same proteins."
    )
    assert not Path("none.json").exists()
