"""Forecasts of all events asked for, as one thing that answers and can be written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from credence.events.coherence import coherent
from credence.events.event import Event, memberships
from credence.events.features.protocol import Evidence, Seen
from credence.events.features.registry import BY_NAME, table_of
from credence.events.forecasters.protocol import Constant, Forecast
from credence.events.forecasters.registry import BY_NAME as FORECASTERS
from credence.events.mixture import Mixture, for_another_mix
from credence.predictions import Booleans, Floats, Predictions
from credence.problems import refuse

CONSTANT = "constant"


@dataclass(frozen=True, eq=False)
class FittedEvent:
    """One event and its forecast.

    Parameters
    ----------
    event : Event
        What is asked.
    forecaster : str
        Name in the registry, or `CONSTANT`.
    forecast : Forecast
        What it learnt.
    note : str
        Why this is no forecast; empty where it is.
    """

    event: Event
    forecaster: str
    forecast: Forecast
    note: str = ""

    def to_record(self) -> dict[str, Any]:
        """Return the event as JSON data."""
        return {
            "event": self.event.to_record(),
            "forecaster": self.forecaster,
            "forecast": self.forecast.to_record(),
            "note": self.note,
        }

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> FittedEvent:
        """Return the event of a record."""
        name = record["forecaster"]
        read = Constant.from_record if name == CONSTANT else FORECASTERS[name].read
        event = Event.from_record(record["event"])
        return cls(event, name, read(record["forecast"]), record["note"])


@dataclass(frozen=True, eq=False)
class Mix:
    """The mix of classes of a use-set, and the confidences corrected for it.

    Parameters
    ----------
    weight : array of float, shape (n_classes,)
        How many times as frequent each class is as in the calibration set.
    confidence : array of float, shape (n_samples,)
        Of the predicted class, corrected; NaN where there is none.
    """

    weight: Floats
    confidence: Floats


@dataclass(frozen=True, eq=False)
class EventModel:
    """All events of a run.

    Parameters
    ----------
    class_names : tuple of str
        Classes in order.
    features : tuple of str
        What every forecast looks at.
    frequency : array of float, shape (n_classes,)
        Share of each class among the calibration proteins.
    types : tuple of Event
        Named groups, for the feature of that name.
    admissible : str
        A rule, for the feature of that name.
    agrees : bool
        Whether the predicted class has the published confidence.
    events : tuple of FittedEvent
        At least one.
    mixture : Mixture
        How what is said of an event divides among its classes.
    """

    class_names: tuple[str, ...]
    features: tuple[str, ...]
    frequency: Floats
    types: tuple[Event, ...]
    admissible: str
    agrees: bool
    events: tuple[FittedEvent, ...]
    mixture: Mixture

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the events, in order."""
        return tuple(entry.event.name for entry in self.events)

    def evidence(
        self, predictions: Predictions, columns: Mapping[str, Floats] | None = None
    ) -> Evidence:
        """Return what is known of some proteins, with what the model itself knows.

        Parameters
        ----------
        predictions : Predictions
            What the classifier said.
        columns : mapping of str to array of float, optional
            Further numbers of each protein.
        """
        return Evidence(predictions, columns or {}, None, self.types, self.admissible)

    def said(self, evidence: Evidence) -> Floats:
        """Return every forecast as it is, shape (n_events, n_samples).

        Parameters
        ----------
        evidence : Evidence
            Of the proteins.

        Raises
        ------
        InputError
            Where a feature that was learnt from cannot be had.
        """
        predictions = evidence.predictions
        held = memberships([entry.event for entry in self.events], predictions)
        found = []
        for entry, inside in zip(self.events, held, strict=True):
            table = table_of(Seen(evidence, inside, self.frequency), self.features)
            if table.missing:
                name = table.missing[0]
                raise refuse(
                    "events",
                    f"they were learnt with {BY_NAME[name].summary} ({name!r}), which is not "
                    "known of these proteins.",
                    f"Give {BY_NAME[name].needs}, or learn without it: --without {name}.",
                )
            found.append(entry.forecast.probability(table.values))
        return np.stack(found)

    def probabilities(
        self, evidence: Evidence, confidence: Floats | None, mix: Mix | None = None
    ) -> tuple[Floats, Floats]:
        """Return probabilities that contradict neither each other nor the confidence.

        Parameters
        ----------
        evidence : Evidence
            Of the proteins.
        confidence : array of float, shape (n_samples,), optional
            The published one, NaN where there is none; used if the model agrees
            with it.
        mix : Mix, optional
            Of the use-set's classes.

        Returns
        -------
        plain, adjusted : array of float, shape (n_events, n_samples)
            For the calibration set's mix of classes, and corrected for the other
            one; the same where there is no other.
        """
        predictions = evidence.predictions
        events = [entry.event for entry in self.events]
        said = self.said(evidence)
        plain = agreeing(events, predictions, said, confidence if self.agrees else None)
        if mix is None:
            return plain, plain
        share = self.mixture.shares(predictions, confidence)
        moved = for_another_mix(memberships(events, predictions), said, share, mix.weight)
        fixed = mix.confidence if self.agrees else None
        return plain, agreeing(events, predictions, moved, fixed)

    def to_record(self) -> dict[str, Any]:
        """Return the events as JSON data."""
        return {
            "class_names": list(self.class_names),
            "features": list(self.features),
            "frequency": self.frequency.tolist(),
            "types": [entry.to_record() for entry in self.types],
            "admissible": self.admissible,
            "agrees": self.agrees,
            "events": [entry.to_record() for entry in self.events],
            "mixture": self.mixture.to_record(),
        }

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> EventModel:
        """Return the events of a record."""
        return cls(
            tuple(record["class_names"]),
            tuple(record["features"]),
            np.array(record["frequency"], dtype=float),
            tuple(Event.from_record(entry) for entry in record["types"]),
            record["admissible"],
            bool(record["agrees"]),
            tuple(FittedEvent.from_record(entry) for entry in record["events"]),
            Mixture.from_record(record["mixture"]),
        )


def agreeing(
    events: Sequence[Event], predictions: Predictions, said: Floats, confidence: Floats | None
) -> Floats:
    """Return forecasts made coherent, the predicted class at its confidence if given.

    Parameters
    ----------
    events : sequence of Event
        What was forecast.
    predictions : Predictions
        Of whom.
    said : array of float, shape (n_events, n_samples)
        The forecasts.
    confidence : array of float, shape (n_samples,), optional
        Of the predicted class.
    """
    held = memberships(events, predictions)
    return coherent(held, said, confidence, predicted_mask(predictions))


def predicted_mask(predictions: Predictions) -> Booleans:
    """Return which class is the predicted one, shape (n_samples, n_classes).

    Parameters
    ----------
    predictions : Predictions
        What the classifier said.
    """
    every = np.arange(predictions.n_classes)
    return np.asarray(predictions.predicted_class[:, None] == every[None, :])
