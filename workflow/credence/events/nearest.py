"""The distribution over the classes whose events are nearest to what was forecast."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import special

from credence.predictions import Booleans, Floats

LEAST = 1e-6  # of a forecast, and of what it leaves: no forecast is taken to be certain
LEAST_LEFT = 1e-12  # that a fixed probability leaves to other classes
BARRIERS = (1e-4, 1e-10)  # of the logarithms: the first brings shares off the edge
ENOUGH = 1e-2  # of a barrier: the decrement at which a step is the last
MOST_STEPS = 100  # with one barrier; five are the rule
MOST_HALVINGS = 40
ROUNDING = 1e-14  # of the largest curvature, that keeps the rest above it
NOT_QUITE = 0.95  # of the way to a share of 0
PROMISED = 1e-4  # of the fall that the slope promises, at least (Armijo)


@dataclass(frozen=True, eq=False)
class Problem:
    """What some proteins with the same events ask.

    Parameters
    ----------
    columns : array of float, shape (n_events, n_classes)
        1 where an event holds a class, else 0.
    goal : array of float, shape (n_samples, n_events)
        What was forecast.
    own : array of float, shape (n_samples,)
        What a class that is not among these has.
    base : array of float, shape (n_events,)
        1 where an event holds that class too, else 0.
    """

    columns: Floats
    goal: Floats
    own: Floats
    base: Floats

    @property
    def room(self) -> Floats:
        """What is left to be divided, shape (n_samples, 1)."""
        return 1.0 - self.own[:, None]

    def take(self, rows: Booleans) -> Problem:
        """Return the problem of some of the proteins."""
        return Problem(self.columns, self.goal[rows], self.own[rows], self.base)

    def events(self, share: Floats) -> tuple[Floats, Floats]:
        """Return the events' probabilities and what they leave, (n_samples, n_events).

        Both are sums, so that neither is 0 where the other is next to 1.
        """
        own, room = self.own[:, None], self.room
        inside = own * self.base + room * combined(share, self.columns)
        return inside, own * (1.0 - self.base) + room * combined(share, 1.0 - self.columns)

    def value(self, share: Floats, barrier: float) -> Floats:
        """Return the divergence with the barrier, of each protein."""
        p, rest = self.events(share)
        apart = special.rel_entr(p, self.goal) + special.rel_entr(rest, 1.0 - self.goal)
        return np.asarray(apart.sum(axis=1) - barrier * np.log(share).sum(axis=1))


def nearest_shares(columns: Floats, said: Floats, own: Floats, base: Floats) -> Floats:
    """Return r ≥ 0 with Σr = 1 for which the events are nearest, shape (n_samples, n_classes).

    Parameters
    ----------
    columns : array of float, shape (n_events, n_classes)
        1 where an event holds a class, else 0.
    said : array of float, shape (n_samples, n_events)
        What was forecast, in [0, 1].
    own : array of float, shape (n_samples,)
        What a class that is not among these has.
    base : array of float, shape (n_events,)
        1 where an event holds that class too, else 0.

    Notes
    -----
    With p = own·base + (1 − own)·columns r the least of Σ p log(p/said) +
    (1 − p) log((1 − p)/(1 − said)) − b Σ log r, for ever smaller b, by Newton's
    method in steps relative to r. Classes that no event tells apart are one: what
    they share is divided evenly.

    Examples
    --------
    >>> none = np.zeros(1)
    >>> nearest_shares(np.array([[1.0, 0.0]]), np.array([[0.3]]), none, none).round(6).tolist()
    [[0.3, 0.7]]
    """
    kinds, kind, size = np.unique(columns, axis=1, return_inverse=True, return_counts=True)
    n_samples, n_kinds = len(said), kinds.shape[1]
    share = np.full((n_samples, n_kinds), 1.0 / n_kinds)
    is_open = own < 1.0 - LEAST_LEFT
    tells = kinds.any(axis=1) & ~kinds.all(axis=1)
    if tells.any() and is_open.any():
        problem = Problem(
            kinds[tells],
            np.clip(said[np.ix_(is_open, tells)], LEAST, 1.0 - LEAST),
            own[is_open],
            base[tells],
        )
        found = share[is_open]
        for barrier in BARRIERS:
            found = _descend(problem, found, barrier)
        share[is_open] = found / found.sum(axis=1, keepdims=True)
    return np.asarray((share / size)[:, np.ravel(kind)])


def _descend(problem: Problem, start: Floats, barrier: float) -> Floats:
    """Return where each protein's value is least; none depends on another."""
    share = start.copy()
    rows = np.arange(len(share))
    for _ in range(MOST_STEPS):
        way, decrement = _newton(problem, share[rows], barrier)
        share[rows], length = _search(problem, share[rows], way, decrement, barrier)
        # Near the least a step squares the error: the last one is taken, and enough.
        goes_on = (decrement > ENOUGH * barrier) & (length > 0)
        if not goes_on.any():
            break
        rows, problem = rows[goes_on], problem.take(goes_on)
    return share


def _newton(problem: Problem, share: Floats, barrier: float) -> tuple[Floats, Floats]:
    """Return the step, relative to the shares, and how far it would bring the value down."""
    columns, n_kinds = problem.columns, share.shape[1]
    p, rest = problem.events(share)
    odds = np.log(p) - np.log(rest) - special.logit(problem.goal)
    gradient = share * problem.room * combined(odds, columns.T) - barrier
    pairs = (columns[:, :, None] * columns[:, None, :]).reshape(len(columns), -1)
    curvature = combined(problem.room**2 * (1.0 / p + 1.0 / rest), pairs.T)
    curvature = curvature.reshape(-1, n_kinds, n_kinds) * share[:, :, None] * share[:, None, :]
    largest = np.einsum("nkk->nk", curvature).max(axis=1)
    curvature += (barrier + ROUNDING * largest)[:, None, None] * np.eye(n_kinds)
    # Shares go on summing to 1: Σ share · step = 0.
    found = np.linalg.solve(curvature, np.stack([gradient, share], axis=2))
    free, bound = found[:, :, 0], found[:, :, 1]
    price = (share * free).sum(axis=1) / (share * bound).sum(axis=1)
    way = price[:, None] * bound - free
    return way, -(gradient * way).sum(axis=1)


def _search(
    problem: Problem, share: Floats, way: Floats, decrement: Floats, barrier: float
) -> tuple[Floats, Floats]:
    """Return the shares after as much of each step as lowers the value, and how much."""
    length = np.minimum(1.0, NOT_QUITE / np.maximum(-way.min(axis=1), LEAST_LEFT))
    before = problem.value(share, barrier)
    for _ in range(MOST_HALVINGS):
        after = problem.value(share * (1.0 + length[:, None] * way), barrier)
        rises = after > before - PROMISED * length * decrement
        if not rises.any():
            break
        length = np.where(rises, length / 2.0, length)
    length = np.where(rises, 0.0, length)
    return share * (1.0 + length[:, None] * way), length


def combined(values: Floats, weights: Floats) -> Floats:
    """Return weights · each row, added up in one order however many rows there are.

    Parameters
    ----------
    values : array of float, shape (n_rows, n_from)
        Rows.
    weights : array of float, shape (n_to, n_from)
        What each answer takes of each value.
    """
    answer = np.zeros((len(values), len(weights)))
    for place in range(values.shape[1]):
        answer += values[:, place : place + 1] * weights[:, place]
    return answer
