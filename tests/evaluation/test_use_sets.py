from __future__ import annotations

import numpy as np
from verification.in_memory import summarise_use_set

from credence.confidence import Confidence, Note
from credence.predictions import from_scores


def test_a_use_set_is_counted_by_class_and_level() -> None:
    scores = np.array([[9.0, 1.0], [8.0, 2.0], [1.0, 9.0], [2.0, 8.0]])
    ids = np.array(["p1", "p2", "p3", "p4"], dtype=object)
    predictions = from_scores(ids, ("A", "B"), scores, 10.0, 0.01)
    value = np.array([0.96, 0.6, 0.85, np.nan])
    note = np.array([0, 0, 0, int(Note.UNSEEN_CLASS)])
    confidence = Confidence(value, value - 0.1, value + 0.01, np.ones(4), note)
    found = summarise_use_set("sea", "kernel", predictions, confidence)
    assert (found.n, found.n_unknown) == (4, 1)
    first, second = found.classes
    assert (first.n, first.n_unknown, first.n_at_least) == (2, 0, (2, 1, 1, 1))
    assert (second.n, second.n_unknown, second.n_at_least) == (2, 1, (1, 1, 0, 0))
    assert sum(found.counts) == 3
    assert [(entry.name, entry.value) for entry in found.notes] == [
        ("class never predicted in calibration, so no confidence", "1")
    ]
