"""Figures for journals: what is drawn of a record, where, and what stands beside it."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from credence.evaluation.paper_figures import FIGURES, FigureSource, make_figures
from credence.findings import FigurePanel, FigureRecord, FigureSeries, Findings
from credence.report.journal.layout import TALLEST_MM, axis_labels, letter, width_mm, wrapped
from credence.report.journal.writing_figures import drawing, figure_columns, parts_of, rendered

MM_PER_INCH = 25.4
LONG = "a protein of the collar that nobody has seen outside a marsh"
NAN = float("nan")


def record_of(findings: Findings, name: str = "confidence") -> FigureRecord:
    (found,) = make_figures(
        FigureSource(labelled=None, findings=findings),
        [one for one in FIGURES if one.name == name],
    )
    assert not found.lacks
    return found


def many(record: FigureRecord, n: int, title: str = "") -> FigureRecord:
    panels = (replace(record.panels[0], title=f"{title} {k}".strip()) for k in range(n))
    return replace(record, panels=tuple(panels))


def of_series(*series: FigureSeries, **facts: object) -> FigureRecord:
    return FigureRecord(
        number="09", name="x", panels=(FigurePanel(title="A", series=series),), **facts
    )  # type: ignore[arg-type]


def test_findings_alone_give_what_needs_no_samples(small: Findings) -> None:
    made = [
        one.number
        for one in make_figures(FigureSource(labelled=None, findings=small))
        if not one.lacks
    ]
    assert made == ["01a", "01b", "01c", "02", "18", "19"]


def test_a_class_that_was_never_predicted_has_no_panel(small: Findings) -> None:
    assert [one.title for one in record_of(small).panels] == ["Portal", "Tail fiber"]


@pytest.mark.parametrize("name", ["confidence", "reverse-confusion"])
@pytest.mark.parametrize("format_", ["pdf", "svg", "png"])
def test_the_same_numbers_give_the_same_bytes(small: Findings, name: str, format_: str) -> None:
    body = record_of(small, name)
    part = parts_of(body, [85])[0]
    first, second = (rendered(drawing(body, part, is_simulated=True), format_) for _ in range(2))
    assert first == second
    assert not re.search(rb"CreationDate|20\d\d-\d\d-\d\d|matplotlib.org|Matplotlib", first)


def test_letters_stay_letters_and_fonts_are_in_the_file(small: Findings) -> None:
    body = record_of(small)
    figure = drawing(body, parts_of(body, [85])[0], is_simulated=False)
    texts = {node.text for node in ET.fromstring(rendered(figure, "svg")).iter() if node.text}
    assert {"(a) Portal", "(b) Tail fiber", "confidence"} <= texts
    pdf = rendered(figure, "pdf")
    assert b"/FontFile2" in pdf
    assert b"/Type3" not in pdf


def test_panels_have_letters_after_z_too() -> None:
    assert [letter(at) for at in (0, 25, 26, 53)] == ["a", "z", "aa", "bb"]


@pytest.mark.parametrize("width", [85, pytest.param(174, marks=pytest.mark.long)])
def test_figures_are_as_wide_as_columns_and_no_taller_than_a_page(
    small: Findings, width: int
) -> None:
    grid = many(record_of(small), 60, LONG)
    parts = parts_of(grid, [width])
    assert [at for part in parts for at in part.panels] == list(range(60))
    assert [part.suffix for part in parts][:2] == [f"{width}mm-1", f"{width}mm-2"]
    wide, tall = drawing(grid, parts[-1], is_simulated=True).get_size_inches() * MM_PER_INCH
    assert wide == pytest.approx(width)
    whole, height = drawing(grid, parts[0], is_simulated=True).get_size_inches() * MM_PER_INCH
    assert whole == pytest.approx(width)
    assert tall <= height <= TALLEST_MM


def test_panels_that_belong_together_stand_side_by_side(small: Findings) -> None:
    grid = replace(many(record_of(small), 6, "x"), across=2)
    for width, n_columns in ((85, 2), (174, 2)):
        figure = drawing(grid, parts_of(grid, [width])[0], is_simulated=False)
        assert len({round(axes.get_position().x0, 6) for axes in figure.axes}) == n_columns


def test_all_panels_have_the_same_axes(small: Findings) -> None:
    grid = record_of(small)
    figure = drawing(grid, parts_of(grid, [174])[0], is_simulated=False)
    assert len({(*axes.get_xlim(), *axes.get_ylim()) for axes in figure.axes}) == 1


def test_titles_hold_the_whole_name_and_are_no_wider_than_their_panel() -> None:
    for name in (LONG, "x" * 60, "one"):
        lines = wrapped(name, 6.0, 25.0)
        assert "".join(lines).replace(" ", "") == name.replace(" ", "")
        assert max(width_mm(line, 6.0) for line in lines) <= 25.0


def test_names_alike_at_their_beginning_are_numbered_on_an_axis() -> None:
    short = axis_labels((LONG + "1", LONG + "2"))
    assert short[0].startswith("1 a protein")
    assert short[1].startswith("2 a protein")
    assert axis_labels(("Portal", "Collar")) == ("Portal", "Collar")


def matrix(
    names: tuple[str, ...], values: tuple[tuple[float, ...], ...], key: str
) -> FigureRecord:
    return FigureRecord(number="01a", name="counts", names=names, matrix=values, key=key)


def test_a_matrix_is_made_only_where_its_names_can_be_read() -> None:
    names = tuple(f"class {k}" for k in range(60))
    body = matrix(names, ((0.5,) * 60,) * 60, "share")
    assert [part.width for part in parts_of(body)] == [174]


def test_the_key_of_counts_is_in_whole_numbers() -> None:
    body = matrix(("A", "B"), ((2770.0, 3.0), (0.0, 41.0)), "proteins")
    figure = drawing(body, parts_of(body, [85])[0], is_simulated=False)
    FigureCanvasAgg(figure).draw()
    cells, key = figure.axes
    assert {"1", "10", "100", "1,000"} <= {one.get_text() for one in key.get_yticklabels()}
    assert [text.get_text() for text in cells.texts] == ["2770", "3", "", "41"]


def test_the_diagonal_of_shares_is_marked_and_that_of_counts_is_not() -> None:
    for key, n_marks in (("share", 2), ("proteins", 0)):
        body = matrix(("A", "B"), ((1.0, 0.0), (0.0, 1.0)), key)
        figure = drawing(body, parts_of(body, [85])[0], is_simulated=False)
        assert len(figure.axes[0].patches) == n_marks


def test_no_text_of_a_sheet_leaves_it(small: Findings) -> None:
    for name in ("confidence", "reverse-confusion", "kinds"):
        body = record_of(small, name)
        if name == "confidence":
            body = many(body, 3, LONG)
        figure = drawing(body, parts_of(body, [174])[0], is_simulated=True)
        FigureCanvasAgg(figure).draw()
        width, height = figure.bbox.width, figure.bbox.height
        places = [
            text
            for axes in figure.axes
            if axes.axison
            for text in axes.get_yticklabels()
            if min(axes.get_ylim()) <= text.get_position()[1] <= max(axes.get_ylim())
        ]
        for text in (*figure.texts, *(one for one in places if one.get_visible())):
            box = text.get_window_extent()
            if box.width == 0 or not text.get_text():
                continue
            assert box.x0 >= -1, (name, text)
            assert box.x1 <= width + 1, (name, text)
            assert box.y0 >= -1, (name, text)
            assert box.y1 <= height + 1, (name, text)


def test_the_table_holds_what_is_drawn() -> None:
    steps = FigureSeries(
        name="share", kind="steps", look="histogram", x=(0.0, 5.0, 10.0), y=(0.25, NAN), n=(4, 0)
    )
    line = FigureSeries(
        name="curve",
        kind="line",
        look="kernel",
        x=(1.0, 2.0),
        y=(0.1, 0.2),
        lower=(0.0, 0.1),
        upper=(0.3, 0.4),
    )
    columns = figure_columns(of_series(steps, line, end=10.0))
    rows = [row[2:] for row in zip(*columns.values(), strict=True)]
    assert [row[:3] for row in rows] == [
        *(("share", "steps", 0.0), ("share", "steps", 5.0)),
        *(("curve", "line", 1.0), ("curve", "line", 2.0)),
    ]
    assert [row[3] for row in rows[:2]] == [5.0, 10.0]  # where each interval ends
    assert [row[-1] for row in rows] == ["4", "0", "", ""]
    assert rows[3][4:7] == (0.2, 0.1, 0.4)


def test_every_figure_of_findings_has_a_table_of_equal_columns(small: Findings) -> None:
    for record in make_figures(FigureSource(labelled=None, findings=small)):
        assert len({len(column) for column in figure_columns(record).values()}) == 1
        assert record.shows.endswith(".")
        assert record.lacks or "Simulated data." in record.caption


def test_the_lowest_bar_of_a_histogram_is_dotted() -> None:
    steps = FigureSeries(
        name="share", kind="steps", look="histogram", x=(0.0, 1.0, 2.0, 3.0), y=(0.9, 0.2, 0.5)
    )
    grid = of_series(steps, start=1.5, end=3.0)
    axes = drawing(grid, parts_of(grid, [85])[0], is_simulated=False).axes[0]
    (lowest,) = axes.collections
    # The bar from 0 to 1 is not on the axis, which begins at 1.5.
    assert lowest.get_segments()[0].tolist() == [[1.0, 0.2], [2.0, 0.2]]


def test_what_is_above_the_axis_is_an_arrow_with_its_number() -> None:
    points = FigureSeries(
        name="held out", kind="points", look="kernel", x=(0.0, 1.0, 2.0), y=(1.0, 9.0, NAN)
    )
    grid = of_series(points, start=-0.6, end=2.6, top=1.0, ticks=("one", "far", "none"))
    axes = drawing(grid, parts_of(grid, [85])[0], is_simulated=False).axes[0]
    assert [text.get_text() for text in axes.texts] == ["9.00"]
    assert [line.get_marker() for line in axes.get_lines() if line.get_marker() == "^"] == ["^"]


def test_names_that_are_markup_stay_text(hostile: Findings) -> None:
    body = record_of(hostile)
    svg = rendered(drawing(body, parts_of(body, [174])[0], is_simulated=False), "svg")
    kinds = {node.tag.rsplit("}", 1)[-1] for node in ET.fromstring(svg).iter()}
    assert not kinds & {"script", "img", "foreignObject", "a"}


def test_numbers_of_eleven_classes_are_in_percent_at_the_width_of_a_column() -> None:
    n = 11
    names = tuple(f"Major tail {k}" for k in range(n))
    values = tuple(
        tuple(0.0 if k == 3 else float(k == j) * 0.804 for j in range(n)) for k in range(n)
    )
    body = replace(matrix(names, values, "share"), number="01c")
    figure = drawing(body, parts_of(body, [85])[0], is_simulated=False)
    written = [text.get_text() for text in figure.axes[0].texts]
    # Of the diagonal a share of 0 is shown; elsewhere nothing is written for it.
    assert [one for one in written if one] == ["80"] * 3 + ["0"] + ["80"] * 7
    assert min(text.get_fontsize() for text in figure.axes[0].texts) >= 4.5
    assert "(c) percent" in [text.get_text() for text in figure.texts]


def test_counts_of_five_digits_fit_their_cells_at_the_width_of_a_column() -> None:
    names = tuple(f"Minor caps {k}" for k in range(11))
    body = matrix(names, ((27904.0,) * 11,) * 11, "proteins")
    figure = drawing(body, parts_of(body, [85])[0], is_simulated=False)
    assert min(text.get_fontsize() for text in figure.axes[0].texts) >= 4.5
    assert {text.get_text() for text in figure.axes[0].texts} == {"27904"}


def test_pairs_of_eleven_classes_are_on_one_page() -> None:
    line = FigureSeries(name="curve", kind="line", look="kernel", x=(1.0, 2.0), y=(0.1, 0.2))
    panels = tuple(FigurePanel(title=f"Major capsid {k}", series=(line,)) for k in range(22))
    grid = FigureRecord(number="05", name="x", panels=panels, across=2, end=10.0)
    for width in (85, 174):
        (part,) = parts_of(grid, [width])
        tall = drawing(grid, part, is_simulated=False).get_size_inches()[1] * MM_PER_INCH
        assert tall <= TALLEST_MM + 0.01


def test_numbers_of_two_arrows_at_one_place_stand_below_each_other() -> None:
    parts = [
        FigureSeries(name=name, kind=kind, look=look, x=(at, 1.0 + at), y=(9.0, 0.5))
        for name, kind, look, at in (
            ("in sample", "hollow", "histogram", -0.16),
            ("held-out", "points", "kernel", 0.16),
        )
    ]
    grid = of_series(*parts, start=-0.6, end=1.6, top=1.0, ticks=("one", "two"))
    figure = drawing(grid, parts_of(grid, [85])[0], is_simulated=False)
    FigureCanvasAgg(figure).draw()
    first, second = (text.get_window_extent() for text in figure.axes[0].texts)
    assert second.y1 < first.y0
