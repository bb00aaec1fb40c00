"""Contract over the registry of metrics, naming none of them but its twin."""

from __future__ import annotations

import math
import re

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from credence.metrics.protocol import Metric
from credence.metrics.registry import BY_NAME, METRICS

confidences = st.lists(
    st.tuples(
        st.floats(0.0, 1.0),
        st.booleans(),
        st.floats(0.01, 100.0),
    ),
    min_size=1,
    max_size=30,
)


def slow_nll(confidence: float, is_correct: bool) -> float:
    said = confidence if is_correct else 1.0 - confidence
    return -math.log(min(max(said, 1e-15), 1.0 - 1e-15))


def slow_brier(confidence: float, is_correct: bool) -> float:
    return (confidence - (1.0 if is_correct else 0.0)) ** 2


def slow_accuracy(confidence: float, is_correct: bool) -> float:
    return 1.0 if is_correct else 0.0


TWINS = {"nll": slow_nll, "brier": slow_brier, "accuracy": slow_accuracy}


def arrays(rows: list[tuple[float, bool, float]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    confidence, is_correct, weight = zip(*rows, strict=True)
    return np.array(confidence), np.array(is_correct, dtype=bool), np.array(weight)


def test_every_metric_has_a_slow_twin_and_every_twin_a_metric() -> None:
    assert set(TWINS) == set(BY_NAME)


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)
class TestEveryMetric:
    @given(rows=confidences)
    @settings(max_examples=40, deadline=None)
    def test_it_is_the_weighted_mean_of_its_slow_twin(self, metric: Metric, rows: list) -> None:
        twin = TWINS[metric.name]
        expected = sum(w * twin(p, t) for p, t, w in rows) / sum(w for _, _, w in rows)
        assert metric.compute(*arrays(rows)) == pytest.approx(expected, rel=1e-12, abs=1e-14)

    @given(rows=confidences)
    @settings(max_examples=25, deadline=None)
    def test_each_row_twice_is_weight_two(self, metric: Metric, rows: list) -> None:
        confidence, is_correct, weight = arrays(rows)
        twice = metric.compute(np.tile(confidence, 2), np.tile(is_correct, 2), np.tile(weight, 2))
        assert twice == pytest.approx(
            metric.compute(confidence, is_correct, 2 * weight), rel=1e-12
        )

    def test_nothing_measured_is_nan(self, metric: Metric) -> None:
        assert math.isnan(metric.compute(np.empty(0), np.empty(0, dtype=bool), np.empty(0)))

    def test_its_name_is_plain_and_its_words_are_there(self, metric: Metric) -> None:
        assert re.fullmatch(r"[a-z][a-z0-9_]*", metric.name)
        assert metric.title
        assert metric.summary.endswith(".")
        assert metric.reference

    def test_a_share_has_losses_of_0_and_1_only(self, metric: Metric) -> None:
        losses = metric.losses(np.array([0.2, 0.2, 0.7]), np.array([True, False, True]))
        assert metric.is_share == bool(np.isin(losses, (0.0, 1.0)).all())
