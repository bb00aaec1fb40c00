"""The comparison with what people use otherwise, and how pages keep tables."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from credence.predictions import from_scores, label
from page_commands import ROOT
from verification import comparison, report

PAGE = (ROOT / "docs" / "comparison.md").read_text("utf-8")
CLASSES = ("Portal", "Other")


def test_a_list_is_the_longest_whose_mean_says_five_percent() -> None:
    probability = np.array([0.99, 0.92, 0.9, 1.0, np.nan])
    calls = np.array([True, True, True, False, True])
    # (0.01 + 0.08) / 2 = 0.045; with the third (0.19 / 3) 0.063.
    assert comparison.listed_by_mean(probability, calls).tolist() == [
        True,
        True,
        False,
        False,
        False,
    ]
    assert not comparison.listed_by_mean(np.array([0.5]), np.array([True])).any()


def test_phanns_confidence_is_the_precision_at_the_score_or_above() -> None:
    scores = np.array([[9.0, 1.0], [8.0, 2.0], [7.0, 3.0], [6.0, 4.0], [1.0, 9.0]])
    predictions = from_scores(np.array(list("abcde"), dtype=object), CLASSES, scores, 10.0, 0.01)
    known = label(predictions, np.array([0, 1, 0, 1, 1]))
    # Portal from 9 on: 1 of 1; from 8: 1 of 2; from 7: 2 of 3; from 6: 2 of 4. Other: 1 of 1.
    confidence = comparison.precision_at_or_above(known)(known)
    assert confidence.tolist() == pytest.approx([1.0, 1 / 2, 2 / 3, 2 / 4, 1.0])


def test_the_page_has_a_row_of_each_contestant_in_both_tables() -> None:
    for name in comparison.CONTESTANTS:
        assert PAGE.count(f"\n| {name}") == 2, name


def test_a_long_table_is_a_file_beside_the_page(tmp_path: Path) -> None:
    page = tmp_path / "study.md"
    short = [{"n": k, "share": 0.5} for k in range(report.MOST_ROWS)]
    report.write_section(page, "Short", "Text.", short)
    assert page.read_text("utf-8").count("\n| ") == report.MOST_ROWS + 1
    report.write_section(page, "Long: 2 kinds", "Text.", [*short, {"n": 99, "share": 0.25}])
    text = page.read_text("utf-8")
    assert text.endswith("\n[The table, 12 rows](tables/study-long-2-kinds.tsv)\n")
    rows = (tmp_path / "tables" / "study-long-2-kinds.tsv").read_text("utf-8").splitlines()
    assert rows[0] == "n\tshare" and rows[-1] == "99\t0.250" and len(rows) == 13
