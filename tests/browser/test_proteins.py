"""The table of proteins in a browser: search, filters, files, keyboard, addresses, speed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe

from credence.findings import Findings
from credence.report.html import render
from small_findings import with_proteins

SLOWEST = 300  # milliseconds for a filter over 20,000 rows
N_LARGE = 20_000
# How long one search takes until its rows are drawn, and laid out.
SEARCHED = """(word) => {
  const input = document.querySelector("#proteins input[type=search]");
  const begin = performance.now();
  input.value = word;
  input.dispatchEvent(new Event("input"));
  document.querySelector("#proteins tbody").getBoundingClientRect();
  return performance.now() - begin;
}"""


@pytest.fixture
def page(open_page: Any, small: Findings) -> Any:
    permissions = ["clipboard-read", "clipboard-write"]
    return open_page(render(with_proteins(small)), permissions=permissions).page


def ids(page: Any) -> list[str]:
    """Return the ids of the rows that are drawn."""
    return [text.strip() for text in page.locator("#proteins tbody th a").all_inner_texts()]


def test_a_protein_is_found_by_its_id(page: Any) -> None:
    assert len(ids(page)) == 12
    page.get_by_label("Search sea water by id").fill("P11")
    assert ids(page) == ["p11"]
    assert page.locator("#proteins .tools [role=status]").inner_text() == "1 of 12 predictions"
    page.get_by_label("Search sea water by id").fill("nobody")
    assert "No protein is so. Clear the search or a filter." in page.inner_text("#proteins tbody")


def test_class_and_decision_filter_together(page: Any) -> None:
    page.get_by_label("sea water: class").select_option(label="Portal")
    assert ids(page) == ["p0", "p3", "p6", "p9"]
    page.get_by_label("sea water: decision").select_option(label="check")
    assert ids(page) == []
    page.get_by_label("sea water: class").select_option(label="All classes")
    assert ids(page) == ["p1", "p4", "p7", "p10"]


def test_a_heading_sorts_confidence_from_the_highest_and_turns_it_round(page: Any) -> None:
    heading = page.locator("#proteins thead").get_by_role("button", name="confidence")
    heading.click()
    assert ids(page)[:3] == ["p11", "p10", "p9"]
    assert page.locator("#proteins th[aria-sort]").get_attribute("aria-sort") == "descending"
    heading.click()
    assert ids(page)[:3] == ["p0", "p1", "p2"]


def test_what_is_shown_is_saved_and_copied_as_a_table(page: Any, tmp_path: Path) -> None:
    page.get_by_label("sea water: decision").select_option(label="accept")
    with page.expect_download() as download:
        page.get_by_label("Download the proteins shown of sea water as TSV").click()
    assert download.value.suggested_filename == "small-sea-water-proteins.tsv"
    path = tmp_path / "saved.tsv"
    download.value.save_as(path)
    text = path.read_text(encoding="utf-8")
    header, first, *rest = [line.split("\t") for line in text.splitlines()]
    assert header == (
        [
            "id",
            "predicted_class",
            "confidence",
            "lower",
            "upper",
            "decision",
            "note",
            "nearest_known",
            "identity",
        ]
    )
    assert first == ["p0", "Portal", "0", "0", "0.1", "accept", "", "known_0", "0.25"]
    assert [row[0] for row in rest] == ["p3", "p6", "p9"]
    page.locator("#proteins").get_by_role("button", name="Copy").click()
    page.get_by_text("Copied").wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == text


def test_arrow_keys_choose_a_protein_and_enter_puts_it_into_the_address(page: Any) -> None:
    page.locator("#proteins .rows").focus()
    for _ in range(3):
        page.keyboard.press("ArrowDown")
    assert page.locator("#proteins tr[aria-current] th").inner_text() == "p2"
    assert page.locator("#proteins .detail").inner_text() == (
        "p2: predicted Collar, confidence 0.18 (0.08–0.28). Decision: insufficient data. "
        "Note: score below the calibrated scores of this class. "
        "Nearest known protein: known_2, 34 % identity. Link to this protein"
    )
    page.keyboard.press("Enter")
    assert page.evaluate("location.hash") == "#proteins&set=sea%20water&id=p2"
    page.locator("#proteins .rows").focus()
    page.keyboard.press("End")
    assert page.locator("#proteins tr[aria-current] th").inner_text() == "p11"


def test_an_address_that_was_sent_shows_its_protein_or_its_filters(page: Any) -> None:
    page.evaluate("location.hash = '#proteins&set=sea%20water&id=p7'")
    page.reload()
    assert page.locator("#proteins tr[aria-current] th").inner_text() == "p7"
    page.evaluate("location.hash = '#proteins&decision=accept&class=Portal'")
    page.wait_for_timeout(100)
    assert ids(page) == ["p0", "p3", "p6", "p9"]
    assert page.get_by_label("sea water: class").input_value() == "0"
    page.evaluate("location.hash = '#proteins&id=nobody'")
    page.wait_for_timeout(100)
    missing = "sea water has no protein nobody in this table."
    assert page.locator("#proteins .detail").inner_text() == missing


def test_genomes_head_their_proteins(open_page: Any, small: Findings) -> None:
    page = open_page(render(with_proteins(small, 12, n_genomes=2))).page
    heads = page.locator("#proteins tr.genome").all_inner_texts()
    assert heads == ["phage 0: 6 predictions, 2 accepted", "phage 1: 6 predictions, 2 accepted"]
    page.get_by_label("Search sea water by id").fill("phage 1")
    assert ids(page) == [f"p{k}" for k in range(1, 12, 2)]


def test_a_filter_over_twenty_thousand_proteins_is_quick_and_draws_few(
    open_page: Any, small: Findings
) -> None:
    page = open_page(render(with_proteins(small, N_LARGE))).page
    times = sorted(page.evaluate(SEARCHED, word) for word in ("p1", "p19", "7", "p", ""))
    assert times[2] < SLOWEST, times
    assert page.locator("#proteins tbody tr").count() < 60
    page.locator("#proteins .rows").focus()
    page.keyboard.press("End")
    assert page.locator("#proteins tr[aria-current] th").inner_text() == f"p{N_LARGE - 1}"


@pytest.mark.parametrize(("width", "scheme"), [(1440, "light"), (1024, "dark"), (390, "light")])
def test_the_table_is_accessible_and_whole_at_every_width(
    width: int, scheme: str, open_page: Any, small: Findings
) -> None:
    found = with_proteins(small, 40)
    page = open_page(render(found), width, color_scheme=scheme, bypass_csp=True).page
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    violations = Axe().run(page, "#proteins").response["violations"]
    assert [entry["id"] for entry in violations] == []


def test_two_query_sets_have_a_table_each(open_page: Any, small: Findings) -> None:
    (query_set,) = with_proteins(small).queries
    found = replace(small, queries=(query_set, replace(query_set, name="soil")), lists=())
    page = open_page(render(found)).page
    page.evaluate("location.hash = '#proteins&set=soil&id=p3'")
    page.locator("#proteins tr[aria-current]").wait_for()
    assert page.get_by_label("Search sea water by id").is_visible()
    assert page.locator("#widget-proteins-2-soil tr[aria-current] th").inner_text() == "p3"
    assert page.locator("#widget-proteins-1-sea-water tr[aria-current]").count() == 0
