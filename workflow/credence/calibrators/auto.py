"""Choose a method for each class by what it says of clusters it never saw."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from credence.calibrators.choosing import Choice, choose, interval_of, loss
from credence.calibrators.crossfit import DEFAULT_FOLDS, folds_by_class, out_of_fold
from credence.calibrators.protocol import (
    Calibration,
    Calibrator,
    FitOptions,
    Method,
    Need,
    Record,
    setting,
)
from credence.confidence import Confidence, Note, unknown
from credence.predictions import Labelled, Predictions

# Methods that estimate the confidence at a score (the cumulative ones do not),
# differ in kind and are quick to fit.
SHORT_LIST = ("class_only", "isotonic", "beta", "kernel", "tswa", "logistic")


@dataclass(frozen=True, eq=False)
class AutoCalibration:
    """Calibrations of the methods chosen, and why they were.

    Parameters
    ----------
    class_names : tuple of str
        Classes in order.
    choices : tuple of Choice
        One per class.
    skipped : mapping of str to str
        Candidates that the data do not allow, with the reason.
    members : mapping of str to Calibration
        By method, all that some class's answer or interval needs.
    """

    class_names: tuple[str, ...]
    choices: tuple[Choice, ...]
    skipped: Mapping[str, str]
    members: Mapping[str, Calibration]

    def confidence(self, predictions: Predictions) -> Confidence:
        """Return the confidence of each prediction.

        Parameters
        ----------
        predictions : Predictions
            Of the same classes and scale as those that were fitted.
        """
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
                said = [self.members[name].confidence(part) for name in choice.interval]
                lower = np.min([one.lower for one in said], axis=0)
                upper = np.max([one.upper for one in said], axis=0)
                answer.lower[rows] = np.minimum(lower, answer.value[rows])
                answer.upper[rows] = np.maximum(upper, answer.value[rows])
        return answer

    def to_record(self) -> Record:
        """Return the calibration as JSON data."""
        return {
            "method": "auto",
            "class_names": list(self.class_names),
            "choices": [asdict(choice) for choice in self.choices],
            "skipped": dict(self.skipped),
            "members": {name: member.to_record() for name, member in self.members.items()},
        }


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
    """The choice between methods, ready to fit.

    Parameters
    ----------
    settings : Auto
        Mode and candidates.
    options : FitOptions
        What all methods share.
    methods : tuple of Method
        All candidates, from simple to complex.
    """

    settings: Auto
    options: FitOptions
    methods: tuple[Method, ...]

    def fit(self, labelled: Labelled) -> AutoCalibration:
        """Return the choice for each class and the calibrations it needs.

        Parameters
        ----------
        labelled : Labelled
            Predictions whose truth is known.
        """
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
    """Return what a method needs and the predictions do not have, or nothing.

    Parameters
    ----------
    method : Method
        A candidate.
    predictions : Predictions
        What the classifier said.
    """
    has_vector = predictions.scores is not None and predictions.is_distribution
    if method.needs is Need.VECTOR and not has_vector:
        return f"needs the {method.needs.value}"
    if method.needs is Need.TOP_SCORE and predictions.top_score is None:
        return f"needs the {method.needs.value}"
    return ""


def method_over(methods: tuple[Method, ...]) -> Method:
    """Return the registry's entry of the choice between these methods.

    Parameters
    ----------
    methods : tuple of Method
        All candidates, from simple to complex.
    """
    by_name = {method.name: method for method in methods}

    def build(settings: Auto, options: FitOptions) -> Calibrator:
        return AutoCalibrator(settings, options, methods)

    def read(record: Mapping[str, Any]) -> Calibration:
        return AutoCalibration(
            tuple(record["class_names"]),
            tuple(Choice.from_record(choice) for choice in record["choices"]),
            dict(record["skipped"]),
            {name: by_name[name].read(member) for name, member in record["members"].items()},
        )

    return Method(
        name="auto",
        summary="Per class, the simplest method that held-out clusters do not tell from the best.",
        reference="one-standard-error rule: Breiman et al. 1984; see the decision pages",
        settings=Auto,
        needs=Need.CLASS,
        build=build,
        read=read,
    )
