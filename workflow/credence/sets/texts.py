"""Prediction sets as they stand in tables."""

from __future__ import annotations

import numpy as np

from credence.predictions import Booleans, Strings
from credence.sets.conformal import SEPARATOR

WORD = 64  # bits


def set_texts(contains: Booleans, class_names: tuple[str, ...]) -> Strings:
    """Return each set as the names of its classes, in the classifier's order.

    Parameters
    ----------
    contains : array of bool, shape (n_samples, n_classes)
        From :meth:`credence.sets.conformal.PredictionSets.contains`.
    class_names : tuple of str
        Classes in order. In a name with a ``|``, or a backslash, a backslash
        stands before it.

    Examples
    --------
    >>> set_texts(np.array([[True, True], [False, False]]), ("Portal", "HTJ")).tolist()
    ['Portal|HTJ', '']
    """
    names = [
        name.replace("\\", "\\\\").replace(SEPARATOR, "\\" + SEPARATOR) for name in class_names
    ]
    # Few sets differ, and words of bits are compared faster than rows of them.
    words = np.zeros((len(contains), -(-len(names) // WORD)), dtype=np.uint64)
    for place in range(len(names)):
        bit = np.uint64(1 << place % WORD)
        words[:, place // WORD] |= np.where(contains[:, place], bit, np.uint64(0))
    key = words[:, 0] if words.shape[1] == 1 else words
    _, first, kind = np.unique(key, axis=0, return_index=True, return_inverse=True)
    texts = [
        SEPARATOR.join(name for name, is_in in zip(names, contains[row], strict=True) if is_in)
        for row in first
    ]
    return np.array(texts, dtype=object)[kind.reshape(-1)]
