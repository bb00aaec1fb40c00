"""The tables that pages plan with are what the script calculates from the numbers it kept."""

from __future__ import annotations

import json
import re
import sys

import pytest

from page_commands import ROOT

sys.path.append(str(ROOT))
try:
    from benchmarks import costs
finally:
    sys.path.remove(str(ROOT))

KEPT = json.loads(costs.KEPT.read_text("utf-8"))


def test_tables_of_costs_are_what_the_numbers_kept_give() -> None:
    placed = []
    for name in costs.PAGES:
        page = (costs.DOCS / name).read_text("utf-8")
        assert costs.page_with_tables(page, KEPT) == page, "python -m benchmarks.costs"
        placed += [match[2] for match in costs.MARKED.finditer(page)]
    assert sorted(placed) == sorted(costs.TABLES)


def test_no_page_plans_with_a_cost_by_row_that_no_script_wrote() -> None:
    for path in sorted((ROOT / "docs").glob("*.md")):
        by_hand = costs.MARKED.sub("", path.read_text("utf-8"))
        assert not [line for line in by_hand.splitlines() if re.search(r"\d µs", line)], path


def test_each_table_names_its_methods_and_how_it_is_made() -> None:
    for name, table in costs.TABLES.items():
        text = table(KEPT)
        how = "jobs" if name == "rules" else "rows"
        assert f"Measured by `python -m benchmarks.costs {how}` (" in text
        if how == "rows":
            assert "`auto`" in text and "`kernel`" in text


# Of 100 to 1,100 rows a step takes 1 to 3 seconds: 2,000 µs a row, and 0.8 s before the first.
SECONDS = {step: [1.0, 3.0] for step in costs.STEPS}
FACTS = {"seconds": SECONDS, "bytes": {"given": 100, "text": 150, "parquet": 50}, "gigabytes": 0.4}
ROWS = {
    "machine": "a machine",
    "few_rows": 100,
    "many_rows": dict.fromkeys(costs.METHODS, 1100),
    "methods": dict.fromkeys(costs.METHODS, FACTS),
}


def test_a_cost_by_row_is_what_two_sizes_differ_by() -> None:
    assert costs.per_row(ROWS, "auto", "check") == pytest.approx(2000.0)
    assert costs.per_row(ROWS, "auto", "check", "shift") == pytest.approx(4000.0)
    assert costs.start_of(ROWS, "auto", "check") == pytest.approx(0.8)


def test_a_table_of_rows_multiplies_by_hand() -> None:
    text = costs.rows_table({"rows": ROWS})
    # 2,000 µs × 10⁸ rows = 200,000 s = 55.6 h
    assert "| `auto`: check, once | 2000.0 | 55.6 h | 555.6 h |" in text
    # Check, estimate and annotating: 6,000 µs
    assert "| `kernel`: **all** | 6000.0 | 166.7 h | 1666.7 h |" in text
    assert "| `kernel`: confidences as text, 150 bytes a row |  | 15 GB | 150 GB |" in text
