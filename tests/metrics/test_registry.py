"""Contract over the registry of metrics: each beside its slow, obvious twin."""

from __future__ import annotations

import importlib.util
import math
import re
from pathlib import Path

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from credence.metrics.all_metrics import METRICS
from credence.metrics.metric import Judged, Metric

SPEC = importlib.util.spec_from_file_location("slow", Path(__file__).parent / "slow.py")
assert SPEC is not None and SPEC.loader is not None
slow = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(slow)

# Confidences with ties, ends and bin edges among them; half of them anything.
confidence = st.one_of(st.sampled_from([0.0, 0.2, 1 / 3, 0.4, 0.8, 1.0]), st.floats(0.0, 1.0))
rows_of_any_weight = st.lists(
    st.tuples(confidence, st.booleans(), st.floats(0.01, 100.0)), min_size=1, max_size=25
)
# Weights whose sums are exact, where a rounded sum could move a protein to the next bin.
rows_of_round_weight = st.lists(
    st.tuples(confidence, st.booleans(), st.sampled_from([1.0, 2.0, 4.0])), min_size=1, max_size=25
)
PLAIN = [metric for metric in METRICS if not metric.needs_vector]
VECTOR = [metric for metric in METRICS if metric.needs_vector]
# The smooth error is found by a search to 1e-7 here and to 2^-24 there.
TOLERANCE = {"ece_smooth": 5e-7}


def judged(rows: list) -> Judged:
    p, t, w = zip(*rows, strict=True)
    return Judged(np.array(p), np.array(t, dtype=bool), np.array(w), score=np.array(p))


def name_of(metric: Metric) -> str:
    return metric.name


def test_every_metric_has_a_slow_twin_and_every_twin_a_metric() -> None:
    assert set(slow.TWINS) == {metric.name for metric in PLAIN}
    assert {metric.name for metric in VECTOR} == {"sce", "ace", "tace"}


@pytest.mark.parametrize("metric", PLAIN, ids=name_of)
class TestEveryMetric:
    @given(rows=rows_of_round_weight)
    @settings(max_examples=25, deadline=None)
    def test_it_is_its_slow_twin(self, metric: Metric, rows: list) -> None:
        expected = slow.TWINS[metric.name](rows)
        tolerance = TOLERANCE.get(metric.name, 1e-9)
        # A root of nearly nothing turns rounding of 1e-17 into 1e-9.
        assert metric.compute(judged(rows)) == pytest.approx(expected, abs=max(tolerance, 1e-8))

    @given(rows=rows_of_any_weight)
    @settings(max_examples=15, deadline=None)
    def test_each_row_twice_is_weight_two(self, metric: Metric, rows: list) -> None:
        if metric.name in ("ece_debiased", "ece_kernel"):
            return  # they ask how many proteins there are, and there are twice as many
        once = judged([(p, t, 2 * w) for p, t, w in rows])
        twice = judged([*rows, *rows])
        assert metric.compute(twice) == pytest.approx(metric.compute(once), abs=1e-6)

    @given(rows=rows_of_round_weight, seed=st.integers(0, 100))
    @settings(max_examples=15, deadline=None)
    def test_the_order_of_rows_is_nothing(self, metric: Metric, rows: list, seed: int) -> None:
        order = np.random.default_rng(seed).permutation(len(rows))
        own = judged(rows)
        assert metric.compute(own.take(order)) == pytest.approx(metric.compute(own), abs=1e-7)

    def test_nothing_measured_is_nan(self, metric: Metric) -> None:
        nothing = Judged(np.empty(0), np.empty(0, dtype=bool), np.empty(0), score=np.empty(0))
        assert math.isnan(metric.compute(nothing))

    def test_its_name_is_plain_and_its_words_are_there(self, metric: Metric) -> None:
        assert re.fullmatch(r"[a-z][a-z0-9_]*", metric.name)
        assert metric.title
        assert metric.summary.endswith(".")
        assert metric.reference

    def test_a_share_has_losses_of_0_and_1_only(self, metric: Metric) -> None:
        if metric.losses is None:
            assert not metric.is_share
            return
        losses = metric.losses(np.array([0.2, 0.2, 0.7]), np.array([True, False, True]))
        assert metric.is_share == bool(np.isin(losses, (0.0, 1.0)).all())

    def test_an_error_is_0_where_shares_are_the_confidences(self, metric: Metric) -> None:
        if not metric.is_error or metric.name == "ece_kernel":
            return  # the kernel error compares with a smoothed curve, whose bias is no 0
        rows = [(0.5, True, 1.0), (0.5, False, 1.0), (1.0, True, 3.0), (0.0, False, 2.0)]
        assert metric.compute(judged(rows)) == pytest.approx(0.0, abs=1e-12)


vectors = st.lists(
    st.tuples(
        st.tuples(*[st.integers(0, 8)] * 3).filter(any),
        st.integers(0, 2),
        st.sampled_from([1.0, 2.0, 4.0]),
    ),
    min_size=1,
    max_size=20,
)


@pytest.mark.parametrize("metric", VECTOR, ids=name_of)
@given(rows=vectors)
@settings(max_examples=25, deadline=None)
def test_errors_of_vectors_are_their_slow_twin(metric: Metric, rows: list) -> None:
    table = [[value / sum(counts) for value in counts] for counts, _, _ in rows]
    true, weight = [y for _, y, _ in rows], [w for _, _, w in rows]
    best = np.array(table).argmax(axis=1)
    own = Judged(
        np.array(table).max(axis=1),
        best == np.array(true),
        np.array(weight),
        probabilities=np.array(table),
        true_class=np.array(true),
    )
    expected = slow.of_classes(table, true, weight, metric.name)
    assert metric.compute(own) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("metric", VECTOR, ids=name_of)
def test_errors_of_vectors_are_not_invented_where_there_is_none(metric: Metric) -> None:
    assert math.isnan(metric.compute(judged([(0.5, True, 1.0)])))
