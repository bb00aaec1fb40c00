"""How the page looks: at three widths, in print, dark, to those who do not see it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe

from credence.findings import Findings, NoveltyFinding
from credence.report.html import render
from credence.report.page_data import render_index, report_record
from small_events import event, finding

WIDTHS = (360, 800, 1400)
OVERFLOWING = """() => [...document.querySelectorAll("main *")]
  .filter((one) => !one.closest(".scroll, .glance, svg, .skip"))
  .filter((one) => one.getBoundingClientRect().right > document.documentElement.clientWidth + 1)
  .map((one) => one.outerHTML.slice(0, 120))"""
OPEN_ALL = """() => {
  for (const one of document.querySelectorAll("#contents button"))
    if (one.textContent === "Open everything") one.click();
  for (const one of document.querySelectorAll("details")) one.open = true;
}"""
CUT_IN_PRINT = """() => [...document.querySelectorAll("main table, main figure")]
  .filter((one) => one.getBoundingClientRect().width > 0)
  .filter((one) => one.getBoundingClientRect().right > document.documentElement.clientWidth + 1)
  .map((one) => one.outerHTML.slice(0, 120))"""
EXAMPLE = Path(__file__).parents[2] / "reports" / "example" / "index.html"
TALLEST = 8000  # CSS pixels of a picture
TIMEOUT = 120_000  # milliseconds; a busy machine draws slowly
PRINTED_WIDTH = 687  # CSS pixels of 182 mm, an A4 sheet within its margins


def picture(page: Any, path: Path, width: int) -> None:
    """Save how the page looks, down to where there is more of the same."""
    height = min(page.evaluate("document.documentElement.scrollHeight"), TALLEST)
    clip = {"x": 0, "y": 0, "width": width, "height": height}
    page.screenshot(path=path, full_page=True, clip=clip, timeout=TIMEOUT)


@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_sticks_out_at_any_width(
    width: int, open_page: Any, small_page: str, hostile_page: str, screenshots: Path | None
) -> None:
    for name, text in (("small", small_page), ("hostile", hostile_page)):
        page = open_page(text, width).page
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.evaluate(OVERFLOWING) == []
        if screenshots is not None:
            picture(page, screenshots / f"{name}-{width}.png", width)


@pytest.mark.long
def test_no_table_and_no_figure_is_cut_in_print(
    open_page: Any, small_page: str, hostile_page: str, screenshots: Path | None
) -> None:
    for name, text in (("small", small_page), ("hostile", hostile_page)):
        page = open_page(text, PRINTED_WIDTH).page
        page.locator("#contents button", has_text="everything").evaluate(
            "button => button.click()"
        )
        page.emulate_media(media="print")
        assert page.evaluate(CUT_IN_PRINT) == []
        if screenshots is not None:
            page.pdf(path=screenshots / f"{name}.pdf", prefer_css_page_size=True)


# What one template makes for each of eleven classes is looked at for two of them.
FOR_TWO_CLASSES = """() => {
  for (const kind of ["article.panel", "figure[id^=figure-halves]", "figure[id^=figure-counting]"])
    [...document.querySelectorAll(kind)].slice(2).forEach((one) => one.remove());
}"""


@pytest.mark.parametrize(
    ("classes", "scheme"),
    [
        pytest.param("two", "light", id="two classes-light"),
        pytest.param("two", "dark", id="two classes-dark", marks=pytest.mark.long),
        pytest.param("all", "light", id="all classes-light", marks=pytest.mark.long),
        pytest.param("all", "dark", id="all classes-dark", marks=pytest.mark.long),
    ],
)
def test_there_is_no_serious_finding_of_accessibility(
    classes: str, scheme: str, open_page: Any
) -> None:
    # What is folded is looked at too.
    opened = open_page(EXAMPLE, color_scheme=scheme, bypass_csp=True)
    if classes == "two":
        n_panels = opened.page.locator("article.panel").count()
        opened.page.evaluate(FOR_TWO_CLASSES)
        assert opened.page.locator("article.panel").count() == 2 < n_panels
    opened.page.evaluate(OPEN_ALL)
    found = Axe().run(opened.page).response["violations"]
    serious = [
        (entry["id"], [node["html"][:150] for node in entry["nodes"]][:3])
        for entry in found
        if entry["impact"] in ("serious", "critical")
    ]
    assert serious == []


@pytest.mark.parametrize(
    ("width", "fragment", "scheme"),
    [(1440, "", "dark"), (1440, "#class-1-portal", "light"), (390, "#contents", "light")],
)
def test_what_a_reader_opens_is_accessible(
    width: int, fragment: str, scheme: str, open_page: Any, small_page: str
) -> None:
    opened = open_page(small_page, width, color_scheme=scheme, bypass_csp=True)
    opened.page.evaluate(f"location.hash = '{fragment}'")
    if width < 860:
        opened.page.get_by_role("button", name="Contents").click()
    assert [entry["id"] for entry in Axe().run(opened.page).response["violations"]] == []


LONG = "the true class is one of Major tail, Minor tail, Tail fiber, Tail shaft, Baseplate"
SCROLLING = """() => [...document.querySelectorAll("#events .scroll")]
  .filter((one) => one.getClientRects().length > 0 && one.scrollWidth > one.clientWidth + 1)
  .map((one) => one.textContent.slice(0, 80))"""


@pytest.mark.long
@pytest.mark.parametrize("width", [400, 1000, 1600])
def test_events_are_read_without_moving_tables_aside(
    width: int, small: Findings, open_page: Any, screenshots: Path | None
) -> None:
    some = (event(), event("tail", words=LONG), event("likely", words="'score' >= 0.1"))
    rare = event("rare", note="too few calibration proteins", reliability=(), learning=())
    page = render(replace(small, events=finding(events=(*some, rare))))
    opened = open_page(page, width, bypass_csp=True)
    opened.page.evaluate(OPEN_ALL)
    if screenshots is not None:
        opened.page.locator("#events").screenshot(path=screenshots / f"events-{width}.png")
    assert opened.page.evaluate(OVERFLOWING) == []
    if width >= 1000:  # on a telephone a table is moved within its frame
        assert opened.page.evaluate(SCROLLING) == []
    found = Axe().run(opened.page, "#events").response["violations"]
    assert [one["id"] for one in found if one["impact"] in ("serious", "critical")] == []
    assert opened.errors == []


@pytest.fixture(scope="session")
def page_with_novelty(small: Findings) -> str:
    bins = {"edges": (0.0, 1.0, 2.0, 3.0), "calibration_counts": (300, 80, 20)}
    counts = {
        "n": 45,
        "n_placed": 43,
        "n_flagged": 3,
        "n_repeats": 2,
        "n_off": 4,
        "use_counts": (25, 15, 3),
    }
    means = {"confidence_flagged": 0.9, "confidence_others": 0.8}
    found = NoveltyFinding(
        name="mine",
        features="composition",
        flag=0.95,
        n_calibration=400,
        n_families=300,
        n_training=20,
        flag_distance=1.5,
        **bins,
        **counts,
        **means,
    )
    return render(replace(small, novelties=(found,)))


@pytest.mark.long
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_proteins_unlike_any_are_seen_by_all(
    scheme: str, open_page: Any, page_with_novelty: str, screenshots: Path | None
) -> None:
    opened = open_page(page_with_novelty, color_scheme=scheme, bypass_csp=True)
    opened.page.evaluate(OPEN_ALL)
    assert "What to do with the flagged" in opened.page.inner_text("#novelty")
    found = Axe().run(opened.page, "#novelty").response["violations"]
    assert [one["id"] for one in found if one["impact"] in ("serious", "critical")] == []
    for width in WIDTHS:
        opened.page.set_viewport_size({"width": width, "height": 900})
        assert opened.page.evaluate(OVERFLOWING) == []
        if screenshots is not None:
            section = opened.page.locator("#novelty")
            section.screenshot(path=screenshots / f"novelty-{scheme}-{width}.png")
    opened.page.set_viewport_size({"width": PRINTED_WIDTH, "height": 900})
    opened.page.emulate_media(media="print")
    assert opened.page.evaluate(CUT_IN_PRINT) == []
    if screenshots is not None:
        opened.page.locator("#novelty").screenshot(
            path=screenshots / f"novelty-{scheme}-print.png"
        )


@pytest.mark.long
def test_the_page_of_a_real_run_is_whole_at_every_width_and_in_print(
    open_page: Any, screenshots: Path | None
) -> None:
    page = open_page(EXAMPLE).page
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.evaluate(OVERFLOWING) == []
        if screenshots is not None:
            picture(page, screenshots / f"example-{width}.png", width)
    page.set_viewport_size({"width": PRINTED_WIDTH, "height": 900})
    page.emulate_media(media="print")
    assert page.evaluate(CUT_IN_PRINT) == []
    if screenshots is not None:
        page.pdf(path=screenshots / "example.pdf", prefer_css_page_size=True)


def test_the_index_of_runs_is_quiet_and_leads_to_the_pages(
    open_page: Any, small: Any, tmp_path: Path
) -> None:
    folder = tmp_path / "reports" / "small"
    folder.mkdir(parents=True)
    (folder / "index.html").write_text(render(small), encoding="utf-8")
    index = folder.parent / "index.html"
    index.write_text(render_index({"small": report_record(small)}), encoding="utf-8")
    opened = open_page(index)
    opened.page.get_by_role("link", name="small").click()
    assert opened.page.inner_text("h1") == "A small run"
    opened.requests.remove((folder / "index.html").resolve().as_uri())


def test_all_can_be_reached_by_keyboard_in_reading_order(open_page: Any, small_page: str) -> None:
    page = open_page(small_page).page
    reached = []
    for _ in range(12):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.textContent.trim().slice(0, 30)"))
    assert reached[0] == "To the content"
    assert reached[1:3] == ["Do this next", "Classes at a glance"]


# Pixels of the texts of each drawing that is shown, at the size at which it is shown.
SIZES = """() => [...document.querySelectorAll("article.panel.chosen figure svg")].map((svg) => {
  const scale = svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
  return [...svg.querySelectorAll("text")]
    .map((text) => scale * parseFloat(getComputedStyle(text).fontSize));
}).flat()"""


def test_text_of_figures_is_eleven_to_twelve_pixels_where_they_have_their_width(
    open_page: Any, small_page: str
) -> None:
    page = open_page(small_page, 1000).page
    page.evaluate("location.hash = '#class-1-portal'")
    page.locator("#class-1-portal").wait_for()
    sizes = page.evaluate(SIZES)
    assert len(sizes) > 20
    assert min(sizes) >= 10.9 and max(sizes) <= 13.1, (min(sizes), max(sizes))
