"""What a user can fix: one record per problem, worded in one place.

Every refusal of the package is an :class:`InputError` that carries all the
problems found, so that a user fixes a file once and not line by line.
"""

import difflib
import errno
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

MOST_PROBLEMS_SHOWN = 20  # the first 20, then a count
ONE_ID_EACH = "Give each protein its own id, or remove one of the rows."

# What a system refuses to whoever writes, wherever: what is wrong, and the remedy.
DISK_ERRORS = {
    errno.ENOSPC: ("the disk is full", "Make room, or write to another disk."),
    errno.EDQUOT: ("your quota of disk space is used up", "Make room, or write elsewhere."),
    errno.EFBIG: ("the file grew past the size allowed", "Raise the limit (ulimit -f)."),
    errno.EROFS: ("the disk is read-only", "Write to another disk."),
    errno.EIO: ("the disk reports an error", "Check the disk, then run the command again."),
    errno.ENAMETOOLONG: ("the name is too long", "Choose a shorter name."),
    errno.ELOOP: ("its symbolic links lead in a circle", "Remove one of them, or fix the path."),
}


@dataclass(frozen=True, kw_only=True)
class Problem:
    """One thing a user can fix, with the place where it stands."""

    where: str  # The file (or option) as the user named it
    what: str  # What was found, quoting the value: ``'high' is not a number.``
    remedy: str  # What to do, as an order: ``Give protein 'p1' a score.``
    line: int | None = None  # Line as an editor shows it, counted from 1
    column: str | None = None  # Name of the column or setting

    def __str__(self) -> str:
        place = self.where
        if self.line is not None:
            place += f", line {self.line}"
        if self.column is not None:
            place += f", column {self.column!r}"
        return f"{place}: {self.what} {self.remedy}".rstrip()


class InputError(Exception):
    """All that a user has to fix before the command can do its work."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems: tuple[Problem, ...] = tuple(problems)
        super().__init__(self.text())

    def text(self) -> str:
        """Return the first twenty problems, a line each, then how many more."""
        lines = [str(problem) for problem in self.problems[:MOST_PROBLEMS_SHOWN]]
        n_more = len(self.problems) - MOST_PROBLEMS_SHOWN
        if n_more > 0:
            lines.append(f"… and {n_more} more.")
        return "\n".join(lines)


def refuse(
    where: str, defect: str, remedy: str, line: int | None = None, column: str | None = None
) -> InputError:
    """Return an :class:`InputError` with the one problem given."""
    return InputError([Problem(where=where, what=defect, remedy=remedy, line=line, column=column)])


@contextmanager
def gathering(problems: list[Problem]) -> Iterator[None]:
    """Add the problems of a refusal to a list, and go on."""
    try:
        yield
    except InputError as error:
        problems += error.problems


def raise_any(problems: Iterable[Problem]) -> None:
    """Raise problems together, where there are any."""
    if listed := list(problems):
        raise InputError(listed)


def plural(count: int, singular: str, many: str = "") -> str:
    """Return a count with its noun."""
    return f"{count:,} {singular if count == 1 else many or singular + 's'}"


MOST_NAMED_IN_LINE = 30


def in_one_line(names: Sequence[str], between: str = "; ") -> str:
    """Return names in a row; of very many the first, and how many more there are."""
    some = between.join(names[:MOST_NAMED_IN_LINE])
    n_more = len(names) - MOST_NAMED_IN_LINE
    return f"{some} and {n_more:,} more" if n_more > 0 else some


def nearest(name: str, known: Sequence[str], where_none: str = "") -> str:
    """Return the end of a remedy: the nearest name, or all and what to do `where_none` is near."""
    close = difflib.get_close_matches(name, list(known), n=1, cutoff=0.6)
    if close:
        return f"Did you mean {close[0]!r}?"
    return f"Known are: {', '.join(known)}.{where_none}"


# Beyond so many problems a file is not the one that was meant: reading stops.
MOST_PROBLEMS_KEPT = 10_000


class ProblemList:
    """Gathers problems of a file, to raise them together."""

    def __init__(self, where: str) -> None:
        self.where = where
        self.problems: list[Problem] = []

    def add(
        self, defect: str, remedy: str, line: int | None = None, column: str | None = None
    ) -> None:
        """Keep one more problem; raise all when there are far too many."""
        self.problems.append(
            Problem(where=self.where, what=defect, remedy=remedy, line=line, column=column)
        )
        if len(self.problems) >= MOST_PROBLEMS_KEPT:
            raise self.error()

    def error(self) -> InputError:
        """Return all problems as one error, those of a line together, in file order."""
        return InputError(sorted(self.problems, key=lambda problem: problem.line or 0))

    def raise_any(self) -> None:
        """Raise all problems gathered, if there are any."""
        if self.problems:
            raise self.error()
