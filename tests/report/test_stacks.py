from __future__ import annotations

from dataclasses import replace

from credence.findings import Findings, SkippedCandidate, StackFinding, StackMember
from credence.records import from_record, to_record
from credence.report.blocks import Folded, Paragraph, TableBlock
from credence.report.sections.methods import stacks

NAN = float("nan")


def stack_of(findings: Findings) -> StackFinding:
    classes = findings.results.class_names
    return StackFinding(
        "auto",
        412,
        120,
        0.29,
        (
            StackMember("class_only", 0.5, 0.0, (0.0,) * len(classes)),
            StackMember("kernel", 0.31, 0.25, (0.25, *(NAN,) * (len(classes) - 1))),
            StackMember("trees", 0.3, 0.75, (0.75, *(NAN,) * (len(classes) - 1))),
        ),
        {"kernel": 1.0},
        (SkippedCandidate("tswa", "needs the score of every class"),),
    )


def test_the_page_has_no_section_of_stacks_where_there_is_none(small: Findings) -> None:
    assert stacks(replace(small, stacks=())) is None


def test_the_page_shows_what_auto_rests_on(small: Findings) -> None:
    section = stacks(replace(small, stacks=(stack_of(small),)))
    assert section is not None
    lead, members, folded, curves, skipped = section.blocks
    assert isinstance(lead, Paragraph) and "has a held-out NLL of 0.290" in str(lead)
    assert isinstance(members, TableBlock) and isinstance(folded, Folded)
    assert members.rows == (
        ("class_only", "0.500", "0.00"),
        ("kernel", "0.310", "0.25"),
        ("trees", "0.300", "0.75"),
    )
    (by_class,) = folded.blocks
    assert isinstance(by_class, TableBlock)
    assert [column.title for column in by_class.columns][1:] == ["kernel", "trees"]
    assert by_class.rows[0][1:] == ("0.25", "0.75")
    assert set(by_class.rows[1][1:]) == {"–"}
    assert "members that see nothing else: kernel 1.00." in str(curves)
    assert skipped == Paragraph("Not tried: tswa: needs the score of every class.")


def test_stacks_go_to_json_and_back(small: Findings) -> None:
    found = replace(small, stacks=(stack_of(small),))
    again = from_record(Findings, to_record(found)).stacks
    assert to_record(again) == to_record(found.stacks)
