from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from credence.calibrators.protocol import ClassSample, FitOptions
from credence.calibrators.shares import Histogram, bin_of
from credence.confidence import Note

Make = Callable[..., ClassSample]


def test_bins_are_open_on_the_left_and_the_first_is_closed_at_0(sample_of: Make) -> None:
    # Two bins over (0, 10]: 0 and 5 are in the first, 5.1 and 12 in the second.
    sample = sample_of([0.0, 12.0], [5.0, 5.1, 9.0])
    curve = Histogram(n_bins=2).fit_curve(sample)
    np.testing.assert_allclose(
        curve.value(np.array([0.0, 5.0, 5.001, 10.0, 99.0])),
        [1 / 2, 1 / 2, 1 / 3, 1 / 3, 1 / 3],
        atol=1e-15,
    )


@pytest.mark.parametrize("factor", [0.1, 1 / 3, 0.7, 1e-3])
def test_a_score_on_an_edge_stays_below_it_in_any_unit(factor: float) -> None:
    # The edge and the score come to the same number by other roundings.
    upper_edge = (10.0 * factor) * np.arange(1, 20) / 20
    assert bin_of(upper_edge, np.arange(1, 20) / 2 * factor).tolist() == list(range(19))


@pytest.mark.parametrize("bins", ["width", "count"])
def test_the_mean_confidence_in_a_bin_is_its_share_of_right_ones(
    sample_of: Make, bins: str
) -> None:
    rng = np.random.default_rng(1)
    sample = sample_of(
        np.round(10 * rng.beta(4, 1, 90), 1),
        np.round(10 * rng.beta(2, 2, 60), 1),
        weight=rng.uniform(0.5, 2, 150),
    )
    curve = Histogram(bins=bins, n_bins=8).fit_curve(sample)
    bin_, value = bin_of(curve.upper_edge, sample.score), curve.value(sample.score)
    for one in np.unique(bin_):
        held = bin_ == one
        share = sample.weight_correct[held].sum() / sample.weight[held].sum()
        assert value[held] == pytest.approx(np.full(held.sum(), share), abs=1e-12)


def test_an_empty_bin_gives_the_share_of_the_class_with_a_note(sample_of: Make) -> None:
    curve = Histogram(n_bins=5).fit_curve(sample_of([9.0, 9.5], [1.0]))
    assert curve.value(np.array([5.0]))[0] == pytest.approx(2 / 3, abs=1e-15)
    assert curve.note(np.array([1.0, 5.0, 9.0])).tolist() == [0, int(Note.EMPTY_BIN), 0]


def test_bins_of_equal_weight_hold_equal_weight(sample_of: Make) -> None:
    rng = np.random.default_rng(2)
    sample = sample_of(rng.uniform(0, 10, 60), rng.uniform(0, 10, 40))
    curve = Histogram(bins="count", n_bins=5).fit_curve(sample)
    assert np.bincount(bin_of(curve.upper_edge, sample.score)).tolist() == [20] * 5


def test_tied_scores_share_a_bin(sample_of: Make) -> None:
    curve = Histogram(bins="count", n_bins=4).fit_curve(sample_of([5.0] * 9, [2.0]))
    assert len(set(bin_of(curve.upper_edge, np.array([5.0, 5.0])).tolist())) == 1
    assert len(curve.share) <= 2


@pytest.mark.parametrize("bins", ["width", "count"])
def test_the_interval_of_a_bin_is_the_same_all_over_it(sample_of: Make, bins: str) -> None:
    rng = np.random.default_rng(3)
    sample = sample_of(10 * rng.beta(4, 1, 90), 10 * rng.beta(2, 2, 60))
    settings = Histogram(bins=bins, n_bins=6)
    curve = settings.fit_curve(sample)
    band = settings.fit_band(sample, curve, FitOptions(n_draws=80))
    point = np.sort(np.append(sample.score, curve.upper_edge))
    for bounds in (band.lower, band.upper):
        found = np.interp(point, band.score, bounds)
        for one in range(6):
            assert np.ptp(found[bin_of(curve.upper_edge, point) == one]) == pytest.approx(
                0, abs=1e-9
            )
    lower, upper = (np.interp(point, band.score, bounds) for bounds in (band.lower, band.upper))
    assert ((lower < curve.value(point)) | (curve.value(point) == 0)).all()
    assert (upper - lower).min() > 1e-3
