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
# What no refit shows is small beside the noise of few proteins, and not nothing: before the data
# speak its standard deviation in log odds is this, and so many steps without noise outweigh it.
MISFIT_BEFORE, MISFIT_STEPS = 0.35, 12.0
# Steps of one curve share what it gets wrong: however many there are, so many speak at most.
MOST_SPEAKING = 10.0
PART_NEAR = 0.2  # of a class's families guards the misfit, where a step has fewer
# Half of a right and half of a wrong protein, so that an answer of 0 or 1 has a width.
JEFFREYS = 0.5


@dataclass(frozen=True, kw_only=True, eq=False)
class ClassSpread:
    """The errors of one class."""

    answer: Floats  # Mean answers of the steps, ascending
    error: Floats  # Standard error there in units of √(p (1 − p)), where p is the answer
    misfit: float  # Of what no refit shows, in log odds, all steps together
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
            error = error * np.sqrt(guarded_scale(p, families))
            # What answers get wrong alike is of the class: more than a step's families guard it.
            near = np.maximum(families, spread.n_families.sum() * PART_NEAR)
            misfit = spread.misfit * guarded_scale(p, near)
            width = factor * np.hypot(error, misfit)
            lower[rows], upper[rows] = (np.clip(end, 0.0, 1.0) for end in (p - width, p + width))
        return lower, upper


def guarded_scale(answer: Floats, families: Floats | float) -> Floats:
    """Return p (1 − p) with half a right and half a wrong family among so many."""
    p = (answer * families + JEFFREYS) / (families + 2.0 * JEFFREYS)
    return np.asarray(p * (1.0 - p))


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


@dataclass(frozen=True, kw_only=True)
class Step:
    """Answers near each other, and how far they were from what came true."""

    rows: Integers
    mean: float  # Answer
    n_families: float  # Effective
    scale: float  # p (1 − p) of the mean, with half a right and half a wrong family
    miss: float  # Squared, in log odds
    noise: float  # What of it chance explains


def steps_of(labelled: Labelled, answer: Floats) -> list[Step]:
    """Return a class's steps of the answer, relatives counted once in their noise."""
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
        sums = np.bincount(code[rows], weights=w * (y - p)) / total
        noise = max(float((sums**2).sum()), scale / families)
        step = Step(
            rows=rows,
            mean=mean,
            n_families=families,
            scale=scale,
            miss=float(sums.sum() / scale) ** 2,
            noise=noise / scale**2,
        )
        steps.append(step)
    return steps


def pulled_misfit(steps: list[Step], before: float) -> float:
    """Return the misfit of steps in log odds, pulled towards what it was before them.

    σ² = (12 σ₀² + Σ ω (miss² − noise)) / (12 + Σ ω), where ω = (σ₀² / (σ₀² + noise))² is what a
    step can say of it, made smaller where their sum is above ten.
    """
    noise = np.array([step.noise for step in steps])
    surplus = np.array([step.miss for step in steps]) - noise
    speaking = (MISFIT_BEFORE**2 / (MISFIT_BEFORE**2 + noise)) ** 2
    speaking = speaking * (MOST_SPEAKING / max(float(speaking.sum()), MOST_SPEAKING))
    variance = MISFIT_STEPS * before**2 + float(speaking @ surplus)
    variance /= MISFIT_STEPS + float(speaking.sum())
    return float(np.sqrt(max(variance, 0.0)))


def misfit_of(labelled: Labelled, answer: Floats) -> float:
    """Return the misfit of the answers of all classes together, in log odds."""
    rank = predicted_rank(labelled.predictions)
    parts = [np.flatnonzero(rank == place) for place in np.unique(rank)]
    steps = [step for rows in parts for step in steps_of(labelled.take(rows), answer[rows])]
    return pulled_misfit(steps, MISFIT_BEFORE)


def spread_of(labelled: Labelled, answer: Floats, refits: list[Floats], level: float) -> Spread:
    """Return the errors of cross-fitted answers by class."""
    names = labelled.predictions.class_names
    rank = predicted_rank(labelled.predictions)
    by_class: dict[str, tuple[list[Step], Floats]] = {}
    for place, name in enumerate(sorted(names)):
        rows = np.flatnonzero((rank == place) & ~np.isnan(answer))
        gaps = np.array([half[rows] - answer[rows] for half in refits])
        if len(rows) and gaps.size and not np.isnan(gaps).all():
            steps = steps_of(labelled.take(rows), answer[rows])
            squares = np.nanmean(gaps**2, axis=0) / GAP_OVER_VARIANCE
            by_class[name] = steps, step_errors(steps, squares, labelled.weight[rows])
    together = [step for steps, _ in by_class.values() for step in steps]
    common = pulled_misfit(together, MISFIT_BEFORE)
    classes = {
        name: ClassSpread(
            answer=np.array([step.mean for step in steps]),
            error=error,
            misfit=pulled_misfit(steps, common),
            n_families=np.array([step.n_families for step in steps]),
        )
        for name, (steps, error) in by_class.items()
    }
    return Spread(level=level, classes=classes)


def step_errors(steps: list[Step], squares: Floats, weight: Floats) -> Floats:
    """Return the relative standard error of each step from the squared gaps of its rows."""
    means = [
        np.nansum(squares[step.rows] * weight[step.rows]) / weight[step.rows].sum() / step.scale
        for step in steps
    ]
    return np.asarray(np.sqrt(means), dtype=np.float64)
