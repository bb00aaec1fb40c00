"""Names that are among others."""

from __future__ import annotations

import numpy as np

from credence.predictions import is_among


class Counted(str):
    """A name that counts how often it is compared."""

    __slots__ = ()
    n_comparisons = 0
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        Counted.n_comparisons += 1
        return str.__eq__(self, other)


def test_names_among_others_are_those_that_numpy_finds() -> None:
    rng = np.random.default_rng(1)
    names, others = (np.array([f"p{k}" for k in rng.integers(0, 50, 40)], object) for _ in "12")
    assert is_among(names, others).tolist() == np.isin(names, others).tolist()
    assert is_among(names, others[:0]).tolist() == [False] * 40
    assert is_among(names[:0], others).tolist() == []


def test_names_are_not_compared_each_with_each() -> None:
    names = np.array([Counted(f"p{k}") for k in range(300)], dtype=object)
    others = np.array([Counted(f"p{k}") for k in range(200, 500)], dtype=object)
    Counted.n_comparisons = 0
    assert is_among(names, others).sum() == 100
    assert Counted.n_comparisons < 1_000  # of 90,000 pairs
