"""Functions on a few numbers that a reader can check."""

from __future__ import annotations

from credence.evaluation import notices


def test_plural_gives_a_count_with_its_noun() -> None:
    assert notices.plural(1, "protein") == "1 protein"
    assert notices.plural(2, "family", "families") == "2 families"
