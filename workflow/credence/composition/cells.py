"""Many rows of probabilities as fewer rows, each standing for others like it.

A small table keeps every row. A larger one is put on a grid of square roots of
probabilities, as fine as `MOST_STRATA` allows, and of the rows at one place a
part is kept, drawn by their names: the more there are, the smaller the part. The
kept rows stand for the others; no mean of unlike rows is taken, whose likelihood
would be none of theirs. The probabilities are to be those of classes that are all
as frequent: on any other scale a rare class is coarse where a set full of it would
need to be fine. Places stand in the order of keys made of what is there: neither
the order of the rows nor that of the classes is seen.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from credence.draws import MIX_FIRST, MIX_SECOND, uniform
from credence.predictions import Floats, Integers

Keys = NDArray[np.uint64]

MOST_ROWS = 80_000  # of which every one is kept
MOST_STRATA = 20_000  # places on the grid, beyond that
FINEST = 128  # steps of the grid for a square root from 0 to 1
FEWEST_KEPT = 8.0  # rows kept of a place, on average
KEPT_OF_ROOT = 0.5  # and at least so many times the root of the number of rows there
SHIFTS = (np.uint64(30), np.uint64(27), np.uint64(31))  # of SplitMix64, as in calibrators.draws


@dataclass(frozen=True, eq=False)
class Genomes:
    """How many rows of each genome are in each of some places."""

    key: Keys  # A key per genome, ascending
    counts: sparse.csr_array  # Rows


@dataclass(frozen=True, eq=False)
class Cells:
    """Rows of probabilities, gathered at places of like rows."""

    n_steps: int  # Steps of the grid; 0 where every row is kept
    class_key: Keys  # A key per class
    key: Keys  # Made of the place, or of the row; ascending
    place: NDArray[np.uint8]  # Place on the grid; zeros where every row is kept
    n_rows: Integers  # Number of rows there
    row: Floats  # Rows that are kept
    at: Integers  # Place of each
    level: Floats  # A number in (0, 1), made of the row's name
    genomes: Genomes | None = None  # Whose rows there are at the places, where that is known

    def shared(self, weight: Floats) -> Floats:
        """Return the weights of places, shared out among the rows kept there."""
        return np.asarray((weight / np.bincount(self.at, minlength=len(self.key)))[self.at])


def cells_of(
    probability: Floats,
    name: Keys,
    most_rows: int = MOST_ROWS,
    *,
    class_key: Keys | None = None,
    origin: Floats | None = None,
    genome: Keys | None = None,
) -> Cells:
    """Return the rows as cells."""
    n_rows, n_classes = probability.shape
    keys = np.arange(n_classes, dtype=np.uint64) if class_key is None else class_key
    bits = np.ascontiguousarray((probability if origin is None else origin) + 0.0).view(np.uint64)
    every = Cells(
        0,
        keys,
        keys_of_rows(bits, keys),
        np.zeros(probability.shape, dtype=np.uint8),
        np.ones(n_rows, dtype=np.int64),
        probability,
        np.arange(n_rows),
        uniform(name, 0, "kept rows"),
        None if genome is None else genomes_at(np.arange(n_rows), n_rows, genome),
    )
    return _within(_gathered(every), most_rows)


def merged(first: Cells, second: Cells, most_rows: int = MOST_ROWS) -> Cells:
    """Return the cells of both sets of rows."""
    steps = [cells.n_steps for cells in (first, second)]
    if max(steps) > 0:
        coarsest = min(number for number in steps if number > 0)
        first, second = (_coarsened(cells, coarsest) for cells in (first, second))
    joined = Cells(
        first.n_steps,
        first.class_key,
        np.concatenate([first.key, second.key]),
        np.concatenate([first.place, second.place]),
        np.concatenate([first.n_rows, second.n_rows]),
        np.concatenate([first.row, second.row]),
        np.concatenate([first.at, second.at + len(first.key)]),
        np.concatenate([first.level, second.level]),
        stacked(first.genomes, second.genomes),
    )
    return _within(_gathered(joined), most_rows)


def _within(cells: Cells, most_rows: int) -> Cells:
    if cells.n_steps == 0:
        if len(cells.row) <= most_rows:
            return cells
        cells = _coarsened(cells, FINEST)
    most_places = min(MOST_STRATA, most_rows)
    while len(cells.key) > most_places and cells.n_steps > 1:
        cells = _coarsened(cells, cells.n_steps // 2)
    return _thinned(cells)


def _coarsened(cells: Cells, n_steps: int) -> Cells:
    if cells.n_steps == n_steps:
        return cells
    if cells.n_steps == 0:  # at a place all rows are the same
        _, first = np.unique(cells.at, return_index=True)
        place = np.minimum(np.sqrt(cells.row[first]) * n_steps, n_steps - 1).astype(np.uint8)
    else:
        place = cells.place // np.uint8(cells.n_steps // n_steps)
    key = keys_of_rows(place, cells.class_key)
    return _gathered(replace(cells, n_steps=n_steps, key=key, place=place))


def _gathered(cells: Cells) -> Cells:
    """Return the cells with like places as one, in the order of their keys."""
    key, first, code = np.unique(cells.key, return_index=True, return_inverse=True)
    n_places = len(first)
    n_rows = np.bincount(code, weights=cells.n_rows, minlength=n_places).astype(np.int64)
    genomes = cells.genomes
    if genomes is not None:
        shape = (n_places, len(code))
        gather = sparse.csr_array((np.ones(len(code)), (code, np.arange(len(code)))), shape=shape)
        genomes = Genomes(genomes.key, sparse.csr_array(gather @ genomes.counts))
    at = code[cells.at].astype(np.int64)
    order = np.lexsort((cells.level, at))
    return Cells(
        cells.n_steps,
        cells.class_key,
        key,
        cells.place[first],
        n_rows,
        cells.row[order],
        at[order],
        cells.level[order],
        genomes,
    )


def _thinned(cells: Cells) -> Cells:
    """Return the cells with a part of the rows of each place, the first one always.

    The part falls with the number of rows, so that a row that is dropped from a
    piece of a table would be dropped from the whole.
    """
    n_rows = cells.n_rows.astype(np.float64)
    part = np.maximum(FEWEST_KEPT, KEPT_OF_ROOT * np.sqrt(n_rows)) / n_rows
    is_first = np.append(True, np.diff(cells.at) > 0)
    kept = is_first | (cells.level < part[cells.at])
    return replace(cells, row=cells.row[kept], at=cells.at[kept], level=cells.level[kept])


def keys_of_rows(values: NDArray[np.uint64] | NDArray[np.uint8], class_key: Keys) -> Keys:
    """Return a number per row: the same for like rows, else all but never."""
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
    """Return how many rows of each genome are at each place."""
    key, code = np.unique(genome.astype(np.uint64), return_inverse=True)
    ones = np.ones(len(place))
    return Genomes(key, sparse.csr_array((ones, (place, code)), shape=(n_places, len(key))))


def stacked(first: Genomes | None, second: Genomes | None) -> Genomes | None:
    """Return the places of both, one below the other; None without genomes."""
    if first is None or second is None:
        return None
    key = np.union1d(first.key, second.key)
    parts = [_among(part, key) for part in (first, second)]
    return Genomes(key, sparse.csr_array(sparse.vstack(parts)))


def added(first: Genomes | None, second: Genomes | None) -> Genomes | None:
    """Return the counts of both at the same places; None without genomes."""
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


def at_level(probability: Floats, name: Keys, n_steps: int) -> Cells:
    """Return the rows gathered on a grid of so many steps."""
    every = cells_of(probability, name, len(probability))
    return every if n_steps == 0 else _thinned(_coarsened(every, n_steps))
