from __future__ import annotations

import numpy as np
import pytest

from credence.calibrators.method_spec import parse_method
from credence.calibrators.protocol import FitOptions
from credence.evaluation.two_sets import first_half, measure_halves, summarise_draws
from credence.predictions import Labelled, from_scores, label


def world(n: int = 600, seed: int = 3) -> Labelled:
    rng = np.random.default_rng(seed)
    top = rng.uniform(0.4, 1.0, n)
    predicted = rng.integers(0, 2, n)
    scores = np.where(np.arange(2) == predicted[:, None], top[:, None], 1 - top[:, None])
    scores = np.where(np.arange(2) == predicted[:, None], scores.max(axis=1)[:, None], 0.0)
    ids = np.array([f"p{k}" for k in range(n)], dtype=object)
    predictions = from_scores(ids, ("A", "B"), scores, 1.0, 0.0, is_distribution=False)
    right = rng.random(n) < top
    cluster = np.array([f"c{k // 3}" for k in range(n)], dtype=object)
    return label(predictions, np.where(right, predicted, 1 - predicted), cluster=cluster)


def calibrators(*names: str) -> dict:
    return {name: parse_method(name, "t").build(FitOptions(n_draws=0)) for name in names}


def test_halves_share_no_cluster_and_each_class_is_halved() -> None:
    labelled = world()
    for draw in range(5):
        inside = first_half(labelled, draw)
        assert not set(labelled.cluster[inside]) & set(labelled.cluster[~inside])
        for class_ in range(2):
            own = labelled.predictions.predicted_class == class_
            assert 0.4 < inside[own].mean() < 0.6


def test_each_draw_halves_anew_and_order_is_nothing() -> None:
    labelled = world()
    first = first_half(labelled, 0)
    assert (first != first_half(labelled, 1)).any()
    order = np.random.default_rng(0).permutation(labelled.n_samples)
    assert (first_half(labelled.take(order), 0) == first[order]).all()


def test_the_fitted_half_flatters_what_can_memorise() -> None:
    labelled = world()
    methods = calibrators("class_only", "isotonic")
    rows = summarise_draws([measure_halves(labelled, methods, draw) for draw in range(15)])
    nll = {row.method: row for row in rows if row.class_name is None and row.metric == "nll"}
    assert nll["isotonic"].flattery > 0.02
    assert nll["isotonic"].flattery > nll["class_only"].flattery
    assert nll["isotonic"].n_draws == 15


def test_medians_by_hand() -> None:
    draws = [
        {("m", None, "nll"): (1.0, 2.0)},
        {("m", None, "nll"): (2.0, 2.5)},
        {("m", None, "nll"): (3.0, 5.0)},
        {("m", None, "nll"): (3.0, float("nan"))},
    ]
    (row,) = summarise_draws(draws)
    assert (row.in_sample, row.held_out, row.flattery, row.n_draws) == (2.0, 2.5, 1.0, 3)
    # Differences 0.5, 1, 2: the 5 % quantile is a tenth of the way from the first to the second.
    assert (row.lower, row.upper) == pytest.approx((0.55, 1.9))
