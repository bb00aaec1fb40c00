"""Whether every call of a genome is right, and how many are wrong."""

from typing import Any

import numpy as np
from scipy import special

from credence.calibrators.intervals import draws_needed, ends_of_draws, student_ends
from credence.draws import keys_of, uniform, weight_blocks
from credence.lists.errors import (
    DRAWS_AT_ONCE,
    N_CONFIDENCE_STEPS,
    N_LIST_DRAWS,
    StepErrors,
    likeness_of,
)
from credence.lists.held_out import CONFIDENCE_STEPS, HeldOut
from credence.predictions import Floats, Integers, Strings

# Of the confidences of a step the middle, in log odds; the last one is 1.
ODDS: Floats = special.logit(
    np.minimum((CONFIDENCE_STEPS + np.append(CONFIDENCE_STEPS[1:], 1.0)) / 2.0, 1.0 - 1e-4)
)
NEWTON_STEPS, CAUTION = 25, 1.0  # The latter families hold the confidence to what it states


def genomes_of(
    held_out: HeldOut, ids: Strings, step: Integers, genome: Strings, family: Strings, level: float
) -> dict[str, Any]:
    """Return, by column and genome, what held-out proteins show of calls with such steps.

    With the probability ρ the calls of a family in a genome are right or wrong by one draw for
    all, else each by its own. How often a call is wrong is a line in the log odds of its
    confidence, fitted to held-out proteins (decision 0033).
    """
    names, code = np.unique(genome.astype(str), return_inverse=True)
    both = np.stack([code, np.unique(family.astype(str), return_inverse=True)[1]])
    groups, of_group = np.unique(both, axis=1, return_inverse=True)
    order = np.argsort(of_group.ravel(), kind="stable")
    code, step, of_group, ids = code[order], step[order], of_group.ravel()[order], ids[order]
    first = np.flatnonzero(np.diff(of_group, prepend=-1))
    # Where calibration shows nothing of relatives, each answer takes what promises less.
    shown_alike = likeness_of(held_out)
    alike, likely = (0.0, 1.0) if np.isnan(shown_alike) else (shown_alike, shown_alike)
    call_key, family_key = (
        keys_of(ids),
        keys_of(family[order])[first] ^ keys_of(genome[order])[first],
    )
    shown = StepErrors(held_out, np.arange(N_CONFIDENCE_STEPS))
    usual = float(held_out.weight.sum()) / max(len(held_out.key), 1) or 1.0

    def all_right(error: Floats) -> Floats:
        right = 1.0 - error
        least, product = (fold.reduceat(right, first) for fold in (np.minimum, np.multiply))
        together = alike * least + (1.0 - alike) * product
        with np.errstate(divide="ignore"):
            return np.exp(np.bincount(groups[0], weights=np.log(together)))

    error = fitted_errors(*shown.sums(np.ones((len(held_out.key), 1))), usual)[step, 0]
    wrong, every = np.empty((2, N_LIST_DRAWS, len(names)))
    for draws, weights in weight_blocks(held_out.key, N_LIST_DRAWS, DRAWS_AT_ONCE):
        drawn = fitted_errors(*shown.sums(weights, draws), usual)
        for draw, errors in zip(range(N_LIST_DRAWS)[draws], drawn.T[:, step], strict=True):
            is_one = uniform(family_key, draw, "alike")[of_group] < likely
            together = uniform(family_key, draw, "family")[of_group]
            lot = np.where(is_one, together, uniform(call_key, draw, "call"))
            wrong[draw] = np.bincount(code, weights=lot < errors)
            every[draw] = all_right(errors)
    ends, calls = ((1.0 - level) / 2.0, (1.0 + level) / 2.0), np.bincount(code)
    if draws_needed(ends[0]) > N_LIST_DRAWS:
        shares = student_ends((wrong / calls).T, np.inf, ends[0], is_share=True)
        least, most = np.floor(shares[0] * calls), np.ceil(shares[1] * calls)
    else:
        least, most = np.quantile(wrong, ends, axis=0, method="inverted_cdf")
    low, high = ends_of_draws(every.T, level, is_share=True)
    chance = all_right(error)
    return {
        "genome": names.astype(object),
        "calls": calls,
        "expected_wrong": np.bincount(code, weights=error),
        "wrong_lower": least,
        "wrong_upper": most,
        "all_right": chance,
        "all_right_lower": np.minimum(low, chance),
        "all_right_upper": np.maximum(high, chance),
    }


def fitted_errors(total: Floats, wrong: Floats, usual: float) -> Floats:
    """Return how often calls of each step are wrong: σ(a + b · log odds of the confidence).

    In each column by itself; a family that weighs as `usual` holds a to 0 and b to 1.
    """
    line = np.stack([np.zeros(total.shape[1]), np.ones(total.shape[1])])
    for _ in range(NEWTON_STEPS):
        right = special.expit(line[0] + ODDS[:, None] * line[1])
        off = total * right - (total - wrong)
        curve = np.maximum(total * right * (1.0 - right), 1e-12)
        slope = np.stack([off.sum(axis=0), ODDS @ off])
        slope += CAUTION * usual * (line - np.array([[0.0], [1.0]]))
        first, mixed, last = curve.sum(axis=0), ODDS @ curve, ODDS**2 @ curve
        first, last = first + CAUTION * usual, last + CAUTION * usual
        step = np.stack([last * slope[0] - mixed * slope[1], first * slope[1] - mixed * slope[0]])
        line -= np.clip(step / (first * last - mixed**2), -1.0, 1.0)
    return np.asarray(special.expit(-line[0] - ODDS[:, None] * line[1]))
