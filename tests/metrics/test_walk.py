from __future__ import annotations

import math

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from credence.metrics.walk import (
    KOLMOGOROV_SMIRNOV,
    RANGE,
    SPIEGELHALTER,
    holm,
    observed,
    random_signs,
    signed_walks,
    statistics,
    walk_of,
    without_skewness,
)

rows_strategy = st.lists(
    st.tuples(
        st.one_of(st.sampled_from([0.0, 0.25, 0.5, 1.0]), st.floats(0.001, 0.999)),
        st.booleans(),
        st.floats(0.1, 10.0),
    ),
    min_size=1,
    max_size=25,
)


def slow_statistics(rows: list) -> dict[str, float]:
    """Walk through the groups of ties one by one."""
    total = sum(w for _, _, w in rows)
    path = [0.0]
    for value in sorted({s for s, _, _ in rows}):
        path.append(path[-1] + sum(w * (t - s) for s, t, w in rows if s == value) / total)
    scale = math.sqrt(sum(w**2 * s * (1 - s) for s, _, w in rows)) / total
    top = sum(w * (t - s) * (1 - 2 * s) for s, t, w in rows)
    bottom = math.sqrt(sum(w**2 * s * (1 - s) * (1 - 2 * s) ** 2 for s, _, w in rows))
    nan = float("nan")
    return {
        KOLMOGOROV_SMIRNOV: max(abs(c) for c in path) / scale if scale > 0 else nan,
        RANGE: (max(path) - min(path)) / scale if scale > 0 else nan,
        SPIEGELHALTER: top / bottom if bottom > 0 else nan,
    }


def arrays(rows: list) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    s, t, w = zip(*rows, strict=True)
    return np.array(s), np.array(t, dtype=bool), np.array(w)


@given(rows=rows_strategy)
@settings(max_examples=50, deadline=None)
def test_the_three_statistics_are_those_of_a_slow_walk(rows: list) -> None:
    got = observed(walk_of(*arrays(rows)))
    for name, expected in slow_statistics(rows).items():
        assert got[name] == pytest.approx(expected, rel=1e-9, abs=1e-9, nan_ok=True)


@given(rows=rows_strategy, seed=st.integers(0, 50))
@settings(max_examples=25, deadline=None)
def test_the_order_of_rows_is_nothing_ties_or_no_ties(rows: list, seed: int) -> None:
    order = np.random.default_rng(seed).permutation(len(rows))
    s, t, w = arrays(rows)
    got = observed(walk_of(s, t, w))
    assert observed(walk_of(s[order], t[order], w[order])) == pytest.approx(
        got, rel=1e-9, abs=1e-9, nan_ok=True
    )


def test_two_points_by_hand() -> None:
    # 0.2 wrong, 0.9 right: C = (0, -0.1, -0.05); sigma = sqrt(0.16 + 0.09)/2 = 0.25.
    got = observed(walk_of(np.array([0.9, 0.2]), np.array([True, False]), np.ones(2)))
    assert got[KOLMOGOROV_SMIRNOV] == pytest.approx(0.1 / 0.25)
    assert got[RANGE] == pytest.approx(0.1 / 0.25)
    # (-0.2)(0.6) + (0.1)(-0.8) = -0.2 over sqrt(0.16·0.36 + 0.09·0.64)
    assert got[SPIEGELHALTER] == pytest.approx(-0.2 / math.sqrt(0.0576 + 0.0576))


def test_a_walk_that_never_falls_below_0_has_its_start_as_its_lowest_point() -> None:
    # C = (0, 0.25, 0.5): without C_0 the range would be 0.25.
    got = observed(walk_of(np.array([0.5, 0.6]), np.array([True, True]), np.array([1.0, 1.25])))
    total = 2.25
    assert got[RANGE] == got[KOLMOGOROV_SMIRNOV]
    scale = math.sqrt(0.25 + 1.25**2 * 0.24) / total
    assert got[RANGE] == pytest.approx((0.5 + 1.25 * 0.4) / total / scale)


def test_confidences_of_0_and_1_alone_give_no_test() -> None:
    got = observed(walk_of(np.array([0.0, 1.0]), np.array([False, False]), np.ones(2)))
    assert all(math.isnan(value) for value in got.values())


def test_an_underconfident_model_is_far_out_on_spiegelhalters_other_side() -> None:
    # Says 0.8 and is always right: Z is far below 0, where a one-sided test sees nothing.
    got = observed(walk_of(np.full(200, 0.8), np.ones(200, dtype=bool), np.ones(200)))
    assert got[SPIEGELHALTER] < -5


def test_signs_turn_whole_clusters_over() -> None:
    walk = walk_of(np.array([0.3, 0.6, 0.6]), np.array([True, False, True]), np.ones(3))
    signs = np.array([[1, -1, -1], [1, 1, -1]], dtype=np.int8)  # two clusters, three draws
    drawn = signed_walks(walk, np.array([0, 0, 1]), signs)
    d = walk.difference
    expected = [[d[0], -d[0], -d[0]], [d[1] + d[2], -d[1] + d[2], -d[1] - d[2]]]
    assert drawn.steps == pytest.approx(np.array(expected))
    own = statistics(drawn.steps, drawn.tilted, walk)
    assert own[KOLMOGOROV_SMIRNOV][0] == pytest.approx(observed(walk)[KOLMOGOROV_SMIRNOV])
    assert own[KOLMOGOROV_SMIRNOV][2] == pytest.approx(observed(walk)[KOLMOGOROV_SMIRNOV])


def test_signs_are_keyed_to_the_clusters_and_even() -> None:
    keys = np.arange(50, dtype=np.uint64) * np.uint64(7919)
    signs = random_signs(keys, 400)
    assert set(np.unique(signs).tolist()) == {-1, 1}
    assert abs(signs.mean()) < 4 / math.sqrt(signs.size)
    assert (random_signs(keys[::-1], 400)[::-1] == signs).all()


def test_holm_by_hand() -> None:
    # Smallest times 3, next times 2 (0.04·2 = 0.08), the last at least as large as that.
    assert holm(np.array([0.05, 0.01, 0.04])).tolist() == pytest.approx([0.08, 0.03, 0.08])
    assert holm(np.array([0.5, 0.9])).tolist() == pytest.approx([1.0, 1.0])


def test_skewness_is_taken_off_by_halls_cubic() -> None:
    # D = (1, 1, 3): ΣD = 5, ΣD² = 11, ΣD³ = 29; t = 1.508, a = 29/11^1.5 = 0.795;
    # t + at²/3 + a²t³/27 + a/6 = 1.508 + 0.602 + 0.080 + 0.132 = 2.322.
    got = without_skewness(np.array([5.0]), 11.0, np.array([29.0]))
    assert got == pytest.approx([2.322], abs=1e-3)
    # Turned over it is turned over: a has the sign of the cubes.
    assert without_skewness(np.array([-5.0]), 11.0, np.array([-29.0])) == pytest.approx(-got)
    assert without_skewness(np.zeros(2), 0.0, np.zeros(2)).tolist() == [0.0, 0.0]


def test_spiegelhalters_signed_sums_carry_the_cubes_of_the_same_signs() -> None:
    walk = walk_of(np.array([0.3, 0.6, 0.7]), np.array([True, False, True]), np.ones(3))
    signs = np.array([[1, -1], [1, 1]], dtype=np.int8)
    drawn = signed_walks(walk, np.array([0, 0, 1]), signs)
    pull = walk.difference * walk.slope
    d = [pull[0] + pull[1], pull[2]]
    assert drawn.squares == pytest.approx(d[0] ** 2 + d[1] ** 2)
    assert drawn.cubes == pytest.approx([d[0] ** 3 + d[1] ** 3, -(d[0] ** 3) + d[1] ** 3])
    assert drawn.compared(walk)[SPIEGELHALTER] == pytest.approx(
        without_skewness(drawn.tilted, drawn.squares, drawn.cubes)
    )


def test_spiegelhalter_keeps_its_level_with_forty_skewed_families() -> None:
    rng = np.random.default_rng(3)
    n_rejected, n_sets = 0, 300
    for _ in range(n_sets):
        stated = np.round(rng.beta(3.0, 1.2, 40), 2)
        walk = walk_of(stated, rng.random(40) < stated, np.ones(40))
        signs = rng.choice(np.array([-1, 1], dtype=np.int8), (40, 199))
        everyone = np.arange(40)
        null = np.abs(signed_walks(walk, everyone, signs).compared(walk)[SPIEGELHALTER])
        ones = np.ones((40, 1), dtype=np.int8)
        own = abs(signed_walks(walk, everyone, ones).compared(walk)[SPIEGELHALTER][0])
        n_rejected += int((1 + (null >= own * (1 - 1e-9)).sum()) / 200 <= 0.05)
    # 15 of 300 are expected, with a standard error of 3.8; signs alone reject about 26.
    assert n_rejected <= 24


def test_walks_of_confidences_that_are_too_low_rise_by_what_is_missing() -> None:
    # Half of the weight at 0.3, half in a tie at 0.6; slopes 0.4 and -0.2.
    walk = walk_of(np.array([0.3, 0.6, 0.6]), np.array([True, False, True]), np.array([2.0, 1, 1]))
    signs = np.array([[1, -1], [1, 1]], dtype=np.int8)
    drawn = signed_walks(walk, np.array([0, 0, 1]), signs)
    moved = drawn.shifted(walk, 0.1)
    assert moved.steps - drawn.steps == pytest.approx(np.full((2, 2), 0.05))
    assert moved.tilted - drawn.tilted == pytest.approx([0.05 * (0.4 - 0.2)] * 2)
    assert (moved.squares, moved.cubes.tolist()) == (drawn.squares, drawn.cubes.tolist())
