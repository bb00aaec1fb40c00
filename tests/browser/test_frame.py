"""The page's policy, kept by a browser: nothing runs or loads but what belongs to it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from credence.report.html import render

ATTACKS = """() => {
  window.ran = [];
  const script = document.createElement("script");
  script.textContent = "window.ran.push('script')";
  document.body.append(script);
  document.body.insertAdjacentHTML(
    "beforeend",
    `<img src="data:image/png;base64,AAAA" onerror="window.ran.push('handler')">`
      + `<b id="styled" style="position: fixed">x</b>`);
}"""


def test_a_page_opens_without_an_error_or_a_request(open_page: Any, small_page: str) -> None:
    opened = open_page(small_page)
    assert opened.page.title() == "A small run (simulated)"
    assert len(opened.requests) == 1


def test_a_page_without_scripts_shows_every_section(open_page: Any, small_page: str) -> None:
    page = open_page(small_page, scripts=False).page
    for heading in page.locator("h2").all():
        assert heading.is_visible()


def test_texts_of_an_input_do_not_run(open_page: Any, hostile_page: str) -> None:
    opened = open_page(hostile_page)
    dialogs: list[str] = []
    opened.page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    opened.page.wait_for_timeout(200)
    assert dialogs == []
    assert "<script>alert(1)</script>" in opened.page.inner_text("h1")


def test_scripts_styles_and_handlers_put_in_later_are_refused(
    open_page: Any, small_page: str
) -> None:
    opened = open_page(small_page)
    opened.page.evaluate(ATTACKS)
    opened.page.wait_for_timeout(200)
    assert opened.page.evaluate("window.ran") == []
    position = "getComputedStyle(document.getElementById('styled')).position"
    assert opened.page.evaluate(position) == "static"
    refused = [text for text in opened.errors if "Content Security Policy" in text]
    assert len(refused) == len(opened.errors) == 3
    opened.errors.clear()


def test_a_page_of_a_mail_attachment_is_the_same(
    open_page: Any, small: Any, tmp_path: Path
) -> None:
    # A name with spaces and signs in a folder of its own, as mail programs save it.
    path = tmp_path / "Temp #1 (2)" / "index%20 ü.html"
    path.parent.mkdir()
    path.write_text(render(small), encoding="utf-8")
    assert open_page(path).page.locator("section").count() == 6
