"""The first screen: a verdict, how many are right, what a score of each class is worth."""

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from statistics import NormalDist
from typing import Any

import numpy as np
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from credence.evaluation.verdict import BAD, CARE, GOOD, OPEN
from credence.findings import ClassCount, CurveFinding, Findings, ProteinList, QuerySet
from credence.problems import plural
from credence.report import blocks as page
from credence.report.sections.lists import expected_right, percent, whole_of
from credence.report.sections.lookup import Lookup, class_anchors
from credence.report.verdict import StatedCheck, stated_verdict
from credence.report.wording import DASH, count, in_words, round_score, score, slug

TITLES = {GOOD: "Good to use", CARE: "Use with care", BAD: "Not to be used"}
COLOUR_BANDS = (0.5, 0.8, 0.9, 0.95)  # of the confidence, by which the picture is coloured
WIDEST_EVIDENCE = 0.4  # of a range that is evidence
MOST_REASONS = 4


def section(findings: Findings) -> page.Section:
    """Return the first screen."""
    lookup, verdict = Lookup(findings), stated_verdict(findings)
    strips = _strips(lookup)
    advice = {
        GOOD: (
            "Of predictions with a confidence of 80 %, about 80 of 100 are right, if your "
            "proteins are no harder than those of known class: scores cannot show that."
        ),
        CARE: _work_from(findings),
        BAD: "Do not act on these confidences before what stands below is settled.",
    }[verdict.state]
    many = len(findings.queries) > 1

    def shown(*states: str) -> tuple[page.Reason, ...]:
        alike: dict[tuple[str, str], list[StatedCheck]] = {}
        for check in verdict.checks:
            if check.state in states:
                alike.setdefault((check.state, check.headline), []).append(check)
        reasons = []
        for (state, headline), checks in alike.items():
            about = in_words(check.query_set for check in checks if many and check.query_set)
            text = checks[0].text if len(checks) == 1 else ""
            reasons.append(
                page.Reason(
                    state=state, headline=f"{about}: {headline}" if about else headline, text=text
                )
            )
        return tuple(reasons)

    yours = ("yours accepted",) if findings.queries else ()
    known = "families known" if lookup.knows_relatives else "proteins known"
    reasons = shown(BAD, CARE)
    curves = page.Widget(
        name="curves",
        script="lookup",
        label="Look up a class and a score",
        data=curve_data(lookup),
    )
    block = page.FirstScreen(
        about=_about(lookup),
        truth=_truth(findings),
        state=verdict.state,
        title=TITLES[verdict.state],
        advice=advice,
        reasons=reasons[:MOST_REASONS],
        others=(*reasons[MOST_REASONS:], *shown(GOOD), *shown(OPEN)),
        answers=_answers(lookup),
        ticks=_ticks(lookup),
        columns=("90\u00a0% precision from", *yours, known),
        strips=strips,
        basis=_basis(lookup),
        lookup=curves,
    )
    return page.Section(name="first", title="In short", blocks=(block,))


def _about(lookup: Lookup) -> str:
    results = lookup.findings.results
    text = "How often predictions of a classifier are right, learnt from "
    text += f"{plural(results.n_samples, 'protein')} of known class"
    if lookup.knows_relatives:
        text += f", in {plural(results.n_clusters, 'family', 'families')}"
    return f"{text}."


def _truth(findings: Findings) -> str:
    parts = []
    for query_set in findings.queries:
        right = {
            entry.class_name: entry.n_right
            for entry in query_set.classes
            if entry.n_right is not None
        }
        whole = whole_of(findings, query_set.name)
        if not right or whole is None:
            continue
        listed = {name: whole_of(findings, query_set.name, name) for name in right}
        asked = {name: entry for name, entry in listed.items() if entry is not None and entry.n}
        parts.append(
            f"The true classes of {query_set.name} are known: {count(sum(right.values()))} of "
            f"{plural(whole.n, 'prediction')} are right, {expected_right(whole)} were expected."
        )
        if asked:
            parts.append(_intervals_held(asked, right))
    return " ".join(parts)


def _intervals_held(asked: Mapping[str, ProteinList], right: Mapping[str, int]) -> str:
    """Return in how many classes the interval held the true number, and if it could miss it."""
    ends = {
        name: (math.floor(entry.right_lower), math.ceil(entry.right_upper))
        for name, entry in asked.items()
    }
    missed = [name for name, (low, high) in ends.items() if not low <= right[name] <= high]
    n_wide = sum(
        high - low > WIDEST_EVIDENCE * asked[name].n
        for name, (low, high) in ends.items()
        if name not in missed
    )
    n_held = len(asked) - len(missed)
    of_them = plural(len(asked), "class", "classes")
    text = f"The intervals held the true number in {count(n_held)} of {of_them}"
    if n_wide:
        text += f" ({count(n_wide)} of them so wide that they could hardly miss)"
    return f"{text}, but not in {in_words(missed)}." if missed else f"{text}."


def _answers(lookup: Lookup) -> tuple[page.Answer, ...]:
    findings = lookup.findings
    answers = [
        answer for query_set in findings.queries for answer in _of_query_set(findings, query_set)
    ]
    if not answers:
        n, n_right = findings.results.n_samples, findings.results.n_correct
        words = f"of {plural(n, 'prediction')} of known class are right, whatever their score"
        answers = [page.Answer(number=f"{100 * n_right / n:.0f} %", text=words)]
    return tuple(answers)


def _of_query_set(findings: Findings, query_set: QuerySet) -> list[page.Answer]:
    known = query_set.n - query_set.n_unknown
    whole = whole_of(findings, query_set.name)
    answers = []
    name = "your" if len(findings.queries) == 1 else f"{query_set.name}’s"
    if whole is not None and whole.n and not math.isnan(whole.right):
        right = (whole.right_lower, whole.right, whole.right_upper)
        low, middle, high = (100 * value / whole.n for value in right)
        words = f"of {name} {plural(known, 'prediction')} should be right: about "
        words += count(round(whole.right))
        answers.append(
            page.Answer(number=f"{middle:.0f} %", range=f"({low:.0f} to {high:.0f})", text=words)
        )
    n_accept, n_check = (
        sum(getattr(entry, field) for entry in query_set.classes)
        for field in ("n_accept", "n_check")
    )
    for lists in (lists for lists in findings.lists if lists.name == query_set.name):
        if lists.accepted is not None:
            kind = f" (none of them {lists.background_in_words})" if lists.background else ""
            words = f"accepted at {percent(lists.accepted.error)} FDR{kind}"
            answers.append(page.Answer(number=count(n_accept), text=words, anchor="lists"))
    answers.append(page.Answer(number=count(n_check), text="to check"))
    n_lacking = query_set.n - n_accept - n_check
    return [*answers, page.Answer(number=count(n_lacking), text="insufficient data")]


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
    """Return a picture of each class, those of most use to the samples first."""
    findings, anchors = lookup.findings, class_anchors(lookup.findings)
    strips = []
    for entry in findings.results.classes:
        every = (part for query_set in findings.queries for part in query_set.classes)
        parts = [part for part in every if part.class_name == entry.class_name]
        n, n_accept = (sum(getattr(part, field) for part in parts) for field in ("n", "n_accept"))
        yours = (f"{count(n_accept)} of {count(n)}",) if findings.queries else ()
        known = entry.n_clusters if lookup.knows_relatives else entry.n_predicted
        strip = _strip(lookup, entry, anchors[entry.class_name], (*yours, count(known)))
        strips.append((-n_accept / n if n else 0.0, -entry.n_predicted, strip))
    strips.sort(key=lambda ranked: ranked[:2])
    return tuple(strip for *_, strip in strips)


def _strip(lookup: Lookup, entry: ClassCount, anchor: str, cells: tuple[str, ...]) -> page.Strip:
    name, curve = entry.class_name, lookup.shown(entry.class_name)
    if entry.n_predicted == 0:
        words = f"{name}: never predicted in calibration"
        return page.Strip(name=name, anchor=anchor, label=words, cells=(DASH, *cells))
    if lookup.axis is None or curve is None or not curve.score:
        blank = ((0.0, 100.0),) if entry.upper - entry.lower > WIDEST_EVIDENCE else ()
        words = f"{name}: one confidence, whatever the score"
        bands = ((_band(entry.share), 0.0, 100.0),)
        return page.Strip(
            name=name, anchor=anchor, label=words, bands=bands, thin=blank, cells=(DASH, *cells)
        )
    low, high = lookup.axis
    ends = (entry.score_min, entry.score_max)
    if ends[0] == ends[1]:  # a line would not be seen
        half = (high - low) / 200.0
        ends = (max(low, ends[0] - half), min(high, ends[1] + half))
    inside = np.array([ends[0], *curve.score, ends[1]])
    edges = np.unique(inside[(inside >= ends[0]) & (inside <= ends[1])])
    value, lower, upper = (
        np.interp((edges[1:] + edges[:-1]) / 2.0, curve.score, values)
        for values in (curve.value, curve.lower, curve.upper)
    )
    at = 100.0 * (edges - low) / (high - low)
    thin = _runs(at, (~(upper - lower <= WIDEST_EVIDENCE)).tolist())
    estimate, sure = (
        None if end is None else max(end, entry.score_min) for end in lookup.marks(entry)
    )
    end, words = DASH, f"{name}: no threshold for 90 % precision"
    if estimate is not None:
        scale = lookup.findings.results.scale
        end = "any" if estimate <= entry.score_min else round_score(estimate, scale)
        words = f"{name}: 90 % precision from {end}"

    def place(value: float | None) -> float | None:
        return None if value is None else round(100.0 * (value - low) / (high - low), 2)

    if any(kind for kind, *_ in thin):
        words += "; too little evidence for part of the scores"
    colours = _runs(at, [_band(confidence) for confidence in value.tolist()])
    return page.Strip(
        name=name,
        anchor=anchor,
        label=words,
        bands=colours,
        thin=tuple((start, width) for kind, start, width in thin if kind),
        estimate=place(estimate),
        sure=place(sure),
        cells=(end, *cells),
    )


def _band(value: float) -> int:
    return int(np.searchsorted(COLOUR_BANDS, value, side="right"))


def _runs(
    edges: NDArray[np.float64], kinds: Sequence[int]
) -> tuple[tuple[int, float, float], ...]:
    """Return stretches of one kind: kind, start and width."""
    runs: list[list[float]] = []
    for (start, end), kind in zip(pairwise(edges.tolist()), kinds, strict=True):
        if runs and runs[-1][0] == kind:
            runs[-1][2] = end
        else:
            runs.append([kind, start, end])
    return tuple((int(kind), round(start, 2), round(end - start, 2)) for kind, start, end in runs)


def _basis(lookup: Lookup) -> str:
    thresholds, calibrated = lookup.findings.thresholds, "the calibration set"
    whose = calibrated if lookup.corrected is None else lookup.corrected.name
    text = (
        "▽: at or above this score, at least 90 % of the predictions of the class are right, "
        f"estimated for the class proportions of {whose}"
    )
    if thresholds is not None:
        text += f"; ▼: the same, guaranteed with {percent(thresholds.certainty)} certainty"
        if whose != calibrated:
            text += f" for the class proportions of {calibrated}"
    return f"{text}.{lookup.of_score_alone}"


def _work_from(findings: Findings) -> str:
    """Return which lists to work from, where the verdict is to take care."""
    sentences = []
    for lists in findings.lists:
        listed = lists.accepted
        if listed is None or listed.n == 0:
            continue
        folder = f"{lists.name}/" if len(findings.lists) > 1 else ""
        kind = f", none of them {lists.background_in_words}" if lists.background else ""
        n_wrong = round(listed.n - listed.right)
        wrong = "fewer than one is wrong"
        if n_wrong:
            wrong = f"about {count(n_wrong)} {'is' if n_wrong == 1 else 'are'} wrong"
        sentences.append(
            f"Work from {folder}list_{listed.error:g}.tsv: "
            f"{plural(listed.n, 'prediction')}{kind}; {wrong}."
        )
    return " ".join(sentences) or "Look at the interval of a confidence before you act on it."


UNIT = 10_000  # confidences are whole parts of it
SCORE_DECIMALS = 6


def curve_data(lookup: Lookup) -> dict[str, Any]:
    """Return every class's curves under every method, in round numbers."""
    results = lookup.findings.results
    methods = [method.name for method in lookup.findings.methods]
    bounds = [entry.shares.edges[-1] for entry in results.histograms]
    return {
        "chosen": lookup.findings.chosen,
        "methods": methods,
        "unit": UNIT,
        "scale": results.scale,
        "level": f"{100 * results.level:g}",
        "quantile": NormalDist().inv_cdf((1 + results.level) / 2),
        "start": float(f"{0.7 * results.scale:.6g}"),
        "end": max(bounds, default=results.scale),
        "axis": lookup.axis,
        "ofNew": " of new families" if lookup.knows_relatives else "",
        "classes": [
            _class_data(lookup, entry, number, methods)
            for number, entry in enumerate(results.classes, start=1)
            if entry.n_predicted > 0
        ],
    }


def _class_data(
    lookup: Lookup, entry: ClassCount, number: int, methods: list[str]
) -> dict[str, Any]:
    name, findings = entry.class_name, lookup.findings
    curves = [lookup.curves.get((method, name)) for method in methods]
    fitted = lookup.curves.get((findings.chosen, name))
    grid = () if fitted is None else fitted.score
    published = None if lookup.corrected is None else lookup.shown(name)
    return {
        "name": name,
        "slug": slug(name, number),
        "anchor": f"class-{slug(name, number)}",
        "least": _rounded(entry.score_min),
        "greatest": _rounded(entry.score_max),
        "score": [_rounded(value) for value in grid],
        "curves": [_curve_data(curve, grid) for curve in curves],
        # What is published, where that is another curve: corrected for a sample's mix.
        "shown": _curve_data(published, ()),
    }


def _curve_data(curve: CurveFinding | None, grid: tuple[float, ...]) -> dict[str, Any] | None:
    if curve is None or not curve.score:
        return None
    data: dict[str, Any] = {"value": _whole(curve.value), "isFunction": curve.is_function}
    if curve.is_function:
        data |= {"lower": _whole(curve.lower), "upper": _whole(curve.upper)}
        data["support"] = [None if math.isnan(v) else round(v, 3) for v in curve.support]
    if curve.score != grid:
        data["score"] = [_rounded(value) for value in curve.score]
    return data


def _whole(values: tuple[float, ...]) -> list[int | None]:
    # What is not quite 0 or 1 does not become it.
    ends = ((int(value > 0), UNIT - int(value < 1)) for value in values)
    return [
        None if math.isnan(value) else min(max(round(value * UNIT), low), high)
        for value, (low, high) in zip(values, ends, strict=True)
    ]


def _rounded(value: float) -> float | None:
    return None if math.isnan(value) else round(value, SCORE_DECIMALS)
