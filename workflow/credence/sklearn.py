"""The same calibrators with the face of scikit-learn.

:class:`TopLabelCalibrator` wraps any classifier with `predict_proba`;
:class:`CredenceCalibrator` starts from a matrix of scores. Both calibrate the
*predicted* class: the probability that the prediction is right, with its interval
and, in words, what there is to know of it (:attr:`credence.confidence.Confidence.notes`).
"""

import warnings
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.linear_model import LogisticRegression
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data

from credence.calibrators.crossfit import fold_of
from credence.calibrators.method_spec import parse_method
from credence.calibrators.protocol import FitOptions, Need
from credence.confidence import Confidence
from credence.predictions import Floats, Integers, Predictions, Strings, from_scores, label
from credence.problems import InputError


class FamiliesUnknownWarning(UserWarning):
    """Families are not named, so that confidences and intervals may be too sure of themselves."""


SAMPLES_WITHOUT_FAMILIES = (
    "Families unknown: every sample counts as independent, so confidences may be too high and "
    "intervals too narrow. Give fit(X, y, groups=…) the family of each sample; inside "
    "cross_val_predict and the like call sklearn.set_config(enable_metadata_routing=True) and "
    "give params={'groups': …}. If the samples are independent, give each a group of its own."
)


class _ConfidentClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """What both calibrators answer, of the scores that a row has."""

    # Where scikit-learn routes metadata, a cross-validation hands groups on to `fit`.
    __metadata_request__fit = {"groups": True}  # noqa: RUF012

    def predict(self, X: Any) -> Any:  # noqa: N803
        """Return the label of the best score of each row."""
        best = self._scores(X).argmax(axis=1)
        return self.classes_[best]

    def predict_confidence(self, X: Any) -> Confidence:  # noqa: N803
        """Return the probability that each prediction is right, and its interval."""
        confidence: Confidence = self._confidence(self._scores(X))[1]
        return confidence

    def predict_proba(self, X: Any) -> Floats:  # noqa: N803
        """Return a probability for every class; see :func:`spread_rest`."""
        scores = self._scores(X)
        predictions, confidence = self._confidence(scores)
        return spread_rest(scores, predictions.predicted_class, confidence.value)


@dataclass(eq=False, repr=False)
class CredenceCalibrator(_ConfidentClassifier):
    """A calibrator of score matrices: a row a sample, a column a class.

    Parameters
    ----------
    method : str
        A method as users write it: ``kernel``, ``kernel(bandwidth=mon4)``,
        ``logistic -> kernel``, ``auto``.
    scale : float
        What a row of scores sums to; the greatest possible score where rows sum
        to nothing in particular.
    resolution : float
        Smallest step between two scores; 0 where it is not known.
    is_distribution : bool
        Whether rows sum to `scale`, as methods that see the whole vector demand.
    classes : sequence, optional
        Labels of the columns, in their order; the sorted labels of `y` unless
        given.
    min_positives, level, n_resamples
        See :class:`credence.calibrators.protocol.FitOptions`; 0 resamples fit no intervals.

    Examples
    --------
    >>> scores, labels = [[0.9, 0.1]] * 12 + [[0.2, 0.8]] * 12, ["a"] * 9 + ["b"] * 15
    >>> found = CredenceCalibrator("class_only").fit(scores, labels).predict_confidence(scores)
    >>> float(found.value[0]), bool(found.lower[0] < 0.75 < found.upper[0])  # 9 of 12
    (0.75, True)
    """

    method: str = "auto"
    _: KW_ONLY
    scale: float = 1.0
    resolution: float = 0.0
    is_distribution: bool = True
    classes: Any = None
    min_positives: float = 10.0
    level: float = 0.95
    n_resamples: int = 200

    def fit(self, X: Any, y: Any, groups: Any = None, sample_weight: Any = None) -> Self:  # noqa: N803
        """Return the calibrator, fitted to scores of samples that the classifier did not see.

        `groups` names the cluster of relatives of each sample; each is its own unless given,
        with a warning (:class:`FamiliesUnknownWarning`).
        """
        X, y = validate_data(self, X, y, dtype=np.float64)  # noqa: N806
        check_classification_targets(y)
        self.classes_ = np.unique(y) if self.classes is None else np.asarray(self.classes)
        if X.shape[1] != len(self.classes_):
            raise ValueError(
                f"X has {X.shape[1]} columns for {len(self.classes_)} classes: give one column of "
                "scores for each, and `classes` where y does not hold them all."
            )
        if len(unknown := np.setdiff1d(y, self.classes_)) > 0:
            raise ValueError(f"y holds labels that are not among the classes: {unknown.tolist()}.")
        check_consistent_length(X, y, groups, sample_weight)
        weight = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        options = FitOptions(
            min_positives=self.min_positives, level=self.level, n_draws=self.n_resamples
        )
        method = parse_method(self.method, "method")
        if method.needs is Need.PLACE or (method.needs.is_vector and not self.is_distribution):
            raise ValueError(f"{method.text!r} needs the {method.needs.value}.")
        _warn_of_unknown_families(groups)
        truth, clusters = codes_of(y, self.classes_), names_of(groups, len(X))
        labelled = label(self._predictions(X), truth, weight, clusters)
        self.calibration_ = method.build(options).fit(labelled)
        return self

    def _scores(self, X: Any) -> Floats:  # noqa: N803
        check_is_fitted(self)
        return np.asarray(validate_data(self, X, dtype=np.float64, reset=False))

    def _confidence(self, scores: Floats) -> tuple[Predictions, Confidence]:
        predictions = self._predictions(scores)
        return predictions, self.calibration_.confidence(predictions)

    def _predictions(self, scores: Floats) -> Predictions:
        """Return scores as predictions; refuse rows that do not sum to the scale."""
        names = tuple(str(name) for name in self.classes_)
        facts = names_of(None, len(scores)), names, scores, self.scale, self.resolution
        if self.is_distribution:
            from credence.api import read

            try:
                read(scores, classes=names, scale=self.scale)
            except InputError as error:
                text = str(error).replace("sum_to_scale", "is_distribution")
                raise ValueError(text) from error
        return from_scores(*facts, is_distribution=self.is_distribution)


@dataclass(eq=False, repr=False)
class TopLabelCalibrator(_ConfidentClassifier):
    """Any classifier, with the confidence of its predictions calibrated.

    The calibrator learns from predictions of clones that were fitted without
    the sample's whole group; the classifier itself is then fitted on all.

    Parameters
    ----------
    estimator : classifier, optional
        With `predict_proba`; a logistic regression unless given.
    method : str
        A method as users write it; see :class:`CredenceCalibrator`.
    cv : int or "prefit"
        Number of folds of whole groups, or ``"prefit"`` for an estimator that
        was fitted on other samples than those given to `fit`.
    resolution : float
        Smallest step between two probabilities of the estimator; 0 where it is
        not known. For the vote of 100 trees, 0.01.
    min_positives, level, n_resamples
        See :class:`CredenceCalibrator`.

    Notes
    -----
    The predicted class stays the classifier's own. Where its confidence is
    below one half, `predict_proba` can give another class more.

    ``cross_val_predict(calibrator, X, y, groups=families, cv=GroupKFold())`` keeps families
    whole in its own folds and hands them to nobody: the folds inside `fit` part them, and
    confidences come out too high. With scikit-learn's metadata routing both have them::

        sklearn.set_config(enable_metadata_routing=True)
        cross_val_predict(calibrator, X, y, cv=GroupKFold(), params={"groups": families})
    """

    estimator: Any = None
    _: KW_ONLY
    method: str = "auto"
    cv: int | str = 5
    resolution: float = 0.0
    min_positives: float = 10.0
    level: float = 0.95
    n_resamples: int = 200

    def fit(self, X: Any, y: Any, groups: Any = None) -> Self:  # noqa: N803
        """Return the classifier, fitted and calibrated; clusters named by `groups` stay whole.

        Without `groups` each sample is a cluster of its own, with a warning
        (:class:`FamiliesUnknownWarning`).
        """
        X, y = validate_data(self, X, y, ensure_min_samples=2)  # noqa: N806
        check_classification_targets(y)
        check_consistent_length(X, y, groups)
        _warn_of_unknown_families(groups)
        clusters = names_of(groups, len(X))
        base = LogisticRegression() if self.estimator is None else self.estimator
        if self.cv == "prefit":
            check_is_fitted(base)
            self.estimator_ = base
            self.classes_ = np.asarray(base.classes_)
            scores = np.asarray(base.predict_proba(X), dtype=np.float64)
        else:
            self.classes_ = np.unique(y)
            if len(self.classes_) < 2:
                raise ValueError(
                    "This classifier needs samples of at least 2 classes in the data, "
                    f"but the data contains only one class: {self.classes_[0]!r}"
                )
            scores = held_out_scores(base, X, y, clusters, self.classes_, int(self.cv))
            self.estimator_ = clone(base).fit(X, y)
        calibrator = CredenceCalibrator(
            method=self.method,
            resolution=self.resolution,
            min_positives=self.min_positives,
            level=self.level,
            n_resamples=self.n_resamples,
            classes=self.classes_,
        )
        self.calibrator_ = calibrator.fit(scores, y, groups=clusters)
        return self

    def _scores(self, X: Any) -> Floats:  # noqa: N803
        check_is_fitted(self)
        X = validate_data(self, X, reset=False)  # noqa: N806
        return self.calibrator_._scores(self.estimator_.predict_proba(X))

    def _confidence(self, scores: Floats) -> tuple[Predictions, Confidence]:
        return self.calibrator_._confidence(scores)


def spread_rest(scores: Floats, predicted_class: Integers, value: Floats) -> Floats:
    """Return the confidence at the predicted class, the rest over the others.

    The rest is shared out in proportion to the scores of the other classes,
    evenly where those are all 0. Only the predicted class is calibrated. A row
    of NaN is a class that calibration never saw predicted.

    Examples
    --------
    >>> spread_rest(np.array([[0.6, 0.3, 0.1]]), np.array([0]), np.array([0.8])).round(3).tolist()
    [[0.8, 0.15, 0.05]]
    """
    rows = np.arange(len(scores))
    others = np.maximum(scores, 0.0)
    others[rows, predicted_class] = 0.0
    is_empty = others.sum(axis=1) == 0
    others[is_empty] = 1.0
    others[rows, predicted_class] = 0.0
    answer: Floats = (1.0 - value)[:, None] * others / others.sum(axis=1, keepdims=True)
    answer[rows, predicted_class] = value
    return answer


def held_out_scores(
    estimator: Any, samples: Any, labels: Any, clusters: Strings, classes: Any, n_folds: int
) -> Floats:
    """Return each row's probabilities from a clone that did not see its group.

    A class that a clone never saw keeps its column, with probability 0.
    """
    fold = fold_of(clusters, codes_of(labels, classes), n_folds)
    scores = np.zeros((len(labels), len(classes)))
    for held_out in np.unique(fold):
        is_out = np.equal(fold, held_out)
        if is_out.all():
            raise ValueError("All samples are of one group: give cv='prefit' or more groups.")
        fitted = clone(estimator).fit(samples[~is_out], labels[~is_out])
        columns = codes_of(fitted.classes_, classes)
        scores[np.ix_(is_out, columns)] = fitted.predict_proba(samples[is_out])
    return scores


def _warn_of_unknown_families(groups: Any) -> None:
    """Warn whoever called `fit` without groups."""
    if groups is None:
        warnings.warn(SAMPLES_WITHOUT_FAMILIES, FamiliesUnknownWarning, stacklevel=3)


def codes_of(labels: Any, classes: Any) -> Integers:
    """Return the position of each label among the classes."""
    order = np.argsort(classes)
    return np.asarray(order[np.searchsorted(classes, labels, sorter=order)], dtype=np.int64)


def names_of(groups: Any, n_samples: int) -> Strings:
    """Return the name of each sample's group, a number of its own without groups."""
    names = range(n_samples) if groups is None else groups
    return np.array([str(name) for name in names], dtype=object)
