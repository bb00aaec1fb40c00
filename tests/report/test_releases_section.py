"""What the page says of troves."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import pytest

from credence import __version__
from credence.findings import (
    Change,
    ClassChange,
    Drift,
    DriftClass,
    DriftTest,
    DriftTruth,
    Findings,
    MetricChange,
    Outcome,
    ParameterChange,
    Provenance,
    ReleasesFinding,
    ReleaseState,
    ReleaseStep,
    SetAside,
)
from credence.records import from_record, to_record
from credence.report.blocks import Figure, FigureRow, Folded, Paragraph, TableBlock
from credence.report.html import render_sections
from credence.report.plots import ComparisonPlot
from credence.report.release_words import change_sentence
from credence.report.sections.releases import section, sections_of_step
from refusals import refusal

NONE = math.nan
HOSTILE = '<script>alert("1")</script>'


def change(before: float, fixed: float, after: float, width: float = 0.02) -> Change:
    steps = {"total": after - before, "evidence": fixed - before, "composition": after - fixed}
    bounds = {f"{name}_lower": value - width for name, value in steps.items()}
    bounds |= {f"{name}_upper": value + width for name, value in steps.items()}
    return Change(before=before, fixed=fixed, after=after, **bounds)


def class_change(name: str, moved: Change | None, counts: tuple[int, int]) -> ClassChange:
    parameters = (ParameterChange(name="bandwidth", before=0.5, after=0.5),)
    return ClassChange(
        class_name=name,
        n_true=counts,
        n_predicted=counts,
        n_correct=counts,
        n_clusters=counts,
        parameters=parameters,
        score=7.0,
        change=moved,
        share=moved,
    )


def step(name: str = "htj", moved: Change | None = None) -> ReleaseStep:
    outcomes = (
        Outcome(outcome="exact_repeat", meaning="the set has this sequence already", n=7,
        examples=tuple(
            SetAside(id=f"r{at}", true_class="HTJ", relative="old_1", relative_class="HTJ",
            identity=1.0, coverage=NONE, reason="the same") for at in range(5)
        )),
        Outcome(outcome="label_conflict", meaning="with another label", n=0),
        Outcome(outcome="added", meaning="it calibrates from now on", n=20),
    )  # fmt: skip
    drift = Drift(
        n=18, n_clusters=12, n_joined=2,
        classes=(DriftClass(class_name=None, n=18, n_clusters=12, n_correct=9, n_unknown=0,
        expected=10.5, nll_old=0.4, nll_trove=0.5, lower=-0.1, upper=0.3, tests=(
            DriftTest(test="kolmogorov_smirnov", is_corrected=False, p_value=0.4,
            p_adjusted=0.4, power=0.2),
            DriftTest(test="spiegelhalter", is_corrected=False, p_value=0.5, p_adjusted=0.5,
            power=0.2))),),
        truths=(DriftTruth(class_name="HTJ", n_old=30, n_trove=18, n_clusters_old=20,
        n_clusters_trove=12, right_old=0.7, right_trove=0.6, distance=0.1, p_value=0.3,
        p_adjusted=0.3),),
        is_corrected=True,
    )  # fmt: skip
    return ReleaseStep(
        older=ReleaseState(name="base", number=0, date=None, digest="a" * 64, n_calibration=100,
        n_correct=60, n_clusters=40),
        newer=ReleaseState(name=name, number=1, date="2026-09-01", digest="b" * 64,
        n_calibration=120, n_correct=75, n_clusters=52, outcomes=outcomes),
        method="kernel", scale=10.0, level=0.95,
        classes=(
            class_change("HTJ", moved or change(0.62, 0.64, 0.71), (30, 50)),
            class_change("Portal", None, (40, 40)),
        ),
        metrics=(MetricChange(class_name=None, metric="nll", sample="old", before=0.4,
        after=0.39, lower=-0.02, upper=0.01, n=100),),
        n_compared=120, n_moved=30, n_lightened=0, drift=drift,
    )  # fmt: skip


def test_a_step_goes_to_json_and_back() -> None:
    found = ReleasesFinding(releases=(step().older, step().newer), steps=(step(),))
    record = json.loads(json.dumps(to_record(found)))
    assert to_record(from_record(ReleasesFinding, record)) == record
    assert to_record(from_record(ReleaseStep, to_record(step()), "x")) == to_record(step())


def test_a_step_of_another_schema_is_refused() -> None:

    record = to_record(step()) | {"schema": "credence/compare/2"}
    assert refusal(from_record, ReleaseStep, record, "changes.json", "Compare again.") == (
        "changes.json, column 'schema': 'credence/compare/2' is not 'credence/compare/1', "
        f"the only one that credence {__version__} reads. Compare again."
    )


@pytest.mark.parametrize(
    ("moved", "stated"),
    [
        (
            change(0.62, 0.64, 0.71),
            "HTJ at score 7.0: confidence rose from 0.62 to 0.71. Of the 9 percentage points, 7 "
            "(5 to 9) are re-weighting and 2 (0 to 4) new evidence.",
        ),
        (
            change(0.60, 0.70, 0.50, 0.01),
            "HTJ at score 7.0: confidence fell from 0.60 to 0.50. New evidence raised it by 10 "
            "percentage points (9 to 11), re-weighting lowered it by 20 percentage points (19 to "
            "21).",
        ),
        (
            change(0.60, 0.60, 0.70),
            "HTJ at score 7.0: confidence rose from 0.60 to 0.70. All 10 percentage points are "
            "re-weighting: the classes are mixed in other shares, and at the old "
            "shares it would be 0.60.",
        ),
        (
            change(0.60, 0.70, 0.70),
            "HTJ at score 7.0: confidence rose from 0.60 to 0.70. All 10 percentage points are "
            "new evidence (8 to 12).",
        ),
        (
            change(0.60, 0.615, 0.617, 0.03),
            "HTJ at score 7.0: confidence rose from 0.600 to 0.617. Of the 1.7 percentage points, "
            "0.2 (−2.8 to 3.2) are re-weighting and 1.5 (−1.5 to 4.5) new evidence. What is new "
            "evidence may be chance: its interval holds 0.",
        ),
        (change(0.60, 0.601, 0.602), "HTJ at score 7.0: confidence stayed at 0.60."),
        (
            change(0.60, 0.65, 0.602),
            "HTJ at score 7.0: confidence stayed at 0.60: new evidence raised it by 5.0 "
            "percentage points, re-weighting lowered it by 4.8 percentage points.",
        ),
    ],
)  # fmt: skip
def test_each_change_is_told_in_words(moved: Change, stated: str) -> None:
    assert change_sentence(class_change("HTJ", moved, (30, 50)), 10.0) == stated


def test_repeats_with_other_scores_are_told_and_intervals_that_are_not_there_are_not_promised(
    small: Findings,
) -> None:
    moved = change(0.62, 0.64, 0.71)
    ends = {
        f"{part}_{end}": NONE
        for part in ("total", "evidence", "composition")
        for end in ("lower", "upper")
    }
    told = step(moved=replace(moved, **ends))
    told = replace(told, newer=replace(told.newer, n_rescored=2))
    chain = ReleasesFinding(releases=(told.older, told.newer), steps=(told,))
    text = repr(section(replace(small, releases=chain)))
    assert (
        "htj: 2 of 7 exact repeats have other scores than before. One classifier gives one "
        "protein one score: see whether the table is of the version that is calibrated." in text
    )
    assert "% intervals over families" not in text
    assert (
        "Differences in percentage points; without intervals, for which "
        f"{told.method} would have to be fitted again hundreds of times." in text
    )


def test_a_bandwidth_that_was_chosen_anew_is_told() -> None:
    entry = class_change("HTJ", change(0.62, 0.64, 0.71), (30, 50))
    parameters = (ParameterChange(name="bandwidth", before=0.25, after=0.675),)
    stated = change_sentence(replace(entry, parameters=parameters), 10.0)
    assert stated.endswith(
        "The bandwidth went from 0.25 to 0.675; what that does counts as evidence."
    )


def test_classes_without_a_change_say_why() -> None:
    assert change_sentence(class_change("Portal", None, (40, 40)), 10.0) == (
        "Portal: nothing was added, nothing changed."
    )
    assert (
        change_sentence(class_change("Portal", None, (0, 0)), 10.0)
        == "Portal was never predicted."
    )
    assert change_sentence(class_change("Portal", None, (0, 12)), 10.0) == (
        "Portal was never predicted before; now 12 of 12 predictions are right."
    )


def test_the_section_counts_every_outcome(small: Findings) -> None:
    made = replace(
        small, releases=ReleasesFinding(releases=(step().older, step().newer), steps=(step(),))
    )
    built = section(made)
    assert built is not None and built.title == "What changed"
    folded = {block.summary: block for block in built.blocks if isinstance(block, Folded)}
    (timeline,) = folded["All releases"].blocks
    assert isinstance(timeline, TableBlock)
    assert timeline.rows == (
        ("base", "–", "–", "–", "–", "100", "40", "0.60", "aaaaaaaa"),
        ("htj", "2026-09-01", "27", "20", "7", "120", "52", "0.62", "bbbbbbbb"),
    )
    (became,) = folded["Not added: 7 proteins, and why"].blocks
    assert isinstance(became, TableBlock)
    assert became.rows == (
        ("exact repeat", "7", "the set has this sequence already"),
        ("added", "20", "it calibrates from now on"),
    )
    assert "Does htj agree with the calibration before it?" not in folded
    stated = " ".join(block.text for block in built.blocks if isinstance(block, Paragraph))
    assert "htj adds 20 proteins to calibrate with: 100 before, 120 now." in stated
    assert (
        "All predictions: 18 of the trove in 12 families, 9 right where 10.5 were expected: a "
        "difference that chance may explain (p 0.80, power 0.20). 2 of the trove have relatives "
        "in the old set and are left out here. Proteins of HTJ score as the old ones did, as far "
        "as can be seen."
    ) in stated


def figures_of(found: ReleaseStep) -> list[Figure]:
    (built,) = sections_of_step(found)
    return [figure for row in built.blocks if isinstance(row, FigureRow) for figure in row.figures]


def test_a_step_is_one_figure_of_arrows_with_the_greatest_change_first() -> None:
    classes = (
        class_change("Collar", change(0.50, 0.50, 0.501), (30, 50)),
        class_change("HTJ", change(0.62, 0.64, 0.71), (30, 50)),
        class_change("Tail", change(0.90, 0.80, 0.70), (30, 50)),
        class_change("Portal", None, (40, 40)),
    )
    (figure,) = figures_of(replace(step(), classes=classes))
    plot = figure.plot
    assert isinstance(plot, ComparisonPlot) and plot.has_arrows
    assert plot.rows == ("Tail", "HTJ")
    assert plot.value == ((0.90, 0.62), (0.80, 0.64), (0.70, 0.71))
    assert plot.lower[2] == pytest.approx((0.68, 0.69)) and math.isnan(plot.lower[0][0])
    assert figure.alternative == "Confidence before and now: Tail 0.90 to 0.70; HTJ 0.62 to 0.71."


def test_a_step_that_moved_no_class_has_no_figure() -> None:
    assert figures_of(step(moved=change(0.60, 0.601, 0.602))) == []


def test_no_p_value_of_a_trove_stands_without_its_power() -> None:
    (built,) = sections_of_step(step())
    folded = {block.summary: block for block in built.blocks if isinstance(block, Folded)}
    _, drift, truths = folded["Does htj agree with the calibration before it?"].blocks
    assert isinstance(drift, TableBlock) and isinstance(truths, TableBlock)
    # The p of 0.4 and of 0.3 proved nothing: a power of 0.2, and one that nobody knows.
    assert drift.rows[0][-2:] == ("no answer: power 0.20", "–")
    assert truths.rows[0][-1] == "no answer: power not known"


def test_without_troves_there_is_no_section(small: Findings) -> None:
    assert section(small) is None
    assert (
        section(replace(small, releases=ReleasesFinding(releases=(step().older,), steps=())))
        is None
    )


def test_hostile_names_stay_text_and_the_page_is_one_file() -> None:
    made = step(name=HOSTILE)
    provenance = Provenance(run=HOSTILE, title="What changed", credence_version="0")
    page = render_sections(provenance, sections_of_step(made), made.schema)
    assert HOSTILE not in page and "&lt;script&gt;alert" in page
    assert 'src="http' not in page and 'href="http' not in page
