"""Bins of the confidence, in which shares are counted."""

from functools import partial

import numpy as np

from credence.metrics.metric import (
    N_METRIC_BINS,
    BinSums,
    Family,
    Judged,
    Metric,
    divide,
    in_cells,
    mean_over_classes,
    weighted_over_classes,
)
from credence.predictions import Floats, Integers

N_SCORE_BINS = 20  # those of the page's histograms of scores


def bin_of(values: Floats, edges: Floats) -> Integers:
    """Return the bin of each value, left-open; beyond the last edge the last; NaN gives −1."""
    position = np.searchsorted(edges, values, side="left")
    position -= 1  # in place: values may be millions
    np.clip(position, 0, len(edges) - 2, out=position)
    position[np.isnan(values)] = -1
    return position


def equal_width(values: Floats, n_bins: int) -> Integers:
    """Return the bin of each value in [0, 1], all of one width."""
    return bin_of(values, np.linspace(0.0, 1.0, n_bins + 1))


def equal_count(values: Floats, weight: Floats, n_bins: int) -> Integers:
    """Return the bin of each value: ⌊q·n_bins⌋, its ties around the share q of all by weight."""
    _, position = np.unique(values, return_inverse=True)
    mass = np.bincount(position, weights=weight)
    middle = (np.cumsum(mass) - mass / 2) / mass.sum()
    return np.asarray(np.clip(np.floor(middle * n_bins), 0, n_bins - 1).astype(np.int64)[position])


def width_cells(judged: Judged, n_bins: int, *, has_squares: bool = False) -> BinSums:
    """Return cells of equal width over the confidence."""
    return in_cells(
        judged, equal_width(judged.confidence, n_bins), n_bins, has_squares=has_squares
    )


def _count_cells(judged: Judged, *, has_squares: bool = False) -> BinSums:
    """Return cells that hold about as many proteins each."""
    cell = equal_count(judged.confidence, judged.weight, judged.n_bins)
    return in_cells(judged, cell, judged.n_bins, has_squares=has_squares)


def _chosen_cells(judged: Judged) -> BinSums:
    """Return cells of equal width, or of equal counts where these are asked for."""
    if judged.equal_counts:
        return _count_cells(judged, has_squares=True)
    return width_cells(judged, judged.n_bins, has_squares=True)


def _score_cells(judged: Judged) -> BinSums | None:
    if judged.score is None:
        return None
    return in_cells(judged, equal_width(judged.score, N_SCORE_BINS), N_SCORE_BINS)


# The Brier score is taken apart in these.
WIDTH = Family(name="width", cells=_chosen_cells)
COUNT = Family(name="count", cells=_count_cells, is_fixed=False)
SCORE = Family(name="score", cells=_score_cells)

UNLESS = f" ({N_METRIC_BINS}, unless another number or kind is set)"
GUO_ECE = "Guo et al. 2017, arXiv 1706.04599; Naeini et al. 2015"
GUPTA = "Gupta & Ramdas 2021, arXiv 2107.08353"
ROOT = "Kumar et al. 2019, arXiv 1909.10155"
in_width = partial(Metric, family=WIDTH, is_error=True)
in_count = partial(Metric, family=COUNT, is_error=True)


def mean_gap(sums: Floats, n_effective: Floats) -> Floats:
    """Return Σ_b |Σ w(p − t)| / Σ w: ECE in the L1 form, ECE1."""
    return divide(np.abs(sums[1] - sums[2]).sum(axis=-1), sums[0].sum(axis=-1))


def root_mean_square_gap(sums: Floats, n_effective: Floats) -> Floats:
    """Return √(Σ_b W_b (mean p − mean t)² / Σ_b W_b): ECE in the L2 form, ECE2."""
    return np.asarray(np.sqrt(calibration(sums, n_effective)))


ECE = in_width(
    name="ece",
    title="expected calibration error",
    summary="The mean distance between confidence and precision, in bins of equal width"
    f"{UNLESS}. It is above 0 by chance alone: compare it with its noise floor. A confidence that "
    "is the same for all can score best, so it is no measure of use.",
    reference=GUO_ECE,
    finish=mean_gap,
)
ECE2 = in_width(
    name="ece2",
    title="expected calibration error, squared form",
    summary=f"The root of the mean squared distance between confidence and precision, in "
    f"bins of equal width{UNLESS}; great distances count more.",
    reference=ROOT,
    finish=root_mean_square_gap,
)
ECE_COUNT = in_count(
    name="ece_count",
    title="expected calibration error, equal counts",
    summary=f"The mean distance between confidence and precision, in bins{UNLESS} that "
    "hold about as many proteins each; equal confidences stay in one bin.",
    reference="Nguyen & O'Connor 2015, arXiv 1508.05154",
    finish=mean_gap,
)
ECE2_COUNT = in_count(
    name="ece2_count",
    title="expected calibration error, equal counts, squared form",
    summary=f"The root of the mean squared distance between confidence and precision, in "
    f"bins{UNLESS} that hold about as many proteins each.",
    reference=ROOT,
    finish=root_mean_square_gap,
)
TOP_LABEL = in_width(
    name="ece_top_label",
    title="top-label ECE, mean of classes",
    summary="The expected calibration error of each predicted class by itself, averaged over "
    "the classes, each counting once.",
    reference=GUPTA,
    over_classes=lambda sums, n: mean_over_classes(mean_gap(sums, n)),
)
TOP_LABEL_WEIGHTED = in_width(
    name="ece_top_label_weighted",
    title="top-label ECE, by count",
    summary="The expected calibration error of each predicted class by itself, averaged over "
    "the classes by how many proteins are predicted to be in each.",
    reference=GUPTA,
    over_classes=lambda sums, n: weighted_over_classes(mean_gap(sums, n), sums[0].sum(axis=-1)),
)


def greatest_gap(sums: Floats, n_effective: Floats) -> Floats:
    """Return max_b |mean p − mean t| over the bins that hold something."""
    gaps = divide(np.abs(sums[1] - sums[2]), sums[0], 0.0).max(axis=-1)
    return np.where(sums[0].sum(axis=-1) > 0, gaps, np.nan)


MCE = in_width(
    name="mce",
    title="maximum calibration error",
    summary="The greatest distance between confidence and precision in any bin of equal width"
    f"{UNLESS}. A bin with few proteins can decide it: compare it with its noise floor.",
    reference="Naeini et al. 2015; Guo et al. 2017, arXiv 1706.04599",
    finish=greatest_gap,
)


def debiased_error(sums: Floats, n_effective: Floats) -> Floats:
    """Return √(Σ_b (n_b/n) [(p̄ − t̄)² − t̄(1 − t̄)/(n_b − 1)]) or 0; n_b: weight · Kish's number."""
    weight, confidence, outcome = sums[0], sums[1], sums[2]
    total = weight.sum(axis=-1)
    share = divide(weight, total[..., None])
    n_bin = share * np.asarray(n_effective)[..., None]
    rate = divide(outcome, weight, 0.0)
    gap = divide(confidence - outcome, weight, 0.0)
    chance = divide(rate * (1.0 - rate), n_bin - 1.0, 0.0)
    square = np.where(n_bin > 1.0, share * (gap**2 - chance), 0.0).sum(axis=-1)
    return np.where(total > 0, np.sqrt(np.maximum(square, 0.0)), np.nan)


DEBIASED = in_count(
    name="ece_debiased",
    title="debiased calibration error",
    summary="The root of the mean squared distance between confidence and precision, in "
    f"bins of equal counts{UNLESS}, with what independent proteins would give by chance "
    "subtracted; 0 where that leaves nothing. Relatives raise chance beyond it.",
    reference="Kumar, Liang & Ma 2019, arXiv 1909.10155",
    finish=debiased_error,
    noise=root_mean_square_gap,
)

SOURCE = "Kuleshov & Liang 2015, Eq. 2–3; Murphy 1973; Stephenson et al. 2008"
BINS = f"in bins of equal width{UNLESS}"
part_of_brier = partial(Metric, reference=SOURCE, family=WIDTH)


def outcome_variance(sums: Floats, n_effective: Floats) -> Floats:
    """Return Var t, the Brier score of always saying the overall share."""
    rate = divide(sums[2].sum(axis=-1), sums[0].sum(axis=-1))
    return np.asarray(rate * (1.0 - rate))


def sharpness(sums: Floats, n_effective: Floats) -> Floats:
    """Return Var T, how far the shares in bins lie apart."""
    total = sums[0].sum(axis=-1)
    rate = divide(sums[2].sum(axis=-1), total)
    distance = divide(sums[2], sums[0], 0.0) - rate[..., None]
    return divide((sums[0] * distance**2).sum(axis=-1), total)


def noise_of_shares(sums: Floats, n_effective: Floats) -> Floats:
    """Return the mean squared distance of a draw's shares from the sample's."""
    return divide(divide(sums[2] ** 2, sums[0], 0.0).sum(axis=-1), sums[0].sum(axis=-1))


def calibration(sums: Floats, n_effective: Floats) -> Floats:
    """Return E(T − p̄)², the mean squared distance of shares from confidences."""
    squares = divide((sums[1] - sums[2]) ** 2, sums[0], 0.0).sum(axis=-1)
    return divide(squares, sums[0].sum(axis=-1))


def remainder(sums: Floats, n_effective: Floats) -> Floats:
    """Return what the three parts leave of the Brier score."""
    brier = divide(sums[3].sum(axis=-1), sums[0].sum(axis=-1))
    parts = outcome_variance(sums, n_effective) - sharpness(sums, n_effective)
    return np.asarray(brier - parts - calibration(sums, n_effective))


UNCERTAINTY = part_of_brier(
    name="outcome_variance",
    title="variance of being right",
    summary="What the Brier score would be if every confidence were the overall precision.",
    finish=outcome_variance,
)
SHARPNESS = part_of_brier(
    name="sharpness",
    title="sharpness",
    summary=f"How much of the variance of being right the confidences tell apart, {BINS}. "
    "More is better; a confidence that is the same for all has 0.",
    finish=sharpness,
    is_square=True,
    noise=noise_of_shares,
)
CALIBRATION_PART = part_of_brier(
    name="calibration",
    title="calibration part of the Brier score",
    summary=f"The mean squared distance between confidence and precision, {BINS}. "
    "Brier score = variance of being right − sharpness + calibration + remainder.",
    finish=calibration,
    is_error=True,
    is_square=True,
)
REMAINDER = part_of_brier(
    name="remainder",
    title="remainder within bins",
    summary="What bins hide: the variance of the confidence within bins less twice its "
    "covariance there with being right. Negative where confidences rank well within bins.",
    finish=remainder,
    is_signed=True,
)

THRESHOLD = 1e-3  # smaller probabilities are left out of TACE


def _vector_cells(judged: Judged, *, by_count: bool, least: float) -> BinSums | None:
    probabilities = judged.probabilities
    if probabilities is None:
        return None
    assert judged.true_class is not None
    counted = probabilities > least
    cell = np.zeros(probabilities.shape, dtype=np.int64)
    for class_ in range(probabilities.shape[1]):
        rows = counted[:, class_]
        values, weight = probabilities[rows, class_], judged.weight[rows]
        if len(values) > 0:
            bins = (
                equal_count(values, weight, N_METRIC_BINS)
                if by_count
                else equal_width(values, N_METRIC_BINS)
            )
            cell[rows, class_] = class_ * N_METRIC_BINS + bins
    row, class_of = np.nonzero(counted)
    is_true = (judged.true_class[row] == class_of).astype(np.float64)
    values = np.stack([np.ones(len(row)), probabilities[row, class_of], is_true])
    return BinSums(
        row=row,
        cell=cell[row, class_of],
        n_cells=probabilities.shape[1] * N_METRIC_BINS,
        values=values,
    )


def mean_gap_of_classes(sums: Floats, n_effective: Floats) -> Floats:
    """Return the mean over classes of Σ_b |Σ w(p − t)| / Σ w, as ECE is for one."""
    gaps = mean_gap(sums.reshape(*sums.shape[:-1], -1, N_METRIC_BINS), n_effective)
    return mean_over_classes(gaps, axis=-1)


def vector_metric(
    name: str, title: str, summary: str, *, by_count: bool, least: float = -1.0
) -> Metric:
    """Return an error of the probabilities above `least`: a mean over classes, of all proteins."""
    cells = partial(_vector_cells, by_count=by_count, least=least)
    return Metric(
        name=name,
        title=title,
        summary=summary,
        reference="Nixon et al. 2019, arXiv 1904.01685",
        family=Family(name=name, cells=cells, is_fixed=False),
        finish=mean_gap_of_classes,
        is_error=True,
        needs_vector=True,
    )


SCE = vector_metric(
    "sce",
    "static calibration error",
    "The mean over classes of the calibration error of each class's probability, over "
    f"all proteins, in {N_METRIC_BINS} bins of equal width. Only for methods that give a "
    "probability for every class, and only over all: of the proteins predicted one class, the "
    "error of that class's probability is the ECE.",
    by_count=False,
)
ACE = vector_metric(
    "ace",
    "adaptive calibration error",
    "As the static calibration error, in bins of equal counts within each class.",
    by_count=True,
)
TACE = vector_metric(
    "tace",
    "thresholded adaptive calibration error",
    f"As the adaptive calibration error, over probabilities above {THRESHOLD:g} alone.",
    by_count=True,
    least=THRESHOLD,
)
