"""Forecasters tuned and judged on clusters left out."""

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from credence.calibrators.newton import log_loss
from credence.draws import kish
from credence.events.forecasters import ConstantForecast, Examples, Forecast, Forecaster
from credence.predictions import Booleans, Floats, Integers


@dataclass(frozen=True, kw_only=True, eq=False)
class Learnt:
    """A forecaster that has learnt one event."""

    forecast: Forecast  # From all proteins
    value: float  # What tuning chose
    # Each protein's probability by fits without its fold; NaN where there is no other.
    held_out: Floats
    is_scarce: bool  # Whether there was too little to learn from


def is_scarce(examples: Examples, least: float) -> bool:
    """Return whether one of the outcomes is too rare to learn from."""
    came_true = examples.outcome > 0
    return min(kish(examples.weight[rows]) for rows in (came_true, ~came_true)) < least


def fit_one(forecaster: Forecaster, examples: Examples, value: float, least: float) -> Forecast:
    """Return what a forecaster learns under one value of its setting."""
    if is_scarce(examples, least):
        return ConstantForecast(value=examples.share)
    return forecaster.fit(examples, value)


def learn_event(
    forecaster: Forecaster,
    examples: Examples,
    fold: Integers,
    least: float,
    kept: Booleans | None = None,
) -> Learnt:
    """Return what a forecaster learns, tuned and judged in pairs of folds (decision 0036)."""
    may = np.ones(examples.n_samples, dtype=np.bool_) if kept is None else kept
    candidates = np.array(forecaster.candidates)
    held_out = np.full(examples.n_samples, np.nan)
    every = examples.take(may)
    inner = _inner_losses(forecaster, examples, fold, may, least)
    total = np.zeros(len(candidates))
    for number in inner:
        judged = np.equal(fold, number)
        seen = may & ~judged
        if not seen.any():
            continue
        path = _path(forecaster, examples.take(seen), examples.features[judged], least)
        place = _best(inner[number], forecaster)
        held_out[judged] = path[place]
        tells = may[judged]
        total += _losses(path[:, tells], examples.take(may & judged))
    value = float(candidates[_best(total, forecaster)])
    forecast = fit_one(forecaster, every, value, least)
    return Learnt(
        forecast=forecast, value=value, held_out=held_out, is_scarce=is_scarce(every, least)
    )


def _inner_losses(
    forecaster: Forecaster, examples: Examples, fold: Integers, may: Booleans, least: float
) -> dict[int, Floats]:
    """Return by fold the loss of each candidate on the others, without that fold."""
    numbers = np.unique(fold).tolist()
    losses = {number: np.zeros(len(forecaster.candidates)) for number in numbers}
    if len(forecaster.candidates) == 1:
        return losses
    for first, second in combinations(numbers, 2):
        out = np.equal(fold, first) | np.equal(fold, second)
        seen = may & ~out
        if not seen.any():
            continue
        path = _path(forecaster, examples.take(seen), examples.features[out], least)
        for left, judged in ((first, second), (second, first)):
            tells = may & np.equal(fold, judged)
            losses[left] += _losses(path[:, tells[out]], examples.take(tells))
    return losses


def _path(forecaster: Forecaster, examples: Examples, features: Floats, least: float) -> Floats:
    if is_scarce(examples, least):
        same = ConstantForecast(value=examples.share).probability(features)
        return np.tile(same, (len(forecaster.candidates), 1))
    return forecaster.path(examples, features)


def _losses(probability: Floats, judged: Examples) -> Floats:
    odds = np.log(probability) - np.log1p(-probability)
    return np.asarray(log_loss(odds, judged.outcome) @ judged.weight)


def _best(losses: Floats, forecaster: Forecaster) -> int:
    """Return the place of the least loss; the default's where nothing was judged."""
    if not losses.any():
        return forecaster.candidates.index(forecaster.default)
    return int(losses.argmin())
