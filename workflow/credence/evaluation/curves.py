"""Confidence over the top score, class by class, as a page can draw it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from credence.calibrators import composition
from credence.calibrators.protocol import Calibration
from credence.calibrators.registry import BY_NAME, needs_of
from credence.confidence import Confidence
from credence.evaluation.blocks import bin_of
from credence.findings import ClassCount, CurveFinding, ScoreNeeded
from credence.predictions import Floats, Labelled, Predictions

N_GRID = 201  # a step of 1/200 of the scale: 0.05 for PhANNs
CONFIDENCES_ASKED = (0.5, 0.8, 0.9, 0.95)


def grid_of(predictions: Predictions) -> Floats:
    """Return evenly spaced scores from 0 to the scale, or to the best score.

    Parameters
    ----------
    predictions : Predictions
        With top scores.
    """
    assert predictions.top_score is not None
    return np.linspace(0.0, max(predictions.scale, float(predictions.top_score.max())), N_GRID)


def depends_on_score_alone(record: Mapping[str, Any], class_name: str) -> bool:
    """Return whether a calibration answers from predicted class and top score.

    Parameters
    ----------
    record : mapping
        From the calibration's `to_record`; a method that the registry does not
        know is taken to look at the whole vector.
    class_name : str
        The predicted class.
    """
    known = record.get("method") in BY_NAME or record.get("method") == composition.NAME
    return known and not needs_of(record, class_name).is_vector


def curves_of(
    labelled: Labelled,
    calibrations: Mapping[str, Calibration],
    in_sample: Mapping[str, Confidence],
    edges: Floats,
) -> tuple[CurveFinding, ...]:
    """Return the curve of every method and every class that was predicted.

    Parameters
    ----------
    labelled : Labelled
        The calibration set; its predictions have top scores.
    calibrations : mapping of str to Calibration
        Fitted to all of it.
    in_sample : mapping of str to Confidence
        Their confidences of it.
    edges : array of float
        Bins of scores, for methods that look at the whole vector.
    """
    predictions = labelled.predictions
    grid = grid_of(predictions)
    found = []
    for name, calibration in calibrations.items():
        record = calibration.to_record()
        for class_, class_name in enumerate(predictions.class_names):
            rows = np.flatnonzero(predictions.predicted_class == class_)
            if len(rows) == 0:
                continue
            if depends_on_score_alone(record, class_name):
                answer = calibration.confidence(at_scores(predictions, class_, grid))
                found.append(_record(name, class_name, True, grid, answer))
            else:
                found.append(
                    _binned(name, class_name, labelled.take(rows), rows, in_sample, edges)
                )
    return tuple(found)


def at_scores(predictions: Predictions, class_: int, score: Floats) -> Predictions:
    """Return predictions of one class at given top scores.

    Parameters
    ----------
    predictions : Predictions
        Gives class names, scale and resolution.
    class_ : int
        The predicted class.
    score : array of float
        The top scores.
    """
    return Predictions(
        ids=np.arange(len(score)).astype(str).astype(object),
        class_names=predictions.class_names,
        scale=predictions.scale,
        resolution=predictions.resolution,
        predicted_class=np.full(len(score), class_, dtype=np.int64),
        top_score=score,
        is_distribution=False,
    )


def scores_needed(
    curves: Sequence[CurveFinding], classes: Sequence[ClassCount]
) -> tuple[ScoreNeeded, ...]:
    """Return from which score on each method is sure enough, at its lower end.

    Only scores that calibration saw count, and a curve that dips below later
    is not sure enough before.

    Parameters
    ----------
    curves : sequence of CurveFinding
        Those that are functions of the score are used.
    classes : sequence of ClassCount
        Give the range of scores seen.
    """
    seen = {entry.class_name: (entry.score_min, entry.score_max) for entry in classes}
    found = []
    for curve in curves:
        if not curve.is_function:
            continue
        score, lower = np.array(curve.score), np.array(curve.lower)
        low, high = seen[curve.class_name]
        # The interval at both ends of the range counts too, not the grid alone.
        score_in = np.unique(
            np.concatenate([[low, high], score[(score >= low) & (score <= high)]])
        )
        lower_in = np.interp(score_in, score, lower)
        for asked in CONFIDENCES_ASKED:
            # NaN compares false: where there is no interval nothing is enough.
            is_short = np.flatnonzero(~(lower_in >= asked))
            first = 0 if len(is_short) == 0 else int(is_short[-1]) + 1
            needed = float(score_in[first]) if first < len(score_in) else float("nan")
            found.append(ScoreNeeded(curve.method, curve.class_name, asked, needed))
    return tuple(found)


def _record(
    method: str, class_name: str, is_function: bool, score: Floats, answer: Confidence
) -> CurveFinding:
    return CurveFinding(
        method=method,
        class_name=class_name,
        is_function=is_function,
        score=tuple(score.tolist()),
        value=tuple(answer.value.tolist()),
        lower=tuple(answer.lower.tolist()),
        upper=tuple(answer.upper.tolist()),
        support=tuple(answer.support.tolist()),
        note=tuple(answer.note.tolist()),
    )


def _binned(
    method: str,
    class_name: str,
    positives: Labelled,
    rows: np.ndarray[tuple[int], np.dtype[np.intp]],
    in_sample: Mapping[str, Confidence],
    edges: Floats,
) -> CurveFinding:
    score = positives.predictions.top_score
    assert score is not None
    answer = in_sample[method]
    value, weight = answer.value[rows], positives.weight
    known = ~np.isnan(value)
    position = np.where(known, bin_of(score, edges), -1)
    filled = [number for number in range(len(edges) - 1) if (position == number).any()]

    def means(of: Floats) -> Floats:
        return np.array(
            [np.average(of[position == k], weights=weight[position == k]) for k in filled]
        )

    blank = np.full(len(filled), np.nan)
    return _record(
        method,
        class_name,
        False,
        means(score),
        Confidence(
            means(value),
            blank,
            blank.copy(),
            means(answer.support[rows]),
            np.zeros(len(filled), dtype=np.int64),
        ),
    )
