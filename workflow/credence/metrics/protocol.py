"""What a metric is: a number that says how good confidences are.

A metric looks at confidences and at whether each prediction was right, never
at scores or classes: :mod:`credence.evaluation` applies it per predicted class
and over all. Confidences that are NaN are left out before, and counted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from credence.predictions import Booleans, Floats

Losses = Callable[[Floats, Booleans], Floats]


@dataclass(frozen=True)
class Metric:
    """One entry of the registry: the weighted mean of a loss per sample.

    Parameters
    ----------
    name : str
        What tables and configurations write: lower case, underscores.
    title : str
        What pages write.
    summary : str
        One plain sentence for the glossary.
    reference : str
        Where it is from.
    losses : callable
        ``losses(confidence, is_correct)`` gives a number per sample.
    lower_is_better : bool
        Whether a method with a smaller value is the better one.
    is_share : bool
        Whether the losses are 0 or 1, so that the value is a share and its
        interval needs a guard at the ends.
    """

    name: str
    title: str
    summary: str
    reference: str
    losses: Losses
    lower_is_better: bool = True
    is_share: bool = False

    def compute(self, confidence: Floats, is_correct: Booleans, weight: Floats) -> float:
        """Return the weighted mean loss; NaN where there is no sample.

        Parameters
        ----------
        confidence : array of float
            In [0, 1], no NaN.
        is_correct : array of bool
            Whether each prediction is right.
        weight : array of float
            Positive weights.
        """
        if len(confidence) == 0:
            return float("nan")
        losses = self.losses(confidence, is_correct)
        return float(np.sum(weight * losses) / np.sum(weight))
