"""Each class: its sentence, its curve, its reliability, the methods overlaid."""

import math

import numpy as np

from credence.findings import ClassCount, Findings
from credence.problems import plural
from credence.report import blocks as page
from credence.report.plots import ReliabilityPlot
from credence.report.sections.lists import kept_figures
from credence.report.sections.lookup import (
    MARKED,
    Lookup,
    class_anchors,
    more_needed,
    reliability_plot,
)
from credence.report.sections.measuring import MAIN_TEST, all_notices, words_of_test
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

MOST_WITH_CURVES = 40  # with a curve of what is kept; beyond, the page would be too large
WIDE_INTERVAL = 0.1  # an interval wider than this is called wide
SHOWN_LOSSES = (
    ("in_sample", "nll"),
    ("in_sample", "brier"),
    ("held_out", "nll"),
    ("held_out", "brier"),
)

HOW_TO_READ = (
    "The left figure shows the confidence over the score, with its interval, beside the "
    "precision in bins of the score; below it, how right and wrong predictions are spread, each "
    "scaled to its own highest bar. The right figure shows whether confidences are calibrated on "
    "proteins that the fit did not see: points should lie on the diagonal within their intervals."
)


def section(findings: Findings) -> page.Section | None:
    """Return sentences and figures of every class that was predicted."""
    lookup = Lookup(findings)
    anchors = class_anchors(findings)
    predicted = [
        (entry, slug(entry.class_name, at), anchors[entry.class_name])
        for at, entry in enumerate(findings.results.classes, start=1)
        if entry.n_predicted > 0
    ]
    if not predicted:
        return None
    explorer = page.Widget(
        name="explorer", script="explorer", label="Classes and methods shown", shares="curves"
    )
    blocks = page.flat(
        "Confidence across, precision upwards. Points on the diagonal: confidences are "
        f"calibrated on {lookup.families} that the fit did not see. Orange: off by more than the "
        "interval. Choose a class to see all of it.",
        page.Tiles(tiles=tuple(_tile(lookup, *entry) for entry in predicted)),
        page.Folded(
            summary="How to read the figures of a class",
            blocks=(page.Paragraph(text=HOW_TO_READ),),
        ),
        max(len(predicted), len(findings.methods)) > 1 and explorer,
        (_panel(lookup, *entry) for entry in predicted),
    )
    return page.Section(name="classes", title="Class by class", blocks=blocks)


def _tile(lookup: Lookup, entry: ClassCount, name: str, anchor: str) -> page.Tile:
    words = f"{share(entry.share)} right of {count(entry.n_predicted)}"
    figure = _reliability_figure(lookup, entry, name)
    nothing = f"{entry.class_name}: nothing was held out."
    return page.Tile(
        name=anchor,
        caption=words,
        alternative=figure.alternative if figure else nothing,
        plot=figure.plot if figure else ReliabilityPlot(names=(), bins=()),
        title=entry.class_name,
    )


def _panel(lookup: Lookup, entry: ClassCount, name: str, anchor: str) -> page.Panel:
    warnings = [
        f"Careful: {notice.text}"
        for notice in all_notices(lookup.findings)
        if notice.class_name == entry.class_name and notice.is_warning
    ]
    made = (_confidence_figure(lookup, entry, name), _reliability_figure(lookup, entry, name))
    figures = tuple(figure for figure in made if figure is not None)
    few = len(lookup.findings.results.classes) <= MOST_WITH_CURVES
    if few and lookup.findings.thresholds is not None:
        figures += kept_figures(lookup.findings.thresholds, entry.class_name, name)
    summary = f"{entry.class_name}: every method in numbers, and its test"
    blocks = page.flat(
        page.lead(sentence(lookup, entry)),
        advice(lookup, entry),
        warnings,
        figures and page.FigureRow(figures=figures),
        page.Folded(summary=summary, blocks=_overlay(lookup, entry, name)),
    )
    return page.Panel(title=entry.class_name, anchor=anchor, blocks=blocks)


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
    """Return from which score on to rely on it, and what would make it surer."""
    results = lookup.findings.results
    parts = [
        f"Of the calibration set, whatever the score, {count(entry.n_correct)} of "
        f"{count(entry.n_predicted)} are right: "
        f"{with_interval(entry.share, entry.lower, entry.upper)}."
    ]
    threshold, _ = lookup.marks(entry)
    if threshold is not None:
        parts.append(
            f"At or above score {round_score(threshold, results.scale)}, at least {share(MARKED)} "
            "of its predictions are right, as estimated."
        )
    point = lookup.at(lookup.shown(entry.class_name), lookup.example_score(entry))
    if point is not None and not math.isnan(point.lower):
        parts.append(
            f"Near score {score(point.score, results.scale)} the evidence is that of about "
            f"{plural(round(point.support), 'independent protein')}."
        )
        if point.upper - point.lower > WIDE_INTERVAL:
            more = more_needed(point.lower, point.upper, point.support, results.level)
            new = " of new families" if lookup.knows_relatives else ""
            words = f"About {plural(more, 'more protein')}{new} with such a score would halve the"
            parts.append(f"{words} interval.")
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
        words = f" Band: {100 * findings.results.level:g} % interval, pointwise."
    if lookup.of_score_alone:
        words += " Drawn: its answer to class and score alone."
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
        caption=f"{entry.class_name}: confidence of {findings.chosen} over the score, from "
        f"{lookup.evidence(entry)}.{words} Dashed: precision, whatever the score. "
        "Dotted: beyond the scores that calibration saw.",
        alternative=f"Confidence of {entry.class_name} over the score: "
        f"{rising or 'see the table'}.",
        plot=plot,
    )


def _reliability_figure(lookup: Lookup, entry: ClassCount, name: str) -> page.Figure | None:
    reliability = lookup.reliability.get((lookup.findings.chosen, entry.class_name, "held_out"))
    if reliability is None or sum(reliability.bins.n) == 0:
        return None
    bins = reliability.bins
    filled = np.flatnonzero(bins.n)
    n_off = sum(not bins.lower[k] <= bins.mean[k] <= bins.upper[k] for k in filled)
    return page.Figure(
        name=f"reliability-{name}",
        caption=f"{entry.class_name}: held-out confidence of {lookup.findings.chosen} against the "
        f"precision, {plural(sum(bins.n), 'protein')}. Intervals count "
        f"{lookup.families}." + lookup.chance_in_words(reliability),
        alternative=f"Reliability of {entry.class_name}: of {plural(len(filled), 'bin')} of "
        f"confidence, in {n_off} the mean confidence lies outside the interval of the "
        "precision.",
        plot=reliability_plot(("held-out",), (reliability,)),
    )


def _overlay(lookup: Lookup, entry: ClassCount, name: str) -> tuple[page.Block, ...]:
    def test_of(method: str) -> str:
        test = lookup.tests.get((method, entry.class_name, MAIN_TEST))
        return DASH if test is None else words_of_test(test.p_adjusted, test.power)

    names = [method.name for method in lookup.findings.methods]
    bandwidths = "".join(
        f"; bandwidth of {name}: {score(bandwidth.value, lookup.findings.results.scale)}"
        for name in names
        if (bandwidth := lookup.parameters.get((name, entry.class_name, "bandwidth"))) is not None
    )
    losses = page.table(
        f"{entry.class_name}: every method, from {lookup.evidence(entry)}{bandwidths}",
        names,
        page.word("method", str),
        *page.numbers(
            ("NLL in-sample", "Brier in-sample", "NLL held-out", "Brier held-out"),
            lambda method, at: lookup.loss(method, entry.class_name, *SHOWN_LOSSES[at]),
        ),
        *page.known(names, page.word("test, held-out", test_of)),
        explained={"test, held-out": "Kolmogorov–Smirnov, p corrected (Holm), with its power"},
    )
    plot = lookup.confidence_plot(entry, names)
    if len(names) < 2 or plot is None or not plot.curves:
        return (losses,)
    caption = (
        f"{entry.class_name}: confidence of every method over the score. Bars: precision "
        "in bins of the score."
    )
    alternative = f"Curves of {', '.join(names)}; the table below gives their numbers."
    figure = page.Figure(
        name=f"methods-{name}", caption=caption, alternative=alternative, plot=plot
    )
    return page.flat(figure, losses)
