"""Query sets summed up for the page: piece by piece, exact, in any order of rows."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from verification.in_memory import summarise_query_set

from credence.app import run_command_line
from credence.confidence import NOTE_TEXTS, Confidence, Note, note_text
from credence.findings import Findings, Setting
from credence.predictions import Predictions
from credence.problems import InputError
from credence.stages.report import (
    query_set_notices,
    require_corrected_alike,
    summarise_file,
    with_truth,
)
from credence.tables import contract
from credence.tables.contract import UNSCORED_NOTE, confidence_columns
from credence.tables.writing import write_record, write_table
from refusals import refusal

CLASSES = ("Portal", "=Tail fiber", "Collar")
N = 500


def predictions_and_confidence() -> tuple[Predictions, Confidence]:
    rng = np.random.default_rng(3)
    value = np.round(rng.uniform(0, 1, N), 2)  # many ties
    value[::50] = np.nan
    note = np.where(np.isnan(value), int(Note.UNSEEN_CLASS), 0)
    note[::7] |= int(Note.BELOW_RANGE)
    predictions = Predictions(
        ids=np.array([f"p{k}" for k in range(N)], dtype=object),
        class_names=CLASSES,
        scale=10.0,
        resolution=0.0,
        predicted_class=rng.integers(0, 3, N),
        top_score=np.round(rng.uniform(3, 10, N), 2),
    )
    support = np.ones(N)
    return predictions, Confidence(
        value=value, lower=value * 0.9, upper=value * 0.5 + 0.5, support=support, note=note
    )


def results_of(small: Findings):  # type: ignore[no-untyped-def]
    from dataclasses import replace

    return replace(small.results, class_names=CLASSES)


@pytest.mark.parametrize("ending", ["tsv", "tsv.gz", "parquet"])
@pytest.mark.parametrize("block_bytes", [2000, 1 << 20])
def test_a_table_in_pieces_gives_what_the_whole_gives(
    ending: str, block_bytes: int, small: Findings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(contract, "CSV_BLOCK_BYTES", block_bytes)
    predictions, confidence = predictions_and_confidence()
    expected = summarise_query_set("sea", "kernel", predictions, confidence)
    for number, order in enumerate((np.arange(N), np.arange(N)[::-1])):
        path = tmp_path / f"c{number}.{ending}"
        columns = confidence_columns(
            predictions.take(order),
            Confidence(**{name: column[order] for name, column in vars(confidence).items()}),
            "kernel",
        )
        write_table(path, columns, spreadsheet_safe=ending != "parquet")
        found = summarise_file("sea", path, results_of(small), "kernel")
        assert found.classes == expected.classes
        assert (found.counts, found.notes) == (expected.counts, expected.notes)


def line(*cells: object) -> str:
    return "\t".join(map(str, cells)) + "\n"


def row_of(*cells: object) -> str:
    return line(*cells, "check")


HEADER = line(
    *("id", "predicted_class", "score", "confidence", "lower", "upper", "support"),
    *("method", "note", "decision"),
)


def test_proteins_without_scores_are_counted_as_unknown(small: Findings, tmp_path: Path) -> None:
    path = tmp_path / "c.tsv"
    path.write_text(HEADER + row_of("p1", "", "", "", "", "", 0, "kernel", UNSCORED_NOTE))
    found = summarise_file("sea", path, results_of(small), "kernel")
    assert (found.n, found.n_unknown, found.notes) == (
        1,
        1,
        (Setting(name=UNSCORED_NOTE, value="1"),),
    )
    assert [entry.n for entry in found.classes] == [0, 0, 0]


def test_ties_and_proteins_that_calibrate_are_warnings_of_the_page(
    small: Findings, tmp_path: Path
) -> None:
    path = tmp_path / "c.tsv"
    note = note_text(Note.TIED | Note.SAME_ID | Note.BELOW_RANGE)
    path.write_text(
        HEADER
        + row_of("p1", "Portal", 5, 0.5, 0.4, 0.6, 3, "kernel", note)
        + row_of("p2", "Portal", 5, 0.5, 0.4, 0.6, 3, "kernel", note_text(Note.TIED))
    )
    notices = query_set_notices(summarise_file("sea", path, results_of(small), "kernel"))
    assert all(notice.is_warning for notice in notices)
    assert [notice.text for notice in notices] == [
        f"sea: 2 of 2 proteins: {NOTE_TEXTS[Note.TIED]}.",
        f"sea: 1 of 2 proteins: {NOTE_TEXTS[Note.SAME_ID]}.",
    ]


def test_confidences_that_were_not_corrected_are_not_shown_beside_a_correction(
    tmp_path: Path,
) -> None:
    from shift_findings import shift_finding

    plain, corrected = tmp_path / "plain.tsv", tmp_path / "corrected.tsv"
    plain.write_text(HEADER)
    corrected.write_text(HEADER.replace("decision", "decision\tuncorrected_confidence"))
    shift = shift_finding(name="sea")
    require_corrected_alike([("sea", str(corrected), ""), ("soil", str(plain), "")], [shift])
    assert refusal(
        require_corrected_alike, [("sea", str(plain), ""), ("soil", str(corrected), "")], [shift]
    ).replace(f"{tmp_path}/", "").splitlines() == [
        "plain.tsv: its confidences are not corrected for its class proportions: no column "
        "'uncorrected_confidence'. Annotate it with --shift, or leave --shift out.",
        "corrected.tsv: its confidences are corrected for class proportions; no --shift is of "
        "'soil'. Give --shift: the file of --record of credence shift --name soil.",
    ]


def test_a_class_unknown_to_the_findings_is_refused(small: Findings, tmp_path: Path) -> None:
    path = tmp_path / "c.tsv"
    path.write_text(HEADER + row_of("p1", "Portl", 5, 0.5, 0.4, 0.6, 3, "kernel", ""))
    assert refusal(summarise_file, "sea", path, results_of(small), "kernel") == (
        f"{path}, column 'predicted_class': 'Portl' is no class that is known here. "
        "Did you mean 'Portal'?"
    )


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (row_of("p2", "Portal", 5, "high", 0.4, 0.6, 3, "kernel", ""), "'high' is not a number"),
        (row_of("p2", "Portal", 5, 0.7, 0.4, 0.6, 3, "kernel", ""), "line 3"),
    ],
)
def test_a_damaged_table_is_told_with_its_line(
    row: str, message: str, small: Findings, tmp_path: Path
) -> None:
    path = tmp_path / "c.tsv"
    path.write_text(HEADER + row_of("p1", "Portal", 5, 0.5, 0.4, 0.6, 3, "kernel", "") + row)
    error = refusal(summarise_file, "sea", path, results_of(small), "kernel")
    assert message in error
    assert "line 3" in error


def test_every_note_has_a_text_of_its_own() -> None:
    # Texts are looked for inside the notes of a table, so none may hold another.
    texts = [*NOTE_TEXTS.values(), UNSCORED_NOTE]
    assert not [(a, b) for a in texts for b in texts if a != b and a in b]


def test_a_protein_without_an_id_is_refused_in_parquet_as_in_text(
    small: Findings, tmp_path: Path
) -> None:
    path = tmp_path / "c.parquet"
    write_table(path, confidence_columns(*predictions_and_confidence(), "kernel"))
    table = pq.read_table(path)
    ids = pa.array([None, *table["id"].to_pylist()[1:]])
    pq.write_table(table.set_column(table.column_names.index("id"), "id", ids), path)
    with pytest.raises(InputError, match="column 'id': the cell is empty"):
        summarise_file("sea", path, results_of(small), "kernel")
    no_class = pa.array([None, *table["predicted_class"].to_pylist()[1:]])
    pq.write_table(table.set_column(1, "predicted_class", no_class), path)
    found = summarise_file("sea", path, results_of(small), "kernel")
    assert sum(entry.n for entry in found.classes) == N - 1


def test_every_file_that_a_run_read_is_listed_with_its_digest(
    small: Findings, tmp_path: Path
) -> None:
    found, fasta, page = tmp_path / "f.json", tmp_path / "t.fasta", tmp_path / "index.html"
    write_record(found, small)
    fasta.write_text(">a\nMKV\n")
    words = ["report", str(found), "--read", "training proteins", str(fasta), "--out", str(page)]
    assert run_command_line(words) == 0
    assert hashlib.sha256(fasta.read_bytes()).hexdigest() in page.read_text(encoding="utf-8")


@pytest.fixture
def annotated(tmp_path: Path) -> Path:
    predictions, confidence = predictions_and_confidence()
    path = tmp_path / "confidences.tsv"
    write_table(path, confidence_columns(predictions, confidence, "kernel"), spreadsheet_safe=True)
    return path


def truth_table(folder: Path, lines: list[str]) -> str:
    path = folder / "truth.tsv"
    path.write_text("id\ttrue_class\n" + "".join(f"{line}\n" for line in lines), "utf-8")
    return str(path)


def test_right_predictions_are_counted_beside_what_was_promised(
    annotated: Path, small: Findings
) -> None:
    predictions, confidence = predictions_and_confidence()
    truth = np.random.default_rng(5).integers(0, 3, N)
    table = truth_table(annotated.parent, [f"p{k}\t{CLASSES[truth[k]]}" for k in range(N)])
    summary = summarise_file("sea", annotated, results_of(small), "kernel")
    found = with_truth(summary, annotated, table)
    for code, own in enumerate(found.classes):
        wanted = 0
        for row in range(N):
            is_known = not np.isnan(confidence.value[row])
            wanted += is_known and predictions.predicted_class[row] == code == truth[row]
        assert own.n_right == wanted
    assert with_truth(summary, annotated, None) == summary


STRANGE = (
    r"line 5, column 'true_class': 'Portl' is no class \(2 proteins, 'p3' first\). "
    r"Did you mean 'Portal'\?$"
)
TWO_LABELS = (
    r"line 5, column 'true_class': 'Portal;Other' holds several labels \(protein 'p3'\). "
    r"Give each the one class to judge by, or leave these proteins out.$"
)


@pytest.mark.parametrize(
    ("lines", "what"),
    [
        ([f"p{k}\tPortal" for k in range(N - 2)], "it lacks 2 proteins of sea, 'p498' first"),
        ([f"p{k}\t{'Portl' if k in (3, 7) else 'Portal'}" for k in range(N)], STRANGE),
        ([f"p{k}\t{'Portal;Other' if k == 3 else 'Portal'}" for k in range(N)], TWO_LABELS),
        ([f"p{k}\t{'' if k == 3 else 'Portal'}" for k in range(N)], "it lacks 1 proteins"),
    ],
)
def test_a_truth_of_other_proteins_or_classes_is_refused(
    lines: list[str], what: str, annotated: Path, small: Findings
) -> None:
    summary = summarise_file("sea", annotated, results_of(small), "kernel")
    with pytest.raises(InputError, match=what):
        with_truth(summary, annotated, truth_table(annotated.parent, lines))


def test_a_truth_in_other_capitals_counts_and_is_said(
    annotated: Path, small: Findings, capsys: pytest.CaptureFixture[str]
) -> None:
    summary = summarise_file("sea", annotated, results_of(small), "kernel")
    alike = with_truth(
        summary, annotated, truth_table(annotated.parent, [f"p{k}\tPortal" for k in range(N)])
    )
    capsys.readouterr()
    table = truth_table(annotated.parent, [f"p{k}\tPORTAL" for k in range(N)])
    assert with_truth(summary, annotated, table) == alike
    assert capsys.readouterr().err == (
        f"{table}: 'PORTAL' is taken for 'Portal': they differ in capital letters alone.\n"
    )
