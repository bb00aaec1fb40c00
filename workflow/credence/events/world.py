"""The calibration set with its events, ready to be learnt from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from credence.calibrators.draws import encode_clusters, keys_of
from credence.calibrators.protocol import Calibrator
from credence.evaluation.crossfit import cross_fit
from credence.evaluation.options import EvaluationOptions
from credence.events.event import Event, memberships, outcomes
from credence.events.features.protocol import Evidence, Seen
from credence.events.features.registry import Table, frequencies, table_of
from credence.events.forecasters.protocol import Lesson
from credence.metrics.binning import WIDTH
from credence.predictions import Booleans, Floats, Integers, Labelled
from credence.splits.folds import fold_of


@dataclass(frozen=True)
class EventOptions:
    """How events are learnt and judged.

    Parameters
    ----------
    forecaster : str
        Whose probabilities are published.
    compare : tuple of str
        Others that are judged beside it.
    without : tuple of str
        Features not to be used.
    agrees : bool
        Whether the predicted class keeps the published confidence.
    n_folds : int
        Folds of whole clusters.
    min_positives : float
        Least effective number of proteins for which an event came true, or not.
    level : float
        Coverage of the intervals.
    n_draws : int
        Of the bootstrap over clusters.
    """

    forecaster: str = "logistic"
    compare: tuple[str, ...] = ("knn", "isotonic")
    without: tuple[str, ...] = ()
    agrees: bool = True
    n_folds: int = 10
    min_positives: float = 10.0
    level: float = 0.95
    n_draws: int = 200

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
    """One event on the calibration set.

    Parameters
    ----------
    event : Event
        What is asked.
    table : Table
        Features.
    came_true : array of bool, shape (n_samples,)
        Outcomes.
    lesson : Lesson
        The same, as forecasters see it.
    note : str
        Why nothing is to be learnt; empty where it is.
    """

    event: Event
    table: Table
    came_true: Booleans
    lesson: Lesson
    note: str


@dataclass(frozen=True, eq=False)
class World:
    """The calibration set, in an order that no table's order reaches.

    Parameters
    ----------
    labelled : Labelled
        The proteins.
    evidence : Evidence
        What is known of them.
    fold : array of int, shape (n_samples,)
        Of whole clusters.
    cluster : array of int, shape (n_samples,)
        Their codes, by keys.
    key : array of uint64
        A key for each code.
    options : EventOptions
        How events are learnt and judged.
    confidence : array of float, shape (n_samples,), optional
        Held-out confidences of the predicted class.
    """

    labelled: Labelled
    evidence: Evidence
    fold: Integers
    cluster: Integers
    key: np.ndarray[tuple[int], np.dtype[np.uint64]] = field(repr=False)
    options: EventOptions
    confidence: Floats | None


def world_of(
    labelled: Labelled,
    evidence: Evidence,
    options: EventOptions,
    calibrators: Mapping[str, Calibrator],
) -> World:
    """Return the set ordered by the keys of ids: ties among neighbours are settled so."""
    ids = labelled.predictions.ids.astype(str)
    order = np.lexsort((ids, keys_of(ids.astype(object))))
    labelled = labelled.take(order)
    ordered = Evidence(
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
    return World(labelled, ordered, fold, cluster, key, options, confidence)


def frequency_of(world: World) -> Floats:
    """Return the weighted share of each class.

    Parameters
    ----------
    world : World
        The calibration set.
    """
    of = world.labelled
    return frequencies(of.true_class, of.weight, of.predictions.n_classes)


def ask(world: World, event: Event, names: Sequence[str]) -> Asked:
    """Return an event with its features and outcomes.

    Parameters
    ----------
    world : World
        The calibration set.
    event : Event
        What is asked.
    names : sequence of str
        Features wanted.
    """
    held = memberships([event], world.labelled.predictions)[0]
    came_true = outcomes(held, world.labelled.true_class)
    table = table_of(Seen(world.evidence, held, frequency_of(world)), names)
    lesson = lesson_of(world, table, came_true)
    note = ""
    if held.all():
        note = "holds every class: its probability is 1 whatever is predicted"
    elif not held.any():
        note = "holds no class: its probability is 0 whatever is predicted"
    return Asked(event, table, came_true, lesson, note)


def lesson_of(world: World, table: Table, came_true: Booleans) -> Lesson:
    """Return what forecasters see of an event.

    Parameters
    ----------
    world : World
        The calibration set.
    table : Table
        Features.
    came_true : array of bool
        Outcomes.
    """
    by_itself = [name for name in ("event_score", "top_score") if name in table.feature]
    main = table.feature.index(by_itself[0]) if by_itself else 0
    return Lesson(
        table.values, came_true.astype(float), world.labelled.weight, world.cluster, main
    )


def features_used(table: Table) -> tuple[str, ...]:
    """Return the features that a table has columns of.

    Parameters
    ----------
    table : Table
        Features.
    """
    return tuple(dict.fromkeys(table.feature))
