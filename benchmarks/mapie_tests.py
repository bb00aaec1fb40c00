"""Kolmogorov–Smirnov and Kuiper beside MAPIE's: laws and statistics, to 1e-9.

Prints the greatest distance of each; ends with status 1 where one is above 1e-9.
The numbers that `--numbers` prints are kept in tests/metrics/test_brownian.py.

    PYTHONPATH=workflow python -m benchmarks.mapie_tests
"""

from __future__ import annotations

import argparse
import sys

import mapie
import numpy as np
from mapie.metrics import calibration as theirs

from credence.metrics.walk import (
    KOLMOGOROV_SMIRNOV,
    RANGE,
    distance_tail,
    observed,
    range_tail,
    walk_of,
)

ALLOWED = 1e-9
VALUES = (0.2, 0.5, 0.9, 1.3, 1.49, 1.5, 1.51, 2.0, 2.5, 2.99, 3.0, 3.01, 4.0)
N_SAMPLES = 300
# Fractional parts of multiples of these fill the unit square evenly: no random numbers are needed.
FIRST, SECOND = 0.6180339887498949, 0.7548776662466927


def sample() -> tuple[np.ndarray, np.ndarray]:
    """Return scores without ties and outcomes whose walk is on both sides of 0."""
    number = np.arange(1, N_SAMPLES + 1)
    score = np.sort((number * FIRST) % 1.0 * 0.98 + 0.01)
    right = (number * SECOND) % 1.0 < score
    right[0], right[1] = True, False
    return score, right


def of_mapie(score: np.ndarray, right: np.ndarray) -> tuple[float, float]:
    """Return MAPIE's statistics, without the noise that it adds to break ties."""
    path = theirs.cumulative_differences(right.astype(float), score, noise_amplitude=0.0)
    scale = theirs.length_scale(score)
    return float(np.abs(path).max() / scale), float((path.max() - path.min()) / scale)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--numbers", action="store_true", help="print MAPIE's numbers too")
    given = parser.parse_args()
    laws = [
        (x, float(1 - theirs.kolmogorov_smirnov_cdf(x)), float(1 - theirs.kuiper_cdf(x)))
        for x in VALUES
    ]
    score, right = sample()
    distance, width = of_mapie(score, right)
    ours = observed(walk_of(score, right, np.ones(N_SAMPLES)))
    apart = {
        "law of max |B|": max(abs(distance_tail(x) - ks) for x, ks, _ in laws),
        "law of the range of B": max(abs(range_tail(x) - kuiper) for x, _, kuiper in laws),
        "Kolmogorov–Smirnov": abs(ours[KOLMOGOROV_SMIRNOV] - distance),
        "Kuiper": abs(ours[RANGE] - width),
    }
    print(f"MAPIE {mapie.__version__}, {len(VALUES)} values, {N_SAMPLES} proteins")
    for name, distance_apart in apart.items():
        print(f"{name}\t{distance_apart:.1e}")
    if given.numbers:
        for row in laws:
            print(row)
        print((distance, width))
    sys.exit(max(apart.values()) > ALLOWED)


if __name__ == "__main__":
    main()
