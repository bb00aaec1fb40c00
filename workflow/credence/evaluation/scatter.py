"""How far a mean over clusters of relatives can be off, beyond what its draws show.

Where a few great clusters bear most of the weight, the scatter that a sample
shows depends on whether one of the great ones happened to be odd. Drawing
clusters repeats that accident. How alike relatives are is known from all
clusters, and foretells what the great ones could have done.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from credence.calibrators.intervals import LEAST_FREEDOM
from credence.metrics.judged import divide, sum_by
from credence.predictions import Floats, Integers

# Of a variance, or of a mean's square: what rounding leaves where clusters or losses are equal.
NOTHING = 1e-18


@dataclass(frozen=True, eq=False)
class Relatives:
    """Which proteins of a block belong together, and what they weigh.

    Parameters
    ----------
    code : array of int, shape (n_samples,)
        A code for each pair of block and cluster.
    block : array of int, shape (n_codes,)
        Block of each code.
    n_blocks : int
        How many there are.
    weight : array of float, shape (n_samples,)
        Of the proteins.
    mass, squares : array of float, shape (n_codes,)
        Σ w and Σ w² of each code.
    n_members : array of int, shape (n_codes,)
        Proteins of each code.
    """

    code: Integers
    block: Integers
    n_blocks: int
    weight: Floats
    mass: Floats
    squares: Floats
    n_members: Integers

    @property
    def total(self) -> Floats:
        """Σ w of each block."""
        return sum_by(self.block, self.mass, self.n_blocks)

    @property
    def n_effective(self) -> Floats:
        """Kish's number of clusters of each block, (Σ W)² / Σ W²; 0 of an empty one."""
        return divide(self.total**2, sum_by(self.block, self.mass**2, self.n_blocks), 0.0)


@dataclass(frozen=True, eq=False)
class Scatter:
    """How draws of clusters are to be read, block by block.

    Parameters
    ----------
    stretch : array of float, shape (n_blocks,)
        How much further off a mean can be than its draws show; 1 or more.
    freedom : array of float, shape (n_blocks,)
        Degrees of freedom of Student's t, by which quantiles are widened.
    """

    stretch: Floats
    freedom: Floats


def relatives_of(block: Integers, n_blocks: int, unit: Integers, weight: Floats) -> Relatives:
    """Return which proteins of each block belong together.

    Parameters
    ----------
    block : array of int, shape (n_samples,)
        Block of each protein.
    n_blocks : int
        How many there are.
    unit : array of int, shape (n_samples,)
        Cluster of each protein, from 0.
    weight : array of float, shape (n_samples,)
        Of the proteins.
    """
    n_units = int(unit.max()) + 1 if len(unit) > 0 else 1
    pairs, code = np.unique(block * n_units + unit, return_inverse=True)
    code = code.astype(np.int64)
    return Relatives(
        code=code,
        block=(pairs // n_units).astype(np.int64),
        n_blocks=n_blocks,
        weight=weight,
        mass=sum_by(code, weight, len(pairs)),
        squares=sum_by(code, weight**2, len(pairs)),
        n_members=np.bincount(code, minlength=len(pairs)).astype(np.int64),
    )


def scatter_of(relatives: Relatives, losses: Floats) -> Scatter:
    """Return how much wider each block's mean scatters than draws of clusters show.

    Parameters
    ----------
    relatives : Relatives
        Which proteins belong together.
    losses : array of float, shape (n_samples,)
        What the mean is of.

    Notes
    -----
    With r the losses less their block's mean, D = Σ w r of a cluster and W its
    weight, draws of clusters scatter as Σ D² does. Two other estimates of the same
    variance are made, and the stretch is the root of the greatest over Σ D²:

    - leaving out each cluster, Σ D² / (1 − W/ΣW)² [1]_;
    - the design effect, σ² Σ w² + c (Σ W² − Σ w²), σ² the mean square of r and c
      the mean product of a protein's r with those of its relatives, between 0 and σ²
      [2]_; times m/(m − 1), m Kish's number of clusters.

    The degrees of freedom are the geometric mean of m − 1, which asks what clusters
    weigh, and of (Σ D²)² / Σ D⁴, which asks what the scatter came from.

    References
    ----------
    .. [1] MacKinnon, Nielsen & Webb 2023, doi 10.1002/jae.2969.
    .. [2] Kish 1965, Survey Sampling, section 5.4; Scott & Holt 1982,
       Journal of the American Statistical Association 77:848–854.
    """
    of, n_codes = relatives, len(relatives.block)

    def by_block(values: Floats) -> Floats:
        return sum_by(of.block, values, of.n_blocks)

    total = of.total
    mean = divide(by_block(sum_by(of.code, of.weight * losses, n_codes)), total, 0.0)
    residual = losses - mean[of.block[of.code]]
    pull = of.weight * residual
    summed = sum_by(of.code, pull, n_codes)
    own_squares = sum_by(of.code, pull**2, n_codes)
    shown = by_block(summed**2)
    left = 1.0 - of.mass / total[of.block]
    jackknife = by_block(divide(summed**2, left**2, 0.0))

    variance = divide(by_block(sum_by(of.code, pull * residual, n_codes)), total, 0.0)
    has_relatives = of.n_members > 1
    pairs = np.where(has_relatives, of.mass**2 - of.squares, 0.0)
    products = divide(of.mass * (summed**2 - own_squares), pairs, 0.0)
    alike = divide(by_block(products), by_block(np.where(has_relatives, of.mass, 0.0)), 0.0)
    shared = np.clip(alike, 0.0, variance)
    number = of.n_effective
    few = divide(number, number - 1.0, 1.0)
    foretold = few * (variance * by_block(of.squares) + shared * by_block(pairs))

    greatest = np.maximum(np.maximum(jackknife, foretold), shown)
    known = (shown > NOTHING * greatest) & (variance > NOTHING * mean**2)
    bearing = np.where(known, divide(shown**2, by_block(summed**4), 1.0), 1.0)
    return Scatter(
        stretch=np.sqrt(np.where(known, divide(greatest, shown, 1.0), 1.0)),
        freedom=np.sqrt(np.maximum(number - 1.0, LEAST_FREEDOM) * bearing),
    )


BothRelatives = tuple[Relatives, Relatives]  # by predicted class, and over all


def both_relatives(
    block: Integers, n_classes: int, unit: Integers, weight: Floats
) -> BothRelatives:
    """Return which proteins belong together by predicted class, and over all.

    Parameters
    ----------
    block, unit, weight
        As for :func:`relatives_of`.
    n_classes : int
        How many predicted classes there are.
    """
    return (
        relatives_of(block, n_classes, unit, weight),
        relatives_of(np.zeros_like(block), 1, unit, weight),
    )


def both_scatters(relatives: BothRelatives, losses: Floats) -> Scatter:
    """Return :func:`scatter_of` of each predicted class, then of all.

    Parameters
    ----------
    relatives : tuple of Relatives
        From :func:`both_relatives`.
    losses : array of float, shape (n_samples,)
        What the means are of.
    """
    found = [scatter_of(of, losses) for of in relatives]
    return Scatter(
        np.concatenate([one.stretch for one in found]),
        np.concatenate([one.freedom for one in found]),
    )


def by_weights_alone(relatives: BothRelatives, stretch: Floats) -> Scatter:
    """Return a scatter whose freedom is Kish's number of clusters less one.

    Parameters
    ----------
    relatives : tuple of Relatives
        From :func:`both_relatives`.
    stretch : array of float, shape (n_classes + 1,)
        Of each predicted class, then of all.
    """
    number = np.concatenate([of.n_effective for of in relatives])
    return Scatter(stretch, np.maximum(number - 1.0, LEAST_FREEDOM))
