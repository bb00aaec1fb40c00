"""Tied scores, and proteins of a query set that calibrate: found, counted and named."""

from __future__ import annotations

from pathlib import Path

import pytest

from credence.app import run_command_line
from credence.confidence import NOTE_TEXTS, Note
from small_worlds import rows_of

Stated = pytest.CaptureFixture[str]
ID, SEQUENCE, TIED = (NOTE_TEXTS[flag] for flag in (Note.SAME_ID, Note.SAME_SEQUENCE, Note.TIED))
RESIDUES = "ACDEFGHIKLMNPQRSTVWY"
WIDE = ["--format", "wide", "--spec", '{"columns": {"id": "id"}, "scale": 1}']


def sequence(number: int) -> str:
    return "M" + RESIDUES[number % 20] * 20 + RESIDUES[number // 20] * 9


def write(name: str, rows: list[str], fasta: dict[str, int]) -> None:
    Path(f"{name}.csv").write_text("\n".join(rows) + "\n")
    text = "".join(f">{id_}\n{sequence(number)}\n" for id_, number in fasta.items())
    Path(f"{name}.fasta").write_text(text)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with a calibration set of 40 and a query set that shares some of it."""
    monkeypatch.chdir(tmp_path)
    names = [f"p{row}" if row else "17" for row in range(40)]
    known = ["id,true_class,Portal,Collar"]
    known += [
        f"{id_},{'Portal' if row % 4 else 'Collar'},0.8,0.2" for row, id_ in enumerate(names)
    ]
    write("known", known, {id_: row for row, id_ in enumerate(names)})
    # p3 as it was; q with the sequence of p5; 17, a mere number, with another; r is new and tied.
    use = ["id,Portal,Collar", "p3,0.8,0.2", "q,0.7,0.3", "17,0.6,0.4", "r,0.5,0.5"]
    write("use", use, {"p3": 3, "q": 5, "17": 90, "r": 91})
    return tmp_path


def fit(*words: str) -> None:
    spec = '{"columns": {"id": "id", "true_class": "true_class"}, "scale": 1}'
    table = ["fit", "known.csv", "--format", "wide", "--spec", spec, "--resamples", "0"]
    assert run_command_line([*table, "--method", "class_only", *words, "--out", "c.json"]) == 0


def annotated(capsys: Stated, *words: str) -> tuple[dict[str, str], list[str]]:
    capsys.readouterr()
    table = ["annotate", "--shift", "none", "use.csv", *WIDE, "--calibration", "c.json", *words]
    assert run_command_line([*table, "--out", "conf.tsv"]) == 0
    notes = {row["id"]: row["note"] for row in rows_of("conf.tsv")}
    stated = capsys.readouterr().err.splitlines()
    return notes, [line for line in stated if " of 4 proteins: " in line]


def test_tied_scores_and_proteins_that_calibrate_pass_no_longer_without_a_word(
    folder: Path, capsys: Stated
) -> None:
    fit("--proteins", "known.fasta")
    notes, stated = annotated(capsys, "--proteins", "use.fasta")
    assert notes == {"p3": f"{ID}; {SEQUENCE}", "q": SEQUENCE, "17": "", "r": TIED}
    assert stated == [
        f"conf.tsv: 1 of 4 proteins: {TIED}.",
        f"conf.tsv: 1 of 4 proteins: {ID}.",
        f"conf.tsv: 2 of 4 proteins: {SEQUENCE}.",
    ]


def test_without_sequences_proteins_are_found_by_their_ids(folder: Path, capsys: Stated) -> None:
    fit()
    notes, _ = annotated(capsys)
    assert notes == {"p3": ID, "q": "", "17": "", "r": TIED}
    capsys.readouterr()
    table = [
        "annotate",
        "--shift",
        "none",
        "use.csv",
        *WIDE,
        "--calibration",
        "c.json",
        "--out",
        "conf.tsv",
    ]
    assert run_command_line([*table, "--proteins", "use.fasta"]) == 0
    assert (
        "c.json: it does not keep the sequences of its calibration set, so those of them that are "
        "in this table are not noticed.\n"
    ) in capsys.readouterr().err


def test_check_names_how_many_proteins_calibrate(folder: Path, capsys: Stated) -> None:
    fit("--proteins", "known.fasta")
    capsys.readouterr()
    words = ["check", "use.csv", *WIDE, "--calibration", "c.json", "--proteins", "use.fasta"]
    assert run_command_line(words) == 0
    assert capsys.readouterr().err == (
        "use.csv: 1 row has two best scores; the first class in order counts.\n"
        f"use.csv: 1 of 4 proteins: {ID}.\n"
        f"use.csv: 2 of 4 proteins: {SEQUENCE}.\n"
    )


def test_check_of_a_configuration_names_them_too(folder: Path, capsys: Stated) -> None:
    Path("config.yaml").write_text(
        "run: mine\n"
        "calibration_set:\n"
        "  scores: known.csv\n  format: wide\n  scale: 1\n  proteins: known.fasta\n"
        "  columns: {id: id, true_class: true_class}\n"
        "queries:\n"
        "  - {name: my_phages, scores: use.csv, format: wide, columns: {id: id},"
        " proteins: use.fasta}\n"
    )
    assert run_command_line(["check", "config.yaml"]) == 0, capsys.readouterr().err
    stated = capsys.readouterr().out
    assert f"use.csv: 1 of 4 proteins: {ID}.\n" in stated
    assert f"use.csv: 2 of 4 proteins: {SEQUENCE}.\n" in stated


def test_ids_in_another_spelling_are_found_and_both_are_named(
    folder: Path, capsys: Stated
) -> None:
    fit()
    rows = [
        "id,Portal,Collar",
        "p3.1,0.8,0.2",
        "P4,0.7,0.3",
        "sp|p5|NAME,0.6,0.4",
        "p\u200b6,.9,.1",
    ]
    Path("use.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    notes, stated = annotated(capsys)
    like = NOTE_TEXTS[Note.LIKE_ID]
    assert notes == {
        "p3.1": f"{like} ('p3.1' here, 'p3' there)",
        "P4": f"{like} ('P4' here, 'p4' there)",
        "sp|p5|NAME": f"{like} ('sp|p5|NAME' here, 'p5' there)",
        "p\u200b6": f"{like} ('p\\u200b6' here, 'p6' there)",
    }
    assert stated == [f"conf.tsv: 4 of 4 proteins: {like}."]
