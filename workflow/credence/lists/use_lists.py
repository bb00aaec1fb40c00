"""Lists of predictions of a use-set, each with its error and how many of it are right."""

import math
from collections.abc import Sequence
from itertools import product

import numpy as np

from credence.findings import ProteinList, UseLists, VerifyClass
from credence.lists.errors import ListErrors, errors_of
from credence.lists.held_out import CONFIDENCE_STEPS, HeldOut
from credence.lists.plan import by_stratum, plan_of
from credence.lists.thresholds import curve_of
from credence.predictions import Integers

N_VERIFY = 20  # verifications that a page divides among the classes


def use_lists(
    name: str,
    held_out: HeldOut,
    counts: Integers,
    class_names: Sequence[str],
    allowed: Sequence[float],
    certainty: float,
    level: float,
    *,
    is_adjusted: bool,
) -> UseLists:
    """Return the lists of a use-set for each share `allowed`; counts are by class and step."""
    every = errors_of(held_out, counts.sum(axis=0), certainty)
    kinds = product(allowed, (False, True))
    lists = [list_of(None, every, error, level, is_certain=sure) for error, sure in kinds]
    whole = [list_of(None, every, 1.0, level, is_whole=True)]
    for class_, class_name in enumerate(class_names):
        if counts[class_].any():
            class_errors = errors_of(held_out.of_class(class_), counts[class_], certainty)
            lists += [list_of(class_name, class_errors, error, level) for error in allowed]
            whole.append(list_of(class_name, class_errors, 1.0, level, is_whole=True))
    plan = plan_of(held_out, by_stratum(counts), N_VERIFY)
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
        n=int(counts.sum()),
        certainty=certainty,
        level=level,
        is_adjusted=is_adjusted,
        lists=tuple(lists),
        every=tuple(whole),
        curve=curve_of(None, every),
        n_verify=N_VERIFY,
        verify=verify,
    )


def list_of(
    class_name: str | None,
    errors: ListErrors,
    error: float,
    level: float,
    *,
    is_certain: bool = False,
    relatives: float | None = None,
    is_whole: bool = False,
) -> ProteinList:
    """Return the longest list with at most so many wrong ones, or all; `relatives`: as `right`."""
    end = 0 if is_whole else errors.end_of(error, is_certain=is_certain)
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
    )
