"""Forecasts of all events asked for, as one thing that answers and can be written."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from credence.calibrators.score_logs import log_scores
from credence.composition.probabilities import BiasCorrected, fit_bias_corrected
from credence.events.coherence import coherent
from credence.events.event import Event, memberships
from credence.events.features import FEATURE_OF, EventEvidence, OneEvent, table_of
from credence.events.forecasters import FORECASTER_OF, ConstantForecast, Forecast
from credence.metrics.metric import divide
from credence.predictions import Booleans, Floats, Labelled, Predictions
from credence.problems import refuse
from credence.records import Stored

PRIOR_MASS = 1.0  # proteins of the overall mix, added to those of each predicted class


@dataclass(frozen=True, kw_only=True, eq=False)
class Mixture:
    """How probable each class is, roughly: it only divides the probability of an event."""

    confused: Floats  # By predicted class the shares of the true ones
    # What finds it from all scores, where the calibration set has them.
    by_scores: BiasCorrected | None = None

    def shares(self, predictions: Predictions, confidence: Floats | None) -> Floats:
        """Return a distribution over the classes, shape (n_samples, n_classes)."""
        if self.by_scores is not None and predictions.has_vectors:
            return self.by_scores.probabilities(predictions)
        rows, best = np.arange(predictions.n_samples), predictions.predicted_class
        share = self.confused[best].copy()
        if confidence is None:
            return share
        published = np.where(np.isnan(confidence), share[rows, best], confidence)
        share[rows, best] = 0.0
        rest = share.sum(axis=1)
        share *= divide(1.0 - published, rest, 0.0)[:, None]
        share[rows, best] = published
        return share


def mixture_of(labelled: Labelled) -> Mixture:
    """Return how true classes are mixed, by prediction and by scores."""
    predictions, weight = labelled.predictions, labelled.weight
    n_classes = predictions.n_classes
    place = predictions.predicted_class * n_classes + labelled.true_class
    mass = np.bincount(place, weights=weight, minlength=n_classes**2)
    mass = mass.reshape(n_classes, n_classes)
    mass = mass + PRIOR_MASS * mass.sum(axis=0) / mass.sum()
    confused = np.asarray(mass / mass.sum(axis=1, keepdims=True))
    if predictions.scores is None or not predictions.is_distribution:
        return Mixture(confused=confused)
    logs = log_scores(predictions.scores, predictions.resolution)
    return Mixture(
        confused=confused,
        by_scores=fit_bias_corrected(logs, labelled.true_class, weight, n_classes),
    )


def for_another_mix(held: Booleans, stated: Floats, share: Floats, weight: Floats) -> Floats:
    """Return the probabilities of events if classes were w times as frequent (decision 0036).

    P′(E | x) = aP/(aP + b(1 − P)), a the mean of w over the classes of E, b over the others.
    """
    if (weight == weight[0]).all():
        return stated
    gain = _mean_weight(held, share, weight)
    loss = _mean_weight(~held, share, weight)
    above = stated * gain
    return divide(above, above + (1.0 - stated) * loss)


def _mean_weight(held: Booleans, share: Floats, weight: Floats) -> Floats:
    """Return the mean w over the classes held, by their shares; 1 over none."""
    mass, moved = np.zeros(held.shape[:2]), np.zeros(held.shape[:2])
    # Class by class, so that no sum depends on how many rows there are.
    for class_ in range(held.shape[2]):
        part = np.where(held[:, :, class_], share[:, class_], 0.0)
        mass += part
        moved += part * weight[class_]
    return divide(moved, mass, 1.0)


CONSTANT = "constant"
# Of the forecasts in a record.
KINDS_OF_FORECAST: dict[Any, Any] = {
    Forecast: {
        CONSTANT: ConstantForecast,
        **{name: forecaster.kind for name, forecaster in FORECASTER_OF.items()},
    }
}


@dataclass(frozen=True, kw_only=True, eq=False)
class FittedEvent:
    """One event and its forecast."""

    event: Event  # What is asked
    forecaster: str  # Name in the registry, or `CONSTANT`
    forecast: Annotated[Forecast, Stored(tag="forecaster")]  # What it learnt
    note: str = ""  # Why this is no forecast; empty where it is


@dataclass(frozen=True, kw_only=True, eq=False)
class Mix:
    """The mix of classes of a query set, and the confidences corrected for it."""

    weight: Floats  # How many times as frequent each class is as in the calibration set
    confidence: Floats  # Of the predicted class, corrected; NaN where there is none


@dataclass(frozen=True, kw_only=True, eq=False)
class EventModel:
    """All events of a run."""

    class_names: tuple[str, ...]  # Classes in order
    features: tuple[str, ...]  # What every forecast looks at
    frequency: Floats  # Share of each class among the calibration proteins
    types: tuple[Event, ...]  # Named groups, for the feature of that name
    agrees: bool  # Whether the predicted class has the published confidence
    events: tuple[FittedEvent, ...]  # At least one
    mixture: Mixture  # How the probability of an event divides among its classes

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the events, in order."""
        return tuple(entry.event.name for entry in self.events)

    def evidence(self, predictions: Predictions, distance: Floats | None = None) -> EventEvidence:
        """Return what is known of some proteins, with what the model itself knows."""
        return EventEvidence(predictions=predictions, distance=distance, types=self.types)

    def stated(self, evidence: EventEvidence) -> Floats:
        """Return every forecast as it is, shape (n_events, n_samples)."""
        held = memberships([entry.event for entry in self.events], evidence.predictions)
        forecasts = []
        for entry, inside in zip(self.events, held, strict=True):
            table = table_of(
                OneEvent(evidence=evidence, held=inside, frequency=self.frequency), self.features
            )
            if table.missing:
                name = table.missing[0]
                raise refuse(
                    "events",
                    f"they were learnt with {FEATURE_OF[name].summary} ({name!r}), which is not "
                    "known of these proteins.",
                    f"Give {FEATURE_OF[name].needs}, or learn the events again without that.",
                )
            forecasts.append(entry.forecast.probability(table.values))
        return np.stack(forecasts)

    def probabilities(
        self, evidence: EventEvidence, confidence: Floats | None, mix: Mix | None = None
    ) -> tuple[Floats, Floats]:
        """Return probabilities that contradict neither each other nor the confidence."""
        predictions = evidence.predictions
        events = [entry.event for entry in self.events]
        stated = self.stated(evidence)
        plain = agreeing(events, predictions, stated, confidence if self.agrees else None)
        if mix is None:
            return plain, plain
        share = self.mixture.shares(predictions, confidence)
        moved = for_another_mix(memberships(events, predictions), stated, share, mix.weight)
        fixed = mix.confidence if self.agrees else None
        return plain, agreeing(events, predictions, moved, fixed)


def agreeing(
    events: Sequence[Event], predictions: Predictions, stated: Floats, confidence: Floats | None
) -> Floats:
    """Return forecasts made coherent, the predicted class at its confidence if given."""
    is_first = np.equal(predictions.predicted_class[:, None], np.arange(predictions.n_classes))
    return coherent(memberships(events, predictions), stated, confidence, is_first)
