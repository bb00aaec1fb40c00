"""The problems of one file, gathered while it is read."""

from __future__ import annotations

from credence.problems import InputError, Problem

# Beyond so many problems a file is not the one that was meant: reading stops.
MOST_PROBLEMS_KEPT = 10_000


class ProblemList:
    """Gathers problems of a file, to raise them together.

    Parameters
    ----------
    where : str
        The file as the user named it.
    """

    def __init__(self, where: str) -> None:
        self.where = where
        self.problems: list[Problem] = []

    def add(
        self, what: str, remedy: str, line: int | None = None, column: str | None = None
    ) -> None:
        """Keep one more problem; raise all when there are far too many.

        Parameters
        ----------
        what, remedy, line, column
            See :class:`credence.problems.Problem`.
        """
        self.problems.append(Problem(self.where, what, remedy, line, column))
        if len(self.problems) >= MOST_PROBLEMS_KEPT:
            raise self.error()

    def error(self) -> InputError:
        """Return all problems as one error, those of a line together, in file order."""
        return InputError(sorted(self.problems, key=lambda problem: problem.line or 0))

    def raise_any(self) -> None:
        """Raise all problems gathered, if there are any."""
        if self.problems:
            raise self.error()
