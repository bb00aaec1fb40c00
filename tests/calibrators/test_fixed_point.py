from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from credence.calibrators.masses import LOW_BITS, UNIT_BITS, FixedPoint, fixed, fixed_columns

UNIT = Fraction(1, 2**UNIT_BITS)
weights = st.lists(
    st.floats(min_value=0.0, max_value=1e6, allow_subnormal=False), min_size=1, max_size=30
)


def units_of(numbers: FixedPoint) -> list[int]:
    """Return the numbers in units, as integers of any size."""
    pairs = zip(numbers.high.tolist(), numbers.low.tolist(), strict=True)
    return [(high << LOW_BITS) + low for high, low in pairs]


@settings(max_examples=50, deadline=None)
@given(values=weights)
def test_a_number_is_off_by_half_a_unit_at_most_and_positive_ones_stay_positive(
    values: list[float],
) -> None:
    for value, units in zip(values, units_of(fixed(np.array(values))), strict=True):
        assert abs(units * UNIT - Fraction(value)) <= (UNIT / 2 if units > 1 else UNIT)
        assert (units > 0) == (value > 0)


@settings(max_examples=50, deadline=None)
@given(values=weights, seed=st.integers(0, 99))
def test_sums_are_those_of_whole_numbers_in_any_order(values: list[float], seed: int) -> None:
    order = np.random.default_rng(seed).permutation(len(values))
    shuffled = fixed(np.array(values)[order])
    units = units_of(fixed(np.array(values)))
    place = order % 3
    assert units_of(shuffled.placed(place, 3)) == [sum(units[k::3]) for k in range(3)]
    assert shuffled.sum() == fixed(np.array(values)).sum()
    expected = pytest.approx(float(sum(units) * UNIT), rel=1e-15, abs=1e-14)
    assert shuffled.sum() == expected
    assert fixed_columns(np.array(values)[:, None]).floats() == expected


def test_a_hundred_million_rows_of_weight_a_thousand_do_not_overflow() -> None:
    numbers = fixed(np.array([1000.0]))
    high = numbers.high * 10**8
    assert int(high[0]) == 1000 * 10**8 * 2**26  # as an integer of any size would say


def test_a_weight_beyond_all_measure_is_refused() -> None:
    with pytest.raises(ValueError, match="divide all weights by a number"):
        fixed(np.array([1e12]))
