"""Small screens: contents behind a button, and tables that say that they go on."""

from __future__ import annotations

from typing import Any

import pytest

CUT = """() => [...document.querySelectorAll("main .scroll")]
  .filter((frame) => frame.getClientRects().length > 0)
  .map((frame) => [
    frame.scrollWidth > frame.clientWidth + 1,
    !frame.previousElementSibling.querySelector(".cue").hidden,
  ])"""


@pytest.mark.parametrize("width", [390, 1151])
def test_the_contents_are_behind_a_button(width: int, open_page: Any, small_page: str) -> None:
    page = open_page(small_page, width).page
    menu = page.get_by_role("button", name="Contents")
    link = page.locator("#contents a", has_text="Confusion matrix")
    assert menu.get_attribute("aria-expanded") == "false"
    assert not link.is_visible()
    menu.click()
    assert menu.get_attribute("aria-expanded") == "true"
    link.click()
    assert not link.is_visible()
    # The bar of the button stays in sight, and hides no heading.
    bar = page.locator("#contents").bounding_box()
    assert (bar["y"], bar["height"] < 70) == (0, True)
    assert page.locator("#mistakes h2").bounding_box()["y"] >= bar["height"]


def test_on_wide_screens_and_without_scripts_the_contents_are_open(
    open_page: Any, small_page: str
) -> None:
    page = open_page(small_page, 1152).page
    assert not page.get_by_role("button", name="Contents").is_visible()
    assert page.locator("#contents a").first.is_visible()
    page = open_page(small_page, 390, scripts=False).page
    assert page.locator("#contents a").first.is_visible()


@pytest.mark.parametrize("width", [390, 1440])
def test_a_table_that_is_cut_says_so_until_its_last_column_is_seen(
    width: int, open_page: Any, small_page: str
) -> None:
    page = open_page(small_page, width).page
    page.locator("#contents button", has_text="everything").evaluate("button => button.click()")
    page.wait_for_timeout(100)
    found = page.evaluate(CUT)
    assert all(is_cut == is_marked for is_cut, is_marked in found)
    assert len(found) >= 8
    if width == 1440:
        return
    frame = page.locator("main .scroll:visible").nth(found.index([True, True]))
    cue = frame.locator("xpath=preceding-sibling::*[1]").locator(".cue")
    assert cue.is_visible()
    frame.evaluate("frame => frame.scrollTo(frame.scrollWidth, 0)")
    page.wait_for_timeout(100)
    assert not cue.is_visible()
    left = frame.evaluate("frame => frame.getBoundingClientRect().left")
    for cell in ("thead th", "tbody th"):
        box = frame.locator(cell).first.bounding_box()
        assert box["x"] == pytest.approx(left, abs=1)
