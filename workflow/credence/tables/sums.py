"""Rows whose scores do not sum to the scale, found without keeping every sum."""

from __future__ import annotations

import numpy as np

from credence.predictions import Floats, Integers
from credence.tables.problem_list import ProblemList

SUM_DECIMALS = 6  # with which sums and tolerances are shown


def shown(value: float) -> str:
    """Return a number as messages show it.

    Examples
    --------
    >>> shown(10.0), shown(0.055)
    ('10', '0.055')
    """
    return f"{value:.{SUM_DECIMALS}f}".rstrip("0").rstrip(".")


class RowSums:
    """Sums of rows: how many there are, and those that may be off.

    What rounding explains is known when all decimals have been seen. Until then
    a row is kept only if its sum is off by more than the least that it may be.

    Parameters
    ----------
    scale : float
        What a row sums to.
    least : float
        The tolerance at the end is no less than this.
    """

    def __init__(self, scale: float, least: float) -> None:
        self.scale = scale
        self.n_rows = 0
        self._least = least
        self._lines: list[Integers] = []
        self._sums: list[Floats] = []

    @property
    def n_kept(self) -> int:
        """Number of rows that are kept."""
        return sum(map(len, self._sums))

    def see(self, lines: Integers, sums: Floats) -> None:
        """Take more rows into account.

        Parameters
        ----------
        lines : array of int
            Line of each row.
        sums : array of float
            Finite.
        """
        self.n_rows += len(sums)
        is_doubtful = np.abs(sums - self.scale) > self._least
        if is_doubtful.any():
            self._lines.append(lines[is_doubtful])
            self._sums.append(sums[is_doubtful])

    def report(self, tolerance: float, problems: ProblemList) -> None:
        """Report the rows that are off; as one problem if all are.

        Parameters
        ----------
        tolerance : float
            By how much a sum may be off.
        problems : ProblemList
            Takes what is wrong.
        """
        if not self._sums:
            return
        sums, lines = np.concatenate(self._sums), np.concatenate(self._lines)
        is_off = np.abs(sums - self.scale) > tolerance
        sums, lines = sums[is_off], lines[is_off]
        if 1 < len(sums) == self.n_rows:
            low, high = shown(float(sums.min())), shown(float(sums.max()))
            span = low if low == high else f"{low} to {high}"
            problems.add(
                f"all {len(sums)} rows sum to {span}, not to {shown(self.scale)}.",
                "State the scale that the rows sum to, or that they sum to nothing "
                "in particular (sum_to_scale: false).",
                int(lines[0]),
            )
            return
        for line, total in zip(lines, sums, strict=True):
            problems.add(
                f"the scores sum to {shown(total)}, not to {shown(self.scale)} "
                f"(give or take {tolerance:.3g} for the decimals).",
                "Correct the scores or remove the row.",
                int(line),
            )
