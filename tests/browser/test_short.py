"""The page is short before anything is opened: on the screen, in print, and in bytes."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from credence.findings import Findings, Setting
from credence.report.html import render
from many_classes import enlarged
from small_findings import with_proteins

MOST_PIXELS, MOST_WORDS = 7200, 2500  # eight screens of 900
MOST_SHEETS = {11: 2, 60: 4}
MOST_WORDS_IN_ALL = 6000  # with everything opened, but for the text of figures
MOST_BYTES = {11: 2_000_000, 60: 8_000_000}
SLOWEST = 2000  # milliseconds to the first paint; half a second where nothing else runs
N_METHODS = 8
MEASURED = """() => ({
  height: document.documentElement.scrollHeight,
  words: document.body.innerText.split(/\\s+/).filter(Boolean).length,
  painted: performance.getEntriesByName("first-contentful-paint")[0].startTime,
})"""
PAGE_OF_PDF = rb"/Type\s*/Page\b(?!s)"

FEW = pytest.param(11, id="11 classes")
MANY = pytest.param(60, id="60 classes", marks=pytest.mark.long)


@pytest.fixture(scope="module")
def page_of(small: Findings) -> Any:
    return cache(lambda n_classes: render(enlarged(small, n_classes, N_METHODS)))


@pytest.mark.parametrize("n_classes", [FEW, MANY])
def test_before_anything_is_opened_the_page_is_eight_screens_long(
    n_classes: int, open_page: Any, page_of: Any
) -> None:
    page = open_page(page_of(n_classes), 1440).page
    page.wait_for_timeout(200)
    found = page.evaluate(MEASURED)
    assert found["height"] <= MOST_PIXELS
    assert found["words"] <= MOST_WORDS
    assert found["painted"] <= SLOWEST
    assert len(page_of(n_classes).encode()) <= MOST_BYTES[n_classes]
    # Every class is there, and all of it is there to be opened.
    assert page.locator(".tiles a").count() == page.locator("article.panel").count() > 5


IN_ALL = """() => {
  const whole = document.body.cloneNode(true);
  for (const part of whole.querySelectorAll("svg, script")) part.remove();
  return whole.textContent.split(/\\s+/).filter(Boolean).length;
}"""


def test_with_everything_opened_the_page_has_at_most_6000_words(
    open_page: Any, small: Findings
) -> None:
    page = open_page(render(with_proteins(enlarged(small, 11, N_METHODS))), 1440).page
    assert 1000 < page.evaluate(IN_ALL) <= MOST_WORDS_IN_ALL


# Words of sentences that are shown: neither tables, nor numbers, nor what is folded.
WORDS_OF_SECTIONS = """() => {
  const apart = "details, table, .tiles, .tools, .answers, .panel, .widget";
  const count = (part) => part.innerText.split(/\\s+/).filter(Boolean).length;
  const sections = [...document.querySelectorAll("main > section:not(#appendix)")];
  return sections.map((section) => {
    const parts = [...section.querySelectorAll("p:not(.documentation), figcaption, li")]
      .filter((part) => part.getClientRects().length && !part.closest(apart));
    return [section.id, parts.reduce((sum, part) => sum + count(part), 0)];
  });
}"""
MOST_OF_SECTION = 120


def test_every_section_has_at_most_120_words_of_sentences(open_page: Any, small: Findings) -> None:
    page = open_page(render(with_proteins(enlarged(small, 11, N_METHODS))), 1440).page
    words = dict(page.evaluate(WORDS_OF_SECTIONS))
    assert {"first", "proteins", "classes", "measuring", "mistakes"} <= words.keys()
    assert max(words.values()) <= MOST_OF_SECTION, words


@pytest.mark.parametrize("n_classes", [FEW, MANY])
def test_what_is_printed_is_a_summary_of_two_pages_unless_all_is_opened(
    n_classes: int, open_page: Any, page_of: Any
) -> None:
    page = open_page(page_of(n_classes), 1440).page
    sheets = len(re.findall(PAGE_OF_PDF, page.pdf(prefer_css_page_size=True)))
    assert sheets <= MOST_SHEETS[n_classes]
    page.emulate_media(media="print")
    shown = page.locator("section:visible")
    names = [section.get_attribute("id") for section in shown.all()]
    assert names == ["first", "classes", "measuring"]
    assert page.locator("article.panel:visible").count() == 0
    page.emulate_media(media="screen")
    page.get_by_role("button", name="Open everything").click()
    page.emulate_media(media="print")
    assert page.locator("section:visible").last.get_attribute("id") == "appendix"
    n_panels = page.locator("article.panel").count()
    assert page.locator("article.panel:visible").count() == n_panels > 5


@pytest.mark.long
def test_a_long_table_shows_its_first_rows_until_all_are_asked_for(
    open_page: Any, small: Findings
) -> None:
    many = tuple(Setting(name=f"setting {number}", value="1") for number in range(30))
    text = render(replace(small, provenance=replace(small.provenance, settings=many)))
    page = open_page(text, 1440).page
    page.evaluate("location.hash = '#settings'")
    rows = page.locator("#settings .scroll").last.locator("tbody tr:visible")
    assert rows.count() == 24
    page.locator("#settings").get_by_label("Filter: Settings").fill("setting 29")
    assert rows.count() == 1
    page.locator("#settings").get_by_label("Filter: Settings").fill("")
    n_all = rows.count()
    assert n_all > 30
    assert page.locator("#settings .more-rows").count() == 0
    page.reload()
    assert rows.count() == 24
    page.get_by_role("button", name=f"Show all {n_all} rows").click()
    assert rows.count() == n_all
