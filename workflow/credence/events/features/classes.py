"""What the predicted class says, whatever its score."""

from __future__ import annotations

import numpy as np

from credence.calibrators.features import name_order
from credence.events.event import class_ranks
from credence.events.features.protocol import VECTOR, Computed, Feature, Seen
from credence.events.features.scores import event_score
from credence.predictions import Floats

GROUP = "class"
ALWAYS = "a prediction"
SECOND = 2


def _one_hot(seen: Seen) -> Floats:
    """Return a column for each class, 1 where it is the predicted one."""
    of = seen.predictions
    order = name_order(of.class_names)
    return np.asarray((of.predicted_class[:, None] == order[None, :]).astype(float))


def _runner_up(seen: Seen) -> Computed:
    """Return a column for each class, 1 where it is the best of the others."""
    of = seen.predictions
    if of.scores is None:
        return None
    return np.asarray((class_ranks(of) == SECOND)[:, name_order(of.class_names)].astype(float))


def _class_score(seen: Seen) -> Computed:
    """Return a column for each class: the event's score where it is predicted, else 0."""
    score = event_score(seen)
    return None if score is None else _one_hot(seen) * score[:, None]


def _class_frequency(seen: Seen) -> Computed:
    """Return the share of the predicted class among the calibration proteins."""
    return seen.frequency[seen.predictions.predicted_class]


def _class_type(seen: Seen) -> Computed:
    """Return a column for each named group, 1 where the predicted class is in it."""
    if not seen.evidence.types:
        return None
    names = np.array(seen.predictions.class_names, dtype=object)
    inside = [np.isin(names, list(group.classes)) for group in seen.evidence.types]
    return np.column_stack([part[seen.predictions.predicted_class] for part in inside]).astype(
        float
    )


FEATURES = (
    Feature("predicted_class", GROUP, "which class is predicted", ALWAYS, _one_hot),
    Feature("class_score", GROUP, "the event's scores, class by class", VECTOR, _class_score),
    Feature("runner_up", GROUP, "which class comes second", VECTOR, _runner_up),
    Feature("class_frequency", GROUP, "how common the class is", ALWAYS, _class_frequency),
    Feature("class_type", GROUP, "named groups that hold the class", "groups", _class_type),
)
