"""The error of a list: how many of its members are wrong, and how surely that is known.

What is stated rests on outcomes of held-out proteins, never on the confidences of
what was selected by them. A list ends at a step of the confidence; its error is that
of the steps above, each counting as often as the query set has it, and one wrong family
is added (decision 0033). A protein held out that was right lowers what others are
given, so equal confidences become unequal, right ones lowest: errors that fall with the
confidence are pooled too, and the greater error counts (decision 0033). Where outcomes are
weighted to other class proportions, a list's error is at least what its confidences say.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import scipy
from scipy import sparse, special

from credence.calibrators.intervals import draws_needed
from credence.draws import keys_of, weight_blocks
from credence.lists.held_out import CONFIDENCE_STEPS, HeldOut
from credence.predictions import Floats, Integers

N_LIST_DRAWS = 400  # of families, at least
DRAWS_AT_ONCE = 50  # bounds the memory
FAMILY_ROUNDING = 1e-6  # of a number of families
FAMILIES_OF_BIN = 10  # of a bin of steps that shares one error
EXACT_BELOW_FAMILIES = 100.0  # below, the bound is Clopper and Pearson's where that is higher
BAND_FROM = 5.0  # families above a step that the band is simultaneous over
N_CONFIDENCE_STEPS = len(CONFIDENCE_STEPS)
# What a prediction in the middle of each step says of being wrong.
STATED_WRONG: Floats = 1.0 - (CONFIDENCE_STEPS + np.append(CONFIDENCE_STEPS[1:], 1.0)) / 2.0


@dataclass(frozen=True, kw_only=True, eq=False)
class Above:
    """What calibration has at each step or above."""

    n_families: Floats  # Fewer than there are where weights differ
    kish: Floats  # The same by Kish: fewer where some are large, too
    as_wrong: Floats  # How many there would be if each weighed as a wrong one does
    relatives: Floats  # Mean number of relatives that a protein has there
    largest: Floats  # Greatest share of what is there that one family has


@dataclass(frozen=True, kw_only=True)
class Right:
    """How many members of a list are right."""

    expected: float
    lower: float  # Predictive interval
    upper: float
    lower_alike: float  # The same if relatives were all right or all wrong together
    upper_alike: float


@dataclass(frozen=True, kw_only=True, eq=False)
class ListErrors:
    """The error of the list that ends at each step, of one query set."""

    n_query: Integers  # Proteins of the query set in each step
    n_listed: Integers  # At each step or above
    above: Above
    shown: Floats  # Error rate as it is seen; NaN where nothing shows it
    error: Floats  # Estimated error rate: the same with a wrong family added
    bound: Floats  # Its upper end, of all steps together with the certainty
    q_value: Floats  # The least error of a list that holds the step
    # Error rate in each step, as its bin of steps shows, and with bins pooled
    step_error: tuple[Floats, Floats]
    variance: Floats  # Of the estimated error
    alike: Floats  # How alike relatives in each list are in being wrong, 0 to 1
    off: Floats  # How far the error of all steps together is off, in each draw
    right_family: float = 1.0  # What a right family that was not seen weighs, against the others
    first: int = 0  # The lowest step that a list may reach down to

    def end_of(self, error: float, *, is_certain: bool = False) -> int | None:
        """Return the lowest step of the longest list with at most such an error."""
        limit = self.bound if is_certain else self.error
        steps = np.flatnonzero(limit <= error)  # NaN is not
        steps = steps[steps >= self.first]
        return int(steps[0]) if len(steps) else None

    def right(self, step: int, level: float, relatives: float | None = None) -> Right:
        """Return how many of a list are right; `relatives` of a member, if None, as calibrated."""
        few, many, of_proteins = self.right_ends(step)
        others = float(self.above.relatives[step]) if relatives is None else relatives
        n = float(self.n_listed[step])
        variances = [
            of_proteins * (1.0 + alike * others) + n**2 * float(self.variance[step])
            for alike in (float(self.alike[step]), 1.0)
        ]
        few = float(np.fmin(few, n - n * self.error[step]))  # as the error is stated
        return _right(few, few, many, n, variances, float(self.above.kish[step]), level)

    def right_ends(self, step: int) -> tuple[float, float, float]:
        """Return how many are right with a wrong family more, with a right one, and a variance.

        Neither none nor all is certain. The variance is that of independent proteins.
        """
        n, n_query = float(self.n_listed[step]), self.n_query[step:]
        shown = (of_step[step:] for of_step in self.step_error)
        wrong = max(shown, key=lambda of_step: float(of_step @ n_query))
        added = 1.0 / max(float(self.above.n_families[step]), 1.0)
        least = wrong / (1.0 + added * self.right_family)
        most = (wrong + added) / (1.0 + added)
        of_proteins = float(np.maximum(least * (1.0 - least), most * (1.0 - most)) @ n_query)
        return max(n - float(most @ n_query), 0.0), n - float(least @ n_query), of_proteins


def _right(
    expected: float,
    few: float,
    many: float,
    n: float,
    variances: Sequence[float],
    families: float,
    level: float,
) -> Right:
    """Return how many of n are right: from few to many, and what varies beside."""
    factor = float(special.stdtrit(max(families - 1.0, 1.0), (1.0 + level) / 2.0))

    def ends(variance: float) -> tuple[float, float]:
        reach = factor * float(np.sqrt(variance))
        # Wrong ones come in families, so many more are likelier than as many fewer: the
        # lower end also on a scale where the spread of a share does not hang on the share.
        slope = 2.0 * float(np.sqrt(few * max(n - few, 0.0)))
        angle = np.arccos(np.sqrt(few / n)) + reach / slope if slope > 0 else np.pi / 2.0
        skewed = n * float(np.cos(min(angle, np.pi / 2.0))) ** 2
        return max(min(few - reach, skewed), 0.0), min(many + reach, n)

    (lower, upper), (lower_alike, upper_alike) = (ends(variance) for variance in variances)
    return Right(
        expected=expected,
        lower=lower,
        upper=upper,
        lower_alike=lower_alike,
        upper_alike=upper_alike,
    )


def right_of_all(classes: Sequence[ListErrors], families: float, level: float) -> Right:
    """Return how many of all predictions of some classes are right: the sum over the classes.

    No list ends where they are right, so half a wrong family is added to each class and half a
    right one. What is not known is that of the sum in the same draws of families; `families` is
    Kish's number of all that there are.
    """
    ends = np.array([errors.right_ends(0) for errors in classes])
    n_each = [float(errors.n_listed[0]) for errors in classes]
    off = np.sum([n * errors.off for n, errors in zip(n_each, classes, strict=True)], axis=0)
    relatives = np.array([errors.above.relatives[0] for errors in classes])
    alike = np.array([errors.alike[0] for errors in classes])
    variances = [
        float((off**2).mean() + ends[:, 2] @ (1.0 + part * relatives))
        for part in (alike, np.ones(len(classes)))
    ]
    few, many, _ = ends.sum(axis=0).tolist()
    return _right((few + many) / 2.0, few, many, sum(n_each), variances, families, level)


def errors_of(
    held_out: HeldOut, n_query: Integers, certainty: float, least_confidence: float | None = None
) -> ListErrors:
    """Return the error of each list that the confidences of a query set allow.

    Without a least confidence, all that there is was chosen by none.
    """
    bin_ = bins_of(held_out)
    shown = [StepErrors(held_out, bin_of) for bin_of in (bin_, merged_bins(held_out, bin_))]
    every = [bin_of.share(np.ones((len(held_out.key), 1))) for bin_of in shown]
    step_error = every[0][:, 0], every[1][:, 0]
    above, alike = _above(held_out, step_error[0])
    listed, mix = np.cumsum(n_query[::-1])[::-1], held_out.mix

    def of_lists(steps: Iterable[Floats], wrong_family: Floats) -> tuple[Floats, Floats]:
        """Return the error rate in each list, and with a wrong family added."""
        wrong = np.max(
            [np.cumsum((bin_of * n_query[:, None])[::-1], axis=0) for bin_of in steps], axis=0
        )
        share = wrong[::-1] / np.maximum(listed, 1)[:, None]
        added = wrong_family / np.maximum(above.n_families, 1.0)[:, None]
        return share, np.asarray((share + added) / (1.0 + added))

    share, error = (column[:, 0] for column in of_lists(every, np.ones(1)))
    n_draws = max(N_LIST_DRAWS, draws_needed(1.0 - certainty))
    draws = np.empty((len(CONFIDENCE_STEPS), n_draws))
    ours = weight_blocks(keys_of(["a wrong family"]), n_draws, DRAWS_AT_ONCE)
    of_families = weight_blocks(held_out.key, n_draws, DRAWS_AT_ONCE)
    for (part, weights), (_, added) in zip(of_families, ours, strict=True):
        draws[:, part] = of_lists((bin_of.share(weights, part) for bin_of in shown), added[0])[1]
    # Draws of a mix lie around the estimated one, which is not the one that is used.
    centre = error if mix is not None else draws.mean(axis=1)
    variance = ((draws - centre[:, None]) ** 2).mean(axis=1)
    off = draws[0] - centre[0]
    bound = np.maximum(_band(error, draws, above, certainty), _exact(share, above, certainty))
    if mix is not None and least_confidence is not None:
        stated = np.cumsum((STATED_WRONG * n_query)[::-1])[::-1] / np.maximum(listed, 1)
        error, bound = np.maximum(error, stated), np.maximum(bound, stated)
    is_known = (above.n_families > 0) & (listed > 0)
    share, error, bound = (np.where(is_known, part, np.nan) for part in (share, error, bound))
    first = int(np.searchsorted(CONFIDENCE_STEPS, least_confidence or 0.0))
    heavy = 1.0 if held_out.member is None else max(held_out.member / held_out.weight.mean(), 1.0)
    return ListErrors(
        n_query=n_query,
        n_listed=listed,
        above=above,
        shown=share,
        error=error,
        bound=np.minimum(bound, 1.0),
        q_value=q_values(error, first),
        step_error=step_error,
        variance=variance,
        alike=alike,
        off=off,
        right_family=heavy,
        first=first,
    )


def q_values(error: Floats, first: int) -> Floats:
    """Return the least error of a list that holds each step, from the lowest that it may reach."""
    may_end = ~np.isnan(error) & (np.arange(len(error)) >= first)
    least = np.minimum.accumulate(np.where(may_end, error, np.inf))
    return np.where(np.isinf(least), np.nan, least)


class StepErrors:
    """The error rate in each step, as its bin of steps shows."""

    def __init__(self, held_out: HeldOut, bin_: Integers) -> None:
        self._bin, self._masses, self._mix = bin_, _masses(held_out, bin_), held_out.mix

    def sums(self, weights: Floats, draws: slice | None = None) -> tuple[Floats, Floats]:
        """Return the weight of all, and of the wrong ones, in each bin.

        Clusters are weighted, and in draws of a mix the true classes.
        """
        shape = (-1, int(self._bin.max()) + 1, weights.shape[1])
        sums = [(mass @ weights).reshape(shape) for mass in self._masses]
        if self._mix is not None and draws is not None:
            sums = [part * self._mix.of(draws)[:, None] for part in sums]
        total, wrong = (part.sum(axis=0) for part in sums)
        return total, wrong

    def share(self, weights: Floats, draws: slice | None = None) -> Floats:
        """Return the share in each step, weighted like that."""
        total, wrong = self.sums(weights, draws)
        return np.asarray((wrong / np.maximum(total, 1e-300))[self._bin])


def likeness_of(held_out: HeldOut) -> float:
    """Return how alike relatives are in being wrong, 0 to 1; NaN where there are none."""
    step_error = StepErrors(held_out, bins_of(held_out)).share(np.ones((len(held_out.key), 1)))[
        :, 0
    ]
    above, alike = _above(held_out, step_error)
    return float(alike[0]) if above.relatives[0] else float("nan")


def bins_of(held_out: HeldOut) -> Integers:
    """Return the bin of each step from the top down, each of as many families as needed."""
    n_steps, n_keys = len(CONFIDENCE_STEPS), max(len(held_out.key), 1)
    # The mean weight of each family in each step, and how many families that makes.
    pairs, place = np.unique(held_out.step * n_keys + held_out.cluster, return_inverse=True)
    number = np.bincount(place, minlength=len(pairs))
    weight = np.bincount(place, weights=held_out.weight, minlength=len(pairs))
    step, family = np.divmod(pairs, n_keys)
    starts = np.searchsorted(step, np.arange(n_steps + 1))
    bin_ = np.empty(n_steps, dtype=np.int64)
    current, total, square = 0, 0.0, 0.0
    known: dict[int, tuple[float, int]] = {}
    for at in range(n_steps - 1, -1, -1):
        if total**2 >= (FAMILIES_OF_BIN - FAMILY_ROUNDING) * square > 0.0:
            current, total, square, known = current + 1, 0.0, 0.0, {}
        bin_[at] = current
        for row in range(starts[at], starts[at + 1]):
            before, n = known.get(family[row], (0.0, 0))
            after = before + weight[row], n + int(number[row])
            old, new = before / max(n, 1), after[0] / after[1]
            known[family[row]] = after
            total, square = total + new - old, square + new**2 - old**2
    if current > 0 and not total**2 >= (FAMILIES_OF_BIN - FAMILY_ROUNDING) * square > 0.0:
        bin_[bin_ == current] = current - 1  # too few are left at the bottom
    return bin_


def merged_bins(held_out: HeldOut, bin_: Integers) -> Integers:
    """Return bins put together until none has fewer wrong ones than one of more confidence."""
    row_bin = bin_[held_out.step]
    total, wrong = (
        np.bincount(row_bin, weights=weight, minlength=int(bin_.max()) + 1)
        for weight in (held_out.weight, held_out.weight * held_out.is_wrong)
    )
    total = np.maximum(total, 1e-300)
    starts = scipy.optimize.isotonic_regression(wrong / total, weights=total).blocks
    return np.asarray(np.searchsorted(starts, bin_, side="right") - 1)


def _masses(held_out: HeldOut, bin_: Integers) -> tuple[sparse.csr_array, sparse.csr_array]:
    """Return the weight of all, and of the wrong ones, by bin and cluster."""
    n_bins, n_classes = int(bin_.max()) + 1, 1
    row = bin_[held_out.step]
    if held_out.mix is not None:  # then those of each true class by themselves
        n_classes = held_out.mix.n_classes
        row = row + n_bins * held_out.true
    shape, place = (n_classes * n_bins, len(held_out.key)), (row, held_out.cluster)
    wrong = np.where(held_out.is_wrong, held_out.weight, 0.0)
    kinds = (held_out.weight, wrong)
    total, of_wrong = (sparse.coo_array((mass, place), shape=shape).tocsr() for mass in kinds)
    return total, of_wrong


def _above(held_out: HeldOut, step_error: Floats) -> tuple[Above, Floats]:
    """Return what calibration has at each step or above, as rows join from the top down.

    And how alike relatives there are in being wrong, from pairs of residuals: against the
    variance that independent proteins would have, times the mean number of relatives. Large
    families whose members are seldom wrong then count for what they add.
    """
    down = np.argsort(-held_out.step, kind="stable")
    cluster, p = held_out.cluster[down], step_error[held_out.step[down]]
    weight, residual = pd.Series(held_out.weight[down]), pd.Series(held_out.is_wrong[down] - p)
    by_family = weight.groupby(cluster)
    there = by_family.cumcount().to_numpy(np.float64)  # relatives that joined before
    mass = by_family.cumsum().to_numpy() - weight.to_numpy()
    squares = weight.to_numpy() * (weight.to_numpy() + 2.0 * mass)
    before = residual.groupby(cluster).cumsum() - residual
    n_rows = np.searchsorted(-held_out.step[down], -np.arange(len(CONFIDENCE_STEPS)), "right")

    def sums(values: Floats) -> Floats:
        return np.concatenate([[0.0], np.cumsum(values)])[n_rows]

    total, square = sums(weight.to_numpy()), sums(squares)
    kish = np.divide(total**2, square, out=np.zeros_like(total), where=square > 0)
    relatives = sums(2.0 * there) / np.maximum(n_rows, 1)
    alone = np.maximum(n_rows * sums(weight.to_numpy() ** 2), 1e-300)
    n_there = sums((there == 0).astype(np.float64))
    n_families = n_there * total**2 / alone
    as_wrong = np.full_like(total, np.inf)
    if held_out.wrong_member is not None:
        as_wrong = n_there * total / (held_out.wrong_member * np.maximum(n_rows, 1))
    largest = np.concatenate([[0.0], np.maximum.accumulate(mass + weight.to_numpy())])[n_rows]
    pairs, most = sums(2.0 * (residual * before).to_numpy()), sums(p * (1.0 - p)) * relatives
    # Where no relatives are known, they may be all alike.
    alike = np.divide(pairs, most, out=np.ones_like(most), where=most > 0)
    above = Above(
        n_families=np.where(n_rows > 0, n_families, 0.0),
        kish=kish,
        as_wrong=as_wrong,
        relatives=relatives,
        largest=np.divide(largest, total, out=np.zeros_like(total), where=total > 0),
    )
    return above, np.clip(alike, 0.0, 1.0)


def _band(error: Floats, draws: Floats, above: Above, certainty: float) -> Floats:
    """Return the upper end of the errors of all lists together, by the largest studentised gap."""
    # On a scale where the spread of a share does not hang on the share.
    centre, angle = (np.arcsin(np.sqrt(np.clip(share, 0.0, 1.0))) for share in (error, draws))
    spread = angle.std(axis=1)
    is_judged = (above.n_families >= BAND_FROM) & (spread > 0)
    if not is_judged.any():
        return np.ones(len(error))
    gap = (centre[is_judged, None] - angle[is_judged]) / spread[is_judged, None]
    factor = float(np.quantile(gap.max(axis=0), certainty))
    upper = np.sin(np.minimum(centre + factor * spread, np.pi / 2.0)) ** 2
    return np.where(is_judged, upper, 1.0)


def _exact(share: Floats, above: Above, certainty: float) -> Floats:
    """Return Clopper and Pearson's upper end where families are few, as Kish counts them.

    Or where they would be, if each weighed as a wrong one: a wrong one that was not seen may weigh
    much more than the right ones that were.
    """
    n = np.maximum(np.minimum(above.kish, above.as_wrong), 1.0)
    upper = special.betaincinv(share * n + 1.0, np.maximum(n * (1.0 - share), 1e-12), certainty)
    families = np.minimum(above.n_families, above.as_wrong)
    return np.where(families < EXACT_BELOW_FAMILIES, upper, 0.0)
