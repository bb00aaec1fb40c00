"""The calibration set with its events, ready to be learnt from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from credence.calibrators.crossfit import fold_of
from credence.calibrators.protocol import Calibrator
from credence.draws import encode_clusters, keys_of
from credence.evaluation.held_out import cross_fit
from credence.evaluation.judging import EvaluationOptions
from credence.events.event import Event, memberships, outcomes
from credence.events.features import EventEvidence, FeatureTable, Seen, frequencies, table_of
from credence.events.forecasters import Examples
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


def world_of(
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


def frequency_of(world: EventData) -> Floats:
    """Return the weighted share of each class."""
    of = world.labelled
    return frequencies(of.true_class, of.weight, of.predictions.n_classes)


def ask(world: EventData, event: Event, names: Sequence[str]) -> Asked:
    """Return an event with its features and outcomes."""
    held = memberships([event], world.labelled.predictions)[0]
    came_true = outcomes(held, world.labelled.true_class)
    table = table_of(Seen(world.evidence, held, frequency_of(world)), names)
    examples = examples_of(world, table, came_true)
    note = ""
    if held.all():
        note = "holds every class: its probability is 1 whatever is predicted"
    elif not held.any():
        note = "holds no class: its probability is 0 whatever is predicted"
    return Asked(event, table, came_true, examples, note)


def examples_of(world: EventData, table: FeatureTable, came_true: Booleans) -> Examples:
    """Return what forecasters see of an event."""
    by_itself = [name for name in ("event_score", "top_score") if name in table.feature]
    main = table.feature.index(by_itself[0]) if by_itself else 0
    return Examples(
        table.values, came_true.astype(float), world.labelled.weight, world.cluster, main
    )


def features_used(table: FeatureTable) -> tuple[str, ...]:
    """Return the features that a table has columns of."""
    return tuple(dict.fromkeys(table.feature))
