"""Expected calibration error: how far shares lie from confidences, in bins."""

from __future__ import annotations

import numpy as np

from credence.metrics.binning import COUNT, N_BINS, WIDTH
from credence.metrics.judged import divide
from credence.metrics.protocol import Metric, mean_over_classes, weighted_over_classes
from credence.predictions import Floats

GUO = "Guo et al. 2017, arXiv 1706.04599; Naeini et al. 2015"
GUPTA = "Gupta & Ramdas 2021, arXiv 2107.08353"
ROOT = "Kumar et al. 2019, arXiv 1909.10155"


def mean_gap(sums: Floats, n_effective: Floats) -> Floats:
    """Return Σ_b |Σ w(p − t)| / Σ w: ECE in the L1 form, ECE1.

    Parameters
    ----------
    sums : array of float, shape (n_channels, …, n_cells)
        Weight, confidence and outcome summed in bins.
    n_effective : array of float
        Not used.

    Examples
    --------
    Two bins: mean confidence 0.4 against a share of 0.5, 0.8 against 1.

    >>> sums = np.array([[2.0, 1.0], [0.8, 0.8], [1.0, 1.0]])
    >>> round(float(mean_gap(sums, np.array(3.0))), 3)
    0.133
    """
    return divide(np.abs(sums[1] - sums[2]).sum(axis=-1), sums[0].sum(axis=-1))


def root_mean_square_gap(sums: Floats, n_effective: Floats) -> Floats:
    """Return √(Σ_b W_b (mean p − mean t)² / Σ_b W_b): ECE in the L2 form, ECE2.

    Parameters
    ----------
    sums : array of float, shape (n_channels, …, n_cells)
        Weight, confidence and outcome summed in bins.
    n_effective : array of float
        Not used.
    """
    squares = divide((sums[1] - sums[2]) ** 2, sums[0], 0.0).sum(axis=-1)
    return np.asarray(np.sqrt(divide(squares, sums[0].sum(axis=-1))))


def _mean_of_classes(sums: Floats, n_effective: Floats) -> Floats:
    return mean_over_classes(mean_gap(sums, n_effective))


def _weighted_mean_of_classes(sums: Floats, n_effective: Floats) -> Floats:
    return weighted_over_classes(mean_gap(sums, n_effective), sums[0].sum(axis=-1))


ECE = Metric(
    name="ece",
    title="expected calibration error",
    summary=f"The mean distance between confidence and share right, in {N_BINS} bins of equal "
    "width. It is above 0 by chance alone: compare it with its noise floor. A confidence that "
    "is the same for all can score best, so it is no measure of use.",
    reference=GUO,
    family=WIDTH,
    finish=mean_gap,
    is_error=True,
)
ECE2 = Metric(
    name="ece2",
    title="expected calibration error, squared form",
    summary=f"The root of the mean squared distance between confidence and share right, in "
    f"{N_BINS} bins of equal width; great distances count more.",
    reference=ROOT,
    family=WIDTH,
    finish=root_mean_square_gap,
    is_error=True,
)
ECE_COUNT = Metric(
    name="ece_count",
    title="expected calibration error, equal counts",
    summary=f"The mean distance between confidence and share right, in {N_BINS} bins that hold "
    "about as many proteins each; equal confidences stay in one bin.",
    reference="Nguyen & O'Connor 2015, arXiv 1508.05154",
    family=COUNT,
    finish=mean_gap,
    is_error=True,
)
ECE2_COUNT = Metric(
    name="ece2_count",
    title="expected calibration error, equal counts, squared form",
    summary=f"The root of the mean squared distance between confidence and share right, in "
    f"{N_BINS} bins that hold about as many proteins each.",
    reference=ROOT,
    family=COUNT,
    finish=root_mean_square_gap,
    is_error=True,
)
TOP_LABEL = Metric(
    name="ece_top_label",
    title="top-label ECE, mean of classes",
    summary="The expected calibration error of each predicted class by itself, averaged over "
    "the classes, each counting once.",
    reference=GUPTA,
    family=WIDTH,
    over_classes=_mean_of_classes,
    is_error=True,
)
TOP_LABEL_WEIGHTED = Metric(
    name="ece_top_label_weighted",
    title="top-label ECE, by count",
    summary="The expected calibration error of each predicted class by itself, averaged over "
    "the classes by how many proteins are predicted to be in each.",
    reference=GUPTA,
    family=WIDTH,
    over_classes=_weighted_mean_of_classes,
    is_error=True,
)
