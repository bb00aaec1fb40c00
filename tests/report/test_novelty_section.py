from __future__ import annotations

from dataclasses import replace

from credence.findings import DistanceBand, Findings, NoveltyFinding
from credence.records import from_record, to_record
from credence.report.blocks import FigureRow, Folded, Paragraph
from credence.report.html import render
from credence.report.plots import ComparisonPlot
from credence.report.sections import measuring
from credence.report.sections.queries import novelty_blocks as section

NAN = float("nan")
HOSTILE = '<script>alert("x")</script>'


def found(**changes: object) -> NoveltyFinding:
    known = NoveltyFinding(
        name="mine",
        features="composition",
        flag=0.95,
        n=12,
        n_placed=10,
        n_flagged=1,
        n_repeats=2,
        n_off=0,
        n_calibration=400,
        n_families=300,
        n_training=0,
        confidence_flagged=0.9,
        confidence_others=0.8,
        edges=(0.0, 1.0, 2.0),
        calibration_counts=(300, 100),
        use_counts=(9, 1),
        flag_distance=1.5,
    )
    return replace(known, **changes)  # type: ignore[arg-type]


def with_novelty(small: Findings, *novelties: NoveltyFinding) -> Findings:
    return replace(small, novelties=novelties)


def texts(findings: Findings) -> str:
    built = section(findings)
    assert built is not None
    return "\n".join(block.text for block in built.blocks if isinstance(block, Paragraph))


def test_nothing_is_said_where_nothing_was_compared(small: Findings) -> None:
    assert section(small) is None


def test_each_number_stands_with_its_n_and_with_what_to_do(small: Findings) -> None:
    words = texts(with_novelty(small, found()))
    assert "mine: 1 of 10 proteins (0.10) are farther" in words
    assert "as 300 known families left out one by one show" in words
    assert "calibration, about 1 would be." in words
    assert "2 proteins could not be compared" in words
    assert "2 proteins cannot be distinguished from a calibration protein" in words
    assert "Do not count on the confidences of the flagged." in words


def test_few_families_flag_none_and_the_page_says_so(small: Findings) -> None:
    words = texts(with_novelty(small, found(n_flagged=0, flag_distance=NAN)))
    assert "So few families can flag none: this says nothing of the proteins." in words
    assert "More labelled families are needed" in words


def test_where_nothing_is_flagged_nothing_is_to_be_done(small: Findings) -> None:
    words = texts(with_novelty(small, found(n_flagged=0)))
    assert "No protein is flagged" in words and "Do not count" not in words


def test_hostile_names_stay_text_on_the_page(small: Findings) -> None:
    findings = with_novelty(small, found(name=HOSTILE))
    page = render(findings)
    assert HOSTILE not in page and "&lt;script&gt;alert" in page
    assert to_record(from_record(Findings, to_record(findings))) == to_record(findings)


def test_proteins_where_confidences_were_off_are_counted(small: Findings) -> None:
    assert "were off" not in texts(with_novelty(small, found()))
    words = texts(with_novelty(small, found(n_off=3)))
    assert (
        "The notes of 3 proteins say that confidences of calibration proteins were off at such an "
        "identity with the nearest known one."
    ) in words


def test_the_page_says_whether_confidences_hold_at_each_identity(small: Findings) -> None:
    def words(p: float, *, is_off: bool = False) -> str:
        band = DistanceBand(
            name="30 to 40 %",
            n=90,
            n_families=30,
            promised=0.8,
            right=0.6,
            lower=0.5,
            upper=0.7,
            p=p,
            is_off=is_off,
        )
        empty = DistanceBand(
            name="40 to 60 %",
            n=9,
            n_families=3,
            promised=NAN,
            right=NAN,
            lower=NAN,
            upper=NAN,
            p=NAN,
            is_off=False,
        )
        built = measuring.identity(replace(small, by_identity=(band, empty)))
        assert built is not None
        text, row, numbers = built.blocks
        assert isinstance(text, Paragraph) and isinstance(numbers, Folded)
        assert isinstance(row, FigureRow)
        plot = row.figures[0].plot
        assert isinstance(plot, ComparisonPlot) and plot.value[1][0] == 0.6
        return text.text

    assert words(0.01, is_off=True) == (
        "Confidence and precision differ beyond noise at an identity of 30 to 40 %. No confidence "
        "is changed for it: your proteins at such an identity have a note."
    )
    assert words(0.4) == (
        "Confidence and precision differ nowhere beyond noise. Smaller differences are not seen: "
        "where the identity is 30 to 40 %, any precision from 0.50 to 0.70 fits."
    )
    assert words(NAN) == "Not known: no range of identity has ten families."
