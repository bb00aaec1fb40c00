"""Functions on a few numbers that a reader can check."""

from __future__ import annotations

from credence.sets import conformal


def test_families_that_a_class_needs_at_each_level() -> None:
    assert conformal.families_needed(0.9) == 9
    assert conformal.families_needed(0.95) == 19
    assert conformal.families_needed(0.5) == 1
