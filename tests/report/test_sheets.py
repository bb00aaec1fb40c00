from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from typing import Any

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from credence.findings import Findings
from credence.report.journal.all_figures import (
    JOURNAL_FIGURES,
    ClassPanel,
    Heat,
    JournalFigure,
    PanelGrid,
    RankPlot,
)
from credence.report.journal.layout import TALLEST_MM, labels, width_mm, wrapped
from credence.report.journal.writing_figures import columns_of, drawing, parts_of, rendered

BY_NAME = {journal_figure.name: journal_figure for journal_figure in JOURNAL_FIGURES}
MM_PER_INCH = 25.4
LONG = "a protein of the collar that nobody has seen outside a marsh"


def body_of(name: str, findings: Findings) -> Any:
    body = BY_NAME[name].build(findings)
    assert body is not None
    return body


def many(grid: PanelGrid, n: int, title: str = "") -> PanelGrid:
    panels = (replace(grid.panels[0], title=f"{title} {k}".strip()) for k in range(n))
    return replace(grid, panels=tuple(panels))


def test_figures_sort_by_their_numbers_and_have_names_of_their_own() -> None:
    stems = [journal_figure.stem for journal_figure in JOURNAL_FIGURES]
    assert stems == sorted(stems)
    assert len({journal_figure.name for journal_figure in JOURNAL_FIGURES}) == len(JOURNAL_FIGURES)


def test_findings_give_the_figures_that_they_hold(small: Findings) -> None:
    made = [
        journal_figure.number
        for journal_figure in JOURNAL_FIGURES
        if journal_figure.build(small) is not None
    ]
    assert made == [
        "01a",
        "01b",
        "01c",
        "03",
        "04",
        "05",
        "06",
        "09",
        "10",
        "12",
        "14",
        "17",
        "18",
    ]


def test_a_method_of_other_authors_is_a_baseline_without_a_list(small: Findings) -> None:
    ours, others = (
        replace(small.methods[0], reference=text)
        for text in ("Salamon et al. 2023, Eq. 1", "Somebody 2031")
    )
    for methods, is_made in (((ours,), False), ((ours, others), True)):
        body = BY_NAME["baselines"].build(replace(small, methods=methods))
        assert (body is not None) is is_made


def test_a_class_that_was_never_predicted_has_no_panel(small: Findings) -> None:
    titles = [panel.title for panel in body_of("confidence", small).panels]
    assert titles == ["Portal", "Tail fiber"]


@pytest.mark.parametrize("name", ["confidence", "reverse-confusion"])
@pytest.mark.parametrize("format_", ["pdf", "svg", "png"])
def test_the_same_numbers_give_the_same_bytes(small: Findings, name: str, format_: str) -> None:
    body = body_of(name, small)
    part = parts_of(body, [85])[0]
    first, second = (rendered(drawing(body, part, is_simulated=True), format_) for _ in range(2))
    assert first == second
    assert not re.search(rb"CreationDate|20\d\d-\d\d-\d\d|matplotlib.org|Matplotlib", first)


def test_letters_stay_letters_and_fonts_are_in_the_file(small: Findings) -> None:
    body = body_of("confidence", small)
    figure = drawing(body, parts_of(body, [85])[0], is_simulated=False)
    texts = {node.text for node in ET.fromstring(rendered(figure, "svg")).iter() if node.text}
    assert {"Portal", "Tail fiber", "confidence"} <= texts
    pdf = rendered(figure, "pdf")
    assert b"/FontFile2" in pdf
    assert b"/Type3" not in pdf


@pytest.mark.parametrize("width", [85, 174])
def test_figures_are_as_wide_as_columns_and_no_taller_than_a_page(
    small: Findings, width: int
) -> None:
    grid = many(body_of("confidence", small), 60, LONG)
    parts = parts_of(grid, [width])
    shown = [panel.title for part in parts for panel in part.panels]
    assert shown == [panel.title for panel in grid.panels]
    assert [part.suffix for part in parts][:2] == [f"{width}mm-1", f"{width}mm-2"]
    wide, tall = drawing(grid, parts[-1], is_simulated=True).get_size_inches() * MM_PER_INCH
    assert wide == pytest.approx(width)
    whole, height = drawing(grid, parts[0], is_simulated=True).get_size_inches() * MM_PER_INCH
    assert whole == pytest.approx(width)
    assert tall <= height <= TALLEST_MM


def test_titles_hold_the_whole_name_and_are_no_wider_than_their_panel() -> None:
    for name in (LONG, "x" * 60, "one"):
        lines = wrapped(name, 6.0, 25.0)
        assert "".join(lines).replace(" ", "") == name.replace(" ", "")
        assert max(width_mm(line, 6.0) for line in lines) <= 25.0


def test_names_alike_at_their_beginning_are_numbered_on_an_axis() -> None:
    short = labels((LONG + "1", LONG + "2"))
    assert short[0].startswith("1 a protein")
    assert short[1].startswith("2 a protein")
    assert labels(("Portal", "Collar")) == ("Portal", "Collar")


def test_a_matrix_is_made_only_where_its_names_can_be_read() -> None:
    names = tuple(f"class {k}" for k in range(60))
    heat = Heat(names, ((0.5,) * 60,) * 60, "share", "")
    assert [part.width for part in parts_of(heat)] == [174]


def test_no_text_of_a_sheet_leaves_it(small: Findings) -> None:
    for name in ("confidence", "reverse-confusion", "nll"):
        body = body_of(name, small)
        if isinstance(body, PanelGrid):
            body = many(body, 3, LONG)
        part = parts_of(body, [85])[0]
        figure = drawing(body, part, is_simulated=True)
        FigureCanvasAgg(figure).draw()
        width, height = figure.bbox.width, figure.bbox.height
        places = [text for axes in figure.axes for text in axes.get_yticklabels()]
        for text in (*figure.texts, *(one for one in places if one.get_visible())):
            box = text.get_window_extent()
            if box.width == 0 or not text.get_text():
                continue
            assert box.x0 >= -1, (name, text)
            assert box.x1 <= width + 1, (name, text)
            assert box.y0 >= -1, (name, text)
            assert box.y1 <= height + 1, (name, text)


def test_the_key_of_counts_is_in_whole_numbers() -> None:
    heat = Heat(("A", "B"), ((2770.0, 3.0), (0.0, 41.0)), "proteins", "", is_count=True)
    figure = drawing(heat, parts_of(heat, [85])[0], is_simulated=False)
    FigureCanvasAgg(figure).draw()
    matrix, key = figure.axes
    assert {"1", "10", "100", "1,000"} <= {one.get_text() for one in key.get_yticklabels()}
    assert [text.get_text() for text in matrix.texts] == ["2770", "3", "", "41"]


def test_the_table_holds_the_curve_that_is_drawn(small: Findings) -> None:
    columns = columns_of(body_of("confidence", small))
    curve = next(
        c for c in small.results.curves if (c.method, c.class_name) == ("kernel", "Tail fiber")
    )
    rows = list(zip(*columns.values(), strict=True))
    drawn = [row for row in rows if row[0] == "Tail fiber" and row[1].startswith("confidence")]
    assert [row[3] for row in drawn] == list(curve.score)
    assert [row[5] for row in drawn] == list(curve.value)
    entry = small.results.classes[1]
    within = [row[3] for row in drawn if row[1] == "confidence"]
    assert (min(within), max(within)) >= (entry.score_min, 0)
    assert max(within) <= entry.score_max
    counted = [int(row[8]) for row in rows if row[:2] == ("Tail fiber", "right")]
    assert counted == list(small.results.histograms[1].n_correct)


@pytest.mark.parametrize(
    "journal_figure", JOURNAL_FIGURES, ids=lambda journal_figure: journal_figure.stem
)
def test_every_figure_has_a_table_of_equal_columns(
    small: Findings, journal_figure: JournalFigure
) -> None:
    body = journal_figure.build(small)
    if body is not None:
        assert len({len(column) for column in columns_of(body).values()}) == 1
        assert journal_figure.shows.endswith(".")
        assert "Simulated data." in body.caption


def test_the_method_of_least_loss_is_filled_and_far_ones_are_arrows() -> None:
    nan = float("nan")
    plot = RankPlot(
        ("far", "near", "none"), (9.0, 1.0, nan), (8.0, 0.5, nan), (9.5, 1.5, nan), (5, 5, 0), 1
    )
    grid = PanelGrid((ClassPanel("all", plot),), "held-out NLL", "", "")
    axes = drawing(grid, parts_of(grid, [85])[0], is_simulated=False).axes[0]
    assert axes.get_xlim() == (0.0, 3.0)
    assert {text.get_text() for text in axes.texts} == {"9.00", "–"}
    assert [line.get_marker() for line in axes.get_lines() if line.get_marker() == ">"] == [">"]


def test_names_that_are_markup_stay_text(hostile: Findings) -> None:
    body = body_of("confidence", hostile)
    svg = rendered(drawing(body, parts_of(body, [174])[0], is_simulated=False), "svg")
    kinds = {node.tag.rsplit("}", 1)[-1] for node in ET.fromstring(svg).iter()}
    assert not kinds & {"script", "img", "foreignObject", "a"}
