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
    metric: Metric, measures: Measures, number: int, level: float, floor: float = 0.0
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
    floor : float
        For a calibration error: the upper end of its noise floor, 0 where it was
        not simulated.

    Notes
    -----
    Means of losses, and all that are no distances, take quantiles of the draws, at
    levels widened as Student's t is. Its degrees of freedom are (Σd²)²/Σd⁴ over the
    clusters' pulls d (Satterthwaite's, with one square per cluster): a few great
    families can bear nearly all scatter where there are thousands of clusters.

    A calibration error is pushed up by chance, in the sample and in each draw
    anew. Above, its interval mirrors the draws at the value (basic bootstrap).
    Below, it ends where chance alone could have brought the value from: an error
    is a norm of gaps, so that by the triangle inequality it errs by no more than
    the norm of the gaps' own errors. The draws show them, but for bins that one
    cluster fills, which every draw leaves as they are; the noise floor has those.
    """
    value = float(measures.value[metric.name][number])
    drawn = measures.drawn.get(metric.name)
    if drawn is None or np.isnan(value):
        return NOTHING
    freedom = float(measures.freedom[metric.name][number])
    ends = _ends(drawn[number], freedom, level)
    if ends is None:
        return NOTHING
    low, high = ends
    if metric.is_error:
        reach = _ends(measures.noise[metric.name][number], freedom, level)
        low, high = 2.0 * value - high, 2.0 * value - low
        furthest = max(floor, 0.0 if reach is None else reach[1])
        low = min(low, _less(value, furthest, is_square=metric.is_square))
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
    freedom = min(float(one.freedom[name][number]), float(other.freedom[name][number]))
    ends = _ends(drawn, freedom, level)
    if ends is None:
        return NOTHING
    low, high = ends
    if metric.is_error:
        low, high = 2.0 * value - high, 2.0 * value - low
        apart = np.maximum(one.noise[name][number], other.noise[name][number])
        reach = _ends(apart, freedom, level)
        if reach is not None:
            low, high = min(low, value - reach[1]), max(high, value + reach[1])
    return min(low, value), max(high, value)


def _ends(drawn: Floats, freedom: float, level: float) -> tuple[float, float] | None:
    """Return widened quantiles, or None where the draws do not differ."""
    known = drawn[~np.isnan(drawn)]
    if len(known) == 0 or known.min() == known.max():
        # As of a worst bin that holds one protein.
        return None
    low, high = expanded_quantiles(known[None], np.array([freedom + 1.0]), FitOptions(level=level))
    return float(low[0]), float(high[0])


def _less(value: float, reach: float, *, is_square: bool) -> float:
    if not is_square:
        return value - reach
    return float(max(np.sqrt(value) - np.sqrt(reach), 0.0) ** 2)
