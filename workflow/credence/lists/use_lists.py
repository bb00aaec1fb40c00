"""Lists of predictions of a use-set, each with its error and how many of it are right."""

import math
from collections.abc import Sequence

from credence.findings import ProteinList, UseLists, VerifyClass
from credence.lists.errors import ListErrors, Right, errors_of
from credence.lists.held_out import STEPS, HeldOut
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
    lists = [
        list_of(None, every, error, level, is_certain=is_certain)
        for error in allowed
        for is_certain in (False, True)
    ]
    whole = [_ending_at(None, every, 0, 1.0, level)]
    for class_, class_name in enumerate(class_names):
        if counts[class_].any():
            own = errors_of(held_out.of_class(class_), counts[class_], certainty)
            lists += [list_of(class_name, own, error, level) for error in allowed]
            whole.append(_ending_at(class_name, own, 0, 1.0, level))
    plan = plan_of(held_out, by_stratum(counts), N_VERIFY)
    width, after = plan.width(), plan.width(plan.n_verify)
    verify = tuple(
        VerifyClass(name, int(n), float(width[class_]), float(after[class_]))
        for class_, (name, n) in enumerate(
            zip(class_names, plan.n_verify.sum(axis=1), strict=True)
        )
        if n
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
) -> ProteinList:
    """Return the longest list with at most so many wrong ones; `relatives`: see `right`."""
    end = errors.end_of(error, is_certain=is_certain)
    return _ending_at(class_name, errors, end, error, level, is_certain, relatives)


def _ending_at(
    class_name: str | None,
    errors: ListErrors,
    end: int | None,
    error: float,
    level: float,
    is_certain: bool = False,
    relatives: float | None = None,
) -> ProteinList:
    """Return the list that ends at a step; an empty one without a step."""
    nothing = Right(expected=0.0, lower=0.0, upper=0.0, lower_alike=0.0, upper_alike=0.0)
    right = nothing if end is None else errors.right(end, level, relatives)
    return ProteinList(
        class_name=class_name,
        error=error,
        is_certain=is_certain,
        confidence=math.nan if end is None else float(STEPS[end]),
        n=0 if end is None else int(errors.n_listed[end]),
        n_families=0 if end is None else int(errors.above.n_families[end]),
        right=right.expected,
        right_lower=right.lower,
        right_upper=right.upper,
        alike_lower=right.lower_alike,
        alike_upper=right.upper_alike,
        estimate=math.nan if end is None else float(errors.error[end]),
        bound=math.nan if end is None else float(errors.bound[end]),
    )
