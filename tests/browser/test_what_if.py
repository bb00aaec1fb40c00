"""The sliders in a real browser: the same numbers as in Python, by mouse and by keyboard."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from credence.findings import Findings, WhatIf
from credence.report.html import render
from moved_curves import curves_at
from shift_findings import NAMES, what_if

TOLERANCE = 1e-6  # densities have nine digits on the page: 1e-8 of a confidence

# What the script drew last: it tells each time.
LISTEN = """() => {
  window.last = null;
  const widget = document.querySelector('[data-widget="what-if"]');
  widget.addEventListener("what-if", (event) => { window.last = event.detail; });
}"""


@pytest.fixture
def page(open_page: Any, mixed_page: str) -> Any:
    found = at_sliders(open_page(mixed_page).page)
    found.evaluate(LISTEN)
    return found


def at_sliders(page: Any) -> Any:
    """Return a page whose sliders were opened by a link to them."""
    page.evaluate("location.hash = '#what-if'")
    page.locator(".what-if-slider").first.wait_for()
    return page


def slider(page: Any, class_: int) -> Any:
    return page.locator(".what-if-slider input").nth(class_)


def drawn(page: Any, found: WhatIf) -> tuple[list[float], float]:
    """Return the composition drawn, and how far its curves are from Python's."""
    detail = page.evaluate("window.last")
    expected = curves_at(found, np.array(detail["share"]))
    far = 0.0
    for curve, right in zip(detail["curves"], expected, strict=True):
        if curve is None:
            assert np.isnan(right).all()
            continue
        far = max(far, float(np.abs(np.array(curve) - right).max()))
    return detail["share"], far


@pytest.mark.parametrize("method", ["kernel", "kernel(prior_weight=0.0)", "histogram", "platt"])
def test_curves_are_those_of_python_at_every_place_of_the_sliders(
    open_page: Any, mixed: Findings, method: str
) -> None:
    from dataclasses import replace

    found = what_if(method)
    page = at_sliders(open_page(render(replace(mixed, what_if=found))).page)
    page.evaluate(LISTEN)
    for class_, value in ((0, 12.3), (1, 80.0), (2, 0.0), (0, 100.0), (1, 0.1), (2, 99.9)):
        slider(page, class_).fill(str(value))
        share, far = drawn(page, found)
        assert share[class_] == pytest.approx(value / 100)
        assert sum(share) == pytest.approx(1.0)
        assert far < TOLERANCE


def test_the_others_keep_their_proportions(page: Any) -> None:
    assert what_if().calibration_share[0] > 0
    _, second, third = what_if().calibration_share
    slider(page, 0).fill("10")
    share = page.evaluate("window.last.share")
    assert share[1] / share[2] == pytest.approx(second / third)
    shown = page.locator(".what-if-slider output").all_inner_texts()
    assert shown[0] == "10.0 %"


def test_after_a_class_was_all_the_others_come_back_as_in_calibration(page: Any) -> None:
    _, second, third = what_if().calibration_share
    slider(page, 0).fill("100")
    slider(page, 0).fill("50")
    share, far = drawn(page, what_if())
    assert share == pytest.approx(
        [0.5, 0.5 * second / (second + third), 0.5 * third / (second + third)]
    )
    assert far < TOLERANCE


def test_presets_and_reset_draw_their_compositions(page: Any) -> None:
    buttons = page.locator(".what-if-presets button")
    assert buttons.all_inner_texts() == [
        "Reset: the calibration set",
        "sea water (estimated)",
        "all classes alike",
    ]
    buttons.nth(1).click()
    share, far = drawn(page, what_if())
    assert share == pytest.approx([0.2, 0.7, 0.1])
    assert far < TOLERANCE
    assert page.locator(".what-if-status").inner_text() == "Drawn for sea water (estimated)."
    buttons.nth(2).click()
    assert page.evaluate("window.last.share") == pytest.approx([1 / 3] * 3)
    buttons.nth(0).click()
    assert page.evaluate("window.last.share") == pytest.approx(what_if().calibration_share)
    before, now = (page.locator(f".what-if-{kind}").first for kind in ("before", "now"))
    assert before.get_attribute("d") == now.get_attribute("d")


def test_the_keyboard_reaches_everything_and_moves_the_sliders(page: Any) -> None:
    page.locator(".what-if-presets button").first.focus()
    names = []
    for _ in range(5):
        page.keyboard.press("Tab")
        names.append(
            page.evaluate(
                """() => {
                  const at = document.activeElement;
                  return at.textContent || at.labels[0].textContent;
                }"""
            )
        )
    assert names == ["sea water (estimated)", "all classes alike", *NAMES]
    before = page.evaluate("document.activeElement.value")
    page.keyboard.press("ArrowRight")
    share, far = drawn(page, what_if())
    assert share[2] == pytest.approx(float(before) / 100 + 0.001, abs=6e-4)
    assert far < TOLERANCE
    assert page.evaluate("document.activeElement.getAttribute('aria-valuetext')").endswith(" %")


def test_each_class_has_its_words_and_a_class_never_predicted_no_curve(page: Any) -> None:
    assert page.locator(".what-if-panel h4").all_inner_texts() == list(NAMES[:2])
    words = page.locator(".what-if-words").first.inner_text()
    assert words.startswith("At score 6.8: 0.")
    assert words.endswith("proteins.")
    slider(page, 2).fill("100")  # nobody predicted first is right now
    assert (
        page.locator(".what-if-words")
        .first.inner_text()
        .endswith("too few, or all alike, for a curve.")
    )


def test_a_class_that_calibration_lacks_cannot_be_moved(open_page: Any, mixed: Findings) -> None:
    from dataclasses import replace

    found = what_if()
    parts = tuple(part for part in found.parts if part.true != 2)
    share = np.array([*found.calibration_share[:2], 0.0])
    lacking = replace(found, parts=parts, calibration_share=tuple(share / share.sum()))
    page = at_sliders(open_page(render(replace(mixed, what_if=lacking))).page)
    page.evaluate(LISTEN)
    assert slider(page, 2).is_disabled()
    slider(page, 0).fill("30")
    assert page.evaluate("window.last.share") == pytest.approx([0.3, 0.7, 0.0])


@pytest.mark.parametrize("width", [360, 1200])
def test_nothing_is_wider_than_the_screen(
    open_page: Any, mixed_page: str, width: int, screenshots: Path | None
) -> None:
    page = at_sliders(open_page(mixed_page, width=width).page)
    widget = page.locator('[data-widget="what-if"]')
    for part in (
        widget,
        page.locator(".what-if-slider").first,
        page.locator(".what-if-panel").last,
    ):
        box = part.bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width
    if screenshots is not None:
        page.locator("#shift").screenshot(path=screenshots / f"what-if-{width}.png")


def test_without_scripts_the_section_stands_and_the_sliders_are_not_there(
    open_page: Any, mixed_page: str
) -> None:
    page = open_page(mixed_page, scripts=False).page
    assert page.locator('[data-widget="what-if"]').is_hidden()
    assert page.locator("#figure-shift-1-sea-water svg").is_visible()
    assert "mixed otherwise than in calibration" in page.locator("#shift .lead").inner_text()


@pytest.mark.long
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_there_is_no_serious_finding_of_accessibility(
    open_page: Any, mixed_page: str, scheme: str
) -> None:
    from axe_playwright_python.sync_playwright import Axe

    opened = open_page(mixed_page, color_scheme=scheme, bypass_csp=True)
    opened.page.evaluate("document.querySelectorAll('details').forEach((one) => one.open = true)")
    found = Axe().run(opened.page, "#shift").response["violations"]
    serious = [
        (entry["id"], [node["html"][:150] for node in entry["nodes"]][:3])
        for entry in found
        if entry["impact"] in ("serious", "critical")
    ]
    assert serious == []


def test_a_curve_is_saved_as_it_stands_at_the_mix_chosen(page: Any, tmp_path: Path) -> None:
    panel = page.locator(".what-if-panel").first
    before = panel.locator(".what-if-now").get_attribute("d")
    slider(page, 0).fill("0.9")
    now = panel.locator(".what-if-now").get_attribute("d")
    assert now != before
    with page.expect_download() as download:
        panel.get_by_role("button", name="SVG").click()
    path = tmp_path / str(download.value.suggested_filename)
    download.value.save_as(path)
    text = path.read_text(encoding="utf-8")
    assert "-what-if-" in path.name
    assert now in text and " class=" not in text and "var(" not in text
