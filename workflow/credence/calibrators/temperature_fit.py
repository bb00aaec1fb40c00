"""The least loss of the temperature family, found as searches in one dimension.

With u = (log y_k + A_k)/T - log Σ_{j≠k} y_j^{1/T} the log-odds of the predicted
class, the loss is convex in each award at a fixed temperature (likelihood), and
awards do not meet but in T. So the awards are profiled out, and what remains is
one curve over log T: it is scanned, and every valley refined by Newton's method
with exact derivatives inside a bracket. Nothing is left to a lucky start.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special

from credence.calibrators.temperature_rows import Rows, rest_moments
from credence.predictions import Floats

LOG_T_LOW, LOG_T_HIGH = float(np.log(0.05)), float(np.log(20.0))  # METHODS section 2
LARGEST_AWARD = 20.0  # METHODS section 2
N_SCAN = 25  # temperatures of the scan: a factor of 1.28 apart, with T = 1 among the starts
N_SCAN_AWARDS = 41  # awards tried where the loss is not convex in them (Brier)
SCAN_ROWS = 8_000  # the scan that only finds the valleys looks at about so many rows
STEP_DONE = 1e-11  # a Newton step below this is the last: its square is below rounding
MOST_STEPS = 80
FLAT = 1e-13  # relative differences of loss below this are rounding

Slope = Callable[[Floats], tuple[Floats, Floats]]


def find_minima(slope: Slope, start: Floats, low: Floats, high: Floats) -> Floats:
    """Return for each entry a point where the slope turns from - to +, or an end.

    Newton's method, kept inside a bracket that shrinks with every sign seen.

    Parameters
    ----------
    slope : callable
        Gives first and second derivatives at an array of points.
    start, low, high : array of float
        First guesses, and the ends of the ranges.

    Examples
    --------
    >>> def parabola(x): return 2 * (x - [1.0, 9.0]), np.full(2, 2.0)
    >>> find_minima(parabola, np.zeros(2), np.zeros(2), np.full(2, 5.0)).tolist()
    [1.0, 5.0]
    """
    point = np.clip(start, low, high)
    left, right = low.copy(), high.copy()
    for _ in range(MOST_STEPS):
        first, second = slope(point)
        right = np.where(first > 0, point, right)
        left = np.where(first < 0, point, left)
        is_convex = second > 0
        newton = point - first / np.where(is_convex, second, 1.0)
        middle = (left + right) / 2.0
        target = np.where(is_convex, newton, middle)
        # A step beyond an end tries the end itself once, then halves.
        below = np.where((left == low) & (point > low), low, middle)
        above = np.where((right == high) & (point < high), high, middle)
        inside = np.where(target <= left, below, np.where(target >= right, above, target))
        # A step too small to change the point is the last, not one to an end.
        target = np.where((first == 0) | (target == point), point, inside)
        moved = np.abs(target - point)
        point = target
        if np.all(moved <= STEP_DONE * (1.0 + np.abs(point))):
            break
    return point


@dataclass(frozen=True, eq=False)
class Loss:
    """Sums of one loss and its derivatives in the log-odds, per row.

    Parameters
    ----------
    value, first, second : array of float
        The weighted loss of each row, and its derivatives.
    """

    value: Floats
    first: Floats
    second: Floats


def loss_of(measure: str, log_odds: Floats, rows: Rows) -> Loss:
    """Return the top-label loss of each row, Eq. 15-16, with its derivatives.

    Parameters
    ----------
    measure : {'nll', 'brier'}
        Negative log-likelihood, or squared error.
    log_odds : array of float
        Log-odds of being right.
    rows : Rows
        Truth and weights.
    """
    weight = rows.weight
    first, second = derivatives_of(measure, log_odds, rows)
    if measure == "nll":
        away = np.where(rows.is_correct > 0, -log_odds, log_odds)
        value = np.maximum(away, 0.0) + np.log1p(np.exp(-np.abs(away)))
        return Loss(weight * value, first, second)
    residual = special.expit(log_odds) - rows.is_correct
    return Loss(weight * residual**2, first, second)


def derivatives_of(measure: str, log_odds: Floats, rows: Rows) -> tuple[Floats, Floats]:
    """Return first and second derivatives of each row's loss in its log-odds.

    Parameters
    ----------
    measure, log_odds, rows
        See :func:`loss_of`.
    """
    right = special.expit(log_odds)
    spread = right * (1.0 - right)
    residual = right - rows.is_correct
    if measure == "nll":
        return rows.weight * residual, rows.weight * spread
    slope = 2.0 * residual * spread
    curvature = 2.0 * spread * (spread + residual * (1.0 - 2.0 * right))
    return rows.weight * slope, rows.weight * curvature


@dataclass(frozen=True, eq=False)
class Profile:
    """The least loss at one temperature.

    Parameters
    ----------
    log_temperature : float
        Where.
    loss, slope, curvature : float
        Of the profile over log T.
    award : array of float
        One per run of rows: the best awards at this temperature.
    """

    log_temperature: float
    loss: float
    slope: float
    curvature: float
    award: Floats


@dataclass(frozen=True)
class Objective:
    """What is minimised: the rows, the measure, and which parameters there are.

    Parameters
    ----------
    rows : Rows
        The labelled rows.
    measure : {'nll', 'brier'}
        The loss.
    has_awards : bool
        Whether each class has an award, or none has.
    is_vector : bool
        Whether the loss is that of the true class's entry among all (Guo 2017).
    """

    rows: Rows
    measure: str
    has_awards: bool
    is_vector: bool = False

    def profile(self, log_temperature: float, award: Floats | None = None) -> Profile:
        """Return the least loss at a temperature.

        Parameters
        ----------
        log_temperature : float
            Logarithm of T.
        award : array of float, optional
            First guess of the awards.
        """
        if self.is_vector:
            return vector_profile(self.rows, self.measure, log_temperature)
        rows, beta = self.rows, float(np.exp(-log_temperature))
        log_sum, mean, variance = rest_moments(rows.rest, beta)
        base = beta * rows.top - log_sum
        best = np.zeros(rows.n_runs)
        if self.has_awards:
            best = self._awards(base, beta, award)
        run_award = best[rows.run]
        loss = loss_of(self.measure, base + beta * run_award, rows)
        tilt = -beta * (rows.top + run_award - mean)
        bend = -tilt - beta**2 * variance
        slope = float((loss.first * tilt).sum())
        curvature = float((loss.second * tilt**2 + loss.first * bend).sum())
        if self.has_awards:
            mixed = rows.per_run(beta * (loss.second * tilt - loss.first))
            own = rows.per_run(beta**2 * loss.second)
            is_free = (np.abs(best) < LARGEST_AWARD) & (own > 0)
            curvature -= float((mixed[is_free] ** 2 / own[is_free]).sum())
        return Profile(log_temperature, float(loss.value.sum()), slope, curvature, best)

    def _awards(self, base: Floats, beta: float, award: Floats | None) -> Floats:
        rows = self.rows
        run = rows.run

        def slope(point: Floats) -> tuple[Floats, Floats]:
            first, second = derivatives_of(self.measure, base + beta * point[run], rows)
            return beta * rows.per_run(first), beta**2 * rows.per_run(second)

        most = np.full(rows.n_runs, LARGEST_AWARD)
        if self.measure == "nll":
            start = np.zeros(rows.n_runs) if award is None else award
            return find_minima(slope, start, -most, most)
        grid = np.linspace(-LARGEST_AWARD, LARGEST_AWARD, N_SCAN_AWARDS)
        tried = np.array([self._losses(base + beta * point) for point in grid])
        place = tried.argmin(axis=0)
        low = grid[np.maximum(place - 1, 0)]
        high = grid[np.minimum(place + 1, N_SCAN_AWARDS - 1)]
        found = find_minima(slope, grid[place], low, high)
        is_better = self._losses(base + beta * found[run]) <= tried.min(axis=0)
        return np.where(is_better, found, grid[place])

    def _losses(self, log_odds: Floats) -> Floats:
        return self.rows.per_run(loss_of(self.measure, log_odds, self.rows).value)


def vector_profile(rows: Rows, measure: str, log_temperature: float) -> Profile:
    """Return the K-class loss at a temperature, with its derivatives in log T.

    Parameters
    ----------
    rows : Rows
        The labelled rows.
    measure : {'nll', 'brier'}
        -log p of the true class, or the squared distance to its indicator.
    log_temperature : float
        Logarithm of T.
    """
    beta = float(np.exp(-log_temperature))
    log_sum, mean, variance = full_moments(rows, beta)
    log_true = beta * rows.true - log_sum
    first, second = rows.true - mean, -variance  # of log_true, in β
    if measure == "nll":
        value, slope, curvature = -log_true, -first, -second
    else:
        double_sum, double_mean, double_variance = full_moments(rows, 2.0 * beta)
        log_square = double_sum - 2.0 * log_sum
        tilt, bend = 2.0 * (double_mean - mean), 4.0 * double_variance - 2.0 * variance
        square, true = np.exp(log_square), np.exp(log_true)
        value = 1.0 + square - 2.0 * true
        slope = square * tilt - 2.0 * true * first
        curvature = square * (tilt**2 + bend) - 2.0 * true * (first**2 + second)
    in_beta = float((rows.weight * slope).sum())
    in_beta_twice = float((rows.weight * curvature).sum())
    return Profile(
        log_temperature,
        float((rows.weight * value).sum()),
        -beta * in_beta,
        beta * in_beta + beta**2 * in_beta_twice,
        np.zeros(rows.n_runs),
    )


def full_moments(rows: Rows, beta: float) -> tuple[Floats, Floats, Floats]:
    """Return log Σ exp(β d), mean and variance of d over all classes.

    Parameters
    ----------
    rows : Rows
        The rows.
    beta : float
        1/T.
    """
    rest_sum, rest_mean, rest_variance = rest_moments(rows.rest, beta)
    log_sum = np.logaddexp(beta * rows.top, rest_sum)
    share = np.exp(beta * rows.top - log_sum)
    gap = rows.top - rest_mean
    mean = rest_mean + share * gap
    return log_sum, mean, (1.0 - share) * (rest_variance + share * gap**2)


def minimise(objective: Objective, starts: Sequence[float] = (0.0,)) -> Profile:
    """Return the least loss over temperatures from 0.05 to 20.

    Parameters
    ----------
    objective : Objective
        What to minimise.
    starts : sequence of float
        Further logarithms of T to try, such as a simpler method's; the result
        is no worse than at any of them.
    """
    grid = np.union1d(np.linspace(LOG_T_LOW, LOG_T_HIGH, N_SCAN), [*starts, 0.0])
    sketch = thinned(objective)
    profiles: list[Profile] = []
    for place in grid:
        known = profiles[-1].award if profiles else None
        profiles.append(sketch.profile(float(place), known))
    loss = np.array([profile.loss for profile in profiles])
    tolerance = FLAT * (1.0 + np.abs(loss).max())
    if np.ptp(loss) <= tolerance:
        return objective.profile(0.0)  # no temperature is better than another
    fenced = np.concatenate(([np.inf], loss, [np.inf]))
    is_valley = (loss <= fenced[:-2]) & (loss <= fenced[2:])
    found: list[Profile] = []
    for place in np.flatnonzero(is_valley).tolist():
        reach = 1 if sketch is objective else 2
        low = float(grid[max(place - reach, 0)])
        high = float(grid[min(place + reach, len(grid) - 1)])
        found.append(refine(objective, profiles[place], low, high))
    best = least(found)
    for start in starts if sketch is not objective else ():
        rival = objective.profile(start, best.award)
        if rival.loss < best.loss:
            best = least([best, refine(objective, rival, LOG_T_LOW, LOG_T_HIGH), rival])
    return best


def least(profiles: Sequence[Profile]) -> Profile:
    """Return the profile of least loss; of equal ones that nearest to T = 1.

    Parameters
    ----------
    profiles : sequence of Profile
        At least one.
    """
    floor = min(profile.loss for profile in profiles)
    equal = [one for one in profiles if one.loss <= floor + FLAT * (1.0 + abs(floor))]
    return min(equal, key=lambda one: abs(one.log_temperature))


def refine(objective: Objective, start: Profile, low: float, high: float) -> Profile:
    """Return the bottom of the valley of the profile that lies between two ends.

    Parameters
    ----------
    objective : Objective
        What to minimise.
    start : Profile
        A point of the valley.
    low, high : float
        Logarithms of T between which it lies.
    """
    seen = [objective.profile(start.log_temperature, start.award)]

    def slope(point: Floats) -> tuple[Floats, Floats]:
        if float(point[0]) != seen[-1].log_temperature:
            seen.append(objective.profile(float(point[0]), seen[-1].award))
        return np.array([seen[-1].slope]), np.array([seen[-1].curvature])

    bottom = find_minima(
        slope, np.array([start.log_temperature]), np.array([low]), np.array([high])
    )
    if float(bottom[0]) != seen[-1].log_temperature:
        seen.append(objective.profile(float(bottom[0]), seen[-1].award))
    floor = min(profile.loss for profile in seen)
    # The last point has the flattest slope; the loss itself is blunt near its minimum.
    if seen[-1].loss <= floor + FLAT * (1.0 + abs(floor)):
        return seen[-1]
    return least(seen)


def thinned(objective: Objective) -> Objective:
    """Return the objective on a sample of the rows, even over classes and scores.

    Every class keeps about the same number of rows at most, taken at even steps
    of the order in which rows came, and the weights make up for it.

    Parameters
    ----------
    objective : Objective
        What to minimise; returned as it is where it has few rows.
    """
    rows = objective.rows
    n_samples = len(rows.top)
    if n_samples <= SCAN_ROWS:
        return objective
    ends = np.append(rows.starts, n_samples)
    quota = SCAN_ROWS // rows.n_runs
    chosen, stretch = [], []
    for start, end in itertools.pairwise(ends):
        step = -(-int(end - start) // quota)
        chosen.append(np.arange(start, end, step))
        stretch.append(np.full(len(chosen[-1]), float(end - start) / len(chosen[-1])))
    kept = rows.take(np.concatenate(chosen))
    weight = kept.weight * np.concatenate(stretch)
    sample = Rows(
        kept.top,
        kept.rest,
        kept.true,
        kept.is_correct,
        weight / weight.sum(),
        kept.starts,
        kept.origin,
    )
    return Objective(sample, objective.measure, objective.has_awards, objective.is_vector)
