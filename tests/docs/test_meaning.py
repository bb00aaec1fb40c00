"""The numbers of the page on what a confidence means at the bench are those of arithmetic."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from scipy.stats import binom

from credence.report.sections.overview import BENCH_MEANING

PAGE = (Path(__file__).parents[2] / "docs" / "what-does-it-mean.md").read_text(encoding="utf-8")
TEXT = " ".join(PAGE.split())


def test_the_page_is_one_page() -> None:
    assert len(PAGE.split()) <= 700


def test_the_cases_of_a_hundred_are_binomial() -> None:
    of_15, of_10 = round(100 * binom.sf(9, 15, 0.8)), round(100 * 0.8**10)
    assert f"ten or more of them in {of_15} of 100 cases" in TEXT
    assert f"all ten in {of_10} of 100 cases" in TEXT
    assert f"ten or more are right in {of_15} of 100 cases" in BENCH_MEANING[0].text


def test_the_table_of_two_mixes_adds_up() -> None:
    rows = re.findall(r"\| (\d+) of 1,000 \| (\d+) \| (\d+) or (\d+) \| (\d+) of 100 \|", PAGE)
    assert len(rows) == 2
    for n, found, low, high, right in (map(int, row) for row in rows):
        wrong = 25 / 1000 * (1000 - n)
        assert found == 0.9 * n and (low + high) / 2 == pytest.approx(wrong)
        assert right == round(100 * found / (found + wrong))
