"""Methods judged on a calibration set, in-sample and held-out side by side."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from credence.calibrators.protocol import Calibration, Calibrator
from credence.confidence import Confidence
from credence.evaluation.blocks import (
    HELD_OUT,
    IN_SAMPLE,
    Block,
    BlockResults,
    bin_ratios,
    bins_record,
    measure,
    part_of,
)
from credence.evaluation.crossfit import cross_fit
from credence.evaluation.curves import curves_of, scores_needed
from credence.evaluation.notices import notices_of, notices_of_reliability
from credence.evaluation.ratios import estimate, mean_of
from credence.findings import ClassCount, CurveFinding, Results, ScoreHistogram
from credence.predictions import Floats, Integers, Labelled
from credence.splits.folds import fold_of

N_SCORE_BINS = 20
FINER = 2  # the histogram of right and wrong has this many bins per bin of shares


@dataclass(frozen=True)
class EvaluationOptions:
    """How methods are judged.

    Parameters
    ----------
    n_folds : int
        Folds of whole clusters for the held-out numbers; at least 2.
    level : float
        Coverage of the pointwise intervals.
    n_draws : int
        Draws over clusters; 0 gives no intervals.
    """

    n_folds: int = 10
    level: float = 0.95
    n_draws: int = 200


@dataclass(frozen=True, eq=False)
class Evaluation:
    """What judging the methods gave.

    Parameters
    ----------
    results : Results
        Everything the page and the tables show.
    fold : array of int, shape (n_samples,)
        The fold in which each protein was held out.
    in_sample : mapping of str to Confidence
        By method, from the fit to the whole set.
    held_out : mapping of str to array of float
        By method, from fits without the protein's fold; NaN where none.
    """

    results: Results
    fold: Integers
    in_sample: Mapping[str, Confidence]
    held_out: Mapping[str, Floats]


def evaluate(
    labelled: Labelled,
    calibrators: Mapping[str, Calibrator],
    options: EvaluationOptions | None = None,
    calibrations: Mapping[str, Calibration] | None = None,
    reference: str | None = None,
) -> Evaluation:
    """Return what each method is worth on a calibration set.

    In-sample numbers are of the fit to the whole set. Held-out numbers are of
    cross-fits that leave out whole clusters, spread over the folds by predicted
    class. The two are never mixed.

    Parameters
    ----------
    labelled : Labelled
        The calibration set, at least one protein.
    calibrators : mapping of str to Calibrator
        Methods by name, in the order to be shown. They are fitted once per
        fold, so give them ``FitOptions(n_draws=0)``: intervals are not used.
    options : EvaluationOptions, optional
        How to judge.
    calibrations : mapping of str to Calibration, optional
        The same methods, fitted to the whole set with intervals; fitted here
        where they are not given, and then as `calibrators` say.
    reference : str, optional
        The method whose confidences are given out, with which the others are
        compared; the first one unless given.
    """
    options = options or EvaluationOptions()
    if calibrations is None:
        calibrations = {name: entry.fit(labelled) for name, entry in calibrators.items()}
    reference = reference or next(iter(calibrators))
    predictions = labelled.predictions
    fold = fold_of(labelled.cluster, predictions.predicted_class, options.n_folds)
    in_sample = {name: calibrations[name].confidence(predictions) for name in calibrators}
    held_out = cross_fit(labelled, calibrators, fold)
    blocks = _measure_all(labelled, in_sample, held_out, reference, options)
    classes, histograms = _describe_classes(labelled, options)
    curves: tuple[CurveFinding, ...] = ()
    if predictions.top_score is not None:
        curves = curves_of(labelled, calibrations, in_sample, _score_edges(labelled))
    n_classes = predictions.n_classes
    confusion = np.zeros((n_classes, n_classes), dtype=np.int64)
    np.add.at(confusion, (labelled.true_class, predictions.predicted_class), 1)
    metrics = tuple(entry for block in blocks for entry in block.metrics)
    reliability = tuple(entry for block in blocks for entry in block.reliability)
    results = Results(
        class_names=predictions.class_names,
        scale=float(predictions.scale),
        n_samples=labelled.n_samples,
        n_clusters=len(np.unique(labelled.cluster)),
        n_correct=int(labelled.is_correct.sum()),
        n_ties=predictions.n_ties,
        n_folds=options.n_folds,
        n_draws=options.n_draws,
        level=options.level,
        confusion=tuple(tuple(row) for row in confusion.tolist()),
        classes=classes,
        histograms=histograms,
        curves=curves,
        scores_needed=scores_needed(curves, classes),
        reliability=reliability,
        metrics=metrics,
        differences=tuple(entry for block in blocks for entry in block.differences),
        notices=(
            *notices_of(labelled, in_sample, held_out, classes, options.n_folds),
            *notices_of_reliability(reliability, reference, options.level),
        ),
    )
    return Evaluation(results, fold, in_sample, held_out)


def metric_columns(results: Results) -> dict[str, list[str] | list[float] | list[int]]:
    """Return the columns of the table `metrics`, in their order (DESIGN section 4).

    Parameters
    ----------
    results : Results
        From :func:`evaluate`.
    """
    rows = results.metrics
    return {
        "method": [row.method for row in rows],
        "class": ["all" if row.class_name is None else row.class_name for row in rows],
        "sample": [row.sample for row in rows],
        "metric": [row.metric for row in rows],
        "value": [row.value for row in rows],
        "lower": [row.lower for row in rows],
        "upper": [row.upper for row in rows],
        "n": [row.n for row in rows],
    }


def _measure_all(
    labelled: Labelled,
    in_sample: Mapping[str, Confidence],
    held_out: Mapping[str, Floats],
    reference: str,
    options: EvaluationOptions,
) -> list[BlockResults]:
    """Return the numbers over all, then those of each class that was predicted."""
    said: dict[tuple[str, str], Floats] = {}
    for name, confidence in in_sample.items():
        said[name, IN_SAMPLE] = confidence.value
        said[name, HELD_OUT] = held_out[name]
    predictions = labelled.predictions
    everyone = np.arange(labelled.n_samples)
    chosen: list[tuple[str | None, NDArray[np.intp]]] = [(None, everyone)]
    for class_, class_name in enumerate(predictions.class_names):
        rows = np.flatnonzero(predictions.predicted_class == class_)
        if len(rows) > 0:
            chosen.append((class_name, rows))
    return [
        measure(
            Block(
                class_name=class_name,
                cluster=labelled.cluster[rows],
                is_correct=labelled.is_correct[rows],
                weight=labelled.weight[rows],
                confidence={key: values[rows] for key, values in said.items()},
            ),
            reference,
            options.level,
            options.n_draws,
        )
        for class_name, rows in chosen
    ]


def _score_edges(labelled: Labelled) -> Floats:
    predictions = labelled.predictions
    assert predictions.top_score is not None
    end = max(predictions.scale, float(predictions.top_score.max()))
    return np.linspace(0.0, end, N_SCORE_BINS + 1)


def _describe_classes(
    labelled: Labelled, options: EvaluationOptions
) -> tuple[tuple[ClassCount, ...], tuple[ScoreHistogram, ...]]:
    predictions = labelled.predictions
    counts, histograms = [], []
    for class_, class_name in enumerate(predictions.class_names):
        positives = labelled.take(predictions.predicted_class == class_)
        n_true = int((labelled.true_class == class_).sum())
        count, histogram = _describe_class(labelled, positives, class_name, n_true, options)
        counts.append(count)
        if histogram is not None:
            histograms.append(histogram)
    return tuple(counts), tuple(histograms)


def _describe_class(
    labelled: Labelled,
    positives: Labelled,
    class_name: str,
    n_true: int,
    options: EvaluationOptions,
) -> tuple[ClassCount, ScoreHistogram | None]:
    """Return counts, and the histogram where there are scores to bin."""
    nan = float("nan")
    if positives.n_samples == 0:
        return ClassCount(class_name, n_true, 0, 0, 0, nan, nan, nan, nan, nan, nan), None
    is_correct, weight = positives.is_correct, positives.weight
    everyone = np.ones(positives.n_samples, dtype=np.bool_)
    ratios = [mean_of(is_correct.astype(np.float64), weight, everyone, is_share=True)]
    score = positives.predictions.top_score
    edges = np.empty(0)
    if score is not None:
        edges = _score_edges(labelled)
        ratios += bin_ratios(score, edges, is_correct, weight)
    estimates = estimate(positives.cluster, ratios, options.level, options.n_draws)
    seen = (nan, nan, nan)
    if score is not None:
        seen = (float(score.min()), float(np.median(score)), float(score.max()))
    count = ClassCount(
        class_name,
        n_true,
        positives.n_samples,
        int(is_correct.sum()),
        int(estimates.n_clusters[0]),
        float(estimates.value[0]),
        float(estimates.lower[0]),
        float(estimates.upper[0]),
        *seen,
    )
    if score is None:
        return count, None
    part = part_of(estimates, 1, len(edges) - 1)
    shares = bins_record(score, edges, is_correct, weight, part)
    finer = np.linspace(0.0, edges[-1], FINER * N_SCORE_BINS + 1)
    return count, ScoreHistogram(
        class_name,
        shares,
        tuple(finer.tolist()),
        _counts(score[is_correct], finer),
        _counts(score[~is_correct], finer),
    )


def _counts(score: Floats, edges: Floats) -> tuple[int, ...]:
    inside = np.searchsorted(edges, score, side="left") - 1
    position = np.clip(inside, 0, len(edges) - 2)
    return tuple(np.bincount(position, minlength=len(edges) - 1).tolist())
