"""Proteins of which the classifier said nothing, among those that get confidences."""

from __future__ import annotations

from typing import Any

import numpy as np

from credence.predictions import Strings
from credence.tables.contract import CONFIDENCE_NAMES
from credence.tables.samples import Samples

UNSCORED = "the classifier gave no scores: no confidence can be given"


def unscored_columns(ids: Strings, method: str) -> dict[str, Any]:
    """Return the rows of the table `confidences` for proteins without scores.

    Parameters
    ----------
    ids : array of str
        The proteins.
    method : str
        The method's specification.

    Examples
    --------
    >>> unscored_columns(np.array(["p1"], dtype=object), "kernel")["note"].tolist()
    ['the classifier gave no scores: no confidence can be given']
    """
    texts = {"id": ids, "predicted_class": "", "method": method, "note": UNSCORED}
    blank = {"support": 0.0}  # the rest is not known
    return {
        name: np.full(len(ids), texts[name], dtype=object)
        if name in texts
        else np.full(len(ids), blank.get(name, np.nan))
        for name in CONFIDENCE_NAMES
    }


def with_unscored(columns: dict[str, Any], samples: Samples, method: str) -> dict[str, Any]:
    """Return rows of `confidences` with those of the unscored, in the table's order.

    Parameters
    ----------
    columns : dict of str to array
        Rows of the proteins with scores.
    samples : Samples
        Where all of them are from.
    method : str
        The method's specification.
    """
    if len(samples.unscored_ids) == 0:
        return columns
    unscored = unscored_columns(samples.unscored_ids, method)
    order = np.argsort(np.concatenate([samples.lines, samples.unscored_lines]), kind="stable")
    n_unscored = len(samples.unscored_ids)
    nothing = {True: np.full(n_unscored, "", dtype=object), False: np.full(n_unscored, np.nan)}
    return {
        name: np.concatenate([values, unscored.get(name, nothing[values.dtype == object])])[order]
        for name, values in columns.items()
    }
