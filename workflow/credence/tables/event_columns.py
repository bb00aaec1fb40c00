"""Columns of the table `confidences` that hold probabilities of events."""

from __future__ import annotations

from typing import Any

import numpy as np

from credence.events.model import EventModel, Mix
from credence.predictions import Floats, Predictions
from credence.tables.evidence import EvidenceTable

EVENT_PREFIX = "event_"
ADJUSTED_PREFIX = "adjusted_event_"  # corrected for the use-set's mix of classes
PREFIXES = (EVENT_PREFIX, ADJUSTED_PREFIX)


def event_names(model: EventModel | None, is_shifted: bool) -> tuple[str, ...]:
    """Return the columns that events have.

    Parameters
    ----------
    model : EventModel or None
        Forecasts of all events.
    is_shifted : bool
        Whether a composition of the use-set is known.
    """
    if model is None:
        return ()
    prefixes = PREFIXES if is_shifted else PREFIXES[:1]
    return tuple(f"{prefix}{name}" for prefix in prefixes for name in model.names)


def event_columns(
    model: EventModel | None,
    predictions: Predictions,
    confidence: Floats,
    evidence: EvidenceTable | None,
    distance: Floats | None = None,
    mix: Mix | None = None,
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
    mix : Mix, optional
        Of the use-set's classes, where it is known.
    """
    if model is None:
        return {}
    names = event_names(model, mix is not None)
    if predictions.n_samples == 0:
        return {name: np.empty(0) for name in names}
    known = model.evidence(predictions, {} if distance is None else {"distance": distance})
    if evidence is not None:
        known = evidence.added_to(known)
    plain, adjusted = model.probabilities(known, confidence, mix)
    found = plain if mix is None else np.concatenate([plain, adjusted])
    return dict(zip(names, found, strict=True))
