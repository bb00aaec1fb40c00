from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from credence import __version__
from credence.app import run_command_line
from credence.findings import Findings
from credence.records import signed
from refusals import refused
from small_worlds import rows_of
from verification import figure_records


@pytest.fixture
def findings(small: Findings, tmp_path: Path) -> Path:
    path = tmp_path / "findings.json"
    path.write_text(json.dumps(signed(small)))
    return path


def test_each_figure_comes_in_all_formats_and_widths_with_its_numbers_and_caption(
    findings: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "figures"
    words = ["figures", "--findings", str(findings), "--out", str(out), "--only", "19"]
    assert run_command_line(words) == 0
    assert capsys.readouterr().err.endswith(f"Wrote 1 figure to {out}\n")
    assert sorted(path.name for path in out.iterdir()) == [
        *(f"19-confidence-174mm.{ending}" for ending in ("pdf", "png", "svg")),
        *(f"19-confidence-85mm.{ending}" for ending in ("pdf", "png", "svg")),
        "19-confidence.tsv",
        "19-confidence.txt",
        "figures.json",
        "figures.tsv",
    ]
    (row,) = rows_of(out / "figures.tsv")
    assert row["caption"].startswith("The confidence that is given out, class by class.")
    assert (out / "19-confidence.txt").read_text() == row["caption"] + "\n"
    assert set(row["files"].split()) == {p.name for p in out.iterdir()} - {
        "figures.tsv",
        "figures.json",
    }


def test_what_cannot_be_made_is_named_with_what_it_needs(
    findings: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "figures"
    words = ["--out", str(out), "--formats", "svg", "--columns", "one"]
    assert run_command_line(["figures", "--findings", str(findings), *words]) == 0
    stated = capsys.readouterr().err
    assert (
        "Figure 13 (bandwidth): Not made. It needs scores of the predicted classes, and a class "
        "with 10 predictions, right and wrong, which is not there.\n"
    ) in stated
    assert stated.endswith(f"Wrote 6 figures to {out}\n")
    rows = {row["figure"]: row for row in rows_of(out / "figures.tsv")}
    assert len(rows) == 23
    assert [rows["13"]["files"], rows["18"]["note"]] == ["", ""]


def test_all_that_is_wrong_is_said_at_once_and_nothing_is_written(
    findings: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "figures"
    words = ["--out", str(out), "--only", "20,relibility", "--formats", "pdf,jpeg"]
    assert refused(capsys, "figures", "--findings", str(findings), *words) == (
        "--formats: there is no format 'jpeg'. Known are: pdf, svg, png.\n"
        "--only: there is no figure '20'. Known are: 01a, 01b, 01c, 02, 03, 04, 05, 06, 07, 08, "
        "09, 10, 11, 12, 13, 14, 15, 16a, 16b, 17, 17b, 18, 19.\n"
        "--only: there is no figure 'relibility'. Did you mean 'reliability'?\n"
    )
    assert not out.exists()


def test_a_figure_asked_for_that_cannot_be_made_is_refused(
    findings: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "figures"
    words = ["--out", str(out), "--only", "19,bandwidth"]
    assert run_command_line(["figures", "--findings", str(findings), *words]) == 2
    assert capsys.readouterr().err.endswith(
        f"{findings}: figure 13 needs scores of the predicted classes, and a class with 10 "
        "predictions, right and wrong, which is not there. Leave 13 out of --only.\n"
        "Fix this and run the command again.\n"
    )
    assert not out.exists()


def test_neither_a_run_nor_records_or_both_are_refused(
    findings: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for words in ([], ["--findings", str(findings), "--records", str(findings)]):
        assert refused(capsys, "figures", "--out", str(tmp_path / "figures"), *words) == (
            "--findings: exactly one source of figures is needed. Give --findings of a run, or "
            "--records.\n"
        )


def test_counts_are_drawn_without_a_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [f"{name},{k},{k + 1},{2 * k + 1},{9 - k}" for name in "AB" for k in range(10)]
    table, records = tmp_path / "counts.csv", tmp_path / "records.json"
    table.write_text("class,score_above,score_to,right,wrong\n" + "\n".join(rows) + "\n")
    words = [str(table), "--format", "counts", "--scale", "10", "--out", str(records)]
    figure_records.main(words)
    out = tmp_path / "figures"
    words = ["figures", "--records", str(records), "--out", str(out), "--formats", "svg"]
    assert run_command_line([*words, "--only", "1c,9,17", "--columns", "one"]) == 0
    assert capsys.readouterr().err.endswith(f"Wrote 3 figures to {out}\n")
    shares = rows_of(out / "01c-reverse-confusion.tsv")
    assert [float(row["share"]) for row in shares if row["share"]] == [100 / 145] * 2
    assert not (out / "figures.json").exists()


def test_a_file_that_is_no_findings_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "report.json"
    path.write_text('{"schema": "credence/report/1"}')
    words = ["figures", "--findings", str(path), "--out", str(tmp_path / "figures")]
    assert refused(capsys, *words) == (
        f"{path}, column 'schema': 'credence/report/1' is not 'credence/findings/4', the only one "
        f"that credence {__version__} reads. Give findings.json of a finished run.\n"
    )


def test_a_class_named_like_a_formula_is_safe_in_a_spreadsheet(
    small: Findings, tmp_path: Path
) -> None:
    names = ("=1+1", *small.results.class_names[1:])
    found = replace(small, results=replace(small.results, class_names=names))
    path = tmp_path / "findings.json"
    path.write_text(json.dumps(signed(found)))
    out = tmp_path / "figures"
    words = ["--out", str(out), "--only", "1a", "--formats", "svg"]
    assert run_command_line(["figures", "--findings", str(path), *words]) == 0
    assert rows_of(out / "01a-counts.tsv")[0]["true_class"] == "'=1+1"
