"""Classes at a glance, and each class by itself: curve, reliability, precision, examples."""

import math
from collections.abc import Sequence
from itertools import pairwise
from urllib.parse import quote

import numpy as np
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from credence.findings import DECISIONS, FEWEST_LISTED_FAMILIES, ClassCount, Findings, QuerySet
from credence.problems import plural
from credence.report import blocks as page
from credence.report.sections.lists import percent, precision_figures, whole_of
from credence.report.sections.lookup import Lookup, class_anchors, more_needed, reliability_figure
from credence.report.sections.measuring import all_notices
from credence.report.wording import (
    DASH,
    count,
    interval,
    round_score,
    score,
    share,
    slug,
    with_interval,
)

COLOUR_BANDS = (0.5, 0.8, 0.9, 0.95)  # of the confidence, by which the picture is coloured
LEGEND = (
    "confidence under 0.50",
    "0.50–0.80",
    "0.80–0.90",
    "0.90–0.95",
    "0.95 or more",
    "insufficient data",
)
INSUFFICIENT_BAND = len(COLOUR_BANDS) + 1
MOST_WITH_CURVES = 40  # with a curve of precision; beyond, the page would be too large
MOST_EXAMPLES = 3
WIDER_THAN_KNOWN = 0.1  # an interval wider than this is called wide


def section(findings: Findings) -> page.Section | None:
    """Return all classes at a glance, and what opens of each that was predicted."""
    lookup, anchors = Lookup(findings), class_anchors(findings)
    predicted = [
        (entry, slug(entry.class_name, at), anchors[entry.class_name])
        for at, entry in enumerate(findings.results.classes, start=1)
        if entry.n_predicted > 0
    ]
    if not predicted:
        return None
    blocks = page.flat(glance(lookup), (_panel(lookup, *entry) for entry in predicted))
    return page.Section(name="classes", title="Classes at a glance", blocks=blocks)


def glance(lookup: Lookup) -> page.Glance:
    """Return a row for each class, those of most use first and background last."""
    findings, anchors = lookup.findings, class_anchors(lookup.findings)
    background = {name for lists in findings.lists for name in lists.background}
    known = "families known" if lookup.knows_relatives else "proteins known"
    yours = ("predicted", "accepted") if findings.queries else ()
    expected = "expected precision" if findings.queries else "precision in calibration"
    strips = []
    for at, entry in enumerate(findings.results.classes):
        parts = [query_set.classes[at] for query_set in findings.queries]
        n, n_accept = (sum(getattr(part, field) for part in parts) for field in ("n", "n_accept"))
        numbers = (count(n), count(n_accept)) if yours else ()
        n_known = entry.n_clusters if lookup.knows_relatives else entry.n_predicted
        cells = (*numbers, _expected(lookup, entry), count(n_known))
        strip = _strip(lookup, entry, anchors[entry.class_name], cells)
        is_last = entry.class_name in background
        strips.append((is_last, -n_accept / n if n else 0.0, -entry.n_predicted, strip))
    strips.sort(key=lambda ranked: ranked[:3])
    return page.Glance(
        legend=LEGEND,
        ticks=_ticks(lookup),
        columns=(*yours, expected, known, "90\u00a0% precision from score"),
        strips=tuple(strip for *_, strip in strips),
        basis=_basis(lookup),
    )


def _expected(lookup: Lookup, entry: ClassCount) -> str:
    """Return how often predictions of a class should be right, or known ones were."""
    findings = lookup.findings
    if not findings.queries:
        return _in_percent(entry.share, entry.lower, entry.upper) if entry.n_predicted else DASH
    every = [
        whole_of(findings, query_set.name, entry.class_name) for query_set in findings.queries
    ]
    known = [whole for whole in every if whole is not None and whole.n]
    n, right = sum(whole.n for whole in known), sum(whole.right for whole in known)
    if not n or math.isnan(right):
        return DASH
    if len(known) > 1:  # intervals of several sets do not add up
        return f"{100 * right / n:.0f} %"
    (whole,) = known
    return _in_percent(right / n, whole.right_lower / n, whole.right_upper / n)


def _in_percent(value: float, lower: float, upper: float) -> str:
    text = f"{100 * value:.0f} %"
    return text if math.isnan(lower) else f"{text} ({100 * lower:.0f}–{100 * upper:.0f})"


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


def _strip(lookup: Lookup, entry: ClassCount, anchor: str, cells: tuple[str, ...]) -> page.Strip:
    name, curve = entry.class_name, lookup.shown(entry.class_name)
    scale = lookup.findings.results.scale
    if entry.n_predicted == 0:
        words = f"{name}: never predicted in calibration"
        return page.Strip(name=name, anchor=anchor, label=words, cells=(*cells, DASH))
    if lookup.axis is None or curve is None or not curve.score:
        kind = _colour(entry, entry.share)
        text = f"any score: {_band_in_words(kind)}"
        band = page.Band(kind=kind, start=0.0, width=100.0, text=text)
        words = f"{name}: one confidence, whatever the score"
        return page.Strip(
            name=name, anchor=anchor, label=words, bands=(band,), cells=(*cells, DASH)
        )
    low, high = lookup.axis
    ends = (entry.score_min, entry.score_max)
    if ends[0] == ends[1]:  # a line would not be seen
        half = (high - low) / 200.0
        ends = (max(low, ends[0] - half), min(high, ends[1] + half))
    inside = np.array([ends[0], *curve.score, ends[1]])
    edges = np.unique(inside[(inside >= ends[0]) & (inside <= ends[1])])
    values = np.interp((edges[1:] + edges[:-1]) / 2.0, curve.score, curve.value)
    kinds = [_colour(entry, value) for value in values.tolist()]
    bands = []
    for kind, start, end in _runs(edges, kinds):
        place, width = 100 * (start - low) / (high - low), 100 * (end - start) / (high - low)
        text = f"score {score(start, scale)} to {score(end, scale)}: {_band_in_words(kind)}"
        band = page.Band(kind=kind, start=round(place, 2), width=round(width, 2), text=text)
        bands.append(band)
    estimate, sure = (
        None if end is None else max(end, entry.score_min) for end in lookup.marks(entry)
    )
    stated, words = DASH, f"{name}: no threshold for 90 % precision"
    if estimate is not None:
        stated = "any" if estimate <= entry.score_min else round_score(estimate, scale)
        words = f"{name}: 90 % precision from {stated}"
    if INSUFFICIENT_BAND in kinds:
        words += "; insufficient data"

    def place_of(value: float | None) -> float | None:
        return None if value is None else round(100.0 * (value - low) / (high - low), 2)

    return page.Strip(
        name=name,
        anchor=anchor,
        label=words,
        bands=tuple(bands),
        estimate=place_of(estimate),
        sure=place_of(sure),
        cells=(*cells, stated),
    )


def _colour(entry: ClassCount, value: float) -> int:
    """Return the colour of a confidence; a class whose predictions all lack data has its own."""
    if math.isnan(value) or entry.n_clusters < FEWEST_LISTED_FAMILIES:
        return INSUFFICIENT_BAND
    return int(np.searchsorted(COLOUR_BANDS, value, side="right"))


def _band_in_words(kind: int) -> str:
    words = LEGEND[kind]
    return words if kind in (0, INSUFFICIENT_BAND) else f"confidence {words}"


def _runs(edges: NDArray[np.float64], kinds: Sequence[int]) -> list[tuple[int, float, float]]:
    """Return stretches of one kind: kind, start and end."""
    runs: list[tuple[int, float, float]] = []
    for (start, end), kind in zip(pairwise(edges.tolist()), kinds, strict=True):
        if runs and runs[-1][0] == kind:
            runs[-1] = (kind, runs[-1][1], end)
        else:
            runs.append((kind, start, end))
    return runs


def _basis(lookup: Lookup) -> str:
    thresholds, calibrated = lookup.findings.thresholds, "the calibration set"
    whose = calibrated if lookup.corrected is None else lookup.corrected.name
    text = (
        "▽: at or above this score, at least 90 % of the predictions of the class are right, by "
        f"the estimate for the class proportions of {whose}"
    )
    if thresholds is not None:
        text += f"; ▼: the same, guaranteed with {percent(thresholds.certainty)} certainty"
        if whose != calibrated:
            text += f" for the class proportions of {calibrated}"
    level = f"{100 * lookup.findings.results.level:g}\u00a0%"
    return (
        f"{text}. Choose a class to see its figures (points on the diagonal are calibrated, grey "
        f"is where they would lie by chance; bands are {level} intervals, dotted is beyond the "
        f"calibrated scores; recall is of the right predictions).{lookup.of_score_alone}"
    )


def _panel(lookup: Lookup, entry: ClassCount, name: str, anchor: str) -> page.Panel:
    warnings = [
        f"Careful: {notice.text}"
        for notice in all_notices(lookup.findings)
        if notice.class_name == entry.class_name and notice.is_warning
    ]
    made = (reliability_figure(lookup, entry, name), _confidence_figure(lookup, entry, name))
    figures = tuple(figure for figure in made if figure is not None)
    few = len(lookup.findings.results.classes) <= MOST_WITH_CURVES
    if few and lookup.findings.thresholds is not None:
        figures += precision_figures(lookup.findings.thresholds, entry.class_name, name)
    blocks = page.flat(
        page.lead(sentence(lookup, entry)),
        advice(lookup, entry),
        warnings,
        figures and page.FigureRow(figures=figures),
        (_examples(lookup, entry, query_set) for query_set in lookup.findings.queries),
    )
    return page.Panel(title=entry.class_name, anchor=anchor, blocks=blocks)


def _examples(lookup: Lookup, entry: ClassCount, query_set: QuerySet) -> page.TableBlock | None:
    """Return the predictions of a class with the highest confidence, accepted ones first."""
    rows = query_set.proteins
    if rows is None:
        return None
    at = lookup.findings.results.class_names.index(entry.class_name)
    places = [row for row, class_ in enumerate(rows.classes) if class_ == at]
    known = [row for row in places if not math.isnan(rows.confidence[row])]
    first = sorted(known, key=lambda row: (rows.decisions[row], -rows.confidence[row]))
    shown = first[:MOST_EXAMPLES]
    if not shown:
        return None
    stated = with_interval
    return page.table(
        f"{count(len(shown))} of {count(len(places))} in {query_set.name}",
        shown,
        page.word("protein", lambda row: rows.ids[row]),
        page.number(
            "confidence",
            lambda row: stated(rows.confidence[row], rows.lower[row], rows.upper[row]),
        ),
        page.word("decision", lambda row: DECISIONS[rows.decisions[row]]),
        page.word("note", lambda row: rows.texts[rows.notes[row]] or DASH),
        anchors=tuple(
            f"proteins&set={quote(query_set.name)}&id={quote(rows.ids[row])}" for row in shown
        ),
    )


def sentence(lookup: Lookup, entry: ClassCount) -> str:
    """Return how sure a prediction of a class is, in a sentence."""
    findings = lookup.findings
    point = lookup.at(lookup.shown(entry.class_name), lookup.example_score(entry))
    if point is None or math.isnan(point.value):
        stated = with_interval(entry.share, entry.lower, entry.upper)
        return (
            f"A prediction of {entry.class_name} is right with probability {stated}, "
            f"whatever its score, from {lookup.evidence(entry)}."
        )
    begin = f"In {lookup.corrected.name}, a" if lookup.corrected else "A"
    text = (
        f"{begin} prediction of {entry.class_name} with score "
        f"{score(point.score, findings.results.scale)} is right with probability "
        f"{with_interval(*point[1:4])}, from {lookup.evidence(entry)}."
    )
    fitted = lookup.at(lookup.curves.get((findings.chosen, entry.class_name)), point.score)
    if lookup.corrected is None or fitted is None:
        return text
    return (
        f"{text} The figures are for the class proportions of the calibration set, where it is "
        f"{with_interval(*fitted[1:4])}."
    )


def advice(lookup: Lookup, entry: ClassCount) -> str:
    """Return how many of a class are right whatever the score, and what would tell more."""
    results = lookup.findings.results
    parts = [
        f"Whatever the score, {count(entry.n_correct)} of {count(entry.n_predicted)} are right: "
        f"{with_interval(entry.share, entry.lower, entry.upper)}."
    ]
    point = lookup.at(lookup.shown(entry.class_name), lookup.example_score(entry))
    if point is not None and not math.isnan(point.lower):
        evidence = (
            f"Near score {score(point.score, results.scale)} the evidence is of about "
            f"{plural(round(point.support), 'independent protein')}"
        )
        if point.upper - point.lower > WIDER_THAN_KNOWN:
            more = more_needed(point.lower, point.upper, point.support, results.level)
            new = " of new families" if lookup.knows_relatives else ""
            evidence += f"; {count(more)} more{new} would halve the interval"
        parts.append(f"{evidence}.")
    return " ".join(parts)


def _confidence_figure(lookup: Lookup, entry: ClassCount, name: str) -> page.Figure | None:
    findings = lookup.findings
    plot = lookup.confidence_plot(entry, (findings.chosen,))
    if plot is None or not plot.curves:
        return None
    curve = plot.curves[0]
    if not curve.is_function:
        words = " The method looks at all scores of a protein: the line joins means over bins."
    elif math.isnan(curve.lower[0]):
        words = " No interval was fitted."
    else:
        words = ""
    if lookup.corrected is not None:
        words += " For the class proportions of the calibration set."
    rising = ", ".join(
        f"{share(point.value)} {interval(point.lower, point.upper)} at score "
        f"{score(point.score, findings.results.scale)}"
        for value in lookup.nice_scores()
        if entry.score_min <= value <= entry.score_max
        and (point := lookup.at(curve, value)) is not None
    )
    return page.Figure(
        name=f"confidence-{name}",
        caption=f"Confidence over the score, n = {count(entry.n_predicted)}.{words}",
        alternative=f"Confidence of {entry.class_name} over the score: "
        f"{rising or 'see the table'}.",
        plot=plot,
    )
