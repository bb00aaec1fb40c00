"""The verdict: the worst check wins; what was not shown to hold forbids good."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import product

import pytest
from tests.shift_findings import shift_finding

from credence.evaluation.verdict import BAD, CARE, GOOD, OPEN, Reason, verdict_of
from credence.findings import (
    Difference,
    Findings,
    JoinedAudit,
    MetricValue,
    Sameness,
    ShiftedRows,
    ShiftFinding,
    SplitClass,
    SplitFinding,
    VerdictSettings,
)
from credence.report.sections.measuring import errors_and_tests, section
from credence.report.verdict import REASONS_IN_WORDS, StatedCheck, StatedVerdict, stated_verdict
from credence.report.wording import in_words

NAMES = ("Portal", "Tail fiber")
SAME = Sameness(n=500, p_value=0.4, effect=0.03, moved=0.01, is_changed=False, power=0.9)


def split(n_crossing: int = 0, n: int = 400, bound: float = 0.01) -> SplitFinding:
    return SplitFinding(
        identity=0.4, coverage=0.8, both_sides=True, strict="report", is_audited=True,
        is_exhaustive=False, n_sampled=n, n_population=5_000, n_crossing_sampled=n_crossing,
        bound=bound, n_joined=0, largest_share=0.02, size_low=0.95, size_high=1.05,
        classes=(SplitClass(class_name="Portal", n=100, n_clusters=50, deviation=0.0,
        lower_bound=0.0, n_examined=n, n_crossing=n_crossing),), groups=(), edges=(0.0, 1.0),
        clusters="aligned",
    )  # fmt: skip


def gap(class_name: str | None, lower: float, upper: float) -> MetricValue:
    middle = (lower + upper) / 2
    return MetricValue(
        method="kernel",
        class_name=class_name,
        sample="held_out",
        metric="gap",
        value=middle,
        lower=lower,
        upper=upper,
        n=60,
        n_clusters=25,
    )


def against_class(lower: float, upper: float) -> Difference:
    middle = (lower + upper) / 2
    return Difference(
        method="kernel",
        reference="class_only",
        class_name=None,
        sample="held_out",
        metric="nll",
        value=middle,
        lower=lower,
        upper=upper,
        n=120,
    )


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
    query_set = small.queries[0]
    classes = tuple(
        replace(entry, n=n, n_unknown=0, n_accept=0, n_check=seen, n_in_range=inside)
        for entry, n, seen, inside in zip(
            query_set.classes, (*sizes, 0), (*evident, 0), (*in_range, 0), strict=True
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
        queries=(replace(query_set, n=100, n_unknown=0, classes=classes),),
        shifts=(shift_finding(n_query=100, sameness=sameness, **shift),),
        split=splits or split(),
    )


def states(findings: Findings) -> dict[str, str]:
    return {check.name: check.state for check in verdict_of(findings).checks}


def test_all_checks_good_is_good(small: Findings) -> None:
    verdict = stated_verdict(case(small))
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
    verdict = stated_verdict(findings)
    assert verdict.state == (BAD if state == BAD else CARE)
    assert verdict.checks[0].name == name
    assert [check.name for check in verdict.worse_than(GOOD)] == [name]
    assert [check.name for check in verdict.worse_than(CARE)] == [name] * (state == BAD)


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
    verdict = stated_verdict(
        case(small, gaps=((-0.02, 0.03), (-0.06, 0.04)), evident=(20, 30), in_range=(39, 30))
    )
    shown = [(check.name, check.n_affected) for check in verdict.checks if check.state == CARE]
    assert shown == [("evidence", 50), ("gap", 40), ("mix", 31)]


def test_a_page_without_a_sample_is_never_good(small: Findings) -> None:
    findings = replace(case(small), queries=(), shifts=(), lists=())
    assert states(findings)["evidence"] == OPEN
    assert stated_verdict(findings).state == CARE


def test_relatives_that_joined_in_a_trove_are_a_leak_too(small: Findings) -> None:
    findings = case(small, splits=replace(split(), is_exhaustive=True, n_sampled=5_000))
    assert check_of(findings, "relatives").headline == "No leak found"
    joined = JoinedAudit(n=1_000, n_examined=1_000, n_crossing=240)
    check = check_of(replace(findings, joined=joined), "relatives")
    assert check.headline == "Relatives are in two groups"
    assert (check.state, check.value) == (CARE, 240 / 6_000)
    unknown = replace(joined, n_examined=0, n_crossing=0)  # a sixth may have some
    assert check_of(replace(findings, joined=unknown), "relatives").state == CARE


def test_where_no_relatives_are_known_nothing_is_said_of_a_leak(small: Findings) -> None:
    findings = case(small, splits=replace(split(), clusters="none", is_audited=False))
    check = next(one for one in stated_verdict(findings).checks if one.name == "relatives")
    assert check.state == OPEN
    assert "Nothing says which proteins are relatives" in check.text
    assert "families" not in " ".join(one.text for one in stated_verdict(findings).checks)


def test_clusters_given_without_a_split_are_known(small: Findings) -> None:
    assert small.split is None
    assert small.results.n_clusters < small.results.n_samples
    check = next(one for one in stated_verdict(small).checks if one.name == "relatives")
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
    check = stated_verdict(case(small, gaps=((-0.02, 0.03), (-0.2, -0.1)))).checks[0]
    assert check.headline == "Confidences of Tail fiber are off"
    assert "Tail fiber (−15.0)" in check.text


def test_long_lists_of_classes_are_cut() -> None:
    assert in_words("abcde") == "a, b, c, d and e"
    assert in_words("abcdef") == "a, b, c, d and 2 more"


def test_only_what_is_bad_forbids_use_with_care() -> None:
    bad = StatedCheck(
        name="mix",
        query_set="use",
        state=BAD,
        value=0.1,
        good=0.8,
        bad=math.nan,
        n_affected=9,
        headline="Of another kind",
        text="Text.",
    )
    assert list(
        StatedVerdict(state=BAD, checks=(bad, replace(bad, state=OPEN))).worse_than(CARE)
    ) == [bad]


def test_the_shift_of_another_sample_says_nothing_of_this_one(small: Findings) -> None:
    findings = case(small)
    other: ShiftFinding = replace(findings.shifts[0], name="soil")
    assert states(replace(findings, shifts=(other,)))["mix"] == OPEN


def test_the_figure_of_gaps_goes_by_the_cut_off_that_was_set(small: Findings) -> None:
    findings = case(small, gaps=((-0.02, 0.08), (-0.2, -0.1)))
    words = {
        zone: str((section(limited), errors_and_tests(limited)))
        for zone in (0.05, 0.09)
        if (limited := replace(findings, limits=VerdictSettings(off_by=zone)))
    }
    assert "within 5 percentage points" in words[0.05]
    assert "within 9 percentage points" in words[0.09]
    assert "zone=9.0" in words[0.09]
    # What a test would notice is computed for five, whatever was set.
    assert "five percentage points off" in words[0.09]


def check_of(findings: Findings, name: str) -> StatedCheck:
    (found,) = (one for one in stated_verdict(findings).checks if one.name == name)
    return found


LACKING = "Calibration knows too few families of their class, or saw no such score."


@pytest.mark.parametrize(
    ("evident", "state", "headline", "text", "n_lacking"),
    [
        (
            *((50, 30), GOOD, "80 % of the predictions have sufficient data"),
            *("Of the others, 20, too little is known.", 20),
        ),
        ((60, 9), CARE, "31 predictions lack sufficient data", LACKING, 31),
        # Nearly all: fewer than a tenth of 60 and of 40, which is 4, have it.
        (
            (60, 3),
            CARE,
            "37 predictions lack sufficient data",
            f"{LACKING} Nearly all Tail fiber.",
            37,
        ),
        ((60, 0), CARE, "40 predictions lack sufficient data", f"{LACKING} All Tail fiber.", 40),
        (
            *((5, 0), BAD, "95 predictions lack sufficient data"),
            *(f"{LACKING} All Tail fiber, nearly all Portal.", 95),
        ),
        (
            (0, 0),
            BAD,
            "100 predictions lack sufficient data",
            f"{LACKING} All Portal and Tail fiber.",
            100,
        ),
    ],
)
def test_classes_that_lack_evidence_are_named(
    small: Findings, evident: tuple[int, int], state: str, headline: str, text: str, n_lacking: int
) -> None:
    check = check_of(case(small, evident=evident, in_range=(0, 0)), "evidence")
    assert (check.state, check.headline, check.text) == (state, headline, text)
    assert (check.value, check.n_affected) == (sum(evident) / 100, n_lacking)
    strict = replace(case(small, evident=(60, 39)), limits=VerdictSettings(held=1.0))
    assert check_of(strict, "evidence").headline == "1 prediction lacks sufficient data"


def test_a_sample_without_proteins_has_nothing_to_check(small: Findings) -> None:
    findings = case(small)
    nobody = replace(findings.queries[0], n=0, classes=())
    check = check_of(replace(findings, queries=(nobody,)), "evidence")
    assert (check.state, check.headline) == (OPEN, "The sample is empty")


def test_the_mix_is_judged_by_confidences_that_stay_in_their_ranges(small: Findings) -> None:
    findings = case(small, in_range=(39, 30))
    check = check_of(findings, "mix")
    assert (check.value, check.n_affected) == (0.69, 31)
    assert check.headline == "Class proportions differ from the calibration set"
    # Corrected for 23 % of Portal where 50 % calibrate: the most.
    assert check.text == (
        "Estimated 20 % (15–26) of your proteins are Portal; 50 % in the calibration set, "
        "corrected for 23 %. Confidences are corrected for that, assuming that proteins of a "
        "class score alike in both: for 69 of 100 predictions the correction stays within the "
        "uncorrected 95 % interval."
    )
    (shift,) = findings.shifts
    classes = (replace(shift.classes[0], applied=math.nan), *shift.classes[1:])
    moved = replace(findings, shifts=(replace(shift, classes=classes, estimator="stated"),))
    assert check_of(moved, "mix").text.startswith("Stated 70 % (60–80) of your proteins are Tail ")
    # Where nothing is corrected, too few with evidence do not make other proportions.
    still = replace(findings, shifts=(replace(shift, part_applied=0.0),))
    assert check_of(still, "mix").headline == "No difference of class proportions detected"
    # Those without a confidence are not counted.
    query_set = replace(findings.queries[0], n_unknown=10)
    check = check_of(replace(findings, queries=(query_set,)), "mix")
    assert (check.state, check.value, check.n_affected) == (GOOD, 69 / 90, 21)


def test_where_no_prediction_has_a_confidence_proportions_are_not_said_to_be_unknown(
    small: Findings,
) -> None:
    findings = case(small)
    nobody = replace(findings.queries[0], n_unknown=100)
    check = check_of(replace(findings, queries=(nobody,)), "mix")
    assert (check.state, check.headline, check.text, check.n_affected) == (
        OPEN,
        "No prediction has a confidence",
        "So there is nothing to correct for class proportions.",
        100,
    )
    # Proteins that no class proportions explain are still said to be others.
    (shift,) = findings.shifts
    other = replace(findings, queries=(nobody,), shifts=(replace(shift, is_other_kind=True),))
    assert check_of(other, "mix").state == BAD
    assert check_of(replace(findings, queries=(nobody,), shifts=()), "mix").headline == (
        "Class proportions were not estimated"
    )


def test_who_is_compared_with_whom_does_not_decide_whether_scores_help(small: Findings) -> None:
    for lower, upper in ((-0.3, -0.1), (-0.1, 0.2), (0.1, 0.4)):
        findings = case(small, nll=(lower, upper))
        turned = Difference(
            method="class_only",
            reference="kernel",
            class_name=None,
            sample="held_out",
            metric="nll",
            value=-(lower + upper) / 2,
            lower=-upper,
            upper=-lower,
            n=120,
        )
        others = (
            replace(turned, class_name="Portal", value=9.0, lower=9.0, upper=9.0),
            replace(turned, sample="in_sample", value=9.0, lower=9.0, upper=9.0),
            replace(turned, reference="sts", value=9.0, lower=9.0, upper=9.0),
        )
        results = replace(findings.results, pairs=(turned, *others))
        assert check_of(replace(findings, results=results), "class_alone") == check_of(
            findings, "class_alone"
        )


def test_relatives_are_counted_as_the_audit_shows_them(small: Findings) -> None:
    def relatives(found: SplitFinding) -> StatedCheck:
        return check_of(case(small, splits=found), "relatives")

    # Of 400 one crosses, 0.25 %, surely no more than 1 %: that many of the 100 predictions.
    check = relatives(split(1, bound=0.01))
    assert (check.state, check.value, check.n_affected) == (GOOD, 1 / 400, 1)
    assert check.headline == "Relatives are in two groups"
    assert relatives(split()).headline == "No leak found"
    met = replace(split(), n_met=1)
    assert (relatives(met).state, relatives(met).headline) == (GOOD, "Relatives are in two groups")
    # That 6 % cross of all 5,000 is known where 300 were met, be it that none of the sample does.
    check = relatives(replace(split(bound=0.08), n_met=300))
    assert (check.state, check.n_affected) == (BAD, 100)
    assert relatives(replace(split(bound=0.08), n_met=200)).state == CARE
    # Where all were looked at, what was found is all there is.
    every = replace(split(1, bound=0.9), is_exhaustive=True)
    assert (relatives(every).state, relatives(every).n_affected) == (GOOD, 0)


def test_the_check_of_gaps_counts_predictions_of_all_samples(small: Findings) -> None:
    findings = case(small, gaps=((-0.02, 0.03), (-0.06, 0.04)))
    (query_set,) = findings.queries
    more = replace(query_set, name="soil")
    check = check_of(replace(findings, queries=(query_set, more)), "gap")
    assert check.headline == "1 of 2 classes could not be checked"
    assert "They hold 80 predictions. " in check.text
    assert (check.value, check.n_affected) == (0.6, 80)
    assert check.text.endswith(
        "Over all classes, confidences are 0.5 percentage points too high in cross-validation "
        "over families (+0.0 to +1.0)."
    )
    off = check_of(case(small, gaps=((-0.3, -0.2), (-0.06, 0.04))), "gap")
    assert (off.n_affected, off.value) == (100, 0.0)
    good = check_of(case(small), "gap")
    assert good.text.startswith("Shown for the classes of 100 % of the predictions. ")


def test_power_is_told_and_the_sample_is_affected_as_a_whole(small: Findings) -> None:
    check = check_of(case(small, sameness=replace(SAME, power=0.5)), "same_classifier")
    assert (check.value, check.n_affected) == (0.5, 100)
    assert check.text == (
        "No difference was detected, but too few proteins were compared. Scores that put "
        "confidences five percentage points off would be noticed in 50 of 100 samples."
    )


ODD = ShiftedRows(
    n=500, accuracy=math.nan, largest=math.nan, agreement=math.nan,
    network=2, n_networks=4, with_others=0.03, among_others=0.81,
)  # fmt: skip
LIKE_CHANCE = ShiftedRows(n=500, accuracy=0.2, largest=0.3, agreement=0.01, is_like_chance=True)


@pytest.mark.parametrize(("rows", "value"), [(ODD, 0.03), (LIKE_CHANCE, 0.01)])
def test_rows_under_wrong_ids_are_not_to_be_used(
    small: Findings, rows: ShiftedRows, value: float
) -> None:
    verdict = stated_verdict(replace(case(small), rows=rows))
    assert verdict.state == BAD
    first = verdict.checks[0]
    assert (first.name, first.value) == ("rows", value)
    assert first.headline == "Rows or labels may stand under wrong ids"
    assert "rows" not in states(case(small))


def test_columns_under_wrong_names_in_a_query_set_are_not_to_be_used(small: Findings) -> None:
    changed = replace(SAME, is_changed=True, is_misnamed=True, exchanged=NAMES)
    first = stated_verdict(case(small, sameness=changed)).checks[0]
    assert (first.state, first.headline) == (BAD, "Columns may stand under wrong names")
    assert first.text == (
        "They fit better with the columns 'Portal' and 'Tail fiber' exchanged; 1.0 % of the "
        "proteins are predicted as one of the two."
    )
    odd = stated_verdict(case(small, sameness=replace(SAME, is_changed=True, rows=ODD))).checks[0]
    assert (odd.state, odd.headline) == (BAD, "Rows of a network may stand under wrong ids")
    assert odd.text.startswith("Network 2 of 4 disagrees with the others far more than they do ")


def test_every_reason_has_its_words() -> None:
    assert set(REASONS_IN_WORDS) == set(Reason)
