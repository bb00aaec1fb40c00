"""Probabilities of several events that no distribution over the classes contradicts.

Forecasts made one by one are moved to the nearest that one distribution can have given (de
Finetti's coherence), which is nearer to what turns out, whatever turns out (decision 0036).
"""

from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy import special

from credence.calibrators.newton import newton_minimum
from credence.predictions import Booleans, Floats, Integers

LEAST_FORECAST = 1e-6  # of a forecast, and of what it leaves: no forecast is taken to be certain
LEAST_LEFT = 1e-12  # that a fixed probability leaves to other classes
BARRIERS = (1e-4, 1e-10)  # of the logarithms: the first brings shares off the edge
LAST_DECREMENT = 1e-2  # of a barrier: the decrement at which a step is the last
RIDGE_OF_CURVATURE = 1e-14  # of the largest curvature, that keeps the rest above it
NOT_QUITE = 0.95  # of the way to a share of 0


@dataclass(frozen=True, kw_only=True, eq=False)
class EventProblem:
    """What some proteins with the same events ask."""

    columns: Floats  # 1 where an event holds a class, else 0
    goal: Floats  # What was forecast
    fixed: Floats  # What a class that is not among these has
    base: Floats  # 1 where an event holds that class too, else 0

    @property
    def left(self) -> Floats:
        """What is left to be divided, shape (n_samples, 1)."""
        return 1.0 - self.fixed[:, None]

    def events(self, share: Floats) -> tuple[Floats, Floats]:
        """Return the events' probabilities and what they leave, both sums: 0 beside 1 is exact."""
        fixed, left = self.fixed[:, None], self.left
        inside = fixed * self.base + left * combined(share, self.columns)
        return inside, fixed * (1.0 - self.base) + left * combined(share, 1.0 - self.columns)

    def value(self, share: Floats, barrier: float) -> Floats:
        """Return the divergence with the barrier, of each protein."""
        p, rest = self.events(share)
        apart = special.rel_entr(p, self.goal) + special.rel_entr(rest, 1.0 - self.goal)
        return np.asarray(apart.sum(axis=1) - barrier * np.log(share).sum(axis=1))


def nearest_shares(columns: Floats, stated: Floats, fixed: Floats, base: Floats) -> Floats:
    """Return r ≥ 0 with Σr = 1 for which the events are nearest, shape (n_samples, n_classes).

    p = fixed·base + (1 − fixed)·columns r of least divergence (see `coherent`) − b Σ log r, for
    ever smaller b, by Newton steps relative to r.
    """
    kinds, kind, size = np.unique(columns, axis=1, return_inverse=True, return_counts=True)
    n_samples, n_kinds = len(stated), kinds.shape[1]
    share = np.full((n_samples, n_kinds), 1.0 / n_kinds)
    is_open = fixed < 1.0 - LEAST_LEFT
    is_partial = kinds.any(axis=1) & ~kinds.all(axis=1)
    if is_partial.any() and is_open.any():
        goal = np.clip(stated[np.ix_(is_open, is_partial)], LEAST_FORECAST, 1.0 - LEAST_FORECAST)
        problem = EventProblem(
            columns=kinds[is_partial], goal=goal, fixed=fixed[is_open], base=base[is_partial]
        )
        nearest = share[is_open]
        for barrier in BARRIERS:
            nearest = newton_minimum(
                nearest,
                partial(problem.value, barrier=barrier),
                partial(_step_at, problem, barrier=barrier),
            )
        share[is_open] = nearest / nearest.sum(axis=1, keepdims=True)
    return np.asarray((share / size)[:, np.ravel(kind)])


def _step_at(problem: EventProblem, share: Floats, barrier: float) -> tuple[Floats, Booleans]:
    """Return the step of each protein's shares, and whether it is the last."""
    columns, n_kinds = problem.columns, share.shape[1]
    p, rest = problem.events(share)
    odds = np.log(p) - np.log(rest) - special.logit(problem.goal)
    gradient = share * problem.left * combined(odds, columns.T) - barrier
    pairs = (columns[:, :, None] * columns[:, None, :]).reshape(len(columns), -1)
    curvature = combined(problem.left**2 * (1.0 / p + 1.0 / rest), pairs.T)
    curvature = curvature.reshape(-1, n_kinds, n_kinds) * share[:, :, None] * share[:, None, :]
    largest = np.einsum("nkk->nk", curvature).max(axis=1)
    curvature += (barrier + RIDGE_OF_CURVATURE * largest)[:, None, None] * np.eye(n_kinds)
    # Shares go on summing to 1: Σ share · step = 0.
    solved = np.linalg.solve(curvature, np.stack([gradient, share], axis=2))
    free, bound = solved[:, :, 0], solved[:, :, 1]
    price = (share * free).sum(axis=1) / (share * bound).sum(axis=1)
    way = price[:, None] * bound - free
    length = np.minimum(1.0, NOT_QUITE / np.maximum(-way.min(axis=1), LEAST_LEFT))
    # Near the least a step squares the error: the last one is taken, and enough.
    return share * length[:, None] * way, -(gradient * way).sum(axis=1) <= LAST_DECREMENT * barrier


def combined(values: Floats, weights: Floats) -> Floats:
    """Return weights · each row, added up in one order however many rows there are."""
    answer = np.zeros((len(values), len(weights)))
    for place in range(values.shape[1]):
        answer += values[:, place : place + 1] * weights[:, place]
    return answer


DECIMALS_OF_FORECAST = 9  # of the forecasts: below, rounding decides


def coherent(held: Booleans, stated: Floats, fixed: Floats | None, first: Booleans) -> Floats:
    """Return the nearest probabilities that contradict each other nowhere (decision 0036).

    Protein by protein, p = M q with q ≥ 0, Σq = 1 (and q of the fixed class as it is) of least
    divergence (Predd et al. 2009, doi 10.1109/TIT.2009.2027573). Sums M q are taken in one order,
    so that an event that holds another is never below it.
    """
    n_events, n_samples, n_classes = held.shape
    answer = np.full((n_events, n_samples), np.nan)
    rounded = np.round(stated, DECIMALS_OF_FORECAST)
    pinned = np.full(n_samples, np.nan) if fixed is None else fixed
    for rows in rows_of_each_problem(held, ~np.isnan(stated), ~np.isnan(pinned), first):
        inside, is_first = held[:, rows[0]], first[rows[0]]
        asked = ~np.isnan(stated[:, rows[0]])
        is_fixed = not np.isnan(pinned[rows[0]])
        if not asked.any() and not is_fixed:
            continue
        share = np.zeros((len(rows), n_classes))
        matrix, target = inside[asked].astype(float), rounded[np.ix_(asked, rows)].T
        if is_fixed:
            fixed_share = pinned[rows][:, None]
            share[:, is_first] = fixed_share
            free = nearest_shares(
                matrix[:, ~is_first], target, fixed_share[:, 0], matrix[:, is_first][:, 0]
            )
            share[:, ~is_first] = (1.0 - fixed_share) * free
        else:
            share = nearest_shares(matrix, target, np.zeros(len(rows)), np.zeros(len(matrix)))
        total = np.zeros((n_events, len(rows)))
        # Class by class: more classes are never less, not even by rounding.
        for class_ in range(n_classes):
            total += np.where(inside[:, class_, None], share[:, class_], 0.0)
        answer[:, rows] = np.minimum(total, 1.0)
    is_known = ~np.isnan(stated)
    if fixed is not None:
        is_known |= (held == first[None]).all(axis=2) & ~np.isnan(fixed)[None, :]
    answer[~is_known] = np.nan
    answer[held.all(axis=2)] = 1.0
    answer[~held.any(axis=2)] = 0.0
    return answer


def rows_of_each_problem(
    held: Booleans, asked: Booleans, is_fixed: Booleans, first: Booleans
) -> list[Integers]:
    """Return the rows that pose the same problem, together."""
    n_samples = held.shape[1]
    if n_samples == 0:
        return []
    parts = (held.transpose(1, 0, 2).reshape(n_samples, -1), asked.T, is_fixed[:, None], first)
    packed = np.packbits(np.hstack(parts), axis=1)
    words = packed.view([("", packed.dtype)] * packed.shape[1])[:, 0]
    _, kind = np.unique(words, return_inverse=True)
    order = np.argsort(kind, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(kind[order])) + 1)
