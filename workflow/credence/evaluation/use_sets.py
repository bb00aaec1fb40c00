"""Confidences of proteins whose classes are not known, summed up for a page."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from credence.confidence import NOTE_TEXTS, Confidence, note_text
from credence.findings import Setting, UseClass, UseRow, UseSet
from credence.predictions import Floats, Integers, Predictions

N_BINS = 20
LEVELS = (0.5, 0.8, 0.9, 0.95)
N_EXTREMES = 10


def use_set_of(
    name: str,
    method: str,
    class_names: tuple[str, ...],
    class_: Integers,
    value: Floats,
    notes: Mapping[str, int],
    extremes: tuple[tuple[UseRow, ...], tuple[UseRow, ...]],
) -> UseSet:
    """Return what a page shows of a use-set: distributions and extremes.

    Parameters
    ----------
    name : str
        Name of the use-set.
    method : str
        Method that gave the confidences.
    class_names : tuple of str
        In the classifier's order.
    class_ : array of int
        Predicted class of each protein; less than 0 without one.
    value : array of float
        Confidence of each protein; NaN without one.
    notes : mapping of str to int
        How many proteins have each note.
    extremes : pair of tuple of UseRow
        Proteins of most and of least confidence.
    """
    known = ~np.isnan(value)
    edges = np.linspace(0.0, 1.0, N_BINS + 1)
    position = np.clip(np.searchsorted(edges, value[known], side="left") - 1, 0, N_BINS - 1)
    highest, lowest = extremes
    return UseSet(
        name=name,
        method=method,
        n=len(value),
        n_unknown=int((~known).sum()),
        levels=LEVELS,
        classes=_classes(class_names, class_, value),
        edges=tuple(edges.tolist()),
        counts=tuple(np.bincount(position, minlength=N_BINS).tolist()),
        highest=highest,
        lowest=lowest,
        notes=tuple(Setting(text, str(number)) for text, number in notes.items() if number),
    )


def summarise_use_set(
    name: str, method: str, predictions: Predictions, confidence: Confidence
) -> UseSet:
    """Return what a page shows of a use-set that is in memory.

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
    order = np.flatnonzero(~np.isnan(value))
    # Ties in confidence are settled by id, so that order of rows is nothing.
    order = order[np.lexsort((predictions.ids[order].astype(str), value[order]))]
    descending = order[np.lexsort((predictions.ids[order].astype(str), -value[order]))]
    return use_set_of(
        name,
        method,
        predictions.class_names,
        predictions.predicted_class,
        value,
        {
            text: int(((confidence.note & int(flag)) != 0).sum())
            for flag, text in NOTE_TEXTS.items()
        },
        (
            _rows(predictions, confidence, descending[:N_EXTREMES]),
            _rows(predictions, confidence, order[:N_EXTREMES]),
        ),
    )


def _classes(
    class_names: tuple[str, ...], class_: Integers, value: Floats
) -> tuple[UseClass, ...]:
    found = []
    for code, class_name in enumerate(class_names):
        own = value[class_ == code]
        known = own[~np.isnan(own)]
        at_least = tuple(int((known >= level).sum()) for level in LEVELS)
        # An exact sum does not depend on the order of the rows.
        expected = math.fsum(known.tolist())
        found.append(UseClass(class_name, len(own), len(own) - len(known), expected, at_least))
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
