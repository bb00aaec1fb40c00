"""How far a command is: a bar on a terminal, a line now and then in a log.

What computes knows no terminal: it marks its loops (`each`), and the stage that is open counts
the outermost of them, one after the other; `plan` makes several loops one part of the stage.
"""

import os
import re
import shutil
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Self, TypeVar

import click

SECONDS_BETWEEN_LINES = 5.0
SECONDS_BETWEEN_LOOKS = 1.0
SECONDS_BEFORE_FIRST = 2.0  # what is done by then needs no line
SECONDS_BETWEEN_LINES_OF_RUN = 30.0
BYTES_OF_LAST_LINE = 1000
STEPS_OF_JOB = re.compile(r"[^:]+: (?P<steps>\d+ of \d+ [^:.]+)")  # as `Progress` writes them
SHARE_BEFORE_GUESS = 0.01  # of all to be done, before which nothing is guessed of the rest


def echo(text: str) -> None:
    """Print a line for the reader on stderr: stdout is for results."""
    click.echo(text, err=True)


class Progress:
    """Counts what is done, on stderr."""

    def __init__(self, name: str, unit: str, total: int | None = None) -> None:
        self.name = name
        self.unit = unit
        self.total: int | None = None
        self._at_first = total
        self.done = 0
        self._began = self._first = self._counted = time.monotonic()
        self._last = self._began - SECONDS_BETWEEN_LINES + SECONDS_BEFORE_FIRST
        self._bar: Any = None

    def __enter__(self) -> Self:
        """Begin; a bar is shown once it is known how many there are."""
        _OPEN.append(self)
        if self._at_first is not None:
            self.expect(self._at_first)
        return self

    def expect(self, n: int) -> None:
        """Take note that there are so many more to be done."""
        self.total = n + (self.total or 0)
        if self._bar is not None:
            self._bar.length = self.total
        elif sys.stderr.isatty():
            self._bar = click.progressbar(length=self.total, label=self.name, file=sys.stderr)
            self._bar.__enter__()

    def add(self, n: int = 1) -> None:
        """Count some more as done."""
        if n:
            self.done, self._counted = self.done + n, time.monotonic()
        if self._bar is not None:
            self._bar.update(n)
            return
        now = time.monotonic()
        if sys.stderr.isatty():
            click.echo(f"\r{self._line()}\033[K", nl=False, err=True)
        elif now - self._last >= SECONDS_BETWEEN_LINES:
            click.echo(self._line(), err=True)
            self._last = now

    def _line(self) -> str:
        if not self.unit:
            return f"{self.name}: {round(time.monotonic() - self._first)} seconds so far"
        total = "" if self.total is None else f" of {self.total}"
        return f"{self.name}: {self.done}{total} {self.unit}{self._left()}"

    def _left(self) -> str:
        """Return how long the rest takes if it goes on as it went; nothing if that is unknown."""
        now = time.monotonic()
        is_early = now - self._began < SECONDS_BEFORE_FIRST
        # The first of many may wait for what is done once.
        if not self.total or is_early or self.done < max(SHARE_BEFORE_GUESS * self.total, 1):
            return ""
        rest = (self._counted - self._began) * max(self.total - self.done, 0) / self.done
        left = round(max(rest - (now - self._counted), 0.0))
        return f", about {f'{left // 60} min {left % 60}' if left > 60 else left} s left"

    def __exit__(self, *error: Any) -> None:
        """End the bar's line."""
        _OPEN.remove(self)
        if self._bar is not None:
            self._bar.__exit__(*error)
        elif sys.stderr.isatty() and self.done:
            click.echo(err=True)


class RunProgress:
    """Which jobs of a run are at work, and how many are done: a live line, or one now and then."""

    def __init__(self) -> None:
        self.done = 0
        self.total: int | None = None
        self._at_work: dict[str, tuple[str, str, float]] = {}  # Job → name, its log, start
        self._is_terminal = sys.stderr.isatty()
        self._last = time.monotonic()
        self._lock = threading.Lock()
        self._is_over = threading.Event()

    def __enter__(self) -> Self:
        """Begin to look at the clock now and then."""
        threading.Thread(target=self._look, daemon=True).start()
        return self

    def __exit__(self, *error: Any) -> None:
        """End, and take the live line off a terminal."""
        self._is_over.set()
        with self._lock:
            self._clear()

    def begin(self, job: str, name: str, log: str) -> None:
        """Take note that a job is at work; under another name it goes on."""
        with self._lock:
            start = self._at_work[job][2] if job in self._at_work else time.monotonic()
            self._at_work[job] = (name, log, start)

    def end(self, job: str, *, is_done: bool = True) -> None:
        """Take note that a job ended, and say so where it is done."""
        with self._lock:
            name, _, start = self._at_work.pop(job, ("", "", 0.0))
            if name and is_done:
                self._clear()
                echo(f"{self._counts()}{name}: done in {time.monotonic() - start:.1f} s")
                self._last = time.monotonic()

    def show(self) -> None:
        """Show what is at work: always on a terminal, in a log after a while without a line."""
        with self._lock:
            now = time.monotonic()
            is_quiet = now - self._last < SECONDS_BETWEEN_LINES_OF_RUN
            if not self._at_work or (is_quiet and not self._is_terminal):
                return
            jobs = [
                f"{name}, {now - start:.0f} s{_last_progress(log)}"
                for name, log, start in self._at_work.values()
            ]
            line = f"{self._counts()}at work: {'; '.join(jobs)}"
            self._clear()
            if self._is_terminal:
                width = shutil.get_terminal_size().columns - 1
                click.echo(
                    line if len(line) <= width else f"{line[: width - 1]}…", nl=False, err=True
                )
            else:
                echo(line)
                self._last = now

    def _counts(self) -> str:
        return "" if self.total is None else f"[{self.done}/{self.total}] "

    def _look(self) -> None:
        while not self._is_over.wait(SECONDS_BETWEEN_LOOKS):
            self.show()

    def _clear(self) -> None:
        if self._is_terminal:
            click.echo("\r\x1b[2K", nl=False, err=True)


def _last_progress(log: str) -> str:
    """Return how far a job is, where the last line of its log says so."""
    try:
        with Path(log).open("rb") as handle:
            handle.seek(max(handle.seek(0, os.SEEK_END) - BYTES_OF_LAST_LINE, 0))
            lines = handle.read().decode(errors="replace").splitlines()
    except OSError:
        return ""
    match = STEPS_OF_JOB.fullmatch(lines[-1]) if lines else None
    return f" ({match['steps']})" if match else ""


_OPEN: list[Progress] = []  # the innermost last
Item = TypeVar("Item")


class StageProgress(Progress):
    """The same for a whole stage: the steps that are known of it, else its seconds."""

    is_within = False  # a step, so that loops in it do not count

    def __init__(self, name: str) -> None:
        super().__init__(name, "")
        self._is_over = threading.Event()

    def __enter__(self) -> Self:
        """Begin, and look at the clock now and then."""
        threading.Thread(target=self._look, daemon=True).start()
        return super().__enter__()

    def _look(self) -> None:
        while not self._is_over.wait(SECONDS_BETWEEN_LOOKS):
            if _OPEN[-1:] == [self]:  # else another one is shown
                self.unit = "steps of this part" if self.done < (self.total or 0) else ""
                self.add(0)

    def __exit__(self, *error: Any) -> None:
        """End."""
        self._is_over.set()
        super().__exit__(*error)


def plan(n: int) -> None:
    """Tell the stage that is open, if one is, how many steps the next loops have together."""
    stage = _OPEN[-1] if _OPEN else None
    if isinstance(stage, StageProgress) and not stage.is_within:
        stage.total, stage.done = n, 0
        stage._began = stage._counted = time.monotonic()


def each(items: Iterable[Item], n: int) -> Iterator[Item]:
    """Yield `n` items, each a step of the stage that is open; loops within are part of it."""
    stage = _OPEN[-1] if _OPEN else None
    if not isinstance(stage, StageProgress) or stage.is_within or n < 2:
        yield from items
        return
    if stage.done >= (stage.total or 0):
        plan(n)
    stage.is_within = True
    try:
        for item in items:
            yield item
            stage.done, stage._counted = stage.done + 1, time.monotonic()
    finally:
        stage.is_within = False
