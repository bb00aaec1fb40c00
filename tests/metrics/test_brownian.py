"""Tails of Brownian motion: two series, simulation, and numbers of MAPIE."""

from __future__ import annotations

import numpy as np
import pytest

from credence.metrics import walk
from credence.metrics.walk import (
    KOLMOGOROV_SMIRNOV,
    RANGE,
    distance_tail,
    normal_tails,
    observed,
    range_tail,
    walk_of,
)

# Value, 1 − kolmogorov_smirnov_cdf, 1 − kuiper_cdf.
MAPIE_LAWS = [
    (0.2, 0.9999999999999487, 1.0),
    (0.5, 0.9908430097102392, 0.9999999122222775),
    (0.9, 0.7223861962720839, 0.9758461092134897),
    (1.3, 0.3870095531270109, 0.7009759935516352),
    (1.49, 0.2724328279476472, 0.5219308962168074),
    (1.5, 0.26721521438306095, 0.5129407542302482),
    (1.51, 0.26207505161846145, 0.5040224776349187),
    (2.0, 0.09100052384636614, 0.18149433939418735),
    (2.5, 0.024838661302977183, 0.04967273618182466),
    (2.99, 0.005579548941965995, 0.011159080032928204),
    (3.0, 0.005399592126516972, 0.010799168467638398),
    (3.01, 0.005224953795073595, 0.010449893636790053),
    (4.0, 0.00012668496727774592, 0.00025336993465507884),
]
MAPIE_ONE_SIDED = 0.1348399881655999
MAPIE_TIED = 0.316227782699884


@pytest.mark.parametrize("value", [1.2, 1.5, 2.0, 2.8, 3.0, 3.2])
def test_both_series_agree_where_either_could_be_used(
    value: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(walk, "MEETING", 100.0)
    first = distance_tail(value), range_tail(value)
    monkeypatch.setattr(walk, "MEETING", 0.0)
    assert (distance_tail(value), range_tail(value)) == pytest.approx(first, abs=1e-13)


def test_the_tails_are_those_of_simulated_walks() -> None:
    rng = np.random.default_rng(5)
    path = np.cumsum(rng.standard_normal((4000, 1000)), axis=1) / np.sqrt(1000)
    top, bottom = np.maximum(path.max(axis=1), 0), np.minimum(path.min(axis=1), 0)
    # Walks of 1000 steps miss the top between steps by about 0.58/√1000 each.
    missed = 0.5826 / np.sqrt(1000)
    for value in (1.0, 1.5, 2.0):
        far = np.maximum(top, -bottom) > value - missed
        wide = top - bottom > value - 2 * missed
        assert far.mean() == pytest.approx(distance_tail(value), abs=0.03)
        assert wide.mean() == pytest.approx(range_tail(value), abs=0.03)


def test_nothing_is_beyond_0_and_everything_is_beyond_nothing() -> None:
    assert (distance_tail(0.0), range_tail(0.0)) == (1.0, 1.0)
    assert distance_tail(40.0) == range_tail(40.0) == 0.0
    assert normal_tails(0.0) == 1.0


class TestAgainstMapie:
    """Numbers of MAPIE 1.6.0, printed by `python -m benchmarks.mapie_tests --numbers`."""

    @pytest.mark.parametrize(("value", "distance", "width"), MAPIE_LAWS)
    def test_the_laws_agree(self, value: float, distance: float, width: float) -> None:
        assert distance_tail(value) == pytest.approx(distance, abs=1e-9)
        assert range_tail(value) == pytest.approx(width, abs=1e-9)

    def test_the_statistics_agree_without_ties_on_a_walk_on_both_sides(self) -> None:
        number = np.arange(1, 301)
        score = np.sort((number * 0.6180339887498949) % 1.0 * 0.98 + 0.01)
        right = (number * 0.7548776662466927) % 1.0 < score
        right[0], right[1] = True, False
        got = observed(walk_of(score, right, np.ones(300)))
        assert (got[KOLMOGOROV_SMIRNOV], got[RANGE]) == pytest.approx(
            (0.5427860705848166, 0.9242476961687492), abs=1e-9
        )

    def test_kuiper_differs_where_the_walk_stays_on_one_side(self) -> None:
        # C = (0, 0.05, 0.075): MAPIE leaves out C_0 = 0 and so loses the first step.
        ours = observed(walk_of(np.array([0.9, 0.95]), np.ones(2, dtype=bool), np.ones(2)))[RANGE]
        scale = np.sqrt(0.9 * 0.1 + 0.95 * 0.05) / 2
        assert ours == pytest.approx(0.075 / scale)
        # MAPIE's; its noise of 1e-8 is in it.
        assert (0.075 - 0.05) / scale == pytest.approx(MAPIE_ONE_SIDED, abs=1e-6)

    def test_statistics_differ_where_scores_are_tied(self) -> None:
        # Half right among ties at 0.5: the walk is at 0 where ties end; within them, in an
        # order that its noise decides, MAPIE's is not: it gave MAPIE_TIED.
        score, right = np.full(10, 0.5), np.array([1.0] * 5 + [0.0] * 5)
        ours = observed(walk_of(score, right > 0, np.ones(10)))[KOLMOGOROV_SMIRNOV]
        assert ours < 1e-12 < MAPIE_TIED
