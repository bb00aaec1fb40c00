"""Which proteins to verify next, so that confidences are known better where they are used."""

from dataclasses import dataclass

import numpy as np
from scipy import special
from scipy.optimize import elementwise

from credence.lists.held_out import CONFIDENCE_STEPS, HeldOut
from credence.predictions import Floats, Integers

# Confidences at which the strata of a class end; finer where most predictions are.
STRATUM_EDGES: Floats = np.array([0.0, 0.25, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99])
POWER = 2.0 / 3.0  # which narrows the mean interval most (decision 0034)
PRIOR = 1.0  # families, right as the confidence says: no stratum is taken for certain


@dataclass(frozen=True, kw_only=True, eq=False)
class Plan:
    """How many proteins to verify by class and stratum, a range of confidences."""

    n_query: Integers  # Proteins of the query set
    n_known: Integers  # Calibration families there
    right: Floats  # Share of these that is right
    n_verify: Integers

    def width(self, more: Integers | int = 0) -> Floats:
        """Return the mean width of intervals of each class, so many more being verified."""
        variance = self.right * (1.0 - self.right) / (self.n_known + more + PRIOR)
        factor = 2.0 * float(special.ndtri(0.975))
        total = np.maximum(self.n_query.sum(axis=1), 1)
        width = np.minimum(factor * np.sqrt(variance), 1.0)
        return np.asarray((self.n_query * width).sum(axis=1) / total)


def stratum_of(confidence: Floats) -> Integers:
    """Return the stratum of each confidence; -1 where there is none."""
    place = np.searchsorted(STRATUM_EDGES, confidence, side="right") - 1
    return np.where(np.isnan(confidence), -1, place).astype(np.int64)


def by_stratum(counts: Integers) -> Integers:
    """Return counts by class and step as those by class and stratum."""
    return np.asarray(
        counts @ (stratum_of(CONFIDENCE_STEPS)[:, None] == np.arange(len(STRATUM_EDGES))), np.int64
    )


def plan_of(
    held_out: HeldOut, n_query: Integers, number: int, most: Integers | None = None
) -> Plan:
    """Return how to divide so many verifications among the strata of a query set.

    `n_query` counts its proteins by class and stratum. A class is given what brings its families
    to λ (Σ N √(p (1 − p)))^⅔, with one λ for all, since its curve borrows from all its strata;
    these share it by N √(p (1 − p)). None is given more than `most`, or than it holds.
    """
    most = n_query if most is None else most
    shape, n_keys = n_query.shape, max(len(held_out.key), 1)
    stratum_code = held_out.predicted * shape[1] + stratum_of(CONFIDENCE_STEPS[held_out.step])
    family = stratum_code * n_keys + held_out.cluster
    # A family is one piece of evidence in a stratum, right as far as its members are.
    pairs, place = np.unique(family, return_inverse=True)
    wrong = np.bincount(place, weights=held_out.is_wrong, minlength=len(pairs))
    share = wrong / np.maximum(np.bincount(place, minlength=len(pairs)), 1)
    stratum = pairs // n_keys
    n_known = np.bincount(stratum, minlength=n_query.size).reshape(shape)
    n_wrong = np.bincount(stratum, weights=share, minlength=n_query.size).reshape(shape)
    stated = (STRATUM_EDGES + np.append(STRATUM_EDGES[1:], 1.0)) / 2.0
    right = (n_known - n_wrong + PRIOR * stated) / (n_known + PRIOR)
    spread = np.asarray(n_query * np.sqrt(right * (1.0 - right)), np.float64)
    families = np.unique(held_out.predicted * n_keys + held_out.cluster)
    n_families = np.bincount(families // n_keys, minlength=shape[0])
    goal = spread.sum(axis=1) ** POWER
    of_class = divided(goal, n_families, most.sum(axis=1), min(number, int(most.sum())))
    n_verify, none = np.zeros_like(n_query), np.zeros_like(n_query[0])
    for class_ in np.flatnonzero(of_class):
        n_verify[class_] = divided(spread[class_], none, most[class_], int(of_class[class_]))
    return Plan(n_query=n_query, n_known=n_known, right=right, n_verify=n_verify)


def divided(goal: Floats, n_known: Integers, most: Integers, number: int) -> Integers:
    """Return whole numbers that add up to `number`: max(0, λ goal − known), at most `most`."""
    is_wanted = goal > 0
    reached = min(number, int(most[is_wanted].sum()))

    def missing(factor: Floats) -> Floats:
        wanted = np.clip(np.multiply.outer(factor, goal) - n_known, 0.0, most)
        return np.asarray(wanted.reshape(*factor.shape, -1).sum(axis=-1) - reached)

    # Twice what gives each all it holds.
    greatest = 2.0 * ((n_known + most)[is_wanted] / goal[is_wanted]).max(initial=0.0)
    factor = float(elementwise.find_root(missing, (0.0, greatest)).x)
    wanted = np.clip(factor * goal - n_known, 0.0, most)
    counts = np.floor(wanted + 1e-9).astype(np.int64)
    # The rest goes to the greatest remainders, one each; then to whoever has some left.
    for most_each in (1, number):
        for place in np.argsort(-(wanted - counts), axis=None, kind="stable"):
            left = min(most_each, most.flat[place] - counts.flat[place], number - counts.sum())
            counts.flat[place] += max(left, 0)
    return counts
