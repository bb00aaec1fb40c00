"""The first screen: what it says and draws is what was found."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from tests.shift_findings import shift_finding

from credence.findings import Findings
from credence.report import blocks as page
from credence.report.sections.by_class import sentence
from credence.report.sections.first import COLOUR_BANDS, curve_data, section
from credence.report.sections.lookup import Lookup
from credence.report.wording import DASH


def screen(findings: Findings) -> page.FirstScreen:
    (block,) = section(findings).blocks
    assert isinstance(block, page.FirstScreen)
    return block


def strip(findings: Findings, name: str = "Portal") -> page.Strip:
    return next(one for one in screen(findings).strips if one.name == name)


def colour_at(found: page.Strip, place: float) -> int | None:
    return next((k for k, x, width in found.bands if x <= place < x + width), None)


@pytest.mark.parametrize("score", [2.8, 4.2, 6.3, 7.7, 8.9, 9.8])
def test_colours_are_those_of_the_curve_read_at_each_score(small: Findings, score: float) -> None:
    lookup = Lookup(small)
    low, high = lookup.axis or (math.nan, math.nan)
    curve = lookup.curves["kernel", "Portal"]
    value = float(np.interp(score, curve.score, curve.value))
    wanted = sum(value >= edge for edge in COLOUR_BANDS)
    assert colour_at(strip(small), 100 * (score - low) / (high - low)) == wanted


def test_nothing_is_drawn_beyond_the_scores_that_were_seen(small: Findings) -> None:
    lookup = Lookup(small)
    low, high = lookup.axis or (math.nan, math.nan)
    found = strip(small, "Tail fiber")  # seen from 3.0 to 9.5
    start, end = found.bands[0][1], found.bands[-1][1] + found.bands[-1][2]
    assert start == pytest.approx(100 * (3.0 - low) / (high - low), abs=0.02)
    assert end == pytest.approx(100 * (9.5 - low) / (high - low), abs=0.02)


def test_a_wide_range_is_hatched_wherever_it_is_wide(small: Findings) -> None:
    curves = tuple(
        replace(one, lower=tuple(0.0 if at > 8 else v for at, v in zip(one.score, one.lower)))  # noqa: B905
        for one in small.results.curves
    )
    wide = replace(small, results=replace(small.results, curves=curves))
    assert not strip(small).thin
    ((start, width),) = strip(wide).thin
    assert start == pytest.approx(100 * (8.0 - 2.0) / 8.0, abs=7)
    assert start + width == pytest.approx(100.0, abs=0.05)


def test_marks_are_the_thresholds_found_on_families_held_out(small: Findings) -> None:
    found = strip(small)
    assert found.cells[0] == "7.5"
    low, high = Lookup(small).axis or (math.nan, math.nan)
    assert found.estimate == pytest.approx(100 * (7.5 - low) / (high - low), abs=0.01)
    assert found.sure == pytest.approx(100 * (8.75 - low) / (high - low), abs=0.01)


def test_of_a_corrected_sample_marks_and_colours_are_of_the_corrected_curve(
    small: Findings,
) -> None:
    shift = shift_finding()
    curve = replace(
        shift.curves[0],
        score=(2.5, 6.0, 8.0, 10.0),
        **{
            name: (0.1, 0.5, 0.9, value) for name, value in (("after", 0.96), ("after_upper", 1.0))
        },
        after_lower=(0.0, 0.3, 0.7, 0.94),
    )
    found = replace(small, shifts=(replace(shift, curves=(curve,)),))
    portal = strip(found)
    assert portal.cells[0] == DASH  # whatever the curve reaches: no threshold was found
    assert portal.estimate is None
    # The panel of the class says the same: 0.5 + 0.4 · (7 − 6) / 2 at score 7.
    text = sentence(Lookup(found), found.results.classes[0])
    assert text.startswith("In sea water, a prediction of Portal with score 7 is right with prob")
    assert "0.70 (0.50–" in text
    # The figures below are of another mix; one page let them stand under "in the query".
    assert text.endswith(
        "The figures are for the class proportions of the calibration set, where it is "
        "0.66 (0.58–0.70)."
    )


def test_a_class_never_predicted_has_a_row_and_no_picture(small: Findings) -> None:
    found = strip(small, "Collar")
    assert not found.bands
    assert "never predicted" in found.label


def test_numbers_of_the_sample_are_those_of_its_lists_and_counts(small: Findings) -> None:
    answers = [(one.number, one.text) for one in screen(small).answers]
    assert answers[0] == ("82 %", "of your 4 predictions should be right: about 4")
    assert answers[1:] == [
        ("3", "accepted at 5 % FDR (none of them Tail fiber)"),
        ("1", "to check"),
        ("1", "insufficient data"),
    ]


def test_without_a_sample_the_known_proteins_are_counted(small: Findings) -> None:
    (answer,) = screen(replace(small, queries=(), lists=())).answers
    assert answer.number == "75 %"
    assert "120 predictions of known class" in answer.text


def test_a_tool_without_scores_has_one_colour_a_class(small: Findings) -> None:
    results = replace(small.results, curves=(), histograms=())
    found = screen(replace(small, results=results, thresholds=None))
    assert not found.ticks
    assert found.strips[0].bands == ((1, 0.0, 100.0),)  # a precision of 0.75


def test_several_samples_are_named_and_curves_are_not_corrected(small: Findings) -> None:
    soil = replace(small.queries[0], name="soil")
    many = replace(small, queries=(*small.queries, soil), shifts=(shift_finding(),), lists=())
    texts = [one.text for one in screen(many).answers]
    assert texts == ["to check", "insufficient data"] * 2
    assert Lookup(many).corrected is None


def test_where_the_truth_is_known_it_stands_beside_the_promise(small: Findings) -> None:
    first, *others = small.queries[0].classes

    def known(n_first: int) -> Findings:
        classes = (replace(first, n_right=n_first), *(replace(one, n_right=0) for one in others))
        return replace(small, queries=(replace(small.queries[0], classes=classes),))

    held, missed = (screen(known(n)).truth for n in (4, 1))  # promised: 4.1, from 3.2 to 4.9
    assert "4 of 5 predictions are right, 4 (3–5) were expected" in held
    assert held.endswith("The intervals held the true number in 1 of 1 class.")
    assert missed.endswith(
        "The intervals held the true number in 0 of 1 class, but not in Portal."
    )
    assert not screen(small).truth


def test_an_interval_of_nearly_all_numbers_is_not_praised_for_holding_the_truth(
    small: Findings,
) -> None:
    (lists,), (query_set,) = small.lists, small.queries
    narrow = replace(lists.every[1], n=100, right=60.0, right_lower=50.0, right_upper=70.0)
    wide = replace(narrow, class_name="Tail fiber", right_lower=0.0, right_upper=97.0)
    classes = tuple(
        replace(entry, n_right=n) for entry, n in zip(query_set.classes, (55, 3), strict=False)
    )
    found = replace(
        small,
        queries=(replace(query_set, classes=classes),),
        lists=(replace(lists, every=(lists.every[0], narrow, wide)),),
    )
    assert screen(found).truth.endswith(
        "The intervals held the true number in 2 of 2 classes (1 of them so wide that they could "
        "hardly miss)."
    )


def test_a_threshold_below_all_scores_seen_is_any_score(small: Findings) -> None:
    assert small.thresholds is not None
    rows = tuple(replace(row, threshold=0.0, sure=1.0) for row in small.thresholds.rows)
    found = strip(replace(small, thresholds=replace(small.thresholds, rows=rows)))
    assert found.cells[0] == "any"
    assert found.estimate == found.sure == found.bands[0][1]


def test_checks_that_are_alike_in_several_samples_are_named_once(small: Findings) -> None:
    soil = replace(small.queries[0], name="soil")
    many = screen(replace(small, queries=(*small.queries, soil), lists=()))
    headlines = [one.headline for one in (*many.reasons, *many.others)]
    whole = "sea water and soil: Class proportions were not estimated"
    assert headlines.count(whole) == 1
    assert len(headlines) == len(set(headlines))


def test_numbers_of_a_large_sample_are_shares_with_their_interval(small: Findings) -> None:
    (lists,), (query_set,) = small.lists, small.queries
    whole = replace(lists.every[0], n=200, right=170.4, right_lower=150.0, right_upper=181.0)
    kinds = (replace(lists.lists[2], n=7), replace(lists.lists[1], n=8), lists.lists[0])
    large = replace(lists, every=(whole, *lists.every[1:]), lists=kinds)
    classes = tuple(
        replace(one, n=n, n_accept=n - 5 * bool(n), n_check=0)
        for one, n in zip(query_set.classes, (140, 70, 0), strict=True)
    )
    found = replace(
        small, lists=(large,), queries=(replace(query_set, n=210, n_unknown=10, classes=classes),)
    )
    answers = [(one.number, one.range, one.text) for one in screen(found).answers]
    assert answers == [
        ("85 %", "(75 to 90)", "of your 200 predictions should be right: about 170"),
        ("200", "", "accepted at 5 % FDR (none of them Tail fiber)"),
        ("0", "", "to check"),
        ("10", "", "insufficient data"),
    ]
    cells = {one.name: one.cells for one in screen(found).strips}
    assert cells["Portal"][1:] == ("135 of 140", "25")  # families, which are known
    # The class of which most proteins are accepted comes first.
    classes = tuple(
        replace(one, n=100, n_accept=n)
        for one, n in zip(query_set.classes, (5, 60, 0), strict=True)
    )
    found = replace(small, queries=(replace(query_set, n=300, classes=classes),))
    assert [one.name for one in screen(found).strips] == ["Tail fiber", "Portal", "Collar"]


def test_marks_are_thresholds_and_nothing_else(small: Findings) -> None:
    entry, thresholds = small.results.classes[0], small.thresholds
    assert thresholds is not None
    assert Lookup(small).marks(entry) == (7.5, 8.75)
    # Whatever the curve is: without thresholds there is no mark, nor of another precision.
    assert Lookup(replace(small, thresholds=None)).marks(entry) == (None, None)
    rows = tuple(replace(row, precision=0.8) for row in thresholds.rows)
    other = replace(small, thresholds=replace(thresholds, rows=rows))
    assert Lookup(other).marks(entry) == (None, None)
    sure = tuple(replace(row, sure=math.nan) for row in thresholds.rows)
    unsure = replace(small, thresholds=replace(thresholds, rows=sure))
    assert Lookup(unsure).marks(entry) == (7.5, None)


def test_the_estimate_is_for_the_proportions_of_the_sample_and_the_guarantee_for_calibrations(
    small: Findings,
) -> None:
    entry, thresholds = small.results.classes[0], small.thresholds
    assert thresholds is not None
    moved = tuple(replace(row, threshold=9.5, sure=math.nan) for row in thresholds.rows)
    shift = replace(shift_finding(), thresholds=moved)
    found = replace(small, shifts=(shift,))
    assert Lookup(found).corrected is not None
    assert Lookup(found).marks(entry) == (9.5, 8.75)
    assert screen(found).basis.startswith(
        "▽: at or above this score, at least 90 % of the predictions of the class are right, "
        f"estimated for the class proportions of {shift.name}; ▼: the same, guaranteed with "
        "95 % certainty for the class proportions of the calibration set."
    )
    assert Lookup(replace(small, shifts=(shift_finding(),))).marks(entry) == (None, 8.75)


def test_where_care_is_to_be_taken_the_page_names_the_list_to_work_from(small: Findings) -> None:
    assert screen(small).advice == (
        "Work from list_0.05.tsv: 3 predictions, none of them Tail fiber; fewer than one is wrong."
    )
    (lists,) = small.lists
    longer = replace(lists.lists[0], n=285, right=271.2)
    found = replace(small, lists=(replace(lists, lists=(longer,), background=()),))
    assert screen(found).advice == "Work from list_0.05.tsv: 285 predictions; about 14 are wrong."
    nothing = replace(small, lists=())
    assert screen(nothing).advice == "Look at the interval of a confidence before you act on it."


def test_a_class_without_a_threshold_for_nine_tenths_has_a_dash(small: Findings) -> None:
    assert small.thresholds is not None
    rows = tuple(replace(row, threshold=math.nan, sure=math.nan) for row in small.thresholds.rows)
    found = strip(replace(small, thresholds=replace(small.thresholds, rows=rows)))
    assert (found.cells[0], found.estimate, found.sure) == (DASH, None, None)
    assert found.label == "Portal: no threshold for 90 % precision"
    assert strip(small).label == "Portal: 90 % precision from 7.5"


def test_one_confidence_is_hatched_where_its_range_is_too_wide(small: Findings) -> None:
    results = replace(small.results, curves=(), histograms=())
    for lower, hatched in ((0.47, ()), (0.45, ((0.0, 100.0),))):  # up to 0.86
        classes = tuple(replace(one, lower=lower) for one in results.classes)
        found = replace(small, results=replace(results, classes=classes), thresholds=None)
        assert strip(found).thin == hatched
        assert strip(found).label == "Portal: one confidence, whatever the score"


def test_curves_of_the_lookup_are_whole_parts_of_ten_thousand(small: Findings) -> None:
    data = curve_data(Lookup(small))
    assert (data["chosen"], data["methods"]) == ("kernel", ["class_only", "kernel"])
    assert (data["scale"], data["start"], data["end"], data["level"]) == (10.0, 7.0, 10.0, "95")
    assert data["quantile"] == pytest.approx(1.959964)
    assert data["ofNew"] == " of new families"
    portal, fiber = data["classes"]  # Collar was never predicted
    anchors = [(one["name"], one["slug"], one["anchor"]) for one in data["classes"]]
    assert anchors == [
        ("Portal", "1-portal", "class-1-portal"),
        ("Tail fiber", "2-tail-fiber", "class-2-tail-fiber"),
    ]
    assert (fiber["least"], fiber["greatest"]) == (3.0, 9.5)
    assert portal["score"] == [k * 0.5 for k in range(21)]
    assert portal["shown"] is None
    flat, kernel = portal["curves"]
    assert flat["value"] == [6000] * 21
    assert kernel["value"][:3] == [1000, 1400, 1800]
    assert (kernel["lower"][1], kernel["upper"][1], kernel["support"][1]) == (600, 1800, 12.0)
    assert "score" not in kernel  # it is the chosen curve's own

    def first(**changed: object) -> dict[str, object]:
        curves = list(small.results.curves)
        curves[2] = replace(curves[2], **changed)  # type: ignore[arg-type]
        changed_findings = replace(small, results=replace(small.results, curves=tuple(curves)))
        found: dict[str, object] = curve_data(Lookup(changed_findings))["classes"][0]["curves"][1]
        return found

    # What is not quite 0 or 1 does not become it, and NaN is nothing.
    ends = (1e-9, 0.0, 1.0, 1.0 - 1e-9, math.nan, *(0.5,) * 16)
    assert first(value=ends)["value"] == [1, 0, 10_000, 9_999, None, *(5_000,) * 16]
    assert "lower" not in first(is_function=False)


def test_a_class_of_one_score_is_a_line_that_can_be_seen(small: Findings) -> None:
    first, *others = small.results.classes
    for at in (5.0, 10.0):  # seen up to 10
        classes = (replace(first, score_min=at, score_max=at), *others)
        found = replace(small, results=replace(small.results, classes=classes))
        low, high = Lookup(found).axis or (math.nan, math.nan)
        bands, place = strip(found).bands, 100 * (at - low) / (high - low)
        assert bands[0][1] == pytest.approx(place - 0.5, abs=0.01)
        end = bands[-1][1] + bands[-1][2]
        assert end == pytest.approx(min(place + 0.5, 100.0), abs=0.02)


def test_a_truth_at_the_rounded_ends_of_its_interval_is_inside(small: Findings) -> None:
    first, *others = small.queries[0].classes
    for n, n_held in ((2, 0), (3, 1), (5, 1), (6, 0)):  # 3.2 to 4.9
        classes = (replace(first, n_right=n), *(replace(one, n_right=0) for one in others))
        found = replace(small, queries=(replace(small.queries[0], classes=classes),))
        assert f"held the true number in {n_held} of 1 class" in screen(found).truth
