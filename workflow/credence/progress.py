"""How far a command is: a bar on a terminal, a line now and then in a log."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Any, Self

import click

SECONDS_BETWEEN_LINES = 5.0
SECONDS_BEFORE_FIRST = 2.0  # what is done by then needs no line


class Progress:
    """Counts what is done, on stderr."""

    def __init__(self, name: str, unit: str, total: int | None = None) -> None:
        self.name = name
        self.unit = unit
        self.total: int | None = None
        self._at_first = total
        self.done = 0
        self._began = time.monotonic()
        self._last = self._began - SECONDS_BETWEEN_LINES + SECONDS_BEFORE_FIRST
        self._bar: Any = None

    def __enter__(self) -> Self:
        """Begin; a bar is shown once it is known how many there are."""
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
        self.done += n
        if self._bar is not None:
            self._bar.update(n)
            return
        now = time.monotonic()
        if sys.stderr.isatty():
            click.echo(f"\r{self._line()}", nl=False, err=True)
        elif now - self._last >= SECONDS_BETWEEN_LINES:
            click.echo(self._line(), err=True)
            self._last = now

    def _line(self) -> str:
        of = "" if self.total is None else f" of {self.total}"
        return f"{self.name}: {self.done}{of} {self.unit}{self._left()}"

    def _left(self) -> str:
        """Return how long the rest takes if it goes on as it went; nothing if that is unknown."""
        seconds = time.monotonic() - self._began
        if not self.total or not self.done or seconds < SECONDS_BEFORE_FIRST:
            return ""
        left = round(seconds * max(self.total - self.done, 0) / self.done)
        return (
            f", about {left // 60} min {left % 60} s left"
            if left > 60
            else f", about {left} s left"
        )

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End the bar's line."""
        if self._bar is not None:
            self._bar.__exit__(kind, error, trace)
        elif sys.stderr.isatty() and self.done:
            click.echo(err=True)
