"""Events on the calibration set, and forecasters tuned and judged on clusters left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np

from credence.calibrators.classwise import kish
from credence.calibrators.crossfit import fold_of
from credence.calibrators.newton import log_loss
from credence.calibrators.protocol import Calibrator
from credence.draws import encode_clusters, keys_of
from credence.evaluation.held_out import cross_fit
from credence.evaluation.judging import EvaluationOptions
from credence.events.event import Event, memberships, outcomes
from credence.events.features import EventEvidence, FeatureTable, Seen, frequencies, table_of
from credence.events.forecasters import (
    ConstantForecast,
    Examples,
    Forecast,
    Forecaster,
    share_with_prior,
)
from credence.metrics.binned import WIDTH
from credence.predictions import Booleans, Floats, Integers, Labelled


@dataclass(frozen=True)
class EventOptions:
    """How events are learnt and judged."""

    forecaster: str = "logistic"  # Whose probabilities are published
    compare: tuple[str, ...] = ("knn", "isotonic")  # Others that are judged beside it
    without: tuple[str, ...] = ()  # Features not to be used
    agrees: bool = True  # Whether the predicted class keeps the published confidence
    n_folds: int = 10  # Folds of whole clusters
    # Least effective number of proteins for which an event came true, or not.
    min_positives: float = 10.0
    level: float = 0.95  # Coverage of the intervals
    n_draws: int = 200  # Of the bootstrap over clusters

    @property
    def every(self) -> tuple[str, ...]:
        """All forecasters, the published one first."""
        return tuple(dict.fromkeys((self.forecaster, *self.compare)))

    @property
    def judging(self) -> EvaluationOptions:
        """How metrics are drawn."""
        return EvaluationOptions(
            self.n_folds, self.level, self.n_draws, n_floor=0, n_signs=0, families=(WIDTH.name,)
        )


@dataclass(frozen=True, eq=False)
class Asked:
    """One event on the calibration set."""

    event: Event  # What is asked
    table: FeatureTable  # Features
    came_true: Booleans  # Outcomes
    examples: Examples  # The same, as forecasters see it
    note: str  # Why nothing is to be learnt; empty where it is


@dataclass(frozen=True, eq=False)
class EventData:
    """The calibration set, in an order that no table's order reaches."""

    labelled: Labelled  # The proteins
    evidence: EventEvidence  # What is known of them
    fold: Integers  # Of whole clusters
    cluster: Integers  # Their codes, by keys
    key: np.ndarray[tuple[int], np.dtype[np.uint64]] = field(repr=False)  # A key for each code
    options: EventOptions  # How events are learnt and judged
    confidence: Floats | None  # Held-out confidences of the predicted class


def event_data(
    labelled: Labelled,
    evidence: EventEvidence,
    options: EventOptions,
    calibrators: Mapping[str, Calibrator],
) -> EventData:
    """Return the set ordered by the keys of ids: ties among neighbours are settled so."""
    ids = labelled.predictions.ids.astype(str)
    order = np.lexsort((ids, keys_of(ids.astype(object))))
    labelled = labelled.take(order)
    ordered = EventEvidence(
        labelled.predictions,
        {name: values[order] for name, values in evidence.columns.items()},
        None if evidence.neighbours is None else evidence.neighbours[order],
        evidence.types,
        evidence.admissible,
    )
    names = np.array(labelled.predictions.class_names, dtype=object)
    stratum = names[labelled.predictions.predicted_class].astype(str)
    fold = fold_of(labelled.cluster, stratum, options.n_folds)
    cluster, key = encode_clusters(labelled.cluster)
    confidence = None
    if options.agrees and calibrators:
        held_out, _ = cross_fit(labelled, calibrators, fold)
        confidence = next(iter(held_out.values()))
    return EventData(labelled, ordered, fold, cluster, key, options, confidence)


def frequency_of(data: EventData) -> Floats:
    """Return the weighted share of each class."""
    of = data.labelled
    return frequencies(of.true_class, of.weight, of.predictions.n_classes)


def ask(data: EventData, event: Event, names: Sequence[str]) -> Asked:
    """Return an event with its features and outcomes."""
    held = memberships([event], data.labelled.predictions)[0]
    came_true = outcomes(held, data.labelled.true_class)
    table = table_of(Seen(data.evidence, held, frequency_of(data)), names)
    examples = examples_of(data, table, came_true)
    note = ""
    if held.all():
        note = "holds every class: its probability is 1 whatever is predicted"
    elif not held.any():
        note = "holds no class: its probability is 0 whatever is predicted"
    return Asked(event, table, came_true, examples, note)


def examples_of(data: EventData, table: FeatureTable, came_true: Booleans) -> Examples:
    """Return what forecasters see of an event."""
    by_itself = [name for name in ("event_score", "top_score") if name in table.feature]
    main = table.feature.index(by_itself[0]) if by_itself else 0
    return Examples(
        table.values, came_true.astype(float), data.labelled.weight, data.cluster, main
    )


def features_used(table: FeatureTable) -> tuple[str, ...]:
    """Return the features that a table has columns of."""
    return tuple(dict.fromkeys(table.feature))


@dataclass(frozen=True, eq=False)
class Learnt:
    """A forecaster that has learnt one event."""

    forecast: Forecast  # From all proteins
    value: float  # What tuning chose
    # Each protein's probability from a forecaster tuned and fitted without its fold; NaN where
    # there is no other fold.
    held_out: Floats
    is_scarce: bool  # Whether there was too little to learn from
    # What tuning without each fold chose.
    chosen: Mapping[int, float] = field(default_factory=dict)


def is_scarce(examples: Examples, least: float) -> bool:
    """Return whether one of the outcomes is too rare to learn from."""
    came_true = examples.outcome > 0
    return min(kish(examples.weight[rows]) for rows in (came_true, ~came_true)) < least


def constant_of(examples: Examples) -> ConstantForecast:
    """Return the overall share, with half a protein added to each outcome."""
    right = share_with_prior(examples.weight @ examples.outcome, examples.weight.sum())
    return ConstantForecast(float(right))


def fit_one(forecaster: Forecaster, examples: Examples, value: float, least: float) -> Forecast:
    """Return what a forecaster learns under one value of its setting."""
    if is_scarce(examples, least):
        return constant_of(examples)
    return forecaster.fit(examples, value)


def learn(
    forecaster: Forecaster,
    examples: Examples,
    fold: Integers,
    least: float,
    kept: Booleans | None = None,
) -> Learnt:
    """Return what a forecaster learns, tuned and judged by nested cross-fitting.

    Notes
    -----
    For each fold o the value is chosen that has the least log loss on the other
    folds, each predicted by a fit without it and without o; then o is predicted by
    a fit with that value. A fit without two folds serves both, so that f folds ask
    for f (f + 1) / 2 fits, not f². The value of the forecast from all proteins is
    the one with the least loss over fits without one fold.
    """
    may = np.ones(examples.n_samples, dtype=np.bool_) if kept is None else kept
    numbers = np.unique(fold).tolist()
    candidates = np.array(forecaster.candidates)
    held_out = np.full(examples.n_samples, np.nan)
    every = examples.take(may)
    inner = _inner_losses(forecaster, examples, fold, may, least)
    total = np.zeros(len(candidates))
    chosen: dict[int, float] = {}
    for number in numbers:
        judged = np.equal(fold, number)
        seen = may & ~judged
        if not seen.any():
            continue
        found = _path(forecaster, examples.take(seen), examples.features[judged], least)
        place = _best(inner[number], forecaster)
        held_out[judged] = found[place]
        chosen[number] = float(candidates[place])
        total += _losses(found, examples.take(judged))
    value = float(candidates[_best(total, forecaster)])
    forecast = fit_one(forecaster, every, value, least)
    return Learnt(forecast, value, held_out, is_scarce(every, least), chosen)


def with_settings_of(
    tuned: Learnt, forecaster: Forecaster, examples: Examples, fold: Integers, least: float
) -> Floats:
    """Return held-out probabilities under the settings that another lesson chose."""
    held_out = np.full(examples.n_samples, np.nan)
    for number, value in tuned.chosen.items():
        judged = np.equal(fold, number)
        fitted = fit_one(forecaster, examples.take(~judged), value, least)
        held_out[judged] = fitted.probability(examples.features[judged])
    return held_out


def _inner_losses(
    forecaster: Forecaster, examples: Examples, fold: Integers, may: Booleans, least: float
) -> dict[int, Floats]:
    """Return by fold the loss of each candidate on the others, without that fold."""
    numbers = np.unique(fold).tolist()
    losses = {number: np.zeros(len(forecaster.candidates)) for number in numbers}
    if len(forecaster.candidates) == 1:
        return losses
    for one, other in combinations(numbers, 2):
        out = np.equal(fold, one) | np.equal(fold, other)
        seen = may & ~out
        if not seen.any():
            continue
        found = _path(forecaster, examples.take(seen), examples.features[out], least)
        for left, judged in ((one, other), (other, one)):
            rows = np.equal(fold[out], judged)
            losses[left] += _losses(found[:, rows], examples.take(np.equal(fold, judged)))
    return losses


def _path(forecaster: Forecaster, examples: Examples, features: Floats, least: float) -> Floats:
    if is_scarce(examples, least):
        same = constant_of(examples).probability(features)
        return np.tile(same, (len(forecaster.candidates), 1))
    return forecaster.path(examples, features)


def _losses(probability: Floats, judged: Examples) -> Floats:
    """Return the weighted log loss of each candidate."""
    odds = np.log(probability) - np.log1p(-probability)
    return np.asarray(log_loss(odds, judged.outcome) @ judged.weight)


def _best(losses: Floats, forecaster: Forecaster) -> int:
    """Return the place of the least loss; the default's where nothing was judged."""
    if not losses.any():
        return forecaster.candidates.index(forecaster.default)
    return int(losses.argmin())
