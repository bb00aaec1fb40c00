"""Functions on a few numbers that a reader can check."""

from __future__ import annotations

from credence.problems import plural


def test_plural_gives_a_count_with_its_noun() -> None:
    assert plural(1, "protein") == "1 protein"
    assert plural(2, "family", "families") == "2 families"
