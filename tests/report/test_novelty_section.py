from __future__ import annotations

from dataclasses import replace

from credence.findings import Findings, NovelProtein, NoveltyFinding, Points
from credence.records import from_record, to_record
from credence.report import render
from credence.report.blocks import Folded, Paragraph
from credence.report.sections.use_sets import novelty as section

NAN = float("nan")
HOSTILE = '<script>alert("x")</script>'


def found(**changes: object) -> NoveltyFinding:
    points = Points((0.0, 1.0), (2.0, 3.0), 2)
    row = NovelProtein(HOSTILE, "Portal", 0.9, 0.999, 3.5, HOSTILE, "Collar", NAN)
    known = NoveltyFinding(
        name="mine",
        features="composition",
        n_components=32,
        explained=(0.1, 0.05),
        flag=0.99,
        n=12,
        n_placed=10,
        n_flagged=1,
        n_repeats=2,
        n_calibration=400,
        n_training=0,
        confidence_flagged=0.9,
        confidence_others=0.8,
        edges=(0.0, 1.0, 2.0),
        calibration_counts=(300, 100),
        use_counts=(9, 1),
        flag_distance=1.5,
        calibration=points,
        others=points,
        flagged=points,
        rows=(row,),
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
    assert "calibration, fewer than one would be." in words
    assert "2 proteins could not be compared" in words
    assert "2 proteins cannot be distinguished from a calibration protein" in words
    assert "do not count on their confidences" in words


def test_where_nothing_is_flagged_nothing_is_to_be_done(small: Findings) -> None:
    words = texts(with_novelty(small, found(n_flagged=0, rows=())))
    assert "No protein is flagged" in words and "What to do" not in words


def test_hostile_names_stay_text_on_the_page(small: Findings) -> None:
    findings = with_novelty(small, found())
    page = render(findings)
    assert HOSTILE not in page and "&lt;script&gt;alert" in page
    built = section(findings)
    assert built is not None and any(isinstance(block, Folded) for block in built.blocks)
    assert to_record(from_record(Findings, to_record(findings))) == to_record(findings)
