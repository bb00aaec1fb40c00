"""What is shown stands in the address: one class at a time, and parts that are folded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def page(open_page: Any, small_page: str) -> Any:
    return open_page(small_page).page


def shown(page: Any) -> list[str]:
    """Return the classes that are shown."""
    return [
        panel.locator("h3").inner_text()
        for panel in page.locator("article.panel").all()
        if panel.is_visible()
    ]


def fragment(page: Any) -> str:
    return str(page.evaluate("location.hash"))


def is_in_sight(page: Any, name: str) -> bool:
    top = page.evaluate(f"document.getElementById('{name}').getBoundingClientRect().top")
    return -1 <= top < 500


def test_no_class_is_open_until_one_is_chosen_from_the_small_diagrams(page: Any) -> None:
    assert shown(page) == []
    page.locator(".tiles a", has_text="Tail fiber").click()
    assert shown(page) == ["Tail fiber"]
    assert fragment(page) == "#class-2-tail-fiber"
    assert is_in_sight(page, "class-2-tail-fiber")
    page.locator(".strips tbody a", has_text="Portal").first.evaluate("link => link.click()")
    assert shown(page) == ["Portal"]


def test_the_back_button_leads_to_the_class_before(page: Any) -> None:
    page.locator(".tiles a", has_text="Tail fiber").click()
    page.locator("#contents select").select_option(label="Portal")
    assert (shown(page), fragment(page)) == (["Portal"], "#class-1-portal")
    page.go_back()
    assert (shown(page), fragment(page)) == (["Tail fiber"], "#class-2-tail-fiber")
    assert page.locator("#contents select").input_value() == "class-2-tail-fiber"
    page.go_back()
    assert (shown(page), fragment(page)) == ([], "")
    page.go_forward()
    assert shown(page) == ["Tail fiber"]


def test_an_address_that_was_sent_opens_the_same_class(page: Any) -> None:
    page.locator(".tiles a", has_text="Tail fiber").click()
    page.reload()
    assert shown(page) == ["Tail fiber"]
    assert is_in_sight(page, "class-2-tail-fiber")
    # Another part of the page leaves the class open; the overview closes it.
    page.locator("#contents a", has_text="Confusion matrix").click()
    assert shown(page) == ["Tail fiber"]
    page.locator("#contents a", has_text="Classes at a glance").click()
    assert shown(page) == []


def test_a_link_into_what_is_folded_opens_it(page: Any) -> None:
    assert not page.locator("#figure-methods-nll").is_visible()
    page.evaluate("location.hash = '#figure-methods-nll'")
    page.locator("#figure-methods-nll").wait_for()
    assert is_in_sight(page, "figure-methods-nll")


def test_an_address_that_nothing_bears_shows_the_page_as_it_is(
    open_page: Any, small_page: str, tmp_path: Path
) -> None:
    page = open_page(small_page).page
    for name in ("#no-such-part", "#&&", "#%zz&id=1", "#class-1-portal&other"):
        page.evaluate(f"location.hash = '{name}'")
        page.wait_for_timeout(50)
    assert shown(page) == ["Portal"]


def test_everything_is_opened_by_one_button_and_closed_by_it(page: Any) -> None:
    button = page.get_by_role("button", name="Open everything")
    button.click()
    assert shown(page) == ["Portal", "Tail fiber"]
    folded = "[...document.querySelectorAll('main details')].map((one) => one.open)"
    assert set(page.evaluate(folded)) == {True}
    button.click()
    assert shown(page) == []
    assert set(page.evaluate(folded)) == {False}


def test_without_scripts_everything_is_open(open_page: Any, small_page: str) -> None:
    page = open_page(small_page, scripts=False).page
    assert shown(page) == ["Portal", "Tail fiber"]
    for part in page.locator("main details > *:not(summary)").all():
        assert part.bounding_box()["height"] > 0 or part.evaluate("part => part.hidden")
    assert page.locator("main details p").first.is_visible()
