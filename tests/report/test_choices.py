from __future__ import annotations

from dataclasses import replace

from credence.findings import ChoiceTrial, ClassChoice, Findings, MethodChoices, SkippedCandidate
from credence.records import from_record, to_record
from credence.report.blocks import Folded, Paragraph, TableBlock
from credence.report.sections.methods import choices

CHOICES = MethodChoices(
    "auto",
    (
        ClassChoice(
            "Portal",
            ("platt",),
            ("platt", "kernel"),
            412,
            120,
            (
                ChoiceTrial("class_only", 0.5, 0.2, 0.04),
                ChoiceTrial("platt", 0.31, 0.01, 0.02),
                ChoiceTrial("kernel", 0.3, 0.0, 0.0),
            ),
        ),
        ClassChoice("Collar", (), (), 0, 0, ()),
    ),
    (SkippedCandidate("tswa", "it needs the score of every class"),),
)


def test_the_page_has_no_section_of_choices_where_nothing_was_chosen(small: Findings) -> None:
    assert choices(replace(small, choices=())) is None


def test_each_class_shows_what_was_chosen_against_what_and_by_how_much(small: Findings) -> None:
    section = choices(replace(small, choices=(CHOICES,)))
    assert section is not None
    _, chosen, folded, skipped = section.blocks
    assert isinstance(chosen, TableBlock) and isinstance(folded, Folded)
    assert chosen.rows == (
        ("Portal", "412", "120", "platt", "0.310", "platt, kernel"),
        ("Collar", "0", "0", "–", "–", "–"),
    )
    (trials,) = folded.blocks
    assert isinstance(trials, TableBlock)
    assert [column.title for column in trials.columns][1:] == ["class_only", "platt", "kernel"]
    assert trials.rows == (
        ("Portal", "+0.200 ± 0.040", "+0.010 ± 0.020", "+0.000 ± 0.000"),
        ("Collar", "–", "–", "–"),
    )
    assert skipped == Paragraph("Not tried: tswa: it needs the score of every class.")


def test_choices_go_to_json_and_back(small: Findings) -> None:
    found = replace(small, choices=(CHOICES,))
    assert from_record(Findings, to_record(found)).choices == found.choices
