"""All estimators of a composition. One line each."""

from __future__ import annotations

from credence.calibrators.protocol import Need
from credence.predictions import Predictions
from credence.problems import refuse
from credence.shift import bbse, expectation, fixed, matching, rlls
from credence.shift.protocol import Estimator

ESTIMATORS: tuple[Estimator, ...] = (
    fixed.NONE,
    fixed.STATED,
    bbse.HARD,
    bbse.SOFT,
    rlls.ENTRY,
    expectation.ENTRY,
    matching.ENTRY,
)
BY_NAME: dict[str, Estimator] = {entry.name: entry for entry in ESTIMATORS}
AUTO = "auto"  # em_matched where score vectors are given, else bbse_hard
NAMES = (AUTO, *BY_NAME)


def has_vectors(predictions: Predictions) -> bool:
    """Return whether rows are distributions over the classes.

    Parameters
    ----------
    predictions : Predictions
        What the classifier said.
    """
    return predictions.scores is not None and predictions.is_distribution


def estimator_for(name: str, with_vectors: bool) -> Estimator:
    """Return the estimator of a name; refuse one that needs more than there is.

    Parameters
    ----------
    name : str
        One of `NAMES`.
    with_vectors : bool
        Whether both sets have score vectors.
    """
    if name == AUTO:
        return matching.ENTRY if with_vectors else bbse.HARD
    found = BY_NAME[name]
    if found.needs is Need.VECTOR and not with_vectors:
        raise refuse(
            "shift.estimator",
            f"{name!r} needs the {Need.VECTOR.value}.",
            f"Give {bbse.HARD.name!r} or {rlls.ENTRY.name!r}.",
        )
    return found
