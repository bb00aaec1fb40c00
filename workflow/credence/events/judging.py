"""Events learnt, judged and compared: what the page and the tables need."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from credence.calibrators.draws import uniform
from credence.calibrators.protocol import Calibrator
from credence.evaluation.judging import Judgement, Said, judge
from credence.evaluation.options import HELD_OUT
from credence.evaluation.reliability import reliability_of
from credence.events import one_vs_all
from credence.events.event import Event, as_question, memberships
from credence.events.features.protocol import Evidence
from credence.events.features.registry import BY_NAME as FEATURES
from credence.events.features.registry import GROUPS, Table
from credence.events.forecasters.registry import BY_NAME as FORECASTERS
from credence.events.learning import Learnt, constant_of, learn, with_settings_of
from credence.events.mixture import mixture_of
from credence.events.model import CONSTANT, EventModel, FittedEvent, agreeing
from credence.events.world import (
    Asked,
    EventOptions,
    World,
    ask,
    features_used,
    frequency_of,
    lesson_of,
    world_of,
)
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
from credence.metrics.decomposition import CALIBRATION
from credence.metrics.judged import Judged
from credence.metrics.nll import negative_log_likelihood
from credence.predictions import Floats, Labelled

PUBLISHED = "published"
SHOWN = ("nll", "brier", "calibration", "sharpness", "remainder", "outcome_variance")
COMPARED = ("nll", "brier")
SHARES_LEARNT = (1 / 16, 1 / 8, 1 / 4, 1 / 2, 1.0)  # of the clusters, for learning curves
MOVED = 0.001  # of a probability: less is not called a contradiction


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
    world = world_of(labelled, evidence, options, calibrators)
    names = tuple(name for name in FEATURES if name not in options.without)
    asked = [ask(world, event, names) for event in events]
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
        features_used(asked[0].table),
        frequency_of(world),
        evidence.types,
        evidence.admissible,
        options.agrees and bool(calibrators),
        tuple(
            _fitted(one, parts, options.forecaster)
            for one, parts in zip(asked, learnt, strict=True)
        ),
        mixture_of(world.labelled),
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
        nll_before=_mean_loss(raw, outcome),
        nll_after=_mean_loss(published, outcome),
        pooled=pooled_error(published, outcome, world.labelled.weight),
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
        entry for entry in judgement.metrics if entry.class_name is None and entry.metric in names
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
    used = features_used(asked.table)
    groups = [group for group in GROUPS if any(FEATURES[name].group == group for name in used)]
    forecaster = FORECASTERS[options.forecaster]
    if len(groups) == 1:
        return ()
    entries = {("all", HELD_OUT): Said(learnt[options.forecaster].held_out)}
    for group in groups:
        kept = [name for name in used if FEATURES[name].group != group]
        lesson = lesson_of(world, asked.table.only(kept), asked.came_true)
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


def _mean_loss(said: Floats, outcome: Floats) -> float:
    known = ~np.isnan(said)
    if not known.any():
        return float("nan")
    return float(negative_log_likelihood(said[known], outcome[known] > 0).mean())


def pooled_error(said: Floats, outcome: Floats, weight: Floats) -> Pooled | None:
    """Return the calibration error of all events in the same bins, and in bins of their own.

    Parameters
    ----------
    said, outcome : array of float, shape (n_events, n_samples)
        Probabilities, NaN where there is none, and what came true.
    weight : array of float, shape (n_samples,)
        Of the proteins.
    """
    if len(said) == 1:
        return None

    def error(rows: Floats, came_true: Floats, mass: Floats) -> float:
        known = ~np.isnan(rows)
        return CALIBRATION.compute(Judged(rows[known], came_true[known] > 0, mass[known]))

    every = np.tile(weight, len(said))
    apart = [error(one, came_true, weight) for one, came_true in zip(said, outcome, strict=True)]
    pooled = error(said.ravel(), outcome.ravel(), every)
    return Pooled(pooled, float(np.nanmean(apart)), int((~np.isnan(said)).sum()))
