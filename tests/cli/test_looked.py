"""That somebody looked at each class's figure by eye: recorded with a digest and a given date."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from credence.app import run_command_line
from credence.app.configuration import load
from credence.app.editing import with_look
from credence.findings import Findings, Look
from credence.report.page_data import report_record
from credence.report.sections.publish import figures_digest, methods_text
from credence.stages.report import _with_run
from credence.tables.document import parse_document
from credence.tables.writing import write_json

REMEDY = "Name the folder of a report that this version made: reports/NAME."


@pytest.fixture
def report(small: Findings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return the digest of a report's figures, the report being in the folder `lab`."""
    monkeypatch.chdir(tmp_path)
    Path("lab").mkdir()
    write_json(Path("lab/report.json"), report_record(small))
    return figures_digest(small)


def test_who_looked_is_printed_with_the_digest_of_the_figures_and_the_day_given(
    report: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["check", "--looked", "lab", "--by", "A. Nowak", "--date", "2026-11-28"]
    assert run_command_line(words) == 0
    assert capsys.readouterr().out == (
        f'looked:\n  by: "A. Nowak"\n  date: "2026-11-28"\n  figures: {_plain(report)}\n'
    )


def _plain(digest: str) -> str:
    return digest if digest[0].isalpha() else f'"{digest}"'


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--looked", "lab", "--date", "2026-11-28"), "--by: nobody is named. Give --by NAME."),
        (("--looked", "lab", "--by", "A"), "--date: no day is given. Write it as 2026-11-28."),
        (
            ("--looked", "lab", "--by", "A", "--date", "28.11.26"),
            "--date: '28.11.26' is no date. Write it as 2026-11-28.",
        ),
        (
            ("--looked", "none", "--by", "A", "--date", "2026-11-28"),
            f"none: there is no such file. {REMEDY}",
        ),
        (
            ("--looked", "odd.json", "--by", "A", "--date", "2026-11-28"),
            f"odd.json: it is not the record of a report. {REMEDY}",
        ),
        (
            ("scores.csv", "--looked", "lab", "--by", "A", "--date", "2026-11-28"),
            "--looked: 'scores.csv' is no configuration. Name one configuration, or none.",
        ),
        ((), "CONFIG|TABLE: nothing to check is named. Name a file."),
    ],
)
def test_what_is_missing_is_refused(
    report: str, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], message: str
) -> None:
    Path("odd.json").write_text('{"kind": 1}')
    assert run_command_line(["check", *words]) == 2
    assert capsys.readouterr().err == f"{message}\nFix this and run the command again.\n"


def test_a_configuration_keeps_its_comments_and_what_it_said_before_is_replaced() -> None:
    look = {"by": "A. Nowak", "date": "2026-11-28", "figures": "ab" * 32}
    text = "run: lab  # a name\nlooked: null  # who\ntitle: x\n"
    once = with_look(text, look, "config.yaml")
    assert once.startswith("run: lab  # a name\ntitle: x\nlooked:\n")
    again = with_look(once, look | {"by": "B"}, "config.yaml")
    assert again.count("looked:") == 1
    assert parse_document(again, "").data["looked"] == look | {"by": "B"}


def test_the_text_for_publications_says_who_looked_or_that_nobody_did(small: Findings) -> None:
    def said(look: Look | None) -> str:
        provenance = replace(small.provenance, looked=look)
        return " ".join(methods_text(replace(small, provenance=provenance)))

    look = Look(by="A. Nowak", date="2026-11-28", figures=figures_digest(small))
    advised = "as is advised [1]"
    assert (
        f"It is not recorded that anybody checked the curve of each class by eye, {advised}."
        in said(None)
    )
    assert (
        f"The curve of each class was checked by eye, {advised}, by A. Nowak (2026-11-28)."
        in said(look)
    )
    assert (
        f"A. Nowak checked curves by eye, {advised}, on 2026-11-28; since then they have changed, "
        "and it is not recorded that anybody checked these." in said(replace(look, figures="0"))
    )


def test_a_look_is_written_into_the_configuration_of_the_run_and_handed_to_the_page(
    report: str, capsys: pytest.CaptureFixture[str]
) -> None:
    root = Path(__file__).resolve().parents[2]
    text = (root / "config.yaml").read_text("utf-8").replace("run: demo", "run: small", 1)
    Path("config.yaml").write_text(text, "utf-8")
    words = ["check", "config.yaml", "--looked", "lab", "--by", "A. Nowak", "--date", "2026-11-28"]
    assert run_command_line(words) == 0
    assert capsys.readouterr().err == (
        "Wrote config.yaml: A. Nowak looked at the figures on 2026-11-28. Run again: "
        "credence run.\n"
    )
    look = {"by": "A. Nowak", "date": "2026-11-28", "figures": report}
    assert json.loads(load("config.yaml").report_json)["looked"] == look
    Path("config.yaml").write_text(text.replace("run: small", "run: other", 1), "utf-8")
    assert run_command_line(words) == 2
    assert capsys.readouterr().err == (
        "config.yaml: it is of the run 'other', and lab/report.json of 'small'. Name the "
        "configuration of that run.\nFix this and run the command again.\n"
    )


def test_the_page_of_a_run_says_who_looked(small: Findings) -> None:
    look = {"by": "A. Nowak", "date": "2026-11-28", "figures": figures_digest(small)}
    said = " ".join(methods_text(_with_run(small, {"looked": look})))
    assert "by A. Nowak (2026-11-28)." in said
    assert "It is not recorded that anybody" in " ".join(
        methods_text(_with_run(small, {"looked": None}))
    )
