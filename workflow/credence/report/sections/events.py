"""Events: how probable sets of classes are, how well that is known, and from what."""

from __future__ import annotations

import math

from credence.findings import Findings
from credence.findings.evaluated import MetricValue
from credence.findings.events import Ablation, EventFinding, EventsFinding
from credence.report.blocks import (
    Block,
    Column,
    Figure,
    FigureRow,
    Folded,
    Heading,
    Paragraph,
    Section,
    Table,
)
from credence.report.event_wording import (
    FORECASTS,
    GROUPS,
    PUBLISHED,
    agreement_words,
    as_sentence,
    evidence_words,
    helps_by,
    lead_words,
    limits_words,
    pooling_words,
    predicted_words,
    signed,
)
from credence.report.plots import ComparisonPlot, ReliabilityPlot
from credence.report.wording import NOTHING, count, loss, of, share, shortened, slug


def section(findings: Findings) -> Section | None:
    """Return what the probabilities of events are worth.

    Parameters
    ----------
    findings : Findings
        What the run found.
    """
    events = findings.events
    if events is None:
        return None
    blocks: list[Block] = [
        Paragraph(lead_words(events), is_lead=True),
        _overview(events),
        Paragraph(agreement_words(events)),
    ]
    if (own := predicted_words(events)) is not None:
        blocks.append(Paragraph(own))
    blocks += [Paragraph(evidence_words(events)), Paragraph(limits_words())]
    if events.pooled is not None:
        blocks.append(Paragraph(pooling_words(events)))
    for number, event in enumerate(events.events, start=1):
        if event.reliability and not event.note:
            blocks += _one(events, event, number)
    blocks.append(Folded("What forecasts look at", (_features(events),)))
    return Section("events", "How probable are two classes, or a group?", tuple(blocks))


def _overview(events: EventsFinding) -> Table:
    has_notes = any(event.note for event in events.events)
    columns = (
        Column("event", is_number=False),
        Column("what it says", is_number=False),
        Column("came true", explained="Share of the calibration proteins"),
        Column("held-out NLL", explained="Less is better"),
        Column("calibration", explained="Squared distance of probability and share; 0 is best"),
        Column("sharpness", explained="How far the probabilities tell proteins apart"),
        *((Column("note", is_number=False),) if has_notes else ()),
    )
    rows = tuple(
        (
            event.name,
            event.words,
            share(event.share),
            _metric(event, PUBLISHED, "nll"),
            *(_plain(event, PUBLISHED, name) for name in METRICS[2:]),
            *((event.note or NOTHING,) if has_notes else ()),
        )
        for event in events.events
    )
    known = events.events[0]
    n = f"n = {count(known.n)}"
    if known.n_clusters < known.n:
        n += f", {of(known.n_clusters, 'family', 'families')}"
    caption = (
        f"The events asked for, as the tables carry them, judged on families held out ({n}). "
        "Sharpness is at most the variance of the outcome, share × (1 − share)."
    )
    return Table(caption, columns, rows, tuple(_anchors(events)))


METRICS = ("nll", "brier", "calibration", "sharpness")


def _anchors(events: EventsFinding) -> list[str]:
    return [
        "" if event.note or not event.reliability else f"event-{slug(event.name, number)}"
        for number, event in enumerate(events.events, start=1)
    ]


def _found(event: EventFinding, method: str, metric: str) -> MetricValue | None:
    rows = (row for row in event.metrics if (row.method, row.metric) == (method, metric))
    return next(rows, None)


def _metric(event: EventFinding, method: str, metric: str) -> str:
    row = _found(event, method, metric)
    return NOTHING if row is None else loss(row.value, row.lower, row.upper)


def _plain(event: EventFinding, method: str, metric: str) -> str:
    """Return a number without its interval: tables are narrow."""
    row = _found(event, method, metric)
    return NOTHING if row is None or math.isnan(row.value) else f"{row.value:.4f}"


def _one(events: EventsFinding, event: EventFinding, number: int) -> list[Block]:
    name = slug(event.name, number)
    figures = [_reliability(event, name)]
    if event.learning:
        figures.append(_learning(event, name))
    blocks: list[Block] = [
        Heading(f"Event {event.name}", f"event-{name}"),
        Paragraph(
            f"{as_sentence(event.words)}: so it was for {of(event.n_true, 'protein')} of "
            f"{count(event.n)}."
        ),
        FigureRow(tuple(figures)),
        _compared(events, event),
    ]
    if event.ablations:
        blocks.append(_ablations(events, event))
    return blocks


def _reliability(event: EventFinding, name: str) -> Figure:
    found = event.reliability[0]
    filled = sum(1 for n in found.bins.n if n > 0)
    return Figure(
        f"event-{name}-reliability",
        f"{event.name}: share for which it came true over the probability said, on families held "
        f"out, with intervals over families; below, how many have which probability "
        f"(n = {count(event.n)}). On the diagonal probabilities keep their word.",
        f"Held-out shares over the probability of {event.name}, in {of(filled, 'filled bin')}.",
        ReliabilityPlot(
            ("held out",),
            (found.bins,),
            found.band_lower if any(not math.isnan(v) for v in found.band_lower) else (),
            found.band_upper if any(not math.isnan(v) for v in found.band_upper) else (),
            (),
            found.counts,
            "probability (mean of bin)",
            "share that came true",
        ),
    )


def _learning(event: EventFinding, name: str) -> Figure:
    rows = [
        (point.n_learnt, next(row for row in point.metrics if row.metric == "nll"))
        for point in event.learning
    ]
    first, last = rows[0], rows[-1]
    return Figure(
        f"event-{name}-learning",
        f"{event.name}: held-out NLL of forecasts that learn from part of the families, with "
        "intervals over families. Where it still falls at the end, more proteins would help.",
        f"Held-out NLL of {event.name} from {first[1].value:.3f} with {count(first[0])} proteins "
        f"to {last[1].value:.3f} with {count(last[0])}.",
        ComparisonPlot(
            "held-out NLL",
            tuple(f"{of(n, 'protein')} learnt" for n, _ in rows),
            ("forecast",),
            (tuple(row.value for _, row in rows),),
            (tuple(row.lower for _, row in rows),),
            (tuple(row.upper for _, row in rows),),
        ),
    )


def _compared(events: EventsFinding, event: EventFinding) -> Table:
    columns = (
        Column("forecast", is_number=False),
        Column("tuned to", is_number=False),
        Column("held-out NLL"),
        Column("NLL against the tables", explained="Paired difference; below 0 it is better"),
        Column("Brier score"),
        Column("calibration"),
        Column("sharpness"),
    )
    tuned = {entry.forecaster: entry for entry in event.tuned}
    differences = {row.method: row for row in event.differences if row.metric == "nll"}
    rows = []
    for method in (PUBLISHED, *events.compared):
        setting, row = tuned.get(method), differences.get(method)
        rows.append(
            (
                FORECASTS.get(method, method),
                NOTHING if setting is None else f"{setting.setting} {setting.value:g}",
                _metric(event, method, "nll"),
                NOTHING if row is None else signed(row),
                *(_plain(event, method, name) for name in METRICS[1:]),
            )
        )
    caption = (
        f"Forecasters of {shortened(event.name)}, tuned and judged on families held out "
        f"({of(events.n_folds, 'part')}, n = {count(event.n)}). The tables carry "
        f"{FORECASTS.get(events.forecaster, events.forecaster)}, moved to agree with the rest."
    )
    return Table(caption, columns, tuple(rows))


def _ablations(events: EventsFinding, event: EventFinding) -> Table:
    columns = (
        Column("left out", is_number=False),
        Column("features", is_number=False),
        Column("change of held-out NLL", explained="Above 0: the group helps"),
        Column("change of Brier score"),
        Column("so", is_number=False),
    )
    rows = tuple(_ablation_row(part) for part in event.ablations)
    caption = (
        f"What groups of features are worth for {shortened(event.name)}: without the group minus "
        f"with all, paired, with intervals over families (n = {count(event.n)})."
    )
    return Table(caption, columns, rows)


def _ablation_row(part: Ablation) -> tuple[str, ...]:
    if helps_by(part):
        verdict = "it helps"
    elif part.nll.upper < 0:
        verdict = "it harms"
    else:
        verdict = "no difference can be told"
    names = ", ".join(part.features)
    return (
        GROUPS.get(part.group, part.group),
        names,
        signed(part.nll),
        signed(part.brier),
        verdict,
    )


def _features(events: EventsFinding) -> Table:
    columns = (
        Column("feature", is_number=False),
        Column("group", is_number=False),
        Column("what it is", is_number=False),
        Column("used", is_number=False),
    )
    rows = tuple(
        (entry.name, entry.group, entry.summary, entry.missing or "yes")
        for entry in events.features
    )
    return Table("Features, and why some were not used.", columns, rows)
