"""Compositions that are not estimated: the calibration set's, or a stated one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from credence.calibrators.protocol import Need
from credence.predictions import Floats
from credence.problems import InputError, Problem, nearest
from credence.shift.protocol import Estimator

SUM_TOLERANCE = 0.005  # of stated shares: they may have been rounded to two decimals

NONE = Estimator(
    "none",
    "No correction: the calibration set's own composition.",
    "",
    Need.CLASS,
)
STATED = Estimator(
    "stated",
    "A composition that you state; it is taken as known, and has no interval.",
    "",
    Need.CLASS,
)


def stated_share(stated: Mapping[str, float], class_names: Sequence[str], where: str) -> Floats:
    """Return a stated composition in the order of the classes, summing to 1.

    Parameters
    ----------
    stated : mapping of str to float
        Class → share; classes that are not named have none.
    class_names : sequence of str
        The classifier's classes.
    where : str
        The file or option it stands in.
    """
    problems = [
        Problem(where, f"there is no class {name!r}.", nearest(name, list(class_names)))
        for name in stated
        if name not in class_names
    ]
    for name, share in stated.items():
        is_number = isinstance(share, int | float) and not isinstance(share, bool)
        if not (is_number and 0.0 <= share <= 1.0):
            problems.append(
                Problem(
                    where, f"the share of {name!r} is {share!r}.", "Give a number from 0 to 1."
                )
            )
    if not problems:
        total = sum(stated.values())
        if abs(total - 1.0) > SUM_TOLERANCE:
            problems.append(
                Problem(where, f"the shares sum to {total:.4g}.", "Give shares that sum to 1.")
            )
    if problems:
        raise InputError(problems)
    values = np.array([float(stated.get(name, 0.0)) for name in class_names])
    return np.asarray(values / values.sum())
