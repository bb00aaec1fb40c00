"""How far a pooled answer may be from the truth: what refits show, and what they cannot.

A model of all classes is refitted on halves of the clusters: how far the halves' answers for
unseen proteins are from the cross-fitted ones is its standard error. What all refits get wrong
alike is the misfit: the gap between what was stated and what came true, beyond its own noise.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from credence.calibrators.score_logs import predicted_rank
from credence.draws import encode_clusters, uniform
from credence.predictions import Booleans, Floats, Integers, Labelled
from credence.progress import each

N_PAIRS = 4  # of complementary halves
# Variance of a half's answer minus that of four fifths, of a mean of N: 2/N + 5/(4N) − 2/N.
GAP_OVER_VARIANCE = 1.25
STEP_FAMILIES = 15.0  # in a step of the answer
MOST_ANSWER_STEPS = 12
MISFIT_PRIOR = 4.0  # a class's misfit is pulled towards that of all classes by so many steps
# Of a curve over the score: steps average what it gets wrong here and there (decision 0006).
CURVE_WIDER = 1.3
# Half of a right and half of a wrong protein, so that an answer of 0 or 1 has a width.
JEFFREYS = 0.5


@dataclass(frozen=True, kw_only=True, eq=False)
class ClassSpread:
    """The relative error of one class: in units of √(p (1 − p)), where p is the answer."""

    answer: Floats  # Mean answers of the steps, ascending
    error: Floats  # Relative standard error there
    misfit: float  # The same for what no refit shows, all steps together
    n_families: Floats  # At each step, effective


@dataclass(frozen=True, kw_only=True, eq=False)
class Spread:
    """The errors of all classes."""

    level: float  # Coverage of the intervals
    classes: Mapping[str, ClassSpread]  # By class name, where anything was learnt

    def interval(
        self, value: Floats, rank: Integers, names: tuple[str, ...]
    ) -> tuple[Floats, Floats]:
        """Return the ends of the interval of each answer."""
        lower, upper = np.full_like(value, np.nan), np.full_like(value, np.nan)
        factor = scipy.special.stdtrit(2 * N_PAIRS - 1, (1.0 + self.level) / 2.0)
        for place, name in enumerate(names):
            spread, rows = self.classes.get(name), np.flatnonzero(rank == place)
            if spread is None or len(rows) == 0:
                continue
            p = value[rows]
            error = np.interp(p, spread.answer, spread.error)
            families = np.interp(p, spread.answer, spread.n_families)
            guarded = (p * families + JEFFREYS) / (families + 2.0 * JEFFREYS)
            width = factor * np.hypot(error, spread.misfit)
            width *= np.sqrt(guarded * (1.0 - guarded))
            lower[rows], upper[rows] = (np.clip(end, 0.0, 1.0) for end in (p - width, p + width))
        return lower, upper


def halves(keys: NDArray[np.uint64], draw: int) -> Booleans:
    """Return whether each cluster is in a half; draws 2i and 2i + 1 complement."""
    is_in: Booleans = uniform(keys, draw // 2, "halves") < 1 / 2
    return is_in if draw % 2 == 0 else ~is_in


def answers_of_halves(
    labelled: Labelled, refit: Callable[[Labelled, Labelled], Floats]
) -> list[Floats]:
    """Return each protein's answer, ``refit(seen, unseen)``, by the half that it is not in."""
    code, key = encode_clusters(labelled.cluster)
    refits = []
    for pair in each(range(N_PAIRS), N_PAIRS):
        is_first = halves(key, 2 * pair)[code]
        if not is_first.any() or is_first.all():
            continue
        first, second = labelled.take(is_first), labelled.take(~is_first)
        of_first = refit(second, first)
        answers = np.full((labelled.n_samples, *of_first.shape[1:]), np.nan)
        answers[is_first] = of_first
        answers[~is_first] = refit(first, second)
        refits.append(answers)
    return refits


def spread_of(
    labelled: Labelled, answer: Floats, refits: list[Floats], level: float, is_curve: bool = False
) -> Spread:
    """Return the errors of cross-fitted answers by class; a curve is one over the score."""
    names = labelled.predictions.class_names
    rank = predicted_rank(labelled.predictions)
    by_class = {}
    for place, name in enumerate(sorted(names)):
        rows = np.flatnonzero((rank == place) & ~np.isnan(answer))
        gaps = np.array([half[rows] - answer[rows] for half in refits])
        if len(rows) and gaps.size and not np.isnan(gaps).all():
            by_class[name] = steps_of(labelled.take(rows), answer[rows], gaps)
    if not by_class:
        return Spread(level=level, classes={})
    gap = np.concatenate([row[2] for row in by_class.values()])
    common = float(gap.mean())
    classes, wider = {}, CURVE_WIDER if is_curve else 1.0
    for name, (at, error, surplus, families) in by_class.items():
        shrunken = (surplus.sum() + MISFIT_PRIOR * max(common, 0.0)) / (
            len(surplus) + MISFIT_PRIOR
        )
        misfit = wider * float(np.sqrt(max(shrunken, 0.0)))
        classes[name] = ClassSpread(
            answer=at, error=wider * error, misfit=misfit, n_families=families
        )
    return Spread(level=level, classes=classes)


def steps_of(
    labelled: Labelled, answer: Floats, gaps: Floats
) -> tuple[Floats, Floats, Floats, Floats]:
    """Return a class's steps: mean answer, relative error, squared misfit, families."""
    code, key = encode_clusters(labelled.cluster)
    weight, target = labelled.weight, labelled.is_correct.astype(np.float64)
    order = np.lexsort((key[code], answer))
    n_steps = int(np.clip(len(key) // STEP_FAMILIES, 1, MOST_ANSWER_STEPS))
    steps = []
    for rows in np.array_split(order, n_steps):
        p, w, y = answer[rows], weight[rows], target[rows]
        total = w.sum()
        mean = float((p * w).sum() / total)
        mass = np.bincount(code[rows], weights=w)
        families = float(total**2 / (mass**2).sum())
        scale = mean * (1.0 - mean) + JEFFREYS / families
        seen = gaps[:, rows]
        squares = np.nanmean(seen**2, axis=0) / GAP_OVER_VARIANCE
        error = float(np.nansum(squares * w) / total / scale)
        miss = float(((y - p) * w).sum() / total)
        sums = np.bincount(code[rows], weights=w * (y - p)) / total
        noise = max(float((sums**2).sum()), scale / families)
        steps.append((mean, np.sqrt(error), (miss**2 - noise) / scale, families))
    at, error_, surplus, families_ = map(np.array, zip(*steps, strict=True))
    return at, error_, surplus, families_
