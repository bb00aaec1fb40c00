"""What Snakemake says, as one line a step."""

from __future__ import annotations

import re
import sys
import time
from dataclasses import dataclass

import click

JOB_BEGINS = re.compile(r"^(?:local)?rule (?P<rule>\w+):")
JOB_DETAIL = re.compile(r"^    (?P<key>jobid|wildcards): (?P<value>.+)")
JOB_ENDS = re.compile(r"^Finished jobid: (?P<id>\d+) \(Rule: (?P<rule>\w+)\)")
STEPS = re.compile(r"^(?P<done>\d+) of (?P<total>\d+) steps")
FAILED_RULE = re.compile(r"^Error in rule (?P<rule>\w+)")
# On a cluster the scheduler's own log follows that of the rule.
FAILED_LOG = re.compile(r"^\s+log: (?P<path>.+?)(?:, (?P<other>.+?))? \(check log file")
FAILED_SAYS = re.compile(r"^\s+message: (?P<text>SLURM.+)")
NOTHING = "Nothing to be done"
GATHERS = ("all", "credence")  # rules that make nothing themselves


@dataclass(frozen=True)
class Scheduled:
    """What a scheduler says of a job that failed.

    Parameters
    ----------
    words : str
        How it ended.
    log : str
        Path of its own log.
    """

    words: str
    log: str


class Steps:
    """Reads what Snakemake says, tells each step that ended, keeps what failed.

    Parameters
    ----------
    verbose : bool
        Pass on every line as it is.
    """

    def __init__(self, verbose: bool) -> None:
        self.lines: list[str] = []
        # (rule, log), each once, in order; and what a scheduler said of the last attempt.
        self.failures: dict[tuple[str, str], Scheduled | None] = {}
        self._failed: dict[str, tuple[str, str]] = {}
        self._verbose = verbose
        self._is_terminal = sys.stderr.isatty()
        self._begun: dict[str, tuple[str, float]] = {}
        self._rule = self._job = self._ended = self._said = ""

    def see(self, line: str) -> None:
        """Take one line of Snakemake's.

        Parameters
        ----------
        line : str
            With its line break.
        """
        self.lines.append(line)
        if self._verbose or line.startswith(NOTHING):
            click.echo(line, err=True, nl=False)
        if (match := JOB_BEGINS.match(line)) or (match := FAILED_RULE.match(line)):
            self._rule, self._said = match["rule"], ""
        elif match := FAILED_SAYS.match(line):
            self._said = match["text"]
        elif match := FAILED_LOG.match(line):
            said = Scheduled(self._said, match["other"]) if match["other"] else None
            self._failed[self._job] = (self._rule, match["path"])
            self.failures[self._rule, match["path"]] = said
        elif match := JOB_DETAIL.match(line):
            self._detail(match["key"], match["value"].strip())
        elif match := JOB_ENDS.match(line):
            self._ended = match["id"]
            # A job that was tried again and went well did not fail.
            self.failures.pop(self._failed.pop(match["id"], ("", "")), None)
        elif match := STEPS.match(line):
            self._end(int(match["done"]), int(match["total"]))

    def _detail(self, key: str, value: str) -> None:
        if key == "jobid":
            self._job = value
            self._begun[value] = (self._rule, time.monotonic())
        elif self._job in self._begun:
            words = [pair.split("=", 1)[-1] for pair in value.split(", ")]
            name, start = self._begun[self._job]
            self._begun[self._job] = (" ".join([name, *words]), start)
        self._show_running()

    def _end(self, done: int, total: int) -> None:
        name, start = self._begun.pop(self._ended, ("", 0.0))
        if self._verbose or not name or name in GATHERS:
            return
        self._clear()
        # The rule that gathers everything is a step to Snakemake and to nobody else.
        seconds = time.monotonic() - start
        click.echo(f"[{done}/{total - 1}] {name}: done in {seconds:.1f} s", err=True)
        self._show_running()

    def _show_running(self) -> None:
        """Say what is being done, where a terminal can forget it again."""
        names = [name for name, _ in self._begun.values() if name not in GATHERS]
        if self._is_terminal and not self._verbose and names:
            self._clear()
            click.echo(f"… {', '.join(names)}", nl=False, err=True)

    def _clear(self) -> None:
        if self._is_terminal:
            click.echo("\r\x1b[2K", nl=False, err=True)

    def finish(self, code: int) -> None:
        """Show all that was said, where it failed and no rule's log says why.

        Parameters
        ----------
        code : int
            Snakemake's exit code.
        """
        if not self._verbose:
            self._clear()
            if code != 0 and not self.failures:
                click.echo("".join(self.lines), err=True, nl=False)
