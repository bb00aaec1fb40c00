"""The study of MACEst's claims: its pieces on numbers that can be counted."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from verification.ensembles import pooled
from verification.macest import Sets, rank_correlation, rows_of, with_error


def test_a_confidence_in_the_order_of_the_trust_score_correlates_perfectly() -> None:
    trust = np.linspace(0.5, 3.0, 50)
    assert rank_correlation(trust**2, trust) == "1.000 ± 0.000"
    assert rank_correlation(-trust, trust) == "-1.000 ± 0.000"


def test_the_error_is_two_standard_errors_of_a_mean() -> None:
    values = np.random.default_rng(0).normal(size=400)
    mean, _, error = with_error(lambda rows: float(values[rows].mean()), 400).split()
    assert float(mean) == round(float(values.mean()), 3)
    # 2/√400 = 0.1; 200 resamples give it to some 5 %.
    assert 0.08 < float(error) < 0.12


def test_macest_says_little_of_noise_far_from_all_digits_and_a_curve_of_the_score_does_not() -> (
    None
):
    rng = np.random.default_rng(1)
    n = 240
    digits = rng.integers(0, 3, n)
    logits = rng.normal(size=(1, n, 3))
    logits[0, np.arange(n), digits] += 3.0
    whole = pooled(logits, digits)
    place = np.eye(3)[digits] * 5.0 + rng.normal(size=(n, 3)) * 0.3
    place[200:] = 60.0 + rng.normal(size=(40, 3))
    whole = replace(whole, predictions=replace(whole.predictions, places=place))
    row = np.arange(n)
    sets = Sets(
        first=whole.take(row < 120),
        second=whole.take((row >= 120) & (row < 200)),
        noise=whole.take(row >= 200),
        trust=rng.uniform(size=80),
        trust_noise=rng.uniform(size=40),
    )
    far, curve = rows_of(sets, {"MACEst": "macest", "isotonic": "isotonic"})
    assert far["mean confidence, noise"] < 0.6 < far["mean confidence, digits"]
    assert curve["mean confidence, noise"] > 0.7
    assert far["KS to MACEst, noise"] == 0.0
    assert curve["KS to MACEst, noise"] > 0.5
