"""What a reader does with the page: sorts, filters, saves, points."""

from __future__ import annotations

import json
import struct
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from credence.findings import Findings, Setting
from credence.records import from_record, to_record
from credence.report.html import render


def opened(page: Any) -> Any:
    """Return a page with all its parts open."""
    page.get_by_role("button", name="Open everything").click()
    return page


@pytest.fixture
def page(open_page: Any, small_page: str) -> Any:
    return opened(open_page(small_page).page)


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


def test_a_filter_leaves_the_rows_that_hold_the_word(open_page: Any, small: Findings) -> None:
    many = tuple(Setting(name=f"setting {number}", value="1") for number in range(12))
    provenance = replace(small.provenance, settings=many)
    page = opened(open_page(render(replace(small, provenance=provenance))).page)
    table = page.locator("table", has=page.locator("caption", has_text="Settings")).first
    page.get_by_label("Filter: Settings").fill("setting 7")
    assert column(table, 0) == ["setting 7"]
    page.get_by_label("Filter: Settings").fill("")
    assert len(column(table, 0)) > 10


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
    names = {"Portal": "=1+1", "Tail fiber": "@x"}
    text = json.dumps(to_record(small))
    for old, new in names.items():
        text = text.replace(json.dumps(old), json.dumps(new))
    found = replace(from_record(Findings, json.loads(text)), queries=small.queries)
    page = opened(open_page(render(found)).page)
    _, *rows = saved(page, page.get_by_label("Download as TSV: Are the confidences"), tmp_path)
    assert [row[0] for row in rows] == ["'=1+1", "'@x"]


def test_without_scripts_the_numbers_of_every_control_are_on_the_page(
    open_page: Any, small_page: str
) -> None:
    page = open_page(small_page, scripts=False).page
    text = page.inner_text("#classes")
    assert "0.66 (0.58–0.70)" in text
    assert "; 970 more of new families would halve the interval" in text


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
    table = page.locator("#classes table.strips tbody")
    for name in small.results.class_names:
        assert name in words
    for cell in table.locator("td:not(.strip)").all_inner_texts():
        assert cell in words
    assert words.count("0.95 or more") == 1
    assert "var(" not in text and " class=" not in text
    # Colours of paper, also on a dark screen.
    assert "rgb(11, 58, 91)" in text
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


def test_what_a_figure_shows_is_saved_as_a_table(page: Any, tmp_path: Path) -> None:
    button = page.get_by_label("Save as TSV: reliability-1-portal")
    header, first, *_ = saved(page, button, tmp_path)
    assert header == ["confidence (mean of bin)", "precision", "in words"]
    assert first == [
        *("0.375", "0.4"),
        "confidence 0.38: right 0.40 (0.15–0.70), 10 proteins in 5 families.",
    ]
    header, first, *_ = saved(page, page.get_by_label("Save as TSV: classes"), tmp_path)
    assert header[:2] == ["predicted as", "predicted"]
    assert first[0] == "Portal" and "confidence under 0.50" in first[-1]


def test_the_confusion_matrix_is_coloured_one_way_at_a_time(page: Any) -> None:
    shown = [figure.is_visible() for figure in page.locator("#matrix figure").all()]
    assert shown == [True, False]
    page.get_by_role("radio", name="By true class").check()
    shown = [figure.is_visible() for figure in page.locator("#matrix figure").all()]
    assert shown == [False, True]
