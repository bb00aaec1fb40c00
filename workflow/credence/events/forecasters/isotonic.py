"""The never-falling curve over the event's own score."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import isotonic_regression

from credence.calibrators.isotonic import Polyline
from credence.events.forecasters.protocol import (
    Forecaster,
    Lesson,
    Record,
    fit_each,
    share_with_prior,
)
from credence.metrics.judged import sum_by
from credence.predictions import Floats


@dataclass(frozen=True, eq=False)
class IsotonicForecast:
    """A curve over one column.

    Parameters
    ----------
    column : int
        Which.
    curve : Polyline
        Probability over its values.
    unknown : float
        The answer where the column is not known.
    """

    column: int
    curve: Polyline
    unknown: float

    def probability(self, features: Floats) -> Floats:
        """Return the probability of the event for each row."""
        value = features[:, self.column]
        found = self.curve.value(np.where(np.isnan(value), 0.0, value))
        return np.where(np.isnan(value), self.unknown, found)

    def to_record(self) -> Record:
        """Return the curve as JSON data."""
        return {"column": self.column, "curve": self.curve.to_record(), "unknown": self.unknown}

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> IsotonicForecast:
        """Return the curve of a record."""
        curve = Polyline.from_record(record["curve"])
        return cls(int(record["column"]), curve, float(record["unknown"]))


def never_falling(value: Floats, outcome: Floats, weight: Floats) -> Polyline:
    """Return the never-falling curve of greatest likelihood, its blocks with a prior.

    Parameters
    ----------
    value, outcome, weight : array of float, shape (n_samples,)
        What it is over, what came true, what it counts.

    Notes
    -----
    A block's share is (Σwt + ½)/(Σw + 1), so that no block is certain; a second
    pass pools blocks that this has put out of order.
    """
    knots, code = np.unique(value, return_inverse=True)
    total = sum_by(code, weight, len(knots))
    right = sum_by(code, weight * outcome, len(knots))
    first = isotonic_regression(right / total, weights=total)
    block = np.repeat(np.arange(len(first.blocks) - 1), np.diff(first.blocks))
    n_blocks = len(first.blocks) - 1
    mass = sum_by(block, total, n_blocks)
    share = share_with_prior(sum_by(block, right, n_blocks), mass)
    fitted = isotonic_regression(share, weights=mass).x[block]
    is_end = np.ones(len(knots), dtype=np.bool_)
    is_end[1:-1] = (fitted[1:-1] != fitted[:-2]) | (fitted[1:-1] != fitted[2:])
    return Polyline(knots[is_end], fitted[is_end])


def fit(lesson: Lesson, value: float) -> IsotonicForecast:
    """Return the curve over the event's own score.

    Parameters
    ----------
    lesson : Lesson
        What is learnt from.
    value : float
        Not used: nothing is tuned.
    """
    column = lesson.features[:, lesson.main]
    known = ~np.isnan(column)
    rest = share_with_prior(lesson.weight @ lesson.outcome, lesson.weight.sum())
    if not known.any():
        flat = Polyline(np.zeros(1), np.array([float(rest)]))
        return IsotonicForecast(lesson.main, flat, float(rest))
    curve = never_falling(column[known], lesson.outcome[known], lesson.weight[known])
    return IsotonicForecast(lesson.main, curve, float(rest))


CANDIDATES = (0.0,)
FORECASTER = Forecaster(
    name="isotonic",
    summary="The never-falling curve over the event's own share of the scores, nothing else.",
    reference="Zadrozny & Elkan 2002, doi 10.1145/775047.775151",
    candidates=CANDIDATES,
    default=0.0,
    tuned="",
    fit=fit,
    path=fit_each(fit, CANDIDATES),
    read=IsotonicForecast.from_record,
)
