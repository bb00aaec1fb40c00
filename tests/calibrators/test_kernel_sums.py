from __future__ import annotations

import numpy as np
import pytest
from scipy.special import logsumexp

from credence.calibrators.kernel import KERNEL_VALUES_AT_ONCE, local_sums
from credence.calibrators.masses import Nodes
from credence.predictions import Floats


def direct(point: Floats, nodes: Nodes, bandwidth: float) -> tuple[Floats, Floats]:
    """Return the sums over all nodes, in logs."""
    gap = nodes.score - point[:, None]
    log_kernel = -0.5 * (gap / bandwidth) ** 2 + np.log(nodes.mass)
    log_mass = logsumexp(log_kernel, axis=1)
    return (log_mass, (np.exp(log_kernel - log_mass[:, None]) * gap).sum(axis=1))


def assert_equal(found: tuple[Floats, Floats], expected: tuple[Floats, Floats]) -> None:
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(found[1], expected[1], rtol=1e-12, atol=1e-12)


def uneven_nodes(seed: int, n: int) -> Nodes:
    """Return a dense clump, a few lone nodes, and a gap of many bandwidths."""
    rng = np.random.default_rng(seed)
    score = np.concatenate([9 + 0.1 * rng.standard_normal(n), rng.uniform(0, 3, 5)])
    return Nodes(score=np.sort(score), mass=rng.uniform(0.1, 5.0, n + 5))


@pytest.mark.parametrize("bandwidth", [0.005, 0.05, 0.5, 5.0, 500.0])
@pytest.mark.parametrize("n", [1, 2, 60, 3_000])
def test_windows_give_what_all_nodes_give(n: int, bandwidth: float) -> None:
    nodes = uneven_nodes(n, n)
    point = np.random.default_rng(0).permutation(np.linspace(-1, 11, 301))
    assert_equal(local_sums(point, nodes, bandwidth), direct(point, nodes, bandwidth))


def test_more_points_than_a_block_holds() -> None:
    nodes = uneven_nodes(1, 400)
    point = np.linspace(8, 10, KERNEL_VALUES_AT_ONCE // 100)
    assert_equal(local_sums(point, nodes, 0.2), direct(point, nodes, 0.2))


@pytest.mark.parametrize("bandwidth", [0.1, 1.0])
def test_a_lone_node_is_seen_from_any_distance(bandwidth: float) -> None:
    log_mass, offset = local_sums(
        np.array([0.0, 1000.0]), Nodes(score=np.array([5.0]), mass=np.ones(1)), bandwidth
    )
    assert offset.tolist() == [5.0, -995.0]
    assert log_mass == pytest.approx([-12.5 / bandwidth**2, -(995**2) / 2 / bandwidth**2])
