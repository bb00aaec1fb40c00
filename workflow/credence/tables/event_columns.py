"""Columns of the table `confidences` that hold probabilities of events."""

from __future__ import annotations

from typing import Any

import numpy as np

from credence.events.model import EventModel
from credence.predictions import Floats, Predictions
from credence.tables.evidence import EvidenceTable

EVENT_PREFIX = "event_"


def event_names(model: EventModel | None) -> tuple[str, ...]:
    """Return the columns that events have.

    Parameters
    ----------
    model : EventModel or None
        Forecasts of all events.
    """
    return () if model is None else tuple(f"{EVENT_PREFIX}{name}" for name in model.names)


def event_columns(
    model: EventModel | None,
    predictions: Predictions,
    confidence: Floats,
    evidence: EvidenceTable | None,
    distance: Floats | None = None,
) -> dict[str, Any]:
    """Return the columns of some rows.

    Parameters
    ----------
    model : EventModel or None
        Forecasts of all events.
    predictions : Predictions
        What the classifier said.
    confidence : array of float
        The published one.
    evidence : EvidenceTable or None
        What else is known of the proteins.
    distance : array of float, optional
        Of each to its nearest calibration protein, NaN where not known.
    """
    if model is None:
        return {}
    if predictions.n_samples == 0:
        return {name: np.empty(0) for name in event_names(model)}
    known = model.evidence(predictions, {} if distance is None else {"distance": distance})
    if evidence is not None:
        known = evidence.added_to(known)
    found = model.probabilities(known, confidence)
    return dict(zip(event_names(model), found, strict=True))
