from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from credence.calibrators import masses
from credence.calibrators.masses import Places, cluster_masses, draw_masses, places_of
from credence.calibrators.protocol import ClassSample
from credence.draws import cluster_weights

Make = Callable[..., ClassSample]


def families(sample_of: Make, seed: int, n: int = 200) -> ClassSample:
    rng = np.random.default_rng(seed)
    names = [f"f{code}" for code in rng.integers(n // 2, size=n)]
    score = np.round(rng.uniform(0, 10, n), 1)
    split = 3 * n // 4
    return sample_of(score[:split], score[split:], weight=rng.uniform(0.5, 2, n), cluster=names)


def test_drawn_masses_are_the_rows_times_the_weights_of_their_clusters(sample_of: Make) -> None:
    sample = families(sample_of, 1)
    places = places_of(sample)
    drawn = draw_masses(sample, places, 3)
    for draw in range(3):
        weight = sample.weight * cluster_weights(sample.cluster_key, draw)[sample.cluster]
        for place, score in enumerate(places.score):
            rows = sample.score == score
            right = weight[rows & sample.is_correct].sum()
            assert drawn.right[place, draw] == pytest.approx(right)
            assert drawn.wrong[place, draw] == pytest.approx(weight[rows].sum() - right)


def test_the_effective_number_adds_up_relatives_first(sample_of: Make) -> None:
    sample = families(sample_of, 2)
    places = places_of(sample)
    window = np.exp(-0.5 * ((np.array([[3.0], [8.0]]) - places.score) / 0.7) ** 2)
    found = cluster_masses(sample, places).effective_number(window)
    for row, point in enumerate((3.0, 8.0)):
        near = sample.weight * np.exp(-0.5 * ((point - sample.score) / 0.7) ** 2)
        mass = np.bincount(sample.cluster, weights=near)
        assert found[row] == pytest.approx(mass.sum() ** 2 / (mass**2).sum())


@pytest.mark.parametrize("block", [1, 7, 4_000_000])
def test_the_effective_number_does_not_depend_on_how_much_is_held_at_once(
    sample_of: Make, monkeypatch: pytest.MonkeyPatch, block: int
) -> None:
    sample = families(sample_of, 2)
    places = places_of(sample)
    window = (places.score >= np.array([[0.0], [5.0], [9.0]])).astype(np.float64)
    monkeypatch.setattr(masses, "MASSES_AT_ONCE", block)
    found = cluster_masses(sample, places).effective_number(window)
    mass = np.bincount(sample.cluster, weights=sample.weight * (sample.score >= 5.0))
    assert found[1] == pytest.approx(mass.sum() ** 2 / (mass**2).sum())


def test_many_scores_share_places_that_keep_order_and_mass(
    sample_of: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(masses, "MOST_PLACES", 40)
    rng = np.random.default_rng(3)
    sample = sample_of(10 * rng.beta(5, 1, 3000), [])
    places = places_of(sample)
    assert len(places.score) <= 40
    assert (np.diff(places.score) > 0).all()
    assert (sample.score >= places.lowest[places.of_row]).all()
    above = np.append(places.lowest[1:], np.inf)
    assert (sample.score < above[places.of_row]).all()
    mean = np.bincount(places.of_row, weights=sample.score) / np.bincount(places.of_row)
    np.testing.assert_allclose(places.score, mean, rtol=1e-12)


def test_shares_of_bundles_vary_as_those_of_clusters_do(
    sample_of: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(4)
    sample = sample_of(rng.uniform(0, 10, 4500), rng.uniform(0, 10, 1500))
    places = Places(of_row=np.zeros(6000, dtype=np.int64), lowest=np.zeros(1), score=np.zeros(1))
    for most in (10_000, 600):
        monkeypatch.setattr(masses, "MOST_UNITS", most)
        drawn = draw_masses(sample, places, 2000)
        share = drawn.right[0] / (drawn.right[0] + drawn.wrong[0])
        # The binomial's √(¾·¼/6000); 600 bundles know their own spread to 3 %.
        assert share.std() == pytest.approx(np.sqrt(0.75 * 0.25 / 6000), rel=0.12)
        assert share.mean() == pytest.approx(0.75, abs=0.001)
