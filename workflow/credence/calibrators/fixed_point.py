"""Sums of weights as integers, so that no order and no history changes a bit.

A weight is held as a whole number of units of 2⁻⁵², in two integers of 64 bits
each. Rounding a weight to units moves it by at most 2⁻⁵³ = 1.1e-16, which is no
more than storing a weight of 1 as a float does; after that, sums are exact. The
high part counts in units of 2⁻²⁶, so that a sum may reach 2³⁷ = 1.4e11: 10⁸ rows
of a mean weight of up to a thousand.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from credence.predictions import Booleans, Floats, Integers

UNIT_BITS = 52  # a unit is 2⁻⁵²
LOW_BITS = 26  # of them in the low part
HIGH_UNIT = 2.0 ** (LOW_BITS - UNIT_BITS)
LOW_UNIT = 2.0**-UNIT_BITS
MOST = 2.0**36  # of one value: half of what a sum may reach


@dataclass(frozen=True, eq=False)
class FixedPoint:
    """Numbers of at least 0 as whole numbers of units."""

    high: Integers  # The value is high · 2⁻²⁶ + low · 2⁻⁵², with 0 ≤ low < 2²⁶
    low: Integers

    def __len__(self) -> int:
        """Return how many numbers there are."""
        return len(self.high)

    def __add__(self, other: FixedPoint) -> FixedPoint:
        """Return the exact sums, place by place."""
        return carried(self.high + other.high, self.low + other.low)

    def __sub__(self, other: FixedPoint) -> FixedPoint:
        """Return the exact differences, place by place; refuse one below 0."""
        difference = carried(self.high - other.high, self.low - other.low)
        if (difference.high < 0).any():
            raise ValueError("more weight is taken away than there is")
        return difference

    def take(self, rows: Integers) -> FixedPoint:
        """Return the numbers of the places chosen."""
        return FixedPoint(self.high[rows], self.low[rows])

    def where(self, is_held: Booleans) -> FixedPoint:
        """Return the numbers where that holds, 0 elsewhere."""
        return FixedPoint(self.high * is_held, self.low * is_held)

    def sums(self, starts: Integers) -> FixedPoint:
        """Return the exact sum of each stretch; stretches begin at `starts`, ascending."""
        return carried(
            np.add.reduceat(self.high, starts, dtype=np.int64),
            np.add.reduceat(self.low, starts, dtype=np.int64),
        )

    def placed(self, place: Integers, n_places: int) -> FixedPoint:
        """Return the exact sum at each of `n_places` places."""
        high, low = (np.zeros(n_places, dtype=np.int64) for _ in range(2))
        np.add.at(high, place, self.high)
        np.add.at(low, place, self.low)
        return carried(high, low)

    def total(self) -> FixedPoint:
        """Return the exact sum of all, as one number."""
        high, low = (np.array([part.sum(dtype=np.int64)]) for part in (self.high, self.low))
        return carried(high, low)

    def floats(self) -> Floats:
        """Return the numbers as floats; they depend on the numbers alone."""
        return np.asarray(self.high * HIGH_UNIT + self.low * LOW_UNIT)

    def whole(self) -> list[int]:
        """Return the numbers in units, as integers of any size."""
        pairs = zip(self.high.tolist(), self.low.tolist(), strict=True)
        return [(high << LOW_BITS) + low for high, low in pairs]


def carried(high: Integers, low: Integers) -> FixedPoint:
    """Return numbers whose low parts may be out of range, in their one form."""
    return FixedPoint(high + (low >> LOW_BITS), low & ((1 << LOW_BITS) - 1))


def fixed(values: Floats) -> FixedPoint:
    """Return numbers of at least 0 rounded to units; none that is positive becomes 0.

    Examples
    --------
    >>> fixed(np.array([0.5, 1.0])).whole() == [2**51, 2**52]
    True
    >>> ten = fixed(np.full(10, 0.1))
    >>> (ten.sums(np.array([0])) - ten.take(np.arange(9)).total()).whole() == ten.whole()[:1]
    True
    """
    high, low = _parts(values)
    low[(values > 0) & (high == 0) & (low == 0)] = 1
    return carried(high, low)


def fixed_columns(values: Floats) -> FixedPoint:
    """Return the exact sum of each column, every number rounded to units."""
    return carried(*(part.sum(axis=0) for part in _parts(values)))


def _parts(values: Floats) -> tuple[Integers, Integers]:
    """Return high and low parts; the low one may be 2²⁶ itself."""
    if values.size and float(values.max()) > MOST:
        raise ValueError(f"a weight is above {MOST:g}: divide all weights by a number")
    scaled = values / HIGH_UNIT
    high = scaled.astype(np.int64)
    scaled -= high
    scaled *= HIGH_UNIT / LOW_UNIT
    return high, np.rint(scaled).astype(np.int64)


def from_whole(units: Sequence[int]) -> FixedPoint:
    """Return the numbers that :meth:`FixedPoint.whole` gave."""
    mask = (1 << LOW_BITS) - 1
    return FixedPoint(
        np.array([unit >> LOW_BITS for unit in units], dtype=np.int64),
        np.array([unit & mask for unit in units], dtype=np.int64),
    )


def counted(numbers: Integers) -> FixedPoint:
    """Return whole numbers as fixed-point ones."""
    return FixedPoint(numbers.astype(np.int64) << LOW_BITS, np.zeros_like(numbers, np.int64))


def zeros(n_places: int) -> FixedPoint:
    """Return that many zeros."""
    return FixedPoint(*(np.zeros(n_places, dtype=np.int64) for _ in range(2)))
