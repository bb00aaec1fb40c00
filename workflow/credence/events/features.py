"""What forecasters look at: the features, listed in the registry."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from credence.calibrators.score_logs import (
    LOG_DECIMALS,
    UNKNOWN_RESOLUTION_FLOOR,
    name_order,
    others_of,
)
from credence.events.event import Event, class_ranks
from credence.metrics.metric import divide
from credence.predictions import Booleans, Floats, Predictions

NEEDS_PREDICTION = "a prediction"
NEEDS_SCORES = "scores"
NEEDS_VECTOR = "a score for every class"
NEEDS_TYPES = "groups"
NEEDS_MEMBERS = "the scores of an ensemble's members"
NEEDS_DISTANCE = "what credence novelty wrote"


@dataclass(frozen=True, kw_only=True, eq=False)
class EventEvidence:
    """What is known of some proteins beside the events."""

    predictions: Predictions  # What the classifier gave
    distance: Floats | None = None  # To the nearest protein of another cluster; NaN: not known
    types: tuple[Event, ...] = ()  # Named groups of classes


@dataclass(frozen=True, kw_only=True, eq=False)
class OneEvent:
    """One event of some proteins, with the evidence, ready for features."""

    evidence: EventEvidence  # What is known
    held: Booleans  # Which classes the event holds
    frequency: Floats  # Share of each class among the calibration proteins

    @property
    def predictions(self) -> Predictions:
        """What the classifier gave."""
        return self.evidence.predictions


@dataclass(frozen=True, kw_only=True)
class Feature:
    """An entry of the registry."""

    name: str  # Unique
    group: str  # What it is made of
    summary: str  # What it is
    needs: str  # What has to be given for it, in words: an entry of `IS_GIVEN`
    compute: Callable[[OneEvent], Any]  # ``compute(seen)`` gives its columns where that is given


IS_GIVEN: dict[str, Callable[[OneEvent], bool]] = {
    NEEDS_PREDICTION: lambda seen: True,
    NEEDS_SCORES: lambda seen: (
        seen.predictions.top_score is not None or IS_GIVEN[NEEDS_VECTOR](seen)
    ),
    NEEDS_VECTOR: lambda seen: seen.predictions.scores is not None,
    NEEDS_TYPES: lambda seen: bool(seen.evidence.types),
    NEEDS_MEMBERS: lambda seen: seen.predictions.network_scores is not None,
    NEEDS_DISTANCE: lambda seen: seen.evidence.distance is not None,
}


def row_shares(predictions: Predictions) -> Floats:
    """Return each row of scores divided by its sum, to nine decimals."""
    scores = predictions.required_scores
    share = divide(scores, scores.sum(axis=1, keepdims=True), 0.0)
    return np.round(share, LOG_DECIMALS)


MOST_FLOOR = 0.01  # of a row of logs: above it scores that are known would be hidden


def _floor(seen: OneEvent) -> Floats:
    """Return half of what the table can show of each row, shape (n_samples, 1)."""
    scores, resolution = seen.predictions.required_scores, seen.predictions.resolution
    total = scores.sum(axis=1, keepdims=True)
    if resolution == 0:
        return np.full_like(total, UNKNOWN_RESOLUTION_FLOOR)
    half = divide(np.full_like(total, resolution / 2.0), total, MOST_FLOOR)
    return np.minimum(half, MOST_FLOOR)


def _floored(seen: OneEvent) -> Floats:
    """Return shares with none below half the table's resolution, for logs."""
    return np.maximum(row_shares(seen.predictions), _floor(seen))


def _top_score(seen: OneEvent) -> Floats:
    """Return the share of the scores of the predicted class."""
    predictions = seen.predictions
    if predictions.scores is not None:
        return row_shares(predictions)[
            np.arange(predictions.n_samples), predictions.predicted_class
        ]
    return np.round(predictions.required_top_score / predictions.scale, LOG_DECIMALS)


def event_score(seen: OneEvent) -> Floats:
    """Return the log odds of the share of the scores that the event's classes have."""
    share, least = row_shares(seen.predictions), _floor(seen)[:, 0]
    inside = np.where(seen.held, share, 0.0).sum(axis=1)
    outside = np.where(seen.held, 0.0, share).sum(axis=1)
    return np.asarray(np.log(np.maximum(inside, least)) - np.log(np.maximum(outside, least)))


# What each of these gives stands in its entry of `FEATURES`.
def _event_rank(seen: OneEvent) -> Any:
    last = seen.predictions.n_classes + 1
    return np.where(seen.held, class_ranks(seen.predictions), last).min(axis=1)


def _margin(seen: OneEvent) -> Any:
    chosen = seen.predictions.predicted_class
    rows = np.arange(len(chosen))
    tables = (row_shares(seen.predictions), np.log(_floored(seen)))
    leads = [table[rows, chosen] - others_of(table, chosen).max(axis=1) for table in tables]
    return np.column_stack(leads)


def _entropy(seen: OneEvent) -> Any:
    ordered = _floored(seen)[:, name_order(seen.predictions.class_names)]
    return -(ordered * np.log(ordered)).sum(axis=1)


SECOND = 2


def _one_hot(seen: OneEvent) -> Any:
    order = name_order(seen.predictions.class_names)
    return np.equal(seen.predictions.predicted_class[:, None], order)


def _runner_up(seen: OneEvent) -> Any:
    predictions = seen.predictions
    return (class_ranks(predictions) == SECOND)[:, name_order(predictions.class_names)]


def _class_score(seen: OneEvent) -> Any:
    return _one_hot(seen) * event_score(seen)[:, None]


def _class_frequency(seen: OneEvent) -> Any:
    return seen.frequency[seen.predictions.predicted_class]


def _class_type(seen: OneEvent) -> Any:
    names = np.array(seen.predictions.class_names, dtype=object)
    inside = [np.isin(names, list(group.classes)) for group in seen.evidence.types]
    return np.column_stack(inside)[seen.predictions.predicted_class]


def _members(seen: OneEvent) -> Floats:
    return seen.predictions.required_network_scores


def _spread(seen: OneEvent) -> Any:
    return np.where(seen.held[:, None, :], _members(seen), 0.0).sum(axis=2).std(axis=1)


def _vote_share(seen: OneEvent) -> Any:
    return np.take_along_axis(seen.held, _members(seen).argmax(axis=2), axis=1).mean(axis=1)


def _concordance(seen: OneEvent) -> Any:
    votes = _members(seen).argmax(axis=2)
    counts = (votes[:, :, None] == np.arange(seen.predictions.n_classes)).sum(axis=1)
    return counts[np.arange(len(counts)), seen.predictions.predicted_class] == counts.max(axis=1)


def _distance(seen: OneEvent) -> Any:
    return seen.evidence.distance


FEATURES = (
    Feature(
        name="top_score",
        group="score",
        summary="score of the predicted class",
        needs=NEEDS_SCORES,
        compute=_top_score,
    ),
    Feature(
        name="event_score",
        group="score",
        summary="log odds of the event's scores",
        needs=NEEDS_VECTOR,
        compute=event_score,
    ),
    Feature(
        name="event_rank",
        group="score",
        summary="rank of the event's best class",
        needs=NEEDS_VECTOR,
        compute=_event_rank,
    ),
    Feature(
        name="margin",
        group="score",
        summary="lead over the next class, plain and in logs",
        needs=NEEDS_VECTOR,
        compute=_margin,
    ),
    Feature(
        name="entropy",
        group="score",
        summary="entropy of the scores",
        needs=NEEDS_VECTOR,
        compute=_entropy,
    ),
    Feature(
        name="predicted_class",
        group="class",
        summary="which class is predicted",
        needs=NEEDS_PREDICTION,
        compute=_one_hot,
    ),
    Feature(
        name="class_score",
        group="class",
        summary="the event's scores, class by class",
        needs=NEEDS_VECTOR,
        compute=_class_score,
    ),
    Feature(
        name="runner_up",
        group="class",
        summary="which class comes second",
        needs=NEEDS_VECTOR,
        compute=_runner_up,
    ),
    Feature(
        name="class_frequency",
        group="class",
        summary="how common the class is",
        needs=NEEDS_PREDICTION,
        compute=_class_frequency,
    ),
    Feature(
        name="class_type",
        group="class",
        summary="named groups that hold the class",
        needs=NEEDS_TYPES,
        compute=_class_type,
    ),
    Feature(
        name="spread",
        group="ensemble",
        summary="how far the members' scores of the event differ",
        needs=NEEDS_MEMBERS,
        compute=_spread,
    ),
    Feature(
        name="vote_share",
        group="ensemble",
        summary="share of the members that vote for it",
        needs=NEEDS_MEMBERS,
        compute=_vote_share,
    ),
    Feature(
        name="concordance",
        group="ensemble",
        summary="whether most vote as predicted",
        needs=NEEDS_MEMBERS,
        compute=_concordance,
    ),
    Feature(
        name="distance",
        group="sequence",
        summary="distance to the nearest calibration protein",
        needs=NEEDS_DISTANCE,
        compute=_distance,
    ),
)
FEATURE_OF: dict[str, Feature] = {entry.name: entry for entry in FEATURES}


@dataclass(frozen=True, kw_only=True, eq=False)
class FeatureTable:
    """Features of one event, as numbers."""

    values: Floats  # NaN where not known
    feature: tuple[str, ...]  # The feature that each column is of
    missing: tuple[str, ...]  # Features that could not be had

    @property
    def used(self) -> tuple[str, ...]:
        """The features that there are columns of."""
        return tuple(dict.fromkeys(self.feature))


def table_of(seen: OneEvent, names: Sequence[str]) -> FeatureTable:
    """Return the features asked for, as far as they can be had."""
    wanted = [entry for entry in FEATURES if entry.name in names]
    is_given = {entry.name: IS_GIVEN[entry.needs](seen) for entry in wanted}
    blocks = {
        entry.name: np.asarray(entry.compute(seen), dtype=float).reshape(len(seen.held), -1)
        for entry in wanted
        if is_given[entry.name]
    }
    columns = [np.zeros((len(seen.held), 0)), *blocks.values()]
    feature = tuple(name for name, block in blocks.items() for _ in block.T)
    missing = tuple(name for name in is_given if not is_given[name])
    return FeatureTable(
        values=np.round(np.hstack(columns), LOG_DECIMALS), feature=feature, missing=missing
    )
