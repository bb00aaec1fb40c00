"""The scikit-learn face: estimator checks, columns, groups."""

from __future__ import annotations

import subprocess
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest
import sklearn
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, cross_val_predict, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.utils.estimator_checks import parametrize_with_checks

from credence.sklearn import (
    SAMPLES_WITHOUT_FAMILIES,
    CredenceCalibrator,
    FamiliesUnknownWarning,
    TopLabelCalibrator,
    codes_of,
    held_out_scores,
    names_of,
    spread_rest,
)
from refusals import refusal

pytestmark = pytest.mark.filterwarnings("ignore::credence.sklearn.FamiliesUnknownWarning")

# The prediction stays the classifier's own, and its confidence is the probability
# that it is right; below one half another class can have more. The check demands
# that `predict` be the class with the most.
EXPECTED_FAILURES = {
    "check_classifiers_train": "a confidence below one half leaves another class with more"
}


@parametrize_with_checks(
    [TopLabelCalibrator(method="kernel", n_resamples=20), TopLabelCalibrator(method="platt")],
    expected_failed_checks=lambda estimator: EXPECTED_FAILURES,
)
def test_scikit_learns_own_checks_pass(estimator, check) -> None:
    check(estimator)


@pytest.mark.long
@parametrize_with_checks(
    [TopLabelCalibrator()], expected_failed_checks=lambda estimator: EXPECTED_FAILURES
)
def test_scikit_learns_own_checks_pass_by_the_default_method(estimator, check) -> None:
    check(estimator)


@pytest.fixture(scope="module")
def problem() -> tuple[np.ndarray, np.ndarray]:
    return make_classification(
        n_samples=600, n_features=6, n_informative=4, n_classes=3, flip_y=0.2, random_state=1
    )


@pytest.mark.parametrize(
    ("estimator", "given"),
    [
        (LogisticRegression(), {"method": "isotonic", "resolution": 0.05}),
        (
            RandomForestClassifier(n_estimators=20, random_state=0),
            {"method": "isotonic", "resolution": 0.05},
        ),
        pytest.param(LogisticRegression(), {"n_resamples": 0}, marks=pytest.mark.long),
    ],
    ids=["regression", "forest", "the default method"],
)
def test_any_classifier_is_wrapped_and_keeps_its_predictions(estimator, given, problem) -> None:
    samples, labels = problem
    names = np.array(["tail", "collar", "portal"])[labels]
    wrapped = TopLabelCalibrator(estimator=estimator, **given)
    wrapped.fit(samples[:400], names[:400])
    alone = clone(estimator).fit(samples[:400], names[:400])
    predicted = wrapped.predict(samples[400:])
    np.testing.assert_array_equal(predicted, alone.predict(samples[400:]))
    probability = wrapped.predict_proba(samples[400:])
    np.testing.assert_allclose(probability.sum(axis=1), 1.0, rtol=0, atol=1e-12)
    chosen = probability[np.arange(200), codes_of(predicted, wrapped.classes_)]
    np.testing.assert_array_equal(chosen, wrapped.predict_confidence(samples[400:]).value)


def test_calibration_improves_a_classifier_that_is_too_sure(problem) -> None:
    samples, labels = problem
    samples = np.hstack([samples] * 4)  # naive Bayes takes the copies for evidence
    wrapped = TopLabelCalibrator(estimator=GaussianNB(), method="platt")
    wrapped.fit(samples[:400], labels[:400])
    is_right = wrapped.predict(samples[400:]) == labels[400:]
    raw = wrapped.estimator_.predict_proba(samples[400:]).max(axis=1)
    calibrated = wrapped.predict_confidence(samples[400:]).value
    assert np.mean((calibrated - is_right) ** 2) < np.mean((raw - is_right) ** 2) - 0.02


def test_a_class_absent_from_a_batch_stays_in_its_column(problem) -> None:
    samples, labels = problem
    wrapped = TopLabelCalibrator(method="class_only").fit(samples, labels)
    whole = wrapped.predict_proba(samples)
    batch = labels != 1
    np.testing.assert_array_equal(wrapped.predict_proba(samples[batch]), whole[batch])
    assert wrapped.predict_proba(samples[batch]).shape == (batch.sum(), 3)


class Memory(ClassifierMixin, BaseEstimator):
    """Knows the labels of the rows it has seen, by heart, and nothing else."""

    def fit(self, samples, labels):
        self.classes_ = np.unique(labels)
        self.seen_ = {float(row[0]): label for row, label in zip(samples, labels, strict=True)}
        return self

    def predict_proba(self, samples):
        answer = np.full((len(samples), len(self.classes_)), 1 / len(self.classes_))
        for position, row in enumerate(samples):
            if float(row[0]) in self.seen_:
                answer[position] = self.classes_ == self.seen_[float(row[0])]
        return answer


def test_groups_stay_together_so_that_no_relative_is_remembered() -> None:
    labels = np.tile([0, 1], 30)
    relatives = np.column_stack([np.repeat(np.arange(30), 2), np.zeros(60)])
    labels = np.repeat(labels[:30], 2)  # both relatives look alike and are alike
    classes, groups = np.array([0, 1]), names_of(relatives[:, 0], 60)
    apart = held_out_scores(Memory(), relatives, labels, groups, classes, 5)
    np.testing.assert_array_equal(apart, 0.5)
    mixed = held_out_scores(Memory(), relatives, labels, names_of(None, 60), classes, 5)
    assert (mixed.max(axis=1) == 1.0).any()


def in_pairs() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return 60 families of two look-alikes, whose labels nothing but memory can tell."""
    families = np.repeat(np.arange(60), 2)
    labels = np.repeat(np.random.default_rng(3).integers(0, 2, 60), 2)
    return np.column_stack([families, np.zeros(120)]).astype(float), labels, families


@contextmanager
def routing() -> Iterator[None]:
    """Let scikit-learn hand groups to whoever asks for them."""
    with sklearn.config_context(enable_metadata_routing=True), warnings.catch_warnings():
        warnings.simplefilter("error", FamiliesUnknownWarning)
        yield


def test_a_cross_validation_that_keeps_groups_to_itself_warns_and_routing_ends_it() -> None:
    samples, labels, families = in_pairs()
    wrapped = TopLabelCalibrator(estimator=Memory(), method="class_only", n_resamples=0)
    asked = {"cv": GroupKFold(3), "method": "predict_proba"}
    with pytest.warns(FamiliesUnknownWarning) as caught:
        apart = cross_val_predict(wrapped, samples, labels, groups=families, **asked)
    assert {str(warning.message) for warning in caught} == {SAMPLES_WITHOUT_FAMILIES}
    with routing():
        routed = cross_val_predict(wrapped, samples, labels, params={"groups": families}, **asked)
    # Half of the predictions are right: inner folds that part pairs remember most labels.
    predicted = apart.argmax(axis=1)
    assert (predicted == labels).mean() < 0.6
    assert apart.max(axis=1).mean() > 0.8
    assert routed.max(axis=1).mean() < 0.65


@pytest.mark.parametrize(
    "model",
    [
        CredenceCalibrator("class_only", scale=10.0, n_resamples=0),
        TopLabelCalibrator(method="class_only", n_resamples=0),
    ],
)
def test_a_fit_without_groups_warns_once_and_one_with_groups_does_not(model) -> None:
    scores, labels = by_hand()
    with pytest.warns(FamiliesUnknownWarning) as caught:
        model.fit(scores, labels)
    assert [str(warning.message) for warning in caught] == [SAMPLES_WITHOUT_FAMILIES]
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error", FamiliesUnknownWarning)
        model.fit(scores, labels, groups=np.arange(len(labels)))


def test_a_fitted_classifier_can_be_calibrated_on_other_samples(problem) -> None:
    samples, labels = problem
    base = LogisticRegression().fit(samples[:300], labels[:300])
    wrapped = TopLabelCalibrator(estimator=base, cv="prefit", method="class_only")
    wrapped.fit(samples[300:], labels[300:])
    assert wrapped.estimator_ is base
    predicted = base.predict(samples[300:])
    for class_ in (0, 1, 2):
        rows = predicted == class_
        share = (labels[300:][rows] == class_).mean()
        value = wrapped.predict_confidence(samples[300:]).value[rows]
        np.testing.assert_allclose(value, share, rtol=0, atol=1e-12)


def test_it_works_inside_cross_validation(problem) -> None:
    wrapped = TopLabelCalibrator(method="class_only")
    assert cross_val_score(wrapped, *problem, cv=3).mean() > 0.5


def by_hand() -> tuple[np.ndarray, np.ndarray]:
    # Predicted a: 12 times, 9 of them right; predicted b: 10 times, 5 right.
    scores = np.array([[7.0, 2.0, 1.0]] * 12 + [[1.0, 8.0, 1.0]] * 10)
    labels = np.array(["a"] * 9 + ["b"] * 3 + ["b"] * 5 + ["c"] * 5)
    return scores, labels


def test_a_score_matrix_is_calibrated_by_hand() -> None:
    scores, labels = by_hand()
    model = CredenceCalibrator(method="class_only", scale=10.0).fit(scores, labels)
    probability = model.predict_proba(np.array([[6.0, 1.0, 3.0], [0.0, 10.0, 0.0]]))
    # 9/12 for a, a quarter split 1 : 3; 5/10 for b, a half split evenly.
    expected = [[0.75, 0.0625, 0.1875], [0.25, 0.5, 0.25]]
    np.testing.assert_allclose(probability, expected, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(model.predict(scores[[0, -1]]), ["a", "b"])


def test_weights_count() -> None:
    scores, labels = by_hand()
    weight = np.where(labels == "a", 1.0, 3.0)
    model = CredenceCalibrator(method="class_only", scale=10.0).fit(
        scores, labels, sample_weight=weight
    )
    value = model.predict_confidence(scores[:1]).value  # 9 / (9 + 3 · 3)
    np.testing.assert_allclose(value, 0.5, rtol=0, atol=1e-12)


def test_an_interval_comes_with_draws_and_groups_widen_it() -> None:
    scores, labels = by_hand()
    alone = CredenceCalibrator(method="class_only", scale=10.0, n_resamples=200).fit(
        scores, labels
    )
    families = np.concatenate([np.arange(12) // 6, np.arange(10) // 5 + 10])
    related = CredenceCalibrator(method="class_only", scale=10.0, n_resamples=200)
    related.fit(scores, labels, groups=families)
    narrow, wide = alone.predict_confidence(scores), related.predict_confidence(scores)
    assert 0 < (narrow.upper - narrow.lower)[0] < (wide.upper - wide.lower)[0]


def test_intervals_are_there_unless_draws_are_none() -> None:
    scores, labels = by_hand()
    found = CredenceCalibrator(method="class_only", scale=10.0).fit(scores, labels)
    confidence = found.predict_confidence(scores)
    assert (confidence.lower < confidence.value).all()
    without = CredenceCalibrator(method="class_only", scale=10.0, n_resamples=0).fit(
        scores, labels
    )
    assert np.isnan(without.predict_confidence(scores).lower).all()


@pytest.mark.parametrize("model", [CredenceCalibrator(), TopLabelCalibrator()])
@pytest.mark.parametrize("ask", ["predict", "predict_confidence", "predict_proba"])
def test_what_is_not_fitted_answers_nothing(model, ask) -> None:
    with pytest.raises(NotFittedError):
        getattr(model, ask)(np.ones((2, 2)))


@pytest.mark.parametrize("ask", ["predict_confidence", "predict_proba"])
def test_rows_that_do_not_sum_to_the_scale_are_refused(ask) -> None:
    scores, labels = by_hand()
    off = scores.copy()
    off[1, 2] = 1.55
    message = (
        "scores[1]: the scores sum to 10.55, not to 10 (give or take 0.015 for the decimals). "
        "Correct the scores or remove the row."
    )
    with pytest.raises(ValueError) as refusal:
        CredenceCalibrator(method="class_only", scale=10.0).fit(off, labels)
    assert str(refusal.value) == message
    fitted = CredenceCalibrator(method="class_only", scale=10.0).fit(scores, labels)
    with pytest.raises(ValueError) as refusal:
        getattr(fitted, ask)(off)
    assert str(refusal.value) == message


def test_notes_are_words() -> None:
    scores, labels = by_hand()
    found = CredenceCalibrator(method="class_only", scale=10.0, n_resamples=0).fit(scores, labels)
    answer = found.predict_confidence(np.array([[1.0, 1.0, 8.0], [7.0, 2.0, 1.0]]))
    unseen = "class never predicted in calibration"
    assert answer.notes.tolist() == [unseen, ""]


def test_a_class_never_predicted_gives_nan() -> None:
    scores, labels = by_hand()
    model = CredenceCalibrator(method="class_only", scale=10.0).fit(scores, labels)
    assert np.isnan(model.predict_proba(np.array([[1.0, 1.0, 8.0]]))).all()


@pytest.mark.parametrize(
    ("scores", "labels", "message"),
    [
        (
            np.ones((3, 2)),
            ["a", "b", "c"],
            "X has 2 columns for 3 classes: give one column of scores for each, and "
            "`classes` where y does not hold them all.",
        )
    ],
)
def test_a_matrix_of_other_columns_is_refused(scores, labels, message) -> None:
    with pytest.raises(ValueError) as refusal:
        CredenceCalibrator().fit(scores, labels)
    assert str(refusal.value) == message


def test_labels_that_no_column_has_are_refused() -> None:
    with pytest.raises(ValueError) as refusal:
        CredenceCalibrator(classes=["a", "b"]).fit(np.ones((2, 2)), ["a", "c"])
    assert str(refusal.value) == "y holds labels that are not among the classes: ['c']."


def test_an_unknown_method_is_answered_with_the_nearest() -> None:
    assert (
        refusal(CredenceCalibrator(method="kernal").fit, *by_hand())
        == "method: 'kernal' is not a method. Did you mean 'kernel'?"
    )


def test_scores_that_sum_to_nothing_are_not_given_to_vector_methods() -> None:
    with pytest.raises(ValueError) as refusal:
        CredenceCalibrator(method="logistic", is_distribution=False).fit(*by_hand())
    assert str(refusal.value) == (
        "'logistic' needs the score of every class, each row summing to the scale."
    )


def test_the_rest_is_shared_evenly_where_the_others_have_no_score() -> None:
    answer = spread_rest(np.array([[1.0, 0.0, 0.0]]), np.array([0]), np.array([0.5]))
    np.testing.assert_array_equal(answer, [[0.5, 0.25, 0.25]])


def test_importing_it_loads_neither_the_edge_nor_snakemake() -> None:
    code = (
        "import sys, credence.sklearn; "
        "print([name for name in sys.modules if name.split('.')[0] == 'snakemake' or "
        "name.startswith(('credence.app', 'credence.tables', 'credence.report'))])"
    )
    words = [sys.executable, "-c", code]
    done = subprocess.run(words, capture_output=True, text=True, timeout=300, check=True)
    assert done.stdout.strip() == "[]"
