"""Logistic curves: Jeffreys' prior, held ends, robust bands; and Platt's columns."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, special, stats
from sklearn.linear_model import LogisticRegression

from class_samples import sample_of
from credence.calibrators.logit_curve import (
    Line,
    LogitCurve,
    Platt,
    by_score,
    firth,
    weighted_quantiles,
)
from credence.calibrators.protocol import ClassSample, FitOptions
from credence.calibrators.score_logs import share_bounds
from credence.confidence import Note
from credence.predictions import Floats

OPTIONS = FitOptions()


def drawn(seed: int, n_samples: int = 80) -> ClassSample:
    rng = np.random.default_rng(seed)
    score = rng.uniform(2, 10, n_samples).round(2)
    correct = rng.random(n_samples) < special.expit(score - 6)
    weight = rng.choice([0.5, 1.0, 2.0], n_samples)
    return sample_of(
        score, correct.astype(float), weight, rng.integers(30, size=n_samples).tolist()
    )


def test_the_constant_alone_is_the_share_with_jeffreys_prior() -> None:
    # (2.5 + ½)/(4 + 1)
    constant = firth(np.ones((3, 1)), np.array([1.0, 1.0, 2.0]), np.array([0.0, 1.0, 1.5]))
    assert special.expit(constant[0]) == pytest.approx(0.6, abs=1e-14)


def test_two_scores_give_each_its_own_share_with_half_a_row_of_either_kind() -> None:
    # Saturated: Jeffreys' prior factors, so 7 of 10 and 2 of 10 give 7.5/11 and 2.5/11.
    sample = sample_of([2.0] * 10 + [8.0] * 10, [1] * 2 + [0] * 8 + [1] * 7 + [0] * 3)
    curve = Platt().fit_curve(sample)
    np.testing.assert_allclose(curve.value(np.array([2.0, 8.0])), [2.5 / 11, 7.5 / 11], atol=1e-12)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("on", ["score", "logit"])
def test_the_fit_is_that_of_a_general_optimiser(seed: int, on: str) -> None:
    sample = drawn(seed, 25)
    share = sample.score / 10
    column = share if on == "score" else special.logit(np.clip(share, 0.0005, 0.9995))

    def loss(point: Floats) -> float:
        log_odds = point[0] + point[1] * column
        signed = np.where(sample.is_correct, log_odds, -log_odds)
        spread = sample.weight * special.expit(log_odds) * special.expit(-log_odds)
        design = np.stack([np.ones(25), column], axis=1)
        determinant = np.linalg.det((design.T * spread) @ design)
        return float(-(sample.weight * special.log_expit(signed)).sum() - np.log(determinant) / 2)

    slow = optimize.minimize(loss, np.zeros(2), method="Nelder-Mead", options={"xatol": 1e-9})
    curve = Platt(on=on).fit_curve(sample)
    np.testing.assert_allclose(curve.coefficients, slow.x, atol=1e-5)


def test_with_many_rows_it_is_the_likelihoods_maximum() -> None:
    sample = drawn(1, 20_000)
    peer = LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000)
    peer.fit((sample.score / 10)[:, None], sample.is_correct, sample.weight)
    expected = peer.predict_proba(np.array([[0.3], [0.9]]))[:, 1]
    curve = Platt().fit_curve(sample)
    # Half a row of prior in 20,000.
    np.testing.assert_allclose(curve.value(np.array([3.0, 9.0])), expected, atol=2e-4)


def test_scores_that_separate_right_from_wrong_keep_a_finite_slope() -> None:
    curve = Platt().fit_curve(sample_of(np.arange(12.0) * 0.8, [0] * 6 + [1] * 6))
    value = curve.value(np.array([0.0, 8.8]))
    assert 0 < value[0] < 0.1 and 0.9 < value[1] < 1
    assert np.isfinite(curve.coefficients).all()


def test_a_score_that_never_varies_gives_the_share() -> None:
    curve = Platt().fit_curve(sample_of([7.0] * 11, [1] * 8 + [0] * 3))
    np.testing.assert_allclose(curve.value(np.array([7.0])), 8.5 / 12, atol=1e-12)
    band = Platt().fit_band(sample_of([7.0] * 11, [1] * 8 + [0] * 3), curve, OPTIONS)
    assert 0 < band.lower[0] < 8.5 / 12 < band.upper[0] < 1


def test_outside_the_scores_seen_the_ends_are_held_with_a_note() -> None:
    curve = Platt().fit_curve(drawn(3))
    value = curve.value(np.array([0.0, curve.low, curve.high, 11.0]))
    assert value[0] == value[1] and value[2] == value[3]
    notes = curve.note(np.array([0.0, curve.low, curve.high, 11.0])).tolist()
    assert notes == [Note.BELOW_RANGE, 0, 0, Note.ABOVE_RANGE]


def test_logits_of_0_and_of_the_scale_are_floored_at_half_a_step() -> None:
    low, high = share_bounds(0.01, 10.0)
    columns = Line(scale=10.0, is_logit=True, low=low, high=high).columns(
        np.array([0.0, 5.0, 10.03])
    )
    expected = [special.logit(0.0005), 0.0, special.logit(0.9995)]
    np.testing.assert_allclose(columns[:, 1], expected, rtol=1e-12, atol=1e-15)
    low, high = share_bounds(0.0, 1.0)  # a step that is not known
    columns = Line(scale=1.0, is_logit=True, low=low, high=high).columns(np.array([0.0, 1.0]))
    assert np.isfinite(columns).all()


@settings(max_examples=20, deadline=None, derandomize=True)
@given(seed=st.integers(0, 10_000), on=st.sampled_from(["score", "logit"]))
def test_each_row_twice_is_weight_2(seed: int, on: str) -> None:
    once = drawn(seed)
    rows = np.repeat(np.arange(80), 2)
    twice = sample_of(
        once.score[rows], once.is_correct[rows], once.weight[rows], once.cluster[rows].tolist()
    )
    heavy = sample_of(once.score, once.is_correct, 2 * once.weight, once.cluster.tolist())
    first, second = Platt(on=on).fit_curve(twice), Platt(on=on).fit_curve(heavy)
    np.testing.assert_allclose(first.value(once.score), second.value(once.score), atol=1e-11)
    bands = [
        Platt(on=on).fit_band(one, curve, OPTIONS)
        for one, curve in ((twice, first), (heavy, second))
    ]
    np.testing.assert_allclose(bands[0].lower, bands[1].lower, atol=1e-9)
    np.testing.assert_allclose(bands[0].upper, bands[1].upper, atol=1e-9)


def test_the_band_is_the_textbooks_delta_method() -> None:
    # No relatives, weight 1: the jackknife is HC3, residuals over 1 - leverage (MacKinnon &
    # White 1985); X'X sums by hand, the larger of robust and implied.
    rng = np.random.default_rng(0)
    score = rng.uniform(2, 10, 60)
    correct = rng.random(60) < special.expit(score - 6)
    sample = sample_of(np.sort(score), correct[np.argsort(score)])
    curve = Platt().fit_curve(sample)
    design = np.stack([np.ones(60), sample.score / 10], axis=1)
    right = curve.value(sample.score)
    information = np.linalg.inv((design.T * (right * (1 - right))) @ design)
    leverage = right * (1 - right) * np.einsum("np,pq,nq->n", design, information, design)
    pull = design * ((right - sample.is_correct) / (1 - leverage))[:, None]
    robust = information @ (pull.T @ pull) @ information * 59 / 60
    band = Platt().fit_band(sample, curve, OPTIONS)
    at = np.stack([np.ones(len(band.score)), band.score / 10], axis=1)
    variance = np.maximum(
        np.einsum("np,pq,nq->n", at, robust, at), np.einsum("np,pq,nq->n", at, information, at)
    )
    reach = stats.t.ppf(0.975, 58) * np.sqrt(variance)
    log_odds = special.logit(curve.value(band.score))
    # A thousandth of every cluster stays in, so that something is left of a class of one.
    np.testing.assert_allclose(band.lower, special.expit(log_odds - reach), rtol=1e-3)
    np.testing.assert_allclose(band.upper, special.expit(log_odds + reach), rtol=1e-3)


def test_equal_scores_are_merged_with_their_weights() -> None:
    score, weight, right = by_score(sample_of([3, 3, 5], [1, 0, 1], np.array([1.0, 2.0, 4.0])))
    assert score.tolist() == [3, 5] and weight.tolist() == [3, 4] and right.tolist() == [1, 4]


def test_quantiles_follow_the_weights() -> None:
    found = weighted_quantiles(
        np.array([1.0, 2.0, 3.0]), np.array([1.0, 1.0, 8.0]), np.array([0.1, 0.15, 0.25, 1.0])
    )
    assert found.tolist() == [1, 2, 3, 3]


def test_a_column_that_repeats_another_gets_no_coefficient() -> None:
    score = np.arange(10.0)
    columns = np.stack([np.ones(10), score, 2 * score + 1], axis=1)
    right = np.array([0.0, 0, 1, 0, 0, 1, 1, 0, 1, 1])
    coefficients = firth(columns, np.ones(10), right)
    assert coefficients[2] == 0
    np.testing.assert_allclose(coefficients[:2], firth(columns[:, :2], np.ones(10), right))


def test_the_curve_is_frozen_data() -> None:
    curve = Platt().fit_curve(drawn(0))
    assert isinstance(curve, LogitCurve)
    with pytest.raises(AttributeError):
        curve.low = 0.0  # type: ignore[misc]


@pytest.mark.parametrize("seed", range(3))
def test_without_safeguards_the_fit_is_plain_logistic_regression(seed: int) -> None:
    sample = drawn(seed)
    curve = Platt(safeguards=False).fit_curve(sample)
    plain = LogisticRegression(C=np.inf, tol=1e-12, max_iter=1000).fit(
        sample.score[:, None] / 10, sample.is_correct, sample.weight
    )
    expected = plain.predict_proba(sample.score[:, None] / 10)[:, 1]
    np.testing.assert_allclose(curve.value(sample.score), expected, rtol=0, atol=1e-6)
    assert np.abs(Platt().fit_curve(sample).value(sample.score) - expected).max() > 1e-4


def test_without_safeguards_scores_that_separate_right_from_wrong_keep_the_prior() -> None:
    sample = sample_of([1.0, 2.0, 3.0, 7.0, 8.0, 9.0], [0, 0, 0, 1, 1, 1])
    curves = [Platt(safeguards=word).fit_curve(sample) for word in (True, False)]
    assert curves[0].coefficients == pytest.approx(curves[1].coefficients)
