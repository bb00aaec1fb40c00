"""What forecasters look at: modules of features, listed in the registry."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from credence.calibrators.vector_features import UNKNOWN_RESOLUTION_FLOOR, name_order
from credence.events.event import Event, class_ranks
from credence.events.rules import parse_rule, row_shares
from credence.predictions import Booleans, Floats, Integers, Predictions

NO_GENE = -1  # there is no neighbour
VECTOR = "a score for every class"

Computed = Floats | None


@dataclass(frozen=True, eq=False)
class EventEvidence:
    """What is known of some proteins beside the events."""

    predictions: Predictions  # What the classifier gave
    # Further numbers of each protein, NaN where not known: ``length``, ``distance``; of a
    # calibration protein the distance to other clusters.
    columns: Mapping[str, Floats] = field(default_factory=dict)
    # Class predicted for the genes beside each, `NO_GENE` where there is none.
    neighbours: Integers | None = None
    types: tuple[Event, ...] = ()  # Named groups of classes
    admissible: str = ""  # A user's rule; empty: none


@dataclass(frozen=True, eq=False)
class Seen:
    """One event of some proteins, with the evidence, ready for features."""

    evidence: EventEvidence  # What is known
    held: Booleans  # Which classes the event holds
    frequency: Floats  # Share of each class among the calibration proteins

    @property
    def predictions(self) -> Predictions:
        """What the classifier gave."""
        return self.evidence.predictions


@dataclass(frozen=True)
class Feature:
    """An entry of the registry."""

    name: str  # Unique
    group: str  # What it is taken away with when groups are left out
    summary: str  # What it is
    needs: str  # What has to be given for it, in words
    # ``compute(seen)`` gives its columns, or None where that is not given.
    compute: Callable[[Seen], Computed]


SCORE_GROUP = "score"
DECIMALS = 9
MOST_FLOOR = 0.01  # of a row of logs: above it scores that are known would be hidden


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
    """Return the log odds of the share of the scores that the event's classes have."""
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


OF_SCORES = (
    Feature("top_score", SCORE_GROUP, "score of the predicted class", "scores", _top_score),
    Feature("event_score", SCORE_GROUP, "log odds of the event's scores", VECTOR, event_score),
    Feature("event_rank", SCORE_GROUP, "rank of the event's best class", VECTOR, _event_rank),
    Feature("margin", SCORE_GROUP, "lead over the next class, plain and in logs", VECTOR, _margin),
    Feature("entropy", SCORE_GROUP, "entropy of the scores", VECTOR, _entropy),
)


CLASS_GROUP = "class"
ALWAYS = "a prediction"
SECOND = 2


def _one_hot(seen: Seen) -> Floats:
    """Return a column for each class, 1 where it is the predicted one."""
    of = seen.predictions
    order = name_order(of.class_names)
    return np.asarray((of.predicted_class[:, None] == order[None, :]).astype(float))


def _runner_up(seen: Seen) -> Computed:
    """Return a column for each class, 1 where it is the best of the others."""
    of = seen.predictions
    if of.scores is None:
        return None
    return np.asarray((class_ranks(of) == SECOND)[:, name_order(of.class_names)].astype(float))


def _class_score(seen: Seen) -> Computed:
    """Return a column for each class: the event's score where it is predicted, else 0."""
    score = event_score(seen)
    return None if score is None else _one_hot(seen) * score[:, None]


def _class_frequency(seen: Seen) -> Computed:
    """Return the share of the predicted class among the calibration proteins."""
    return seen.frequency[seen.predictions.predicted_class]


def _class_type(seen: Seen) -> Computed:
    """Return a column for each named group, 1 where the predicted class is in it."""
    if not seen.evidence.types:
        return None
    names = np.array(seen.predictions.class_names, dtype=object)
    inside = [np.isin(names, list(group.classes)) for group in seen.evidence.types]
    return np.column_stack([part[seen.predictions.predicted_class] for part in inside]).astype(
        float
    )


OF_CLASS = (
    Feature("predicted_class", CLASS_GROUP, "which class is predicted", ALWAYS, _one_hot),
    Feature(
        "class_score", CLASS_GROUP, "the event's scores, class by class", VECTOR, _class_score
    ),
    Feature("runner_up", CLASS_GROUP, "which class comes second", VECTOR, _runner_up),
    Feature("class_frequency", CLASS_GROUP, "how common the class is", ALWAYS, _class_frequency),
    Feature("class_type", CLASS_GROUP, "named groups that hold the class", "groups", _class_type),
)


ENSEMBLE_GROUP = "ensemble"
NEED = "the scores of an ensemble's members"


def _spread(seen: Seen) -> Computed:
    """Return how far the members' scores of the event lie apart (standard deviation)."""
    networks = seen.predictions.network_scores
    if networks is None:
        return None
    inside = np.where(seen.held[:, None, :], networks, 0.0).sum(axis=2)
    return np.asarray(inside.std(axis=1))


def _vote_share(seen: Seen) -> Computed:
    """Return the share of the members whose best class is in the event."""
    networks = seen.predictions.network_scores
    if networks is None:
        return None
    votes = networks.argmax(axis=2)
    return np.asarray(np.take_along_axis(seen.held, votes, axis=1).mean(axis=1))


def _concordance(seen: Seen) -> Computed:
    """Return 1 where the predicted class is also that of most members' votes."""
    networks = seen.predictions.network_scores
    if networks is None:
        return None
    votes = networks.argmax(axis=2)
    n_classes = networks.shape[2]
    counts = np.stack([(votes == class_).sum(axis=1) for class_ in range(n_classes)], axis=1)
    own = counts[np.arange(len(counts)), seen.predictions.predicted_class]
    return np.asarray((own == counts.max(axis=1)).astype(float))


OF_ENSEMBLE = (
    Feature(
        "spread", ENSEMBLE_GROUP, "how far the members' scores of the event differ", NEED, _spread
    ),
    Feature(
        "vote_share", ENSEMBLE_GROUP, "share of the members that vote for it", NEED, _vote_share
    ),
    Feature("concordance", ENSEMBLE_GROUP, "whether most vote as predicted", NEED, _concordance),
)


def _given_column(name: str, *, is_log: bool = False) -> Callable[[Seen], Computed]:
    """Return what computes a feature from a column of the evidence."""

    def compute(seen: Seen) -> Computed:
        values = seen.evidence.columns.get(name)
        if values is None:
            return None
        return np.log(np.maximum(values, 1.0)) if is_log else values

    return compute


def _neighbours(seen: Seen) -> Computed:
    """Return the share of the genes beside it that are predicted to be of the event."""
    beside = seen.evidence.neighbours
    if beside is None:
        return None
    is_there = beside != NO_GENE
    is_held = np.take_along_axis(seen.held, np.maximum(beside, 0), axis=1) & is_there
    number = is_there.sum(axis=1)
    return np.asarray(
        np.divide(is_held.sum(axis=1), number, out=np.full(len(beside), np.nan), where=number > 0)
    )


def _admissible(seen: Seen) -> Computed:
    """Return the share of the event's classes that fulfil the user's rule."""
    if not seen.evidence.admissible:
        return None
    of = seen.predictions
    holds = parse_rule(seen.evidence.admissible, "admissible").holds(of, class_ranks(of))
    number = seen.held.sum(axis=1)
    return np.asarray(
        np.divide(
            (holds & seen.held).sum(axis=1), number, out=np.zeros(of.n_samples), where=number > 0
        )
    )


OF_EVIDENCE = (
    Feature(
        "length",
        "sequence",
        "logarithm of the protein's length",
        "a column 'length'",
        _given_column("length", is_log=True),
    ),
    Feature(
        "distance",
        "sequence",
        "distance to the nearest calibration protein",
        "what credence novelty wrote, or a column 'distance'",
        _given_column("distance"),
    ),
    Feature(
        "neighbours",
        "neighbours",
        "share of the genes beside it that are predicted to be of the event",
        "columns 'before' and 'after'",
        _neighbours,
    ),
    Feature(
        "admissible",
        "rule",
        "share of the event's classes that fulfil the rule",
        "a rule",
        _admissible,
    ),
)


FEATURES: tuple[Feature, ...] = (*OF_SCORES, *OF_CLASS, *OF_ENSEMBLE, *OF_EVIDENCE)
BY_NAME: dict[str, Feature] = {entry.name: entry for entry in FEATURES}
GROUPS: tuple[str, ...] = tuple(dict.fromkeys(entry.group for entry in FEATURES))


@dataclass(frozen=True, eq=False)
class FeatureTable:
    """Features of one event, as numbers."""

    values: Floats  # NaN where not known
    feature: tuple[str, ...]  # The feature that each column is of
    missing: tuple[str, ...]  # Features that could not be had

    def only(self, names: Sequence[str]) -> FeatureTable:
        """Return the columns of some features."""
        kept = [place for place, name in enumerate(self.feature) if name in names]
        return FeatureTable(
            self.values[:, kept], tuple(self.feature[place] for place in kept), self.missing
        )


def table_of(seen: Seen, names: Sequence[str]) -> FeatureTable:
    """Return the features asked for, as far as they can be had."""
    columns: list[Floats] = []
    of: list[str] = []
    missing: list[str] = []
    for entry in FEATURES:
        if entry.name not in names:
            continue
        found = entry.compute(seen)
        if found is None:
            missing.append(entry.name)
            continue
        block = np.asarray(found, dtype=float).reshape(len(found), -1)
        columns.append(np.round(block, DECIMALS))
        of += [entry.name] * block.shape[1]
    values = np.hstack(columns) if columns else np.zeros((seen.predictions.n_samples, 0))
    return FeatureTable(values, tuple(of), tuple(missing))


def frequencies(true_class: Integers, weight: Floats, n_classes: int) -> Floats:
    """Return the weighted share of each class."""
    mass = np.bincount(true_class, weights=weight, minlength=n_classes)
    return np.asarray(mass / mass.sum(), dtype=float)
