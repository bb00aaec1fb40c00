"""Events learnt, judged and compared: what the page and the tables need."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from credence.calibrators.draws import encode_clusters, keys_of, uniform
from credence.calibrators.protocol import Calibrator
from credence.evaluation.crossfit import cross_fit
from credence.evaluation.judging import Judgement, Said, judge
from credence.evaluation.options import HELD_OUT, EvaluationOptions
from credence.evaluation.reliability import reliability_of
from credence.events import one_vs_all
from credence.events.event import Event, as_question, memberships, outcomes
from credence.events.features import BY_NAME as FEATURES
from credence.events.features import GROUPS, Evidence, Seen, Table, frequencies, table_of
from credence.events.forecasters.protocol import Lesson
from credence.events.forecasters.registry import BY_NAME as FORECASTERS
from credence.events.learning import Learnt, constant_of, learn, with_settings_of
from credence.events.model import CONSTANT, EventModel, FittedEvent, agreeing
from credence.findings.evaluated import Difference, MetricValue
from credence.findings.events import (
    Ablation,
    EventFinding,
    EventsFinding,
    FeatureFinding,
    LearningPoint,
    Pooled,
    TunedFinding,
)
from credence.metrics.binning import WIDTH
from credence.metrics.decomposition import CALIBRATION
from credence.metrics.judged import Judged
from credence.predictions import Booleans, Floats, Integers, Labelled
from credence.splits.folds import fold_of

PUBLISHED = "published"
SHOWN = ("nll", "brier", "calibration", "sharpness", "remainder", "outcome_variance")
COMPARED = ("nll", "brier")
SHARES_LEARNT = (1 / 16, 1 / 8, 1 / 4, 1 / 2, 1.0)  # of the clusters, for learning curves
MOVED = 0.001  # of a probability: less is not called a contradiction


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


def study_events(
    labelled: Labelled,
    evidence: Evidence,
    events: Sequence[Event],
    options: EventOptions,
    calibrators: Mapping[str, Calibrator],
) -> tuple[EventModel, EventsFinding]:
    """Return the forecasts of all events, and how good they are on clusters left out.

    Parameters
    ----------
    labelled : Labelled
        The calibration set.
    evidence : Evidence
        Of the same proteins.
    events : sequence of Event
        At least one.
    options : EventOptions
        How they are learnt and judged.
    calibrators : mapping of str to Calibrator
        The method of the published confidence, by name, without intervals; or none.
    """
    world = _world(labelled, evidence, options, calibrators)
    names = tuple(name for name in FEATURES if name not in options.without)
    asked = [_asked(world, event, names) for event in events]
    learnt = [_learn_all(world, one) for one in asked]
    raw = np.stack([parts[options.forecaster].held_out for parts in learnt])
    predictions = world.labelled.predictions
    published = agreeing(events, predictions, raw, world.confidence)
    rivals = _rivals(world, events)
    found = []
    for number, one in enumerate(asked):
        said = {name: part.held_out for name, part in learnt[number].items()}
        if rivals is not None:
            said[one_vs_all.NAME] = rivals[number]
        found.append(_finding(world, one, learnt[number], said, published[number]))
    model = EventModel(
        predictions.class_names,
        _features_of(asked[0].table),
        _frequency(world),
        evidence.types,
        evidence.admissible,
        options.agrees and bool(calibrators),
        tuple(
            _fitted(one, parts, options.forecaster)
            for one, parts in zip(asked, learnt, strict=True)
        ),
    )
    outcome = np.stack([one.came_true for one in asked]).astype(float)
    return model, EventsFinding(
        forecaster=options.forecaster,
        compared=(*options.every, *((one_vs_all.NAME,) if rivals is not None else ())),
        n_folds=options.n_folds,
        level=options.level,
        agrees=model.agrees,
        method=next(iter(calibrators), ""),
        features=_feature_findings(asked[0].table, options.without),
        events=tuple(found),
        n_moved=int((np.abs(raw - published) > MOVED).sum()),
        brier_before=_mean_square(raw, outcome),
        brier_after=_mean_square(published, outcome),
        pooled=_pooled(published, outcome, world.labelled.weight),
    )


def _world(
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


def _frequency(world: World) -> Floats:
    of = world.labelled
    return frequencies(of.true_class, of.weight, of.predictions.n_classes)


def _asked(world: World, event: Event, names: Sequence[str]) -> Asked:
    held = memberships([event], world.labelled.predictions)[0]
    came_true = outcomes(held, world.labelled.true_class)
    table = table_of(Seen(world.evidence, held, _frequency(world)), names)
    lesson = _lesson(world, table, came_true)
    note = ""
    if held.all():
        note = "holds every class: its probability is 1 whatever is predicted"
    elif not held.any():
        note = "holds no class: its probability is 0 whatever is predicted"
    return Asked(event, table, came_true, lesson, note)


def _lesson(world: World, table: Table, came_true: Booleans) -> Lesson:
    by_itself = [name for name in ("event_score", "top_score") if name in table.feature]
    main = table.feature.index(by_itself[0]) if by_itself else 0
    return Lesson(
        table.values, came_true.astype(float), world.labelled.weight, world.cluster, main
    )


def _learn_all(world: World, asked: Asked) -> dict[str, Learnt]:
    """Return what every forecaster learns of an event."""
    options = world.options
    if asked.note:
        answer = 1.0 if asked.came_true.all() else 0.0
        same = constant_of(asked.lesson)
        nothing = Learnt(same, 0.0, np.full(asked.lesson.n_samples, answer), is_scarce=True)
        return dict.fromkeys(options.every, nothing)
    return {
        name: learn(FORECASTERS[name], asked.lesson, world.fold, options.min_positives)
        for name in options.every
    }


def _rivals(world: World, events: Sequence[Event]) -> Floats | None:
    """Return held-out probabilities of one-vs-all calibration, where rows are vectors."""
    of = world.labelled
    if of.predictions.scores is None:
        return None
    share = one_vs_all.held_out_shares(of.predictions, of.true_class, of.weight, world.fold)
    held = memberships(events, of.predictions)
    return np.asarray(np.where(held, share[None], 0.0).sum(axis=2))


def _fitted(asked: Asked, learnt: Mapping[str, Learnt], forecaster: str) -> FittedEvent:
    part = learnt[forecaster]
    note = asked.note
    if not note and part.is_scarce:
        note = "too few calibration proteins for which it came true, or did not: overall share"
    return FittedEvent(
        asked.event, CONSTANT if part.is_scarce else forecaster, part.forecast, note
    )


def _finding(
    world: World,
    asked: Asked,
    learnt: Mapping[str, Learnt],
    said: Mapping[str, Floats],
    published: Floats,
) -> EventFinding:
    options, of = world.options, world.labelled
    question = as_question(of, asked.came_true)
    entries = {(PUBLISHED, HELD_OUT): Said(published)}
    entries |= {(name, HELD_OUT): Said(values) for name, values in said.items()}
    judgement = judge(question, entries, PUBLISHED, options.judging)
    is_learnt = not asked.note and not learnt[options.forecaster].is_scarce
    return EventFinding(
        name=asked.event.name,
        words=asked.event.words,
        n=of.n_samples,
        n_clusters=len(world.key),
        n_true=int(asked.came_true.sum()),
        share=float(np.average(asked.came_true, weights=of.weight)),
        note=_fitted(asked, learnt, options.forecaster).note,
        metrics=_metrics(judgement, SHOWN),
        differences=tuple(_differences(judgement, COMPARED)),
        reliability=reliability_of(
            question, None, {(PUBLISHED, HELD_OUT): Said(published)}, options.judging
        ),
        tuned=tuple(
            TunedFinding(name, FORECASTERS[name].tuned, part.value)
            for name, part in learnt.items()
            if FORECASTERS[name].tuned and not part.is_scarce
        ),
        ablations=_ablations(world, asked, question, learnt) if is_learnt else (),
        learning=_learning(world, asked, question, learnt[options.forecaster])
        if is_learnt
        else (),
    )


def _metrics(judgement: Judgement, names: Sequence[str]) -> tuple[MetricValue, ...]:
    return tuple(
        entry
        for entry in judgement.metrics
        if entry.class_name is None and entry.metric in names
    )


def _differences(judgement: Judgement, names: Sequence[str]) -> list[Difference]:
    return [
        entry
        for entry in judgement.differences
        if entry.class_name is None and entry.metric in names
    ]


def _ablations(
    world: World, asked: Asked, question: Labelled, learnt: Mapping[str, Learnt]
) -> tuple[Ablation, ...]:
    """Return what is lost without each group of features, settings as tuned with all."""
    options = world.options
    used = _features_of(asked.table)
    groups = [group for group in GROUPS if any(FEATURES[name].group == group for name in used)]
    forecaster = FORECASTERS[options.forecaster]
    if len(groups) == 1:
        return ()
    entries = {("all", HELD_OUT): Said(learnt[options.forecaster].held_out)}
    for group in groups:
        kept = [name for name in used if FEATURES[name].group != group]
        lesson = _lesson(world, asked.table.only(kept), asked.came_true)
        without = with_settings_of(
            learnt[options.forecaster], forecaster, lesson, world.fold, options.min_positives
        )
        entries[group, HELD_OUT] = Said(without)
    judgement = judge(question, entries, "all", options.judging)
    found = {(one.method, one.metric): one for one in _differences(judgement, COMPARED)}
    return tuple(
        Ablation(
            group,
            tuple(name for name in used if FEATURES[name].group == group),
            found[group, "nll"],
            found[group, "brier"],
        )
        for group in groups
    )


def _learning(
    world: World, asked: Asked, question: Labelled, everything: Learnt
) -> tuple[LearningPoint, ...]:
    """Return how good forecasts are that learn from part of the clusters, tuned anew."""
    options = world.options
    rank = np.argsort(np.argsort(uniform(world.key, 0, "learning curve")))
    place = (rank[world.cluster] + 1) / len(world.key)
    entries, learnt_from = {}, []
    for share in SHARES_LEARNT:
        kept = place <= share
        part = everything
        if not kept.all():
            forecaster = FORECASTERS[options.forecaster]
            part = learn(forecaster, asked.lesson, world.fold, options.min_positives, kept)
        entries[f"{share:g}", HELD_OUT] = Said(part.held_out)
        numbers = np.unique(world.fold)
        outside = [int((kept & (world.fold != number)).sum()) for number in numbers]
        learnt_from.append(round(float(np.mean(outside))))
    judgement = judge(question, entries, f"{SHARES_LEARNT[-1]:g}", options.judging)
    rows = _metrics(judgement, SHOWN[:4])
    return tuple(
        LearningPoint(share, n, tuple(row for row in rows if row.method == f"{share:g}"))
        for share, n in zip(SHARES_LEARNT, learnt_from, strict=True)
    )


def _features_of(table: Table) -> tuple[str, ...]:
    return tuple(dict.fromkeys(table.feature))


def _feature_findings(table: Table, without: Sequence[str]) -> tuple[FeatureFinding, ...]:
    return tuple(
        FeatureFinding(
            entry.name,
            entry.group,
            entry.summary,
            "left out by the settings"
            if entry.name in without
            else (f"needs {entry.needs}" if entry.name in table.missing else ""),
        )
        for entry in FEATURES.values()
    )


def _mean_square(said: Floats, outcome: Floats) -> float:
    return float(np.nanmean((said - outcome) ** 2)) if (~np.isnan(said)).any() else float("nan")


def _pooled(said: Floats, outcome: Floats, weight: Floats) -> Pooled | None:
    """Return the calibration error of all events in the same bins, and in bins of their own."""
    if len(said) == 1:
        return None

    def error(rows: Floats, came_true: Floats, mass: Floats) -> float:
        known = ~np.isnan(rows)
        return CALIBRATION.compute(Judged(rows[known], came_true[known] > 0, mass[known]))

    every = np.tile(weight, len(said))
    apart = [error(one, came_true, weight) for one, came_true in zip(said, outcome, strict=True)]
    pooled = error(said.ravel(), outcome.ravel(), every)
    return Pooled(pooled, float(np.nanmean(apart)), int((~np.isnan(said)).sum()))
