"""What the section on events says in sentences."""

from __future__ import annotations

import math

from credence.findings.evaluated import Difference
from credence.findings.events import Ablation, EventsFinding
from credence.report.wording import NOTHING, count

PUBLISHED = "published"
PREDICTED = "predicted_class"
FORECASTS = {
    "knn": "k nearest neighbours",
    "tree": "decision tree",
    "isotonic": "isotonic on the event's score",
    "logistic": "logistic regression",
    "boosting": "boosted trees",
    "one_vs_all": "each class against all others",
    PUBLISHED: "in the tables",
}
GROUPS = {
    "score": "the scores",
    "class": "the classes predicted",
    "ensemble": "the ensemble's single members",
    "sequence": "the protein's length and distance",
    "neighbours": "the genes beside it",
    "rule": "your rule",
}


def lead_words(events: EventsFinding) -> str:
    """Return what events are, and which columns have them.

    Parameters
    ----------
    events : EventsFinding
        What was found.
    """
    names = ", ".join(f"event_{event.name}" for event in events.events)
    one = len(events.events) == 1
    return (
        "A class may be in doubt where its group is not. So the table of confidences answers "
        f"{'one more question' if one else 'more questions'} of each protein, with a probability "
        f"in the {'column' if one else 'columns'} {names}."
    )


def agreement_words(events: EventsFinding) -> str:
    """Return how events agree with each other, and what that cost.

    Parameters
    ----------
    events : EventsFinding
        What was found.
    """
    text = (
        "The probabilities contradict neither each other nor the confidence: a group is never "
        "less probable than a class in it. Forecasts made one by one do not keep to that, so they "
        "are moved to the nearest that do. "
    )
    if events.agrees:
        text += "The predicted class keeps its confidence, and the others are moved around it. "
    n = sum(event.n for event in events.events)
    return text + (
        f"Of {count(n)} forecasts on families held out, {count(events.n_moved)} moved by more "
        f"than 0.001; their mean NLL was {events.nll_before:.4f} before and is "
        f"{events.nll_after:.4f} after."
    )


def predicted_words(events: EventsFinding) -> str | None:
    """Return what other evidence says of the predicted class itself.

    Parameters
    ----------
    events : EventsFinding
        What was found.
    """
    event = next((event for event in events.events if event.name == PREDICTED), None)
    if event is None or not events.agrees:
        return None
    rows = [
        row for row in event.differences if (row.method, row.metric) == (events.forecaster, "nll")
    ]
    if not rows or math.isnan(rows[0].value):
        return None
    row = rows[0]
    verdict = _verdict(row, "it is better", "it is worse", "this set cannot tell which is better")
    return (
        f"event_{PREDICTED} is the confidence itself, by {events.method}. "
        f"{as_sentence(FORECASTS[events.forecaster])} from all features answers the same question "
        f"with a held-out NLL that {_change(row)}: {verdict}."
    )


def as_sentence(text: str) -> str:
    """Return a text that begins as sentences do.

    Parameters
    ----------
    text : str
        Words.

    Examples
    --------
    >>> as_sentence("the true class is Portal")
    'The true class is Portal'
    """
    return text[:1].upper() + text[1:]


def _change(row: Difference) -> str:
    if math.isnan(row.lower):
        return f"differs by {_number(row.value)}, with no interval"
    ends = f"{_number(row.lower)} to {_number(row.upper)}"
    return f"differs by {_number(row.value)} ({ends}, n = {count(row.n)})"


def _verdict(row: Difference, less: str, more: str, neither: str) -> str:
    """Return which side a paired difference is on, no more than its interval says."""
    if row.upper < 0:
        return less
    return more if row.lower > 0 else neither


def evidence_words(events: EventsFinding) -> str:
    """Return what each group of features is worth, and what the ensemble is.

    Parameters
    ----------
    events : EventsFinding
        What was found.
    """
    shown = [event for event in events.events if event.ablations]
    if not shown:
        return (
            "What single kinds of evidence are worth was not asked: there is one, or too little."
        )
    told = []
    for event in shown:
        helps = [GROUPS.get(part.group, part.group) for part in event.ablations if helps_by(part)]
        text = f"For {event.name}: {_listed(helps)}."
        if ensemble := [part for part in event.ablations if part.group == "ensemble"]:
            row = ensemble[0].nll
            unknown = "this set cannot tell whether the ensemble's single members help"
            verdict = _verdict(
                row, "the ensemble's single members harm", "its single members help", unknown
            )
            text += f" Without the ensemble's single members NLL {_change(row)}: {verdict}."
        told.append(text)
    return (
        "Which evidence counts: what forecasts on families held out get worse without, by more "
        f"than chance explains. {' '.join(told)}"
    )


def helps_by(part: Ablation) -> bool:
    """Return whether held-out NLL is worse without a group, for all that chance can do.

    Parameters
    ----------
    part : Ablation
        The group left out.
    """
    return part.nll.lower > 0


def _listed(names: list[str]) -> str:
    if not names:
        return "no kind by itself"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def limits_words() -> str:
    """Return how one probability is to be read."""
    return (
        "How to read one of them: of proteins with this probability that share came true, as the "
        "curves below show with intervals; a single probability has no interval of its own. The "
        "probabilities hold for the calibration set's mix of classes. Where a sample's mix was "
        "estimated, adjusted_event_… beside them is corrected for it, on the assumption that "
        "proteins of a class look alike in both; it takes the estimated mix as known, and is "
        "surer than it should be where that is rough."
    )


def pooling_words(events: EventsFinding) -> str:
    """Return why events are judged one by one.

    Parameters
    ----------
    events : EventsFinding
        What was found.
    """
    pooled = events.pooled
    assert pooled is not None
    return (
        "Judge events one by one. Put together, errors of one can hide those of another: a fair "
        "coin and a sure thing, both said to be 0.75, look calibrated, and neither is. Here the "
        f"calibration error is {pooled.pooled:.5f} with all events in the same bins and "
        f"{pooled.apart:.5f} on average of each by itself ({count(pooled.n)} probabilities)."
    )


def signed(row: Difference) -> str:
    """Return a difference with its sign and interval.

    Parameters
    ----------
    row : Difference
        Of two forecasts.
    """
    if math.isnan(row.value):
        return NOTHING
    if math.isnan(row.lower):
        return _number(row.value)
    return f"{_number(row.value)} ({_number(row.lower)} to {_number(row.upper)})"


def _number(value: float) -> str:
    """Return a difference with its sign; none has no sign."""
    text = f"{value:+.4f}"
    return text[1:] if float(text) == 0 else text.replace("-", "−")
