"""Whether a calibration that was read can do its work: tried on made-up predictions.

A checksum says that a file is as somebody wrote it, not that credence did. What a
record holds is each method's own affair, so it is not described here a second
time; it is used instead, before anything rests on it.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from credence.calibrators.protocol import Calibration, components_asked
from credence.confidence import NOTE_TEXTS, Confidence
from credence.predictions import Floats, Predictions, from_scores

N_STEPS = 12  # top scores tried for each class, from even to certain
TOLERANCE = 1e-9  # of an interval's ends: a confidence may lie on one but for rounding


def defect_of(
    calibration: Calibration, class_names: tuple[str, ...], scale: float, resolution: float
) -> str | None:
    """Return what is wrong with a calibration in use, None where it works.

    Parameters
    ----------
    calibration : Calibration
        As a file gave it.
    class_names : tuple of str
        Its classes.
    scale, resolution : float
        Of its scores.
    """
    if not class_names:
        return "it has no classes"
    if not (np.isfinite(scale) and scale > 0 and np.isfinite(resolution) and resolution >= 0):
        return f"scores have the scale {scale:g} and the resolution {resolution:g}"
    predictions = made_up(class_names, scale, resolution)
    try:
        places = _places(predictions.n_samples, components_asked(calibration))
        predictions = replace(predictions, places=places)
        with np.errstate(all="ignore"):
            found = calibration.confidence(predictions)
            return defect_in(found, predictions.n_samples)
    except Exception as error:  # whatever a record of the wrong shape leads to
        return f"it gives no confidences ({type(error).__name__}: {_first_line(error)})"


def made_up(class_names: tuple[str, ...], scale: float, resolution: float) -> Predictions:
    """Return predictions of every class, with scores from even to certain.

    Parameters
    ----------
    class_names, scale, resolution
        See :class:`credence.predictions.Predictions`.

    Examples
    --------
    >>> made_up(("a", "b"), 10.0, 0.01).n_samples
    24
    """
    n_classes = len(class_names)
    even = 1.0 / n_classes
    tops = even + (1.0 - even) * np.arange(1, N_STEPS + 1) / N_STEPS
    rows: list[Floats] = []
    for place in range(n_classes):
        others = (1.0 - tops) / max(n_classes - 1, 1)
        scores = np.repeat(others[:, None], n_classes, axis=1)
        scores[:, place] = tops
        rows.append(scores * scale)
    every = np.concatenate(rows)
    ids = np.array([f"made up {row}" for row in range(len(every))], dtype=object)
    return from_scores(ids, class_names, every, scale, resolution)


def _places(n_samples: int, n_components: int) -> Floats:
    """Return the middle of the space for every protein but the last, whose place is unknown."""
    places = np.zeros((n_samples, n_components))
    places[-1] = np.nan
    return places


def defect_in(found: Confidence, n_samples: int) -> str | None:
    """Return what is wrong with confidences, None where they are what they should be.

    Parameters
    ----------
    found : Confidence
        From a calibration.
    n_samples : int
        Predictions that it was given.
    """
    values = [
        np.asarray(part, dtype=np.float64) for part in (found.value, found.lower, found.upper)
    ]
    support, note = np.asarray(found.support, dtype=np.float64), np.asarray(found.note)
    if any(part.shape != (n_samples,) for part in (*values, support, note)):
        return "it gives confidences of another number than predictions"
    value, lower, upper = values
    for part in values:
        if (np.isinf(part) | (part < 0) | (part > 1)).any():
            return "it gives confidences that are no probabilities"
    if ((lower > value + TOLERANCE) | (upper < value - TOLERANCE)).any():
        return "it gives confidences outside their intervals"
    if (np.isnan(support) | np.isinf(support) | (support < 0)).any():
        return "it gives confidences whose support is no number of proteins"
    known = sum(int(flag) for flag in NOTE_TEXTS)
    if note.dtype.kind not in "iu" or (note & ~known).any():
        return "it gives notes that nobody knows"
    return None


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [""])[0]
