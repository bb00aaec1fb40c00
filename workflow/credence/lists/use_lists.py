"""Lists of predictions of a query set, each with its error and how many of it are right."""

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import product

import numpy as np

from credence.findings import ClassShare, ProteinList, UseLists, VerifyClass
from credence.lists.decision import BACKGROUND, CALLS, Counts, GroupedErrors, ListRules
from credence.lists.errors import ListErrors, errors_of, right_of_all
from credence.lists.held_out import CONFIDENCE_STEPS
from credence.lists.plan import by_stratum, plan_of
from credence.lists.thresholds import curve_of

N_VERIFY = 20  # verifications that a page divides among the classes


def use_lists(
    name: str,
    rules: ListRules,
    counts: Counts,
    allowed: Sequence[float],
    level: float,
    *,
    is_adjusted: bool,
    grouped: GroupedErrors | None = None,
) -> UseLists:
    """Return the lists of a query set for each share `allowed`; counts are by class and step.

    The errors of the groups of classes are found again unless they are `grouped` already.
    """
    held_out, certainty, class_names = rules.held_out, rules.certainty, rules.class_names
    grouped = grouped or rules.calls_and_background(counts.listable)
    lists = [
        list_of_group(rules, grouped, group, error, level, is_certain=is_certain)
        for group in range(len(grouped.errors))
        for error, is_certain in product(allowed, (False, True))
    ]
    every = errors_of(held_out, counts.every.sum(axis=0), certainty)
    whole, of_classes = [], []
    for class_ in np.flatnonzero(counts.every.any(axis=1)).tolist():
        class_name, known = class_names[class_], held_out.of_classes(class_)
        lists += [list_of(class_name, grouped.by_class[class_], error, level) for error in allowed]
        of_class = errors_of(known, counts.every[class_], certainty)
        of_classes.append(of_class)
        stated = float(counts.confidence[class_])
        whole.append(whole_of(class_name, of_class, [of_class], level, stated))
    stated = float(counts.confidence.sum())
    whole.insert(0, whole_of(None, every, of_classes, level, stated))
    plan = plan_of(held_out, by_stratum(counts.every), N_VERIFY)
    width, after = plan.width(), plan.width(plan.n_verify)
    n_verify = plan.n_verify.sum(axis=1)
    verify = tuple(
        VerifyClass(
            class_name=class_names[class_],
            n=int(n_verify[class_]),
            width=float(width[class_]),
            width_after=float(after[class_]),
        )
        for class_ in np.flatnonzero(n_verify).tolist()
    )
    return UseLists(
        name=name,
        n=int(counts.every.sum()),
        n_calls=int(counts.every[~rules.is_background].sum()),
        n_listable=int(counts.listable[~rules.is_background].sum()),
        background=tuple(np.array(class_names, dtype=object)[rules.is_background].tolist()),
        is_background_found=rules.is_background_found,
        least_confidence=rules.least_confidence,
        family_share=rules.family_share,
        certainty=certainty,
        level=level,
        is_adjusted=is_adjusted,
        lists=tuple(lists),
        every=tuple(whole),
        curve=curve_of(None, grouped.errors[CALLS]),
        n_verify=N_VERIFY,
        verify=verify,
    )


def whole_of(
    class_name: str | None,
    together: ListErrors,
    classes: Sequence[ListErrors],
    level: float,
    sum_confidence: float,
) -> ProteinList:
    """Return all predictions of some classes, as a list: expected right is the sum over these."""
    list_ = list_of(class_name, together, 1.0, level, end=0)
    if not classes:
        return list_
    right = right_of_all(classes, float(together.above.kish[0]), level)
    return replace(
        list_,
        right=right.expected,
        right_lower=right.lower,
        right_upper=right.upper,
        alike_lower=right.lower_alike,
        alike_upper=right.upper_alike,
        sum_confidence=sum_confidence,
    )


def list_of(
    class_name: str | None,
    errors: ListErrors,
    error: float,
    level: float,
    *,
    is_certain: bool = False,
    relatives: float | None = None,
    end: int | None = None,
) -> ProteinList:
    """Return the longest list with at most so many wrong ones, or that down to the step `end`.

    `relatives` are those of a member, as in `right`.
    """
    end = errors.end_of(error, is_certain=is_certain) if end is None else end
    if end is None:
        return ProteinList(
            class_name=class_name,
            error=error,
            is_certain=is_certain,
            confidence=math.nan,
            n=0,
            n_families=0,
            right=0.0,
            right_lower=0.0,
            right_upper=0.0,
            alike_lower=0.0,
            alike_upper=0.0,
            estimate=math.nan,
            bound=math.nan,
        )
    right = errors.right(end, level, relatives)
    return ProteinList(
        class_name=class_name,
        error=error,
        is_certain=is_certain,
        confidence=float(CONFIDENCE_STEPS[end]),
        n=int(errors.n_listed[end]),
        n_families=int(errors.above.n_families[end]),
        right=right.expected,
        right_lower=right.lower,
        right_upper=right.upper,
        alike_lower=right.lower_alike,
        alike_upper=right.upper_alike,
        estimate=float(errors.error[end]),
        bound=float(errors.bound[end]),
        largest_family=float(errors.above.largest[end]),
    )


def list_of_group(
    rules: ListRules,
    grouped: GroupedErrors,
    group: int,
    error: float,
    level: float,
    *,
    is_certain: bool = False,
    relatives: float | None = None,
) -> ProteinList:
    """Return the longest list of all calls, or of all background predictions, by class."""
    together, counts = grouped.errors[group], grouped.counts
    ends = grouped.ends(group, error, is_certain=is_certain)
    listed = rules.listed(counts, ends)
    is_background = group == BACKGROUND
    end, longest = int(ends.min()), together.end_of(error, is_certain=is_certain)
    if longest is None or not listed.n_query.any():
        nothing = list_of(None, together, -1.0, level, is_certain=is_certain)
        return replace(nothing, error=error, is_background=is_background)
    shares = []
    is_on = counts[:, longest:].any(axis=1) & (grouped.group == group)
    for class_ in np.flatnonzero(is_on).tolist():
        n = int(counts[class_, ends[class_] :].sum())
        share = ClassShare(
            class_name=rules.class_names[class_],
            n=n,
            estimate=float(grouped.class_error[class_, ends[class_]]) if n else math.nan,
            n_kept_off=int(counts[class_, longest:].sum()) - n,
        )
        shares.append(share)
    list_ = list_of(None, listed, 1.0, level, is_certain=is_certain, relatives=relatives, end=end)
    return replace(
        list_,
        error=error,
        # Whoever is kept off is wrong more often than the whole.
        estimate=min(list_.estimate, float(together.error[longest])),
        bound=min(list_.bound, float(together.bound[longest])),
        is_background=is_background,
        classes=tuple(shares),
    )
