"""What a run shows of Snakemake's events, here and on a cluster."""

from __future__ import annotations

import logging
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from snakemake_interface_logger_plugins.common import LogEvent

from credence import progress
from credence.app import steps
from credence.app.run import ENDED, _explain
from credence.app.steps import Failure, LogHandler, read_notes
from credence.progress import RunProgress

TIMED_OUT = "SLURM-job '14' failed, SLURM status is: 'TIMEOUT'."


def record(event: LogEvent | None, text: str = "", level: int = logging.INFO, **facts: Any) -> Any:
    made = logging.LogRecord("snakemake", level, "", 0, text, (), None)
    vars(made).update(facts, event=event)
    return made


def begins(job: int, rule: str, **wildcards: str) -> Any:
    facts = {"jobid": job, "rule_name": rule, "wildcards": wildcards, "log": [f"{rule}.log"]}
    return record(LogEvent.JOB_INFO, **facts)


def fails(job: int, rule: str, *further: str, words: str | None = None) -> Any:
    facts = {"jobid": job, "rule_name": rule, "rule_msg": words, "log": [f"{rule}.log", *further]}
    return record(LogEvent.JOB_ERROR, level=logging.ERROR, **facts)


def ends(job: int, done: int, total: int) -> list[Any]:
    return [
        record(LogEvent.JOB_FINISHED, job_id=job),
        record(LogEvent.PROGRESS, done=done, total=total),
    ]


@pytest.fixture
def notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "notes"
    path.touch()
    monkeypatch.setenv(steps.NOTES, str(path))
    return path


def handed(*records: Any) -> None:
    handler = LogHandler(SimpleNamespace(), None)
    for entry in records:
        handler.emit(entry)
    handler.close()


def failure(rule: str, *further: str, words: str = "") -> Failure:
    return Failure(rule=rule, logs=[f"{rule}.log", *further], words=words)


def test_a_step_that_is_done_is_a_line_and_the_rule_that_gathers_all_is_none(
    notes: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    handed(
        begins(2, "fit", release="00-base", method="kernel"), *ends(2, 1, 3),
        begins(3, "report"), *ends(3, 2, 3), begins(0, "all"), *ends(0, 3, 3),
    )  # fmt: skip
    shown = capsys.readouterr().err
    assert shown == ("[1/2] fit 00-base kernel: done in 0.0 s\n[2/2] report: done in 0.0 s\n")
    assert read_notes(notes) == ([], [])


def test_a_failed_job_is_known_with_its_log_and_that_of_a_scheduler(notes: Path) -> None:
    handed(begins(4, "fit"), fails(4, "fit", "slurm/14.log", words=TIMED_OUT))
    assert read_notes(notes)[0] == [failure("fit", "slurm/14.log", words=TIMED_OUT)]


def test_a_job_that_went_well_at_the_second_attempt_did_not_fail(notes: Path) -> None:
    handed(
        begins(4, "fit"), fails(4, "fit"), begins(5, "shift"), fails(5, "shift"),
        begins(4, "fit"), *ends(4, 1, 3), fails(5, "shift"),
    )  # fmt: skip
    assert read_notes(notes)[0] == [failure("shift")]


def test_an_error_of_snakemake_itself_is_kept_and_what_it_says_besides_is_not(
    notes: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    handed(
        record(None, "Building DAG of jobs..."),
        record(LogEvent.ERROR, "OSError: no space left on device", logging.ERROR),
        record(None, "Nothing to be done (all requested files are present and up to date)."),
    )
    assert read_notes(notes) == ([], ["OSError: no space left on device"])
    assert capsys.readouterr().err == (
        "Nothing to be done (all requested files are present and up to date).\n"
    )


def test_all_that_snakemake_writes_is_shown_where_that_is_asked_for(
    notes: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(steps.VERBOSE, "yes")
    handed(record(None, "Building DAG of jobs..."))
    assert capsys.readouterr().err == "Building DAG of jobs...\n"


@pytest.mark.parametrize(
    ("written", "is_fixable", "after"),
    [
        ("a.csv: it is empty.\nFix this and run the command again.\n", True, ""),
        ("Traceback (most recent call last):\nKeyError: 'x'\n", False, ""),
        ("Stopped by SIGTERM.\n", True, f"{ENDED}\nFix this and run the command again.\n"),
        ("", True, f"{ENDED}\nFix this and run the command again.\n"),
    ],
    ids=["the user's", "a bug", "ended", "killed"],
)
@pytest.mark.usefixtures("notes")
def test_the_log_of_a_job_says_whether_the_user_can_fix_it(
    written: str, is_fixable: bool, after: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("fit.log").write_text(written)
    assert _explain(failure("fit")) is is_fixable
    shown = written or "nothing.\n"
    assert capsys.readouterr().err == f"\nRule fit failed. Its log, fit.log, says:\n{shown}{after}"


@pytest.mark.usefixtures("notes")
def test_a_schedulers_log_and_words_follow_those_of_the_job(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("14.log").write_text("slurmstepd: error: *** JOB 14 CANCELLED DUE TO TIME ***\n")
    assert _explain(failure("fit", "14.log", words=TIMED_OUT))
    assert capsys.readouterr().err == (
        "\nRule fit failed. Its log, fit.log, says:\nnothing.\n"
        "\nThe scheduler's log, 14.log, says:\n"
        "slurmstepd: error: *** JOB 14 CANCELLED DUE TO TIME ***\n"
        f"{TIMED_OUT}\n{ENDED}\nFix this and run the command again.\n"
    )


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Return the seconds that a clock shows, to be set."""
    now = [100.0]
    monkeypatch.setattr(progress, "time", SimpleNamespace(monotonic=lambda: now[0]))
    return now


def test_a_log_is_told_after_a_while_what_is_at_work_and_how_far_it_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], clock: list[float]
) -> None:
    log = tmp_path / "evaluate.log"
    log.write_text("a line\nevaluate: 12 of 30 steps of this part, about 40 s left\n")
    shown = RunProgress()
    shown.total = 9
    shown.begin("4", "evaluate", str(log))
    clock[0] += 20
    shown.begin("5", "shift use", "")
    shown.show()  # nothing yet: most jobs have ended by then
    assert capsys.readouterr().err == ""
    clock[0] += 10
    shown.show()
    shown.show()
    assert capsys.readouterr().err == (
        "[0/9] at work: evaluate, 30 s (12 of 30 steps of this part, about 40 s left); "
        "shift use, 10 s\n"
    )
    clock[0] += 29
    shown.done = 3
    shown.end("5")
    clock[0] += 29
    log.write_text("a.csv: 24 of 24 proteins: a calibration protein has this id.\n")
    shown.show()  # less than 30 seconds after the last line
    clock[0] += 1
    shown.show()
    shown.end("4", is_done=False)
    clock[0] += 60
    shown.show()  # what failed is not at work
    assert capsys.readouterr().err == (
        "[3/9] shift use: done in 39.0 s\n[3/9] at work: evaluate, 89 s\n"
    )


def test_a_terminal_shows_at_each_look_what_is_at_work_in_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], clock: list[float]
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", "30")
    shown = RunProgress()
    shown.begin("4", "fit use", "")
    clock[0] += 1
    shown.show()
    shown.begin("5", "evaluate", "")
    clock[0] += 1
    shown.show()
    clear = "\r\x1b[2K"
    assert capsys.readouterr().err == (
        f"{clear}at work: fit use, 1 s{clear}at work: fit use, 2 s; evalu…"
    )
