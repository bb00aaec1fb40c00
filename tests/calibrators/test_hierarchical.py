"""The hierarchical curve beside its slow twin: dense matrices and a minimiser of others."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import integrate, optimize, special, stats

from credence.calibrators import hierarchical
from credence.calibrators.method_spec import parse_method
from credence.calibrators.protocol import FitOptions
from credence.confidence import Note
from credence.predictions import Labelled, Predictions, label

OPTIONS = FitOptions(n_draws=2)


@pytest.fixture(scope="module")
def world(worlds: SimpleNamespace) -> Labelled:
    drawn: Labelled = worlds.draw(seed=11)
    return label(drawn.predictions, drawn.true_class)


def of_scores(class_: list[int], score: list[float], is_right: list[bool]) -> Labelled:
    """Return labelled predictions of three classes that have a top score alone."""
    predicted = np.array(class_, dtype=np.int64)
    predictions = Predictions(
        ids=np.arange(len(class_)).astype(str).astype(object),
        class_names=("A", "B", "C"),
        scale=1.0,
        resolution=0.01,
        predicted_class=predicted,
        top_score=np.array(score),
        is_distribution=False,
    )
    true_class = np.where(is_right, predicted, (predicted + 1) % 3)
    return label(predictions, true_class)


def slow_answer(
    labelled: Labelled, class_: int, score: float, misfit: float
) -> tuple[float, float, float]:
    """Return value and ends of the interval for a class and score, by dense algebra."""
    predictions = labelled.predictions
    half_step = predictions.resolution / 2.0 / predictions.scale
    share = np.clip(predictions.top_score / predictions.scale, half_step, 1.0 - half_step)
    logit = special.logit(share)
    centre, unit = logit.mean(), logit.std()
    x = (logit - centre) / unit
    known = np.unique(predictions.predicted_class)
    place = np.searchsorted(known, predictions.predicted_class)
    member = np.equal(place[:, None], np.arange(len(known))).astype(float)
    design = np.hstack([np.ones((len(x), 1)), x[:, None], member, member * x[:, None]])
    target = labelled.is_correct.astype(float)
    at = (
        special.logit(np.clip(score / predictions.scale, half_step, 1 - half_step)) - centre
    ) / unit
    own = np.equal(known, class_).astype(float)
    row = np.concatenate([[1.0, at], own, own * at])
    parts = []
    for first, second in product(hierarchical.INTERCEPT_SPREADS, hierarchical.SLOPE_SPREADS):
        spreads = [10.0, 3.0, *[first] * len(known), *[second] * len(known)]
        precision = np.array(spreads) ** -2.0

        def loss(point: np.ndarray, precision: np.ndarray = precision) -> float:
            linear = design @ point
            likelihood = (np.logaddexp(0.0, linear) - target * linear).sum()
            return float(likelihood + 0.5 * precision @ point**2)

        def slope(point: np.ndarray, precision: np.ndarray = precision) -> np.ndarray:
            return design.T @ (special.expit(design @ point) - target) + precision * point

        found = optimize.minimize(
            loss, np.zeros(design.shape[1]), jac=slope, method="BFGS", options={"gtol": 1e-9}
        ).x
        p = special.expit(design @ found)
        hessian = (design.T * (p * (1.0 - p))) @ design + np.diag(precision)
        evidence = -loss(found) + 0.5 * np.log(precision).sum()
        evidence -= 0.5 * np.linalg.slogdet(hessian)[1]
        parts.append((evidence, row @ found, row @ np.linalg.inv(hessian) @ row))
    evidences, means, variances = np.array(parts).T
    chance = special.softmax(evidences)
    mean = chance @ means
    deviation = np.sqrt(chance @ (variances + (means - mean) ** 2))
    normal = stats.norm(mean, deviation)
    value = integrate.quad(
        lambda u: special.expit(u) * normal.pdf(u), mean - 9 * deviation, mean + 9 * deviation
    )[0]
    # What is no such curve is a second normal error of the log odds.
    return value, *special.expit(stats.norm(mean, np.hypot(deviation, misfit)).interval(0.95))


def test_the_curve_is_that_of_a_dense_fit(world: Labelled) -> None:
    fitted = parse_method("hierarchical(sees=score)", "test").build(OPTIONS).fit(world)
    predictions = world.predictions.at_scores(np.arange(3), np.array([9.0, 6.0, 4.5]))
    found = fitted.confidence(predictions)
    assert (found.support > 3.0).all()  # nothing opens
    for class_, score in enumerate(predictions.top_score):
        expected = slow_answer(world, class_, float(score), fitted.by_score.misfit)
        ends = (found.value[class_], found.lower[class_], found.upper[class_])
        # Normal quantiles and BFGS leave about this.
        np.testing.assert_allclose(ends, expected, rtol=0, atol=1e-6)


def test_what_is_no_logistic_curve_widens_the_interval() -> None:
    rng = np.random.default_rng(8)
    score = rng.uniform(0.05, 0.95, 6_000)
    class_ = (np.arange(6_000) % 3).tolist()
    is_curve = rng.random(6_000) < score
    is_wave = rng.random(6_000) < np.where(np.abs(score - 0.5) < 0.2, 0.9, 0.2)
    misfits = [
        parse_method("hierarchical", "test")
        .build(OPTIONS)
        .fit(of_scores(class_, score.tolist(), is_right.tolist()))
        .by_score.misfit
        for is_right in (is_curve, is_wave)
    ]
    assert misfits[0] < 0.3 and misfits[1] > 0.8


@pytest.mark.parametrize("is_right", [True, False])
def test_nothing_speaks_against_an_end_that_all_outcomes_are_at(is_right: bool) -> None:
    rng = np.random.default_rng(6)
    score = rng.uniform(0.4, 0.99, 400)
    class_ = np.arange(400) % 3
    outcome = np.where(class_ == 0, is_right, rng.random(400) < score)
    labelled = of_scores(class_.tolist(), score.tolist(), outcome.tolist())
    fitted = parse_method("hierarchical", "test").build(OPTIONS).fit(labelled)
    found = fitted.confidence(labelled.predictions.at_scores(np.arange(3), np.full(3, 0.7)))
    assert (found.upper == 1.0).tolist() == [is_right, False, False]
    assert (found.lower == 0.0).tolist() == [not is_right, False, False]


def test_a_relative_counts_by_what_it_tells() -> None:
    # Three of one family with ρ = ½, and one alone: 1 / (1 + ½ · 2) and 1.
    found = hierarchical.independent_weight(np.ones(4), np.array([0, 0, 0, 1]), 0.5)
    np.testing.assert_array_equal(found, [0.5, 0.5, 0.5, 1.0])


def test_families_all_alike_count_once_and_strangers_each(world: Labelled) -> None:
    rng = np.random.default_rng(3)
    n_families, size = 120, 5
    right = rng.random(n_families) < 0.7
    rows = np.repeat(np.arange(n_families), size)
    score = rng.uniform(0.4, 0.99, len(rows))
    alike = of_scores((rows % 3).tolist(), score.tolist(), right[rows].tolist())
    relatives = replace(alike, cluster=rows.astype(str).astype(object))
    asked = alike.predictions.at_scores(np.arange(3), np.full(3, 0.7))
    fit = parse_method("hierarchical", "test").build(OPTIONS).fit
    assert fit(relatives).by_score.correlation == pytest.approx(1.0, abs=0.1)
    assert fit(alike).by_score.correlation == 0.0
    wide, narrow = (fit(part).by_score.log_odds(asked)[1] for part in (relatives, alike))
    # √5 in the log odds; the spread between classes is the same in both.
    assert (wide > 1.4 * narrow).all() and (wide < 2.5 * narrow).all()


def test_a_class_never_predicted_is_answered_by_what_all_share() -> None:
    rng = np.random.default_rng(5)
    score = rng.uniform(0.4, 0.99, 400)
    is_right = rng.random(400) < score
    known = of_scores((np.arange(400) % 2).tolist(), score.tolist(), is_right.tolist())
    fitted = parse_method("hierarchical", "test").build(OPTIONS).fit(known)
    found = fitted.confidence(known.predictions.at_scores(np.arange(3), np.full(3, 0.9)))
    assert found.note.tolist() == [0, 0, int(Note.UNSEEN_CLASS)]
    width = found.upper - found.lower
    # Of two classes' spread little is known; the mean over it is a little nearer to ½.
    assert abs(found.value[2] - found.value[:2].mean()) < 0.06
    assert width[2] > 2.0 * width[:2].max()


def test_where_no_scores_are_known_a_class_is_pulled_towards_the_share_of_all() -> None:
    n = np.array([200, 200, 4])
    class_ = np.repeat([0, 1, 2], n)
    is_right = np.concatenate([np.arange(k) < round(0.8 * k) for k in (200, 200)] + [np.zeros(4)])
    known = of_scores(class_.tolist(), np.ones(404).tolist(), (is_right > 0).tolist())
    bare = replace(known, predictions=replace(known.predictions, top_score=None))
    found = (
        parse_method("hierarchical", "test").build(OPTIONS).fit(bare).confidence(bare.predictions)
    )
    value = found.value[[0, 200, 400]]
    np.testing.assert_allclose(value[:2], 0.8, rtol=0, atol=0.01)
    assert 0.1 < value[2] < 0.7  # Jeffreys' prior alone gives 0.1


def test_weights_count_as_so_many_proteins(world: Labelled) -> None:
    fit = parse_method("hierarchical", "test").build(OPTIONS).fit
    doubled = replace(world, weight=2.0 * world.weight)
    first, second = (fit(part).confidence(world.predictions) for part in (world, doubled))
    np.testing.assert_allclose(first.value, second.value, rtol=0, atol=1e-9)
    np.testing.assert_allclose(first.lower, second.lower, rtol=0, atol=1e-9)
