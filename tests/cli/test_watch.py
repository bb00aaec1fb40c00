"""A log of annotated samples: a line each, whole or as it was, and when to recalibrate."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pandas as pd
import pytest

from credence.app import run_command_line
from credence.confidence import NOTE_TEXTS, Note
from small_worlds import call_here

WORDS = ["--calibration", "k.json", "--log", "watch.tsv"]


@pytest.fixture
def annotated(inside: Path, confidences: Path) -> Path:
    for log in inside.glob("watch*"):
        log.unlink()
    return inside


def watch(table: str, date: str, *more: str) -> int:
    return run_command_line(["watch", table, "--date", date, *WORDS, *more])


def sampled(name: str, seed: int, **changed: str) -> str:
    table = pd.read_csv("conf.tsv", sep="\t", dtype=str, keep_default_na=False)
    table = table.sample(30, random_state=seed).assign(**changed)
    table.to_csv(name, sep="\t", index=False)
    return name


def test_a_line_says_what_the_sample_held(
    annotated: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert watch("conf.tsv", "2026-01-05") == 0
    conf, log = pd.read_csv("conf.tsv", sep="\t"), pd.read_csv("watch.tsv", sep="\t")
    assert log.proteins.tolist() == [len(conf)]
    assert log.accepted[0] == pytest.approx((conf.decision == "accept").mean())
    assert log.flagged.isna().all()
    counted = log.filter(like="predicted_").iloc[0]
    wanted = conf.predicted_class.value_counts()
    assert {name.removeprefix("predicted_"): n for name, n in counted.items() if n} == dict(wanted)
    shown = capsys.readouterr().err
    assert "watch.tsv: no alarm in 1 sample. That is no proof" in shown
    assert "watch.tsv: flagged proteins are not known: annotate with --novelty." in shown


def test_the_same_sample_again_is_the_same_line_and_another_date_is_refused(
    annotated: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert watch("conf.tsv", "2026-01-05") == 0
    assert watch(sampled("part.tsv", 1), "2026-01-05") == 0
    before = Path("watch.tsv").read_bytes()
    assert watch("conf.tsv", "2026-01-05") == 0
    assert Path("watch.tsv").read_bytes() == before
    capsys.readouterr()
    assert watch("conf.tsv", "2026-02-05") == 2
    assert capsys.readouterr().err.startswith(
        "--date: in watch.tsv this table has the date '2026-01-05', not '2026-02-05'. "
        "Give that date, or remove that line first."
    )
    assert Path("watch.tsv").read_bytes() == before


def test_a_table_annotated_again_in_its_place_is_the_same_line(annotated: Path) -> None:
    for seed in (1, 2):
        assert watch(sampled("part.tsv", seed), "2026-01-05") == 0
    assert len(pd.read_csv("watch.tsv", sep="\t")) == 1
    assert watch("part.tsv", "2026-01-05") == 0
    assert len(pd.read_csv("watch.tsv", sep="\t")) == 1


def test_what_its_rows_state_of_the_whole_table_is_repeated(
    annotated: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    unlike = NOTE_TEXTS[Note.CHANGED]
    assert watch(sampled("part.tsv", 1, note=unlike), "2026-01-05") == 0
    assert f"part.tsv: 30 of 30 rows have the note: {unlike}.\n" in capsys.readouterr().err


def test_confidences_that_the_calibration_does_not_give_are_refused(
    annotated: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    same = {"lower": "0.1", "confidence": "0.123", "upper": "0.2"}
    assert watch(sampled("part.tsv", 1, **same), "2026-01-05") == 2
    assert "0.123 is the confidence of" in capsys.readouterr().err
    assert not Path("watch.tsv").exists()


def test_another_mix_and_what_is_flagged_are_alarms_with_their_class(
    annotated: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # Without a confidence, since that would be one of another class.
    novel = {"novelty_p": "0.001", "note": NOTE_TEXTS[Note.NOVEL], "predicted_class": "Portal"}
    novel |= dict.fromkeys(("confidence", "lower", "upper"), "")
    for month in range(1, 12):
        changed = novel if month > 9 else {"novelty_p": "1"}
        name = sampled(f"sample_{month}.tsv", month, **changed)
        assert watch(name, f"2026-{month:02}-01") == 0
        assert ("recalibrate now" in capsys.readouterr().err) == (month > 9)
    assert watch(name, "2026-11-01", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["is_due"]
    assert found["classes"] == ["Portal"]
    assert {reason["subject"] for reason in found["reasons"]} == {"mix", "flagged"}
    assert {reason["since"] for reason in found["reasons"]} == {"2026-10-01"}


def test_lines_by_another_calibration_stay_and_are_named(
    annotated: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert watch("conf.tsv", "2026-01-05") == 0
    log = pd.read_csv("watch.tsv", sep="\t")
    older = log.assign(calibration="old.json", calibration_sha256="0", predicted_Ancient=3)
    older.drop(columns="predicted_Portal").to_csv("watch.tsv", sep="\t", index=False)
    assert watch("conf.tsv", "2026-01-06") == 0
    assert "watch.tsv: 1 sample by k.json; 1 by others: old.json." in capsys.readouterr().err
    both = pd.read_csv("watch.tsv", sep="\t").set_index("calibration")
    assert both.predicted_Ancient.to_dict()["old.json"] == 3
    assert both.predicted_Portal.isna().to_dict() == {"old.json": True, "k.json": False}


@pytest.mark.parametrize(
    ("date", "log", "message"),
    [
        ("5.1.2026", "", "--date: '5.1.2026' is not a date. Write it like 2026-11-21."),
        ("2026-02-30", "", "--date: '2026-02-30' is not a date. Write it like 2026-11-21."),
        ("2026-01-05", "id\tcluster\na\tb\n", "watch.tsv, line 1, column 'date': the column is"),
        ("2026-01-05", "date\t" * 13, "watch.tsv, line 1, column 'table': the column is missing."),
    ],
)
def test_what_is_no_date_or_no_log_is_refused(
    annotated: Path, capsys: pytest.CaptureFixture[str], date: str, log: str, message: str
) -> None:
    if log:
        Path("watch.tsv").write_text(log)
    assert watch("conf.tsv", date) == 2
    assert message in capsys.readouterr().err
    assert not Path("watch.tsv").exists() or Path("watch.tsv").read_text() == log


def test_a_line_without_a_date_is_named(
    annotated: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert watch("conf.tsv", "2026-01-05") == 0
    text = Path("watch.tsv").read_text()
    Path("watch.tsv").write_text(text.replace("2026-01-05", "January"))
    assert watch("conf.tsv", "2026-01-05") == 2
    assert (
        "watch.tsv, line 2, column 'date': 'January' is not a date. Write it like 2026-11-21."
        in capsys.readouterr().err
    )


def test_a_table_of_another_method_is_refused(
    annotated: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert watch(sampled("other.tsv", 1, method="beta"), "2026-01-05") == 2
    shown = capsys.readouterr().err
    assert "other.tsv, column 'method': its confidences are of 'beta', not of 'kernel'." in shown
    assert not Path("watch.tsv").exists()


@pytest.mark.long
def test_two_that_write_at_once_leave_both_lines(annotated: Path) -> None:
    names = [sampled(f"half_{number}.tsv", number) for number in range(4)]

    def add(name: str) -> int:
        words = ["watch", name, "--date", "2026-01-05", *WORDS]
        return call_here(annotated, *words).returncode

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(add, names)) == [0, 0, 0, 0]
    assert sorted(pd.read_csv("watch.tsv", sep="\t").table) == names


def test_a_shipped_calibration_has_its_name_in_the_log_not_where_it_lies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names = "Major capsid,Minor capsid,Baseplate,Major tail,Minor tail,Portal,Tail fiber"
    head = f",{names},Tail shaft,Collar,HTJ,Other,Confidence\n"
    Path("web.csv").write_text(head + "g1,9.50" + ",0.00" * 9 + ",0.50,0.9\n")
    words = ["--calibration", "phanns-web"]
    assert run_command_line(["annotate", "web.csv", *words, "--out", "conf.tsv"]) == 0
    words += ["--date", "2026-01-05", "--log", "watch.tsv"]
    assert run_command_line(["watch", "conf.tsv", *words]) == 0
    assert pd.read_csv("watch.tsv", sep="\t").calibration.tolist() == ["phanns-web"]
