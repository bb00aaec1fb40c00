"""The sandwich: by hand for a share, and its guards."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse, stats

from credence.calibrators.newton import (
    Terms,
    covariances,
    critical_value,
    inverse,
    sums_by_code,
    twins_of,
    variance_clusters,
)
from credence.calibrators.protocol import FitOptions
from credence.draws import effective_clusters


def terms_of_a_share(cluster: list[int], is_correct: list[int]) -> tuple[Terms, np.ndarray]:
    """Return what rows contribute to the log-odds of a share, and its curvature."""
    right = np.array(is_correct, dtype=np.float64)
    share = right.mean()
    n_samples = len(right)
    code = np.array(cluster)
    terms = Terms(
        gradient=sparse.csr_array(np.ones((n_samples, 1))),
        first=(share - right) / n_samples,
        implied=np.full(n_samples, np.sqrt(share * (1 - share))) / n_samples,
        expected=np.full(n_samples, share * (1 - share)) / n_samples,
        cluster=code,
        twin=twins_of(code, np.zeros(n_samples, dtype=np.int64), np.arange(n_samples) * 1.0),
    )
    return terms, np.array([[share * (1 - share)]])


def test_the_variance_of_a_share_of_strangers_is_the_textbooks() -> None:
    # Var logit p̂ = 1/(n p (1-p)) = 1/(4 · ¼) = 1, times G/(G-1) = 4/3 in the robust one
    terms, curvature = terms_of_a_share([0, 1, 2, 3], [1, 1, 0, 0])
    robust, implied = covariances(terms, curvature, curvature)  # type: ignore[misc]
    assert robust[0, 0] == pytest.approx(4 / 3, rel=3e-3) and implied[0, 0] == pytest.approx(1.0)


def test_relatives_that_agree_count_once() -> None:
    # Two families of two that agree: 1/(2 · ¼) = 2, times G/(G-1) = 2
    terms, curvature = terms_of_a_share([0, 0, 1, 1], [1, 1, 0, 0])
    robust, _ = covariances(terms, curvature, curvature)  # type: ignore[misc]
    assert robust[0, 0] == pytest.approx(4.0, rel=5e-3)


def test_a_heavy_family_counts_for_what_the_fit_without_it_would_say() -> None:
    # Of five, three are one family. Leaving a cluster out moves the log-odds by its summed
    # residuals over the curvature of the rest, 0.24 a row: (3 · 0.4)/0.48, 0.6/0.96, 0.6/0.96.
    terms, curvature = terms_of_a_share([0, 0, 0, 1, 2], [1, 1, 1, 0, 0])
    robust, _ = covariances(terms, curvature, curvature)  # type: ignore[misc]
    shifts = np.array([1.2 / 0.48, 0.6 / 0.96, 0.6 / 0.96])
    assert robust[0, 0] == pytest.approx((shifts**2).sum() * 2 / 3, rel=5e-3)


def test_residuals_of_zero_leave_the_implied_variance() -> None:
    terms, curvature = terms_of_a_share([0, 1], [1, 0])
    silent = replace(terms, first=np.zeros(2))
    robust, implied = covariances(silent, curvature, curvature)  # type: ignore[misc]
    assert robust[0, 0] == 0 and implied[0, 0] == pytest.approx(2.0)


def test_twins_of_a_cluster_share_class_and_score() -> None:
    cluster = np.array([0, 0, 0, 0, 1])
    run = np.array([0, 0, 1, 0, 0])
    score = np.array([5.0, 5.0, 5.0, 6.0, 5.0])
    twin = twins_of(cluster, run, score)
    assert twin[0] == twin[1]
    assert len(set(twin.tolist())) == 4


def test_rows_are_added_up_by_code_before_they_are_squared() -> None:
    gradient = sparse.csr_array(np.array([[1.0, 0.0], [0.0, 2.0], [3.0, 0.0]]))
    gram = sums_by_code(gradient, np.array([1.0, 1.0, -1.0]), np.array([0, 0, 1]))
    # rows (1, 2) and (-3, 0)
    np.testing.assert_array_equal(gram, [[1 + 9, 2], [2, 4]])


def test_the_inverse_is_numpys_and_refuses_what_is_not_positive_definite() -> None:
    matrix = np.array([[2.0, 0.5], [0.5, 1e-6]])
    assert inverse(matrix) is None  # 0.25 > 2e-6: indefinite
    matrix = np.array([[2.0, 0.5], [0.5, 1.0]])
    np.testing.assert_allclose(inverse(matrix), np.linalg.inv(matrix), rtol=1e-13)
    assert inverse(np.array([[np.inf]])) is None
    assert inverse(np.zeros((1, 1))) is None


def test_an_indefinite_curvature_gives_way_to_the_expected_one() -> None:
    terms, curvature = terms_of_a_share([0, 1], [1, 0])
    given = covariances(terms, -curvature, curvature)
    np.testing.assert_array_equal(given, covariances(terms, curvature, curvature))
    assert covariances(terms, -curvature, -curvature) is None


def test_without_an_expected_curvature_the_plain_sandwich_counts_clusters_less_one() -> None:
    # Four strangers: 1/(4 · ¼) = 1, times G/(G-1) = 4/3; two families that agree: 2 · 2
    for cluster, expected in (([0, 1, 2, 3], 4 / 3), ([0, 0, 1, 1], 4.0)):
        terms, curvature = terms_of_a_share(cluster, [1, 1, 0, 0])
        robust, _ = covariances(terms, curvature, 0 * curvature)  # type: ignore[misc]
        assert robust[0, 0] == pytest.approx(expected, rel=1e-12)


def test_few_clusters_reach_further_out_and_never_on_less_than_one_degree() -> None:
    options = FitOptions(level=0.9)
    assert critical_value(11, 1, options) == pytest.approx(stats.t.ppf(0.95, 10))
    assert critical_value(2, 5, options) == pytest.approx(stats.t.ppf(0.95, 1))


def test_a_heavy_cluster_counts_for_most_of_the_effective_number() -> None:
    # masses 8, 1, 1: 100/66
    number = effective_clusters(np.array([0, 1, 2]), np.array([8.0, 1.0, 1.0]))
    assert number == pytest.approx(100 / 66)


def test_the_clusters_behind_a_variance_are_fewer_the_more_relatives_agree() -> None:
    # Ten single rows and a family of ten. ρ = 0: variances as masses; ρ = 1: as their squares.
    cluster = np.array([0] * 10 + list(range(1, 11)))
    weight = np.full(20, 0.3)
    assert variance_clusters(cluster, weight, 0.5) == pytest.approx(20**2 / 110)
    assert variance_clusters(cluster, weight, np.inf) == pytest.approx(110**2 / (100**2 + 10))
    # Mean square mass over mean mass is 5.5: an effect of 1 + 4.5/2 is ρ = ½, the family's 55.
    half = variance_clusters(cluster, weight, 3.25)
    assert half == pytest.approx((55 + 10) ** 2 / (55**2 + 10))
    assert variance_clusters(np.arange(4), np.ones(4), 2.0) == pytest.approx(4.0)
