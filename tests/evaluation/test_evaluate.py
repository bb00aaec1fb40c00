from __future__ import annotations

import json
import math
from dataclasses import dataclass, replace

import numpy as np
import pytest

from classes_in_order import with_classes_in_order
from credence.calibrators.method_spec import parse_method
from credence.calibrators.protocol import FitOptions
from credence.confidence import Confidence, Note
from credence.evaluation.curves import bin_ratios, bins_record
from credence.evaluation.evaluate import cross_fit, evaluate, metric_columns
from credence.evaluation.judging import EvaluationOptions
from credence.evaluation.ratios import estimate
from credence.evaluation.verdict import by_gap
from credence.metrics.all_metrics import METRICS
from credence.metrics.binned import SCORE, bin_of
from credence.predictions import Labelled, Predictions, from_scores, label
from credence.records import to_record
from credence.sentences import notices_of
from credence.sets.conformal import SetOptions, judge_sets

CLASSES = ("A", "B", "C")


def world(n: int = 240, seed: int = 4) -> Labelled:
    """Return three classes, the last never predicted, in families of about four."""
    rng = np.random.default_rng(seed)
    predicted = rng.integers(0, 2, n)
    best = np.round(rng.uniform(3.5, 10.0, n), 2)
    scores = np.zeros((n, 3))
    scores[np.arange(n), predicted] = best
    scores[np.arange(n), 2] = np.minimum(10.0 - best, best - 0.5)
    ids = np.array([f"p{k}" for k in range(n)], dtype=object)
    is_right = rng.random(n) < best / 11.0
    true_class = np.where(is_right, predicted, 2)
    cluster = np.array([f"c{k}" for k in rng.integers(0, n // 4, n)], dtype=object)
    predictions = from_scores(ids, CLASSES, scores, 10.0, 0.01)
    return label(predictions, true_class, cluster=cluster)


def methods(*specs: str) -> dict:
    options = FitOptions(n_draws=0)
    return {spec: parse_method(spec, "test").build(options) for spec in specs}


class StatesOnly:
    """A calibration that states confidences and nothing else."""

    gives_curve = False

    def parameters(self, class_names: tuple[str, ...]) -> dict:
        return {}

    def probabilities(self, predictions: Predictions) -> None:
        return None


@dataclass(frozen=True)
class Memory:
    """A calibrator that remembers clusters: right of itself, wrong of others."""

    def fit(self, labelled: Labelled) -> Memory.Calibration:
        return Memory.Calibration(seen=frozenset(labelled.predictions.ids.tolist()))

    @dataclass(frozen=True)
    class Calibration(StatesOnly):
        seen: frozenset

        def confidence(self, predictions: Predictions) -> Confidence:
            value = np.array([0.9 if name in self.seen else 0.1 for name in predictions.ids])
            zeros = np.zeros(len(value))
            return Confidence(
                value=value, lower=value, upper=value, support=zeros, note=zeros.astype(np.int64)
            )


def test_held_out_confidences_never_come_from_a_fit_that_saw_the_cluster() -> None:
    labelled = world()

    @dataclass(frozen=True)
    class Watcher:
        def fit(self, learnt_from: Labelled) -> object:
            seen = set(learnt_from.cluster.tolist())
            cluster_of = dict(
                zip(labelled.predictions.ids.tolist(), labelled.cluster.tolist(), strict=True)
            )

            class Calibration(StatesOnly):
                def confidence(self, predictions: Predictions) -> Confidence:
                    value = np.array([float(cluster_of[name] in seen) for name in predictions.ids])
                    return Confidence(
                        value=value,
                        lower=value,
                        upper=value,
                        support=value,
                        note=value.astype(np.int64),
                    )

            return Calibration()

    found = evaluate(labelled, {"watcher": Watcher()}, EvaluationOptions(n_folds=5, n_draws=0))
    assert (found.held_out["watcher"] == 0.0).all()
    assert (found.in_sample["watcher"].value == 1.0).all()


def test_in_sample_and_held_out_numbers_are_never_mixed() -> None:
    labelled = world()
    found = evaluate(labelled, {"memory": Memory()}, EvaluationOptions(n_folds=5, n_draws=0))
    is_correct = labelled.is_correct
    expected = {
        "in_sample": np.where(is_correct, 0.01, 0.81).mean(),
        "held_out": np.where(is_correct, 0.81, 0.01).mean(),
    }
    got = {
        entry.sample: entry.value
        for entry in found.results.metrics
        if entry.metric == "brier" and entry.class_name is None
    }
    assert got == pytest.approx(expected, rel=1e-12)


def test_class_only_held_out_is_the_share_of_the_other_folds() -> None:
    labelled = world()
    found = evaluate(labelled, methods("class_only"), EvaluationOptions(n_folds=4, n_draws=0))
    predicted = labelled.predictions.predicted_class
    for row in range(0, labelled.n_samples, 17):
        others = (found.fold != found.fold[row]) & (predicted == predicted[row])
        share = labelled.is_correct[others].mean()
        assert found.held_out["class_only"][row] == pytest.approx(share, rel=1e-12)


def test_the_numbers_over_all_are_the_classes_weighted_by_their_proteins() -> None:
    found = evaluate(
        world(), methods("class_only", "kernel"), EvaluationOptions(n_folds=4, n_draws=0)
    )
    for method in ("class_only", "kernel"):
        rows = [
            entry
            for entry in found.results.metrics
            if (entry.method, entry.sample, entry.metric) == (method, "held_out", "nll")
        ]
        total = next(entry for entry in rows if entry.class_name is None)
        parts = [entry for entry in rows if entry.class_name is not None]
        assert sum(entry.n for entry in parts) == total.n
        mean = sum(entry.n * entry.value for entry in parts) / total.n
        assert total.value == pytest.approx(mean, rel=1e-12)


def test_a_paired_difference_is_the_difference_of_the_two_means() -> None:
    found = evaluate(
        world(),
        methods("class_only", "kernel"),
        EvaluationOptions(n_folds=4, n_draws=20),
        reference="kernel",
    )
    value = {
        (entry.method, entry.class_name, entry.sample, entry.metric): entry.value
        for entry in found.results.metrics
    }
    assert {entry.method for entry in found.results.differences} == {"class_only"}
    for entry in found.results.differences:
        key = (entry.class_name, entry.sample, entry.metric)
        expected = value["class_only", *key] - value["kernel", *key]
        assert entry.value == pytest.approx(expected, abs=1e-12)
        assert entry.lower <= entry.value <= entry.upper


def test_a_class_in_one_fold_only_is_excluded_counted_and_said() -> None:
    labelled = world()
    rows = labelled.predictions.predicted_class == 0
    keep = rows | (np.cumsum(~rows) <= 3)
    few = labelled.take(keep)
    alone = np.where(few.predictions.predicted_class == 1, "b", few.cluster).astype(object)
    few = label(few.predictions, few.true_class, cluster=alone)
    found = evaluate(few, methods("class_only"), EvaluationOptions(n_folds=3, n_draws=0))
    entry = next(
        entry
        for entry in found.results.metrics
        if (entry.class_name, entry.sample, entry.metric) == ("B", "held_out", "nll")
    )
    assert entry.n == 0
    assert math.isnan(entry.value)
    total = next(
        entry
        for entry in found.results.metrics
        if (entry.class_name, entry.sample, entry.metric) == (None, "held_out", "nll")
    )
    assert total.n == rows.sum()
    texts = {notice.kind: notice.text for notice in notices_of(found.results)}
    assert texts["left out"] == (
        "class_only gives 3 proteins no held-out confidence, because the class predicted occurs "
        "in no other fold. They are left out of the held-out numbers."
    )
    assert texts["few clusters"] == (
        "The 3 proteins predicted to be B count as only 1 independent case, fewer than the 3 "
        "folds. Held-out numbers of this class are uncertain."
    )


def test_a_class_that_is_never_predicted_is_said_and_not_measured() -> None:
    found = evaluate(
        world(), methods("class_only"), EvaluationOptions(n_folds=4, n_draws=0)
    ).results
    assert {entry.class_name for entry in found.metrics} == {None, "A", "B"}
    assert [n.text for n in notices_of(found) if n.kind == "unseen class"] == [
        "No calibration protein is predicted to be C. Predictions of this class get no confidence."
    ]
    assert math.isnan(found.classes[2].share)


def test_a_method_that_does_not_keep_its_word_held_out_is_said_class_by_class() -> None:
    labelled = world(400)

    @dataclass(frozen=True)
    class Inverted(StatesOnly):
        is_honest: bool

        def fit(self, learnt_from: Labelled) -> Inverted:
            return self

        def confidence(self, predictions: Predictions) -> Confidence:
            score = predictions.top_score
            assert score is not None
            value = score / 11.0 if self.is_honest else 1.0 - score / 11.0
            return Confidence(
                value=value,
                lower=value,
                upper=value,
                support=value,
                note=np.zeros(len(value), dtype=np.int64),
            )

    contenders = {"inverted": Inverted(is_honest=False), "honest": Inverted(is_honest=True)}
    for name in contenders:
        found = evaluate(
            labelled, contenders, EvaluationOptions(n_folds=4, n_draws=100), reference=name
        )
        stated = [n.class_name for n in found.results.cautions if n.kind == "reliability"]
        assert stated == (["A", "B"] if name == "inverted" else [])


def test_a_class_that_is_always_wrong_is_not_shown_to_be_calibrated() -> None:
    # A constant confidence and outcomes all alike: draws of families do not vary, and the gap's
    # interval had no width, so that the class was "within 5 points", or surely off.
    labelled = world()
    predicted = labelled.predictions.predicted_class
    wrong = np.where(predicted == 0, 1, labelled.true_class)
    labelled = replace(labelled, true_class=wrong)
    found = evaluate(labelled, methods("class_only"), EvaluationOptions(n_draws=200))
    name = labelled.predictions.class_names[0]
    gap, accuracy = (
        next(
            entry
            for entry in found.results.metrics
            if (entry.class_name, entry.sample, entry.metric) == (name, "held_out", metric)
        )
        for metric in ("gap", "accuracy")
    )
    assert accuracy.value == 0.0
    # As uncertain as the precision: so much of it may be right that confidences are too low.
    assert gap.lower == pytest.approx(gap.value - accuracy.upper, abs=0.01)
    assert gap.upper == pytest.approx(gap.value, abs=0.01)
    classes = by_gap({name: gap}, accuracy.upper / 2)
    assert (classes.held, classes.off, classes.unsure) == ([], [], [name])


def test_order_of_rows_changes_no_number() -> None:
    labelled = world()
    order = np.random.default_rng(0).permutation(labelled.n_samples)
    options = EvaluationOptions(n_folds=4, n_draws=20)
    one = evaluate(labelled, methods("class_only", "kernel"), options).results
    two = evaluate(labelled.take(order), methods("class_only", "kernel"), options).results
    for left, right in zip(one.metrics, two.metrics, strict=True):
        assert (left.value, left.lower, left.upper) == pytest.approx(
            (right.value, right.lower, right.upper), rel=1e-9, nan_ok=True
        )
    for left, right in zip(one.classes, two.classes, strict=True):
        assert (left.n_true, left.n_correct) == (right.n_true, right.n_correct)
        assert (left.share, left.lower, left.upper) == pytest.approx(
            (right.share, right.lower, right.upper), rel=1e-9, nan_ok=True
        )


def test_the_same_set_gives_the_same_bytes() -> None:
    options = EvaluationOptions(n_folds=4, n_draws=20)
    one, two = (evaluate(world(), methods("kernel"), options).results for _ in range(2))
    assert json.dumps(to_record(one)) == json.dumps(to_record(two))


def test_bins_hold_every_protein_once_and_their_shares_are_counted() -> None:
    labelled = world()
    found = evaluate(labelled, methods("kernel"), EvaluationOptions(n_folds=4, n_draws=20))
    for entry in found.results.reliability:
        assert sum(entry.bins.n) == sum(
            metric.n
            for metric in found.results.metrics
            if (metric.method, metric.class_name, metric.sample, metric.metric)
            == (entry.method, entry.class_name, entry.sample, "nll")
        )
    everyone = next(
        entry.bins
        for entry in found.results.reliability
        if (entry.class_name, entry.sample) == (None, "held_out")
    )
    for k in range(10):
        value = found.held_out["kernel"]
        inside = (value > everyone.edges[k]) & (value <= everyone.edges[k + 1])
        assert everyone.n[k] == inside.sum()
        if inside.any():
            assert everyone.share[k] == pytest.approx(labelled.is_correct[inside].mean())
            assert everyone.mean[k] == pytest.approx(value[inside].mean())
            assert everyone.lower[k] <= everyone.share[k] <= everyone.upper[k]


@pytest.mark.parametrize(
    ("value", "expected"), [(0.0, 0), (1.0, 0), (1.01, 1), (3.0, 2), (9.0, 2), (math.nan, -1)]
)
def test_a_bin_is_left_open_and_the_last_takes_what_lies_beyond(
    value: float, expected: int
) -> None:
    assert bin_of(np.array([value]), np.array([0.0, 1.0, 2.0, 3.0])).tolist() == [expected]


def test_the_worked_example_of_methods_has_its_shares_and_means() -> None:
    # As in test_worked_example.py: three equal bins; 0.5/0.8/0.667 against 0.265/0.514/0.837.
    score = np.array([0.61, 0.39, 0.31, 0.76, 0.22, 0.59, 0.92, 0.83, 0.57, 0.41])
    right = np.array([1, 0, 1, 1, 0, 1, 0, 1, 1, 1], dtype=bool)
    edges, weight = np.linspace(0.0, 1.0, 4), np.ones(10)
    cluster = np.array([f"c{k}" for k in range(10)], dtype=object)
    estimates = estimate(cluster, bin_ratios(score, edges, right, weight), 0.95, 0)
    bins = bins_record(score, edges, right, weight, estimates)
    assert bins.n == (2, 5, 3)
    assert bins.share == pytest.approx((0.5, 0.8, 0.667), abs=5e-4)
    assert bins.mean == pytest.approx((0.265, 0.514, 0.837), abs=5e-4)


def test_one_cluster_leaves_nothing_to_learn_from() -> None:
    labelled = world(40)
    held_out, _ = cross_fit(labelled, methods("class_only"), np.zeros(40, dtype=np.int64))
    assert np.isnan(held_out["class_only"]).all()


def test_top_scores_that_are_absent_leave_out_curves_and_nothing_else() -> None:
    labelled = world()
    predictions = labelled.predictions
    bare = Predictions(
        ids=predictions.ids,
        class_names=CLASSES,
        scale=1.0,
        resolution=0.0,
        predicted_class=predictions.predicted_class,
        is_distribution=False,
    )
    found = evaluate(
        label(bare, labelled.true_class, cluster=labelled.cluster),
        methods("class_only"),
        EvaluationOptions(n_folds=4, n_draws=0),
    ).results
    assert found.curves == ()
    assert found.histograms == ()
    # All, A and B, two samples each, of every metric that asks for no score and no vector;
    # top-label errors are over all alone.
    plain = [m for m in METRICS if not m.needs_vector and m.family is not SCORE]
    of_classes = [m for m in plain if m.losses is not None or m.finish is not None]
    values = [entry for entry in found.metrics if entry.metric != "area"]
    assert len(values) == 2 * (len(plain) + 2 * len(of_classes))


@pytest.mark.parametrize("method", ["hierarchical", "auto(sees=score)"])
def test_every_class_has_a_curve_and_that_of_a_rare_one_says_something(method: str) -> None:
    # Six classes of sixty predictions that are alike, and one of three, two of them right.
    rng = np.random.default_rng(7)
    names = tuple("ABCDEFG")
    predicted = np.append(np.arange(360) % 6, [6, 6, 6])
    best = np.append(rng.uniform(3.5, 10.0, 360), [9.0, 5.0, 6.0])
    is_right = np.append(rng.random(360) < (best[:360] - 3.0) / 7.0, [True, False, True])
    predictions = Predictions(
        ids=np.array([f"p{k}" for k in range(363)], dtype=object),
        class_names=names,
        scale=10.0,
        resolution=0.01,
        predicted_class=predicted,
        top_score=best.round(2),
        is_distribution=False,
    )
    labelled = label(predictions, np.where(is_right, predicted, (predicted + 1) % 6))
    calibrator = parse_method(method, "test").build(FitOptions(n_draws=20))
    found = evaluate(
        labelled, {method: calibrator}, EvaluationOptions(n_folds=4, n_draws=0)
    ).results
    assert [curve.class_name for curve in found.curves] == list(names)
    curve = found.curves[6]
    assert all(note & Note.SCARCE for note in curve.note)
    low, high = 100, 180  # scores of 5 and 9
    assert curve.value[high] - curve.value[low] > 0.3
    # The class's own share, ⅔, would have an interval of some 0.2 to 0.95, whatever the score.
    assert curve.upper[low] - curve.lower[low] < 0.6
    assert curve.upper[high] - curve.lower[high] < 0.5


def test_the_metrics_table_has_the_columns_of_the_contract() -> None:
    found = evaluate(
        world(), methods("class_only"), EvaluationOptions(n_folds=4, n_draws=0)
    ).results
    columns = metric_columns(found)
    assert list(columns) == [
        "method", "class", "sample", "metric", "value", "lower", "upper", "n",
    ]  # fmt: skip
    assert columns["class"][0] == "all"
    assert {len(column) for column in columns.values()} == {len(found.metrics) + len(found.floors)}
    floors = [name for name in columns["metric"] if "_floor" in name]
    assert len(floors) == len(found.floors) > 0


OTHER_ORDER = [2, 1, 0]


def test_the_order_of_class_columns_moves_no_held_out_number() -> None:
    labelled, options = world(900), EvaluationOptions(n_folds=5, n_draws=0, n_signs=9)
    both = (labelled, with_classes_in_order(labelled, OTHER_ORDER))
    first, other = (evaluate(of, methods("isotonic"), options) for of in both)
    assert np.array_equal(first.fold, other.fold)
    np.testing.assert_allclose(other.held_out["isotonic"], first.held_out["isotonic"], atol=1e-12)


def test_the_order_of_class_columns_moves_no_set() -> None:
    labelled, options = world(900), SetOptions(level=0.8, kind="class_wise")
    both = (labelled, with_classes_in_order(labelled, OTHER_ORDER))
    first, other = (judge_sets(of, options, 5, 0.95, 20) for of in both)
    by_name = {entry.class_name: entry for entry in other.classes}
    assert {entry.class_name: entry for entry in first.classes} == by_name
    assert first.all_classes == other.all_classes
