"""Ten questions that a biologist asks of the page, each answered within two clicks.

A click is a press of a button or a link, or a choice; typing an id into the search counts as one.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from credence.findings import Findings, VerifyClass
from credence.report.html import render
from small_findings import with_proteins

MOST_CLICKS = 2


class Reader:
    """Somebody who clicks, and counts the clicks."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.n_clicks = 0

    def click(self, locator: Any) -> None:
        locator.click()
        self.n_clicks += 1

    def search(self, text: str) -> None:
        self.page.get_by_label("Search sea water by id").fill(text)
        self.n_clicks += 1

    def sees(self, selector: str, text: str) -> None:
        """Fail unless a text stands, visibly, in a part of the page."""
        part = self.page.locator(selector).first
        part.wait_for()
        assert text in part.inner_text(), part.inner_text()
        assert self.n_clicks <= MOST_CLICKS


@pytest.fixture(scope="module")
def page_of_a_run(small: Findings) -> str:
    (lists,) = small.lists
    advice = (VerifyClass(class_name="Collar", n=20, width=0.5, width_after=0.2),)
    asked = replace(lists, n_verify=20, verify=advice)
    files = ("archive.zip", "publication.md")
    return render(replace(with_proteins(replace(small, lists=(asked,))), files=files))


@pytest.fixture
def reader(open_page: Any, page_of_a_run: str) -> Reader:
    return Reader(open_page(page_of_a_run, 1440).page)


def test_which_proteins_shall_i_clone(reader: Reader) -> None:
    reader.sees(".steps", "Work from the 3 accepted predictions of sea water")
    reader.click(reader.page.locator(".steps").get_by_role("link", name="Show them"))
    reader.sees("#proteins tbody", "p0")
    status = reader.page.locator("#proteins .tools [role=status]")
    assert status.inner_text() == "4 of 12 predictions"


def test_is_p1_a_tail_fiber(reader: Reader) -> None:
    reader.search("p1")
    reader.sees("#proteins tbody", "Tail fiber")
    reader.click(reader.page.locator("#proteins tbody tr[data-at] td").first)
    reader.sees("#proteins .detail", "p1: predicted Tail fiber, confidence 0.09 (0.00–0.19)")


def test_why_is_it_not_good_to_use(reader: Reader) -> None:
    reader.sees(".verdict", "3 of 3 classes could not be checked")
    reader.click(reader.page.get_by_role("link", name="checks"))
    reader.sees("#checks", "what was found")


def test_how_many_tail_fibers_are_there_in_my_sample(reader: Reader) -> None:
    row = reader.page.locator("table.strips tbody tr", has_text="Tail fiber").inner_text()
    assert row.split()[:3] == ["Tail", "fiber", "1"]
    assert reader.n_clicks == 0


def test_from_which_score_on_can_i_trust_a_portal(reader: Reader) -> None:
    row = reader.page.locator("table.strips tbody tr", has_text="Portal").inner_text()
    assert row.split()[-1] == "7.5"
    reader.click(reader.page.locator("table.strips").get_by_role("link", name="Portal"))
    reader.sees("#class-1-portal", "A prediction of Portal with score 7 is right")


def test_which_classes_shall_i_leave_alone(reader: Reader) -> None:
    reader.sees(".steps", "Do not interpret Collar: too few known families")


def test_what_shall_i_verify_to_know_more(reader: Reader) -> None:
    reader.sees(".steps", "Verify 20 proteins of sea water to change that: 20 Collar.")
    reader.click(reader.page.get_by_role("link", name="What that shows"))
    reader.sees("#lists", "If you can verify 20 proteins (credence plan names them): 20 Collar")


def test_what_is_a_portal_mistaken_for(reader: Reader) -> None:
    reader.sees("#mistakes", "Most mistakes are predictions of")
    reader.click(reader.page.get_by_role("radio", name="By true class"))
    reader.sees("#figure-mistakes-true", "Read along a row: the diagonal is the recall.")


def test_are_the_confidences_right(reader: Reader) -> None:
    reader.sees("#measuring", "Is it calibrated?")
    reader.sees("#measuring .tiles", "Portal")
    reader.sees("#measuring table", "ECE, debiased")


def test_what_do_i_write_into_my_paper(reader: Reader) -> None:
    reader.click(reader.page.locator("#contents").get_by_role("link", name="publication"))
    reader.sees("#publish", "publication.md has a methods text to paste")
    link = reader.page.locator("#publish").get_by_role("link", name="publication.md")
    assert link.get_attribute("href") == "publication.md"
