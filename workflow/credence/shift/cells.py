"""Many rows of probabilities as fewer cells of like rows.

A small table keeps every row. A larger one is put on a grid of square roots of
probabilities, as fine as `MOST_CELLS` allows; a cell holds the mean of its rows
and their number. The grid depends on the set of rows alone, not on their order.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from credence.predictions import Floats, Integers

MOST_CELLS = 40_000
FINEST = 128  # steps of the grid for a square root from 0 to 1
MIX = np.uint64(0x9E3779B97F4A7C15)  # of SplitMix64, as in calibrators.draws


@dataclass(frozen=True, eq=False)
class Cells:
    """Rows of probabilities, gathered.

    Parameters
    ----------
    n_steps : int
        Steps of the grid; 0 where every row is kept.
    place : array of uint8, shape (n_cells, n_classes)
        Place on the grid; zeros where every row is kept.
    total : array of float, shape (n_cells, n_classes)
        Sum of the rows.
    n_rows : array of int, shape (n_cells,)
        Their number.
    """

    n_steps: int
    place: NDArray[np.uint8]
    total: Floats
    n_rows: Integers

    @property
    def mean(self) -> Floats:
        """Mean row of each cell."""
        return np.asarray(self.total / self.n_rows[:, None])


def cells_of(probability: Floats, most_cells: int = MOST_CELLS) -> Cells:
    """Return the rows as cells.

    Parameters
    ----------
    probability : array of float, shape (n_rows, n_classes)
        Rows that sum to 1.
    most_cells : int
        Greatest number of cells.
    """
    place = np.zeros(probability.shape, dtype=np.uint8)
    every = Cells(0, place, probability, np.ones(len(probability), dtype=np.int64))
    return _within(every, most_cells)


def merged(first: Cells, second: Cells, most_cells: int = MOST_CELLS) -> Cells:
    """Return the cells of both sets of rows.

    Parameters
    ----------
    first, second : Cells
        Of the same classes and the same greatest number.
    most_cells : int
        That number.
    """
    steps = [cells.n_steps for cells in (first, second)]
    if max(steps) > 0:
        coarsest = min(number for number in steps if number > 0)
        first, second = (_coarsened(cells, coarsest) for cells in (first, second))
    joined = Cells(
        first.n_steps,
        np.concatenate([first.place, second.place]),
        np.concatenate([first.total, second.total]),
        np.concatenate([first.n_rows, second.n_rows]),
    )
    if joined.n_steps > 0:
        joined = _gathered(joined)
    return _within(joined, most_cells)


def _within(cells: Cells, most_cells: int) -> Cells:
    while len(cells.n_rows) > most_cells and cells.n_steps != 1:
        cells = _coarsened(cells, cells.n_steps // 2 if cells.n_steps else FINEST)
    return cells


def _coarsened(cells: Cells, n_steps: int) -> Cells:
    if cells.n_steps == n_steps:
        return cells
    if cells.n_steps == 0:
        place = np.minimum(np.sqrt(cells.total) * n_steps, n_steps - 1).astype(np.uint8)
    else:
        place = cells.place // np.uint8(cells.n_steps // n_steps)
    return _gathered(Cells(n_steps, place, cells.total, cells.n_rows))


def _gathered(cells: Cells) -> Cells:
    _, first, code = np.unique(_keys(cells.place), return_index=True, return_inverse=True)
    n_cells = len(first)
    total = np.empty((n_cells, cells.total.shape[1]))
    for class_ in range(cells.total.shape[1]):
        total[:, class_] = np.bincount(code, weights=cells.total[:, class_], minlength=n_cells)
    n_rows = np.bincount(code, weights=cells.n_rows, minlength=n_cells).astype(np.int64)
    return Cells(cells.n_steps, cells.place[first], total, n_rows)


def _keys(place: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """Return a number per place: the same for like places, else all but never."""
    key = np.zeros(len(place), dtype=np.uint64)
    with np.errstate(over="ignore"):
        for column in place.T:
            key = (key ^ column) * MIX
            key ^= key >> np.uint64(29)
    return key


def at_level(probability: Floats, n_steps: int) -> Cells:
    """Return the rows gathered on a grid of so many steps.

    Parameters
    ----------
    probability : array of float, shape (n_rows, n_classes)
        Rows that sum to 1.
    n_steps : int
        Of a :class:`Cells`; 0 keeps every row.
    """
    every = cells_of(probability, len(probability))
    return every if n_steps == 0 else _coarsened(every, n_steps)
