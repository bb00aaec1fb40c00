"""Confidences of proteins whose classes are not known, summed up for a page."""

from __future__ import annotations

import numpy as np

from credence.confidence import NOTE_TEXTS, Confidence, note_text
from credence.findings import Setting, UseClass, UseRow, UseSet
from credence.predictions import Predictions

N_BINS = 20
LEVELS = (0.5, 0.8, 0.9, 0.95)
N_EXTREMES = 10


def summarise_use_set(
    name: str, method: str, predictions: Predictions, confidence: Confidence
) -> UseSet:
    """Return what a page shows of a use-set: distributions and extremes.

    Parameters
    ----------
    name : str
        Name of the use-set.
    method : str
        Method that gave the confidences.
    predictions : Predictions
        The use-set.
    confidence : Confidence
        An entry per protein.
    """
    value = confidence.value
    known = ~np.isnan(value)
    edges = np.linspace(0.0, 1.0, N_BINS + 1)
    position = np.clip(np.searchsorted(edges, value[known], side="left") - 1, 0, N_BINS - 1)
    order = np.flatnonzero(known)
    # Ties in confidence are settled by id, so that order of rows is nothing.
    order = order[np.lexsort((predictions.ids[order].astype(str), value[order]))]
    notes = tuple(
        Setting(text, f"{int(((confidence.note & int(flag)) != 0).sum())}")
        for flag, text in NOTE_TEXTS.items()
        if ((confidence.note & int(flag)) != 0).any()
    )
    descending = order[np.lexsort((predictions.ids[order].astype(str), -value[order]))]
    return UseSet(
        name=name,
        method=method,
        n=predictions.n_samples,
        n_unknown=int((~known).sum()),
        levels=LEVELS,
        classes=_classes(predictions, confidence),
        edges=tuple(edges.tolist()),
        counts=tuple(np.bincount(position, minlength=N_BINS).tolist()),
        highest=_rows(predictions, confidence, descending[:N_EXTREMES]),
        lowest=_rows(predictions, confidence, order[:N_EXTREMES]),
        notes=notes,
    )


def _classes(predictions: Predictions, confidence: Confidence) -> tuple[UseClass, ...]:
    found = []
    for class_, class_name in enumerate(predictions.class_names):
        value = confidence.value[predictions.predicted_class == class_]
        known = value[~np.isnan(value)]
        at_least = tuple(int((known >= level).sum()) for level in LEVELS)
        found.append(
            UseClass(class_name, len(value), len(value) - len(known), float(known.sum()), at_least)
        )
    return tuple(found)


def _rows(
    predictions: Predictions,
    confidence: Confidence,
    rows: np.ndarray[tuple[int], np.dtype[np.intp]],
) -> tuple[UseRow, ...]:
    score = predictions.top_score
    return tuple(
        UseRow(
            id=str(predictions.ids[row]),
            predicted_class=predictions.class_names[predictions.predicted_class[row]],
            score=float("nan") if score is None else float(score[row]),
            confidence=float(confidence.value[row]),
            lower=float(confidence.lower[row]),
            upper=float(confidence.upper[row]),
            note=note_text(int(confidence.note[row])),
        )
        for row in rows
    )
