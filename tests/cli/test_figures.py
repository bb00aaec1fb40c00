from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path

import pytest

from credence import __version__
from credence.app import run_command_line
from credence.findings import Findings
from credence.records import signed


@pytest.fixture
def findings(small: Findings, tmp_path: Path) -> Path:
    path = tmp_path / "findings.json"
    path.write_text(json.dumps(signed(small)))
    return path


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as handle:
        return list(csv.DictReader(handle, delimiter="\t"))


def test_each_figure_comes_in_all_formats_and_widths_with_its_numbers(
    findings: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "figures"
    words = ["figures", "--findings", str(findings), "--out", str(out), "--only", "9"]
    assert run_command_line(words) == 0
    assert capsys.readouterr().err == f"Wrote 1 figure to {out}\n"
    assert sorted(path.name for path in out.iterdir()) == [
        *(f"09-confidence-174mm.{ending}" for ending in ("pdf", "png", "svg")),
        *(f"09-confidence-85mm.{ending}" for ending in ("pdf", "png", "svg")),
        "09-confidence.tsv",
        "figures.tsv",
    ]
    (row,) = rows_of(out / "figures.tsv")
    assert row["caption"].startswith("Confidence of kernel over the score, class by class")
    assert set(row["files"].split()) == {p.name for p in out.iterdir()} - {"figures.tsv"}


def test_figures_that_findings_do_not_allow_are_named_with_what_they_need(
    findings: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "figures"
    words = ["--out", str(out), "--formats", "svg", "--columns", "one"]
    assert run_command_line(["figures", "--findings", str(findings), *words]) == 0
    stated = capsys.readouterr().err
    assert (
        "Figure 13 (bandwidth): Not made. It needs kernel(bandwidth=loo) among the methods, "
        "which the findings lack.\n"
    ) in stated
    assert stated.endswith(f"Wrote 13 figures to {out}\n")
    rows = {row["figure"]: row for row in rows_of(out / "figures.tsv")}
    assert len(rows) == 18
    assert [rows["13"]["files"], rows["17"]["note"]] == ["", ""]


def test_all_that_is_wrong_is_said_at_once_and_nothing_is_written(
    findings: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "figures"
    words = ["--out", str(out), "--only", "2,relibility", "--formats", "pdf,jpeg"]
    assert run_command_line(["figures", "--findings", str(findings), *words]) == 2
    assert capsys.readouterr().err == (
        "--formats: there is no format 'jpeg'. Known are: pdf, svg, png.\n"
        "--only: there is no figure '2'. Known are: 01a, 01b, 01c, 03, 04, 05, 06, 07, 08, 09, "
        "10, 11, 12, 13, 14, 15, 17, 18.\n"
        "--only: there is no figure 'relibility'. Did you mean 'reliability'?\n"
        "Fix this and run the command again.\n"
    )
    assert not out.exists()


def test_a_figure_asked_for_that_cannot_be_made_is_refused(
    findings: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "figures"
    words = ["--out", str(out), "--only", "09,bandwidth"]
    assert run_command_line(["figures", "--findings", str(findings), *words]) == 2
    assert capsys.readouterr().err == (
        f"{findings}: figure 13 needs kernel(bandwidth=loo) among the methods, which is not in "
        "it. Leave 13 out of --only.\nFix this and run the command again.\n"
    )
    assert not out.exists()


def test_a_file_that_is_no_findings_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "report.json"
    path.write_text('{"schema": "credence/report/1"}')
    words = ["figures", "--findings", str(path), "--out", str(tmp_path / "figures")]
    assert run_command_line(words) == 2
    assert capsys.readouterr().err == (
        f"{path}, column 'schema': 'credence/report/1' is not 'credence/findings/3', the only one "
        f"that credence {__version__} reads. Give findings.json of a finished run.\n"
        "Fix this and run the command again.\n"
    )


def test_a_class_named_like_a_formula_is_safe_in_a_spreadsheet(
    small: Findings, tmp_path: Path
) -> None:
    counting = tuple(replace(entry, class_name="=1+1") for entry in small.results.counting[:1])
    found = replace(small, results=replace(small.results, counting=counting))
    path = tmp_path / "findings.json"
    path.write_text(json.dumps(signed(found)))
    out = tmp_path / "figures"
    words = ["--out", str(out), "--only", "counting", "--formats", "svg"]
    assert run_command_line(["figures", "--findings", str(path), *words]) == 0
    assert {row["class"] for row in rows_of(out / "06-counting.tsv")} == {"'=1+1"}
