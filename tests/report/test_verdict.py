"""The verdict: the worst check wins; what was not shown to hold forbids good."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import product

import pytest
from tests.shift_findings import shift_finding

from credence.findings import (
    Check,
    Difference,
    Findings,
    MetricValue,
    Sameness,
    ShiftFinding,
    SplitClass,
    SplitFinding,
    Verdict,
    VerdictSettings,
)
from credence.report.sections.measuring import section
from credence.report.verdict import BAD, CARE, GOOD, OPEN, in_words, reasons, verdict_of

NAMES = ("Portal", "Tail fiber")
SAME = Sameness(500, 0.4, 0.03, 0.01, False, 0.9)


def split(n_crossing: int = 0, n: int = 400, bound: float = 0.01) -> SplitFinding:
    return SplitFinding(
        0.4, 0.8, True, "report", True, False, n, 5_000, n_crossing, bound, 0, 0.02, 0.95, 1.05,
        (SplitClass("Portal", 100, 50, 0.0, 0.0, n, n_crossing),), (), (0.0, 1.0),
        clusters="aligned",
    )  # fmt: skip


def gap(class_name: str | None, lower: float, upper: float) -> MetricValue:
    middle = (lower + upper) / 2
    return MetricValue("kernel", class_name, "held_out", "gap", middle, lower, upper, 60, 25)


def against_class(lower: float, upper: float) -> Difference:
    middle = (lower + upper) / 2
    return Difference("kernel", "class_only", None, "held_out", "nll", middle, lower, upper, 120)


def case(
    small: Findings,
    *,
    gaps: tuple[tuple[float, float], ...] = ((-0.02, 0.03), (-0.04, 0.04)),
    nll: tuple[float, float] = (-0.3, -0.1),
    evident: tuple[int, int] = (50, 30),
    in_range: tuple[int, int] = (50, 30),
    splits: SplitFinding | None = None,
    sizes: tuple[int, int] = (60, 40),
    sameness: Sameness | None = SAME,
    **shift: object,
) -> Findings:
    """Return findings of 60 and 40 predictions whose checks are all good unless changed."""
    if sizes != (60, 40):
        evident = in_range = sizes
    use_set = small.use_sets[0]
    classes = tuple(
        replace(entry, n=n, n_unknown=0, n_evident=seen, n_in_range=inside)
        for entry, n, seen, inside in zip(
            use_set.classes, (*sizes, 0), (*evident, 0), (*in_range, 0), strict=True
        )
    )
    metrics = tuple(
        gap(name, *ends) for name, ends in zip((*NAMES, None), (*gaps, (0, 0.01)), strict=True)
    )
    results = replace(
        small.results, metrics=(*small.results.metrics, *metrics), pairs=(against_class(*nll),)
    )
    return replace(
        small,
        results=results,
        use_sets=(replace(use_set, n=100, n_unknown=0, classes=classes),),
        shifts=(shift_finding(n_use=100, sameness=sameness, **shift),),
        split=splits or split(),
    )


def states(findings: Findings) -> dict[str, str]:
    return {check.name: check.state for check in verdict_of(findings).checks}


def test_all_checks_good_is_good(small: Findings) -> None:
    verdict = verdict_of(case(small))
    assert verdict.state == GOOD
    assert {check.name for check in verdict.checks} == {
        *("gap", "class_alone", "relatives", "same_classifier", "evidence", "mix")
    }


@pytest.mark.parametrize(
    ("name", "changed", "state"),
    [
        # A class whose interval is wider than what is asked for was not shown to hold.
        ("gap", {"gaps": ((-0.02, 0.03), (-0.06, 0.04))}, CARE),
        ("gap", {"gaps": ((-0.02, 0.03), (0.06, 0.1))}, BAD),  # 40 of 100 are in it
        ("gap", {"gaps": ((-0.02, 0.03), (math.nan, math.nan))}, CARE),
        # A class that is off is never passed over, however few predictions it has.
        ("gap", {"gaps": ((-0.02, 0.03), (0.06, 0.1)), "sizes": (85, 15)}, CARE),
        ("class_alone", {"nll": (-0.1, 0.1)}, CARE),
        ("class_alone", {"nll": (0.05, 0.1)}, BAD),
        ("class_alone", {"nll": (math.nan, math.nan)}, OPEN),
        ("relatives", {"splits": split(0, bound=0.03)}, CARE),
        ("relatives", {"splits": split(8, bound=0.04)}, CARE),
        ("relatives", {"splits": split(40, bound=0.13)}, BAD),
        ("relatives", {"splits": replace(split(), is_audited=False)}, OPEN),
        ("same_classifier", {"sameness": replace(SAME, is_changed=True)}, BAD),
        # That nothing was noticed is no evidence where nothing could be.
        ("same_classifier", {"sameness": replace(SAME, power=0.5)}, OPEN),
        ("same_classifier", {"sameness": None}, OPEN),
        ("evidence", {"evident": (39, 30)}, CARE),
        ("evidence", {"evident": (30, 9)}, BAD),
        ("mix", {"in_range": (39, 30)}, CARE),
        ("mix", {"is_other_kind": True}, BAD),
    ],
)
def test_one_check_that_is_not_good_makes_the_verdict(
    small: Findings, name: str, changed: dict[str, object], state: str
) -> None:
    findings = case(small, **changed)  # type: ignore[arg-type]
    found = states(findings)
    assert found.pop(name) == state
    assert set(found.values()) == {GOOD}
    verdict = verdict_of(findings)
    assert verdict.state == (BAD if state == BAD else CARE)
    assert verdict.checks[0].name == name
    assert [one.name for one in reasons(verdict, GOOD)] == [name]
    assert [one.name for one in reasons(verdict, CARE)] == [name] * (state == BAD)


def slow_gap(ends: tuple[tuple[float, float], ...]) -> str:
    """Return the state of the check of held-out gaps, class after class, of 60 and 40."""
    held = off = 0
    for n, (lower, upper) in zip((60, 40), ends, strict=True):
        if lower >= -0.05 and upper <= 0.05:
            held += n
        if lower > 0.05 or upper < -0.05:
            off += n
    if off > 20:
        return BAD
    return GOOD if held >= 70 and not off else CARE


ENDS = ((-0.05, 0.05), (-0.2, 0.01), (0.01, 0.2), (0.051, 0.2), (-0.2, -0.051), (-0.3, 0.3))


@pytest.mark.parametrize("ends", list(product(ENDS, repeat=2)))
def test_held_out_gaps_are_those_of_loops(
    small: Findings, ends: tuple[tuple[float, float], ...]
) -> None:
    assert states(case(small, gaps=ends))["gap"] == slow_gap(ends)


def test_reasons_stand_in_the_order_of_the_predictions_they_concern(small: Findings) -> None:
    verdict = verdict_of(
        case(small, gaps=((-0.02, 0.03), (-0.06, 0.04)), evident=(20, 30), in_range=(39, 30))
    )
    shown = [(check.name, check.n_affected) for check in verdict.checks if check.state == CARE]
    assert shown == [("evidence", 50), ("gap", 40), ("mix", 31)]


def test_a_page_without_a_sample_is_never_good(small: Findings) -> None:
    findings = replace(case(small), use_sets=(), shifts=(), lists=())
    assert states(findings)["evidence"] == OPEN
    assert verdict_of(findings).state == CARE


def test_where_no_relatives_are_known_nothing_is_said_of_a_leak(small: Findings) -> None:
    findings = case(small, splits=replace(split(), clusters="none", is_audited=False))
    check = next(one for one in verdict_of(findings).checks if one.name == "relatives")
    assert check.state == OPEN
    assert "Nothing says which proteins are relatives" in check.text
    assert "families" not in " ".join(one.text for one in verdict_of(findings).checks)


def test_clusters_given_without_a_split_are_known(small: Findings) -> None:
    assert small.split is None
    assert small.results.n_clusters < small.results.n_samples
    check = next(one for one in verdict_of(small).checks if one.name == "relatives")
    text = "Clusters were given and kept whole; nobody looked for relatives in two of them."
    assert (check.state, check.text) == (OPEN, text)


def test_cut_offs_are_those_of_the_configuration(small: Findings) -> None:
    findings = case(small, gaps=((-0.02, 0.03), (-0.06, 0.04)))
    assert states(replace(findings, limits=VerdictSettings(off_by=0.1)))["gap"] == GOOD
    assert states(replace(findings, limits=VerdictSettings(held=0.5)))["gap"] == GOOD
    assert (
        states(replace(case(small), limits=VerdictSettings(power=0.95)))["same_classifier"] == OPEN
    )


def test_a_class_that_is_off_is_named_with_its_direction(small: Findings) -> None:
    check = verdict_of(case(small, gaps=((-0.02, 0.03), (-0.2, -0.1)))).checks[0]
    assert check.headline == "Confidences of Tail fiber are off"
    assert "Tail fiber (−15.0)" in check.text


def test_long_lists_of_classes_are_cut() -> None:
    assert in_words("abcde") == "a, b, c, d and e"
    assert in_words("abcdef") == "a, b, c, d and 2 more"


def test_only_what_is_bad_forbids_use_with_care() -> None:
    bad = Check("mix", "use", BAD, 0.1, 0.8, math.nan, 9, "Of another kind", "Text.")
    assert list(reasons(Verdict(BAD, (bad, replace(bad, state=OPEN))), CARE)) == [bad]


def test_the_shift_of_another_sample_says_nothing_of_this_one(small: Findings) -> None:
    findings = case(small)
    other: ShiftFinding = replace(findings.shifts[0], name="soil")
    assert states(replace(findings, shifts=(other,)))["mix"] == OPEN


def test_the_figure_of_gaps_goes_by_the_cut_off_that_was_set(small: Findings) -> None:
    findings = case(small, gaps=((-0.02, 0.08), (-0.2, -0.1)))
    words = {
        zone: str(section(replace(findings, limits=VerdictSettings(off_by=zone))))
        for zone in (0.05, 0.09)
    }
    assert "within 5 percentage points" in words[0.05]
    assert "within 9 percentage points" in words[0.09]
    assert "zone=9.0" in words[0.09]
    # What a test would notice is computed for five, whatever was set.
    assert "five percentage points off" in words[0.09]
