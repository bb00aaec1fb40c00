"""What proteins held out show of the confidences of a calibration, in steps.

A calibration file keeps it, so that a list needs no other file: of each calibration
protein the step of the confidence that a fit without its cluster gave, its classes
and its cluster.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from credence.draws import encode_clusters, keys_of
from credence.predictions import Booleans, Floats, Integers, Labelled
from credence.records import PackedFloats, Stored

PackedIntegers = Annotated[NDArray[np.int64], Stored(packed="int32")]
# The least confidence of each step: finer where lists with few wrong ones end.
STEPS: Floats = np.round(
    np.concatenate(
        [np.arange(180) / 200.0, 0.9 + np.arange(90) / 1e3, 0.99 + np.arange(101) / 1e4]
    ),
    4,
)


def step_of(confidence: Floats) -> Integers:
    """Return the step of each confidence; -1 where there is none.

    >>> step_of(np.array([0.0, 0.0049, 0.9, 0.9999, 1.0, np.nan])).tolist()
    [0, 0, 180, 369, 370, -1]
    """
    step = np.searchsorted(STEPS, confidence, side="right") - 1
    return np.where(np.isnan(confidence), -1, step).astype(np.int64)


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Calibration proteins, each with what a fit without its cluster stated."""

    step: PackedIntegers  # Of the confidence
    predicted: PackedIntegers  # Index of the predicted class, and of the true one
    true: PackedIntegers
    weight: PackedFloats
    cluster: PackedIntegers  # Index into the keys
    key: Annotated[NDArray[np.uint64], Stored(packed="uint64")]  # Of each cluster's name

    @property
    def is_wrong(self) -> Booleans:
        """Whether each prediction is wrong."""
        return np.asarray(self.predicted != self.true)

    @property
    def n_classes(self) -> int:
        """The least number of classes that there are."""
        return 1 + int(np.max([*self.predicted, *self.true], initial=-1))

    def of_class(self, class_: int) -> HeldOut:
        """Return the proteins that were predicted to be of a class."""
        rows = np.flatnonzero(self.predicted == class_)
        cluster, place = np.unique(self.cluster[rows], return_inverse=True)
        return HeldOut(
            self.step[rows],
            self.predicted[rows],
            self.true[rows],
            self.weight[rows],
            place.astype(np.int64),
            self.key[cluster],
        )

    def refuse_damage(self) -> None:
        """Refuse rows that are not as a fit leaves them."""
        parts = (self.step, self.predicted, self.true, self.weight, self.cluster)
        if len({len(part) for part in parts}) > 1:
            raise ValueError("its columns differ in length")
        limits = (len(STEPS), np.inf, np.inf, np.inf, len(self.key))
        for part, limit in zip(parts, limits, strict=True):
            if not ((part >= 0) & (part < limit)).all():
                raise ValueError("it has a value out of range")


def held_out_of(labelled: Labelled, confidence: Floats) -> HeldOut:
    """Return what there is to know of confidences held out; those that are NaN are left out.

    Rows stand in the order of a hash of their ids, by which one speaks for its family.
    """
    rows = np.flatnonzero(~np.isnan(confidence))
    rows = rows[np.argsort(keys_of(labelled.predictions.ids[rows]), kind="stable")]
    cluster, key = encode_clusters(labelled.cluster[rows])
    return HeldOut(
        step_of(confidence[rows]),
        labelled.predictions.predicted_class[rows],
        labelled.true_class[rows],
        labelled.weight[rows],
        cluster,
        key,
    )
