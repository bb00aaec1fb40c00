"""What the scores of one protein say."""

from __future__ import annotations

import numpy as np

from credence.calibrators.features import UNKNOWN_RESOLUTION_FLOOR, name_order
from credence.events.event import class_ranks
from credence.events.features.protocol import VECTOR, Computed, Feature, Seen
from credence.events.rules import row_shares
from credence.predictions import Floats, Integers

GROUP = "score"
DECIMALS = 9
MOST_FLOOR = 0.01  # of a row of logs: above it scores that are told would be hidden


def _shares(seen: Seen) -> Computed:
    return None if seen.predictions.scores is None else row_shares(seen.predictions)


def _floor(seen: Seen) -> Floats:
    """Return half of what the table can show of each row, shape (n_samples, 1)."""
    scores, resolution = seen.predictions.scores, seen.predictions.resolution
    assert scores is not None
    total = scores.sum(axis=1, keepdims=True)
    if resolution == 0:
        return np.full_like(total, UNKNOWN_RESOLUTION_FLOOR)
    half = np.full_like(total, MOST_FLOOR)
    np.divide(resolution / 2.0, total, out=half, where=total > 0)
    return np.asarray(np.minimum(half, MOST_FLOOR))


def _floored(seen: Seen) -> Computed:
    """Return shares with none below half the table's resolution, for logs."""
    share = _shares(seen)
    return None if share is None else np.maximum(share, _floor(seen))


def _top_score(seen: Seen) -> Computed:
    """Return the share of the scores of the predicted class."""
    of = seen.predictions
    share = _shares(seen)
    if share is not None:
        return share[np.arange(of.n_samples), of.predicted_class]
    return None if of.top_score is None else np.round(of.top_score / of.scale, DECIMALS)


def event_score(seen: Seen) -> Computed:
    """Return the log odds of the share of the scores that the event's classes have.

    Parameters
    ----------
    seen : Seen
        An event of some proteins.
    """
    share = _shares(seen)
    if share is None:
        return None
    least = _floor(seen)[:, 0]
    inside = np.where(seen.held, share, 0.0).sum(axis=1)
    outside = np.where(seen.held, 0.0, share).sum(axis=1)
    return np.asarray(np.log(np.maximum(inside, least)) - np.log(np.maximum(outside, least)))


def _event_rank(seen: Seen) -> Computed:
    """Return the place of the best of the event's classes, 1 the predicted one."""
    if seen.predictions.scores is None:
        return None
    n_classes = seen.predictions.n_classes
    place = np.where(seen.held, class_ranks(seen.predictions), n_classes + 1).min(axis=1)
    return np.asarray(place.astype(float))


def _two_best(values: Floats, chosen: Integers) -> tuple[Floats, Floats]:
    rows = np.arange(len(values))
    others = values.copy()
    others[rows, chosen] = -np.inf
    return values[rows, chosen], others.max(axis=1)


def _margin(seen: Seen) -> Computed:
    """Return by how much the best score leads the next, in shares and in their logs."""
    share, floored = _shares(seen), _floored(seen)
    if share is None or floored is None:
        return None
    chosen = seen.predictions.predicted_class
    best, next_ = _two_best(share, chosen)
    log_best, log_next = _two_best(np.log(floored), chosen)
    return np.column_stack([best - next_, log_best - log_next])


def _entropy(seen: Seen) -> Computed:
    """Return the entropy of the row's shares."""
    floored = _floored(seen)
    if floored is None:
        return None
    order = name_order(seen.predictions.class_names)
    ordered = floored[:, order]
    return np.asarray(-(ordered * np.log(ordered)).sum(axis=1))


FEATURES = (
    Feature("top_score", GROUP, "score of the predicted class", "scores", _top_score),
    Feature("event_score", GROUP, "log odds of the event's scores", VECTOR, event_score),
    Feature("event_rank", GROUP, "rank of the event's best class", VECTOR, _event_rank),
    Feature("margin", GROUP, "lead over the next class, plain and in logs", VECTOR, _margin),
    Feature("entropy", GROUP, "entropy of the scores", VECTOR, _entropy),
)
