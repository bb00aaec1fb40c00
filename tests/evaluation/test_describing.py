from __future__ import annotations

import numpy as np
import pytest

from credence.evaluation.curves import N_CURVE, reliability_of
from credence.evaluation.describing import confusion_of
from credence.evaluation.judging import HELD_OUT_SAMPLE, EvaluationOptions, Stated
from credence.predictions import Labelled, from_scores, label


def labelled_of(scores: np.ndarray, true: np.ndarray, cluster=None, weight=None) -> Labelled:  # type: ignore[no-untyped-def]
    ids = np.array([f"p{k}" for k in range(len(scores))], dtype=object)
    names = tuple("ABC"[: scores.shape[1]])
    return label(from_scores(ids, names, scores, 1.0, 0.0), true, weight, cluster)


def test_confusion_counts_and_shares_by_hand() -> None:
    scores = np.array([[0.9, 0.1, 0], [0.8, 0.2, 0], [0.1, 0.9, 0], [0.7, 0.3, 0]])
    true = np.array([0, 1, 1, 0])
    counts, given_true, given_predicted = confusion_of(
        labelled_of(scores, true, weight=np.array([1.0, 1.0, 2.0, 1.0]))
    )
    assert counts == ((2, 0, 0), (1, 1, 0), (0, 0, 0))
    assert given_true[1][:2] == (pytest.approx(1 / 3), pytest.approx(2 / 3))
    assert given_predicted[0][0] == pytest.approx(2 / 3)  # Conf1 of A
    assert given_predicted[1][1] == 1.0
    assert np.isnan(given_true[2]).all()
    assert np.isnan([row[2] for row in given_predicted]).all()


def test_a_diagram_has_bins_band_curve_and_counts() -> None:
    rng = np.random.default_rng(4)
    n = 2000
    stated = rng.uniform(0.5, 1.0, n)
    labelled = labelled_of(
        np.column_stack([stated, 1 - stated]), (rng.random(n) > stated).astype(int)
    )
    options = EvaluationOptions(n_draws=50)
    (found,) = reliability_of(
        labelled, None, {("m", HELD_OUT_SAMPLE): Stated(confidence=stated)}, options
    )
    assert sum(found.counts) == sum(found.bins.n) == n
    for number in range(5, 10):
        low, high = found.band_lower[number], found.band_upper[number]
        assert low < found.bins.mean[number] < high
        # Two standard errors of a share of 400, either way.
        spread = 2 * 1.96 * np.sqrt(found.bins.mean[number] * (1 - found.bins.mean[number]) / 400)
        assert high - low == pytest.approx(spread, rel=0.35)
    assert np.isnan(found.band_lower[:4]).all()
    at = (np.arange(N_CURVE) + 0.5) / N_CURVE
    curve = np.array(found.curve)
    inner = (at > 0.6) & (at < 0.9)
    # About 2000 · 2 · 0.033 · √π = 230 proteins bear each point: three standard errors.
    assert np.abs(curve[inner] - at[inner]).max() < 0.1
    assert np.isnan(curve[at < 0.3]).all()
