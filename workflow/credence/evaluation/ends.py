"""Ends of the intervals of metrics and of their differences, from draws."""

from __future__ import annotations

import numpy as np
from scipy import special

from credence.calibrators.intervals import expanded_quantiles
from credence.calibrators.protocol import FitOptions
from credence.evaluation.measures import Measures
from credence.evaluation.scatter import both_stretches
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
    Ends are quantiles of the draws, at levels widened as Student's t is with
    Kish's number of clusters less one degrees of freedom, then moved away from
    the value by the stretch of :mod:`credence.evaluation.scatter`: on the scale of
    logits for shares, of logarithms for what cannot be negative.

    A calibration error is pushed up by chance, in the sample and in each draw
    anew. Above, its interval mirrors the draws at the value (basic bootstrap).
    Below, it ends where chance alone could have brought the value from: an error
    is a norm of gaps, so that by the triangle inequality it errs by no more than
    the norm of the gaps' own errors. The draws show them, but for bins that one
    cluster fills, which every draw leaves as they are; the noise floor has those.
    """
    name = metric.name
    value = float(measures.value[name][number])
    drawn = measures.drawn.get(name)
    if drawn is None or np.isnan(value):
        return NOTHING
    n_near, stretch = _n_near(measures, number), float(measures.stretch[name][number])
    ends = _ends(drawn[number], n_near, level)
    if ends is None:
        return NOTHING
    low, high = ends
    if metric.is_share:
        low, high = _of_share(low, high, float(measures.centre[name][number]), stretch)
    elif metric.is_error:
        reach = _ends(measures.noise[name][number], n_near, level)
        low, high = (value + stretch * (value - end) for end in (high, low))
        furthest = max(floor, 0.0 if reach is None else stretch * reach[1])
        low = min(low, _less(value, furthest, is_square=metric.is_square))
        low = max(low, 0.0)
    elif metric.is_signed or value <= 0.0:
        low, high = (value + stretch * (end - value) for end in (low, high))
    else:
        low, high = (value * (end / value) ** stretch for end in (low, high))
    return min(low, value), max(high, value)


def difference_stretches(metric: Metric, one: Measures, other: Measures) -> Floats:
    """Return how much further the difference can be off than its draws show.

    Parameters
    ----------
    metric : Metric
        What was measured.
    one, other : Measures
        Of the same proteins.

    Returns
    -------
    array of float, shape (n_classes + 1,)
        From the differences of losses where the metric is their mean; else the
        greater one of both methods.
    """
    name = metric.name
    if name in one.losses:
        return both_stretches(one.relatives, one.losses[name] - other.losses[name])
    return np.maximum(one.stretch[name], other.stretch[name])


def difference_interval(
    metric: Metric,
    one: Measures,
    other: Measures,
    number: int,
    level: float,
    stretch: float,
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
    stretch : float
        From :func:`difference_stretches`, of that block.

    Notes
    -----
    As :func:`interval_of`, draw by draw, with no change of scale. Of two
    calibration errors the ends lie at least as far as the greater of both
    distances between draw and sample: where one error is all chance, the
    difference's draws do not show it.
    """
    name = metric.name
    value = float(one.value[name][number] - other.value[name][number])
    if name not in one.drawn or name not in other.drawn or np.isnan(value):
        return NOTHING
    n_near = _n_near(one, number)
    ends = _ends(one.drawn[name][number] - other.drawn[name][number], n_near, level)
    if ends is None:
        return NOTHING
    low, high = (value + stretch * (end - value) for end in ends)
    if metric.is_error:
        low, high = 2.0 * value - high, 2.0 * value - low
        apart = np.maximum(one.noise[name][number], other.noise[name][number])
        reach = _ends(apart, n_near, level)
        if reach is not None:
            low = min(low, value - stretch * reach[1])
            high = max(high, value + stretch * reach[1])
    return min(low, value), max(high, value)


def _n_near(measures: Measures, number: int) -> float:
    """Return Kish's number of clusters of a block."""
    return float(np.concatenate([of.n_effective for of in measures.relatives])[number])


def _ends(drawn: Floats, n_near: float, level: float) -> tuple[float, float] | None:
    """Return widened quantiles, or None where the draws do not differ."""
    known = drawn[~np.isnan(drawn)]
    if len(known) == 0 or known.min() == known.max():
        # As of a worst bin that holds one protein.
        return None
    low, high = expanded_quantiles(known[None], np.array([n_near]), FitOptions(level=level))
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
