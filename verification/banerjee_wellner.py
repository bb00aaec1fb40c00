"""Quantiles of the limit of isotonic regression's likelihood ratio.

The limit 𝔻 of Banerjee & Wellner 2001 (doi 10.1214/aos/1015345959) is drawn from
its definition: Brownian motion with drift t², the slopes of its greatest convex
minorant with and without the constraint to pass 0 at 0, and the integral of the
difference of their squares. The table in credence/calibrators/isotonic_band.py is
what this prints for a hundred thousand draws of each seed.

    python verification/banerjee_wellner.py --draws 100000
"""

from __future__ import annotations

import argparse

import numpy as np
from scipy.optimize import isotonic_regression

LEVELS = (0.5, 0.8, 0.9, 0.95, 0.975, 0.99, 0.995)
REACH = 3.0  # the minorants at 0 do not feel what lies beyond
STEP = 0.005
SEEDS = (1, 2, 3, 4)


def draw(rng: np.random.Generator) -> float:
    half = round(REACH / STEP)
    time = (np.arange(-half, half) + 0.5) * STEP
    slope = 2.0 * time + rng.standard_normal(2 * half) / np.sqrt(STEP)
    free = isotonic_regression(slope).x
    left = np.minimum(isotonic_regression(slope[:half]).x, 0.0)
    right = np.maximum(isotonic_regression(slope[half:]).x, 0.0)
    bound = np.concatenate([left, right])
    return float(STEP * ((slope - bound) ** 2 - (slope - free) ** 2).sum())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=100_000, help="of each seed")
    draws = parser.parse_args().draws
    generators = [np.random.default_rng(seed) for seed in SEEDS]
    values = np.array([draw(rng) for rng in generators for _ in range(draws)])
    for level, quantile in zip(LEVELS, np.quantile(values, LEVELS), strict=True):
        print(f"{level:6.3f} {quantile:.3f}")


if __name__ == "__main__":
    main()
