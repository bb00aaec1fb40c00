"""Many rows of probabilities as fewer cells of like rows.

A small table keeps every row, like rows as one. A larger one is put on a grid of
square roots of probabilities, as fine as `MOST_CELLS` allows; a cell holds the
mean of its rows and their number. The probabilities are to be those of classes
that are all as frequent: on any other scale a rare class is coarse where a set
full of it would need to be fine. Cells stand in the order of keys made of what
is in them: neither the order of the rows nor that of the classes is seen.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from credence.calibrators.draws import MIX_FIRST, MIX_SECOND
from credence.predictions import Floats, Integers

Keys = NDArray[np.uint64]

MOST_CELLS = 80_000
FINEST = 128  # steps of the grid for a square root from 0 to 1
SHIFTS = (np.uint64(30), np.uint64(27), np.uint64(31))  # of SplitMix64, as in calibrators.draws


@dataclass(frozen=True, eq=False)
class Genomes:
    """How many rows of each genome are in each of some places.

    Parameters
    ----------
    key : array of uint64, shape (n_genomes,)
        A key per genome, ascending.
    counts : sparse array, shape (n_places, n_genomes)
        Rows.
    """

    key: Keys
    counts: sparse.csr_array


@dataclass(frozen=True, eq=False)
class Cells:
    """Rows of probabilities, gathered.

    Parameters
    ----------
    n_steps : int
        Steps of the grid; 0 where every row is kept.
    key : array of uint64, shape (n_cells,)
        Made of the cell's place, or of the row; ascending.
    class_key : array of uint64, shape (n_classes,)
        A key per class.
    place : array of uint8, shape (n_cells, n_classes)
        Place on the grid; zeros where every row is kept.
    total : array of float, shape (n_cells, n_classes)
        Sum of the rows.
    n_rows : array of int, shape (n_cells,)
        Their number.
    genomes : Genomes, optional
        Whose rows they are, where that is known.
    """

    n_steps: int
    key: Keys
    class_key: Keys
    place: NDArray[np.uint8]
    total: Floats
    n_rows: Integers
    genomes: Genomes | None = None

    @property
    def mean(self) -> Floats:
        """Mean row of each cell."""
        return np.asarray(self.total / self.n_rows[:, None])


def cells_of(
    probability: Floats,
    most_cells: int = MOST_CELLS,
    *,
    class_key: Keys | None = None,
    row: Floats | None = None,
    genome: Keys | None = None,
) -> Cells:
    """Return the rows as cells.

    Parameters
    ----------
    probability : array of float, shape (n_rows, n_classes)
        Rows that sum to 1.
    most_cells : int
        Greatest number of cells.
    class_key : array of uint64, shape (n_classes,), optional
        A key per class; else its place.
    row : array of float, shape (n_rows, n_classes), optional
        What the probabilities were made of: like rows have like probabilities.
    genome : array of uint64, shape (n_rows,), optional
        A key of the genome that each row is of.
    """
    n_rows, n_classes = probability.shape
    keys = np.arange(n_classes, dtype=np.uint64) if class_key is None else class_key
    bits = np.ascontiguousarray((probability if row is None else row) + 0.0).view(np.uint64)
    every = Cells(
        0,
        keys_of_rows(bits, keys),
        keys,
        np.zeros(probability.shape, dtype=np.uint8),
        probability,
        np.ones(n_rows, dtype=np.int64),
        None if genome is None else genomes_at(np.arange(n_rows), n_rows, genome),
    )
    return _within(_gathered(every), most_cells)


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
        np.concatenate([first.key, second.key]),
        first.class_key,
        np.concatenate([first.place, second.place]),
        np.concatenate([first.total, second.total]),
        np.concatenate([first.n_rows, second.n_rows]),
        stacked(first.genomes, second.genomes),
    )
    return _within(_gathered(joined), most_cells)


def _within(cells: Cells, most_cells: int) -> Cells:
    while len(cells.n_rows) > most_cells and cells.n_steps != 1:
        cells = _coarsened(cells, cells.n_steps // 2 if cells.n_steps else FINEST)
    return cells


def _coarsened(cells: Cells, n_steps: int) -> Cells:
    if cells.n_steps == n_steps:
        return cells
    if cells.n_steps == 0:
        place = np.minimum(np.sqrt(cells.mean) * n_steps, n_steps - 1).astype(np.uint8)
    else:
        place = cells.place // np.uint8(cells.n_steps // n_steps)
    key = keys_of_rows(place, cells.class_key)
    return _gathered(
        Cells(n_steps, key, cells.class_key, place, cells.total, cells.n_rows, cells.genomes)
    )


def _gathered(cells: Cells) -> Cells:
    key, first, code = np.unique(cells.key, return_index=True, return_inverse=True)
    n_cells = len(first)
    total = np.empty((n_cells, cells.total.shape[1]))
    for class_ in range(cells.total.shape[1]):
        total[:, class_] = np.bincount(code, weights=cells.total[:, class_], minlength=n_cells)
    n_rows = np.bincount(code, weights=cells.n_rows, minlength=n_cells).astype(np.int64)
    genomes = cells.genomes
    if genomes is not None:
        ones = np.ones(len(code))
        gather = sparse.csr_array((ones, (code, np.arange(len(code)))), shape=(n_cells, len(code)))
        genomes = Genomes(genomes.key, sparse.csr_array(gather @ genomes.counts))
    return Cells(cells.n_steps, key, cells.class_key, cells.place[first], total, n_rows, genomes)


def keys_of_rows(values: NDArray[np.uint64] | NDArray[np.uint8], class_key: Keys) -> Keys:
    """Return a number per row: the same for like rows, else all but never.

    Parameters
    ----------
    values : array of unsigned int, shape (n_rows, n_classes)
        What makes rows alike.
    class_key : array of uint64, shape (n_classes,)
        A key per class: the order of the columns is nothing.
    """
    key = np.zeros(len(values), dtype=np.uint64)
    with np.errstate(over="ignore"):
        for column, own in zip(values.T, class_key, strict=True):
            key += _mixed(_mixed(column.astype(np.uint64) + np.uint64(1)) ^ own)
    return key


def _mixed(state: Keys) -> Keys:
    with np.errstate(over="ignore"):
        state = (state ^ (state >> SHIFTS[0])) * MIX_FIRST
        state = (state ^ (state >> SHIFTS[1])) * MIX_SECOND
    return np.asarray(state ^ (state >> SHIFTS[2]))


def genomes_at(place: Integers, n_places: int, genome: Keys) -> Genomes:
    """Return how many rows of each genome are at each place.

    Parameters
    ----------
    place : array of int, shape (n_rows,)
        Place of each row.
    n_places : int
        Number of places.
    genome : array of uint64, shape (n_rows,)
        A key of the genome that each row is of.
    """
    key, code = np.unique(genome.astype(np.uint64), return_inverse=True)
    ones = np.ones(len(place))
    return Genomes(key, sparse.csr_array((ones, (place, code)), shape=(n_places, len(key))))


def stacked(first: Genomes | None, second: Genomes | None) -> Genomes | None:
    """Return the places of both, one below the other; None without genomes.

    Parameters
    ----------
    first, second : Genomes, optional
        Of two parts of a use-set; both or neither.
    """
    if first is None or second is None:
        return None
    key = np.union1d(first.key, second.key)
    parts = [_among(part, key) for part in (first, second)]
    return Genomes(key, sparse.csr_array(sparse.vstack(parts)))


def added(first: Genomes | None, second: Genomes | None) -> Genomes | None:
    """Return the counts of both at the same places; None without genomes.

    Parameters
    ----------
    first, second : Genomes, optional
        Of two parts of a use-set; both or neither.
    """
    if first is None or second is None:
        return None
    key = np.union1d(first.key, second.key)
    return Genomes(key, sparse.csr_array(_among(first, key) + _among(second, key)))


def _among(genomes: Genomes, key: Keys) -> sparse.csr_array:
    counts = genomes.counts.tocoo()
    at = np.searchsorted(key, genomes.key)[counts.coords[1]]
    return sparse.csr_array(
        (counts.data, (counts.coords[0], at)), shape=(genomes.counts.shape[0], len(key))
    )


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
