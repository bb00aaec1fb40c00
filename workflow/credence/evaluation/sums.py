"""Sums in cells for every predicted class at once, under many weightings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from credence.metrics.judged import Cells, Family, Judged, divide, sum_by
from credence.metrics.protocol import Metric, loss_cells
from credence.predictions import Floats, Integers

OUTCOME = 2  # the channel of cells that holds what turned out


@dataclass(frozen=True, eq=False)
class Placed:
    """Entries of a family of cells, classes side by side.

    Parameters
    ----------
    row : array of int, shape (n_entries,)
        The protein.
    position : array of int, shape (n_entries,)
        The block times `n_cells`, plus the cell.
    n_blocks, n_cells : int
        Blocks are the predicted classes; where cells depend on which proteins
        are judged together, the last block is all of them.
    values : array of float, shape (n_channels, n_entries)
        What is summed.
    has_all : bool
        Whether the last block is all proteins; else their sums are those of the
        classes added up.
    """

    row: Integers
    position: Integers
    n_blocks: int
    n_cells: int
    values: Floats
    has_all: bool


@dataclass(frozen=True, eq=False)
class BlockSums:
    """Sums of every predicted class and of all.

    Parameters
    ----------
    classes : array of float, shape (n_channels, n_classes, n_draws, n_cells)
        Per predicted class; no classes where the family is over all alone.
    everything : array of float, shape (n_channels, n_draws, n_cells)
        Over all.
    """

    classes: Floats
    everything: Floats


def place(family: Family, judged: Judged, block: Integers, n_blocks: int) -> Placed | None:
    """Return a family's entries, each class in a block of its own.

    Parameters
    ----------
    family : Family
        The rule.
    judged : Judged
        All proteins.
    block : array of int
        Predicted class of each, from 0.
    n_blocks : int
        How many predicted classes there are; 0: over all alone.
    """
    if family.is_fixed:
        cells = family.cells(judged)
        return None if cells is None else _placed(cells, block, n_blocks)
    parts: list[tuple[Integers, Cells]] = []
    for number in range(n_blocks):
        rows = np.flatnonzero(block == number).astype(np.int64)
        cells = family.cells(judged.take(rows)) if len(rows) > 0 else None
        if cells is not None:
            parts.append((rows[cells.row], _shifted(cells, number)))
    everything = family.cells(judged)
    if everything is None:
        return None
    parts.append((everything.row, _shifted(everything, n_blocks)))
    return Placed(
        np.concatenate([row for row, _ in parts]),
        np.concatenate([cells.cell for _, cells in parts]),
        n_blocks + 1,
        everything.n_cells,
        np.concatenate([cells.values for _, cells in parts], axis=1),
        has_all=True,
    )


def place_losses(
    metrics: Sequence[Metric], judged: Judged, block: Integers, n_blocks: int
) -> Placed:
    """Return the entries of all metrics that are means of losses.

    Parameters
    ----------
    metrics : sequence of Metric
        With losses.
    judged, block, n_blocks
        As for :func:`place`.
    """
    return _placed(loss_cells(tuple(metrics), judged), block, n_blocks)


def _placed(cells: Cells, block: Integers, n_blocks: int) -> Placed:
    position = block[cells.row] * cells.n_cells + cells.cell
    return Placed(cells.row, position, n_blocks, cells.n_cells, cells.values, has_all=False)


def _shifted(cells: Cells, number: int) -> Cells:
    cell = cells.cell + number * cells.n_cells
    return Cells(cells.row, cell, cells.n_cells, cells.values)


def unit_matrices(
    placed: Placed, weight: Floats, unit: Integers, n_units: int
) -> list[sparse.csr_array]:
    """Return a matrix per channel that turns weights of units into sums.

    Parameters
    ----------
    placed : Placed
        Where proteins count.
    weight : array of float
        Of the proteins.
    unit : array of int
        What is drawn together: the code of each protein's cluster.
    n_units : int
        How many there are.
    """
    shape = (placed.n_blocks * placed.n_cells, n_units)
    found = []
    for channel in placed.values:
        entry = weight[placed.row] * channel
        matrix = sparse.coo_array((entry, (placed.position, unit[placed.row])), shape=shape)
        found.append(matrix.tocsr())
    return found


def total_sums(placed: Placed, weight: Floats) -> BlockSums:
    """Return the sums with the proteins' own weights: one draw, nothing drawn.

    Parameters
    ----------
    placed : Placed
        Where proteins count.
    weight : array of float
        Of the proteins.
    """
    size = placed.n_blocks * placed.n_cells
    sums = [
        sum_by(placed.position, weight[placed.row] * channel, size) for channel in placed.values
    ]
    return blocks_of(placed, np.stack(sums)[:, :, None])


def drawn_sums(placed: Placed, matrices: Sequence[sparse.csr_array], drawn: Floats) -> BlockSums:
    """Return the sums under drawn weights of the units.

    Parameters
    ----------
    placed : Placed
        Where proteins count.
    matrices : sequence of sparse array
        From :func:`unit_matrices`.
    drawn : array of float, shape (n_units, n_draws)
        A factor for each unit's weight.
    """
    return blocks_of(placed, np.stack([matrix @ drawn for matrix in matrices]))


def centred(drawn: BlockSums, own: BlockSums) -> BlockSums:
    """Return drawn sums less what the sample's means of the cells would give.

    A calibration error of these sums is the distance of the draw from the
    sample, as it is of the sample from the truth.

    Parameters
    ----------
    drawn : BlockSums
        Under drawn weights.
    own : BlockSums
        Of the sample.
    """
    return BlockSums(
        _centred(drawn.classes, own.classes), _centred(drawn.everything, own.everything)
    )


def _centred(drawn: Floats, own: Floats) -> Floats:
    expected = drawn[0] * divide(own[1 : OUTCOME + 1], own[0], 0.0)
    return np.concatenate([drawn[:1], drawn[1 : OUTCOME + 1] - expected])


def outcome_sums(placed: Placed, weight: Floats, own: BlockSums, outcome: Floats) -> BlockSums:
    """Return the sums had other predictions been right.

    Parameters
    ----------
    placed : Placed
        Where proteins count.
    weight : array of float
        Of the proteins.
    own : BlockSums
        The sums as they are.
    outcome : array of float, shape (n_samples, n_draws)
        1 where a prediction is right.
    """
    shape = (placed.n_blocks * placed.n_cells, len(weight))
    matrix = sparse.coo_array((weight[placed.row], (placed.position, placed.row)), shape=shape)
    simulated = blocks_of(placed, (matrix.tocsr() @ outcome)[None])
    return BlockSums(
        _with_outcome(own.classes, simulated.classes),
        _with_outcome(own.everything, simulated.everything),
    )


def _with_outcome(own: Floats, simulated: Floats) -> Floats:
    """Return weight and confidence as they are, with the outcomes simulated."""
    shape = (OUTCOME, *simulated.shape[1:])
    return np.concatenate([np.broadcast_to(own[:OUTCOME], shape), simulated])


def blocks_of(placed: Placed, sums: Floats) -> BlockSums:
    """Return sums by class and over all.

    Parameters
    ----------
    placed : Placed
        Where proteins count.
    sums : array of float, shape (n_channels, n_blocks · n_cells, n_draws)
        In the order of positions.
    """
    n_channels, _, n_draws = sums.shape
    shaped = sums.reshape(n_channels, placed.n_blocks, placed.n_cells, n_draws)
    shaped = np.ascontiguousarray(np.moveaxis(shaped, 3, 2))
    if placed.has_all:
        return BlockSums(shaped[:, :-1], shaped[:, -1])
    return BlockSums(shaped, shaped.sum(axis=1))
