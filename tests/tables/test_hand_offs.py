"""Files that one stage writes and another reads: nothing else than what was written is read."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import refusals
from credence.app import run_command_line
from credence.calibrators.method_spec import parse_method
from credence.calibrators.protocol import FitOptions
from credence.predictions import Labelled, from_scores, label
from credence.records import DIGEST, base64_of, digest_of, read_json, read_record, signed
from credence.relatives.cdhit import parse_clstr
from credence.sets.conformal import fit_sets
from credence.stages.report import summarise_file
from credence.tables.contract import NOT_QUICKLY, read_confidences, stream_confidences
from credence.tables.digests import sha256_of
from credence.tables.document import read_document
from credence.tables.formats import TableSpec
from credence.tables.npz import read_vectors
from credence.tables.samples import read_samples
from credence.tables.stage_files import (
    HELD_OUT_FILES,
    NOVELTY_FILES,
    CalibrationFile,
    HeldOutFile,
    checksum_of,
    labelled_digest,
    read_calibration,
    read_held_out_file,
    write_calibration,
)
from credence.tables.text import require_file
from credence.tables.writing import write_record

AGAIN = "Make it again."


@dataclass(frozen=True)
class Part:
    share: float
    names: tuple[str, ...]


@dataclass(frozen=True)
class Whole:
    part: Part
    n: int


@pytest.fixture
def written(tmp_path: Path) -> Path:
    path = tmp_path / "record.json"
    write_record(path, Whole(part=Part(0.5, ("a", "b")), n=3))
    return path


@pytest.fixture(scope="module")
def labelled() -> Labelled:
    rng = np.random.default_rng(3)
    scores = np.round(rng.dirichlet([1.0, 1.0, 1.0], 60) * 10, 2)
    ids = np.array([f"p{row}" for row in range(60)], dtype=object)
    return label(from_scores(ids, ("a", "b", "c"), scores, 10.0, 0.01), rng.integers(0, 3, 60))


def refusal(read: Callable[[], object]) -> str:
    return refusals.refusal(read)


def read_again(path: Path, text: str) -> str:
    """Return how a record with this text is refused, the folder left out."""
    path.write_text(text)
    stated = refusal(lambda: read_record(Whole, path, AGAIN))
    return stated.replace(str(path), "record.json")


def test_a_record_comes_back_as_it_was_written(written: Path) -> None:
    assert read_record(Whole, written, AGAIN) == Whole(part=Part(0.5, ("a", "b")), n=3)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("0.5", "0.75", ": its digest does not fit its content: the file was changed after it was "
         "written."),
        ('"a", "b"', '"a"', ": its digest does not fit its content: the file was changed after it "
         "was written."),
        ('"sha256"', '"sha255"', ", column 'sha256': it is missing."),
        ("0.5", "Infinity", ", column 'part.share': Infinity is no value for it."),
        ("0.5", "NaN", ", column 'part.share': NaN is no value for it."),
        ("0.5", "1e999", ", column 'part.share': Infinity is no value for it."),
        ('"share"', '"shore"', ", column 'part.share': it is missing."),
        ("0.5", "[" * 200 + "]" * 200, ": this is no record of credence (it is nested without "
         "end)."),
        ('"b"', '"\\ud800"', ": this is no record of credence (a text in it holds half a "
         "character)."),
    ],
)  # fmt: skip
def test_a_record_that_was_changed_in_any_way_is_refused(
    written: Path, old: str, new: str, message: str
) -> None:
    text = written.read_text()
    assert old in text
    assert read_again(written, text.replace(old, new, 1)) == f"record.json{message} {AGAIN}"


def test_a_record_of_more_brackets_than_python_follows_is_refused(written: Path) -> None:
    stated = read_again(written, "[" * 100_000)
    assert (
        stated == f"record.json: this is no record of credence (it is nested without end). {AGAIN}"
    )


@pytest.fixture
def pipe(tmp_path: Path) -> Iterator[Path]:
    """Return a pipe to which nobody writes; who opens it is stopped after some seconds."""
    path = tmp_path / "pipe"
    os.mkfifo(path)

    def stop(number: int, frame: object) -> None:
        raise AssertionError("it waits for somebody to write")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(20)
    yield path
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize(
    "read",
    [
        read_calibration,
        NOVELTY_FILES.read,
        sha256_of,
        require_file,
        read_document,
        read_vectors,
        lambda path: read_json(path, AGAIN),
        lambda path: read_held_out_file(path, None, {}),
    ],
)
def test_a_pipe_is_refused_and_not_waited_for(pipe: Path, read: Callable[[Path], Any]) -> None:
    assert refusal(lambda: read(pipe)) == (
        f"{pipe}: this is no file but a pipe or a device, which cannot be read twice. "
        "Save it as a file, and give the path of that."
    )


def test_annotate_refuses_a_calibration_that_is_a_pipe(
    pipe: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = pipe.with_name("t.csv")
    table.write_text("id,a,b\np,1,0\n")
    words = ["annotate", str(table), "--calibration", str(pipe), "--out", f"{pipe}.tsv"]
    assert run_command_line(words) == 2
    assert "this is no file but a pipe or a device" in capsys.readouterr().err


@pytest.fixture
def held_out(tmp_path: Path, labelled: Labelled) -> Path:
    path = tmp_path / "h.json"
    values = np.linspace(0.0, 1.0, labelled.n_samples)
    file = HeldOutFile(
        method="kernel", set=labelled_digest(labelled), facts={"folds": 3}, confidence=values
    )
    HELD_OUT_FILES.write(path, file)
    return path


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"confidence": base64_of(np.full(60, 0.5), "float64")}, "its content was changed"),
        ({"confidence": ["x"] * 60}, "its content was changed"),
    ],
    ids=["other confidences", "texts"],
)
def test_held_out_confidences_that_were_changed_are_refused(
    held_out: Path, labelled: Labelled, change: dict[str, Any], message: str
) -> None:
    assert read_held_out_file(held_out, labelled, {"folds": 3}).method == "kernel"
    held_out.write_text(json.dumps(json.loads(held_out.read_text()) | change))
    assert refusal(lambda: read_held_out_file(held_out, labelled, {"folds": 3})) == (
        f"{held_out}: {message} after it was written. {HELD_OUT_FILES.again}"
    )


def test_held_out_numbers_of_other_proteins_are_not_judged(
    held_out: Path, labelled: Labelled
) -> None:
    file = HELD_OUT_FILES.read(held_out)
    for confidence in (file.confidence[:3], file.confidence[:, None]):
        HELD_OUT_FILES.write(held_out, replace(file, confidence=confidence))
        assert "it is damaged: it has numbers of other proteins" in refusal(
            lambda: read_held_out_file(held_out, labelled, {"folds": 3})
        )


@pytest.mark.parametrize(
    "read",
    [
        read_confidences,
        read_vectors,
        lambda path: summarise_file("use", path, None, "kernel"),
        lambda path: read_samples(path, TableSpec(format="wide")),
    ],
)
def test_a_parquet_table_whose_column_names_are_no_texts_is_refused(
    tmp_path: Path, read: Callable[[Path], Any]
) -> None:
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"id": ["a"], "abcd": [0.5]}), path, store_schema=False)
    path.write_bytes(path.read_bytes().replace(b"abcd", b"abc\xdb"))
    assert f"{path}: " in refusal(lambda: read(path))


@pytest.fixture
def calibration(tmp_path: Path, labelled: Labelled) -> Path:
    path, method = tmp_path / "c.json", parse_method("class_only", "test")
    file = CalibrationFile(
        method_spec="class_only",
        class_names=("a", "b", "c"),
        scale=10.0,
        resolution=0.01,
        counts={"n": 60, "relatives": "unknown"},
        calibration=method.build(FitOptions(n_draws=5)).fit(labelled),
        sets=fit_sets(labelled),
    )
    write_calibration(path, file)
    return path


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda body: body["counts"].update(n="many"),
            ", column 'counts.n': 'many' is no value for it.",
        ),
        (
            lambda body: body["counts"].update(n=2**63),
            ", column 'counts.n': 9223372036854775808 is no value for it.",
        ),
        (
            lambda body: body["calibration"]["classes"]["a"]["counts"].update(n="many"),
            ", column 'calibration.classes.a.counts.n': \"many\" is no value for it.",
        ),
        (
            lambda body: body["sets"]["classes"][0].update(strangeness=[]),
            ", column 'sets.classes[0]': it is damaged (its steps do not go up one by one).",
        ),
        (
            lambda body: body["sets"].update(level=2.0),
            ", column 'sets': it is damaged (2 is no level).",
        ),
        (
            lambda body: body["sets"]["classes"].pop(),
            ", column 'sets': it is damaged (the sets are not of these classes).",
        ),
        (
            lambda body: body.update(scale=float("inf")),
            ", column 'scale': Infinity is no value for it.",
        ),
    ],
    ids=[
        "counts",
        "too large",
        "counts of a class",
        "sets cut short",
        "level",
        "a class less",
        "no end of scale",
    ],
)
def test_a_calibration_whose_parts_are_no_whole_names_the_part(
    calibration: Path, change: Callable[[dict[str, Any]], object], message: str
) -> None:
    body = json.loads(calibration.read_text())
    change(body)
    calibration.write_text(json.dumps(body | {"checksum": checksum_of(body)}))
    assert refusal(lambda: read_calibration(calibration)) == (
        f"{calibration}{message} Fit the calibration again with credence fit."
    )


def test_a_calibration_with_a_number_too_large_to_write_is_refused(calibration: Path) -> None:
    text = calibration.read_text()
    calibration.write_text(text.replace('"scale": 10.0', '"scale": 1e999'))
    assert "its checksum does not fit its content" in refusal(
        lambda: read_calibration(calibration)
    )


def test_parquet_confidences_with_a_column_twice_are_not_read_quickly(tmp_path: Path) -> None:
    from credence.tables.contract import CONFIDENCE_NAMES

    arrays = [pa.array(["x"]) for _ in CONFIDENCE_NAMES]
    path = tmp_path / "c.parquet"
    names = list(CONFIDENCE_NAMES)
    pq.write_table(pa.Table.from_arrays([*arrays, arrays[0]], [*names, names[0]]), path)
    with pytest.raises(NOT_QUICKLY):
        list(stream_confidences(path))


SCALE = "Give a number above 0 and of at most 1e+12."
LIKE = 'Write settings like {"format": "phanns"}.'


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ('{"synonyms": ["a"]}', ", column 'synonyms': [\"a\"] is not a group of settings. "
         "Give a group of settings."),
        ('{"pooling": null}', ", column 'pooling': null is not text. Give text.\n"
         "--spec, column 'pooling': null is not allowed. Known are: sum, log_sum."),
        ('{"scale": 1e308}', f", column 'scale': 1e+308 is out of range. {SCALE}"),
        ('{"scale": 1e999}', f", column 'scale': inf is out of range. {SCALE}"),
        (f'{{"scale": 1{"0" * 400}}}',
         f", column 'scale': 1{'0' * 38}… is out of range. {SCALE}"),
        ('{"columns": {"classes": "x"}}', ", column 'columns.classes': 'x' is not a list. "
         "Give a list."),
        ("[" * 100_000, f": '{'[' * 38}… cannot be read: it is nested without end. {LIKE}"),
        ('{"scale": 1', f": '{{\"scale\": 1' is not JSON. {LIKE}"),
    ],
    ids=["list", "null", "huge", "infinite", "long", "text", "brackets", "cut short"],
)  # fmt: skip
def test_how_a_table_is_read_is_checked_as_the_configuration_is(
    tmp_path: Path, spec: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    table = tmp_path / "t.csv"
    table.write_text("id,a,b\np,1,0\n")
    assert run_command_line(["check", str(table), "--spec", spec]) == 2
    stated = f"--spec{message}\nFix this and run the command again.\n"
    assert capsys.readouterr().err == stated


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ('{"pattern": 5}', "labels.pattern': 5 is not text or null. Give text or null."),
        ('{"table": 3}', "labels.table': 3 is not text or null. Give text or null."),
    ],
)
def test_where_labels_are_is_checked_as_the_configuration_is(
    tmp_path: Path, labels: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    table = tmp_path / "t.csv"
    table.write_text("id,a,b\np,1,0\n")
    words = ["check", str(table), "--format", "wide", "--spec", '{"scale": 1}', "--labels", labels]
    assert run_command_line(words) == 2
    assert f"--labels, column '{message}\n" in capsys.readouterr().err


def test_what_is_said_of_a_run_has_its_types(
    tmp_path: Path, small: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "findings.json"
    write_record(path, small)
    words = ["report", str(path), "--settings", '{"title": 5}', "--out", str(tmp_path / "i.html")]
    assert run_command_line(words) == 2
    assert capsys.readouterr().err == (
        "--settings, column 'title': 5 is no value for it. "
        'Write it like {"run": "lab", "title": "Lab"}.\nFix this and run the command again.\n'
    )


def test_a_page_is_not_made_of_findings_that_were_edited(
    tmp_path: Path, small: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "findings.json"
    write_record(path, small)
    record = json.loads(path.read_text())
    record["results"]["class_names"] = record["results"]["class_names"][:1]  # broke the page
    path.write_text(json.dumps(record))
    assert run_command_line(["report", str(path), "--out", str(tmp_path / "i.html")]) == 2
    assert capsys.readouterr().err == (
        f"{path}: its digest does not fit its content: the file was changed after it was written. "
        "Evaluate again: credence evaluate.\nFix this and run the command again.\n"
    )


def test_the_digest_of_a_record_is_of_all_but_itself() -> None:
    record = signed(Whole(part=Part(0.5, ()), n=3))
    assert record[DIGEST] == digest_of({"part": {"share": 0.5, "names": []}, "n": 3})
    assert signed(replace(Whole(part=Part(0.5, ()), n=3), n=4))[DIGEST] != record[DIGEST]


def test_a_cluster_whose_member_has_no_name_is_refused() -> None:
    stated = refusal(lambda: parse_clstr([">Cluster 0", "0\t9aa, > ... *"], "c.clstr"))
    assert "c.clstr, line 2: '0\\t9aa, > ... *' is no member." in stated
