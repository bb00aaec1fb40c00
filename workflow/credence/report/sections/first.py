"""The first screen: a verdict, how many are right, what a score of each class is worth."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
from matplotlib.ticker import MaxNLocator

from credence.findings import ClassCount, CurveFinding, Findings, UseSet
from credence.report import blocks as page
from credence.report.sections.lists import whole_of
from credence.report.sections.lookup import Lookup
from credence.report.sections.trust import class_anchors, curve_data
from credence.report.verdict import BAD, CARE, GOOD, OPEN, verdict_of
from credence.report.wording import NOTHING, count, least_score, of, score

TITLES = {GOOD: "Good to use", CARE: "Use with care", BAD: "Not to be used"}
BANDS = (0.5, 0.8, 0.9, 0.95)  # of the confidence, by which the picture is coloured
WIDEST = 0.4  # of a range that is evidence
ENOUGH = 0.9  # confidence that is marked
MOST_REASONS = 4


def section(findings: Findings) -> page.Section:
    """Return the first screen."""
    lookup, verdict = Lookup(findings), findings.verdict or verdict_of(findings)
    strips = _strips(lookup)
    has_sure = any(strip.sure is not None for strip in strips)
    advice = {
        GOOD: "Of predictions with a confidence of 80 %, about 80 of 100 are right.",
        CARE: (
            "Rely on scores from a filled mark ▼ on. Elsewhere, read the range before the number."
            if has_sure
            else "Read the range before the number."
        ),
        BAD: "Do not act on these confidences before what stands below is settled.",
    }[verdict.state]
    many = len(findings.use_sets) > 1

    def shown(*states: str) -> tuple[page.Reason, ...]:
        return tuple(
            page.Reason(
                one.state,
                f"{one.use_set}: {one.headline}" if many and one.use_set else one.headline,
                one.text,
            )
            for one in verdict.checks
            if one.state in states
        )

    reasons = shown(BAD, CARE)
    block = page.FirstScreen(
        _about(lookup),
        verdict.state,
        TITLES[verdict.state],
        advice,
        reasons[:MOST_REASONS],
        (*reasons[MOST_REASONS:], *shown(GOOD), *shown(OPEN)),
        _answers(lookup),
        _ticks(lookup),
        _columns(lookup),
        strips,
        _basis(lookup),
        page.Widget("curves", "lookup", "Look up a class and a score", curve_data(lookup)),
    )
    return page.Section("first", "In short", (block,))


def _about(lookup: Lookup) -> str:
    results = lookup.findings.results
    families = (
        f", in {of(results.n_clusters, 'family', 'families')}" if lookup.knows_relatives else ""
    )
    return (
        f"How often predictions of a classifier are right, learnt from "
        f"{of(results.n_samples, 'protein')} of known class{families}."
    )


def _answers(lookup: Lookup) -> tuple[page.Answer, ...]:
    findings = lookup.findings
    found = [answer for use_set in findings.use_sets for answer in _of_use_set(findings, use_set)]
    if not found:
        results = findings.results
        found = [
            page.Answer(
                f"{100 * results.n_correct / results.n_samples:.0f} %",
                "",
                f"of {of(results.n_samples, 'prediction')} of known class are right, whatever "
                "their score",
            )
        ]
    return tuple(found)


def _of_use_set(findings: Findings, use_set: UseSet) -> list[page.Answer]:
    known = use_set.n - use_set.n_unknown
    whole = whole_of(findings, use_set.name)
    found = []
    name = "your" if len(findings.use_sets) == 1 else f"{use_set.name}’s"
    if whole is not None and whole.n and not math.isnan(whole.right):
        low, middle, high = (
            100 * value / whole.n for value in (whole.right_lower, whole.right, whole.right_upper)
        )
        found.append(
            page.Answer(
                f"{middle:.0f} %",
                f"({low:.0f} to {high:.0f})",
                f"of {name} {of(known, 'prediction')} should be right: about "
                f"{count(round(whole.right))}",
            )
        )
    place = use_set.levels.index(ENOUGH)
    sure, surely = (
        sum(getattr(entry, field)[place] for entry in use_set.classes)
        for field in ("n_at_least", "n_surely")
    )
    found.append(page.Answer(count(sure), "", f"of {name} predictions are 90 % sure or more"))
    found.append(page.Answer(count(surely), "", "even at the low end of their range"))
    lists = [one for one in findings.lists if one.name == use_set.name]
    for one in (one for entry in lists for one in entry.lists if one.class_name is None):
        if not one.is_certain:
            allowed = f"{100 * one.error:.3g} %"
            found.append(
                page.Answer(
                    count(one.n), "", f"to use, if {allowed} of them may be wrong", "lists"
                )
            )
            break
    return found


def _columns(lookup: Lookup) -> tuple[str, ...]:
    yours = ("yours at 90 %",) if lookup.findings.use_sets else ()
    known = "families known" if lookup.knows_relatives else "proteins known"
    return ("90 % from", *yours, known)


def _ticks(lookup: Lookup) -> tuple[tuple[float, str], ...]:
    axis = lookup.axis
    if axis is None:
        return ()
    low, high = axis
    places = np.asarray(MaxNLocator(7, steps=[1, 2, 5, 10]).tick_values(low, high))
    return tuple(
        (round(100 * (at - low) / (high - low), 2), score(at, lookup.findings.results.scale))
        for at in places.tolist()
        if low <= at <= high
    )


def _strips(lookup: Lookup) -> tuple[page.Strip, ...]:
    findings = lookup.findings
    anchors, axis = class_anchors(findings), lookup.axis
    yours = {
        entry.class_name: [
            (own.n_at_least[use_set.levels.index(ENOUGH)], own.n)
            for use_set in findings.use_sets
            for own in use_set.classes
            if own.class_name == entry.class_name
        ]
        for entry in findings.results.classes
    }
    found = []
    for entry in findings.results.classes:
        n_sure, n = (sum(pair[at] for pair in yours[entry.class_name]) for at in (0, 1))
        strip = _strip(lookup, entry, axis)
        end = "never" if entry.n_predicted and axis else NOTHING
        if strip.estimate is not None:
            end = least_score(strip.estimate, findings.results.scale)
        cells = [end]
        if findings.use_sets:
            cells.append(f"{count(n_sure)} of {count(n)}")
        cells.append(count(entry.n_clusters if lookup.knows_relatives else entry.n_predicted))
        place = _placed(strip, axis, anchors[entry.class_name], tuple(cells))
        found.append((-n_sure / n if n else 0.0, -entry.n_predicted, place))
    found.sort(key=lambda one: one[:2])
    return tuple(place for *_, place in found)


def _strip(lookup: Lookup, entry: ClassCount, axis: tuple[float, float] | None) -> page.Strip:
    """Return the picture of a class, in scores."""
    name = entry.class_name
    curve = lookup.shown(name)
    if entry.n_predicted == 0:
        return page.Strip(name, "", "", (), (), None, None, ())
    if axis is None or curve is None or not curve.score:
        width = entry.upper - entry.lower
        thin = () if width <= WIDEST else ((0.0, 1.0),)
        return page.Strip(name, "", "", ((_band(entry.share), 0.0, 1.0),), thin, None, None, ())
    inside = np.array([entry.score_min, *curve.score, entry.score_max])
    edges = np.unique(inside[(inside >= entry.score_min) & (inside <= entry.score_max)])
    if len(edges) == 1:
        half = (axis[1] - axis[0]) / 200.0
        edges = np.array([max(axis[0], edges[0] - half), min(axis[1], edges[0] + half)])
    middle = (edges[1:] + edges[:-1]) / 2.0
    value, lower, upper = (
        np.interp(middle, curve.score, values)
        for values in (curve.value, curve.lower, curve.upper)
    )
    bands = [_band(one) for one in value.tolist()]
    is_thin = (~(upper - lower <= WIDEST)).tolist()
    estimate, sure = marks(lookup, curve, entry)
    return page.Strip(
        name,
        "",
        "",
        _runs(edges, bands),
        tuple((start, end) for kind, start, end in _runs(edges, is_thin) if kind),
        estimate,
        sure,
        (),
    )


def _band(value: float) -> int:
    return int(np.searchsorted(BANDS, value, side="right"))


def _runs(
    edges: np.ndarray, kinds: list[int] | list[bool]
) -> tuple[tuple[int, float, float], ...]:
    """Return stretches of one kind: kind, first and last edge."""
    found: list[tuple[int, float, float]] = []
    for (start, end), kind in zip(pairwise(edges.tolist()), kinds, strict=True):
        if found and found[-1][0] == kind:
            found[-1] = (int(kind), found[-1][1], end)
        else:
            found.append((int(kind), start, end))
    return tuple(found)


def marks(
    lookup: Lookup, curve: CurveFinding, entry: ClassCount
) -> tuple[float | None, float | None]:
    """Return from which score on nine of ten are right: by the estimate, and surely.

    Of a sample that is mixed otherwise, where its curve and the lower end stay above;
    else the thresholds that were found on families held out, where there are any.
    """
    thresholds = lookup.findings.thresholds
    if lookup.corrected is None and thresholds is not None:
        for row in thresholds.rows:
            if (row.class_name, row.on, row.precision) == (entry.class_name, "score", ENOUGH):
                return _known(row.threshold), _known(row.sure)
    grid = np.array(curve.score)
    seen = (grid >= entry.score_min) & (grid <= entry.score_max)
    found = []
    for values in (curve.value, curve.lower):
        below = np.flatnonzero(~(np.array(values) >= ENOUGH) & seen)
        first = 0 if len(below) == 0 else below[-1] + 1
        is_reached = first < len(grid) and grid[first] <= entry.score_max
        found.append(max(float(grid[first]), entry.score_min) if is_reached else None)
    return found[0], found[1]


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value


def _placed(
    strip: page.Strip, axis: tuple[float, float] | None, anchor: str, cells: tuple[str, ...]
) -> page.Strip:
    """Return a picture in percent of its width, with what it says in words."""
    low, high = axis or (0.0, 1.0)

    def at(value: float) -> float:
        return round(100.0 * (value - low) / (high - low), 2)

    words = f"{strip.name}: "
    if not strip.bands:
        words += "never predicted in calibration"
    elif axis is None:
        words += "one confidence, whatever the score"
    else:
        words += f"90 % from score {cells[0]}" if strip.estimate else "no score reaches 90 %"
        if strip.thin:
            words += "; too little evidence for part of the scores"
    return page.Strip(
        strip.name,
        anchor,
        words,
        tuple(
            (kind, at(start), round(at(end) - at(start), 2)) for kind, start, end in strip.bands
        ),
        tuple((at(start), round(at(end) - at(start), 2)) for start, end in strip.thin),
        None if strip.estimate is None else at(strip.estimate),
        None if strip.sure is None else at(strip.sure),
        cells,
    )


def _basis(lookup: Lookup) -> str:
    """Return what the picture rests on."""
    if lookup.corrected is not None:
        text = (
            f"Corrected for the mix of classes of {lookup.corrected.name}. ▽: confidence of 90 % "
            "or more from here on; ▼: the low end of its range too."
        )
    else:
        certainty = lookup.findings.thresholds
        sure = f"{100 * certainty.certainty:g} % certain" if certainty else "by the whole range"
        text = (
            "▽: of predictions from here on, 90 % are right, by the estimate; ▼: the same, "
            f"{sure}. For the mix of classes of the calibration set."
        )
    return f"{text}{lookup.of_score_alone}"
