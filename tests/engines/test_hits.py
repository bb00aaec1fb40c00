"""Tables of candidates, against a reading line by line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from credence.relatives.programs import candidates_of

LENGTHS = [900, 400, 200, 160, 120, 80, 60, 12]
ROWS = st.integers(0, len(LENGTHS) - 1)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    tables=st.lists(st.lists(st.tuples(ROWS, ROWS, st.integers(0, 60)), max_size=30), max_size=3)
)
def test_candidates_are_the_pairs_with_enough_on_one_diagonal(
    tables: list[list[tuple[int, int, int]]], tmp_path: Path
) -> None:
    path = tmp_path / "hits.tsv"
    lines = (f"{a}\t{b}\t{score}\t0\n" for table in tables for a, b, score in table)
    path.write_text("".join(lines))
    expected: dict[tuple[int, int], int] = {}
    for a, b, score in (row for table in tables for row in table):
        needed = min(max(18 + 0.15 * min(LENGTHS[a], LENGTHS[b]), 30), 45)
        if a != b and score >= needed:
            pair = min(a, b), max(a, b)
            expected[pair] = max(score, expected.get(pair, 0))
    first, second, score = candidates_of(path, np.array(LENGTHS))
    found = zip(first.tolist(), second.tolist(), strict=True)
    assert list(zip(found, score.tolist(), strict=True)) == sorted(expected.items())
    assert not len(candidates_of(tmp_path / "absent.tsv", np.array(LENGTHS))[0])
