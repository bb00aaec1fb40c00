"""Sums of weights as integers, so that no order changes a bit.

A weight is held as a whole number of units of 2⁻⁵², in two integers of 64 bits
each. Rounding a weight to units moves it by at most 2⁻⁵³ = 1.1e-16, which is no
more than storing a weight of 1 as a float does; after that, sums are exact. The
high part counts in units of 2⁻²⁶, so that a sum may reach 2³⁷ = 1.4e11: 10⁸ rows
of a mean weight of up to a thousand.
"""

from __future__ import annotations

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

    def where(self, is_held: Booleans) -> FixedPoint:
        """Return the numbers where that holds, 0 elsewhere."""
        return FixedPoint(self.high * is_held, self.low * is_held)

    def placed(self, place: Integers, n_places: int) -> FixedPoint:
        """Return the exact sum at each of `n_places` places."""
        high, low = (np.zeros(n_places, dtype=np.int64) for _ in range(2))
        np.add.at(high, place, self.high)
        np.add.at(low, place, self.low)
        return carried(high, low)

    def sum(self) -> float:
        """Return the sum of all, exact up to its one rounding."""
        high, low = (np.array([part.sum(dtype=np.int64)]) for part in (self.high, self.low))
        return float(carried(high, low).floats()[0])

    def floats(self) -> Floats:
        """Return the numbers as floats; they depend on the numbers alone."""
        return np.asarray(self.high * HIGH_UNIT + self.low * LOW_UNIT)


def carried(high: Integers, low: Integers) -> FixedPoint:
    """Return numbers whose low parts may be out of range, in their one form."""
    return FixedPoint(high + (low >> LOW_BITS), low & ((1 << LOW_BITS) - 1))


def fixed(values: Floats) -> FixedPoint:
    """Return numbers of at least 0 rounded to units; none that is positive becomes 0.

    >>> values = np.array([0.1, 0.2, 0.3])  # whose sum as floats depends on the order
    >>> bool(fixed(values).sum() == fixed(values[::-1]).sum())
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
