"""What a reader does with the page: looks up, lays over, sorts, filters, saves, points."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from credence.findings import Findings
from credence.records import from_record, to_record


def opened(page: Any) -> Any:
    """Return a page with all its parts open."""
    page.get_by_role("button", name="Open everything").click()
    return page


@pytest.fixture
def page(open_page: Any, small_page: str) -> Any:
    return opened(open_page(small_page).page)


def test_a_score_looked_up_is_answered_in_natural_frequencies(page: Any) -> None:
    shown = page.inner_text(".lookup")
    # 0.1 + 0.08 · 7, from 0.08 below to 0.04 above
    assert "Of 100 such predictions about 66 are right" in shown
    assert "Portal, score 7: the evidence allows 58 to 70 of 100." in shown
    assert "About 970 independent proteins more of new families" in shown
    page.fill(".lookup input[type=number]", "5.05")
    # between the curve's points at 5 and 5.5: 0.1 + 0.08 · 5.05
    assert "Of 100 such predictions about 50 are right" in page.inner_text(".lookup")


def test_the_score_looked_up_is_marked_in_the_picture_of_its_class(page: Any) -> None:
    marked = page.locator(".strips .here")
    assert marked.count() == 1
    first = marked.get_attribute("x1")
    page.fill(".lookup input[type=number]", "9")
    assert float(marked.get_attribute("x1").rstrip("%")) > float(first.rstrip("%"))
    page.locator(".lookup select").select_option(label="Tail fiber")
    assert page.locator('[data-class="Tail fiber"] .here').count() == 1


def test_beyond_the_scores_seen_the_answer_says_so(page: Any) -> None:
    page.fill(".lookup input[type=number]", "1")
    assert "Calibration saw scores of 2.5 to 10 only" in page.inner_text(".lookup")


def test_a_score_above_the_scale_is_not_answered_as_the_greatest(page: Any) -> None:
    page.fill(".lookup input[type=number]", "9")
    page.fill(".lookup input[type=number]", "12")
    shown = page.inner_text(".lookup [role=status]")
    assert shown == "No score of this classifier is below 0 or above 10: give one from 0 to 10."
    assert page.locator(".strips .here").count() == 0


def test_a_method_laid_over_is_drawn_where_its_numbers_are(page: Any, small: Findings) -> None:
    assert page.locator("path.laid").count() == 0
    page.get_by_role("checkbox", name="class_only").check()
    paths = page.locator("path.laid")
    assert paths.count() == 2
    drawn = paths.first.get_attribute("d")
    svg = page.locator("#figure-confidence-1-portal svg")
    left, top, right, bottom = map(float, svg.get_attribute("data-box").split())
    low, high, first, last = map(float, svg.get_attribute("data-ends").split())
    heights = {float(part.split()[1]) for part in drawn[1:].split("L")}
    # class_only is 0.6 at every score
    assert heights == {round(bottom - (0.6 - first) / (last - first) * (bottom - top), 2)}
    places = [float(part.split()[0]) for part in drawn[1:].split("L")]
    entry = small.results.classes[0]
    bounds = [
        left + (score - low) / (high - low) * (right - left)
        for score in (entry.score_min, entry.score_max)
    ]
    assert places[0] == pytest.approx(bounds[0], abs=0.01)
    assert places[-1] == pytest.approx(bounds[1], abs=0.01)
    page.get_by_role("checkbox", name="class_only").uncheck()
    assert page.locator("path.laid").count() == 0


def test_pointing_at_a_curve_tells_confidence_interval_and_n(page: Any) -> None:
    svg = page.locator("#figure-confidence-1-portal svg")
    svg.scroll_into_view_if_needed()
    box = svg.bounding_box()
    page.mouse.move(box["x"] + box["width"] * 0.6, box["y"] + box["height"] * 0.4)
    message = page.inner_text("#figure-confidence-1-portal .readout")
    assert message.startswith("Score ")
    assert "proteins with scores of" in message
    page.mouse.move(0, 0)
    assert not page.is_visible("#figure-confidence-1-portal .readout")


def test_arrow_keys_go_from_point_to_point(page: Any) -> None:
    drawing = page.locator("#figure-reliability-1-portal .drawing")
    drawing.focus()
    page.keyboard.press("ArrowRight")
    first = page.inner_text("#figure-reliability-1-portal .readout")
    assert first == "confidence 0.38: right 0.40 (0.15–0.70), 10 proteins in 5 families."
    page.keyboard.press("ArrowRight")
    assert page.inner_text("#figure-reliability-1-portal .readout").startswith("confidence 0.62")


def column(table: Any, number: int) -> list[str]:
    rows = table.locator("tbody tr").all()
    return [row.locator("th, td").nth(number).inner_text() for row in rows if row.is_visible()]


def test_a_heading_sorts_by_number_and_unknown_comes_last(page: Any) -> None:
    table = page.locator("table", has=page.locator("caption", has_text="Methods over all")).first
    heading = table.get_by_role("button", name="held-out Brier")
    heading.click()
    ascending = column(table, 0)
    assert table.locator("th[aria-sort]").get_attribute("aria-sort") == "ascending"
    heading.click()
    assert column(table, 0) == ascending[::-1]
    for _ in range(2):  # what is compared with itself has no difference
        table.get_by_role("button", name="NLL minus kernel").click()
        assert column(table, 3)[-1] == "–"


def test_a_filter_leaves_the_rows_that_hold_the_word(page: Any) -> None:
    table = page.locator("table", has=page.locator("caption", has_text="DOME")).first
    page.get_by_label("Filter: DOME").fill("regular")
    assert column(table, 1) == ["Regularization"]
    page.get_by_label("Filter: DOME").fill("")
    assert len(column(table, 1)) > 10


def saved(page: Any, button: Any, folder: Path) -> list[list[str]]:
    with page.expect_download() as download:
        button.click()
    path = folder / download.value.suggested_filename
    download.value.save_as(path)
    assert path.suffix == ".tsv"
    return [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()]


def test_a_table_is_saved_with_intervals_in_columns_of_their_own(
    page: Any, tmp_path: Path
) -> None:
    button = page.get_by_label("Download as TSV: Methods over all classes")
    header, *rows = saved(page, button, tmp_path)
    at = header.index("held-out NLL")
    assert header[at : at + 3] == ["held-out NLL", "held-out NLL lower", "held-out NLL upper"]
    assert rows[0][at : at + 3] == ["0.650", "0.600", "0.750"]
    assert rows[0][0] == "class_only"
    assert {len(row) for row in rows} == {len(header)}


def test_cells_that_look_like_formulas_are_saved_as_text(
    open_page: Any, small: Findings, tmp_path: Path
) -> None:
    from dataclasses import replace

    from credence.report.html import render

    names = {"Portal": "=1+1", "Tail fiber": "@x", "Collar": "-y\tz"}
    text = json.dumps(to_record(small))
    for old, new in names.items():
        text = text.replace(json.dumps(old), json.dumps(new))
    found = replace(from_record(Findings, json.loads(text)), queries=small.queries)
    page = opened(open_page(render(found)).page)
    _, *rows = saved(page, page.get_by_label("Download as TSV: Calibration proteins"), tmp_path)
    assert [row[0] for row in rows] == ["'=1+1", "'@x", "'-y z"]


def test_the_text_to_paste_is_copied(open_page: Any, small_page: str) -> None:
    permissions = ["clipboard-read", "clipboard-write"]
    page = opened(open_page(small_page, permissions=permissions).page)
    page.locator("#publish .tools button", has_text="Copy").first.click()
    page.get_by_text("Copied").wait_for()
    text = page.evaluate("navigator.clipboard.readText()")
    assert text.startswith("Confidence, the probability that a prediction is right")


def test_without_scripts_the_numbers_of_every_control_are_on_the_page(
    open_page: Any, small_page: str
) -> None:
    page = open_page(small_page, scripts=False).page
    assert not page.locator(".widget").first.is_visible()
    text = page.inner_text("#classes")
    assert "0.66 (0.58–0.70)" in text
    assert "About 970 more proteins of new families" in text


def picture(page: Any, kind: str, figure: str, folder: Path) -> Path:
    with page.expect_download() as download:
        page.get_by_label(f"Save as {kind}: {figure}", exact=True).click()
    path = folder / str(download.value.suggested_filename)
    download.value.save_as(path)
    return path


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_figure_is_saved_as_a_drawing_of_its_own(
    scheme: str, open_page: Any, small_page: str, tmp_path: Path
) -> None:
    page = opened(open_page(small_page, color_scheme=scheme).page)
    n_figures = page.locator("main figure").count()
    assert page.locator(".saving").count() == n_figures + 1 > 6  # and the picture of all classes
    path = picture(page, "SVG", "confidence-1-portal", tmp_path)
    assert path.name == "small-confidence-1-portal.svg"
    text = path.read_text(encoding="utf-8")
    root = ElementTree.fromstring(text)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert (
        "var(" not in text
        and "class=" not in text
        and "http" not in text.replace("http://www.w3.org/", "")
    )
    # The colours of paper, also on a dark screen: the curve's blue, dark letters.
    assert "rgb(0, 114, 178)" in text
    letters = next(one for one in root.iter() if one.text == "confidence")
    assert letters.get("fill") == "rgb(26, 27, 28)"
    # Alone in a browser it looks as it does on the page.
    alone = page.context.new_page()
    alone.goto(path.as_uri())
    assert alone.locator("text", has_text="score of the predicted class").is_visible()
    alone.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_picture_of_all_classes_is_saved_with_names_and_numbers(
    scheme: str, open_page: Any, small_page: str, small: Findings, tmp_path: Path
) -> None:
    page = open_page(small_page, color_scheme=scheme).page
    text = picture(page, "SVG", "classes", tmp_path).read_text(encoding="utf-8")
    words = [one.text for one in ElementTree.fromstring(text).iter() if one.text]
    table = page.locator("#first table.strips tbody")
    for name in small.results.class_names:
        assert name in words
    for cell in table.locator("td:not(.strip)").all_inner_texts():
        assert cell in words
    assert words.count("95 % or more right") == 1
    assert "var(" not in text and " class=" not in text
    # Colours of paper, also on a dark screen; what was looked up is not part of the picture.
    assert "rgb(11, 58, 91)" in text and "rgb(217, 95, 2)" not in text
    data = picture(page, "PNG", "classes", tmp_path).read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n" and len(data) > 20_000


def test_every_figure_is_saved_as_a_picture(page: Any, tmp_path: Path) -> None:
    path = picture(page, "PNG", "confidence-1-portal", tmp_path)
    assert path.name == "small-confidence-1-portal.png"
    data = path.read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = struct.unpack(">II", data[16:24])
    box = page.locator("#figure-confidence-1-portal svg").get_attribute("viewBox").split()
    # four dots for each point, whole points
    assert (width, height) == tuple(4 * round(float(side)) for side in box[2:])
    assert len(data) > 5000  # something is drawn
