"""Ends of the intervals of metrics and of their differences, from draws."""

from __future__ import annotations

import numpy as np
from scipy import special

from credence.calibrators.intervals import expanded_quantiles
from credence.calibrators.protocol import FitOptions
from credence.evaluation.measures import Measures
from credence.evaluation.scatter import Scatter, both_scatters
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
    Ends are quantiles of the draws, at levels widened as Student's t is, then moved
    away from the value by a stretch; both are of :mod:`credence.evaluation.scatter`.
    Shares are stretched on the scale of logits, what cannot be negative on that of
    logarithms.

    A calibration error, or sharpness, is pushed up by chance, in the sample and in
    each draw anew. Above, its interval has the draws' upper part, from their median
    on, moved down twice by how far the median lies above the value: draws are as
    much above the sample as the sample is above the truth. Below, it ends where
    chance alone could have brought the value from: an error is a norm of gaps, so
    that by the triangle inequality it errs by no more than the norm of the gaps' own
    errors. The draws show them, but for bins that one cluster fills, which every
    draw leaves as they are; the noise floor has those.
    """
    name = metric.name
    value = float(measures.value[name][number])
    drawn = measures.drawn.get(name)
    if drawn is None or np.isnan(value):
        return NOTHING
    freedom = float(measures.scatter[name].freedom[number])
    stretch = float(measures.scatter[name].stretch[number])
    ends = _ends(drawn[number], freedom, level)
    if ends is None:
        return NOTHING
    low, high = ends
    if metric.is_share:
        low, high = _of_share(low, high, float(measures.centre[name][number]), stretch)
    elif name in measures.noise:
        median = float(np.nanmedian(drawn[number]))
        high = 2.0 * value - median + stretch * (high - median)
        reach = _ends(measures.noise[name][number], freedom, level)
        furthest = max(floor, 0.0 if reach is None else stretch * reach[1])
        low = value - stretch * (ends[1] - value)
        low = max(min(low, _less(value, furthest, is_square=metric.is_square)), 0.0)
    elif metric.is_signed or value <= 0.0:
        low, high = (value + stretch * (end - value) for end in (low, high))
    else:
        low, high = (value * (end / value) ** stretch for end in (low, high))
    return min(low, value), max(high, value)


def difference_scatter(metric: Metric, one: Measures, other: Measures) -> Scatter:
    """Return how draws of the difference are to be read, by class and over all.

    From the differences of losses where the metric is their mean; else the greater
    stretch and the lesser freedom of both methods.

    Parameters
    ----------
    metric : Metric
        What was measured.
    one, other : Measures
        Of the same proteins.
    """
    name = metric.name
    if name in one.losses:
        return both_scatters(one.relatives, one.losses[name] - other.losses[name])
    first, second = one.scatter[name], other.scatter[name]
    return Scatter(
        np.maximum(first.stretch, second.stretch), np.minimum(first.freedom, second.freedom)
    )


def difference_interval(
    metric: Metric,
    one: Measures,
    other: Measures,
    number: int,
    level: float,
    scatter: Scatter,
    floors: tuple[float, float] = (0.0, 0.0),
) -> tuple[float, float]:
    """Return the ends of the interval of one method's metric minus another's.

    Parameters
    ----------
    metric : Metric
        What was measured.
    one, other : Measures
        Of the same proteins under the same draws.
    number : int
        The block.
    level : float
        Coverage.
    scatter : Scatter
        From :func:`difference_scatter`.
    floors : (float, float)
        For a calibration error: the upper ends of both noise floors.

    Notes
    -----
    As :func:`interval_of`, draw by draw, with no change of scale. Of two
    calibration errors the ends are those of both intervals, the least one less the
    greatest other and the other way round: by how much chance pushed up the one
    and the other is not seen in the draws of their difference.
    """
    name = metric.name
    value = float(one.value[name][number] - other.value[name][number])
    if name not in one.drawn or name not in other.drawn or np.isnan(value):
        return NOTHING
    drawn = one.drawn[name][number] - other.drawn[name][number]
    ends = _ends(drawn, float(scatter.freedom[number]), level)
    if ends is None:
        return NOTHING
    stretch = float(scatter.stretch[number])
    low, high = (value + stretch * (end - value) for end in ends)
    if metric.is_error:
        first = interval_of(metric, one, number, level, floors[0])
        second = interval_of(metric, other, number, level, floors[1])
        low, high = first[0] - second[1], first[1] - second[0]
        if np.isnan(low + high):
            return NOTHING
    return min(low, value), max(high, value)


def _ends(drawn: Floats, freedom: float, level: float) -> tuple[float, float] | None:
    """Return widened quantiles, or None where the draws do not differ."""
    known = drawn[~np.isnan(drawn)]
    if len(known) == 0 or known.min() == known.max():
        # As of a worst bin that holds one protein.
        return None
    low, high = expanded_quantiles(known[None], np.array([freedom + 1.0]), FitOptions(level=level))
    return float(low[0]), float(high[0])


def _of_share(low: float, high: float, centre: float, stretch: float) -> tuple[float, float]:
    """Return the ends of a share after stretching, on the scale of logits."""
    middle = special.logit(centre)
    first, last = (
        float(special.expit(middle + stretch * (special.logit(end) - middle)))
        for end in (low, high)
    )
    return first, last


def _less(value: float, reach: float, *, is_square: bool) -> float:
    if not is_square:
        return value - reach
    return float(max(np.sqrt(value) - np.sqrt(reach), 0.0) ** 2)
