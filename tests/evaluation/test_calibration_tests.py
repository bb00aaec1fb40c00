from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from credence.evaluation.calibration_tests import calibration_tests
from credence.findings import CalibrationTest
from credence.metrics.walk import distance_tail
from credence.predictions import Labelled, Predictions, label


def families(n: int, size: int, seed: int, shift: float = 0.0) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(seed)
    stated = np.round(rng.uniform(0.2, 0.9, n), 2)
    right = rng.random(n) < stated - shift
    cluster = np.repeat(np.array([f"f{k}" for k in range(n)], dtype=object), size)
    return np.repeat(stated, size), np.repeat(right, size), cluster


def labelled(block: np.ndarray, right: np.ndarray, cluster: np.ndarray) -> Labelled:
    names = np.arange(len(block)).astype(str).astype(object)
    predictions = Predictions(
        ids=names,
        class_names=("A", "B", "C", "D"),
        scale=1.0,
        resolution=0.0,
        predicted_class=block,
    )
    return label(predictions, np.where(right, block, (block + 1) % 4), cluster=cluster)


def run(
    stated: np.ndarray, right: np.ndarray, cluster: np.ndarray, n_signs: int = 199
) -> list[CalibrationTest]:
    block = np.zeros(len(stated), dtype=np.int64)
    found = calibration_tests("m", labelled(block, right, cluster), stated, n_signs)
    return [entry for entry in found if entry.class_name == "A"]


def test_relatives_fool_the_asymptotic_test_and_not_the_cluster_one() -> None:
    by_cluster, independent = [], []
    for seed in range(60):
        ks = run(*families(60, 5, seed))[0]
        by_cluster.append(ks.p_value <= 0.05)
        independent.append(ks.p_independent <= 0.05)
    assert np.mean(by_cluster) <= 0.15  # 0.05 and 3.5 standard errors of 60 sets
    assert np.mean(independent) >= 0.35  # decision 0011: a third to three quarters of the time


def test_spiegelhalters_test_can_look_for_too_extreme_confidences_alone_as_mapies_does() -> None:
    rng = np.random.default_rng(4)
    true = rng.uniform(0.2, 0.8, 2000)
    right = rng.random(2000) < true
    block, cluster = np.zeros(2000, dtype=np.int64), np.arange(2000).astype(str).astype(object)
    cases = {"too extreme": 0.5 + 1.6 * (true - 0.5), "too timid": 0.5 + 0.4 * (true - 0.5)}
    p_values = {}
    for name, stated in cases.items():
        given = labelled(block, right, cluster)
        one, two = (
            next(
                entry
                for entry in calibration_tests("m", given, stated, 199, one_sided=one_sided)
                if entry.test == test and entry.class_name is None
            )
            for test, one_sided in (("spiegelhalter_one_sided", True), ("spiegelhalter", False))
        )
        assert one.statistic == two.statistic
        # MAPIE 0.9.2: spiegelhalter_p_value is 1 - norm.cdf(statistic), so one side alone
        slope = 1.0 - 2.0 * stated
        by_hand = ((right - stated) * slope).sum() / np.sqrt(
            (slope**2 * stated * (1.0 - stated)).sum()
        )
        assert one.statistic == pytest.approx(by_hand, rel=1e-9)
        assert one.p_independent == pytest.approx(norm.sf(by_hand), rel=1e-9)
        p_values[name] = one.p_value, two.p_value
    assert p_values["too extreme"] == (1 / 200, 1 / 200)
    assert p_values["too timid"] == (1.0, 1 / 200)


def test_badly_wrong_confidences_are_found() -> None:
    # Spiegelhalter's sum weighs a shift by 1 − 2s, which averages to nearly nothing here.
    for entry in run(*families(150, 2, 1, shift=0.3))[:2]:
        assert entry.p_value == pytest.approx(1 / 200)
        assert entry.p_adjusted == entry.p_value  # one class
        assert (entry.n, entry.n_clusters) == (300, 150)


def test_power_grows_with_families_and_not_with_copies() -> None:
    few, copied, many = (
        run(*families(n, size, 3))[0].power for n, size in ((60, 1), (60, 20), (1500, 1))
    )
    assert few < 0.5 < 0.9 < many
    assert copied == pytest.approx(few, abs=0.05)


def test_holm_is_over_the_classes_of_one_test_and_leaves_out_all() -> None:
    stated, right, cluster = families(200, 1, 5, shift=0.12)
    found = calibration_tests("m", labelled(np.arange(200) % 4, right, cluster), stated)
    for test in {entry.test for entry in found}:
        own = [entry for entry in found if entry.test == test]
        p = sorted(entry.p_value for entry in own if entry.class_name is not None)
        least = next(e for e in own if e.class_name is not None and e.p_value == p[0])
        assert least.p_adjusted == pytest.approx(min(1.0, 4 * p[0]))
        assert np.isnan(next(e for e in own if e.class_name is None).p_adjusted)


def test_a_class_that_is_always_right_is_not_called_off_for_it() -> None:
    # Of 42 such sets 0.988**42 = 0.6 have no mistake: nothing speaks against 0.988.
    cluster = np.array([f"f{k}" for k in range(42)], dtype=object)
    for entry in run(np.full(42, 0.988), np.ones(42, dtype=bool), cluster):
        assert entry.p_value == entry.p_independent > 0.4
        assert np.isnan(entry.power)
    # 0.5**42 have none where a half is stated; and one family shows nothing.
    half = run(np.full(42, 0.5), np.ones(42, dtype=bool), cluster)[0]
    assert half.p_value == pytest.approx(1 / 200)
    one = run(np.full(42, 0.5), np.ones(42, dtype=bool), np.full(42, "f", dtype=object))[0]
    assert one.p_value == 1.0


def test_no_scale_no_test() -> None:
    for entry in run(np.ones(8), np.ones(8, dtype=bool), np.arange(8).astype(str).astype(object)):
        assert np.isnan([entry.statistic, entry.p_value, entry.p_independent, entry.power]).all()


def test_without_draws_only_the_asymptotic_law_is_left() -> None:
    ks = run(*families(50, 1, 2), n_signs=0)[0]
    assert np.isnan([ks.p_value, ks.p_adjusted, ks.power]).all()
    assert ks.p_independent == distance_tail(ks.statistic)


def test_rows_in_another_order_give_the_same_p_values() -> None:
    stated, right, cluster = families(80, 3, 9)
    order = np.random.default_rng(0).permutation(len(stated))
    for one, other in zip(
        run(stated, right, cluster), run(stated[order], right[order], cluster[order]), strict=True
    ):
        assert (one.p_value, one.power) == (other.p_value, other.power)


def test_confidences_that_are_missing_are_left_out() -> None:
    stated, right, cluster = families(80, 1, 9)
    gaps = stated.copy()
    gaps[:20] = np.nan
    kept = run(stated[20:], right[20:], cluster[20:])
    got = run(gaps, right, cluster)
    assert [(e.statistic, e.p_value, e.n) for e in got] == [
        (e.statistic, e.p_value, e.n) for e in kept
    ]
