"""What a metric is given, and the weighted sums that it is made of.

Every metric is a function of sums over proteins: of a loss, or of weight,
confidence and outcome in *cells* (bins of the confidence, points of a grid). A
draw of the bootstrap changes weights and so the sums, nothing else; that is what
lets a thousand draws of every metric be had from one sparse product.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from credence.predictions import Booleans, Floats, Integers


@dataclass(frozen=True, eq=False)
class Judged:
    """Proteins that are judged together, under one method.

    Parameters
    ----------
    confidence : array of float, shape (n_samples,)
        In [0, 1], no NaN.
    is_correct : array of bool, shape (n_samples,)
        Whether each prediction is right.
    weight : array of float, shape (n_samples,)
        Positive weights.
    score : array of float, shape (n_samples,), optional
        Top score over the scale; None where the classifier gives none.
    probabilities : array of float, shape (n_samples, n_classes), optional
        One per class, where the method gives a vector.
    true_class : array of int, shape (n_samples,), optional
        Needed with `probabilities`.
    """

    confidence: Floats
    is_correct: Booleans
    weight: Floats
    score: Floats | None = None
    probabilities: Floats | None = None
    true_class: Integers | None = None

    @property
    def n_samples(self) -> int:
        """Number of proteins."""
        return len(self.confidence)

    @property
    def n_effective(self) -> float:
        """Kish's number, (Σw)² / Σw²: proteins of equal weight that tell as much."""
        if self.n_samples == 0:
            return 0.0
        return float(self.weight.sum() ** 2 / (self.weight**2).sum())

    def take(self, rows: NDArray[np.intp] | Booleans) -> Judged:
        """Return the rows chosen, in the order given."""
        return Judged(
            self.confidence[rows],
            self.is_correct[rows],
            self.weight[rows],
            None if self.score is None else self.score[rows],
            None if self.probabilities is None else self.probabilities[rows],
            None if self.true_class is None else self.true_class[rows],
        )

    def with_outcome(self, is_correct: Booleans) -> Judged:
        """Return the same proteins, had other predictions been right."""
        return replace(self, is_correct=is_correct)


@dataclass(frozen=True, eq=False)
class Cells:
    """Where each protein counts, and with what.

    Parameters
    ----------
    row : array of int, shape (n_entries,)
        The protein; one can have several entries.
    cell : array of int, shape (n_entries,)
        The cell it counts in, from 0.
    n_cells : int
        How many cells there are.
    values : array of float, shape (n_channels, n_entries)
        What is summed, before weighting.
    """

    row: Integers
    cell: Integers
    n_cells: int
    values: Floats

    def sums(self, weight: Floats) -> Floats:
        """Return the weighted sums, shape (n_channels, n_cells)."""
        return np.stack(
            [
                sum_by(self.cell, weight[self.row] * channel, self.n_cells)
                for channel in self.values
            ]
        )


@dataclass(frozen=True)
class Family:
    """A rule that says in which cells proteins count; metrics share them.

    Parameters
    ----------
    name : str
        Unique among the families.
    cells : callable
        ``cells(judged)`` gives them, or None where it lacks something.
    is_fixed : bool
        Whether a protein's cell does not depend on which others are judged.
    """

    name: str
    cells: Callable[[Judged], Cells | None]
    is_fixed: bool = True


def in_cells(judged: Judged, cell: Integers, n_cells: int, *, has_squares: bool = False) -> Cells:
    """Return cells with the channels 1, confidence and outcome.

    Parameters
    ----------
    judged : Judged
        The proteins.
    cell : array of int
        The cell of each.
    n_cells : int
        How many cells there are.
    has_squares : bool
        Whether a fourth channel has the squared error.
    """
    confidence, outcome = judged.confidence, judged.is_correct.astype(np.float64)
    channels = [np.ones(judged.n_samples), confidence, outcome]
    if has_squares:
        channels.append((confidence - outcome) ** 2)
    return Cells(np.arange(judged.n_samples, dtype=np.int64), cell, n_cells, np.stack(channels))


def sum_by(position: Integers, values: Floats, n_places: int) -> Floats:
    """Return the sum of the values at each place.

    Parameters
    ----------
    position : array of int
        From 0.
    values : array of float
        What is summed.
    n_places : int
        How many places there are.

    Examples
    --------
    >>> sum_by(np.array([0, 2, 0]), np.array([1.0, 2.0, 3.0]), 3).tolist()
    [4.0, 0.0, 2.0]
    """
    return np.bincount(position, weights=values, minlength=n_places).astype(np.float64)


def divide(numerator: Floats, denominator: Floats, otherwise: float = np.nan) -> Floats:
    """Return the quotients, another value where the denominator is not positive.

    Parameters
    ----------
    numerator, denominator : array of float
        Of shapes that fit.
    otherwise : float
        What stands where nothing can be divided.

    Examples
    --------
    >>> divide(np.array([1.0, 0.0]), np.array([2.0, 0.0])).tolist()
    [0.5, nan]
    """
    shape = np.broadcast_shapes(np.shape(numerator), np.shape(denominator))
    answer = np.full(shape, otherwise)
    np.divide(numerator, denominator, out=answer, where=np.asarray(denominator) > 0)
    return answer
