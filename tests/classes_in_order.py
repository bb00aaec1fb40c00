"""The same proteins in a table whose class columns stand in another order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from credence.predictions import Labelled, from_scores, label


def with_classes_in_order(labelled: Labelled, order: Sequence[int]) -> Labelled:
    """Return the same proteins with the classes in another order."""
    known, place = labelled.predictions, list(order)
    assert known.scores is not None
    names = tuple(known.class_names[class_] for class_ in place)
    moved = from_scores(known.ids, names, known.scores[:, place], known.scale, known.resolution)
    moved = replace(moved, places=known.places)
    true_class = np.argsort(place)[labelled.true_class]
    return label(moved, true_class, labelled.weight, labelled.cluster)
