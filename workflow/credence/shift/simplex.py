"""Convex problems over shares: numbers that are not negative and sum to 1."""

from __future__ import annotations

import numpy as np

from credence.predictions import Booleans, Floats

FLAT = 1e-9  # of the greatest curvature: below it a direction cannot be told from flat
AS_IF = 1e-8  # the curvature it is given; rounding then moves no share by 1e-7
TAKEN_PART = 1e-3  # of a class in flat directions, above which its share is not determined
SLACK = 1e-12  # of a multiplier, as a part of the largest gradient
MOST_TURNS = 100  # changes of the active set, per class
MOST_STEPS = 100
MOST_HALVINGS = 60
LEAST_PART = 0.05  # of a cell's density that a step leaves: the parabola holds no further
DECREMENT = 1e-14  # of the mean log-likelihood, below which the maximum is reached


def quadratic_minimum(curvature: Floats, linear: Floats) -> Floats:
    """Return the shares x that minimise ½ x'Hx − c'x, exactly, by active sets.

    Where H is flat in a direction the shares nearest to even are taken, so that
    the answer depends neither on the order of the classes nor on rounding.

    Parameters
    ----------
    curvature : array of float, shape (n, n)
        H, symmetric and not negative.
    linear : array of float, shape (n,)
        c.

    Examples
    --------
    >>> quadratic_minimum(np.eye(2), np.array([0.9, 0.3])).round(9).tolist()
    [0.8, 0.2]
    >>> quadratic_minimum(np.eye(2), np.array([2.0, 0.0])).round(9).tolist()
    [1.0, 0.0]
    """
    n = len(linear)
    steady = conditioned(curvature)
    is_free = np.ones(n, dtype=np.bool_)
    x = np.full(n, 1.0 / n)
    for _ in range(MOST_TURNS * n):
        target = on_free(steady, linear, is_free)
        falling = is_free & (target < 0.0)
        if falling.any():
            part = np.full(n, np.inf)
            part[falling] = x[falling] / (x[falling] - target[falling])
            blocking = int(part.argmin())
            x = x + min(float(part[blocking]), 1.0) * (target - x)
            x[blocking] = 0.0
            is_free[blocking] = False
            continue
        x = target
        gradient = steady @ x - linear
        level = float(gradient[is_free].mean())
        gain = np.where(is_free, 0.0, gradient - level)
        if gain.min() >= -SLACK * max(float(np.abs(gradient).max()), float(np.abs(linear).max())):
            break
        is_free[int(gain.argmin())] = True
    x = np.where(is_free, np.maximum(x, 0.0), 0.0)
    return np.asarray(x / x.sum())


def conditioned(curvature: Floats) -> Floats:
    """Return H with a little curvature in directions in which it is flat.

    With less the place of the minimum is made of rounding errors.

    Parameters
    ----------
    curvature : array of float, shape (n, n)
        Symmetric and not negative.
    """
    values, vectors = np.linalg.eigh((curvature + curvature.T) / 2.0)
    greatest = max(float(values[-1]), np.finfo(np.float64).tiny)
    is_flat = values < FLAT * greatest
    if not is_flat.any():
        return np.asarray((curvature + curvature.T) / 2.0)
    return np.asarray((vectors * np.where(is_flat, AS_IF * greatest, values)) @ vectors.T)


def undetermined(curvature: Floats) -> Booleans:
    """Return which shares the curvature says nothing of.

    Parameters
    ----------
    curvature : array of float, shape (n, n)
        Symmetric and not negative.

    Examples
    --------
    >>> undetermined(np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]])).tolist()
    [True, True, False]
    """
    return np.asarray((flat_directions(curvature) ** 2).sum(axis=1) > TAKEN_PART)


def flat_directions(curvature: Floats) -> Floats:
    """Return unit vectors, as columns, along which H is as good as flat.

    Parameters
    ----------
    curvature : array of float, shape (n, n)
        Symmetric and not negative.
    """
    values, vectors = np.linalg.eigh((curvature + curvature.T) / 2.0)
    return np.asarray(vectors[:, values < FLAT * values[-1]])


def on_free(curvature: Floats, linear: Floats, is_free: Booleans) -> Floats:
    """Return the minimum with some entries held at 0, the others of any sign.

    Parameters
    ----------
    curvature, linear : array of float
        As in :func:`quadratic_minimum`.
    is_free : array of bool
        Entries that are not held at 0; at least one.
    """
    free = np.flatnonzero(is_free)
    n = len(free)
    block = curvature[np.ix_(free, free)]
    unit = max(float(np.trace(block)) / n, np.finfo(np.float64).tiny)
    system = np.zeros((n + 1, n + 1))
    system[:n, :n] = block / unit
    system[:n, n] = system[n, :n] = 1.0
    right = np.append(linear[free] / unit, 1.0)
    solution = np.linalg.lstsq(system, right, rcond=None)[0]
    x = np.zeros(len(linear))
    x[free] = solution[:n]
    return x


def mixture_maximum(ratio: Floats, mass: Floats, start: Floats) -> Floats:
    """Return the shares of most likelihood: q that maximises Σ m log Σ_j ratio_j q_j.

    Newton's method with a quadratic problem over the simplex in each step; the
    likelihood is concave, so there is one maximum value.

    Parameters
    ----------
    ratio : array of float, shape (n_cells, n_classes)
        Densities of each cell under each class, up to a factor per cell;
        positive.
    mass : array of float, shape (n_cells,)
        Weights of the cells, summing to 1.
    start : array of float, shape (n_classes,)
        Positive shares to start from.
    """
    share = start
    density = ratio @ share
    value = float(mass @ np.log(density))
    for _ in range(MOST_STEPS):
        gradient, curvature = mixture_slope(ratio, mass, density)
        steady = conditioned(curvature)
        target = quadratic_minimum(steady, steady @ share + gradient)
        step = target - share
        rise = float(gradient @ step)
        if rise <= DECREMENT:
            break
        part = 1.0
        for _ in range(MOST_HALVINGS):
            trial = share + part * step
            trial_density = ratio @ trial
            if (trial_density >= LEAST_PART * density).all():
                trial_value = float(mass @ np.log(trial_density))
                if trial_value >= value:
                    break
            part /= 2.0
        else:
            break
        share, density, value = trial, trial_density, trial_value
    return np.asarray(share / share.sum())


def mixture_slope(ratio: Floats, mass: Floats, density: Floats) -> tuple[Floats, Floats]:
    """Return gradient and negated second derivative of the mean log-likelihood.

    Parameters
    ----------
    ratio, mass : array of float
        As in :func:`mixture_maximum`.
    density : array of float, shape (n_cells,)
        Of the mixture in each cell.
    """
    scaled = ratio / density[:, None]
    weighted = scaled * mass[:, None]
    return weighted.sum(axis=0), weighted.T @ scaled
