"""Events: how probable sets of classes are, how well that is known, and from what."""

import math
from functools import partial

from credence.findings import Difference, EventFinding, EventsFinding, Findings, MetricValue
from credence.problems import plural
from credence.report import blocks as page
from credence.report.plots import ReliabilityPlot
from credence.report.wording import DASH, as_sentence, count, loss, share, three_decimals

PUBLISHED = "published"
PREDICTED_EVENT = "predicted_class"
LOSS_DIGITS = 4  # of losses: forecasts differ by little
FORECASTER_NAMES = {
    "knn": "k nearest neighbours",
    "tree": "decision tree",
    "logistic": "logistic regression",
    "one_vs_all": "each class against all others",
    PUBLISHED: "in the tables",
}


def units(*events: EventFinding) -> str:
    """Return what is held out and counted: families, or proteins where none are known."""
    return "families" if any(event.n_clusters < event.n for event in events) else "proteins"


def predicted_words(events: EventsFinding) -> str | None:
    """Return what other evidence says of the predicted class itself."""
    event = next((event for event in events.events if event.name == PREDICTED_EVENT), None)
    if event is None or not events.agrees:
        return None
    asked = (events.forecaster, "nll")
    row = next((row for row in event.differences if (row.method, row.metric) == asked), None)
    if row is None or math.isnan(row.value):
        return None
    verdict = _verdict(row, "it is better", "it is worse", "this set cannot tell which is better")
    return (
        f"event_{PREDICTED_EVENT} is the confidence itself, by {events.method}. "
        f"{as_sentence(FORECASTER_NAMES[events.forecaster])} from all features answers the same "
        f"question with a held-out NLL that {_change(row)}: {verdict}."
    )


def _change(row: Difference) -> str:
    if math.isnan(row.lower):
        return f"differs by {with_sign(row)}, with no interval"
    return f"differs by {with_sign(row)[:-1]}, n = {count(row.n)})"


def _verdict(row: Difference, less: str, more: str, neither: str) -> str:
    """Return which of two a paired difference shows, no more than its interval says."""
    return less if row.upper < 0 else more if row.lower > 0 else neither


WHAT_IT_SAYS = (
    "The curves hold for the calibration set's class proportions. Where those of a sample were "
    "estimated, event_… is corrected for them as if they were known: it is too certain where they "
    "are rough."
)


def with_sign(row: Difference) -> str:
    """Return a difference with its sign and interval."""
    return loss(row.value, row.lower, row.upper, LOSS_DIGITS, "+")


def section(findings: Findings) -> page.Section | None:
    """Return what the probabilities of events are worth."""
    events = findings.events
    if events is None:
        return None
    has_notes = any(event.note for event in events.events)
    known = events.events[0]
    size = f"n = {count(known.n)}"
    if known.n_clusters < known.n:
        size += f", {plural(known.n_clusters, 'family', 'families')}"
    overview = page.table(
        f"The events asked for, as the tables carry them, judged in cross-validation "
        f"over {units(known)} ({size}). Sharpness is at most the variance of the outcome, share "
        "× (1 − share).",
        events.events,
        page.word("event", "name"),
        page.word("what it says", "words"),
        page.number("came true", "share", share),
        page.number("held-out NLL", partial(_metric, metric="nll")),
        page.number("calibration", partial(_plain, metric="calibration")),
        page.number("sharpness", partial(_plain, metric="sharpness")),
        page.word("NLL of other forecasters", partial(_others, events)),
        *((page.word("note", "note"),) if has_notes else ()),
        explained={
            "came true": "Share of the calibration proteins",
            "held-out NLL": "Less is better",
            "calibration": "Squared distance of probability and share; 0 is best",
            "sharpness": "How far the probabilities tell proteins apart",
        },
    )
    names = ", ".join(f"event_{event.name}" for event in events.events)
    columns = (
        "probability in the column" if len(events.events) == 1 else "probabilities in the columns"
    )
    lead = (
        "A class may be in doubt where its group is not. The table of confidences has the "
        f"{columns} {names}."
    )
    text = "A group is never less probable than a class in it. "
    if events.agrees:
        text += "The predicted class keeps its confidence. "
    figures = tuple(
        _reliability(event, name)
        for event, name in page.with_slugs(events.events)
        if event.reliability and not event.note
    )
    blocks = page.flat(
        page.lead(lead),
        overview,
        f"{text}{WHAT_IT_SAYS}",
        predicted_words(events),
        figures and page.FigureRow(figures=figures),
    )
    return page.Section(
        name="events", title="How probable are two classes, or a group?", blocks=blocks
    )


def _found(event: EventFinding, method: str, metric: str) -> MetricValue | None:
    rows = (row for row in event.metrics if (row.method, row.metric) == (method, metric))
    return next(rows, None)


def _metric(event: EventFinding, method: str = PUBLISHED, metric: str = "nll") -> str:
    row = _found(event, method, metric)
    return DASH if row is None else loss(row.value, row.lower, row.upper)


def _plain(event: EventFinding, method: str = PUBLISHED, *, metric: str) -> str:
    """Return a number without its interval: tables are narrow."""
    row = _found(event, method, metric)
    return DASH if row is None else loss(row.value, math.nan, math.nan, LOSS_DIGITS)


def _others(events: EventsFinding, event: EventFinding) -> str:
    """Return what the forecasters that were compared reached, each by its name."""
    rows = ((method, _found(event, method, "nll")) for method in events.compared)
    return ", ".join(
        f"{FORECASTER_NAMES.get(method, method)} {three_decimals(row.value)}"
        for method, row in rows
        if row is not None and method != events.forecaster
    )


def _reliability(event: EventFinding, name: str) -> page.Figure:
    reliability = event.reliability[0]
    filled = sum(1 for n in reliability.bins.n if n > 0)
    has_band = not all(map(math.isnan, (*reliability.band_lower, *reliability.band_upper)))
    return page.Figure(
        name=f"event-{name}-reliability",
        caption=f"{event.name}: share for which it came true over the probability stated; below, "
        f"how many have which probability (n = {count(event.n)}).",
        alternative=f"Held-out shares over the probability of {event.name}, in "
        f"{plural(filled, 'filled bin')}.",
        plot=ReliabilityPlot(
            names=("held-out",),
            bins=(reliability.bins,),
            band_lower=reliability.band_lower if has_band else (),
            band_upper=reliability.band_upper if has_band else (),
            counts=reliability.counts,
            axis="probability (mean of bin)",
            upright="share that came true",
        ),
    )
