"""What an estimator of a composition is given, and what the registry knows of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from credence.calibrators.protocol import Need
from credence.predictions import Booleans, Floats, Integers


@dataclass(frozen=True, eq=False)
class Evidence:
    """What is known of both sets, as sums; one draw of a bootstrap is one more.

    Parameters
    ----------
    confusion : array of float, shape (n_classes, n_classes)
        P(predicted i, true j) in calibration, weighted; sums to 1.
    predicted_share : array of float, shape (n_classes,)
        P(predicted i) in the use-set.
    n_calibration, n_use : float
        Effective numbers of rows.
    soft_confusion : array of float, shape (n_classes, n_classes), optional
        Calibrated probability of i, summed over true j; None without vectors.
    mean_probability : array of float, shape (n_classes,), optional
        Mean calibrated probability of i in the use-set.
    probability : array of float, shape (n_cells, n_classes), optional
        Calibrated probabilities of the use-set's rows, or of cells of like rows.
    mass : array of float, shape (n_cells,), optional
        Share of the use-set in each cell.
    calibration_probability : array of float, shape (n_rows, n_classes), optional
        Calibrated probabilities of the calibration set's rows.
    calibration_true : array of int, shape (n_rows,), optional
        Their true classes.
    calibration_mass : array of float, shape (n_rows,), optional
        Their weights, summing to 1.
    class_number : array of float, shape (n_classes,), optional
        Effective number of clusters of each true class.
    start : array of float, shape (n_classes,), optional
        In a draw: a composition near the answer, all positive, not to be found anew.
    """

    confusion: Floats
    predicted_share: Floats
    n_calibration: float
    n_use: float
    soft_confusion: Floats | None = None
    mean_probability: Floats | None = None
    probability: Floats | None = None
    mass: Floats | None = None
    calibration_probability: Floats | None = None
    calibration_true: Integers | None = None
    calibration_mass: Floats | None = None
    class_number: Floats | None = None
    start: Floats | None = None

    @property
    def prevalence(self) -> Floats:
        """Share of each true class in calibration."""
        return np.asarray(self.confusion.sum(axis=0))

    def among(self, classes: Booleans) -> Evidence:
        """Return the evidence with columns of these true classes alone.

        Parameters
        ----------
        classes : array of bool
            True classes that calibration holds.
        """

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
    """A composition, and where it would be if shares could be negative.

    Parameters
    ----------
    share : array of float, shape (n_classes,)
        Not negative, summing to 1.
    unbounded : array of float, shape (n_classes,)
        The same criterion, to second order, without the bound at 0. It says how
        far a share of 0 is from being positive.
    is_free : array of bool, shape (n_classes,)
        Shares that the criterion leaves open: it is the same for others.
    """

    share: Floats
    unbounded: Floats
    is_free: Booleans


@dataclass(frozen=True)
class Estimator:
    """One entry of the registry.

    Parameters
    ----------
    name : str
        What users write.
    summary : str
        One line.
    reference : str
        Where it is from.
    needs : Need
        What it asks of the predictions.
    estimate : callable, optional
        Evidence → :class:`Estimate`; every true class in it has calibration
        proteins. None where nothing is estimated: the calibration set's
        composition (`none`) or a stated one.
    """

    name: str
    summary: str
    reference: str
    needs: Need
    estimate: Callable[[Evidence], Estimate] | None = None
