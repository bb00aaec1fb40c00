"""What a forecaster may look at. Each feature says what it needs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from credence.calibrators.features import (
    UNKNOWN_RESOLUTION_FLOOR,
    name_order,
)
from credence.events.event import Event, class_ranks
from credence.events.rules import parse_rule, row_shares
from credence.predictions import Booleans, Floats, Integers, Predictions

DECIMALS = 9  # far above rounding error, far below what tells proteins apart
MOST_FLOOR = 0.01  # of a row of logs: above it scores that are told would be hidden
SECOND = 2
NO_GENE = -1  # there is no neighbour on this side

Computed = Floats | None


@dataclass(frozen=True, eq=False)
class Evidence:
    """What is known of some proteins beside the events.

    Parameters
    ----------
    predictions : Predictions
        What the classifier said.
    columns : mapping of str to array of float
        Further numbers of each protein, NaN where not known: ``length``,
        ``distance``.
    neighbours : array of int, shape (n_samples, n_neighbours), optional
        Class predicted for the genes beside each, `NO_GENE` where there is none.
    types : tuple of Event
        Named groups of classes.
    admissible : str
        A user's rule; empty: none.
    """

    predictions: Predictions
    columns: Mapping[str, Floats] = field(default_factory=dict)
    neighbours: Integers | None = None
    types: tuple[Event, ...] = ()
    admissible: str = ""


@dataclass(frozen=True, eq=False)
class Seen:
    """One event of some proteins, with the evidence, ready for features.

    Parameters
    ----------
    evidence : Evidence
        What is known.
    held : array of bool, shape (n_samples, n_classes)
        Which classes the event holds.
    frequency : array of float, shape (n_classes,)
        Share of each class among the calibration proteins.
    """

    evidence: Evidence
    held: Booleans
    frequency: Floats

    @property
    def predictions(self) -> Predictions:
        """What the classifier said."""
        return self.evidence.predictions


@dataclass(frozen=True)
class Feature:
    """An entry of the registry.

    Parameters
    ----------
    name : str
        Unique.
    group : str
        What it is taken away with when groups are left out.
    summary : str
        What it is.
    needs : str
        What has to be given for it, in words.
    compute : callable
        ``compute(seen)`` gives its columns, or None where that is not given.
    """

    name: str
    group: str
    summary: str
    needs: str
    compute: Callable[[Seen], Computed]


def _rows(seen: Seen) -> Integers:
    return np.arange(seen.predictions.n_samples)


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
    return np.minimum(half, MOST_FLOOR)


def _floored(seen: Seen) -> Computed:
    """Return shares with none below half the table's resolution, for logs."""
    share = _shares(seen)
    return None if share is None else np.maximum(share, _floor(seen))


def top_score(seen: Seen) -> Computed:
    """Return the share of the scores of the predicted class.

    Parameters
    ----------
    seen : Seen
        An event of some proteins.
    """
    of = seen.predictions
    share = _shares(seen)
    if share is not None:
        return share[_rows(seen), of.predicted_class]
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
    return np.log(np.maximum(inside, least)) - np.log(np.maximum(outside, least))


def event_rank(seen: Seen) -> Computed:
    """Return the place of the best of the event's classes, 1 the predicted one.

    Parameters
    ----------
    seen : Seen
        An event of some proteins.
    """
    if seen.predictions.scores is None:
        return None
    n_classes = seen.predictions.n_classes
    place = np.where(seen.held, class_ranks(seen.predictions), n_classes + 1).min(axis=1)
    return place.astype(float)


def _two_best(values: Floats, chosen: Integers) -> tuple[Floats, Floats]:
    rows = np.arange(len(values))
    others = values.copy()
    others[rows, chosen] = -np.inf
    return values[rows, chosen], others.max(axis=1)


def margin(seen: Seen) -> Computed:
    """Return by how much the best score leads the next, in shares and in their logs.

    Parameters
    ----------
    seen : Seen
        An event of some proteins.
    """
    share, floored = _shares(seen), _floored(seen)
    if share is None or floored is None:
        return None
    chosen = seen.predictions.predicted_class
    best, next_ = _two_best(share, chosen)
    log_best, log_next = _two_best(np.log(floored), chosen)
    return np.column_stack([best - next_, log_best - log_next])


def entropy(seen: Seen) -> Computed:
    """Return the entropy of the row's shares.

    Parameters
    ----------
    seen : Seen
        An event of some proteins.
    """
    floored = _floored(seen)
    if floored is None:
        return None
    order = name_order(seen.predictions.class_names)
    ordered = floored[:, order]
    return np.asarray(-(ordered * np.log(ordered)).sum(axis=1))


def predicted_class(seen: Seen) -> Computed:
    """Return a column for each class, 1 where it is the predicted one.

    Parameters
    ----------
    seen : Seen
        An event of some proteins.
    """
    of = seen.predictions
    order = name_order(of.class_names)
    return (of.predicted_class[:, None] == order[None, :]).astype(float)


def runner_up(seen: Seen) -> Computed:
    """Return a column for each class, 1 where it is the best of the others.

    Parameters
    ----------
    seen : Seen
        An event of some proteins.
    """
    of = seen.predictions
    if of.scores is None:
        return None
    return (class_ranks(of) == SECOND)[:, name_order(of.class_names)].astype(float)


def class_frequency(seen: Seen) -> Computed:
    """Return the share of the predicted class among the calibration proteins.

    Parameters
    ----------
    seen : Seen
        An event of some proteins.
    """
    return seen.frequency[seen.predictions.predicted_class]


def class_type(seen: Seen) -> Computed:
    """Return a column for each named group, 1 where the predicted class is in it.

    Parameters
    ----------
    seen : Seen
        An event of some proteins.
    """
    if not seen.evidence.types:
        return None
    names = np.array(seen.predictions.class_names, dtype=object)
    inside = [np.isin(names, list(group.classes)) for group in seen.evidence.types]
    return np.column_stack([part[seen.predictions.predicted_class] for part in inside]).astype(
        float
    )


def spread(seen: Seen) -> Computed:
    """Return how far the members' scores of the event lie apart (standard deviation).

    Parameters
    ----------
    seen : Seen
        An event of some proteins.
    """
    networks = seen.predictions.network_scores
    if networks is None:
        return None
    inside = np.where(seen.held[:, None, :], networks, 0.0).sum(axis=2)
    return np.asarray(inside.std(axis=1))


def vote_share(seen: Seen) -> Computed:
    """Return the share of the members whose best class is in the event.

    Parameters
    ----------
    seen : Seen
        An event of some proteins.
    """
    networks = seen.predictions.network_scores
    if networks is None:
        return None
    votes = networks.argmax(axis=2)
    return np.take_along_axis(seen.held, votes, axis=1).mean(axis=1)


def concordance(seen: Seen) -> Computed:
    """Return 1 where the predicted class is also that of most members' votes.

    Parameters
    ----------
    seen : Seen
        An event of some proteins.
    """
    networks = seen.predictions.network_scores
    if networks is None:
        return None
    votes = networks.argmax(axis=2)
    n_classes = networks.shape[2]
    counts = np.stack([(votes == class_).sum(axis=1) for class_ in range(n_classes)], axis=1)
    own = counts[_rows(seen), seen.predictions.predicted_class]
    return (own == counts.max(axis=1)).astype(float)


def given_column(name: str, *, is_log: bool = False) -> Callable[[Seen], Computed]:
    """Return what computes a feature from a column of the evidence.

    Parameters
    ----------
    name : str
        Of the column.
    is_log : bool
        Whether its logs are wanted.
    """

    def compute(seen: Seen) -> Computed:
        values = seen.evidence.columns.get(name)
        if values is None:
            return None
        return np.log(np.maximum(values, 1.0)) if is_log else values

    return compute


def neighbours(seen: Seen) -> Computed:
    """Return the share of the genes beside it that are predicted to be of the event.

    Parameters
    ----------
    seen : Seen
        An event of some proteins.
    """
    beside = seen.evidence.neighbours
    if beside is None:
        return None
    is_there = beside != NO_GENE
    is_held = np.take_along_axis(seen.held, np.maximum(beside, 0), axis=1) & is_there
    number = is_there.sum(axis=1)
    return np.divide(
        is_held.sum(axis=1), number, out=np.full(len(beside), np.nan), where=number > 0
    )


def admissible(seen: Seen) -> Computed:
    """Return the share of the event's classes that fulfil the user's rule.

    Parameters
    ----------
    seen : Seen
        An event of some proteins.
    """
    if not seen.evidence.admissible:
        return None
    of = seen.predictions
    holds = parse_rule(seen.evidence.admissible, "admissible").holds(of, class_ranks(of))
    number = seen.held.sum(axis=1)
    return np.divide(
        (holds & seen.held).sum(axis=1), number, out=np.zeros(of.n_samples), where=number > 0
    )


VECTOR = "a score for every class"
NETWORKS = "the scores of an ensemble's members"
FEATURES: tuple[Feature, ...] = (
    Feature("top_score", "score", "score of the predicted class", "scores", top_score),
    Feature("event_score", "score", "log odds of the event's share of the scores", VECTOR, event_score),
    Feature("event_rank", "score", "rank of the event's best class", VECTOR, event_rank),
    Feature("margin", "score", "lead over the next class, in scores and logs", VECTOR, margin),
    Feature("entropy", "score", "entropy of the scores", VECTOR, entropy),
    Feature("predicted_class", "class", "which class is predicted", "a prediction", predicted_class),
    Feature("runner_up", "class", "which class comes second", VECTOR, runner_up),
    Feature("class_frequency", "class", "how common the predicted class is", "a prediction", class_frequency),
    Feature("class_type", "class", "named groups of the predicted class", "named groups", class_type),
    Feature("spread", "ensemble", "how far the members' scores of the event lie apart", NETWORKS, spread),
    Feature("vote_share", "ensemble", "share of the members that vote for the event", NETWORKS, vote_share),
    Feature("concordance", "ensemble", "whether most members vote for the predicted class", NETWORKS, concordance),
    Feature("length", "sequence", "logarithm of the protein's length", "a column 'length'", given_column("length", is_log=True)),
    Feature("distance", "sequence", "distance to the nearest calibration protein", "a column 'distance'", given_column("distance")),
    Feature("neighbours", "neighbours", "share of the genes beside it predicted to be of the event", "columns 'genome' and 'position'", neighbours),
    Feature("admissible", "rule", "share of the event's classes that fulfil the rule", "a rule", admissible),
)
BY_NAME: dict[str, Feature] = {entry.name: entry for entry in FEATURES}
GROUPS: tuple[str, ...] = tuple(dict.fromkeys(entry.group for entry in FEATURES))


@dataclass(frozen=True, eq=False)
class Table:
    """Features of one event, as numbers.

    Parameters
    ----------
    values : array of float, shape (n_samples, n_columns)
        NaN where not known.
    feature : tuple of str
        The feature that each column is of.
    missing : tuple of str
        Features that could not be had.
    """

    values: Floats
    feature: tuple[str, ...]
    missing: tuple[str, ...]

    def only(self, names: Sequence[str]) -> Table:
        """Return the columns of some features."""
        kept = [place for place, name in enumerate(self.feature) if name in names]
        return Table(
            self.values[:, kept], tuple(self.feature[place] for place in kept), self.missing
        )


def table_of(seen: Seen, names: Sequence[str]) -> Table:
    """Return the features asked for, as far as they can be had.

    Parameters
    ----------
    seen : Seen
        An event of some proteins.
    names : sequence of str
        Names of the registry; its order counts.
    """
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
    return Table(values, tuple(of), tuple(missing))


def frequencies(true_class: Integers, weight: Floats, n_classes: int) -> Floats:
    """Return the weighted share of each class.

    Parameters
    ----------
    true_class, weight : array, shape (n_samples,)
        Of the calibration proteins.
    n_classes : int
        How many classes there are.
    """
    mass = np.bincount(true_class, weights=weight, minlength=n_classes)
    return np.asarray(mass / mass.sum(), dtype=float)
