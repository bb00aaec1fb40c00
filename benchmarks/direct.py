"""The direct-sum scan for b_mon2: the oracle of the tests, timed."""

from __future__ import annotations

import numpy as np

from credence.calibrators.protocol import ClassSample

STEP = 0.0005  # of the scale: 0.005 on PhANNs' scale
LOWEST = 0.15  # of the scale: 1.5 on PhANNs' scale
N_POINTS = 300


def direct_means(point: np.ndarray, score: np.ndarray, bandwidth: float) -> np.ndarray:
    """Return the kernel-weighted mean score around each point, in logs."""
    log_kernel = -0.5 * ((point[:, None] - score[None, :]) / bandwidth) ** 2
    log_kernel -= log_kernel.max(axis=1, keepdims=True)
    kernel = np.exp(log_kernel)
    return (kernel @ score) / kernel.sum(axis=1)


def direct_bandwidth(sample: ClassSample, allowed: int) -> float:
    """Return the first bandwidth of the scan with few enough sign changes."""
    point = np.linspace(LOWEST * sample.scale, sample.scale, N_POINTS)
    right, wrong = sample.score[sample.is_correct], sample.score[~sample.is_correct]
    step = STEP * sample.scale
    n_steps = round(2 * sample.scale / step)
    for at in range(1, n_steps + 1):
        bandwidth = at * step
        difference = direct_means(point, right, bandwidth) - direct_means(point, wrong, bandwidth)
        sign = np.sign(np.where(np.abs(difference) <= 1e-9 * sample.scale, 0.0, difference))
        sign = sign[sign != 0]
        if (sign[1:] != sign[:-1]).sum() <= allowed:
            return bandwidth
    return float("nan")
