"""Lists of predictions of a use-set, each with its error and how many of it are right."""

from __future__ import annotations

import math
from collections.abc import Sequence

from credence.findings import ProteinList, UseLists, VerifyClass
from credence.lists.errors import ListErrors, errors_of
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
    whole = [_whole(None, every, level)]
    for class_, class_name in enumerate(class_names):
        if counts[class_].any():
            own = errors_of(held_out.of_class(class_), counts[class_], certainty)
            lists += [list_of(class_name, own, error, level) for error in allowed]
            whole.append(_whole(class_name, own, level))
    asked = (name, int(counts.sum()), certainty, level, is_adjusted)
    verify = verify_next(held_out, counts, class_names, N_VERIFY)
    curve = curve_of(None, every)
    return UseLists(*asked, tuple(lists), tuple(whole), curve, N_VERIFY, verify)


def verify_next(
    held_out: HeldOut, counts: Integers, class_names: Sequence[str], number: int
) -> tuple[VerifyClass, ...]:
    """Return how many predictions of each class to verify of so many, where there are some."""
    plan = plan_of(held_out, by_stratum(counts), number)
    width, after = plan.width(), plan.width(plan.n_verify)
    return tuple(
        VerifyClass(name, int(n), float(width[class_]), float(after[class_]))
        for class_, (name, n) in enumerate(
            zip(class_names, plan.n_verify.sum(axis=1), strict=True)
        )
        if n
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
    if end is None:
        nothing = (math.nan, 0, 0, 0.0, 0.0, 0.0, 0.0, 0.0, math.nan, math.nan)
        return ProteinList(class_name, error, is_certain, *nothing)
    return _ending_at(class_name, errors, end, error, level, is_certain, relatives)


def _whole(class_name: str | None, errors: ListErrors, level: float) -> ProteinList:
    return _ending_at(class_name, errors, 0, 1.0, level, False, None)


def _ending_at(
    class_name: str | None,
    errors: ListErrors,
    end: int,
    error: float,
    level: float,
    is_certain: bool,
    relatives: float | None,
) -> ProteinList:
    right = errors.right(end, level, relatives)
    counts = (int(errors.n_listed[end]), int(errors.above.n_families[end]))
    ends = (right.lower, right.upper, right.lower_alike, right.upper_alike)
    wrong = (float(errors.error[end]), float(errors.bound[end]))
    numbers = (float(STEPS[end]), *counts, right.expected, *ends, *wrong)
    return ProteinList(class_name, error, is_certain, *numbers)
