"""Functions on a few numbers that a reader can check."""

from __future__ import annotations

import numpy as np

from credence.simulate import sequences


def test_whole_shares_gives_whole_numbers_near_the_shares_by_largest_remainders() -> None:
    assert repr(sequences.whole_shares(np.array([0.5, 0.3, 0.2]), 9)) == "array([4, 3, 2])"
