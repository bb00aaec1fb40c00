"""Each class: its sentence, its curve, its reliability, the methods overlaid."""

from __future__ import annotations

import math

from credence.findings import Bins, ClassCount, Findings
from credence.report.blocks import (
    Block,
    Figure,
    FigureRow,
    Folded,
    Panel,
    Paragraph,
    Section,
    TableBlock,
    Widget,
    numbers,
    words,
)
from credence.report.sections.lookup import Lookup, chance_in_words, reliability_plot
from credence.report.sections.notices import all_notices
from credence.report.sections.trust import WIDE, class_anchors, what_would_help
from credence.report.wording import count, interval, of, score, share, slug, with_interval


def section(findings: Findings) -> Section | None:
    """Return sentences and figures of every class that was predicted."""
    lookup = Lookup(findings)
    blocks: list[Block] = [
        Paragraph(
            "The left figure shows the confidence over the score, with its interval, beside the "
            "plain share of right predictions in bins of the score; below it, how right and "
            "wrong predictions are spread, each scaled to its own highest bar. The right figure "
            "asks whether confidences keep their word on families that the fit did not see: "
            "points should lie on the diagonal within their intervals."
        )
    ]
    panels = [
        _panel(lookup, entry, number)
        for number, entry in enumerate(findings.results.classes, start=1)
        if entry.n_predicted > 0
    ]
    if not panels:
        return None
    if len(panels) > 1 or len(findings.methods) > 1:
        blocks.append(Widget("explorer", "explorer", "Classes and methods shown", shares="curves"))
    return Section("classes", "Class by class", (*blocks, *panels))


def _panel(lookup: Lookup, entry: ClassCount, number: int) -> Panel:
    blocks: list[Paragraph | FigureRow | Folded] = [
        Paragraph(sentence(lookup, entry), is_lead=True),
        Paragraph(advice(lookup, entry)),
    ]
    for notice in all_notices(lookup.findings):
        if notice.class_name == entry.class_name and notice.is_warning:
            blocks.append(Paragraph(f"Careful: {notice.text}"))
    name = slug(entry.class_name, number)
    figures = (*_confidence_figure(lookup, entry, name), *_reliability_figure(lookup, entry, name))
    if figures:
        blocks.append(FigureRow(figures))
    folded = (*_overlay(lookup, entry, name), *_bins_table(lookup, entry))
    blocks.append(Folded(f"{entry.class_name}: all methods, and the numbers", folded))
    anchor = class_anchors(lookup.findings)[number - 1]
    return Panel(entry.class_name, anchor, tuple(blocks))


def sentence(lookup: Lookup, entry: ClassCount) -> str:
    """Return how sure a prediction of a class is, in a sentence."""
    findings = lookup.findings
    point = lookup.at(findings.chosen, entry.class_name, lookup.example_score(entry))
    if point is None or math.isnan(point.value):
        stated = with_interval(entry.share, entry.lower, entry.upper)
        return (
            f"A prediction of {entry.class_name} is right with probability {stated}, "
            f"whatever its score, from {lookup.evidence(entry)}."
        )
    stated = with_interval(point.value, point.lower, point.upper)
    return (
        f"A prediction of {entry.class_name} with score "
        f"{score(point.score, findings.results.scale)} is right with probability {stated}, "
        f"from {lookup.evidence(entry)}."
    )


def advice(lookup: Lookup, entry: ClassCount) -> str:
    """Return from which score on to rely on it, and what would make it surer."""
    findings = lookup.findings
    parts = [
        f"Whatever the score, {count(entry.n_correct)} of {count(entry.n_predicted)} are right: "
        f"{with_interval(entry.share, entry.lower, entry.upper)}."
    ]
    needed = lookup.needed.get((findings.chosen, entry.class_name), {})
    enough = [(level, least) for level, least in sorted(needed.items()) if not math.isnan(least)]
    if enough:
        level, least = enough[-1]
        parts.append(
            f"From score {score(least, findings.results.scale)} on, the confidence is at least "
            f"{share(level)}, even at the lower end of its interval."
        )
    point = lookup.at(findings.chosen, entry.class_name, lookup.example_score(entry))
    if point is not None and not math.isnan(point.lower):
        near = max(1, round(point.support))
        parts.append(
            f"Near score {score(point.score, findings.results.scale)} the evidence is that of "
            f"about {of(near, 'independent protein')}."
        )
        if point.upper - point.lower > WIDE:
            parts.append(what_would_help(point, findings.results.level))
    return " ".join(parts)


def _confidence_figure(lookup: Lookup, entry: ClassCount, name: str) -> tuple[Figure, ...]:
    findings = lookup.findings
    plot = lookup.confidence_plot(entry, (findings.chosen,))
    if plot is None or not plot.curves:
        return ()
    curve = plot.curves[0]
    if not curve.is_function:
        words = " The method looks at all scores of a protein: the line joins means over bins."
    elif math.isnan(curve.lower[0]):
        words = " No interval was fitted."
    else:
        words = f" Band: {100 * findings.results.level:g} % interval, pointwise."
    rising = ", ".join(
        f"{share(point.value)} {interval(point.lower, point.upper)} at score "
        f"{score(point.score, findings.results.scale)}"
        for value in lookup.nice_scores()
        if entry.score_min <= value <= entry.score_max
        and (point := lookup.at(findings.chosen, entry.class_name, value)) is not None
    )
    return (
        Figure(
            f"confidence-{name}",
            f"{entry.class_name}: confidence of {findings.chosen} over the score, from "
            f"{lookup.evidence(entry)}.{words} Dashed: share right, whatever the score. "
            "Dotted: beyond the scores that calibration saw.",
            f"Confidence of {entry.class_name} over the score: {rising or 'see the table'}.",
            plot,
        ),
    )


def _reliability_figure(lookup: Lookup, entry: ClassCount, name: str) -> tuple[Figure, ...]:
    found = lookup.reliability.get((lookup.findings.chosen, entry.class_name, "held_out"))
    if found is None or sum(found.bins.n) == 0:
        return ()
    n_bins, n_off = _off_diagonal(found.bins)
    return (
        Figure(
            f"reliability-{name}",
            f"{entry.class_name}: held-out confidence of {lookup.findings.chosen} against the "
            f"share right, {of(sum(found.bins.n), 'protein')}. Intervals count families."
            + chance_in_words(found),
            f"Reliability of {entry.class_name}: of {of(n_bins, 'bin')} of confidence, in "
            f"{n_off} the mean confidence lies outside the interval of the share right.",
            reliability_plot(("held out",), (found,)),
        ),
    )


def _off_diagonal(bins: Bins) -> tuple[int, int]:
    filled = [index for index, n in enumerate(bins.n) if n > 0]
    off = [k for k in filled if not bins.lower[k] <= bins.mean[k] <= bins.upper[k]]
    return len(filled), len(off)


def _overlay(lookup: Lookup, entry: ClassCount, name: str) -> tuple[FigureRow | TableBlock, ...]:
    """Return the curves of all methods in one figure, and their numbers."""
    findings = lookup.findings
    names = [method.name for method in findings.methods]
    if len(names) < 2:
        return ()
    blocks: list[FigureRow | TableBlock] = []
    plot = lookup.confidence_plot(entry, names)
    if plot is not None and plot.curves:
        caption = (
            f"{entry.class_name}: confidence of every method over the score. Bars: share right "
            "in bins of the score."
        )
        alternative = f"Curves of {', '.join(names)}; the table below gives their numbers."
        blocks.append(FigureRow((Figure(f"methods-{name}", caption, alternative, plot),)))
    samples, metrics = ("in_sample", "held_out"), ("nll", "brier")
    asked = [(sample, metric) for sample in samples for metric in metrics]
    rows = tuple(
        (method, *(lookup.loss(method, entry.class_name, *which) for which in asked))
        for method in names
    )
    columns = (
        *words("method"),
        *numbers("NLL in-sample", "Brier in-sample", "NLL held-out", "Brier held-out"),
    )
    caption = f"{entry.class_name}: every method, from {lookup.evidence(entry)}"
    blocks.append(TableBlock(caption, columns, rows))
    return tuple(blocks)


def _bins_table(lookup: Lookup, entry: ClassCount) -> tuple[TableBlock, ...]:
    found = lookup.reliability.get((lookup.findings.chosen, entry.class_name, "held_out"))
    if found is None:
        return ()
    bins = found.bins
    rows = tuple(
        (
            f"{bins.edges[k]:.1f} to {bins.edges[k + 1]:.1f}",
            count(bins.n[k]),
            count(bins.n_clusters[k]),
            share(bins.mean[k]),
            with_interval(bins.share[k], bins.lower[k], bins.upper[k]),
        )
        for k in range(len(bins.n))
        if bins.n[k] > 0
    )
    columns = (
        *words("held-out confidence"),
        *numbers("proteins", "families", "mean confidence", "share right"),
    )
    caption = f"{entry.class_name}: held-out confidences of {lookup.findings.chosen} in bins"
    return (TableBlock(caption, columns, rows),)
