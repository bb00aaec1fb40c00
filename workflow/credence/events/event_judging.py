"""Events learnt, judged and compared: what the page and the tables need."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

import numpy as np
from scipy.optimize import isotonic_regression

from credence import findings
from credence.calibrators.crossfit import folds_by_class, left_out
from credence.calibrators.protocol import Calibrator
from credence.draws import encode_clusters, keys_of, uniform
from credence.evaluation.curves import reliability_of
from credence.evaluation.evaluate import cross_fit
from credence.evaluation.judging import HELD_OUT_SAMPLE, EvaluationOptions, Stated, judge
from credence.events.event import Event, as_question, membership, memberships, outcomes
from credence.events.features import (
    FEATURE_OF,
    EventEvidence,
    FeatureTable,
    OneEvent,
    row_shares,
    table_of,
)
from credence.events.forecasters import FORECASTER_OF, ConstantForecast, Examples, share_with_prior
from credence.events.learning import Learnt, learn_event
from credence.events.model import CONSTANT, EventModel, FittedEvent, agreeing, mixture_of
from credence.metrics.binned import CALIBRATION_PART, WIDTH
from credence.metrics.metric import Judged, negative_log_likelihood, sum_by
from credence.predictions import Booleans, Floats, Integers, Labelled

Calibrators = Mapping[str, Calibrator]


@dataclass(frozen=True, kw_only=True)
class EventOptions:
    """How events are learnt and judged."""

    forecaster: str = "logistic"  # Whose probabilities are published
    compare: tuple[str, ...] = ("knn", "tree")  # Others that are judged beside it
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
            n_folds=self.n_folds,
            level=self.level,
            n_draws=self.n_draws,
            n_floor=0,
            n_signs=0,
            families=(WIDTH.name,),
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class Asked:
    """One event on the calibration set."""

    event: Event
    table: FeatureTable  # Features
    came_true: Booleans  # Outcomes
    examples: Examples  # The same, as forecasters see it
    note: str  # Why nothing is to be learnt; empty where it is


@dataclass(frozen=True, kw_only=True, eq=False)
class EventData:
    """The calibration set, in an order that no table's order reaches."""

    labelled: Labelled  # The proteins
    evidence: EventEvidence  # What is known of them
    fold: Integers  # Of whole clusters
    cluster: Integers  # Their codes, by keys
    key: np.ndarray[tuple[int], np.dtype[np.uint64]] = field(repr=False)  # A key for each code
    options: EventOptions  # How events are learnt and judged
    confidence: Floats | None  # Held-out confidences of the predicted class

    @property
    def frequency(self) -> Floats:
        """Weighted share of each class."""
        labelled = self.labelled
        mass = np.bincount(
            labelled.true_class, labelled.weight, minlength=labelled.predictions.n_classes
        )
        return np.asarray(mass / mass.sum())


def event_data(
    labelled: Labelled,
    evidence: EventEvidence,
    options: EventOptions,
    calibrators: Calibrators,
    confidence: Floats | None = None,
) -> EventData:
    """Return the set ordered by the keys of ids: ties among neighbours are settled so.

    `confidence` is the calibrator's for held-out proteins; it is found here unless given.
    """
    ids = labelled.predictions.ids.astype(str)
    order = np.lexsort((ids, keys_of(ids.astype(object))))
    labelled = labelled.take(order)
    distance = None if evidence.distance is None else evidence.distance[order]
    ordered = replace(evidence, predictions=labelled.predictions, distance=distance)
    fold = folds_by_class(labelled, options.n_folds)
    cluster, key = encode_clusters(labelled.cluster)
    if confidence is not None:
        confidence = confidence[order]
    elif options.agrees and calibrators:
        held_out, _ = cross_fit(labelled, calibrators, fold)
        confidence = next(iter(held_out.values()))
    return EventData(
        labelled=labelled,
        evidence=ordered,
        fold=fold,
        cluster=cluster,
        key=key,
        options=options,
        confidence=confidence,
    )


def ask(data: EventData, event: Event) -> Asked:
    """Return an event with its features and outcomes."""
    held = membership(event, data.labelled.predictions)
    came_true = outcomes(held, data.labelled.true_class)
    table = table_of(
        OneEvent(evidence=data.evidence, held=held, frequency=data.frequency), list(FEATURE_OF)
    )
    note = ""
    if held.all():
        note = "holds every class: its probability is 1 whatever is predicted"
    outcome = came_true.astype(float)
    examples = Examples(
        features=table.values, outcome=outcome, weight=data.labelled.weight, cluster=data.cluster
    )
    return Asked(event=event, table=table, came_true=came_true, examples=examples, note=note)


NAME = "one_vs_all"


def never_falling(asked: Floats, value: Floats, outcome: Floats, weight: Floats) -> Floats:
    """Return the likeliest never-falling curve, the share of a block (Σwt + ½)/(Σw + 1)."""
    knots, code = np.unique(value, return_inverse=True)
    total = sum_by(code, weight, len(knots))
    right = sum_by(code, weight * outcome, len(knots))
    first = isotonic_regression(right / total, weights=total)
    n_blocks = len(first.blocks) - 1
    block = np.repeat(np.arange(n_blocks), np.diff(first.blocks))
    mass = sum_by(block, total, n_blocks)
    share = share_with_prior(sum_by(block, right, n_blocks), mass)
    fitted = isotonic_regression(share, weights=mass).x[block]
    return np.asarray(np.interp(asked, knots, fitted))


def one_vs_all(labelled: Labelled, fold: Integers) -> Floats:
    """Return each protein's distribution, held out: a curve for each class (Zadrozny & Elkan)."""
    share = row_shares(labelled.predictions)
    shares = np.full_like(share, np.nan)
    for judged in left_out(fold):
        for class_ in range(labelled.predictions.n_classes):
            is_class = np.equal(labelled.true_class, class_).astype(float)
            shares[judged, class_] = never_falling(
                share[judged, class_],
                share[~judged, class_],
                is_class[~judged],
                labelled.weight[~judged],
            )
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))


AS_PUBLISHED = "published"
METRICS_OF_EVENT = ("nll", "brier", "calibration", "sharpness", "remainder", "outcome_variance")
COMPARED = ("nll", "brier")
SHARES_LEARNT = (1 / 16, 1 / 8, 1 / 4, 1 / 2, 1.0)  # of the clusters, for learning curves
LEAST_CONTRADICTION = 0.001  # of a probability: less is not called a contradiction


def study_events(
    labelled: Labelled,
    evidence: EventEvidence,
    events: Sequence[Event],
    options: EventOptions,
    calibrators: Calibrators,
    confidence: Floats | None = None,
) -> tuple[EventModel, findings.EventsFinding]:
    """Return the forecasts of all events, and how good they are on clusters left out."""
    data = event_data(labelled, evidence, options, calibrators, confidence)
    asked = [ask(data, event) for event in events]
    learnt = [_learn_all(data, entry) for entry in asked]
    raw = np.stack([parts[options.forecaster].held_out for parts in learnt])
    predictions = data.labelled.predictions
    published = agreeing(events, predictions, raw, data.confidence)
    # Held-out probabilities of one-vs-all calibration, where rows are vectors.
    rivals: Floats | None = None
    if predictions.scores is not None:
        share = one_vs_all(data.labelled, data.fold)
        rivals = np.where(memberships(events, predictions), share, 0.0).sum(axis=2)
    judged = []
    for number, entry in enumerate(asked):
        stated = {name: part.held_out for name, part in learnt[number].items()}
        if rivals is not None:
            stated[NAME] = rivals[number]
        judged.append(_finding(data, entry, learnt[number], stated, published[number]))
    pairs = zip(asked, learnt, strict=True)
    fitted = tuple(_fitted(entry, parts, options.forecaster) for entry, parts in pairs)
    agrees = options.agrees and bool(calibrators)
    model = EventModel(
        class_names=predictions.class_names,
        features=asked[0].table.used,
        frequency=data.frequency,
        types=evidence.types,
        agrees=agrees,
        events=fitted,
        mixture=mixture_of(data.labelled),
    )
    outcome = np.stack([entry.came_true for entry in asked]).astype(float)
    features = []
    for feature in FEATURE_OF.values():
        why = f"needs {feature.needs}" if feature.name in asked[0].table.missing else ""
        features.append(
            findings.FeatureFinding(
                name=feature.name, group=feature.group, summary=feature.summary, missing=why
            )
        )
    return model, findings.EventsFinding(
        forecaster=options.forecaster,
        compared=(*options.every, *((NAME,) if rivals is not None else ())),
        n_folds=options.n_folds,
        level=options.level,
        agrees=model.agrees,
        method=next(iter(calibrators), ""),
        features=tuple(features),
        events=tuple(judged),
        n_moved=int((np.abs(raw - published) > LEAST_CONTRADICTION).sum()),
        nll_before=_mean_loss(raw, outcome),
        nll_after=_mean_loss(published, outcome),
        pooled=pooled_error(published, outcome, data.labelled.weight),
        reference=FORECASTER_OF[options.forecaster].reference,
    )


def _learn_all(data: EventData, asked: Asked) -> dict[str, Learnt]:
    options = data.options
    if asked.note:
        same = ConstantForecast(value=asked.examples.share)
        nothing = Learnt(
            forecast=same, value=0.0, held_out=np.ones(asked.examples.n_samples), is_scarce=True
        )
        return dict.fromkeys(options.every, nothing)
    how = (asked.examples, data.fold, options.min_positives)
    return {name: learn_event(FORECASTER_OF[name], *how) for name in options.every}


def _fitted(asked: Asked, learnt: Mapping[str, Learnt], forecaster: str) -> FittedEvent:
    part, note, kind = learnt[forecaster], asked.note, forecaster
    if part.is_scarce:
        few = "too few calibration proteins for which it came true, or did not: overall share"
        note, kind = note or few, CONSTANT
    return FittedEvent(event=asked.event, forecaster=kind, forecast=part.forecast, note=note)


def _finding(
    data: EventData,
    asked: Asked,
    learnt: Mapping[str, Learnt],
    stated: Mapping[str, Floats],
    published: Floats,
) -> findings.EventFinding:
    options, labelled = data.options, data.labelled
    question = as_question(labelled, asked.came_true)
    shown = {(AS_PUBLISHED, HELD_OUT_SAMPLE): Stated(confidence=published)}
    entries = {
        (name, HELD_OUT_SAMPLE): Stated(confidence=values) for name, values in stated.items()
    }
    judgement = judge(question, shown | entries, AS_PUBLISHED, options.judging)
    is_learnt = not asked.note and not learnt[options.forecaster].is_scarce
    return findings.EventFinding(
        name=asked.event.name,
        words=asked.event.words,
        n=labelled.n_samples,
        n_clusters=len(data.key),
        n_true=int(asked.came_true.sum()),
        share=float(np.average(asked.came_true, weights=labelled.weight)),
        note=_fitted(asked, learnt, options.forecaster).note,
        metrics=_over_all(judgement.metrics, METRICS_OF_EVENT),
        differences=_over_all(judgement.differences, COMPARED),
        reliability=reliability_of(question, None, shown, options.judging),
        tuned=tuple(
            findings.TunedFinding(
                forecaster=name, setting=FORECASTER_OF[name].tuned, value=part.value
            )
            for name, part in learnt.items()
            if FORECASTER_OF[name].tuned and not part.is_scarce
        ),
        learning=_learning(data, asked, question, learnt[options.forecaster]) if is_learnt else (),
    )


Entry = TypeVar("Entry", findings.MetricValue, findings.Difference)


def _over_all(entries: Sequence[Entry], names: Sequence[str]) -> tuple[Entry, ...]:
    return tuple(entry for entry in entries if entry.class_name is None and entry.metric in names)


def _learning(
    data: EventData, asked: Asked, question: Labelled, everything: Learnt
) -> tuple[findings.LearningPoint, ...]:
    """Return how good forecasts are that learn from part of the clusters, tuned again."""
    options = data.options
    rank = np.argsort(np.argsort(uniform(data.key, 0, "learning curve")))
    place = (rank[data.cluster] + 1) / len(data.key)
    entries, learnt_from = {}, []
    for share in SHARES_LEARNT:
        kept = place <= share
        part = everything
        if not kept.all():
            forecaster = FORECASTER_OF[options.forecaster]
            part = learn_event(forecaster, asked.examples, data.fold, options.min_positives, kept)
        entries[f"{share:g}", HELD_OUT_SAMPLE] = Stated(confidence=part.held_out)
        numbers = np.unique(data.fold)
        outside = [int((kept & (data.fold != number)).sum()) for number in numbers]
        learnt_from.append(round(float(np.mean(outside))))
    judgement = judge(question, entries, f"{SHARES_LEARNT[-1]:g}", options.judging)
    rows = _over_all(judgement.metrics, METRICS_OF_EVENT[:4])
    return tuple(
        findings.LearningPoint(
            share=share,
            n_learnt=n,
            metrics=tuple(row for row in rows if row.method == f"{share:g}"),
        )
        for share, n in zip(SHARES_LEARNT, learnt_from, strict=True)
    )


def _mean_loss(stated: Floats, outcome: Floats) -> float:
    known = ~np.isnan(stated)
    losses = negative_log_likelihood(stated[known], outcome[known] > 0)
    return float(losses.mean()) if len(losses) else float("nan")


def pooled_error(stated: Floats, outcome: Floats, weight: Floats) -> findings.Pooled | None:
    """Return the calibration error of all events in the same bins, and in bins of their own."""
    if len(stated) == 1:
        return None

    def error(rows: Floats, came_true: Floats, mass: Floats) -> float:
        known = ~np.isnan(rows)
        return CALIBRATION_PART.compute(
            Judged(confidence=rows[known], is_correct=came_true[known] > 0, weight=mass[known])
        )

    every = np.tile(weight, len(stated))
    apart = [error(row, came_true, weight) for row, came_true in zip(stated, outcome, strict=True)]
    pooled = error(stated.ravel(), outcome.ravel(), every)
    return findings.Pooled(
        pooled=pooled, apart=float(np.nanmean(apart)), n=int((~np.isnan(stated)).sum())
    )
