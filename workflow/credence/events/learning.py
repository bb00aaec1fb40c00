"""Forecasters tuned and judged on clusters that they did not see."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np

from credence.calibrators.newton import log_loss
from credence.events.forecasters.protocol import (
    Constant,
    Forecast,
    Forecaster,
    Lesson,
    share_with_prior,
)
from credence.predictions import Booleans, Floats, Integers


@dataclass(frozen=True, eq=False)
class Learnt:
    """A forecaster that has learnt one event.

    Parameters
    ----------
    forecast : Forecast
        From all proteins.
    value : float
        What tuning chose.
    held_out : array of float, shape (n_samples,)
        Each protein's probability from a forecaster tuned and fitted without its
        fold; NaN where there is no other fold.
    is_scarce : bool
        Whether there was too little to learn from.
    chosen : mapping of int to float
        What tuning without each fold chose.
    """

    forecast: Forecast
    value: float
    held_out: Floats
    is_scarce: bool
    chosen: Mapping[int, float] = field(default_factory=dict)


def effective(weight: Floats) -> float:
    """Return Kish's number, (Σw)² / Σw²; 0 of none.

    Parameters
    ----------
    weight : array of float
        Positive weights.

    Examples
    --------
    >>> effective(np.array([2.0, 2.0]))
    2.0
    """
    return float(weight.sum() ** 2 / (weight**2).sum()) if len(weight) else 0.0


def is_scarce(lesson: Lesson, least: float) -> bool:
    """Return whether one of the outcomes is too rare to learn from.

    Parameters
    ----------
    lesson : Lesson
        What is learnt from.
    least : float
        Effective number of proteins of either outcome.
    """
    came_true = lesson.outcome > 0
    return min(effective(lesson.weight[side]) for side in (came_true, ~came_true)) < least


def constant_of(lesson: Lesson) -> Constant:
    """Return the overall share, with half a protein on each side.

    Parameters
    ----------
    lesson : Lesson
        What is learnt from.
    """
    right = share_with_prior(lesson.weight @ lesson.outcome, lesson.weight.sum())
    return Constant(float(right))


def fit_one(forecaster: Forecaster, lesson: Lesson, value: float, least: float) -> Forecast:
    """Return what a forecaster learns under one value of its setting.

    Parameters
    ----------
    forecaster : Forecaster
        An entry of the registry.
    lesson : Lesson
        What is learnt from.
    value : float
        Of the setting that is tuned.
    least : float
        As in :func:`is_scarce`.
    """
    if is_scarce(lesson, least):
        return constant_of(lesson)
    return forecaster.fit(lesson, value)


def learn(
    forecaster: Forecaster,
    lesson: Lesson,
    fold: Integers,
    least: float,
    kept: Booleans | None = None,
) -> Learnt:
    """Return what a forecaster learns, tuned and judged by nested cross-fitting.

    Parameters
    ----------
    forecaster : Forecaster
        An entry of the registry.
    lesson : Lesson
        All proteins.
    fold : array of int, shape (n_samples,)
        Of whole clusters.
    least : float
        As in :func:`is_scarce`.
    kept : array of bool, optional
        Proteins that may be learnt from; all are judged.

    Notes
    -----
    For each fold o the value is chosen that has the least log loss on the other
    folds, each predicted by a fit without it and without o; then o is predicted by
    a fit with that value. A fit without two folds serves both, so that f folds ask
    for f (f + 1) / 2 fits, not f². The value of the forecast from all proteins is
    the one with the least loss over fits without one fold.
    """
    may = np.ones(lesson.n_samples, dtype=np.bool_) if kept is None else kept
    numbers = np.unique(fold).tolist()
    candidates = np.array(forecaster.candidates)
    held_out = np.full(lesson.n_samples, np.nan)
    everyone = lesson.take(may)
    inner = _inner_losses(forecaster, lesson, fold, may, least)
    total = np.zeros(len(candidates))
    chosen: dict[int, float] = {}
    for number in numbers:
        judged = np.equal(fold, number)
        seen = may & ~judged
        if not seen.any():
            continue
        found = _path(forecaster, lesson.take(seen), lesson.features[judged], least)
        place = _best(inner[number], forecaster)
        held_out[judged] = found[place]
        chosen[number] = float(candidates[place])
        total += _losses(found, lesson.take(judged))
    value = float(candidates[_best(total, forecaster)])
    forecast = fit_one(forecaster, everyone, value, least)
    return Learnt(forecast, value, held_out, is_scarce(everyone, least), chosen)


def with_settings_of(
    tuned: Learnt, forecaster: Forecaster, lesson: Lesson, fold: Integers, least: float
) -> Floats:
    """Return held-out probabilities under the settings that another lesson chose.

    Parameters
    ----------
    tuned : Learnt
        From another lesson with the same rows and folds.
    forecaster : Forecaster
        The same.
    lesson : Lesson
        With fewer features.
    fold, least
        As for :func:`learn`.
    """
    held_out = np.full(lesson.n_samples, np.nan)
    for number, value in tuned.chosen.items():
        judged = np.equal(fold, number)
        fitted = fit_one(forecaster, lesson.take(~judged), value, least)
        held_out[judged] = fitted.probability(lesson.features[judged])
    return held_out


def _inner_losses(
    forecaster: Forecaster, lesson: Lesson, fold: Integers, may: Booleans, least: float
) -> dict[int, Floats]:
    """Return by fold the loss of each candidate on the others, without that fold."""
    numbers = np.unique(fold).tolist()
    losses = {number: np.zeros(len(forecaster.candidates)) for number in numbers}
    if len(forecaster.candidates) == 1:
        return losses
    for one, other in combinations(numbers, 2):
        out = np.equal(fold, one) | np.equal(fold, other)
        seen = may & ~out
        if not seen.any():
            continue
        found = _path(forecaster, lesson.take(seen), lesson.features[out], least)
        for left, judged in ((one, other), (other, one)):
            rows = np.equal(fold[out], judged)
            losses[left] += _losses(found[:, rows], lesson.take(np.equal(fold, judged)))
    return losses


def _path(forecaster: Forecaster, lesson: Lesson, features: Floats, least: float) -> Floats:
    if is_scarce(lesson, least):
        same = constant_of(lesson).probability(features)
        return np.tile(same, (len(forecaster.candidates), 1))
    return forecaster.path(lesson, features)


def _losses(probability: Floats, judged: Lesson) -> Floats:
    """Return the weighted log loss of each candidate."""
    odds = np.log(probability) - np.log1p(-probability)
    return np.asarray(log_loss(odds, judged.outcome) @ judged.weight)


def _best(losses: Floats, forecaster: Forecaster) -> int:
    """Return the place of the least loss; the default's where nothing was judged."""
    if not losses.any():
        return forecaster.candidates.index(forecaster.default)
    return int(losses.argmin())
