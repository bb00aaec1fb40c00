"""What a metric is: the weighted mean of a loss per protein, or a function of sums in cells."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credence.draws import kish
from credence.findings import CLIP
from credence.predictions import Booleans, Floats, Integers

N_METRIC_BINS = 15  # Guo et al. 2017, arXiv 1706.04599


@dataclass(frozen=True, kw_only=True, eq=False)
class Judged:
    """Proteins that are judged together, under one method."""

    confidence: Floats  # In [0, 1], no NaN
    is_correct: Booleans  # Whether each prediction is right
    weight: Floats  # Positive weights
    score: Floats | None = None  # Top score over the scale; None where the classifier gives none
    probabilities: Floats | None = None  # One per class, where the method gives a vector
    true_class: Integers | None = None  # Needed with `probabilities`
    n_bins: int = N_METRIC_BINS  # Bins of the confidence, of equal width or of equal counts
    # Whether metrics in bins of equal width are to be in bins of equal counts too.
    equal_counts: bool = False

    @property
    def n_samples(self) -> int:
        """Number of proteins."""
        return len(self.confidence)

    @property
    def n_effective(self) -> float:
        """Kish's number, (Σw)² / Σw²: proteins of equal weight that tell as much."""
        return kish(self.weight)

    def take(self, rows: NDArray[np.intp] | Booleans) -> "Judged":
        """Return the rows chosen, in the order given."""
        columns: dict[str, Any] = {
            name: column for name, column in vars(self).items() if isinstance(column, np.ndarray)
        }
        return replace(self, **{name: column[rows] for name, column in columns.items()})


@dataclass(frozen=True, kw_only=True, eq=False)
class BinSums:
    """Where each protein counts, and with what."""

    row: Integers  # The protein; one can have several entries
    cell: Integers  # The cell it counts in, from 0
    n_cells: int  # How many cells there are
    values: Floats  # What is summed, before weighting

    def sums(self, weight: Floats) -> Floats:
        """Return the weighted sums, shape (n_channels, n_cells)."""
        entries = weight[self.row] * self.values
        return np.stack([sum_by(self.cell, channel, self.n_cells) for channel in entries])


@dataclass(frozen=True, kw_only=True)
class Family:
    """A rule that says in which cells proteins count; metrics share them."""

    name: str  # Unique among the families
    # ``cells(judged)`` gives them, or None where it lacks something.
    cells: Callable[[Judged], BinSums | None]
    is_fixed: bool = True  # Whether a protein's cell does not depend on which others are judged


def in_cells(
    judged: Judged, cell: Integers, n_cells: int, *, has_squares: bool = False
) -> BinSums:
    """Return cells with the channels 1, confidence and outcome."""
    confidence, outcome = judged.confidence, judged.is_correct.astype(np.float64)
    channels = [np.ones(judged.n_samples), confidence, outcome]
    if has_squares:
        channels.append((confidence - outcome) ** 2)
    return BinSums(
        row=np.arange(judged.n_samples, dtype=np.int64),
        cell=cell,
        n_cells=n_cells,
        values=np.stack(channels),
    )


def sum_by(position: Integers, values: Floats, n_places: int) -> Floats:
    """Return the sum of the values at each place."""
    return np.bincount(position, weights=values, minlength=n_places).astype(np.float64)


def divide(numerator: Floats, denominator: Floats, otherwise: float = np.nan) -> Floats:
    """Return the quotients, another value where the denominator is not positive."""
    answer = np.full(np.broadcast_shapes(np.shape(numerator), np.shape(denominator)), otherwise)
    np.divide(numerator, denominator, out=answer, where=np.asarray(denominator) > 0)
    return answer


Losses = Callable[[Floats, Booleans], Floats]
# finish(sums, n_effective): sums of shape (n_channels, …, n_cells) give values of shape (…).
Finish = Callable[[Floats, Floats], Floats]


@dataclass(frozen=True, kw_only=True)
class Metric:
    """One entry of the registry."""

    name: str  # What tables and configurations write: lower case, underscores
    title: str  # What pages write
    summary: str  # One plain sentence for the glossary
    reference: str  # Where it is from
    # Gives a number per protein, whose weighted mean the metric is; others have the next two.
    losses: Losses | None = None
    family: Family | None = None  # In which cells proteins count
    # Gives the metric of a block from its sums in cells; None: defined over all classes only.
    finish: Finish | None = None
    # Gives the number over all from (n_channels, n_classes, …, n_cells), where not `finish`.
    over_classes: Finish | None = None
    # Whether the losses are 0 or 1: the value is a share, its interval guarded at 0 and 1.
    is_share: bool = False
    # Whether it is a distance from calibration: above 0 by chance, so that it has a noise floor.
    is_error: bool = False
    is_square: bool = False  # Whether it is the square of a distance
    is_signed: bool = False  # Whether it can be negative
    most: float = 1.0  # No value is greater; if it is signed, none is below −most
    # Gives how far a draw lies from the sample, from sums less the sample's mean of the cell; of
    # an error `finish` or `over_classes` unless given, else a norm that chance pushes up.
    noise: Finish | None = None
    needs_vector: bool = False  # Whether it judges a probability for every class

    def compute(self, judged: Judged) -> float:
        """Return the metric of one block of proteins; NaN where there are none."""
        if judged.n_samples == 0:
            return float("nan")
        if self.losses is not None:
            losses = self.losses(judged.confidence, judged.is_correct)
            return float(np.sum(judged.weight * losses) / np.sum(judged.weight))
        assert self.family is not None
        cells = self.family.cells(judged)
        if cells is None:
            return float("nan")
        sums, n_effective = cells.sums(judged.weight), np.array(judged.n_effective)
        if self.finish is not None:
            return float(self.finish(sums, n_effective))
        assert self.over_classes is not None
        return float(self.over_classes(sums[:, None], n_effective[None]))


def loss_cells(metrics: tuple[Metric, ...], judged: Judged) -> BinSums:
    """Return one cell whose channels are 1 and the loss of each metric given."""
    losses = (metric.losses for metric in metrics if metric.losses is not None)
    channels = [loss(judged.confidence, judged.is_correct) for loss in losses]
    everyone = np.arange(judged.n_samples)
    values = np.stack([np.ones(judged.n_samples), *channels])
    return BinSums(row=everyone, cell=np.zeros_like(everyone), n_cells=1, values=values)


def mean_over_classes(values: Floats, axis: int = 0) -> Floats:
    """Return the mean over an axis, the first one as a rule, of what is not NaN."""
    known = ~np.isnan(values)
    return divide(np.where(known, values, 0.0).sum(axis=axis), known.sum(axis=axis).astype(float))


def weighted_over_classes(values: Floats, mass: Floats) -> Floats:
    """Return the mean over the first axis, each class by its weight."""
    known = ~np.isnan(values)
    weight = np.where(known, mass, 0.0)
    return divide((np.where(known, values, 0.0) * weight).sum(axis=0), weight.sum(axis=0))


def is_right(confidence: Floats, is_correct: Booleans) -> Floats:
    """Return 1 where the prediction is right, 0 where it is wrong."""
    return is_correct.astype(np.float64)


ACCURACY = Metric(
    name="accuracy",
    title="precision",
    summary="The share of predictions that are right. It judges the classifier; a calibration "
    "method changes confidences, not predictions.",
    reference="Cantu et al. 2020, doi 10.1371/journal.pcbi.1007845",
    losses=is_right,
    is_share=True,
)


def excess(confidence: Floats, is_correct: Booleans) -> Floats:
    """Return by how much the confidence is above what happened."""
    return np.asarray(confidence - is_correct)


GAP = Metric(
    name="gap",
    title="confidence − precision",
    summary="The mean confidence less the precision: above 0, confidences are too high on "
    "the whole. 0 is perfect. That it is 0 does not say that every confidence is right.",
    reference="Van Calster et al. 2019, doi 10.1186/s12916-019-1466-7",
    losses=excess,
    is_signed=True,
)


def squared_error(confidence: Floats, is_correct: Booleans) -> Floats:
    """Return the squared distance from the confidence to what happened."""
    return np.asarray((confidence - is_correct) ** 2)


BRIER = Metric(
    name="brier",
    title="Brier score",
    summary="The mean squared distance between the confidence and what turned out "
    "(1 right, 0 wrong). Smaller is better; 0 is perfect; always saying 0.5 gives 0.25.",
    reference="Brier 1950, doi 10.1175/1520-0493(1950)078<0001:VOFEIT>2.0.CO;2",
    losses=squared_error,
)


def is_clipped(confidence: Floats) -> Booleans:
    """Return whether each confidence is so near 0 or 1 that it is clipped."""
    return np.asarray((confidence < CLIP) | (confidence > 1.0 - CLIP))


def negative_log_likelihood(confidence: Floats, is_correct: Booleans) -> Floats:
    """Return −log of the probability that was given to what happened."""
    probability = np.where(is_correct, confidence, 1.0 - confidence)
    return np.asarray(-np.log(np.clip(probability, CLIP, 1.0 - CLIP)))


NLL = Metric(
    name="nll",
    title="negative log-likelihood",
    summary="How surprised the confidence was by what turned out: the mean of −log(confidence) "
    "where the prediction was right and of −log(1 − confidence) where it was wrong. "
    "Smaller is better; 0 is perfect; a confident mistake costs much.",
    reference="Salamon et al. 2023, Eq. 15, doi 10.3390/make5030043",
    losses=negative_log_likelihood,
    most=math.inf,
)
