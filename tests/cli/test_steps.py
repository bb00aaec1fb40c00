"""What Snakemake says of jobs that fail, here and on a cluster."""

from __future__ import annotations

import errno
import os
import shlex
import shutil
import signal
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from credence import progress
from credence.app import causes, doctor
from credence.app.run import Scheduled, StepPrinter, _explain

BEGINS = """\
rule {rule}:
    input: a
    output: b
    log: results/r/logs/{rule}.log
    jobid: {job}
"""
FAILS = """\
Error in rule {rule}:
    message: {message}
    jobid: {job}
    input: a
    output: b
    log: {log} (check log file(s) for error details)
    shell:
        credence {rule}
        (command exited with non-zero exit code)
"""
ENDS = """\
Finished jobid: {job} (Rule: {rule})
3 of 9 steps (33%) done
"""
TIMED_OUT = (
    "SLURM-job '14' failed, SLURM status is: 'TIMEOUT'. For further error details see the "
    "cluster/cloud log and the log files of the involved rule(s)."
)


def seen(*texts: str) -> StepPrinter:
    steps = StepPrinter(verbose=False)
    for text in texts:
        for line in text.splitlines(keepends=True):
            steps.see(line)
    return steps


def test_a_failed_rule_is_known_with_its_log() -> None:
    fails = FAILS.format(rule="fit", job=4, message="None", log="results/r/logs/fit.log")
    steps = seen(BEGINS.format(rule="fit", job=4), fails)
    assert steps.failures == {("fit", "results/r/logs/fit.log"): None}


def test_on_a_cluster_the_log_of_the_scheduler_is_another() -> None:
    log = "results/r/logs/fit.log, /home/me/.snakemake/slurm_logs/rule_fit/14.log"
    fails = FAILS.format(rule="fit", job=4, message=TIMED_OUT, log=log)
    steps = seen(BEGINS.format(rule="fit", job=4), fails)
    stated = Scheduled(TIMED_OUT, "/home/me/.snakemake/slurm_logs/rule_fit/14.log")
    assert steps.failures == {("fit", "results/r/logs/fit.log"): stated}


def test_a_job_that_went_well_at_the_second_attempt_did_not_fail() -> None:
    parts = [
        text.format(rule=rule, job=job, message="None", log=f"{rule}.log")
        for job, rule in (("4", "fit"), ("5", "shift"))
        for text in (BEGINS, FAILS)
    ]
    again = BEGINS.format(rule="fit", job=4), ENDS.format(rule="fit", job=4)
    assert list(seen(*parts, *again).failures) == [("shift", "shift.log")]


WILDCARDS = "    wildcards: use_set=use\n"


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Return the seconds that a clock shows, to be set."""
    now = [100.0]
    monkeypatch.setattr(progress, "time", SimpleNamespace(monotonic=lambda: now[0]))
    return now


def test_a_log_is_told_after_a_while_what_is_at_work_and_how_far_it_is(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    clock: list[float],
) -> None:
    monkeypatch.chdir(tmp_path)
    log = tmp_path / "results/r/logs/evaluate.log"
    log.parent.mkdir(parents=True)
    log.write_text("a line\nevaluate: 12 of 30 steps of this part, about 40 s left\n")
    begun = [BEGINS.format(rule=rule, job=job) for rule, job in (("evaluate", 4), ("shift", 5))]
    steps = seen("Job stats:\ntotal          10\n", begun[0])
    clock[0] += 20
    for line in (begun[1] + WILDCARDS).splitlines(keepends=True):
        steps.see(line)
    steps.shown.show()  # nothing yet: most jobs have ended by then
    assert capsys.readouterr().err == ""
    clock[0] += 10
    steps.shown.show()
    steps.shown.show()
    assert capsys.readouterr().err == (
        "[0/9] at work: evaluate, 30 s (12 of 30 steps of this part, about 40 s left); "
        "shift use, 10 s\n"
    )
    clock[0] += 29
    for line in ENDS.format(rule="shift", job=5).splitlines(keepends=True):
        steps.see(line)
    clock[0] += 29
    log.write_text("a.csv: 24 of 24 proteins: a calibration protein has this id.\n")
    steps.shown.show()  # less than 30 seconds after the last line
    clock[0] += 1
    steps.shown.show()
    for line in FAILS.format(rule="evaluate", job=4, message="None", log="e.log").splitlines():
        steps.see(line)
    clock[0] += 60
    steps.shown.show()  # what failed is not at work
    assert capsys.readouterr().err == (
        "[3/8] shift use: done in 39.0 s\n[3/8] at work: evaluate, 89 s\n"
    )


def test_a_terminal_shows_at_each_look_what_is_at_work_in_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], clock: list[float]
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", "30")
    steps = seen(BEGINS.format(rule="fit", job=4) + WILDCARDS)
    clock[0] += 1
    steps.shown.show()
    steps.see(BEGINS.format(rule="evaluate", job=5).splitlines()[0])
    steps.see("    jobid: 5")
    clock[0] += 1
    with steps.shown:
        steps.shown.show()
    clear = "\r\x1b[2K"
    assert capsys.readouterr().err == (
        f"{clear}at work: fit use, 1 s{clear}at work: fit use, 2 s; evalu…{clear}"
    )


def failed(rule: str, log: str, scheduled: Scheduled | None = None, *lines: str) -> StepPrinter:
    """Return what is known of a run of which one rule failed."""
    steps = seen(*lines)
    steps.failures[rule, log] = scheduled
    return steps


def test_what_killed_a_job_from_outside_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "14.log").write_text("slurmstepd: error: *** JOB 14 CANCELLED DUE TO TIME ***\n")
    rule, absent = str(tmp_path / "fit.log"), str(tmp_path / "15.log")
    shown_text = Scheduled("It took too long.", str(tmp_path / "14.log"))
    assert _explain(failed("fit", rule, shown_text)) == 1
    assert capsys.readouterr().err == (
        f"\nRule fit failed. Its log, {rule}, says:\nnothing.\n"
        f"It took too long. Its log, {tmp_path}/14.log, ends:\n"
        "slurmstepd: error: *** JOB 14 CANCELLED DUE TO TIME ***\n"
    )
    assert _explain(failed("fit", rule, Scheduled("It went.", absent))) == 1
    assert capsys.readouterr().err.endswith(f"Its log, {absent}, ends:\nwithout a word.\n")


def test_what_a_user_can_fix_is_shown_as_without_a_scheduler(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "check.log"
    log.write_text("a.csv: it is empty.\nFix this and run the command again.\n")
    shown_text = []
    for scheduled in (None, Scheduled("It failed.", str(tmp_path / "14.log"))):
        assert _explain(failed("check", str(log), scheduled)) == 2
        shown_text.append(capsys.readouterr().err)
    assert shown_text[0] == shown_text[1]
    assert shown_text[0].endswith("a.csv: it is empty.\nFix this and run the command again.\n")


END = "Command 'set -euo pipefail;  credence fit 2> {log}' {how}.\n"
LESS = (
    "Give fewer --cores, close other programs, or take a machine with more memory. "
    "Run the command again: what was finished is kept.\n"
)
FIX = "Fix this and run the command again.\n"


@pytest.fixture
def much_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(causes, "memory_of", lambda: 3 << 30)


@pytest.mark.parametrize(
    "how", ["returned non-zero exit status 137", "died with <Signals.SIGKILL: 9>"]
)
@pytest.mark.parametrize("name", ["fit.log", "a fit.log"])
@pytest.mark.usefixtures("much_memory")
def test_a_worker_that_was_killed_is_put_down_to_memory_and_not_to_a_bug(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], how: str, name: str
) -> None:
    log = str(tmp_path / name)
    quoted = END.format(log=shlex.quote(log), how=how)
    assert _explain(failed("fit", log, None, quoted)) == 2
    assert capsys.readouterr().err == (
        f"\nRule fit failed. Its log, {log}, says:\nnothing.\nLikely cause:\n"
        "It was killed, as a rule because memory ran out; now 3.0 GiB are free. " + LESS + FIX
    )
    assert _explain(failed("fit", log, None, quoted), n_killed=2) == 2
    stated = capsys.readouterr().err
    assert "memory ran out; meanwhile this system ended 2 processes for it; now 3.0" in stated


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (signal.SIGTERM, "Somebody, or a limit of time, asked it to end."),
        (signal.SIGXCPU, "Raise the limit: ulimit -t unlimited"),
        (signal.SIGBUS, "Make room, check the disk."),
        (signal.SIGILL, "Run: credence doctor"),
    ],
)
def test_each_signal_that_ends_a_worker_has_its_remedy(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], number: signal.Signals, words: str
) -> None:
    log = tmp_path / "fit.log"
    log.write_text("Stopped.\n")
    end = END.format(log=log, how=f"returned non-zero exit status {128 + number}")
    assert _explain(failed("fit", str(log), None, end)) == 2
    stated = capsys.readouterr().err
    assert f"It ended by {number.name}. " in stated
    assert words in stated


def test_a_worker_that_crashed_is_a_bug_unless_its_memory_is_limited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    log = str(tmp_path / "fit.log")
    end = END.format(log=log, how=f"returned non-zero exit status {128 + signal.SIGSEGV}")
    assert _explain(failed("fit", log, None, end)) == 1
    capsys.readouterr()
    monkeypatch.setattr(causes.resource, "getrlimit", lambda _: (1 << 29, 1 << 29))
    assert _explain(failed("fit", log, None, end)) == 2
    stated = capsys.readouterr().err
    assert "A process may take 0.5 GiB. Allow more: ulimit -v unlimited\n" in stated


@pytest.mark.parametrize("written", ["", "Fatal: No space left on device\n"])
def test_a_log_that_a_full_disk_left_empty_is_put_down_to_the_disk(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    written: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("fit.log").write_text(written)
    usage = shutil.disk_usage

    def full(folder: Path) -> object:
        return SimpleNamespace(free=3 << 20) if folder == tmp_path else usage(folder)

    monkeypatch.setattr(doctor.shutil, "disk_usage", full)
    assert _explain(failed("fit", "fit.log")) == 2
    remedy = "Make room there, or name another folder (--directory)."
    cause = f"Likely cause:\n{tmp_path}, 0.0 GiB free. {remedy}\n"
    assert cause in capsys.readouterr().err


@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EDQUOT, errno.EROFS])
def test_a_quota_or_a_disk_that_takes_nothing_is_found_by_writing_to_it(
    monkeypatch: pytest.MonkeyPatch, error: int
) -> None:
    def refused(**_: object) -> None:
        raise OSError(error, "no")

    monkeypatch.setattr(doctor.tempfile, "TemporaryFile", refused)
    assert causes.likely_causes([])[0] == (
        f"{Path.cwd()} cannot be written to ({os.strerror(error)}). "
        "Make room there, or name another folder (--directory)."
    )
    assert causes.likely_causes(["KeyError: 'x'"]) == []


def test_a_snakemake_that_a_full_disk_ended_shows_the_cause_and_no_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(causes, "FOLDERS", {})  # what was on it is gone, and there is room
    steps = seen("Traceback\n", "OSError: [Errno 28] No space left on device\n")
    assert _explain(steps) == 2
    assert capsys.readouterr().err == (f"Likely cause:\nThe disk was full. Make room.\n{FIX}")
    assert _explain(seen("Traceback\n", "KeyError: 'x'\n")) == 1
    assert capsys.readouterr().err == "Traceback\nKeyError: 'x'\n"


@pytest.mark.parametrize("state", ["OUT_OF_MEMORY", "TIMEOUT", "NODE_FAIL", "CANCELLED"])
def test_how_a_cluster_ended_a_job_has_its_remedy(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], state: str
) -> None:
    words = TIMED_OUT.replace("TIMEOUT", state)
    log = str(tmp_path / "14.log")
    assert _explain(failed("fit", str(tmp_path / "fit.log"), Scheduled(words, log))) == 2
    assert (
        f"Likely cause:\nIt ended by {state}. {causes.ENDS[state]}\n{FIX}"
        in capsys.readouterr().err
    )


def test_processes_that_the_system_ended_for_memory_are_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = "pgfault 7\noom_kill 12\nnuma_hit 3\n"
    monkeypatch.setattr(causes.Path, "read_text", lambda *_: text)
    assert causes.killed_for_memory() == 12
    monkeypatch.setattr(causes.Path, "read_text", lambda *_: "pgfault 7\n")
    assert causes.killed_for_memory() == 0
