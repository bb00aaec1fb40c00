"""Events learnt, judged and compared: what the page and the tables need."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from credence.calibrators.isotonic import Polyline
from credence.calibrators.protocol import Calibrator
from credence.draws import uniform
from credence.evaluation.curves import reliability_of
from credence.evaluation.judging import HELD_OUT, Judgement, Stated, judge
from credence.events.event import Event, as_question, memberships
from credence.events.features import BY_NAME as FEATURES
from credence.events.features import GROUPS, EventEvidence, FeatureTable
from credence.events.forecasters import BY_NAME as FORECASTERS
from credence.events.forecasters import never_falling
from credence.events.learning import (
    Asked,
    EventData,
    EventOptions,
    Learnt,
    ask,
    constant_of,
    event_data,
    examples_of,
    features_used,
    frequency_of,
    learn,
    with_settings_of,
)
from credence.events.model import CONSTANT, EventModel, FittedEvent, agreeing, mixture_of
from credence.events.rules import row_shares
from credence.findings import (
    Ablation,
    Difference,
    EventFinding,
    EventsFinding,
    FeatureFinding,
    LearningPoint,
    MetricValue,
    Pooled,
    TunedFinding,
)
from credence.metrics.binned import CALIBRATION
from credence.metrics.metric import Judged
from credence.metrics.pointwise import negative_log_likelihood
from credence.predictions import Floats, Integers, Labelled, Predictions

NAME = "one_vs_all"


@dataclass(frozen=True, eq=False)
class OneVsAll:
    """A curve for every class over its share of the scores.

    References
    ----------
    Zadrozny & Elkan 2002, doi 10.1145/775047.775151.
    """

    curves: tuple[Polyline, ...]  # In the classifier's order

    def shares(self, predictions: Predictions) -> Floats:
        """Return a distribution over the classes, shape (n_samples, n_classes)."""
        share = row_shares(predictions)
        found = np.column_stack(
            [curve.value(share[:, class_]) for class_, curve in enumerate(self.curves)]
        )
        return np.asarray(found / found.sum(axis=1, keepdims=True))


def fit_one_vs_all(predictions: Predictions, true_class: Integers, weight: Floats) -> OneVsAll:
    """Return the curves of all classes."""
    share = row_shares(predictions)
    return OneVsAll(
        tuple(
            never_falling(share[:, class_], np.equal(true_class, class_).astype(float), weight)
            for class_ in range(predictions.n_classes)
        )
    )


def held_out_shares(
    predictions: Predictions, true_class: Integers, weight: Floats, fold: Integers
) -> Floats:
    """Return each protein's distribution from curves that did not see its fold."""
    found = np.full((predictions.n_samples, predictions.n_classes), np.nan)
    for number in np.unique(fold):
        judged = np.equal(fold, number)
        if judged.all():
            continue
        seen = ~judged
        fitted = fit_one_vs_all(predictions.take(seen), true_class[seen], weight[seen])
        found[judged] = fitted.shares(predictions.take(judged))
    return found


PUBLISHED = "published"
SHOWN = ("nll", "brier", "calibration", "sharpness", "remainder", "outcome_variance")
COMPARED = ("nll", "brier")
SHARES_LEARNT = (1 / 16, 1 / 8, 1 / 4, 1 / 2, 1.0)  # of the clusters, for learning curves
MOVED = 0.001  # of a probability: less is not called a contradiction


def study_events(
    labelled: Labelled,
    evidence: EventEvidence,
    events: Sequence[Event],
    options: EventOptions,
    calibrators: Mapping[str, Calibrator],
) -> tuple[EventModel, EventsFinding]:
    """Return the forecasts of all events, and how good they are on clusters left out."""
    data = event_data(labelled, evidence, options, calibrators)
    names = tuple(name for name in FEATURES if name not in options.without)
    asked = [ask(data, event, names) for event in events]
    learnt = [_learn_all(data, one) for one in asked]
    raw = np.stack([parts[options.forecaster].held_out for parts in learnt])
    predictions = data.labelled.predictions
    published = agreeing(events, predictions, raw, data.confidence)
    rivals = _rivals(data, events)
    found = []
    for number, one in enumerate(asked):
        stated = {name: part.held_out for name, part in learnt[number].items()}
        if rivals is not None:
            stated[NAME] = rivals[number]
        found.append(_finding(data, one, learnt[number], stated, published[number]))
    model = EventModel(
        predictions.class_names,
        features_used(asked[0].table),
        frequency_of(data),
        evidence.types,
        evidence.admissible,
        options.agrees and bool(calibrators),
        tuple(
            _fitted(one, parts, options.forecaster)
            for one, parts in zip(asked, learnt, strict=True)
        ),
        mixture_of(data.labelled),
    )
    outcome = np.stack([one.came_true for one in asked]).astype(float)
    return model, EventsFinding(
        forecaster=options.forecaster,
        compared=(*options.every, *((NAME,) if rivals is not None else ())),
        n_folds=options.n_folds,
        level=options.level,
        agrees=model.agrees,
        method=next(iter(calibrators), ""),
        features=_feature_findings(asked[0].table, options.without),
        events=tuple(found),
        n_moved=int((np.abs(raw - published) > MOVED).sum()),
        nll_before=_mean_loss(raw, outcome),
        nll_after=_mean_loss(published, outcome),
        pooled=pooled_error(published, outcome, data.labelled.weight),
    )


def _learn_all(data: EventData, asked: Asked) -> dict[str, Learnt]:
    """Return what every forecaster learns of an event."""
    options = data.options
    if asked.note:
        answer = 1.0 if asked.came_true.all() else 0.0
        same = constant_of(asked.examples)
        nothing = Learnt(same, 0.0, np.full(asked.examples.n_samples, answer), is_scarce=True)
        return dict.fromkeys(options.every, nothing)
    return {
        name: learn(FORECASTERS[name], asked.examples, data.fold, options.min_positives)
        for name in options.every
    }


def _rivals(data: EventData, events: Sequence[Event]) -> Floats | None:
    """Return held-out probabilities of one-vs-all calibration, where rows are vectors."""
    of = data.labelled
    if of.predictions.scores is None:
        return None
    share = held_out_shares(of.predictions, of.true_class, of.weight, data.fold)
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
    data: EventData,
    asked: Asked,
    learnt: Mapping[str, Learnt],
    stated: Mapping[str, Floats],
    published: Floats,
) -> EventFinding:
    options, of = data.options, data.labelled
    question = as_question(of, asked.came_true)
    entries = {(PUBLISHED, HELD_OUT): Stated(published)}
    entries |= {(name, HELD_OUT): Stated(values) for name, values in stated.items()}
    judgement = judge(question, entries, PUBLISHED, options.judging)
    is_learnt = not asked.note and not learnt[options.forecaster].is_scarce
    return EventFinding(
        name=asked.event.name,
        words=asked.event.words,
        n=of.n_samples,
        n_clusters=len(data.key),
        n_true=int(asked.came_true.sum()),
        share=float(np.average(asked.came_true, weights=of.weight)),
        note=_fitted(asked, learnt, options.forecaster).note,
        metrics=_metrics(judgement, SHOWN),
        differences=tuple(_differences(judgement, COMPARED)),
        reliability=reliability_of(
            question, None, {(PUBLISHED, HELD_OUT): Stated(published)}, options.judging
        ),
        tuned=tuple(
            TunedFinding(name, FORECASTERS[name].tuned, part.value)
            for name, part in learnt.items()
            if FORECASTERS[name].tuned and not part.is_scarce
        ),
        ablations=_ablations(data, asked, question, learnt) if is_learnt else (),
        learning=_learning(data, asked, question, learnt[options.forecaster]) if is_learnt else (),
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
    data: EventData, asked: Asked, question: Labelled, learnt: Mapping[str, Learnt]
) -> tuple[Ablation, ...]:
    """Return what is lost without each group of features, settings as tuned with all."""
    options = data.options
    used = features_used(asked.table)
    groups = [group for group in GROUPS if any(FEATURES[name].group == group for name in used)]
    forecaster = FORECASTERS[options.forecaster]
    if len(groups) == 1:
        return ()
    entries = {("all", HELD_OUT): Stated(learnt[options.forecaster].held_out)}
    for group in groups:
        kept = [name for name in used if FEATURES[name].group != group]
        examples = examples_of(data, asked.table.only(kept), asked.came_true)
        without = with_settings_of(
            learnt[options.forecaster], forecaster, examples, data.fold, options.min_positives
        )
        entries[group, HELD_OUT] = Stated(without)
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
    data: EventData, asked: Asked, question: Labelled, everything: Learnt
) -> tuple[LearningPoint, ...]:
    """Return how good forecasts are that learn from part of the clusters, tuned again."""
    options = data.options
    rank = np.argsort(np.argsort(uniform(data.key, 0, "learning curve")))
    place = (rank[data.cluster] + 1) / len(data.key)
    entries, learnt_from = {}, []
    for share in SHARES_LEARNT:
        kept = place <= share
        part = everything
        if not kept.all():
            forecaster = FORECASTERS[options.forecaster]
            part = learn(forecaster, asked.examples, data.fold, options.min_positives, kept)
        entries[f"{share:g}", HELD_OUT] = Stated(part.held_out)
        numbers = np.unique(data.fold)
        outside = [int((kept & (data.fold != number)).sum()) for number in numbers]
        learnt_from.append(round(float(np.mean(outside))))
    judgement = judge(question, entries, f"{SHARES_LEARNT[-1]:g}", options.judging)
    rows = _metrics(judgement, SHOWN[:4])
    return tuple(
        LearningPoint(share, n, tuple(row for row in rows if row.method == f"{share:g}"))
        for share, n in zip(SHARES_LEARNT, learnt_from, strict=True)
    )


def _feature_findings(table: FeatureTable, without: Sequence[str]) -> tuple[FeatureFinding, ...]:
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


def _mean_loss(stated: Floats, outcome: Floats) -> float:
    known = ~np.isnan(stated)
    if not known.any():
        return float("nan")
    return float(negative_log_likelihood(stated[known], outcome[known] > 0).mean())


def pooled_error(stated: Floats, outcome: Floats, weight: Floats) -> Pooled | None:
    """Return the calibration error of all events in the same bins, and in bins of their own."""
    if len(stated) == 1:
        return None

    def error(rows: Floats, came_true: Floats, mass: Floats) -> float:
        known = ~np.isnan(rows)
        return CALIBRATION.compute(Judged(rows[known], came_true[known] > 0, mass[known]))

    every = np.tile(weight, len(stated))
    apart = [error(one, came_true, weight) for one, came_true in zip(stated, outcome, strict=True)]
    pooled = error(stated.ravel(), outcome.ravel(), every)
    return Pooled(pooled, float(np.nanmean(apart)), int((~np.isnan(stated)).sum()))
