"""What a metric is: a number that says how good confidences are.

:mod:`credence.evaluation` applies metrics per predicted class and over all.
Confidences that are NaN are left out before, and counted. A metric is either
the weighted mean of a loss per protein, or a function of sums in cells.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from credence.metrics.judged import Cells, Family, Judged, divide
from credence.predictions import Booleans, Floats

Losses = Callable[[Floats, Booleans], Floats]
# finish(sums, n_effective): sums of shape (n_channels, …, n_cells) give values of shape (…).
Finish = Callable[[Floats, Floats], Floats]


@dataclass(frozen=True)
class Metric:
    """One entry of the registry.

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
    losses : callable, optional
        ``losses(confidence, is_correct)`` gives a number per protein, whose
        weighted mean the metric is. All others have `family` and `finish`.
    family : Family, optional
        In which cells proteins count.
    finish : callable, optional
        Gives the metric of one block from its sums in cells; None where it is
        defined over all predicted classes only.
    over_classes : callable, optional
        Gives the number over all from the sums of each predicted class, of shape
        (n_channels, n_classes, …, n_cells), where that is not `finish` of the
        sums over all.
    lower_is_better : bool, optional
        Whether a method with a smaller value is the better one; None: neither.
    is_share : bool
        Whether the losses are 0 or 1, so that the value is a share and its
        interval needs a guard at the ends.
    is_error : bool
        Whether it is a distance from perfect calibration: never negative, above
        0 by chance even for perfect confidences, so that it has a noise floor.
    is_square : bool
        Whether it is the square of a distance.
    is_signed : bool
        Whether it can be negative.
    noise : callable, optional
        ``noise(sums, n_effective)`` gives how far a draw lies from the sample, from
        sums of outcome and confidence of which the sample's mean of the cell was
        taken off. Of an error it is `finish` or `over_classes` unless given; what is
        no error and has it is a norm of other distances that chance pushes up.
    needs_vector : bool
        Whether it judges a probability for every class.
    """

    name: str
    title: str
    summary: str
    reference: str
    losses: Losses | None = None
    family: Family | None = None
    finish: Finish | None = None
    over_classes: Finish | None = None
    lower_is_better: bool | None = True
    is_share: bool = False
    is_error: bool = False
    is_square: bool = False
    is_signed: bool = False
    noise: Finish | None = None
    needs_vector: bool = False

    def compute(self, judged: Judged) -> float:
        """Return the metric of one block of proteins; NaN where there are none.

        Parameters
        ----------
        judged : Judged
            The proteins, all of one predicted class or taken as such.
        """
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


def loss_cells(metrics: tuple[Metric, ...], judged: Judged) -> Cells:
    """Return one cell whose channels are 1 and the loss of each metric given.

    Parameters
    ----------
    metrics : tuple of Metric
        Those that have losses.
    judged : Judged
        The proteins.
    """
    channels = [np.ones(judged.n_samples)]
    for metric in metrics:
        assert metric.losses is not None
        channels.append(metric.losses(judged.confidence, judged.is_correct))
    everyone = np.arange(judged.n_samples, dtype=np.int64)
    return Cells(everyone, np.zeros(judged.n_samples, dtype=np.int64), 1, np.stack(channels))


def mean_over_classes(values: Floats) -> Floats:
    """Return the mean over the first axis of what is not NaN.

    Parameters
    ----------
    values : array of float, shape (n_classes, …)
        One per predicted class; NaN where a class holds nothing.
    """
    known = ~np.isnan(values)
    return divide(np.where(known, values, 0.0).sum(axis=0), known.sum(axis=0).astype(np.float64))


def weighted_over_classes(values: Floats, mass: Floats) -> Floats:
    """Return the mean over the first axis, each class by its weight.

    Parameters
    ----------
    values, mass : array of float, shape (n_classes, …)
        One per predicted class; NaN where a class holds nothing.
    """
    known = ~np.isnan(values)
    weight = np.where(known, mass, 0.0)
    return divide((np.where(known, values, 0.0) * weight).sum(axis=0), weight.sum(axis=0))
