"""Methods judged on a calibration set, in-sample and held-out side by side."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter

import numpy as np

from credence.calibrators.auto import AutoCalibrator
from credence.calibrators.crossfit import folds_by_class, left_out
from credence.calibrators.protocol import Calibration, Calibrator
from credence.confidence import Confidence
from credence.evaluation import describing
from credence.evaluation.calibration_tests import calibration_tests
from credence.evaluation.cautions import cautions_of, cautions_of_draws, cautions_of_reliability
from credence.evaluation.curves import curves_of, reliability_of
from credence.evaluation.judging import (
    HELD_OUT_SAMPLE,
    IN_SAMPLE,
    TEST_SAMPLE,
    EvaluationOptions,
    Key,
    Stated,
    judge,
)
from credence.findings import ClassCount, MetricValue, Results
from credence.predictions import UNKNOWN_CLASS, Floats, Integers, Labelled

FLOOR = "_floor"  # ending of a noise floor's name in the table of metrics
FLOOR_ALIKE = "_floor_relatives"


@dataclass(frozen=True, kw_only=True, eq=False)
class Evaluation:
    """What judging the methods gave."""

    results: Results  # Everything the page and the tables show
    fold: Integers  # The fold in which each protein was held out
    in_sample: Mapping[str, Confidence]  # By method, from the fit to the whole set
    # By method, from fits without the protein's fold; NaN where none.
    held_out: Mapping[str, Floats]


def evaluate(
    labelled: Labelled,
    calibrators: Mapping[str, Calibrator],
    options: EvaluationOptions | None = None,
    calibrations: Mapping[str, Calibration] | None = None,
    reference: str | None = None,
    held_out: Mapping[str, Stated] | None = None,
) -> Evaluation:
    """Return what each method is worth: in sample, and on whole clusters held out."""
    options = options or EvaluationOptions()
    if calibrations is None:
        calibrations = {name: entry.fit(labelled) for name, entry in calibrators.items()}
    reference = reference or next(iter(calibrators))
    predictions = labelled.predictions
    fold = folds_by_class(labelled, options.n_folds)
    in_sample = {name: calibrations[name].confidence(predictions) for name in calibrators}
    before = held_out or {}
    wanted = {name: entry for name, entry in calibrators.items() if name not in before}
    fresh, vectors = cross_fit(labelled, wanted, fold)
    stated: dict[Key, Stated] = {}
    for name, answer in in_sample.items():
        stated[name, IN_SAMPLE] = Stated(
            confidence=answer.value, probabilities=calibrations[name].probabilities(predictions)
        )
        stated[name, HELD_OUT_SAMPLE] = before.get(name) or Stated(
            confidence=fresh[name], probabilities=vectors.get(name)
        )
    left_out = {name: stated[name, HELD_OUT_SAMPLE].confidence for name in in_sample}
    results = _results(labelled, calibrations, in_sample, stated, reference, options, left_out)
    return Evaluation(results=results, fold=fold, in_sample=in_sample, held_out=left_out)


def judge_finished(
    labelled: Labelled,
    calibrations: Mapping[str, Calibration],
    options: EvaluationOptions,
    reference: str,
) -> Results:
    """Return what finished calibrations are worth on proteins that they never saw."""
    predictions = labelled.predictions
    answers = {name: entry.confidence(predictions) for name, entry in calibrations.items()}
    stated: dict[Key, Stated] = {
        (name, TEST_SAMPLE): Stated(
            confidence=answer.value, probabilities=calibrations[name].probabilities(predictions)
        )
        for name, answer in answers.items()
    }
    values = {name: answer.value for name, answer in answers.items()}
    options = replace(options, n_folds=0)
    return _results(labelled, calibrations, answers, stated, reference, options, values)


def _results(
    labelled: Labelled,
    calibrations: Mapping[str, Calibration],
    answers: Mapping[str, Confidence],
    stated: Mapping[Key, Stated],
    reference: str,
    options: EvaluationOptions,
    judged: Mapping[str, Floats],
) -> Results:
    """Return every number on methods; `judged` are the confidences of proteins new to them."""
    labelled = _with_fewer_labels(labelled)
    predictions, sample = labelled.predictions, list(stated)[-1][1]
    judgement = judge(labelled, stated, reference, options)
    classes, histograms = describing.describe_classes(labelled, options)
    classes = tuple(_as_measured(entry, judgement.metrics) for entry in classes)
    curves = curves_of(labelled, calibrations, answers)
    confusion, given_true, given_predicted = describing.confusion_of(labelled)
    diagrams = list(reliability_of(labelled, None, stated, options))
    for class_, class_name in enumerate(predictions.class_names):
        rows = np.flatnonzero(predictions.predicted_class == class_)
        if len(rows) > 0:
            of_class = {
                key: Stated(confidence=entry.confidence[rows]) for key, entry in stated.items()
            }
            diagrams += reliability_of(labelled.take(rows), class_name, of_class, options)
    reliability = tuple(diagrams)
    return Results(
        class_names=predictions.class_names,
        scale=float(predictions.scale),
        sample=sample,
        n_samples=labelled.n_samples,
        n_clusters=len(np.unique(labelled.cluster)),
        n_correct=int(labelled.is_correct.sum()),
        n_folds=options.n_folds,
        n_draws=options.n_draws,
        level=options.level,
        confusion=confusion,
        classes=classes,
        histograms=histograms,
        curves=curves,
        reliability=reliability,
        **vars(judgement),
        tests=tuple(
            test
            for name, confidence in judged.items()
            for test in calibration_tests(
                name, labelled, confidence, options.n_signs, one_sided=options.one_sided
            )
        ),
        given_true=given_true,
        given_predicted=given_predicted,
        cautions=(
            *cautions_of(labelled, answers, judged, classes, options.n_folds),
            *cautions_of_reliability(reliability, reference, sample),
            *cautions_of_draws(options.n_draws, options.level),
        ),
        parameters=describing.parameters_of(calibrations, predictions.class_names),
    )


MOST_LABELS_JUDGED = 200  # of which each is shown by itself


def _with_fewer_labels(labelled: Labelled) -> Labelled:
    """Return calls of which those of all but the most frequent labels count as of any other."""
    predictions = labelled.predictions
    n_calls = np.bincount(predictions.predicted_class, minlength=predictions.n_classes)
    if predictions.tree is None or (n_calls > 0).sum() <= MOST_LABELS_JUDGED:
        return labelled
    is_shown = np.zeros(predictions.n_classes, dtype=np.bool_)
    is_shown[np.argsort(-n_calls, kind="stable")[:MOST_LABELS_JUDGED]] = True
    other = predictions.n_classes - 1  # the label that stands for any other one
    code = np.where(is_shown[predictions.predicted_class], predictions.predicted_class, other)
    true = np.where(labelled.is_correct, code, UNKNOWN_CLASS)
    return replace(
        labelled, predictions=replace(predictions, predicted_class=code), true_class=true
    )


def _as_measured(entry: ClassCount, metrics: Sequence[MetricValue]) -> ClassCount:
    """Return a class whose precision has the interval that tables of metrics give it."""
    for row in metrics:
        is_share = (row.metric, row.class_name) == ("accuracy", entry.class_name)
        if is_share and row.n == entry.n_predicted and not np.isnan(row.lower):
            return replace(entry, lower=row.lower, upper=row.upper)
    return entry


def metric_columns(*judged: Results) -> dict[str, list[str] | list[float] | list[int]]:
    """Return the columns of the table `metrics`, in their order."""
    metrics = [row for results in judged for row in results.metrics]
    n_of = {(row.method, row.class_name, row.sample, row.metric): row.n for row in metrics}
    names = ("method", "class_name", "sample", "metric", "value", "lower", "upper", "n")
    rows = [attrgetter(*names)(row) for row in metrics]
    for row in (floor for results in judged for floor in results.floors):
        key = (row.method, row.class_name, row.sample, row.metric)
        name = row.metric + (FLOOR_ALIKE if row.relatives_alike else FLOOR)
        rows.append((*key[:3], name, row.value, row.lower, row.upper, n_of[key]))
    columns = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    class_names = columns.pop("class_name")
    every = {"class": ["all" if name is None else name for name in class_names]}
    return {"method": columns.pop("method"), **every, **columns}


def cross_fit(
    labelled: Labelled, calibrators: Mapping[str, Calibrator], fold: Integers
) -> tuple[dict[str, Floats], dict[str, Floats]]:
    """Return held-out confidences, and vectors; NaN where no other fold has the class."""
    held_out = {name: np.full(labelled.n_samples, np.nan) for name in calibrators}
    vectors: dict[str, Floats] = {}
    shape = (labelled.n_samples, labelled.predictions.n_classes)
    alone: dict[str, Calibrator] = {}
    for name, calibrator in calibrators.items():
        if isinstance(calibrator, AutoCalibrator):
            held_out[name] = calibrator.held_out(labelled, fold)
        else:
            alone[name] = calibrator
    for judged in left_out(fold):
        learnt_from = labelled.take(~judged)
        predictions = labelled.predictions.take(judged)
        for name, calibrator in alone.items():
            calibration = calibrator.fit(learnt_from)
            held_out[name][judged] = calibration.confidence(predictions).value
            vector = calibration.probabilities(predictions)
            if vector is not None:
                vectors.setdefault(name, np.full(shape, np.nan))[judged] = vector
    return held_out, vectors
