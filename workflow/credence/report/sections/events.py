"""Events: how probable sets of classes are, how well that is known, and from what."""

import math
from functools import partial

from credence.findings import Difference, EventFinding, EventsFinding, Findings, MetricValue
from credence.problems import plural
from credence.report import blocks as page
from credence.report.plots import ReliabilityPlot, comparison, interval_of
from credence.report.wording import DASH, as_sentence, count, loss, share, shortened

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
    "Of proteins with this probability that share came true, as the curves show; a single "
    "probability has no interval. The curves hold for the calibration set's class proportions, as "
    "does uncorrected_event_…. Where a sample's class proportions were estimated, event_… is "
    "corrected for them as if they were known: it is too certain where they are rough."
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
        *((page.word("note", "note"),) if has_notes else ()),
        anchors=tuple(
            "" if event.note or not event.reliability else f"event-{name}"
            for event, name in page.with_slugs(events.events)
        ),
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
    text = (
        "A group is never less probable than a class in it: forecasts made one by one are moved "
        "to the nearest that keep to that. "
    )
    if events.agrees:
        text += "The predicted class keeps its confidence, and the others are moved around it. "
    n = sum(event.n for event in events.events)
    agreement = text + (
        f"Of {count(n)} forecasts in cross-validation over {units(*events.events)}, "
        f"{count(events.n_moved)} moved by more than 0.001; their mean NLL was "
        f"{events.nll_before:.4f} before and is {events.nll_after:.4f} after."
    )
    together = None
    if (pooled := events.pooled) is not None:
        together = (
            "Judge events one by one: put together, errors of one can hide those of another. The "
            f"calibration error is {pooled.pooled:.5f} with all events in the same bins and "
            f"{pooled.apart:.5f} on average of each by itself ({count(pooled.n)} probabilities)."
        )
    single = (
        _forecasts(events, event, name)
        for event, name in page.with_slugs(events.events)
        if event.reliability and not event.note
    )
    features = page.table(
        "Features, and why some were not used.",
        events.features,
        page.word("feature", "name"),
        page.word("group", "group"),
        page.word("what it is", "summary"),
        page.word("used", lambda entry: entry.missing or "yes"),
    )
    seen = page.Folded(summary="What forecasts look at", blocks=(features,))
    words = (agreement, predicted_words(events), WHAT_IT_SAYS, together)
    blocks = page.flat(page.lead(lead), overview, words, single, seen)
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


def _forecasts(events: EventsFinding, event: EventFinding, name: str) -> page.Folded:
    reliability = event.reliability[0]
    filled = sum(1 for n in reliability.bins.n if n > 0)
    has_band = not all(map(math.isnan, (*reliability.band_lower, *reliability.band_upper)))
    diagram = page.Figure(
        name=f"event-{name}-reliability",
        caption=f"{event.name}: share for which it came true over the probability stated, in "
        f"cross-validation over {units(event)}, with intervals over them; below, how many have "
        f"which probability (n = {count(event.n)}). On the diagonal probabilities are calibrated.",
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
    figures = [diagram]
    if event.learning:
        rows = [
            (point.n_learnt, next(row for row in point.metrics if row.metric == "nll"))
            for point in event.learning
        ]
        first, last = rows[0], rows[-1]
        learning = page.Figure(
            name=f"event-{name}-learning",
            caption=f"{event.name}: held-out NLL of forecasts that learn from part of the "
            f"{units(event)}, with intervals over them. Where it still falls at the end, more "
            "proteins would help.",
            alternative=f"Held-out NLL of {event.name} from {first[1].value:.3f} with "
            f"{count(first[0])} proteins to {last[1].value:.3f} with {count(last[0])}.",
            plot=comparison(
                "held-out NLL",
                (f"{plural(n, 'protein')} learnt" for n, _ in rows),
                [("forecast", [interval_of(row) for _, row in rows])],
            ),
        )
        figures.append(learning)
    tuned = {entry.forecaster: f"{entry.setting} {entry.value:g}" for entry in event.tuned}
    differences = {row.method: with_sign(row) for row in event.differences if row.metric == "nll"}
    compared = page.table(
        f"Forecasters of {shortened(event.name)}, tuned and judged in cross-validation "
        f"over {units(event)} ({plural(events.n_folds, 'part')}, n = {count(event.n)}). The "
        f"tables carry {FORECASTER_NAMES.get(events.forecaster, events.forecaster)}, moved to "
        "agree with the rest.",
        (PUBLISHED, *events.compared),
        page.word("forecast", lambda method: FORECASTER_NAMES.get(method, method)),
        page.word("tuned to", lambda method: tuned.get(method, DASH)),
        page.number("held-out NLL", partial(_metric, event)),
        page.number("NLL against the tables", lambda method: differences.get(method, DASH)),
        page.number("Brier score", partial(_plain, event, metric="brier")),
        page.number("calibration", partial(_plain, event, metric="calibration")),
        page.number("sharpness", partial(_plain, event, metric="sharpness")),
        explained={"NLL against the tables": "Paired difference; below 0 it is better"},
    )
    so = f"so it was for {plural(event.n_true, 'protein')} of {count(event.n)}."
    blocks = page.flat(
        f"{as_sentence(event.words)}: {so}", page.FigureRow(figures=tuple(figures)), compared
    )
    summary = f"Event {event.name}: forecasters"
    return page.Folded(summary=summary, blocks=blocks, anchor=f"event-{name}")
