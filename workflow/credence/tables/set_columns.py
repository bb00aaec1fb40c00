"""Columns of the table `confidences` that hold prediction sets."""

from __future__ import annotations

from typing import Any

import numpy as np

from credence.predictions import Floats, Predictions
from credence.sets.conformal import PredictionSets
from credence.sets.texts import set_texts
from credence.tables.columns import Column, Kind

SET_COLUMNS = (
    Column("prediction_set", may_be_empty=True, is_optional=True),
    Column("set_size", Kind.NUMBER, may_be_empty=True, low=0.0, is_optional=True),
    Column("adjusted_prediction_set", may_be_empty=True, is_optional=True),
    Column("adjusted_set_size", Kind.NUMBER, may_be_empty=True, low=0.0, is_optional=True),
)


def set_names(sets: PredictionSets | None, is_shifted: bool) -> tuple[str, ...]:
    """Return the columns that sets have.

    Parameters
    ----------
    sets : PredictionSets or None
        Of the calibration.
    is_shifted : bool
        Whether a composition of the use-set is known. Sets class by class do
        not depend on one, and have no columns of their own for it.
    """
    if sets is None:
        return ()
    names = tuple(column.name for column in SET_COLUMNS)
    return names if is_shifted and sets.options.kind == "overall" else names[:2]


def set_columns(
    sets: PredictionSets | None, predictions: Predictions, use_share: Floats | None
) -> dict[str, Any]:
    """Return the columns of some rows.

    Parameters
    ----------
    sets : PredictionSets or None
        Of the calibration.
    predictions : Predictions
        What the classifier said. Without the score of every class there is no
        set: the cells are empty.
    use_share : array of float, optional
        Composition of the use-set, where one is known.
    """
    names = set_names(sets, use_share is not None)
    if sets is None or predictions.scores is None:
        blank: tuple[Any, Any] = ("", np.nan)
        return {
            name: np.full(
                predictions.n_samples, blank[place % 2], dtype=(object, float)[place % 2]
            )
            for place, name in enumerate(names)
        }
    columns: list[Any] = []
    for share in (None, use_share)[: len(names) // 2]:
        found = sets.contains(predictions, share)
        columns += [set_texts(found, sets.class_names), found.sum(axis=1).astype(np.float64)]
    return dict(zip(names, columns, strict=True))
