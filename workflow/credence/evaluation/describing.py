"""What the calibration set holds, class by class, method or no method."""

from collections.abc import Mapping

import numpy as np

from credence.calibrators.protocol import Calibration
from credence.evaluation.curves import bin_ratios, bins_record
from credence.evaluation.judging import EvaluationOptions
from credence.evaluation.ratios import estimate, mean_of
from credence.findings import ClassCount, FittedParameter, ScoreHistogram
from credence.metrics.binned import N_SCORE_BINS, bin_of
from credence.metrics.metric import divide
from credence.predictions import Labelled

FINER_BINS = 2  # the histogram of right and wrong has this many bins per bin of shares


def describe_classes(
    labelled: Labelled, options: EvaluationOptions
) -> tuple[tuple[ClassCount, ...], tuple[ScoreHistogram, ...]]:
    """Return counts, and histograms of scores."""
    predictions, nan = labelled.predictions, float("nan")
    counts, histograms = [], []
    for class_, class_name in enumerate(predictions.class_names):
        positives = labelled.take(predictions.predicted_class == class_)
        n_true = int((labelled.true_class == class_).sum())
        if positives.n_samples == 0:
            counts.append(
                ClassCount(
                    class_name=class_name,
                    n_true=n_true,
                    n_predicted=0,
                    n_correct=0,
                    n_clusters=0,
                    share=nan,
                    lower=nan,
                    upper=nan,
                    score_min=nan,
                    score_median=nan,
                    score_max=nan,
                )
            )
            continue
        is_correct, weight = positives.is_correct, positives.weight
        everyone = np.ones(positives.n_samples, dtype=np.bool_)
        ratios = [mean_of(is_correct.astype(np.float64), weight, everyone, is_share=True)]
        score = positives.predictions.top_score
        if score is not None:
            edges = predictions.score_grid(N_SCORE_BINS + 1)
            ratios += bin_ratios(score, edges, is_correct, weight)
        shares = estimate(positives.cluster, ratios, options.level, options.n_draws)
        count = ClassCount(
            class_name=class_name,
            n_true=n_true,
            n_predicted=positives.n_samples,
            n_correct=int(is_correct.sum()),
            n_clusters=int(shares.n_clusters[0]),
            share=float(shares.value[0]),
            lower=float(shares.lower[0]),
            upper=float(shares.upper[0]),
            score_min=nan if score is None else float(score.min()),
            score_median=nan if score is None else float(np.median(score)),
            score_max=nan if score is None else float(score.max()),
        )
        counts.append(count)
        if score is None:
            continue
        part = shares.part(1, N_SCORE_BINS)
        finer = np.linspace(0.0, edges[-1], FINER_BINS * N_SCORE_BINS + 1)
        bins = bins_record(score, edges, is_correct, weight, part)
        right, wrong = (
            tuple(np.bincount(bin_of(scores, finer), minlength=len(finer) - 1).tolist())
            for scores in (score[is_correct], score[~is_correct])
        )
        histograms.append(
            ScoreHistogram(
                class_name=class_name,
                shares=bins,
                edges=tuple(finer.tolist()),
                n_correct=right,
                n_wrong=wrong,
            )
        )
    return tuple(counts), tuple(histograms)


Shares = tuple[tuple[float, ...], ...]


def confusion_of(labelled: Labelled) -> tuple[tuple[tuple[int, ...], ...], Shares, Shares]:
    """Return joint counts (true, predicted), weighted shares of each row, and of each column."""
    if labelled.predictions.tree is not None:  # labels of a protein do not exclude each other
        return (), (), ()
    shape = (labelled.predictions.n_classes,) * 2
    place = (labelled.true_class, labelled.predictions.predicted_class)
    counts, mass = np.zeros(shape, dtype=np.int64), np.zeros(shape)
    np.add.at(counts, place, 1)
    np.add.at(mass, place, labelled.weight)
    shares = (divide(mass, mass.sum(axis=axis, keepdims=True)) for axis in (1, 0))
    counted, *parts = (tuple(map(tuple, table.tolist())) for table in (counts, *shares))
    return counted, parts[0], parts[1]


def parameters_of(
    calibrations: Mapping[str, Calibration], class_names: tuple[str, ...]
) -> tuple[FittedParameter, ...]:
    """Return the numbers that each method chose for each class, where it has such."""
    return tuple(
        FittedParameter(method=method, class_name=class_name, name=name, value=value)
        for method, calibration in calibrations.items()
        for class_name, numbers in calibration.parameters(class_names).items()
        for name, value in numbers.items()
    )
