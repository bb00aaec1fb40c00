"""A table of another version of the tool is noticed where its numbers are read."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from verification.in_memory import draw_labelled

import credence
from credence.app import run_command_line
from credence.composition.sameness import RUNNER_UP, Sketch
from credence.confidence import NOTE_TEXTS, Note
from credence.evaluation.verdict import verdict_of
from credence.findings import Findings
from credence.predictions import Predictions, from_scores
from credence.records import read_record
from credence.simulate.law import WorldSettings
from credence.tables.samples import Samples, write_samples

CHANGED = NOTE_TEXTS[Note.CHANGED]
SPEC = ["--format", "credence", "--spec", '{"scale": 10}']


def written(path: str, predictions: Predictions, true_class: object = None) -> None:
    n = predictions.n_samples
    none = np.zeros(0, dtype=object)
    write_samples(
        Path(path),
        Samples(
            predictions=predictions,
            true_class=true_class,
            lines=np.arange(n) + 2,
            unscored_ids=none,
            unscored_lines=np.zeros(0, dtype=np.int64),
        ),  # type: ignore[arg-type]
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a calibration, a table like it, and one whose vectors are softened."""
    home = tmp_path_factory.mktemp("same")
    settings = WorldSettings(n_calibration=3_000)
    known = draw_labelled(settings, np.random.default_rng(0))
    use = draw_labelled(replace(settings, n_calibration=600), np.random.default_rng(1)).predictions
    soft = np.sqrt(np.asarray(use.scores))
    soft = np.round(10.0 * soft / soft.sum(axis=1, keepdims=True), 2)
    written(str(home / "known.parquet"), known.predictions, known.true_class)
    written(str(home / "use.parquet"), use)
    changed = from_scores(use.ids, use.class_names, soft, 10.0, 0.01)
    written(str(home / "soft.parquet"), changed)
    words = ["fit", str(home / "known.parquet"), "--method", "class_only", "--resamples", "0"]
    assert run_command_line([*words, "--sets", "none", *SPEC, "--out", str(home / "c.json")]) == 0
    return home


def annotated(folder: Path, table: str, *more: str) -> list[str]:
    """Return the notes of a table that is annotated."""
    out = folder / f"{table}.tsv"
    words = ["annotate", str(folder / f"{table}.parquet"), "--calibration", str(folder / "c.json")]
    assert run_command_line([*words, *SPEC, *more, "--out", str(out)]) == 0
    header, *rows = (line.split("\t") for line in out.read_text().splitlines())
    return [row[header.index("note")] for row in rows]


def test_a_softened_table_is_noted_in_every_row_and_named(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert all(CHANGED in note for note in annotated(folder, "soft"))
    stated = capsys.readouterr().err
    assert "soft.parquet: its scores differ from those in calibration: " in stated
    assert "another version of the tool, or other proteins" in stated


def test_a_table_of_the_same_classifier_has_no_such_note(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert not any(CHANGED in note for note in annotated(folder, "use"))
    assert "another version" not in capsys.readouterr().err


def test_a_calibration_without_a_sketch_says_so(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    known = credence.load(folder / "c.json")
    older = replace(known, file=replace(known.file, sketch=None))
    credence.save(older, folder / "older.json")
    # The class alone needs no scores, so nothing is missing.
    annotated(folder, "use", "--name", "use")
    assert "sketch" not in capsys.readouterr().err
    assert credence.load(folder / "older.json").file.sketch is None


def test_from_python_a_softened_table_is_noted_too(folder: Path) -> None:
    calibration = credence.load(folder / "c.json")
    for name, is_noted in (("soft", True), ("use", False)):
        table = credence.read(folder / f"{name}.parquet", format="credence")
        notes = credence.annotate(table, calibration)["note"]
        assert (CHANGED in str(notes[0])) == is_noted


def test_what_was_seen_of_the_table_of_a_correction_is_not_stated_of_another(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record = str(folder / "shift.json")
    words = [*SPEC, "--calibration", str(folder / "c.json")]
    words += [
        "--resamples",
        "5",
        "--record",
        record,
        "--out",
        str(folder / "class_proportions.tsv"),
    ]
    for made_of, other in (("use", "soft"), ("soft", "use")):
        assert run_command_line(["shift", str(folder / f"{made_of}.parquet"), *words]) == 0
        assert any(CHANGED in note for note in annotated(folder, other, "--shift", record)) == (
            other == "soft"
        )


def test_fit_and_check_say_that_labels_stand_beside_other_proteins(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    known = draw_labelled(WorldSettings(n_calibration=1_000), np.random.default_rng(3))
    order = np.random.default_rng(4).permutation(known.n_samples)
    table = str(folder / "shifted.parquet")
    written(table, known.predictions, known.true_class[order])
    stated = f"{table}: the scores tell nothing about the classes: "
    words = ["fit", table, "--method", "class_only", "--resamples", "0", "--sets", "none", *SPEC]
    assert run_command_line([*words, "--out", str(folder / "none.json")]) == 0
    assert stated in capsys.readouterr().err
    assert run_command_line(["check", table, "--labelled", *SPEC]) == 0
    assert stated in capsys.readouterr().err
    # The verdict is made of it.
    words = ["evaluate", table, "--calibration", str(folder / "none.json"), *SPEC]
    found = folder / "found.json"
    assert run_command_line([*words, "--folds", "2", "--out", str(found)]) == 0
    verdict = verdict_of(read_record(Findings, found, "Evaluate again."))
    assert ("rows", "not to be used") in [(one.name, one.state) for one in verdict.checks]
    capsys.readouterr()
    assert run_command_line(["check", str(folder / "known.parquet"), "--labelled", *SPEC]) == 0
    assert "tell nothing" not in capsys.readouterr().err


def test_check_names_the_network_whose_rows_are_in_another_order(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    use = draw_labelled(WorldSettings(n_calibration=500), np.random.default_rng(5)).predictions
    own = np.asarray(use.scores) / np.asarray(use.scores).sum(axis=1, keepdims=True)
    networks = np.repeat(own[:, None], 4, axis=1)
    for name, moved in (("right", False), ("moved", True)):
        if moved:
            networks[:, 1] = np.roll(networks[:, 1], 250, axis=0)
        sums = networks.sum(axis=1)
        held = from_scores(use.ids, use.class_names, sums, 4.0, 0.0, network_scores=networks)
        written(str(folder / f"{name}.parquet"), held)
        table = str(folder / f"{name}.parquet")
        words = ["check", table, "--format", "credence", "--spec", '{"scale": 4}']
        assert run_command_line(words) == 0
        stated = capsys.readouterr().err
        assert (
            "network 2 of 4 disagrees with the others far more than they do" in stated
        ) == moved
        assert "network 1 of 4" not in stated


def test_a_sketch_that_lacks_which_class_comes_second_is_named(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    known = credence.load(folder / "c.json")
    sketch = known.file.sketch
    assert sketch is not None
    features = tuple(part for part in sketch.features if part.name != RUNNER_UP)
    older = replace(known, file=replace(known.file, sketch=Sketch(features=features)))
    credence.save(older, folder / "nameless.json")
    capsys.readouterr()
    table, out = str(folder / "use.parquet"), str(folder / "nameless.tsv")
    words = ["annotate", table, "--calibration", str(folder / "nameless.json"), *SPEC]
    assert run_command_line([*words, "--out", out]) == 0
    assert (
        f"{folder / 'nameless.json'}: it does not keep how often each class comes second after "
        "each other one, so columns under wrong names are not noticed here. Compare the header of "
        "your table with that of the calibrated one.\n"
    ) in capsys.readouterr().err
