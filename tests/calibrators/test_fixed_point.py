from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from credence.calibrators.fixed_point import UNIT_BITS, fixed, fixed_columns, from_whole

UNIT = Fraction(1, 2**UNIT_BITS)
weights = st.lists(
    st.floats(min_value=0.0, max_value=1e6, allow_subnormal=False), min_size=1, max_size=30
)


@settings(max_examples=50, deadline=None)
@given(values=weights)
def test_a_number_is_off_by_half_a_unit_at_most_and_positive_ones_stay_positive(
    values: list[float],
) -> None:
    for value, units in zip(values, fixed(np.array(values)).whole(), strict=True):
        assert abs(units * UNIT - Fraction(value)) <= (UNIT / 2 if units > 1 else UNIT)
        assert (units > 0) == (value > 0)


@settings(max_examples=50, deadline=None)
@given(values=weights, seed=st.integers(0, 99))
def test_sums_are_those_of_whole_numbers_in_any_order(values: list[float], seed: int) -> None:
    numbers = fixed(np.array(values))
    order = np.random.default_rng(seed).permutation(len(values))
    shuffled = numbers.take(order)
    expected = sum(numbers.whole())
    assert numbers.total().whole() == shuffled.total().whole() == [expected]
    assert shuffled.sums(np.array([0])).whole() == [expected]
    place = np.arange(len(values)) % 3
    assert numbers.placed(place, 3).whole() == [sum(numbers.whole()[k::3]) for k in range(3)]
    assert (numbers + numbers - numbers).whole() == numbers.whole()
    assert from_whole(numbers.whole()).whole() == numbers.whole()
    assert fixed_columns(np.array(values)[:, None]).floats() == pytest.approx(
        float(expected * UNIT), rel=1e-15, abs=1e-14
    )


def test_a_hundred_million_rows_of_weight_a_thousand_do_not_overflow() -> None:
    numbers = fixed(np.array([1000.0]))
    high = numbers.high * 10**8
    assert int(high[0]) == 1000 * 10**8 * 2**26  # as an integer of any size would say


def test_more_than_there_is_cannot_be_taken_away() -> None:
    with pytest.raises(ValueError, match="more weight is taken away than there is"):
        fixed(np.array([1.0])) - fixed(np.array([1.5]))


def test_a_weight_beyond_all_measure_is_refused() -> None:
    with pytest.raises(ValueError, match="divide all weights by a number"):
        fixed(np.array([1e12]))
