"""What an estimator of a composition is given, and what the registry knows of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from credence.calibrators.protocol import Need
from credence.predictions import Booleans, Floats, Integers


@dataclass(frozen=True, eq=False)
class EstimatorInput:
    """What is known of both sets, as sums; one draw of a bootstrap is one more."""

    confusion: Floats  # P(predicted i, true j) in calibration, weighted; sums to 1
    predicted_share: Floats  # P(predicted i) in the use-set
    n_calibration: float  # Effective numbers of rows
    n_use: float
    # Calibrated probability of i, summed over true j; None without vectors.
    soft_confusion: Floats | None = None
    mean_probability: Floats | None = None  # Mean calibrated probability of i in the use-set
    # Calibrated probabilities of the use-set's rows, or of cells of like rows.
    probability: Floats | None = None
    mass: Floats | None = None  # Share of the use-set in each cell
    # Calibrated probabilities of the calibration set's rows.
    calibration_probability: Floats | None = None
    calibration_true: Integers | None = None  # Their true classes
    calibration_mass: Floats | None = None  # Their weights, summing to 1
    class_number: Floats | None = None  # Effective number of clusters of each true class
    # In a draw: a composition near the answer, all positive, not to be found anew.
    start: Floats | None = None

    @property
    def prevalence(self) -> Floats:
        """Share of each true class in calibration."""
        return np.asarray(self.confusion.sum(axis=0))

    def among(self, classes: Booleans) -> EstimatorInput:
        """Return the evidence with columns of these true classes alone."""

        def columns(values: Floats | None) -> Floats | None:
            return None if values is None else values[:, classes]

        return replace(
            self,
            confusion=self.confusion[:, classes],
            soft_confusion=columns(self.soft_confusion),
            probability=columns(self.probability),
            calibration_probability=columns(self.calibration_probability),
            calibration_true=None
            if self.calibration_true is None
            else (np.cumsum(classes) - 1)[self.calibration_true],
            class_number=None if self.class_number is None else self.class_number[classes],
            start=None if self.start is None else self.start[classes],
        )


@dataclass(frozen=True, eq=False)
class Estimate:
    """A composition, and where it would be if shares could be negative."""

    share: Floats  # Not negative, summing to 1
    # The same criterion, to second order, without the bound at 0. It says how far a share of 0 is
    # from being positive.
    unbounded: Floats
    is_free: Booleans  # Shares that the criterion leaves open: it is the same for others


@dataclass(frozen=True)
class Estimator:
    """One entry of the registry."""

    name: str  # What users write
    summary: str  # One line
    reference: str  # Where it is from
    needs: Need  # What it asks of the predictions
    # Evidence → :class:`Estimate`; every true class in it has calibration proteins. None where
    # nothing is estimated: the calibration set's composition (`none`) or a stated one.
    estimate: Callable[[EstimatorInput], Estimate] | None = None
