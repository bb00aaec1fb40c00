from __future__ import annotations

from credence.findings import Findings
from credence.report.page_data import render_index, report_record


def test_every_run_has_a_row_that_leads_to_its_page(small: Findings) -> None:
    record = report_record(small)
    text = render_index({"b run#1": record, "a": record})
    assert text.index('<a href="a/index.html">a</a>') < text.index(
        '<a href="b%20run%231/index.html">b run#1</a>'
    )
    for cell in ("A small run (simulated)", "kernel", "120", "3", "0.1.0"):
        assert f">{cell}</td>" in text


def test_a_record_of_another_kind_says_nothing_and_breaks_nothing() -> None:
    for record in ({}, {"schema": "other/1", "summary": {"chosen": "x"}}, {"title": "<b>"}):
        text = render_index({"run": record})
        assert text.count("<tr>") == 2
        assert "<b>" not in text


def test_without_runs_the_page_is_empty_and_well_formed() -> None:
    assert "<tbody>\n</tbody>" in render_index({})
