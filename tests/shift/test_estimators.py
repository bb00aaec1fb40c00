"""Compositions: by hand, against slow twins, and the laws that estimators keep."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from cases import cases
from credence.composition import estimators
from credence.composition import probabilities as fitting
from credence.composition.both_samples import cells_of, merged
from credence.composition.estimators import (
    ESTIMATORS,
    EstimatorInput,
    estimator_for,
    mixture_maximum,
    quadratic_minimum,
    stated_share,
)
from credence.composition.probabilities import fit_bias_corrected, fit_mapped, probabilities
from credence.draws import keys_of
from credence.predictions import Floats
from credence.problems import InputError
from refusals import refusal

ESTIMATING = [entry for entry in ESTIMATORS if entry.estimate is not None]
seeds = st.integers(0, 2**32 - 1)


def evidence(seed: int, n_classes: int = 4, n: int = 400, m: int = 300) -> EstimatorInput:
    """Noisy predictions of both sets, the query set of another composition."""
    rng = np.random.default_rng(seed)
    means = rng.normal(scale=2.0, size=(n_classes, n_classes))
    true = np.concatenate([np.arange(n_classes), rng.integers(n_classes, size=n - n_classes)])
    true_use = rng.choice(n_classes, size=m, p=rng.dirichlet(np.ones(n_classes)))
    own = softmax(means[true] + rng.normal(size=(n, n_classes)))
    use = softmax(means[true_use] + rng.normal(size=(m, n_classes)))
    confusion = np.zeros((n_classes, n_classes))
    np.add.at(confusion, (own.argmax(axis=1), true), 1.0 / n)
    return EstimatorInput(
        confusion=confusion,
        predicted_share=np.bincount(use.argmax(axis=1), minlength=n_classes) / m,
        n_calibration=float(n),
        n_query=float(m),
        soft_confusion=own.T @ np.eye(n_classes)[true] / n,
        mean_probability=use.mean(axis=0),
        probability=use,
        mass=np.full(m, 1.0 / m),
        calibration_probability=own,
        calibration_true=true,
        calibration_mass=np.full(n, 1.0 / n),
    )


def softmax(values: Floats) -> Floats:
    raised = np.exp(values - values.max(axis=1, keepdims=True))
    return np.asarray(raised / raised.sum(axis=1, keepdims=True))


def slow_quadratic(curvature: Floats, linear: Floats) -> float:
    """The least value over every face of the simplex, one after the other."""
    n = len(linear)
    best = np.inf
    for size in range(1, n + 1):
        for chosen in itertools.combinations(range(n), size):
            block = curvature[np.ix_(chosen, chosen)]
            system = np.block(
                [[block, np.ones((size, 1))], [np.ones((1, size)), np.zeros((1, 1))]]
            )
            right = np.append(linear[list(chosen)], 1.0)
            x = np.zeros(n)
            x[list(chosen)] = np.linalg.lstsq(system, right, rcond=None)[0][:size]
            if (x >= -1e-12).all() and abs(x.sum() - 1.0) < 1e-9:
                best = min(best, float(0.5 * x @ curvature @ x - linear @ x))
    return best


@cases("entry", ESTIMATING)
@given(seed=seeds)
@settings(max_examples=20, deadline=None)
def test_shares_are_not_negative_and_sum_to_one(entry, seed: int) -> None:
    share = entry.estimate(evidence(seed)).share
    assert (share >= 0.0).all()
    assert share.sum() == pytest.approx(1.0, abs=1e-12)


@cases("entry", ESTIMATING)
@given(seed=seeds, order=st.permutations(range(4)))
@example(seed=121421, order=[0, 2, 1, 3])  # what rlls left unexplained was rounding
@settings(max_examples=10, deadline=None)
def test_renaming_classes_renames_their_shares(entry, seed: int, order: list[int]) -> None:
    # Tolerance: the criterion's own flatness; shares move by rounding over its curvature.
    found = evidence(seed)
    assert found.soft_confusion is not None and found.mean_probability is not None
    assert found.probability is not None and found.calibration_probability is not None
    assert found.calibration_true is not None
    permuted = EstimatorInput(
        confusion=found.confusion[np.ix_(order, order)],
        predicted_share=found.predicted_share[order],
        n_calibration=found.n_calibration,
        n_query=found.n_query,
        soft_confusion=found.soft_confusion[np.ix_(order, order)],
        mean_probability=found.mean_probability[order],
        probability=found.probability[:, order],
        mass=found.mass,
        calibration_probability=found.calibration_probability[:, order],
        calibration_true=np.argsort(order)[found.calibration_true],
        calibration_mass=found.calibration_mass,
    )
    plain = entry.estimate(found).share
    np.testing.assert_allclose(entry.estimate(permuted).share, plain[order], atol=1e-6)


@cases("entry", ESTIMATING)
def test_the_calibration_set_itself_shows_no_shift(entry) -> None:
    # For EM the probabilities must have the class's share as mean: one column each here.
    rows = np.repeat(np.array([[0.9, 0.1], [0.2, 0.8]]), 50, axis=0)
    true = np.array([0] * 45 + [1] * 5 + [0] * 10 + [1] * 40)
    confusion = np.array([[0.45, 0.05], [0.1, 0.4]])
    soft = rows.T @ np.eye(2)[true] / 100
    mass = np.full(100, 0.01)
    same = EstimatorInput(
        confusion=confusion,
        predicted_share=np.array([0.5, 0.5]),
        n_calibration=100.0,
        n_query=100.0,
        soft_confusion=soft,
        mean_probability=rows.mean(axis=0),
        probability=rows,
        mass=mass,
        calibration_probability=rows,
        calibration_true=true,
        calibration_mass=mass,
    )
    np.testing.assert_allclose(entry.estimate(same).share, [0.55, 0.45], atol=1e-8)


@pytest.mark.parametrize("unit", [1e-9, 1e6])
def test_the_unit_of_what_is_minimised_is_nothing(unit: float) -> None:
    rows = np.array([[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]])  # the first two are alike
    curvature, linear = rows.T @ rows, rows.T @ np.array([0.6, 0.4])
    share = quadratic_minimum(unit * curvature, unit * linear)
    np.testing.assert_allclose(share, [0.3, 0.3, 0.4], atol=1e-7)
    flat = estimators.flat_directions(unit * curvature)
    np.testing.assert_allclose(np.abs(flat[:, 0]), [np.sqrt(0.5), np.sqrt(0.5), 0.0], atol=1e-9)
    assert flat.shape == (3, 1)
    np.testing.assert_allclose(
        estimators.conditioned(unit * curvature) @ flat[:, 0] / unit, 2e-8 * flat[:, 0], atol=1e-14
    )


def test_bbse_solves_two_classes_as_by_hand() -> None:
    # P(pred 0 | 0) = .9, P(pred 0 | 1) = .2; predicted 0 in 55 %: .9 q + .2 (1−q) = .55, q = ½.
    found = estimators.least_squares(np.array([[0.9, 0.2], [0.1, 0.8]]), np.array([0.55, 0.45]))
    np.testing.assert_allclose(found.share, [0.5, 0.5], atol=1e-10)


def test_bbse_stops_at_zero_where_the_exact_solution_is_negative() -> None:
    # .9 q + .2 (1−q) = .15 has q = −1/14: no composition predicts class 0 so seldom.
    found = estimators.least_squares(np.array([[0.9, 0.2], [0.1, 0.8]]), np.array([0.15, 0.85]))
    assert found.share.tolist() == [0.0, 1.0]
    np.testing.assert_allclose(found.unbounded, [-1 / 14, 15 / 14], atol=1e-8)


@given(seed=seeds, n=st.integers(2, 6), rank=st.integers(1, 6))
@settings(max_examples=50, deadline=None)
def test_the_quadratic_minimum_is_that_of_the_best_face(seed: int, n: int, rank: int) -> None:
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(rank, n))  # less rows than shares: no unique minimum
    curvature, linear = rows.T @ rows, rows.T @ rng.normal(size=rank)
    x = quadratic_minimum(curvature, linear)
    assert (x >= 0).all() and x.sum() == pytest.approx(1.0)
    value = 0.5 * x @ curvature @ x - linear @ x
    # A flat direction is given a curvature of 1e-8 of the greatest.
    excess = 1e-8 * max(1.0, np.trace(curvature))
    assert value <= slow_quadratic(curvature, linear) + excess


@given(seed=seeds)
@settings(max_examples=15, deadline=None)
def test_the_likelihood_is_as_high_as_ten_thousand_steps_of_em_bring_it(seed: int) -> None:
    found = evidence(seed, n=60, m=50)
    assert found.probability is not None and found.mass is not None
    ratio = found.probability / found.prevalence
    fast = mixture_maximum(ratio, found.mass, found.prevalence)
    slow = found.prevalence
    for _ in range(10_000):
        part = ratio * slow
        slow = found.mass @ (part / part.sum(axis=1, keepdims=True))
    assert found.mass @ np.log(ratio @ fast) >= found.mass @ np.log(ratio @ slow) - 1e-12
    np.testing.assert_allclose(fast, slow, atol=2e-3)  # EM creeps towards a share of 0


def test_calibrated_probabilities_have_the_shares_as_means_and_the_least_loss() -> None:
    rng = np.random.default_rng(0)
    logs = np.log(rng.dirichlet(np.ones(3), size=500))
    true = np.array([rng.choice(3, p=row) for row in softmax(0.5 * logs + [0.0, 1.0, -1.0])])
    fitted = fit_bias_corrected(logs, true, np.ones(500), 3)
    p = probabilities(logs, fitted.slope, fitted.bias)
    np.testing.assert_allclose(p.mean(axis=0), np.bincount(true) / 500, atol=1e-9)
    loss = -np.log(p[np.arange(500), true]).mean()
    for change in (-0.01, 0.01):
        other = probabilities(logs, fitted.slope + change, fitted.bias)
        assert -np.log(other[np.arange(500), true]).mean() > loss


@given(seed=seeds)
@settings(max_examples=10, deadline=None)
def test_rlls_has_the_least_of_the_norms_of_its_paper(seed: int) -> None:
    # It had squared norms with another strength, and was six times as far off as the paper's.
    found = evidence(seed)
    rows, n = found.confusion, found.n_calibration
    bound = 0.03 * (2 * np.log(160) / (3 * n) + np.sqrt(2 * np.log(160) / n))

    def value(share: Floats) -> float:
        theta = share / found.prevalence - 1.0
        rest = rows @ (1.0 + theta) - found.predicted_share
        return float(np.linalg.norm(rest) + bound * np.linalg.norm(theta))

    share = estimators.regularised(found).share
    rng = np.random.default_rng(seed)
    for size in (1e-1, 1e-2, 1e-3):
        for _ in range(60):
            other = np.maximum(share + size * rng.normal(size=4), 0.0)
            assert value(share) <= value(other / other.sum()) + 1e-7


def test_where_families_are_few_probabilities_are_those_of_temperature_scaling() -> None:
    rng = np.random.default_rng(3)
    logs = np.log(rng.dirichlet(np.ones(3), size=900))
    # Class 2 borrows from the score of class 0: no temperature sees that.
    true = np.array([rng.choice(3, p=row) for row in softmax(logs + logs[:, [1, 1, 0]])])
    plain = fit_bias_corrected(logs, true, np.ones(900), 3)
    p = probabilities(logs, plain.slope, plain.bias)

    def off(families: float) -> tuple[float, float]:
        number = np.full(3, families / 3)
        model = fit_mapped(logs, true, np.ones(900), number, families)
        mapped = probabilities(model.mapped(logs), model.slope, model.bias)
        np.testing.assert_allclose(mapped.mean(axis=0), np.bincount(true) / 900, atol=1e-9)
        return float(np.abs(mapped - p).max()), -np.log(mapped[np.arange(900), true]).mean()

    few, many = off(9.0), off(9000.0)
    assert few[0] < 0.03 < 0.2 < many[0]
    assert many[1] < few[1] - 0.05


def test_fitting_the_temperature_ends_where_rounding_hides_the_rise() -> None:
    # It went on for 1,752 sums over all rows, 40 s, on half of a real table.
    rng = np.random.default_rng(4)
    logs = np.log(rng.dirichlet(np.full(11, 0.2), size=3000) + 1e-4)
    true = np.array([rng.choice(11, p=row) for row in softmax(0.7 * logs)])
    asked = 0
    original = fitting._likelihood

    def counted(*given: Any) -> float:
        nonlocal asked
        asked += 1
        return original(*given)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fitting, "_likelihood", counted)
        fit_bias_corrected(logs, true, np.ones(3000), 11)
    assert asked < 30


def test_a_class_that_calibration_does_not_hold_gets_no_probability() -> None:
    logs = np.log(np.random.default_rng(1).dirichlet(np.ones(3), size=50))
    fitted = fit_bias_corrected(logs, np.arange(50) % 2, np.ones(50), 3)
    p = probabilities(logs, fitted.slope, fitted.bias)
    assert (p[:, 2] == 0.0).all()
    np.testing.assert_allclose(p.sum(axis=1), 1.0)


def named(n: int) -> np.ndarray:
    return keys_of([f"p{row}" for row in range(n)])


@given(seed=seeds, cut=st.integers(1, 499))
@settings(max_examples=20, deadline=None)
def test_cells_do_not_depend_on_where_a_table_is_cut(seed: int, cut: int) -> None:
    rows, name = np.random.default_rng(seed).dirichlet(np.ones(3), size=500), named(500)
    whole = cells_of(rows, name, 60)
    parts = merged(cells_of(rows[:cut], name[:cut], 60), cells_of(rows[cut:], name[cut:], 60), 60)
    assert whole.n_steps == parts.n_steps
    assert len(whole.n_rows) <= 60
    assert whole.n_rows.sum() == 500
    np.testing.assert_array_equal(whole.n_rows, parts.n_rows)
    np.testing.assert_array_equal(whole.row, parts.row)
    np.testing.assert_array_equal(whole.at, parts.at)


def test_the_rows_that_are_kept_stand_for_all_without_bias() -> None:
    rows = np.random.default_rng(7).dirichlet([0.3, 0.5, 2.0], size=30_000)
    cells = cells_of(rows, named(30_000), 200)
    assert len(cells.row) < 12_000
    assert (np.bincount(cells.at, minlength=len(cells.key)) > 0).all()
    mass = cells.shared(cells.n_rows / 30_000)
    assert mass.sum() == pytest.approx(1.0)
    for value in (lambda r: r, lambda r: np.log(r @ [0.2, 0.1, 0.7])[:, None]):
        noise = value(rows).std(axis=0) / np.sqrt(len(cells.row))
        assert (np.abs(mass @ value(cells.row) - value(rows).mean(axis=0)) < 3 * noise).all()


def test_few_rows_are_kept_as_they_are_in_an_order_of_their_own() -> None:
    rows = np.random.default_rng(3).dirichlet(np.ones(3), size=20)
    order = np.random.default_rng(4).permutation(20)
    kept = cells_of(rows, named(20), 20)
    np.testing.assert_array_equal(np.sort(kept.row, axis=0), np.sort(rows, axis=0))
    np.testing.assert_array_equal(cells_of(rows[order], named(20)[order], 20).row, kept.row)
    twice = cells_of(np.concatenate([rows, rows]), named(40), 40)
    np.testing.assert_array_equal(twice.n_rows, 2)
    np.testing.assert_allclose(twice.shared(twice.n_rows / 40.0), 1 / 40)


def test_vectors_are_asked_for_where_an_estimator_needs_them() -> None:
    assert refusal(estimator_for, "em", False) == (
        "--estimator: 'em' needs the score of every class, each row summing to the scale. "
        "Give 'bbse_hard' or 'rlls'."
    )
    assert estimator_for("auto", False).name == "bbse_hard"
    assert estimator_for("auto", True).name == "em_matched"


def test_a_stated_composition_is_refused_with_all_that_is_wrong() -> None:
    assert refusal(stated_share, {"Portl": 0.5, "HTK": 0.5}, ("Portal", "HTJ"), "shift.json") == (
        "shift.json: there is no class 'Portl'. Did you mean 'Portal'?\n"
        "shift.json: there is no class 'HTK'. Did you mean 'HTJ'?"
    )
    with pytest.raises(InputError, match=r"the shares sum to nan\."):
        stated_share({"HTJ": float("nan")}, ("Portal", "HTJ"), "shift.json")
    assert (
        refusal(stated_share, {"Portal": 0.5, "HTJ": 0.4}, ("Portal", "HTJ"), "shift.json")
        == "shift.json: the shares sum to 0.9. Give shares that sum to 1."
    )
    for stated in ({"HTJ": 1.0}, {"HTJ": 1.0, "Portal": 0.0}):
        assert stated_share(stated, ("Portal", "HTJ"), "x").tolist() == [0.0, 1.0]
