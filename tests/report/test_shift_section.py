"""The section on query sets of another composition, sentence by sentence."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from credence.findings import CorrectedQuality, Findings, MixDoubts, NoveltyFinding, Sameness
from credence.report.blocks import FigureRow, Folded, Heading, NoticeList, Section, TableBlock
from credence.report.html import render
from credence.report.plots import ComparisonPlot
from credence.report.sections.measuring import section as measuring
from credence.report.sections.shift import mix_fit, mix_sentences, section
from credence.sentences import INSEPARABLE
from shift_findings import NAN, shift_class, shift_finding


def built(findings: Findings) -> Section:
    found = section(findings)
    assert found is not None
    return found


def blocks_of(findings: Findings, kind: type) -> list:  # type: ignore[type-arg]
    return [block for block in built(findings).blocks if isinstance(block, kind)]


def test_without_compositions_there_is_no_section(small: Findings) -> None:
    assert section(replace(small, shifts=())) is None


def test_the_sentence_names_the_classes_that_surely_differ_and_no_others() -> None:
    assert mix_sentences(shift_finding()) == (
        "From the scores of 5 proteins in sea water, its class proportions differ from those in "
        "calibration. Portal makes up 0.20 (0.15–0.26) of it, 0.50 of the calibration set "
        "(confidences are corrected for 0.23); Tail fiber makes up 0.70 (0.60–0.80) of it, 0.40 "
        "of the calibration set (confidences are corrected for 0.65)."
    )


def test_a_shift_that_is_more_than_chance_is_never_called_no_shift() -> None:
    # Every interval holds calibration's share, and the test rejects: one page said both.
    alike = shift_class("Portal", calibration_proportion=0.2)
    assert mix_sentences(shift_finding(classes=(alike,))) == (
        "From the scores of 5 proteins in sea water, its class proportions differ from those in "
        "calibration. Which of them is more or less common is not known."
    )


def test_what_may_be_chance_is_not_called_a_difference() -> None:
    assert mix_sentences(shift_finding(part_applied=0.0)).endswith(
        "its class proportions are not known to differ from those in calibration."
    )


def test_a_stated_composition_is_called_stated_and_has_no_interval() -> None:
    stated = shift_finding(estimator="stated", classes=(shift_class("Portal", applied=0.2),))
    assert mix_sentences(stated) == (
        "For sea water you stated the class proportions; they are taken as known. "
        "Portal makes up 0.20 of it, 0.50 of the calibration set."
    )


def test_without_a_correction_nothing_is_said_to_be_corrected() -> None:
    found = shift_finding(estimator="none")
    assert mix_sentences(found) == (
        "For sea water no class proportions were asked for: its corrected confidences are the "
        "same as the others."
    )


SAME = Sameness(n=100, p_value=0.7, effect=0.012, moved=0.01, is_changed=False, power=0.09)


@pytest.mark.parametrize(
    ("p_label_shift", "sameness", "stated_there"),
    [
        (
            0.41,
            SAME,
            "Class proportions explain the scores of this set; scores that put confidences five "
            "percentage points off would be noticed in 9 of 100 samples.",
        ),
        (
            0.41,
            None,
            "Class proportions explain the scores of this set; how often a test would notice some "
            "is not known.",
        ),
        (
            0.01,
            SAME,
            "The class proportions do not fully explain the scores of this set: at the worst "
            "place they differ by 0.03 of the set, which would move confidences by 1.2 percentage "
            "points on average.",
        ),
        (
            0.01,
            None,
            "The class proportions do not fully explain the scores of this set: at the worst "
            "place they differ by 0.03 of the set.",
        ),
        (NAN, None, ""),
    ],
)
def test_a_test_that_finds_nothing_never_stands_without_its_power(
    p_label_shift: float, sameness: Sameness | None, stated_there: str
) -> None:
    found = shift_finding(p_label_shift=p_label_shift, sameness=sameness)
    assert mix_fit(found) == stated_there


def test_what_scores_and_sequences_show_of_unknown_proteins_is_said_together(
    small: Findings,
) -> None:
    # One page said "no sign of proteins of another kind" and "more foreign than new families".
    far = NoveltyFinding(
        name="sea water", features="composition", flag=0.95, n=50, n_placed=50, n_flagged=17,
        n_repeats=0, n_off=0, n_calibration=120, n_families=90, n_training=0,
        confidence_flagged=0.5, confidence_others=0.5, edges=(), calibration_counts=(),
        use_counts=(), flag_distance=0.5,
    )  # fmt: skip
    found = replace(small, shifts=(shift_finding(sameness=SAME),), novelties=(far,))
    whole = str(built(found).blocks)
    assert (
        "Class proportions explain the scores of this set; scores that put confidences five "
        "percentage points off would be noticed in 9 of 100 samples. By sequence, 17 of 50 "
        "proteins are flagged as far from all known ones; about 3 would be, were all of new "
        "families like those of the calibration set."
    ) in whole
    assert "another kind" not in whole
    of_others = replace(found, novelties=(replace(far, name="soil"),))
    assert "flagged" not in str(built(of_others).blocks)


@pytest.mark.parametrize(("sameness", "n"), [(SAME, 3), (None, 2)])
def test_every_p_value_of_a_sample_stands_beside_its_power(
    mixed: Findings, sameness: Sameness | None, n: int
) -> None:
    found = shift_finding(p_no_shift=0.005, p_label_shift=0.41, sameness=sameness)
    folded, *_ = blocks_of(replace(mixed, shifts=(found,)), Folded)
    stated = [text for term, text in folded.blocks[-1].entries if term == "Test"]
    assert len(stated) == n
    assert all(re.search(r"p = 0\.\d+ \(power (not known|0\.09)\)$", text) for text in stated)


def test_diagnostics_stand_as_warnings(mixed: Findings) -> None:
    shift = shift_finding(part_applied=0.8)
    folded, *_ = blocks_of(replace(mixed, shifts=(shift,)), Folded)
    (notices,) = (block for block in folded.blocks if isinstance(block, NoticeList))
    kind = "class proportions of sea water"
    assert [(notice.kind, notice.text, notice.is_warning) for notice in notices.notices] == [
        (kind, INSEPARABLE, True),
        (
            kind,
            "80 % of the estimated difference from the calibration set is applied (the rest may "
            "be chance).",
            False,
        ),
    ]


def test_one_table_gives_shares_and_both_confidences(mixed: Findings) -> None:
    folded, *_ = blocks_of(mixed, Folded)
    (table,) = (block for block in folded.blocks if isinstance(block, TableBlock))
    assert table.rows[0] == (
        *("Portal", "0.50", "0.20 (0.15–0.26)", "0.23", "6.8", "0.75 → 0.50", "60 → 41"),
        "2.2 (0.5–6.0)",
    )
    assert table.rows[2][4:6] == ("–", "–")


def test_the_figure_sets_both_compositions_side_by_side(mixed: Findings) -> None:
    (row,) = blocks_of(mixed, FigureRow)
    (figure,) = row.figures
    assert isinstance(figure.plot, ComparisonPlot)
    assert figure.plot.methods == ("calibration set", "sea water")
    assert figure.plot.value == ((0.5, 0.4, 0.1), (0.2, 0.7, 0.1))
    assert figure.plot.lower[1] == (0.15, 0.6, 0.05)
    assert figure.caption == (
        "sea water: share of each class, in the calibration set and here, 95 % interval."
    )


def test_each_query_set_has_its_own_part(mixed: Findings) -> None:
    two = replace(mixed, shifts=(shift_finding(), shift_finding(name="soil")))
    names = [block.text for block in built(two).blocks if isinstance(block, Heading)]
    assert names == ["sea water", "soil"]
    ids = re.findall(r' id="([^"]+)"', render(two))
    assert len(ids) == len(set(ids))


def test_hostile_names_stay_text(hostile: Findings) -> None:
    attack = "</script><script>alert(1)</script>"
    shift = shift_finding(name=attack, doubts=MixDoubts(missing=(attack,)), curves=())
    page = render(replace(hostile, shifts=(shift,)))
    assert "<script>alert" not in page


def test_corrected_confidences_are_judged_at_the_proportions_of_each_query_set(
    mixed: Findings,
) -> None:
    def tables(findings: Findings) -> list[Folded]:
        section_ = measuring(findings)
        assert section_ is not None
        return [block for block in section_.blocks if isinstance(block, Folded)]

    assert tables(mixed) == []  # nothing was judged
    every = CorrectedQuality(
        class_name=None, n=1200, n_families=300, confidence=0.61, precision=0.6, lower=0.55,
        upper=0.65, loss=0.4321,
    )  # fmt: skip
    few = replace(every, class_name="Portal", n=3, n_families=3, lower=NAN, upper=NAN)
    shift = replace(shift_finding(), judged=(every, few))
    (folded,) = tables(replace(mixed, shifts=(shift,)))
    assert folded.summary == "At the class proportions of sea water"
    (table,) = folded.blocks
    assert isinstance(table, TableBlock)
    assert table.caption == (
        "Confidences of calibration proteins, cross-validated by family and corrected as those of "
        "sea water are; a protein counts as often as these proportions say."
    )
    assert table.rows == (
        ("all", "1,200", "300", "0.61", "0.60 (0.55–0.65)", "0.432"),
        ("Portal", "3", "3", "0.61", "0.60", "0.432"),
    )
