from __future__ import annotations

import csv
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from credence.calibrators.kernel import (
    candidates,
    leave_one_out_bandwidth,
    own_parts,
    steady_bandwidth,
)
from credence.calibrators.masses import Masses, masses_of
from credence.calibrators.protocol import ClassSample
from credence.predictions import Floats

SCALE = 10.0
STEP = 0.005
MOST_VALUES = 500_000  # kernel values that the slow search holds at once
Make = Callable[..., ClassSample]


def slow_sign_changes(right: Floats, wrong: Floats, bandwidth: float, scale: float) -> int:
    """Return N(b) by direct sums over all proteins, in logs.

    The grid over [0.15 M, M] is as fine as the fast search's: steps of b/8 at most.
    """
    n_steps = max(int(np.ceil(0.85 * scale / (bandwidth / 8))), 100)
    grid = np.linspace(0.15 * scale, scale, n_steps + 1)
    means = []
    for scores in (right, wrong):
        parts = []
        for point in np.array_split(grid, 1 + grid.size * scores.size // MOST_VALUES):
            exponent = -0.5 * ((point[:, None] - scores) / bandwidth) ** 2
            kernel = np.exp(exponent - exponent.max(axis=1, keepdims=True))
            parts.append((kernel * scores).sum(axis=1) / kernel.sum(axis=1))
        means.append(np.concatenate(parts))
    difference = means[0] - means[1]
    sign = np.sign(difference[np.abs(difference) > 1e-9 * scale])
    return int((sign[1:] != sign[:-1]).sum())


def slow_bandwidth(
    right: Floats, wrong: Floats, allowed: int, scale: float, resolution: float
) -> float | None:
    """Return b_monN by trying one bandwidth after the other: the oracle of the fast search.

    The benchmarks time this very function.
    """
    bandwidth = max(resolution, 0.0005 * scale)
    while bandwidth <= 2 * scale:
        if slow_sign_changes(right, wrong, bandwidth, scale) <= allowed:
            return bandwidth
        bandwidth += 0.0005 * scale
    return None


def drawn(seed: int, n_right: int = 60, n_wrong: int = 25) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(seed)
    return 10 * rng.beta(5, 1.5, n_right), 10 * rng.beta(3, 2, n_wrong)


@pytest.mark.parametrize("allowed", [0, 2, 4])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_scan_finds_what_direct_sums_find(sample_of: Make, seed: int, allowed: int) -> None:
    right, wrong = drawn(seed)
    masses = masses_of(sample_of(right, wrong))
    found = steady_bandwidth(masses, SCALE, 0.0, allowed)
    # One step: the two grids differ, and either can see a change the other steps over.
    assert found == pytest.approx(
        slow_bandwidth(right, wrong, allowed, SCALE, 0.0), abs=STEP + 1e-9
    )


def test_no_bandwidth_where_the_slope_always_turns() -> None:
    # Equal means, unequal spread: one change of sign at 5, at every bandwidth.
    masses = Masses(
        score=np.array([3.0, 4.0, 6.0, 7.0]),
        right=np.array([0.0, 1.0, 1.0, 0.0]),
        wrong=np.array([1.0, 0, 0, 1]),
    )
    assert steady_bandwidth(masses, SCALE, 0.0, 0) is None
    assert steady_bandwidth(masses, SCALE, 0.0, 2) is not None


def test_equal_masses_have_no_slope_and_pass_at_once() -> None:
    masses = Masses(score=np.array([3.0, 6.0]), right=np.ones(2), wrong=np.ones(2))
    assert steady_bandwidth(masses, SCALE, 0.01, 0) == pytest.approx(0.01)


def test_no_bandwidth_below_the_resolution_is_tried() -> None:
    assert candidates(10.0, 0.1)[0] == pytest.approx(0.1)
    assert candidates(10.0, 0.0)[0] == pytest.approx(0.005)
    assert candidates(10.0, 0.0)[-1] == pytest.approx(20.0)
    assert np.diff(candidates(10.0, 0.0)).max() <= 0.005 + 1e-12


def test_phynteny_s_nine_bandwidths(real_data: Path) -> None:
    # phynteny_meta.csv: the least b on 0.005, 0.010, ... with at most one change of the
    # slope's sign on 1.5-10. All nine come out exactly; on 300 points `other` would be 0.230.
    scores = np.load(real_data / "phynteny_toplabel_scores.npz")
    with (real_data / "phynteny_meta.csv").open() as handle:
        rows = list(csv.DictReader(handle))
    for row in rows:
        key = re.sub("[^A-Za-z]+", "_", row["category"])
        right, wrong = (scores[f"{key}__{kind}"].astype(float) for kind in ("TP", "FP"))
        distinct, group = np.unique(np.concatenate([right, wrong]), return_inverse=True)
        is_right = np.arange(len(group)) < len(right)
        masses = Masses(
            score=distinct,
            right=np.bincount(group, weights=is_right),
            wrong=np.bincount(group, weights=~is_right),
        )
        found = steady_bandwidth(masses, SCALE, 0.0, 1)
        published = float(row["bandwidth_chosen"])
        assert found == pytest.approx(published, abs=1e-9), row["category"]


def slow_leave_one_out(sample: ClassSample, bandwidth: float) -> float:
    """Return the leave-one-cluster-out NLL, protein by protein."""
    loss = 0.0
    for row in range(len(sample.score)):
        others = sample.cluster != sample.cluster[row]
        exponent = -0.5 * ((sample.score[row] - sample.score[others]) / bandwidth) ** 2
        kernel = sample.weight[others] * np.exp(exponent)
        is_same = sample.is_correct[others] == sample.is_correct[row]
        loss -= sample.weight[row] * np.log(kernel[is_same].sum() / kernel.sum())
    return loss


def test_leave_one_out_loss_leaves_whole_clusters_out(sample_of: Make) -> None:
    right, wrong = drawn(5, 30, 20)
    rng = np.random.default_rng(5)
    names = [f"family_{code}" for code in rng.integers(20, size=50)]
    sample = sample_of(right, wrong, weight=rng.uniform(0.5, 2, 50), cluster=names)
    parts = own_parts(sample)
    for bandwidth in (0.3, 1.0, 5.0):
        expected = slow_leave_one_out(sample, bandwidth)
        assert parts.loss(bandwidth) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("resolution", [0.1, 0.0])
def test_alike_proteins_on_a_grid_are_left_out_one_by_one(
    sample_of: Make, resolution: float
) -> None:
    right, wrong = (np.round(part, 1) for part in drawn(7, 90, 50))
    names = [f"family_{max(row - 6, 0)}" for row in range(140)]  # one of seven, others alone
    sample = sample_of(right, wrong, cluster=names, resolution=resolution)
    parts = own_parts(sample)
    assert parts.count.max() > 1 and parts.count.sum() < 140
    for bandwidth in (0.3, 1.0, 5.0):
        expected = slow_leave_one_out(sample, bandwidth)
        assert parts.loss(bandwidth) == pytest.approx(expected, rel=1e-9)


def test_the_leave_one_out_bandwidth_beats_all_its_neighbours(sample_of: Make) -> None:
    right, wrong = drawn(6, 120, 60)
    sample = sample_of(right, wrong)
    best = leave_one_out_bandwidth(sample)
    assert best is not None
    loss = slow_leave_one_out(sample, best)
    others = [slow_leave_one_out(sample, b) for b in np.geomspace(0.1, 20, 60)]
    assert loss <= min(others) + 1e-6
