"""Ends of the intervals of metrics and of their differences, from draws."""

from __future__ import annotations

import numpy as np

from credence.calibrators.intervals import expanded_quantiles
from credence.calibrators.protocol import FitOptions
from credence.evaluation.measures import Measures
from credence.metrics.protocol import Metric
from credence.predictions import Floats

NOTHING = (float("nan"), float("nan"))


def interval_of(
    metric: Metric, measures: Measures, number: int, level: float
) -> tuple[float, float]:
    """Return the ends of a metric's interval; NaN where draws say nothing.

    Parameters
    ----------
    metric : Metric
        What was measured.
    measures : Measures
        With its draws.
    number : int
        The block.
    level : float
        Coverage.

    Notes
    -----
    Means of losses, and all that are no distances, take quantiles of the draws,
    at levels widened as Student's t is where few clusters bear them.

    A calibration error is pushed up by chance, in the sample and in each draw
    anew. Above, its interval mirrors the draws at the value (basic bootstrap).
    Below, it ends where chance alone could have brought the value from: an error
    is a norm of gaps, so that by the triangle inequality it errs by no more than
    the norm of the gaps' own errors, which the draws show.
    """
    value = float(measures.value[metric.name][number])
    drawn = measures.drawn.get(metric.name)
    ends = None if drawn is None else _ends(drawn[number], measures.n_units[number], level)
    if ends is None or np.isnan(value):
        return NOTHING
    low, high = ends
    if metric.is_error:
        reach = _ends(measures.noise[metric.name][number], measures.n_units[number], level)
        low, high = 2.0 * value - high, 2.0 * value - low
        if reach is not None:
            low = min(low, _less(value, reach[1], is_square=metric.is_square))
        low = max(low, 0.0)
    return min(low, value), max(high, value)


def difference_interval(
    metric: Metric, one: Measures, other: Measures, number: int, level: float
) -> tuple[float, float]:
    """Return the ends of the interval of one method's metric minus another's.

    Parameters
    ----------
    metric : Metric
        What was measured.
    one, other : Measures
        Under the same draws.
    number : int
        The block.
    level : float
        Coverage.

    Notes
    -----
    As :func:`interval_of`, draw by draw. Of two calibration errors the ends lie
    at least as far as the greater of both distances between draw and sample:
    where one error is all chance, the difference's draws do not show it.
    """
    name = metric.name
    value = float(one.value[name][number] - other.value[name][number])
    if name not in one.drawn or name not in other.drawn or np.isnan(value):
        return NOTHING
    drawn = one.drawn[name][number] - other.drawn[name][number]
    n_units = min(one.n_units[number], other.n_units[number])
    ends = _ends(drawn, n_units, level)
    if ends is None:
        return NOTHING
    low, high = ends
    if metric.is_error:
        low, high = 2.0 * value - high, 2.0 * value - low
        apart = np.maximum(one.noise[name][number], other.noise[name][number])
        reach = _ends(apart, n_units, level)
        if reach is not None:
            low, high = min(low, value - reach[1]), max(high, value + reach[1])
    return min(low, value), max(high, value)


def _ends(drawn: Floats, n_units: float, level: float) -> tuple[float, float] | None:
    """Return widened quantiles, or None where the draws do not differ."""
    known = drawn[~np.isnan(drawn)]
    if len(known) == 0 or known.min() == known.max():
        # As of a worst bin that holds one protein.
        return None
    low, high = expanded_quantiles(known[None], np.array([n_units]), FitOptions(level=level))
    return float(low[0]), float(high[0])


def _less(value: float, reach: float, *, is_square: bool) -> float:
    if not is_square:
        return value - reach
    return float(max(np.sqrt(value) - np.sqrt(reach), 0.0) ** 2)
