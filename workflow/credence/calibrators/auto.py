"""Choose a method for each class by what it says of clusters it never saw."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from credence.calibrators.crossfit import DEFAULT_FOLDS, folds_by_class, out_of_fold
from credence.calibrators.protocol import Calibration, Calibrator, FitOptions, Method, Need
from credence.confidence import Confidence, Note, unknown
from credence.findings import ChoiceTrial
from credence.predictions import Booleans, Floats, Labelled, Predictions, Strings
from credence.records import from_record
from credence.settings import setting

# Whose interval stands in for a choice's own, by whether the choice sees the vector:
# the most flexible quick method that looks at the same. A simple method that won
# because data are few claims an interval of its own form, which is too narrow.
SCORE_REFERENCE, VECTOR_REFERENCE = "kernel", "logistic"
SURE = 1e-15  # METHODS section 3: probabilities are clipped here in the NLL


@dataclass(frozen=True)
class Choice:
    """What was chosen for one class, and against what."""

    class_name: str  # The predicted class
    # The method, or all that are blended; empty for a class never predicted.
    chosen: tuple[str, ...]
    # Candidates within one standard error of the best: the data cannot tell them apart.
    rivals: tuple[str, ...]
    # Methods whose intervals together, stretched to the value, are the interval.
    interval: tuple[str, ...]
    n: int  # Proteins and clusters that judged
    n_clusters: int
    trials: tuple[ChoiceTrial, ...]  # All candidates, from simple to complex


def loss(confidence: Confidence, labelled: Labelled) -> Floats:
    """Return the negative log-likelihood of each outcome; NaN without a value."""
    p = np.clip(confidence.value, SURE, 1.0 - SURE)
    return -np.where(labelled.is_correct, np.log(p), np.log1p(-p))


def choose(
    class_name: str, losses: Mapping[str, Floats], labelled: Labelled, class_: int, mode: str
) -> Choice:
    """Return the method of one class."""
    is_here: Booleans = np.equal(labelled.predictions.predicted_class, class_)
    if not is_here.any():
        return Choice(class_name, (), (), (), 0, 0, ())
    for values in losses.values():
        is_here = is_here & ~np.isnan(values)
    weight, cluster = labelled.weight[is_here], labelled.cluster[is_here]
    n_clusters = len(np.unique(cluster.astype(str)))
    if n_clusters < 2:  # nothing to judge by
        simplest = next(iter(losses))
        n = int(is_here.sum())
        return Choice(class_name, (simplest,), (simplest,), (), n, n_clusters, ())
    means = {
        name: float(np.average(values[is_here], weights=weight)) for name, values in losses.items()
    }
    best = min(means, key=means.__getitem__)
    trials = []
    for name, values in losses.items():
        difference, error = paired(values[is_here] - losses[best][is_here], weight, cluster)
        trials.append(ChoiceTrial(name, means[name], difference, error))
    rivals = tuple(trial.method for trial in trials if trial.difference <= trial.standard_error)
    chosen = rivals if mode == "blend" else rivals[:1]
    return Choice(class_name, chosen, rivals, (), int(is_here.sum()), n_clusters, tuple(trials))


def paired(difference: Floats, weight: Floats, cluster: Strings) -> tuple[float, float]:
    """Return the weighted mean difference and its cluster-robust standard error.

    Three proteins, two of them relatives: the mean is 1, the clusters' sums of
    what is left are 1 + 1 and −2, and √((2² + 2²) · 2/(2 − 1)) / 3 = 4/3.

    >>> cluster = np.array(["a", "a", "b"], dtype=object)
    >>> mean, error = paired(np.array([2.0, 2.0, -1.0]), np.ones(3), cluster)
    >>> mean, round(error, 6)
    (1.0, 1.333333)
    """
    mean = float(np.average(difference, weights=weight))
    _, codes = np.unique(cluster.astype(str), return_inverse=True)
    # Summed in sorted order, so that the order of rows cannot turn a near tie.
    order = np.lexsort((weight, difference, codes))
    parts = np.bincount(codes[order], weights=(weight * (difference - mean))[order])
    n_clusters = len(parts)
    spread = float((parts**2).sum()) * n_clusters / (n_clusters - 1)
    return mean, float(np.sqrt(spread) / weight.sum())


def interval_of(
    chosen: tuple[str, ...], rivals: tuple[str, ...], usable: Sequence[Method]
) -> tuple[str, ...]:
    """Return the methods whose intervals make up that of a choice."""
    sees_vector = {method.name for method in usable if method.needs is Need.VECTOR}
    names = [method.name for method in usable]
    if sees_vector.isdisjoint(chosen):
        if SCORE_REFERENCE in names:
            return (SCORE_REFERENCE,)
        return tuple(name for name in rivals if name not in sees_vector)
    kept = sees_vector.intersection({*chosen, *rivals, VECTOR_REFERENCE}) | set(chosen)
    return tuple(name for name in names if name in kept)


# Methods that estimate the confidence at a score (the cumulative ones do not),
# differ in kind and are quick to fit.
SHORT_LIST = ("class_only", "isotonic", "beta", "kernel", "tswa", "logistic")


@dataclass(frozen=True, eq=False)
class AutoCalibration:
    """Calibrations of the methods chosen, and why they were."""

    method: str = field(default="auto", init=False)  # Tells the registry what reads its record
    class_names: tuple[str, ...]  # Classes in order
    choices: tuple[Choice, ...]  # One per class
    skipped: Mapping[str, str]  # Candidates that the data do not allow, with the reason
    members: Mapping[str, Calibration]  # By method, all that some class's answer or interval needs

    def confidence(self, predictions: Predictions) -> Confidence:
        """Return the confidence of each prediction."""
        answer = unknown(predictions.n_samples, Note.UNSEEN_CLASS)
        for class_, choice in enumerate(self.choices):
            rows = np.flatnonzero(predictions.predicted_class == class_)
            if not choice.chosen or len(rows) == 0:
                continue
            part = predictions.take(rows)
            chosen = [self.members[name].confidence(part) for name in choice.chosen]
            answer.value[rows] = np.mean([one.value for one in chosen], axis=0)
            answer.support[rows] = chosen[0].support
            answer.note[rows] = np.bitwise_or.reduce([one.note for one in chosen])
            if choice.interval:
                stated = [self.members[name].confidence(part) for name in choice.interval]
                lower = np.min([one.lower for one in stated], axis=0)
                upper = np.max([one.upper for one in stated], axis=0)
                answer.lower[rows] = np.minimum(lower, answer.value[rows])
                answer.upper[rows] = np.maximum(upper, answer.value[rows])
        return answer


@dataclass(frozen=True)
class Auto:
    """Settings of the choice between methods.

    Notes
    -----
    Every candidate is fitted on all folds of whole clusters but one and judged
    by the negative log-likelihood of that one. Per predicted class, the
    simplest candidate (first in the registry) whose mean loss is within one
    standard error of the least is chosen; the standard error is that of the
    paired difference, summed over clusters first. `blend` takes the mean of all
    candidates within one standard error. When an evaluation cross-fits `auto`
    itself, the choice is made anew inside each of its folds.

    A choice's interval must hold for the choosing as well. It is that of the
    kernel method, which removes its bias, stretched to the value; where the
    choice sees the whole vector, the union of those of the logistic regression
    and of all chosen and rival methods that see it too.
    """

    mode: str = setting(
        "choose", "One method per class, or the mean of the best.", ("choose", "blend")
    )
    candidates: str = setting(
        "short", "A short list of methods, or all of them.", ("short", "all")
    )


@dataclass(frozen=True)
class AutoCalibrator:
    """The choice between methods, ready to fit."""

    settings: Auto  # Mode and candidates
    options: FitOptions  # What all methods share
    methods: tuple[Method, ...]  # All candidates, from simple to complex

    def fit(self, labelled: Labelled) -> AutoCalibration:
        """Return the choice for each class and the calibrations it needs."""
        wanted = [
            method
            for method in self.methods
            if self.settings.candidates == "all" or method.name in SHORT_LIST
        ]
        skipped = {
            method.name: reason
            for method in wanted
            if (reason := lacking(method, labelled.predictions))
        }
        usable = [method for method in wanted if method.name not in skipped]
        fold = folds_by_class(labelled, DEFAULT_FOLDS)
        quick = replace(self.options, n_draws=0)
        losses = {
            method.name: loss(out_of_fold(labelled, ready(method, quick), fold), labelled)
            for method in usable
        }
        choices = [
            choose(name, losses, labelled, class_, self.settings.mode)
            for class_, name in enumerate(labelled.predictions.class_names)
        ]
        if self.options.n_draws > 0:
            choices = [
                replace(choice, interval=interval_of(choice.chosen, choice.rivals, usable))
                for choice in choices
            ]
        used = {name for choice in choices for name in (*choice.chosen, *choice.interval)}
        members = {
            method.name: ready(method, self.options).fit(labelled)
            for method in usable
            if method.name in used
        }
        return AutoCalibration(labelled.predictions.class_names, tuple(choices), skipped, members)


def ready(method: Method, options: FitOptions) -> Calibrator:
    """Return the calibrator of a method with its default settings."""
    return method.build(method.settings(), options)


def lacking(method: Method, predictions: Predictions) -> str:
    """Return what a method needs and the predictions do not have, or nothing."""
    has_vector = predictions.scores is not None and predictions.is_distribution
    if method.needs is Need.VECTOR and not has_vector:
        return f"needs the {method.needs.value}"
    if method.needs is Need.TOP_SCORE and predictions.top_score is None:
        return f"needs the {method.needs.value}"
    return ""


def method_over(methods: tuple[Method, ...]) -> Method:
    """Return the registry's entry of the choice between these methods."""
    by_name = {method.name: method for method in methods}

    def build(settings: Auto, options: FitOptions) -> Calibrator:
        return AutoCalibrator(settings, options, methods)

    def member(record: Mapping[str, Any]) -> Calibration:
        return by_name[record["method"]].read(record)

    return Method(
        name="auto",
        summary="Per class, the simplest method that held-out clusters do not tell from the best.",
        reference="one-standard-error rule: Breiman et al. 1984; see the decision pages",
        settings=Auto,
        needs=Need.CLASS,
        build=build,
        read=partial(from_record, AutoCalibration, kinds={Calibration: member}),
    )
