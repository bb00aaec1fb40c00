"""Masses of right and wrong predictions on the score axis, compressed.

The additive methods need no proteins, only how much weight lies where. Distinct
scores are kept as they are while they are few; where they are many, each narrow
bin is replaced by the two points of a Gauss quadrature, which keeps the bin's
mass, mean, variance and third moment (Golub & Welsch 1969,
doi 10.1090/S0025-5718-69-99647-1). A bin of one or two distinct scores is its
own quadrature, so isolated proteins stay exactly where they are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from credence.calibrators.fixed_point import fixed
from credence.calibrators.protocol import ClassSample, Masses
from credence.predictions import Floats, Integers


@dataclass(frozen=True, eq=False)
class Nodes:
    """Points with masses that stand for the scores of one kind."""

    score: Floats  # Ascending
    mass: Floats  # Positive


def group_scores(score: Floats) -> tuple[Floats, Integers]:
    """Return the distinct scores, ascending, and which of them each row has."""
    if not bool((score[1:] >= score[:-1]).all()):
        distinct, place = np.unique(score, return_inverse=True)
        return distinct, place
    is_first = np.ones(len(score), dtype=np.bool_)
    is_first[1:] = score[1:] > score[:-1]
    return score[is_first], np.cumsum(is_first) - 1


def masses_of(sample: ClassSample) -> Masses:
    """Return the masses of a class's positives at their distinct scores."""
    distinct, place = group_scores(sample.score)
    units, is_correct = fixed(sample.weight), sample.is_correct
    right, wrong = (
        units.where(kind).placed(place, len(distinct)).floats()
        for kind in (is_correct, ~is_correct)
    )
    return Masses(distinct, right, wrong)


def nodes_of(masses: Masses, kind: str, width: float) -> Nodes:
    """Return nodes that stand for the right or the wrong predictions."""
    mass = masses.right if kind == "right" else masses.wrong
    held = mass > 0
    return compress(masses.score[held], mass[held], width)


def compress(score: Floats, mass: Floats, width: float) -> Nodes:
    """Return at most two nodes per bin, with the bin's first four moments.

    Four equal masses in one bin become two, with the same mean and variance:

    >>> nodes = compress(np.array([0.0, 1.0, 2.0, 3.0]), np.ones(4), 10.0)
    >>> nodes.score.round(6).tolist(), nodes.mass.tolist()
    ([0.381966, 2.618034], [2.0, 2.0])
    """
    if len(score) <= 2 or float((score[2:] - score[:-2]).min()) >= width:
        return Nodes(score, mass)
    bin_ = np.floor((score - score[0]) / width).astype(np.int64)
    starts = np.flatnonzero(np.diff(bin_, prepend=-1))
    n_held = np.diff(starts, append=len(score))
    if bool((n_held <= 2).all()):
        return Nodes(score, mass)
    group = np.repeat(np.arange(len(starts)), n_held)
    total = np.add.reduceat(mass, starts)
    mean = np.add.reduceat(mass * score, starts) / total
    offset = score - mean[group]
    second = np.add.reduceat(mass * offset**2, starts) / total
    third = np.add.reduceat(mass * offset**3, starts) / total
    many = n_held > 2
    spread = np.sqrt(second[many])
    # The two points are mean + spread·x with x² − skew·x − 1 = 0.
    skew = third[many] / spread**3
    root = np.sqrt(skew**2 + 4.0)
    low, high = (skew - root) / 2.0, (skew + root) / 2.0
    mass_low = high / root
    few_rows = ~many[group]
    scores = [score[few_rows], mean[many] + spread * low, mean[many] + spread * high]
    weights = [mass[few_rows], total[many] * mass_low, total[many] * (1.0 - mass_low)]
    joined = np.concatenate(scores)
    order = np.argsort(joined, kind="stable")
    return Nodes(joined[order], np.concatenate(weights)[order])
