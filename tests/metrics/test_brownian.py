"""Tails of Brownian motion: two series, simulation, and MAPIE where it is installed."""

from __future__ import annotations

import numpy as np
import pytest

from credence.metrics import brownian
from credence.metrics.brownian import distance_tail, normal_tails, range_tail
from credence.metrics.walk import DISTANCE, RANGE, observed, walk_of

VALUES = [0.2, 0.5, 0.9, 1.3, 1.49, 1.5, 1.51, 2.0, 2.5, 2.99, 3.0, 3.01, 4.0]


@pytest.mark.parametrize("value", [1.2, 1.5, 2.0, 2.8, 3.0, 3.2])
def test_both_series_agree_where_either_could_be_used(
    value: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(brownian, "MEETING", 100.0)
    first = distance_tail(value), range_tail(value)
    monkeypatch.setattr(brownian, "MEETING", 0.0)
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
    """MAPIE is no dependency: these run where it happens to be installed."""

    @pytest.fixture
    def mapie(self):  # type: ignore[no-untyped-def]
        return pytest.importorskip(
            "mapie.metrics.calibration", reason="mapie is not installed here: not compared"
        )

    @pytest.mark.parametrize("value", VALUES)
    def test_the_laws_agree(self, mapie, value: float) -> None:  # type: ignore[no-untyped-def]
        assert 1 - mapie.kolmogorov_smirnov_cdf(value) == pytest.approx(
            distance_tail(value), abs=1e-9
        )
        assert 1 - mapie.kuiper_cdf(value) == pytest.approx(range_tail(value), abs=1e-9)

    def sample(self) -> tuple[np.ndarray, np.ndarray]:
        rng = np.random.default_rng(8)
        score = np.unique(rng.uniform(0.01, 0.99, 500))
        right = rng.random(len(score)) < score
        right[0], right[1] = True, False
        return score, right

    def test_the_statistics_agree_without_ties_on_a_walk_on_both_sides(self, mapie) -> None:  # type: ignore[no-untyped-def]
        score, right = self.sample()
        # MAPIE moves scores by 1e-8 at random to break ties, which moves its statistics as far;
        # its walk is asked for without that.
        path = mapie.cumulative_differences(right.astype(float), score, noise_amplitude=0.0)
        scale = mapie.length_scale(score)
        assert path.min() < 0 < path.max()
        got = observed(walk_of(score, right, np.ones(len(score))))
        assert np.abs(path).max() / scale == pytest.approx(got[DISTANCE], abs=1e-9)
        assert (path.max() - path.min()) / scale == pytest.approx(got[RANGE], abs=1e-9)
        assert mapie.kuiper_statistic(right.astype(float), score) == pytest.approx(
            got[RANGE], abs=1e-6
        )

    def test_kuiper_differs_where_the_walk_stays_on_one_side(self, mapie) -> None:  # type: ignore[no-untyped-def]
        # C = (0, 0.05, 0.1): MAPIE leaves out C_0 = 0 and so loses the first step.
        score, right = np.array([0.9, 0.95]), np.array([1.0, 1.0])
        ours = observed(walk_of(score, right > 0, np.ones(2)))[RANGE]
        assert mapie.kuiper_statistic(right, score) < 0.5 * ours

    def test_statistics_differ_where_scores_are_tied(self, mapie) -> None:  # type: ignore[no-untyped-def]
        # Half right among ties at 0.5: the walk is at 0 where ties end; within them it is not.
        score, right = np.full(10, 0.5), np.array([1.0] * 5 + [0.0] * 5)
        assert observed(walk_of(score, right > 0, np.ones(10)))[DISTANCE] < 1e-12
        assert mapie.kolmogorov_smirnov_statistic(right, score) > 0.1
