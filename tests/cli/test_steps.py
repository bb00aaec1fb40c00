"""What Snakemake says of jobs that fail, here and on a cluster."""

from __future__ import annotations

from pathlib import Path

import pytest

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


def test_what_killed_a_job_from_outside_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "14.log").write_text("slurmstepd: error: *** JOB 14 CANCELLED DUE TO TIME ***\n")
    rule, absent = str(tmp_path / "fit.log"), str(tmp_path / "15.log")
    shown_text = Scheduled("It took too long.", str(tmp_path / "14.log"))
    assert _explain({("fit", rule): shown_text}) == 1
    assert capsys.readouterr().err == (
        f"\nRule fit failed. Its log, {rule}, says:\nnothing.\n"
        f"It took too long. Its log, {tmp_path}/14.log, ends:\n"
        "slurmstepd: error: *** JOB 14 CANCELLED DUE TO TIME ***\n"
    )
    assert _explain({("fit", rule): Scheduled("It went.", absent)}) == 1
    assert capsys.readouterr().err.endswith(f"Its log, {absent}, ends:\nwithout a word.\n")


def test_what_a_user_can_fix_is_shown_as_without_a_scheduler(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "check.log"
    log.write_text("a.csv: it is empty.\nFix this and run the command again.\n")
    shown_text = []
    for scheduled in (None, Scheduled("It failed.", str(tmp_path / "14.log"))):
        assert _explain({("check", str(log)): scheduled}) == 2
        shown_text.append(capsys.readouterr().err)
    assert shown_text[0] == shown_text[1]
    assert shown_text[0].endswith("a.csv: it is empty.\nFix this and run the command again.\n")
