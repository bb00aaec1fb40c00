"""What a run shows of its steps, by Snakemake's interface for loggers.

Snakemake hands every event to a `LogHandler`. It shows which jobs are at work and which are done,
and notes for `credence run` which of them failed.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from logging import ERROR, LogRecord
from pathlib import Path
from typing import Any

from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent

from credence.progress import RunProgress, echo

NOTES = "CREDENCE_NOTES"  # names the file in which failures are noted
VERBOSE = "CREDENCE_VERBOSE"  # set where all that Snakemake writes is passed on
GATHERS = ("all", "credence")  # rules that make nothing themselves
NOTHING_TO_DO = "Nothing to be done"


class LogHandler(LogHandlerBase):
    """Snakemake's logger plugin `credence`."""

    writes_to_stream = True
    writes_to_file = has_filter = has_formatter = needs_rulegraph = False

    def __post_init__(self) -> None:
        """Begin to show what is at work."""
        self._is_verbose = VERBOSE in os.environ
        self._ended: list[str] = []  # jobs of which it was not said yet that they are done
        self._shown = RunProgress()
        self._shown.__enter__()

    def emit(self, record: LogRecord) -> None:
        """Take one event."""
        if self._is_verbose:
            echo(self.format(record))
        event, facts = getattr(record, "event", None), vars(record)
        if event == LogEvent.JOB_INFO:
            self._begin(facts)
        elif event == LogEvent.JOB_FINISHED:
            self._note({"finished": facts["job_id"]})
            self._ended.append(str(facts["job_id"]))
        elif event == LogEvent.PROGRESS:
            total = facts["total"] - 1  # not the rule that gathers all
            self._shown.done, self._shown.total = min(facts["done"], total), total
            for job in self._ended:
                self._shown.end(job)
            self._ended.clear()
        elif event == LogEvent.JOB_ERROR:
            self._shown.end(str(facts["jobid"]), is_done=False)
            logs = list(map(str, facts["log"] or ()))
            failed = {"rule": facts["rule_name"], "logs": logs, "words": facts["rule_msg"] or ""}
            self._note({"failed": facts["jobid"], **failed})
        elif str(facts["msg"]).startswith(NOTHING_TO_DO) and not self._is_verbose:
            echo(str(facts["msg"]))
        elif record.levelno >= ERROR:
            self._note({"error": self.format(record)})

    def _begin(self, facts: dict[str, Any]) -> None:
        if facts["rule_name"] not in GATHERS and not self._is_verbose:
            words = [facts["rule_name"], *map(str, dict(facts["wildcards"] or {}).values())]
            log = next(map(str, facts["log"] or ()), "")
            self._shown.begin(str(facts["jobid"]), " ".join(words), log)

    def _note(self, entry: dict[str, Any]) -> None:
        if path := os.environ.get(NOTES):
            with Path(path).open("a", encoding="utf-8") as handle:
                handle.write(json.dumps(entry) + "\n")

    def close(self) -> None:
        """Take what is at work off a terminal."""
        self._shown.__exit__()
        super().close()


@dataclass(frozen=True, kw_only=True)
class Failure:
    """A job that failed and was not tried again, or failed each time."""

    rule: str
    logs: Sequence[str]  # That of the rule, then that of a scheduler
    words: str  # What a scheduler says of it


def read_notes(path: Path) -> tuple[list[Failure], list[str]]:
    """Return the jobs that failed for good, one of each log, and Snakemake's own errors."""
    failed: dict[int, Failure] = {}
    errors = []
    for line in path.read_text(encoding="utf-8").splitlines():
        entry = json.loads(line)
        if "finished" in entry:  # at a further attempt
            failed.pop(entry["finished"], None)
        elif "failed" in entry:
            job = entry.pop("failed")
            failed[job] = Failure(**entry)
        else:
            errors.append(entry["error"])
    by_log = {(failure.rule, *failure.logs): failure for failure in failed.values()}
    return list(by_log.values()), errors
