"""Pictures that stand for tables: confusion, and how far every class's confidences are off."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import pytest

from credence.findings import CalibrationTest, Findings, MetricValue, Notice
from credence.report.blocks import Choice, FigureRow, NoticeList, Paragraph, TableBlock
from credence.report.figures import draw, to_svg
from credence.report.html import points_of, render
from credence.report.plots import ComparisonPlot, Heat
from credence.report.sections import measuring, mistakes

NAN = math.nan
SEEN_BY_TESTS = "Tests found Portal and Tail fiber off."


def confused(findings: Findings, counts: tuple[tuple[int, ...], ...]) -> Findings:
    """Return findings of as many classes as the matrix has, predicted as it says."""
    names = tuple(f"class <{k}>" for k in range(len(counts)))
    columns = [sum(column) for column in zip(*counts, strict=True)]
    of_true = tuple(tuple(n / sum(row) if sum(row) else NAN for n in row) for row in counts)
    of_predicted = tuple(
        tuple(n / all_ if all_ else NAN for n, all_ in zip(row, columns, strict=True))
        for row in counts
    )
    changed = {"confusion": counts, "given_true": of_true, "given_predicted": of_predicted}
    return replace(findings, results=replace(findings.results, class_names=names, **changed))


def heats(findings: Findings) -> list[Heat]:
    built = mistakes.section(findings)
    assert built is not None
    plots = [
        entry.plot for row in built.blocks if isinstance(row, Choice) for entry in row.figures
    ]
    return [plot for plot in plots if isinstance(plot, Heat)]


def test_confusion_is_drawn_both_ways_with_counts_in_the_cells(small: Findings) -> None:
    of_predicted, of_true = heats(confused(small, ((8, 2), (0, 6))))
    assert of_predicted.values == ((1.0, 0.25), (0.0, 0.75))
    assert of_true.values == ((0.8, 0.2), (0.0, 1.0))
    for plot in (of_predicted, of_true):
        assert [text.get_text() for text in draw(plot).axes[0].texts] == ["8", "2", "", "6"]
    assert points_of(of_predicted)[1] == (
        *(1.5, 0.5),
        "truly class <0>, predicted class <1>: 2 proteins (0.25).",
    )


@pytest.mark.parametrize("n", [2, 11, pytest.param(36, marks=pytest.mark.long)])
def test_numbers_stand_in_the_cells_however_long_the_names_are(n: int) -> None:
    # Eleven long names left cells too narrow for the numbers that the caption spoke of.
    names = tuple(f"a protein of the collar {'w' * 20} {k}" for k in range(n))
    plot = Heat(names=names, values=((0.5,) * n,) * n, key="", counts=((1206,) * n,) * n)
    texts = draw(plot).axes[0].texts
    assert len(texts) == n * n and min(text.get_fontsize() for text in texts) >= 3.5


@pytest.mark.parametrize("n", [2, 16, 60])
def test_matrices_of_few_and_many_classes_with_an_empty_one_are_drawn(
    small: Findings, n: int
) -> None:
    counts = tuple(
        tuple(9 if row == column and row else 0 for column in range(n)) for row in range(n)
    )
    for plot in heats(confused(small, counts)):
        svg = to_svg(plot, "mistakes")
        assert "class &lt;1&gt;" in svg
        assert plot.is_wide == (n > 15)
        # 60 classes took 0.7 megabytes where each empty cell was drawn.
        assert len(svg) < 100_000


def test_letters_in_light_cells_stay_dark_on_a_dark_page(small: Findings) -> None:
    svg = to_svg(heats(confused(small, ((8, 2), (0, 6))))[0], "mistakes")
    text = re.search(r"<text[^>]*>2</text>", svg)
    assert text is not None and "var(--ink)" not in text[0]


def test_the_most_frequent_mistakes_are_named(small: Findings) -> None:
    def lead(counts: tuple[tuple[int, ...], ...]) -> str:
        built = mistakes.section(confused(small, counts))
        assert built is not None and isinstance(built.blocks[0], Paragraph)
        return built.blocks[0].text

    assert lead(((8, 2), (0, 6))) == (
        "Most mistakes are predictions of class <1> that are truly class <0> (2, 0.25 of the "
        "predictions)."
    )
    assert lead(((8, 0), (0, 6))).startswith("No calibration protein is predicted")


def gap(name: str, value: float, lower: float, upper: float) -> MetricValue:
    return MetricValue(
        method="kernel",
        class_name=name,
        sample="held_out",
        metric="gap",
        value=value,
        lower=lower,
        upper=upper,
        n=60,
        n_clusters=25,
    )


def with_results(findings: Findings, **results: object) -> Findings:
    return replace(findings, results=replace(findings.results, **results))  # type: ignore[arg-type]


def test_every_class_is_a_dot_in_percentage_points_on_one_axis(small: Findings) -> None:
    # The third was never predicted.
    gaps = (gap("Portal", 0.01, -0.02, 0.04), gap("Tail fiber", -0.2, -0.3, -0.1))
    found = with_results(small, metrics=gaps)
    built, further = measuring.section(found), measuring.errors_and_tests(found)
    assert built is not None and further is not None
    (lead, *_), (row, *_) = built.blocks, further.blocks
    assert isinstance(lead, Paragraph) and isinstance(row, FigureRow)
    assert lead.text == "Calibrated within 5 percentage points: Portal; off by more: Tail fiber."
    (figure,) = row.figures
    plot = figure.plot
    assert isinstance(plot, ComparisonPlot) and plot.zone == 5.0
    assert plot.rows == ("Portal", "Tail fiber")
    assert plot.value[0] == pytest.approx((1.0, -20.0))
    low, high = draw(plot).axes[0].get_xlim()
    assert low == -high and low <= -22.0
    assert points_of(plot)[1][2] == "Tail fiber, kernel: −20.0 (−30.0 to −10.0)."
    assert figure.alternative.endswith("Portal +1.0; Tail fiber −20.0.")


def test_a_class_without_an_interval_is_never_said_to_hold(small: Findings) -> None:
    found = with_results(small, metrics=(gap("Portal", 0.0, NAN, NAN),))
    built, further = measuring.section(found), measuring.errors_and_tests(found)
    assert built is not None and further is not None
    (lead, *_), (row, *_) = built.blocks, further.blocks
    assert isinstance(lead, Paragraph) and isinstance(row, FigureRow)
    assert lead.text == "Too few families to say: Portal."
    draw(row.figures[0].plot)


def test_a_test_of_low_power_is_no_answer_in_its_own_cell(small: Findings) -> None:
    # "Holm 1.000" was read as proof; its power was 0.09.
    tests = tuple(
        CalibrationTest(
            method="kernel",
            class_name=name,
            test="kolmogorov_smirnov",
            statistic=1.0,
            p_value=p,
            p_adjusted=holm,
            p_independent=p,
            power=power,
            n=60,
            n_clusters=25,
        )
        for name, p, holm, power in (
            ("Portal", 0.9, 1.0, 0.09),
            ("Tail fiber", 0.9, 1.0, 0.9),
            ("Collar", 0.0, 0.0, NAN),
            (None, 0.7, NAN, 0.8),
        )
    )
    found = with_results(small, tests=tests)
    further = measuring.errors_and_tests(found)
    assert further is not None
    table = next(block for block in further.blocks if isinstance(block, TableBlock))
    assert [row[3] for row in table.rows] == [
        "no answer: power 0.09",
        "not seen off: p 1.000, power 0.90",
        "off: p <0.001, power not known",
        "not seen off: p 0.700, power 0.80",  # all classes: one test, nothing to correct
    ]


def test_the_section_says_what_tests_found_and_where_they_could_see_nothing(
    small: Findings,
) -> None:
    built = measuring.section(small)
    assert built is not None
    *_, last = built.blocks
    assert isinstance(last, Paragraph)
    assert last.text == SEEN_BY_TESTS


def test_like_notices_are_one_entry_with_their_classes(small: Findings) -> None:
    own = tuple(
        Notice(
            kind="few clusters", text=f"{name} has few families.", class_name=name, is_warning=True
        )
        for name in ("Portal", "Collar")
    )
    own += (
        Notice(kind="clipped", text="a clips 2.", class_name=None),
        Notice(kind="clipped", text="b clips 3.", class_name=None),
    )
    found = replace(small, notices=own, results=replace(small.results, cautions=(), tests=()))
    (block,) = measuring.notices(replace(found, split=None)).blocks
    assert isinstance(block, NoticeList)
    assert [(notice.text, notice.is_warning) for notice in block.notices] == [
        ("2 classes, Portal, Collar. So: Portal has few families.", True),
        ("a clips 2. b clips 3.", False),
    ]


def test_names_that_look_like_markup_stay_text_in_pictures(hostile: Findings) -> None:
    assert not re.search(r"<(script|img)[^>]*(alert|onerror)", render(hostile))
