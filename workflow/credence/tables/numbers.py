"""Scores from the text of cells, and the step between scores that a table can show."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

import numpy as np

from credence.predictions import Floats

NUMBER = re.compile(r"([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d+))?", re.ASCII)
MOST_TEXTS_KEPT = 1 << 17
# More decimals than this are the digits of a float, not a step of the table.
MOST_DECIMALS = 9
# Of Parquet and arrays: decimals tried when a table is looked at for a step.
MOST_GRID_DECIMALS = 6
# Share of a step by which a number may miss the grid through its binary form.
GRID_SLACK = 0.05


class Numbers(dict[str, float]):
    """Text of a cell → number, NaN where it is none; learns the decimals seen.

    A table repeats its texts, so each is parsed once. `decimals` is the
    greatest number of decimals seen, `digits` the greatest number of
    significant digits, `is_even` whether all numbers have equally many decimals.
    """

    def __init__(self) -> None:
        super().__init__()
        self.decimals = 0
        self.digits = 1
        self.fewest_decimals = MOST_DECIMALS + 1

    def __missing__(self, text: str) -> float:
        if len(self) >= MOST_TEXTS_KEPT:
            self.clear()
        value = self._parse(text.strip())
        self[text] = value
        return value

    def _parse(self, text: str) -> float:
        match = NUMBER.fullmatch(text)
        if match is None or not (match[2] or match[3]):
            return math.nan
        value = float(text)
        if not math.isfinite(value):
            return math.nan
        decimals = len(match[3] or "") - int(match[4] or 0)
        if value != 0:
            digits = len(((match[2] or "") + (match[3] or "")).lstrip("0"))
            self.digits = max(self.digits, digits)
            self.fewest_decimals = min(self.fewest_decimals, decimals)
        self.decimals = max(self.decimals, decimals)
        return value

    def step(self, scale: float) -> ScoreStep:
        """Return the step that the texts seen allow."""
        is_even = self.fewest_decimals >= self.decimals
        relative = 0.0 if is_even else 10.0 ** (1 - self.digits)
        return ScoreStep(_resolution(self.decimals, scale), relative)


@dataclass(frozen=True)
class ScoreStep:
    """What rounding the numbers of a table have gone through."""

    resolution: float
    relative: float

    def tolerance(self, n_classes: int, scale: float) -> float:
        """Return by how much rounding alone can move the sum of a row.

        Half a step for each class, half a relative step of the whole sum, and
        the rounding of the sum itself.
        """
        rounded = n_classes * self.resolution / 2 + scale * self.relative / 2
        return rounded + self.least_tolerance(n_classes, scale)

    @staticmethod
    def least_tolerance(n_classes: int, scale: float) -> float:
        """Return by how much the rounding of the sum itself can move it."""
        return n_classes * scale * float(np.finfo(np.float32).eps)


def _resolution(decimals: int, scale: float) -> float:
    """Return the step for a number of decimals; 0 where it says nothing."""
    if decimals > MOST_DECIMALS:
        return 0.0
    step = float(10.0**-decimals)
    # A table of ones and zeros has no decimals, yet no step of the whole scale.
    return step if step < scale else 0.0


class ScoreGrid:
    """Finds the decimal step of numbers that come as floats, chunk by chunk.

    The step is 10^-d for the least d from 0 to 6 with which every number of
    the table is a multiple of it, up to the rounding of its binary form; 0
    where there is none. Neither the order nor the size of the chunks matters.
    """

    def __init__(self) -> None:
        self.decimals = 0
        self.epsilon = float(np.finfo(np.float64).eps)

    def see(self, values: Floats, epsilon: float) -> None:
        """Take more numbers into account."""
        self.epsilon = max(self.epsilon, epsilon)
        finite = values[np.isfinite(values)]
        if finite.size == 0:
            return
        greatest = float(np.abs(finite).max())
        while self.decimals <= MOST_GRID_DECIMALS:
            factor = 10.0**self.decimals
            slack = factor * greatest * epsilon
            if slack > GRID_SLACK:
                self.decimals = MOST_GRID_DECIMALS + 1
                break
            steps = finite * factor
            if bool((np.abs(steps - np.rint(steps)) <= slack).all()):
                break
            self.decimals += 1

    def step(self, scale: float) -> ScoreStep:
        """Return the step that the numbers seen allow."""
        is_grid = self.decimals <= MOST_GRID_DECIMALS
        return ScoreStep(_resolution(self.decimals, scale) if is_grid else 0.0, self.epsilon)
