"""Sentences of commands where there is little or nothing, and the places that messages name."""

from __future__ import annotations

from pathlib import Path

import pytest

from credence.app import run_command_line

SPEC = ("--spec", '{"format": "credence", "scale": 1}')


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Twelve proteins that are all predicted Portal, and all wrong; three more predicted Tail."""
    rows = "".join(f"p{n},Tail,0.5,0.3,0.2\n" for n in range(12))
    (tmp_path / "known.csv").write_text(f"id,true_class,Portal,Tail,Other\n{rows}")
    rows = "".join(f"u{n},0.2,0.5,0.3\n" for n in range(3))
    (tmp_path / "use.csv").write_text(f"id,Portal,Tail,Other\n{rows}")
    monkeypatch.chdir(tmp_path)
    fit = (
        "fit",
        "known.csv",
        *SPEC,
        "--method",
        "histogram",
        "--resamples",
        "0",
        "--out",
        "c.json",
    )
    assert run_command_line(fit) == 0
    return tmp_path


def said(capsys: pytest.CaptureFixture[str], *words: str) -> list[str]:
    capsys.readouterr()
    run_command_line(words)
    return capsys.readouterr().err.splitlines()


def test_thresholds_that_do_not_exist_are_not_counted(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("thresholds", "known.csv", *SPEC, "--precision", "0.9", "--out", "t.tsv")
    assert said(capsys, *words)[0] == (
        "Wrote t.tsv: 0 thresholds as estimated, 0 with a guarantee for new families at 95% "
        "certainty."
    )


def test_a_table_without_confidences_is_not_0_of_0_proteins(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("annotate", "use.csv", *SPEC, "--calibration", "c.json", "--out", "u.tsv")
    assert run_command_line(words) == 0
    for command in (("list", "u.tsv", "--error", "0.1"), ("plan", "u.tsv", "--number", "2")):
        found = said(capsys, *command, "--calibration", "c.json", "--out", "o.tsv")
        assert "Wrote o.tsv: no rows, since no protein has a confidence." in found
        assert "0 of 0" not in " ".join(found)


def test_help_says_how_nothing_is_written_here(capsys: pytest.CaptureFixture[str]) -> None:
    texts = []
    for command in ("fit", "shift", "annotate", "genomes"):
        run_command_line([command, "--help"])
        texts.append(" ".join(capsys.readouterr().out.split()))
    assert not any("null:" in text for text in texts)
    assert "none: no sets." in texts[0]
    assert "none: that of calibration." in texts[1]
    assert "in --settings: [] for none." in texts[2]
    assert "in --settings: [] for all but background." in texts[3]


def test_what_is_wrong_with_events_names_the_option(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("events", "known.csv", *SPEC, "--out", "e.json")
    named = '{"tails": ["Tial"], "Portal": ["Portal"]}'
    assert said(capsys, *words, "--ask", "each_class", "--named", named)[:2] == [
        "--named, column 'tails': there is no class 'Tial'. Did you mean 'Tail'?",
        "--named: two events are called 'Portal'. Give one another name.",
    ]


def test_the_column_of_genomes_is_not_called_true_class(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("g.tsv").write_text("id\tsample\nu0\tA\n")
    words = ("annotate", "use.csv", *SPEC, "--calibration", "c.json", "--out", "u.tsv")
    assert run_command_line(words) == 0
    words = ("genomes", "u.tsv", "--calibration", "c.json", "--genomes", "g.tsv", "--out", "o.tsv")
    message = "g.tsv, line 1: the column 'genome' is missing (genome). Known are: id, sample."
    assert message in said(capsys, *words)


def test_a_class_column_that_stands_twice_is_not_asked_to_be_itself(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("twice.csv").write_text("id,Portal,Tail,Tail,Other\nu0,0.5,0.2,0.2,0.1\n")
    words = ("annotate", "twice.csv", *SPEC, "--calibration", "c.json", "--out", "u.tsv")
    assert said(capsys, *words)[0] == (
        "twice.csv, line 1: 2 columns have the name 'Tail'. Give each column its own name."
    )
    assert not any("Did you mean" in line for line in said(capsys, *words))
