"""Contract over the registry of metrics: each beside its slow, obvious twin."""

from __future__ import annotations

import importlib.util
import math
import re
from dataclasses import replace
from pathlib import Path

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from credence.metrics.all_metrics import METRICS
from credence.metrics.metric import ACCURACY, BRIER, Judged, Metric, loss_cells

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
    return Judged(
        confidence=np.array(p),
        is_correct=np.array(t, dtype=bool),
        weight=np.array(w),
        score=np.array(p),
    )


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
        nothing = Judged(
            confidence=np.empty(0),
            is_correct=np.empty(0, dtype=bool),
            weight=np.empty(0),
            score=np.empty(0),
        )
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
        confidence=np.array(table).max(axis=1),
        is_correct=best == np.array(true),
        weight=np.array(weight),
        probabilities=np.array(table),
        true_class=np.array(true),
    )
    expected = slow.of_classes(table, true, weight, metric.name)
    assert metric.compute(own) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("metric", VECTOR, ids=name_of)
def test_errors_of_vectors_are_not_invented_where_there_is_none(metric: Metric) -> None:
    assert math.isnan(metric.compute(judged([(0.5, True, 1.0)])))


def drawn(seed: int, n: int, classes: int = 3) -> Judged:
    """Return proteins of different weights, with a vector each."""
    rng = np.random.default_rng(seed)
    vector = rng.dirichlet(np.ones(classes), n)
    true = rng.integers(0, classes, n)
    top = vector.max(axis=1)
    is_correct = vector.argmax(axis=1) == true
    return Judged(
        confidence=top,
        is_correct=is_correct,
        weight=rng.choice([1.0, 2.0, 4.0], n),
        score=top,
        probabilities=vector,
        true_class=true,
    )


IN_CELLS = [metric for metric in METRICS if metric.family is not None]


@pytest.mark.parametrize("metric", IN_CELLS, ids=name_of)
def test_blocks_side_by_side_have_the_values_that_each_has_alone(metric: Metric) -> None:
    assert metric.family is not None
    blocks = [drawn(1, 40), drawn(2, 90), drawn(3, 15)]
    sums, alone = [], []
    for block in blocks:
        cells = metric.family.cells(block)
        assert cells is not None
        sums.append(cells.sums(block.weight))
        alone.append(metric.compute(block))
    sums.append(np.zeros_like(sums[0]))  # a class that nothing is predicted to be in
    n_effective = np.array([block.n_effective for block in blocks] + [0.0])
    together = np.stack(sums, axis=1)  # channels, blocks, cells
    if metric.finish is not None:
        found = metric.finish(together, n_effective)
        assert found[:3].tolist() == pytest.approx(alone, abs=5e-7)
        assert math.isnan(found[3])
        found = metric.finish(together.reshape(len(together), 2, 2, -1), n_effective.reshape(2, 2))
        assert found.ravel()[:3].tolist() == pytest.approx(alone, abs=5e-7)
    if metric.over_classes is not None:
        # Classes, then draws: the second draw has the classes in another order.
        draws = np.stack([together, together[:, ::-1]], axis=2)
        mean = metric.over_classes(draws, np.stack([n_effective, n_effective[::-1]], axis=1))
        weight = together[0].sum(axis=-1)[:3]
        by_hand = (
            np.mean(alone) if metric.name == "ece_top_label" else alone @ weight / sum(weight)
        )
        assert mean.tolist() == pytest.approx([by_hand, by_hand], abs=1e-12)
    if metric.noise is not None:
        found = metric.noise(together, n_effective)
        apart = [metric.noise(one, n) for one, n in zip(sums[:3], n_effective, strict=False)]
        assert found[:3].tolist() == pytest.approx([float(one) for one in apart], abs=1e-12)
        assert min(apart) > 0


@pytest.mark.parametrize("metric", IN_CELLS, ids=name_of)
def test_a_family_is_fixed_where_no_other_protein_moves_a_cell(metric: Metric) -> None:
    assert metric.family is not None
    both = drawn(4, 60)
    few = both.take(np.arange(30))
    cells, part = metric.family.cells(both), metric.family.cells(few)
    assert cells is not None
    assert part is not None
    same = np.array_equal(cells.cell[cells.row < 30], part.cell)
    # SCE's cells are fixed too, but it is counted with the vectors, which are few.
    assert metric.family.is_fixed == (same and not metric.needs_vector)


def test_what_the_metrics_promise() -> None:
    """Noise floors, signs and units on the page follow from these."""
    found = {
        flag: {metric.name for metric in METRICS if getattr(metric, flag)}
        for flag in ("is_share", "is_error", "is_square", "is_signed", "needs_vector")
    }
    assert found == {
        "is_share": {"accuracy"},
        "is_error": {
            *("ece", "ece2", "ece_count", "ece2_count", "ece_top_label"),
            *("ece_top_label_weighted", "mce", "ece_debiased", "ece_smooth", "ece_kernel"),
            *("area", "sce", "ace", "tace", "calibration"),
        },
        "is_square": {"sharpness", "calibration"},
        "is_signed": {"gap", "remainder"},
        "needs_vector": {"sce", "ace", "tace"},
    }
    for metric in METRICS:
        judged = [drawn(seed, 20) for seed in range(20)]
        judged += [replace(one, confidence=one.confidence / 4) for one in judged]
        values = [metric.compute(one) for one in judged]
        assert (min(values) < 0) == metric.is_signed, metric.name


def test_losses_in_one_cell_by_hand() -> None:
    # Right at 0.8, wrong at 0.6, weights 3 and 1: 4; squares 3·0.04 + 0.36; 3 right.
    own = Judged(
        confidence=np.array([0.8, 0.6]),
        is_correct=np.array([True, False]),
        weight=np.array([3.0, 1.0]),
    )
    cells = loss_cells((BRIER, ACCURACY), own)
    assert cells.n_cells == 1
    assert cells.sums(own.weight) == pytest.approx(np.array([[4.0], [0.48], [3.0]]))


def test_kishs_number_by_hand() -> None:
    # (3 + 1)² / (9 + 1)
    own = Judged(
        confidence=np.array([0.8, 0.6]),
        is_correct=np.array([True, False]),
        weight=np.array([3.0, 1.0]),
    )
    assert own.n_effective == 1.6
    assert own.take(np.array([False, False])).n_effective == 0.0
    assert own.take(np.array([0])).n_samples == 1


def test_rows_are_taken_from_every_column() -> None:
    own, rows = drawn(5, 6), np.array([4, 1])
    taken = own.take(rows)
    for name in ("confidence", "is_correct", "weight", "score", "probabilities", "true_class"):
        assert np.array_equal(getattr(taken, name), getattr(own, name)[rows]), name
    bare = Judged(confidence=own.confidence, is_correct=own.is_correct, weight=own.weight).take(
        rows
    )
    assert (bare.score, bare.probabilities, bare.true_class) == (None, None, None)
