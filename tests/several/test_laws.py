"""Laws of several labels a protein: with one each nothing changes."""

from dataclasses import replace
from math import exp, log
from pathlib import Path

import numpy as np
import pytest
import scipy

from credence.calibrators.all_methods import SINGLE_METHODS, read_calibration
from credence.calibrators.coherent import coherent, line_of, nearest_to, pairs_of, reaching
from credence.calibrators.hierarchical import CurveRows
from credence.calibrators.method_spec import parse_method
from credence.calibrators.protocol import FitOptions
from credence.confidence import Confidence
from credence.predictions import Labelled, Predictions, label
from credence.records import to_record
from credence.stages.fit import fit_tables
from credence.stages.reading import LabelledTables, read_set
from credence.stages.settings import Settings
from credence.tables.formats import ANY_OTHER_LABEL, TableSpec
from credence.tables.labels import attach_labels, read_labels
from credence.tree import LabelTree

OPTIONS = FitOptions(n_draws=20)
OF_CLASS_AND_SCORE = [method.name for method in SINGLE_METHODS if not method.needs.is_vector]
COLUMNS = ("value", "lower", "upper", "support", "note")


def one_label_each(seed: int, n: int = 400) -> Labelled:
    """Return proteins of three classes of unequal frequency, in families of two."""
    rng = np.random.default_rng(seed)
    names = ("a", "b", "c")
    predicted = rng.choice(3, size=n, p=[0.6, 0.38, 0.02])
    score = rng.uniform(0.3, 1.0, n).round(3)
    is_right = rng.random(n) < score
    predictions = Predictions(
        ids=np.array([f"p{row}" for row in range(n)], dtype=object),
        class_names=names,
        scale=1.0,
        resolution=0.001,
        predicted_class=predicted,
        top_score=score,
        is_distribution=False,
    )
    truth = np.where(is_right, predicted, (predicted + 1) % 3)
    cluster = np.array([f"f{row // 2}" for row in range(n)], dtype=object)
    return label(predictions, truth, cluster=cluster)


def as_calls(labelled: Labelled, tree: LabelTree, further: tuple[str, ...] = ()) -> Labelled:
    """Return the same as calls: a wrong one has no true class."""
    names = (*labelled.predictions.class_names, *further, ANY_OTHER_LABEL)
    predictions = replace(labelled.predictions, tree=tree, class_names=names)
    true = np.where(labelled.is_correct, labelled.true_class, -1)
    return replace(labelled, predictions=predictions, true_class=true)


def answers(method: str, labelled: Labelled) -> list[np.ndarray]:
    calibration, held_out = parse_method(method, "test").fit_and_hold_out(labelled, OPTIONS)
    confidence = calibration.confidence(labelled.predictions)
    return [held_out, *(getattr(confidence, name) for name in COLUMNS)]


@pytest.mark.parametrize("method", OF_CLASS_AND_SCORE)
def test_one_call_of_one_label_each_has_the_numbers_of_one_class_bit_for_bit(method: str) -> None:
    known = one_label_each(1)
    before, after = answers(method, known), answers(method, as_calls(known, LabelTree()))
    for old, new in zip(before, after, strict=True):
        np.testing.assert_array_equal(old, new)


@pytest.mark.parametrize("method", OF_CLASS_AND_SCORE)
def test_a_label_without_calls_changes_nothing(method: str) -> None:
    calls = as_calls(one_label_each(2), LabelTree())
    more = as_calls(one_label_each(2), LabelTree(), further=("aa", "zz"))
    for old, new in zip(answers(method, calls), answers(method, more), strict=True):
        np.testing.assert_array_equal(old, new)


def test_one_label_each_read_as_calls_gives_the_calibration_of_a_table_of_best_classes(
    tmp_path: Path,
) -> None:
    known = one_label_each(3)
    names = np.array(known.predictions.class_names)
    rows = list(
        zip(
            known.predictions.ids,
            names[known.predictions.predicted_class],
            known.predictions.top_score,
            strict=True,
        )
    )
    best = "\n".join(["id\tpredicted_class\tscore", *("\t".join(map(str, row)) for row in rows)])
    (tmp_path / "best.tsv").write_text(best + "\n")
    (tmp_path / "long.tsv").write_text(best.replace("predicted_class", "term", 1) + "\n")
    truth = [
        f"{id_}\t{names[code]}"
        for id_, code in zip(known.predictions.ids, known.true_class, strict=True)
    ]
    (tmp_path / "truth.tsv").write_text("\n".join(["id\ttrue_class", *truth]) + "\n")
    calibrations = []
    for name, spec in (
        ("best.tsv", TableSpec(format="top-score", scale=1.0)),
        ("long.tsv", TableSpec(format="long", scale=1.0, several={})),
    ):
        samples = read_set([str(tmp_path / name)], spec)
        labels = read_labels(tmp_path / "truth.tsv", are_several=spec.several is not None)
        samples = attach_labels(samples, labels, spec, name)
        settings = Settings().with_values(
            {"calibration": {"method": "hierarchical", "resamples": 20}}
        )
        fitted = fit_tables(LabelledTables(where=name, samples=samples), settings)
        calibrations.append((fitted, samples.predictions))
    (one, predictions), (several, calls) = calibrations
    np.testing.assert_array_equal(one.held_out, several.held_out)
    old = one.file.calibration.confidence(predictions)
    new = several.file.calibration.confidence(calls)
    for name in COLUMNS:
        np.testing.assert_array_equal(getattr(old, name), getattr(new, name))


def calls_of(
    labels: list[tuple[str, str]], names: tuple[str, ...], tree: LabelTree
) -> Predictions:
    return Predictions(
        ids=np.array([id_ for id_, _ in labels], dtype=object),
        class_names=names,
        scale=1.0,
        resolution=0.0,
        predicted_class=np.array([names.index(name) for _, name in labels]),
        top_score=np.full(len(labels), 0.5),
        is_distribution=False,
        tree=tree,
    )


def stated(values: list[float], width: float = 0.05) -> Confidence:
    value = np.array(values)
    return Confidence(
        value=value,
        lower=np.maximum(value - width, 0.0),
        upper=np.minimum(value + width, 1.0),
        support=np.ones(len(value)),
        note=np.zeros(len(value), dtype=np.int64),
    )


DIAMOND = LabelTree(parents={"left": ("top",), "right": ("top",), "low": ("left", "right")})
NAMES = ("left", "low", "right", "top")


def test_coherence_changes_nothing_where_nothing_is_incoherent() -> None:
    calls = calls_of([("p", "top"), ("p", "left"), ("p", "low"), ("q", "low")], NAMES, DIAMOND)
    confidence = stated([0.9, 0.8, 0.8, 0.99])
    assert coherent(confidence, calls, DIAMOND, np.ones(4)) is confidence


def test_a_child_above_its_parent_meets_it_at_their_weighted_mean() -> None:
    # Equal families, and p(1 − p) of 0.4 and of 0.6 alike: the mean, 0.5, of both.
    calls = calls_of([("p", "low"), ("p", "top"), ("q", "low")], NAMES, DIAMOND)
    answer = coherent(stated([0.6, 0.4, 0.6]), calls, DIAMOND, np.full(4, 10.0))
    np.testing.assert_allclose(answer.value, [0.5, 0.5, 0.6], atol=1e-12)
    assert (answer.lower <= answer.value).all() and (answer.value <= answer.upper).all()


def slow_isotonic(
    values: np.ndarray, weight: np.ndarray, pairs: list[tuple[int, int]]
) -> np.ndarray:
    """Return the least weighted squared change by projections in turn (Dykstra 1983)."""
    x, corrections = values.copy(), np.zeros((len(pairs), 2))
    for _ in range(20_000):
        for number, (low, high) in enumerate(pairs):
            at = x[[low, high]] + corrections[number]
            moved = at.copy()
            if at[0] > at[1]:
                moved[:] = np.average(at, weights=weight[[low, high]])
            corrections[number] = at - moved
            x[[low, high]] = moved
    return x


@pytest.mark.parametrize("seed", range(5))
def test_the_least_change_is_that_of_projections_in_turn(seed: int) -> None:
    rng = np.random.default_rng(seed)
    values, weight = rng.random(5), rng.uniform(0.5, 3.0, 5)
    pairs = [(1, 0), (2, 0), (3, 1), (3, 2), (4, 2)]  # a graph in which 3 has two parents
    low, high = np.array(pairs).T
    fitted = nearest_to(values, weight, low, high)
    np.testing.assert_allclose(fitted, slow_isotonic(values, weight, pairs), atol=1e-6)


@pytest.mark.parametrize("seed", range(5))
def test_no_confidence_is_above_that_of_a_label_above_it(seed: int) -> None:
    rng = np.random.default_rng(seed)
    labels = [(f"p{number}", name) for number in range(30) for name in NAMES if rng.random() < 0.8]
    calls = calls_of(labels, NAMES, DIAMOND)
    before = stated(rng.random(len(labels)).tolist())
    after = coherent(before, calls, DIAMOND, rng.integers(0, 50, 4).astype(float))
    below, above = pairs_of(calls, DIAMOND)
    assert (after.value[below] <= after.value[above]).all()
    assert (before.value[below] > before.value[above]).any()  # else nothing was shown
    is_touched = np.isin(
        calls.protein, calls.protein[below[before.value[below] > before.value[above]]]
    )
    # Intervals of proteins with coherent confidences may be incoherent by themselves.
    np.testing.assert_array_equal(after.value[~is_touched], before.value[~is_touched])


def test_intervals_reach_from_what_the_curve_says_to_where_the_line_moves_it() -> None:
    calls = calls_of([("p", "low"), ("p", "top"), ("q", "low")], NAMES, DIAMOND)
    before = stated([0.7, 0.5, 0.9])
    after, line = coherent(before, calls, DIAMOND, np.full(4, 10.0)), (0.1, 1.5)
    answer = reaching(after, before, line)
    np.testing.assert_array_equal(answer.value, after.value)

    def log_odds(share: float) -> float:
        return log(share / (1.0 - share))

    for row in range(3):
        middle = line[0] + line[1] * log_odds(after.value[row])
        low, high = (
            1.0 / (1.0 + exp(-middle - log_odds(end) + log_odds(before.value[row])))
            for end in (before.lower[row], before.upper[row])
        )
        assert answer.lower[row] == pytest.approx(min(low, before.lower[row], after.lower[row]))
        assert answer.upper[row] == pytest.approx(max(high, before.upper[row], after.upper[row]))


def two_labels(seed: int, n: int, *, is_sure_below: bool) -> Labelled:
    """Return calls of a label and of one below it, whose scores may be above the first's."""
    rng = np.random.default_rng(seed)
    above = rng.uniform(0.3, 0.95, n)
    below = rng.uniform(0.05, 0.95, n) if is_sure_below else np.zeros(n) + 0.02
    is_right = rng.random(n) < above
    is_right_below = is_right & (rng.random(n) < below)
    labels = [(f"p{row}", name) for row in range(n) for name in ("top", "left")]
    calls = replace(
        calls_of(labels, NAMES, DIAMOND), top_score=np.column_stack([above, below]).ravel()
    )
    right = np.column_stack([is_right, is_right_below]).ravel()
    cluster = np.array([f"f{row // 4}" for row in range(2 * n)], dtype=object)
    return label(calls, np.where(right, calls.predicted_class, -1), cluster=cluster)


@pytest.mark.parametrize("method", ["uncalibrated", "hierarchical", "platt"])
def test_where_nothing_was_incoherent_confidences_are_the_curves_bit_for_bit(method: str) -> None:
    known = two_labels(1, 300, is_sure_below=False)
    fitted = parse_method(method, "test").build(OPTIONS).fit(known)
    assert fitted.line is None
    inner, answer = (part.confidence(known.predictions) for part in (fitted.inner, fitted))
    for name in COLUMNS:
        np.testing.assert_array_equal(getattr(answer, name), getattr(inner, name))


def test_intervals_of_coherent_confidences_hold_those_of_the_curve() -> None:
    known = two_labels(2, 300, is_sure_below=True)
    fitted = parse_method("hierarchical", "test").build(OPTIONS).fit(known)
    inner, answer = (part.confidence(known.predictions) for part in (fitted.inner, fitted))
    assert (inner.value != answer.value).any()  # else nothing was shown
    assert (answer.lower <= inner.lower).all()
    assert (inner.upper <= answer.upper).all()
    assert (answer.lower <= answer.value).all()
    assert (answer.value <= answer.upper).all()
    again = read_calibration(to_record(fitted)).confidence(known.predictions)
    for name in COLUMNS:
        np.testing.assert_array_equal(getattr(again, name), getattr(answer, name))


def test_the_line_is_the_logistic_regression_of_being_right_drawn_to_no_change() -> None:
    known = two_labels(3, 300, is_sure_below=True)
    value = np.random.default_rng(3).uniform(0.01, 0.99, known.n_samples)
    value[:5] = np.nan  # calls without a confidence say nothing
    seen, x = known.take(np.arange(5, known.n_samples)), scipy.special.logit(value[5:])

    def loss(line: np.ndarray) -> float:
        p = scipy.special.expit(line[0] + line[1] * x)
        of_calls = -np.log(np.where(seen.is_correct, p, 1.0 - p)) @ seen.weight
        return float(of_calls + 0.5 * (line[0] ** 2 + (line[1] - 1.0) ** 2))

    slow = scipy.optimize.minimize(loss, [0.0, 1.0], method="Nelder-Mead", tol=1e-9).x
    np.testing.assert_allclose(line_of(value, known), slow, atol=1e-5)


def test_the_curvature_of_a_tree_is_inverted_as_the_matrix_it_stands_for() -> None:
    rng = np.random.default_rng(5)
    parent = np.array([-1, 0, 0, 1, -1, 4])
    n, n_shared, n_own = 600, 2, 2
    code = np.sort(rng.integers(0, 6, n))
    shared = np.column_stack([np.ones(n), rng.normal(size=n)])
    design = np.hstack([shared, shared])  # what classes differ in repeats what they share
    rows = CurveRows(
        design=design,
        target=(rng.random(n) < 0.5).astype(float),
        weight=rng.uniform(0.5, 1.5, n),
        starts=np.searchsorted(code, np.arange(6)),
        n_shared=n_shared,
        precision=np.array([0.01, 0.1]),
        parent=parent,
    )
    spreads, point = np.array([0.6, 0.3]), rng.normal(size=n_shared + 6 * n_own)
    # The slow way: differences of the slope, one coefficient after the other.
    step = 1e-6
    columns = [
        (rows.gradient(point + step * unit, spreads) - rows.gradient(point - step * unit, spreads))
        / (2 * step)
        for unit in np.eye(len(point))
    ]
    matrix, curvature = np.array(columns), rows.curvature(point, spreads)
    slope = np.array(
        [
            (rows.loss(point + step * unit, spreads) - rows.loss(point - step * unit, spreads))
            / (2 * step)
            for unit in np.eye(len(point))
        ]
    )
    np.testing.assert_allclose(rows.gradient(point, spreads), slope, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(curvature.solve(slope), np.linalg.solve(matrix, slope), rtol=1e-4)
    assert abs(curvature.log_determinant() - np.linalg.slogdet(matrix)[1]) < 1e-5
    inverse = np.linalg.inv(matrix)
    for class_, block in enumerate(curvature.covariances()):
        places = [0, 1, 2 + 2 * class_, 3 + 2 * class_]
        np.testing.assert_allclose(block, inverse[np.ix_(places, places)], rtol=1e-4, atol=1e-6)


def test_a_label_never_called_answers_as_the_one_above_it_and_is_less_sure() -> None:
    known = one_label_each(4)
    tree = LabelTree(parents={"aa": ("a",), "c": ("a",)})
    fitted = (
        parse_method("hierarchical", "test").build(OPTIONS).fit(as_calls(known, tree, ("aa",)))
    )
    at = as_calls(known, tree, ("aa",)).predictions
    shown = [replace(at, predicted_class=np.full(at.n_samples, code)) for code in (0, 3, 4)]
    above, below, anywhere = (fitted.inner.confidence(part) for part in shown)
    np.testing.assert_allclose(below.value, above.value, atol=0.1)
    assert ((below.upper - below.lower) > (above.upper - above.lower)).all()
    assert ((anywhere.upper - anywhere.lower) >= (below.upper - below.lower)).mean() > 0.9
